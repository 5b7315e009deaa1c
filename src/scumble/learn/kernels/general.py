"""Grow a tree for any classes, weights and missing values.

All columns are entry lists (see `prepare`). A node owns a stretch of each column's list, kept in
order while rows move down, so that nothing is sorted twice. Rows whose value is missing go down
every branch with a part of their weight; then the branches' stretches overlap and are copied,
otherwise they are parted in place.
"""

from __future__ import annotations

import math

import numpy as np

from scumble._core.jit import inner_kernel, kernel
from scumble.learn.kernels.arithmetic import LN2, TINY, U, lowered_cut, x_ln_x
from scumble.learn.kernels.growable import clear_row, room_for, room_for_rows
from scumble.learn.kernels.prepare import FAR, GAP, MISSING

_CODE = np.uint64(36)
_REACH = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)

# What is known of a waiting node.
NODE, ROW_LOW, ROW_HIGH, LIST_LOW, LIST_HIGH, ENTRY_FREE, ROW_FREE = range(7)


@kernel
def grow_general(
    columns, active, rows, y, weights, single, counted, n_classes, table, seen,
    min_objects, mdl,
):  # fmt: skip
    """Grow one tree.

    Parameters
    ----------
    columns : Columns
        The prepared columns.
    active : array of int64
        The columns this tree may use, ascending.
    rows : array of uint32
        The rows of its training set.
    y, weights : arrays by row of the whole
        Class codes, and weights.
    single : bool
        Whether every row weighs 1; then ``weights`` is not read.
    counted : bool
        Whether a weight is a number of equal rows rather than one row's weight.
    n_classes : int
        Number of declared classes.
    table : array of float64
        x ln x of whole numbers up to the total weight.
    seen : array of uint8
        Filled here: which of ``columns.values`` occur in ``rows``; empty if all do.
    min_objects, mdl
        The learner's parameters.

    Returns
    -------
    feature, cut, first, width, branch, counts, low, high, n_nodes
        The nodes; children of a node follow one another from ``first`` on. Where no value is
        missing, ``rows[low:high]`` (reordered here) are a node's rows.
    """
    n = y.shape[0]
    in_set = np.zeros(n, np.uint8)
    n_training = 0.0
    for row in rows:
        in_set[row] = 1
        n_training += weights[row] if counted and not single else 1.0
    everything = len(rows) == n

    # Stacks: entries, lists of stretches, rows with weights, waiting nodes.
    size = 0
    for column in active:
        size += columns.ends[column] - columns.begins[column]
    entries = np.empty(max(size, 1), np.uint64)
    list_column = np.empty(max(len(active), 1), np.int64)
    list_start = np.empty(max(len(active), 1), np.int64)
    list_stop = np.empty(max(len(active), 1), np.int64)
    top = 0
    for k in range(len(active)):
        column = active[k]
        list_column[k] = column
        list_start[k] = top
        if everything:
            for at in range(columns.begins[column], columns.ends[column]):
                entries[U(top)] = columns.entries[U(at)]
                top += 1
        else:
            for at in range(columns.begins[column], columns.ends[column]):
                entry = columns.entries[U(at)]
                entries[U(top)] = entry
                top += in_set[entry & _LOW]
        list_stop[k] = top
    if len(seen):
        _mark_seen(columns, active, entries, list_start, list_stop, len(rows), seen)

    row_stack = np.empty(2 * len(rows), np.uint32)
    weight_stack = np.empty(2 * len(rows), np.float64)
    for i in range(len(rows)):
        row_stack[i] = rows[i]
        weight_stack[i] = 1.0 if single else weights[rows[i]]

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
    row_lows[0], row_highs[0] = 0, len(rows)
    feature[0], cut[0], first[0], width[0] = -1, 0.0, -1, 0
    clear_row(counts, np.int64(0))
    for i in range(len(rows)):
        counts[0, y[rows[i]]] += weight_stack[i]
    branch[0] = 0.0
    for c in range(n_classes):
        branch[0] += counts[0, c]

    all_many = True
    for column in active:
        v = columns.n_values[column]
        if v == 0 or 0.3 * n_training - v > TINY:
            all_many = False

    stack = np.empty((64, 7), np.int64)
    depth = np.int64(0)
    if _may_split(counts, np.int64(0), min_objects):
        stack[0, NODE], stack[0, ROW_LOW], stack[0, ROW_HIGH] = 0, 0, len(rows)
        stack[0, LIST_LOW], stack[0, LIST_HIGH] = 0, len(active)
        stack[0, ENTRY_FREE], stack[0, ROW_FREE] = top, len(rows)
        depth = 1

    weight_of = np.zeros(n, np.float64)
    signed_of = np.zeros(n, np.float64)  # below 0 for class 0: two classes need one look
    slack = np.empty(len(table), np.float64)
    _fill_slack(slack)
    side = np.zeros(n, np.int32)
    ways = np.zeros(n, np.uint8)  # of two branches: 1 the first, 2 the second, 3 both
    gains = np.empty(max(len(active), 1), np.float64)
    ratios = np.empty(max(len(active), 1), np.float64)
    cut_codes = np.empty((max(len(active), 1), 2), np.int64)
    left = np.zeros(n_classes, np.float64)
    right = np.zeros(n_classes, np.float64)
    stored = np.zeros(n_classes, np.float64)
    left_terms = np.zeros(n_classes, np.float64)
    right_terms = np.zeros(n_classes, np.float64)
    tot = np.empty(n_classes, np.float64)
    classes = np.empty(n_classes, np.int64)
    buffer = np.empty(1, np.uint64)

    any_missing = False
    while depth:
        depth -= 1
        node = stack[depth, NODE]
        row_low, row_high = stack[depth, ROW_LOW], stack[depth, ROW_HIGH]
        list_low, list_high = stack[depth, LIST_LOW], stack[depth, LIST_HIGH]
        entry_free, row_free = stack[depth, ENTRY_FREE], stack[depth, ROW_FREE]
        n_rows = row_high - row_low

        whole = np.bool_(True)  # a plain True would be a type of its own
        for i in range(row_low, row_high):
            weight = weight_stack[U(i)]
            row = U(row_stack[U(i)])
            weight_of[row] = weight
            signed_of[row] = weight if y[row] else -weight
            if weight != math.floor(weight):
                whole = False
        total = 0.0
        n_present = np.int64(0)
        for c in range(n_classes):
            tot[c] = counts[node, c]
            total += tot[c]
            if tot[c] > 0.0:
                classes[n_present] = c
                n_present += 1

        # A split model for each column.
        gain_sum = 0.0
        n_valid = 0
        for k in range(list_low, list_high):
            column = list_column[k]
            at = k - list_low
            default = columns.defaults[column]
            v = columns.n_values[column]
            if v == 0 and n_classes == 2:
                gain, ratio, low_code, high_code = _two_class_split(
                    entries, list_start[k], list_stop[k], default, columns.begins[column],
                    columns.values, signed_of, n_rows, tot[0], tot[1], total, min_objects, mdl,
                    counted, whole, table, slack,
                )  # fmt: skip
                cut_codes[at, 0] = low_code
                cut_codes[at, 1] = high_code
            elif v == 0:
                gain, ratio, low_code, high_code = _numeric_split(
                    entries, list_start[k], list_stop[k], default, columns.begins[column],
                    columns.values, y, weight_of, n_rows, tot, total, classes, n_present, n_classes,
                    min_objects, mdl, counted, whole, table,
                    left, right, stored, left_terms, right_terms,
                )  # fmt: skip
                cut_codes[at, 0] = low_code
                cut_codes[at, 1] = high_code
            else:
                gain, ratio = _nominal_split(
                    entries, list_start[k], list_stop[k], y, weight_of, n_rows, tot, total,
                    classes, n_present, min_objects, whole, table, left, right,
                )  # fmt: skip
            gains[at] = gain
            ratios[at] = ratio
            if gain >= 0.0 and (v == 0 or all_many or 0.3 * n_training - v > TINY):
                gain_sum += gain
                n_valid += 1
        if n_valid == 0:
            continue
        least_gain = gain_sum / n_valid - 1e-3
        best = -1
        best_ratio = 0.0
        for at in range(list_high - list_low):
            if gains[at] >= 0.0 and gains[at] >= least_gain and ratios[at] - best_ratio > TINY:
                best = at
                best_ratio = ratios[at]
        if best < 0:
            continue

        # The chosen split, its branches and their weights.
        column = list_column[list_low + best]
        v = columns.n_values[column]
        n_branches = v if v > 0 else 2
        feature[node] = column
        if v == 0:
            begin = columns.begins[column]
            cut[node] = lowered_cut(
                columns.values, seen, begin, begin + columns.n_codes[column],
                columns.values[begin + cut_codes[best, 0]],
                columns.values[begin + cut_codes[best, 1]],
            )  # fmt: skip
        n_missing = _mark_sides(
            entries, list_start[list_low + best], list_stop[list_low + best],
            columns.defaults[column], v, cut_codes[best, 0], row_stack, row_low, row_high, side,
        )  # fmt: skip

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
        first[node] = child
        width[node] = n_branches
        for b in range(child, n_nodes):
            feature[b], cut[b], first[b], width[b], branch[b] = -1, 0.0, -1, 0, 0.0
            clear_row(counts, b)
        shares = np.empty(n_branches, np.float64)
        known = 0.0
        branch_rows = np.zeros(n_branches, np.int64)
        for i in range(row_low, row_high):
            row = row_stack[U(i)]
            b = side[row]
            if b >= 0:
                branch[child + b] += weight_stack[U(i)]
                counts[child + b, y[row]] += weight_stack[U(i)]
                branch_rows[b] += 1
                known += weight_stack[U(i)]
        # Where nothing is missing, a child's rows are a stretch of its parent's.
        place = row_low
        for b in range(n_branches):
            row_lows[child + b] = place
            place += branch_rows[b]
            row_highs[child + b] = place
        if n_missing == 0:
            buffer = room_for(buffer, n_rows)
            _part_rows(row_stack, weight_stack, row_low, row_high, side, branch_rows, buffer)
        for b in range(n_branches):
            shares[b] = branch[child + b] / known
        if n_missing:
            any_missing = True
            for b in range(n_branches):
                branch[child + b] += (total - known) * shares[b]
            for i in range(row_low, row_high):
                row = row_stack[U(i)]
                if side[row] < 0:
                    for b in range(n_branches):
                        if shares[b] > TINY:
                            counts[child + b, y[row]] += weight_stack[U(i)] * shares[b]
                            branch_rows[b] += 1

        # Which children go on; the largest of them takes over the node's place in the stacks.
        live = np.empty(n_branches, np.int64)
        n_live = np.int64(0)
        keeper = -1
        for b in range(n_branches):
            if _may_split(counts, child + b, min_objects):
                live[n_live] = b
                n_live += 1
                if keeper < 0 or branch_rows[b] > branch_rows[keeper]:
                    keeper = b
        if n_live == 0:
            continue
        if n_branches == 2:
            lost = np.uint8(shares[0] > TINY) | np.uint8(shares[1] > TINY) << 1
            for i in range(row_low, row_high):
                row = U(row_stack[U(i)])
                ways[row] = lost if side[row] < 0 else 1 << side[row]
        if depth + n_live > stack.shape[0]:
            stack = room_for_rows(stack, depth + n_live)
        n_list = list_high - list_low
        list_column = room_for(list_column, list_low + n_live * n_list)
        list_start = room_for(list_start, list_low + n_live * n_list)
        list_stop = room_for(list_stop, list_low + n_live * n_list)

        # The keeper waits at the bottom, the others above it, each with a list of its own.
        order = np.empty(n_live, np.int64)
        order[0] = keeper
        k = 1
        for i in range(n_live):
            if live[i] != keeper:
                order[k] = live[i]
                k += 1
        slot = np.empty(n_branches, np.int64)
        for b in range(n_branches):
            slot[b] = -1
        for k in range(n_live):
            slot[order[k]] = k
            stack[depth + k, NODE] = child + order[k]
            stack[depth + k, LIST_LOW] = list_low + k * n_list

        if n_missing == 0:
            longest = np.int64(0)
            for k in range(list_low, list_high):
                longest = max(longest, list_stop[k] - list_start[k])
            buffer = room_for(buffer, longest)
            for k in range(n_live):
                b = order[k]
                stack[depth + k, ROW_LOW] = row_lows[child + b]
                stack[depth + k, ROW_HIGH] = row_highs[child + b]
                stack[depth + k, LIST_HIGH] = stack[depth + k, LIST_LOW]
                stack[depth + k, ENTRY_FREE] = entry_free
                stack[depth + k, ROW_FREE] = row_free
            if n_branches == 2:
                _part_lists_in_two(
                    entries, list_column, list_start, list_stop, list_low, list_high,
                    ways, keeper, n_live, branch_rows, stack, depth, buffer,
                )  # fmt: skip
            else:
                _part_lists(
                    entries, list_column, list_start, list_stop, list_low, list_high,
                    side, slot, n_live, branch_rows, order, stack, depth, buffer,
                )  # fmt: skip
        else:
            row_top = row_free
            entry_top = entry_free
            for k in range(1, n_live + 1):  # the keeper last: it overwrites its parent
                which = k if k < n_live else 0
                b = order[which]
                to = row_top if which else row_low
                row_stack = room_for(row_stack, to + branch_rows[b])
                weight_stack = room_for(weight_stack, to + branch_rows[b])
                stack[depth + which, ROW_LOW] = to
                for i in range(row_low, row_high):
                    row = row_stack[U(i)]
                    weight = weight_stack[U(i)]
                    if side[row] < 0:
                        if shares[b] <= TINY:
                            continue
                        weight *= shares[b]
                    elif side[row] != b:
                        continue
                    row_stack[U(to)] = row
                    weight_stack[U(to)] = weight
                    to += 1
                stack[depth + which, ROW_HIGH] = to
                if which:
                    row_top = to
                if n_branches == 2:
                    continue
                list_at = stack[depth + which, LIST_LOW]
                lost = 1 if shares[b] > TINY else 0
                for j in range(list_low, list_high):
                    start, stop = list_start[j], list_stop[j]
                    goal = entry_top if which else start
                    entries = room_for(entries, goal + stop - start)
                    begin = goal
                    for at in range(start, stop):
                        entry = entries[U(at)]
                        s = side[entry & _LOW]
                        entries[U(goal)] = entry
                        goal += lost if s < 0 else (1 if s == b else 0)
                    if _useful(entries, begin, goal, branch_rows[b]):
                        list_column[list_at] = list_column[j]
                        list_start[list_at] = begin
                        list_stop[list_at] = goal
                        list_at += 1
                        if which:
                            entry_top = goal
                stack[depth + which, LIST_HIGH] = list_at
                stack[depth + which, ENTRY_FREE] = entry_top if which else entry_free
                stack[depth + which, ROW_FREE] = row_top if which else row_free
            if n_branches == 2:
                entries, entry_top = _copy_lists_in_two(
                    entries, list_column, list_start, list_stop, list_low, list_high,
                    ways, keeper, n_live, branch_rows, stack, depth, entry_free,
                )  # fmt: skip
                for k in range(n_live):
                    stack[depth + k, ENTRY_FREE] = entry_top if k else entry_free
                    stack[depth + k, ROW_FREE] = row_top if k else row_free
        depth += n_live
    if not any_missing:
        for i in range(len(rows)):
            rows[i] = row_stack[i]
    return feature, cut, first, width, branch, counts, row_lows, row_highs, n_nodes


