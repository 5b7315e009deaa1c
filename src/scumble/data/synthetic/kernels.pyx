"""Loops that deal labels to rows and steer their concurrence."""

from libc.math cimport exp, fabs, floor, isnan
from libc.stdint cimport int32_t, int64_t, uint64_t

from scumble._core.interrupt cimport check_stop

import numpy as np

cdef enum:
    STEPS = 1 << 20  # exchanges tried between two looks at whether to stop, some 50 ms
    EFFORT = 50  # rounds of exchanges, each of two per assignment, that a block may take


def round_counts(const double[::1] values, int64_t most):
    """Round values >= 1 so that the sum of their inverses, which MeanIR is made of, is kept.

    Each value goes up or down, whichever keeps the inverses given so far closest to the wanted.
    """
    cdef double debt = 0.0
    cdef double low, wanted, count
    cdef Py_ssize_t at
    rounded = np.empty(values.shape[0], np.int64)
    cdef int64_t[::1] counts = rounded
    with nogil:
        for at in range(values.shape[0]):
            low = max(floor(values[at]), 1.0)
            wanted = 1.0 / values[at] + debt
            count = low if wanted > 0.5 * (1.0 / low + 1.0 / (low + 1.0)) else low + 1.0
            debt = wanted - 1.0 / count
            counts[at] = min(<int64_t> count, most)
    return rounded


cdef inline uint64_t _next_random(uint64_t* state) noexcept nogil:
    """Draw 64 random bits; the state is one number, so every block has a stream of its own."""
    cdef uint64_t value
    state[0] += 0x9E3779B97F4A7C15ULL
    value = state[0]
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL
    return value ^ (value >> 31)


cdef inline Py_ssize_t _draw(uint64_t* state, Py_ssize_t n) noexcept nogil:
    """Draw an integer below n (n < 2^32)."""
    return <Py_ssize_t> (((_next_random(state) >> 32) * <uint64_t> n) >> 32)


cdef struct Block:
    uint64_t random
    Py_ssize_t n_slots  # label assignments
    const int32_t* taken  # labels of each slot, before slots are in order of rows
    int32_t* labels  # of each slot, once they are
    int32_t* rows  # of each slot
    Py_ssize_t n_rows  # that get labels
    int64_t* starts  # of the rows, once slots are in order of rows
    const double* ratios  # of each label
    const double* logs
    double* ratio_sums  # of each row
    double* log_sums
    double* scores


def assign_labels_to_block(
    const int32_t[::1] taken, const double[::1] ratios, const double[::1] logs, uint64_t seed,
    Py_ssize_t n_rows, double target, int64_t[::1] row_ends, int32_t[::1] labels,
):
    """Deal labels to rows; return the sum of their SCUMBLE.

    ``taken`` names the label of each assignment, in order; ``ratios`` and ``logs`` are each label's
    IRLbl and its logarithm. Of the ``len(row_ends)`` rows, ``n_rows`` get labels, one at least if
    there are enough. ``target`` is the mean SCUMBLE to steer towards (NaN: leave it). The labels go
    to ``labels``, and each row's end there to ``row_ends``.
    """
    cdef Py_ssize_t n_slots = taken.shape[0]
    cdef Py_ssize_t n_places = row_ends.shape[0]
    cdef int32_t[::1] rows = np.empty(n_slots, np.int32)
    cdef int64_t[:, ::1] places = np.zeros((2, n_rows + 1), np.int64)
    cdef double[:, ::1] sums = np.zeros((3, n_rows + 1))
    cdef double total
    cdef Block block
    given = np.asarray(taken)
    # In order, so that more places of a label than rows would reach beyond n_rows.
    if (given[n_rows:] == given[: max(n_slots - n_rows, 0)]).any():
        raise ValueError("A label has more places than there are rows.")
    if not 0 <= n_rows <= n_places or n_slots != labels.shape[0]:
        raise ValueError("There is no room for the rows, or not for the labels.")
    if n_slots == 0:
        row_ends[:] = 0
        return 0.0
    if not 0 <= taken[0] <= taken[n_slots - 1] < ratios.shape[0] == logs.shape[0]:
        raise ValueError("Every label has a ratio and its logarithm.")
    block = Block(
        seed, n_slots, &taken[0], &labels[0], &rows[0], n_rows, &places[0, 0], &ratios[0], &logs[0],
        &sums[0, 0], &sums[1, 0], &sums[2, 0],
    )
    with nogil:
        _draw_rows(&block, &places[1, 0])
        _fill_empty_rows(&block, &places[1, 0])
        _sort_by_row(&block, &places[1, 0])
        total = _steer(&block, target * n_places)
        _spread(&block, row_ends)
    return total


