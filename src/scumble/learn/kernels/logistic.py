"""Compiled loops of logistic regression: Newton's method on one target.

Columns are dense, or sparse by rows; the intercept is one more column of ones at the end.
Matrices of second derivatives hold their upper triangle only.
"""

from __future__ import annotations

import numpy as np

from scumble._core.jit import inner_kernel, kernel

#: Rows as sure as this change no second derivative.
SURE = 1e-18


@kernel
def add_products(dense, indptr, indices, data, beta, scores):
    """Set the scores of all rows: their columns times beta, plus the intercept."""
    last = len(beta) - 1
    n_rows = len(scores)
    if dense.shape[0] > 0:
        for row in range(n_rows):
            total = beta[last]
            for column in range(last):
                total += dense[row, column] * beta[column]
            scores[row] = total
        return
    for row in range(n_rows):
        total = beta[last]
        for place in range(indptr[row], indptr[row + 1]):
            total += data[place] * beta[indices[place]]
        scores[row] = total


@kernel
def _loss(scores, is_positive, beta, ridge):
    """Negative log-likelihood plus the ridge's share."""
    total = 0.0
    for row in range(len(scores)):
        margin = scores[row] if is_positive[row] else -scores[row]
        total += np.log1p(np.exp(-margin)) if margin > 0 else np.log1p(np.exp(margin)) - margin
    penalty = 0.0
    for column in range(len(beta) - 1):
        penalty += beta[column] * beta[column]
    return total + ridge * penalty


@inner_kernel
def _add_four(line, xa, a, xb, b, xc, c, xd, d):
    """Add multiples of four lines to one; places count from 0, which the compiler likes."""
    for at in range(len(line)):
        line[at] += xa * a[at] + xb * b[at] + xc * c[at] + xd * d[at]


@inner_kernel
def _add_one(line, x, a):
    """Add a multiple of a line to another."""
    for at in range(len(line)):
        line[at] += x * a[at]


@kernel
def _add_dense(dense, weights, matrix):
    """Add the weighted products of all pairs of columns, four rows at a time."""
    n_rows, n_columns = dense.shape
    whole = n_rows - n_rows % 4
    for row in range(0, whole, 4):
        a, b, c, d = dense[row], dense[row + 1], dense[row + 2], dense[row + 3]
        wa, wb, wc, wd = weights[row], weights[row + 1], weights[row + 2], weights[row + 3]
        if wa + wb + wc + wd < SURE:
            continue
        for i in range(n_columns):
            xa, xb, xc, xd = wa * a[i], wb * b[i], wc * c[i], wd * d[i]
            _add_four(matrix[i, i:n_columns], xa, a[i:], xb, b[i:], xc, c[i:], xd, d[i:])
            matrix[i, n_columns] += xa + xb + xc + xd
    for row in range(whole, n_rows):
        a = dense[row]
        for i in range(n_columns):
            x = weights[row] * a[i]
            _add_one(matrix[i, i:n_columns], x, a[i:])
            matrix[i, n_columns] += x


@kernel
def _add_sparse(indptr, indices, data, weights, matrix):
    """Add the weighted products of the pairs of columns that rows hold; columns are in order."""
    last = matrix.shape[0] - 1
    for row in range(len(weights)):
        if weights[row] < SURE:
            continue
        stop = np.uint64(indptr[row + 1])
        for place in range(np.uint64(indptr[row]), stop):
            line = matrix[np.uint64(indices[place])]
            x = weights[row] * data[place]
            for other in range(place, stop):
                line[np.uint64(indices[other])] += x * data[other]
            line[last] += x


