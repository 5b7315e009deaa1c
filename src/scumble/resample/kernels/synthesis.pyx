"""Kernels that make synthetic rows between a seed and its partner.

A factor is drawn for each column in which the two differ, in column order. So dense and sparse rows
use the same factors, and equal columns use none. If one of the two values is missing (NaN), they do
not differ: the known one is copied, and the result is missing if both are.
"""

import numpy as np

from libc.math cimport rint
from libc.stdint cimport int64_t, uint8_t

from scumble._core.types cimport index_t


cdef struct Plan:
    # Pointers to the arrays of scumble.resample.synthesis.InterpolationPlan.
    const int64_t* members
    const int64_t* n_members
    const int64_t* n_values
    const uint8_t* is_integer
    const uint8_t* is_drawn
    const int64_t* draw_starts
    const double* factors
    Py_ssize_t max_members  # columns of ``members``
    Py_ssize_t n_columns


cdef struct ColumnMerge:
    # Several sparse rows that are read column by column.
    int64_t* columns  # by row: the column of its next element; n_columns after the last one
    int64_t* positions  # by row: the index of this element
    int64_t* ends  # by row: the index after its last element
    double* cells  # by row: its value in the current column
    Py_ssize_t n_rows
    int64_t n_columns


cdef Plan _pointers_of(plan) except *:
    """Return pointers to the arrays of a plan.

    The arrays must outlive the result and hold at least one row.
    """
    cdef const int64_t[:, ::1] members = plan.members
    cdef const int64_t[::1] n_members = plan.n_members
    cdef const int64_t[::1] n_values = plan.n_values
    cdef const uint8_t[::1] is_integer = plan.is_integer
    cdef const uint8_t[::1] is_drawn = plan.is_drawn
    cdef const int64_t[::1] draw_starts = plan.draw_starts
    cdef const double[::1] factors = plan.factors
    cdef const double* first_factor = &factors[0] if factors.shape[0] else NULL
    return Plan(
        &members[0, 0], &n_members[0], &n_values[0], &is_integer[0], &is_drawn[0],
        &draw_starts[0], first_factor, members.shape[1], n_values.shape[0],
    )


cdef inline bint _differ(double seed, double partner) noexcept nogil:
    """Return whether two values are known and differ; comparisons with NaN are false."""
    return (seed < partner) | (seed > partner)


cdef inline double _first_known(double first, double second) noexcept nogil:
    """Return the first value, or the second if the first is missing."""
    return first if first == first else second


cdef inline double _synthetic_cell(
    const Plan* plan, Py_ssize_t row, Py_ssize_t column, const double* cells,
    const double** next_factor,
) noexcept nogil:
    """Return a cell of a synthetic row, given those of its seed, partner and neighbours.

    ``next_factor`` points to the next unused factor of the row, and is advanced if it is used.
    """
    cdef double seed = cells[0]
    cdef double partner = cells[1]
    cdef double factor, value
    if not plan.is_drawn[column]:
        return _first_known(_most_frequent(cells + 2, plan.n_members[row] - 2), seed)
    if not _differ(seed, partner):
        return _first_known(seed, partner)
    factor = next_factor[0][0]
    next_factor[0] += 1
    if plan.n_values[column] > 0:
        return seed if factor < 0.5 else partner
    value = seed + (partner - seed) * factor
    # Rounding must not carry the value past its parents.
    value = min(max(value, min(seed, partner)), max(seed, partner))
    return rint(value) if plan.is_integer[column] else value


cdef inline double _most_frequent(const double* codes, Py_ssize_t n_codes) noexcept nogil:
    """Return the most frequent code, the lowest of equally frequent ones; NaN counts 0 times."""
    cdef double best = codes[0]
    cdef Py_ssize_t best_count = 0
    cdef Py_ssize_t i, other, count
    for i in range(n_codes):
        if 2 * best_count > n_codes:
            break
        count = 0
        for other in range(n_codes):
            count += codes[other] == codes[i]
        if count > best_count or (count == best_count and codes[i] < best):
            best = codes[i]
            best_count = count
    return best


