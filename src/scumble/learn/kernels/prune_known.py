"""Prune a tree whose training rows have no missing values.

The rows of a node are a stretch of the training rows; what raising has brought to a leaf since is
in a list of its own. To judge the raising of the largest branch only the rows of the other
branches are sent through it; the rest lies there already.
"""

from __future__ import annotations

import math

import numpy as np

from scumble._core.jit import inner_kernel, kernel
from scumble.learn.kernels.arithmetic import TINY, U, added_errors
from scumble.learn.kernels.growable import room_for_rows
from scumble.learn.kernels.layout import spread_stored

NODE, NEXT = range(2)
BATCH = 256  # rows sent down at once, at the most
END = np.uint32(0xFFFFFFFF)


@inner_kernel
def _estimate(counts, more, node, confidence, z):
    """Estimate the errors of a leaf with the rows it has and some more."""
    total = 0.0
    most = 0.0
    for c in range(counts.shape[1]):
        weight = counts[node, c] + more[node, c]
        total += weight
        if weight - most > TINY:
            most = weight
    if total < TINY:
        return 0.0
    return total - most + added_errors(total, total - most, confidence, z)


@inner_kernel
def _more_errors(counts, more, goals, n_goals, errors, top, confidence, z):
    """Estimate the errors of a subtree with the additional rows its leaves have received."""
    total = errors[top]
    for g in range(n_goals):
        total += _estimate(counts, more, goals[g], confidence, z) - errors[goals[g]]
    return total


@inner_kernel
def _leaves_below(feature, first, width, top, leaves, waiting):
    """List the leaves of a subtree."""
    n_leaves = 0
    waiting[0] = top
    n_waiting = 1
    while n_waiting:
        n_waiting -= 1
        node = waiting[n_waiting]
        if feature[node] < 0:
            leaves[n_leaves] = node
            n_leaves += 1
        else:
            for child in range(first[node], first[node] + width[node]):
                waiting[n_waiting] = child
                n_waiting += 1
    return n_leaves


@inner_kernel
def _rows_below(
    feature, first, width, top, low, high, head, after, leaves, waiting, strangers
):  # fmt: skip
    """Count the rows of a subtree: those brought to it from elsewhere, and all.

    ``strangers`` receives the places of the former; the others are the stretch of its top.
    """
    n_strangers = np.int64(0)
    n_leaves = _leaves_below(feature, first, width, top, leaves, waiting)
    for s in range(n_leaves):
        place = head[leaves[s]]
        while place != END:
            if place < low[top] or place >= high[top]:
                strangers[n_strangers] = place
                n_strangers += 1
            place = after[U(place)]
    return n_strangers, n_strangers + high[top] - low[top]


@inner_kernel
def _place(low, strangers, n_strangers, k):
    """Return the place of the k-th row of a subtree: strangers first."""
    return np.int64(strangers[U(k)]) if k < n_strangers else low + k - n_strangers


@inner_kernel
def _next_node(rows, n_values, row, node, feature, cut, first, buffer):
    """Follow a row one step down."""
    column = U(feature[U(node)])
    if rows.is_dense and column < U(rows.n_features):
        value = rows.dense[U(row), column]
    else:
        value = buffer[column]
    if n_values[column] > 0:
        return first[U(node)] + np.int64(value)
    return first[U(node)] + (0 if value <= cut[U(node)] else 1)


