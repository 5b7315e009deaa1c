"""Grow, collapse and prune many two-class trees in one call, where rows are counted."""

from __future__ import annotations

import numpy as np

from scumble._core.jit import kernel
from scumble.learn.kernels.arithmetic import U
from scumble.learn.kernels.counted import grow_counted
from scumble.learn.kernels.growable import room_for, room_for_rows
from scumble.learn.kernels.prune import collapse, settle
from scumble.learn.kernels.prune_known import prune_below


@kernel
def grow_batch(
    rows, columns, items, numeric, nominal, starts, listed, codes, repeats, weights, root_counts,
    n_seen, table, min_objects, mdl, prune, confidence, z, raising,
):  # fmt: skip
    """Grow a tree for each target; a call from Python takes longer than a small tree to grow.

    Parameters
    ----------
    rows, columns, items
        The prepared table.
    numeric, nominal : arrays of int64
        The columns the trees may use, by kind, ascending.
    starts, listed, codes : arrays of int64, uint32 and uint8
        Target t learns class 0 or 1, ``codes``, of the rows ``listed``: both from ``starts[t]``
        to ``starts[t + 1]``.
    repeats, weights : arrays of uint32 and float64, by row of the whole
        How often the row counts, twice; empty if every row counts once.
    root_counts : array of uint64
        Counts of all items, for targets that list all rows once.
    n_seen : int
        Number of values of the columns, 0 if all of them occur in every target.
    table : array of float64
        x ln x of whole numbers up to the number of training rows.
    min_objects, mdl, prune, confidence, z, raising
        The learner's parameters.

    Returns
    -------
    sizes : array of int64
        Number of nodes of each tree.
    feature, cut, first, width, branch, empty, counts
        The nodes of all trees, one tree after another; see `scumble.learn.trees.Tree`.
    """
    n_trees = len(starts) - 1
    n_rows = len(items.indptr) - 1
    single = len(weights) == 0
    sizes = np.empty(n_trees, np.int64)
    capacity = 4 * n_trees + 16
    feature = np.empty(capacity, np.int32)
    cut = np.empty(capacity, np.float64)
    first = np.empty(capacity, np.int32)
    width = np.empty(capacity, np.int32)
    branch = np.empty(capacity, np.float64)
    empty = np.empty(capacity, np.uint8)
    counts = np.empty((capacity, 2), np.float64)
    y = np.zeros(n_rows, np.int32)
    seen = np.empty(n_seen, np.uint8)
    no_counts = np.zeros(0, np.uint64)
    top = np.int64(0)
    for t in range(n_trees):
        n = starts[t + 1] - starts[t]
        members = np.empty(n, np.uint32)
        for i in range(n):
            members[U(i)] = listed[U(starts[t] + i)]
            y[U(members[U(i)])] = codes[U(starts[t] + i)]
        for at in range(n_seen):
            seen[U(at)] = 0
        known_counts = root_counts if single and n == n_rows else no_counts
        grown = grow_counted(
            columns, items, numeric, nominal, members, y, repeats, single, table, seen,
            known_counts, min_objects, mdl,
        )  # fmt: skip
        a_feature, a_cut, a_first, a_width, a_branch, a_counts, low, high, n_nodes = grown
        an_empty = collapse(a_feature, a_first, a_width, a_counts, n_nodes)
        if prune:
            prune_below(
                rows, columns.n_values, a_feature, a_cut, a_first, a_width, a_branch, a_counts,
                an_empty, members, low, high, y, weights, single, confidence, z, raising,
                np.int64(0),
            )  # fmt: skip
        settled = settle(
            columns.n_values, a_feature, a_cut, a_first, a_width, a_branch, a_counts, an_empty
        )
        n_nodes = np.int64(len(settled[0]))
        sizes[t] = n_nodes
        feature = room_for(feature, top + n_nodes)
        cut = room_for(cut, top + n_nodes)
        first = room_for(first, top + n_nodes)
        width = room_for(width, top + n_nodes)
        branch = room_for(branch, top + n_nodes)
        empty = room_for(empty, top + n_nodes)
        counts = room_for_rows(counts, top + n_nodes)
        for i in range(n_nodes):
            feature[top + i] = settled[0][i]
            cut[top + i] = settled[1][i]
            first[top + i] = settled[2][i]
            width[top + i] = settled[3][i]
            branch[top + i] = settled[4][i]
            empty[top + i] = settled[5][i]
            counts[top + i, 0] = settled[6][i, 0]
            counts[top + i, 1] = settled[6][i, 1]
        top += n_nodes
    return (
        sizes, feature[:top], cut[:top], first[:top], width[:top], branch[:top], empty[:top],
        counts[:top],
    )  # fmt: skip
