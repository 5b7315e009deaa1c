"""Ask many trees about many rows: one by one, in chains that go on, or in pairs that vote."""

import numpy as np

from libc.math cimport isnan
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memset

from scumble._core.interrupt cimport check_stop
from scumble.learn.c45.memory cimport Memory, release, reserve, start_of
from scumble.learn.c45.rows cimport RowsView, load_row, spread_stored, view_rows

cdef enum:
    AT_ONCE = 16  # rows that go through a tree together
    WIDEST = 4096  # rows of more columns go alone: their buffers would not fit the cache
    STEPS_BETWEEN_LOOKS = 0x200000  # trees asked and cells copied before Ctrl-C is looked for


cdef struct Trees:  # The nodes of many trees, see scumble.learn.c45.forest.Forest.
    Py_ssize_t n
    const int64_t* roots
    const int32_t* feature  # -1 at a leaf
    const double* cut  # NaN where the column is nominal
    const int64_t* first
    const int32_t* width
    const double* share  # -1 for an empty leaf
    const int64_t* leaf
    const double* probabilities
    const int64_t* n_classes


cdef struct Waiting:  # A node that a row with missing values has still to visit.
    int64_t node
    double part  # of the row that goes there


cdef struct Asking:  # Trees, and the few rows that go through them next.
    Trees trees
    Py_ssize_t begin
    Py_ssize_t n_rows
    Py_ssize_t n_columns
    double* buffers  # n_columns a row
    Waiting* waiting
    Memory memory


# What trees say of some rows is written to a record that the function knows.
ctypedef int (*Answering)(Asking* asking, void* answers) except -1 nogil


cdef int ask(
    rows, forest, Py_ssize_t start, Py_ssize_t stop, double[:, ::1] buffers, Answering answer,
    void* answers,
) except -1:
    """Ask trees about rows start..stop, as many at a time as there are ``buffers``."""
    cdef RowsView view = view_rows(rows)
    cdef Asking asking
    cdef Py_ssize_t work = 0
    cdef Py_ssize_t i
    memset(&asking, 0, sizeof(Asking))
    asking.trees = view_trees(forest)
    asking.begin, asking.n_columns = start, buffers.shape[1]
    if asking.trees.n == 0:
        return 0
    asking.buffers = &buffers[0, 0]
    try:
        with nogil:
            while asking.begin < stop:
                asking.n_rows = min(buffers.shape[0], stop - asking.begin)
                work += asking.n_rows * (asking.trees.n + asking.n_columns)
                if work > STEPS_BETWEEN_LOOKS:
                    work = 0
                    check_stop()
                for i in range(asking.n_rows):
                    load_row(&view, asking.begin + i, &buffers[i, 0])
                answer(&asking, answers)
                for i in range(asking.n_rows):
                    spread_stored(&view, asking.begin + i, &buffers[i, 0], False)
                asking.begin += asking.n_rows
    finally:
        release(&asking.memory)
    return 0


cdef Trees view_trees(forest) except *:
    """Point at the arrays of a forest, which must outlive the view."""
    cdef Trees trees
    trees.n = len(forest.roots)
    trees.roots = start_of[int64_t](forest.roots)
    trees.feature = start_of[int32_t](forest.feature)
    trees.cut = start_of[double](forest.cut)
    trees.first = start_of[int64_t](forest.first)
    trees.width = start_of[int32_t](forest.width)
    trees.share = start_of[double](forest.share)
    trees.leaf = start_of[int64_t](forest.leaf)
    trees.probabilities = start_of[double](forest.probabilities)
    trees.n_classes = start_of[int64_t](forest.n_classes)
    return trees


# The way of rows through a tree.

cdef inline int64_t child_of(const Trees* trees, int64_t node, double value) noexcept nogil:
    """Choose the branch for a value that is not missing."""
    cdef double cut = trees.cut[node]
    if cut == cut:
        return trees.first[node] + (value > cut)
    return trees.first[node] + <int64_t> value


