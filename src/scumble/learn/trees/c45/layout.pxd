"""The layout of prepared columns; the meaning of the bits of an entry is defined only here.

An entry is a 64-bit number that says which value a row has in a column::

    code << 36  |  cut_distance << 32  |  row << row_shift  |  counts

``code`` is the rank of the value among the different values of the column. ``cut_distance`` is the
number of codes from it down to the next value that is far enough away for a cut between them;
`MAX_CUT_DISTANCE` means that this value has to be looked up. Prepared entries have a ``row_shift``
of 0 and no counts. A tree for two classes copies them and stores in the lowest bits how its row is
counted: one bit, 1 for a positive row; or, where rows are repeated, four bits for the weight of a
positive row (0 for a negative one) and, above them, four bits for the weight.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from scumble.learn.trees.c45.memory cimport data_pointer

cdef extern from *:
    """
    #define SCUMBLE_GAP 1e-5
    """
    const double MIN_VALUE_GAP "SCUMBLE_GAP"  # a cut needs values that differ by more, as in J48

cdef enum:
    MAX_CUT_DISTANCE = 15  # this number of codes, or a larger one
    MAX_ENTRY_WEIGHT = 15  # the largest weight that four bits hold
    WEIGHT_BIT = 4  # the lowest bit of the weight
    MISSING = 0xFFFFFFE  # the code of a missing value: larger than the codes of all values
    NO_DEFAULT = 0xFFFFFFF  # the default code of a column in which every row has an entry


cdef inline uint64_t code_of(uint64_t entry) noexcept nogil:
    """Return the code of the value."""
    return entry >> 36


cdef inline uint64_t cut_distance_of(uint64_t entry) noexcept nogil:
    """Return the cut distance, at most `MAX_CUT_DISTANCE`."""
    return entry >> 32 & MAX_CUT_DISTANCE


cdef inline uint64_t row_of(uint64_t entry, int row_shift) noexcept nogil:
    """Return the index of the row."""
    return (entry & 0xFFFFFFFFU) >> row_shift


cdef inline uint64_t make_entry(uint64_t code, uint64_t cut_distance, uint64_t row) noexcept nogil:
    """Return a prepared entry."""
    return code << 36 | cut_distance << 32 | row


cdef inline uint64_t make_tree_entry(
    uint64_t entry, int row_shift, uint64_t counts
) noexcept nogil:
    """Return the copy of a prepared entry that a tree uses."""
    return (entry >> 32) << 32 | (entry & 0xFFFFFFFFU) << row_shift | counts


cdef inline uint64_t entry_weight(uint64_t entry) noexcept nogil:
    """Return the weight of the row, if entries store weights."""
    return entry >> WEIGHT_BIT & MAX_ENTRY_WEIGHT


cdef inline bint can_cut_between(
    const double* values, uint64_t code_below, uint64_t entry
) noexcept nogil:
    """Return whether a cut is possible between the code before an entry and the entry.

    The values are looked up only if the cut distance of the entry is too large for its bits.
    """
    if cut_distance_of(entry) == MAX_CUT_DISTANCE:
        return values[code_below] + MIN_VALUE_GAP < values[code_of(entry)]
    return code_below + cut_distance_of(entry) <= code_of(entry)


cdef struct SortedColumns:  # columns as sorted lists of entries, see `c45.table`
    Py_ssize_t n
    uint64_t* entries
    double* values  # the value of code k of a numeric column c is values[starts[c] + k]
    int64_t* starts  # the entries of column c are entries[starts[c]:stops[c]]
    int64_t* stops
    int64_t* defaults  # the code of rows without an entry
    int64_t* n_values  # 0 where the column is numeric
    int64_t* n_codes


cdef inline SortedColumns view_columns(columns) except *:
    """Return pointers to the arrays of sorted columns, which must outlive them."""
    cdef SortedColumns view
    view.n = len(columns.starts)
    view.entries = data_pointer[uint64_t](columns.entries)
    view.values = data_pointer[double](columns.values)
    view.starts = data_pointer[int64_t](columns.starts)
    view.stops = data_pointer[int64_t](columns.stops)
    view.defaults = data_pointer[int64_t](columns.defaults)
    view.n_values = data_pointer[int64_t](columns.n_values)
    view.n_codes = data_pointer[int64_t](columns.n_codes)
    return view


# Nominal columns by row. An item is a nominal column with one of its values, except the default.
cdef struct Items:
    Py_ssize_t n
    const int64_t* indptr  # the items of row i are indices[indptr[i]:indptr[i + 1]]
    const uint32_t* indices
    const int64_t* column_indptr  # column c has items column_indptr[c] to column_indptr[c + 1] - 1
    const int64_t* starts  # an item's entries are columns.entries[starts[item]:stops[item]]
    const int64_t* stops
    const int32_t* codes


cdef inline Items view_items(items) except *:
    """Return pointers to the arrays of items, which must outlive them."""
    cdef Items view
    view.n = len(items.codes)
    view.indptr = data_pointer[int64_t](items.indptr)
    view.indices = data_pointer[uint32_t](items.indices)
    view.column_indptr = data_pointer[int64_t](items.column_indptr)
    view.starts = data_pointer[int64_t](items.starts)
    view.stops = data_pointer[int64_t](items.stops)
    view.codes = data_pointer[int32_t](items.codes)
    return view
