"""The records that the steps of growing a tree share, and the arrays on which they work.

In all modules ``g`` is the `Grower`, ``k`` the number of a column among those of the current node,
and ``b`` the number of a branch among those of the current split. An *entry* is a row with the code
of its value in a column, see layout.pxd; an *item* is a nominal column with one of its values. The
*gain* of a split is the information gain, weighted by rows; a *cut* splits a numeric column.
"""

from libc.math cimport ceil, log
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from scumble.learn.trees.c45.arithmetic cimport LN2, TOLERANCE
from scumble.learn.trees.c45.layout cimport SortedColumns, Items, make_entry
from scumble.learn.trees.c45.memory cimport Memory, lower_bound
from scumble.learn.trees.c45.nodes cimport Nodes

cdef enum Strategy:
    TWO_CLASSES  # rows are counted, and may be repeated; no missing values
    MANY_CLASSES  # each row is counted once; no missing values
    WEIGHTED  # weights, missing values, any number of classes

cdef enum:
    MISSING_FLAG = 2  # the flag of a row whose value is missing

cdef enum Counting:  # How the item counts of a waiting node are computed.
    READY  # they are stored already
    COUNT  # count the rows of the node
    COUNT_AND_SUBTRACT  # count them, and subtract the counts from those of the parent
    RECOUNT  # count them, and overwrite the counts of the parent


cdef struct Settings:  # The parameters of C4.5, named as in `TreeSettings`.
    Py_ssize_t min_objects
    bint mdl
    bint prune
    bint subtree_raising
    double confidence
    double normal_quantile


# The training rows of one tree; ``y`` and ``weights`` have an element for each row of the table.
cdef struct Sample:
    Py_ssize_t n  # different rows
    Py_ssize_t n_table  # rows of the table
    Py_ssize_t n_classes
    double n_counted  # rows with their repetitions
    uint32_t* rows
    int32_t* y
    double* weights  # NULL where every row has weight 1
    bint repeated  # whether weights are numbers of repetitions


cdef struct EntryRange:  # The entries of a column's rows in one node: g.entries[start:stop].
    int64_t column
    int64_t start
    int64_t stop


cdef struct StackRecord:  # A node that waits to be split.
    Py_ssize_t node
    int64_t low  # its rows are g.rows[low:high]
    int64_t high
    int64_t range_low  # its entries are in g.ranges[range_low:range_high]
    int64_t range_high
    int64_t level  # two classes: the level of its item counts
    Counting counting
    int64_t first_free_entry  # missing values: entries and rows from here on can be overwritten
    int64_t first_free_row


# The best split by one column. A gain below 0 means that there is none. While cuts are compared in
# the strategies that count rows, the gain is the score that the next cut has to exceed: the best
# score plus the tolerance.
cdef struct Candidate:
    double gain
    double ratio
    double left_weight  # rows, or their weight, left of the cut
    double left_positive  # the positive ones among them
    int64_t code_below  # codes on both sides of the cut
    int64_t code_above
    int64_t n_cuts  # number of possible cuts


cdef struct NumericColumn:  # A numeric column of the current node while its cuts are compared.
    const uint64_t* entries
    const double* values
    int64_t start
    int64_t stop
    int64_t default_position  # of the first entry with a larger value than the default
    int64_t default_code
    int64_t n_default  # rows with the default value, which have no entries


cdef struct Split:  # The split of the current node.
    int64_t column
    int64_t range_index  # of the column among the node's ranges; -1 where it is counted by items
    int64_t n_branches
    int64_t first_child
    int64_t default_branch  # the branch of rows with the default value
    int64_t n_missing  # rows whose value is missing
    int64_t n_open_branches  # branches that can be split again
    int64_t in_place_branch  # the largest of them, which is stored in the place of the node


# A run of entries that may contain the best cut.
cdef struct EntryRun:
    uint64_t start
    uint64_t n_left  # rows before the run
    uint64_t n_left_positive
    uint64_t n_rows  # rows of the run
    uint64_t n_positive


