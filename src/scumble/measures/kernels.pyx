"""Kernels over label assignments. Each processes a range of rows, so that threads can share Y.

``indptr`` and ``indices`` are those of Y as a CSR matrix: row ``i`` has the labels
``indices[indptr[i]:indptr[i + 1]]``. The *size* of a row is its number of labels, its *labelset* is
the set of these. A label *assignment* is an element of ``indices``.
"""

from libc.math cimport exp, log
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from scumble._core.interrupt cimport check_stop
from scumble._core.types cimport index_t

import numpy as np

cdef enum:
    CHUNK_ROWS = 2048  # rows that are sorted by size at a time
    MAX_CACHED_LABELS = 32_768  # labels whose table of ratios and sums fits in the cache of a core
    LONG = 5  # rows with at least so many labels share one loop; each smaller size has its own
    SAFE_FACTORS = 16  # ratios are below 2**63, so the product of 16 of them does not overflow
    UNROLLED = 4  # number of labels of a row that are read without a branch
    PREFETCH_DISTANCE = 12  # rows between the prefetch of a slot and its use
    STEP = 1 << 17  # rows between two calls of check_stop, which lets users interrupt

# For tests.
CHUNK = CHUNK_ROWS
CACHED_LABELS = MAX_CACHED_LABELS

cdef extern from "scumble/_core/prefetch.h" nogil:
    void prefetch(const void*)

cdef extern from "scumble/measures/means.h" nogil:
    void take_all_square_roots(double*, Py_ssize_t)
    void take_all_cube_roots(double*, Py_ssize_t)
    void compare_means(double*, const double*, const double*, Py_ssize_t)

cdef uint64_t HASHED = <uint64_t>1 << 63  # the bit that marks keys that are hashes, see _row_key

# The type of counts and row indices: 32 bits where they suffice.
ctypedef fused uint_t:
    uint32_t
    uint64_t

cdef struct Work:
    # The rows of a chunk by size, their number of labels, and the means of the rows of one size.
    uint8_t sizes[CHUNK_ROWS + 8]  # at most `LONG`
    uint16_t rows[LONG + 1][CHUNK_ROWS + 8]  # for each size, indices within the chunk
    Py_ssize_t n_rows[LONG + 1]  # of each size
    double geometric[CHUNK_ROWS]
    double arithmetic[CHUNK_ROWS]
    double spread[CHUNK_ROWS]  # 0 if all ratios are equal: such rows score exactly 0
    double total  # of all scores so far

cdef struct Packing:
    # The layout of the labels of a row in a key of 64 bits.
    int bits  # number of bits per label
    Py_ssize_t capacity  # maximum number of labels in a key
    Py_ssize_t n_indices  # length of `indices`, beyond which nothing may be read

cdef struct Slots:
    # A hash table of groups of rows with the same labels; open addressing with linear probing.
    uint32_t* groups  # index of the group plus 1; 0 in a free slot
    uint64_t mask  # number of slots, a power of two, less 1


def count_labels(
    const index_t[::1] indices, Py_ssize_t start, Py_ssize_t stop, uint_t[::1] counts
):
    """Add the numbers of assignments of each label, among those at start..stop, to ``counts``."""
    cdef Py_ssize_t chunk_stop, i
    with nogil:
        while start < stop:
            check_stop()
            chunk_stop = min(start + 64 * STEP, stop)
            for i in range(start, chunk_stop):
                counts[indices[i]] += 1
            start = chunk_stop


