"""Parsing of numbers in text: small inline functions for all parsers."""

from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t, uint8_t, uint64_t

# The status of a text after parse_number.
cpdef enum:
    INTEGER = 0  # exact, written without point and exponent
    DECIMAL = 1  # exact
    LONG = 2  # a number that exact_floats has to parse
    NO_NUMBER = 3

cdef enum:
    EXACT_POWER = 22
    MAX_DIGITS = 19  # so many digits always fit 64 bits
    LOWER = 32  # the bit that makes an ASCII letter lower case

cdef extern from "Python.h":
    const Py_ssize_t NO_END "PY_SSIZE_T_MAX"  # end of a text whose bytes stop every number

cdef extern from *:
    """
    /* The powers of ten a double holds exactly. */
    static const double scumble_powers[23] = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
    };
    """
    const double* POWERS "scumble_powers"

cdef inline bint is_exact(uint64_t mantissa) noexcept nogil:
    """Return whether a whole number is certainly a double: all up to 2^53 are."""
    return mantissa <= (<uint64_t> 1) << 53


cdef inline bint is_digit(uint8_t byte) noexcept nogil:
    """Return whether a byte is a decimal digit."""
    return 48 <= byte <= 57


cdef inline bint is_before(Py_ssize_t position, Py_ssize_t end) noexcept nogil:
    """Return whether a position is before the end; with NO_END the compiler drops the test."""
    return end == NO_END or position < end


cdef inline Py_ssize_t count_byte(
    const uint8_t* text, Py_ssize_t size, uint8_t byte
) noexcept nogil:
    """Return how often a byte occurs in a text, which bounds the number of its parts."""
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t position
    for position in range(size):
        count += text[position] == byte
    return count


cdef inline double scaled(uint64_t mantissa, int64_t power, bint negative) noexcept nogil:
    """Return mantissa * 10^power, for a mantissa that ``is_exact`` and -22 <= power <= 22."""
    # Both operands are exact, so the result is rounded only once.
    cdef double value = <double> mantissa
    value = value * POWERS[power] if power >= 0 else value / POWERS[-power]
    return -value if negative else value


cdef inline bint is_word(
    const uint8_t* text, Py_ssize_t start, Py_ssize_t end, const char* word, Py_ssize_t length
) noexcept nogil:
    """Return whether ``text[start:end]`` is a word in any case; ``word`` is in lower case."""
    cdef Py_ssize_t position
    if end - start != length:
        return False
    for position in range(length):
        if text[start + position] | LOWER != <uint8_t> word[position]:
            return False
    return True


cdef struct Number:
    int status
    double value
    Py_ssize_t end  # position after the number, or of the first byte that does not fit


cdef inline Number read_number(
    const uint8_t* text, Py_ssize_t position, Py_ssize_t end, uint8_t point
) noexcept nogil:
    """Parse the number that begins at a position, up to ``end`` or the first byte after it."""
    cdef uint64_t mantissa = 0
    cdef int64_t power = 0
    cdef Py_ssize_t first_digit, n_digits
    cdef Number number
    cdef bint negative = is_before(position, end) and text[position] == c"-"
    cdef bint fits = True
    if negative or (is_before(position, end) and text[position] == c"+"):
        position += 1
    first_digit = position
    position = _read_digits(text, position, end, &mantissa)
    n_digits = position - first_digit
    number.status = INTEGER
    number.value = 0.0
    if is_before(position, end) and text[position] == point:
        number.status = DECIMAL
        power = position + 1
        position = _read_digits(text, position + 1, end, &mantissa)
        power -= position
        n_digits -= power
    if n_digits > MAX_DIGITS:
        fits = _n_significant(text, first_digit, position) <= MAX_DIGITS
    if n_digits and is_before(position, end) and text[position] | LOWER == c"e":
        number.status = DECIMAL
        if not _read_exponent(text, end, &position, &power):
            n_digits = 0
    number.end = position
    if n_digits == 0:
        number.status = NO_NUMBER
    elif fits and is_exact(mantissa) and -EXACT_POWER <= power <= EXACT_POWER:
        number.value = scaled(mantissa, power, negative)
    elif fits and mantissa == 0:
        number.value = -0.0 if negative else 0.0
    else:
        number.status = LONG
    return number


cdef inline Number parse_number(
    const uint8_t* text, Py_ssize_t start, Py_ssize_t end, uint8_t point
) noexcept nogil:
    """Parse all of ``text[start:end]``, without blanks around it: digits, nan, inf or infinity."""
    cdef Number number = read_number(text, start, end, point)
    cdef bint negative = start < end and text[start] == c"-"
    if number.status != NO_NUMBER and number.end == end:
        return number
    number.status = NO_NUMBER
    number.value = 0.0
    start += negative or (start < end and text[start] == c"+")
    if is_word(text, start, end, b"nan", 3):
        number.status = DECIMAL
        number.value = NAN
    elif is_word(text, start, end, b"inf", 3) or is_word(text, start, end, b"infinity", 8):
        number.status = DECIMAL
        number.value = -INFINITY if negative else INFINITY
    return number


cdef inline Py_ssize_t _read_digits(
    const uint8_t* text, Py_ssize_t position, Py_ssize_t end, uint64_t* mantissa
) noexcept nogil:
    """Append digits to the mantissa; return the position of the first byte that is no digit.

    The mantissa may overflow beyond 19 digits.
    """
    cdef unsigned int digit
    while is_before(position, end):
        digit = <unsigned int> text[position] - 48
        if digit > 9:
            break
        mantissa[0] = mantissa[0] * 10 + digit
        position += 1
    return position


cdef inline Py_ssize_t _n_significant(
    const uint8_t* text, Py_ssize_t position, Py_ssize_t end
) noexcept nogil:
    """Return the number of digits from the first nonzero one on; one byte may be the point."""
    cdef Py_ssize_t count = 0
    for position in range(position, end):
        count += is_digit(text[position]) and (count > 0 or text[position] != 48)
    return count


cdef inline bint _read_exponent(
    const uint8_t* text, Py_ssize_t end, Py_ssize_t* letter, int64_t* power
) noexcept nogil:
    """Add the exponent after the letter e to the power; return False if there is no number.

    ``letter`` is the position of the e; it is moved to the end of the exponent.
    """
    cdef Py_ssize_t position = letter[0] + 1
    cdef int64_t limit = (<int64_t> 1) << 40  # more than any text has digits; ten times it fits
    cdef bint negative = is_before(position, end) and text[position] == c"-"
    cdef int64_t value = 0
    cdef Py_ssize_t first_digit
    position += negative or (is_before(position, end) and text[position] == c"+")
    first_digit = position
    while is_before(position, end) and is_digit(text[position]):
        value = min(value * 10 + (text[position] - 48), limit)
        position += 1
    power[0] += -value if negative else value
    letter[0] = position
    return position > first_digit
