"""Compiled loops that assign labels to rows and steer their concurrence."""

from libc.math cimport exp, fabs, floor, isnan
from libc.stdint cimport int32_t, int64_t, uint64_t

from scumble._core.interrupt cimport check_stop

import numpy as np

cdef enum:
    STEPS = 1 << 20  # exchanges between two checks for an interrupt, about 50 ms
    MAX_ROUNDS = 50  # rounds of exchanges per block; a round tries two exchanges per assignment


def round_counts(const double[::1] values, int64_t max_count):
    """Round values >= 1 up or down so that the sum of their inverses, and thus MeanIR, is kept.

    Each value is rounded in the direction that keeps the sum of inverses up to it most accurate.
    """
    cdef double error = 0.0  # of the sum of inverses so far
    cdef double low, inverse, count
    cdef Py_ssize_t i
    rounded = np.empty(values.shape[0], np.int64)
    cdef int64_t[::1] counts = rounded
    with nogil:
        for i in range(values.shape[0]):
            low = max(floor(values[i]), 1.0)
            inverse = 1.0 / values[i] + error
            count = low if inverse > 0.5 * (1.0 / low + 1.0 / (low + 1.0)) else low + 1.0
            error = inverse - 1.0 / count
            counts[i] = min(<int64_t> count, max_count)
    return rounded


cdef inline uint64_t _next_random(uint64_t* state) noexcept nogil:
    """Draw 64 random bits by SplitMix64, whose state is a single number per block."""
    cdef uint64_t value
    state[0] += 0x9E3779B97F4A7C15ULL
    value = state[0]
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL
    return value ^ (value >> 31)


cdef inline Py_ssize_t _draw(uint64_t* state, Py_ssize_t n) noexcept nogil:
    """Draw an integer below n (n < 2^32)."""
    return <Py_ssize_t> (((_next_random(state) >> 32) * <uint64_t> n) >> 32)


# A slot is a label assignment: a label and the row that has it.
cdef struct Block:
    uint64_t random  # state of the random numbers
    Py_ssize_t n_slots
    const int32_t* slot_labels  # label of each slot, in order of labels
    int32_t* labels  # label of each slot, in order of rows after _sort_by_row
    int32_t* rows  # row of each slot
    Py_ssize_t n_rows  # number of rows that get labels
    int64_t* starts  # first slot of each row after _sort_by_row
    const double* ratios  # IRLbl of each label
    const double* log_ratios
    double* ratio_sums  # sum of the ratios of each row's labels
    double* log_sums
    double* scores  # SCUMBLE of each row


def assign_labels_to_block(
    const int32_t[::1] slot_labels, const double[::1] ratios, const double[::1] log_ratios,
    uint64_t seed, Py_ssize_t n_rows, double target, int64_t[::1] row_ends, int32_t[::1] labels,
):
    """Assign labels to the rows of a block; return the sum of the rows' SCUMBLE.

    ``slot_labels`` are the labels of the assignments, sorted; ``ratios`` and ``log_ratios`` are the
    IRLbl of each label and its logarithm. Of the ``len(row_ends)`` rows, ``n_rows`` get labels, at
    least one each if there are enough. ``target`` is the mean SCUMBLE to reach (NaN: any). The
    labels, row by row, are written to ``labels``, and the end of each row there to ``row_ends``.
    """
    cdef Py_ssize_t n_slots = slot_labels.shape[0]
    cdef Py_ssize_t n_all_rows = row_ends.shape[0]
    cdef int32_t[::1] rows = np.empty(n_slots, np.int32)
    cdef int64_t[:, ::1] row_buffers = np.zeros((2, n_rows + 1), np.int64)
    cdef double[:, ::1] sums = np.zeros((3, n_rows + 1))
    cdef double total
    cdef Block block
    sorted_labels = np.asarray(slot_labels)
    # In a sorted array a label with more than n_rows slots equals itself n_rows slots later.
    if (sorted_labels[n_rows:] == sorted_labels[: max(n_slots - n_rows, 0)]).any():
        raise ValueError("A label has more places than there are rows.")
    if not 0 <= n_rows <= n_all_rows or n_slots != labels.shape[0]:
        raise ValueError("There is no room for the rows, or not for the labels.")
    if n_slots == 0:
        row_ends[:] = 0
        return 0.0
    if not 0 <= slot_labels[0] <= slot_labels[n_slots - 1] < ratios.shape[0] == log_ratios.shape[0]:
        raise ValueError("Every label has a ratio and its logarithm.")
    block.random = seed
    block.n_slots = n_slots
    block.slot_labels = &slot_labels[0]
    block.labels = &labels[0]
    block.rows = &rows[0]
    block.n_rows = n_rows
    block.starts = &row_buffers[0, 0]
    block.ratios = &ratios[0]
    block.log_ratios = &log_ratios[0]
    block.ratio_sums = &sums[0, 0]
    block.log_sums = &sums[1, 0]
    block.scores = &sums[2, 0]
    with nogil:
        _draw_rows(&block, &row_buffers[1, 0])
        _fill_empty_rows(&block, &row_buffers[1, 0])
        _sort_by_row(&block, &row_buffers[1, 0])
        total = _steer(&block, target * n_all_rows)
        _distribute_rows(&block, row_ends)
    return total