@inner_kernel
def _may_split(counts, node, min_objects):
    """Tell whether a node is heavy and mixed enough to look for a split."""
    total = 0.0
    most = 0.0
    for c in range(counts.shape[1]):
        total += counts[node, c]
        most = max(most, counts[node, c])
    return 2.0 * min_objects - total <= TINY and total - most >= TINY


@inner_kernel
def _mark_seen(columns, active, entries, list_start, list_stop, n_rows, seen):
    """Mark the values that occur in the training set."""
    for k in range(len(active)):
        column = active[k]
        if columns.n_values[column] > 0:
            continue
        begin = columns.begins[column]
        for at in range(list_start[k], list_stop[k]):
            code = entries[U(at)] >> _CODE
            if code != U(MISSING):
                seen[U(begin) + code] = 1
        if list_stop[k] - list_start[k] < n_rows:
            seen[begin + columns.defaults[column]] = 1


@inner_kernel
def _useful(entries, start, stop, n_rows):
    """Tell whether a column can still split these rows, now or further down."""
    if stop - start < n_rows:
        return stop > start
    return entries[U(start)] >> _CODE != entries[U(stop - 1)] >> _CODE


@inner_kernel
def _mark_sides(entries, start, stop, default, v, left_code, rows, row_low, row_high, side):
    """Note for every row of the node which branch it takes; -1 where its value is missing."""
    default_side = default
    if v == 0:
        default_side = 0 if default <= left_code else 1
    for i in range(row_low, row_high):
        side[U(rows[U(i)])] = default_side
    n_missing = 0
    for at in range(start, stop):
        entry = entries[U(at)]
        code = entry >> _CODE
        row = entry & _LOW
        if code == U(MISSING):
            side[row] = -1
            n_missing += 1
        elif v > 0:
            side[row] = np.int32(code)
        else:
            side[row] = 0 if code <= U(left_code) else 1
    return n_missing


