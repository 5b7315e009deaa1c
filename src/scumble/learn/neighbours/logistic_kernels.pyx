"""Newton's method for the logistic regression of one label.

The loss is the negative log-likelihood plus the ridge penalty. The *score* of a row is the linear
predictor: its values times the coefficients ``beta``, plus the intercept. X is dense, or sparse by
rows; the intercept is the last coefficient, of one more column of ones. The matrix of second
derivatives, the Hessian, holds its upper triangle only.
"""

import numpy as np

from libc.math cimport exp, fabs, log1p, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from scumble._core.interrupt cimport check_stop
from scumble.learn.trees.c45.rows cimport RowsView, view_rows

cdef extern from "scumble/learn/vector_sums.h" nogil:
    void add_four_multiples(double*, Py_ssize_t, const double*, const double*, Py_ssize_t)
    void add_four_multiples_to_four(double*, Py_ssize_t, const double*, const double*, Py_ssize_t)

# Sum of the second derivatives of four rows below which they are skipped: their probabilities are
# so close to 0 or 1 that they change no digit of the Hessian.
cdef double NEGLIGIBLE = 1e-18
# Number of products between two checks for Ctrl-C; they take less than a tenth of a second.
cdef double PRODUCTS_PER_CHECK = 1e8


cdef struct Problem:
    # What the loss depends on, besides the coefficients.
    RowsView rows  # of X
    Py_ssize_t n_rows
    Py_ssize_t n_columns  # without the intercept
    const uint8_t* is_positive  # by row: has the label
    const double* sample_weight  # by row
    double ridge  # factor of the sum of squared coefficients, without the intercept


cdef struct State:
    # The current coefficients, and buffers: numbers by coefficient, then numbers by row.
    double* beta
    double* gradient  # first derivatives of the loss
    double* step  # Newton step, which is subtracted from beta
    double* candidate  # coefficients after a step of the current length
    double* hessian  # second derivatives of the loss, (n_columns + 1) squared
    double* scores  # of the rows with beta
    double* score_steps  # change of the scores by a full step
    double* candidate_scores  # of the rows with candidate
    double* exp_scores  # exp(-abs(score)), from the loss computed last
    double* weights  # second derivatives of the loss with respect to the scores
    double n_products  # products since the last check for Ctrl-C


def minimize_loss(
    rows, const uint8_t[::1] is_positive, const double[::1] sample_weight, double ridge,
    double tolerance, int max_steps, double[::1] beta,
):
    """Minimize the loss by Newton's method, and return the number of steps taken.

    ``rows`` are `RowArrays` of X with sorted columns. ``beta`` holds the initial coefficients, and
    is set to the last ones; with ``max_steps`` steps they may not have converged. For ``tolerance``
    see `_minimize`.
    """
    cdef Py_ssize_t n = beta.shape[0]
    cdef Py_ssize_t n_rows = is_positive.shape[0]
    cdef double[:, ::1] hessian = np.empty((n, n))
    cdef double[:, ::1] by_column = np.empty((3, n))
    cdef double[:, ::1] by_row = np.empty((5, n_rows))
    cdef Problem problem
    cdef State state
    cdef int n_done
    if n_rows == 0:
        return 0
    problem = Problem(view_rows(rows), n_rows, n - 1, &is_positive[0], &sample_weight[0], ridge)
    state = State(
        &beta[0], &by_column[0, 0], &by_column[1, 0], &by_column[2, 0], &hessian[0, 0],
        &by_row[0, 0], &by_row[1, 0], &by_row[2, 0], &by_row[3, 0], &by_row[4, 0], 0.0,
    )
    with nogil:
        n_done = _minimize(&problem, &state, tolerance, max_steps)
    return n_done


