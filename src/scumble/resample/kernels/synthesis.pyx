"""Loops that make synthetic rows between a seed and its partner.

Factors are drawn for the columns in which the two differ, in column order: dense and sparse rows
then take the same draws, and equal columns take none. Where one of the two is missing (NaN) they
do not differ: the known one is taken, and nothing is known where both are missing.

How far nominal values differ follows from counts of them.
"""

import numpy as np

from libc.math cimport rint
from libc.stdint cimport int64_t, uint8_t

from scumble._core.types cimport index_t


cdef struct Plan:
    # What synthetic rows are made of; see scumble.resample.synthesis.Plan.
    const int64_t* members
    const int64_t* n_members
    const int64_t* n_values
    const uint8_t* is_integer
    const uint8_t* is_drawn
    const int64_t* draw_starts
    const double* drawn
    Py_ssize_t most  # members of a row
    Py_ssize_t n_columns


cdef struct Walk:
    # Some sparse rows side by side, gone through column by column.
    int64_t* heads  # the column of the next element of each row; n_columns after the last
    int64_t* places  # where this element is
    int64_t* ends
    double* cells  # of the column in hand
    Py_ssize_t n_rows
    int64_t n_columns


cdef Plan _read(plan) except *:
    """Point at the arrays of a plan, which must outlive the result and hold at least one row."""
    cdef const int64_t[:, ::1] members = plan.members
    cdef const int64_t[::1] n_members = plan.n_members
    cdef const int64_t[::1] n_values = plan.n_values
    cdef const uint8_t[::1] is_integer = plan.is_integer
    cdef const uint8_t[::1] is_drawn = plan.is_drawn
    cdef const int64_t[::1] draw_starts = plan.draw_starts
    cdef const double[::1] drawn = plan.drawn
    cdef const double* first = &drawn[0] if drawn.shape[0] else NULL
    return Plan(
        &members[0, 0], &n_members[0], &n_values[0], &is_integer[0], &is_drawn[0],
        &draw_starts[0], first, members.shape[1], n_values.shape[0],
    )


cdef inline bint _differ(double seed, double partner) noexcept nogil:
    """Whether two values are known and differ; a missing one is neither less nor more."""
    return (seed < partner) | (seed > partner)


cdef inline double _either(double seed, double partner) noexcept nogil:
    """The value of two that do not differ: the known one."""
    return seed if seed == seed else partner


cdef inline double _cell(
    const Plan* plan, Py_ssize_t at, Py_ssize_t column, const double* cells, const double** factors
) noexcept nogil:
    """Make a cell of a synthetic row from those of its seed, its partner and its neighbours."""
    cdef double seed = cells[0]
    cdef double partner = cells[1]
    cdef double factor, value
    if not plan.is_drawn[column]:
        return _either(_vote(cells + 2, plan.n_members[at] - 2), seed)
    if not _differ(seed, partner):
        return _either(seed, partner)
    factor = factors[0][0]
    factors[0] += 1
    if plan.n_values[column] > 0:
        return seed if factor < 0.5 else partner
    # The clip keeps rounding from stepping past an end.
    value = seed + (partner - seed) * factor
    value = min(max(value, min(seed, partner)), max(seed, partner))
    return rint(value) if plan.is_integer[column] else value


cdef inline double _vote(const double* codes, Py_ssize_t n) noexcept nogil:
    """Most frequent code, of equally frequent ones the lowest; missing ones equal nothing."""
    cdef double best = codes[0]
    cdef Py_ssize_t best_count = 0
    cdef Py_ssize_t at, other, count
    for at in range(n):
        if 2 * best_count > n:
            break
        count = 0
        for other in range(n):
            count += codes[other] == codes[at]
        if count > best_count or (count == best_count and codes[at] < best):
            best = codes[at]
            best_count = count
    return best


