"""Predict with many trees for many rows: tree by tree, along classifier chains, or pair by pair."""

import numpy as np

from libc.math cimport isnan
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memset

from scumble._core.interrupt cimport check_stop
from scumble.learn.trees.c45.memory cimport Memory, data_pointer, release, reserve
from scumble.learn.trees.c45.rows cimport RowsView, clear_stored_cells, load_row, view_rows

cdef enum:
    BLOCK_SIZE = 16  # rows that go through a tree together
    MAX_BLOCK_COLUMNS = 4096  # rows with more columns go alone: their buffers exceed the cache
    STEPS_BETWEEN_CHECKS = 0x200000  # predictions and cells between two checks for Ctrl-C


cdef struct Trees:  # The nodes of many trees, see scumble.learn.trees.c45.forest.Forest.
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


cdef struct StackRecord:  # A node that a row with missing values has yet to visit.
    int64_t node
    double share  # part of the row that goes there


cdef class _Prediction:
    """Trees, and the current block of rows; buffers hold the cells of these rows."""

    cdef Trees trees
    cdef RowsView rows
    cdef Memory memory
    cdef StackRecord* stack
    cdef Py_ssize_t start  # first row of the block
    cdef Py_ssize_t n_rows  # rows of the block
    cdef Py_ssize_t stop  # end of all rows
    cdef Py_ssize_t work  # steps since the last check for Ctrl-C
    cdef double[:, ::1] buffers

    def __init__(
        self, rows, forest, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t block_size,
        Py_ssize_t n_columns,
    ):
        self.rows = view_rows(rows)
        self.trees = view_trees(forest)
        self.start = start
        self.stop = stop
        self.buffers = np.zeros((block_size, max(n_columns, 1)))

    def __dealloc__(self):
        release(&self.memory)

    cdef bint load_next_block(self) except -1 nogil:
        """Load the next rows into the buffers; return False if there are none, or no trees."""
        cdef Py_ssize_t i
        for i in range(self.n_rows):
            clear_stored_cells(&self.rows, self.start + i, &self.buffers[i, 0])
        self.start += self.n_rows
        self.n_rows = min(self.buffers.shape[0], self.stop - self.start)
        self.work += self.n_rows * (self.trees.n + self.buffers.shape[1])
        if self.work > STEPS_BETWEEN_CHECKS:
            self.work = 0
            check_stop()
        for i in range(self.n_rows):
            load_row(&self.rows, self.start + i, &self.buffers[i, 0])
        return self.n_rows > 0 and self.trees.n > 0


cdef Trees view_trees(forest) except *:
    """Return pointers to the arrays of a forest, which must outlive them."""
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


# From the root to a leaf.

cdef inline int64_t child_of(const Trees* trees, int64_t node, double value) noexcept nogil:
    """Return the child of a node for a value that is not missing."""
    cdef double cut = trees.cut[node]
    if cut == cut:  # not NaN
        return trees.first[node] + (value > cut)
    return trees.first[node] + <int64_t> value


cdef inline int64_t find_leaf(
    const Trees* trees, const double* buffer, int64_t node
) noexcept nogil:
    """Return the leaf below ``node`` that a row reaches, or the node where its value is missing."""
    cdef int32_t column = trees.feature[node]
    while column >= 0 and not isnan(buffer[column]):
        node = child_of(trees, node, buffer[column])
        column = trees.feature[node]
    return node


cdef inline void find_leaves(_Prediction prediction, int64_t root, int64_t* nodes) noexcept nogil:
    """Find the node for every row of the block that `find_leaf` finds for one, level by level.

    While the node of one row is loaded from memory, the other rows continue.
    """
    cdef const Trees* trees = &prediction.trees
    cdef const double* buffers = &prediction.buffers[0, 0]
    cdef Py_ssize_t n_columns = prediction.buffers.shape[1]
    cdef Py_ssize_t[BLOCK_SIZE] moving
    cdef Py_ssize_t n_moving = prediction.n_rows
    cdef Py_ssize_t k, i, n_still_moving
    cdef int32_t column
    cdef double value
    for i in range(n_moving):
        nodes[i] = root
        moving[i] = i
    while n_moving:
        n_still_moving = 0
        for k in range(n_moving):
            i = moving[k]
            column = trees.feature[nodes[i]]
            if column < 0:
                continue
            value = buffers[i * n_columns + column]
            if isnan(value):
                continue
            nodes[i] = child_of(trees, nodes[i], value)
            moving[n_still_moving] = i
            n_still_moving += 1
        n_moving = n_still_moving


cdef inline const double* probabilities_of(
    _Prediction prediction, Py_ssize_t i, int64_t node, Py_ssize_t n_classes, double* sums
) except NULL nogil:
    """Return a pointer to the class probabilities of row ``i``, which ends at ``node``.

    If the node is not a leaf, because a value is missing, ``sums`` receives those of the leaves
    below.
    """
    if prediction.trees.feature[node] < 0:
        return prediction.trees.probabilities + prediction.trees.leaf[node]
    memset(sums, 0, n_classes * sizeof(double))
    add_branches(prediction, &prediction.buffers[i, 0], node, n_classes, sums)
    return sums


