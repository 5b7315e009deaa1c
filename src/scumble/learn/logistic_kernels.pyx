"""Loops of logistic regression: Newton's method on one target.

Columns are dense, or sparse by rows; the intercept is one more column of ones at the end.
Matrices of second derivatives hold their upper triangle only.
"""

import numpy as np

from libc.math cimport exp, fabs, log1p, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from scumble._core.interrupt cimport check_stop
from scumble.learn.c45.rows cimport RowsView, view_rows

cdef extern from "scumble/learn/lines.h" nogil:
    void add_four(double*, Py_ssize_t, const double*, const double*, Py_ssize_t)
    void add_four_to_four(double*, Py_ssize_t, const double*, const double*, Py_ssize_t)

# Rows as sure as this change no second derivative.
cdef double SURE = 1e-18
# Products between two looks at Ctrl-C, less than a tenth of a second's work.
cdef double PAUSE = 1e8


cdef struct Problem:
    # Rows, and which of them have the label.
    RowsView rows
    Py_ssize_t n_rows
    Py_ssize_t n_columns  # without the intercept
    const uint8_t* is_positive
    const double* counted  # how much each row counts
    double ridge


cdef struct State:
    # Where Newton's method stands, and room to work in: numbers by column, then by row.
    double* beta
    double* slope
    double* step
    double* candidate
    double* matrix  # (n_columns + 1) squared
    double* scores
    double* moves
    double* tried
    double* small  # exp(-abs(score)), from the loss that was taken last
    double* weights
    double work  # products since the last look at Ctrl-C


def minimize_loss(
    rows, const uint8_t[::1] is_positive, const double[::1] counted, double ridge,
    double tolerance, int n_steps, double[::1] beta,
):
    """Find the beta of smallest loss by Newton's method with backtracking; return the steps.

    ``rows`` is a record `Rows` of columns in order.
    """
    cdef Py_ssize_t n = beta.shape[0]
    cdef Py_ssize_t n_rows = is_positive.shape[0]
    cdef double[:, ::1] matrix = np.empty((n, n))
    cdef double[:, ::1] by_column = np.empty((3, n))
    cdef double[:, ::1] by_row = np.empty((5, n_rows))
    cdef Problem problem
    cdef State state
    cdef int n_done
    if n_rows == 0:
        return 0
    problem = Problem(view_rows(rows), n_rows, n - 1, &is_positive[0], &counted[0], ridge)
    state = State(
        &beta[0], &by_column[0, 0], &by_column[1, 0], &by_column[2, 0], &matrix[0, 0],
        &by_row[0, 0], &by_row[1, 0], &by_row[2, 0], &by_row[3, 0], &by_row[4, 0], 0.0,
    )
    with nogil:
        n_done = _minimise(&problem, &state, tolerance, n_steps)
    return n_done


cdef int _minimise(
    const Problem* problem, State* state, double tolerance, int n_steps
) except -1 nogil:
    cdef Py_ssize_t n = problem.n_columns + 1
    cdef Py_ssize_t at
    cdef int done
    cdef double loss, new, promise, length
    _add_products(problem, state.beta, state.scores)
    loss = _loss(problem, state.scores, state.beta, state.small)
    for done in range(n_steps):
        _derive(problem, state)
        memcpy(state.step, state.slope, n * sizeof(double))
        _solve(state, n)
        promise = 0.0
        for at in range(n):
            promise += state.slope[at] * state.step[at]
        if not promise > 0.0:
            return done
        _add_products(problem, state.step, state.moves)
        length = 1.0
        while True:
            for at in range(n):
                state.candidate[at] = state.beta[at] - length * state.step[at]
            for at in range(problem.n_rows):
                state.tried[at] = state.scores[at] - length * state.moves[at]
            new = _loss(problem, state.tried, state.candidate, state.small)
            if new <= loss - 1e-4 * length * promise:
                break
            length *= 0.5
            if length < 1e-9:
                return done  # rounding hides any further gain
        memcpy(state.beta, state.candidate, n * sizeof(double))
        state.scores, state.tried = state.tried, state.scores
        loss = new
        if promise < tolerance:
            return done + 1
    return n_steps