def count_draws_dense(
    const double[:, ::1] values, plan, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] n_draws
):
    """Count the factors that synthetic rows start..stop need."""
    cdef Plan p = _read(plan)
    cdef const double* seed
    cdef const double* partner
    cdef Py_ssize_t at, column
    cdef int64_t count
    with nogil:
        for at in range(start, stop):
            seed = &values[p.members[at * p.most], 0]
            partner = &values[p.members[at * p.most + 1], 0]
            count = 0
            for column in range(p.n_columns):
                count += p.is_drawn[column] & _differ(seed[column], partner[column])
            n_draws[at] = count


def fill_dense(
    const double[:, ::1] values, plan, Py_ssize_t start, Py_ssize_t stop, double[:, ::1] out
):
    """Write synthetic rows start..stop."""
    cdef Plan p = _read(plan)
    cdef double[::1] cells = np.empty(p.most)
    cdef const double* factors
    cdef Py_ssize_t at, column, member
    with nogil:
        for at in range(start, stop):
            factors = p.drawn + p.draw_starts[at]
            for column in range(p.n_columns):
                for member in range(2 if p.is_drawn[column] else p.n_members[at]):
                    cells[member] = values[p.members[at * p.most + member], column]
                out[at, column] = _cell(&p, at, column, &cells[0], &factors)


cdef class _Walker:
    """A walk with room for so many rows."""
    cdef Walk walk
    cdef object kept

    def __init__(self, n_rows, n_columns):
        cdef int64_t[:, ::1] numbers = np.empty((3, n_rows), np.int64)
        cdef double[::1] cells = np.empty(n_rows)
        self.kept = numbers, cells
        self.walk = Walk(&numbers[0, 0], &numbers[1, 0], &numbers[2, 0], &cells[0], 0, n_columns)


cdef inline void _start(
    const index_t* indptr, const index_t* indices, const int64_t* rows, Py_ssize_t n, Walk* walk
) noexcept nogil:
    """Let rows begin a walk."""
    cdef Py_ssize_t at
    walk.n_rows = n
    for at in range(n):
        walk.places[at] = indptr[rows[at]]
        walk.ends[at] = indptr[rows[at] + 1]
        _look_ahead(indices, walk, at)


cdef inline void _look_ahead(const index_t* indices, Walk* walk, Py_ssize_t at) noexcept nogil:
    walk.heads[at] = walk.n_columns
    if walk.places[at] < walk.ends[at]:
        walk.heads[at] = indices[walk.places[at]]


cdef inline Py_ssize_t _next_column(
    const index_t* indices, const double* data, Walk* walk
) noexcept nogil:
    """Take the cells of the next column in which a row has an element; n_columns in the end."""
    cdef int64_t column = walk.n_columns
    cdef Py_ssize_t at
    for at in range(walk.n_rows):
        column = min(column, walk.heads[at])
    if column == walk.n_columns:
        return column
    for at in range(walk.n_rows):
        if walk.heads[at] == column:
            walk.cells[at] = 1.0 if data == NULL else data[walk.places[at]]
            walk.places[at] += 1
            _look_ahead(indices, walk, at)
        else:
            walk.cells[at] = 0.0
    return column


def count_draws_sparse(
    const index_t[::1] indptr, const index_t[::1] indices, const double[::1] data, plan,
    Py_ssize_t start, Py_ssize_t stop, int64_t[::1] n_draws,
):
    """Count the factors that synthetic rows start..stop need."""
    cdef Plan p = _read(plan)
    cdef _Walker walker = _Walker(2, p.n_columns)
    cdef Walk* walk = &walker.walk
    cdef Py_ssize_t at, column
    with nogil:
        for at in range(start, stop):
            n_draws[at] = 0
            _start(&indptr[0], &indices[0], p.members + at * p.most, 2, walk)
            column = _next_column(&indices[0], &data[0], walk)
            while column < p.n_columns:
                n_draws[at] += p.is_drawn[column] & _differ(walk.cells[0], walk.cells[1])
                column = _next_column(&indices[0], &data[0], walk)


