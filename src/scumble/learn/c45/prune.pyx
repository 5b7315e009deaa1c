"""Prune trees bottom-up by pessimistic errors; raise the largest branch where that is better.

Below a node where no training row lacks a value, `prune_known` counts rows. Above, rows are sent
down once more on the way to each node, with a share of their weight where a value is missing; only
the rows along the current way are kept.
"""

from libc.math cimport INFINITY, fabs, isnan
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from scumble._core.interrupt cimport check_stop
from scumble.learn.c45.arithmetic cimport TINY, sum_of
from scumble.learn.c45.grower cimport Grower, Sample
from scumble.learn.c45.memory cimport reserve, reserve_zeros
from scumble.learn.c45.nodes cimport Node, Nodes, counts_of
from scumble.learn.c45.prune_without_missing cimport (
    Pruner, Visit, estimate_leaf_errors, errors_when_raised, estimate_errors, merge_leaf_lists, list_leaves_or_inner_nodes, list_subtree,
    move_other_branches, start_subtree,
)
from scumble.learn.c45.rows cimport value_at

cdef enum:
    ROWS_BETWEEN_LOOKS = 5_000_000


cdef int prune(Pruner* p, Grower* g) except -1 nogil:
    """Prune a tree in place; ``g.rows`` are its rows, by node where no value is missing."""
    cdef Py_ssize_t depth = 1
    cdef Visit* visit
    if g.nodes.at[0].feature < 0:
        return 0
    open_tree(p, g)
    while depth:
        visit = &p.visits[depth - 1]
        if p.work > ROWS_BETWEEN_LOOKS:
            p.work = 0
            check_stop()
        if visit.turn == 0 and not visit.known and nothing_missing(p, visit):
            sort_by_leaf(p, visit)
        if visit.turn < p.nodes.at[visit.node].width:
            depth += visit_child(p, depth)
        elif judge(p, visit):
            visit.turn = 0  # its largest branch has taken its place: prune that again
        else:
            depth -= 1
    return 0


cdef int open_tree(Pruner* p, Grower* g) except -1 nogil:
    """Make room for what is known of each node and row, and begin with the root."""
    cdef Py_ssize_t n = g.nodes.n
    p.memory, p.nodes, p.settings = g.memory, &g.nodes, &g.settings
    p.n_values, p.y, p.weights, p.members = g.columns.n_values, g.sample.y, g.sample.weights, g.rows
    p.has_stored = not p.rows.is_dense or p.rows.has_extra
    reserve(p.memory, <void**> &p.errors, n, sizeof(double))
    reserve(p.memory, <void**> &p.waiting, n, sizeof(int32_t))
    reserve(p.memory, <void**> &p.head, n, sizeof(uint32_t))
    reserve(p.memory, <void**> &p.tail, n, sizeof(uint32_t))
    reserve(p.memory, <void**> &p.after, g.sample.n, sizeof(uint32_t))
    reserve(p.memory, <void**> &p.moved_rows, g.sample.n, sizeof(uint32_t))
    reserve(p.memory, <void**> &p.sources, n, sizeof(int32_t))
    reserve(p.memory, <void**> &p.goals, n, sizeof(int32_t))
    reserve_zeros(p.memory, <void**> &p.more, n * p.nodes.n_classes, sizeof(double))
    reserve(p.memory, <void**> &p.changed, n, sizeof(uint8_t))
    reserve_zeros(p.memory, <void**> &p.buffer, g.columns.n, sizeof(double))
    push(p, &p.visits, 0, 0, 0, g.sample.n)
    if g.has_missing:
        open_way(p, g.columns.n, &g.sample)
    else:
        p.visits[0].known = True
        start_subtree(p, 0)
    return 0


cdef Visit* push(
    Pruner* p, Visit** stack, Py_ssize_t depth, Py_ssize_t node, int64_t low, int64_t high
) except NULL nogil:
    """Put a node on a stack of visits."""
    reserve(p.memory, <void**> stack, depth + 1, sizeof(Visit))
    stack[0][depth] = Visit(node, False, 0, low, high, 0)
    return &stack[0][depth]


