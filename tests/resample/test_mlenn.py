"""MLeNN against a slow version of its rule."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from scumble import ScumbleError
from scumble._core.neighbours import Space, nearest_neighbours
from scumble.measures import is_minority
from scumble.resample import MLeNN


def slow_mlenn(X, Y, k, threshold, *, union=False, nominal=(), scale=True):
    """Return the rows that stay."""
    X = np.asarray(X, float)
    Y = np.asarray(Y, bool)
    span = X.max(axis=0) - X.min(axis=0)
    span = np.where((span > 0) & scale, span, np.inf if scale else 1.0)
    rare = Y[:, is_minority(Y)].any(axis=1)
    scaled = np.where(np.isin(np.arange(X.shape[1]), nominal), X, X / span)
    stay = []
    for row in range(len(X)):
        terms = (scaled - scaled[row]) ** 2
        for column in nominal:
            terms[:, column] = X[:, column] != X[row, column]
        totals = np.cumsum(terms, axis=1)[:, -1]  # one column after another
        ranked = [(total, other) for other, total in enumerate(totals) if other != row]
        near = [other for _, other in sorted(ranked)[:k]]
        n_far = 0
        for other in near:
            different = (Y[row] ^ Y[other]).sum()
            whole = (Y[row] | Y[other]).sum() if union else Y[row].sum() + Y[other].sum()
            n_far += bool(whole) and different / whole > threshold
        if rare[row] or not near or n_far < len(near) / 2:
            stay.append(row)
    return stay


@given(
    st.integers(0, 10_000),
    st.sampled_from([1, 2, 3, 40]),
    st.sampled_from([0, 0.5, 0.75, 1.0]),
    st.booleans(),
    st.booleans(),
)
def test_the_same_rows_stay_as_in_the_slow_version(seed, k, threshold, union, scale):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 4, (25, 2)) / 4, rng.integers(0, 3, 25)])
    Y = rng.random((25, 4)) < [0.6, 0.4, 0.3, 0.1]
    expected = slow_mlenn(X, Y, k, threshold, union=union, nominal=[2], scale=scale)
    sampler = MLeNN(
        n_neighbors=k, threshold=threshold, union=union, scale=scale, categorical_features=[2]
    )
    for form in (X, sparse.csr_array(X)):
        sampler.fit_resample(form, Y)
        assert sampler.sample_indices_.tolist() == expected


@pytest.mark.parametrize("name", ["flags", "emotions"])
def test_real_data_follows_the_rule(datasets, name):
    from scumble.data import read

    data = read(datasets / name / f"{name}.arff")
    data = data[np.arange(0, data.n_instances, 2)]
    sampler = MLeNN(threshold=0.5)

    sampler.resample(data)

    nominal = list(data.categorical_features)
    expected = slow_mlenn(data.X, data.Y.toarray(), 3, 0.5, nominal=nominal)
    assert sampler.sample_indices_.tolist() == expected


def test_all_rows_the_rule_marks_are_removed(datasets):
    # mldr.resampling never removes more than one row.
    from scumble.data import read

    data = read(datasets / "emotions" / "emotions.arff")
    sampler = MLeNN(n_neighbors=3, threshold=0.5, scale=False)
    sampler.resample(data)

    expected = slow_mlenn(data.X, data.Y.toarray(), 3, 0.5, scale=False)
    assert sampler.sample_indices_.tolist() == expected
    assert sampler.n_removed_ == 43


def test_why_the_r_package_marks_more_rows(datasets, golden):
    # mldr.resampling 0.2.3 marks rows that have any frequent label, and asks neighbours 2 to k + 1.
    from scumble.data import read

    data = read(datasets / "emotions" / "emotions.arff")
    recorded = golden / "mldr" / "emotions593.mldr_resampling_knn.json"
    recorded = json.loads(recorded.read_text(encoding="utf-8"))
    Y = data.Y.toarray()
    is_rare = is_minority(Y)
    has_frequent = Y[:, ~is_rare].any(axis=1)
    near = nearest_neighbours(Space.from_matrix(data.X, scale=False), 4).rows

    def marked(asked):
        different = (Y[:, None] ^ Y[asked]).sum(axis=2)
        sizes = Y.sum(axis=1)
        n_far = (different / (sizes[:, None] + sizes[asked]) > 0.5).sum(axis=1)
        return np.flatnonzero(has_frequent & (n_far >= 1.5))

    by_r, true = marked(near[:, 1:]), marked(near[:, :3])
    assert (by_r + 1).tolist() == sorted(recorded["MLeNN_all_flagged_R_neighbours_2_to_k+1"])
    assert (true + 1).tolist() == sorted(recorded["MLeNN_all_flagged_true_neighbours_1_to_k"])
    assert (len(by_r), len(true)) == (144, 136)

    sampler = MLeNN(n_neighbors=3, threshold=0.5, scale=False)
    sampler.resample(data)
    removed = np.setdiff1d(np.arange(len(Y)), sampler.sample_indices_)
    assert removed.tolist() == true[~Y[true][:, is_rare].any(axis=1)].tolist()


def test_the_nearest_neighbour_is_asked():
    # mldr.resampling takes the 2nd to (k+1)-th nearest: row 1 would then stay.
    X = np.array([[0.0], [1.0], [3.0], [90.0]])
    Y = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0], [1, 1, 1]])

    sampler = MLeNN(n_neighbors=1, scale=False)
    sampler.fit_resample(X, Y)

    assert sampler.sample_indices_.tolist() == [2, 3]


def test_features_and_labels_keep_to_themselves():
    # mldr.resampling returns label counts and SCUMBLE among the features.
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 7)), rng.random((50, 4)) < 0.3

    X_new, Y_new = MLeNN().fit_resample(X, Y)

    assert X_new.shape[1] == 7
    assert Y_new.shape[1] == 4


def test_rows_without_labels():
    # Between each other they agree; amid labelled rows they differ as much as can be.
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0]])
    Y = np.array([[0, 0], [0, 0], [0, 0], [1, 0], [0, 0], [1, 0], [1, 1]])

    sampler = MLeNN(n_neighbors=2)
    sampler.fit_resample(X, Y)

    assert sampler.sample_indices_.tolist() == [0, 1, 2, 6]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "'n_neighbors' parameter of MLeNN must be an int"),
        ({"threshold": 1.5}, r"'threshold' parameter of MLeNN must be a number in \[0, 1\]"),
        ({"threshold": None}, "'threshold' parameter"),
        ({"union": "no"}, "'union' parameter of MLeNN must be True or False. Got 'no' instead"),
        ({"n_jobs": "all"}, "'n_jobs' parameter of MLeNN must be a nonzero int or None"),
        ({"n_jobs": 0}, "'n_jobs' parameter of MLeNN must be a nonzero int or None"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ScumbleError, match=message):
        MLeNN(**parameters).fit_resample(np.zeros((3, 1)), np.eye(3))


def test_infinite_values_are_refused():
    with pytest.raises(ScumbleError, match="X holds inf in row 1"):
        MLeNN().fit_resample(np.array([[1.0], [np.inf], [2.0]]), np.eye(3))