cdef int add_branches(
    _Prediction prediction, const double* buffer, int64_t top, Py_ssize_t n_classes, double* sums
) except -1 nogil:
    """Add the probabilities of all leaves that a row reaches through branches of missing values."""
    cdef const Trees* trees = &prediction.trees
    cdef Py_ssize_t stack_size = 1
    cdef Py_ssize_t c
    cdef int64_t node, child
    cdef double share
    reserve(&prediction.memory, <void**> &prediction.stack, 1, sizeof(StackRecord))
    prediction.stack[0] = StackRecord(top, 1.0)
    while stack_size:
        stack_size -= 1
        share = prediction.stack[stack_size].share
        node = find_leaf(trees, buffer, prediction.stack[stack_size].node)
        if trees.feature[node] < 0:
            for c in range(n_classes):
                sums[c] += share * trees.probabilities[trees.leaf[node] + c]
            continue
        reserve(
            &prediction.memory, <void**> &prediction.stack, stack_size + trees.width[node],
            sizeof(StackRecord),
        )
        for child in range(trees.first[node] + trees.width[node] - 1, trees.first[node] - 1, -1):
            if trees.share[child] >= 0.0:  # empty leaves are left out
                prediction.stack[stack_size] = StackRecord(child, share * trees.share[child])
                stack_size += 1
    return 0


def predict_rows(
    rows, forest, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t n_columns, double[:, ::1] out
):
    """Write the class probabilities of rows ``start`` to ``stop`` - 1 by every tree to ``out``.

    A row that ends at a leaf gets ``probabilities[p : p + n_classes]`` with ``p = leaf[node]``;
    an empty leaf holds the probabilities of its parent. Tree t has the ``n_classes[t]`` columns
    of ``out`` after those of tree t - 1.
    """
    cdef Py_ssize_t block_size = BLOCK_SIZE if n_columns <= MAX_BLOCK_COLUMNS else 1
    cdef _Prediction prediction = _Prediction(rows, forest, start, stop, block_size, n_columns)
    cdef Py_ssize_t t, i, c, first_column, n_classes
    cdef int64_t[BLOCK_SIZE] nodes
    cdef double* out_row
    cdef const double* probabilities
    with nogil:
        while prediction.load_next_block():
            first_column = 0
            for t in range(prediction.trees.n):
                n_classes = prediction.trees.n_classes[t]
                find_leaves(prediction, prediction.trees.roots[t], nodes)
                for i in range(prediction.n_rows):
                    out_row = &out[prediction.start + i, first_column]
                    probabilities = probabilities_of(prediction, i, nodes[i], n_classes, out_row)
                    if probabilities != out_row:
                        for c in range(n_classes):
                            out_row[c] = probabilities[c]
                first_column += n_classes


def predict_chain_rows(
    rows, forest, Py_ssize_t start, Py_ssize_t stop, chains, bint hard,
    uint8_t[:, ::1] labels, double[:, ::1] sums,
):
    """Predict with classifier chains, whose trees use the labels before them in their chain.

    ``chains`` are two arrays, ``starts`` and ``orders``. Chain c consists of the trees
    ``starts[c]`` to ``starts[c + 1] - 1``, and tree i predicts label ``orders[i]``; a chain need
    not have all labels. ``labels`` receives the predictions of the last chain. The scores of all
    chains, or their predictions if ``hard``, are added to ``sums``. Predicted labels are stored
    in the row's buffer, after its features.
    """
    cdef const int64_t[::1] starts = chains[0]
    cdef const int64_t[::1] orders = chains[1]
    cdef Py_ssize_t n_features = rows.n_features
    cdef Py_ssize_t n_labels = labels.shape[1]
    cdef _Prediction prediction = _Prediction(rows, forest, start, stop, 1, n_features + n_labels)
    cdef double* buffer = &prediction.buffers[0, 0]
    cdef double* predicted = buffer + n_features
    cdef Py_ssize_t chain, i, label
    cdef const double* probabilities
    cdef double[2] branch_sums
    cdef int64_t node
    with nogil:
        while prediction.load_next_block():
            for chain in range(starts.shape[0] - 1):
                for i in range(starts[chain], starts[chain + 1]):
                    label = orders[i]
                    node = find_leaf(&prediction.trees, buffer, prediction.trees.roots[i])
                    probabilities = probabilities_of(prediction, 0, node, 2, branch_sums)
                    labels[prediction.start, label] = probabilities[1] >= probabilities[0]
                    predicted[label] = labels[prediction.start, label]
                    sums[prediction.start, label] += (
                        predicted[label] if hard else probabilities[1]
                    )
                memset(predicted, 0, n_labels * sizeof(double))


def count_pair_votes(
    rows, forest, Py_ssize_t start, Py_ssize_t stop, const int64_t[:, ::1] pairs,
    int32_t[:, ::1] votes,
):
    """Add the vote of each pair's tree: for the second label if class 0 is more probable.

    Otherwise the vote is for the first label of the pair. A small block of rows goes through one
    tree after another, so that the nodes of a tree are loaded once for all of them.
    """
    cdef _Prediction prediction = _Prediction(
        rows, forest, start, stop, BLOCK_SIZE, rows.n_features
    )
    cdef Py_ssize_t tree, i
    cdef int64_t[BLOCK_SIZE] nodes
    cdef double[2] branch_sums
    cdef const double* probabilities
    with nogil:
        while prediction.load_next_block():
            for tree in range(prediction.trees.n):
                find_leaves(prediction, prediction.trees.roots[tree], nodes)
                for i in range(prediction.n_rows):
                    probabilities = probabilities_of(prediction, i, nodes[i], 2, branch_sums)
                    votes[
                        prediction.start + i, pairs[tree, probabilities[0] > probabilities[1]]
                    ] += 1


def find_exclusive_rows(
    const int64_t[::1] indptr, const uint32_t[::1] row_of, const int32_t[:, ::1] pairs,
    int64_t[::1] starts, uint32_t[::1] rows, uint8_t[::1] y,
):
    """Write the rows that have exactly one label of each pair, with y = 1 for the first label.

    ``row_of[indptr[label] : indptr[label + 1]]`` are the rows of a label, ascending. Pair k gets
    ``rows`` and ``y`` from ``starts[k]`` to ``starts[k + 1]``. Returns the total number of rows.
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
