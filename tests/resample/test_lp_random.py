"""LP-ROS and LP-RUS against their rule, told slowly."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from scumble import ScumbleError
from scumble.resample import LPROS, LPRUS
from scumble.resample.lp_random import distribute_budget

labels = arrays(bool, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12))
percents = st.one_of(st.integers(0, 100), st.floats(0, 100))


def bags_of(Y):
    """Rows by labelset, in the order of the first rows."""
    bags = {}
    for row, labelset in enumerate(map(tuple, np.asarray(Y).astype(int))):
        bags.setdefault(labelset, []).append(row)
    return list(bags.values())


def slow_shares(total, capacity):
    """Share rows one by one: equal parts, single rows to the earliest, the rest passed on."""
    allotted = [0] * len(capacity)

    def give(amount, first):
        part, single = divmod(amount, len(capacity) - first)
        for at in range(first, len(capacity)):
            allotted[at] += part + (at - first < single)

    if capacity:
        give(total, 0)
    for at in range(len(capacity)):
        excess = max(0, allotted[at] - capacity[at])
        allotted[at] -= excess
        if excess and at + 1 < len(capacity):
            give(excess, at + 1)
    return allotted


def expected_changes(Y, percent, *, clone):
    """How many rows each labelset gains or loses, by the rule."""
    bags = bags_of(Y)
    n = len(Y)
    mean = Fraction(n, len(bags))
    total = math.floor(Fraction(str(percent)) * n / 100)
    if clone:
        is_open = sorted(
            (bag for bag in bags if len(bag) < mean), key=lambda bag: (-len(bag), bag[0])
        )
        capacity = [math.ceil(mean) - len(bag) for bag in is_open]
    else:
        is_open = sorted(
            (bag for bag in bags if len(bag) > mean), key=lambda bag: (len(bag), bag[0])
        )
        capacity = [len(bag) - math.floor(mean) for bag in is_open]
    shares = slow_shares(total, capacity)
    assert sum(shares) == min(total, sum(capacity))
    return {tuple(bag): share for bag, share in zip(is_open, shares, strict=True)}


@given(labels, percents, st.integers(0, 5))
def test_lpros_adds_what_the_rule_gives_each_labelset(Y, percent, seed):
    sampler = LPROS(percent=percent, random_state=seed)
    X_new, Y_new = sampler.fit_resample(np.arange(len(Y)).reshape(-1, 1), Y)

    clones = sampler.sample_indices_[len(Y) :]
    assert sampler.sample_indices_[: len(Y)].tolist() == list(range(len(Y)))
    np.testing.assert_array_equal(X_new.ravel(), sampler.sample_indices_)
    np.testing.assert_array_equal(Y_new, Y[sampler.sample_indices_])
    expected = expected_changes(Y, percent, clone=True)
    for bag in bags_of(Y):
        assert np.isin(clones, bag).sum() == expected.get(tuple(bag), 0)
    sizes = [len(bag) for bag in bags_of(Y_new)]
    before = [len(bag) for bag in bags_of(Y)]
    mean = math.ceil(len(Y) / len(before))
    assert all(new <= max(mean, old) for new, old in zip(sizes, before, strict=True))
    assert (sampler.n_added_, sampler.n_removed_) == (sum(expected.values()), 0)


@given(labels, percents, st.integers(0, 5))
def test_lprus_deletes_what_the_rule_gives_each_labelset(Y, percent, seed):
    sampler = LPRUS(percent=percent, random_state=seed)
    X_new, Y_new = sampler.fit_resample(np.arange(len(Y)).reshape(-1, 1), Y)

    kept = sampler.sample_indices_
    assert (np.diff(kept) > 0).all()  # the order stays
    np.testing.assert_array_equal(X_new.ravel(), kept)
    np.testing.assert_array_equal(Y_new, Y[kept])
    expected = expected_changes(Y, percent, clone=False)
    mean = len(Y) // len(bags_of(Y))
    for bag in bags_of(Y):
        left = np.isin(bag, kept).sum()
        assert len(bag) - left == expected.get(tuple(bag), 0)
        assert left >= min(len(bag), mean)
    assert (sampler.n_added_, sampler.n_removed_) == (0, sum(expected.values()))


@given(st.integers(0, 60), st.lists(st.integers(1, 9), max_size=9).map(sorted))
def test_shares_are_those_of_the_slow_version(total, capacity):
    assert distribute_budget(total, np.array(capacity, np.int64)).tolist() == slow_shares(
        total, capacity
    )


def test_a_small_percentage_does_not_empty_the_bags():
    # mldr.resampling's LPRUS empties every frequent bag when a bag's share rounds to zero.
    Y = np.repeat(np.eye(5, dtype=int), [60, 50, 40, 30, 20], axis=0)

    sampler = LPRUS(percent=0.5, random_state=0)
    sampler.fit_resample(np.zeros((200, 1)), Y)

    assert sampler.n_removed_ == 1  # floor(200 * 0.5 %)


def test_lpros_keeps_the_order_of_the_rows():
    # mldr.resampling's LPROS sorts the rows by labelset.
    Y = np.array([[0, 1], [1, 0], [0, 1], [1, 1], [0, 1], [1, 0]])

    sampler = LPROS(percent=100, random_state=3).fit(np.zeros((6, 1)), Y)
    sampler.fit_resample(np.zeros((6, 1)), Y)

    assert sampler.sample_indices_[:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert sampler.sample_indices_[6:].tolist() == [3]  # {0,1} and {1} stand at the mean of 2


def test_clones_are_spread_evenly_over_a_bag():
    Y = np.repeat([[1, 0], [0, 1]], [30, 4], axis=0)
    drawn = Counter()
    for seed in range(300):
        sampler = LPROS(percent=30, random_state=seed)
        sampler.fit_resample(np.zeros((34, 1)), Y)
        drawn.update(sampler.sample_indices_[34:].tolist())

    # 10 clones a run, a quarter of them of each row: mean 750, sd 24.
    assert sorted(drawn) == [30, 31, 32, 33]
    assert all(abs(count - 750) < 4 * 24 for count in drawn.values())


def test_deletions_are_spread_evenly_over_a_bag():
    Y = np.repeat([[1, 0], [0, 1]], [10, 2], axis=0)
    drawn = Counter()
    for seed in range(400):
        sampler = LPRUS(percent=25, random_state=seed)
        sampler.fit_resample(np.zeros((12, 1)), Y)
        drawn.update(set(range(12)) - set(sampler.sample_indices_.tolist()))

    # 3 of 10 rows a run: mean 120, sd 9.2.
    assert sorted(drawn) == list(range(10))
    assert all(abs(count - 120) < 4 * 9.2 for count in drawn.values())


@pytest.mark.parametrize("sampler", [LPROS(), LPRUS()])
def test_equally_frequent_labelsets_stay_as_they_are(sampler):
    X, Y = np.arange(6).reshape(-1, 1), np.repeat(np.eye(3, dtype=int), 2, axis=0)

    X_new, Y_new = sampler.fit_resample(X, Y)

    np.testing.assert_array_equal(X_new, X)
    np.testing.assert_array_equal(Y_new, Y)


@pytest.mark.parametrize("sampler", [LPROS(), LPRUS()])
def test_no_rows_stay_no_rows(sampler):
    X_new, Y_new = sampler.fit_resample(np.zeros((0, 2)), np.zeros((0, 3), int))

    assert X_new.shape == (0, 2)
    assert Y_new.shape == (0, 3)


def test_the_percentage_has_a_range():
    Y = np.eye(3)
    for sampler in (LPROS(percent=-1), LPRUS(percent=-0.1), LPRUS(percent=101)):
        with pytest.raises(ScumbleError, match=r"'percent' parameter of LPR.S must be a number"):
            sampler.fit_resample(np.zeros((3, 1)), Y)
    for value in ("25", None, True, float("nan")):
        with pytest.raises(ScumbleError, match="percent"):
            LPROS(percent=value).fit_resample(np.zeros((3, 1)), Y)