cdef inline int _pause(State* state, double work) except -1 nogil:
    """Look at Ctrl-C every so often."""
    state.work += work
    if state.work > PAUSE:
        state.work = 0.0
        check_stop()
    return 0


cdef void _add_products(
    const Problem* problem, const double* beta, double* scores
) noexcept nogil:
    """Set the scores of all rows: their columns times beta, plus the intercept."""
    cdef Py_ssize_t last = problem.n_columns
    cdef Py_ssize_t row, column
    cdef int64_t place
    cdef double total
    cdef const double* line
    for row in range(problem.n_rows):
        total = beta[last]
        if problem.rows.is_dense:
            line = problem.rows.dense + row * last
            for column in range(last):
                total += line[column] * beta[column]
        else:
            for place in range(problem.rows.indptr[row], problem.rows.indptr[row + 1]):
                total += problem.rows.data[place] * beta[problem.rows.indices[place]]
        scores[row] = total


cdef double _loss(
    const Problem* problem, const double* scores, const double* beta, double* small
) noexcept nogil:
    """Negative log-likelihood plus the ridge's share; ``small`` becomes exp(-abs(scores))."""
    cdef double total = 0.0
    cdef double penalty = 0.0
    cdef double margin
    cdef Py_ssize_t row, column
    for row in range(problem.n_rows):
        small[row] = exp(-fabs(scores[row]))
        margin = scores[row] if problem.is_positive[row] else -scores[row]
        total += problem.counted[row] * (
            log1p(small[row]) if margin > 0 else log1p(small[row]) - margin
        )
    for column in range(problem.n_columns):
        penalty += beta[column] * beta[column]
    return total + problem.ridge * penalty


cdef int _derive(const Problem* problem, State* state) except -1 nogil:
    """First and second derivatives of the loss at the scores."""
    cdef Py_ssize_t last = problem.n_columns
    cdef Py_ssize_t row, column
    cdef int64_t place
    cdef double small, whole, excess
    cdef double* corner = state.matrix + last * (last + 1) + last
    cdef const double* line
    memset(state.slope, 0, (last + 1) * sizeof(double))
    memset(state.matrix, 0, (last + 1) * (last + 1) * sizeof(double))
    for row in range(problem.n_rows):
        small = state.small[row]
        whole = 1.0 + small
        state.weights[row] = problem.counted[row] * small / (whole * whole)
        # The small one of the two probabilities is exact, so that sure rows still pull.
        if problem.is_positive[row]:
            excess = -(small / whole if state.scores[row] > 0 else 1.0 / whole)
        else:
            excess = 1.0 / whole if state.scores[row] > 0 else small / whole
        excess *= problem.counted[row]
        state.slope[last] += excess
        corner[0] += state.weights[row]
        if problem.rows.is_dense:
            line = problem.rows.dense + row * last
            for column in range(last):
                state.slope[column] += excess * line[column]
        else:
            for place in range(problem.rows.indptr[row], problem.rows.indptr[row + 1]):
                state.slope[problem.rows.indices[place]] += excess * problem.rows.data[place]
    if problem.rows.is_dense:
        _add_dense(problem, state)
    else:
        _add_sparse(problem, state)
    for column in range(last):
        state.slope[column] += 2.0 * problem.ridge * state.beta[column]
        state.matrix[column * (last + 1) + column] += 2.0 * problem.ridge
    return 0


cdef int _add_dense(const Problem* problem, State* state) except -1 nogil:
    """Add the weighted products of all pairs of columns, four rows at a time."""
    cdef Py_ssize_t n = problem.n_columns
    cdef Py_ssize_t whole = problem.n_rows - problem.n_rows % 4
    cdef Py_ssize_t row, i
    cdef const double* w
    cdef const double* a
    cdef double* line
    cdef double[4] x
    for row in range(0, whole, 4):
        w = state.weights + row
        if w[0] + w[1] + w[2] + w[3] < SURE:
            continue
        _pause(state, 2.0 * n * n)
        a = problem.rows.dense + row * n
        for i in range(n):
            x[0] = w[0] * a[i]
            x[1] = w[1] * a[n + i]
            x[2] = w[2] * a[2 * n + i]
            x[3] = w[3] * a[3 * n + i]
            line = state.matrix + i * (n + 1) + i
            add_four(line, n - i, x, a + i, n)
            line[n - i] += x[0] + x[1] + x[2] + x[3]
    for row in range(whole, problem.n_rows):
        a = problem.rows.dense + row * n
        for i in range(n):
            x[0] = state.weights[row] * a[i]
            line = state.matrix + i * (n + 1) + i
            _add_one(line, n - i, x[0], a + i)
            line[n - i] += x[0]
    return 0