cdef int _minimize(
    const Problem* problem, State* state, double tolerance, int max_steps
) except -1 nogil:
    """Take Newton steps, and return how many were taken.

    A step is halved until the loss falls. The last step is one whose expected gain, from the
    derivatives, is below ``tolerance``; no step is taken if no length lowers the loss.
    """
    cdef Py_ssize_t n = problem.n_columns + 1
    cdef Py_ssize_t i
    cdef int n_done
    cdef double loss, new_loss, expected_gain, length
    _compute_scores(problem, state.beta, state.scores)
    loss = _loss(problem, state.scores, state.beta, state.exp_scores)
    for n_done in range(max_steps):
        _compute_derivatives(problem, state)
        memcpy(state.step, state.gradient, n * sizeof(double))
        _solve(state, n)
        expected_gain = 0.0
        for i in range(n):
            expected_gain += state.gradient[i] * state.step[i]
        if not expected_gain > 0.0:
            return n_done
        _compute_scores(problem, state.step, state.score_steps)
        length = 1.0
        while True:
            for i in range(n):
                state.candidate[i] = state.beta[i] - length * state.step[i]
            for i in range(problem.n_rows):
                state.candidate_scores[i] = state.scores[i] - length * state.score_steps[i]
            new_loss = _loss(problem, state.candidate_scores, state.candidate, state.exp_scores)
            if new_loss <= loss - 1e-4 * length * expected_gain:
                break
            length *= 0.5
            if length < 1e-9:
                return n_done  # rounding errors exceed any further gain
        memcpy(state.beta, state.candidate, n * sizeof(double))
        state.scores, state.candidate_scores = state.candidate_scores, state.scores
        loss = new_loss
        if expected_gain < tolerance:
            return n_done + 1
    return max_steps


cdef inline int _count_products(State* state, double n_products) except -1 nogil:
    """Add to the count of products, and raise KeyboardInterrupt on Ctrl-C every so often."""
    state.n_products += n_products
    if state.n_products > PRODUCTS_PER_CHECK:
        state.n_products = 0.0
        check_stop()
    return 0


cdef void _compute_scores(
    const Problem* problem, const double* beta, double* scores
) noexcept nogil:
    """Set the scores of all rows for the coefficients ``beta``."""
    cdef Py_ssize_t intercept = problem.n_columns
    cdef Py_ssize_t row, column
    cdef int64_t entry
    cdef double total
    cdef const double* values
    for row in range(problem.n_rows):
        total = beta[intercept]
        if problem.rows.is_dense:
            values = problem.rows.dense + row * problem.n_columns
            for column in range(problem.n_columns):
                total += values[column] * beta[column]
        else:
            for entry in range(problem.rows.indptr[row], problem.rows.indptr[row + 1]):
                total += problem.rows.data[entry] * beta[problem.rows.indices[entry]]
        scores[row] = total


cdef double _loss(
    const Problem* problem, const double* scores, const double* beta, double* exp_scores
) noexcept nogil:
    """Return the loss for the scores of the rows and ``beta``; set ``exp_scores``.

    ``exp_scores`` becomes exp(-abs(score)) of each row, which the derivatives use again.
    """
    cdef double total = 0.0
    cdef double penalty = 0.0
    cdef double margin
    cdef Py_ssize_t row, column
    for row in range(problem.n_rows):
        exp_scores[row] = exp(-fabs(scores[row]))
        margin = scores[row] if problem.is_positive[row] else -scores[row]
        total += problem.sample_weight[row] * (
            log1p(exp_scores[row]) if margin > 0 else log1p(exp_scores[row]) - margin
        )
    for column in range(problem.n_columns):
        penalty += beta[column] * beta[column]
    return total + problem.ridge * penalty


