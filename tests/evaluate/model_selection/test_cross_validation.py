"""Cross-validation: no leak, one seed one answer, and scikit-learn's doors."""

import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate as sk_cross_validate
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import scumble
from scumble import MultilabelDataset
from scumble._core.progress import show_progress
from scumble.data import Feature
from scumble.evaluate import (
    FixedFolds,
    IterativeStratification,
    RepeatedKFold,
    cross_validate,
    evaluate,
    scorer,
)
from scumble.evaluate.model_selection.cross_validation import _clone_with_seeds
from scumble.learn import BinaryRelevance
from scumble.learn.predictions import predict_with_scores
from scumble.resample import MLROS, MLSMOTE, REMEDIAL, RemedialHwR


@pytest.fixture(scope="module")
def data():
    return scumble.make_multilabel(120, 5, cardinality=1.8, mean_ir=4, scumble=0.1, random_state=0)


@pytest.fixture(scope="module")
def numbered():
    """Rows that carry their own number as a feature."""
    rng = np.random.default_rng(0)
    return MultilabelDataset(np.arange(40.0).reshape(-1, 1), rng.random((40, 3)) < 0.4)


class Spy(BaseEstimator):
    """Keeps what it was shown; as a resampler it clones every row."""

    seen = []

    def fit_resample(self, X, Y):
        type(self).seen.append(X.ravel().astype(int).tolist())
        return np.vstack([X, X]), np.vstack([Y, Y])


class SpyClassifier(BaseEstimator):
    """Keeps the rows it was fitted on and those it was asked about; predicts nothing."""

    seen = []

    def fit(self, X, Y):
        self.trained_ = X.ravel().astype(int).tolist()
        self.n_labels_ = Y.shape[1]
        return self

    def predict(self, X):
        type(self).seen.append((self.trained_, X.ravel().astype(int).tolist()))
        return np.zeros((len(X), self.n_labels_), int)


def test_no_test_row_ever_reaches_a_resampler_or_a_fit(numbered):
    Spy.seen.clear()
    SpyClassifier.seen.clear()
    splitter = RepeatedKFold(4, 2, random_state=1)
    cross_validate(numbered, SpyClassifier(), Spy(), splitter=splitter)
    assert len(Spy.seen) == len(SpyClassifier.seen) == 8
    parts = zip(Spy.seen, SpyClassifier.seen, splitter.split(None, numbered.Y), strict=True)
    for resampled, (trained, asked), (train, test) in parts:
        assert resampled == train.tolist()
        assert trained == train.tolist() * 2
        assert asked == test.tolist()
        assert not set(asked) & set(trained)


def test_it_does_what_a_loop_by_hand_does(data):
    model, sampler = KNeighborsClassifier(3), MLROS(percent=30, random_state=7)
    splitter = RepeatedKFold(3, 2, random_state=2)
    found = cross_validate(data, model, sampler, splitter=splitter)
    values, sizes = [], []
    for train, test in splitter.split(data):
        part = sampler.resample(data[train])
        sizes.append((len(part), len(test), len(train)))
        fitted = model.fit(part.X, part.Y.toarray())
        predictions, scores = predict_with_scores(fitted, data.X[test], data.n_labels)
        values.append(evaluate(data.Y[test], predictions, scores))
    for name in values[0]:
        expected = [value[name] for value in values]
        assert found[name].values == pytest.approx(expected, nan_ok=True)
        assert found[name].mean == pytest.approx(np.mean(expected), nan_ok=True)
        assert found[name].sd == pytest.approx(np.std(expected, ddof=1), nan_ok=True)
    assert found.by_label("f1").shape == (6, 5)
    fold = found.folds[0]
    assert (fold.n_train, fold.n_test, fold.before["n_instances"]) == sizes[0] == (92, 40, 80)
    assert fold.before["mean_ir"] > fold.after["mean_ir"]
    assert all(seconds >= 0 for seconds in found.seconds.values())
    assert found.peak_memory > 10_000_000


