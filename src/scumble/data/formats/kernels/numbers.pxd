"""Numbers as text, for the parsers that meet them: small functions to be compiled into each."""

from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t, uint8_t, uint64_t

# What parse_number says about a text.
cpdef enum:
    INTEGER = 0  # exact, written without point and exponent
    DECIMAL = 1  # exact
    LONG = 2  # a number, to be read by exact_floats
    NO_NUMBER = 3

cdef enum:
    EXACT_POWER = 22
    MOST_DIGITS = 19  # always fit 64 bits
    LOWER = 32  # the bit that makes an ASCII letter lower case

cdef extern from "Python.h":
    const Py_ssize_t NO_END "PY_SSIZE_T_MAX"  # of a text that stops numbers by itself

cdef extern from *:
    """
    /* The powers of ten a double holds exactly. */
    static const double scumble_powers[23] = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
    };
    """
    const double* POWERS "scumble_powers"

# Whole numbers up to here are doubles.
cdef inline bint is_exact(uint64_t mantissa) noexcept nogil:
    return mantissa <= (<uint64_t> 1) << 53


cdef inline bint is_digit(uint8_t byte) noexcept nogil:
    return 48 <= byte <= 57


cdef inline bint is_before(Py_ssize_t at, Py_ssize_t end) noexcept nogil:
    """Tell whether there is a byte; the compiler drops the question where NO_END is written."""
    return end == NO_END or at < end


cdef inline Py_ssize_t count_byte(
    const uint8_t* text, Py_ssize_t size, uint8_t byte
) noexcept nogil:
    """Count how often a byte stands in a text: how much room its parts need at most."""
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t at
    for at in range(size):
        count += text[at] == byte
    return count


cdef inline double scaled(uint64_t mantissa, int64_t power, bint negative) noexcept nogil:
    """Round once, because both operands are exact: ``is_exact`` and -22 <= power <= 22."""
    cdef double value = <double> mantissa
    value = value * POWERS[power] if power >= 0 else value / POWERS[-power]
    return -value if negative else value


cdef inline bint is_word(
    const uint8_t* text, Py_ssize_t start, Py_ssize_t end, const char* word, Py_ssize_t length
) noexcept nogil:
    """Tell whether ``text[start:end]`` is a word of lower-case letters, whatever its case."""
    cdef Py_ssize_t at
    if end - start != length:
        return False
    for at in range(length):
        if text[start + at] | LOWER != <uint8_t> word[at]:
            return False
    return True


cdef struct Number:
    int kind
    double value
    Py_ssize_t after  # where it ends, or the first byte that does not fit


cdef inline Number read_number(
    const uint8_t* text, Py_ssize_t at, Py_ssize_t end, uint8_t point
) noexcept nogil:
    """Read the number that begins here, as far as it goes before ``end``."""
    cdef uint64_t mantissa = 0
    cdef int64_t power = 0
    cdef Py_ssize_t first, n_digits
    cdef Number found
    cdef bint negative = is_before(at, end) and text[at] == c"-"
    cdef bint fits = True
    if negative or (is_before(at, end) and text[at] == c"+"):
        at += 1
    first = at
    at = _read_digits(text, at, end, &mantissa)
    n_digits = at - first
    found.kind = INTEGER
    found.value = 0.0
    if is_before(at, end) and text[at] == point:
        found.kind = DECIMAL
        power = at + 1
        at = _read_digits(text, at + 1, end, &mantissa)
        power -= at
        n_digits -= power
    if n_digits > MOST_DIGITS:
        fits = _n_significant(text, first, at) <= MOST_DIGITS
    if n_digits and is_before(at, end) and text[at] | LOWER == c"e":
        found.kind = DECIMAL
        if not _read_exponent(text, end, &at, &power):
            n_digits = 0
    found.after = at
    if n_digits == 0:
        found.kind = NO_NUMBER
    elif fits and is_exact(mantissa) and -EXACT_POWER <= power <= EXACT_POWER:
        found.value = scaled(mantissa, power, negative)
    elif fits and mantissa == 0:
        found.value = -0.0 if negative else 0.0
    else:
        found.kind = LONG
    return found


cdef inline Number parse_number(
    const uint8_t* text, Py_ssize_t start, Py_ssize_t end, uint8_t point
) noexcept nogil:
    """Read all of ``text[start:end]``, which has no blanks around it, as a number or its word."""
    cdef Number found = read_number(text, start, end, point)
    cdef bint negative = start < end and text[start] == c"-"
    if found.kind != NO_NUMBER and found.after == end:
        return found
    found.kind = NO_NUMBER
    found.value = 0.0
    start += negative or (start < end and text[start] == c"+")
    if is_word(text, start, end, b"nan", 3):
        found.kind = DECIMAL
        found.value = NAN
    elif is_word(text, start, end, b"inf", 3) or is_word(text, start, end, b"infinity", 8):
        found.kind = DECIMAL
        found.value = -INFINITY if negative else INFINITY
    return found


cdef inline Py_ssize_t _read_digits(
    const uint8_t* text, Py_ssize_t at, Py_ssize_t end, uint64_t* mantissa
) noexcept nogil:
    """Read on to the first byte that is no digit; beyond 19 digits the mantissa may overflow."""
    cdef unsigned int digit
    while is_before(at, end):
        digit = <unsigned int> text[at] - 48
        if digit > 9:
            break
        mantissa[0] = mantissa[0] * 10 + digit
        at += 1
    return at


cdef inline Py_ssize_t _n_significant(
    const uint8_t* text, Py_ssize_t at, Py_ssize_t end
) noexcept nogil:
    """Count digits from the first that is not zero on; a point may stand among them."""
    cdef Py_ssize_t count = 0
    for at in range(at, end):
        count += is_digit(text[at]) and (count > 0 or text[at] != 48)
    return count


cdef inline bint _read_exponent(
    const uint8_t* text, Py_ssize_t end, Py_ssize_t* place, int64_t* power
) noexcept nogil:
    """Add the signed whole number after the letter to the power; give False if there is none."""
    cdef Py_ssize_t at = place[0] + 1
    cdef int64_t far = (<int64_t> 1) << 40  # more than any text has digits; ten times it fits
    cdef bint negative = is_before(at, end) and text[at] == c"-"
    cdef int64_t value = 0
    cdef Py_ssize_t first
    at += negative or (is_before(at, end) and text[at] == c"+")
    first = at
    while is_before(at, end) and is_digit(text[at]):
        value = min(value * 10 + (text[at] - 48), far)
        at += 1
    power[0] += -value if negative else value
    place[0] = at
    return at > first
