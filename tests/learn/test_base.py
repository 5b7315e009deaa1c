"""The methods that authors of classifiers implement, and validation of data once per call."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from scumble.learn import (
    BaseMultilabelClassifier,
    BaseRanker,
    BinaryRelevance,
    BlendedRanker,
    NeighbourRanker,
    RareLabelClassifier,
    RidgeRanker,
    ThresholdedClassifier,
    features,
    labels,
)

X = np.arange(24.0).reshape(12, 2)
Y = np.array([[1, 0], [1, 1], [0, 1]] * 4)


class Shares(BaseMultilabelClassifier):
    """Scores are the shares of the labels in the training rows."""

    def _fit(self, X, Y, sample_weight=None):
        self.shares_ = np.average(Y.toarray(), axis=0, weights=sample_weight)
        self.n_calls_ = 0

    def _predict_scores(self, X):
        self.n_calls_ += 1
        return np.tile(self.shares_, (X.shape[0], 1))


class SharesWithThresholds(Shares):
    """A label is predicted at scores of its threshold."""

    def _fit(self, X, Y, sample_weight=None):
        super()._fit(X, Y, sample_weight)
        self.thresholds_ = np.array([0.9, 0.1])


class FirstLabel(Shares):
    """Labels do not follow from scores."""

    def _predict(self, X):
        return np.tile([True, False], (X.shape[0], 1))


class BothAtOnce(Shares):
    """One computation returns both."""

    def _predict_labels_and_scores(self, X):
        self.n_calls_ += 1
        scores = np.tile(self.shares_, (X.shape[0], 1))
        return sparse.csr_array(scores > 0.6), scores

    _predict_scores = BaseMultilabelClassifier._predict_scores


class LabelsAlone(Shares):
    """There are no scores."""

    _predict_scores = BaseMultilabelClassifier._predict_scores

    def _predict(self, X):
        return np.tile([False, True], (X.shape[0], 1))


class Nothing(Shares):
    """Neither labels nor scores."""

    _predict_scores = BaseMultilabelClassifier._predict_scores


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (Shares, [1, 1]),
        (SharesWithThresholds, [0, 1]),
        (FirstLabel, [1, 0]),
        (BothAtOnce, [1, 1]),
        (LabelsAlone, [0, 1]),
    ],
)
def test_predictions_follow_from_the_methods_of_the_subclass(cls, expected):
    model = cls().fit(X, Y)
    scores = [0.0, 1.0] if cls is LabelsAlone else [2 / 3, 2 / 3]
    assert model.predict(X[:1]).tolist() == [expected]
    np.testing.assert_allclose(model.predict_proba(X[:1]), [scores])
    both = model.predict_both(X[:1])
    assert both[0].tolist() == [expected]
    np.testing.assert_allclose(both[1], [scores])
    as_lists = cls().fit(X, [["a"], ["a", "b"], ["b"]] * 4)
    assert as_lists.predict(X[:1]) == [
        [name for name, is_on in zip("ab", expected, strict=True) if is_on]
    ]


@pytest.mark.parametrize(
    ("cls", "n_calls"), [(Shares, (1, 2, 3)), (FirstLabel, (0, 1, 2)), (BothAtOnce, (1, 2, 3))]
)
def test_nothing_is_computed_twice(cls, n_calls):
    model = cls().fit(X, Y)
    for predict, expected in zip(
        (model.predict, model.predict_proba, model.predict_both), n_calls, strict=True
    ):
        predict(X)
        assert model.n_calls_ == expected


def test_a_class_without_predictions_names_what_is_missing():
    with pytest.raises(NotImplementedError, match="Nothing must implement _predict_scores or"):
        Nothing().fit(X, Y).predict(X)


def test_weights_reach_the_classifier():
    model = Shares().fit(X, Y, sample_weight=[1, 1, 0] * 4)
    np.testing.assert_allclose(model.shares_, [1, 0.5])


def count_calls(monkeypatch):
    """Count validations of labels, of training features and of rows to predict."""
    counts = {"labels": 0, "training": 0, "rows": 0}

    def counting(function, name):
        def wrapper(*arguments, **options):
            counts[name] += 1
            return function(*arguments, **options)

        return wrapper

    for module, function, name in (
        (labels, "check_named_labels", "labels"),
        (features, "read_features", "training"),
        (features, "encode_features", "rows"),
    ):
        monkeypatch.setattr(module, function, counting(getattr(module, function), name))
    return counts


@pytest.mark.parametrize(
    "model",
    [
        RareLabelClassifier(),
        RareLabelClassifier("best", random_state=0),
        RidgeRanker("laplacian"),
        ThresholdedClassifier(BinaryRelevance(), random_state=0),
        BlendedRanker([NeighbourRanker(2), RidgeRanker()]),
    ],
    ids=["fast", "best", "ridge", "thresholded", "blend"],
)
def test_data_are_validated_once_per_call(monkeypatch, model):
    counts = count_calls(monkeypatch)
    model = clone(model).fit(X, Y)
    assert counts == {"labels": 1, "training": 1, "rows": 0}
    model.predict(X)
    assert counts == {"labels": 1, "training": 1, "rows": 1}
    model.predict_both(X)
    assert counts == {"labels": 1, "training": 1, "rows": 2}
    if isinstance(model, BaseRanker):
        model.fit_out_of_sample(X, Y)
        assert counts == {"labels": 2, "training": 2, "rows": 2}