def test_any_number_of_jobs_and_one_seed_give_one_answer(data):
    model = MultiOutputClassifier(DecisionTreeClassifier(max_features=2))
    arguments = (data, model, "mlros")
    one = cross_validate(*arguments, splitter="1x3", random_state=5)
    two = cross_validate(*arguments, splitter="1x3", random_state=5, n_jobs=2)
    other = cross_validate(*arguments, splitter="1x3", random_state=6)
    for name in one:
        np.testing.assert_array_equal(one[name].values, two[name].values)
    assert any((one[name].values != other[name].values).any() for name in one)
    drawn = cross_validate(*arguments, splitter="1x3")
    again = cross_validate(*arguments, splitter="1x3", random_state=drawn.random_state)
    assert drawn["macro_f1"].values.tolist() == again["macro_f1"].values.tolist()


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(3),
        MultiOutputClassifier(LogisticRegression()),
        DecisionTreeClassifier(random_state=0),
        BinaryRelevance(),
        "br",
    ],
    ids=str,
)
def test_classifiers_of_any_house(data, model):
    found = cross_validate(data, model, splitter=2, random_state=0)
    assert 0 < found["micro_f1"].mean < 1
    assert 0 <= found["one_error"].mean <= 1


def test_a_classifier_without_scores_gets_the_metrics_of_predictions(data):
    found = cross_validate(data, SpyClassifier(), splitter=2, random_state=0)
    assert found["recall"].mean >= 0
    with pytest.raises(KeyError, match="one_error evaluates scores"):
        found["one_error"]


def test_decision_functions_are_scores_but_no_probabilities(data):
    from sklearn.multiclass import OneVsRestClassifier

    found = cross_validate(data, OneVsRestClassifier(LinearSVC()), splitter=2, random_state=0)
    assert 0 < found["micro_auc"].mean <= 1
    assert math.isnan(found["log_loss"].mean)


def test_a_label_that_is_constant_in_training_has_a_score():
    # The last label is never there, the first always: scikit-learn then gives one column.
    X = np.arange(8.0).reshape(-1, 1)
    Y = np.column_stack([np.ones(8), X.ravel() < 4, np.zeros(8)]).astype(int)
    for model in (KNeighborsClassifier(3), DecisionTreeClassifier()):
        _, scores = predict_with_scores(model.fit(X, Y), X, 3)
        assert scores[:, 0].tolist() == [1] * 8
        assert scores[:, 2].tolist() == [0] * 8
        assert scores[0, 1] == 1


def test_one_label():
    X = np.arange(12.0).reshape(-1, 1)
    data = MultilabelDataset(X, X < 6)
    found = cross_validate(data, KNeighborsClassifier(1), splitter=3, random_state=0)
    assert found["hamming_loss"].mean < 0.2
    assert found["micro_auc"].mean > 0.8


class AsksForCategories(SpyClassifier):
    def __init__(self, categorical_features=None):
        self.categorical_features = categorical_features

    def fit(self, X, Y):
        type(self).seen.append(self.categorical_features)
        return super().fit(X[:, :1], Y)

    def predict(self, X):
        return np.zeros((len(X), self.n_labels_), int)


def test_nominal_columns_are_told_to_the_classifier():
    features = [Feature("size"), Feature("colour", "nominal", ("red", "green", "blue"))]
    X = np.column_stack([np.arange(8.0), np.arange(8) % 3])
    data = MultilabelDataset(X, np.eye(2)[np.arange(8) % 2], features=features)
    for model in (AsksForCategories(), AsksForCategories([0])):
        AsksForCategories.seen = []
        cross_validate(data, model, splitter=2, random_state=0)
        # Others than our own are given numbers of columns; what was said before stays.
        assert AsksForCategories.seen == [model.categorical_features or [1]] * 2
    found = cross_validate(data, BinaryRelevance(), splitter=2, random_state=0)
    told = cross_validate(
        data, BinaryRelevance(categorical_features={1: 3}), splitter=2, random_state=0
    )
    for name in found:
        np.testing.assert_array_equal(found[name].values, told[name].values)