@inner_kernel
def _part_rows(row_stack, weight_stack, low, high, side, sizes, buffer):
    """Sort the rows of a node by branch, keeping their order within a branch."""
    places = np.empty(len(sizes), np.int64)
    place = 0
    for b in range(len(sizes)):
        places[b] = place
        place += sizes[b]
    weights = np.empty(high - low, np.float64)
    for i in range(low, high):
        row = row_stack[U(i)]
        b = side[row]
        buffer[places[b]] = U(row)
        weights[places[b]] = weight_stack[U(i)]
        places[b] += 1
    for i in range(low, high):
        row_stack[U(i)] = np.uint32(buffer[U(i - low)])
        weight_stack[U(i)] = weights[U(i - low)]


@inner_kernel
def _part_lists_in_two(
    entries, list_column, list_start, list_stop, list_low, list_high,
    ways, keeper, n_live, branch_rows, stack, depth, buffer,
):  # fmt: skip
    """Part each column's stretch in place between two branches, those of the keeper first."""
    turn = U(keeper)
    for j in range(list_low, list_high):
        start, stop, column = list_start[j], list_stop[j], list_column[j]
        middle = U(start)
        n_others = U(0)
        for at in range(U(start), U(stop)):
            entry = entries[at]
            kept = U(ways[entry & _LOW]) >> turn & U(1)
            entries[middle] = entry
            buffer[n_others] = entry
            middle += kept
            n_others += U(1) - kept
        end = np.int64(middle)
        _list_if_useful(
            entries, start, end, branch_rows[keeper], column, stack, depth,
            list_column, list_start, list_stop,
        )  # fmt: skip
        if n_live == 2:
            for at in range(n_others):
                entries[middle + at] = buffer[at]
            _list_if_useful(
                entries, end, stop, branch_rows[1 - keeper], column, stack, depth + 1,
                list_column, list_start, list_stop,
            )  # fmt: skip


