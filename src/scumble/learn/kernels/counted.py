"""Grow a tree for two classes where rows are counted: no missing values, no fractions of a row.

Entropies come from tables of x ln x, so no logarithm is taken. Numeric columns are entry lists
whose order is kept while rows move down, with the row's class in the lowest bit. Where rows count
several times, the lowest four bits say as how many positives and the next four as how many rows.
Nominal columns are counted row by row in one pass over the node's items (a column and a value
other than its most frequent one); of two branches only the smaller is counted and subtracted from
its parent. A branch that is not the largest has at most half of its parent's rows, so waiting
nodes need no more than log2(n) tables of counts.
"""

from __future__ import annotations

import math

import numpy as np

from scumble._core.jit import inner_kernel
from scumble.learn.kernels.arithmetic import LN2, TINY, U, lowered_cut
from scumble.learn.kernels.growable import room_for, room_for_rows
from scumble.learn.kernels.prepare import FAR, GAP

_CODE = np.uint64(36)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)
_WEIGHT = np.uint64(4)
HEAVIEST = 15  # what fits into the four bits of a weight

# What is known of a waiting node.
NODE, ROW_LOW, ROW_HIGH, SIZE, POSITIVE, LIST_LOW, LIST_HIGH, LEVEL, COUNTING = range(9)
# How its nominal counts come about.
READY, COUNT, COUNT_AND_SUBTRACT, RECOUNT = range(4)


@inner_kernel
def fill_entries(
    columns, numeric, everything, single, heavy, in_set, repeats, labels, row_bit, entries, starts,
    stops,
):  # fmt: skip
    """Copy the numeric columns of the training rows; what counts of a row goes below its number."""
    top = 0
    for k in range(len(numeric)):
        column = numeric[k]
        starts[k] = top
        for at in range(columns.begins[column], columns.ends[column]):
            entry = columns.entries[U(at)]
            row = entry & _LOW
            packed = (entry >> _HALF) << _HALF | row << row_bit | U(labels[row])
            if single or heavy:
                entries[U(top)] = packed
                top += 1 if everything else in_set[row]
            else:
                for _ in range(repeats[row]):
                    entries[U(top)] = packed
                    top += 1
        stops[k] = top
    return top


@inner_kernel
def count_items(items, rows, low, high, y, repeats, single, counts):
    """Add the items of some rows to ``counts``: rows below, positives above the half."""
    for i in range(low, high):
        row = U(rows[U(i)])
        packed = _ONE | U(y[row]) << _HALF
        if not single:
            packed *= U(repeats[row])
        for at in range(items.indptr[row], items.indptr[row + _ONE]):
            counts[U(items.indices[U(at)])] += packed


@inner_kernel
def subtract_items(items, rows, low, high, y, repeats, single, counts):
    """Take the items of some rows off ``counts``."""
    for i in range(low, high):
        row = U(rows[U(i)])
        packed = _ONE | U(y[row]) << _HALF
        if not single:
            packed *= U(repeats[row])
        for at in range(items.indptr[row], items.indptr[row + _ONE]):
            counts[U(items.indices[U(at)])] -= packed


@inner_kernel
def judge_nominal(
    items, open_columns, source, n_in, level, counts, subtract, n, positive, least, table,
    gains, branch_sums,
):  # fmt: skip
    """Judge the nominal columns of a node; those that cannot split it any more are dropped.

    Gains are in nats times rows. With ``subtract`` the counts are taken off the parent's.
    """
    before = table[U(n)] - table[U(positive)] - table[U(n - positive)]
    size, ones, minimum = U(n), U(positive), U(least)
    here, above = U(level), U(source)
    kept = U(0)
    for i in range(U(n_in)):
        column = open_columns[above, i]
        low, high = U(items.first[U(column)]), U(items.first[U(column) + _ONE])
        if high - low == _ONE:
            packed = counts[here, low]
            if subtract:
                counts[above, low] -= packed
            a = packed & _LOW
            p = packed >> _HALF
            b = size - a
            if a < minimum or b < minimum:
                continue
            q = ones - p
            branches = table[a] + table[b]
            classes = table[p] + table[a - p] + table[q] + table[b - q]
        else:
            rest = size
            rest_ones = ones
            heavy = 0
            branches = 0.0
            classes = 0.0
            for item in range(low, high):
                packed = counts[here, item]
                if subtract:
                    counts[above, item] -= packed
                a = packed & _LOW
                p = packed >> _HALF
                rest -= a
                rest_ones -= p
                heavy += a >= minimum
                branches += table[a]
                classes += table[p] + table[a - p]
            heavy += rest >= minimum
            if heavy < 2:
                continue
            branches += table[rest]
            classes += table[rest_ones] + table[rest - rest_ones]
        saved = before + classes - branches
        open_columns[here, kept] = column
        gains[kept] = saved if saved >= TINY * LN2 else 0.0
        branch_sums[kept] = branches
        kept += _ONE
    return np.int64(kept)


@inner_kernel
def fill_node_tables(table, n, positive, ones, zeros, sizes):
    """Tabulate x ln x + (total - x) ln (total - x) for the positives, negatives and all rows."""
    negative = n - positive
    for x in range(positive + 1):
        ones[U(x)] = table[U(x)] + table[U(positive - x)]
    for x in range(negative + 1):
        zeros[U(x)] = table[U(x)] + table[U(negative - x)]
    for x in range(n + 1):
        sizes[U(x)] = table[U(x)] + table[U(n - x)]


