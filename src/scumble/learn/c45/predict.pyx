"""Ask many trees about many rows."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from scumble._core.interrupt cimport check_stop
from scumble.learn.c45.memory cimport release, reserve
from scumble.learn.rows cimport RowsView, load_row, spread_stored, view_rows


def predict_rows(
    rows, forest, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t n_columns, double[:, ::1] out
):
    """Write the class probabilities each tree gives to rows start..stop.

    A row that ends at a node gets ``probabilities[p : p + n_classes]`` with ``p = leaf[node]``;
    an empty leaf holds what its parent says. ``n_classes[t]`` of the outputs are tree t's.
    """
    cdef RowsView view = view_rows(rows)
    cdef Trees trees = view_trees(forest)
    # Rows of very many columns go alone: their buffers would not fit the cache.
    cdef Py_ssize_t at_once = AT_ONCE if n_columns <= 4096 else 1
    cdef double[:, ::1] buffers = np.zeros((at_once, max(n_columns, 1)))
    cdef Waiting waiting = Waiting(NULL, NULL)
    cdef Py_ssize_t begin = start
    cdef Py_ssize_t work = 0
    cdef Py_ssize_t i, n
    if out.shape[1] == 0:
        return
    try:
        with nogil:
            while begin < stop:
                n = min(at_once, stop - begin)
                work += n * (trees.n_trees + n_columns)
                if work > 0x400000:
                    work = 0
                    check_stop()
                for i in range(n):
                    load_row(&view, begin + i, &buffers[i, 0])
                _predict(
                    &trees, &buffers[0, 0], buffers.shape[1], n, &out[begin, 0], out.shape[1],
                    &waiting,
                )
                for i in range(n):
                    spread_stored(&view, begin + i, &buffers[i, 0], False)
                begin += n
    finally:
        let_go(&waiting)


cdef int _predict(
    const Trees* trees, const double* buffers, Py_ssize_t n_columns, Py_ssize_t n_rows,
    double* out, Py_ssize_t stride, Waiting* waiting,
) except -1 nogil:
    """Ask all trees about a few rows."""
    cdef Py_ssize_t t, c, i, n_classes
    cdef int64_t[AT_ONCE] nodes
    cdef double* place
    cdef const double* answer
    for t in range(trees.n_trees):
        n_classes = trees.n_classes[t]
        go_down_together(trees, buffers, n_columns, n_rows, trees.roots[t], nodes)
        for i in range(n_rows):
            place = out + i * stride
            if trees.feature[nodes[i]] < 0:
                answer = trees.probabilities + trees.leaf[nodes[i]]
                for c in range(n_classes):
                    place[c] = answer[c]
            else:
                memset(place, 0, n_classes * sizeof(double))
                add_branches(trees, buffers + i * n_columns, nodes[i], n_classes, place, waiting)
        out += n_classes
    return 0


cdef int add_branches(
    const Trees* trees, const double* buffer, int64_t top, Py_ssize_t n_classes, double* out,
    Waiting* waiting,
) except -1 nogil:
    """Follow every branch where a value is missing and add what the leaves say."""
    cdef Py_ssize_t n_waiting = 1
    cdef Py_ssize_t c
    cdef int64_t node, child
    cdef double part
    _make_room(waiting, 1)
    waiting.nodes[0] = top
    waiting.parts[0] = 1.0
    while n_waiting:
        n_waiting -= 1
        part = waiting.parts[n_waiting]
        node = go_down(trees, buffer, waiting.nodes[n_waiting])
        if trees.feature[node] < 0:
            for c in range(n_classes):
                out[c] += part * trees.probabilities[trees.leaf[node] + c]
            continue
        _make_room(waiting, n_waiting + trees.width[node])
        for child in range(trees.first[node] + trees.width[node] - 1, trees.first[node] - 1, -1):
            if trees.share[child] >= 0.0:  # empty branches take no part
                waiting.nodes[n_waiting] = child
                waiting.parts[n_waiting] = part * trees.share[child]
                n_waiting += 1
    return 0


cdef int _make_room(Waiting* waiting, Py_ssize_t size) except -1 nogil:
    reserve(<void**> &waiting.nodes, size, sizeof(int64_t))
    reserve(<void**> &waiting.parts, size, sizeof(double))
    return 0


cdef void let_go(Waiting* waiting) noexcept nogil:
    """Give the memory back."""
    release(waiting.nodes)
    release(waiting.parts)


cdef Trees view_trees(forest) except *:
    """Point at the arrays of a forest, which must outlive the view."""
    cdef const int64_t[::1] roots = forest.roots
    cdef const int32_t[::1] feature = forest.feature
    cdef const double[::1] cut = forest.cut
    cdef const int64_t[::1] first = forest.first
    cdef const int32_t[::1] width = forest.width
    cdef const double[::1] share = forest.share
    cdef const int64_t[::1] leaf = forest.leaf
    cdef const double[::1] probabilities = forest.probabilities
    cdef const int64_t[::1] n_classes = forest.n_classes
    cdef Trees trees
    memset(&trees, 0, sizeof(Trees))
    trees.n_trees = roots.shape[0]
    if trees.n_trees:
        trees.roots = &roots[0]
        trees.feature = &feature[0]
        trees.cut = &cut[0]
        trees.first = &first[0]
        trees.width = &width[0]
        trees.share = &share[0]
        trees.leaf = &leaf[0]
        trees.probabilities = &probabilities[0] if probabilities.shape[0] else NULL
        trees.n_classes = &n_classes[0]
    return trees
