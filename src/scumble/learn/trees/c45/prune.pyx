"""Prune trees bottom-up by pessimistic errors; raise the largest branch where that is better.

A subtree in which no training row has a missing value is pruned in `prune_without_missing`, by
counting rows. Above, rows are sent down once more on the path to each node, with a share of their
weight where a value is missing; only the rows of the nodes on the current path are stored.
"""

from libc.math cimport INFINITY, fabs, isnan
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from scumble._core.interrupt cimport check_stop
from scumble.learn.trees.c45.arithmetic cimport TOLERANCE, sum_numbers
from scumble.learn.trees.c45.grower cimport Grower, Sample
from scumble.learn.trees.c45.memory cimport reserve, reserve_zeros
from scumble.learn.trees.c45.nodes cimport Node, Nodes, counts_of
from scumble.learn.trees.c45.prune_without_missing cimport (
    UNCHANGED, Pruner, Visit, errors_when_raised, estimate_errors, estimate_leaf_errors,
    list_inner_nodes, list_subtree, merge_leaf_lists, move_other_branches, start_subtree,
)
from scumble.learn.trees.c45.rows cimport cell_value

cdef enum:
    ROWS_BETWEEN_CHECKS = 5_000_000  # rows sent down between two checks for Ctrl-C


cdef int prune(Pruner* p, Grower* g) except -1 nogil:
    """Prune a tree in place; ``g.rows`` are its rows, sorted by leaf if no value is missing."""
    cdef Py_ssize_t depth = 1
    cdef Visit* visit
    if g.nodes.records[0].feature < 0:
        return 0
    start_tree(p, g)
    while depth:
        visit = &p.visits[depth - 1]
        if p.work > ROWS_BETWEEN_CHECKS:
            p.work = 0
            check_stop()
        if visit.next_branch == 0 and not visit.is_sorted and has_no_missing_below(p, visit):
            sort_by_leaf(p, visit)
        if visit.next_branch < p.nodes.records[visit.node].width:
            depth += visit_child(p, depth)
        elif prune_node(p, visit):
            visit.next_branch = 0  # its largest branch has replaced it: prune that again
        else:
            depth -= 1
    return 0


cdef int start_tree(Pruner* p, Grower* g) except -1 nogil:
    """Set the state of pruning for a new tree, and put the root on the stack of visits."""
    cdef Py_ssize_t n = g.nodes.n
    p.memory = g.memory
    p.nodes = &g.nodes
    p.settings = &g.settings
    p.n_values = g.columns.n_values
    p.y = g.sample.y
    p.weights = g.sample.weights
    p.members = g.rows
    p.has_stored_cells = not p.rows.is_dense or p.rows.has_extra
    reserve(p.memory, <void**> &p.errors, n, sizeof(double))
    reserve(p.memory, <void**> &p.stack, n, sizeof(int32_t))
    reserve(p.memory, <void**> &p.head, n, sizeof(uint32_t))
    reserve(p.memory, <void**> &p.tail, n, sizeof(uint32_t))
    reserve(p.memory, <void**> &p.successor, g.sample.n, sizeof(uint32_t))
    reserve(p.memory, <void**> &p.moved_rows, g.sample.n, sizeof(uint32_t))
    reserve(p.memory, <void**> &p.sources, n, sizeof(int32_t))
    reserve(p.memory, <void**> &p.targets, n, sizeof(int32_t))
    reserve_zeros(p.memory, <void**> &p.trial_counts, n * p.nodes.n_classes, sizeof(double))
    reserve(p.memory, <void**> &p.states, n, sizeof(uint8_t))
    reserve_zeros(p.memory, <void**> &p.buffer, g.columns.n, sizeof(double))
    push_visit(p, &p.visits, 0, 0, 0, g.sample.n)
    if g.has_missing:
        start_path(p, g.columns.n, &g.sample)
    else:
        p.visits[0].is_sorted = True
        start_subtree(p, 0)
    return 0


cdef Visit* push_visit(
    Pruner* p, Visit** stack, Py_ssize_t depth, Py_ssize_t node, int64_t low, int64_t high
) except NULL nogil:
    """Put a node on a stack of visits at ``depth``, and return its visit.

    Its rows are those of the path from ``low`` to ``high`` - 1.
    """
    reserve(p.memory, <void**> stack, depth + 1, sizeof(Visit))
    stack[0][depth] = Visit(node, False, 0, low, high, 0)
    return &stack[0][depth]