cdef inline int64_t go_down(const Trees* trees, const double* buffer, int64_t node) noexcept nogil:
    """Find the leaf of the row in a buffer, or the node that asks for a missing value."""
    cdef int32_t column = trees.feature[node]
    while column >= 0 and not isnan(buffer[column]):
        node = child_of(trees, node, buffer[column])
        column = trees.feature[node]
    return node


cdef inline void go_down_together(
    const Asking* asking, int64_t root, int64_t* nodes
) noexcept nogil:
    """Find for all rows what `go_down` finds for one, a level at a time.

    While one row waits for its node to arrive from memory, the others go on.
    """
    cdef const Trees* trees = &asking.trees
    cdef const double* buffers = asking.buffers
    cdef Py_ssize_t n_columns = asking.n_columns
    cdef Py_ssize_t[AT_ONCE] moving
    cdef Py_ssize_t n_moving = asking.n_rows
    cdef Py_ssize_t at, i, n_left
    cdef int32_t column
    cdef double value
    for i in range(n_moving):
        nodes[i] = root
        moving[i] = i
    while n_moving:
        n_left = 0
        for at in range(n_moving):
            i = moving[at]
            column = trees.feature[nodes[i]]
            if column < 0:
                continue
            value = buffers[i * n_columns + column]
            if isnan(value):
                continue
            nodes[i] = child_of(trees, nodes[i], value)
            moving[n_left] = i
            n_left += 1
        n_moving = n_left


cdef inline const double* answer_of(
    Asking* asking, Py_ssize_t i, int64_t node, Py_ssize_t n_classes, double* sums
) except NULL nogil:
    """Point at the probabilities that row ``i`` gets at the node where it ends.

    Where that is no leaf, because a value is missing, ``sums`` receives those of the leaves below.
    """
    if asking.trees.feature[node] < 0:
        return asking.trees.probabilities + asking.trees.leaf[node]
    memset(sums, 0, n_classes * sizeof(double))
    add_branches(asking, asking.buffers + i * asking.n_columns, node, n_classes, sums)
    return sums


cdef int add_branches(
    Asking* asking, const double* buffer, int64_t top, Py_ssize_t n_classes, double* sums
) except -1 nogil:
    """Follow every branch where a value is missing and add what the leaves say."""
    cdef const Trees* trees = &asking.trees
    cdef Py_ssize_t n_waiting = 1
    cdef Py_ssize_t c
    cdef int64_t node, child
    cdef double part
    reserve(&asking.memory, <void**> &asking.waiting, 1, sizeof(Waiting))
    asking.waiting[0].node, asking.waiting[0].part = top, 1.0
    while n_waiting:
        n_waiting -= 1
        part = asking.waiting[n_waiting].part
        node = go_down(trees, buffer, asking.waiting[n_waiting].node)
        if trees.feature[node] < 0:
            for c in range(n_classes):
                sums[c] += part * trees.probabilities[trees.leaf[node] + c]
            continue
        reserve(
            &asking.memory, <void**> &asking.waiting, n_waiting + trees.width[node],
            sizeof(Waiting),
        )
        for child in range(trees.first[node] + trees.width[node] - 1, trees.first[node] - 1, -1):
            if trees.share[child] >= 0.0:  # empty branches take no part
                asking.waiting[n_waiting].node = child
                asking.waiting[n_waiting].part = part * trees.share[child]
                n_waiting += 1
    return 0


# One by one.

cdef struct Probabilities:
    double* at
    Py_ssize_t n_columns


def predict_rows(
    rows, forest, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t n_columns, double[:, ::1] out
):
    """Write the class probabilities each tree gives to rows start..stop.

    A row that ends at a node gets ``probabilities[p : p + n_classes]`` with ``p = leaf[node]``;
    an empty leaf holds what its parent says. ``n_classes[t]`` of the outputs are tree t's.
    """
    buffers = np.zeros((AT_ONCE if n_columns <= WIDEST else 1, max(n_columns, 1)))
    cdef Probabilities found = Probabilities(NULL, out.shape[1])
    if out.size:
        found.at = &out[0, 0]
        ask(rows, forest, start, stop, buffers, _predict, &found)


