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


cdef struct Digits:
    uint64_t mantissa
    Py_ssize_t n_significant
    Py_ssize_t at


cdef inline Number read_number(
    const uint8_t* text, Py_ssize_t at, Py_ssize_t end, uint8_t point
) noexcept nogil:
    """Read the number that begins here, as far as it goes before ``end``."""
    cdef Digits digits
    cdef Py_ssize_t first
    cdef int64_t power = 0
    cdef Py_ssize_t n_digits
    cdef Number found
    cdef bint negative = at < end and text[at] == c"-"
    cdef bint fits = True
    digits.at = at + (negative or (at < end and text[at] == c"+"))
    digits.mantissa = 0
    digits.n_significant = 0
    found.kind = INTEGER
    found.value = 0.0
    first = digits.at
    _read_digits(text, end, &digits)
    n_digits = digits.at - first
    if digits.at < end and text[digits.at] == point:
        found.kind = DECIMAL
        digits.at += 1
        first = digits.at
        _read_digits(text, end, &digits)
        power = first - digits.at
        n_digits -= power
    if n_digits and digits.at < end and text[digits.at] | LOWER == c"e":
        found.kind = DECIMAL
        fits = _read_exponent(text, end, &digits, &power)
    found.after = digits.at
    if n_digits == 0 or not fits:
        found.kind = NO_NUMBER
    elif digits.mantissa == 0:
        found.value = -0.0 if negative else 0.0
    elif (
        digits.n_significant > MOST_DIGITS
        or not is_exact(digits.mantissa)
        or power > EXACT_POWER
        or power < -EXACT_POWER
    ):
        found.kind = LONG
    else:
        found.value = scaled(digits.mantissa, power, negative)
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


cdef inline void _read_digits(const uint8_t* text, Py_ssize_t end, Digits* digits) noexcept nogil:
    """Read on to the first byte that is no digit; zeros in front are not significant."""
    cdef Py_ssize_t at = digits.at
    cdef uint64_t mantissa = digits.mantissa
    cdef Py_ssize_t first, stop
    if digits.n_significant == 0:
        while at < end and text[at] == 48:
            at += 1
    first = at
    stop = min(end, at + MOST_DIGITS - digits.n_significant)
    while at < stop and is_digit(text[at]):
        mantissa = mantissa * 10 + (text[at] - 48)
        at += 1
    while at < end and is_digit(text[at]):
        at += 1
    digits.at = at
    digits.n_significant += at - first
    digits.mantissa = mantissa


cdef inline bint _read_exponent(
    const uint8_t* text, Py_ssize_t end, Digits* digits, int64_t* power
) noexcept nogil:
    """Add the signed whole number after the letter to the power; give False if there is none."""
    cdef Py_ssize_t at = digits.at + 1
    cdef int64_t far = (<int64_t> 1) << 40  # more than any text has digits; ten times it fits
    cdef bint negative = at < end and text[at] == c"-"
    cdef int64_t value = 0
    cdef Py_ssize_t first
    at += negative or (at < end and text[at] == c"+")
    first = at
    while at < end and is_digit(text[at]):
        value = min(value * 10 + (text[at] - 48), far)
        at += 1
    power[0] += -value if negative else value
    digits.at = at
    return at > first