cdef int visit_child(Pruner* p, Py_ssize_t depth) except -1 nogil:
    """Put a node's next child on the stack; return 1, or 0 if it needs no visit."""
    cdef Visit* visit = &p.visits[depth - 1]
    cdef Node* node = &p.nodes.records[visit.node]
    cdef int64_t branch = visit.next_branch
    cdef int32_t child = node.first + <int32_t> branch
    cdef bint is_leaf = p.nodes.records[child].feature < 0
    cdef int64_t low = visit.high
    cdef int64_t high
    cdef double share
    visit.next_branch += 1
    if visit.is_sorted:
        if is_leaf or p.states[child] == UNCHANGED:
            return 0
        push_visit(p, &p.visits, depth, child, 0, 0).is_sorted = True
        return 1
    if is_leaf:
        p.errors[child] = estimate_leaf_errors(p, child)
        return 0
    share = p.nodes.records[child].branch / sum_numbers(
        counts_of(p.nodes, visit.node), p.nodes.n_classes
    )
    high = send_rows(p, node, branch, share, visit.low, visit.high)
    push_visit(p, &p.visits, depth, child, low, high)
    return 1


cdef int prune_node(Pruner* p, const Visit* visit) except -1 nogil:
    """Prune a node whose children are pruned already: keep it, make it a leaf, or raise a branch.

    Returns 1 if its largest branch has replaced it and has to be pruned again.
    """
    cdef Node* node = &p.nodes.records[visit.node]
    cdef double as_tree
    cdef Py_ssize_t largest = largest_child(p, node, &as_tree)
    cdef double as_leaf = estimate_leaf_errors(p, visit.node)
    cdef double as_branch = INFINITY
    p.states[visit.node] = UNCHANGED
    p.errors[visit.node] = as_tree
    if p.settings.subtree_raising and visit.is_sorted:
        as_branch = errors_when_raised(p, node, largest, max_raising_errors(as_leaf, as_tree))
    elif p.settings.subtree_raising:
        as_branch = send_down(p, visit, largest, max_raising_errors(as_leaf, as_tree), False)
    if as_leaf - (as_tree + 0.1) < 1e-6 and as_leaf - (as_branch + 0.1) < 1e-6:
        if visit.is_sorted:
            merge_leaf_lists(p, visit.node)
        node.feature = -1
        p.errors[visit.node] = as_leaf
        return 0
    if as_branch - (as_tree + 0.1) < 1e-6:
        raise_branch(p, visit, largest)
        return node.feature >= 0
    return 0


cdef Py_ssize_t largest_child(
    const Pruner* p, const Node* node, double* errors
) noexcept nogil:
    """Return the child of largest weight; write the sum of the children's errors to ``errors``."""
    cdef Py_ssize_t largest = -1
    cdef double largest_weight = 0.0
    cdef double weight
    cdef int32_t child
    errors[0] = 0.0
    for child in range(node.first, node.first + node.width):
        weight = p.nodes.records[child].branch
        errors[0] += p.errors[child]
        if largest_weight - weight < TOLERANCE or weight >= largest_weight:
            largest_weight = weight
            largest = child
    return largest


cdef double max_raising_errors(double as_leaf, double as_tree) noexcept nogil:
    """Return an upper bound of the errors of a branch that is raised.

    A branch is raised only if this is better than the node as a leaf and as a tree.
    """
    cdef double max_errors = as_tree + 0.1
    if as_leaf - max_errors < 1e-6:
        max_errors = min(max_errors, as_leaf - 0.1)
    return max_errors + 1e-6


cdef int raise_branch(Pruner* p, const Visit* visit, Py_ssize_t largest) except -1 nogil:
    """Replace a node by its largest branch, which receives the rows of the other branches."""
    cdef Node* node = &p.nodes.records[visit.node]
    cdef Node* branch = &p.nodes.records[largest]
    if visit.is_sorted:
        move_other_branches(p, visit.node, largest)
    node.feature, node.cut = branch.feature, branch.cut
    node.first, node.width = branch.first, branch.width
    if not visit.is_sorted:
        p.errors[visit.node] = send_down(p, visit, visit.node, INFINITY, True)
    return 0


# Rows with missing values.

cdef int start_path(Pruner* p, Py_ssize_t n_columns, const Sample* sample) except -1 nogil:
    """Make room for the path, and put all training rows on it, at the root."""
    cdef Py_ssize_t n = sample.n
    cdef Py_ssize_t i
    reserve(p.memory, <void**> &p.cells, n, sizeof(double))
    reserve(p.memory, <void**> &p.class_weights, p.nodes.n_classes, sizeof(double))
    reserve(p.memory, <void**> &p.weight_of, sample.n_table, sizeof(double))
    reserve_zeros(p.memory, <void**> &p.row_has_missing, sample.n_table, sizeof(uint8_t))
    reserve_path(p, 4 * n + 16)
    memcpy(p.path_rows, p.members, n * sizeof(uint32_t))
    for i in range(n):
        p.path_weights[i] = 1.0 if p.weights == NULL else p.weights[p.members[i]]
    p.weights = p.weight_of
    mark_rows_with_missing(p, n_columns, n)
    return 0