cdef struct TwoClassState:  # The state of the strategy `TWO_CLASSES`.
    bint has_entry_weights  # entries store how often their row is repeated
    int64_t n_positive  # positive rows of the current node
    double* positive_terms  # x ln x + (total - x) ln (total - x) of positive rows
    double* negative_terms  # the same of negative rows
    bint has_minimums  # whether the next two arrays are filled
    uint32_t* min_positive  # see `fill_minimums`
    uint32_t* min_negative
    uint32_t* run_positive  # positive rows in each run of entries
    uint32_t* run_rows  # all rows in each run of entries
    EntryRun* runs
    uint8_t* row_bits  # the lowest bits of the entries of a row
    Py_ssize_t n_nominal
    int64_t* nominal
    Py_ssize_t n_levels
    uint64_t* item_counts  # items.n numbers per level: rows in the lower half, positive rows above
    int64_t* open_columns  # n_nominal numbers per level: columns that can still split
    int64_t* n_open  # their number, by level
    double* gains  # by open column
    double* branch_sums  # by open column: sum of x ln x over the branches
    uint32_t* position_of  # position of each row in g.rows; NULL where there are entries


cdef struct ManyClassState:  # The state of the strategy `MANY_CLASSES`.
    Py_ssize_t n_present  # classes in the current node
    double total  # sum of x ln x over the classes
    uint32_t* local_class  # class of each row: its number among the classes of the node
    int64_t* local_number  # of each class, from 1 on; 0 where it is not numbered yet
    int64_t* class_sizes  # by local class: rows of the node
    int64_t* branch_sizes  # by local class: rows of one branch
    uint32_t* first_step  # by local class: position of its first step
    uint32_t* next_step  # by local class: position of its next step
    double* steps  # changes of the sum of x ln x, see many_classes.pyx
    double* sums


cdef struct Chord:  # Linear interpolation of x ln x between two whole numbers.
    double value
    double slope
    double lower_value  # the value less the maximum error of the interpolation


cdef struct ClassTotals:  # Weights of one class in the current node, and x ln x of some of them.
    double total
    double left  # left of a cut, or in one branch
    double right
    double default_weight  # of the rows with the default value
    double left_term
    double right_term


cdef struct WeightedState:  # The state of the strategy `WEIGHTED`.
    bint has_whole_weights  # whether all weights in the node are whole numbers
    double total
    double total_term  # x ln x of the total
    double information  # of all rows, times their weight, in nats
    Py_ssize_t n_present
    double* weight_of  # weight of each row in the current node
    double* signed_weight_of  # negative for rows of class 0, so that one look-up is sufficient
    Chord* chords
    ClassTotals* by_class
    int64_t* classes  # those in the current node
    double* shares  # by branch: its part of the weight of rows with a known value
    bint has_divided_rows  # whether some row was divided among branches


cdef struct Grower:
    Memory* memory
    Strategy strategy
    bint has_missing  # whether a value of the table is missing
    Settings settings
    SortedColumns columns
    Items items
    Sample sample
    Nodes nodes
    Py_ssize_t n_list_columns
    int64_t* list_columns  # columns that are used as lists of entries
    bint all_columns_in_mean  # whether the mean of the gains is over all columns
    const double* x_ln_x_table
    double x_ln_x_length
    uint8_t* value_occurs  # which of columns.values occur in the sample; NULL if all do
    Py_ssize_t n_value_slots  # length of value_occurs; 0 if it is not used
    int row_shift
    int64_t min_entries  # a column with fewer entries, and rows without, cannot split
    StackRecord current
    Split split
    int64_t work  # entries and rows handled since the last check for Ctrl-C
    # The current node, if rows are counted.
    int64_t n_counted
    int64_t min_side  # minimum number of rows on either side of a cut
    double information  # of all rows, times their number, in nats
    double score_tolerance
    double* size_terms  # x ln x + (n - x) ln (n - x) of the number of rows
    # Stacks. Each branch of a node uses a part of the node's rows and ranges.
    uint64_t* entries
    EntryRange* ranges
    StackRecord* stack
    Py_ssize_t stack_size
    uint32_t* rows
    double* row_weights
    # Scratch memory.
    uint8_t* in_sample
    uint8_t* flags  # branch of each row if there are two: single bytes, which stay in the cache
    int32_t* branches  # branch of each row if there are more
    uint64_t* buffer
    Candidate* candidates
    int64_t* slots  # by branch: where it is put, -1 for branches that are not split again
    int64_t* branch_bounds  # branch b is from branch_bounds[b] to branch_bounds[b + 1]
    int64_t* branch_rows  # by branch: number of rows
    double gain_sum
    Py_ssize_t n_valid
    TwoClassState two
    ManyClassState many
    WeightedState weighted


cdef inline double min_branch_weight(const Grower* g, double known_weight) noexcept nogil:
    """Return the minimum weight on either side of a cut of a column.

    ``known_weight`` is the weight of the node's rows whose value in the column is not missing. The
    minimum is a tenth of it divided by the number of classes, at most 25, but at least
    `min_objects`, as in J48.
    """
    cdef double minimum = 0.1 * known_weight / g.sample.n_classes
    if minimum - g.settings.min_objects < TOLERANCE:
        return g.settings.min_objects
    return 25.0 if minimum - 25.0 > TOLERANCE else minimum