@inner_kernel
def block_size(n):
    """Choose how many entries to skim at once in a node of n rows."""
    if n < 2048:
        return n + 1  # none
    return 32 if n < 16384 else 128


@inner_kernel
def skim(entries, start, stop, last):
    """Count the cuts and the positives of some entries; -1 cuts where values must be looked up."""
    entry = entries[start]
    reach = entry >> _HALF & U(FAR)
    cuts = np.int64(last + reach <= entry >> _CODE)
    far = np.int64(reach == U(FAR))
    positives = entry & _ONE
    for at in range(start + _ONE, stop):
        entry = entries[at]
        reach = np.int64(entry >> _HALF & U(FAR))
        far += reach == FAR
        cuts += np.int64(entries[at - _ONE] >> _CODE) + reach <= np.int64(entry >> _CODE)
        positives += entry & _ONE
    return -1 if far else cuts, positives


@inner_kernel
def fields(heavy):
    """Tell what an entry counts in any case, and the masks of its weight and of its positives."""
    if heavy:
        return U(0), U(HEAVIEST), U(HEAVIEST)
    return _ONE, U(0), _ONE


@inner_kernel
def fill_bars(ones, zeros, sizes, n, positive, bar, ones_bar, zeros_bar):
    """Tabulate which left sides of a cut may score more than ``bar``.

    ``ones_bar[q]`` receives how many positives it takes beside q negatives, ``zeros_bar[p]`` how
    many negatives beside p positives. Scores are convex and lowest where both sides of the cut
    have the same share of positives, so both bars rise from place to place.
    """
    most_ones, most_zeros = U(positive), U(n - positive)
    p = U(0)
    for q in range(most_zeros + _ONE):
        while p <= most_ones and ones[p] + zeros[q] - sizes[p + q] <= bar:
            p += _ONE
        ones_bar[q] = np.uint32(p)
    q = U(0)
    for p in range(most_ones + _ONE):
        while q <= most_zeros and ones[p] + zeros[q] - sizes[p + q] <= bar:
            q += _ONE
        zeros_bar[p] = np.uint32(q)


@inner_kernel
def count_cuts(entries, start, stop):
    """Count the entries before which a cut is possible; -1 where values must be looked up."""
    cuts = np.int64(0)
    far = np.int64(0)
    for at in range(start, stop):
        reach = np.int64(entries[at] >> _HALF & U(FAR))
        far += reach == FAR
        cuts += np.int64(entries[at - _ONE] >> _CODE) + reach <= np.int64(entries[at] >> _CODE)
    return -1 if far else cuts


@inner_kernel
def add_up(entries, start, stop, shift, mask):
    """Sum a field of some entries."""
    total = U(0)
    for at in range(start, stop):
        total += entries[at] >> shift & mask
    return total


@inner_kernel
def _parted(below, entry):
    """Tell whether a cut between neighbours is possible, where no value must be looked up."""
    return (below >> _CODE) + (entry >> _HALF & U(FAR)) <= entry >> _CODE


@inner_kernel
def judge_full(
    columns, list_column, list_start, list_stop, list_low, list_high, entries, heavy, full, n,
    positive, least, before, tolerance, fewest, ones, zeros, sizes, bars, opened, cuts_of, scores,
    found,
):  # fmt: skip
    """Find the best cut of the columns with an entry for each row and at least ``fewest`` cuts.

    The others are left to `judge_numeric`, with -1 cuts. A gain must pay for the choice among
    the cuts. Because scores are convex, no cut in a block of entries scores more than the corners
    of the rectangle of positives and negatives the block crosses. Most blocks cannot pay, or not
    more than a cut known already, and are not looked into.
    """
    bar = max(math.log(fewest), tolerance) - before
    rounding = 1e-3 * tolerance
    ones_bar, zeros_bar = bars[0], bars[1]
    once, weight_mask, ones_mask = fields(heavy)
    minimum = U(least)
    block = U(8 if full < 128 else 16 if full < 1024 else 32)
    filled = False
    for k in range(list_low, list_high):
        column = list_column[k]
        start, end = U(list_start[k]), U(list_stop[k])
        place = k - list_low
        cuts_of[place] = -1
        if end - start < U(full) or columns.n_codes[column] < fewest:
            continue

        # From the first cut with enough rows to its left to the last with enough to its right.
        first, left = start + minimum, minimum
        if heavy:
            first, left = start, U(0)
            while left < minimum:
                left += entries[first] >> _WEIGHT & weight_mask
                first += _ONE
            right = U(0)
            while right < minimum:
                end -= _ONE
                right += entries[end] >> _WEIGHT & weight_mask
            end += _ONE
        else:
            end -= minimum - _ONE
        if first >= end:
            continue
        cuts = count_cuts(entries, first, end)
        if cuts < fewest:
            continue
        if not filled:
            fill_bars(ones, zeros, sizes, n, positive, bar - rounding, ones_bar, zeros_bar)
            filled = True

        # Set aside the blocks that can pay. A cut on their edges tells what must be surpassed.
        floor = bar
        n_opened = U(0)
        pos = add_up(entries, start, first, U(0), ones_mask)
        at = first
        while at < end:
            stop = min(at + block, end)
            size = stop - at
            if heavy:
                size = add_up(entries, at, stop, _WEIGHT, weight_mask)
            more = add_up(entries, at, stop, U(0), ones_mask)
            neg = left - pos
            if pos + more >= ones_bar[neg] or neg + size - more >= zeros_bar[pos]:
                opened[n_opened, 0] = at
                opened[n_opened, 1] = left
                opened[n_opened, 2] = pos
                opened[n_opened, 3] = size
                opened[n_opened, 4] = more
                n_opened += _ONE
                if _parted(entries[at - _ONE], entries[at]):
                    score = ones[pos] + zeros[neg] - sizes[left]
                    floor = max(floor, score - 2.0 * tolerance)
            left += size
            pos += more
            at = stop

        best = floor
        best_at, best_left, best_pos = first, U(0), U(0)
        unsure = False
        for i in range(n_opened):
            at, left, pos = opened[i, 0], opened[i, 1], opened[i, 2]
            size, more = opened[i, 3], opened[i, 4]
            neg = left - pos
            fewer = size - more
            bound = max(
                max(
                    ones[pos] + zeros[neg] - sizes[left],
                    ones[pos + more] + zeros[neg + fewer] - sizes[left + size],
                ),
                max(
                    ones[pos + more] + zeros[neg] - sizes[left + more],
                    ones[pos] + zeros[neg + fewer] - sizes[left + fewer],
                ),
            )
            if bound + rounding < best:
                continue
            for here in range(at, min(at + block, end)):
                entry = entries[here]
                score = ones[pos] + zeros[left - pos] - sizes[left]
                if score > best and _parted(entries[here - _ONE], entry):
                    # The first must surpass all that was not looked at by the tolerance.
                    unsure |= score <= floor + tolerance
                    best = score + tolerance
                    best_at, best_left, best_pos = here, left, pos
                left += once + (entry >> _WEIGHT & weight_mask)
                pos += entry & ones_mask
        if unsure:
            continue
        cuts_of[place] = cuts
        scores[place] = best - tolerance
        found[place, 0] = np.int64(best_left)
        found[place, 1] = np.int64(best_pos)
        found[place, 2] = np.int64(entries[best_at - _ONE] >> _CODE)
        found[place, 3] = np.int64(entries[best_at] >> _CODE)


