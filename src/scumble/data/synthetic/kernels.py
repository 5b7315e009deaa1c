"""Compiled loops that deal labels to rows and steer their concurrence."""

from __future__ import annotations

import math

import numpy as np

from scumble._core.jit import kernel


@kernel
def round_counts(values, most):
    """Round values >= 1 so that the sum of their inverses, which MeanIR is made of, is kept.

    Each value goes up or down, whichever keeps the inverses given so far closest to the wanted.
    """
    counts = np.empty(len(values), np.int64)
    debt = 0.0
    for at in range(len(values)):
        low = max(math.floor(values[at]), 1.0)
        wanted = 1.0 / values[at] + debt
        count = low if wanted > 0.5 * (1.0 / low + 1.0 / (low + 1.0)) else low + 1.0
        debt = wanted - 1.0 / count
        counts[at] = min(int(count), most)
    return counts


@kernel
def next_random(state):
    """Draw 64 random bits; ``state`` is one number, so every block has a stream of its own."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    value = state[0]
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@kernel
def draw(state, n):
    """Draw an integer below n (n < 2^32)."""
    return np.int64(((next_random(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@kernel
def fill_block(
    ends,
    ratios,
    logs,
    block,
    n_blocks,
    n_rows,
    n_unlabelled,
    target,
    effort,
    seed,
    indptr,
    indices,
    at,
):
    """Deal one block's share of the labels to its rows; return the sum of their SCUMBLE.

    Think of all assignments in a line, sorted by label. Every ``n_blocks``-th belongs to this
    block, so each block is a small copy of the whole. ``n_rows`` rows get labels, one at least
    if there are enough, and ``n_unlabelled`` rows get none. ``target`` is the mean SCUMBLE to
    steer towards (NaN: leave it), ``effort`` how long. The labels go to ``indices`` from ``at``
    on, the ends of the rows to ``indptr``.
    """
    state = np.empty(1, np.uint64)
    state[0] = np.uint64(seed)
    n_slots = (ends[-1] - block + n_blocks - 1) // n_blocks
    labels = np.empty(n_slots, np.int32)
    rows = np.empty(n_slots, np.int32)
    sizes = np.zeros(n_rows, np.int64)
    _take_labels(ends, block, n_blocks, labels)
    _draw_rows(labels, n_rows, rows, sizes, state)
    _fill_empty_rows(rows, sizes, state)
    starts = _sort_by_row(labels, rows, sizes)
    wanted = target * (n_rows + n_unlabelled)
    total = _steer(labels, rows, starts, ratios, logs, wanted, effort, state)
    row = 0
    for place in range(n_rows + n_unlabelled):
        left = n_rows - row  # each place is as likely as any other to stay without labels
        if draw(state, n_rows + n_unlabelled - place) < left:
            _sort(labels, starts[row], starts[row + 1])
            row += 1
        indptr[place] = at + starts[row]
    for slot in range(n_slots):
        indices[at + slot] = labels[slot]
    return total


@kernel
def _take_labels(ends, block, n_blocks, labels):
    """Find the labels at places block, block + n_blocks, ... of the line of assignments."""
    label = 0
    place = block
    for slot in range(len(labels)):
        if ends[label] <= place:  # leap ahead, then halve: rare labels are skipped by millions
            leap = 1
            low = label
            while label + leap < len(ends) and ends[label + leap] <= place:
                low = label + leap
                leap *= 2
            high = min(label + leap, len(ends) - 1)
            while low + 1 < high:
                middle = (low + high) // 2
                if ends[middle] <= place:
                    low = middle
                else:
                    high = middle
            label = high
        labels[slot] = label
        place += n_blocks


@kernel
def _draw_rows(labels, n_rows, rows, sizes, state):
    """Give each label as many different random rows as it has places in this block."""
    last = np.empty(n_rows, np.int64)  # the last label a row was drawn, or not drawn, for
    for row in range(n_rows):
        last[row] = -1
    slot = 0
    while slot < len(labels):
        label = np.int64(labels[slot])
        stop = slot
        while stop < len(labels) and labels[stop] == label:
            stop += 1
        n_wanted = stop - slot
        if 2 * n_wanted <= n_rows:
            while slot < stop:
                row = draw(state, n_rows)
                if last[row] != label:
                    last[row] = label
                    rows[slot] = row
                    slot += 1
        else:  # it is quicker to draw the rows without it
            n_without = n_rows - n_wanted
            while n_without > 0:
                row = draw(state, n_rows)
                if last[row] != label:
                    last[row] = label
                    n_without -= 1
            for row in range(n_rows):
                if last[row] != label:
                    rows[slot] = row
                    slot += 1
    for slot in range(len(labels)):
        sizes[rows[slot]] += 1


@kernel
def _fill_empty_rows(rows, sizes, state):
    """Move labels from rows with several to rows with none, while there are any."""
    n_slots = len(rows)
    stride = _coprime(n_slots, state)
    slot = draw(state, n_slots)
    row = 0
    for _ in range(n_slots):  # every place once, in an order that has nothing to do with labels
        while row < len(sizes) and sizes[row] > 0:
            row += 1
        if row == len(sizes):
            return
        slot = (slot + stride) % n_slots
        donor = rows[slot]
        if sizes[donor] > 1:
            sizes[donor] -= 1
            sizes[row] = 1
            rows[slot] = row


@kernel
def _coprime(n, state):
    while True:
        stride = 1 + draw(state, n)
        a, b = n, stride
        while b:
            a, b = b, a % b
        if a == 1:
            return stride


@kernel
def _sort_by_row(labels, rows, sizes):
    """Put labels and rows in order of rows, labels ascending; return where each row starts."""
    starts = np.empty(len(sizes) + 1, np.int64)
    places = np.empty(len(sizes), np.int64)
    starts[0] = 0
    for row in range(len(sizes)):
        places[row] = starts[row]
        starts[row + 1] = starts[row] + sizes[row]
    unsorted = np.empty(len(labels), np.int32)
    for slot in range(len(labels)):
        unsorted[slot] = labels[slot]
    for slot in range(len(labels)):
        row = rows[slot]
        labels[places[row]] = unsorted[slot]
        places[row] += 1
    for row in range(len(sizes)):
        for slot in range(starts[row], starts[row + 1]):
            rows[slot] = row
    return starts


@kernel
def _score(ratio_sum, log_sum, size):
    return max(1.0 - math.exp(log_sum / size) * size / ratio_sum, 0.0)


@kernel
def _holds(labels, start, stop, label):
    found = False
    for slot in range(start, stop):
        found |= labels[slot] == label
    return found


@kernel
def _steer(labels, rows, starts, ratios, logs, wanted, effort, state):
    """Exchange labels between rows until the sum of their SCUMBLE is near ``wanted``.

    Two random places exchange their labels if that brings the sum of scores closer. Neither the
    rows' sizes nor the labels' counts change. It ends when the target is reached, or when a
    round of exchanges has gained next to nothing.
    """
    n_rows = len(starts) - 1
    n_slots = len(labels)
    ratio_sums = np.zeros(n_rows)
    log_sums = np.zeros(n_rows)
    scores = np.zeros(n_rows)
    for slot in range(n_slots):
        ratio_sums[rows[slot]] += ratios[labels[slot]]
        log_sums[rows[slot]] += logs[labels[slot]]
    total = 0.0
    for row in range(n_rows):
        size = starts[row + 1] - starts[row]
        if size > 1:
            scores[row] = _score(ratio_sums[row], log_sums[row], size)
        total += scores[row]
    if math.isnan(wanted) or n_slots < 2:
        return total

    enough = 1e-5 * n_rows
    for _ in range(effort):
        before = abs(total - wanted)
        for _ in range(2 * n_slots):
            if abs(total - wanted) <= enough:
                return total
            p = draw(state, n_slots)
            q = draw(state, n_slots)
            a, b = labels[p], labels[q]
            i, j = rows[p], rows[q]
            if i == j or ratios[a] == ratios[b]:
                continue
            size_i, size_j = starts[i + 1] - starts[i], starts[j + 1] - starts[j]
            if size_i == 1 and size_j == 1:
                continue
            step, log_step = ratios[b] - ratios[a], logs[b] - logs[a]
            score_i, score_j = 0.0, 0.0
            if size_i > 1:
                score_i = _score(ratio_sums[i] + step, log_sums[i] + log_step, size_i)
            if size_j > 1:
                score_j = _score(ratio_sums[j] - step, log_sums[j] - log_step, size_j)
            changed = total + (score_i - scores[i]) + (score_j - scores[j])
            if abs(changed - wanted) >= abs(total - wanted):
                continue
            if _holds(labels, starts[i], starts[i + 1], b):
                continue
            if _holds(labels, starts[j], starts[j + 1], a):
                continue
            labels[p], labels[q] = b, a
            ratio_sums[i] += step
            ratio_sums[j] -= step
            log_sums[i] += log_step
            log_sums[j] -= log_step
            scores[i], scores[j] = score_i, score_j
            total = changed
        if before - abs(total - wanted) < 5e-5 * n_rows:
            break
    return total


@kernel
def _sort(labels, start, stop):
    """Sort a short stretch in place."""
    for slot in range(start + 1, stop):
        label = labels[slot]
        place = slot
        while place > start and labels[place - 1] > label:
            labels[place] = labels[place - 1]
            place -= 1
        labels[place] = label
