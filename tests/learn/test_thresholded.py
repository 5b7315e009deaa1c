"""Thresholds inside a classifier, and the ready-made one."""

import numpy as np
import pandas as pd
import pytest
from imblearn.pipeline import make_pipeline as make_imblearn_pipeline
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import scumble
from scumble._core.errors import DataError, ParameterError, ParameterTypeError
from scumble.evaluate import evaluate
from scumble.learn import (
    BinaryRelevance,
    RareLabelClassifier,
    RidgeRanker,
    ThresholdedClassifier,
    label_thresholds,
    make_classifier,
)
from scumble.measures.stratification import deal_rows
from scumble.resample import MLROS


def problem(seed=0, n_rows=200, n_labels=5):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 8))
    Y = (X[:, :n_labels] + 0.7 * generator.normal(size=(n_rows, n_labels))) > 1.5
    return X, Y.astype(int)


def test_thresholds_are_those_of_out_of_sample_scores():
    X, Y = problem()
    ranker = RidgeRanker()
    scores = ranker.fit_out_of_sample(X, Y)
    model = ThresholdedClassifier(RidgeRanker()).fit(X, Y)

    np.testing.assert_array_equal(model.thresholds_, label_thresholds(scores, Y))
    expected = (ranker.predict_proba(X) >= model.thresholds_).astype(int)
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_array_equal(model.predict_proba(X), ranker.predict_proba(X))
    assert [c.thresholds[c.chosen] for c in model.curves_] == model.thresholds_.tolist()


def test_other_estimators_are_scored_on_inner_folds():
    X, Y = problem(1)
    estimator = OneVsRestClassifier(LogisticRegression())
    model = ThresholdedClassifier(estimator, random_state=5, n_folds=4).fit(X, Y)
    # The same by hand: two seeds, of which the second deals the rows.
    seeds = np.random.default_rng(5).integers(2**31 - 1, size=2)
    folds = deal_rows(sparse.csr_array(Y > 0), 4, np.random.default_rng(seeds[1]))
    scores = np.empty(Y.shape)
    for fold in range(4):
        fitted = estimator.fit(X[folds != fold], Y[folds != fold])
        scores[folds == fold] = fitted.predict_proba(X[folds == fold])

    np.testing.assert_allclose(model.thresholds_, label_thresholds(scores, Y), atol=1e-12)


def test_a_pipeline_gets_its_features_as_they_were_given():
    X, Y = problem(2)
    frame = pd.DataFrame(X, columns=[f"n{at}" for at in range(8)])
    frame["kind"] = np.where(X[:, 0] > 0, "warm", "cold")
    columns = ColumnTransformer([("kind", OneHotEncoder(), ["kind"])], remainder="passthrough")
    model = ThresholdedClassifier(make_pipeline(columns, KNeighborsClassifier()), random_state=0)

    predicted = model.fit(frame, Y).predict(frame)

    assert predicted.shape == Y.shape
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert evaluate(Y, predicted)["macro_f1"] > 0.5


def test_a_resampler_in_a_pipeline_sees_training_rows_only():
    X, Y = problem(3)
    inner = make_imblearn_pipeline(StandardScaler(), MLROS(random_state=0), KNeighborsClassifier(3))
    model = ThresholdedClassifier(inner, random_state=0).fit(X, Y)
    # Scores of rows that had been copied into the training part would all be right.
    assert all(c.observed[c.chosen] < 1 for c in model.curves_)


def test_scores_of_a_decision_function_will_do():
    X, Y = problem(4)
    model = ThresholdedClassifier(RidgeClassifier(), random_state=0).fit(X, Y)
    plain = RidgeClassifier().fit(X, Y)

    assert model.predict(X).sum() > plain.predict(X).sum()
    # Drawn into the interval, in their order: 0 becomes one half.
    scores = plain.decision_function(X)
    expected = (1 + scores / (1 + np.abs(scores))) / 2
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)


@pytest.mark.parametrize("make", [RareLabelClassifier, lambda: RareLabelClassifier("best")])
def test_labels_that_leave_no_choice(make):
    X, Y = problem(5, 40, 2)
    one = np.zeros(40, int)
    one[7] = 1
    labels = np.column_stack([Y, Y[:, 0], np.zeros(40, int), np.ones(40, int), one])
    model = make().set_params(random_state=0).fit(X, labels)
    predicted = model.predict(X)

    assert predicted[:, 3].sum() == 0
    assert predicted[:, 4].all()
    assert model.thresholds_[3] == np.inf
    assert np.isfinite(model.predict_proba(X)).all()
    if model.quality == "fast":  # identical labels; trees draw columns for each label anew
        np.testing.assert_array_equal(predicted[:, 0], predicted[:, 2])


