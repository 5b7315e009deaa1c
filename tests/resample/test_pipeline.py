"""Resamplers inside imbalanced-learn's pipeline, searched and cross-validated by scikit-learn."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from scumble._core.errors import ScumbleError
from scumble.learn import BinaryRelevance, ClassifierChain, MLkNN, RareLabelClassifier, RidgeRanker
from scumble.resample import (
    LPROS,
    LPRUS,
    MLROS,
    MLSMOTE,
    REMEDIAL,
    BaseResampler,
    MLeNN,
    RemedialHwR,
    ResampleResult,
)

pipeline = pytest.importorskip("imblearn.pipeline", reason="pip install 'scumble[imblearn]'")


def problem(n=90):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    Y = (X @ rng.normal(size=(4, 4)) + rng.normal(size=(n, 4)) * 0.3) > [-1, 0, 1.5, 2.5]
    return X, Y.astype(int)


class Recorder(ClassifierMixin, BaseEstimator):
    """Remember how many rows were seen in training and asked for in prediction."""

    seen: list = []

    def fit(self, X, Y):
        self.classes_ = [np.array([0, 1])] * Y.shape[1]
        self.width_ = Y.shape[1]
        Recorder.seen.append(("fit", len(X)))
        return self

    def predict(self, X):
        Recorder.seen.append(("predict", len(X)))
        return np.zeros((len(X), self.width_), int)


def test_only_the_training_part_is_resampled():
    X, Y = problem()
    Recorder.seen.clear()
    model = pipeline.Pipeline(
        [("resample", LPROS(percent=50, random_state=0)), ("learn", Recorder())]
    )

    cross_validate(model, X, Y, cv=KFold(3), scoring="accuracy")

    trained = [size for what, size in Recorder.seen if what == "fit"]
    asked = [size for what, size in Recorder.seen if what == "predict"]
    expected = [
        len(LPROS(percent=50, random_state=0).fit_resample(X[train], Y[train])[0])
        for train, _ in KFold(3).split(X)
    ]
    assert trained == expected
    assert all(size > 60 for size in trained)
    assert asked == [30, 30, 30]


def test_a_grid_over_sampler_and_classifier():
    X, Y = problem()
    model = pipeline.Pipeline(
        [("resample", MLSMOTE(random_state=0)), ("learn", DecisionTreeClassifier(random_state=0))]
    )
    grid = {
        "resample": [MLSMOTE(random_state=0), REMEDIAL(), LPRUS(random_state=0), MLeNN()],
        "learn__max_depth": [2, 4],
    }
    search = GridSearchCV(model, grid, cv=3, scoring="f1_micro").fit(X, Y)
    assert len(search.cv_results_["params"]) == 8
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()

    inner = GridSearchCV(
        model, {"resample__n_neighbors": [1, 5], "resample__strategy": ["ranking", "union"]}, cv=3
    ).fit(X, Y)
    by_hand = []
    for train, test in KFold(3).split(X):
        X_new, Y_new = MLSMOTE(n_neighbors=1, random_state=0).fit_resample(X[train], Y[train])
        tree = DecisionTreeClassifier(random_state=0).fit(X_new, Y_new)
        by_hand.append(tree.score(X[test], Y[test]))
    at = inner.cv_results_["params"].index(
        {"resample__n_neighbors": 1, "resample__strategy": "ranking"}
    )
    assert inner.cv_results_["mean_test_score"][at] == pytest.approx(np.mean(by_hand))


def test_nested_parameters_of_hwr():
    X, Y = problem()
    model = pipeline.Pipeline(
        [
            ("resample", RemedialHwR(MLSMOTE(), random_state=0)),
            ("learn", DecisionTreeClassifier(random_state=0)),
        ]
    )
    grid = {"resample__resampler__n_neighbors": [2, 5], "resample__resampler": [MLSMOTE()]}
    search = GridSearchCV(model, grid, cv=2).fit(X, Y)

    assert search.best_params_["resample__resampler__n_neighbors"] in (2, 5)


def test_two_resamplers_in_a_row():
    X, Y = problem()
    steps = [("split", REMEDIAL()), ("clone", MLROS(random_state=0))]
    model = pipeline.Pipeline([*steps, ("learn", DecisionTreeClassifier(random_state=0))])

    predicted = model.fit(X, Y).predict(X)

    data = MLROS(random_state=0).fit_resample(*REMEDIAL().fit_resample(X, Y))
    expected = DecisionTreeClassifier(random_state=0).fit(*data).predict(X)
    np.testing.assert_array_equal(predicted, expected)


# Weights, with metadata routing.


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def weighed(*steps):
    """Make a pipeline in which everything that takes weights asks for them."""
    for step in steps:
        if hasattr(step, "set_fit_resample_request"):
            step.set_fit_resample_request(sample_weight=True)
        elif isinstance(step, MinMaxScaler):
            continue
        else:
            step.set_fit_request(sample_weight=True)
    return pipeline.make_pipeline(*steps)


ORDERS = """
{first}
{second}
import numpy as np, sklearn
from imblearn.pipeline import Pipeline
from scumble.learn import BinaryRelevance
from scumble.resample import MLROS
sklearn.set_config(enable_metadata_routing=True)
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = (X @ rng.normal(size=(3, 3)) + rng.normal(size=(60, 3)) > [-1, 0, 1.5]).astype(int)
w = rng.choice([0.5, 1.0, 4.0], 60)
sampler = MLROS(percent=30, random_state=0).set_fit_resample_request(sample_weight=True)
model = Pipeline([("r", sampler), ("c", BinaryRelevance().set_fit_request(sample_weight=True))])
model.fit(X, Y, sample_weight=w)
again = MLROS(percent=30, random_state=0)
X2, Y2 = again.fit_resample(X, Y, sample_weight=w)
assert len(X2) > 60 and (again.sample_weight_ == w[again.sample_indices_]).all()
direct = BinaryRelevance().fit(X2, Y2, sample_weight=again.sample_weight_)
plain = BinaryRelevance().fit(X2, Y2)
assert (model.predict_proba(X) == direct.predict_proba(X)).all()
assert (model.predict_proba(X) != plain.predict_proba(X)).any()
print("the same")
"""


@pytest.mark.parametrize("first", ["scumble.resample", "imblearn.pipeline"])
def test_weights_in_a_pipeline_whatever_is_imported_first(first):
    second = "imblearn.pipeline" if first == "scumble.resample" else "scumble.resample"
    program = ORDERS.format(first=f"import {first}", second=f"import {second}")
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout == "the same\n", run.stderr


WITHOUT_IMBLEARN = """
import sklearn
from sklearn.base import clone
from sklearn.utils import _metadata_requests
methods = [*_metadata_requests.METHODS], [*_metadata_requests.SIMPLE_METHODS]
from scumble.resample import MLROS
assert methods == (_metadata_requests.METHODS, _metadata_requests.SIMPLE_METHODS)
sklearn.set_config(enable_metadata_routing=True)
sampler = MLROS().set_fit_resample_request(sample_weight="importance")
for copy in (sampler, clone(sampler), clone(clone(sampler))):
    requests = copy.get_metadata_routing().fit_resample.requests
    assert requests == {"sample_weight": "importance"}, requests
    assert copy.set_fit_resample_request() is copy