@inner_kernel
def _add_batch(
    rows, n_values, batch, n, top, feature, cut, first, buffer, has_stored, reached, changed,
    goals, n_goals, more, y, weights, single,
):  # fmt: skip
    """Send rows through a subtree and add them to its leaves, which join the list of goals.

    Dense rows go down side by side, so that the machine can wait for many of them at once.
    """
    if has_stored:
        for i in range(n):
            spread_stored(rows, np.int64(batch[i]), buffer, np.bool_(True))
            node = top
            while feature[U(node)] >= 0:
                node = _next_node(rows, n_values, batch[i], node, feature, cut, first, buffer)
            reached[i] = node
            spread_stored(rows, np.int64(batch[i]), buffer, np.bool_(False))
    else:
        for i in range(n):
            reached[U(i)] = top
        moving = True
        while moving:
            moving = False
            for i in range(n):
                node = reached[U(i)]
                if feature[U(node)] >= 0:
                    moving = True
                    reached[U(i)] = _next_node(
                        rows, n_values, batch[U(i)], node, feature, cut, first, buffer
                    )
    for i in range(n):
        goal, row = reached[U(i)], U(batch[U(i)])
        if changed[U(goal)] != 2:
            changed[U(goal)] = 2
            goals[U(n_goals)] = goal
            n_goals += 1
        more[U(goal), U(y[row])] += 1.0 if single else weights[row]
    return n_goals


@kernel
def prune_known(
    rows, n_values, feature, cut, first, width, branch, counts, empty, members, low, high,
    y, weights, single, confidence, z, raising,
):  # fmt: skip
    """Prune bottom-up by pessimistic errors; raise the largest branch where that is better.

    ``members[low[node]:high[node]]`` are the rows of a node. All arrays of the tree are changed
    in place.
    """
    prune_below(
        rows, n_values, feature, cut, first, width, branch, counts, empty, members, low, high,
        y, weights, single, confidence, z, raising, np.int64(0),
    )  # fmt: skip


