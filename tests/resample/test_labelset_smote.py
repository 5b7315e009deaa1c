"""LabelsetSMOTE: seeds by criterion, labels of the seed."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scumble import ScumbleError
from scumble._core.neighbours import Space, nearest_neighbours
from scumble.measures import is_minority
from scumble.resample import LabelsetSMOTE
from scumble.resample.labelset_smote import repeat_seeds_evenly


def problem(seed, n=40):
    rng = np.random.default_rng(seed)
    X = np.hstack([rng.normal(size=(n, 3)), rng.integers(0, 3, (n, 1))])
    return X, rng.random((n, 4)) < [0.7, 0.4, 0.2, 0.1]


def pools_of(Y, criterion):
    if criterion == "minority":
        return [np.flatnonzero(Y[:, is_minority(Y)].any(axis=1))]
    if criterion == "pure":
        return [np.flatnonzero(Y.sum(axis=1) == 1)]
    return [np.flatnonzero(Y[:, label]) for label in range(Y.shape[1])]


@pytest.mark.parametrize("criterion", ["minority", "uniform", "pure"])
@given(seed=st.integers(0, 10_000), k=st.sampled_from([1, 5, 60]), percent=st.integers(0, 150))
def test_every_synthetic_row_follows_the_rule(criterion, seed, k, percent):
    X, Y = problem(seed)
    sampler = LabelsetSMOTE(
        percent=percent, n_neighbors=k, seeds=criterion, categorical_features=[3], random_state=seed
    )

    X_new, Y_new = sampler.fit_resample(X, Y)

    pools = [pool for pool in pools_of(Y, criterion) if len(pool) > 1]
    total = 40 * percent // 100 if pools else 0
    shares = [total // len(pools) + (at < total % len(pools)) for at in range(len(pools))]
    assert len(X_new) == 40 + total
    np.testing.assert_array_equal(X_new[:40], X)
    np.testing.assert_array_equal(Y_new, Y[sampler.sample_indices_])
    space = Space.from_matrix(X, [0, 0, 0, 3])
    at = 40
    for pool, share in zip(pools, shares, strict=True):
        seeds = sampler.sample_indices_[at : at + share]
        used = np.array([(seeds == row).sum() for row in pool])
        assert used.sum() == share  # seeds come from the pool
        assert used.max() - used.min() <= 1  # equally often
        near = dict(
            zip(
                pool, nearest_neighbours(space, k, rows=pool, candidate_rows=pool).rows, strict=True
            )
        )
        for new, row in zip(X_new[at : at + share], seeds, strict=True):
            low, high = (end(X[row, :3], X[near[row], :3]) for end in (np.minimum, np.maximum))
            assert ((low <= new[:3]) & (new[:3] <= high)).all(axis=1).any()
            values, counts = np.unique(X[near[row], 3], return_counts=True)
            assert new[3] == values[counts.argmax()]
        at += share


def test_the_remainder_is_drawn_evenly():
    counts = np.zeros(4)
    for seed in range(800):
        counts += (
            np.bincount(repeat_seeds_evenly(4, 5, np.random.default_rng(seed)), minlength=4) - 1
        )

    assert counts.sum() == 800
    assert (abs(counts - 200) < 4 * np.sqrt(800 * 3 / 16)).all()


def test_a_single_seed_adds_nothing():
    X = np.arange(6.0).reshape(-1, 1)
    Y = np.array([[1, 0]] * 5 + [[1, 1]])

    sampler = LabelsetSMOTE(percent=100)
    X_new, _ = sampler.fit_resample(X, Y)

    np.testing.assert_array_equal(X_new, X)
    assert sampler.n_added_ == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"percent": -1}, "'percent' parameter of LabelsetSMOTE"),
        ({"n_neighbors": 0}, "'n_neighbors' parameter of LabelsetSMOTE"),
        ({"seeds": "all"}, "'seeds' parameter of LabelsetSMOTE must be one of 'minority'"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ScumbleError, match=message):
        LabelsetSMOTE(**parameters).fit_resample(np.zeros((3, 1)), np.eye(3))