cdef void _draw_rows(Block* block, int64_t* last) noexcept nogil:
    """Give each label as many different random rows as it has places in this block.

    ``last`` is scratch: the last label a row was drawn, or not drawn, for.
    """
    cdef Py_ssize_t n_rows = block.n_rows
    cdef Py_ssize_t slot = 0
    cdef Py_ssize_t stop, row, n_without
    cdef int32_t label
    for row in range(n_rows):
        last[row] = -1
    while slot < block.n_slots:
        label = block.taken[slot]
        stop = slot
        while stop < block.n_slots and block.taken[stop] == label:
            stop += 1
        if 2 * (stop - slot) <= n_rows:
            while slot < stop:
                row = _draw(&block.random, n_rows)
                if last[row] != label:
                    last[row] = label
                    block.rows[slot] = <int32_t> row
                    slot += 1
            continue
        n_without = n_rows - (stop - slot)  # it is quicker to draw the rows without it
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
    """Count the labels of rows, and move some from rows with several to rows with none."""
    cdef Py_ssize_t n_slots = block.n_slots
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t slot, stride, _tried
    cdef int32_t donor
    for row in range(block.n_rows):
        sizes[row] = 0
    for slot in range(n_slots):
        sizes[block.rows[slot]] += 1
    stride = _coprime(n_slots, &block.random)
    slot = _draw(&block.random, n_slots)
    row = 0
    for _tried in range(n_slots):  # every place once, in an order unrelated to labels
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
    """Draw a number from 1 to n that has no divisor in common with n."""
    cdef Py_ssize_t stride, a, b
    while True:
        stride = 1 + _draw(random, n)
        a, b = n, stride
        while b:
            a, b = b, a % b
        if a == 1:
            return stride


cdef void _sort_by_row(Block* block, int64_t* sizes) noexcept nogil:
    """Put labels and rows in order of rows, labels ascending, and find where each row starts.

    The sizes of the rows become the places after their labels.
    """
    cdef Py_ssize_t row, slot
    block.starts[0] = 0
    for row in range(block.n_rows):
        block.starts[row + 1] = block.starts[row] + sizes[row]
        sizes[row] = block.starts[row]
    for slot in range(block.n_slots):
        row = block.rows[slot]
        block.labels[sizes[row]] = block.taken[slot]
        sizes[row] += 1
    for row in range(block.n_rows):
        for slot in range(block.starts[row], block.starts[row + 1]):
            block.rows[slot] = <int32_t> row


cdef inline double _score(double ratio_sum, double log_sum, int64_t size) noexcept nogil:
    if size == 1:
        return 0.0
    return max(1.0 - exp(log_sum / size) * size / ratio_sum, 0.0)


cdef inline bint _holds(const Block* block, Py_ssize_t row, int32_t label) noexcept nogil:
    cdef Py_ssize_t slot
    cdef bint found = False
    for slot in range(block.starts[row], block.starts[row + 1]):
        found |= block.labels[slot] == label
    return found


