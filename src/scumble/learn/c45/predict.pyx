"""Ask many trees about many rows: one by one, in chains that go on, or in pairs that vote."""

import numpy as np

from libc.math cimport isnan
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memset

from scumble._core.interrupt cimport check_stop
from scumble.learn.c45.memory cimport Memory, release, reserve, data_pointer
from scumble.learn.c45.rows cimport RowsView, load_row, scatter_stored_cells, view_rows

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


cdef class _Asking:
    """Trees, and the few rows that go through them next; buffers hold their cells."""

    cdef Trees trees
    cdef RowsView rows
    cdef Memory memory
    cdef Waiting* waiting
    cdef Py_ssize_t begin  # the rows in hand
    cdef Py_ssize_t n_rows
    cdef Py_ssize_t stop
    cdef Py_ssize_t work  # since Ctrl-C was last looked for
    cdef double[:, ::1] buffers

    def __init__(
        self, rows, forest, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t at_once,
        Py_ssize_t n_columns,
    ):
        self.rows, self.trees = view_rows(rows), view_trees(forest)
        self.begin, self.stop = start, stop
        self.buffers = np.zeros((at_once, max(n_columns, 1)))

    def __dealloc__(self):
        release(&self.memory)

    cdef bint go_on(self) except -1 nogil:
        """Take the next rows in hand; False where there are no more, or no trees."""
        cdef Py_ssize_t i
        for i in range(self.n_rows):
            scatter_stored_cells(&self.rows, self.begin + i, &self.buffers[i, 0], False)
        self.begin += self.n_rows
        self.n_rows = min(self.buffers.shape[0], self.stop - self.begin)
        self.work += self.n_rows * (self.trees.n + self.buffers.shape[1])
        if self.work > STEPS_BETWEEN_LOOKS:
            self.work = 0
            check_stop()
        for i in range(self.n_rows):
            load_row(&self.rows, self.begin + i, &self.buffers[i, 0])
        return self.n_rows > 0 and self.trees.n > 0


cdef Trees view_trees(forest) except *:
    """Point at the arrays of a forest, which must outlive the view."""
    cdef Trees trees
    trees.n = len(forest.roots)
    trees.roots = data_pointer[int64_t](forest.roots)
    trees.feature = data_pointer[int32_t](forest.feature)
    trees.cut = data_pointer[double](forest.cut)
    trees.first = data_pointer[int64_t](forest.first)
    trees.width = data_pointer[int32_t](forest.width)
    trees.share = data_pointer[double](forest.share)
    trees.leaf = data_pointer[int64_t](forest.leaf)
    trees.probabilities = data_pointer[double](forest.probabilities)
    trees.n_classes = data_pointer[int64_t](forest.n_classes)
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


cdef inline void go_down_together(_Asking asking, int64_t root, int64_t* nodes) noexcept nogil:
    """Find for all rows what `go_down` finds for one, a level at a time.

    While one row waits for its node to arrive from memory, the others go on.
    """
    cdef const Trees* trees = &asking.trees
    cdef const double* buffers = &asking.buffers[0, 0]
    cdef Py_ssize_t n_columns = asking.buffers.shape[1]
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
    _Asking asking, Py_ssize_t i, int64_t node, Py_ssize_t n_classes, double* sums
) except NULL nogil:
    """Point at the probabilities that row ``i`` gets at the node where it ends.

    Where that is no leaf, because a value is missing, ``sums`` receives those of the leaves below.
    """
    if asking.trees.feature[node] < 0:
        return asking.trees.probabilities + asking.trees.leaf[node]
    memset(sums, 0, n_classes * sizeof(double))
    add_branches(asking, &asking.buffers[i, 0], node, n_classes, sums)
    return sums


