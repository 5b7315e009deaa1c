"""Collapse and prune trees; order their nodes for good."""

from __future__ import annotations

import math

import numpy as np

from scumble._core.jit import inner_kernel, kernel
from scumble.learn.kernels.arithmetic import TINY, U, estimated_errors, training_errors
from scumble.learn.kernels.growable import clear_row, room_for, room_for_rows, row_sum
from scumble.learn.kernels.layout import value_at
from scumble.learn.kernels.prune_known import prune_below

# A stretch of rows on its way through a node.
NODE, LOW, HIGH, NEXT = range(4)


@kernel
def collapse(feature, first, width, counts, n_nodes):
    """Make a leaf of each node whose subtree saves no training error, from the top down.

    Returns which nodes no training row reached.
    """
    empty = np.empty(n_nodes, np.uint8)
    below = np.empty(n_nodes, np.float64)
    own = np.empty(n_nodes, np.float64)
    for node in range(n_nodes - 1, -1, -1):  # children come after their parents
        own[node] = training_errors(counts, node)
        below[node] = own[node]
        if feature[node] >= 0:
            below[node] = 0.0
            for child in range(first[node], first[node] + width[node]):
                below[node] += below[child]
    for node in range(n_nodes):
        if feature[node] >= 0 and below[node] >= own[node] - 1e-3:
            feature[node] = -1
        empty[node] = abs(row_sum(counts, node)) < TINY
    return empty


