"""ML-ROS and ML-RUS against slow versions of their pseudo-code."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from scumble import ScumbleError
from scumble.measures import is_minority, mean_ir
from scumble.resample import MLROS, MLRUS

labels = arrays(bool, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=10))
percents = st.integers(0, 100)


def slow_mlros(Y, percent, pick):
    """Clone rows as the rule says; ``pick(size)`` draws."""
    Y = np.asarray(Y, int)
    if not Y.any():
        return []
    rare = np.flatnonzero(is_minority(Y))
    mean = mean_ir(Y)
    bags = {label: np.flatnonzero(Y[:, label]) for label in rare}
    is_open = dict.fromkeys(rare, True)
    clones = []
    wanted = len(Y) * percent // 100
    while any(is_open.values()) and len(clones) < wanted:
        for label in rare:
            counts = Y.sum(axis=0) + Y[clones].sum(axis=0)
            if counts.max() / counts[label] <= mean:
                is_open[label] = False
            if is_open[label] and len(clones) < wanted:
                clones.append(int(bags[label][pick(len(bags[label]))]))
    return clones


def slow_mlrus(Y, percent, pick):
    """Delete rows as the rule says; ``pick(size)`` draws from the rows in order."""
    Y = np.asarray(Y, int)
    if not Y.any():
        return set()
    rare = is_minority(Y)
    mean = mean_ir(Y)
    frequent = np.flatnonzero(~rare & Y.any(axis=0))
    unprotected = ~Y[:, rare].any(axis=1)
    is_open = dict.fromkeys(frequent, True)
    deleted = set()
    wanted = len(Y) * percent // 100
    while any(is_open.values()) and len(deleted) < wanted:
        for label in frequent:
            alive = np.array([row not in deleted for row in range(len(Y))])
            left = np.flatnonzero((Y[:, label] == 1) & unprotected & alive)
            counts = Y[alive].sum(axis=0)
            if not len(left) or counts.max() / counts[label] >= mean:
                is_open[label] = False
            if is_open[label] and len(deleted) < wanted:
                deleted.add(int(left[pick(len(left))]))
    return deleted


def clones_of(Y, percent, seed):
    sampler = MLROS(percent=percent, random_state=seed)
    sampler.fit_resample(np.zeros((len(Y), 1)), Y)
    return sampler.sample_indices_[len(Y) :].tolist()


def deletions_of(Y, percent, seed):
    sampler = MLRUS(percent=percent, random_state=seed)
    sampler.fit_resample(np.zeros((len(Y), 1)), Y)
    return set(range(len(Y))) - set(sampler.sample_indices_.tolist())


@given(labels, percents, st.integers(0, 5))
def test_mlros_clones_the_same_rows_as_the_slow_version(Y, percent, seed):
    drawn = iter(np.random.default_rng(seed).random(len(Y) * percent // 100))

    expected = slow_mlros(Y, percent, lambda size: int(next(drawn) * size))

    assert clones_of(Y, percent, seed) == expected


@given(labels, percents, st.integers(0, 5))
def test_mlros_clones_rows_with_a_rare_label_only(Y, percent, seed):
    clones = clones_of(Y, percent, seed)

    assert len(clones) <= len(Y) * percent // 100
    assert Y[clones][:, is_minority(Y)].any(axis=1).all()


@given(labels, percents, st.integers(0, 5))
def test_mlrus_protects_rare_and_unlabelled_rows(Y, percent, seed):
    deleted = sorted(deletions_of(Y, percent, seed))

    assert len(deleted) <= len(Y) * percent // 100
    assert not Y[deleted][:, is_minority(Y)].any()
    assert Y[deleted].any(axis=1).all()


def _distribution(outcomes):
    return {key: count / len(outcomes) for key, count in Counter(outcomes).items()}


def _assert_same_distribution(ours, theirs, n_runs):
    """Two samples of outcomes agree within five standard errors each."""
    for key in set(ours) | set(theirs):
        p, q = ours.get(key, 0), theirs.get(key, 0)
        spread = np.sqrt(2 * max(p, q) * (1 - min(p, q)) / n_runs)
        assert abs(p - q) < 5 * spread + 2 / n_runs, key


Y_MIXED = np.array(
    [[1, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1]]
    + [[1, 1, 0, 0]] * 2
    + [[1, 0, 0, 0]] * 3
)


@pytest.mark.parametrize("percent", [30, 100])
def test_mlrus_deletes_as_often_as_the_slow_version(percent):
    n_runs = 2000
    rng = np.random.default_rng(1)
    ours = [tuple(sorted(deletions_of(Y_MIXED, percent, seed))) for seed in range(n_runs)]
    slow = [
        tuple(sorted(slow_mlrus(Y_MIXED, percent, lambda size: int(rng.integers(size)))))
        for _ in range(n_runs)
    ]

    _assert_same_distribution(_distribution(ours), _distribution(slow), n_runs)


def test_mlros_clones_as_often_as_the_slow_version():
    n_runs = 2000
    rng = np.random.default_rng(2)
    Y = np.vstack([Y_MIXED, Y_MIXED[[4, 5]]])
    ours = [tuple(clones_of(Y, 30, seed)) for seed in range(n_runs)]
    slow = [tuple(slow_mlros(Y, 30, lambda size: int(rng.integers(size)))) for _ in range(n_runs)]

    _assert_same_distribution(_distribution(ours), _distribution(slow), n_runs)


def test_mlros_stops_at_exactly_the_wanted_number():
    # mldr.resampling goes on to a multiple of the number of rare labels.
    Y = np.zeros((100, 5), int)
    Y[:, 0] = Y[:60, 1] = 1
    Y[:3, 2] = Y[3:6, 3] = Y[6:9, 4] = 1

    assert len(clones_of(Y, 8, 0)) == 8


def test_a_rare_label_with_one_row_clones_that_row():
    # mldr.resampling clones an arbitrary row then: R's sample(i, 1) draws from 1..i.
    Y = np.zeros((50, 3), int)
    Y[:, 0] = 1
    Y[:20, 1] = 1
    Y[37, 2] = 1

    assert set(clones_of(Y, 25, 0)) == {37}


def test_a_label_that_reaches_the_mean_takes_no_more_clones():
    # mldr.resampling never drops a label from the round.
    Y = np.array([[1, 1, 0]] * 4 + [[1, 0, 0], [1, 0, 1]])

    assert clones_of(Y, 100, 0) == [5, 5]


def test_mlrus_deletes_the_whole_percentage():
    # mldr.resampling draws with replacement and deletes 78 to 89 rows where 148 are due.
    Y = np.zeros((593, 3), int)
    Y[:500, 0] = 1
    Y[500:580, 1] = 1
    Y[580:, 2] = 1

    deleted = deletions_of(Y, 25, 0)

    assert len(deleted) == 148
    assert not Y[sorted(deleted), 2].any()


def test_rows_are_named_by_position_after_a_selection():
    # mldr.resampling takes row names for positions: NA rows after any filter.
    pd = pytest.importorskip("pandas", reason="pip install 'scumble[frames]'")
    X = pd.DataFrame({"a": np.arange(300.0)})
    Y = pd.DataFrame({"p": [1] * 300, "q": [1] * 5 + [0] * 295, "r": [0, 1] * 150})
    X, Y = X[200:], Y[200:].copy()
    Y.iloc[3, 1] = 1

    X_new, Y_new = MLROS(percent=10, random_state=0).fit_resample(X, Y)

    assert X_new["a"].notna().all()
    assert X_new["a"].tolist()[100:] == [203.0] * (len(X_new) - 100)
    assert Y_new.index.tolist()[100:] == [203] * (len(X_new) - 100)


@pytest.mark.parametrize("sampler", [MLROS(), MLRUS()])
@pytest.mark.parametrize(
    "Y",
    [np.zeros((8, 3), int), np.ones((8, 3), int), np.zeros((0, 3), int), np.zeros((8, 0), int)],
    ids=["no label occurs", "all equally frequent", "no rows", "no labels"],
)
def test_nothing_rare_changes_nothing(sampler, Y):
    X = np.arange(len(Y)).reshape(-1, 1)

    X_new, Y_new = sampler.fit_resample(X, Y)

    np.testing.assert_array_equal(X_new, X)
    np.testing.assert_array_equal(Y_new, Y)


@pytest.mark.parametrize("sampler", [MLROS(percent=-3), MLRUS(percent=100.5), MLRUS(percent="a")])
def test_the_percentage_has_a_range(sampler):
    with pytest.raises(ScumbleError, match=r"'percent' parameter of MLR.S must be a number"):
        sampler.fit_resample(np.zeros((3, 1)), np.eye(3))


def test_one_dimensional_labels_are_refused():
    with pytest.raises(ScumbleError, match="two-dimensional"):
        MLROS().fit_resample(np.zeros((3, 1)), np.array([0, 1, 0]))
