"""The layout of prepared columns: what the bits of an entry mean is written here and nowhere else.

An entry says which value a row has in a column::

    code << 36  |  reach << 32  |  row << row_bit  |  counts

``code`` is the place of the value among those of the column, ``reach`` how many codes further down
the next value lies that is not too close to cut between (`FAR`: look it up). Prepared entries have
a ``row_bit`` of 0. A tree's own copies for two classes keep below the row what the row counts: one
bit, 1 for a positive row; or, where rows count several times, four bits for the positives and
above them four for all.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from scumble.learn.c45.memory cimport start_of

cdef extern from *:
    """
    #define SCUMBLE_GAP 1e-5
    """
    const double GAP "SCUMBLE_GAP"  # values must differ by more than this to be cut apart

cdef enum:
    FAR = 15  # this many codes back, or more
    HEAVIEST = 15  # the largest weight an entry has room for
    WEIGHT_BIT = 4
    MISSING = 0xFFFFFFE  # the code of a missing value: above all others
    NO_DEFAULT = 0xFFFFFFF  # the default code of a column in which every row has an entry


cdef inline uint64_t code_of(uint64_t entry) noexcept nogil:
    return entry >> 36


cdef inline uint64_t reach_of(uint64_t entry) noexcept nogil:
    return entry >> 32 & FAR


cdef inline uint64_t row_of(uint64_t entry, int row_bit) noexcept nogil:
    return (entry & 0xFFFFFFFFU) >> row_bit


cdef inline uint64_t make_entry(uint64_t code, uint64_t reach, uint64_t row) noexcept nogil:
    return code << 36 | reach << 32 | row


cdef inline uint64_t own_entry(uint64_t entry, int row_bit, uint64_t counts) noexcept nogil:
    """Turn a prepared entry into a tree's own."""
    return (entry >> 32) << 32 | (entry & 0xFFFFFFFFU) << row_bit | counts


cdef inline uint64_t weight_in(uint64_t entry) noexcept nogil:
    return entry >> WEIGHT_BIT & HEAVIEST


cdef inline bint is_apart(const double* values, uint64_t below, uint64_t entry) noexcept nogil:
    """Tell whether a cut may lie between a code and the next entry, which mostly knows."""
    if reach_of(entry) == FAR:
        return values[below] + GAP < values[code_of(entry)]
    return below + reach_of(entry) <= code_of(entry)


cdef struct Columns:  # Columns as sorted lists of entries; rows in none have the default code.
    Py_ssize_t n
    uint64_t* entries
    double* values  # the value of each code of a numeric column, from its begin on
    int64_t* begins
    int64_t* ends
    int64_t* defaults
    int64_t* n_values  # 0 where the column is numeric
    int64_t* n_codes


cdef inline Columns view_columns(columns) except *:
    cdef Columns seen
    seen.n = len(columns.begins)
    seen.entries = start_of[uint64_t](columns.entries)
    seen.values = start_of[double](columns.values)
    seen.begins = start_of[int64_t](columns.begins)
    seen.ends = start_of[int64_t](columns.ends)
    seen.defaults = start_of[int64_t](columns.defaults)
    seen.n_values = start_of[int64_t](columns.n_values)
    seen.n_codes = start_of[int64_t](columns.n_codes)
    return seen


# Nominal columns by row: an item is a column with a value other than its default.
cdef struct Items:
    Py_ssize_t n
    const int64_t* indptr
    const uint32_t* indices
    const int64_t* first  # the first item of each column
    const int64_t* starts  # where an item's entries are
    const int64_t* stops
    const int32_t* codes


cdef inline Items view_items(items) except *:
    cdef Items seen
    seen.n = len(items.codes)
    seen.indptr = start_of[int64_t](items.indptr)
    seen.indices = start_of[uint32_t](items.indices)
    seen.first = start_of[int64_t](items.first)
    seen.starts = start_of[int64_t](items.starts)
    seen.stops = start_of[int64_t](items.stops)
    seen.codes = start_of[int32_t](items.codes)
    return seen
