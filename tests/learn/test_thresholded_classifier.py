"""Thresholds inside a classifier, and the ready-made one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from imblearn.pipeline import make_pipeline as make_imblearn_pipeline
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import scumble
from scumble._core.errors import DataError, LabelError, ParameterError, ParameterTypeError
from scumble.data import Feature
from scumble.evaluate import evaluate
from scumble.learn import (
    BinaryRelevance,
    RareLabelClassifier,
    RidgeRanker,
    ThresholdedClassifier,
    fit_dataset,
    label_thresholds,
    make_classifier,
)
from scumble.measures.stratification import assign_folds
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
    assert [c.thresholds[c.selected] for c in model.curves_] == model.thresholds_.tolist()


def test_other_estimators_are_scored_on_inner_folds():
    X, Y = problem(1)
    estimator = OneVsRestClassifier(LogisticRegression())
    model = ThresholdedClassifier(estimator, random_state=5, n_folds=4).fit(X, Y)
    # The same by hand: two seeds, of which the second deals the rows.
    seeds = np.random.default_rng(5).integers(2**31 - 1, size=2)
    folds = assign_folds(sparse.csr_array(Y > 0), 4, np.random.default_rng(seeds[1]))
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
    assert all(c.observed[c.selected] < 1 for c in model.curves_)


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


class Odd(KNeighborsClassifier):
    """Says what it is told to say."""

    def __init__(self, answer=None):
        super().__init__()
        self.answer = answer

    def predict_proba(self, X):
        return self.answer(len(X))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda n: np.full((n, 5), np.inf), "Odd gives inf as the score of row 0 for label 0"),
        (lambda n: np.full((n, 5), -np.inf), "Odd gives -inf as the score of row 0 for label 0"),
        (lambda n: np.zeros((n, 1)), r"Odd gives scores of shape \(\d+, 1\). Expected \(\d+, 5\)"),
        (lambda n: np.zeros((n, 7)), r"Odd gives scores of shape \(\d+, 7\)"),
    ],
)
def test_scores_that_decide_nothing_are_refused(answer, said):
    X, Y = problem()
    with pytest.raises(DataError, match=said):
        ThresholdedClassifier(Odd(answer), random_state=0).fit(X, Y)


@pytest.mark.parametrize("rule", ["shrunken", "fixed"])
def test_an_estimator_without_scores_is_refused(rule):
    X, Y = problem()
    with pytest.raises(ParameterTypeError, match="MultiOutputClassifier gives no scores"):
        ThresholdedClassifier(MultiOutputClassifier(Perceptron()), rule).fit(X, Y)


@pytest.mark.parametrize("form", [list, np.array, pd.Series, pl.Series])
def test_texts(form):
    generator = np.random.default_rng(0)
    Y = generator.random((80, 2)) < 0.3
    texts = [" ".join(["talk", *np.array(["sea", "sky"])[row]]) for row in Y]
    scorer = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(LogisticRegression()))
    weights = np.arange(80) % 4 > 0
    model = ThresholdedClassifier(scorer, random_state=0).fit(form(texts), Y)

    np.testing.assert_array_equal(model.predict(form(texts)), Y)
    np.testing.assert_array_equal(model.predict_both(form(texts))[0], Y)
    assert not hasattr(model, "n_features_in_")
    by_sparse = ThresholdedClassifier(scorer, random_state=0).fit(form(texts), sparse.csr_array(Y))
    np.testing.assert_array_equal(by_sparse.predict(form(texts)).toarray(), Y)
    with pytest.raises(ParameterError, match="OneVsRestClassifier cannot learn"):
        ThresholdedClassifier(scorer).fit(form(texts), Y, weights + 1.0)
    kept = ThresholdedClassifier(scorer, random_state=0).fit(form(texts), Y, weights)
    assert len(kept.curves_) == 2
    with pytest.raises(LabelError, match="80 in X and 79 in Y"):
        model.fit(form(texts), Y[:79])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_rows_without_weight_are_left_out_of_frames(frame):
    X, Y = problem(8)
    weights = (np.arange(len(X)) % 3 > 0).astype(float)
    table = frame(X, [f"n{at}" for at in range(8)]) if frame is pl.DataFrame else frame(X)
    scorer = KNeighborsClassifier(3)
    one = ThresholdedClassifier(scorer, random_state=0).fit(table, Y, weights)
    two = ThresholdedClassifier(scorer, random_state=0).fit(X[weights > 0], Y[weights > 0])

    np.testing.assert_array_equal(one.thresholds_, two.thresholds_)


def coded(seed=0):
    """Rows whose label is told by a code: the even ones have it."""
    generator = np.random.default_rng(seed)
    X = np.column_stack([generator.integers(0, 6, 300), generator.normal(size=300)])
    return X, np.column_stack([X[:, 0] % 2 == 0, X[:, 0] == 5]).astype(int)


def test_nominal_columns_reach_an_estimator_of_others():
    X, Y = coded()
    trees = MultiOutputClassifier(HistGradientBoostingClassifier(max_iter=5))
    plain = ThresholdedClassifier(trees, random_state=0).fit(X, Y)
    told = ThresholdedClassifier(trees, categorical_features={0: 6}, random_state=0).fit(X, Y)

    assert plain.estimator_.model.estimator.categorical_features == "from_dtype"
    assert told.estimator_.model.estimator.categorical_features == [0]
    np.testing.assert_array_equal(told.predict(X), Y)
    numeric = HistGradientBoostingClassifier(max_iter=5, categorical_features=None)
    one = ThresholdedClassifier(numeric, random_state=0)
    assert one.fit(X, Y[:, :1]).estimator_.model.categorical_features is None


def test_nominal_columns_that_nothing_takes_are_refused():
    X, Y = coded()
    forest = RandomForestClassifier(5, random_state=0)
    with pytest.raises(ParameterError, match="RandomForestClassifier, has no such parameter"):
        ThresholdedClassifier(forest, categorical_features=[0]).fit(X, Y)
    # A data set that has some is no reason to refuse: the forest alone would not be told either.
    features = [Feature("code", "nominal", tuple("abcdef")), Feature("size")]
    data = scumble.MultilabelDataset(X, Y, features=features)
    model = fit_dataset(ThresholdedClassifier(forest), data)
    assert model.categorical_features is None


def test_the_fixed_rule_fits_once():
    X, Y = problem(9)
    Y[:, 1] = 0
    fits = []

    class Counted(KNeighborsClassifier):
        def fit(self, X, Y):
            fits.append(len(X))
            return super().fit(X, Y)

    model = ThresholdedClassifier(Counted(), "fixed", threshold=0.3).fit(X, Y)

    assert (fits, model.curves_) == ([200], [])
    assert model.thresholds_.tolist() == [0.3, np.inf, 0.3, 0.3, 0.3]
    expected = model.predict_proba(X) >= 0.3
    np.testing.assert_array_equal(model.predict(X), expected & (np.arange(5) != 1))


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
    f1 = {"br": 0.0, "rare": 0.0}
    for seed in range(3):
        data = scumble.make_multilabel(600, 12, mean_ir=15, random_state=seed)
        train, test = data[:400], data[400:]
        for name in f1:
            model = make_classifier(name, random_state=0).fit(train.X, train.Y)
            f1[name] += evaluate(test, model.predict(test.X))["macro_f1"]
    assert f1["rare"] > 1.15 * f1["br"]


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
        (lambda: ThresholdedClassifier(StandardScaler()), ParameterTypeError, "fit and predict"),
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
