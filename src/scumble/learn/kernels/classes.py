"""Grow a tree for many classes where rows are counted: no missing values, each row once.

Columns are entry lists whose order is kept while rows move down, as in `counted`. A row that
moves from one side of a cut to the other changes the sum of x ln x over the classes of both sides
by an amount that depends on its class and on how many rows of this class have moved before. These
amounts are tabulated once for a node, class by class, one for each of its rows: a column is then
judged with one addition a row, however many classes there are.
"""

from __future__ import annotations

import math

import numpy as np

from scumble._core.jit import inner_kernel, kernel
from scumble.learn.kernels.arithmetic import LN2, TINY, U, lowered_cut
from scumble.learn.kernels.counted import (
    _useful,
    flag_numeric,
    keep_one,
    part_many,
    part_rows,
    part_rows_in_two,
    part_two,
)
from scumble.learn.kernels.growable import clear_row, room_for, room_for_rows
from scumble.learn.kernels.prepare import FAR, GAP

_CODE = np.uint64(36)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)

# What is known of a waiting node.
NODE, ROW_LOW, ROW_HIGH, LIST_LOW, LIST_HIGH = range(5)


@inner_kernel
def _tabulate_steps(rows, low, high, y, table, turn_of, size_of, local, begins, steps):
    """Give numbers to the classes of a node and tabulate what moving their rows changes.

    Returns how many classes there are and the sum of x ln x over them. ``local`` receives the
    class of each row in this numbering, ``begins`` where its amounts begin in ``steps``.
    """
    n_present = np.int64(0)
    for i in range(low, high):
        row = U(rows[U(i)])
        c = U(y[row])
        if turn_of[c] == 0:
            n_present += 1
            turn_of[c] = n_present
            size_of[U(n_present - 1)] = 0
        k = U(turn_of[c] - 1)
        local[row] = np.uint32(k)
        size_of[k] += 1
    for i in range(low, high):
        turn_of[U(y[U(rows[U(i)])])] = 0
    place = np.int64(0)
    total = 0.0
    for k in range(n_present):
        size = size_of[U(k)]
        begins[U(k)] = np.uint32(place)
        total += table[U(size)]
        for moved in range(size):
            after = table[U(moved + 1)] + table[U(size - moved - 1)]
            steps[U(place + moved)] = after - (table[U(moved)] + table[U(size - moved)])
        place += size
    return n_present, total


@inner_kernel
def _forget(entries, start, stop, local, begins, n_present, turns):
    """Set back the classes of some entries, or all of them where that is less."""
    if n_present <= stop - start:
        for k in range(n_present):
            turns[U(k)] = begins[U(k)]
        return
    for at in range(start, stop):
        k = U(local[(entries[U(at)] & _LOW) >> _ONE])
        turns[k] = begins[k]


@inner_kernel
def _judge_number(
    entries, start, stop, default, begin, values, n, least, total, before, tolerance, sizes,
    local, begins, n_present, steps, turns, sums, found,
):  # fmt: skip
    """Find the best cut of a numeric column; return the number of cuts and the best score.

    ``found`` receives the rows to its left and the codes on both sides. Rows in no entry form a
    block; beyond it sums are taken from the other end, because both sides count alike.
    """
    middle = stop
    block = n - (stop - start)
    if block:
        low = start
        while low < middle:
            half = (low + middle) // 2
            if entries[U(half)] >> _CODE < U(default):
                low = half + 1
            else:
                middle = half
    limit = n - least
    best = tolerance - before
    cuts = np.int64(0)
    last = U(0)
    now = total
    at = U(start)
    end = U(min(middle, start + least))
    while at < end:
        entry = entries[at]
        k = U(local[(entry & _LOW) >> _ONE])
        turn = turns[k]
        now += steps[turn]
        turns[k] = turn + np.uint32(1)
        last = entry >> _CODE
        at += _ONE
    shift = U(0) - U(start)  # wraps around, and back when the place is added
    end = U(min(middle, start + limit + 1))
    while at < end:
        entry = entries[at]
        code = entry >> _CODE
        reach = entry >> _HALF & U(FAR)
        may_cut = last + reach <= code
        if reach == U(FAR):
            may_cut = values[U(begin) + last] + GAP < values[U(begin) + code]
        cuts += may_cut
        score = now - sizes[at + shift]
        if score > best and may_cut:
            best = score + tolerance
            found[0], found[1], found[2] = at + shift, last, code
        last = code
        k = U(local[(entry & _LOW) >> _ONE])
        turn = turns[k]
        now += steps[turn]
        turns[k] = turn + np.uint32(1)
        at += _ONE
    _forget(entries, start, np.int64(at), local, begins, n_present, turns)
    if block == 0:
        return cuts, best - tolerance

    left = middle - start
    if least <= left <= limit and values[U(begin) + last] + GAP < values[begin + default]:
        cuts += 1
        score = now - sizes[U(left)]
        if score > best:
            best = score + tolerance
            found[0], found[1], found[2] = left, last, default
    left += block
    if left > limit:
        return cuts, best - tolerance
    now = total
    for back in range(stop - 1, middle - 1, -1):
        k = U(local[(entries[U(back)] & _LOW) >> _ONE])
        turn = turns[k]
        now += steps[turn]
        turns[k] = turn + np.uint32(1)
        sums[U(back - middle)] = now
    last = U(default)
    for place in range(middle, stop):
        code = entries[U(place)] >> _CODE
        here = left + place - middle
        if here > limit:
            break
        if here >= least and values[U(begin) + last] + GAP < values[U(begin) + code]:
            cuts += 1
            score = sums[U(place - middle)] - sizes[U(here)]
            if score > best:
                best = score + tolerance
                found[0], found[1], found[2] = here, last, code
        last = code
    _forget(entries, middle, stop, local, begins, n_present, turns)
    return cuts, best - tolerance