@inner_kernel
def judge_numeric(
    columns, list_column, list_start, list_stop, list_low, list_high, entries, heavy, full, n,
    positive, least, before, tolerance, ones, zeros, sizes, cuts_of, scores, found,
):  # fmt: skip
    """Find the best cut of each numeric column of a node that `judge_full` has not judged.

    ``cuts_of`` and ``scores`` receive the number of cuts and the score of the best, ``found`` the
    rows and positives to its left and the codes on both sides. Cuts count from ``least`` rows on
    either side. All columns in one call, all in one loop: a call in between would cost more than
    the entries of a small node.
    """
    at_least, limit = U(least), U(n - least)
    values = columns.values
    size_of_block = U(n + 1 if heavy else block_size(n))
    once, weight_mask, ones_mask = fields(heavy)
    rounding = 1e-3 * tolerance
    for k in range(list_low, list_high):
        if cuts_of[k - list_low] >= 0:
            continue
        column = list_column[k]
        start, stop = list_start[k], list_stop[k]
        begin, default = U(columns.begins[column]), U(columns.defaults[column])
        block = U(full - (stop - start))
        middle = stop
        block_ones = U(0)
        if block:
            low = start
            while low < middle:
                half = (low + middle) // 2
                if entries[U(half)] >> _CODE < default:
                    low = half + 1
                else:
                    middle = half
            block_ones = U(positive) - add_up(entries, U(start), U(stop), U(0), ones_mask)
            if heavy:
                block = U(n) - add_up(entries, U(start), U(stop), _WEIGHT, weight_mask)
        left, pos, last = U(0), U(0), _LOW
        cuts = 0
        best = tolerance - before
        best_left, best_pos, best_low, best_high = U(0), U(0), U(0), U(0)
        at = U(start)
        for part in range(2):
            end = U(middle)
            if part:
                # The block of rows with the default value, then the larger ones.
                end = U(stop)
                if block == U(0) or left > limit:
                    break
                if left >= at_least and values[begin + last] + GAP < values[begin + default]:
                    cuts += 1
                    score = ones[pos] + zeros[left - pos] - sizes[left]
                    if score > best:
                        best = score + tolerance
                        best_left, best_pos, best_low, best_high = left, pos, last, default
                left += block
                pos += block_ones
                last = default
            while left < at_least and at < end:
                entry = entries[at]
                left += once + (entry >> _WEIGHT & weight_mask)
                pos += entry & ones_mask
                last = entry >> _CODE
                at += _ONE
            if left > limit:
                break
            end = min(end, at + (limit - left) + _ONE)
            here = math.inf  # the score at the beginning of a block, where it is known
            while at < end:
                block_end = end
                if size_of_block <= end - at:
                    # No cut in a block scores higher than the corners of the rectangle it crosses,
                    # because scores are convex. Most blocks need not be looked into.
                    block_end = at + size_of_block
                    more_cuts, more = skim(entries, at, block_end, last)
                    negatives = left - pos
                    if here == math.inf:
                        here = ones[pos] + zeros[negatives] - sizes[left]
                    fewer = size_of_block - more
                    there = ones[pos + more] + zeros[negatives + fewer]
                    there -= sizes[left + size_of_block]
                    bound = max(
                        max(here, there),
                        max(
                            ones[pos + more] + zeros[negatives] - sizes[left + more],
                            ones[pos] + zeros[negatives + fewer] - sizes[left + fewer],
                        ),
                    )
                    here = there
                    if bound + rounding < best and more_cuts >= 0:
                        cuts += more_cuts
                        pos += more
                        left += size_of_block
                        at = block_end
                        last = entries[at - _ONE] >> _CODE
                        continue
                if heavy:
                    while at < block_end and left <= limit:
                        entry = entries[at]
                        code = entry >> _CODE
                        reach = entry >> _HALF & U(FAR)
                        may_cut = last + reach <= code
                        if reach == U(FAR):
                            may_cut = values[begin + last] + GAP < values[begin + code]
                        cuts += may_cut
                        score = ones[pos] + zeros[left - pos] - sizes[left]
                        if score > best and may_cut:
                            best = score + tolerance
                            best_left, best_pos, best_low, best_high = left, pos, last, code
                        last = code
                        left += once + (entry >> _WEIGHT & weight_mask)
                        pos += entry & ones_mask
                        at += _ONE
                else:  # the same, with one thing less to keep
                    shift = left - at  # wraps around, and back when the place is added
                    while at < block_end:
                        entry = entries[at]
                        code = entry >> _CODE
                        reach = entry >> _HALF & U(FAR)
                        may_cut = last + reach <= code
                        if reach == U(FAR):
                            may_cut = values[begin + last] + GAP < values[begin + code]
                        cuts += may_cut
                        score = ones[pos] + zeros[at + shift - pos] - sizes[at + shift]
                        if score > best and may_cut:
                            best = score + tolerance
                            best_left = at + shift
                            best_pos, best_low, best_high = pos, last, code
                        last = code
                        pos += entry & _ONE
                        at += _ONE
                    left = at + shift
                if left > limit:
                    break
        place = k - list_low
        cuts_of[place] = cuts
        scores[place] = best - tolerance
        found[place, 0] = np.int64(best_left)
        found[place, 1] = np.int64(best_pos)
        found[place, 2] = np.int64(best_low)
        found[place, 3] = np.int64(best_high)