cdef inline bint has_few_values(const Grower* g, int64_t n_values) noexcept nogil:
    """Return whether a column's gain counts in the mean gain.

    It does if the column is numeric, or has fewer values than 0.3 times the training rows.
    """
    return n_values == 0 or 0.3 * g.sample.n_counted - n_values > TOLERANCE


cdef inline void add_gain(Grower* g, double gain, int64_t n_values) noexcept nogil:
    """Add the gain of a split to the sum of gains, unless its column has too many values.

    A negative gain, of a column that cannot split the node, is not added.
    """
    if gain >= 0.0 and (g.all_columns_in_mean or has_few_values(g, n_values)):
        g.gain_sum += gain
        g.n_valid += 1


cdef inline void fill_terms(double* terms, const double* x_ln_x_table, int64_t n) noexcept nogil:
    """Tabulate x ln x + (n - x) ln (n - x) for the numbers 0 to n."""
    cdef int64_t x
    for x in range(n + 1):
        terms[x] = x_ln_x_table[x] + x_ln_x_table[n - x]


cdef inline bint init_node(Grower* g) noexcept nogil:
    """Set minimum side, tolerance and ``size_terms`` of a node whose rows are counted.

    Returns False, and sets nothing, if the node has too few rows for a cut.
    """
    cdef double min_weight = min_branch_weight(g, g.n_counted)
    if 2.0 * min_weight - g.n_counted > TOLERANCE:
        return False
    g.min_side = <int64_t> ceil(min_weight - TOLERANCE)
    g.score_tolerance = TOLERANCE * LN2 * g.n_counted
    fill_terms(g.size_terms, g.x_ln_x_table, g.n_counted)
    return True


cdef inline void init_column(
    const Grower* g, int64_t k, int64_t full_size, NumericColumn* column
) noexcept nogil:
    """Set the fields of the k-th column of the node, which is numeric.

    ``full_size`` is the number of entries that the column has if no row has the default value.
    """
    cdef const EntryRange* entry_range = &g.ranges[g.current.range_low + k]
    column.entries = g.entries
    column.values = g.columns.values + g.columns.starts[entry_range.column]
    column.start, column.stop = entry_range.start, entry_range.stop
    column.default_code = g.columns.defaults[entry_range.column]
    column.n_default = full_size - (entry_range.stop - entry_range.start)
    column.default_position = entry_range.stop
    if column.n_default:
        column.default_position = lower_bound(
            g.entries, column.start, column.stop, make_entry(column.default_code, 0, 0)
        )


cdef inline void init_best_cut(const Grower* g, Candidate* candidate) noexcept nogil:
    """Set a candidate to no cut; the first one has to have a gain above the tolerance."""
    candidate.gain = g.score_tolerance - g.information
    candidate.left_weight = candidate.left_positive = 0.0
    candidate.code_below = candidate.code_above = candidate.n_cuts = 0


cdef inline void finish_best_cut(Grower* g, Candidate* candidate) noexcept nogil:
    """Set gain and gain ratio of the best cut, whose score was stored as the gain so far.

    The gain is -1 if there is no cut, or if it does not exceed the cost of choosing one.
    """
    cdef double gain = g.information + (candidate.gain - g.score_tolerance)
    cdef double split_information
    if g.settings.mdl and candidate.n_cuts > 0:
        gain -= log(<double> candidate.n_cuts)
    if candidate.n_cuts == 0 or gain < g.score_tolerance:
        candidate.gain = -1.0
        return
    split_information = (
        g.x_ln_x_table[g.n_counted] - g.size_terms[<int64_t> candidate.left_weight]
    )
    candidate.gain = gain
    candidate.ratio = 0.0 if split_information < TOLERANCE * LN2 else gain / split_information


cdef inline void set_branch(Grower* g, uint64_t row, int64_t branch) noexcept nogil:
    """Store the branch of a row of the current node."""
    if g.split.n_branches == 2:
        g.flags[row] = branch
    else:
        g.branches[row] = branch


cdef inline int64_t branch_of(const Grower* g, uint32_t row) noexcept nogil:
    """Return the branch of a row of the current node; -1 where its value is missing."""
    if g.split.n_branches > 2:
        return g.branches[row]
    return -1 if g.flags[row] == MISSING_FLAG else g.flags[row]
