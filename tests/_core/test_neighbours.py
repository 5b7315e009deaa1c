"""All ways of searching give the neighbours of a slow, obvious search."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from scumble import ScumbleError
from scumble._core.neighbours import Space, nearest_neighbours, search


def slow_distance(a, b, n_values, table=None):
    """Sum the columns' differences in order."""
    total = 0.0
    start = 0
    for x, y, count in zip(a, b, n_values, strict=True):
        if count == 0:
            total += (x - y) * (x - y)
        elif table is None:
            total += float(x != y)
        else:
            total += abs(table[start + int(x)] - table[start + int(y)])
        start += count
    return total


def slow_nearest(values, n_values, k, *, table=None, queries=None, candidate_rows=None):
    """Rank all other rows by distance, then row number."""
    candidate_rows = range(len(values)) if candidate_rows is None else candidate_rows
    own = queries is None
    queries = values if own else queries
    ranked = [
        sorted(
            (slow_distance(query, values[row], n_values, table), row)
            for row in candidate_rows
            if not (own and row == at)
        )[:k]
        for at, query in enumerate(queries)
    ]
    return [[row for _, row in found] for found in ranked]


WAYS = ["_search_brute_force", "_search_with_products", "_search_with_tree", "_search_sparse"]


def force(monkeypatch, way):
    monkeypatch.setattr(search, "_choose_algorithm", lambda *_: getattr(search, way))


def matrix(rng, kind, n):
    """Rows full of ties, and how many values their columns have."""
    numeric = rng.integers(0, 3, (n, 3)) / 3.0  # thirds: products of these are inexact
    nominal = np.column_stack([rng.integers(0, 2, (n, 2)), rng.integers(0, 4, n)]).astype(float)
    if kind == "numeric":
        return numeric, np.array([0, 0, 0])
    if kind == "nominal":
        return nominal, np.array([2, 2, 4])
    return np.hstack([numeric[:, :2], nominal]), np.array([0, 0, 2, 2, 4])


