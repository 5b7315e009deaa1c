"""Pruning of subtrees in which no row has a missing value.

The rows of a node are a range of the training rows; rows that subtree raising has moved to a leaf
since then are in a linked list. To estimate the errors after raising the largest branch, only the
rows of the other branches are sent through it; its own rows are there already.
"""

from scumble.learn.trees.c45.rows cimport clear_stored_cells, write_stored_cells

cdef enum:
    END = 0xFFFFFFFFU  # of a linked list of rows


cdef void start_subtree(Pruner* p, Py_ssize_t top) noexcept nogil:
    """Reset the state of a subtree, and estimate the errors of its leaves."""
    cdef Py_ssize_t k
    cdef int32_t i
    for k in range(list_subtree(p, top, p.targets)):
        i = p.targets[k]
        p.head[i] = END
        p.states[i] = CHANGED
        if p.nodes.records[i].feature < 0:
            p.errors[i] = estimate_leaf_errors(p, i)


cdef double errors_when_raised(
    Pruner* p, const Node* node, Py_ssize_t largest, double max_errors
) noexcept nogil:
    """Estimate the errors if the largest branch received the rows of the others as well.

    Additional rows never decrease the estimate of a leaf. Therefore the rows are sent in batches,
    and the estimate stops where it exceeds ``max_errors``.
    """
    cdef double as_branch = p.errors[largest]
    cdef int64_t n_sent = 0
    cdef int64_t next_estimate = 0
    cdef int64_t n_rows, start, n, i
    cdef Py_ssize_t t, c
    cdef int32_t child
    p.n_targets = 0
    for child in range(node.first, node.first + node.width):
        if child == largest or p.nodes.records[child].branch == 0.0:
            continue
        n_rows = count_rows_below(p, child)
        start = 0
        while start < n_rows and as_branch <= max_errors:
            n = min(min(max(4, n_sent >> 2), MAX_BATCH), n_rows - start)
            for i in range(n):
                p.batch[i] = p.members[position_of(p, child, start + i)]
            send_batch(p, n, largest)
            start += n
            n_sent += n
            if n_sent >= next_estimate:
                next_estimate = n_sent + (n_sent >> 2)
                as_branch = errors_with_trial_rows(p, largest)
    as_branch = errors_with_trial_rows(p, largest)
    p.work += n_sent
    for t in range(p.n_targets):
        p.states[p.targets[t]] = UNCHANGED
        for c in range(p.nodes.n_classes):
            p.trial_counts[p.targets[t] * p.nodes.n_classes + c] = 0.0
    return as_branch


cdef double errors_with_trial_rows(const Pruner* p, Py_ssize_t top) noexcept nogil:
    """Estimate the errors of a subtree with the rows that its leaves have received on trial."""
    cdef double total = p.errors[top]
    cdef Py_ssize_t t
    for t in range(p.n_targets):
        total += estimate_leaf_errors(p, p.targets[t]) - p.errors[p.targets[t]]
    return total


cdef int64_t count_rows_below(Pruner* p, Py_ssize_t top) noexcept nogil:
    """Return the number of rows in a subtree, and list those that were moved into it.

    All other rows are in the range of its top node. `position_of` returns the position of a row.
    """
    cdef Py_ssize_t n_leaves = list_leaves(p, top, p.sources)
    cdef int64_t low = p.nodes.records[top].low
    cdef int64_t high = p.nodes.records[top].high
    cdef uint32_t position
    cdef Py_ssize_t s
    p.n_moved_rows = 0
    for s in range(n_leaves):
        position = p.head[p.sources[s]]
        while position != END:
            if position < low or position >= high:
                p.moved_rows[p.n_moved_rows] = position
                p.n_moved_rows += 1
            position = p.successor[position]
    return p.n_moved_rows + high - low


cdef inline int64_t position_of(const Pruner* p, Py_ssize_t top, int64_t k) noexcept nogil:
    """Return the position in ``members`` of the k-th row of a subtree; moved rows come first."""
    if k < p.n_moved_rows:
        return p.moved_rows[k]
    return p.nodes.records[top].low + k - p.n_moved_rows


cdef inline int32_t child_for_row(const Pruner* p, uint32_t row, const Node* node) noexcept nogil:
    """Return the child of a node that a row goes to."""
    cdef int32_t column = node.feature
    cdef double value
    if p.rows.is_dense and column < p.rows.n_features:
        value = p.rows.dense[row * p.rows.n_features + column]
    else:
        value = p.buffer[column]
    if p.n_values[column] > 0:
        return node.first + <int32_t> value
    return node.first + (0 if value <= node.cut else 1)


