"""Loops that make synthetic rows between a seed and its partner.

Factors are drawn for the columns in which the two differ, in column order: dense and sparse rows
then take the same draws, and equal columns take none. Where one of the two is missing (NaN) they
do not differ: the known one is taken, and nothing is known where both are missing.
"""

import numpy as np

from libc.math cimport rint
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from scumble._core.types cimport index_t


cdef struct Plan:
    # What synthetic rows are made of; see scumble.resample.synthesis.Plan.
    const int64_t* seeds
    const int64_t* partners
    const int64_t* neighbours  # k of each
    const int64_t* n_found
    const int64_t* n_values  # 0 where a column is numeric
    const uint8_t* is_integer
    Py_ssize_t k
    Py_ssize_t n_columns
    bint coin  # nominal columns by the toss of a coin, not by vote
    bint gapped  # whether a cell may be missing


cdef struct Lines:
    # The cells that make one synthetic row: by column those of the seed and of the partner, then
    # (for a vote, in nominal columns only) those of the neighbours.
    double* cells
    Py_ssize_t width
    uint8_t* is_touched  # whether a column holds any
    int64_t* touched  # the columns that do
    Py_ssize_t n_touched


cdef Plan _read(plan) except *:
    """Point at the arrays of a plan, which must outlive the result and hold at least one row."""
    cdef const int64_t[::1] seeds = plan.seeds
    cdef const int64_t[::1] partners = plan.partners
    cdef const int64_t[:, ::1] neighbours = plan.neighbours
    cdef const int64_t[::1] n_found = plan.n_found
    cdef const int64_t[::1] n_values = plan.n_values
    cdef const uint8_t[::1] is_integer = plan.is_integer
    cdef Plan read
    read.seeds = &seeds[0]
    read.partners = &partners[0]
    read.k = neighbours.shape[1]
    read.neighbours = &neighbours[0, 0] if read.k else NULL
    read.n_found = &n_found[0]
    read.n_columns = n_values.shape[0]
    read.n_values = &n_values[0] if read.n_columns else NULL
    read.is_integer = &is_integer[0] if read.n_columns else NULL
    read.coin = plan.coin
    read.gapped = plan.gapped
    return read


cdef inline double _between(
    double seed, double partner, double factor, bint is_integer
) noexcept nogil:
    """Interpolate; the clip keeps rounding from stepping past an end."""
    cdef double value = seed + (partner - seed) * factor
    value = min(max(value, min(seed, partner)), max(seed, partner))
    return rint(value) if is_integer else value


cdef inline bint _differ(double seed, double partner) noexcept nogil:
    """Whether two values are known and differ; a missing one is neither less nor more."""
    return (seed < partner) | (seed > partner)


cdef inline double _either(double seed, double partner) noexcept nogil:
    """The value of two that do not differ: the known one."""
    return seed if seed == seed else partner


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
    cdef const double* cells = &values[0, 0] if p.n_columns else NULL
    cdef const double* seed
    cdef const double* partner
    cdef Py_ssize_t n_columns = p.n_columns
    cdef Py_ssize_t at, column
    cdef int64_t count
    with nogil:
        for at in range(start, stop):
            seed = cells + p.seeds[at] * p.n_columns
            partner = cells + p.partners[at] * p.n_columns
            count = 0
            if p.coin:
                for column in range(n_columns):
                    count += _differ(seed[column], partner[column])
            else:
                for column in range(n_columns):
                    count += (p.n_values[column] == 0) & _differ(seed[column], partner[column])
            n_draws[at] = count


def fill_dense(
    const double[:, ::1] values, plan, const int64_t[::1] draw_starts, const double[::1] drawn,
    Py_ssize_t start, Py_ssize_t stop, double[:, ::1] out,
):
    """Write synthetic rows start..stop; the factors of each begin at ``draw_starts``."""
    cdef Plan p = _read(plan)
    cdef const double* cells = &values[0, 0] if p.n_columns else NULL
    cdef const double* factors = &drawn[0] if drawn.shape[0] else NULL
    cdef double[::1] codes = np.empty(max(p.k, 1))
    cdef Py_ssize_t at
    if p.n_columns == 0:
        return
    with nogil:
        for at in range(start, stop):
            _fill_dense_row(&p, cells, at, factors + draw_starts[at], &codes[0], &out[at, 0])


