"""``ties="weka"``: the rows that stay in WEKA's heap, by a slow and obvious emulation of it."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from scumble._core.neighbours import Space, nearest_neighbours, search

WAYS = [
    "_search_brute_force",
    "_search_with_products",
    "_search_with_tree_and_heap",
    "_search_sparse",
]


class SlowHeap:
    """A list of [distance, row] from place 1 on, moved by swapping neighbours of the tree."""

    def __init__(self, size):
        self.items = [None]
        self.size = size

    def offer(self, distance, row):
        if len(self.items) - 1 < self.size:
            self.put(distance, row)
        elif distance < self.items[1][0]:
            self.remove_root()
            self.put(distance, row)

    def put(self, distance, row):
        self.items.append([distance, row])
        at = len(self.items) - 1
        while at > 1 and self.items[at][0] > self.items[at // 2][0]:
            self.swap(at, at // 2)
            at //= 2

    def remove_root(self):
        self.items[1] = self.items[-1]
        self.items.pop()
        at = 1
        while True:
            children = [child for child in (2 * at, 2 * at + 1) if child < len(self.items)]
            if not any(self.items[child][0] > self.items[at][0] for child in children):
                return
            chosen = children[-1]
            if len(children) == 2 and self.items[children[0]][0] > self.items[children[1]][0]:
                chosen = children[0]
            self.swap(at, chosen)
            at = chosen

    def swap(self, a, b):
        self.items[a], self.items[b] = self.items[b], self.items[a]


def slow_difference(a, b, low, high, is_nominal):
    """One column's part of the squared distance, as WEKA takes it."""
    if is_nominal:
        return float(np.isnan(a) or np.isnan(b) or a != b)
    a, b = (v if np.isnan(v) else (v - low) / (high - low) if high > low else 0.0 for v in (a, b))
    if np.isnan(a) and np.isnan(b):
        return 1.0
    if np.isnan(a) or np.isnan(b):
        known = b if np.isnan(a) else a
        return max(known, 1 - known) ** 2
    return (a - b) * (a - b)


def slow_weka(X, n_values, k, queries=None):
    """Show every row to the heap; the rows left, nearest first."""
    ends = [
        (np.fmin.reduce(column, initial=np.nan), np.fmax.reduce(column, initial=np.nan))
        for column in X.T
    ]
    found = []
    for at, query in enumerate(X if queries is None else queries):
        heap = SlowHeap(k)
        for row, other in enumerate(X):
            if queries is None and row == at:
                continue
            total = 0.0
            for a, b, (low, high), count in zip(query, other, ends, n_values, strict=True):
                total += slow_difference(a, b, low, high, count > 0)
            heap.offer(total, row)
        found.append([row for _, row in sorted(heap.items[1:])])
    return found


def rows_full_of_ties(rng, n, *, gaps=0.0, nominal=True, negative=True):
    numeric = rng.integers(-2 if negative else 0, 3, (n, 3)) / 3.0
    codes = rng.integers(0, 3, (n, 2)).astype(float)
    X = np.hstack([numeric, codes]) if nominal else numeric
    X[rng.random(X.shape) < gaps] = np.nan
    return X, np.array([0, 0, 0, 3, 3] if nominal else [0, 0, 0])


def force(monkeypatch, way):
    monkeypatch.setattr(search, "_choose_algorithm", lambda *_: getattr(search, way))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(4))
def test_the_rows_are_those_of_the_slow_heap(monkeypatch, way, seed):
    rng = np.random.default_rng(seed)
    X, n_values = rows_full_of_ties(rng, 60, nominal=way != "_search_with_tree_and_heap")
    Q, _ = rows_full_of_ties(rng, 15, nominal=way != "_search_with_tree_and_heap")
    Q[:, 0] *= 2  # outside of the training range
    force(monkeypatch, way)
    space = Space.from_matrix(
        sparse.csr_array(X) if way == "_search_sparse" else X, n_values, shift=True
    )

    own = nearest_neighbours(space, 7, ties="weka")
    others = nearest_neighbours(space, 7, queries=space.transform(Q), ties="weka")

    assert own.rows.tolist() == slow_weka(X, n_values, 7)
    assert others.rows.tolist() == slow_weka(X, n_values, 7, Q)