def count_draws_dense(
    const double[:, ::1] values, plan, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] n_draws
):
    """Count the factors that each of the synthetic rows start..stop needs."""
    cdef Plan p = _pointers_of(plan)
    cdef const double* seed
    cdef const double* partner
    cdef Py_ssize_t row, column
    cdef int64_t count
    with nogil:
        for row in range(start, stop):
            seed = &values[p.members[row * p.max_members], 0]
            partner = &values[p.members[row * p.max_members + 1], 0]
            count = 0
            for column in range(p.n_columns):
                count += p.is_drawn[column] & _differ(seed[column], partner[column])
            n_draws[row] = count


def fill_dense(
    const double[:, ::1] values, plan, Py_ssize_t start, Py_ssize_t stop, double[:, ::1] synthetic
):
    """Write the synthetic rows start..stop."""
    cdef Plan p = _pointers_of(plan)
    cdef double[::1] cells = np.empty(p.max_members)
    cdef const double* next_factor
    cdef Py_ssize_t row, column, member
    with nogil:
        for row in range(start, stop):
            next_factor = p.factors + p.draw_starts[row]
            for column in range(p.n_columns):
                for member in range(2 if p.is_drawn[column] else p.n_members[row]):
                    cells[member] = values[p.members[row * p.max_members + member], column]
                synthetic[row, column] = _synthetic_cell(&p, row, column, &cells[0], &next_factor)


cdef class _ColumnMergeMemory:
    """A `ColumnMerge` for up to ``n_rows`` rows, and the memory that it points to."""
    cdef ColumnMerge merge
    cdef object arrays

    def __init__(self, n_rows, n_columns):
        cdef int64_t[:, ::1] numbers = np.empty((3, n_rows), np.int64)
        cdef double[::1] cells = np.empty(n_rows)
        self.arrays = numbers, cells
        self.merge = ColumnMerge(
            &numbers[0, 0], &numbers[1, 0], &numbers[2, 0], &cells[0], 0, n_columns
        )


cdef inline void _start_merge(
    const index_t* indptr, const index_t* indices, const int64_t* rows, Py_ssize_t n_rows,
    ColumnMerge* merge,
) noexcept nogil:
    """Prepare to read the given rows from their first columns on."""
    cdef Py_ssize_t i
    merge.n_rows = n_rows
    for i in range(n_rows):
        merge.positions[i] = indptr[rows[i]]
        merge.ends[i] = indptr[rows[i] + 1]
        _read_next_column(indices, merge, i)


cdef inline void _read_next_column(
    const index_t* indices, ColumnMerge* merge, Py_ssize_t i
) noexcept nogil:
    """Store the column of the next element of row i."""
    merge.columns[i] = merge.n_columns
    if merge.positions[i] < merge.ends[i]:
        merge.columns[i] = indices[merge.positions[i]]


cdef inline Py_ssize_t _next_column(
    const index_t* indices, const double* data, ColumnMerge* merge
) noexcept nogil:
    """Load the cells of the next column with an element and return it; n_columns at the end.

    Without ``data`` every element is 1.
    """
    cdef int64_t column = merge.n_columns
    cdef Py_ssize_t i
    for i in range(merge.n_rows):
        column = min(column, merge.columns[i])
    if column == merge.n_columns:
        return column
    for i in range(merge.n_rows):
        if merge.columns[i] == column:
            merge.cells[i] = 1.0 if data == NULL else data[merge.positions[i]]
            merge.positions[i] += 1
            _read_next_column(indices, merge, i)
        else:
            merge.cells[i] = 0.0
    return column


def count_draws_sparse(
    const index_t[::1] indptr, const index_t[::1] indices, const double[::1] data, plan,
    Py_ssize_t start, Py_ssize_t stop, int64_t[::1] n_draws,
):
    """Count the factors that each of the synthetic rows start..stop needs."""
    cdef Plan p = _pointers_of(plan)
    cdef _ColumnMergeMemory memory = _ColumnMergeMemory(2, p.n_columns)
    cdef ColumnMerge* merge = &memory.merge
    cdef Py_ssize_t row, column
    with nogil:
        for row in range(start, stop):
            n_draws[row] = 0
            _start_merge(&indptr[0], &indices[0], p.members + row * p.max_members, 2, merge)
            column = _next_column(&indices[0], &data[0], merge)
            while column < p.n_columns:
                n_draws[row] += p.is_drawn[column] & _differ(merge.cells[0], merge.cells[1])
                column = _next_column(&indices[0], &data[0], merge)