cdef void send_batch(Pruner* p, int64_t n, Py_ssize_t top) noexcept nogil:
    """Send rows through a subtree on trial: add them to its leaves, which become targets."""
    cdef Py_ssize_t n_classes = p.nodes.n_classes
    cdef int32_t leaf
    cdef uint32_t row
    cdef int64_t i
    if p.has_stored_cells:
        for i in range(n):
            p.batch_nodes[i] = find_leaf(p, p.batch[i], top)
    else:
        find_leaves_of_dense_rows(p, n, top)
    for i in range(n):
        leaf, row = p.batch_nodes[i], p.batch[i]
        if p.states[leaf] != HAS_TRIAL_ROWS:
            p.states[leaf] = HAS_TRIAL_ROWS
            p.targets[p.n_targets] = leaf
            p.n_targets += 1
        p.trial_counts[leaf * n_classes + p.y[row]] += (
            1.0 if p.weights == NULL else p.weights[row]
        )


cdef int32_t find_leaf(Pruner* p, uint32_t row, Py_ssize_t top) noexcept nogil:
    """Return the leaf that a row of a sparse table, or of one with extra columns, reaches."""
    cdef int32_t i = <int32_t> top
    write_stored_cells(p.rows, row, p.buffer)
    while p.nodes.records[i].feature >= 0:
        i = child_for_row(p, row, &p.nodes.records[i])
    clear_stored_cells(p.rows, row, p.buffer)
    return i


cdef void find_leaves_of_dense_rows(Pruner* p, int64_t n, Py_ssize_t top) noexcept nogil:
    """Find the leaves of the batch level by level, so that many cells are loaded at a time."""
    cdef bint is_moving = True
    cdef Node* node
    cdef int64_t i
    for i in range(n):
        p.batch_nodes[i] = <int32_t> top
    while is_moving:
        is_moving = False
        for i in range(n):
            node = &p.nodes.records[p.batch_nodes[i]]
            if node.feature >= 0:
                is_moving = True
                p.batch_nodes[i] = child_for_row(p, p.batch[i], node)


cdef void merge_leaf_lists(Pruner* p, Py_ssize_t node) noexcept nogil:
    """Move the lists of all leaves below a node, which becomes a leaf, to the node."""
    cdef Py_ssize_t n_leaves = list_leaves(p, node, p.sources)
    cdef Py_ssize_t s
    cdef int32_t leaf
    p.head[node] = END
    for s in range(n_leaves):
        leaf = p.sources[s]
        if p.head[leaf] != END:
            append_list(p, node, p.head[leaf], p.tail[leaf])


cdef inline void append_list(
    Pruner* p, Py_ssize_t node, uint32_t first, uint32_t last
) noexcept nogil:
    """Append a linked list of rows to the list of a node."""
    if p.head[node] == END:
        p.head[node] = first
    else:
        p.successor[p.tail[node]] = first
    p.tail[node] = last


cdef void move_other_branches(Pruner* p, Py_ssize_t i, Py_ssize_t largest) noexcept nogil:
    """Move the rows of the other branches into the largest one, which will replace the node."""
    cdef Node* node = &p.nodes.records[i]
    cdef int64_t n_rows, k
    cdef Py_ssize_t n_leaves, t
    cdef int32_t child
    for child in range(node.first, node.first + node.width):
        if child == largest or p.nodes.records[child].branch == 0.0:
            continue
        n_rows = count_rows_below(p, child)
        p.work += n_rows
        for k in range(n_rows):
            move_row(p, position_of(p, child, k), largest)
    n_leaves = list_leaves(p, largest, p.targets)
    for t in range(n_leaves):
        if p.states[p.targets[t]] != UNCHANGED:
            p.errors[p.targets[t]] = estimate_leaf_errors(p, p.targets[t])
            p.states[p.targets[t]] = UNCHANGED
    p.head[i], p.tail[i] = p.head[largest], p.tail[largest]
    p.errors[i] = p.errors[largest]


cdef void move_row(Pruner* p, int64_t position, Py_ssize_t top) noexcept nogil:
    """Add a row to every node on its path through a subtree, and to the list of its leaf."""
    cdef uint32_t row = p.members[position]
    cdef double weight = 1.0 if p.weights == NULL else p.weights[row]
    cdef int32_t i = <int32_t> top
    if p.has_stored_cells:
        write_stored_cells(p.rows, row, p.buffer)
    while True:
        counts_of(p.nodes, i)[p.y[row]] += weight
        p.nodes.records[i].branch += weight
        p.states[i] = CHANGED
        if p.nodes.records[i].feature < 0:
            break
        i = child_for_row(p, row, &p.nodes.records[i])
    if p.has_stored_cells:
        clear_stored_cells(p.rows, row, p.buffer)
    append_list(p, i, <uint32_t> position, <uint32_t> position)
    p.successor[position] = END
    p.nodes.records[i].empty = 0
