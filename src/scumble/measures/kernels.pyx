"""Loops over label assignments. Each takes a range of rows, so threads can share Y."""

from libc.math cimport exp, log
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from scumble._core.interrupt cimport check_stop
from scumble._core.types cimport index_t

import numpy as np

cdef enum:
    CHUNK_ROWS = 2048  # sorted by size at a time
    CACHE_HOLDS = 32_768  # labels, of which the table of ratios and sums fits the cache of a core
    LONG = 5  # rows with this many labels or more share one loop
    SAFE_FACTORS = 16  # ratios are below 2**63, so 16 of them multiply without overflow
    UNROLLED = 4  # labels of a row looked at without a branch
    AHEAD = 12  # rows whose slots are asked for before they are needed
    STEP = 1 << 17  # rows between two looks at whether to stop

# For tests.
CHUNK = CHUNK_ROWS
CACHED_LABELS = CACHE_HOLDS

cdef extern from "scumble/_core/prefetch.h" nogil:
    void prefetch(const void*)

cdef extern from "scumble/measures/means.h" nogil:
    void take_all_square_roots(double*, Py_ssize_t)
    void take_all_cube_roots(double*, Py_ssize_t)
    void compare_means(double*, const double*, const double*, Py_ssize_t)

cdef uint64_t HASHED = <uint64_t>1 << 63  # set in the key of a row that is too long to be packed

# Counts, and row numbers in the order of their partitions: as narrow as they can be.
ctypedef fused uint_t:
    uint32_t
    uint64_t

cdef struct Work:
    # The rows of a chunk by their number of labels, and what is known of the rows of one number.
    uint8_t sizes[CHUNK_ROWS + 8]  # numbers of labels, `LONG` for more
    uint16_t rows[LONG + 1][CHUNK_ROWS + 8]  # counted from the start of the chunk
    Py_ssize_t n_rows[LONG + 1]
    double geometric[CHUNK_ROWS]
    double arithmetic[CHUNK_ROWS]
    double spread[CHUNK_ROWS]  # 0 where all ratios are equal: such rows score exactly 0
    double total  # of all scores so far

cdef struct Packing:
    # How the labels of a row become 64 bits.
    int bits  # of a label
    Py_ssize_t capacity  # labels that fit
    Py_ssize_t n_indices

cdef struct Slots:
    # A hash table of places plus 1; 0 is free.
    uint32_t* places
    uint64_t mask  # its size, a power of two, less 1


def count_labels(
    const index_t[::1] indices, Py_ssize_t start, Py_ssize_t stop, uint_t[::1] counts
):
    """Count the labels among the assignments start..stop."""
    cdef Py_ssize_t high, at
    with nogil:
        while start < stop:
            check_stop()
            high = min(start + 64 * STEP, stop)
            for at in range(start, high):
                counts[indices[at]] += 1
            start = high


def score_rows(
    const index_t[::1] indptr, const index_t[::1] indices, double[:, ::1] table,
    Py_ssize_t start, Py_ssize_t stop, double[::1] scores,
):
    """Score rows start..stop: 1 - geometric / arithmetic mean of their labels' ratios.

    ``table`` holds (ratio, sum of scores) of each label side by side, so that a label costs one
    cache line; the sums are added to. The total of all scores is returned.

    Rows are taken in chunks and, within a chunk, by their number of labels: a loop that ends
    after two rounds, then four, then one would mostly wait for mispredicted branches. Looking
    up, computing and adding up are loops of their own: loads then overlap, and the arithmetic
    of several rows goes through one vector instruction.
    """
    cdef Py_ssize_t high, low = start
    cdef Work work
    if start >= stop:
        return 0.0
    if indptr[start] == indptr[stop]:
        memset(&scores[start], 0, (stop - start) * sizeof(double))
        return 0.0
    work.total = 0.0
    with nogil:
        while low < stop:
            if (low - start) % STEP == 0:
                check_stop()
            high = min(low + CHUNK_ROWS, stop)
            if table.shape[0] > CACHE_HOLDS:
                _fetch(&table[0, 0], &indices[0], indptr[low], indptr[high])
            memset(&scores[low], 0, (high - low) * sizeof(double))
            _sort_by_size(&indptr[low], high - low, &work)
            _score_size(&indptr[low], &indices[0], &table[0, 0], &work, &scores[low], 2)
            _score_size(&indptr[low], &indices[0], &table[0, 0], &work, &scores[low], 3)
            _score_size(&indptr[low], &indices[0], &table[0, 0], &work, &scores[low], 4)
            _score_size(&indptr[low], &indices[0], &table[0, 0], &work, &scores[low], LONG)
            low = high
    return work.total