@kernel
def prune_general(
    rows, n_values, feature, cut, first, width, branch, counts, empty,
    members, y, weights, confidence, z, raising,
):  # fmt: skip
    """Prune bottom-up by pessimistic errors; raise the largest branch where that is better.

    Rows are sent down once more on the way to each node; only the rows along the current path
    are kept. All arrays are changed in place.
    """
    row_stack = np.empty(4 * len(members) + 16, np.uint32)
    weight_stack = np.empty(4 * len(members) + 16, np.float64)
    for i in range(len(members)):
        row_stack[i] = members[i]
        weight_stack[i] = weights[members[i]] if len(weights) else 1.0
    errors = np.zeros(len(feature), np.float64)
    used = np.empty(len(feature), np.int64)
    waiting = np.empty(len(feature), np.int64)
    lows = np.zeros(len(feature), np.int64)
    highs = np.zeros(len(feature), np.int64)
    sorted_rows = np.empty(len(members), np.uint32)
    reached = np.empty(len(members), np.int64)
    weight_of = np.zeros(len(y), np.float64)
    has_gaps = np.zeros(len(y), np.uint8)
    cells = np.empty(len(members), np.float64)
    is_used = np.zeros(len(n_values), np.uint8)
    for k in range(_columns_below(feature, first, width, np.int64(0), waiting, used)):
        is_used[used[k]] = 1
    for column in range(len(n_values)):
        if is_used[column]:
            _look_up(rows, column, members, np.int64(0), len(members), cells)
            for i in range(len(members)):
                has_gaps[U(members[i])] |= math.isnan(cells[U(i)])
    stack = np.empty((64, 4), np.int64)
    stack[0, NODE], stack[0, LOW], stack[0, HIGH], stack[0, NEXT] = 0, 0, len(members), 0
    depth = 1
    while depth:
        node, low, high = stack[depth - 1, NODE], stack[depth - 1, LOW], stack[depth - 1, HIGH]
        if feature[node] < 0:
            errors[node] = estimated_errors(counts, node, confidence, z)
            depth -= 1
            continue
        turn = stack[depth - 1, NEXT]
        if turn == 0 and high - low and _nothing_missing(
            rows, feature, first, width, node, row_stack, weight_stack, low, high, waiting, used,
            has_gaps,
        ):  # fmt: skip
            n_below = high - low
            for i in range(low, high):
                weight_of[U(row_stack[U(i)])] = weight_stack[U(i)]
            _sort_by_leaf(
                rows, n_values, feature, cut, first, width, node, row_stack, low, high, waiting,
                reached, lows, highs, sorted_rows,
            )  # fmt: skip
            errors[node] = prune_below(
                rows, n_values, feature, cut, first, width, branch, counts, empty,
                sorted_rows[:n_below], lows, highs, y, weight_of, np.bool_(False), confidence, z,
                raising, node,
            )  # fmt: skip
            depth -= 1
            continue
        if turn < width[node]:
            stack[depth - 1, NEXT] += 1
            child = first[node] + turn
            if feature[child] < 0:
                errors[child] = estimated_errors(counts, child, confidence, z)
                continue
            row_stack = room_for(row_stack, 2 * high - low)
            weight_stack = room_for(weight_stack, 2 * high - low)
            share = branch[child] / row_sum(counts, node)
            top = _send(
                rows, n_values, feature[node], cut[node], turn, share,
                row_stack, weight_stack, low, high, high, cells,
            )  # fmt: skip
            stack = room_for_rows(stack, depth + 1)
            stack[depth, NODE], stack[depth, LOW] = child, high
            stack[depth, HIGH], stack[depth, NEXT] = top, 0
            depth += 1
            continue

        as_tree = 0.0
        largest = np.int64(-1)
        most = 0.0
        for child in range(first[node], first[node] + width[node]):
            as_tree += errors[child]
            if most - branch[child] < TINY or branch[child] >= most:
                most = branch[child]
                largest = child
        as_leaf = estimated_errors(counts, node, confidence, z)
        as_branch = math.inf
        if raising:
            # Leaves only add to the sum, so a partial one can settle it.
            enough = as_tree + 0.1
            if as_leaf - enough < TINY:
                enough = min(enough, as_leaf - 0.1)
            as_branch, row_stack, weight_stack = _send_all(
                rows, n_values, feature, cut, first, width, branch, counts, empty, y, largest,
                row_stack, weight_stack, low, high, confidence, z, enough + TINY,
                np.bool_(False), cells,
            )  # fmt: skip
        errors[node] = as_tree
        if as_leaf - (as_tree + 0.1) < TINY and as_leaf - (as_branch + 0.1) < TINY:
            feature[node] = -1
            errors[node] = as_leaf
            depth -= 1
        elif as_branch - (as_tree + 0.1) < TINY:
            feature[node], cut[node] = feature[largest], cut[largest]
            first[node], width[node] = first[largest], width[largest]
            _, row_stack, weight_stack = _send_all(
                rows, n_values, feature, cut, first, width, branch, counts, empty, y, node,
                row_stack, weight_stack, low, high, confidence, z, math.inf, np.bool_(True), cells,
            )  # fmt: skip
            stack[depth - 1, NEXT] = 0  # and prune it again
        else:
            depth -= 1


@inner_kernel
def _columns_below(feature, first, width, top, waiting, used):
    """List the columns a subtree asks for, and return how many questions there are."""
    n_used = 0
    waiting[0] = top
    n_waiting = 1
    while n_waiting:
        n_waiting -= 1
        node = waiting[n_waiting]
        if feature[node] >= 0:
            used[n_used] = feature[node]
            n_used += 1
            for child in range(first[node], first[node] + width[node]):
                waiting[n_waiting] = child
                n_waiting += 1
    return n_used


@inner_kernel
def _any_missing(rows, row, used, n_used):
    """Tell whether a row lacks a value of one of some columns."""
    for k in range(n_used):
        if math.isnan(value_at(rows, row, used[k])):
            return True
    return False


@inner_kernel
def _nothing_missing(
    rows, feature, first, width, top, row_stack, weight_stack, low, high, waiting, used, has_gaps
):  # fmt: skip
    """Tell whether no row of a node can be divided below it."""
    n_used = 0
    for i in range(low, high):
        if weight_stack[U(i)] < TINY:
            return False
        if has_gaps[U(row_stack[U(i)])]:
            if n_used == 0:
                n_used = _columns_below(feature, first, width, top, waiting, used)
            if _any_missing(rows, np.int64(row_stack[U(i)]), used, n_used):
                return False
    return True