@pytest.mark.parametrize(
    ("way", "kind"),
    [
        (way, kind)
        for way in WAYS
        for kind in ("numeric", "nominal", "mixed")
        if way != "_search_with_tree" or kind == "numeric"  # trees hold numbers only
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_every_way_agrees_with_the_slow_search(monkeypatch, way, kind, seed):
    rng = np.random.default_rng(seed)
    X, n_values = matrix(rng, kind, 40)
    force(monkeypatch, way)
    space = Space.from_matrix(sparse.csr_array(X) if way == "_search_sparse" else X, n_values)
    scaled = space.values.toarray() if space.is_sparse else space.values

    for k in (1, 4, 60):
        found = nearest_neighbours(space, k)
        assert found.rows.tolist() == slow_nearest(scaled, n_values, k)
        expected = [
            [np.sqrt(slow_distance(scaled[at], scaled[row], n_values)) for row in rows]
            for at, rows in enumerate(found.rows)
        ]
        assert found.distances.tolist() == expected  # to the bit


@pytest.mark.parametrize("way", ["_search_brute_force", "_search_with_products", "_search_sparse"])
def test_tables_replace_the_mismatch(monkeypatch, way):
    rng = np.random.default_rng(7)
    X = np.column_stack([rng.integers(0, 5, 50) / 7, rng.integers(0, 2, (50, 4))])
    n_values = np.array([0, 2, 2, 2, 2])
    table = rng.integers(0, 4, 8) / 3
    force(monkeypatch, way)
    space = Space.from_matrix(sparse.csr_array(X) if way == "_search_sparse" else X, n_values)
    scaled = space.values.toarray() if space.is_sparse else space.values

    assert nearest_neighbours(space, 5, table=table).rows.tolist() == slow_nearest(
        scaled, n_values, 5, table=table
    )


def test_tables_for_many_values_dense_and_sparse():
    rng = np.random.default_rng(8)
    X = rng.integers(0, 4, (60, 5)).astype(float)
    n_values = np.array([4, 4, 0, 4, 4])
    table = rng.random(16).round(1)
    dense, thin = Space.from_matrix(X, n_values), Space.from_matrix(sparse.csr_array(X), n_values)

    expected = slow_nearest(dense.values, n_values, 4, table=table)

    assert nearest_neighbours(dense, 4, table=table).rows.tolist() == expected
    assert nearest_neighbours(thin, 4, table=table).rows.tolist() == expected


@given(st.integers(0, 10_000), st.integers(1, 6))
def test_dense_and_sparse_agree_to_the_bit(seed, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 6)) * (rng.random((25, 6)) < 0.4) * 10.0 ** rng.integers(-3, 4)
    X[rng.integers(25, size=5)] = X[rng.integers(25, size=5)]
    dense, thin = (
        nearest_neighbours(Space.from_matrix(X), k),
        nearest_neighbours(Space.from_matrix(sparse.csr_array(X)), k),
    )

    np.testing.assert_array_equal(dense.rows, thin.rows)
    np.testing.assert_array_equal(dense.distances, thin.distances)


@pytest.mark.parametrize("way", WAYS)
def test_searching_among_some_rows(monkeypatch, way):
    rng = np.random.default_rng(3)
    X, n_values = matrix(rng, "numeric", 50)
    among = np.flatnonzero(rng.random(50) < 0.5)
    force(monkeypatch, way)
    space = Space.from_matrix(sparse.csr_array(X) if way == "_search_sparse" else X, scale=False)

    expected = slow_nearest(X, n_values, 3, candidate_rows=among.tolist())

    assert nearest_neighbours(space, 3, candidate_rows=among).rows.tolist() == expected
    inside = nearest_neighbours(space, 3, rows=among, candidate_rows=among).rows.tolist()
    assert inside == [expected[row] for row in among]


@pytest.mark.parametrize("way", WAYS)
def test_other_rows_can_ask(monkeypatch, way):
    rng = np.random.default_rng(4)
    X, n_values = matrix(rng, "numeric", 30)
    Q = rng.integers(-1, 5, (9, 3)) / 3.0  # some outside of the ranges
    force(monkeypatch, way)
    space = Space.from_matrix(sparse.csr_array(X) if way == "_search_sparse" else X)
    queries = space.transform(Q)
    values, asked = (
        part.values.toarray() if space.is_sparse else part.values for part in (space, queries)
    )

    assert nearest_neighbours(space, 5, queries=queries).rows.tolist() == slow_nearest(
        values, n_values, 5, queries=asked
    )


def test_scaling_divides_by_the_range_and_forgets_constants():
    X = np.array([[3.0, 10, 1], [3.0, 30, 0], [3.0, 20, 1]])
    for form in (X, sparse.csr_array(X)):
        space = Space.from_matrix(form, [0, 0, 2])
        values = space.values.toarray() if space.is_sparse else space.values
        np.testing.assert_array_equal(values, [[0, 0.5, 1], [0, 1.5, 0], [0, 1.0, 1]])


def test_near_ties_are_told_apart_where_products_cannot():
    # Squared distances 1 and 1 + 2e-12, beside norms of 1e12: products lose both.
    X = np.array([[1e6, 0.0], [1e6 + 1, 1e-6], [1e6 + 1, 0.0], [0.0, 0.0]])
    wide = np.hstack([X, np.zeros((4, 3))])
    for space in (
        Space.from_matrix(wide, scale=False),
        Space.from_matrix(sparse.csr_array(wide), scale=False),
    ):
        assert nearest_neighbours(space, 2).rows[0].tolist() == [2, 1]


def test_threads_change_nothing():
    rng = np.random.default_rng(5)
    for X in (rng.normal(size=(700, 40)), rng.normal(size=(5000, 2)).round(1)):
        for form in (X, sparse.csr_array(X)):
            one, three = (nearest_neighbours(Space.from_matrix(form), 5, n_jobs=n) for n in (1, 3))
            np.testing.assert_array_equal(one.rows, three.rows)
            np.testing.assert_array_equal(one.distances, three.distances)


def test_the_way_fits_the_data():
    rng = np.random.default_rng(6)

    def way(X):
        space, kinds = Space.from_matrix(X), np.full(X.shape[1], search.kernels.SQUARE)
        task = search._SearchTask(X, X, None, kinds, None, 5, False, None)
        return search._choose_algorithm(task, space, None).__name__

    assert way(rng.random((5000, 3))) == "_search_with_tree"
    assert way(rng.random((1000, 50))) == "_search_with_products"
    assert way(rng.random((50, 3))) == "_search_brute_force"
    assert way(sparse.random_array((50, 30), density=0.1, rng=rng).tocsr()) == "_search_sparse"


def test_trees_agree_with_sklearn_on_real_numbers():
    from sklearn.neighbors import NearestNeighbors

    X = np.random.default_rng(9).random((6000, 4))
    expected = NearestNeighbors(n_neighbors=4, algorithm="brute").fit(X).kneighbors()[1]

    np.testing.assert_array_equal(
        nearest_neighbours(Space.from_matrix(X, scale=False), 4).rows, expected
    )


@pytest.mark.parametrize("n", [0, 1])
def test_nobody_else_is_there(n):
    for X in (np.zeros((n, 2)), sparse.csr_array((n, 2))):
        assert nearest_neighbours(Space.from_matrix(X), 3).rows.shape == (n, 0)


def test_no_columns_leave_the_row_order():
    found = nearest_neighbours(Space.from_matrix(np.zeros((3, 0))), 2)

    assert found.rows.tolist() == [[1, 2], [0, 2], [0, 1]]


def test_wrong_arguments():
    space = Space.from_matrix(np.zeros((3, 1)))
    with pytest.raises(ScumbleError, match="'n_neighbors' parameter"):
        nearest_neighbours(space, 0)
    with pytest.raises(ScumbleError, match="'ties' parameter"):
        nearest_neighbours(space, 1, ties="coin")


@pytest.mark.parametrize("way", ["_search_brute_force", "_search_with_products", "_search_sparse"])
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid:RuntimeWarning")
def test_squares_too_large_for_a_float_still_name_rows(way, monkeypatch):
    X = np.array([[1e200, 0], [2e200, 1], [0, 2], [0, 3], [0, 4.0]])
    force(monkeypatch, way)
    space = Space.from_matrix(sparse.csr_array(X) if way == "_search_sparse" else X, scale=False)
    found = nearest_neighbours(space, 2).rows
    assert found[2:].tolist() == [[3, 4], [2, 4], [3, 2]]
    assert (found[:2] < len(X)).all()
    assert all(len({*row, at}) == 3 for at, row in enumerate(found.tolist()))