@inner_kernel
def flag_numeric(
    entries, start, stop, row_bit, default, left_code, full, rows, low, high, flags
):  # fmt: skip
    """Flag the rows of a node that go right where it is cut after ``left_code``."""
    if stop - start < full:  # some rows have the default value
        default_side = np.uint8(default > left_code)
        for i in range(low, high):
            flags[U(rows[U(i)])] = default_side
    for at in range(start, stop):
        entry = entries[U(at)]
        flags[(entry & _LOW) >> row_bit] = entry >> _CODE > U(left_code)


@inner_kernel
def mark_nominal(columns, items, column, rows, low, high, side):
    """Note the branch of every row of a node that is split by a nominal column."""
    default = np.uint16(columns.defaults[column])
    first, last = items.first[column], items.first[column + 1]
    stored = items.stops[last - 1] - items.starts[first]
    if stored < 16 * (high - low):
        for i in range(low, high):
            side[U(rows[U(i)])] = default
        for item in range(first, last):
            code = np.uint16(items.codes[item])
            for at in range(items.starts[item], items.stops[item]):
                side[columns.entries[U(at)] & _LOW] = code
        return
    for i in range(low, high):
        row = U(rows[U(i)])
        left, right = items.indptr[row], items.indptr[row + _ONE]
        while left < right:
            half = (left + right) // 2
            if items.indices[U(half)] < first:
                left = half + 1
            else:
                right = half
        code = default
        if left < items.indptr[row + _ONE] and items.indices[U(left)] < last:
            code = np.uint16(items.codes[items.indices[U(left)]])
        side[row] = code


@inner_kernel
def part_rows_in_two(rows, low, high, flags, ends, buffer):
    """Sort the rows of a node by branch; ``ends`` receives where each branch ends."""
    left = low
    right = U(0)
    for i in range(low, high):
        row = rows[U(i)]
        s = U(flags[U(row)])
        rows[U(left)] = row
        buffer[right] = U(row)
        right += s
        left += np.int64(_ONE - s)
    for i in range(np.int64(right)):
        rows[U(left + i)] = np.uint32(buffer[U(i)])
    ends[0] = left
    ends[1] = high


@inner_kernel
def part_rows(rows, low, high, side, ends, buffer):
    """Do the same for any number of branches."""
    for b in range(len(ends)):
        ends[b] = 0
    for i in range(low, high):
        ends[side[U(rows[U(i)])]] += 1
    place = 0
    for b in range(len(ends)):
        place += ends[b]
        ends[b] = place - ends[b]
    for i in range(low, high):
        b = side[U(rows[U(i)])]
        buffer[U(ends[b])] = U(rows[U(i)])
        ends[b] += 1
    for i in range(low, high):
        rows[U(i)] = np.uint32(buffer[U(i - low)])
    for b in range(len(ends)):
        ends[b] += low