cdef void _fill_dense_row(
    const Plan* plan, const double* cells, Py_ssize_t at, const double* factors, double* codes,
    double* out,
) noexcept nogil:
    cdef const double* seed = cells + plan.seeds[at] * plan.n_columns
    cdef const double* partner = cells + plan.partners[at] * plan.n_columns
    cdef const int64_t* neighbours = plan.neighbours + at * plan.k
    cdef Py_ssize_t column, near
    for column in range(plan.n_columns):
        if plan.n_values[column] > 0 and not plan.coin:
            for near in range(plan.n_found[at]):
                codes[near] = cells[neighbours[near] * plan.n_columns + column]
            out[column] = _either(_vote(codes, plan.n_found[at]), seed[column])
        elif _differ(seed[column], partner[column]):
            out[column] = _drawn(plan, column, seed[column], partner[column], factors[0])
            factors += 1
        else:
            out[column] = _either(seed[column], partner[column])


cdef inline double _drawn(
    const Plan* plan, Py_ssize_t column, double seed, double partner, double factor
) noexcept nogil:
    """Take a nominal value by the toss of a coin, or a number between the two."""
    if plan.n_values[column] > 0:
        return seed if factor < 0.5 else partner
    return _between(seed, partner, factor, plan.is_integer[column])


def measure_sparse(
    const index_t[::1] indptr, const index_t[::1] indices, const double[::1] data, plan,
    Py_ssize_t start, Py_ssize_t stop, int64_t[::1] n_draws, int64_t[::1] room,
):
    """Count the factors that synthetic rows start..stop need, and bound their elements."""
    cdef Plan p = _read(plan)
    cdef Py_ssize_t at, near, row
    cdef int64_t n_stored
    if p.n_columns == 0:
        n_draws[start:stop] = 0
        room[start:stop] = 0
        return
    with nogil:
        for at in range(start, stop):
            n_stored = indptr[p.seeds[at] + 1] - indptr[p.seeds[at]]
            n_stored += indptr[p.partners[at] + 1] - indptr[p.partners[at]]
            if not p.coin:
                for near in range(p.n_found[at]):
                    row = p.neighbours[at * p.k + near]
                    n_stored += indptr[row + 1] - indptr[row]
            room[at] = min(n_stored, p.n_columns)
            n_draws[at] = _count_draws(indptr, indices, data, &p, p.seeds[at], p.partners[at])


cdef int64_t _count_draws(
    const index_t[::1] indptr, const index_t[::1] indices, const double[::1] data,
    const Plan* plan, Py_ssize_t seed, Py_ssize_t partner,
) noexcept nogil:
    """Count the columns in which two rows differ, unless the neighbours vote on them."""
    cdef Py_ssize_t a = indptr[seed]
    cdef Py_ssize_t a_end = indptr[seed + 1]
    cdef Py_ssize_t b = indptr[partner]
    cdef Py_ssize_t b_end = indptr[partner + 1]
    cdef int64_t count = 0
    cdef bint differs
    cdef Py_ssize_t column
    while a < a_end or b < b_end:
        if b == b_end or (a < a_end and indices[a] < indices[b]):
            column = indices[a]
            differs = _differ(data[a], 0.0)
            a += 1
        elif a == a_end or indices[b] < indices[a]:
            column = indices[b]
            differs = _differ(0.0, data[b])
            b += 1
        else:
            column = indices[a]
            differs = _differ(data[a], data[b])
            a += 1
            b += 1
        if differs and (plan.coin or plan.n_values[column] == 0):
            count += 1
    return count


