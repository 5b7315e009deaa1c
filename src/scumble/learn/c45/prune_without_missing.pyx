"""The rows below a node of which none lacks a value, while its subtree is pruned.

The rows of a node are a stretch of the training rows; what raising has brought to a leaf since is
in a list of its own. To judge the raising of the largest branch only the rows of the other
branches are sent through it; the rest lies there already.
"""

from scumble.learn.c45.rows cimport scatter_stored_cells

cdef enum:
    END = 0xFFFFFFFFU  # of a list of rows


cdef void start_subtree(Pruner* p, Py_ssize_t top) noexcept nogil:
    """Forget what is known of a subtree, and estimate_errors the errors of its leaves."""
    cdef Py_ssize_t k
    cdef int32_t i
    for k in range(list_subtree(p, top, p.goals)):
        i = p.goals[k]
        p.head[i] = END
        p.changed[i] = 1
        if p.nodes.at[i].feature < 0:
            p.errors[i] = estimate_leaf_errors(p, i)


cdef double errors_when_raised(
    Pruner* p, const Node* node, Py_ssize_t largest, double enough
) noexcept nogil:
    """Estimate the errors if the largest branch received the rows of the others as well.

    More rows never make a leaf's estimate_errors smaller, so a sum above ``enough`` need not be complete.
    """
    cdef double as_branch = p.errors[largest]
    cdef int64_t n_sent = 0
    cdef int64_t next_sum = 0
    cdef int64_t n_rows, at, n, i
    cdef Py_ssize_t g, c
    cdef int32_t child
    p.n_goals = 0
    for child in range(node.first, node.first + node.width):
        if child == largest or p.nodes.at[child].branch == 0.0:
            continue
        n_rows = find_rows(p, child)
        at = 0
        while at < n_rows and as_branch <= enough:
            n = min(min(max(4, n_sent >> 2), BATCH), n_rows - at)
            for i in range(n):
                p.batch[i] = p.members[place_of(p, child, at + i)]
            send_batch(p, n, largest)
            at += n
            n_sent += n
            if n_sent >= next_sum:
                next_sum = n_sent + (n_sent >> 2)
                as_branch = errors_with_more(p, largest)
    as_branch = errors_with_more(p, largest)
    p.work += n_sent
    for g in range(p.n_goals):
        p.changed[p.goals[g]] = 0
        for c in range(p.nodes.n_classes):
            p.more[p.goals[g] * p.nodes.n_classes + c] = 0.0
    return as_branch


cdef double errors_with_more(const Pruner* p, Py_ssize_t top) noexcept nogil:
    """Estimate the errors of a subtree with the additional rows its leaves have received."""
    cdef double total = p.errors[top]
    cdef Py_ssize_t g
    for g in range(p.n_goals):
        total += estimate_leaf_errors(p, p.goals[g]) - p.errors[p.goals[g]]
    return total


cdef int64_t find_rows(Pruner* p, Py_ssize_t top) noexcept nogil:
    """List the places of rows brought to a subtree from elsewhere; the rest is its top's stretch.

    Returns how many rows there are in all.
    """
    cdef Py_ssize_t n_leaves = list_leaves_or_inner_nodes(p, top, p.sources, True)
    cdef int64_t low = p.nodes.at[top].low
    cdef int64_t high = p.nodes.at[top].high
    cdef uint32_t place
    cdef Py_ssize_t s
    p.n_moved_rows = 0
    for s in range(n_leaves):
        place = p.head[p.sources[s]]
        while place != END:
            if place < low or place >= high:
                p.moved_rows[p.n_moved_rows] = place
                p.n_moved_rows += 1
            place = p.after[place]
    return p.n_moved_rows + high - low


cdef inline int64_t place_of(const Pruner* p, Py_ssize_t top, int64_t k) noexcept nogil:
    """Return the place of the k-th row of a subtree: moved_rows first."""
    return p.moved_rows[k] if k < p.n_moved_rows else p.nodes.at[top].low + k - p.n_moved_rows


