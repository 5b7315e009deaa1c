"""Compiled loops over label assignments. Each takes a range of rows, so threads can share Y."""

from __future__ import annotations

import math

import numpy as np

from scumble._core.jit import kernel

# Unsigned indices spare numba the handling of negative ones, in every access.
ZERO, ONE = np.uint64(0), np.uint64(1)
CHUNK = 2048  # rows sorted by size at a time
LONG = 5  # rows with this many labels or more share one loop
INVERSE_CUBE_ROOT, THIRD = np.int32(0x54A21D2A), np.int32(3)
CACHED_LABELS = 32_768  # whose table of ratios and sums fits the cache of a core
UNROLLED = np.uint64(4)  # labels of a row looked at without a branch
EQUAL = math.nan  # a mark that survives roots and is above nothing: such rows score exactly 0
SAFE_FACTORS = 16  # ratios are below 2**63, so 16 of them multiply without overflow


@kernel
def count_labels(indices, start, stop, counts):
    """Count the labels among the assignments start..stop."""
    for at in range(start, stop):
        counts[np.uint64(indices[at])] += 1


@kernel
def score_rows(indptr, indices, table, start, stop, scores):
    """Score rows start..stop: 1 - geometric / arithmetic mean of their labels' ratios.

    ``table`` holds (ratio, sum of scores) of each label side by side, so that a label costs one
    cache line; the sums are added to. The total of all scores is returned.

    Rows are taken in chunks and, within a chunk, by their number of labels: a loop that ends
    after two rounds, then four, then one would mostly wait for mispredicted branches. Looking
    up, computing and adding up are loops of their own: loads then overlap, and the arithmetic
    of several rows goes through one vector instruction.
    """
    rows = np.empty((LONG + 1, CHUNK), np.uint16)  # counted from the start of the chunk
    sizes = np.empty(LONG + 1, np.uint64)
    work = (np.empty(CHUNK), np.empty(CHUNK))
    total = 0.0
    for low in range(start, stop, CHUNK):
        chunk = indptr[low : min(low + CHUNK, stop) + 1]
        chunk_scores = scores[low : low + CHUNK]
        if len(table) > CACHED_LABELS:
            total += _touch(table, indices, chunk[0], chunk[-1])
        _sort_by_size(chunk, rows, sizes)
        for size in range(2):
            for place in range(sizes[size]):
                chunk_scores[np.uint64(rows[size, place])] = 0.0
        total += _score_pairs(chunk, indices, table, rows[2], sizes[2], *work, chunk_scores)
        total += _score_threes(chunk, indices, table, rows[3], sizes[3], *work, chunk_scores)
        total += _score_fours(chunk, indices, table, rows[4], sizes[4], *work, chunk_scores)
        total += score_long(chunk, indices, table, rows[LONG], sizes[LONG], *work, chunk_scores)
    return total


@kernel
def _touch(table, indices, first, last):
    """Bring the ratios of the assignments first..last into the cache; return 0.

    A loop that does nothing else has many more of its misses under way at a time than one that
    also computes.
    """
    below_zero = False
    for at in range(np.uint64(first), np.uint64(last)):
        below_zero |= table[np.uint64(indices[at]), ZERO] < 0.0
    return math.nan if below_zero else 0.0  # used, or the compiler would drop the loop


@kernel
def _sort_by_size(indptr, rows, sizes):
    """List the rows by their number of labels, those of `LONG` or more together."""
    sizes[:] = ZERO
    first = np.uint64(indptr[ZERO])
    for row in range(np.uint64(len(indptr) - 1)):
        last = np.uint64(indptr[row + ONE])
        size = min(last - first, np.uint64(LONG))
        first = last
        place = sizes[size]
        rows[size, place] = row
        sizes[size] = place + ONE


def _score_rows_of(size):
    """Make the kernel for rows of ``size`` labels; as a constant it unrolls the inner loops."""

    @kernel
    def score(indptr, indices, table, rows, n_rows, geometric, arithmetic, scores):
        for place in range(n_rows):
            first = np.uint64(indptr[np.uint64(rows[place])])
            lead = table[np.uint64(indices[first]), ZERO]
            product = lead
            ratio_sum = lead
            unequal = False
            for other in range(1, size):
                ratio = table[np.uint64(indices[first + np.uint64(other)]), ZERO]
                product *= ratio
                ratio_sum += ratio
                unequal |= ratio != lead
            geometric[place] = product if unequal else EQUAL
            arithmetic[place] = ratio_sum * (1.0 / size)
        _take_roots(geometric, n_rows, size)
        _compare_means(geometric, arithmetic, n_rows)
        total = 0.0
        for place in range(n_rows):
            row = np.uint64(rows[place])
            score = geometric[place]
            first = np.uint64(indptr[row])
            scores[row] = score
            total += score
            for label in range(size):
                table[np.uint64(indices[first + np.uint64(label)]), ONE] += score
        return total

    return score