@inner_kernel
def _judge_codes(
    entries, start, stop, n, least, total, table, local, begins, n_present, size_of, steps, turns,
    bags,
):  # fmt: skip
    """Judge a nominal column: heavy branches, sums of x ln x over branches and over classes."""
    stored = stop - start
    if entries[U(start)] >> _CODE == entries[U(stop - 1)] >> _CODE:
        rest = n - stored
        heavy = (stored >= least) + (rest >= least)
        if heavy < 2:
            return heavy, 0.0, 0.0
        now = total
        for at in range(U(start), U(stop)):
            k = U(local[(entries[at] & _LOW) >> _ONE])
            turn = turns[k]
            now += steps[turn]
            turns[k] = turn + np.uint32(1)
        _forget(entries, start, stop, local, begins, n_present, turns)
        return heavy, table[U(stored)] + table[U(rest)], now

    heavy = 0
    branches = 0.0
    now = total
    at = start
    while at < stop:
        code = entries[U(at)] >> _CODE
        group = at
        while at < stop and entries[U(at)] >> _CODE == code:
            k = U(local[(entries[U(at)] & _LOW) >> _ONE])
            gone = turns[k] - begins[k]
            kept = U(size_of[k]) - U(gone)
            bag = U(bags[k])
            now += (table[bag + _ONE] - table[bag]) + (table[kept - _ONE] - table[kept])
            turns[k] += np.uint32(1)
            bags[k] += 1
            at += 1
        heavy += at - group >= least
        branches += table[U(at - group)]
        for i in range(group, at):
            bags[U(local[(entries[U(i)] & _LOW) >> _ONE])] = 0
    _forget(entries, start, stop, local, begins, n_present, turns)
    heavy += n - stored >= least
    return heavy, branches + table[U(n - stored)], now