cdef int visit_child(Pruner* p, Py_ssize_t depth) except -1 nogil:
    """Go on to a node's next child; return 1 if there is something to visit."""
    cdef Visit* visit = &p.visits[depth - 1]
    cdef Node* node = &p.nodes.at[visit.node]
    cdef int64_t turn = visit.turn
    cdef int32_t child = node.first + <int32_t> turn
    cdef bint is_leaf = p.nodes.at[child].feature < 0
    cdef int64_t low = visit.high
    cdef int64_t high
    cdef double share
    visit.turn += 1
    if visit.known:
        if is_leaf or not p.changed[child]:
            return 0
        push(p, &p.visits, depth, child, 0, 0).known = True
        return 1
    if is_leaf:
        p.errors[child] = estimate_leaf_errors(p, child)
        return 0
    share = p.nodes.at[child].branch / sum_of(counts_of(p.nodes, visit.node), p.nodes.n_classes)
    high = send(p, node, turn, share, visit.low, visit.high)
    push(p, &p.visits, depth, child, low, high)
    return 1


cdef int judge(Pruner* p, const Visit* visit) except -1 nogil:
    """Settle a node whose children are settled; 1 if its largest branch is to be pruned there."""
    cdef Node* node = &p.nodes.at[visit.node]
    cdef double as_tree
    cdef Py_ssize_t largest = largest_branch(p, node, &as_tree)
    cdef double as_leaf = estimate_leaf_errors(p, visit.node)
    cdef double as_branch = INFINITY
    p.changed[visit.node] = 0
    p.errors[visit.node] = as_tree
    if p.settings.subtree_raising and visit.known:
        as_branch = errors_when_raised(p, node, largest, enough_errors(as_leaf, as_tree))
    elif p.settings.subtree_raising:
        as_branch = send_all(p, visit, largest, enough_errors(as_leaf, as_tree), False)
    if as_leaf - (as_tree + 0.1) < 1e-6 and as_leaf - (as_branch + 0.1) < 1e-6:
        if visit.known:
            merge_leaf_lists(p, visit.node)
        node.feature = -1
        p.errors[visit.node] = as_leaf
        return 0
    if as_branch - (as_tree + 0.1) < 1e-6:
        raise_branch(p, visit, largest)
        return node.feature >= 0
    return 0


cdef Py_ssize_t largest_branch(
    const Pruner* p, const Node* node, double* as_tree
) noexcept nogil:
    """Find the branch with the most weight, and sum the errors of all of them."""
    cdef Py_ssize_t largest = -1
    cdef double most = 0.0
    cdef double branch
    cdef int32_t child
    as_tree[0] = 0.0
    for child in range(node.first, node.first + node.width):
        branch = p.nodes.at[child].branch
        as_tree[0] += p.errors[child]
        if most - branch < TINY or branch >= most:
            most = branch
            largest = child
    return largest


cdef double enough_errors(double as_leaf, double as_tree) noexcept nogil:
    """Tell from how many errors on raising a branch is out of question."""
    cdef double enough = as_tree + 0.1
    if as_leaf - enough < 1e-6:
        enough = min(enough, as_leaf - 0.1)
    return enough + 1e-6


cdef int raise_branch(Pruner* p, const Visit* visit, Py_ssize_t largest) except -1 nogil:
    """Put the largest branch in a node's place; the rows of the others move into it."""
    cdef Node* node = &p.nodes.at[visit.node]
    cdef Node* branch = &p.nodes.at[largest]
    if visit.known:
        move_other_branches(p, visit.node, largest)
    node.feature, node.cut = branch.feature, branch.cut
    node.first, node.width = branch.first, branch.width
    if not visit.known:
        p.errors[visit.node] = send_all(p, visit, visit.node, INFINITY, True)
    return 0


# Where values are missing.

cdef int open_way(Pruner* p, Py_ssize_t n_columns, const Sample* sample) except -1 nogil:
    """Begin the way with all rows."""
    cdef Py_ssize_t n = sample.n
    cdef Py_ssize_t i
    reserve(p.memory, <void**> &p.cells, n, sizeof(double))
    reserve(p.memory, <void**> &p.tally, p.nodes.n_classes, sizeof(double))
    reserve(p.memory, <void**> &p.weight_of, sample.n_table, sizeof(double))
    reserve_zeros(p.memory, <void**> &p.row_has_missing, sample.n_table, sizeof(uint8_t))
    reserve_way(p, 4 * n + 16)
    memcpy(p.path_rows, p.members, n * sizeof(uint32_t))
    for i in range(n):
        p.path_weights[i] = 1.0 if p.weights == NULL else p.weights[p.members[i]]
    p.weights = p.weight_of
    find_gaps(p, n_columns, n)
    return 0


