"""MLTL against a slow version of its rule."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from scumble import ScumbleError
from scumble.measures import irlbl, mean_ir, scumble
from scumble.resample import MLTL
from scumble.resample.mltl import automatic_threshold


def slow_mltl(X, Y, threshold, *, mutual, clean):
    """Return the rows that stay; all columns numeric, not scaled."""

    def nearest_row(row):
        terms = np.cumsum((X - X[row]) ** 2, axis=1)[:, -1]
        return min((total, other) for other, total in enumerate(terms) if other != row)[1]

    ratios = irlbl(Y)
    majority = ratios <= np.nanmean(ratios) if Y.any() else np.zeros(Y.shape[1], bool)
    stay = []
    for row in range(len(X)):
        near = nearest_row(row)
        either = (Y[row] | Y[near]).sum()
        far = either > 0 and (Y[row] ^ Y[near]).sum() / either > threshold
        linked = not mutual or nearest_row(near) == row
        if not (far and linked and (clean or Y[row, majority].any())):
            stay.append(row)
    return stay


@given(st.integers(0, 10_000), st.sampled_from([0, 0.3, 0.5, 1.0]), st.booleans(), st.booleans())
def test_the_same_rows_stay_as_in_the_slow_version(seed, threshold, mutual, clean):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (25, 2)) / 3
    Y = rng.random((25, 4)) < [0.5, 0.4, 0.2, 0.1]
    expected = slow_mltl(X, Y, threshold, mutual=mutual, clean=clean)
    sampler = MLTL(threshold=threshold, mutual=mutual, clean=clean, scale=False)
    for form in (X, sparse.csr_array(X)):
        sampler.fit_resample(form, Y)
        assert sampler.sample_indices_.tolist() == expected


def test_mutual_links_by_hand():
    # 0-1 are each other's nearest; 2's nearest is 1, but not the other way round.
    X = np.array([[0.0], [1.0], [2.5], [9.0]])
    Y = np.array([[1, 0], [0, 1], [1, 0], [1, 1]])

    def rows(**parameters):
        sampler = MLTL(threshold=0.5, **parameters)
        sampler.fit_resample(X, Y)
        return sampler.sample_indices_.tolist()

    assert rows(clean=True) == [3]  # 3 shares half of its labels with its nearest: not more
    assert rows(clean=True, mutual=True) == [2, 3]


def test_all_rows_the_rule_marks_are_removed():
    # mldr.resampling removes one row at most.
    X = np.repeat(np.arange(20.0), 2).reshape(-1, 1)
    Y = np.tile([[1, 0], [0, 1]], (20, 1))

    sampler = MLTL(threshold=0.5)
    X_new, Y_new = sampler.fit_resample(X, Y)

    assert sampler.n_removed_ == 40
    assert X_new.shape == (0, 1)
    assert Y_new.shape == (0, 2)


@pytest.mark.parametrize(
    ("Y", "expected"),
    [
        (np.eye(3, dtype=int), 0.5),  # MeanIR 1
        (np.eye(2, dtype=int)[[0] * 13 + [1]], 0.3),  # MeanIR 7: 0.378
        (np.eye(2, dtype=int)[[0] * 29 + [1]], 0.15),  # MeanIR 15: 0.258
    ],
)
def test_the_automatic_threshold(Y, expected):
    assert automatic_threshold(sparse.csr_array(Y.astype(bool))) == expected


def test_high_concurrence_raises_the_automatic_threshold():
    # A common label beside a label of its own in every row: MeanIR alone would give 0.15.
    Y = np.hstack([np.ones((30, 1), int), np.eye(30, dtype=int)])

    assert scumble(Y) > 0.3
    assert mean_ir(Y) > 12
    assert automatic_threshold(sparse.csr_array(Y.astype(bool))) == 0.5


@pytest.mark.parametrize("name", ["flags", "emotions"])
def test_real_data_follows_the_rule(datasets, name):
    from scumble.data import read

    data = read(datasets / name / f"{name}.arff")
    numeric = [c for c in range(data.n_features) if c not in data.categorical_features]
    X, Y = data.X[:, numeric], data.Y.toarray()
    sampler = MLTL(scale=False)
    sampler.fit_resample(X, Y)

    expected = slow_mltl(X, Y, sampler.threshold_, mutual=False, clean=False)
    assert sampler.sample_indices_.tolist() == expected
    assert sampler.n_removed_ > 1


@pytest.mark.parametrize("threshold", [-0.1, 1.1, "high", None, np.array([0.1, 0.2])], ids=str)
def test_wrong_thresholds(threshold):
    with pytest.raises(ScumbleError, match="'threshold' parameter of MLTL"):
        MLTL(threshold=threshold).fit_resample(np.zeros((3, 1)), np.eye(3))


def test_infinite_values_are_refused():
    with pytest.raises(ScumbleError, match="X holds inf in row 1"):
        MLTL().fit_resample(np.array([[1.0], [np.inf], [2.0]]), np.eye(3))


@pytest.mark.parametrize("name", ["mutual", "clean", "scale"])
def test_switches_are_true_or_false(name):
    with pytest.raises(ScumbleError, match=f"'{name}' parameter of MLTL must be True or False"):
        MLTL(**{name: "no"}).fit_resample(np.zeros((3, 1)), np.eye(3))
