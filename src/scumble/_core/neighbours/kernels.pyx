"""Kernels of the neighbour search.

Every column has one of eight difference types. The exact squared distance of two rows is the sum of
the differences of the columns, in column order; all algorithms rank by this number. Partial
distances sum over the columns that are known in both rows and are scaled up to all columns.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.string cimport memset

from scumble._core.interrupt cimport check_stop

import numpy as np

# The difference types of columns.
cpdef enum:
    SQUARE, MISMATCH, ABSOLUTE
    # The first two for columns with missing values (NaN), which differ as in WEKA.
    WEKA_SQUARE, WEKA_MISMATCH
    # All three for columns with missing values, which are left out of the sum.
    PARTIAL_SQUARE, PARTIAL_MISMATCH, PARTIAL_ABSOLUTE

cdef enum:
    TILE = 512  # rows whose sums fit in the first-level cache
    STEP = 1 << 16  # rows between two calls of check_stop

cdef extern from "scumble/_core/neighbours/columns.h" nogil:
    ctypedef void (*add_one)(double, const double*, double*, double*, Py_ssize_t)
    ctypedef void (*add_four)(const double*, const double*, Py_ssize_t, double*, Py_ssize_t)
    const add_one* ADD_ONE  # by the type of a column
    const add_four* ADD_FOUR  # by the type of four columns without missing values
    double FARTHEST(double)
    void scale_up(double, double, const double*, double*, Py_ssize_t)
    void compare_nominal(double, double, const double*, double*, Py_ssize_t)
    void approximate(double, const double*, const double*, double, double*, Py_ssize_t)
    void round_all(double*, Py_ssize_t)
    void bound_errors(double, double, const double*, double*, Py_ssize_t)

cdef struct Rows:
    # A dense matrix, or a sparse one by rows. See `Points`.
    bint is_sparse
    Py_ssize_t n_rows, n_columns
    const double* dense
    const int64_t* indptr
    const int32_t* indices
    const double* data
    const double* norms
    const double* n_missing

cdef struct Metric:
    # See `DistanceMetric`.
    const int8_t* column_types
    const double* zeros
    double error
    double n_total

cdef struct Nearest:
    # The nearest rows so far, sorted or as a heap with the farthest row on top.
    double* distances
    int64_t* rows
    Py_ssize_t n_neighbors
    Py_ssize_t n_found


cdef class Points:
    """Rows between which distances are computed: a dense array, or a sparse matrix.

    Parameters
    ----------
    values : ndarray, csr_array or csc_array of float64
        The rows, or the columns of a csc_array. Indices of sparse matrices are sorted.
    norms : ndarray of float64, optional
        Squared distance of every row from the row of zeros, or squared norm of dense rows.
    n_missing : ndarray of float64, optional
        Number of missing cells of every row.
    """

    cdef Rows rows
    cdef list owners  # of the memory that the pointers refer to

    def __init__(self, values, norms=None, n_missing=None):
        cdef const double[:, ::1] dense
        cdef const int64_t[::1] indptr
        cdef const int32_t[::1] indices
        memset(&self.rows, 0, sizeof(Rows))
        self.owners = [values, norms]
        self.rows.n_rows, self.rows.n_columns = values.shape
        self.rows.is_sparse = hasattr(values, "indptr")
        if self.rows.is_sparse:
            if values.format == "csc":
                self.rows.n_columns, self.rows.n_rows = values.shape
            if self.rows.n_columns >= 1 << 31:
                raise ValueError("Neighbours in more than 2**31 dimensions are not searched.")
            indptr = np.ascontiguousarray(values.indptr, np.int64)
            indices = np.ascontiguousarray(values.indices, np.int32)
            self.owners += [indptr, indices]
            self.rows.indptr = &indptr[0]
            self.rows.indices = &indices[0] if len(indices) else NULL
            self.rows.data = self._pointer_to(values.data)
        else:
            dense = values
            self.owners.append(dense)
            self.rows.dense = &dense[0, 0] if values.size else NULL
        self.rows.norms = self._pointer_to(norms)
        self.rows.n_missing = self._pointer_to(n_missing)

    cdef const double* _pointer_to(self, const double[::1] values) except? NULL:
        """Keep an array alive and return a pointer to it; NULL for None or an empty array."""
        self.owners.append(values)
        return &values[0] if values is not None and values.shape[0] else NULL


cdef class DistanceMetric:
    """How the distance of two rows is computed.

    Parameters
    ----------
    column_types : ndarray of int8
        The difference type of each column.
    zeros : ndarray of float64
        Value of an absent element of a sparse row, by column.
    error : float
        Bound of the rounding errors of approximate distances, relative to the norms. 0 means that
        all differences are integers, so that rounded distances are exact.
    n_total : int
        Number of columns that partial distances are scaled up to; 0 without partial distances.
    """

    cdef Metric data
    cdef tuple owners  # of the memory that the pointers refer to

    def __init__(
        self, const int8_t[::1] column_types, const double[::1] zeros, double error=0.0, n_total=0
    ):
        self.owners = (column_types, zeros)
        self.data.column_types = &column_types[0] if column_types.shape[0] else NULL
        self.data.zeros = &zeros[0] if zeros.shape[0] else NULL
        self.data.error = error
        self.data.n_total = n_total


cdef class SearchBuffers:
    """The parameters of a search, and the arrays for its results.

    Parameters
    ----------
    metric : DistanceMetric
        How distances are computed.
    query_rows : ndarray of int64, shape (n_queries,)
        Index of each query among the searched rows, -1 if it is none of them.
    uses_weka_heap : bool
        Whether WEKA's heap chooses among equally distant rows, instead of row order.
    rows, distances : ndarray of shape (n_queries, n_neighbors)
        Arrays for row indices and squared distances, nearest first.
    """

    cdef Metric metric
    cdef DistanceMetric metric_owner  # of the memory that the pointers refer to
    cdef const int64_t[::1] query_rows
    cdef bint uses_weka_heap
    cdef int64_t[:, ::1] rows
    cdef double[:, ::1] distances

    def __init__(self, DistanceMetric metric, query_rows, uses_weka_heap, rows, distances):
        self.metric = metric.data
        self.metric_owner = metric
        self.query_rows = query_rows
        self.uses_weka_heap = uses_weka_heap
        self.rows = rows
        self.distances = distances

    cdef inline Nearest nearest_of(self, Py_ssize_t query) noexcept nogil:
        """Return an empty list of nearest rows, in the memory for the results of a query."""
        cdef Nearest nearest
        nearest.distances = &self.distances[query, 0]
        nearest.rows = &self.rows[query, 0]
        nearest.n_neighbors = self.rows.shape[1]
        nearest.n_found = 0
        return nearest


cdef class _Scratch:
    """Memory for the comparison of one query after another with all rows."""

    cdef Py_ssize_t n_rows
    cdef double[::1] memory  # that the pointers refer to
    cdef double* distances  # squared, from the query to each row; may be approximate
    cdef double* errors  # bounds of the errors of the distances
    cdef double* n_unknown  # numbers of columns that are missing in the query or the row
    cdef Nearest heap

    def __init__(self, Py_ssize_t n_rows, SearchBuffers buffers):
        self.n_rows = n_rows
        self.heap.n_neighbors = buffers.rows.shape[1]
        self.memory = np.empty(3 * n_rows + 2 * self.heap.n_neighbors)
        self.distances = &self.memory[0]
        self.errors = self.distances + n_rows
        self.n_unknown = self.errors + n_rows
        self.heap.distances = self.n_unknown + n_rows
        self.heap.rows = <int64_t*>(self.heap.distances + self.heap.n_neighbors)


cdef inline double _difference(int column_type, double a, double b) noexcept nogil:
    """Return how much two values of a column add to the squared distance."""
    cdef double farthest
    if column_type <= ABSOLUTE:
        return _difference_of_present(column_type, a, b)
    if column_type == WEKA_MISMATCH:
        return _difference_of_present(MISMATCH, a, b)  # NaN differs from everything, NaN too
    if column_type >= PARTIAL_SQUARE:
        if a != a or b != b:
            return 0.0
        # The partial types are in the same order as the first three.
        return _difference_of_present(column_type - PARTIAL_SQUARE, a, b)
    if a == a and b == b:
        return (a - b) * (a - b)
    if a != a and b != b:
        return 1.0
    farthest = FARTHEST(b if a != a else a)
    return farthest * farthest


cdef inline double _difference_of_present(int column_type, double a, double b) noexcept nogil:
    """Return the difference of two values by one of the first three types."""
    if column_type == SQUARE:
        return (a - b) * (a - b)
    return fabs(a - b) if column_type == ABSOLUTE else a != b


cdef inline double _distance(
    const Rows* a, Py_ssize_t i, const Rows* b, Py_ssize_t j, const Metric* metric
) noexcept nogil:
    """Return the squared distance of row i of ``a`` from row j of ``b``; NULL is a row of zeros."""
    cdef double total
    cdef double n_unknown = 0.0
    if metric.n_total == 0.0:
        return _sum(a, i, b, j, metric, NULL)
    total = _sum(a, i, b, j, metric, &n_unknown)
    scale_up(metric.n_total, <double>a.n_columns, &n_unknown, &total, 1)
    return total


cdef inline double _sum(
    const Rows* a, Py_ssize_t i, const Rows* b, Py_ssize_t j, const Metric* metric,
    double* n_unknown,
) noexcept nogil:
    """Return the sum of the differences of two rows.

    Columns that are missing in one of the rows are added to ``n_unknown``, unless it is NULL.
    """
    if a.is_sparse:
        return _sparse_sum(a, i, b, j, metric, n_unknown)
    return _dense_sum(a, i, b, j, metric, n_unknown)


cdef double _dense_sum(
    const Rows* a, Py_ssize_t i, const Rows* b, Py_ssize_t j, const Metric* metric,
    double* n_unknown,
) noexcept nogil:
    """Return the sum of the differences of two dense rows, see `_sum`."""
    cdef const double* a_values = a.dense + i * a.n_columns
    cdef const double* b_values = b.dense + j * b.n_columns
    cdef double a_value, b_value
    cdef double total = 0.0
    cdef Py_ssize_t column
    for column in range(a.n_columns):
        a_value = a_values[column]
        b_value = b_values[column]
        total += _difference(metric.column_types[column], a_value, b_value)
        if n_unknown != NULL:
            n_unknown[0] += a_value != a_value or b_value != b_value
    return total


cdef double _sparse_sum(
    const Rows* a, Py_ssize_t i, const Rows* b, Py_ssize_t j, const Metric* metric,
    double* n_unknown,
) noexcept nogil:
    """Return the sum of the differences of two sparse rows, see `_sum`."""
    cdef double total = 0.0
    cdef Py_ssize_t a_index = a.indptr[i]
    cdef Py_ssize_t a_end = a.indptr[i + 1]
    cdef Py_ssize_t b_index = 0 if b == NULL else b.indptr[j]
    cdef Py_ssize_t b_end = 0 if b == NULL else b.indptr[j + 1]
    cdef int32_t column
    cdef double a_value, b_value
    while a_index < a_end or b_index < b_end:
        if b_index == b_end or (a_index < a_end and a.indices[a_index] < b.indices[b_index]):
            column = a.indices[a_index]
            a_value = a.data[a_index]
            b_value = metric.zeros[column]
            a_index += 1
        elif a_index == a_end or b.indices[b_index] < a.indices[a_index]:
            column = b.indices[b_index]
            a_value = metric.zeros[column]
            b_value = b.data[b_index]
            b_index += 1
        else:
            column = a.indices[a_index]
            a_value = a.data[a_index]
            b_value = b.data[b_index]
            a_index += 1
            b_index += 1
        total += _difference(metric.column_types[column], a_value, b_value)
        if n_unknown != NULL:
            n_unknown[0] += a_value != a_value or b_value != b_value
    return total


cdef void _insert(Nearest* nearest, double distance, int64_t row) noexcept nogil:
    """Insert a row into the sorted list of nearest rows; ties are sorted by row index."""
    cdef double* distances = nearest.distances
    cdef int64_t* rows = nearest.rows
    cdef Py_ssize_t index = nearest.n_found
    if nearest.n_found == nearest.n_neighbors:
        index -= 1
        if distance > distances[index] or (distance == distances[index] and row > rows[index]):
            return
    else:
        nearest.n_found += 1
    while index > 0 and (
        distances[index - 1] > distance
        or (distances[index - 1] == distance and rows[index - 1] > row)
    ):
        distances[index] = distances[index - 1]
        rows[index] = rows[index - 1]
        index -= 1
    distances[index] = distance
    rows[index] = row


cdef void _push(Nearest* heap, Py_ssize_t index, double distance, int64_t row) noexcept nogil:
    """Put a row at ``index``, the end of the heap, and move it up to its position."""
    cdef Py_ssize_t parent
    while index > 0 and distance > heap.distances[(index - 1) // 2]:
        parent = (index - 1) // 2
        heap.distances[index] = heap.distances[parent]
        heap.rows[index] = heap.rows[parent]
        index = parent
    heap.distances[index] = distance
    heap.rows[index] = row


cdef void _pop(Nearest* heap) noexcept nogil:
    """Remove the farthest row from the heap: the last row replaces it and is moved down."""
    cdef double* distances = heap.distances
    cdef Py_ssize_t last = heap.n_found - 1
    cdef double distance = distances[last]
    cdef int64_t row = heap.rows[last]
    cdef double largest
    cdef Py_ssize_t left, right, child
    cdef Py_ssize_t index = 0
    while True:
        left = 2 * index + 1
        right = left + 1
        child = index
        largest = distance
        if left < last and distances[left] > largest:
            child = left
            largest = distances[left]
        # Written as in WEKA, so that ties are treated alike.
        if right < last and distances[right] > distance and not distances[left] > distances[right]:
            child = right
        if child == index:
            break
        distances[index] = distances[child]
        heap.rows[index] = heap.rows[child]
        index = child
    distances[index] = distance
    heap.rows[index] = row


cdef inline void _offer(Nearest* heap, double distance, int64_t row) noexcept nogil:
    """Add a row to the heap; if it is full, replace the farthest row by a nearer one."""
    if heap.n_found < heap.n_neighbors:
        _push(heap, heap.n_found, distance, row)
        heap.n_found += 1
    elif distance < heap.distances[0]:
        _pop(heap)
        _push(heap, heap.n_found - 1, distance, row)


cdef void _offer_all(
    Nearest* heap, const double* distances, Py_ssize_t n_rows, int64_t query_row
) noexcept nogil:
    """Offer all rows but that of the query to the heap, with exact distances."""
    cdef Py_ssize_t row
    for row in range(n_rows):
        if row != query_row:
            _offer(heap, distances[row], row)


cdef double _keep_nearest(
    const double* distances, const double* errors, Py_ssize_t n_rows, int64_t query_row,
    Nearest* nearest,
) noexcept nogil:
    """Insert the nearest rows into ``nearest`` and return the largest of their distances.

    Distances are upper bounds, distance + error, unless ``errors`` is NULL. The result is infinite
    if there are fewer rows than neighbours.
    """
    cdef double largest = INFINITY
    cdef double distance
    cdef Py_ssize_t row
    for row in range(n_rows):
        distance = distances[row] if errors == NULL else distances[row] + errors[row]
        # Rows come in order, so of rows at equal distances the earlier one is in the list already.
        if (distance < largest or nearest.n_found < nearest.n_neighbors) and row != query_row:
            _insert(nearest, distance, row)
            if nearest.n_found == nearest.n_neighbors:
                largest = nearest.distances[nearest.n_neighbors - 1]
    return largest


cdef void _rank(
    Points queries, Py_ssize_t query, Points base, _Scratch scratch, SearchBuffers buffers
) noexcept nogil:
    """Write the nearest rows of a query.

    Approximate distances only exclude rows: the distances of all others are computed exactly.
    """
    cdef const Metric* metric = &buffers.metric
    cdef const double* distances = scratch.distances
    cdef const double* errors = scratch.errors
    cdef Nearest* heap = &scratch.heap
    cdef Nearest nearest = buffers.nearest_of(query)
    cdef int64_t query_row = buffers.query_rows[query]
    cdef double largest, exact
    cdef Py_ssize_t row
    heap.n_found = 0
    if buffers.uses_weka_heap:
        if metric.error == 0.0:
            _offer_all(heap, distances, scratch.n_rows, query_row)
        else:
            for row in range(scratch.n_rows):
                if (
                    heap.n_found == heap.n_neighbors
                    and distances[row] - errors[row] > heap.distances[0]
                ):
                    continue  # the row cannot enter the heap
                if row != query_row:
                    exact = _distance(&queries.rows, query, &base.rows, row, metric)
                    _offer(heap, exact, row)
        for row in range(heap.n_found):
            _insert(&nearest, heap.distances[row], heap.rows[row])
    elif metric.error == 0.0:
        _keep_nearest(distances, NULL, scratch.n_rows, query_row, &nearest)
    else:
        # All neighbours are within the largest upper bound of the nearest rows.
        largest = _keep_nearest(distances, errors, scratch.n_rows, query_row, heap)
        for row in range(scratch.n_rows):
            # Negated, so that NaN, from norms that overflow, leads to an exact comparison.
            if not (distances[row] - errors[row] > largest) and row != query_row:
                if (
                    nearest.n_found == nearest.n_neighbors
                    and nearest.distances[nearest.n_found - 1] == 0.0
                ):
                    break  # no row is nearer, and later rows lose ties
                exact = _distance(&queries.rows, query, &base.rows, row, metric)
                _insert(&nearest, exact, row)


def search_directly(
    Points queries, const double[:, ::1] columns, SearchBuffers buffers, Py_ssize_t start,
    Py_ssize_t stop,
):
    """Search the neighbours of the queries start..stop by exact distances from all rows.

    ``columns`` holds the searched rows, transposed.
    """
    cdef Py_ssize_t n_columns = columns.shape[0]
    cdef Py_ssize_t n_rows = columns.shape[1]
    cdef const double* values
    cdef const double* first = &columns[0, 0] if n_columns and n_rows else NULL
    cdef _Scratch scratch = _Scratch(n_rows, buffers)
    cdef double n_total = buffers.metric.n_total
    cdef Py_ssize_t query, first_row
    with nogil:
        for query in range(start, stop):
            values = queries.rows.dense + query * n_columns
            if n_total > 0.0:
                memset(scratch.n_unknown, 0, n_rows * sizeof(double))
            first_row = 0
            while first_row < n_rows:
                _add_columns(
                    values, first + first_row, n_rows, n_columns, buffers.metric.column_types,
                    scratch.distances + first_row, scratch.n_unknown + first_row,
                    min(TILE, n_rows - first_row),
                )
                first_row += TILE
            if n_total > 0.0:
                scale_up(n_total, <double>n_columns, scratch.n_unknown, scratch.distances, n_rows)
            _rank(queries, query, queries, scratch, buffers)  # reads only the exact distances


cdef void _add_columns(
    const double* values, const double* columns, Py_ssize_t stride, Py_ssize_t n_columns,
    const int8_t* column_types, double* distances, double* n_unknown, Py_ssize_t n_rows,
) noexcept nogil:
    """Compute the distances of a query from a few rows, one column after another."""
    cdef Py_ssize_t column = 0
    cdef Py_ssize_t n_alike  # columns of the same type in a row
    cdef int8_t column_type
    memset(distances, 0, n_rows * sizeof(double))
    while column < n_columns:
        column_type = column_types[column]
        n_alike = 1
        while (
            n_alike < 4 and column + n_alike < n_columns
            and column_types[column + n_alike] == column_type
        ):
            n_alike += 1
        if n_alike == 4 and column_type < WEKA_SQUARE:
            ADD_FOUR[column_type](
                values + column, columns + column * stride, stride, distances, n_rows
            )
            column += 4
        else:
            ADD_ONE[column_type](
                values[column], columns + column * stride, distances, n_unknown, n_rows
            )
            column += 1


def search_products(
    const double[:, ::1] products, Py_ssize_t first_query, Points queries, Points base,
    SearchBuffers buffers,
):
    """Search the neighbours of the queries from ``first_query`` on with matrix products.

    ``products`` holds the dot products of the queries with all rows. They and the norms give
    approximate distances; rows that may be among the nearest are compared exactly.
    """
    cdef _Scratch scratch = _Scratch(base.rows.n_rows, buffers)
    cdef Py_ssize_t i
    with nogil:
        for i in range(products.shape[0]):
            approximate(
                queries.rows.norms[first_query + i], base.rows.norms, &products[i, 0], 2.0,
                scratch.distances, base.rows.n_rows,
            )
            _search_approximated(queries, first_query + i, base, scratch, buffers)


cdef void _search_approximated(
    Points queries, Py_ssize_t query, Points base, _Scratch scratch, SearchBuffers buffers
) noexcept nogil:
    """Write the nearest rows of a query whose approximate distances are in ``scratch``."""
    cdef Py_ssize_t n_rows = base.rows.n_rows
    cdef double error = buffers.metric.error
    cdef double n_total = buffers.metric.n_total
    cdef double n_columns = <double>base.rows.n_columns
    if error == 0.0:
        round_all(scratch.distances, n_rows)
    else:
        bound_errors(error, queries.rows.norms[query], base.rows.norms, scratch.errors, n_rows)
    if n_total > 0.0:
        scale_up(n_total, n_columns, scratch.n_unknown, scratch.distances, n_rows)
        if error > 0.0:
            scale_up(n_total, n_columns, scratch.n_unknown, scratch.errors, n_rows)
    _rank(queries, query, base, scratch, buffers)


def search_sparse(
    Points queries, Points base, Points by_column, SearchBuffers buffers, Py_ssize_t start,
    Py_ssize_t stop,
):
    """Search the neighbours of the queries start..stop among sparse rows.

    ``by_column`` holds the columns of ``base``. The norms and the columns that two rows share give
    approximate distances; rows that may be among the nearest are compared exactly.
    """
    cdef _Scratch scratch = _Scratch(base.rows.n_rows, buffers)
    cdef Rows query_rows = queries.rows
    cdef double* overlap = scratch.errors  # which are computed after the last use of the overlap
    cdef Py_ssize_t n_rows = base.rows.n_rows
    cdef Py_ssize_t query, i
    with nogil:
        for query in range(start, stop):
            memset(overlap, 0, n_rows * sizeof(double))
            for i in range(query_rows.indptr[query], query_rows.indptr[query + 1]):
                _add_overlap(
                    &by_column.rows, query_rows.indices[i], query_rows.data[i], &buffers.metric,
                    overlap,
                )
            if buffers.metric.n_total > 0.0:
                _count_unknown(
                    &query_rows, query, &base.rows, &by_column.rows, scratch.n_unknown
                )
            approximate(
                query_rows.norms[query], base.rows.norms, overlap, 1.0, scratch.distances, n_rows
            )
            _search_approximated(queries, query, base, scratch, buffers)


cdef void _count_unknown(
    const Rows* queries, Py_ssize_t query, const Rows* base, const Rows* by_column,
    double* n_unknown,
) noexcept nogil:
    """Count for each row the columns that are missing in the query or in the row."""
    cdef Py_ssize_t row, i, k, column
    for row in range(base.n_rows):
        n_unknown[row] = queries.n_missing[query] + base.n_missing[row]
    # Columns that are missing in both have been counted twice.
    for i in range(queries.indptr[query], queries.indptr[query + 1]):
        if queries.data[i] != queries.data[i]:
            column = queries.indices[i]
            for k in range(by_column.indptr[column], by_column.indptr[column + 1]):
                n_unknown[by_column.indices[k]] -= by_column.data[k] != by_column.data[k]


cdef void _add_overlap(
    const Rows* by_column, Py_ssize_t column, double value, const Metric* metric, double* overlap
) noexcept nogil:
    """Add the overlap of a column: sum of the norms of two rows less their squared distance.

    ``value`` is that of the query; ``overlap`` has an element for each row.
    """
    cdef int column_type = metric.column_types[column]
    cdef double zero = metric.zeros[column]
    cdef Py_ssize_t start = by_column.indptr[column]
    cdef Py_ssize_t stop = by_column.indptr[column + 1]
    cdef const int32_t* rows = by_column.indices
    cdef const double* data = by_column.data
    cdef double factor, query_norm
    cdef double[TILE] tile
    cdef Py_ssize_t i, size
    if column_type == SQUARE:
        factor = 2.0 * (value - zero)
        for i in range(start, stop):
            overlap[rows[i]] += factor * (data[i] - zero)
    elif column_type == MISMATCH:
        # Two loops, the first one without branches, because they would be mispredicted.
        while start < stop:
            size = min(TILE, stop - start)
            compare_nominal(value, zero, data + start, tile, size)
            for i in range(size):
                overlap[rows[start + i]] += tile[i]
            start += size
    else:
        query_norm = _difference(column_type, value, zero)
        for i in range(start, stop):
            overlap[rows[i]] += (
                query_norm + _difference(column_type, data[i], zero)
                - _difference(column_type, value, data[i])
            )


def rank_candidates(
    const int64_t[::1] starts, const int64_t[::1] candidates, Points queries, Points base,
    SearchBuffers buffers,
):
    """Search the neighbours of all queries among candidates, by exact distances.

    The candidates of query i are ``candidates[starts[i]:starts[i + 1]]``.
    """
    cdef Nearest nearest
    cdef Py_ssize_t query, i
    cdef double distance
    with nogil:
        for query in range(queries.rows.n_rows):
            nearest = buffers.nearest_of(query)
            for i in range(starts[query], starts[query + 1]):
                if candidates[i] != buffers.query_rows[query]:
                    distance = _distance(
                        &queries.rows, query, &base.rows, candidates[i], &buffers.metric
                    )
                    _insert(&nearest, distance, candidates[i])


def paired_squared_distances(
    Points a, Points b, const int64_t[::1] rows, DistanceMetric metric, double[::1] squared
):
    """Write the squared distance of row i of ``a`` from row ``rows[i]`` of ``b``, for each i.

    If ``b`` is None, the distances are those from a row of zeros.
    """
    cdef const Rows* b_rows = NULL if b is None else &b.rows
    cdef Py_ssize_t i
    with nogil:
        for i in range(rows.shape[0]):
            if i % STEP == 0:
                check_stop()
            squared[i] = _distance(&a.rows, i, b_rows, rows[i], &metric.data)