cdef int reserve_path(Pruner* p, int64_t n) except -1 nogil:
    """Make room for ``n`` rows on the path."""
    reserve(p.memory, <void**> &p.path_rows, n, sizeof(uint32_t))
    reserve(p.memory, <void**> &p.path_weights, n, sizeof(double))
    return 0


cdef void mark_rows_with_missing(Pruner* p, Py_ssize_t n_columns, int64_t n) noexcept nogil:
    """Mark the rows in which a column that the tree uses has no value."""
    cdef Py_ssize_t n_inner = list_inner_nodes(p, 0, p.targets)
    cdef int64_t i, k
    # A column may be used by many nodes; its cells are loaded once.
    for k in range(n_inner):
        p.buffer[p.nodes.records[p.targets[k]].feature] = 1.0
    for k in range(n_columns):
        if p.buffer[k] == 0.0:
            continue
        p.buffer[k] = 0.0
        load_column(p, k, 0, n)
        for i in range(n):
            p.row_has_missing[p.path_rows[i]] |= isnan(p.cells[i])


cdef bint has_no_missing_below(Pruner* p, const Visit* visit) noexcept nogil:
    """Return whether no value that the subtree of a node needs is missing in the node's rows."""
    cdef Py_ssize_t n_inner = 0
    cdef Py_ssize_t k
    cdef int64_t i
    for i in range(visit.low, visit.high):
        if p.path_weights[i] < TOLERANCE:
            return False
        if not p.row_has_missing[p.path_rows[i]]:
            continue
        if n_inner == 0:
            n_inner = list_inner_nodes(p, visit.node, p.targets)
        p.work += n_inner
        for k in range(n_inner):
            if isnan(
                cell_value(p.rows, p.path_rows[i], p.nodes.records[p.targets[k]].feature)
            ):
                return False
    return visit.high > visit.low


cdef void sort_by_leaf(Pruner* p, Visit* visit) noexcept nogil:
    """Sort the rows of a subtree without missing values by leaf, and store each node's range."""
    cdef int32_t* leaves = <int32_t*> p.cells  # of each row; a number is large enough for it
    cdef Nodes* nodes = p.nodes
    cdef Py_ssize_t n_below = list_subtree(p, visit.node, p.targets)
    cdef Py_ssize_t k
    cdef int32_t reached, child
    cdef int64_t i, position
    cdef Node* node
    for k in range(n_below):
        nodes.records[p.targets[k]].high = 0  # at first, the number of rows of a node
    for i in range(visit.low, visit.high):
        reached = <int32_t> visit.node
        nodes.records[reached].high += 1
        while nodes.records[reached].feature >= 0:
            node = &nodes.records[reached]
            reached = node.first + <int32_t> branch_of(
                cell_value(p.rows, p.path_rows[i], node.feature), p.n_values[node.feature],
                node.cut,
            )
            nodes.records[reached].high += 1
        leaves[i - visit.low] = reached
    nodes.records[visit.node].low = 0
    for k in range(n_below):
        node = &nodes.records[p.targets[k]]
        position = node.low
        if node.feature < 0:
            node.high = position  # is incremented with each row
            continue
        node.high += position
        for child in range(node.first, node.first + node.width):
            nodes.records[child].low = position
            position += nodes.records[child].high
    for i in range(visit.low, visit.high):
        node = &nodes.records[leaves[i - visit.low]]
        p.members[node.high] = p.path_rows[i]
        p.weight_of[p.path_rows[i]] = p.path_weights[i]
        node.high += 1
    visit.is_sorted = True
    start_subtree(p, visit.node)


cdef inline int64_t branch_of(double value, int64_t n_values, double cut) noexcept nogil:
    """Return the branch for a value; -1 if it is missing."""
    if isnan(value):
        return -1
    if n_values > 0:
        return <int64_t> value
    return 0 if value <= cut else 1


cdef void load_column(Pruner* p, int64_t column, int64_t low, int64_t high) noexcept nogil:
    """Write one column of the path's rows ``low`` to ``high`` - 1 to ``cells``."""
    cdef Py_ssize_t n_features = p.rows.n_features
    cdef int64_t i
    if p.rows.is_dense and column < n_features:
        for i in range(low, high):
            p.cells[i - low] = p.rows.dense[p.path_rows[i] * n_features + column]
    else:
        for i in range(low, high):
            p.cells[i - low] = cell_value(p.rows, p.path_rows[i], column)
    p.work += high - low


