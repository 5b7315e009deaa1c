"""Missing values: distances over the columns known in both rows, by a slow, obvious twin."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from scumble._core.neighbours import Space, distances, nearest_neighbours
from tests._core.test_neighbours import slow_nearest

FORMS = [np.asarray, sparse.csr_array]
MIXED = np.array([0, 0, 0, 2, 3])


def slow_partial(a, b, n_values, n_total, table=None):
    """Sum the differences of what both rows know, in order; scale up to all columns."""
    starts = np.cumsum(n_values) - n_values
    total, n_known = 0.0, 0
    for x, y, count, start in zip(a, b, n_values, starts, strict=True):
        if math.isnan(x) or math.isnan(y):
            continue
        n_known += 1
        if count == 0:
            total += (x - y) * (x - y)
        elif table is None:
            total += float(x != y)
        else:
            total += abs(table[start + int(x)] - table[start + int(y)])
    return total * (n_total / n_known) if n_known else math.inf


def slow_ranking(values, n_values, k, *, table=None, queries=None, candidate_rows=None):
    """Rank all other rows by partial distance, then row number."""
    n_total = int((~np.isnan(values)).any(axis=0).sum())
    asked = values if queries is None else queries
    return [
        sorted(
            (slow_partial(row, values[other], n_values, n_total, table), other)
            for other in (range(len(values)) if candidate_rows is None else candidate_rows)
            if queries is not None or other != at
        )[:k]
        for at, row in enumerate(asked)
    ]


def gapped(rng, n, share=0.3):
    """Rows full of ties and gaps, with zeros for sparse matrices to leave out."""
    numeric = rng.integers(0, 3, (n, 3)) / 3.0
    codes = np.column_stack([rng.integers(0, 2, n), rng.integers(0, 3, n)])
    X = np.hstack([numeric, codes])
    X[rng.random(X.shape) < share] = np.nan
    return X


def dense_values(space):
    return space.values.toarray() if space.is_sparse else space.values


def assert_found(found, expected):
    assert found.rows.tolist() == [[row for _, row in ranked] for ranked in expected]
    to_the_bit = [[math.sqrt(squared) for squared, _ in ranked] for ranked in expected]
    assert found.distances.tolist() == to_the_bit


@pytest.mark.parametrize("form", FORMS)
def test_partial_distances_by_hand(form):
    # Four columns, numbers and a code. Rows 0 and 1 share columns 0 and 3: (0.25 + 1) * 4/2.
    # Rows 0 and 2 share columns 0, 1 and 3: (1 + 0.25 + 0) * 4/3. Rows 0 and 3 share nothing.
    X = np.array(
        [
            [0.0, 0.5, np.nan, 1.0],
            [0.5, np.nan, 1.0, 0.0],
            [1.0, 0.0, 0.0, 1.0],
            [np.nan, np.nan, 0.5, np.nan],
        ]
    )
    space = Space.from_matrix(form(X), [0, 0, 0, 2], scale=False)

    found = nearest_neighbours(space, 3)

    assert found.rows.tolist() == [[2, 1, 3], [3, 0, 2], [3, 0, 1], [1, 2, 0]]
    np.testing.assert_allclose(
        found.distances**2, [[5 / 3, 2.5, np.inf], [1, 2.5, 3], [1, 5 / 3, 3], [1, 1, np.inf]]
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_values", [[0] * 5, MIXED, [3, 3, 3, 2, 3]], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_the_search_agrees_with_its_twin(form, n_values, seed):
    rng = np.random.default_rng(seed)
    X, Q = gapped(rng, 40), gapped(rng, 9)
    n_values = np.array(n_values)
    if n_values.all():
        X[:, :3], Q[:, :3] = X[:, :3] * 3, Q[:, :3] * 3
    space = Space.from_matrix(form(X), n_values)
    queries = space.transform(Q)
    among = np.flatnonzero(rng.random(40) < 0.6)
    values = dense_values(space)

    for k in (1, 4, 60):
        assert_found(nearest_neighbours(space, k), slow_ranking(values, n_values, k))
        asked = slow_ranking(values, n_values, k, queries=dense_values(queries))
        assert_found(nearest_neighbours(space, k, queries=queries), asked)
        inside = slow_ranking(values, n_values, k, candidate_rows=among.tolist())
        found = nearest_neighbours(space, k, rows=among, candidate_rows=among)
        assert_found(found, [inside[row] for row in among])


@pytest.mark.parametrize("form", FORMS)
def test_tables_leave_missing_codes_missing(form):
    rng = np.random.default_rng(5)
    X, table = gapped(rng, 40), rng.integers(0, 4, 5) / 3
    space = Space.from_matrix(form(X), MIXED)

    expected = slow_ranking(dense_values(space), MIXED, 5, table=table)

    assert_found(nearest_neighbours(space, 5, table=table), expected)


@pytest.mark.parametrize("form", FORMS)
def test_pairs_are_compared_by_the_same_rule(form):
    rng = np.random.default_rng(6)
    X, Q = gapped(rng, 30), gapped(rng, 30)
    space = Space.from_matrix(form(X), MIXED)
    rows = rng.permutation(30)
    values, others = dense_values(space), dense_values(space.transform(Q))

    found = distances(space, space.transform(Q), rows)

    expected = [slow_partial(others[at], values[row], MIXED, 5) for at, row in enumerate(rows)]
    assert found.tolist() == np.sqrt(expected).tolist()


@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from(FORMS))
def test_without_gaps_it_is_the_plain_search(seed, k, form):
    rng = np.random.default_rng(seed)
    X = gapped(rng, 20, share=0.0)
    space = Space.from_matrix(form(X), MIXED)
    plain = slow_nearest(dense_values(space), MIXED, k)

    assert nearest_neighbours(space, k).rows.tolist() == plain
    # A gap in one row leaves the distances between the others as they are, to the bit.
    X[0, rng.integers(5)] = np.nan
    with_gap = Space.from_matrix(form(X), MIXED, scale=False)
    X[0] = 0
    without = Space.from_matrix(form(X), MIXED, scale=False)
    others = np.arange(1, 20)
    for one, two in zip(
        *(
            nearest_neighbours(part, k, rows=others, candidate_rows=others)
            for part in (with_gap, without)
        ),
        strict=True,
    ):
        np.testing.assert_array_equal(one, two)


@given(st.integers(0, 10_000), st.sampled_from(FORMS))
def test_row_order_changes_no_distance(seed, form):
    rng = np.random.default_rng(seed)
    X, order = gapped(rng, 15), rng.permutation(15)
    one, two = (
        nearest_neighbours(Space.from_matrix(form(part), MIXED), 15) for part in (X, X[order])
    )

    np.testing.assert_array_equal(one.distances[order], two.distances)
    by_row = [
        dict(zip(*pair, strict=True)) for pair in zip(*(p.tolist() for p in one), strict=True)
    ]
    for place, pair in enumerate(zip(*(part.tolist() for part in two), strict=True)):
        named = {int(order[row]): distance for row, distance in zip(*pair, strict=True)}
        assert named == by_row[order[place]]


@given(st.integers(0, 10_000), st.integers(0, 5), st.sampled_from(FORMS))
def test_a_column_missing_everywhere_changes_nothing(seed, place, form):
    rng = np.random.default_rng(seed)
    X = gapped(rng, 15)
    wider = np.insert(X, place, np.nan, axis=1)
    for count in (0, 3):
        more = np.insert(MIXED, place, count)
        one, two = (
            nearest_neighbours(Space.from_matrix(form(X), MIXED), 5),
            nearest_neighbours(Space.from_matrix(form(wider), more), 5),
        )
        np.testing.assert_array_equal(one.rows, two.rows)
        np.testing.assert_array_equal(one.distances, two.distances)


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_which_nothing_is_known_are_taken_last_in_row_order(form):
    X = np.array([[np.nan, np.nan], [1.0, 2.0], [np.nan, np.nan], [4.0, np.nan]])
    found = nearest_neighbours(Space.from_matrix(form(X)), 3)

    assert found.rows.tolist() == [[1, 2, 3], [3, 0, 2], [0, 1, 3], [1, 0, 2]]
    assert np.isinf(found.distances).sum(axis=1).tolist() == [3, 2, 3, 2]


@pytest.mark.parametrize("form", FORMS)
def test_nothing_known_at_all_leaves_the_row_order(form):
    found = nearest_neighbours(Space.from_matrix(form(np.full((3, 2), np.nan))), 2)

    assert found.rows.tolist() == [[1, 2], [0, 2], [0, 1]]


@pytest.mark.parametrize("form", FORMS)
def test_threads_change_nothing(form):
    X = gapped(np.random.default_rng(7), 600)
    one, three = (
        nearest_neighbours(Space.from_matrix(form(X), MIXED), 5, n_jobs=n) for n in (1, 3)
    )

    np.testing.assert_array_equal(one.rows, three.rows)
    np.testing.assert_array_equal(one.distances, three.distances)


def test_many_rows_dense_and_sparse_agree():
    # Wide enough for products and long enough for trees, which know nothing of gaps.
    rng = np.random.default_rng(8)
    for shape in ((1500, 30), (4500, 2)):
        X = rng.normal(size=shape) * (rng.random(shape) < 0.5)
        X[rng.random(shape) < 0.1] = np.nan
        queries = np.arange(40)
        one, two = (
            nearest_neighbours(Space.from_matrix(form(X)), 4, rows=queries) for form in FORMS
        )
        np.testing.assert_array_equal(one.rows, two.rows)
        np.testing.assert_array_equal(one.distances, two.distances)