def score_rows(
    const index_t[::1] indptr, const index_t[::1] indices, double[:, ::1] table,
    Py_ssize_t start, Py_ssize_t stop, double[::1] scores,
):
    """Write the scores of rows start..stop and return their sum.

    A score is 1 - geometric mean / arithmetic mean of the ratios of the labels of a row. ``table``
    holds two values for each label: its ratio, and the sum of the scores of its rows, which is
    updated. They are side by side, so that a label needs one cache line.

    Rows are processed in chunks and, within a chunk, by size, their number of labels. A loop over
    the labels of rows in their order would mostly wait for mispredicted branches. The lookup of
    ratios, the arithmetic and the sums are separate loops, so that loads overlap and one vector
    instruction computes several rows.
    """
    cdef Py_ssize_t chunk_stop
    cdef Py_ssize_t chunk_start = start
    cdef Work work
    if start >= stop:
        return 0.0
    if indptr[start] == indptr[stop]:
        memset(&scores[start], 0, (stop - start) * sizeof(double))
        return 0.0
    work.total = 0.0
    with nogil:
        while chunk_start < stop:
            if (chunk_start - start) % STEP == 0:
                check_stop()
            chunk_stop = min(chunk_start + CHUNK_ROWS, stop)
            if table.shape[0] > MAX_CACHED_LABELS:
                _prefetch_ratios(
                    &table[0, 0], &indices[0], indptr[chunk_start], indptr[chunk_stop]
                )
            memset(&scores[chunk_start], 0, (chunk_stop - chunk_start) * sizeof(double))
            _sort_by_size(&indptr[chunk_start], chunk_stop - chunk_start, &work)
            # Four calls with a constant size, for which the compiler unrolls the loops.
            _score_size(
                &indptr[chunk_start], &indices[0], &table[0, 0], &work, &scores[chunk_start], 2
            )
            _score_size(
                &indptr[chunk_start], &indices[0], &table[0, 0], &work, &scores[chunk_start], 3
            )
            _score_size(
                &indptr[chunk_start], &indices[0], &table[0, 0], &work, &scores[chunk_start], 4
            )
            _score_size(
                &indptr[chunk_start], &indices[0], &table[0, 0], &work, &scores[chunk_start], LONG
            )
            chunk_start = chunk_stop
    return work.total


