"""The arithmetic of C4.5: comparisons with a tolerance, x ln x, pessimistic errors."""

from libc.math cimport isinf, log, pow, sqrt
from libc.stdint cimport int64_t, uint8_t

from scumble.learn.c45.memory cimport lower_bound

cdef extern from *:
    """
    #define SCUMBLE_TINY 1e-6
    #define SCUMBLE_LN2 0.693147180559945309417
    """
    const double TINY "SCUMBLE_TINY"  # what the reference implementation takes for zero
    const double LN2 "SCUMBLE_LN2"


cdef inline double x_ln_x(double x) noexcept nogil:
    """Return x ln x, and 0 for what counts as 0."""
    return 0.0 if x < TINY else x * log(x)


cdef inline double added_errors(double n, double e, double confidence, double z) noexcept nogil:
    """Tell how many errors beyond ``e`` of ``n`` the upper confidence limit expects."""
    cdef double low = e
    cdef double base = 0.0
    cdef double more, f, root
    if e < 1.0:
        base = n * (1.0 - pow(confidence, 1.0 / n))
        if e == 0.0:
            return base
        low = 1.0
    if low + 0.5 >= n:
        more = max(n - low, 0.0)
    else:
        f = (low + 0.5) / n
        root = sqrt(f / n - f * f / n + z * z / (4.0 * n * n))
        more = (f + z * z / (2.0 * n) + z * root) / (1.0 + z * z / n) * n - low
    return base + e * (more - base) if e < 1.0 else more


cdef inline double sum_of(const double* numbers, Py_ssize_t n) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t c
    for c in range(n):
        total += numbers[c]
    return total


cdef inline double training_errors(
    const double* counts, const double* more, Py_ssize_t n_classes, double* total
) noexcept nogil:
    """Return the weight outside of the majority class; ``more`` is added unless it is NULL.

    The majority is the first class that outweighs those before it by more than the tolerance.
    """
    cdef double most = 0.0
    cdef double weight
    cdef Py_ssize_t c
    total[0] = 0.0
    for c in range(n_classes):
        weight = counts[c] if more == NULL else counts[c] + more[c]
        total[0] += weight
        if weight - most > TINY:
            most = weight
    if most == 0.0:
        most = counts[0] if more == NULL else counts[0] + more[0]
    return total[0] - most


cdef inline double lowered_cut(
    const double* values, const uint8_t* seen, int64_t n_values, double below, double above
) noexcept nogil:
    """Turn the gap between two values into the cut stored in the tree.

    It is the middle, lowered to the largest value at or below it in the whole training set (those
    of the ``values`` that are ``seen``, or all of them where that is NULL).
    """
    cdef double middle = (below + above) / 2.0
    cdef int64_t low
    if isinf(middle):
        middle = below / 2.0 + above / 2.0
    if middle >= above:
        middle = below
    low = lower_bound(values, 1, n_values, middle)
    if low == n_values or values[low] > middle:
        low -= 1
    if seen != NULL:
        while seen[low] == 0:
            low -= 1
    return values[low]