class TakesWeights(SpyClassifier):
    def fit(self, X, Y, sample_weight=None):
        type(self).seen.append(np.asarray(sample_weight).tolist())
        return super().fit(X, Y)


def test_weights_travel_to_the_classifier(numbered):
    weighted = MultilabelDataset(numbered.X, numbered.Y, weights=np.arange(40))
    TakesWeights.seen = []
    cross_validate(weighted, TakesWeights(), REMEDIAL(), splitter=FixedFolds(np.arange(40) % 2))
    rows = REMEDIAL().fit(numbered.X[1::2], numbered.Y[1::2])
    rows.fit_resample(numbered.X[1::2], numbered.Y[1::2])
    assert TakesWeights.seen[0] == np.arange(40.0)[1::2][rows.sample_indices_].tolist()
    with pytest.warns(scumble.ScumbleWarning, match="takes no sample_weight"):
        cross_validate(weighted, SpyClassifier(), splitter=2, random_state=0)


def test_splitters_in_all_their_forms(data, tmp_path):
    model = KNeighborsClassifier(3)
    by_hand = [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))]
    (tmp_path / "folds.csv").write_text(
        "instance,fold\n" + "".join(f"{row},{int(row < 60)}\n" for row in range(120))
    )
    expected = cross_validate(data, model, splitter=by_hand)["f1"].values
    for splitter in (KFold(2), tmp_path / "folds.csv", str(tmp_path / "folds.csv")):
        assert sorted(cross_validate(data, model, splitter=splitter)["f1"].values) == sorted(
            expected
        )
    stratified = cross_validate(data, model, splitter=IterativeStratification(3), random_state=0)
    assert len(stratified.folds) == 3
    assert len(cross_validate(data, model, random_state=0).folds) == 10


def test_resampled_data_is_noticed(data):
    after = REMEDIAL().resample(data)
    with pytest.warns(scumble.ScumbleWarning, match="cross_validate: this data has been resampled"):
        cross_validate(after, KNeighborsClassifier(3), splitter=2, random_state=0)


def test_progress_counts_folds(data):
    class Sink:
        told = []

        def start(self, title, total):
            self.told.append((title, total))
            return self.told.append

        def finish(self):
            self.told.append("end")

    sink = Sink()
    with show_progress(sink):
        cross_validate(data, KNeighborsClassifier(3), splitter=3, random_state=0)
    assert sink.told == [("Cross-validating on synthetic", 3), 1, 1, 1, "end"]


def test_the_result_as_plain_values(data):
    found = cross_validate(data, KNeighborsClassifier(3), "remedial", splitter=2, random_state=0)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["metrics"]["macro_f1"]["mean"] == found["macro_f1"].mean
    assert told["folds"][1]["after"]["n_instances"] == found.folds[1].n_train
    assert "macro_f1" in repr(found)
    again = pickle.loads(pickle.dumps(found))
    assert again["macro_f1"].mean == found["macro_f1"].mean


def test_every_step_of_a_chain_has_a_seed_of_its_own():
    (alone,) = _clone_with_seeds([MLROS()], [1, 2])
    given, one, still, other = _clone_with_seeds(
        [MLROS(random_state=7), MLROS(), REMEDIAL(), RemedialHwR(MLSMOTE(random_state=5))], [1, 2]
    )
    assert alone.random_state == 1
    assert (given.random_state, one.random_state, other.random_state) == (7, 1, 2)
    assert "random_state" not in still.get_params()
    assert other.resampler.random_state == 5
    (spy,) = _clone_with_seeds([Spy()], [1])
    assert isinstance(spy, Spy)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": np.zeros((3, 2))}, "takes a MultilabelDataset"),
        ({"classifier": "nonesuch"}, r"no classifier 'nonesuch'. Known are: .*br"),
        ({"classifier": KNeighborsClassifier}, "must be an estimator or its name"),
        ({"resampler": "nonesuch"}, "no resampler 'nonesuch'"),
        ({"resampler": 3}, "'resampler' parameter of cross_validate"),
        ({"splitter": "five"}, "Folds must be such as '2x5'"),
        ({"splitter": 2.5}, "'splitter' parameter of cross_validate"),
        ({"splitter": [([0, 1], [1, 2])]}, "row 1 in both its training and its test part"),
        ({"splitter": [([0, 1], [500])]}, "test part of split 0 must be row numbers from 0 to 119"),
        ({"splitter": [([], [5])]}, "training part of split 0"),
        ({"splitter": []}, "gives no splits"),
        ({"splitter": [([0, 1], [2]), 7]}, "split 1 must be a pair of row numbers.*Got 7"),
        ({"splitter": [([0], [1], [2])]}, "split 0 must be a pair of row numbers"),
        ({"undefined": "nan"}, "'undefined' parameter"),
        ({"random_state": -1}, "must not be negative"),
        ({"n_jobs": 0}, "'n_jobs' parameter"),
    ],
)
def test_refusals_say_what_is_wrong(data, change, message):
    arguments = {"data": data, "classifier": KNeighborsClassifier(3), "splitter": 2} | change
    with pytest.raises(scumble.ScumbleError, match=message):
        cross_validate(**arguments)


