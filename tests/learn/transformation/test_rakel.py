"""RAkEL: by hand, by a slow twin, and on awkward labels."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scumble.learn import C45Classifier, LabelPowerset, RAkEL
from scumble.learn.transformation.rakel import draw_disjoint_labelsets, draw_overlapping_labelsets
from tests.learn import problems

problem = partial(problems.problem, n_labels=6)


@given(st.integers(1, 12), st.integers(1, 5), st.integers(1, 40), st.integers(0, 1000))
def test_overlapping_groups_are_different(n_labels, size, wanted, seed):
    size = min(size, n_labels)
    groups = draw_overlapping_labelsets(n_labels, size, wanted, np.random.default_rng(seed))
    found = {tuple(group.tolist()) for group in groups}
    assert len(found) == len(groups) == min(wanted, math.comb(n_labels, size))
    assert all(list(group) == sorted(set(group)) and len(group) == size for group in found)
    assert all(0 <= label < n_labels for group in found for label in group)


@given(st.integers(1, 20), st.integers(1, 6), st.integers(0, 1000))
def test_disjoint_groups_hold_each_label_once(n_labels, size, seed):
    groups = draw_disjoint_labelsets(n_labels, min(size, n_labels), np.random.default_rng(seed))
    assert sorted(np.concatenate(groups).tolist()) == list(range(n_labels))
    lengths = [len(group) for group in groups]
    assert all(length == min(size, n_labels) for length in lengths[:-1])
    if 1 < size < n_labels:  # a single label would not be a group
        assert lengths[-1] > 1


def test_the_last_disjoint_group_takes_what_is_left():
    sizes = {
        n: [len(group) for group in draw_disjoint_labelsets(n, 3, np.random.default_rng(0))]
        for n in (3, 6, 7, 8)
    }
    assert sizes == {3: [3], 6: [3, 3], 7: [3, 4], 8: [3, 3, 2]}


def slow_group(X, Y, labels, asked, weights):
    """Give the most probable combination and its probability, by one tree."""
    rows = [tuple(row) for row in Y[:, labels].tolist()]
    # Frequent combinations come first, equally frequent ones as they appear: so do ties.
    size = {
        kind: sum(w for row, w in zip(rows, weights, strict=True) if row == kind) for kind in rows
    }
    kinds = sorted(set(rows), key=lambda kind: (-size[kind], rows.index(kind)))
    if len(kinds) == 1:
        return np.tile(kinds[0], (len(asked), 1)), np.ones(len(asked))
    codes = np.array([kinds.index(row) for row in rows])
    tree = C45Classifier().fit(X, codes, sample_weight=weights)
    found = tree.predict_proba(asked)
    return np.array(kinds)[found.argmax(axis=1)], found.max(axis=1)


@pytest.mark.parametrize("overlapping", [True, False])
@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_rakel_is_its_slow_twin(overlapping, size, weighted):
    X, Y = problem()
    weights = np.arange(len(X)) % 4 + 0.5 if weighted else np.ones(len(X))
    asked, _ = problem(seed=8)
    model = RAkEL(size=size, overlapping=overlapping, random_state=4)
    model.fit(X, Y, sample_weight=weights)
    votes, sure, n_votes = np.zeros((60, 6)), np.zeros((60, 6)), np.zeros(6)
    for group in model.labelsets_:
        chosen, probability = slow_group(X, Y, group, asked, weights)
        for column, label in enumerate(group):
            has = chosen[:, column] == 1
            votes[:, label] += has
            sure[:, label] += np.where(has, probability, 1 - probability)
            n_votes[label] += 1
    share = votes / n_votes
    labels, confidences = model.predict_both(asked)
    assert (labels == (share >= 0.5)).all()
    np.testing.assert_allclose(confidences, share if overlapping else sure / n_votes, atol=1e-12)


def test_votes_by_hand():
    # Labels 0 and 1 are there from row 4 on, label 2 never: all three pairs agree.
    X = np.arange(8.0).reshape(-1, 1)
    Y = np.repeat([[0, 0, 0], [1, 1, 0]], 4, axis=0)
    model = RAkEL(size=2, random_state=0).fit(X, Y)
    assert [group.tolist() for group in model.labelsets_] == [[0, 1], [0, 2], [1, 2]]
    assert model.predict_proba([[0.0], [7.0]]).tolist() == [[0, 0, 0], [1, 1, 0]]


@pytest.mark.parametrize("overlapping", [True, False])
def test_one_group_of_all_labels_is_a_label_powerset(overlapping):
    X, Y = problem()
    for size in (6, 9):
        model = RAkEL(size=size, overlapping=overlapping, random_state=0).fit(X, Y)
        whole = LabelPowerset().fit(X, Y)
        assert (model.predict(X) == whole.predict(X)).all()
        if not overlapping:
            assert (model.predict_proba(X) == whole.predict_proba(X)).all()


def test_a_label_in_no_group_has_its_share_of_the_training_rows():
    X, Y = problem()
    Y[:50, 5] = 1
    model = RAkEL(size=1, n_labelsets=1, random_state=0).fit(X, Y)
    left = np.setdiff1d(np.arange(6), model.labelsets_[0])
    labels, confidences = model.predict_both(X)
    assert (confidences[:, left] == Y.mean(axis=0)[left]).all()
    assert (labels[:, left] == (Y.mean(axis=0)[left] >= 0.5)).all()


@pytest.mark.parametrize("overlapping", [True, False])
def test_awkward_labels(overlapping):
    X, Y = problem()
    Y[:, 0], Y[:, 1], Y[:, 2], Y[:, 4] = 0, 1, 0, Y[:, 3]
    Y[5, 2] = 1
    for n_labels in (1, 2, 6):
        model = RAkEL(overlapping=overlapping, random_state=0).fit(X, Y[:, :n_labels])
        labels, confidences = model.predict_both(X)
        assert not labels[:, 0].any()
        assert labels[:, 1:2].all()
        assert 0 <= confidences.min() <= confidences.max() <= 1