cdef void _prefetch_ratios(
    const double* table, const index_t* indices, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil:
    """Load the ratios of the assignments start..stop into the cache.

    A loop that only prefetches has many more cache misses in progress than one that also computes.
    """
    cdef Py_ssize_t i
    for i in range(start, stop):
        prefetch(&table[2 * <Py_ssize_t>indices[i]])


cdef void _sort_by_size(const index_t* indptr, Py_ssize_t n_rows, Work* work) noexcept nogil:
    """Write the indices of the rows with 2, 3, 4 and at least `LONG` labels to ``work.rows``.

    Eight rows are processed at a time.

    Branches on the size of a row would be mispredicted. Without them, a row takes a third of the
    time. Sizes are at most 5, so three bits of each byte hold them.
    """
    cdef uint64_t ones = <uint64_t>0x0101010101010101
    cdef uint64_t eight_sizes, has_bit_0, has_bit_1, has_bit_2
    cdef index_t size
    cdef Py_ssize_t row
    for row in range(n_rows):
        size = indptr[row + 1] - indptr[row]
        work.sizes[row] = <uint8_t>(size if size < LONG else LONG)
    memset(work.sizes + n_rows, 0, 8)
    memset(work.n_rows, 0, sizeof(work.n_rows))
    row = 0
    while row < n_rows:
        memcpy(&eight_sizes, work.sizes + row, 8)
        has_bit_0 = eight_sizes & ones
        has_bit_1 = (eight_sizes >> 1) & ones
        has_bit_2 = (eight_sizes >> 2) & ones
        _append(work, 2, has_bit_1 & ~has_bit_0, row)
        _append(work, 3, has_bit_1 & has_bit_0, row)
        _append(work, 4, has_bit_2 & ~has_bit_0, row)
        _append(work, LONG, has_bit_2 & has_bit_0, row)
        row += 8


cdef inline void _append(Work* work, int size, uint64_t selected, Py_ssize_t row) noexcept nogil:
    """Append the indices of the selected ones of eight rows to the list of a size.

    The eight rows start at ``row``. A row is selected if its byte in ``selected`` is 1. Eight
    indices are always written, but the list ends after the selected ones.
    """
    cdef uint64_t mask = (selected * <uint64_t>0x0102040810204080) >> 56  # a bit per byte
    cdef uint16_t* end = work.rows[size] + work.n_rows[size]
    cdef int i
    for i in range(8):
        end[i] = <uint16_t>(BIT_INDICES[mask][i] + row)
    work.n_rows[size] += N_BITS[mask]


cdef void _fill_bit_tables() noexcept:
    """Fill the tables of the indices and numbers of the bits in each byte, for `_append`."""
    cdef uint64_t one_value = 1
    cdef bint is_little_endian = (<uint8_t*>&one_value)[0] == 1
    cdef int mask, bit
    for mask in range(256):
        for bit in range(8):
            if mask >> (bit if is_little_endian else 7 - bit) & 1:
                BIT_INDICES[mask][N_BITS[mask]] = <uint16_t>bit
                N_BITS[mask] += 1


cdef uint16_t[256][8] BIT_INDICES
cdef uint8_t[256] N_BITS
_fill_bit_tables()


cdef inline void _score_size(
    const index_t* indptr, const index_t* indices, double* table, Work* work, double* scores,
    int size,
) noexcept nogil:
    """Compute and write the scores of the rows of one size, and add them to the sums of labels."""
    cdef Py_ssize_t n_rows = work.n_rows[size]
    _compute_means(indptr, indices, table, work, size)
    if size == 3:
        take_all_cube_roots(work.geometric, n_rows)
    if size == 2 or size == 4:
        take_all_square_roots(work.geometric, n_rows)
    if size == 4:
        take_all_square_roots(work.geometric, n_rows)
    compare_means(work.geometric, work.arithmetic, work.spread, n_rows)
    _add_scores(indptr, indices, table, work, scores, size)


cdef inline void _compute_means(
    const index_t* indptr, const index_t* indices, const double* table, Work* work, int size
) noexcept nogil:
    """Write the arithmetic and geometric means of the ratios of the rows of one size to ``work``.

    Geometric means of few ratios are left as products, without the root. Products of many ratios
    could overflow, so logarithms are added for them. The spread is a sum of squared differences,
    which is 0 if all ratios of a row are equal.
    """
    cdef const index_t* labels
    cdef double first_ratio, ratio, product, ratio_sum, log_sum, spread
    cdef Py_ssize_t i, k, row
    cdef Py_ssize_t n_labels = size
    for i in range(work.n_rows[size]):
        row = work.rows[size][i]
        labels = indices + indptr[row]
        if size == LONG:
            n_labels = indptr[row + 1] - indptr[row]
        first_ratio = table[2 * <Py_ssize_t>labels[0]]
        product = first_ratio
        ratio_sum = first_ratio
        log_sum = 0.0
        spread = 0.0
        for k in range(1, n_labels):
            ratio = table[2 * <Py_ssize_t>labels[k]]
            product *= ratio
            ratio_sum += ratio
            spread += (ratio - first_ratio) * (ratio - first_ratio)
            if size == LONG and k % SAFE_FACTORS == SAFE_FACTORS - 1:
                log_sum += log(product)
                product = 1.0
        if size == LONG:
            product = exp((log_sum + log(product)) / n_labels)
        work.geometric[i] = product
        work.arithmetic[i] = ratio_sum / n_labels if size == LONG else ratio_sum * (1.0 / size)
        work.spread[i] = spread


cdef inline void _add_scores(
    const index_t* indptr, const index_t* indices, double* table, Work* work, double* scores,
    int size,
) noexcept nogil:
    """Write the scores of the rows of one size, and add them to the sums of labels and of all."""
    cdef const index_t* labels
    cdef double score
    cdef double total = 0.0
    cdef Py_ssize_t i, k, row
    for i in range(work.n_rows[size]):
        row = work.rows[size][i]
        score = work.geometric[i]
        labels = indices + indptr[row]
        scores[row] = score
        total += score
        for k in range(size if size < LONG else indptr[row + 1] - indptr[row]):
            table[2 * <Py_ssize_t>labels[k] + 1] += score
    work.total += total


def take_cube_roots(double[::1] values):
    """Replace values of at least 1 by their cube roots."""
    if values.shape[0]:
        take_all_cube_roots(&values[0], values.shape[0])


def sum_deviations(
    const index_t[::1] indptr, const index_t[::1] indices, const double[::1] scores, double mean,
    const double[::1] means, Py_ssize_t start, Py_ssize_t stop, double[::1] squares,
):
    """Return the sum of squared deviations of the scores of rows start..stop from ``mean``.

    For each label, the squared deviations of the scores of its rows from the mean of the label, in
    ``means``, are added to ``squares``. Sums of squares, which need no mean, would lose all digits
    if scores are nearly equal.
    """
    cdef double score, total = 0.0
    cdef Py_ssize_t row, i, label
    with nogil:
        for row in range(start, stop):
            if (row - start) % STEP == 0:
                check_stop()
            score = scores[row]
            total += (score - mean) * (score - mean)
            for i in range(indptr[row], indptr[row + 1]):
                label = indices[i]
                squares[label] += (score - means[label]) * (score - means[label])
    return total


cdef Packing _choose_packing(object n_labels, Py_ssize_t n_indices):
    """Return the layout of keys with 63 bits for the labels, which are numbered 1..n_labels."""
    cdef int bits = max(n_labels.bit_length(), 1)
    return Packing(bits, 63 // bits, n_indices)


cdef inline uint64_t _row_key(
    const index_t* indptr, const index_t* indices, Py_ssize_t row, Packing packing
) noexcept nogil:
    """Return a key of the labels of a row; rows with equal labels have equal keys.

    The key of a short row holds all its labels, a few bits for each. The key of a long row is a
    hash with the highest bit set: rows with equal hashes have to be compared.
    """
    cdef const index_t* labels = indices + indptr[row]
    cdef Py_ssize_t size = indptr[row + 1] - indptr[row]
    cdef uint64_t value = 0
    cdef uint64_t with_label
    cdef Py_ssize_t i
    if (
        size <= UNROLLED and UNROLLED <= packing.capacity
        and indptr[row] + UNROLLED <= packing.n_indices
    ):
        # Most rows: always four labels are read, because a branch on the size of a row would be
        # mispredicted, which takes longer.
        for i in range(UNROLLED):
            with_label = (value << packing.bits) | (<uint64_t>labels[i] + 1)
            value = with_label if i < size else value
        return value
    if size <= packing.capacity:
        for i in range(size):
            value = (value << packing.bits) | (<uint64_t>labels[i] + 1)
        return value
    for i in range(size):
        value = _mix(value ^ (<uint64_t>labels[i] + 1))
    return value | HASHED


cdef inline uint64_t _mix(uint64_t value) noexcept nogil:
    """Return a hash of 64 bits, different for different values (the finalizer of MurmurHash3)."""
    value ^= value >> 33
    value *= <uint64_t>0xFF51AFD7ED558CCD
    value ^= value >> 33
    value *= <uint64_t>0xC4CEB9FE1A85EC53
    return value ^ (value >> 33)


def partition_rows(
    const index_t[::1] indptr, const index_t[::1] indices, Py_ssize_t n_labels,
    Py_ssize_t start, Py_ssize_t stop, int64_t[::1] positions, uint64_t[::1] keys, uint_t[::1] rows,
):
    """Write the key and the index of rows start..stop to the next position of their partitions.

    The highest bits of the hashed key are the index of the partition. ``positions`` holds the next
    position of each partition and is updated. If ``keys`` is empty, rows are only counted.
    """
    cdef Packing packing = _choose_packing(n_labels, indices.shape[0])
    cdef int shift = 65 - (<object>positions.shape[0]).bit_length()  # of a power of two, at least 2
    cdef const index_t* labels = &indices[0] if indices.shape[0] else NULL
    cdef bint is_written = keys.shape[0] > 0
    cdef Py_ssize_t row, position
    cdef uint64_t key, partition
    with nogil:
        for row in range(start, stop):
            if (row - start) % STEP == 0:
                check_stop()
            key = _row_key(&indptr[0], labels, row, packing)
            partition = _mix(key) >> shift
            position = positions[partition]
            positions[partition] = position + 1
            if is_written:
                keys[position] = key
                rows[position] = <uint_t>row


def group_rows(
    const index_t[::1] indptr, const index_t[::1] indices, uint64_t[::1] keys, uint_t[::1] rows,
    const int64_t[::1] starts, Py_ssize_t first, Py_ssize_t last, int64_t[::1] sizes,
):
    """Group the rows of the partitions first..last by their labels, in place.

    The number of groups of each partition is written to ``sizes``. The first ``sizes[p]`` elements
    of partition p then hold, in ``rows``, the first row of each group, and in ``keys`` the number
    of its rows. New arrays would take more time than the grouping.
    """
    cdef const index_t* labels = &indices[0] if indices.shape[0] else NULL
    cdef Py_ssize_t partition, start, n_rows
    cdef Py_ssize_t max_rows = starts[last] - starts[first]
    # Large enough for any of the partitions; memory that is never touched costs nothing.
    cdef uint64_t[::1] counts = np.empty(max_rows + 1, np.uint64)
    cdef uint32_t[::1] groups = np.empty(_n_slots(max_rows), np.uint32)
    cdef Slots slots
    slots.groups = &groups[0]
    with nogil:
        for partition in range(first, last):
            check_stop()
            start = starts[partition]
            n_rows = starts[partition + 1] - start
            sizes[partition] = 0
            if n_rows > 0:
                slots.mask = _n_slots(n_rows) - 1
                memset(slots.groups, 0, (slots.mask + 1) * sizeof(uint32_t))
                sizes[partition] = _group(
                    &indptr[0], labels, &keys[start], &rows[start], n_rows, slots, &counts[0]
                )


cdef Py_ssize_t _group(
    const index_t* indptr, const index_t* indices, uint64_t* keys, uint_t* rows, Py_ssize_t n_rows,
    Slots slots, uint64_t* counts,
) noexcept nogil:
    """Group the rows of a partition in place, see `group_rows`; return the number of groups."""
    cdef Py_ssize_t i, next_row
    cdef Py_ssize_t n_groups = 0
    cdef uint64_t slot
    cdef uint32_t group
    for i in range(n_rows):
        next_row = min(i + PREFETCH_DISTANCE, n_rows - 1)
        prefetch(&slots.groups[_mix(keys[next_row]) & slots.mask])
        slot = _find_slot(indptr, indices, keys, rows, slots, i)
        group = slots.groups[slot]
        if group == 0:
            # There are never more groups than rows read, so this overwrites no unread row.
            keys[n_groups] = keys[i]
            rows[n_groups] = rows[i]
            counts[n_groups] = 1
            n_groups += 1
            slots.groups[slot] = <uint32_t>n_groups
        else:
            counts[group - 1] += 1
    memcpy(keys, counts, n_groups * sizeof(uint64_t))
    return n_groups


def number_labelsets(
    const index_t[::1] indptr, const index_t[::1] indices, Py_ssize_t n_labels
):
    """Number the labelsets in the order of their first rows.

    Return the number of the labelset of each row, and the first row of each labelset.
    """
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1
    cdef Packing packing = _choose_packing(n_labels, indices.shape[0])
    cdef const index_t* labels = &indices[0] if indices.shape[0] else NULL
    number_array = np.empty(n_rows, np.int64)
    first_row_array = np.empty(n_rows + 1, np.uint64)
    cdef int64_t[::1] numbers = number_array
    cdef uint64_t[::1] first_rows = first_row_array
    cdef uint64_t[::1] keys = np.empty(n_rows + 1, np.uint64)
    cdef uint32_t[::1] groups = np.zeros(_n_slots(n_rows), np.uint32)
    cdef Slots slots
    cdef uint64_t slot
    cdef Py_ssize_t row
    cdef Py_ssize_t n_labelsets = 0
    slots.groups = &groups[0]
    slots.mask = groups.shape[0] - 1
    with nogil:
        for row in range(n_rows):
            if row % STEP == 0:
                check_stop()
            # Written after those of the labelsets so far; it stays there if the labelset is new.
            keys[n_labelsets] = _row_key(&indptr[0], labels, row, packing)
            first_rows[n_labelsets] = row
            slot = _find_slot(&indptr[0], labels, &keys[0], &first_rows[0], slots, n_labelsets)
            if slots.groups[slot] == 0:
                n_labelsets += 1
                slots.groups[slot] = <uint32_t>n_labelsets
            numbers[row] = slots.groups[slot] - 1
    return number_array, first_row_array[:n_labelsets].astype(np.int64)


cdef Py_ssize_t _n_slots(Py_ssize_t n_rows) noexcept nogil:
    """Return the number of slots of a hash table of rows: a power of 2, at least two per row."""
    cdef Py_ssize_t size = 16
    while size < 2 * n_rows:
        size *= 2
    return size


cdef inline uint64_t _find_slot(
    const index_t* indptr, const index_t* indices, const uint64_t* keys, const uint_t* rows,
    Slots slots, Py_ssize_t i,
) noexcept nogil:
    """Return the slot of the group of row ``rows[i]``, or a free slot if there is no group yet."""
    cdef uint64_t key = keys[i]
    cdef uint64_t slot = _mix(key) & slots.mask
    cdef Py_ssize_t group
    while slots.groups[slot] != 0:
        group = slots.groups[slot] - 1
        if keys[group] == key and (
            key < HASHED or _have_same_labels(indptr, indices, rows[group], rows[i])
        ):
            return slot
        slot = (slot + 1) & slots.mask
    return slot


cdef bint _have_same_labels(
    const index_t* indptr, const index_t* indices, Py_ssize_t a, Py_ssize_t b
) noexcept nogil:
    """Return whether two rows have the same labels."""
    cdef Py_ssize_t size = indptr[a + 1] - indptr[a]
    return size == indptr[b + 1] - indptr[b] and memcmp(
        indices + indptr[a], indices + indptr[b], size * sizeof(index_t)
    ) == 0