cdef void _fetch(
    const double* table, const index_t* indices, Py_ssize_t first, Py_ssize_t last
) noexcept nogil:
    """Bring the ratios of the assignments first..last into the cache.

    A loop that does nothing else has many more of its misses under way at a time than one that
    also computes.
    """
    cdef Py_ssize_t at
    for at in range(first, last):
        prefetch(&table[2 * <Py_ssize_t>indices[at]])


cdef void _sort_by_size(const index_t* indptr, Py_ssize_t n_rows, Work* work) noexcept nogil:
    """List the rows of 2, 3, 4 labels and those of `LONG` or more, eight rows at a time.

    The size of the next row is anyone's guess, and a wrong guess costs more than all this: a row
    takes a third of the time it takes one by one. Sizes are up to 5, so three bits tell them.
    """
    cdef uint64_t ones = <uint64_t>0x0101010101010101
    cdef uint64_t eight, ends_on_one, has_two, has_four
    cdef index_t size
    cdef Py_ssize_t row
    for row in range(n_rows):
        size = indptr[row + 1] - indptr[row]
        work.sizes[row] = <uint8_t>(size if size < LONG else LONG)
    memset(work.sizes + n_rows, 0, 8)
    memset(work.n_rows, 0, sizeof(work.n_rows))
    row = 0
    while row < n_rows:
        memcpy(&eight, work.sizes + row, 8)
        ends_on_one = eight & ones
        has_two = (eight >> 1) & ones
        has_four = (eight >> 2) & ones
        _append(work, 2, has_two & ~ends_on_one, row)
        _append(work, 3, has_two & ends_on_one, row)
        _append(work, 4, has_four & ~ends_on_one, row)
        _append(work, LONG, has_four & ends_on_one, row)
        row += 8


cdef inline void _append(Work* work, int size, uint64_t chosen, Py_ssize_t row) noexcept nogil:
    """List those of eight rows whose byte is 1. More is written, but the list ends before it."""
    cdef uint64_t mask = (chosen * <uint64_t>0x0102040810204080) >> 56  # one bit a byte
    cdef uint16_t* end = work.rows[size] + work.n_rows[size]
    cdef int at
    for at in range(8):
        end[at] = <uint16_t>(PLACES[mask][at] + row)
    work.n_rows[size] += N_PLACES[mask]


cdef void _list_places() noexcept:
    """List the places of the ones among eight bits, for `_append`."""
    cdef uint64_t first = 1
    cdef bint is_little = (<uint8_t*>&first)[0] == 1  # the first byte is the lowest one
    cdef int mask, place
    for mask in range(256):
        for place in range(8):
            if mask >> (place if is_little else 7 - place) & 1:
                PLACES[mask][N_PLACES[mask]] = <uint16_t>place
                N_PLACES[mask] += 1


cdef uint16_t[256][8] PLACES
cdef uint8_t[256] N_PLACES
_list_places()


