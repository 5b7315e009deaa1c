"""Compiled loops of the neighbour search.

A column is of one of five kinds. The exact squared distance of two rows is the sum of the
columns' differences in column order; every way of searching ranks by this number.
"""

from __future__ import annotations

import numpy as np

from scumble._core.jit import kernel

SQUARE, MISMATCH, ABSOLUTE = 0, 1, 2
#: The first two where cells of the column may be missing (NaN).
GAPPED_SQUARE, GAPPED_MISMATCH = 3, 4


@kernel
def _difference(kind, a, b):
    if kind == 0:
        return (a - b) * (a - b)
    if kind == 1 or kind == 4:  # a missing value differs from everything, NaN likewise
        return 1.0 if a != b else 0.0
    if kind == 2:
        return abs(a - b)
    if np.isnan(a) and np.isnan(b):
        return 1.0
    if np.isnan(a) or np.isnan(b):
        known = b if np.isnan(a) else a
        farthest = 1.0 - known if known < 0.5 else known  # what may be missing lies in [0, 1]
        return farthest * farthest
    return (a - b) * (a - b)


@kernel
def exact_dense(a, b, kinds):
    """Squared distance of two dense rows."""
    total = 0.0
    for column in range(len(kinds)):
        total += _difference(kinds[column], a[column], b[column])
    return total


@kernel
def exact_sparse(a_indices, a_data, b_indices, b_data, zeros, kinds):
    """Squared distance of two sparse rows with sorted columns; ``zeros`` stand for absent ones."""
    total = 0.0
    at_a = at_b = 0
    while at_a < len(a_indices) or at_b < len(b_indices):
        if at_b == len(b_indices) or (at_a < len(a_indices) and a_indices[at_a] < b_indices[at_b]):
            column = a_indices[at_a]
            total += _difference(kinds[column], a_data[at_a], zeros[column])
            at_a += 1
        elif at_a == len(a_indices) or b_indices[at_b] < a_indices[at_a]:
            column = b_indices[at_b]
            total += _difference(kinds[column], zeros[column], b_data[at_b])
            at_b += 1
        else:
            column = a_indices[at_a]
            total += _difference(kinds[column], a_data[at_a], b_data[at_b])
            at_a += 1
            at_b += 1
    return total


@kernel
def _insert(distance, row, n_found, rows, distances):
    """Insert a row into those found so far, sorted by distance, then by row number."""
    n_wanted = len(rows)
    at = n_found
    if n_found == n_wanted:
        at = n_wanted - 1
        if distance > distances[at] or (distance == distances[at] and row > rows[at]):
            return n_found
    while at > 0 and (
        distances[at - 1] > distance or (distances[at - 1] == distance and rows[at - 1] > row)
    ):
        distances[at] = distances[at - 1]
        rows[at] = rows[at - 1]
        at -= 1
    distances[at] = distance
    rows[at] = row
    return min(n_found + 1, n_wanted)


@kernel
def _rank(exact, own, rows, distances):
    """Find the nearest rows from all exact distances; ``own`` is the querying row or -1."""
    n_found = 0
    n_wanted = len(rows)
    worst = np.inf
    for row in range(len(exact)):
        if row == own:
            continue
        # Rows come in order, so of equal distances the earlier row is in already.
        if n_found < n_wanted or exact[row] < worst:
            n_found = _insert(exact[row], row, n_found, rows, distances)
            worst = distances[n_found - 1]


