"""The layout of prepared columns: what the bits of an entry mean is written here and nowhere else.

An entry says which value a row has in a column::

    code << 36  |  reach << 32  |  row << row_bit  |  counts

``code`` is the place of the value among those of the column, ``reach`` how many codes further down
the next value lies that is not too close to cut between (`MAX_REACH`: look it up). Prepared entries have
a ``row_bit`` of 0. A tree's own copies for two classes keep below the row what the row counts: one
bit, 1 for a positive row; or, where rows count several times, four bits for the positives and
above them four for all.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from scumble.learn.c45.memory cimport data_pointer

cdef extern from *:
    """
    #define SCUMBLE_GAP 1e-5
    """
    const double MIN_VALUE_GAP "SCUMBLE_GAP"  # values must differ by more than this to be cut apart

cdef enum:
    MAX_REACH = 15  # this many codes back, or more
    MAX_ENTRY_WEIGHT = 15  # the largest weight an entry has room for
    WEIGHT_BIT = 4
    MISSING = 0xFFFFFFE  # the code of a missing value: above all others
    NO_DEFAULT = 0xFFFFFFF  # the default code of a column in which every row has an entry


cdef inline uint64_t code_of(uint64_t entry) noexcept nogil:
    return entry >> 36


cdef inline uint64_t reach_of(uint64_t entry) noexcept nogil:
    return entry >> 32 & MAX_REACH


cdef inline uint64_t row_of(uint64_t entry, int row_bit) noexcept nogil:
    return (entry & 0xFFFFFFFFU) >> row_bit


cdef inline uint64_t make_entry(uint64_t code, uint64_t reach, uint64_t row) noexcept nogil:
    return code << 36 | reach << 32 | row


cdef inline uint64_t make_tree_entry(uint64_t entry, int row_bit, uint64_t counts) noexcept nogil:
    """Turn a prepared entry into a tree's own."""
    return (entry >> 32) << 32 | (entry & 0xFFFFFFFFU) << row_bit | counts


cdef inline uint64_t entry_weight(uint64_t entry) noexcept nogil:
    return entry >> WEIGHT_BIT & MAX_ENTRY_WEIGHT


cdef inline bint can_cut_between(const double* values, uint64_t below, uint64_t entry) noexcept nogil:
    """Tell whether a cut may lie between a code and the next entry, which mostly knows."""
    if reach_of(entry) == MAX_REACH:
        return values[below] + MIN_VALUE_GAP < values[code_of(entry)]
    return below + reach_of(entry) <= code_of(entry)


cdef struct SortedColumns:  # SortedColumns as sorted lists of entries; rows in none have the default code.
    Py_ssize_t n
    uint64_t* entries
    double* values  # the value of each code of a numeric column, from its begin on
    int64_t* begins
    int64_t* ends
    int64_t* defaults
    int64_t* n_values  # 0 where the column is numeric
    int64_t* n_codes


cdef inline SortedColumns view_columns(columns) except *:
    cdef SortedColumns seen
    seen.n = len(columns.begins)
    seen.entries = data_pointer[uint64_t](columns.entries)
    seen.values = data_pointer[double](columns.values)
    seen.begins = data_pointer[int64_t](columns.begins)
    seen.ends = data_pointer[int64_t](columns.ends)
    seen.defaults = data_pointer[int64_t](columns.defaults)
    seen.n_values = data_pointer[int64_t](columns.n_values)
    seen.n_codes = data_pointer[int64_t](columns.n_codes)
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
    seen.indptr = data_pointer[int64_t](items.indptr)
    seen.indices = data_pointer[uint32_t](items.indices)
    seen.first = data_pointer[int64_t](items.first)
    seen.starts = data_pointer[int64_t](items.starts)
    seen.stops = data_pointer[int64_t](items.stops)
    seen.codes = data_pointer[int32_t](items.codes)
    return seen