cdef int _compute_derivatives(const Problem* problem, State* state) except -1 nogil:
    """Set ``weights``, ``gradient`` and ``hessian`` of the state, at its current scores."""
    cdef Py_ssize_t intercept = problem.n_columns
    cdef Py_ssize_t n = problem.n_columns + 1
    cdef Py_ssize_t row, column
    cdef int64_t entry
    cdef double numerator, denominator, residual
    cdef double* corner = state.hessian + intercept * n + intercept  # second derivative of it
    cdef const double* values
    memset(state.gradient, 0, n * sizeof(double))
    memset(state.hessian, 0, n * n * sizeof(double))
    for row in range(problem.n_rows):
        numerator = state.exp_scores[row]
        denominator = 1.0 + numerator
        state.weights[row] = (
            problem.sample_weight[row] * numerator / (denominator * denominator)
        )
        # The smaller of the two probabilities is computed without cancellation, so that rows of
        # extreme scores keep a gradient.
        if problem.is_positive[row]:
            residual = -(
                numerator / denominator if state.scores[row] > 0 else 1.0 / denominator
            )
        else:
            residual = 1.0 / denominator if state.scores[row] > 0 else numerator / denominator
        residual *= problem.sample_weight[row]
        state.gradient[intercept] += residual
        corner[0] += state.weights[row]
        if problem.rows.is_dense:
            values = problem.rows.dense + row * problem.n_columns
            for column in range(problem.n_columns):
                state.gradient[column] += residual * values[column]
        else:
            for entry in range(problem.rows.indptr[row], problem.rows.indptr[row + 1]):
                state.gradient[problem.rows.indices[entry]] += residual * problem.rows.data[entry]
    if problem.rows.is_dense:
        _add_dense_products(problem, state)
    else:
        _add_sparse_products(problem, state)
    for column in range(problem.n_columns):
        state.gradient[column] += 2.0 * problem.ridge * state.beta[column]
        state.hessian[column * n + column] += 2.0 * problem.ridge
    return 0


cdef int _add_dense_products(const Problem* problem, State* state) except -1 nogil:
    """Add to the Hessian the weighted products of all pairs of columns of a dense X.

    Four rows are added at a time, which loads and stores the Hessian less often.
    """
    cdef Py_ssize_t n = problem.n_columns
    cdef Py_ssize_t n_in_fours = problem.n_rows - problem.n_rows % 4
    cdef Py_ssize_t row, i
    cdef const double* w  # weights of four rows
    cdef const double* a  # values of the first of them
    cdef double* target  # row i of the Hessian, from the diagonal on
    cdef double[4] x  # weighted values of column i
    for row in range(0, n_in_fours, 4):
        w = state.weights + row
        if w[0] + w[1] + w[2] + w[3] < NEGLIGIBLE:
            continue
        _count_products(state, 2.0 * n * n)
        a = problem.rows.dense + row * n
        for i in range(n):
            x[0] = w[0] * a[i]
            x[1] = w[1] * a[n + i]
            x[2] = w[2] * a[2 * n + i]
            x[3] = w[3] * a[3 * n + i]
            target = state.hessian + i * (n + 1) + i
            add_four_multiples(target, n - i, x, a + i, n)
            target[n - i] += x[0] + x[1] + x[2] + x[3]
    for row in range(n_in_fours, problem.n_rows):
        a = problem.rows.dense + row * n
        for i in range(n):
            x[0] = state.weights[row] * a[i]
            target = state.hessian + i * (n + 1) + i
            _add_multiple(target, n - i, x[0], a + i)
            target[n - i] += x[0]
    return 0


cdef inline void _add_multiple(
    double* target, Py_ssize_t n, double x, const double* a
) noexcept nogil:
    """Add x times each of the n numbers ``a`` to the n numbers ``target``."""
    cdef Py_ssize_t i
    for i in range(n):
        target[i] += x * a[i]