def fill_sparse(
    const index_t[::1] indptr, const index_t[::1] indices, const double[::1] data, plan, draws,
    Py_ssize_t start, Py_ssize_t stop, out,
):
    """Write synthetic rows start..stop, each from its place in ``out.starts`` on.

    ``draws`` are where the factors of each row begin, and the factors.
    """
    cdef Plan p = _read(plan)
    cdef const int64_t[::1] draw_starts = draws[0]
    cdef const double[::1] drawn = draws[1]
    cdef const double* factors = &drawn[0] if drawn.shape[0] else NULL
    cdef const int64_t[::1] starts = out.starts
    cdef index_t[::1] out_indices = out.indices
    cdef double[::1] out_data = out.data
    cdef int64_t[::1] lengths = out.lengths
    cdef Py_ssize_t width = 2 if p.coin else 2 + p.k
    cdef double[:, ::1] cells = np.zeros((max(p.n_columns, 1), width))
    cdef uint8_t[::1] is_touched = np.zeros(max(p.n_columns, 1), np.uint8)
    cdef int64_t[:, ::1] touched = np.empty((2, max(p.n_columns, 1)), np.int64)
    cdef Lines lines = Lines(&cells[0, 0], width, &is_touched[0], &touched[0, 0], 0)
    cdef int64_t* columns
    cdef Py_ssize_t at
    if out_indices.shape[0] == 0:
        lengths[start:stop] = 0
        return
    with nogil:
        for at in range(start, stop):
            _spread_parents(&indptr[0], &indices[0], &data[0], &p, at, &lines)
            columns = _merge_runs(lines.touched, &touched[1, 0], lines.n_touched)
            lengths[at] = _write_row(
                &p, &lines, at, columns, factors + draw_starts[at],
                &out_indices[0] + starts[at], &out_data[0] + starts[at],
            )


cdef void _spread_parents(
    const index_t* indptr, const index_t* indices, const double* data, const Plan* plan,
    Py_ssize_t at, Lines* lines,
) noexcept nogil:
    """Spread seed and partner over their lines, and the neighbours where they vote."""
    cdef Py_ssize_t near, row, place, column
    lines.n_touched = 0
    row = plan.seeds[at]
    _spread(indices, data, indptr[row], indptr[row + 1], plan, 0, lines)
    row = plan.partners[at]
    _spread(indices, data, indptr[row], indptr[row + 1], plan, 1, lines)
    if plan.coin:
        return
    for near in range(plan.n_found[at]):
        row = plan.neighbours[at * plan.k + near]
        _spread(indices, data, indptr[row], indptr[row + 1], plan, 2 + near, lines)
    if plan.gapped:
        # Where no neighbour knows a code the seed's is taken: such columns are touched already.
        row = plan.seeds[at]
        for place in range(indptr[row], indptr[row + 1]):
            column = indices[place]
            if plan.n_values[column] > 0 and lines.is_touched[column]:
                lines.cells[column * lines.width] = data[place]


cdef void _spread(
    const index_t* indices, const double* data, Py_ssize_t begin, Py_ssize_t end,
    const Plan* plan, Py_ssize_t line, Lines* lines,
) noexcept nogil:
    """Spread a sparse row over a line, noting the columns; a vote parts numbers from codes."""
    cdef bint is_nominal = line >= 2
    cdef Py_ssize_t place, column
    for place in range(begin, end):
        column = indices[place]
        if plan.coin or (plan.n_values[column] > 0) == is_nominal:
            lines.cells[column * lines.width + line] = data[place]
            if not lines.is_touched[column]:
                lines.is_touched[column] = True
                lines.touched[lines.n_touched] = column
                lines.n_touched += 1


