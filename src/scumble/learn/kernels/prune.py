"""Collapse and prune trees; order their nodes for good."""

from __future__ import annotations

import math

import numpy as np

from scumble._core.jit import inner_kernel, kernel
from scumble.learn.kernels.arithmetic import TINY, U, estimated_errors, training_errors
from scumble.learn.kernels.growable import clear_row, room_for, room_for_rows, row_sum
from scumble.learn.kernels.layout import value_at

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
                row_stack, weight_stack, low, high, high,
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
            as_branch, row_stack, weight_stack = _send_all(
                rows, n_values, feature, cut, first, width, branch, counts, empty, y, largest,
                row_stack, weight_stack, low, high, confidence, z, np.bool_(False),
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
                row_stack, weight_stack, low, high, confidence, z, np.bool_(True),
            )  # fmt: skip
            stack[depth - 1, NEXT] = 0  # and prune it again
        else:
            depth -= 1


@inner_kernel
def branch_of(rows, n_values, row, column, cut):
    """Tell which branch a row takes; -1 where its value is missing."""
    value = value_at(rows, row, column)
    if math.isnan(value):
        return -1
    if n_values[column] > 0:
        return int(value)
    return 0 if value <= cut else 1


@inner_kernel
def _send(rows, n_values, column, cut, turn, share, row_stack, weight_stack, low, high, to):
    """Copy the rows that reach one branch to ``to`` and return the end of them."""
    for i in range(low, high):
        side = branch_of(rows, n_values, row_stack[U(i)], column, cut)
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
    row_stack, weight_stack, low, high, confidence, z, keep,
):  # fmt: skip
    """Send rows through the subtree at ``top`` and sum the estimated errors of its leaves.

    The shares of branches for missing values are those of these rows. With ``keep`` the
    distributions they leave are stored.
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
            for i in range(low, high):
                side = branch_of(rows, n_values, row_stack[U(i)], feature[node], cut[node])
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
            row_stack, weight_stack, low, high, high,
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