_score_pairs, _score_threes, _score_fours = (_score_rows_of(size) for size in (2, 3, 4))


@kernel
def score_long(indptr, indices, table, rows, n_rows, geometric, arithmetic, scores):
    """Score rows of any size; their ratios may multiply to more than a float holds."""
    for place in range(n_rows):
        row = np.uint64(rows[place])
        first = np.uint64(indptr[row])
        last = np.uint64(indptr[row + ONE])
        lead = table[np.uint64(indices[first]), ZERO]
        ratio_sum = 0.0
        log_sum = 0.0
        product = 1.0
        unequal = False
        pending = 0
        for at in range(first, last):
            ratio = table[np.uint64(indices[at]), ZERO]
            ratio_sum += ratio
            product *= ratio
            unequal |= ratio != lead
            pending += 1
            if pending == SAFE_FACTORS:
                log_sum += math.log(product)
                product = 1.0
                pending = 0
        size = float(last - first)
        mean = math.exp((log_sum + math.log(product)) / size)
        geometric[place] = mean if unequal else EQUAL
        arithmetic[place] = ratio_sum / size
    _compare_means(geometric, arithmetic, n_rows)
    total = 0.0
    for place in range(n_rows):
        row = np.uint64(rows[place])
        score = geometric[place]
        scores[row] = score
        total += score
        for at in range(np.uint64(indptr[row]), np.uint64(indptr[row + ONE])):
            table[np.uint64(indices[at]), ONE] += score
    return total


@kernel
def _take_roots(values, n_values, degree):
    """Replace values of at least 1 by their square, cube or fourth roots."""
    if degree == 3:
        _take_cube_roots(values, n_values)
        return
    for place in range(n_values):
        values[place] = math.sqrt(values[place])
    if degree == 4:
        for place in range(n_values):
            values[place] = math.sqrt(values[place])


@kernel
def _take_cube_roots(values, n_values):
    """Replace values by their cube roots: Newton's method, in steps that vectorise.

    A third of a float's bits, taken from a constant, is its inverse cube root to 3.5 %; each step
    squares the error, so the fourth reaches the last bit.
    """
    guess = np.empty(n_values, np.float32)
    bits = guess.view(np.int32)
    for place in range(n_values):
        guess[place] = values[place]
    for place in range(n_values):
        bits[place] = INVERSE_CUBE_ROOT - bits[place] // THIRD
    for place in range(n_values):
        value = values[place]
        third = value * (1.0 / 3.0)
        root = np.float64(guess[place])
        for _ in range(4):
            root *= 4.0 / 3.0 - third * (root * root * root)
        values[place] = value * (root * root)


@kernel
def _compare_means(geometric, arithmetic, n_rows):
    """Turn geometric means into scores."""
    for place in range(n_rows):
        score = 1.0 - geometric[place] / arithmetic[place]
        geometric[place] = score if score > 0.0 else 0.0


@kernel
def sum_deviations(indptr, indices, scores, mean, means, start, stop, squares):
    """Add squared deviations from the labels' means; return those from the overall mean.

    A second look at the scores: sums of squares alone lose all digits where scores are equal.
    """
    total = 0.0
    for row in range(np.uint64(start), np.uint64(stop)):
        score = scores[row]
        total += (score - mean) * (score - mean)
        for at in range(np.uint64(indptr[row]), np.uint64(indptr[row + ONE])):
            label = np.uint64(indices[at])
            squares[label] += (score - means[label]) * (score - means[label])
    return total


@kernel
def row_key(indptr, indices, row, bits, capacity):
    """Name a row's labels by 64 bits: exactly for up to ``capacity`` labels, else by a hash.

    A short row is packed, ``bits`` a label, below the top bit. A long one is hashed, and the
    top bit says so: equal keys with that bit set need a look at the rows themselves.
    """
    start = np.uint64(indptr[row])
    stop = np.uint64(indptr[row + ONE])
    value = ZERO
    size = stop - start
    if size <= UNROLLED and UNROLLED <= capacity and start + UNROLLED <= np.uint64(len(indices)):
        # Most rows: read all four places and choose, as the size of the next row is anyone's
        # guess and a wrong guess costs more than this.
        for place in range(UNROLLED):
            longer = (value << bits) | (np.uint64(indices[start + place]) + ONE)
            value = longer if place < size else value
        return value
    if size <= capacity:
        for at in range(start, stop):
            value = (value << bits) | (np.uint64(indices[at]) + ONE)
        return value
    for at in range(start, stop):
        value = mix(value ^ (np.uint64(indices[at]) + ONE))
    return value | (ONE << np.uint64(63))