cdef int reserve_way(Pruner* p, int64_t n) except -1 nogil:
    reserve(p.memory, <void**> &p.path_rows, n, sizeof(uint32_t))
    reserve(p.memory, <void**> &p.path_weights, n, sizeof(double))
    return 0


cdef void find_gaps(Pruner* p, Py_ssize_t n_columns, int64_t n) noexcept nogil:
    """Note which rows lack a value of a column the tree asks for."""
    cdef Py_ssize_t n_used = list_leaves_or_inner_nodes(p, 0, p.goals, False)
    cdef int64_t i, k
    # A column may be used many times; it is looked up once.
    for k in range(n_used):
        p.buffer[p.nodes.at[p.goals[k]].feature] = 1.0
    for k in range(n_columns):
        if p.buffer[k] == 0.0:
            continue
        p.buffer[k] = 0.0
        look_up(p, k, 0, n)
        for i in range(n):
            p.row_has_missing[p.path_rows[i]] |= isnan(p.cells[i])


cdef bint nothing_missing(Pruner* p, const Visit* visit) noexcept nogil:
    """Tell whether no row of a node can be divided below it."""
    cdef Py_ssize_t n_used = 0
    cdef Py_ssize_t k
    cdef int64_t i
    for i in range(visit.low, visit.high):
        if p.path_weights[i] < TINY:
            return False
        if not p.row_has_missing[p.path_rows[i]]:
            continue
        if n_used == 0:
            n_used = list_leaves_or_inner_nodes(p, visit.node, p.goals, False)
        p.work += n_used
        for k in range(n_used):
            if isnan(value_at(p.rows, p.path_rows[i], p.nodes.at[p.goals[k]].feature)):
                return False
    return visit.high > visit.low


cdef void sort_by_leaf(Pruner* p, Visit* visit) noexcept nogil:
    """Give every node of a subtree below which nothing is missing a stretch of ``members``."""
    cdef int32_t* reached = <int32_t*> p.cells  # an integer a row fits
    cdef Nodes* nodes = p.nodes
    cdef Py_ssize_t n_below = list_subtree(p, visit.node, p.goals)
    cdef Py_ssize_t k
    cdef int32_t at, child
    cdef int64_t i, place
    cdef Node* node
    for k in range(n_below):
        nodes.at[p.goals[k]].high = 0  # nodes count their rows in it
    for i in range(visit.low, visit.high):
        at = <int32_t> visit.node
        nodes.at[at].high += 1
        while nodes.at[at].feature >= 0:
            node = &nodes.at[at]
            at = node.first + <int32_t> branch_of(
                value_at(p.rows, p.path_rows[i], node.feature), p.n_values[node.feature], node.cut
            )
            nodes.at[at].high += 1
        reached[i - visit.low] = at
    nodes.at[visit.node].low = 0
    for k in range(n_below):
        node = &nodes.at[p.goals[k]]
        place = node.low
        if node.feature < 0:
            node.high = place  # moves up again as rows arrive
            continue
        node.high += place
        for child in range(node.first, node.first + node.width):
            nodes.at[child].low = place
            place += nodes.at[child].high
    for i in range(visit.low, visit.high):
        node = &nodes.at[reached[i - visit.low]]
        p.members[node.high] = p.path_rows[i]
        p.weight_of[p.path_rows[i]] = p.path_weights[i]
        node.high += 1
    visit.known = True
    start_subtree(p, visit.node)


cdef inline int64_t branch_of(double value, int64_t n_values, double cut) noexcept nogil:
    """Tell which branch a value takes; -1 where it is missing."""
    if isnan(value):
        return -1
    if n_values > 0:
        return <int64_t> value
    return 0 if value <= cut else 1