cdef int _predict(Asking* asking, void* answers) except -1 nogil:
    """Ask all trees about the rows in hand."""
    cdef Probabilities* found = <Probabilities*> answers
    cdef double* out = found.at + asking.begin * found.n_columns
    cdef Py_ssize_t t, i, c, n_classes
    cdef int64_t[AT_ONCE] nodes
    cdef double* place
    cdef const double* answer
    for t in range(asking.trees.n):
        n_classes = asking.trees.n_classes[t]
        go_down_together(asking, asking.trees.roots[t], nodes)
        for i in range(asking.n_rows):
            place = out + i * found.n_columns
            answer = answer_of(asking, i, nodes[i], n_classes, place)
            if answer != place:
                for c in range(n_classes):
                    place[c] = answer[c]
        out += n_classes
    return 0


# In chains.

cdef struct Chains:  # See `chain_rows`.
    Py_ssize_t n
    Py_ssize_t n_labels
    const int64_t* begins
    const int64_t* orders
    bint hard
    uint8_t* labels
    double* sums


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
    cdef Chains found
    found.n, found.n_labels, found.hard = len(chains[0]) - 1, labels.shape[1], hard
    found.begins = start_of[int64_t](chains[0])
    found.orders = start_of[int64_t](chains[1])
    if labels.size:
        found.labels = &labels[0, 0]
        found.sums = &sums[0, 0]
        buffer = np.zeros((1, rows.n_features + labels.shape[1]))
        ask(rows, forest, start, stop, buffer, _follow, &found)


cdef int _follow(Asking* asking, void* answers) except -1 nogil:
    """Follow all chains; their decisions are written to the end of the row's buffer."""
    cdef Chains* found = <Chains*> answers
    cdef uint8_t* labels = found.labels + asking.begin * found.n_labels
    cdef double* sums = found.sums + asking.begin * found.n_labels
    cdef double* known = asking.buffers + asking.n_columns - found.n_labels
    cdef Py_ssize_t chain, at, label
    cdef const double* answer
    cdef double[2] both
    cdef int64_t node
    for chain in range(found.n):
        for at in range(found.begins[chain], found.begins[chain + 1]):
            label = found.orders[at]
            node = go_down(&asking.trees, asking.buffers, asking.trees.roots[at])
            answer = answer_of(asking, 0, node, 2, both)
            labels[label] = answer[1] >= answer[0]
            known[label] = labels[label]
            sums[label] += known[label] if found.hard else answer[1]
        memset(known, 0, found.n_labels * sizeof(double))
    return 0


# In pairs.

cdef struct Duels:
    const int64_t* labels  # two of each tree
    int32_t* votes
    Py_ssize_t n_labels


def vote_rows(
    rows, forest, Py_ssize_t start, Py_ssize_t stop, const int64_t[:, ::1] duels,
    int32_t[:, ::1] votes,
):
    """Give each tree's vote to the first of its duel, or to the second where class 0 is likelier.

    Few rows at a time go through one tree after another, so that a tree's nodes are read once
    for all of them.
    """
    cdef Duels found = Duels(NULL, NULL, votes.shape[1])
    if duels.size and votes.size:
        found.labels, found.votes = &duels[0, 0], &votes[0, 0]
        buffers = np.zeros((AT_ONCE, max(rows.n_features, 1)))
        ask(rows, forest, start, stop, buffers, _vote, &found)


cdef int _vote(Asking* asking, void* answers) except -1 nogil:
    """Ask all trees about the rows in hand."""
    cdef Duels* found = <Duels*> answers
    cdef int32_t* votes = found.votes + asking.begin * found.n_labels
    cdef Py_ssize_t tree, i
    cdef int64_t winner, loser
    cdef int64_t[AT_ONCE] nodes
    cdef double[2] both
    cdef const double* answer
    for tree in range(asking.trees.n):
        winner, loser = found.labels[2 * tree], found.labels[2 * tree + 1]
        go_down_together(asking, asking.trees.roots[tree], nodes)
        for i in range(asking.n_rows):
            answer = answer_of(asking, i, nodes[i], 2, both)
            votes[i * found.n_labels + (loser if answer[0] > answer[1] else winner)] += 1
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