cdef void _draw_rows(Block* block, int64_t* last) noexcept nogil:
    """Draw different random rows for the slots of each label.

    ``last`` is a buffer: the last label for which a row was drawn, or excluded.
    """
    cdef Py_ssize_t n_rows = block.n_rows
    cdef Py_ssize_t slot = 0
    cdef Py_ssize_t stop, row, n_without
    cdef int32_t label
    for row in range(n_rows):
        last[row] = -1
    while slot < block.n_slots:
        label = block.slot_labels[slot]
        stop = slot
        while stop < block.n_slots and block.slot_labels[stop] == label:
            stop += 1
        if 2 * (stop - slot) <= n_rows:
            while slot < stop:
                row = _draw(&block.random, n_rows)
                if last[row] != label:
                    last[row] = label
                    block.rows[slot] = <int32_t> row
                    slot += 1
            continue
        n_without = n_rows - (stop - slot)  # for a frequent label it is faster to draw these rows
        while n_without > 0:
            row = _draw(&block.random, n_rows)
            if last[row] != label:
                last[row] = label
                n_without -= 1
        for row in range(n_rows):
            if last[row] != label:
                block.rows[slot] = <int32_t> row
                slot += 1


cdef void _fill_empty_rows(Block* block, int64_t* sizes) noexcept nogil:
    """Count the labels of each row, and move labels from rows with several to rows without any."""
    cdef Py_ssize_t n_slots = block.n_slots
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t slot, stride, _step
    cdef int32_t donor
    for row in range(block.n_rows):
        sizes[row] = 0
    for slot in range(n_slots):
        sizes[block.rows[slot]] += 1
    stride = _coprime(n_slots, &block.random)
    slot = _draw(&block.random, n_slots)
    row = 0
    for _step in range(n_slots):  # every slot once, in an order that is unrelated to labels
        while row < block.n_rows and sizes[row] > 0:
            row += 1
        if row == block.n_rows:
            return
        slot = (slot + stride) % n_slots
        donor = block.rows[slot]
        if sizes[donor] > 1:
            sizes[donor] -= 1
            sizes[row] = 1
            block.rows[slot] = <int32_t> row


cdef Py_ssize_t _coprime(Py_ssize_t n, uint64_t* random) noexcept nogil:
    """Draw a number from 1 to n that is coprime to n."""
    cdef Py_ssize_t stride, a, b
    while True:
        stride = 1 + _draw(random, n)
        a, b = n, stride
        while b:
            a, b = b, a % b
        if a == 1:
            return stride


cdef void _sort_by_row(Block* block, int64_t* sizes) noexcept nogil:
    """Sort slots by row, and by label within a row; set the first slot of each row.

    ``sizes`` holds the sizes of the rows, and afterwards the end of each row's slots.
    """
    cdef Py_ssize_t row, slot
    block.starts[0] = 0
    for row in range(block.n_rows):
        block.starts[row + 1] = block.starts[row] + sizes[row]
        sizes[row] = block.starts[row]
    for slot in range(block.n_slots):
        row = block.rows[slot]
        block.labels[sizes[row]] = block.slot_labels[slot]
        sizes[row] += 1
    for row in range(block.n_rows):
        for slot in range(block.starts[row], block.starts[row + 1]):
            block.rows[slot] = <int32_t> row


cdef inline double _score(double ratio_sum, double log_sum, int64_t size) noexcept nogil:
    """Return SCUMBLE of a row with ``size`` labels: 1 - geometric mean / mean of their ratios."""
    if size == 1:
        return 0.0
    return max(1.0 - exp(log_sum / size) * size / ratio_sum, 0.0)