cdef inline void _score_size(
    const index_t* indptr, const index_t* indices, double* table, Work* work, double* scores,
    int size,
) noexcept nogil:
    """Score the rows of ``size`` labels; as a constant it unrolls loops."""
    cdef Py_ssize_t n_rows = work.n_rows[size]
    _look_up(indptr, indices, table, work, size)
    if size == 3:
        take_all_cube_roots(work.geometric, n_rows)
    if size == 2 or size == 4:
        take_all_square_roots(work.geometric, n_rows)
    if size == 4:
        take_all_square_roots(work.geometric, n_rows)
    compare_means(work.geometric, work.arithmetic, work.spread, n_rows)
    _add_up(indptr, indices, table, work, scores, size)


cdef inline void _look_up(
    const index_t* indptr, const index_t* indices, const double* table, Work* work, int size
) noexcept nogil:
    """Take the means of rows of ``size`` labels, but for the root of products of few ratios.

    The ratios of many may multiply to more than a float holds: these products become logarithms.
    """
    cdef const index_t* labels
    cdef double lead, ratio, product, ratio_sum, log_sum, spread
    cdef Py_ssize_t place, row, at
    cdef Py_ssize_t n_labels = size
    for place in range(work.n_rows[size]):
        row = work.rows[size][place]
        labels = indices + indptr[row]
        if size == LONG:
            n_labels = indptr[row + 1] - indptr[row]
        lead = product = ratio_sum = table[2 * <Py_ssize_t>labels[0]]
        log_sum = spread = 0.0
        for at in range(1, n_labels):
            ratio = table[2 * <Py_ssize_t>labels[at]]
            product *= ratio
            ratio_sum += ratio
            spread += (ratio - lead) * (ratio - lead)
            if size == LONG and at % SAFE_FACTORS == SAFE_FACTORS - 1:
                log_sum += log(product)
                product = 1.0
        if size == LONG:
            product = exp((log_sum + log(product)) / n_labels)
        work.geometric[place] = product
        work.arithmetic[place] = ratio_sum / n_labels if size == LONG else ratio_sum * (1.0 / size)
        work.spread[place] = spread


cdef inline void _add_up(
    const index_t* indptr, const index_t* indices, double* table, Work* work, double* scores,
    int size,
) noexcept nogil:
    """Write the scores of rows of ``size`` labels and add them to those of their labels."""
    cdef const index_t* labels
    cdef double score
    cdef double total = 0.0
    cdef Py_ssize_t place, row, at
    for place in range(work.n_rows[size]):
        row = work.rows[size][place]
        score = work.geometric[place]
        labels = indices + indptr[row]
        scores[row] = score
        total += score
        for at in range(size if size < LONG else indptr[row + 1] - indptr[row]):
            table[2 * <Py_ssize_t>labels[at] + 1] += score
    work.total += total


def take_cube_roots(double[::1] values):
    """Replace values of at least 1 by their cube roots."""
    if values.shape[0]:
        take_all_cube_roots(&values[0], values.shape[0])


def sum_deviations(
    const index_t[::1] indptr, const index_t[::1] indices, const double[::1] scores, double mean,
    const double[::1] means, Py_ssize_t start, Py_ssize_t stop, double[::1] squares,
):
    """Add squared deviations from the labels' means; return those from the overall mean.

    A second look at the scores: sums of squares alone lose all digits where scores are equal.
    """
    cdef double score, total = 0.0
    cdef Py_ssize_t row, at, label
    with nogil:
        for row in range(start, stop):
            if (row - start) % STEP == 0:
                check_stop()
            score = scores[row]
            total += (score - mean) * (score - mean)
            for at in range(indptr[row], indptr[row + 1]):
                label = indices[at]
                squares[label] += (score - means[label]) * (score - means[label])
    return total


