"""Resamplers inside imbalanced-learn's pipeline, searched and cross-validated by scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.tree import DecisionTreeClassifier

from scumble.resample import LPROS, LPRUS, MLROS, MLSMOTE, REMEDIAL, MLeNN, RemedialHwR

pipeline = pytest.importorskip("imblearn.pipeline", reason="pip install 'scumble[imblearn]'")


def problem(n=90):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    Y = (X @ rng.normal(size=(4, 4)) + rng.normal(size=(n, 4)) * 0.3) > [-1, 0, 1.5, 2.5]
    return X, Y.astype(int)


class Recorder(ClassifierMixin, BaseEstimator):
    """Remember how many rows were seen in training and asked for in prediction."""

    seen: list = []  # noqa: RUF012  (shared by clones on purpose)

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
        [
            ("resample", MLSMOTE(random_state=0)),
            ("learn", DecisionTreeClassifier(random_state=0)),
        ]
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
