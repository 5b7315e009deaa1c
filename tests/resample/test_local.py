"""MLSOL and MLUL against a slow version of their rules, cell by cell."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from scumble import ScumbleError
from scumble._core.neighbours import Space, nearest_neighbours
from scumble.resample import MLSOL, MLUL
from scumble.resample.local import (
    draw_by_weight,
    draw_without_replacement,
    flip_labels,
    local_imbalance,
)

SAFE, BORDERLINE, RARE, OUTLIER = range(4)


def slow_local(Y, near):
    """C, S, w and types as the rule says, with dictionaries of minority cells."""
    n, q = Y.shape
    rare_value = [0 if 2 * Y[:, j].sum() > n else 1 for j in range(q)]
    cells = [(i, j) for i in range(n) for j in range(q) if Y[i, j] == rare_value[j]]
    C = {(i, j): np.mean([Y[r, j] != Y[i, j] for r in near[i]]) for i, j in cells}
    sums = [sum(c for (_, label), c in C.items() if label == j and c < 1) for j in range(q)]
    S = {(i, j): c / sums[j] if c < 1 and sums[j] > 0 else 0.0 for (i, j), c in C.items()}
    w = [sum(S.get((i, j), 0.0) for j in range(q)) for i in range(n)]

    def kind(c):
        return SAFE if c < 0.3 else BORDERLINE if c < 0.7 else RARE if c < 1 else OUTLIER

    types = {cell: kind(c) for cell, c in C.items()}
    while True:
        soft = [
            (i, j)
            for (i, j), t in types.items()
            if t == RARE and any(types.get((r, j), OUTLIER) <= BORDERLINE for r in near[i])
        ]
        if not soft:
            return rare_value, C, S, w, types
        types.update(dict.fromkeys(soft, BORDERLINE))


def slow_distance(a, b, span, nominal):
    total = 0.0
    for column in range(len(a)):
        if column in nominal:
            total += float(a[column] != b[column])
        else:
            total += (a[column] / span[column] - b[column] / span[column]) ** 2
    return np.sqrt(total)


def slow_label(rare_value, types, j, y_s, y_r, s, r, d_s, d_r):
    """The label of a new row between s and r, at these distances from them."""
    if y_s == y_r:
        return y_s
    holder, other, distance = (s, y_r, d_s) if y_s == rare_value else (r, y_s, d_r)
    share = distance / (d_s + d_r) if d_s + d_r > 0 else 0.0
    kind = types[holder, j]
    reach = {SAFE: 0.5, BORDERLINE: 0.75, RARE: np.inf, OUTLIER: -1}[kind]
    return rare_value if share <= reach else other


def problem(seed, n=30, ties=False):
    rng = np.random.default_rng(seed)
    numeric = rng.integers(0, 4, (n, 2)) / 2 if ties else rng.normal(size=(n, 2))
    X = np.hstack([numeric, rng.integers(0, 3, (n, 1))])
    return X, rng.random((n, 5)) < [0.9, 0.6, 0.5, 0.2, 0.05]


def neighbours(X, k):
    return nearest_neighbours(Space.from_matrix(X, [0, 0, 3]), k).rows


@given(st.integers(0, 10_000), st.sampled_from([1, 3, 10]), st.booleans())
def test_cells_shares_types_and_weights_are_those_of_the_slow_version(seed, k, ties):
    X, Y = problem(seed, ties=ties)
    near = neighbours(X, k)
    rare_value, _, S, w, types = slow_local(Y.astype(int), near)

    local = local_imbalance(sparse.csr_array(Y), near, n_jobs=None)

    cells = local.minority_cells.tocoo()
    found = list(zip(cells.row.tolist(), cells.col.tolist(), strict=True))
    assert found == sorted(S)
    assert local.flipped_labels.tolist() == [j for j in range(5) if rare_value[j] == 0]
    np.testing.assert_allclose(local.shares, [S[cell] for cell in found], rtol=1e-12)
    np.testing.assert_allclose(local.weights, w, rtol=1e-12)
    assert local.types.tolist() == [types[cell] for cell in found]


@given(st.integers(0, 10_000), st.sampled_from([1, 3, 5]), st.booleans(), st.booleans())
def test_every_synthetic_row_of_mlsol_follows_the_rule(seed, k, ties, thin):
    X, Y = problem(seed, ties=ties)
    sampler = MLSOL(percent=80, n_neighbors=k, categorical_features=[2], random_state=seed)

    X_new, Y_new = sampler.fit_resample(sparse.csr_array(X) if thin else X, Y.astype(int))

    X_new = X_new.toarray() if thin else X_new
    near = neighbours(X, k)
    rare_value, _, _, w, types = slow_local(Y.astype(int), near)
    span = X.max(axis=0) - X.min(axis=0)
    seeds = sampler.sample_indices_[30:]
    assert len(X_new) == 30 + (24 if any(w) else 0)
    for new, labels, seed_row in zip(X_new[30:], Y_new[30:], seeds, strict=True):
        assert w[seed_row] > 0
        explained = False
        for partner in near[seed_row]:
            ends = np.sort(X[[seed_row, partner], :2], axis=0)
            fits = (ends[0] <= new[:2]).all() and (new[:2] <= ends[1]).all()
            fits &= new[2] in X[[seed_row, partner], 2]
            d_s, d_r = (slow_distance(new, X[row], span, [2]) for row in (seed_row, partner))
            expected = [
                slow_label(
                    rare_value[j],
                    types,
                    j,
                    Y[seed_row, j],
                    Y[partner, j],
                    seed_row,
                    partner,
                    d_s,
                    d_r,
                )
                for j in range(5)
            ]
            explained |= bool(fits and (np.array(expected, bool) == labels.astype(bool)).all())
        assert explained


@given(st.integers(0, 10_000), st.sampled_from([1, 4]))
def test_weights_of_mlul_are_those_of_the_slow_version(seed, k):
    X, Y = problem(seed)
    near = neighbours(X, k)
    _, C, S, w, _ = slow_local(Y.astype(int), near)
    u = np.zeros(30)
    for i in range(30):
        support = []
        for r in np.flatnonzero((near == i).any(axis=1)):
            terms = [
                share if C.get((i, j), 1.0) < 1 else -share
                for (row, j), share in S.items()
                if row == r
            ]
            support.append(sum(terms))
        u[i] = np.mean(support) if support else 0.0
    expected = np.array(w) + u

    sampler = MLUL(n_neighbors=k, categorical_features=[2], random_state=seed)
    sampler.fit_resample(X, Y)

    np.testing.assert_allclose(sampler.weights_, expected - expected.min(), atol=1e-12)
    assert sampler.n_removed_ == 7  # floor(30 * 25 %)
    assert (np.diff(sampler.sample_indices_) > 0).all()


def test_seeds_are_drawn_by_their_weights():
    drawn = draw_by_weight(np.array([0, 3.0, 0, 1, 0]), 8000, np.random.default_rng(0))

    counts = np.bincount(drawn, minlength=5)
    assert counts[[0, 2, 4]].sum() == 0
    assert abs(counts[1] - 6000) < 4 * np.sqrt(8000 * 0.75 * 0.25)


def test_rows_stay_as_if_drawn_one_by_one():
    weights = np.array([4.0, 2, 1, 0, 0])
    runs = [
        tuple(draw_without_replacement(weights, 2, np.random.default_rng(seed)))
        for seed in range(4000)
    ]
    first = np.bincount([run[0] for run in runs], minlength=5) / 4000
    np.testing.assert_allclose(first, weights / 7, atol=4 * np.sqrt(0.25 / 4000))
    after_0 = np.bincount([b for a, b in runs if a == 0], minlength=5)
    np.testing.assert_allclose(after_0 / after_0.sum(), [0, 2 / 3, 1 / 3, 0, 0], atol=0.05)


def test_rows_without_weight_are_drawn_last_and_evenly():
    weights = np.array([1.0, 0, 0, 0])
    counts = np.zeros(4)
    for seed in range(900):
        kept = draw_without_replacement(weights, 2, np.random.default_rng(seed))
        counts[kept] += 1
    assert counts[0] == 900
    assert (abs(counts[1:] - 300) < 4 * np.sqrt(900 * 2 / 9)).all()


@given(st.integers(0, 10_000))
def test_flipping_twice_gives_the_labels_back(seed):
    rng = np.random.default_rng(seed)
    Y = rng.random((12, 6)) < 0.5
    labels = np.flatnonzero(rng.random(6) < 0.5)
    expected = Y.copy()
    expected[:, labels] = ~expected[:, labels]

    once = flip_labels(sparse.csr_array(Y), labels)

    np.testing.assert_array_equal(once.toarray(), expected)
    assert once.has_canonical_format
    np.testing.assert_array_equal(flip_labels(once, labels).toarray(), Y)


def test_the_first_synthetic_row_of_mlsol_is_there():
    # mldr.resampling drops it.
    X, Y = problem(0)
    sampler = MLSOL(percent=10, random_state=0)
    X_new, _ = sampler.fit_resample(X, Y)

    assert sampler.n_added_ == 3
    assert len(X_new) == 33


def test_rows_without_labels_keep_their_places():
    # mldr.resampling mixes list positions with row numbers when such rows exist.
    X = np.arange(12.0).reshape(-1, 1)
    Y = np.zeros((12, 2), int)
    Y[6:, 0] = 1
    Y[[7, 9], 1] = 1

    sampler = MLSOL(percent=50, n_neighbors=2, random_state=0)
    X_new, Y_new = sampler.fit_resample(X, Y)

    near = nearest_neighbours(Space.from_matrix(X), 2).rows
    for new, seed in zip(X_new[12:, 0], sampler.sample_indices_[12:], strict=True):
        assert any(min(X[[seed, r]]) <= new <= max(X[[seed, r]]) for r in near[seed])
    np.testing.assert_array_equal(Y_new[:12], Y)


@pytest.mark.parametrize(
    "Y",
    [np.zeros((9, 3), int), np.ones((9, 3), int), np.eye(9, dtype=int)],
    ids=["no label", "all labels", "outliers only"],
)
def test_no_weight_leaves_the_data_as_it_is(Y):
    X = np.arange(9.0).reshape(-1, 1)

    X_new, Y_new = MLSOL(n_neighbors=2).fit_resample(X, Y)

    np.testing.assert_array_equal(X_new, X)
    np.testing.assert_array_equal(Y_new, Y)


def test_a_single_row_has_no_neighbourhood():
    for sampler in (MLSOL(percent=300), MLUL(percent=50)):
        X_new, _ = sampler.fit_resample(np.ones((1, 2)), np.array([[1, 0]]))
        assert X_new.tolist() == [[1, 1]]


def test_duplicated_rows_pass_the_minority_value_on():
    # Both distances are 0: the new row equals the seed, so it takes what the seed's side holds.
    X = np.zeros((6, 1))
    Y = np.array([[1], [1], [0], [0], [0], [0]])

    _, Y_new = MLSOL(percent=100, n_neighbors=3, random_state=0).fit_resample(X, Y)

    assert Y_new[6:].all()


@pytest.mark.parametrize("sampler", [MLSOL(percent=-1), MLUL(percent=101)])
def test_the_percentage_has_a_range(sampler):
    with pytest.raises(ScumbleError, match="'percent' parameter"):
        sampler.fit_resample(np.zeros((3, 1)), np.eye(3))


@pytest.mark.parametrize("sampler", [MLSOL(n_neighbors=0), MLUL(n_neighbors=-2)])
def test_at_least_one_neighbour_is_needed(sampler):
    with pytest.raises(ScumbleError, match="'n_neighbors' parameter"):
        sampler.fit_resample(np.zeros((3, 1)), np.eye(3))


def test_real_data_follows_the_rule(datasets):
    from scumble.data import read

    data = read(datasets / "flags" / "flags.arff")
    nominal = list(data.categorical_features)
    space = Space.from_matrix(data.X, [data.categorical_features.get(c, 0) for c in range(19)])
    near = nearest_neighbours(space, 5).rows
    _, _, _, w, _ = slow_local(data.Y.toarray().astype(int), near)

    sampler = MLSOL(random_state=0)
    after = sampler.resample(data)

    np.testing.assert_allclose(sampler.weights_, w, rtol=1e-9)
    assert len(after) == 194 + 48
    assert len(nominal) == 9
    for new, seed in zip(after.X[194:], sampler.sample_indices_[194:], strict=True):
        ends = [np.sort(data.X[[seed, r]], axis=0) for r in near[seed]]
        assert any((low <= new).all() and (new <= high).all() for low, high in ends)


@pytest.mark.parametrize("sampler", [MLSOL(random_state=0), MLUL(random_state=0)])
def test_sparse_rows_keep_narrow_indices(sampler):
    # scikit-learn's trees and nearest neighbours refuse a sparse matrix with wide ones.
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.random((40, 5)) * (rng.random((40, 5)) < 0.5))
    Y = (rng.random((40, 3)) < 0.3).astype(int)
    new, _ = sampler.fit_resample(X, Y)
    assert X.indices.dtype == new.indices.dtype == new.indptr.dtype == np.int32
