"""Ask many trees about many rows."""

from __future__ import annotations

import math

import numpy as np

from scumble._core.jit import inner_kernel, kernel
from scumble.learn.kernels.arithmetic import U
from scumble.learn.kernels.growable import room_for
from scumble.learn.kernels.layout import spread_stored


@kernel
def predict_rows(
    rows, start, stop, n_columns, roots, feature, is_nominal, cut, first, width, share, leaf,
    probabilities, n_classes, out,
):  # fmt: skip
    """Write the class probabilities each tree gives to rows start..stop.

    ``probabilities[p : p + n_classes]`` with ``p = leaf[node]`` is what a row gets that ends at a
    node; an empty leaf holds what its parent says. ``n_classes[t]`` of the outputs are tree t's.
    """
    buffer = np.zeros(n_columns, np.float64)
    nodes = np.empty(64, np.int64)
    parts = np.empty(64, np.float64)
    for row in range(start, stop):
        if rows.is_dense:
            for column in range(rows.n_features):
                buffer[U(column)] = rows.dense[U(row), U(column)]
        spread_stored(rows, row, buffer, np.bool_(True))
        at = np.int64(0)
        for t in range(len(roots)):
            node = np.int64(roots[t])
            while True:
                column = feature[U(node)]
                if column < 0:
                    break
                value = buffer[U(column)]
                if math.isnan(value):
                    break
                if is_nominal[U(node)]:
                    node = first[U(node)] + int(value)
                else:
                    node = first[U(node)] + (0 if value <= cut[U(node)] else 1)
            if feature[U(node)] < 0:
                p = leaf[U(node)]
                for c in range(n_classes[t]):
                    out[U(row), U(at + c)] = probabilities[U(p + c)]
            else:
                for c in range(n_classes[t]):
                    out[U(row), U(at + c)] = 0.0
                nodes, parts = _spread_missing(
                    buffer, node, feature, is_nominal, cut, first, width, share, leaf,
                    probabilities, n_classes[t], out[row], at, nodes, parts,
                )  # fmt: skip
            at += n_classes[t]
        spread_stored(rows, row, buffer, np.bool_(False))


@inner_kernel
def _spread_missing(
    buffer, top, feature, is_nominal, cut, first, width, share, leaf, probabilities, n_classes,
    out, at, nodes, parts,
):  # fmt: skip
    """Follow every branch where a value is missing and add what the leaves say."""
    nodes[0] = top
    parts[0] = 1.0
    waiting = 1
    while waiting:
        waiting -= 1
        node = nodes[waiting]
        part = parts[waiting]
        column = feature[node]
        if column < 0:
            for c in range(n_classes):
                out[at + c] += part * probabilities[leaf[node] + c]
            continue
        value = buffer[column]
        if not math.isnan(value):
            if is_nominal[node]:
                nodes[waiting] = first[node] + int(value)
            else:
                nodes[waiting] = first[node] + (0 if value <= cut[node] else 1)
            waiting += 1
            continue
        nodes = room_for(nodes, waiting + width[node])
        parts = room_for(parts, waiting + width[node])
        for child in range(first[node] + width[node] - 1, first[node] - 1, -1):
            if share[child] >= 0.0:  # empty branches take no part
                nodes[waiting] = child
                parts[waiting] = part * share[child]
                waiting += 1
    return nodes, parts