cdef Packing _packing(object n_labels, Py_ssize_t n_indices):
    """Tell how the labels 1..n_labels are packed into 63 bits."""
    cdef int bits = max(n_labels.bit_length(), 1)
    return Packing(bits, 63 // bits, n_indices)


cdef inline uint64_t _row_key(
    const index_t* indptr, const index_t* indices, Py_ssize_t row, Packing packing
) noexcept nogil:
    """Name a row's labels by 64 bits: exactly where they fit, else by a hash.

    A short row is packed, a few bits a label, below the top bit. A long one is hashed, and the
    top bit says so: equal keys with that bit set need a look at the rows themselves.
    """
    cdef const index_t* labels = indices + indptr[row]
    cdef Py_ssize_t size = indptr[row + 1] - indptr[row]
    cdef uint64_t longer, value = 0
    cdef Py_ssize_t at
    if (
        size <= UNROLLED and UNROLLED <= packing.capacity
        and indptr[row] + UNROLLED <= packing.n_indices
    ):
        # Most rows: read all four places and choose, as the size of the next row is anyone's
        # guess and a wrong guess costs more than this.
        for at in range(UNROLLED):
            longer = (value << packing.bits) | (<uint64_t>labels[at] + 1)
            value = longer if at < size else value
        return value
    if size <= packing.capacity:
        for at in range(size):
            value = (value << packing.bits) | (<uint64_t>labels[at] + 1)
        return value
    for at in range(size):
        value = _mix(value ^ (<uint64_t>labels[at] + 1))
    return value | HASHED


cdef inline uint64_t _mix(uint64_t value) noexcept nogil:
    """Spread 64 bits over 64 bits, one to one."""
    value ^= value >> 33
    value *= <uint64_t>0xFF51AFD7ED558CCD
    value ^= value >> 33
    value *= <uint64_t>0xC4CEB9FE1A85EC53
    return value ^ (value >> 33)


def partition_rows(
    const index_t[::1] indptr, const index_t[::1] indices, Py_ssize_t n_labels,
    Py_ssize_t start, Py_ssize_t stop, int64_t[::1] places, uint64_t[::1] keys, uint_t[::1] rows,
):
    """Write each row's key and number to the next place of its partition.

    The top bits of its mixed key tell the partition. Without room for keys the rows are counted:
    the places move on all the same.
    """
    cdef Packing packing = _packing(n_labels, indices.shape[0])
    cdef int shift = 65 - (<object>places.shape[0]).bit_length()  # a power of two, at least two
    cdef const index_t* labels = &indices[0] if indices.shape[0] else NULL
    cdef bint is_written = keys.shape[0] > 0
    cdef Py_ssize_t row, place
    cdef uint64_t key, partition
    with nogil:
        for row in range(start, stop):
            if (row - start) % STEP == 0:
                check_stop()
            key = _row_key(&indptr[0], labels, row, packing)
            partition = _mix(key) >> shift
            place = places[partition]
            places[partition] = place + 1
            if is_written:
                keys[place] = key
                rows[place] = <uint_t>row


def group_rows(
    const index_t[::1] indptr, const index_t[::1] indices, uint64_t[::1] keys, uint_t[::1] rows,
    const int64_t[::1] starts, Py_ssize_t first, Py_ssize_t last, int64_t[::1] sizes,
):
    """Group the rows of the partitions first..last by their labels, in place.

    Afterwards, with ``start`` the start of a partition and ``n`` what ``sizes`` says of it,
    ``rows[start:start + n]`` holds the first row of each group and ``keys[start:start + n]``
    its size, instead of its key: fresh memory would cost more than the grouping.
    """
    cdef const index_t* labels = &indices[0] if indices.shape[0] else NULL
    cdef Py_ssize_t partition, start, n_rows
    cdef Py_ssize_t most = starts[last] - starts[first]
    cdef uint64_t[::1] counts
    cdef uint32_t[::1] places
    cdef Slots slots
    # Room for all these partitions: what the largest of them does not touch costs nothing.
    counts, places = np.empty(most + 1, np.uint64), np.empty(_room(most), np.uint32)
    slots.places = &places[0]
    with nogil:
        for partition in range(first, last):
            check_stop()
            start = starts[partition]
            n_rows = starts[partition + 1] - start
            sizes[partition] = 0
            if n_rows > 0:
                slots.mask = _room(n_rows) - 1
                memset(slots.places, 0, (slots.mask + 1) * sizeof(uint32_t))
                sizes[partition] = _group(
                    &indptr[0], labels, &keys[start], &rows[start], n_rows, slots, &counts[0]
                )


cdef Py_ssize_t _group(
    const index_t* indptr, const index_t* indices, uint64_t* keys, uint_t* rows, Py_ssize_t n_rows,
    Slots slots, uint64_t* counts,
) noexcept nogil:
    """Group the rows of a partition and return the number of groups."""
    cdef Py_ssize_t place, end = 0
    cdef uint64_t slot
    cdef uint32_t group
    for place in range(n_rows):
        prefetch(&slots.places[_mix(keys[min(place + AHEAD, n_rows - 1)]) & slots.mask])
        slot = _find_slot(indptr, indices, keys, rows, slots, place)
        group = slots.places[slot]
        if group == 0:
            # Groups never outrun the rows read, so they may move into places already read.
            keys[end] = keys[place]
            rows[end] = rows[place]
            counts[end] = 1
            end += 1
            slots.places[slot] = <uint32_t>end
        else:
            counts[group - 1] += 1
    memcpy(keys, counts, end * sizeof(uint64_t))
    return end


def number_labelsets(
    const index_t[::1] indptr, const index_t[::1] indices, Py_ssize_t n_labels
):
    """Give the labelsets numbers in the order of their first rows: one a row, and these rows."""
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1
    cdef Packing packing = _packing(n_labels, indices.shape[0])
    cdef const index_t* labels = &indices[0] if indices.shape[0] else NULL
    cdef int64_t[::1] numbers
    cdef uint64_t[::1] keys, first_rows
    cdef uint32_t[::1] places
    cdef Slots slots
    cdef uint64_t slot
    cdef Py_ssize_t row, n_found = 0
    number_of, first_of = np.empty(n_rows, np.int64), np.empty(n_rows + 1, np.uint64)
    numbers, first_rows, keys = number_of, first_of, np.empty(n_rows + 1, np.uint64)
    places = np.zeros(_room(n_rows), np.uint32)
    slots.places, slots.mask = &places[0], places.shape[0] - 1
    with nogil:
        for row in range(n_rows):
            if row % STEP == 0:
                check_stop()
            keys[n_found] = _row_key(&indptr[0], labels, row, packing)
            first_rows[n_found] = row
            slot = _find_slot(&indptr[0], labels, &keys[0], &first_rows[0], slots, n_found)
            if slots.places[slot] == 0:
                n_found += 1
                slots.places[slot] = <uint32_t>n_found
            numbers[row] = slots.places[slot] - 1
    return number_of, first_of[:n_found].astype(np.int64)


cdef Py_ssize_t _room(Py_ssize_t n_rows) noexcept nogil:
    """Tell how many slots so many rows need: at least two a row and a power of two."""
    cdef Py_ssize_t size = 16
    while size < 2 * n_rows:
        size *= 2
    return size


cdef inline uint64_t _find_slot(
    const index_t* indptr, const index_t* indices, const uint64_t* keys, const uint_t* rows,
    Slots slots, Py_ssize_t place,
) noexcept nogil:
    """Find the slot of a row's group, or the free one for it."""
    cdef uint64_t key = keys[place]
    cdef uint64_t slot = _mix(key) & slots.mask
    cdef Py_ssize_t group
    while slots.places[slot] != 0:
        group = slots.places[slot] - 1
        if keys[group] == key and (
            key < HASHED or _same_row(indptr, indices, rows[group], rows[place])
        ):
            return slot
        slot = (slot + 1) & slots.mask
    return slot


cdef bint _same_row(
    const index_t* indptr, const index_t* indices, Py_ssize_t a, Py_ssize_t b
) noexcept nogil:
    """Tell whether two rows have the same labels."""
    cdef Py_ssize_t size = indptr[a + 1] - indptr[a]
    return size == indptr[b + 1] - indptr[b] and memcmp(
        indices + indptr[a], indices + indptr[b], size * sizeof(index_t)
    ) == 0
