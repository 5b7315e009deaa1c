"""Stacked binary relevance: by hand, by a slow twin, and on awkward labels."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from scumble._core.errors import ParameterTypeError
from scumble.learn import BinaryRelevance, C45Classifier, StackedBinaryRelevance
from tests.learn.problems import problem


def presence(estimator, X, y, asked, weights):
    if len(set(y.tolist())) == 1:
        return np.full(len(asked), float(y[0]))
    return estimator.fit(X, y, sample_weight=weights).predict_proba(asked)[:, 1]


def slow_folds(y, n_folds, seed):
    """Deal the rows out in random order, those without the label first."""
    order = np.random.default_rng(seed).permutation(len(y)).tolist()
    order = [row for row in order if not y[row]] + [row for row in order if y[row]]
    folds = [[] for _ in range(n_folds)]
    for place, row in enumerate(order):
        folds[place % n_folds].append(row)
    return folds


def slow_stacking(first, second, X, Y, asked, n_folds, passthrough, seed, weights):
    q = Y.shape[1]
    seeds = np.random.default_rng(seed).integers(2**63 - 1, size=q)
    unseen, answers = np.zeros(Y.shape), np.zeros((len(asked), q))
    for label in range(q):
        y = Y[:, label]
        for fold in slow_folds(y, n_folds, seeds[label]):
            rest = [row for row in range(len(y)) if row not in fold]
            unseen[fold, label] = presence(first, X[rest], y[rest], X[fold], weights[rest])
        answers[:, label] = presence(first, X, y, asked, weights)
    train = np.hstack([X, unseen]) if passthrough else unseen
    questions = np.hstack([asked, answers]) if passthrough else answers
    found = [presence(second, train, Y[:, j], questions, weights) for j in range(q)]
    return np.column_stack(found)


@pytest.mark.parametrize("passthrough", [True, False])
@pytest.mark.parametrize(
    ("first", "second"), [(C45Classifier(), C45Classifier()), (GaussianNB(), LogisticRegression())]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_stacking_is_its_slow_twin(first, second, passthrough, weighted):
    X, Y = problem()
    asked, _ = problem(seed=7)
    weights = np.arange(len(X)) % 4 + 0.5 if weighted else np.ones(len(X))
    expected = slow_stacking(first, second, X, Y, asked, 5, passthrough, 3, weights)
    model = StackedBinaryRelevance(
        first, final_estimator=second, n_folds=5, passthrough=passthrough, random_state=3
    ).fit(X, Y, sample_weight=weights)
    labels, confidences = model.predict_both(asked)
    np.testing.assert_allclose(confidences, expected, atol=1e-12)
    assert (labels == (expected >= 0.5)).all()
    if isinstance(first, C45Classifier):
        again = StackedBinaryRelevance(n_folds=5, passthrough=passthrough, random_state=3)
        found = again.fit(sparse.csr_array(X), Y, weights).predict_proba(sparse.csr_array(asked))
        assert (found == confidences).all()


def test_by_hand():
    # Without folds the first trees are sure of rows 0 to 3, which have both labels, and 4 to 7,
    # which have none: the second trees find these answers in the columns behind the feature.
    X = np.arange(8.0).reshape(-1, 1)
    Y = np.repeat([[1, 1], [0, 0]], 4, axis=0)
    model = StackedBinaryRelevance(n_folds=0, passthrough=False).fit(X, Y)
    assert model.second_.model.n_features_in_ == 2
    assert model.predict_proba([[0.0], [7.0]]).tolist() == [[1, 1], [0, 0]]
    whole = StackedBinaryRelevance(n_folds=0).fit(X, Y)
    assert whole.second_.model.n_features_in_ == 3


def test_without_folds_the_first_answers_are_those_of_binary_relevance():
    X, Y = problem()
    model = StackedBinaryRelevance(n_folds=1, random_state=0).fit(X, Y)
    first = BinaryRelevance().fit(X, Y).predict_proba(X)
    assert (model.first_.predict_labels_and_scores(X)[1] == first).all()
    second = BinaryRelevance().fit(np.hstack([X, first]), Y)
    assert (model.predict_proba(X) == second.predict_proba(np.hstack([X, first]))).all()


@pytest.mark.parametrize("estimator", [None, GaussianNB()])
def test_awkward_labels(estimator):
    X, Y = problem(n_labels=6)
    Y[:, 0], Y[:, 1], Y[:, 2], Y[:, 4] = 0, 1, 0, Y[:, 3]
    Y[5, 2] = 1
    for n_labels in (1, 2, 6):
        model = StackedBinaryRelevance(estimator, final_estimator=estimator, random_state=0)
        labels, confidences = model.fit(X, Y[:, :n_labels]).predict_both(X)
        assert not labels[:, 0].any()
        assert labels[:, 1:2].all()
        assert 0 <= confidences.min() <= confidences.max() <= 1
    few = StackedBinaryRelevance(random_state=0).fit(X[:3], Y[:3])
    assert few.predict(X[:3]).shape == (3, 6)


def test_a_wrong_final_estimator_is_named():
    with pytest.raises(ParameterTypeError, match="'final_estimator' parameter of Stacked"):
        StackedBinaryRelevance(final_estimator=3).fit(*problem())
