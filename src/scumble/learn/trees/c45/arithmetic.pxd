"""The arithmetic of C4.5: comparisons with a tolerance, x ln x, pessimistic errors, cuts."""

from libc.math cimport isinf, log, pow, sqrt
from libc.stdint cimport int64_t, uint8_t

from scumble.learn.trees.c45.memory cimport lower_bound

cdef extern from *:
    """
    #define SCUMBLE_TOLERANCE 1e-6
    #define SCUMBLE_LN2 0.693147180559945309417
    """
    const double TOLERANCE "SCUMBLE_TOLERANCE"  # differences up to this are ties, as in J48
    const double LN2 "SCUMBLE_LN2"


cdef inline double x_ln_x(double x) noexcept nogil:
    """Return x ln x, and 0 for numbers below the tolerance."""
    return 0.0 if x < TOLERANCE else x * log(x)


cdef inline double additional_errors(
    double n, double errors, double confidence, double z
) noexcept nogil:
    """Return the upper confidence limit of the number of errors of a leaf, less ``errors``.

    ``n`` is the weight of its rows, ``errors`` that of the training errors, ``z`` the normal
    quantile of the confidence.
    """
    cdef double base_errors = errors
    cdef double base = 0.0
    cdef double additional, rate, deviation
    if errors < 1.0:
        # Between 0 and 1 errors the limit is interpolated linearly; at 0 it is exact.
        base = n * (1.0 - pow(confidence, 1.0 / n))
        if errors == 0.0:
            return base
        base_errors = 1.0
    if base_errors + 0.5 >= n:
        additional = max(n - base_errors, 0.0)
    else:
        rate = (base_errors + 0.5) / n
        deviation = sqrt(rate / n - rate * rate / n + z * z / (4.0 * n * n))
        additional = (
            (rate + z * z / (2.0 * n) + z * deviation) / (1.0 + z * z / n) * n - base_errors
        )
    return base + errors * (additional - base) if errors < 1.0 else additional


cdef inline double sum_numbers(const double* numbers, Py_ssize_t n) noexcept nogil:
    """Return the sum of numbers."""
    cdef double total = 0.0
    cdef Py_ssize_t c
    for c in range(n):
        total += numbers[c]
    return total


cdef inline double training_errors(
    const double* counts, const double* additional, Py_ssize_t n_classes, double* total
) noexcept nogil:
    """Return the weight outside of the majority class, and write the weight of all to ``total``.

    The majority class is the first one that exceeds those before it by more than the tolerance.
    ``additional`` is NULL or is added to ``counts``.
    """
    cdef double largest = 0.0
    cdef double weight
    cdef Py_ssize_t c
    total[0] = 0.0
    for c in range(n_classes):
        weight = counts[c] if additional == NULL else counts[c] + additional[c]
        total[0] += weight
        if weight - largest > TOLERANCE:
            largest = weight
    if largest == 0.0:
        largest = counts[0] if additional == NULL else counts[0] + additional[0]
    return total[0] - largest


cdef inline double cut_value_between(
    const double* values, const uint8_t* value_occurs, int64_t n_values, double below, double above
) noexcept nogil:
    """Return the cut that is stored for a split between the values ``below`` and ``above``.

    It is their mean, lowered to the largest value at or below it in the training set. These are
    the ``values`` for which ``value_occurs``, or all of them where that is NULL.
    """
    cdef double middle = (below + above) / 2.0
    cdef int64_t position
    if isinf(middle):
        middle = below / 2.0 + above / 2.0
    if middle >= above:
        middle = below
    position = lower_bound(values, 1, n_values, middle)
    if position == n_values or values[position] > middle:
        position -= 1
    if value_occurs != NULL:
        while value_occurs[position] == 0:
            position -= 1
    return values[position]