cdef int _add_sparse_products(const Problem* problem, State* state) except -1 nogil:
    """Add to the Hessian the weighted products of all pairs of columns of a sparse X.

    Only pairs of values that a row stores are added.
    """
    cdef Py_ssize_t intercept = problem.n_columns
    cdef Py_ssize_t n = problem.n_columns + 1
    cdef const int32_t* indices = problem.rows.indices
    cdef const double* data = problem.rows.data
    cdef int64_t entry, later_entry, stop
    cdef Py_ssize_t row
    cdef double n_stored, x
    cdef double* target  # the row of the Hessian of the column of an entry
    for row in range(problem.n_rows):
        if state.weights[row] < NEGLIGIBLE:
            continue
        stop = problem.rows.indptr[row + 1]
        n_stored = stop - problem.rows.indptr[row]
        _count_products(state, n_stored * n_stored)
        for entry in range(problem.rows.indptr[row], stop):
            target = state.hessian + indices[entry] * n
            x = state.weights[row] * data[entry]
            for later_entry in range(entry, stop):
                target[indices[later_entry]] += x * data[later_entry]
            target[intercept] += x
    return 0


cdef int _solve(State* state, Py_ssize_t n) except -1 nogil:
    """Replace ``step``, which holds the gradient, by the solution of hessian * solution = gradient.

    The Hessian is overwritten with its Cholesky factor U. A coefficient whose second derivative is
    only a rounding error gets the step 0.
    """
    cdef double* matrix = state.hessian
    cdef double* step = state.step
    cdef double* matrix_row
    cdef Py_ssize_t i, j
    cdef double total
    for i in range(0, n, 4):
        _count_products(state, 4.0 * i * (n - i))
        _factorize_rows(matrix, n, i)
    for i in range(n):  # forward substitution: U' z = step
        matrix_row = matrix + i * n
        step[i] /= matrix_row[i]
        for j in range(i + 1, n):
            step[j] -= matrix_row[j] * step[i]
    for i in range(n - 1, -1, -1):  # back substitution: U step = z
        matrix_row = matrix + i * n
        total = step[i]
        for j in range(i + 1, n):
            total -= matrix_row[j] * step[j]
        step[i] = total / matrix_row[i]
    return 0


cdef void _factorize_rows(double* matrix, Py_ssize_t n, Py_ssize_t first) noexcept nogil:
    """Compute four rows of the Cholesky factor from ``first`` on, or all that are left.

    The rows above them have been computed already. ``matrix`` has n rows and columns.
    """
    cdef Py_ssize_t n_block = min(4, n - first)
    cdef Py_ssize_t above, i, k
    cdef const double* a
    cdef double[4] diagonal
    cdef double[16] x
    cdef bint is_needed
    for k in range(n_block):
        diagonal[k] = fabs(matrix[(first + k) * (n + 1)])
    for above in range(0, first, 4):
        a = matrix + above * n + first
        is_needed = False
        for k in range(4 * n_block):
            x[k] = -a[k % 4 * n + k // 4]
            is_needed |= x[k] != 0.0
        if not is_needed:
            continue
        if n_block == 4:
            add_four_multiples_to_four(matrix + first * (n + 1), n - first, x, a, n)
        else:
            for k in range(n_block):
                add_four_multiples(matrix + (first + k) * n + first, n - first, x + 4 * k, a, n)
    for i in range(first, first + n_block):
        for above in range(first, i):
            a = matrix + above * n + i
            if a[0] != 0.0:
                _add_multiple(matrix + i * (n + 1), n - i, -a[0], a)
        _divide_by_root(matrix + i * (n + 1), n - i, 1e-14 * diagonal[i - first] + 1e-300)


cdef inline void _divide_by_root(double* values, Py_ssize_t n, double smallest) noexcept nogil:
    """Divide the n numbers of a row of the Cholesky factor by the square root of the first one.

    If the first one is not above ``smallest``, it is a rounding error. It is then replaced by a
    very large number, which makes the step of this coefficient 0, and the others by 0.
    """
    cdef double root
    cdef Py_ssize_t i
    if values[0] <= smallest:
        values[0] = 1e150
        memset(values + 1, 0, (n - 1) * sizeof(double))
        return
    root = sqrt(values[0])
    values[0] = root
    for i in range(1, n):
        values[i] /= root
