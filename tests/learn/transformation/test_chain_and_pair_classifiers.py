"""BR, CC, ECC and CLR: by hand, and against obvious loops over single trees."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from scumble.learn import (
    BinaryRelevance,
    C45Classifier,
    CalibratedLabelRanking,
    ClassifierChain,
    EnsembleOfClassifierChains,
)
from scumble.learn.transformation.chains import ChainSample, chain_targets
from scumble.learn.transformation.targets import LabelTargets


def both(tree, X):
    """Probabilities of absence and presence from a fitted tree of 0/1 classes."""
    out = np.zeros((len(X), 2))
    out[:, tree.classes_] = tree.predict_proba(X)
    return out


def problem(seed, gaps=False):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(70, 4)), 1)
    Y = (X @ rng.normal(size=(4, 5)) + rng.normal(size=(70, 5)) > 0.8).astype(int)
    Y[:, 3] *= Y[:, 1]
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, Y


def test_a_leaf_of_one_half_is_positive():
    X, Y = [[0], [0], [0], [0]], [[1], [1], [0], [0]]
    labels, confidences = BinaryRelevance().fit(X, Y).predict_both([[0]])
    assert (labels.tolist(), confidences.tolist()) == ([[1]], [[0.5]])
    assert C45Classifier().fit(X, np.ravel(Y)).predict([[0]]).tolist() == [0]


@pytest.mark.parametrize("gaps", [False, True])
def test_binary_relevance_is_one_tree_per_label(gaps):
    X, Y = problem(0, gaps)
    labels, confidences = BinaryRelevance(C45Classifier(laplace=True)).fit(X, Y).predict_both(X)
    for label in range(5):
        answer = both(C45Classifier(laplace=True).fit(X, Y[:, label]), X)
        assert (confidences[:, label] == answer[:, 1]).all()
        assert (labels[:, label] == (answer[:, 1] >= answer[:, 0])).all()


def slow_chain(X, Y, order, X_new, bag=None):
    """Fit and follow a chain, one tree at a time."""
    bag = np.arange(len(X)) if bag is None else bag
    known, features = {}, X.shape[1]
    labels, confidences = np.zeros((len(X_new), Y.shape[1]), int), np.zeros((len(X_new), 5))
    for place, label in enumerate(order):
        before = sorted(order[:place])
        nominal = {features + at: 2 for at in range(place)}
        tree = C45Classifier(categorical_features=nominal)
        tree.fit(np.hstack([X, Y[:, before]])[bag], Y[bag, label])
        answer = both(tree, np.column_stack([X_new, *(known[j] for j in before)]))
        known[label] = labels[:, label] = answer[:, 1] >= answer[:, 0]
        confidences[:, label] = answer[:, 1]
    return labels, confidences


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("order", [None, [3, 0, 4, 2, 1]])
def test_a_chain_is_its_trees_in_turn(order, gaps):
    X, Y = problem(1, gaps)
    X_new = problem(2, gaps)[0]
    chain = ClassifierChain(order=order).fit(X, Y)
    labels, confidences = chain.predict_both(X_new)
    expected = slow_chain(X, Y, order or list(range(5)), X_new)
    assert (labels == expected[0]).all()
    np.testing.assert_allclose(confidences, expected[1], atol=1e-12)
    assert chain.order_.tolist() == (order or [0, 1, 2, 3, 4])


def test_a_chain_sees_the_labels_before_it():
    # The second label is the exclusive or of the first and a column no single cut can use.
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    X = np.column_stack([first, second])
    Y = np.column_stack([first, first ^ second])
    assert (ClassifierChain().fit(X, Y).predict(X)[:, 0] == first).all()


@pytest.mark.parametrize("hard", [False, True])
def test_an_ensemble_is_the_mean_of_its_chains(hard):
    X, Y = problem(3)
    X_new = problem(4)[0]
    rng = np.random.default_rng(5)
    draws = [(rng.permutation(5), rng.integers(70, size=70)) for _ in range(4)]

    class Given(EnsembleOfClassifierChains):
        def _draw_samples(self, n_rows, n_labels, generator):
            return [ChainSample(order, np.bincount(bag, minlength=n_rows)) for order, bag in draws]

    labels, confidences = Given(use_confidences=not hard).fit(X, Y).predict_both(X_new)
    chains = [slow_chain(X, Y, list(order), X_new, bag) for order, bag in draws]
    expected = np.mean([chain[0 if hard else 1] for chain in chains], axis=0)
    np.testing.assert_allclose(confidences, expected, atol=1e-12)
    assert (labels == (confidences >= 0.5)).all()


def test_what_an_ensemble_draws():
    rng = np.random.default_rng(0)
    for draw in EnsembleOfClassifierChains()._draw_samples(90, 7, rng):
        assert sorted(draw.order) == list(range(7))
        assert draw.repeats.sum() == 90
        assert draw.repeats.max() > 1
    for draw in EnsembleOfClassifierChains(bootstrap=False)._draw_samples(90, 7, rng):
        assert draw.repeats.sum() == 60
        assert draw.repeats.max() == 1
    assert EnsembleOfClassifierChains(sample=0.5)._draw_samples(90, 7, rng)[0].repeats.sum() == 45


def test_votes_by_hand():
    # Three labels on a line: a where x < 3, b where x > 2, c nowhere.
    X = np.arange(6.0).reshape(-1, 1)
    Y = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]])
    fitted = CalibratedLabelRanking(C45Classifier(prune=False)).fit(X, Y)
    labels, confidences = fitted.predict_both([[0.0], [5.0]])
    # At 0: a beats b, c and the virtual label; b beats c; the virtual label beats b and c.
    np.testing.assert_allclose(confidences, [[3 / 3, 1 / 3, 0], [1 / 3, 3 / 3, 0]])
    assert labels.tolist() == [[1, 0, 0], [0, 1, 0]]


def slow_ranking(X, Y, X_new, *, compat):
    """Let all pairs vote, one tree at a time."""
    n_labels = Y.shape[1]
    votes, virtual = np.zeros((len(X_new), n_labels)), np.zeros(len(X_new))
    lost = False
    for a in range(n_labels):
        for b in range(a + 1, n_labels):
            rows = Y[:, a] != Y[:, b]
            lost |= compat and not rows.any()
            if lost or not rows.any():
                continue
            answer = both(C45Classifier().fit(X[rows], Y[rows, a]), X_new)
            to_second = answer[:, 0] > answer[:, 1]
            votes[:, a] += ~to_second
            votes[:, b] += to_second
    for label in range(n_labels):
        answer = both(C45Classifier().fit(X, Y[:, label]), X_new)
        votes[:, label] += answer[:, 1] >= answer[:, 0]
        virtual += answer[:, 0] > answer[:, 1]
    return votes >= virtual[:, None], votes / n_labels


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("compat", [False, True])
def test_the_ranking_is_all_its_trees(compat, gaps):
    X, Y = problem(6, gaps)
    Y = np.column_stack([Y[:, :2], Y[:, 1], Y[:, 2:], np.zeros(70, int), np.zeros(70, int)])
    X_new = problem(7, gaps)[0]
    fitted = CalibratedLabelRanking(mulan_compat=compat).fit(X, Y)
    labels, confidences = fitted.predict_both(X_new)
    expected = slow_ranking(X, Y, X_new, compat=compat)
    assert (labels == expected[0]).all()
    assert (confidences == expected[1]).all()
    # Labels 1 and 2 are twins, the last two never occur: pairs (1, 2) and (6, 7) say nothing.
    assert len(fitted.pairs_) == (7 if compat else 28 - 2)


def test_only_rows_with_one_of_the_two_labels_teach_a_pair():
    Y = sparse.csr_array(np.array([[1, 1], [1, 0], [0, 0], [0, 1], [1, 0]], bool))
    from scumble.learn.transformation.calibrated_label_ranking import _PairwiseTargets

    duels = _PairwiseTargets(Y, np.array([[0, 1]]))
    assert len(duels) == 3
    assert (duels[0].rows.tolist(), duels[0].y.tolist()) == ([1, 3, 4], [1, 0, 1])
    assert duels[2].y.tolist() == [1, 0, 0, 1, 0]


def test_targets_are_as_sparse_as_the_labels():
    n_rows, n_labels = 2000, 1000
    Y = sparse.random_array((n_rows, n_labels), density=0.0005, rng=0, format="csr").astype(bool)
    order = np.arange(n_labels)[::-1]
    tracemalloc.start()
    try:
        alone = LabelTargets(Y)
        chained = chain_targets(
            Y, [ChainSample(np.arange(n_labels)), ChainSample(order, np.ones(n_rows, int))]
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < n_rows * n_labels / 10  # dense labels take a byte per cell at the least
    dense = Y.toarray()
    assert len(alone) == n_labels
    assert len(chained) == 2 * n_labels
    label = int(Y.indices[0])
    assert (alone[label].y == dense[:, label]).all()
    for at, before in ((label, np.arange(label)), (2 * n_labels - 1 - label, order[: -label - 1])):
        assert (chained[at].y == dense[:, label]).all()
        assert chained[at].extra.tolist() == before.tolist()
    assert chained[at].repeats.sum() == n_rows
    with pytest.raises(IndexError):
        chained[2 * n_labels]


def test_other_learners_vote_the_same_in_any_number_of_threads():
    X, Y = problem(9)
    X_new = problem(10)[0]
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    models = [CalibratedLabelRanking(tree, n_jobs=jobs).fit(X, Y) for jobs in (1, 3)]
    (labels, confidences), other = (model.predict_both(X_new) for model in models)
    assert (labels == other[0]).all()
    assert (confidences == other[1]).all()
    votes = np.zeros(Y.shape)
    for at, (first, second) in enumerate(models[0].pairs_):
        answer = models[0].models_.predict_proba_of(at, X_new)
        first_wins = answer[:, 1] >= answer[:, 0]
        votes[first_wins, first] += 1
        votes[~first_wins, second] += 1
    for label in range(Y.shape[1]):
        answer = models[0].models_.predict_proba_of(len(models[0].pairs_) + label, X_new)
        votes[:, label] += answer[:, 1] >= answer[:, 0]
    assert (confidences == votes / Y.shape[1]).all()