def test_fewer_rows_than_folds_and_equal_scores():
    X, Y = [[0.0], [1.0], [2.0]], [[1, 0], [0, 1], [1, 0]]
    model = ThresholdedClassifier(KNeighborsClassifier(1), n_folds=5, random_state=0).fit(X, Y)
    assert model.predict([[0.1]]).tolist()[0] in ([0, 0], [0, 1], [1, 0], [1, 1])

    class Same(ClassifierMixin, BaseEstimator):
        def fit(self, X, Y):
            self.n_ = Y.shape[1]
            return self

        def predict(self, X):
            return np.zeros((len(X), self.n_), int)

        def predict_proba(self, X):
            return np.full((len(X), self.n_), 0.5)

    many = np.zeros((60, 2), int)
    many[:5, 0], many[:3, 1] = 1, 1
    found = ThresholdedClassifier(Same(), random_state=0).fit(np.ones((60, 1)), many)
    assert found.thresholds_.tolist() == [np.inf, np.inf]


def test_nan_from_a_foreign_estimator_is_refused():
    class Broken(KNeighborsClassifier):
        def predict_proba(self, X):
            return [np.full((len(X), 2), np.nan)] * 5

    X, Y = problem()
    with pytest.raises(DataError, match="Broken gives NaN as the score of row 0 for label 0"):
        ThresholdedClassifier(Broken()).fit(X, Y)


@pytest.mark.parametrize("quality", ["fast", "best"])
def test_one_seed_one_answer(quality):
    data = scumble.make_multilabel(150, 6, mean_ir=5, scumble=None, random_state=1)
    answers = [
        RareLabelClassifier(quality, random_state=4, n_jobs=n).fit(data.X, data.Y) for n in (1, 2)
    ]
    one, two = (model.predict_both(data.X) for model in answers)

    np.testing.assert_array_equal(one[0].toarray(), two[0].toarray())
    np.testing.assert_array_equal(one[1], two[1])


def test_rare_labels_are_predicted_where_binary_relevance_does_not():
    data = scumble.make_multilabel(600, 12, mean_ir=15, random_state=0)
    train, test = data[:400], data[400:]
    f1 = {
        name: evaluate(test, make_classifier(name, random_state=0).fit(train.X, train.Y)
                       .predict(test.X))["macro_f1"]
        for name in ("br", "rare")
    }  # fmt: skip
    assert f1["rare"] > 1.1 * f1["br"]


def test_weights_are_passed_on_or_refused():
    X, Y = problem(6)
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    model = ThresholdedClassifier(RidgeRanker(penalty=1.0)).fit(X, Y, weights)
    ranker = RidgeRanker(penalty=1.0).fit(X, Y, weights)

    np.testing.assert_allclose(model.predict_proba(X), ranker.predict_proba(X), atol=1e-12)
    with pytest.raises(ParameterError, match="KNeighborsClassifier"):
        ThresholdedClassifier(KNeighborsClassifier()).fit(X, Y, weights)


@pytest.mark.parametrize(
    ("make", "kind", "said"),
    [
        (lambda: ThresholdedClassifier(rule="best"), ParameterError, "rule"),
        (lambda: ThresholdedClassifier(metric="auc"), ParameterError, "metric"),
        (lambda: ThresholdedClassifier(n_folds=1), ParameterError, "n_folds"),
        (lambda: ThresholdedClassifier(strength=-1), ParameterError, "strength"),
        (lambda: ThresholdedClassifier(3), ParameterTypeError, "estimator"),
        (lambda: RareLabelClassifier("slow"), ParameterError, "quality"),
    ],
)
def test_bad_parameters(make, kind, said):
    X, Y = problem()
    with pytest.raises(kind, match=said):
        make().fit(X, Y)


def test_one_row_is_not_enough_for_inner_folds():
    with pytest.raises(DataError, match="at least 2"):
        ThresholdedClassifier(BinaryRelevance()).fit([[1.0]], [[1, 0]])
