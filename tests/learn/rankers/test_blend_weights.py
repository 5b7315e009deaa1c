"""Estimated weights of the rankers of a blend."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from sklearn.metrics import average_precision_score

from scumble.learn import BlendedRanker, NeighbourRanker, RidgeRanker
from scumble.learn.rankers.blended_ranker import (
    fit_blend_weights,
    labels_for_weight_search,
    single_label_average_precision,
)


def draw(seed, n_rows=60, n_labels=5, n_rankers=3):
    """Return heights of rankers, of which the first knows most, and labels."""
    generator = np.random.default_rng(seed)
    truth = generator.normal(size=(n_rows, n_labels))
    noises = np.linspace(0.5, 3, n_rankers)
    heights = [truth + generator.normal(size=truth.shape) * noise for noise in noises]
    return heights, truth > 0.7


def mean_precision(heights, weights, Y):
    blend = sum(w * part for w, part in zip(weights, heights, strict=True))
    rows = map(np.flatnonzero, Y.T)
    return np.mean(
        [single_label_average_precision(*pair) for pair in zip(blend.T, rows, strict=True)]
    )


def test_precision_by_hand():
    # Places of the two rows: first and third. (1/1 + 2/3) / 2.
    heights, rows = np.array([4.0, 3.0, 2.0, 1.0]), np.array([0, 2])
    assert single_label_average_precision(heights, rows) == pytest.approx(5 / 6)
    # Where all are equal, every row takes the last place: (2/4 + 2/4) / 2.
    assert single_label_average_precision(0 * heights, rows) == pytest.approx(1 / 2)


def test_precision_is_that_of_scikit_learn():
    heights, Y = draw(1)
    for column, present in zip(heights[0].T, Y.T, strict=True):
        expected = average_precision_score(present, column)
        assert single_label_average_precision(column, np.flatnonzero(present)) == pytest.approx(
            expected
        )


def test_a_ranker_that_tells_nothing_falls_silent():
    heights, Y = draw(2, n_rows=400)
    heights[2] = np.random.default_rng(0).normal(size=Y.shape) * 10
    weights = fit_blend_weights(heights, sparse.csr_array(Y), np.full(3, 1 / 3))

    assert weights[2] == 0
    assert weights[0] > weights[1]
    assert weights.sum() == pytest.approx(1)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n_rankers=st.integers(1, 4))
def test_measured_weights_rank_no_worse_and_do_not_know_the_order_of_rows(seed, n_rankers):
    heights, Y = draw(seed, n_rankers=n_rankers)
    heights = [part.round(1) for part in heights]  # some are equal
    first = np.full(n_rankers, 1 / n_rankers)
    weights = fit_blend_weights(heights, sparse.csr_array(Y), first)
    order = np.random.default_rng(seed).permutation(len(Y))
    again = fit_blend_weights([h[order] for h in heights], sparse.csr_array(Y[order]), first)

    np.testing.assert_array_equal(weights, again)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1)
    often = Y.sum(axis=0) >= 3
    if often.any():
        asked = [part[:, often] for part in heights]
        before = mean_precision(asked, first, Y[:, often])
        assert mean_precision(asked, weights, Y[:, often]) >= before


def test_labels_that_tell_nothing_leave_the_first_weights():
    Y = np.zeros((20, 3), bool)
    Y[:2, 0] = Y[:, 1] = True  # two rows, all rows, no row
    first = np.array([0.75, 0.25])
    heights = [np.random.default_rng(at).normal(size=Y.shape) for at in range(2)]

    np.testing.assert_array_equal(fit_blend_weights(heights, sparse.csr_array(Y), first), first)


def test_of_many_labels_the_rarest_and_the_most_frequent_are_asked():
    counts = np.concatenate([[0, 1, 2, 999], np.arange(3, 403), [1000]])
    Y = np.arange(1000)[:, None] < counts
    asked = counts[labels_for_weight_search(sparse.csc_array(Y))]

    assert len(asked) == 100
    assert asked[0] == 3
    assert asked[-1] == 999
    assert set(np.diff(asked[:-1])) == {4, 5}


def test_a_blend_measures_its_weights_unless_they_are_given():
    heights, Y = draw(3, n_rows=200)
    X = heights[0]
    members = [RidgeRanker(), NeighbourRanker(1)]
    one, two = (BlendedRanker(members, n_jobs=n).fit(X, Y) for n in (1, 2))

    np.testing.assert_array_equal(one.weights_, two.weights_)
    assert one.weights_[0] > one.weights_[1]  # a single neighbour tells yes or no
    given_ = BlendedRanker(members, weights=[1, 3]).fit(X, Y)
    np.testing.assert_array_equal(given_.weights_, [0.25, 0.75])


def test_a_silent_ranker_is_not_asked():
    heights, Y = draw(4)
    X = heights[0]
    whole = BlendedRanker([RidgeRanker(), NeighbourRanker(3)], weights=[1, 0]).fit(X, Y)
    alone = BlendedRanker([RidgeRanker()]).fit(X, Y)
    whole.rankers_[1] = None

    np.testing.assert_array_equal(whole.predict_proba(X), alone.predict_proba(X))