@kernel
def grow_classes(columns, active, rows, y, n_classes, table, seen, min_objects, mdl):
    """Grow one tree.

    Parameters
    ----------
    columns : Columns
        The prepared columns; no value is missing.
    active : array of int64
        The columns this tree may use, ascending.
    rows : array of uint32
        The training rows, each once; reordered here so that each node owns a stretch.
    y : array of int32, by row of the whole
        Class codes.
    n_classes : int
        Number of declared classes.
    table : array of float64
        x ln x of whole numbers up to the number of training rows.
    seen : array of uint8
        Filled here: which values occur in the training set; empty if all do.
    min_objects, mdl
        The learner's parameters.

    Returns
    -------
    feature, cut, first, width, branch, counts, low, high, n_nodes
        The nodes; ``rows[low:high]`` are a node's rows.
    """
    n_all = len(rows)
    n_active = len(active)
    everything = n_all == len(y)
    in_set = np.zeros(len(y), np.uint8)
    for i in range(n_all):
        in_set[U(rows[i])] = 1
    size = 1
    for column in active:
        size += columns.ends[column] - columns.begins[column]
    entries = np.empty(size, np.uint64)
    list_column = np.empty(n_active + 1, np.int64)
    list_start = np.empty(n_active + 1, np.int64)
    list_stop = np.empty(n_active + 1, np.int64)
    n_list = np.int64(0)
    top = 0
    all_many = True
    for column in active:
        start = top
        for at in range(columns.begins[column], columns.ends[column]):
            entry = columns.entries[U(at)]
            row = entry & _LOW
            entries[U(top)] = (entry >> _HALF) << _HALF | row << _ONE
            top += 1 if everything else in_set[row]
        v = columns.n_values[column]
        if len(seen) and v == 0:
            begin = columns.begins[column]
            for at in range(start, top):
                seen[U(begin) + (entries[U(at)] >> _CODE)] = 1
            if top - start < n_all:
                seen[begin + columns.defaults[column]] = 1
        if v == 0 or 0.3 * n_all - v > TINY:
            all_many = False
        if _useful(entries, start, top, n_all, min_objects):
            list_column[n_list], list_start[n_list], list_stop[n_list] = column, start, top
            n_list += 1

    capacity = 64
    feature = np.empty(capacity, np.int32)
    cut = np.empty(capacity, np.float64)
    first = np.empty(capacity, np.int32)
    width = np.empty(capacity, np.int32)
    branch = np.empty(capacity, np.float64)
    counts = np.empty((capacity, n_classes), np.float64)
    row_lows = np.empty(capacity, np.int64)
    row_highs = np.empty(capacity, np.int64)
    n_nodes = np.int64(1)
    feature[0], cut[0], first[0], width[0], branch[0] = -1, 0.0, -1, 0, n_all
    row_lows[0], row_highs[0] = 0, n_all
    clear_row(counts, np.int64(0))
    for i in range(n_all):
        counts[0, U(y[U(rows[i])])] += 1.0

    stack = np.empty((64, 5), np.int64)
    depth = np.int64(0)
    if n_all >= 2 * min_objects and counts[0, y[rows[0]]] < n_all:
        stack[0, NODE], stack[0, ROW_LOW], stack[0, ROW_HIGH] = 0, 0, n_all
        stack[0, LIST_LOW], stack[0, LIST_HIGH] = 0, n_list
        depth = 1

    side = np.zeros(len(y), np.uint16)
    flags = np.zeros(len(y), np.uint8)  # sides of two, narrow so that they stay in the cache
    local = np.zeros(len(y), np.uint32)
    buffer = np.empty(n_all + 1, np.uint64)
    sizes = np.empty(n_all + 1, np.float64)
    steps = np.empty(n_all + 1, np.float64)
    sums = np.empty(n_all + 1, np.float64)
    turn_of = np.zeros(n_classes, np.int64)
    size_of = np.zeros(n_classes, np.int64)
    bags = np.zeros(n_classes, np.int64)
    begins = np.zeros(n_classes, np.uint32)
    turns = np.zeros(n_classes, np.uint32)
    gains = np.empty(n_active + 1, np.float64)
    ratios = np.empty(n_active + 1, np.float64)
    found = np.empty((n_active + 1, 3), np.int64)
    slot = np.empty(2, np.int64)
    bounds = np.empty(3, np.int64)
    ends = np.empty(2, np.int64)
    two_ends = np.empty(2, np.int64)

    while depth:
        depth -= 1
        node = stack[depth, NODE]
        low, high = stack[depth, ROW_LOW], stack[depth, ROW_HIGH]
        list_low, list_high = stack[depth, LIST_LOW], stack[depth, LIST_HIGH]
        n = high - low
        n_present, total = _tabulate_steps(
            rows, low, high, y, table, turn_of, size_of, local, begins, steps
        )
        for k in range(n_present):
            turns[U(k)] = begins[U(k)]
        for x in range(n + 1):
            sizes[U(x)] = table[U(x)] + table[U(n - x)]
        before = table[n] - total
        tolerance = TINY * LN2 * n
        share = 0.1 * n / n_classes
        least = float(min_objects)
        if share - min_objects >= TINY:
            least = 25.0 if share - 25.0 > TINY else share
        side_least = np.int64(math.ceil(least - TINY))
        cuttable = 2.0 * least - n <= TINY

        # A split model for each column; gains are in nats times rows.
        gain_sum = 0.0
        n_valid = 0
        for k in range(list_low, list_high):
            at = k - list_low
            column = list_column[k]
            v = columns.n_values[column]
            gains[at] = -1.0
            if v == 0:
                if not cuttable:
                    continue
                cuts, score = _judge_number(
                    entries, list_start[k], list_stop[k], columns.defaults[column],
                    columns.begins[column], columns.values, n, side_least, total, before,
                    tolerance, sizes, local, begins, n_present, steps, turns, sums, found[at],
                )  # fmt: skip
                if cuts == 0:
                    continue
                gain = before + score
                if mdl:
                    gain -= math.log(cuts)
                if gain < tolerance:
                    continue
                info = table[n] - sizes[found[at, 0]]
            else:
                heavy, branches, classes = _judge_codes(
                    entries, list_start[k], list_stop[k], n, min_objects, total, table, local,
                    begins, n_present, size_of, steps, turns, bags,
                )  # fmt: skip
                if heavy < 2:
                    continue
                gain = table[n] - total + classes - branches
                if gain < TINY * LN2:
                    gain = 0.0
                info = table[n] - branches
            gains[at] = gain
            ratios[at] = 0.0 if info < TINY * LN2 else gain / info
            if v == 0 or all_many or 0.3 * n_all - v > TINY:
                gain_sum += gain
                n_valid += 1
        if n_valid == 0:
            continue
        least_gain = gain_sum / n_valid - 1e-3 * LN2 * n
        best = -1
        best_ratio = 0.0
        for at in range(list_high - list_low):
            if gains[at] >= 0.0 and gains[at] >= least_gain and ratios[at] - best_ratio > TINY:
                best = at
                best_ratio = ratios[at]
        if best < 0:
            continue

        # The branches of the chosen column and their rows.
        column = list_column[list_low + best]
        start, stop = list_start[list_low + best], list_stop[list_low + best]
        v = columns.n_values[column]
        n_branches = v if v > 0 else np.int64(2)
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
            clear_row(counts, b)
        if v == 0:
            begin = columns.begins[column]
            cut[node] = lowered_cut(
                columns.values, seen, begin, begin + columns.n_codes[column],
                columns.values[begin + found[best, 1]], columns.values[begin + found[best, 2]],
            )  # fmt: skip
            flag_numeric(
                entries, start, stop, _ONE, columns.defaults[column], found[best, 1], n, rows, low,
                high, flags,
            )  # fmt: skip
        elif n_branches == 2:
            default_flag = np.uint8(columns.defaults[column])
            for i in range(low, high):
                flags[U(rows[U(i)])] = default_flag
            for at in range(start, stop):
                flags[(entries[U(at)] & _LOW) >> _ONE] = np.uint8(1) - default_flag
        else:
            for i in range(low, high):
                side[U(rows[U(i)])] = np.uint16(columns.defaults[column])
            for at in range(start, stop):
                entry = entries[U(at)]
                side[(entry & _LOW) >> _ONE] = np.uint16(entry >> _CODE)
        if n_branches == 2:
            ends = two_ends
            part_rows_in_two(rows, low, high, flags, ends, buffer)
        else:
            ends = np.empty(n_branches, np.int64)
            part_rows(rows, low, high, side, ends, buffer)

        # Which branches go on; the largest of them takes over the node's place in the stacks.
        n_live = np.int64(0)
        keeper = np.int64(-1)
        slot = room_for(slot, n_branches)
        for b in range(n_branches):
            begin = low if b == 0 else ends[b - 1]
            size = ends[b] - begin
            row_lows[child + b], row_highs[child + b] = begin, ends[b]
            branch[child + b] = size
            for i in range(begin, ends[b]):
                counts[child + b, U(y[U(rows[U(i)])])] += 1.0
            slot[b] = -1
            if size >= 2 * min_objects and counts[child + b, y[rows[begin]]] < size:
                slot[b] = 0
                n_live += 1
                if keeper < 0 or size > row_highs[child + keeper] - row_lows[child + keeper]:
                    keeper = b
        if n_live == 0:
            continue
        stack = room_for_rows(stack, depth + n_live)
        n_list = list_high - list_low
        list_column = room_for(list_column, list_low + n_live * n_list)
        list_start = room_for(list_start, list_low + n_live * n_list)
        list_stop = room_for(list_stop, list_low + n_live * n_list)
        k = 1
        for b in range(n_branches):
            if slot[b] < 0:
                continue
            at = depth
            if b != keeper:
                at = depth + k
                slot[b] = k
                k += 1
            stack[at, NODE] = child + b
            stack[at, ROW_LOW], stack[at, ROW_HIGH] = row_lows[child + b], row_highs[child + b]
            stack[at, LIST_LOW] = list_low + slot[b] * n_list
            stack[at, LIST_HIGH] = stack[at, LIST_LOW]

        # Their stretches of the columns.
        bounds = room_for(bounds, n_live + 1)
        for j in range(list_low, list_high):
            start, stop, column = list_start[j], list_stop[j], list_column[j]
            if n_branches == 2:
                if n_live == 1:
                    middle = keep_one(entries, start, stop, _ONE, flags, U(keeper))
                    bounds[0], bounds[1] = start, middle
                else:
                    middle = part_two(entries, start, stop, _ONE, flags, buffer)
                    bounds[0], bounds[1], bounds[2] = start, middle, stop
            else:
                part_many(entries, start, stop, _ONE, side, slot, bounds[: n_live + 1], buffer)
            for k in range(n_live):
                begin, end = bounds[k], bounds[k + 1]
                if n_branches == 2 and n_live == 2 and keeper == 1:
                    begin, end = bounds[1 - k], bounds[2 - k]
                n_rows = stack[depth + k, ROW_HIGH] - stack[depth + k, ROW_LOW]
                if _useful(entries, begin, end, n_rows, min_objects):
                    at = stack[depth + k, LIST_HIGH]
                    list_column[at] = column
                    list_start[at] = begin
                    list_stop[at] = end
                    stack[depth + k, LIST_HIGH] += 1
        depth += n_live
    return feature, cut, first, width, branch, counts, row_lows, row_highs, n_nodes
