"""Ask two-class trees one after another about a row: chains that go on, pairs that vote."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memset

from scumble._core.interrupt cimport check_stop
from scumble.learn.c45.predict cimport (
    AT_ONCE, Trees, Waiting, add_branches, go_down, go_down_together, let_go, view_trees,
)
from scumble.learn.rows cimport RowsView, load_row, spread_stored, view_rows

cdef struct Answers:
    # What chains say of one row, by label.
    uint8_t* labels
    double* sums
    bint hard  # whether sums are of decisions


cdef inline const double* _answer(
    const Trees* trees, const double* buffer, int64_t node, double* both, Waiting* waiting
) except NULL nogil:
    """Point at the probabilities of absence and presence that a row gets where it ends.

    Where that is no leaf, because a value is missing, ``both`` receives those of the leaves below.
    """
    if trees.feature[node] < 0:
        return trees.probabilities + trees.leaf[node]
    both[0] = both[1] = 0.0
    add_branches(trees, buffer, node, 2, both, waiting)
    return both


def chain_rows(
    rows, forest, Py_ssize_t start, Py_ssize_t stop, chains, bint hard,
    uint8_t[:, ::1] labels, double[:, ::1] sums,
):
    """Follow chains: tree ``i`` learnt label ``orders[i]`` from those before it in its chain.

    ``chains`` are two arrays, ``begins`` and ``orders``. Chain ``c`` has the places ``begins[c]``
    to ``begins[c + 1]``, and need not hold all labels. ``labels`` gets the decisions of the last
    chain, ``sums`` is increased by the confidences of all chains, or by their decisions where
    ``hard``.
    """
    cdef RowsView view = view_rows(rows)
    cdef Trees trees = view_trees(forest)
    cdef const int64_t[::1] begins = chains[0]
    cdef const int64_t[::1] orders = chains[1]
    cdef Py_ssize_t n_labels = labels.shape[1]
    cdef double[::1] buffer = np.zeros(view.n_features + n_labels)
    cdef double* known
    cdef Answers answers = Answers(NULL, NULL, hard)
    cdef Waiting waiting = Waiting(NULL, NULL)
    cdef Py_ssize_t row, chain
    cdef Py_ssize_t work = 0
    if n_labels == 0 or orders.shape[0] == 0:
        return
    known = &buffer[view.n_features]
    try:
        with nogil:
            for row in range(start, stop):
                load_row(&view, row, &buffer[0])
                for chain in range(begins.shape[0] - 1):
                    work += n_labels
                    if work > 0x100000:
                        work = 0
                        check_stop()
                    answers.labels = &labels[row, 0]
                    answers.sums = &sums[row, 0]
                    _follow(
                        &trees, trees.roots + begins[chain], &orders[0] + begins[chain],
                        begins[chain + 1] - begins[chain], &buffer[0], known, &answers, &waiting,
                    )
                    memset(known, 0, n_labels * sizeof(double))
                spread_stored(&view, row, &buffer[0], False)
    finally:
        let_go(&waiting)


cdef int _follow(
    const Trees* trees, const int64_t* roots, const int64_t* order, Py_ssize_t length,
    const double* buffer, double* known, const Answers* answers, Waiting* waiting,
) except -1 nogil:
    """Follow one chain; ``known`` is the end of the buffer, where its decisions are written."""
    cdef Py_ssize_t place, label
    cdef const double* answer
    cdef double[2] both
    cdef bint present
    for place in range(length):
        label = order[place]
        answer = _answer(trees, buffer, go_down(trees, buffer, roots[place]), both, waiting)
        present = answer[1] >= answer[0]
        answers.labels[label] = present
        known[label] = 1.0 if present else 0.0
        if answers.hard:
            answers.sums[label] += 1.0 if present else 0.0
        else:
            answers.sums[label] += answer[1]
    return 0


def vote_rows(
    rows, forest, Py_ssize_t start, Py_ssize_t stop, const int64_t[:, ::1] duels,
    int32_t[:, ::1] votes,
):
    """Give each tree's vote to the first of its duel, or to the second where class 0 is likelier.

    Few rows at a time go through one tree after another, so that a tree's nodes are read once
    for all of them.
    """
    cdef RowsView view = view_rows(rows)
    cdef Trees trees = view_trees(forest)
    cdef double[:, ::1] buffers = np.zeros((AT_ONCE, max(view.n_features, 1)))
    cdef Waiting waiting = Waiting(NULL, NULL)
    cdef Py_ssize_t begin, i, n
    cdef Py_ssize_t work = 0
    if trees.n_trees == 0:
        return
    try:
        with nogil:
            for begin in range(start, stop, 16):
                work += trees.n_trees
                if work > 0x10000:
                    work = 0
                    check_stop()
                n = min(AT_ONCE, stop - begin)
                for i in range(n):
                    load_row(&view, begin + i, &buffers[i, 0])
                _vote(
                    &trees, &buffers[0, 0], buffers.shape[1], n, &duels[0, 0], &votes[begin, 0],
                    votes.shape[1], &waiting,
                )
                for i in range(n):
                    spread_stored(&view, begin + i, &buffers[i, 0], False)
    finally:
        let_go(&waiting)


cdef int _vote(
    const Trees* trees, const double* buffers, Py_ssize_t n_features, Py_ssize_t n_rows,
    const int64_t* duels, int32_t* votes, Py_ssize_t n_places, Waiting* waiting,
) except -1 nogil:
    """Ask all trees about a few rows."""
    cdef Py_ssize_t tree, i
    cdef int64_t winner, loser
    cdef int64_t[AT_ONCE] nodes
    cdef double[2] both
    cdef const double* answer
    for tree in range(trees.n_trees):
        winner, loser = duels[2 * tree], duels[2 * tree + 1]
        go_down_together(trees, buffers, n_features, n_rows, trees.roots[tree], nodes)
        for i in range(n_rows):
            answer = _answer(trees, buffers + i * n_features, nodes[i], both, waiting)
            votes[i * n_places + (loser if answer[0] > answer[1] else winner)] += 1
    return 0


def exclusive_rows(
    const int64_t[::1] indptr, const uint32_t[::1] row_of, const int32_t[:, ::1] pairs,
    int64_t[::1] starts, uint32_t[::1] rows, uint8_t[::1] y,
):
    """List for each pair of labels the rows with one and not the other; 1 where it is the first.

    ``row_of[indptr[label] : indptr[label + 1]]`` are the rows of a label, ascending. Pair k gets
    ``rows`` and ``y`` from ``starts[k]`` to ``starts[k + 1]``. Returns how many there are.
    """
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t k, i, i_stop, j, j_stop
    with nogil:
        for k in range(pairs.shape[0]):
            i, i_stop = indptr[pairs[k, 0]], indptr[pairs[k, 0] + 1]
            j, j_stop = indptr[pairs[k, 1]], indptr[pairs[k, 1] + 1]
            while i < i_stop or j < j_stop:
                if j == j_stop or (i < i_stop and row_of[i] < row_of[j]):
                    rows[n] = row_of[i]
                    y[n] = 1
                    i += 1
                    n += 1
                elif i == i_stop or row_of[j] < row_of[i]:
                    rows[n] = row_of[j]
                    y[n] = 0
                    j += 1
                    n += 1
                else:
                    i += 1
                    j += 1
            starts[k + 1] = n
    return n