@inner_kernel
def swap_rows(entries, items, item, rows, place_of, low, high, default):
    """Bring the rows with an item to one end of a node's stretch; return where branch 1 begins.

    They change places with others, so the work is that of the item's rows, not of the node's.
    """
    kept = low if default else high
    n_holders = items.stops[item] - items.starts[item]
    if n_holders < 8 * (high - low):
        for at in range(items.starts[item], items.stops[item]):
            row = U(entries[U(at)] & _LOW)
            place = np.int64(place_of[row])
            if place < low or place >= high:
                continue
            if default == 0:
                kept -= 1
            other = rows[U(kept)]
            rows[U(place)] = other
            place_of[U(other)] = np.uint32(place)
            rows[U(kept)] = np.uint32(row)
            place_of[row] = np.uint32(kept)
            if default:
                kept += 1
        return kept
    at = low
    first = low if default else high
    while at < high if default else at < first:
        row = U(rows[U(at)])
        left, right = items.indptr[row], items.indptr[row + _ONE]
        stop = right
        while left < right:
            half = (left + right) // 2
            if items.indices[U(half)] < item:
                left = half + 1
            else:
                right = half
        holds = left < stop and items.indices[U(left)] == item
        if not holds:
            at += 1
            continue
        if default == 0:
            first -= 1
        other = rows[U(first)]
        rows[U(at)] = other
        place_of[U(other)] = np.uint32(at)
        rows[U(first)] = np.uint32(row)
        place_of[row] = np.uint32(first)
        if default:
            first += 1
            at += 1
    return first


@inner_kernel
def part_two(entries, start, stop, row_bit, flags, buffer):
    """Part a stretch in two, order kept; return where the second part begins."""
    left = U(start)
    right = U(0)
    for at in range(U(start), U(stop)):
        entry = entries[at]
        s = U(flags[(entry & _LOW) >> row_bit])
        entries[left] = entry
        buffer[right] = entry
        right += s
        left += _ONE - s
    for at in range(right):
        entries[left + at] = buffer[at]
    return np.int64(left)


@inner_kernel
def keep_one(entries, start, stop, row_bit, flags, wanted):
    """Keep the entries of one branch at the front of a stretch; return their end."""
    left = U(start)
    for at in range(U(start), U(stop)):
        entry = entries[at]
        entries[left] = entry
        left += U(flags[(entry & _LOW) >> row_bit] == wanted)
    return np.int64(left)


@inner_kernel
def part_many(entries, start, stop, row_bit, side, slot, bounds, buffer):
    """Part a stretch among several branches; entries of branches without a slot are dropped."""
    n_slots = len(bounds) - 1
    for k in range(n_slots + 1):
        bounds[k] = 0
    for at in range(start, stop):
        k = slot[side[(entries[U(at)] & _LOW) >> row_bit]]
        if k >= 0:
            bounds[k + 1] += 1
    for k in range(n_slots):
        bounds[k + 1] += bounds[k]
    for at in range(start, stop):
        entry = entries[U(at)]
        k = slot[side[(entry & _LOW) >> row_bit]]
        if k >= 0:
            buffer[U(bounds[k])] = entry
            bounds[k] += 1
    for k in range(n_slots, 0, -1):
        bounds[k] = start + bounds[k - 1]
    bounds[0] = start
    for at in range(start, bounds[n_slots]):
        entries[U(at)] = buffer[U(at - start)]


@inner_kernel
def _useful(entries, start, stop, full, least):
    """Tell whether a numeric column can still split a node, now or further down.

    ``full`` is how many entries it has if no row has the default value, ``least`` how many it
    takes at least beside such rows.
    """
    if stop - start < full:
        return stop - start >= least
    return entries[U(start)] >> _HALF != entries[U(stop - 1)] >> _HALF