assert clone(sampler).set_fit_resample_request(sample_weight=None) is not sampler
assert sampler.get_metadata_routing().fit_resample.requests == {"sample_weight": "importance"}
assert MLROS().get_metadata_routing().fit_resample.requests == {"sample_weight": None}
sklearn.set_config(enable_metadata_routing=False)
try:
    sampler.set_fit_resample_request(sample_weight=True)
except RuntimeError as error:
    print(error)
"""


def test_requests_without_imblearn_leave_the_lists_of_scikit_learn_alone():
    command = [sys.executable, "-c", WITHOUT_IMBLEARN]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.stdout.startswith("This method is only available when metadata routing"), run.stderr


@pytest.mark.parametrize(
    ("learner", "form"),
    [(BinaryRelevance(), form) for form in (sparse.csr_array, pd.DataFrame, pl.DataFrame)]
    + [
        (learner, np.asarray)
        for learner in (
            BinaryRelevance(),
            ClassifierChain(),
            MLkNN(),
            RidgeRanker(),
            RareLabelClassifier(random_state=0),
        )
    ],
)
def test_weights_go_through_two_resamplers_and_what_is_between(routing, learner, form):
    X, Y = problem()
    w = np.random.default_rng(1).choice([0.5, 1.0, 4.0], len(X))
    steps = (MLROS(percent=30, random_state=0), MinMaxScaler(), LPRUS(percent=10, random_state=0))
    model = weighed(*steps, clone(learner)).fit(X, form(Y), sample_weight=w)

    one, scaler, two = (type(step)(**step.get_params()) for step in steps)
    X_new, Y_new = one.fit_resample(X, Y)
    X_new, Y_new = two.fit_resample(scaler.fit_transform(X_new), Y_new)
    expected = clone(learner).fit(
        X_new, Y_new, sample_weight=w[one.sample_indices_][two.sample_indices_]
    )
    np.testing.assert_array_equal(
        model.predict_proba(X), expected.predict_proba(scaler.transform(X))
    )


class Turned(BaseResampler):
    """As many rows as before, in another order."""

    def _fit_resample(self, X, Y):
        rows = np.arange(Y.shape[0])[::-1]
        return ResampleResult(rows, Y[rows])


def test_as_many_rows_as_before_have_the_weights_of_their_sources(routing):
    X, Y = problem()
    w = np.arange(len(X)) + 1.0
    model = weighed(Turned(), BinaryRelevance()).fit(X, Y, sample_weight=w)
    expected = BinaryRelevance().fit(X[::-1], Y[::-1], sample_weight=w[::-1])
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    # Outside of a pipeline weights are those of the rows they are given with.
    sampler = Turned()
    X_new, Y_new = sampler.fit_resample(X, Y, sample_weight=w)
    direct = BinaryRelevance().fit(X_new, Y_new, sample_weight=sampler.sample_weight_)
    np.testing.assert_array_equal(direct.predict_proba(X), expected.predict_proba(X))
    assert Turned().fit(X, Y).fit_resample(X, Y) is not None
    assert (sampler.fit_resample(X, Y), sampler.sample_weight_)[1] is None


def test_weights_are_routed_by_a_search(routing):
    X, Y = problem()
    w = np.random.default_rng(1).choice([0.5, 1.0, 4.0], len(X))
    model = weighed(LPROS(percent=30, random_state=0), BinaryRelevance())
    scoring = sklearn.metrics.make_scorer(sklearn.metrics.hamming_loss).set_score_request(
        sample_weight=False
    )
    search = GridSearchCV(model, {"lpros__percent": [10, 30]}, cv=KFold(3), scoring=scoring)
    search.fit(X, Y, sample_weight=w)
    losses = []
    for train, test in KFold(3).split(X):
        sampler = LPROS(percent=10, random_state=0)
        X_new, Y_new = sampler.fit_resample(X[train], Y[train])
        learner = BinaryRelevance()
        learner.fit(X_new, Y_new, sample_weight=w[train][sampler.sample_indices_])
        losses.append((learner.predict(X[test]) != Y[test]).mean())
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(losses))


def test_weights_that_pass_a_resampler_by_are_refused(routing):
    X, Y = problem()
    w = np.arange(len(X)) + 1.0
    sampler = MLROS(percent=30, random_state=0)
    learner = BinaryRelevance().set_fit_request(sample_weight=True)
    asked = pipeline.make_pipeline(sampler, learner)
    with pytest.raises(ValueError, match="not explicitly set as requested"):
        asked.fit(X, Y, sample_weight=w)
    sampler.set_fit_resample_request(sample_weight=False)
    with pytest.raises(ScumbleError, match=r"90 weights for 93 rows.*set_fit_resample_request"):
        asked.fit(X, Y, sample_weight=w)