cdef inline void _add_one(double* line, Py_ssize_t n, double x, const double* a) noexcept nogil:
    """Add a multiple of a line to another."""
    cdef Py_ssize_t at
    for at in range(n):
        line[at] += x * a[at]


cdef int _add_sparse(const Problem* problem, State* state) except -1 nogil:
    """Add the weighted products of the pairs of columns that rows hold."""
    cdef Py_ssize_t last = problem.n_columns
    cdef const int32_t* indices = problem.rows.indices
    cdef const double* data = problem.rows.data
    cdef int64_t place, other, stop
    cdef Py_ssize_t row
    cdef double x
    cdef double* line
    for row in range(problem.n_rows):
        if state.weights[row] < SURE:
            continue
        stop = problem.rows.indptr[row + 1]
        x = stop - problem.rows.indptr[row]
        _pause(state, x * x)
        for place in range(problem.rows.indptr[row], stop):
            line = state.matrix + indices[place] * (last + 1)
            x = state.weights[row] * data[place]
            for other in range(place, stop):
                line[indices[other]] += x * data[other]
            line[last] += x
    return 0


cdef int _solve(State* state, Py_ssize_t n) except -1 nogil:
    """Solve matrix * step = step by Cholesky's method, in place.

    A direction in which nothing is left but rounding gets no step.
    """
    cdef double* matrix = state.matrix
    cdef double* step = state.step
    cdef double* line
    cdef Py_ssize_t i, j
    cdef double total
    for i in range(0, n, 4):
        _pause(state, 4.0 * i * (n - i))
        _eliminate(matrix, n, i)
    for i in range(n):  # U' z = step, then U step = z
        line = matrix + i * n
        step[i] /= line[i]
        for j in range(i + 1, n):
            step[j] -= line[j] * step[i]
    for i in range(n - 1, -1, -1):
        line = matrix + i * n
        total = step[i]
        for j in range(i + 1, n):
            total -= line[j] * step[j]
        step[i] = total / line[i]
    return 0


cdef void _eliminate(double* matrix, Py_ssize_t n, Py_ssize_t first) noexcept nogil:
    """Make four lines of the triangle, or those left at its end, from the lines above them."""
    cdef Py_ssize_t n_lines = min(4, n - first)
    cdef Py_ssize_t above, i, at
    cdef const double* a
    cdef double[4] diagonal
    cdef double[16] x
    cdef bint is_needed
    for at in range(n_lines):
        diagonal[at] = fabs(matrix[(first + at) * (n + 1)])
    for above in range(0, first, 4):
        a = matrix + above * n + first
        is_needed = False
        for at in range(4 * n_lines):
            x[at] = -a[at % 4 * n + at // 4]
            is_needed |= x[at] != 0.0
        if not is_needed:
            continue
        if n_lines == 4:
            add_four_to_four(matrix + first * (n + 1), n - first, x, a, n)
        else:
            for at in range(n_lines):
                add_four(matrix + (first + at) * n + first, n - first, x + 4 * at, a, n)
    for i in range(first, first + n_lines):
        for above in range(first, i):
            a = matrix + above * n + i
            if a[0] != 0.0:
                _add_one(matrix + i * (n + 1), n - i, -a[0], a)
        _scale(matrix + i * (n + 1), n - i, 1e-14 * diagonal[i - first] + 1e-300)


cdef inline void _scale(double* line, Py_ssize_t n, double floor) noexcept nogil:
    """Divide a line by the root of its first number; where that is rounding, let it end here."""
    cdef double root
    cdef Py_ssize_t at
    if line[0] <= floor:
        line[0] = 1e150
        memset(line + 1, 0, (n - 1) * sizeof(double))
        return
    root = sqrt(line[0])
    line[0] = root
    for at in range(1, n):
        line[at] /= root