@inner_kernel
def _copy_lists_in_two(
    entries, list_column, list_start, list_stop, list_low, list_high,
    ways, keeper, n_live, branch_rows, stack, depth, top,
):  # fmt: skip
    """Part each column's stretch between two branches that share rows.

    The keeper's entries stay where they are, copies of the other's go to ``top``. Returns the
    entries, which may have moved to a larger place, and where they are free now.
    """
    turn, other = U(keeper), U(1 - keeper)
    for k in range(n_live):
        stack[depth + k, LIST_HIGH] = stack[depth + k, LIST_LOW]
    for j in range(list_low, list_high):
        start, stop, column = list_start[j], list_stop[j], list_column[j]
        entries = room_for(entries, top + stop - start + 1)
        here, there = U(start), U(top)
        if n_live == 1:
            for at in range(U(start), U(stop)):
                entry = entries[at]
                entries[here] = entry
                here += U(ways[entry & _LOW]) >> turn & U(1)
        else:
            for at in range(U(start), U(stop)):
                entry = entries[at]
                way = U(ways[entry & _LOW])
                entries[here] = entry
                entries[there] = entry
                here += way >> turn & U(1)
                there += way >> other & U(1)
            if _list_if_useful(
                entries, top, np.int64(there), branch_rows[1 - keeper], column, stack, depth + 1,
                list_column, list_start, list_stop,
            ):  # fmt: skip
                top = np.int64(there)
        _list_if_useful(
            entries, start, np.int64(here), branch_rows[keeper], column, stack, depth,
            list_column, list_start, list_stop,
        )  # fmt: skip
    return entries, top