cdef void look_up(Pruner* p, int64_t column, int64_t low, int64_t high) noexcept nogil:
    """Write one column of the rows on the way into ``cells``."""
    cdef Py_ssize_t n_features = p.rows.n_features
    cdef int64_t i
    if p.rows.is_dense and column < n_features:
        for i in range(low, high):
            p.cells[i - low] = p.rows.dense[p.path_rows[i] * n_features + column]
    else:
        for i in range(low, high):
            p.cells[i - low] = value_at(p.rows, p.path_rows[i], column)
    p.work += high - low


cdef int64_t send(
    Pruner* p, const Node* node, int64_t turn, double share, int64_t low, int64_t high
) except -1 nogil:
    """Copy the rows that reach one branch to the end of the way, and return their end."""
    cdef int64_t n_values = p.n_values[node.feature]
    cdef int64_t to = high
    cdef int64_t i, side
    reserve_way(p, 2 * high - low)
    look_up(p, node.feature, low, high)
    for i in range(low, high):
        side = branch_of(p.cells[i - low], n_values, node.cut)
        if side != turn and (side >= 0 or share <= TINY):
            continue
        p.path_rows[to] = p.path_rows[i]
        p.path_weights[to] = p.path_weights[i] if side >= 0 else p.path_weights[i] * share
        to += 1
    return to


cdef double send_all(
    Pruner* p, const Visit* visit, Py_ssize_t top, double enough, bint store
) except? -1 nogil:
    """Send a node's rows through the subtree at ``top`` and sum the estimated errors of its leaves.

    The shares of branches for missing values are those of these rows. With ``store`` the
    distributions they leave are stored. A sum above ``enough`` need not be complete: leaves only
    add to it.
    """
    cdef Py_ssize_t depth = 1
    cdef double total = 0.0
    cdef Visit* now
    cdef Visit* below
    cdef Node* node
    cdef int64_t end
    push(p, &p.passed, 0, top, visit.low, visit.high).turn = -1
    while depth:
        now = &p.passed[depth - 1]
        node = &p.nodes.at[now.node]
        if now.turn == node.width:
            depth -= 1
        elif now.turn >= 0:
            end = send(p, node, now.turn, p.shares[now.shares + now.turn], now.low, now.high)
            now.turn += 1
            below = push(p, &p.passed, depth, node.first + now.turn - 1, now.high, end)
            below.turn, below.shares = -1, p.passed[depth - 1].shares + node.width
            depth += 1
        else:
            count_rows(p, now, store)
            if node.feature >= 0:
                find_shares(p, now, store)
                now.turn = 0
                continue
            total += estimate_errors(p, p.tally, p.more)  # nothing is on trial here
            if total > enough:
                break
            depth -= 1
    return total


cdef void count_rows(Pruner* p, const Visit* now, bint store) noexcept nogil:
    """Sum the rows of a node by class."""
    cdef Py_ssize_t n_classes = p.nodes.n_classes
    cdef int64_t i
    memset(p.tally, 0, n_classes * sizeof(double))
    for i in range(now.low, now.high):
        p.tally[p.y[p.path_rows[i]]] += p.path_weights[i]
    if not store:
        return
    memcpy(counts_of(p.nodes, now.node), p.tally, n_classes * sizeof(double))
    if p.nodes.at[now.node].feature < 0 and fabs(sum_of(p.tally, n_classes)) >= TINY:
        p.nodes.at[now.node].empty = 0


cdef int find_shares(Pruner* p, const Visit* now, bint store) except -1 nogil:
    """Find which part of a node's rows goes down each branch."""
    cdef Node* node = &p.nodes.at[now.node]
    cdef int64_t n_values = p.n_values[node.feature]
    cdef double known = 0.0
    cdef double* shares
    cdef int64_t i, side
    reserve(p.memory, <void**> &p.shares, now.shares + node.width, sizeof(double))
    shares = p.shares + now.shares
    memset(shares, 0, node.width * sizeof(double))
    look_up(p, node.feature, now.low, now.high)
    for i in range(now.low, now.high):
        side = branch_of(p.cells[i - now.low], n_values, node.cut)
        if side >= 0:
            shares[side] += p.path_weights[i]
            known += p.path_weights[i]
    for i in range(node.width):
        shares[i] = shares[i] / known if fabs(known) >= TINY else 1.0 / node.width
        if store:
            p.nodes.at[node.first + i].branch = shares[i] * sum_of(p.tally, p.nodes.n_classes)
    return 0