@inner_kernel
def _sort_by_leaf(
    rows, n_values, feature, cut, first, width, top, row_stack, low, high, waiting, reached,
    lows, highs, sorted_rows,
):  # fmt: skip
    """Give every node below ``top`` a stretch of ``sorted_rows``."""
    n_waiting = 1
    waiting[0] = top
    while n_waiting:  # leaves count their rows in highs
        n_waiting -= 1
        node = waiting[n_waiting]
        highs[node] = 0
        if feature[node] >= 0:
            for child in range(first[node], first[node] + width[node]):
                waiting[n_waiting] = child
                n_waiting += 1
    for i in range(low, high):
        row = np.int64(row_stack[U(i)])
        node = top
        highs[node] += 1
        while feature[node] >= 0:
            column = feature[node]
            if rows.is_dense and column < rows.n_features:
                value = rows.dense[U(row), U(column)]
            else:
                value = value_at(rows, row, column)
            node = first[node] + _branch_of(value, n_values[column], cut[node])
            highs[node] += 1
        reached[U(i - low)] = node
    lows[top] = 0
    waiting[0] = top
    n_waiting = 1
    while n_waiting:
        n_waiting -= 1
        node = waiting[n_waiting]
        place = lows[node]
        highs[node] += place
        if feature[node] >= 0:
            for child in range(first[node], first[node] + width[node]):
                lows[child] = place
                place += highs[child]
                waiting[n_waiting] = child
                n_waiting += 1
        else:
            highs[node] = place  # moves up again as rows arrive
    for i in range(low, high):
        node = reached[U(i - low)]
        sorted_rows[U(highs[node])] = row_stack[U(i)]
        highs[node] += 1


@inner_kernel
def _look_up(rows, column, row_stack, low, high, cells):
    """Write one column of some rows into ``cells``."""
    if rows.is_dense and column < rows.n_features:
        dense = rows.dense
        for i in range(low, high):
            cells[U(i - low)] = dense[U(row_stack[U(i)]), U(column)]
    else:
        for i in range(low, high):
            cells[U(i - low)] = value_at(rows, np.int64(row_stack[U(i)]), column)


@inner_kernel
def _branch_of(value, n_values, cut):
    """Tell which branch a value takes; -1 where it is missing."""
    if math.isnan(value):
        return -1
    if n_values > 0:
        return np.int64(value)
    return 0 if value <= cut else 1


@inner_kernel
def _send(
    rows, n_values, column, cut, turn, share, row_stack, weight_stack, low, high, to, cells
):  # fmt: skip
    """Copy the rows that reach one branch to ``to`` and return the end of them."""
    _look_up(rows, column, row_stack, low, high, cells)
    v = n_values[column]
    for i in range(low, high):
        side = _branch_of(cells[U(i - low)], v, cut)
        weight = weight_stack[U(i)]
        if side < 0:
            if share <= TINY:
                continue
            weight *= share
        elif side != turn:
            continue
        row_stack[U(to)] = row_stack[U(i)]
        weight_stack[U(to)] = weight
        to += 1
    return to