def test_the_heap_chooses_other_rows_than_row_order_does():
    rng = np.random.default_rng(0)
    X, n_values = rows_full_of_ties(rng, 60)
    space = Space.from_matrix(X, n_values, shift=True)
    by_row, by_heap = (nearest_neighbours(space, 7, ties=ties) for ties in ("row", "weka"))

    assert (by_row.rows != by_heap.rows).any()
    assert (by_row.distances == by_heap.distances).all()


@given(st.integers(0, 10_000), st.integers(1, 8), st.booleans())
def test_missing_values_dense_and_sparse(seed, k, negative):
    rng = np.random.default_rng(seed)
    X, n_values = rows_full_of_ties(rng, 20, gaps=0.2, negative=negative)
    dense = nearest_neighbours(Space.from_matrix(X, n_values, shift=True), k, ties="weka")
    space = Space.from_matrix(sparse.csr_array(X), n_values, shift=True)
    by_columns = nearest_neighbours(space, k, ties="weka")

    assert dense.rows.tolist() == slow_weka(X, n_values, k)
    assert by_columns.rows.tolist() == dense.rows.tolist()
    assert (by_columns.distances == dense.distances).all()


def test_missing_values_by_hand():
    # Scaled, the second column reads 0, missing, 1, missing: row 0 differs from row 1 by
    # max(0, 1 - 0), from row 2 by 1 in both columns; rows 1 and 3 differ by 1.
    X = np.array([[0.0, 5.0], [0.0, np.nan], [1.0, 9.0], [0.0, np.nan]])
    found = nearest_neighbours(Space.from_matrix(X, [2, 0], shift=True), 3, ties="weka")

    assert (found.distances**2).round(12).tolist() == [
        [1.0, 1.0, 2.0],
        [1.0, 1.0, 2.0],
        [2.0, 2.0, 2.0],
        [1.0, 1.0, 2.0],
    ]


def test_columns_without_any_value_tell_nothing():
    X = np.array([[np.nan, 0.0], [np.nan, 1.0], [np.nan, 0.2]])
    assert nearest_neighbours(
        Space.from_matrix(X, shift=True), 1, ties="weka"
    ).rows.ravel().tolist() == [
        2,
        2,
        0,
    ]
    assert nearest_neighbours(
        Space.from_matrix(sparse.csr_array(X), shift=True), 1
    ).rows.ravel().tolist() == [2, 2, 0]


def test_stored_zeros_are_zeros():
    X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    full = sparse.csr_array((X.ravel(), np.tile([0, 1], 4), np.arange(0, 9, 2)), shape=X.shape)
    for n_values in ([0, 0], [2, 2]):
        expected = nearest_neighbours(Space.from_matrix(X, n_values, shift=True), 3, ties="weka")
        found = nearest_neighbours(Space.from_matrix(full, n_values, shift=True), 3, ties="weka")
        assert found.rows.tolist() == expected.rows.tolist()
        assert found.distances.tolist() == expected.distances.tolist()


def test_threads_change_nothing():
    rng = np.random.default_rng(3)
    space = Space.from_matrix(rng.integers(0, 4, (700, 12)) / 3.0, shift=True)
    one, three = (nearest_neighbours(space, 10, ties="weka", n_jobs=n) for n in (1, 3))
    assert (one.rows == three.rows).all()
    assert (one.distances == three.distances).all()


def test_trees_and_the_heap_choose_alike_on_many_rows(monkeypatch):
    rng = np.random.default_rng(5)
    space = Space.from_matrix(rng.integers(0, 60, (4200, 2)) / 7.0, shift=True)
    by_tree = nearest_neighbours(space, 6, ties="weka")
    force(monkeypatch, "_search_brute_force")
    directly = nearest_neighbours(space, 6, ties="weka")

    assert (by_tree.rows == directly.rows).all()
    assert (by_tree.distances == directly.distances).all()