@inner_kernel
def prune_below(
    rows, n_values, feature, cut, first, width, branch, counts, empty, members, low, high,
    y, weights, single, confidence, z, raising, top,
):  # fmt: skip
    """Prune the subtree at ``top`` and return the estimated errors of what is left of it."""
    n_nodes = len(empty)
    n_classes = counts.shape[1]
    head = np.empty(n_nodes, np.uint32)
    tail = np.empty(n_nodes, np.uint32)
    after = np.empty(len(members), np.uint32)
    strangers = np.empty(len(members), np.uint32)
    sources = np.empty(n_nodes, np.int64)
    goals = np.empty(n_nodes, np.int64)
    waiting = np.empty(n_nodes, np.int64)
    for node in range(n_nodes):
        head[node] = END
    n_sources = _leaves_below(feature, first, width, top, sources, waiting)
    has_stored = not rows.is_dense or len(rows.extra_indptr) > 1
    buffer = np.zeros(len(n_values), np.float64)
    batch = np.empty(BATCH, np.uint32)
    reached = np.empty(BATCH, np.int64)
    errors = np.zeros(n_nodes, np.float64)
    more = np.zeros((n_nodes, n_classes), np.float64)
    changed = np.ones(n_nodes, np.uint8)
    for s in range(n_sources):
        errors[sources[s]] = _estimate(counts, more, sources[s], confidence, z)

    stack = np.empty((64, 2), np.int64)
    stack[0, NODE], stack[0, NEXT] = top, 0
    depth = 1 if feature[top] >= 0 else 0
    while depth:
        node, turn = stack[depth - 1, NODE], stack[depth - 1, NEXT]
        if turn < width[node]:
            stack[depth - 1, NEXT] += 1
            child = first[node] + turn
            if feature[child] >= 0 and changed[child]:
                stack = room_for_rows(stack, depth + 1)
                stack[depth, NODE], stack[depth, NEXT] = child, 0
                depth += 1
            continue

        changed[node] = 0
        as_tree = 0.0
        largest = np.int64(-1)
        most = 0.0
        for child in range(first[node], first[node] + width[node]):
            as_tree += errors[child]
            if most - branch[child] < TINY or branch[child] >= most:
                most = branch[child]
                largest = child
        as_leaf = _estimate(counts, more, node, confidence, z)
        as_branch = math.inf
        if raising:
            # More rows never make a leaf's estimate smaller, so a partial sum can settle it.
            enough = as_tree + 0.1
            if as_leaf - enough < TINY:
                enough = min(enough, as_leaf - 0.1)
            enough += TINY
            as_branch = errors[largest]
            n_goals = np.int64(0)
            n_sent = np.int64(0)
            next_sum = np.int64(0)
            for child in range(first[node], first[node] + width[node]):
                if child == largest or branch[child] == 0.0:
                    continue
                n_strangers, n_rows = _rows_below(
                    feature, first, width, child, low, high, head, after, sources, waiting,
                    strangers,
                )  # fmt: skip
                at = np.int64(0)
                while at < n_rows and as_branch <= enough:
                    n_batch = min(max(np.int64(4), n_sent >> 2), np.int64(BATCH), n_rows - at)
                    for i in range(n_batch):
                        place = _place(low[child], strangers, n_strangers, at + i)
                        batch[U(i)] = members[U(place)]
                    n_goals = _add_batch(
                        rows, n_values, batch, n_batch, largest, feature, cut, first, buffer,
                        has_stored, reached, changed, goals, n_goals, more, y, weights, single,
                    )  # fmt: skip
                    at += n_batch
                    n_sent += n_batch
                    if n_sent >= next_sum:
                        next_sum = n_sent + (n_sent >> 2)
                        as_branch = _more_errors(
                            counts, more, goals, n_goals, errors, largest, confidence, z
                        )
            as_branch = _more_errors(counts, more, goals, n_goals, errors, largest, confidence, z)
            for g in range(n_goals):
                goal = goals[g]
                changed[goal] = 0
                for c in range(n_classes):
                    more[goal, c] = 0.0

        errors[node] = as_tree
        if as_leaf - (as_tree + 0.1) < TINY and as_leaf - (as_branch + 0.1) < TINY:
            # A leaf: it takes over the lists of all leaves below.
            n_sources = _leaves_below(feature, first, width, node, sources, waiting)
            head[node] = END
            for s in range(n_sources):
                leaf = sources[s]
                if head[leaf] != END:
                    if head[node] == END:
                        head[node] = head[leaf]
                    else:
                        after[U(tail[node])] = head[leaf]
                    tail[node] = tail[leaf]
            feature[node] = -1
            errors[node] = as_leaf
            depth -= 1
        elif as_branch - (as_tree + 0.1) < TINY:
            # The largest branch takes this place; the rows of the others move into it.
            for child in range(first[node], first[node] + width[node]):
                if child == largest or branch[child] == 0.0:
                    continue
                n_strangers, n_rows = _rows_below(
                    feature, first, width, child, low, high, head, after, sources, waiting,
                    strangers,
                )  # fmt: skip
                for k in range(n_rows):
                    place = _place(low[child], strangers, n_strangers, k)
                    row = members[U(place)]
                    weight = 1.0 if single else weights[U(row)]
                    if has_stored:
                        spread_stored(rows, np.int64(row), buffer, np.bool_(True))
                    goal = np.int64(largest)
                    while True:
                        counts[U(goal), U(y[U(row)])] += weight
                        branch[U(goal)] += weight
                        changed[U(goal)] = 1
                        if feature[U(goal)] < 0:
                            break
                        goal = _next_node(rows, n_values, row, goal, feature, cut, first, buffer)
                    if has_stored:
                        spread_stored(rows, np.int64(row), buffer, np.bool_(False))
                    if head[goal] == END:
                        head[goal] = place
                    else:
                        after[U(tail[goal])] = place
                    tail[goal] = place
                    after[U(place)] = END
                    empty[goal] = 0
            n_goals = _leaves_below(feature, first, width, largest, goals, waiting)
            for g in range(n_goals):
                if changed[goals[g]]:
                    errors[goals[g]] = _estimate(counts, more, goals[g], confidence, z)
                    changed[goals[g]] = 0
            feature[node], cut[node] = feature[largest], cut[largest]
            first[node], width[node] = first[largest], width[largest]
            head[node], tail[node] = head[largest], tail[largest]
            errors[node] = errors[largest]
            stack[depth - 1, NEXT] = 0
            if feature[node] < 0:
                depth -= 1
        else:
            depth -= 1
    return errors[top]