def test_scorers_in_scikit_learn(data):
    X, Y = data.X, data.Y.toarray().astype(int)
    model = KNeighborsClassifier(3)
    found = sk_cross_validate(model, X, Y, cv=3, scoring=scorer(["macro_f1", "hamming_loss"]))
    for at, (train, test) in enumerate(KFold(3).split(X)):
        fitted = model.fit(X[train], Y[train])
        values = evaluate(Y[test], fitted.predict(X[test]))
        assert found["test_macro_f1"][at] == pytest.approx(values["macro_f1"])
        assert found["test_hamming_loss"][at] == pytest.approx(-values["hamming_loss"])
    search = GridSearchCV(model, {"n_neighbors": [1, 5]}, scoring=scorer("one_error"), cv=3)
    search.fit(X, Y)
    assert -1 <= search.best_score_ <= 0
    by_name = sk_cross_validate(model, X, Y, cv=2, scoring={"auc": scorer("micro_auc")}, n_jobs=2)
    assert (by_name["test_auc"] > 0.5).all()


def test_scorers_with_sparse_labels_and_our_classifiers(data):
    fitted = BinaryRelevance().fit(data.X, data.Y)
    predictions, confidences = fitted.predict_both(data.X)
    expected = evaluate(data.Y, predictions, confidences)
    judge = scorer(["micro_f1", "ranking_loss"])
    found = judge(fitted, data.X, sparse.csr_matrix(data.Y))
    assert found["micro_f1"] == expected["micro_f1"]
    assert found["ranking_loss"] == -expected["ranking_loss"]


def test_scorers_take_one_class_per_row(data):
    X, y = data.X, data.Y.toarray()[:, 0].astype(int)
    for model in (KNeighborsClassifier(3), BinaryRelevance(KNeighborsClassifier(3))):
        fitted = model.fit(X, y)
        expected = evaluate(y[:, None], fitted.predict(X)[:, None], fitted.predict_proba(X)[:, 1:])
        judge = scorer(["macro_f1", "macro_auc"])
        for form in (y, pd.Series(y)):
            found = judge(fitted, X, form)
            assert found == {name: expected[name] for name in ("macro_f1", "macro_auc")}


def test_scorers_refuse_what_they_cannot_do(data):
    with pytest.raises(scumble.ScumbleError, match=r"no metric 'macro_f2'.*macro_f1"):
        scorer("macro_f2")
    with pytest.raises(scumble.ScumbleError, match="no option 'average'"):
        scorer("macro_f1", average="macro")
    with pytest.raises(scumble.ScumbleError, match="at least one metric"):
        scorer([])
    fitted = SpyClassifier().fit(data.X, data.Y)
    with pytest.raises(scumble.ScumbleError, match="neither predict_proba nor decision_function"):
        scorer("one_error")(fitted, data.X, data.Y)
    made = pickle.loads(pickle.dumps(scorer("macro_f1", undefined=0)))
    assert repr(made) == "scorer('macro_f1')"
    assert made(fitted, data.X, data.Y) == 0