cdef inline bint _has_label(const Block* block, Py_ssize_t row, int32_t label) noexcept nogil:
    """Return whether a row has a label, after `_sort_by_row`."""

    cdef Py_ssize_t slot
    cdef bint has_label = False
    for slot in range(block.starts[row], block.starts[row + 1]):
        has_label |= block.labels[slot] == label
    return has_label


cdef double _compute_scores(Block* block) noexcept nogil:
    """Compute the sums and the score of each row; return the sum of scores."""
    cdef double total = 0.0
    cdef Py_ssize_t slot, row
    cdef int64_t size
    for slot in range(block.n_slots):
        block.ratio_sums[block.rows[slot]] += block.ratios[block.labels[slot]]
        block.log_sums[block.rows[slot]] += block.log_ratios[block.labels[slot]]
    for row in range(block.n_rows):
        size = block.starts[row + 1] - block.starts[row]
        if size > 1:
            block.scores[row] = _score(block.ratio_sums[row], block.log_sums[row], size)
        total += block.scores[row]
    return total


cdef double _steer(Block* block, double target) except? -1 nogil:
    """Exchange labels between rows until the sum of scores is near ``target``; return the sum.

    Two random slots exchange their labels if that brings the sum closer to the target. Neither the
    sizes of rows nor the counts of labels change. The loop ends when the target is reached, or when
    a round of exchanges brought almost no progress.
    """
    cdef double total = _compute_scores(block)
    cdef double tolerance = 1e-5 * block.n_rows
    cdef Py_ssize_t step
    cdef double error_before
    cdef int _round
    if isnan(target) or block.n_slots < 2:
        return total
    for _round in range(MAX_ROUNDS):
        error_before = fabs(total - target)
        for step in range(2 * block.n_slots):
            if fabs(total - target) <= tolerance:
                return total
            if step & (STEPS - 1) == STEPS - 1:
                check_stop()
            total = _try_exchange(block, total, target)
        if error_before - fabs(total - target) < 5e-5 * block.n_rows:
            break
        check_stop()
    return total


cdef inline double _try_exchange(Block* block, double total, double target) noexcept nogil:
    """Exchange the labels of two random slots if the sum of scores gets closer; return the sum."""
    # Slot p holds label a of row i, slot q holds label b of row j.
    cdef Py_ssize_t p = _draw(&block.random, block.n_slots)
    cdef Py_ssize_t q = _draw(&block.random, block.n_slots)
    cdef int32_t a = block.labels[p]
    cdef int32_t b = block.labels[q]
    cdef int32_t i = block.rows[p]
    cdef int32_t j = block.rows[q]
    cdef double change, log_change, score_i, score_j, new_total
    cdef int64_t size_i, size_j
    if i == j or block.ratios[a] == block.ratios[b]:
        return total
    size_i = block.starts[i + 1] - block.starts[i]
    size_j = block.starts[j + 1] - block.starts[j]
    if size_i == 1 and size_j == 1:
        return total
    change = block.ratios[b] - block.ratios[a]
    log_change = block.log_ratios[b] - block.log_ratios[a]
    score_i = _score(block.ratio_sums[i] + change, block.log_sums[i] + log_change, size_i)
    score_j = _score(block.ratio_sums[j] - change, block.log_sums[j] - log_change, size_j)
    new_total = total + (score_i - block.scores[i]) + (score_j - block.scores[j])
    if fabs(new_total - target) >= fabs(total - target):
        return total
    if _has_label(block, i, b) or _has_label(block, j, a):
        return total
    block.labels[p] = b
    block.labels[q] = a
    block.ratio_sums[i] += change
    block.ratio_sums[j] -= change
    block.log_sums[i] += log_change
    block.log_sums[j] -= log_change
    block.scores[i] = score_i
    block.scores[j] = score_j
    return new_total


cdef void _distribute_rows(Block* block, int64_t[::1] row_ends) noexcept nogil:
    """Set the end of all rows, with the labelled rows at random positions among the others."""
    cdef Py_ssize_t n_all_rows = row_ends.shape[0]
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t position
    for position in range(n_all_rows):
        if _draw(&block.random, n_all_rows - position) < block.n_rows - row:
            _sort(block.labels, block.starts[row], block.starts[row + 1])
            row += 1
        row_ends[position] = block.starts[row]


cdef inline void _sort(int32_t* labels, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Sort a short range of labels in place, by insertion."""
    cdef Py_ssize_t slot, position
    cdef int32_t label
    for slot in range(start + 1, stop):
        label = labels[slot]
        position = slot
        while position > start and labels[position - 1] > label:
            labels[position] = labels[position - 1]
            position -= 1
        labels[position] = label
