"""Compiled loops over label assignments. Each takes a range of rows, so threads can share Y."""

from __future__ import annotations

import math

import numpy as np

from scumble._core.jit import kernel

# Unsigned indices spare numba the handling of negative ones, in every access.
ZERO, ONE, TWO, THREE = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
CHUNK = 1024  # rows sorted by size at a time
LONG = 5  # rows with this many labels or more share one loop
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
    after two rounds, then four, then one would mostly wait for mispredicted branches. Rows of
    two to four labels, the bulk of real data, have a loop of their own.
    """
    order = np.empty(CHUNK, np.uint64)
    ends = np.empty(LONG + 1, np.uint64)
    total = 0.0
    for low in range(start, stop, CHUNK):
        high = min(low + CHUNK, stop)
        _order_by_size(indptr, low, high, order, ends)
        for place in range(ends[1]):
            scores[order[place]] = 0.0
        for place in range(ends[1], ends[2]):
            at = np.uint64(indptr[order[place]])
            a = np.uint64(indices[at])
            b = np.uint64(indices[at + ONE])
            score = _score_two(table[a, ZERO], table[b, ZERO])
            scores[order[place]] = score
            total += score
            table[a, ONE] += score
            table[b, ONE] += score
        for place in range(ends[2], ends[3]):
            at = np.uint64(indptr[order[place]])
            a = np.uint64(indices[at])
            b = np.uint64(indices[at + ONE])
            c = np.uint64(indices[at + TWO])
            score = _score_three(table[a, ZERO], table[b, ZERO], table[c, ZERO])
            scores[order[place]] = score
            total += score
            table[a, ONE] += score
            table[b, ONE] += score
            table[c, ONE] += score
        for place in range(ends[3], ends[4]):
            at = np.uint64(indptr[order[place]])
            a = np.uint64(indices[at])
            b = np.uint64(indices[at + ONE])
            c = np.uint64(indices[at + TWO])
            d = np.uint64(indices[at + THREE])
            score = _score_four(table[a, ZERO], table[b, ZERO], table[c, ZERO], table[d, ZERO])
            scores[order[place]] = score
            total += score
            table[a, ONE] += score
            table[b, ONE] += score
            table[c, ONE] += score
            table[d, ONE] += score
        for place in range(ends[4], ends[LONG]):
            first = np.uint64(indptr[order[place]])
            last = np.uint64(indptr[order[place] + ONE])
            score = _score_many(indices, table, first, last)
            scores[order[place]] = score
            total += score
            for at in range(first, last):
                table[np.uint64(indices[at]), ONE] += score
    return total


@kernel
def _order_by_size(indptr, low, high, order, ends):
    """Write rows low..high to ``order`` by size; ``ends[k]`` is where those of size k end."""
    ends[:] = ZERO
    for row in range(np.uint64(low), np.uint64(high)):
        size = np.uint64(indptr[row + ONE]) - np.uint64(indptr[row])
        ends[min(size, np.uint64(LONG))] += ONE
    seen = ZERO
    for size in range(LONG + 1):
        n_rows = ends[size]
        ends[size] = seen
        seen += n_rows
    for row in range(np.uint64(low), np.uint64(high)):
        size = min(np.uint64(indptr[row + ONE]) - np.uint64(indptr[row]), np.uint64(LONG))
        order[ends[size]] = row
        ends[size] += ONE


@kernel
def _score_two(x, y):
    return 0.0 if x == y else max(1.0 - math.sqrt(x * y) / (0.5 * (x + y)), 0.0)


@kernel
def _score_three(x, y, z):
    score = max(1.0 - 3.0 * math.exp(math.log(x * y * z) / 3.0) / (x + y + z), 0.0)
    return 0.0 if (x == y) & (y == z) else score


@kernel
def _score_four(x, y, z, w):
    score = max(1.0 - 4.0 * math.sqrt(math.sqrt(x * y) * math.sqrt(z * w)) / (x + y + z + w), 0.0)
    return 0.0 if (x == y) & (y == z) & (z == w) else score


@kernel
def _score_many(indices, table, first, last):
    lead = table[np.uint64(indices[first]), ZERO]
    ratio_sum = 0.0
    log_sum = 0.0
    product = 1.0
    equal = True
    pending = 0
    for at in range(first, last):
        ratio = table[np.uint64(indices[at]), ZERO]
        ratio_sum += ratio
        product *= ratio
        equal &= ratio == lead
        pending += 1
        if pending == SAFE_FACTORS:
            log_sum += math.log(product)
            product = 1.0
            pending = 0
    if equal:  # rounding must not make a difference out of none
        return 0.0
    log_sum += math.log(product)
    size = float(last - first)
    return max(1.0 - math.exp(log_sum / size) * size / ratio_sum, 0.0)


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
    if stop - start <= capacity:
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
def group_rows(indptr, indices, keys, rows, start, stop, counts):
    """Group the rows at places start..stop by their labels, in place.

    Afterwards ``rows[start:start + n]`` holds the first row of each group and
    ``counts[start:start + n]`` its size; n is returned.
    """
    slots = np.zeros(_table_size(stop - start), np.uint64)
    end = np.uint64(start)
    for place in range(np.uint64(start), np.uint64(stop)):
        slot = _find_slot(indptr, indices, keys, rows, slots, place)
        if slots[slot] == ZERO:
            # Groups never outrun the rows read, so they may move into places already read.
            keys[end] = keys[place]
            rows[end] = rows[place]
            counts[end] = 1
            end += ONE
            slots[slot] = end
        else:
            counts[slots[slot] - ONE] += 1
    return end - np.uint64(start)


@kernel
def find_leaders(indptr, indices, keys, rows, start, stop, leaders):
    """Write for each row at places start..stop the first row with the same labels."""
    slots = np.zeros(_table_size(stop - start), np.uint64)
    for place in range(np.uint64(start), np.uint64(stop)):
        slot = _find_slot(indptr, indices, keys, rows, slots, place)
        if slots[slot] == ZERO:
            slots[slot] = place + ONE
        leaders[rows[place]] = rows[slots[slot] - ONE]


@kernel
def _table_size(n_rows):
    size = 16
    while size < 2 * n_rows:
        size *= 2
    return size


@kernel
def _find_slot(indptr, indices, keys, rows, slots, place):
    """Find the slot of a row's group, or the free one for it. Slots hold places plus 1."""
    key = keys[place]
    mask = np.uint64(len(slots) - 1)
    slot = mix(key) & mask
    while True:
        if slots[slot] == ZERO:
            return slot
        group = slots[slot] - ONE
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