@kernel
def _push(distance, row, size, heap, heap_rows):
    """Append a row to a heap whose root is the farthest row, and let it rise."""
    at = size
    while at > 0 and distance > heap[(at - 1) // 2]:
        above = (at - 1) // 2
        heap[at] = heap[above]
        heap_rows[at] = heap_rows[above]
        at = above
    heap[at] = distance
    heap_rows[at] = row


@kernel
def _pop(size, heap, heap_rows):
    """Take the root off a heap: the last row takes its place and sinks."""
    last = size - 1
    distance = heap[last]
    row = heap_rows[last]
    at = 0
    while True:
        left = 2 * at + 1
        right = left + 1
        below = at
        largest = distance
        if left < last and heap[left] > largest:
            below = left
            largest = heap[left]
        if right < last and heap[right] > distance and not heap[left] > heap[right]:
            below = right
        if below == at:
            break
        heap[at] = heap[below]
        heap_rows[at] = heap_rows[below]
        at = below
    heap[at] = distance
    heap_rows[at] = row


@kernel
def _offer(distance, row, n_found, heap, heap_rows):
    """Show a row to the heap: it enters while there is room, then only if it is nearer."""
    if n_found < len(heap):
        _push(distance, row, n_found, heap, heap_rows)
        return n_found + 1
    if distance < heap[0]:
        _pop(n_found, heap, heap_rows)
        _push(distance, row, n_found - 1, heap, heap_rows)
    return n_found


@kernel
def _unheap(heap, heap_rows, rows, distances):
    """Put the rows of the full heap in order of distance, then row number."""
    for at in range(len(heap)):
        _insert(heap[at], heap_rows[at], at, rows, distances)


@kernel
def _rank_by_heap(exact, own, heap, heap_rows, rows, distances):
    """Do what `_rank` does with the heap's choice among ties."""
    n_found = 0
    for row in range(len(exact)):
        if row != own:
            n_found = _offer(exact[row], row, n_found, heap, heap_rows)
    _unheap(heap, heap_rows, rows, distances)


@kernel
def _reach(near, slack, own, scratch):
    """Find a distance within which the wanted number of rows surely lies.

    ``near`` are approximate distances, each wrong by at most its ``slack``.
    """
    n_wanted = len(scratch)
    n_found = 0
    worst = np.inf
    for row in range(len(near)):
        if row == own:
            continue
        upper = near[row] + slack[row]
        if n_found < n_wanted:
            at = n_found
            n_found += 1
        elif upper < worst:
            at = n_wanted - 1
        else:
            continue
        while at > 0 and scratch[at - 1] > upper:
            scratch[at] = scratch[at - 1]
            at -= 1
        scratch[at] = upper
        worst = scratch[n_found - 1]
    return worst


@kernel
def search_directly(queries, columns, kinds, own, by_heap, start, stop, rows, distances):
    """Compare queries start..stop with all rows; ``columns`` holds the rows column by column."""
    n_rows = columns.shape[1]
    exact = np.empty(n_rows)
    heap = np.empty(rows.shape[1])
    heap_rows = np.empty(rows.shape[1], np.int64)
    for query in range(start, stop):
        exact[:] = 0.0
        for at in range(len(kinds)):
            value = queries[query, at]
            column = columns[at]
            if kinds[at] == 0:
                for row in range(n_rows):
                    exact[row] += (value - column[row]) * (value - column[row])
            elif kinds[at] == 1:
                for row in range(n_rows):
                    exact[row] += 1.0 if value != column[row] else 0.0
            elif kinds[at] == 2:
                for row in range(n_rows):
                    exact[row] += abs(value - column[row])
            else:
                for row in range(n_rows):
                    exact[row] += _difference(kinds[at], value, column[row])
        if by_heap:
            _rank_by_heap(exact, own[query], heap, heap_rows, rows[query], distances[query])
        else:
            _rank(exact, own[query], rows[query], distances[query])


@kernel
def search_products(
    products,
    norms_q,
    norms_b,
    error,
    queries,
    base,
    kinds,
    own,
    by_heap,
    first,
    start,
    stop,
    rows,
    dists,
):
    """Search with the products of the queries ``first`` + start..stop with all rows.

    From norms and products follow distances up to rounding; rows that may be among the nearest
    are compared exactly. ``error`` is a bound of the rounding relative to the norms; 0 says that
    all differences are whole, so that rounding the distances makes them exact.
    """
    n_rows = len(norms_b)
    near = np.empty(n_rows)
    slack = np.empty(n_rows)
    scratch = np.empty(rows.shape[1])
    heap_rows = np.empty(rows.shape[1], np.int64)
    for at in range(start, stop):
        query = first + at
        for row in range(n_rows):
            near[row] = norms_q[query] + norms_b[row] - 2.0 * products[at, row]
        if error == 0.0:
            for row in range(n_rows):
                near[row] = np.rint(near[row])
            if by_heap:
                _rank_by_heap(near, own[query], scratch, heap_rows, rows[query], dists[query])
            else:
                _rank(near, own[query], rows[query], dists[query])
            continue
        for row in range(n_rows):
            slack[row] = error * (norms_q[query] + norms_b[row])
        if by_heap:
            n_found = 0
            for row in range(n_rows):
                surely_out = n_found == len(scratch) and near[row] - slack[row] > scratch[0]
                if row != own[query] and not surely_out:
                    exact = exact_dense(queries[query], base[row], kinds)
                    n_found = _offer(exact, row, n_found, scratch, heap_rows)
            _unheap(scratch, heap_rows, rows[query], dists[query])
            continue
        reach = _reach(near, slack, own[query], scratch)
        n_found = 0
        for row in range(n_rows):
            if near[row] - slack[row] <= reach and row != own[query]:
                if n_found == rows.shape[1] and dists[query, n_found - 1] == 0.0:
                    break  # nothing is nearer, and later rows lose ties
                exact = exact_dense(queries[query], base[row], kinds)
                n_found = _insert(exact, row, n_found, rows[query], dists[query])


@kernel
def sparse_norms(indptr, indices, data, zeros, kinds, norms):
    """Squared distance of every row from the row of zeros."""
    for row in range(len(indptr) - 1):
        total = 0.0
        for place in range(indptr[row], indptr[row + 1]):
            column = indices[place]
            total += _difference(kinds[column], data[place], zeros[column])
        norms[row] = total


@kernel
def _add_overlap(kind, value, zero, indices, data, start, stop, overlap):
    """Add what a column that two rows share takes off the sum of their norms."""
    if kind == 0:
        twice = 2.0 * (value - zero)
        for place in range(start, stop):
            overlap[np.uint64(indices[place])] += twice * (data[place] - zero)
    elif kind == 1:
        own = 1.0 if value != zero else 0.0
        for place in range(start, stop):
            shared = own + 1.0 if data[place] != zero else own
            overlap[np.uint64(indices[place])] += shared if data[place] == value else shared - 1.0
    else:
        own = _difference(kind, value, zero)
        for place in range(start, stop):
            other = data[place]
            shared = own + _difference(kind, other, zero) - _difference(kind, value, other)
            overlap[np.uint64(indices[place])] += shared


@kernel
def search_sparse(
    q_indptr,
    q_indices,
    q_data,
    q_norms,
    b_indptr,
    b_indices,
    b_data,
    b_norms,
    c_indptr,
    c_rows,
    c_data,
    zeros,
    kinds,
    error,
    own,
    by_heap,
    start,
    stop,
    rows,
    distances,
):
    """Search queries start..stop among sparse rows (b), also given column by column (c).

    Distances up to rounding follow from the norms and from the columns two rows share; rows that
    may be among the nearest are compared exactly. See `search_products` for ``error``.
    """
    n_rows = len(b_norms)
    near = np.empty(n_rows)
    slack = np.empty(n_rows)
    scratch = np.empty(rows.shape[1])
    heap_rows = np.empty(rows.shape[1], np.int64)
    for query in range(start, stop):
        begin, end = q_indptr[query], q_indptr[query + 1]
        near[:] = 0.0
        for place in range(begin, end):
            at = q_indices[place]
            _add_overlap(
                kinds[at],
                q_data[place],
                zeros[at],
                c_rows,
                c_data,
                c_indptr[at],
                c_indptr[at + 1],
                near,
            )
        for row in range(n_rows):
            near[row] = q_norms[query] + b_norms[row] - near[row]
        if error == 0.0:
            if by_heap:
                _rank_by_heap(near, own[query], scratch, heap_rows, rows[query], distances[query])
            else:
                _rank(near, own[query], rows[query], distances[query])
            continue
        for row in range(n_rows):
            slack[row] = error * (q_norms[query] + b_norms[row])
        if by_heap:
            n_found = 0
            for row in range(n_rows):
                surely_out = n_found == len(scratch) and near[row] - slack[row] > scratch[0]
                if row != own[query] and not surely_out:
                    exact = exact_sparse(
                        q_indices[begin:end],
                        q_data[begin:end],
                        b_indices[b_indptr[row] : b_indptr[row + 1]],
                        b_data[b_indptr[row] : b_indptr[row + 1]],
                        zeros,
                        kinds,
                    )
                    n_found = _offer(exact, row, n_found, scratch, heap_rows)
            _unheap(scratch, heap_rows, rows[query], distances[query])
            continue
        reach = _reach(near, slack, own[query], scratch)
        n_found = 0
        for row in range(n_rows):
            if near[row] - slack[row] <= reach and row != own[query]:
                if n_found == rows.shape[1] and distances[query, n_found - 1] == 0.0:
                    break  # nothing is nearer, and later rows lose ties
                exact = exact_sparse(
                    q_indices[begin:end],
                    q_data[begin:end],
                    b_indices[b_indptr[row] : b_indptr[row + 1]],
                    b_data[b_indptr[row] : b_indptr[row + 1]],
                    zeros,
                    kinds,
                )
                n_found = _insert(exact, row, n_found, rows[query], distances[query])


@kernel
def rank_candidates(starts, candidates, queries, base, kinds, own, start, stop, rows, distances):
    """Rank listed candidates of queries start..stop by their exact distances."""
    for query in range(start, stop):
        n_found = 0
        for place in range(starts[query], starts[query + 1]):
            row = candidates[place]
            if row != own[query]:
                exact = exact_dense(queries[query], base[row], kinds)
                n_found = _insert(exact, row, n_found, rows[query], distances[query])


@kernel
def pairs_dense(a, b, rows, kinds, squared):
    """Squared distances of the rows of ``a`` from the given rows of ``b``."""
    for at in range(len(rows)):
        squared[at] = exact_dense(a[at], b[rows[at]], kinds)


@kernel
def pairs_sparse(
    a_indptr, a_indices, a_data, b_indptr, b_indices, b_data, rows, zeros, kinds, squared
):
    """Squared distances of the sparse rows of ``a`` from the given rows of ``b``."""
    for at in range(len(rows)):
        row = rows[at]
        squared[at] = exact_sparse(
            a_indices[a_indptr[at] : a_indptr[at + 1]],
            a_data[a_indptr[at] : a_indptr[at + 1]],
            b_indices[b_indptr[row] : b_indptr[row + 1]],
            b_data[b_indptr[row] : b_indptr[row + 1]],
            zeros,
            kinds,
        )