cdef inline int32_t next_node(const Pruner* p, uint32_t row, const Node* node) noexcept nogil:
    """Follow a row one step down."""
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
    """Send rows through a subtree and add them to its leaves, which join the list of goals."""
    cdef Py_ssize_t n_classes = p.nodes.n_classes
    cdef int32_t goal
    cdef uint32_t row
    cdef int64_t i
    if p.has_stored:
        for i in range(n):
            p.reached[i] = find_leaf(p, p.batch[i], top)
    else:
        send_side_by_side(p, n, top)
    for i in range(n):
        goal, row = p.reached[i], p.batch[i]
        if p.changed[goal] != 2:
            p.changed[goal] = 2
            p.goals[p.n_goals] = goal
            p.n_goals += 1
        p.more[goal * n_classes + p.y[row]] += 1.0 if p.weights == NULL else p.weights[row]


cdef int32_t find_leaf(Pruner* p, uint32_t row, Py_ssize_t top) noexcept nogil:
    """Find the leaf of a row whose cells are stored, not dense."""
    cdef int32_t i = <int32_t> top
    scatter_stored_cells(p.rows, row, p.buffer, True)
    while p.nodes.at[i].feature >= 0:
        i = next_node(p, row, &p.nodes.at[i])
    scatter_stored_cells(p.rows, row, p.buffer, False)
    return i


cdef void send_side_by_side(Pruner* p, int64_t n, Py_ssize_t top) noexcept nogil:
    """Find the leaves of dense rows, so that the machine can wait for many cells at once."""
    cdef bint moving = True
    cdef Node* node
    cdef int64_t i
    for i in range(n):
        p.reached[i] = <int32_t> top
    while moving:
        moving = False
        for i in range(n):
            node = &p.nodes.at[p.reached[i]]
            if node.feature >= 0:
                moving = True
                p.reached[i] = next_node(p, p.batch[i], node)


cdef void merge_leaf_lists(Pruner* p, Py_ssize_t node) noexcept nogil:
    """Let a node that becomes a leaf take over the lists of all leaves below."""
    cdef Py_ssize_t n_sources = list_leaves_or_inner_nodes(p, node, p.sources, True)
    cdef Py_ssize_t s
    cdef int32_t leaf
    p.head[node] = END
    for s in range(n_sources):
        leaf = p.sources[s]
        if p.head[leaf] != END:
            append(p, node, p.head[leaf], p.tail[leaf])


cdef inline void append(
    Pruner* p, Py_ssize_t node, uint32_t first, uint32_t last
) noexcept nogil:
    """Put a list at the end of a node's list."""
    if p.head[node] == END:
        p.head[node] = first
    else:
        p.after[p.tail[node]] = first
    p.tail[node] = last


cdef void move_other_branches(Pruner* p, Py_ssize_t i, Py_ssize_t largest) noexcept nogil:
    """Move the rows of the other branches into the largest, which will take the node's place."""
    cdef Node* node = &p.nodes.at[i]
    cdef int64_t n_rows, k
    cdef Py_ssize_t n_goals, g
    cdef int32_t child
    for child in range(node.first, node.first + node.width):
        if child == largest or p.nodes.at[child].branch == 0.0:
            continue
        n_rows = find_rows(p, child)
        p.work += n_rows
        for k in range(n_rows):
            move_row(p, place_of(p, child, k), largest)
    n_goals = list_leaves_or_inner_nodes(p, largest, p.goals, True)
    for g in range(n_goals):
        if p.changed[p.goals[g]]:
            p.errors[p.goals[g]] = estimate_leaf_errors(p, p.goals[g])
            p.changed[p.goals[g]] = 0
    p.head[i], p.tail[i] = p.head[largest], p.tail[largest]
    p.errors[i] = p.errors[largest]


cdef void move_row(Pruner* p, int64_t place, Py_ssize_t top) noexcept nogil:
    """Add a row to every node on its way through a subtree, and to the list of its leaf."""
    cdef uint32_t row = p.members[place]
    cdef double weight = 1.0 if p.weights == NULL else p.weights[row]
    cdef int32_t i = <int32_t> top
    if p.has_stored:
        scatter_stored_cells(p.rows, row, p.buffer, True)
    while True:
        counts_of(p.nodes, i)[p.y[row]] += weight
        p.nodes.at[i].branch += weight
        p.changed[i] = 1
        if p.nodes.at[i].feature < 0:
            break
        i = next_node(p, row, &p.nodes.at[i])
    if p.has_stored:
        scatter_stored_cells(p.rows, row, p.buffer, False)
    append(p, i, <uint32_t> place, <uint32_t> place)
    p.after[place] = END
    p.nodes.at[i].empty = 0