cdef int64_t send_rows(
    Pruner* p, const Node* node, int64_t branch, double share, int64_t low, int64_t high
) except -1 nogil:
    """Copy the rows that go down a branch of a node to the end of the path; return the new end.

    The rows of the node are those of the path from ``low`` to ``high`` - 1. A row with a missing
    value goes down the branch with ``share`` times its weight.
    """
    cdef int64_t n_values = p.n_values[node.feature]
    cdef int64_t stop = high
    cdef int64_t i, row_branch
    reserve_path(p, 2 * high - low)
    load_column(p, node.feature, low, high)
    for i in range(low, high):
        row_branch = branch_of(p.cells[i - low], n_values, node.cut)
        if row_branch != branch and (row_branch >= 0 or share <= TOLERANCE):
            continue
        p.path_rows[stop] = p.path_rows[i]
        p.path_weights[stop] = p.path_weights[i]
        if row_branch < 0:
            p.path_weights[stop] *= share
        stop += 1
    return stop


cdef double send_down(
    Pruner* p, const Visit* visit, Py_ssize_t top, double max_errors, bint store
) except? -1 nogil:
    """Send a node's rows through the subtree at ``top``; return the estimated errors of its leaves.

    The shares of branches for missing values are computed from these rows. With ``store`` the
    class counts of the nodes are replaced. The sum stops where it exceeds ``max_errors``, because
    leaves can only increase it.
    """
    cdef Py_ssize_t depth = 1
    cdef double total = 0.0
    cdef Visit* current
    cdef Visit* child_visit
    cdef Node* node
    cdef int64_t stop
    push_visit(p, &p.trial_visits, 0, top, visit.low, visit.high).next_branch = -1
    while depth:
        current = &p.trial_visits[depth - 1]
        node = &p.nodes.records[current.node]
        if current.next_branch == node.width:
            depth -= 1
        elif current.next_branch >= 0:
            stop = send_rows(
                p, node, current.next_branch, p.shares[current.shares + current.next_branch],
                current.low, current.high,
            )
            current.next_branch += 1
            child_visit = push_visit(
                p, &p.trial_visits, depth, node.first + current.next_branch - 1, current.high, stop
            )
            child_visit.next_branch = -1
            child_visit.shares = p.trial_visits[depth - 1].shares + node.width
            depth += 1
        else:
            count_rows(p, current, store)
            if node.feature >= 0:
                compute_shares(p, current, store)
                current.next_branch = 0
                continue
            total += estimate_errors(p, p.class_weights, p.trial_counts)  # the latter are zero
            if total > max_errors:
                break
            depth -= 1
    return total


cdef void count_rows(Pruner* p, const Visit* visit, bint store) noexcept nogil:
    """Write the weights of a node's rows by class to ``class_weights``.

    With ``store``, they become the class counts of the node as well.
    """
    cdef Py_ssize_t n_classes = p.nodes.n_classes
    cdef int64_t i
    memset(p.class_weights, 0, n_classes * sizeof(double))
    for i in range(visit.low, visit.high):
        p.class_weights[p.y[p.path_rows[i]]] += p.path_weights[i]
    if not store:
        return
    memcpy(counts_of(p.nodes, visit.node), p.class_weights, n_classes * sizeof(double))
    if (
        p.nodes.records[visit.node].feature < 0
        and fabs(sum_numbers(p.class_weights, n_classes)) >= TOLERANCE
    ):
        p.nodes.records[visit.node].empty = 0


cdef int compute_shares(Pruner* p, const Visit* visit, bint store) except -1 nogil:
    """Set ``shares``: the weight of each branch divided by that of all rows with a known value.

    They are equal if no value is known. With ``store``, the branches get these weights.
    """
    cdef Node* node = &p.nodes.records[visit.node]
    cdef int64_t n_values = p.n_values[node.feature]
    cdef double known_weight = 0.0
    cdef double* shares
    cdef int64_t i, branch
    reserve(p.memory, <void**> &p.shares, visit.shares + node.width, sizeof(double))
    shares = p.shares + visit.shares
    memset(shares, 0, node.width * sizeof(double))
    load_column(p, node.feature, visit.low, visit.high)
    for i in range(visit.low, visit.high):
        branch = branch_of(p.cells[i - visit.low], n_values, node.cut)
        if branch >= 0:
            shares[branch] += p.path_weights[i]
            known_weight += p.path_weights[i]
    for i in range(node.width):
        if fabs(known_weight) >= TOLERANCE:
            shares[i] = shares[i] / known_weight
        else:
            shares[i] = 1.0 / node.width
        if store:
            p.nodes.records[node.first + i].branch = shares[i] * sum_numbers(
                p.class_weights, p.nodes.n_classes
            )
    return 0