@inner_kernel
def _list_if_useful(
    entries, start, stop, n_rows, column, stack, at, list_column, list_start, list_stop
):
    """Add a column's stretch to the list of a waiting node if it can still split it."""
    if not _useful(entries, start, stop, n_rows):
        return False
    place = stack[at, LIST_HIGH]
    list_column[place] = column
    list_start[place] = start
    list_stop[place] = stop
    stack[at, LIST_HIGH] += 1
    return True


@inner_kernel
def _part_lists(
    entries, list_column, list_start, list_stop, list_low, list_high,
    side, slot, n_live, branch_rows, order, stack, depth, buffer,
):  # fmt: skip
    """Part each column's stretch among the branches that go on; the others' entries are dropped."""
    starts = np.empty(n_live + 1, np.int64)
    places = np.empty(n_live, np.int64)
    for j in range(list_low, list_high):
        start, stop, column = list_start[j], list_stop[j], list_column[j]
        for k in range(n_live):
            places[k] = 0
        for at in range(start, stop):
            k = slot[side[entries[U(at)] & _LOW]]
            if k >= 0:
                places[k] += 1
        starts[0] = 0
        for k in range(n_live):
            starts[k + 1] = starts[k] + places[k]
            places[k] = starts[k]
        for at in range(start, stop):
            entry = entries[U(at)]
            k = slot[side[entry & _LOW]]
            if k >= 0:
                buffer[U(places[k])] = entry
                places[k] += 1
        for at in range(starts[n_live]):
            entries[U(start + at)] = buffer[U(at)]
        for k in range(n_live):
            begin, end = start + starts[k], start + starts[k + 1]
            if _useful(entries, begin, end, branch_rows[order[k]]):
                at = stack[depth + k, LIST_HIGH]
                list_column[at] = column
                list_start[at] = begin
                list_stop[at] = end
                stack[depth + k, LIST_HIGH] += 1


@inner_kernel
def _xlx(x, whole, table):
    if whole:
        return table[U(x + 0.5)]
    return x_ln_x(x)


@inner_kernel
def _between(x, table):
    """Interpolate x ln x between whole numbers: never too small, by at most `_fill_slack` more."""
    low = np.int64(x)
    return table[U(low)] + (x - low) * (table[U(low + 1)] - table[U(low)])