@kernel
def mix(value):
    """Spread 64 bits over 64 bits, one to one."""
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xFF51AFD7ED558CCD)
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(33))


@kernel
def count_partitions(indptr, indices, start, stop, bits, capacity, shift, sizes):
    """Count how many rows fall into each partition, by the top bits of their mixed key."""
    for row in range(np.uint64(start), np.uint64(stop)):
        sizes[mix(row_key(indptr, indices, row, bits, capacity)) >> shift] += 1


@kernel
def scatter_rows(indptr, indices, start, stop, bits, capacity, shift, places, keys, rows):
    """Write each row's key and number to the next place of its partition."""
    for row in range(np.uint64(start), np.uint64(stop)):
        key = row_key(indptr, indices, row, bits, capacity)
        partition = mix(key) >> shift
        place = np.uint64(places[partition])
        places[partition] += 1
        keys[place] = key
        rows[place] = row


@kernel
def group_rows(indptr, indices, keys, rows, starts, first, last, sizes):
    """Group the rows of the partitions first..last by their labels, in place.

    Afterwards, with ``start`` the start of a partition and ``n`` what ``sizes`` says of it,
    ``rows[start:start + n]`` holds the first row of each group and ``keys[start:start + n]``
    its size, instead of its key: fresh memory would cost more than the grouping.
    """
    slots = np.empty(0, np.uint32)
    counts = np.empty(0, np.uint64)
    for partition in range(first, last):
        start = np.uint64(starts[partition])
        n_rows = np.uint64(starts[partition + 1]) - start
        slots = _clear_slots(slots, n_rows)
        part_keys = keys[start : start + n_rows]
        part_rows = rows[start : start + n_rows]
        if n_rows > len(counts):
            counts = np.empty(n_rows, np.uint64)
        end = ZERO
        for place in range(n_rows):
            slot = _find_slot(indptr, indices, part_keys, part_rows, slots, place)
            group = np.uint64(slots[slot])
            if group == ZERO:
                # Groups never outrun the rows read, so they may move into places already read.
                part_keys[end] = part_keys[place]
                part_rows[end] = part_rows[place]
                counts[end] = ONE
                end += ONE
                slots[slot] = end
            else:
                counts[group - ONE] += ONE
        part_keys[:end] = counts[:end]
        sizes[partition] = end


@kernel
def find_leaders(indptr, indices, keys, rows, starts, first, last, leaders):
    """Write for each row of the partitions first..last the first row with the same labels."""
    slots = np.empty(0, np.uint32)
    for partition in range(first, last):
        start = np.uint64(starts[partition])
        n_rows = np.uint64(starts[partition + 1]) - start
        slots = _clear_slots(slots, n_rows)
        part_keys = keys[start : start + n_rows]
        part_rows = rows[start : start + n_rows]
        for place in range(n_rows):
            slot = _find_slot(indptr, indices, part_keys, part_rows, slots, place)
            if slots[slot] == ZERO:
                slots[slot] = place + ONE
            leaders[part_rows[place]] = part_rows[np.uint64(slots[slot]) - ONE]


@kernel
def _clear_slots(slots, n_rows):
    """Return empty slots, at least two a row and a power of two; old ones are used again."""
    size = 16
    while size < 2 * n_rows:
        size *= 2
    if size != len(slots):
        return np.zeros(size, np.uint32)
    slots[:] = 0
    return slots


@kernel
def _find_slot(indptr, indices, keys, rows, slots, place):
    """Find the slot of a row's group, or the free one for it. Slots hold places plus 1."""
    key = keys[place]
    mask = np.uint64(len(slots) - 1)
    slot = mix(key) & mask
    while True:
        if slots[slot] == ZERO:
            return slot
        group = np.uint64(slots[slot]) - ONE
        if keys[group] == key and (
            key < (ONE << np.uint64(63)) or _same_row(indptr, indices, rows[group], rows[place])
        ):
            return slot
        slot = (slot + ONE) & mask


@kernel
def _same_row(indptr, indices, a, b):
    start_a = np.uint64(indptr[np.uint64(a)])
    start_b = np.uint64(indptr[np.uint64(b)])
    size = np.uint64(indptr[np.uint64(a) + ONE]) - start_a
    if size != np.uint64(indptr[np.uint64(b) + ONE]) - start_b:
        return False
    for at in range(size):
        if indices[start_a + at] != indices[start_b + at]:
            return False
    return True