@inner_kernel
def grow_counted(
    columns, items, numeric, nominal, rows, y, repeats, single, table, seen,
    root_counts, min_objects, mdl,
):  # fmt: skip
    """Grow one tree.

    Parameters
    ----------
    columns, items
        The prepared table.
    numeric, nominal : arrays of int64
        The columns this tree may use, by kind, ascending.
    rows : array of uint32
        The training rows; reordered here so that each node owns a stretch.
    y, repeats : arrays by row of the whole
        Class 0 or 1, and how often the row counts (``single``: once, every one).
    table : array of float64
        x ln x of whole numbers up to the number of training rows.
    seen : array of uint8
        Filled here: which values occur in the training set; empty if all do.
    root_counts : array of uint64
        Counts of all items where the training set is the whole table, else empty.
    min_objects, mdl
        The learner's parameters.

    Returns
    -------
    feature, cut, first, width, branch, counts, low, high, n_nodes
        The nodes; ``rows[low:high]`` are a node's rows.
    """
    everything = len(rows) == len(y)
    n = np.int64(0)
    positive = np.int64(0)
    most = np.int64(1)
    in_set = np.zeros(len(y), np.uint8)
    for i in range(len(rows)):
        row = U(rows[i])
        in_set[row] = 1
        times = 1 if single else np.int64(repeats[row])
        n += times
        positive += times * y[row]
        most = max(most, times)
    n_numeric, n_nominal = len(numeric), len(nominal)

    # Rows that count several times have one entry that says so, where it has room for that.
    heavy = most > 1 and most <= HEAVIEST and len(y) < 1 << 24
    row_bit = U(8) if heavy else _ONE
    least_entries = 1 if heavy else min_objects
    full = len(rows) if heavy else n
    size = 1
    for k in range(n_numeric):
        stored = columns.ends[numeric[k]] - columns.begins[numeric[k]]
        if not (single or heavy):
            stored = min(n, stored * 1_000_000)
        size += stored
    entries = np.empty(size, np.uint64)
    list_column = np.empty(n_numeric + 1, np.int64)
    list_start = np.empty(n_numeric + 1, np.int64)
    list_stop = np.empty(n_numeric + 1, np.int64)
    bits = np.empty(len(y) if n_numeric else 0, np.uint8)  # a quarter of y: it is read at random
    for row in range(len(bits)):
        bits[row] = y[row]
        if heavy:
            bits[row] = repeats[row] << _WEIGHT | repeats[row] * y[row]
    fill_entries(
        columns, numeric, everything, single, heavy, in_set, repeats, bits, row_bit, entries,
        list_start, list_stop,
    )  # fmt: skip
    n_list = 0
    for k in range(n_numeric):
        list_column[k] = numeric[k]
    if len(seen):
        for k in range(n_numeric):
            begin = columns.begins[numeric[k]]
            for at in range(list_start[k], list_stop[k]):
                seen[U(begin) + (entries[U(at)] >> _CODE)] = 1
            if list_stop[k] - list_start[k] < full:
                seen[begin + columns.defaults[numeric[k]]] = 1
    for k in range(n_numeric):
        if _useful(entries, list_start[k], list_stop[k], full, least_entries):
            list_column[n_list] = list_column[k]
            list_start[n_list] = list_start[k]
            list_stop[n_list] = list_stop[k]
            n_list += 1

    levels = 3
    while 1 << (levels - 3) < len(rows):
        levels += 1
    n_items = len(items.codes) if n_nominal else 0
    counts_of = np.empty((levels, n_items), np.uint64)
    open_columns = np.empty((levels, n_nominal), np.int64)
    n_open = np.zeros(levels, np.int64)
    n_open[0] = n_nominal
    for k in range(n_nominal):
        open_columns[0, k] = nominal[k]
    if n_nominal:
        if len(root_counts):
            for item in range(n_items):
                counts_of[0, item] = root_counts[item]
            for i in range(len(rows)):
                row = U(rows[i])
                if y[row]:
                    for at in range(items.indptr[row], items.indptr[row + _ONE]):
                        counts_of[0, U(items.indices[U(at)])] += _ONE << _HALF
        else:
            for item in range(n_items):
                counts_of[0, item] = 0
            count_items(items, rows, np.int64(0), len(rows), y, repeats, single, counts_of[0])

    any_many = False
    all_many = n_numeric == 0
    for k in range(n_nominal):
        if 0.3 * n - columns.n_values[nominal[k]] > TINY:
            all_many = False
        else:
            any_many = True
    any_many = any_many and not all_many

    capacity = 64
    feature = np.empty(capacity, np.int32)
    cut = np.empty(capacity, np.float64)
    first = np.empty(capacity, np.int32)
    width = np.empty(capacity, np.int32)
    branch = np.empty(capacity, np.float64)
    counts = np.empty((capacity, 2), np.float64)
    row_lows = np.empty(capacity, np.int64)
    row_highs = np.empty(capacity, np.int64)
    n_nodes = np.int64(1)
    feature[0], cut[0], first[0], width[0], branch[0] = -1, 0.0, -1, 0, n
    counts[0, 0], counts[0, 1] = n - positive, positive
    row_lows[0], row_highs[0] = 0, len(rows)

    stack = np.empty((64, 9), np.int64)
    depth = np.int64(0)
    if n >= 2 * min_objects and 0 < positive < n:
        stack[0, NODE], stack[0, ROW_LOW], stack[0, ROW_HIGH] = 0, 0, len(rows)
        stack[0, SIZE], stack[0, POSITIVE] = n, positive
        stack[0, LIST_LOW], stack[0, LIST_HIGH] = 0, n_list
        stack[0, LEVEL], stack[0, COUNTING] = 0, READY
        depth = 1

    # Without numeric columns rows change places one by one, so each knows its own.
    place_of = np.empty(len(y) if n_numeric == 0 else 0, np.uint32)
    if n_numeric == 0:
        for row in range(len(y)):
            place_of[row] = 0xFFFFFFFF
        for i in range(len(rows)):
            place_of[U(rows[i])] = i
    flags = np.zeros(len(y), np.uint8)  # narrow, so that they stay in the cache
    side = np.zeros(len(y) if n_nominal else 0, np.uint16)
    buffer = np.empty(n + 1, np.uint64)
    tables = np.empty((3, n + 1 if n_numeric else 1), np.float64)
    ones, zeros, sizes = tables[0], tables[1], tables[2]
    bars = np.empty((2, n + 1 if n_numeric else 1), np.uint32)
    opened = np.empty((n // 8 + 1, 5), np.uint64)
    numeric_gains = np.empty(n_numeric + 1, np.float64)
    numeric_ratios = np.empty(n_numeric + 1, np.float64)
    found = np.empty((n_numeric + 1, 4), np.int64)
    cuts_of = np.empty(n_numeric + 1, np.int64)
    scores = np.empty(n_numeric + 1, np.float64)
    gains = np.empty(n_nominal + 1, np.float64)
    branch_sums = np.empty(n_nominal + 1, np.float64)
    slot = np.empty(2, np.int64)
    bounds = np.empty(3, np.int64)
    ends = np.empty(2, np.int64)
    two_ends = np.empty(2, np.int64)

    while depth:
        depth -= 1
        node = stack[depth, NODE]
        low, high = stack[depth, ROW_LOW], stack[depth, ROW_HIGH]
        n, positive = stack[depth, SIZE], stack[depth, POSITIVE]
        list_low, list_high = stack[depth, LIST_LOW], stack[depth, LIST_HIGH]
        level, counting = stack[depth, LEVEL], stack[depth, COUNTING]

        # Count the nominal columns and judge them.
        source = level
        if counting == COUNT or counting == COUNT_AND_SUBTRACT:
            source = level - 1
        n_kept = 0
        if n_open[source]:
            if counting != READY:
                for k in range(n_open[source]):
                    column = open_columns[source, k]
                    for item in range(items.first[column], items.first[column + 1]):
                        counts_of[U(level), U(item)] = 0
                count_items(items, rows, low, high, y, repeats, single, counts_of[level])
            n_kept = judge_nominal(
                items, open_columns, source, n_open[source], level, counts_of,
                counting == COUNT_AND_SUBTRACT, n, positive, min_objects, table, gains,
                branch_sums,
            )  # fmt: skip
        n_open[level] = n_kept
        gain_sum = 0.0
        n_valid = 0
        if any_many:
            for k in range(n_kept):
                if 0.3 * branch[0] - columns.n_values[open_columns[level, k]] > TINY:
                    gain_sum += gains[k]
                    n_valid += 1
        else:
            n_valid = n_kept
            for k in range(n_kept):
                gain_sum += gains[k]

        # Judge the numeric columns.
        full = high - low if heavy else n
        if list_high > list_low:
            fill_node_tables(table, n, positive, ones, zeros, sizes)
            before = table[n] - table[positive] - table[n - positive]
            tolerance = TINY * LN2 * n
            share = 0.05 * n
            least = float(min_objects)
            if share - min_objects >= TINY:
                least = 25.0 if share - 25.0 > TINY else share
            side_least = np.int64(math.ceil(least - TINY))
            if 2.0 * least - n <= TINY:
                fewest = (high - low - 2 * side_least) * 3 // 4
                if mdl and fewest > 1:
                    judge_full(
                        columns, list_column, list_start, list_stop, list_low, list_high, entries,
                        heavy, full, n, positive, side_least, before, tolerance, fewest, ones,
                        zeros, sizes, bars, opened, cuts_of, scores, found,
                    )  # fmt: skip
                else:
                    for at in range(list_high - list_low):
                        cuts_of[at] = -1
                judge_numeric(
                    columns, list_column, list_start, list_stop, list_low, list_high, entries,
                    heavy, full, n, positive, side_least, before, tolerance, ones, zeros, sizes,
                    cuts_of, scores, found,
                )  # fmt: skip
            else:
                for at in range(list_high - list_low):
                    cuts_of[at] = 0
            for at in range(list_high - list_low):
                numeric_gains[at] = -1.0
                cuts = cuts_of[at]
                if cuts == 0:
                    continue
                gain = before + scores[at]
                if mdl:
                    gain -= math.log(cuts)
                if gain < tolerance:
                    continue
                info = table[n] - sizes[found[at, 0]]
                numeric_gains[at] = gain
                numeric_ratios[at] = 0.0 if info < TINY * LN2 else gain / info
                gain_sum += gain
                n_valid += 1
        if n_valid == 0:
            continue

        # The largest ratio among the columns of at least average gain; the first of equals.
        least_gain = gain_sum / n_valid - 1e-3 * LN2 * n  # gains are in nats times rows
        best_ratio = 0.0
        best_numeric = -1
        best_nominal = -1
        i = 0
        j = list_low
        while i < n_kept or j < list_high:
            if j == list_high or (i < n_kept and open_columns[level, i] < list_column[j]):
                info = table[n] - branch_sums[i]
                if gains[i] >= least_gain and gains[i] > best_ratio * info:
                    ratio = gains[i] / info if info >= TINY * LN2 else 0.0
                    if ratio - best_ratio > TINY:
                        best_ratio = ratio
                        best_nominal = i
                        best_numeric = -1
                i += 1
            else:
                at = j - list_low
                gain = numeric_gains[at]
                if gain >= 0.0 and gain >= least_gain and numeric_ratios[at] - best_ratio > TINY:
                    best_ratio = numeric_ratios[at]
                    best_numeric = at
                    best_nominal = -1
                j += 1
        if best_ratio <= TINY:
            continue

        # The branches of the chosen column and their rows.
        n_branches = np.int64(2)
        column = 0
        if best_numeric >= 0:
            column = list_column[list_low + best_numeric]
        else:
            column = open_columns[level, best_nominal]
            n_branches = columns.n_values[column]
        child = n_nodes
        n_nodes += n_branches
        feature = room_for(feature, n_nodes)
        cut = room_for(cut, n_nodes)
        first = room_for(first, n_nodes)
        width = room_for(width, n_nodes)
        branch = room_for(branch, n_nodes)
        row_lows = room_for(row_lows, n_nodes)
        row_highs = room_for(row_highs, n_nodes)
        counts = room_for_rows(counts, n_nodes)
        feature[node], first[node], width[node] = column, child, n_branches
        for b in range(child, n_nodes):
            feature[b], cut[b], first[b], width[b] = -1, 0.0, -1, 0
            counts[b, 0], counts[b, 1] = 0.0, 0.0
        if best_numeric >= 0:
            at = best_numeric
            begin = columns.begins[column]
            cut[node] = lowered_cut(
                columns.values, seen, begin, begin + columns.n_codes[column],
                columns.values[begin + found[at, 2]], columns.values[begin + found[at, 3]],
            )  # fmt: skip
            counts[child, 0], counts[child, 1] = found[at, 0] - found[at, 1], found[at, 1]
            flag_numeric(
                entries, list_start[list_low + at], list_stop[list_low + at], row_bit,
                columns.defaults[column], found[at, 2], full, rows, low, high, flags,
            )  # fmt: skip
            rest = 1
            swapped = False
        else:
            for item in range(items.first[column], items.first[column + 1]):
                packed = counts_of[level, item]
                b = child + items.codes[item]
                counts[b, 1] = packed >> _HALF
                counts[b, 0] = (packed & _LOW) - (packed >> _HALF)
            rest = columns.defaults[column]
            swapped = n_numeric == 0 and n_branches == 2
            if not swapped:
                mark_nominal(columns, items, column, rows, low, high, side)
                if n_branches == 2:
                    for i in range(low, high):
                        flags[U(rows[U(i)])] = np.uint8(side[U(rows[U(i)])])
        rest += child
        rest_n, rest_positive = n, positive
        for b in range(child, n_nodes):
            if b != rest:
                rest_positive -= np.int64(counts[b, 1])
                rest_n -= np.int64(counts[b, 0] + counts[b, 1])
        counts[rest, 0], counts[rest, 1] = rest_n - rest_positive, rest_positive
        if n_branches == 2:
            ends = two_ends
        else:
            ends = np.empty(n_branches, np.int64)
        if swapped:
            ends[0] = swap_rows(
                columns.entries, items, items.first[column], rows, place_of, low, high, rest - child
            )
            ends[1] = high
        else:
            if n_branches == 2:
                part_rows_in_two(rows, low, high, flags, ends, buffer)
            else:
                part_rows(rows, low, high, side, ends, buffer)
            if n_numeric == 0:
                for i in range(low, high):
                    place_of[U(rows[U(i)])] = i

        # Which branches go on; the largest of them takes over the node's place in the stacks.
        n_live = np.int64(0)
        keeper = np.int64(-1)
        slot = room_for(slot, n_branches)
        for b in range(n_branches):
            a, p = counts[child + b, 0] + counts[child + b, 1], counts[child + b, 1]
            branch[child + b] = a
            row_lows[child + b] = low if b == 0 else ends[b - 1]
            row_highs[child + b] = ends[b]
            slot[b] = -1
            if a >= 2 * min_objects and 0 < p < a:
                slot[b] = 0
                n_live += 1
                if keeper < 0 or a > branch[child + keeper]:
                    keeper = b
        if n_live == 0:
            continue
        stack = room_for_rows(stack, depth + n_live)
        n_list = list_high - list_low
        list_column = room_for(list_column, list_low + n_live * n_list)
        list_start = room_for(list_start, list_low + n_live * n_list)
        list_stop = room_for(list_stop, list_low + n_live * n_list)
        others = 0
        for b in range(n_branches):
            if slot[b] < 0:
                others += row_highs[child + b] - row_lows[child + b]
        subtract = others <= row_highs[child + keeper] - row_lows[child + keeper]
        k = 1
        for b in range(n_branches):
            if slot[b] < 0:
                if subtract and n_kept:
                    subtract_items(
                        items, rows, row_lows[child + b], row_highs[child + b], y, repeats, single,
                        counts_of[level],
                    )  # fmt: skip
                continue
            at = depth
            if b != keeper:
                at = depth + k
                slot[b] = k
                k += 1
            stack[at, NODE] = child + b
            stack[at, ROW_LOW], stack[at, ROW_HIGH] = row_lows[child + b], row_highs[child + b]
            stack[at, SIZE] = np.int64(branch[child + b])
            stack[at, POSITIVE] = np.int64(counts[child + b, 1])
            stack[at, LIST_LOW] = list_low + slot[b] * n_list
            stack[at, LIST_HIGH] = stack[at, LIST_LOW]
            if b == keeper:
                stack[at, LEVEL] = level
                stack[at, COUNTING] = READY if subtract else RECOUNT
            else:
                stack[at, LEVEL] = level + 1
                stack[at, COUNTING] = COUNT_AND_SUBTRACT if subtract else COUNT

        # Their stretches of the numeric columns.
        bounds = room_for(bounds, n_live + 1)
        for j in range(list_low, list_high):
            start, stop, column = list_start[j], list_stop[j], list_column[j]
            if n_branches == 2:
                if n_live == 1:
                    middle = keep_one(entries, start, stop, row_bit, flags, U(keeper))
                    bounds[0], bounds[1] = start, middle
                else:
                    middle = part_two(entries, start, stop, row_bit, flags, buffer)
                    bounds[0], bounds[1], bounds[2] = start, middle, stop
            else:
                part_many(entries, start, stop, row_bit, side, slot, bounds[: n_live + 1], buffer)
            for k in range(n_live):
                begin, end = bounds[k], bounds[k + 1]
                if n_branches == 2 and n_live == 2 and keeper == 1:
                    begin, end = bounds[1 - k], bounds[2 - k]
                size = stack[depth + k, SIZE]
                if heavy:
                    size = stack[depth + k, ROW_HIGH] - stack[depth + k, ROW_LOW]
                if _useful(entries, begin, end, size, least_entries):
                    at = stack[depth + k, LIST_HIGH]
                    list_column[at] = column
                    list_start[at] = begin
                    list_stop[at] = end
                    stack[depth + k, LIST_HIGH] += 1
        depth += n_live
    return feature, cut, first, width, branch, counts, row_lows, row_highs, n_nodes