@inner_kernel
def _fill_slack(slack):
    """Tabulate how far interpolation between x and x + 1 can exceed x ln x."""
    slack[0] = 0.37  # 1 / e
    for x in range(1, len(slack)):
        slack[x] = 0.125 / x


@inner_kernel
def _two_class_split(
    entries, start, stop, default, begin, values, signed_of, n_rows, zeros, ones, total,
    min_objects, mdl, counted, whole, table, slack,
):  # fmt: skip
    """Do what `_numeric_split` does for two classes, with few logarithms or none."""
    known_stop = stop
    while known_stop > start and entries[U(known_stop - 1)] >> _CODE == U(MISSING):
        known_stop -= 1
    for at in range(known_stop, stop):
        weight = signed_of[entries[U(at)] & _LOW]
        ones -= max(weight, 0.0)
        zeros -= max(-weight, 0.0)
    n_block = n_rows - (stop - start)
    known = zeros + ones
    least = 0.1 * known / 2
    if least - min_objects < TINY:
        least = min_objects
    elif least - 25.0 > TINY:
        least = 25.0
    n_counted = known if counted else float(known_stop - start + n_block)
    if 2.0 * least - n_counted > TINY:
        return -1.0, 0.0, -1, -1
    block_zeros, block_ones = zeros, ones
    if n_block > 0:
        for at in range(start, known_stop):
            weight = signed_of[entries[U(at)] & _LOW]
            block_ones -= max(weight, 0.0)
            block_zeros -= max(-weight, 0.0)

    before = _xlx(known, whole, table) - _xlx(zeros, whole, table) - _xlx(ones, whole, table)
    tolerance = TINY * LN2 * total
    if whole:
        best, n_cuts, best_low, best_high, best_left = _scan_whole(
            entries, start, known_stop, default, begin, values, signed_of, zeros, ones,
            n_block > 0, block_zeros, block_ones, before, least, tolerance, table,
        )  # fmt: skip
    else:
        best, n_cuts, best_low, best_high, best_left = _scan_fractions(
            entries, start, known_stop, default, begin, values, signed_of, zeros, ones,
            n_block > 0, block_zeros, block_ones, before, least, tolerance, table, slack,
        )  # fmt: skip
    gain = best / LN2 / total
    if n_cuts == 0:
        return -1.0, 0.0, -1, -1
    if mdl:
        gain -= math.log2(n_cuts) / total
    if gain < TINY:
        return -1.0, 0.0, -1, -1
    info = (
        _xlx(total, whole, table)
        - _xlx(best_left, whole, table)
        - _xlx(known - best_left, whole, table)
        - _xlx(total - known, whole, table)
    ) / LN2
    ratio = 0.0 if abs(info) < TINY else gain / (info / total)
    return gain, ratio, best_low, best_high


@inner_kernel
def _far_enough(entries, at, block_now, last, code, begin, values):
    """Tell whether a cut may lie between two values; mostly the entry knows."""
    reach = FAR if block_now else np.int64(entries[U(at)] >> _REACH & U(FAR))
    if reach < FAR:
        return last + reach <= code
    return values[U(begin + last)] + GAP < values[U(begin + code)]


@inner_kernel
def _scan_whole(
    entries, start, stop, default, begin, values, signed_of, zeros, ones, block_waits,
    block_zeros, block_ones, before, least, tolerance, table,
):  # fmt: skip
    """Find the best cut where all weights are whole: no logarithm at all."""
    n_zeros, n_ones = np.int64(zeros + 0.5), np.int64(ones + 0.5)
    known = n_zeros + n_ones
    at_least = np.int64(math.ceil(least - TINY))
    best = 0.0
    best_low, best_high, best_left = -1, -1, 0
    n_cuts = 0
    left_zeros, left_ones = np.int64(0), np.int64(0)
    last = np.int64(-1)
    at = start
    while at < stop or block_waits:
        block_now = block_waits and (at == stop or entries[U(at)] >> _CODE > U(default))
        code = np.int64(default) if block_now else np.int64(entries[U(at)] >> _CODE)
        left = left_zeros + left_ones
        if (
            left >= at_least
            and known - left >= at_least
            and _far_enough(entries, at, block_now, last, code, begin, values)
        ):
            n_cuts += 1
            saved = (
                before
                + table[U(left_zeros)]
                + table[U(left_ones)]
                + table[U(n_zeros - left_zeros)]
                + table[U(n_ones - left_ones)]
                - table[U(left)]
                - table[U(known - left)]
            )
            if saved - best > tolerance:
                best = saved
                best_low, best_high, best_left = last, code, left
        last = code
        if block_now:
            block_waits = False
            left_zeros += np.int64(block_zeros + 0.5)
            left_ones += np.int64(block_ones + 0.5)
            continue
        weight = np.int64(signed_of[entries[U(at)] & _LOW])
        left_ones += max(weight, 0)
        left_zeros += max(-weight, 0)
        at += 1
    return best, n_cuts, best_low, best_high, float(best_left)