@inner_kernel
def _send_all(
    rows, n_values, feature, cut, first, width, branch, counts, empty, y, top,
    row_stack, weight_stack, low, high, confidence, z, enough, keep, cells,
):  # fmt: skip
    """Send rows through the subtree at ``top`` and sum the estimated errors of its leaves.

    The shares of branches for missing values are those of these rows. With ``keep`` the
    distributions they leave are stored. A sum above ``enough`` need not be complete.
    """
    total = 0.0
    n_classes = counts.shape[1]
    tally = np.empty((1, n_classes), np.float64)
    stack = np.empty((64, 4), np.int64)
    shares = np.empty(64, np.float64)
    offsets = np.empty(64, np.int64)
    used = 0
    stack[0, NODE], stack[0, LOW], stack[0, HIGH], stack[0, NEXT] = top, low, high, -1
    depth = 1
    while depth:
        node, low, high = stack[depth - 1, NODE], stack[depth - 1, LOW], stack[depth - 1, HIGH]
        turn = stack[depth - 1, NEXT]
        if turn < 0:
            clear_row(tally, np.int64(0))
            for i in range(low, high):
                tally[0, y[row_stack[U(i)]]] += weight_stack[U(i)]
            if keep:
                for c in range(n_classes):
                    counts[node, c] = tally[0, c]
            if feature[node] < 0:
                total += estimated_errors(tally, np.int64(0), confidence, z)
                if total > enough:
                    return total, row_stack, weight_stack
                if keep and abs(row_sum(tally, np.int64(0))) >= TINY:
                    empty[node] = 0
                depth -= 1
                continue
            offsets = room_for(offsets, depth)
            offsets[depth - 1] = used
            shares = room_for(shares, used + width[node])
            for b in range(used, used + width[node]):
                shares[b] = 0.0
            known = 0.0
            _look_up(rows, feature[node], row_stack, low, high, cells)
            for i in range(low, high):
                side = _branch_of(cells[U(i - low)], n_values[feature[node]], cut[node])
                if side >= 0:
                    shares[used + side] += weight_stack[U(i)]
                    known += weight_stack[U(i)]
            for b in range(width[node]):
                share = shares[used + b] / known if abs(known) >= TINY else 1.0 / width[node]
                shares[used + b] = share
                if keep:
                    branch[first[node] + b] = share * row_sum(tally, np.int64(0))
            used += width[node]
            stack[depth - 1, NEXT] = 0
            continue
        if turn == width[node]:
            used = offsets[depth - 1]
            depth -= 1
            continue
        stack[depth - 1, NEXT] += 1
        row_stack = room_for(row_stack, 2 * high - low)
        weight_stack = room_for(weight_stack, 2 * high - low)
        end = _send(
            rows, n_values, feature[node], cut[node], turn,
            shares[offsets[depth - 1] + turn],
            row_stack, weight_stack, low, high, high, cells,
        )  # fmt: skip
        stack = room_for_rows(stack, depth + 1)
        stack[depth, NODE], stack[depth, LOW] = first[node] + turn, high
        stack[depth, HIGH], stack[depth, NEXT] = end, -1
        depth += 1
    return total, row_stack, weight_stack


@kernel
def settle(n_values, feature, cut, first, width, branch, counts, empty):
    """Copy the nodes still in the tree, brothers together and parents first."""
    order = np.empty(len(feature), np.int64)
    order[0] = 0
    n = 1
    at = 0
    while at < n:
        node = order[at]
        if feature[node] >= 0:
            for child in range(first[node], first[node] + width[node]):
                order[n] = child
                n += 1
        at += 1
    new_feature = np.empty(n, np.int32)
    new_cut = np.empty(n, np.float64)
    new_first = np.empty(n, np.int32)
    new_width = np.empty(n, np.int32)
    new_branch = np.empty(n, np.float64)
    new_empty = np.empty(n, np.uint8)
    new_counts = np.empty((n, counts.shape[1]), np.float64)
    child = 1
    for at in range(n):
        node = order[at]
        new_feature[at] = feature[node]
        new_branch[at] = branch[node]
        new_empty[at] = empty[node]
        for c in range(counts.shape[1]):
            new_counts[at, c] = counts[node, c]
        new_cut[at], new_first[at], new_width[at] = np.nan, -1, 0
        if feature[node] >= 0:
            if n_values[feature[node]] == 0:
                new_cut[at] = cut[node]
            new_first[at] = child
            new_width[at] = width[node]
            child += width[node]
    return new_feature, new_cut, new_first, new_width, new_branch, new_empty, new_counts