def fill_sparse(
    const index_t[::1] indptr, const index_t[::1] indices, const double[::1] data, plan,
    Py_ssize_t start, Py_ssize_t stop, out,
):
    """Write synthetic rows start..stop, each from its place in ``out.starts`` on."""
    cdef Plan p = _read(plan)
    cdef const int64_t[::1] starts = out.starts
    cdef index_t[::1] out_indices = out.indices
    cdef double[::1] out_data = out.data
    cdef int64_t[::1] lengths = out.lengths
    cdef _Walker walker = _Walker(p.most, p.n_columns)
    cdef Walk* walk = &walker.walk
    cdef const double* factors
    cdef Py_ssize_t at, column, end
    cdef double value
    with nogil:
        for at in range(start, stop):
            _start(&indptr[0], &indices[0], p.members + at * p.most, p.n_members[at], walk)
            factors = p.drawn + p.draw_starts[at]
            end = starts[at]
            column = _next_column(&indices[0], &data[0], walk)
            while column < p.n_columns:
                value = _cell(&p, at, column, walk.cells, &factors)
                if value != 0.0:
                    out_indices[end] = <index_t>column
                    out_data[end] = value
                    end += 1
                column = _next_column(&indices[0], &data[0], walk)
            lengths[at] = end - starts[at]


def combine_labels(
    const index_t[::1] indptr, const index_t[::1] indices, votes, Py_ssize_t start,
    Py_ssize_t stop, out,
):
    """Give synthetic rows start..stop the labels that enough of their members have.

    ``votes`` are the members of each row, their number, and how many of them are enough.
    """
    cdef const int64_t[:, ::1] members = votes[0]
    cdef const int64_t[::1] n_members = votes[1]
    cdef const int64_t[::1] n_needed = votes[2]
    cdef Py_ssize_t n_labels = out.n_columns
    cdef const int64_t[::1] starts = out.starts
    cdef index_t[::1] out_indices = out.indices
    cdef int64_t[::1] lengths = out.lengths
    cdef _Walker walker = _Walker(members.shape[1], n_labels)
    cdef Walk* walk = &walker.walk
    cdef Py_ssize_t at, member, label, end
    cdef double count
    with nogil:
        for at in range(start, stop):
            _start(&indptr[0], &indices[0], &members[at, 0], n_members[at], walk)
            end = starts[at]
            label = _next_column(&indices[0], NULL, walk)
            while label < n_labels:
                count = 0.0
                for member in range(walk.n_rows):
                    count += walk.cells[member]
                if count >= n_needed[at]:
                    out_indices[end] = <index_t>label
                    end += 1
                label = _next_column(&indices[0], NULL, walk)
            lengths[at] = end - starts[at]


def count_values_dense(
    const double[:, ::1] values, const int64_t[::1] n_values, const int64_t[::1] starts,
    const int64_t[::1] rows, int64_t[::1] counts,
):
    """Count each value of each nominal column over some rows; missing ones count for none."""
    cdef Py_ssize_t n_columns = values.shape[1]
    cdef Py_ssize_t at, column
    cdef const double* cells
    with nogil:
        for at in range(rows.shape[0]):
            cells = &values[rows[at], 0]
            for column in range(n_columns):
                if n_values[column] > 0 and cells[column] == cells[column]:
                    counts[starts[column] + <Py_ssize_t>cells[column]] += 1


def count_values_sparse(
    const index_t[::1] indptr, const index_t[::1] indices, const double[::1] data,
    const int64_t[::1] n_values, const int64_t[::1] starts, const int64_t[::1] rows,
    int64_t[::1] counts,
):
    """Count each value of each nominal column over some rows; what is absent counts as 0."""
    cdef Py_ssize_t at, row, place, column
    with nogil:
        for column in range(n_values.shape[0]):
            if n_values[column] > 0:
                counts[starts[column]] = rows.shape[0]
        for at in range(rows.shape[0]):
            row = rows[at]
            for place in range(indptr[row], indptr[row + 1]):
                column = indices[place]
                if n_values[column] > 0:
                    counts[starts[column]] -= 1
                    if data[place] == data[place]:
                        counts[starts[column] + <Py_ssize_t>data[place]] += 1
