"""Ask two-class trees one after another about a row: chains that go on, pairs that vote."""

from __future__ import annotations

import math

import numpy as np

from scumble._core.jit import kernel
from scumble.learn.kernels.arithmetic import U
from scumble.learn.kernels.layout import spread_stored
from scumble.learn.kernels.predict import _spread_missing


@kernel
def load_row(rows, row, buffer):
    """Write a row's cells into a buffer that holds zeros."""
    if rows.is_dense:
        for column in range(rows.n_features):
            buffer[U(column)] = rows.dense[U(row), U(column)]
    spread_stored(rows, row, buffer, True)


@kernel
def go_down(buffers, i, node, feature, is_nominal, cut, first):
    """Find the leaf of the row in a buffer, or the node that asks for a missing value."""
    while True:
        column = feature[U(node)]
        if column < 0:
            return node
        value = buffers[U(i), U(column)]
        if math.isnan(value):
            return node
        if is_nominal[U(node)]:
            node = first[U(node)] + np.int64(value)
        else:
            node = first[U(node)] + (0 if value <= cut[U(node)] else 1)


@kernel
def ask_on(
    buffer, node, feature, is_nominal, cut, first, width, share, leaf, probabilities, both
):  # fmt: skip
    """Write absence and presence into ``both``, going down every branch from a node on."""
    both[0] = 0.0
    both[1] = 0.0
    _spread_missing(
        buffer, node, feature, is_nominal, cut, first, width, share, leaf, probabilities, 2, both,
        0, np.empty(64, np.int64), np.empty(64, np.float64),
    )  # fmt: skip


@kernel
def chain_rows(
    rows, start, stop, orders, hard, roots, feature, is_nominal, cut, first, width, share, leaf,
    probabilities, labels, sums,
):  # fmt: skip
    """Follow chains: tree ``c * n_labels + i`` learnt label ``orders[c, i]`` from those before it.

    ``labels`` gets the decisions of the last chain, ``sums`` is increased by the confidences of
    all chains, or by their decisions where ``hard``.
    """
    n_chains, n_labels = orders.shape
    n_features = rows.n_features
    buffers = np.zeros((1, n_features + n_labels), np.float64)
    both = np.zeros(2)
    for row in range(start, stop):
        load_row(rows, row, buffers[0])
        for chain in range(n_chains):
            for place in range(n_labels):
                label = orders[chain, place]
                root = roots[U(chain * n_labels + place)]
                node = go_down(buffers, 0, root, feature, is_nominal, cut, first)
                if feature[U(node)] < 0:
                    at = leaf[U(node)]
                    both[0] = probabilities[U(at)]
                    both[1] = probabilities[U(at + 1)]
                else:
                    ask_on(
                        buffers[0], node, feature, is_nominal, cut, first, width, share, leaf,
                        probabilities, both,
                    )  # fmt: skip
                present = both[1] >= both[0]
                labels[row, label] = present
                buffers[0, n_features + label] = 1.0 if present else 0.0
                if hard:
                    sums[row, label] += 1.0 if present else 0.0
                else:
                    sums[row, label] += both[1]
            for label in range(n_labels):
                buffers[0, n_features + label] = 0.0
        spread_stored(rows, row, buffers[0], False)


@kernel
def vote_rows(
    rows, start, stop, winners, losers, roots, feature, is_nominal, cut, first, width, share, leaf,
    probabilities, votes,
):  # fmt: skip
    """Give each tree's vote to its winner, or to its loser where class 0 is more probable.

    Few rows at a time go through one tree after another, so that a tree's nodes are read once
    for all of them.
    """
    at_once = min(16, stop - start)
    buffers = np.zeros((at_once, rows.n_features), np.float64)
    both = np.zeros(2)
    for begin in range(start, stop, at_once):
        n = min(at_once, stop - begin)
        for i in range(n):
            load_row(rows, begin + i, buffers[i])
        for tree in range(len(roots)):
            root, winner, loser = roots[U(tree)], winners[U(tree)], losers[U(tree)]
            for i in range(n):
                node = go_down(buffers, i, root, feature, is_nominal, cut, first)
                if feature[U(node)] < 0:
                    at = leaf[U(node)]
                    lost = probabilities[U(at)] > probabilities[U(at + 1)]
                else:
                    ask_on(
                        buffers[i], node, feature, is_nominal, cut, first, width, share, leaf,
                        probabilities, both,
                    )  # fmt: skip
                    lost = both[0] > both[1]
                votes[U(begin + i), U(loser if lost else winner)] += 1
        for i in range(n):
            spread_stored(rows, begin + i, buffers[i], False)


@kernel
def exclusive_rows(indptr, row_of, pairs, starts, rows, y):
    """List for each pair of labels the rows with one and not the other; 1 where it is the first.

    ``row_of[indptr[label] : indptr[label + 1]]`` are the rows of a label, ascending. Pair k gets
    ``rows`` and ``y`` from ``starts[k]`` to ``starts[k + 1]``. Returns how many there are.
    """
    n = np.int64(0)
    for k in range(len(pairs)):
        i, i_stop = indptr[pairs[k, 0]], indptr[pairs[k, 0] + 1]
        j, j_stop = indptr[pairs[k, 1]], indptr[pairs[k, 1] + 1]
        while i < i_stop or j < j_stop:
            if j == j_stop or (i < i_stop and row_of[U(i)] < row_of[U(j)]):
                rows[U(n)] = row_of[U(i)]
                y[U(n)] = 1
                i += 1
                n += 1
            elif i == i_stop or row_of[U(j)] < row_of[U(i)]:
                rows[U(n)] = row_of[U(j)]
                y[U(n)] = 0
                j += 1
                n += 1
            else:
                i += 1
                j += 1
        starts[k + 1] = n
    return n