@kernel
def _derive(dense, indptr, indices, data, scores, is_positive, beta, ridge, slope, matrix):
    """First and second derivatives of the loss."""
    n_rows, last = len(scores), len(beta) - 1
    slope[:] = 0.0
    matrix[:] = 0.0
    weights = np.empty(n_rows)
    for row in range(n_rows):
        small = np.exp(-abs(scores[row]))
        weights[row] = small / ((1.0 + small) * (1.0 + small))
        probability = 1.0 / (1.0 + small) if scores[row] > 0 else small / (1.0 + small)
        # The small one of the two numbers is exact, so that sure rows still pull.
        if is_positive[row]:
            excess = -(small / (1.0 + small) if scores[row] > 0 else 1.0 / (1.0 + small))
        else:
            excess = probability
        slope[last] += excess
        matrix[last, last] += weights[row]
        if dense.shape[0] > 0:
            for column in range(last):
                slope[column] += excess * dense[row, column]
        else:
            for place in range(indptr[row], indptr[row + 1]):
                slope[indices[place]] += excess * data[place]
    if dense.shape[0] > 0:
        _add_dense(dense, weights, matrix)
    else:
        _add_sparse(indptr, indices, data, weights, matrix)
    for column in range(last):
        slope[column] += 2.0 * ridge * beta[column]
        matrix[column, column] += 2.0 * ridge


@kernel
def _solve(matrix, step):
    """Solve matrix * step = step by Cholesky's method, in place.

    A direction in which nothing is left but rounding gets no step.
    """
    n = len(step)
    for i in range(n):
        line = matrix[i]
        floor = 1e-14 * abs(line[i]) + 1e-300
        whole = i - i % 4
        for above in range(0, whole, 4):
            a, b, c, d = matrix[above], matrix[above + 1], matrix[above + 2], matrix[above + 3]
            if a[i] != 0.0 or b[i] != 0.0 or c[i] != 0.0 or d[i] != 0.0:
                _add_four(line[i:], -a[i], a[i:], -b[i], b[i:], -c[i], c[i:], -d[i], d[i:])
        for above in range(whole, i):
            if matrix[above, i] != 0.0:
                _add_one(line[i:], -matrix[above, i], matrix[above, i:])
        if line[i] <= floor:
            line[i] = 1e150
            line[i + 1 :] = 0.0
            continue
        root = np.sqrt(line[i])
        line[i] = root
        for j in range(i + 1, n):
            line[j] /= root
    for i in range(n):  # U' z = step, then U step = z
        step[i] /= matrix[i, i]
        for j in range(i + 1, n):
            step[j] -= matrix[i, j] * step[i]
    for i in range(n - 1, -1, -1):
        total = step[i]
        for j in range(i + 1, n):
            total -= matrix[i, j] * step[j]
        step[i] = total / matrix[i, i]


@kernel
def minimise(
    dense, indptr, indices, data, is_positive, ridge, tolerance, n_steps, beta, scores, matrix
):
    """Find the beta of smallest loss by Newton's method with backtracking; return the steps."""
    n = len(beta)
    slope = np.empty(n)
    step = np.empty(n)
    moves = np.empty(len(scores))
    tried = np.empty(len(scores))
    candidate = np.empty(n)
    add_products(dense, indptr, indices, data, beta, scores)
    loss = _loss(scores, is_positive, beta, ridge)
    for done in range(n_steps):
        _derive(dense, indptr, indices, data, scores, is_positive, beta, ridge, slope, matrix)
        step[:] = slope
        _solve(matrix, step)
        promise = 0.0
        for at in range(n):
            promise += slope[at] * step[at]
        if not promise > 0.0:
            return done
        add_products(dense, indptr, indices, data, step, moves)
        length = 1.0
        while True:
            for at in range(n):
                candidate[at] = beta[at] - length * step[at]
            for row in range(len(scores)):
                tried[row] = scores[row] - length * moves[row]
            new = _loss(tried, is_positive, candidate, ridge)
            if new <= loss - 1e-4 * length * promise:
                break
            length *= 0.5
            if length < 1e-9:
                return done  # rounding hides any further gain
        beta[:] = candidate
        scores[:] = tried
        loss = new
        if promise < tolerance:
            return done + 1
    return n_steps