cdef double _total(Block* block) noexcept nogil:
    """Sum ratios and logarithms of each row, and all scores."""
    cdef double total = 0.0
    cdef Py_ssize_t slot, row
    cdef int64_t size
    for slot in range(block.n_slots):
        block.ratio_sums[block.rows[slot]] += block.ratios[block.labels[slot]]
        block.log_sums[block.rows[slot]] += block.logs[block.labels[slot]]
    for row in range(block.n_rows):
        size = block.starts[row + 1] - block.starts[row]
        if size > 1:
            block.scores[row] = _score(block.ratio_sums[row], block.log_sums[row], size)
        total += block.scores[row]
    return total


cdef double _steer(Block* block, double wanted) except? -1 nogil:
    """Exchange labels between rows until the sum of their SCUMBLE is near ``wanted``.

    Two random places exchange their labels if that brings the sum of scores closer. Neither the
    rows' sizes nor the labels' counts change. It ends when the target is reached, or when a
    round of exchanges has gained next to nothing.
    """
    cdef double total = _total(block)
    cdef double enough = 1e-5 * block.n_rows
    cdef Py_ssize_t step
    cdef double before
    cdef int _turn
    if isnan(wanted) or block.n_slots < 2:
        return total
    for _turn in range(EFFORT):
        before = fabs(total - wanted)
        for step in range(2 * block.n_slots):
            if fabs(total - wanted) <= enough:
                return total
            if step & (STEPS - 1) == STEPS - 1:
                check_stop()
            total = _exchange(block, total, wanted)
        if before - fabs(total - wanted) < 5e-5 * block.n_rows:
            break
        check_stop()
    return total


cdef inline double _exchange(Block* block, double total, double wanted) noexcept nogil:
    """Let two random places exchange their labels if that brings the sum closer; give the sum."""
    cdef Py_ssize_t p = _draw(&block.random, block.n_slots)
    cdef Py_ssize_t q = _draw(&block.random, block.n_slots)
    cdef int32_t a = block.labels[p]
    cdef int32_t b = block.labels[q]
    cdef int32_t i = block.rows[p]
    cdef int32_t j = block.rows[q]
    cdef double step, log_step, score_i, score_j, changed
    cdef int64_t size_i, size_j
    if i == j or block.ratios[a] == block.ratios[b]:
        return total
    size_i = block.starts[i + 1] - block.starts[i]
    size_j = block.starts[j + 1] - block.starts[j]
    if size_i == 1 and size_j == 1:
        return total
    step = block.ratios[b] - block.ratios[a]
    log_step = block.logs[b] - block.logs[a]
    score_i = _score(block.ratio_sums[i] + step, block.log_sums[i] + log_step, size_i)
    score_j = _score(block.ratio_sums[j] - step, block.log_sums[j] - log_step, size_j)
    changed = total + (score_i - block.scores[i]) + (score_j - block.scores[j])
    if fabs(changed - wanted) >= fabs(total - wanted):
        return total
    if _holds(block, i, b) or _holds(block, j, a):
        return total
    block.labels[p] = b
    block.labels[q] = a
    block.ratio_sums[i] += step
    block.ratio_sums[j] -= step
    block.log_sums[i] += log_step
    block.log_sums[j] -= log_step
    block.scores[i] = score_i
    block.scores[j] = score_j
    return changed


cdef void _spread(Block* block, int64_t[::1] row_ends) noexcept nogil:
    """Put the rows with labels among those without, each place as likely as any other."""
    cdef Py_ssize_t n_places = row_ends.shape[0]
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t place
    for place in range(n_places):
        if _draw(&block.random, n_places - place) < block.n_rows - row:
            _sort(block.labels, block.starts[row], block.starts[row + 1])
            row += 1
        row_ends[place] = block.starts[row]


cdef inline void _sort(int32_t* labels, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Sort a short stretch in place."""
    cdef Py_ssize_t slot, place
    cdef int32_t label
    for slot in range(start + 1, stop):
        label = labels[slot]
        place = slot
        while place > start and labels[place - 1] > label:
            labels[place] = labels[place - 1]
            place -= 1
        labels[place] = label