@inner_kernel
def _scan_fractions(
    entries, start, stop, default, begin, values, signed_of, zeros, ones, block_waits,
    block_zeros, block_ones, before, least, tolerance, table, slack,
):  # fmt: skip
    """Find the best cut where weights are fractions.

    The score of a cut is bounded by interpolation first; logarithms are taken only where it
    could be the best.
    """
    known = zeros + ones
    at_least = least - TINY
    best = 0.0
    best_low, best_high, best_left = -1, -1, 0.0
    n_cuts = 0
    left_zeros, left_ones = 0.0, 0.0
    last = np.int64(-1)
    at = start
    while at < stop or block_waits:
        block_now = block_waits and (at == stop or entries[U(at)] >> _CODE > U(default))
        code = np.int64(default) if block_now else np.int64(entries[U(at)] >> _CODE)
        left = left_zeros + left_ones
        right = known - left
        if (
            left > at_least
            and right > at_least
            and last >= 0
            and _far_enough(entries, at, block_now, last, code, begin, values)
        ):
            n_cuts += 1
            right_zeros = max(zeros - left_zeros, 0.0)
            right_ones = max(ones - left_ones, 0.0)
            bound = (
                before
                + _between(left_zeros, table)
                + _between(left_ones, table)
                + _between(right_zeros, table)
                + _between(right_ones, table)
                - _between(left, table)
                - _between(right, table)
                + slack[U(np.int64(left))]
                + slack[U(np.int64(right))]
            )
            if bound - best > tolerance:
                saved = (
                    before
                    + x_ln_x(left_zeros)
                    + x_ln_x(left_ones)
                    + x_ln_x(right_zeros)
                    + x_ln_x(right_ones)
                    - x_ln_x(left)
                    - x_ln_x(right)
                )
                if saved - best > tolerance:
                    best = saved
                    best_low, best_high, best_left = last, code, left
        last = code
        if block_now:
            block_waits = False
            left_zeros += block_zeros
            left_ones += block_ones
            continue
        weight = signed_of[entries[U(at)] & _LOW]
        left_ones += max(weight, 0.0)
        left_zeros += max(-weight, 0.0)
        at += 1
    return best, n_cuts, best_low, best_high, best_left