cdef int add_branches(
    _Asking asking, const double* buffer, int64_t top, Py_ssize_t n_classes, double* sums
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


def predict_rows(
    rows, forest, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t n_columns, double[:, ::1] out
):
    """Write the class probabilities each tree gives to rows start..stop.

    A row that ends at a node gets ``probabilities[p : p + n_classes]`` with ``p = leaf[node]``;
    an empty leaf holds what its parent says. ``n_classes[t]`` of the outputs are tree t's.
    """
    cdef Py_ssize_t at_once = AT_ONCE if n_columns <= WIDEST else 1
    cdef _Asking asking = _Asking(rows, forest, start, stop, at_once, n_columns)
    cdef Py_ssize_t t, i, c, first, n_classes
    cdef int64_t[AT_ONCE] nodes
    cdef double* place
    cdef const double* answer
    with nogil:
        while asking.go_on():
            first = 0
            for t in range(asking.trees.n):
                n_classes = asking.trees.n_classes[t]
                go_down_together(asking, asking.trees.roots[t], nodes)
                for i in range(asking.n_rows):
                    place = &out[asking.begin + i, first]
                    answer = answer_of(asking, i, nodes[i], n_classes, place)
                    if answer != place:
                        for c in range(n_classes):
                            place[c] = answer[c]
                first += n_classes


def predict_chain_rows(
    rows, forest, Py_ssize_t start, Py_ssize_t stop, chains, bint hard,
    uint8_t[:, ::1] labels, double[:, ::1] sums,
):
    """Follow chains: tree ``i`` learnt label ``orders[i]`` from those before it in its chain.

    ``chains`` are two arrays, ``begins`` and ``orders``. Chain ``c`` has the places ``begins[c]``
    to ``begins[c + 1]``, and need not hold all labels. ``labels`` gets the decisions of the last
    chain, ``sums`` is increased by the confidences of all chains, or by their decisions where
    ``hard``. Decisions are written to the end of the row's buffer.
    """
    cdef const int64_t[::1] begins = chains[0]
    cdef const int64_t[::1] orders = chains[1]
    cdef Py_ssize_t n_features = rows.n_features
    cdef Py_ssize_t n_labels = labels.shape[1]
    cdef _Asking asking = _Asking(rows, forest, start, stop, 1, n_features + n_labels)
    cdef double* known = &asking.buffers[0, 0] + n_features
    cdef Py_ssize_t chain, at, label
    cdef const double* answer
    cdef double[2] both
    cdef int64_t node
    with nogil:
        while asking.go_on():
            for chain in range(begins.shape[0] - 1):
                for at in range(begins[chain], begins[chain + 1]):
                    label = orders[at]
                    node = go_down(&asking.trees, &asking.buffers[0, 0], asking.trees.roots[at])
                    answer = answer_of(asking, 0, node, 2, both)
                    known[label] = labels[asking.begin, label] = answer[1] >= answer[0]
                    sums[asking.begin, label] += known[label] if hard else answer[1]
                memset(known, 0, n_labels * sizeof(double))


def count_pair_votes(
    rows, forest, Py_ssize_t start, Py_ssize_t stop, const int64_t[:, ::1] duels,
    int32_t[:, ::1] votes,
):
    """Give each tree's vote to the first of its duel, or to the second where class 0 is likelier.

    Few rows at a time go through one tree after another, so that a tree's nodes are read once
    for all of them.
    """
    cdef _Asking asking = _Asking(rows, forest, start, stop, AT_ONCE, rows.n_features)
    cdef Py_ssize_t tree, i
    cdef int64_t[AT_ONCE] nodes
    cdef double[2] both
    cdef const double* answer
    with nogil:
        while asking.go_on():
            for tree in range(asking.trees.n):
                go_down_together(asking, asking.trees.roots[tree], nodes)
                for i in range(asking.n_rows):
                    answer = answer_of(asking, i, nodes[i], 2, both)
                    votes[asking.begin + i, duels[tree, answer[0] > answer[1]]] += 1


def find_exclusive_rows(
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