cdef Py_ssize_t _write_row(
    const Plan* plan, Lines* lines, Py_ssize_t at, const int64_t* columns, const double* factors,
    index_t* out_indices, double* out_data,
) noexcept nogil:
    """Write the cells of a synthetic row that are not 0, and clear the lines."""
    cdef Py_ssize_t n_written = 0
    cdef Py_ssize_t i, column, line
    cdef double value
    cdef double* cells
    for i in range(lines.n_touched):
        column = columns[i]
        cells = lines.cells + column * lines.width
        if plan.n_values[column] > 0 and not plan.coin:
            value = _either(_vote(cells + 2, plan.n_found[at]), cells[0])
        elif _differ(cells[0], cells[1]):
            value = _drawn(plan, column, cells[0], cells[1], factors[0])
            factors += 1
        else:
            value = _either(cells[0], cells[1])
        if value != 0.0:
            out_indices[n_written] = <index_t>column
            out_data[n_written] = value
            n_written += 1
        for line in range(lines.width):
            cells[line] = 0.0
        lines.is_touched[column] = False
    return n_written


def combine_labels(
    const index_t[::1] indptr, const index_t[::1] indices, Py_ssize_t n_labels, seeds,
    const int64_t[::1] n_needed, Py_ssize_t start, Py_ssize_t stop, out,
):
    """Give synthetic rows start..stop what at least ``n_needed`` of seed and neighbours have."""
    cdef const int64_t[::1] rows = seeds.rows
    cdef const int64_t[:, ::1] neighbours = seeds.neighbours
    cdef const int64_t[::1] n_found = seeds.n_found
    cdef const int64_t[::1] starts = out.starts
    cdef index_t[::1] out_indices = out.indices
    cdef int64_t[::1] lengths = out.lengths
    # How often each label was met; the labels met, in two places for sorting them.
    cdef int64_t[::1] counts = np.zeros(n_labels, np.int64)
    cdef int64_t[:, ::1] places = np.empty((2, max(n_labels, 1)), np.int64)
    cdef int64_t* touched
    cdef Py_ssize_t at, member, row, place, label, n_touched, end, i
    with nogil:
        for at in range(start, stop):
            touched = &places[0, 0]
            n_touched = 0
            for member in range(n_found[at] + 1):
                row = rows[at] if member == 0 else neighbours[at, member - 1]
                for place in range(indptr[row], indptr[row + 1]):
                    label = indices[place]
                    if counts[label] == 0:
                        touched[n_touched] = label
                        n_touched += 1
                    counts[label] += 1
            touched = _merge_runs(touched, &places[1, 0], n_touched)
            end = starts[at]
            for i in range(n_touched):
                label = touched[i]
                if counts[label] >= n_needed[at]:
                    out_indices[end] = <index_t>label
                    end += 1
                counts[label] = 0
            lengths[at] = end - starts[at]


cdef int64_t* _merge_runs(int64_t* values, int64_t* spare, Py_ssize_t n) noexcept nogil:
    """Sort what was put together from a few sorted lists; the result is in one of the places."""
    cdef Py_ssize_t first, second, end, n_runs
    while True:
        n_runs = 0
        first = 0
        while first < n:
            second = _end_of_run(values, first, n)
            if second == n and first == 0:
                return values
            end = _end_of_run(values, second, n)
            _merge(values, first, second, end, spare)
            first = end
            n_runs += 1
        values, spare = spare, values
        if n_runs <= 1:
            return values


cdef Py_ssize_t _end_of_run(
    const int64_t* values, Py_ssize_t at, Py_ssize_t n
) noexcept nogil:
    if at >= n:
        return n
    at += 1
    while at < n and values[at - 1] <= values[at]:
        at += 1
    return at


cdef void _merge(
    const int64_t* values, Py_ssize_t first, Py_ssize_t second, Py_ssize_t end, int64_t* out
) noexcept nogil:
    """Merge values first..second and second..end to the same places of ``out``."""
    cdef Py_ssize_t a = first
    cdef Py_ssize_t b = second
    cdef Py_ssize_t at = first
    while a < second and b < end:
        if values[b] < values[a]:
            out[at] = values[b]
            b += 1
        else:
            out[at] = values[a]
            a += 1
        at += 1
    memcpy(out + at, values + a, (second - a) * sizeof(int64_t))
    memcpy(out + at + second - a, values + b, (end - b) * sizeof(int64_t))
