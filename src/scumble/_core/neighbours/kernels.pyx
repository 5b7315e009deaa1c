"""Loops of the neighbour search.

A column is of one of eight kinds. The exact squared distance of two rows is the sum of the
columns' differences in column order; every way of searching ranks by this number. Partial
distances sum over the columns known in both rows and are scaled up to all columns.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.string cimport memset

from scumble._core.interrupt cimport check_stop

import numpy as np

cpdef enum:
    SQUARE, MISMATCH, ABSOLUTE
    # The first two where cells of the column may be missing (NaN), which then differ as in WEKA.
    GAPPED_SQUARE, GAPPED_MISMATCH
    # All three where cells may be missing, which then count for nothing.
    PARTIAL_SQUARE, PARTIAL_MISMATCH, PARTIAL_ABSOLUTE

cdef enum:
    TILE = 512  # rows whose sums stay in the nearest cache
    STEP = 1 << 16  # rows between two looks at whether to stop

cdef extern from "scumble/_core/neighbours/columns.h" nogil:
    ctypedef void (*add_one)(double, const double*, double*, double*, Py_ssize_t)
    ctypedef void (*add_four)(const double*, const double*, Py_ssize_t, double*, Py_ssize_t)
    const add_one* ADD_ONE  # by the kind of a column
    const add_four* ADD_FOUR  # by the kind of four columns without gaps
    double FARTHEST(double)
    void scale_up(double, double, const double*, double*, Py_ssize_t)
    void compare_nominal(double, double, const double*, double*, Py_ssize_t)
    void approximate(double, const double*, const double*, double, double*, Py_ssize_t)
    void round_all(double*, Py_ssize_t)
    void bound_errors(double, double, const double*, double*, Py_ssize_t)

cdef struct Rows:
    bint is_sparse
    Py_ssize_t n_rows, n_columns
    const double* dense
    const int64_t* indptr
    const int32_t* indices
    const double* data
    const double* norms
    const double* gaps

cdef struct Kinds:
    const int8_t* kinds
    const double* zeros
    double error
    double n_total  # the columns that partial distances are scaled up to, 0 for whole distances

cdef struct Nearest:
    # The nearest rows so far, in order or as a heap with the farthest on top.
    double* distances
    int64_t* rows
    Py_ssize_t n_wanted
    Py_ssize_t n_found


cdef class Points:
    """Rows to compare: a dense array, or a sparse matrix with sorted columns.

    Parameters
    ----------
    values : ndarray, csr_array or csc_array of float64
        The rows; of a csc_array, the columns are taken for rows.
    norms : ndarray of float64, optional
        A squared norm of every row.
    gaps : ndarray of float64, optional
        How many cells of every row are missing.
    """

    cdef Rows rows
    cdef list kept  # what the pointers point into

    def __init__(self, values, norms=None, gaps=None):
        cdef const double[:, ::1] dense
        cdef const int64_t[::1] indptr
        cdef const int32_t[::1] indices
        memset(&self.rows, 0, sizeof(Rows))
        self.kept = [values, norms]
        self.rows.n_rows, self.rows.n_columns = values.shape
        self.rows.is_sparse = hasattr(values, "indptr")
        if self.rows.is_sparse:
            if values.format == "csc":
                self.rows.n_columns, self.rows.n_rows = values.shape
            if self.rows.n_columns >= 1 << 31:
                raise ValueError("Neighbours in more than 2**31 dimensions are not searched.")
            indptr = np.ascontiguousarray(values.indptr, np.int64)
            indices = np.ascontiguousarray(values.indices, np.int32)
            self.kept += [indptr, indices]
            self.rows.indptr = &indptr[0]
            self.rows.indices = &indices[0] if len(indices) else NULL
            self.rows.data = self._keep(values.data)
        else:
            dense = values
            self.kept.append(dense)
            self.rows.dense = &dense[0, 0] if values.size else NULL
        self.rows.norms = self._keep(norms)
        self.rows.gaps = self._keep(gaps)

    cdef const double* _keep(self, const double[::1] numbers) except? NULL:
        """Point at numbers, as long as these points live; nowhere without any."""
        self.kept.append(numbers)
        return &numbers[0] if numbers is not None and numbers.shape[0] else NULL


cdef class DistanceMetric:
    """How columns differ.

    Parameters
    ----------
    kinds : ndarray of int8
        The kind of each column.
    zeros : ndarray of float64
        What an absent element of a sparse row stands for, column by column.
    error : float
        A bound of the rounding of approximate distances relative to the norms; 0 says that all
        differences are whole, so that rounding the distances makes them exact.
    n_total : int
        The number of columns that partial distances are scaled up to; 0 for whole distances.
    """

    cdef Kinds columns
    cdef tuple kept

    def __init__(
        self, const int8_t[::1] kinds, const double[::1] zeros, double error=0.0, n_total=0
    ):
        self.kept = (kinds, zeros)
        self.columns.kinds = &kinds[0] if kinds.shape[0] else NULL
        self.columns.zeros = &zeros[0] if zeros.shape[0] else NULL
        self.columns.error = error
        self.columns.n_total = n_total


cdef class SearchBuffers:
    """What is asked of a search, and where the nearest rows are written to.

    Parameters
    ----------
    metric : DistanceMetric
        How columns differ.
    own : ndarray of int64, shape (n_queries,)
        The place of each query among the rows searched, or -1.
    by_heap : bool
        Whether WEKA's heap chooses among equally near rows, instead of row order.
    rows, distances : ndarray of shape (n_queries, n_wanted)
        Row numbers and squared distances, nearest first.
    """

    cdef Kinds columns
    cdef const int64_t[::1] own
    cdef bint by_heap
    cdef int64_t[:, ::1] rows
    cdef double[:, ::1] distances
    cdef DistanceMetric kept  # what the columns point into

    def __init__(self, DistanceMetric metric, own, by_heap, rows, distances):
        self.columns, self.kept = metric.columns, metric
        self.own, self.by_heap = own, by_heap
        self.rows = rows
        self.distances = distances

    cdef inline Nearest of(self, Py_ssize_t query) noexcept nogil:
        """Give the place for the answers of a query, still empty."""
        cdef Nearest found
        found.distances, found.rows = &self.distances[query, 0], &self.rows[query, 0]
        found.n_wanted, found.n_found = self.rows.shape[1], 0
        return found


cdef class _Scratch:
    """Room to compare one query after another with all rows."""

    cdef Py_ssize_t n_rows
    cdef double[::1] room  # what the pointers point into
    cdef double* near  # approximate squared distances from a query
    cdef double* slack  # by how much these may be wrong
    cdef double* unknown  # how many columns are missing in the query or the row, if any can be
    cdef Nearest heap

    def __init__(self, Py_ssize_t n_rows, SearchBuffers answers):
        self.n_rows = n_rows
        self.heap.n_wanted = answers.rows.shape[1]
        self.room = np.empty(3 * n_rows + 2 * self.heap.n_wanted)
        self.near = &self.room[0]
        self.slack = self.near + n_rows
        self.unknown = self.slack + n_rows
        self.heap.distances = self.unknown + n_rows
        self.heap.rows = <int64_t*>(self.heap.distances + self.heap.n_wanted)


cdef inline double _difference(int kind, double a, double b) noexcept nogil:
    cdef double farthest
    if kind <= ABSOLUTE:
        return _plain_difference(kind, a, b)
    if kind == GAPPED_MISMATCH:
        return _plain_difference(MISMATCH, a, b)  # a missing value differs from everything, NaN too
    if kind >= PARTIAL_SQUARE:  # these come in the order of the plain kinds
        return 0.0 if a != a or b != b else _plain_difference(kind - PARTIAL_SQUARE, a, b)
    if a == a and b == b:
        return (a - b) * (a - b)
    farthest = FARTHEST(b if a != a else a)
    return 1.0 if a != a and b != b else farthest * farthest


cdef inline double _plain_difference(int kind, double a, double b) noexcept nogil:
    if kind == SQUARE:
        return (a - b) * (a - b)
    return fabs(a - b) if kind == ABSOLUTE else a != b


cdef inline double _distance(
    const Rows* a, Py_ssize_t i, const Rows* b, Py_ssize_t j, const Kinds* columns
) noexcept nogil:
    """Squared distance of row i of ``a`` from row j of ``b``."""
    cdef double total
    cdef double unknown = 0.0
    if columns.n_total == 0.0:
        return _sum(a, i, b, j, columns, NULL)
    total = _sum(a, i, b, j, columns, &unknown)
    scale_up(columns.n_total, <double>a.n_columns, &unknown, &total, 1)
    return total


cdef inline double _sum(
    const Rows* a, Py_ssize_t i, const Rows* b, Py_ssize_t j, const Kinds* columns, double* unknown
) noexcept nogil:
    """Sum up how two rows differ; count the columns missing in either, unless ``unknown`` is NULL.

    Without ``b`` the other row is that of zeros.
    """
    if a.is_sparse:
        return _sparse_sum(a, i, b, j, columns, unknown)
    return _dense_sum(a, i, b, j, columns, unknown)


cdef double _dense_sum(
    const Rows* a, Py_ssize_t i, const Rows* b, Py_ssize_t j, const Kinds* columns, double* unknown
) noexcept nogil:
    cdef const double* values = a.dense + i * a.n_columns
    cdef const double* others = b.dense + j * b.n_columns
    cdef double total = 0.0
    cdef Py_ssize_t column
    for column in range(a.n_columns):
        total += _difference(columns.kinds[column], values[column], others[column])
        if unknown != NULL:
            unknown[0] += values[column] != values[column] or others[column] != others[column]
    return total


cdef double _sparse_sum(
    const Rows* a, Py_ssize_t i, const Rows* b, Py_ssize_t j, const Kinds* columns, double* unknown
) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t at = a.indptr[i]
    cdef Py_ssize_t end = a.indptr[i + 1]
    cdef Py_ssize_t other = 0 if b == NULL else b.indptr[j]
    cdef Py_ssize_t other_end = 0 if b == NULL else b.indptr[j + 1]
    cdef int32_t column
    cdef double value, other_value
    while at < end or other < other_end:
        if other == other_end or (at < end and a.indices[at] < b.indices[other]):
            column = a.indices[at]
            value, other_value = a.data[at], columns.zeros[column]
            at += 1
        elif at == end or b.indices[other] < a.indices[at]:
            column = b.indices[other]
            value, other_value = columns.zeros[column], b.data[other]
            other += 1
        else:
            column = a.indices[at]
            value, other_value = a.data[at], b.data[other]
            at += 1
            other += 1
        total += _difference(columns.kinds[column], value, other_value)
        if unknown != NULL:
            unknown[0] += value != value or other_value != other_value
    return total


cdef void _insert(Nearest* found, double distance, int64_t row) noexcept nogil:
    """Insert a row into those found so far, sorted by distance, then by row number."""
    cdef double* distances = found.distances
    cdef int64_t* rows = found.rows
    cdef Py_ssize_t at = found.n_found
    if found.n_found == found.n_wanted:
        at -= 1
        if distance > distances[at] or (distance == distances[at] and row > rows[at]):
            return
    else:
        found.n_found += 1
    while at > 0 and (
        distances[at - 1] > distance or (distances[at - 1] == distance and rows[at - 1] > row)
    ):
        distances[at] = distances[at - 1]
        rows[at] = rows[at - 1]
        at -= 1
    distances[at] = distance
    rows[at] = row


cdef void _push(Nearest* heap, Py_ssize_t at, double distance, int64_t row) noexcept nogil:
    """Put a row at the end of the heap, and let it rise."""
    cdef Py_ssize_t above
    while at > 0 and distance > heap.distances[(at - 1) // 2]:
        above = (at - 1) // 2
        heap.distances[at] = heap.distances[above]
        heap.rows[at] = heap.rows[above]
        at = above
    heap.distances[at] = distance
    heap.rows[at] = row


cdef void _pop(Nearest* heap) noexcept nogil:
    """Take the top off the heap: the last row takes its place and sinks."""
    cdef double* distances = heap.distances
    cdef Py_ssize_t last = heap.n_found - 1
    cdef double distance = distances[last]
    cdef int64_t row = heap.rows[last]
    cdef double largest
    cdef Py_ssize_t left, right, below
    cdef Py_ssize_t at = 0
    while True:
        left = 2 * at + 1
        right = left + 1
        below = at
        largest = distance
        if left < last and distances[left] > largest:
            below = left
            largest = distances[left]
        if right < last and distances[right] > distance and not distances[left] > distances[right]:
            below = right
        if below == at:
            break
        distances[at] = distances[below]
        heap.rows[at] = heap.rows[below]
        at = below
    distances[at] = distance
    heap.rows[at] = row


cdef inline void _offer(Nearest* heap, double distance, int64_t row) noexcept nogil:
    """Show a row to the heap: it enters while there is room, then only if it is nearer."""
    if heap.n_found < heap.n_wanted:
        _push(heap, heap.n_found, distance, row)
        heap.n_found += 1
    elif distance < heap.distances[0]:
        _pop(heap)
        _push(heap, heap.n_found - 1, distance, row)


cdef void _offer_all(
    Nearest* heap, const double* exact, Py_ssize_t n_rows, int64_t own
) noexcept nogil:
    cdef Py_ssize_t row
    for row in range(n_rows):
        if row != own:
            _offer(heap, exact[row], row)


cdef double _keep_nearest(
    const double* near, const double* slack, Py_ssize_t n_rows, int64_t own, Nearest* found
) noexcept nogil:
    """Find the rows with the lowest distances plus slack, unless NULL; give the largest of them."""
    cdef double worst = INFINITY
    cdef double distance
    cdef Py_ssize_t row
    for row in range(n_rows):
        distance = near[row] if slack == NULL else near[row] + slack[row]
        # Rows come in order, so of equal distances the earlier row is in already.
        if (distance < worst or found.n_found < found.n_wanted) and row != own:
            _insert(found, distance, row)
            if found.n_found == found.n_wanted:
                worst = found.distances[found.n_wanted - 1]
    return worst


cdef void _rank(
    Points queries, Py_ssize_t query, Points base, _Scratch scratch, SearchBuffers answers
) noexcept nogil:
    """Rank rows by their distances from a query; those that are not exact are taken once more."""
    cdef const Rows* asked = &queries.rows
    cdef const Rows* rows = &base.rows
    cdef const Kinds* columns = &answers.columns
    cdef const double* near = scratch.near
    cdef const double* slack = scratch.slack
    cdef Nearest* heap = &scratch.heap
    cdef Nearest found = answers.of(query)
    cdef int64_t own = answers.own[query]
    cdef double reach
    cdef Py_ssize_t row
    heap.n_found = 0
    if answers.by_heap:
        if columns.error == 0.0:
            _offer_all(heap, near, scratch.n_rows, own)
        else:
            for row in range(scratch.n_rows):
                if heap.n_found == heap.n_wanted and near[row] - slack[row] > heap.distances[0]:
                    continue  # surely out
                if row != own:
                    _offer(heap, _distance(asked, query, rows, row, columns), row)
        for row in range(heap.n_found):
            _insert(&found, heap.distances[row], heap.rows[row])
    elif columns.error == 0.0:
        _keep_nearest(near, NULL, scratch.n_rows, own, &found)
    else:
        reach = _keep_nearest(near, slack, scratch.n_rows, own, heap)  # the wanted ones are within
        for row in range(scratch.n_rows):
            # Written so that NaN, from norms too large for a float, means: compare exactly.
            if not (near[row] - slack[row] > reach) and row != own:
                if found.n_found == found.n_wanted and found.distances[found.n_found - 1] == 0.0:
                    break  # nothing is nearer, and later rows lose ties
                _insert(&found, _distance(asked, query, rows, row, columns), row)


def search_directly(
    Points queries, const double[:, ::1] columns, SearchBuffers answers, Py_ssize_t start,
    Py_ssize_t stop,
):
    """Compare queries start..stop with all rows; ``columns`` holds the rows column by column."""
    cdef Py_ssize_t n_columns = columns.shape[0]
    cdef Py_ssize_t n_rows = columns.shape[1]
    cdef const double* values
    cdef const double* first = &columns[0, 0] if n_columns and n_rows else NULL
    cdef _Scratch scratch = _Scratch(n_rows, answers)
    cdef double n_total = answers.columns.n_total
    cdef Py_ssize_t query, low
    with nogil:
        for query in range(start, stop):
            values = queries.rows.dense + query * n_columns
            if n_total > 0.0:
                memset(scratch.unknown, 0, n_rows * sizeof(double))
            low = 0
            while low < n_rows:
                _add_columns(
                    values, first + low, n_rows, n_columns, answers.columns.kinds,
                    scratch.near + low, scratch.unknown + low, min(TILE, n_rows - low),
                )
                low += TILE
            if n_total > 0.0:
                scale_up(n_total, <double>n_columns, scratch.unknown, scratch.near, n_rows)
            _rank(queries, query, queries, scratch, answers)  # all distances are exact


cdef void _add_columns(
    const double* values, const double* columns, Py_ssize_t stride, Py_ssize_t n_columns,
    const int8_t* kinds, double* exact, double* unknown, Py_ssize_t n_rows,
) noexcept nogil:
    """Take the distances of a query from a few rows, all columns one after another."""
    cdef Py_ssize_t at = 0
    cdef Py_ssize_t alike
    memset(exact, 0, n_rows * sizeof(double))
    while at < n_columns:
        alike = 1
        while alike < 4 and at + alike < n_columns and kinds[at + alike] == kinds[at]:
            alike += 1
        if alike == 4 and kinds[at] < GAPPED_SQUARE:
            ADD_FOUR[kinds[at]](values + at, columns + at * stride, stride, exact, n_rows)
            at += 4
        else:
            ADD_ONE[kinds[at]](values[at], columns + at * stride, exact, unknown, n_rows)
            at += 1


def search_products(
    const double[:, ::1] products, Py_ssize_t first, Points queries, Points base, SearchBuffers answers
):
    """Search with the products of the queries from ``first`` on with all rows.

    From norms and products follow distances up to rounding; rows that may be among the nearest
    are compared exactly.
    """
    cdef _Scratch scratch = _Scratch(base.rows.n_rows, answers)
    cdef Py_ssize_t at
    with nogil:
        for at in range(products.shape[0]):
            approximate(
                queries.rows.norms[first + at], base.rows.norms, &products[at, 0], 2.0,
                scratch.near, base.rows.n_rows,
            )
            _answer(queries, first + at, base, scratch, answers)


cdef void _answer(
    Points queries, Py_ssize_t query, Points base, _Scratch scratch, SearchBuffers answers
) noexcept nogil:
    """Find the nearest rows of a query from approximate distances."""
    cdef Py_ssize_t n_rows = base.rows.n_rows
    cdef double error = answers.columns.error
    cdef double n_total = answers.columns.n_total
    cdef double n_columns = <double>base.rows.n_columns
    if error == 0.0:
        round_all(scratch.near, n_rows)
    else:
        bound_errors(error, queries.rows.norms[query], base.rows.norms, scratch.slack, n_rows)
    if n_total > 0.0:
        scale_up(n_total, n_columns, scratch.unknown, scratch.near, n_rows)
        if error > 0.0:
            scale_up(n_total, n_columns, scratch.unknown, scratch.slack, n_rows)
    _rank(queries, query, base, scratch, answers)


def search_sparse(
    Points queries, Points base, Points by_column, SearchBuffers answers, Py_ssize_t start,
    Py_ssize_t stop,
):
    """Search queries start..stop among sparse rows, also given column by column.

    Distances up to rounding follow from the norms and from the columns two rows share; rows that
    may be among the nearest are compared exactly.
    """
    cdef _Scratch scratch = _Scratch(base.rows.n_rows, answers)
    cdef Rows asked = queries.rows
    cdef double* overlap = scratch.slack
    cdef Py_ssize_t n_rows = base.rows.n_rows
    cdef Py_ssize_t query, at
    with nogil:
        for query in range(start, stop):
            memset(overlap, 0, n_rows * sizeof(double))
            for at in range(asked.indptr[query], asked.indptr[query + 1]):
                _add_overlap(
                    &by_column.rows, asked.indices[at], asked.data[at], &answers.columns, overlap
                )
            if answers.columns.n_total > 0.0:
                _add_gaps(&asked, query, &base.rows, &by_column.rows, scratch.unknown)
            approximate(
                asked.norms[query], base.rows.norms, overlap, 1.0, scratch.near, n_rows
            )
            _answer(queries, query, base, scratch, answers)


cdef void _add_gaps(
    const Rows* queries, Py_ssize_t query, const Rows* base, const Rows* by_column,
    double* unknown,
) noexcept nogil:
    """Count the columns missing in a query or in a row: those of both, less what they share."""
    cdef Py_ssize_t row, at, place, column
    for row in range(base.n_rows):
        unknown[row] = queries.gaps[query] + base.gaps[row]
    for at in range(queries.indptr[query], queries.indptr[query + 1]):
        if queries.data[at] != queries.data[at]:
            column = queries.indices[at]
            for place in range(by_column.indptr[column], by_column.indptr[column + 1]):
                unknown[by_column.indices[place]] -= by_column.data[place] != by_column.data[place]


cdef void _add_overlap(
    const Rows* by_column, Py_ssize_t column, double value, const Kinds* columns, double* overlap
) noexcept nogil:
    """Add what a column that two rows share takes off the sum of their norms."""
    cdef int kind = columns.kinds[column]
    cdef double zero = columns.zeros[column]
    cdef Py_ssize_t start = by_column.indptr[column]
    cdef Py_ssize_t stop = by_column.indptr[column + 1]
    cdef const int32_t* rows = by_column.indices
    cdef const double* data = by_column.data
    cdef double own, shared
    cdef double[TILE] shares
    cdef Py_ssize_t at, size
    if kind == SQUARE:
        own = 2.0 * (value - zero)
        for at in range(start, stop):
            overlap[rows[at]] += own * (data[at] - zero)
    elif kind == MISMATCH:
        # Two loops, the first without branches: the next value could not be foreseen.
        while start < stop:
            size = min(TILE, stop - start)
            compare_nominal(value, zero, data + start, shares, size)
            for at in range(size):
                overlap[rows[start + at]] += shares[at]
            start += size
    else:
        own = _difference(kind, value, zero)
        for at in range(start, stop):
            shared = own + _difference(kind, data[at], zero) - _difference(kind, value, data[at])
            overlap[rows[at]] += shared


def rank_candidates(
    const int64_t[::1] starts, const int64_t[::1] candidates, Points queries, Points base,
    SearchBuffers answers,
):
    """Rank listed candidates of all queries by their exact distances."""
    cdef Nearest found
    cdef Py_ssize_t query, at
    cdef double distance
    with nogil:
        for query in range(queries.rows.n_rows):
            found = answers.of(query)
            for at in range(starts[query], starts[query + 1]):
                if candidates[at] != answers.own[query]:
                    distance = _distance(
                        &queries.rows, query, &base.rows, candidates[at], &answers.columns
                    )
                    _insert(&found, distance, candidates[at])


def paired_squared_distances(Points a, Points b, const int64_t[::1] rows, DistanceMetric metric, double[::1] squared):
    """Write the squared distances of the rows of ``a`` from the given rows of ``b``.

    Without ``b`` they are those from the row of zeros.
    """
    cdef const Rows* others = NULL if b is None else &b.rows
    cdef Py_ssize_t at
    with nogil:
        for at in range(rows.shape[0]):
            if at % STEP == 0:
                check_stop()
            squared[at] = _distance(&a.rows, at, others, rows[at], &metric.columns)