@inner_kernel
def _numeric_split(
    entries, start, stop, default, begin, values, y, weight_of, n_rows, tot, total, classes,
    n_present, n_classes, min_objects, mdl, counted, whole, table, left, right, stored,
    left_terms, right_terms,
):  # fmt: skip
    """Find the best cut of a numeric column: gain (-1 if none), ratio and the codes beside it."""
    known_stop = stop
    while known_stop > start and entries[U(known_stop - 1)] >> _CODE == U(MISSING):
        known_stop -= 1
    for k in range(n_present):
        c = classes[k]
        left[c] = 0.0
        right[c] = tot[c]
        stored[c] = 0.0
    known = total
    for at in range(known_stop, stop):
        row = entries[U(at)] & _LOW
        right[y[row]] -= weight_of[row]
        known -= weight_of[row]
    n_block = n_rows - (stop - start)
    if n_block > 0:
        for k in range(n_present):
            c = classes[k]
            stored[c] = right[c]
        for at in range(start, known_stop):
            row = entries[U(at)] & _LOW
            stored[y[row]] -= weight_of[row]  # what remains is the block of the default value

    least = 0.1 * known / n_classes
    if least - min_objects < TINY:
        least = min_objects
    elif least - 25.0 > TINY:
        least = 25.0
    n_counted = known if counted else float(known_stop - start + n_block)
    if 2.0 * least - n_counted > TINY:
        return -1.0, 0.0, -1, -1

    left_sum = 0.0
    right_sum = 0.0
    for k in range(n_present):
        c = classes[k]
        left_terms[c] = 0.0
        right_terms[c] = _xlx(right[c], whole, table)
        right_sum += right_terms[c]
    before = _xlx(known, whole, table) - right_sum
    left_weight = 0.0
    right_weight = known
    block_waits = n_block > 0
    last = -1
    n_cuts = 0
    best = 0.0
    best_low = -1
    best_high = -1
    best_left = 0.0
    scale = known / total / LN2
    at = start
    while at < known_stop or block_waits:
        block_now = block_waits and (at == known_stop or entries[U(at)] >> _CODE > U(default))
        code = default if block_now else np.int64(entries[U(at)] >> _CODE)
        if code != last:
            if last >= 0 and values[begin + last] + GAP < values[begin + code]:
                if (least - left_weight < TINY) and (least - right_weight < TINY):
                    n_cuts += 1
                    after = (
                        _xlx(left_weight, whole, table)
                        + _xlx(right_weight, whole, table)
                        - left_sum
                        - right_sum
                    )
                    saved = scale * (before - after)
                    gain = 0.0 if abs(saved) < TINY else saved / known
                    if gain - best > TINY:
                        best = gain
                        best_low = last
                        best_high = code
                        best_left = left_weight
            last = code
        if block_now:
            block_waits = False
            left_sum = 0.0
            right_sum = 0.0
            for k in range(n_present):
                c = classes[k]
                left[c] += stored[c]
                right[c] -= stored[c]
                left_weight += stored[c]
                right_weight -= stored[c]
                left_terms[c] = _xlx(left[c], whole, table)
                right_terms[c] = _xlx(right[c], whole, table)
                left_sum += left_terms[c]
                right_sum += right_terms[c]
            continue
        row = entries[U(at)] & _LOW
        c = y[row]
        weight = weight_of[row]
        left[c] += weight
        right[c] -= weight
        left_weight += weight
        right_weight -= weight
        term = _xlx(left[c], whole, table)
        left_sum += term - left_terms[c]
        left_terms[c] = term
        term = _xlx(right[c], whole, table)
        right_sum += term - right_terms[c]
        right_terms[c] = term
        at += 1
    if n_cuts == 0:
        return -1.0, 0.0, -1, -1
    if mdl:
        best -= math.log2(n_cuts) / total
    if best < TINY:
        return -1.0, 0.0, -1, -1
    info = (
        _xlx(total, whole, table)
        - _xlx(best_left, whole, table)
        - _xlx(known - best_left, whole, table)
        - _xlx(total - known, whole, table)
    ) / LN2
    ratio = 0.0 if abs(info) < TINY else best / (info / total)
    return best, ratio, best_low, best_high


@inner_kernel
def _nominal_split(
    entries, start, stop, y, weight_of, n_rows, tot, total, classes, n_present, min_objects,
    whole, table, bag, rest,
):  # fmt: skip
    """Judge the split of a nominal column: gain (-1 if it may not be used) and ratio."""
    for k in range(n_present):
        c = classes[k]
        bag[c] = 0.0
        rest[c] = tot[c]
    known = total
    rest_weight = total
    n_heavy = 0
    after = 0.0
    info = 0.0
    at = start
    while at < stop:
        code = entries[U(at)] >> _CODE
        group = at
        weight = 0.0
        while at < stop and entries[U(at)] >> _CODE == code:
            row = entries[U(at)] & _LOW
            c = y[row]
            bag[c] += weight_of[row]
            rest[c] -= weight_of[row]
            weight += weight_of[row]
            at += 1
        rest_weight -= weight
        if code == U(MISSING):
            known -= weight
            for i in range(group, at):
                bag[y[entries[U(i)] & _LOW]] = 0.0
            continue
        n_heavy += min_objects - weight < TINY
        term = _xlx(weight, whole, table)
        after += term
        info += term
        for i in range(group, at):
            c = y[entries[U(i)] & _LOW]
            if bag[c] != 0.0:
                after -= _xlx(bag[c], whole, table)
                bag[c] = 0.0
    if n_rows > stop - start:
        n_heavy += min_objects - rest_weight < TINY
        term = _xlx(rest_weight, whole, table)
        after += term
        info += term
        for k in range(n_present):
            c = classes[k]
            after -= _xlx(rest[c], whole, table)
    if n_heavy < 2:
        return -1.0, 0.0
    before = _xlx(known, whole, table)
    if known == total:
        for k in range(n_present):
            c = classes[k]
            before -= _xlx(tot[c], whole, table)
    else:
        for k in range(n_present):
            c = classes[k]
            bag[c] = tot[c]
        for at in range(stop - 1, start - 1, -1):
            if entries[U(at)] >> _CODE != U(MISSING):
                break
            row = entries[U(at)] & _LOW
            bag[y[row]] -= weight_of[row]
        for k in range(n_present):
            c = classes[k]
            before -= _xlx(bag[c], whole, table)
    saved = known / total * (before - after) / LN2
    gain = 0.0 if abs(saved) < TINY else saved / known
    info = (_xlx(total, whole, table) - info - _xlx(total - known, whole, table)) / LN2
    ratio = 0.0 if abs(info) < TINY else gain / (info / total)
    return gain, ratio