def fill_sparse(
    const index_t[::1] indptr, const index_t[::1] indices, const double[::1] data, plan,
    Py_ssize_t start, Py_ssize_t stop, buffers,
):
    """Write the synthetic rows start..stop to `SparseRowBuffers`."""
    cdef Plan p = _pointers_of(plan)
    cdef const int64_t[::1] starts = buffers.starts
    cdef index_t[::1] new_indices = buffers.indices
    cdef double[::1] new_data = buffers.data
    cdef int64_t[::1] lengths = buffers.lengths
    cdef _ColumnMergeMemory memory = _ColumnMergeMemory(p.max_members, p.n_columns)
    cdef ColumnMerge* merge = &memory.merge
    cdef const double* next_factor
    cdef Py_ssize_t row, column, end
    cdef double value
    with nogil:
        for row in range(start, stop):
            _start_merge(
                &indptr[0], &indices[0], p.members + row * p.max_members, p.n_members[row], merge
            )
            next_factor = p.factors + p.draw_starts[row]
            end = starts[row]
            column = _next_column(&indices[0], &data[0], merge)
            while column < p.n_columns:
                value = _synthetic_cell(&p, row, column, merge.cells, &next_factor)
                if value != 0.0:
                    new_indices[end] = <index_t>column
                    new_data[end] = value
                    end += 1
                column = _next_column(&indices[0], &data[0], merge)
            lengths[row] = end - starts[row]


def combine_labels(
    const index_t[::1] indptr, const index_t[::1] indices, const int64_t[:, ::1] members,
    const int64_t[::1] n_members, const int64_t[::1] n_needed, Py_ssize_t start, Py_ssize_t stop,
    buffers,
):
    """Write the labels that at least ``n_needed`` members of the synthetic rows start..stop have.

    ``buffers`` are `SparseRowBuffers` without data.
    """
    cdef Py_ssize_t n_labels = buffers.n_columns
    cdef const int64_t[::1] starts = buffers.starts
    cdef index_t[::1] new_indices = buffers.indices
    cdef int64_t[::1] lengths = buffers.lengths
    cdef _ColumnMergeMemory memory = _ColumnMergeMemory(members.shape[1], n_labels)
    cdef ColumnMerge* merge = &memory.merge
    cdef Py_ssize_t row, member, label, end
    cdef double count
    with nogil:
        for row in range(start, stop):
            _start_merge(&indptr[0], &indices[0], &members[row, 0], n_members[row], merge)
            end = starts[row]
            label = _next_column(&indices[0], NULL, merge)
            while label < n_labels:
                count = 0.0
                for member in range(merge.n_rows):
                    count += merge.cells[member]
                if count >= n_needed[row]:
                    new_indices[end] = <index_t>label
                    end += 1
                label = _next_column(&indices[0], NULL, merge)
            lengths[row] = end - starts[row]


def count_values_dense(
    const double[:, ::1] values, const int64_t[::1] n_values, const int64_t[::1] starts,
    const int64_t[::1] rows, int64_t[::1] counts,
):
    """Count each value of each nominal column over some rows; missing values are not counted."""
    cdef Py_ssize_t n_columns = values.shape[1]
    cdef Py_ssize_t i, column
    cdef const double* cells
    with nogil:
        for i in range(rows.shape[0]):
            cells = &values[rows[i], 0]
            for column in range(n_columns):
                if n_values[column] > 0 and cells[column] == cells[column]:
                    counts[starts[column] + <Py_ssize_t>cells[column]] += 1


def count_values_sparse(
    const index_t[::1] indptr, const index_t[::1] indices, const double[::1] data,
    const int64_t[::1] n_values, const int64_t[::1] starts, const int64_t[::1] rows,
    int64_t[::1] counts,
):
    """Count each value of each nominal column over some rows; absent elements count as 0."""
    cdef Py_ssize_t i, row, position, column
    with nogil:
        for column in range(n_values.shape[0]):
            if n_values[column] > 0:
                counts[starts[column]] = rows.shape[0]
        for i in range(rows.shape[0]):
            row = rows[i]
            for position in range(indptr[row], indptr[row + 1]):
                column = indices[position]
                if n_values[column] > 0:
                    counts[starts[column]] -= 1
                    if data[position] == data[position]:
                        counts[starts[column] + <Py_ssize_t>data[position]] += 1
