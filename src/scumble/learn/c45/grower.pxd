"""What the steps of growing a tree share: the records, and the arrays they work on."""

from libc.math cimport ceil, log
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from scumble.learn.c45.arithmetic cimport LN2, TINY
from scumble.learn.c45.layout cimport SortedColumns, Items, make_entry
from scumble.learn.c45.memory cimport Memory, lower_bound
from scumble.learn.c45.nodes cimport Nodes

cdef enum Strategy:
    TWO_CLASSES  # rows are counted, perhaps several times; no missing values
    MANY_CLASSES  # each row counts once; no missing values
    WEIGHTED  # weights, missing values, any classes

cdef enum:
    LOST = 2  # the flag of a row whose value is missing

cdef enum Counting:
    READY  # the counts of nominal columns are at hand
    COUNT  # count the node's rows
    COUNT_AND_SUBTRACT  # and take them off the counts of the parent, which its brother needs
    RECOUNT  # count in the parent's place


cdef struct Settings:  # The parameters of C4.5, named as in `TreeSettings`.
    Py_ssize_t min_objects
    bint mdl
    bint prune
    bint subtree_raising
    double confidence
    double deviate


# The training rows of one tree; ``y`` and ``weights`` are by row of the whole table.
cdef struct Sample:
    Py_ssize_t n  # different rows
    Py_ssize_t n_table
    Py_ssize_t n_classes
    double n_counted  # rows, each as often as it counts
    uint32_t* rows
    int32_t* y
    double* weights  # NULL where every row weighs 1
    bint repeated  # a weight is a number of equal rows


cdef struct EntryRange:  # A column's entries of one node.
    int64_t column
    int64_t start
    int64_t stop


cdef struct StackRecord:  # A node to be split.
    Py_ssize_t node
    int64_t low  # its rows
    int64_t high
    int64_t list_low  # its stretches
    int64_t list_high
    int64_t level  # two classes: where the counts of its nominal columns are, or will be
    Counting counting
    int64_t entry_free  # missing values: from where on entries and rows may be written
    int64_t row_free


# The best split by one column; a gain below 0 says that there is none. While cuts are judged where
# rows are counted, the gain is a score plus the tolerance: what the next must surpass.
cdef struct Candidate:
    double gain
    double ratio
    double left  # rows, or their weight, left of the cut, and the positive ones among them
    double left_positive
    int64_t below  # codes on both sides of the cut
    int64_t above
    int64_t cuts  # how many there were to choose from


cdef struct NumericColumn:  # A numeric column of the node in hand while its cuts are judged.
    const uint64_t* entries
    const double* values
    int64_t start
    int64_t stop
    int64_t middle  # where entries with larger values than the default begin
    int64_t default
    int64_t block  # rows with the default value, in no entry


cdef struct Split:  # The split a node gets.
    int64_t column
    int64_t place  # of the column in the node's list; -1 where it is counted by items
    int64_t n_branches
    int64_t child  # its first branch
    int64_t rest  # the branch of rows with the default value
    int64_t n_missing  # rows whose value is missing
    int64_t n_live  # branches that go on
    int64_t in_place_branch  # the largest of them takes over the node's place in the stacks


# A run of entries that may hold the best cut: where it begins, and what it crosses.
cdef struct EntryRun:
    uint64_t at
    uint64_t left
    uint64_t positive
    uint64_t size
    uint64_t more


cdef struct TwoClassState:  # What is known where rows of two classes are counted.
    bint heavy  # entries tell how often their row counts
    int64_t positive  # of the node in hand
    double* ones  # x ln x + (total - x) ln (total - x) for the positives
    double* zeros
    bint has_bars  # they are filled
    uint32_t* ones_bar
    uint32_t* zeros_bar
    uint32_t* run_ones  # positives, and all rows, in each run of entries
    uint32_t* run_sizes
    EntryRun* opened
    uint8_t* bits  # what an entry keeps of its row
    Py_ssize_t n_nominal
    int64_t* nominal
    Py_ssize_t n_levels
    uint64_t* item_counts  # n_items a level: rows below, positives above the half
    int64_t* open_columns  # n_nominal a level
    int64_t* n_open
    double* gains
    double* branch_sums
    uint32_t* place_of  # each row's place where there are no lists, else NULL


cdef struct ManyClassState:  # What is known where rows of many classes are counted.
    Py_ssize_t n_present
    double total  # sum of x ln x over the classes
    uint32_t* local  # class of a row, in the node's own numbering
    int64_t* turn_of
    int64_t* size_of
    int64_t* bags
    uint32_t* begins
    uint32_t* turns
    double* steps
    double* sums


cdef struct Chord:  # x ln x between two whole numbers, by interpolation
    double value
    double slope
    double lowered  # the value less the most by which interpolation is too large


cdef struct ClassTotals:  # Weights of one class in the node in hand, and x ln x of some.
    double total
    double left  # of a cut, or in one branch
    double right
    double stored
    double left_term
    double right_term


cdef struct WeightedState:  # What is known where rows have weights.
    bint whole  # the weights in the node are whole numbers
    double total
    double total_term  # x ln x of it
    double before  # information of all rows, times their weight, in nats
    Py_ssize_t n_present
    double* weight_of  # weight of a row in this node
    double* signed_of  # below 0 for class 0: two classes need one look
    Chord* chords
    ClassTotals* by_class
    int64_t* classes  # those in the node
    double* shares
    bint divided  # some row was divided among branches


cdef struct Grower:
    Memory* memory
    Strategy strategy
    bint has_missing  # some value of the table
    Settings settings
    SortedColumns columns
    Items items
    Sample sample
    Nodes nodes
    Py_ssize_t n_listed
    int64_t* listed  # columns that are lists of entries
    bint all_in_mean  # no column is left out of the mean of the gains for its many values
    const double* table  # x ln x
    double table_length
    uint8_t* seen  # which values occur; NULL if all do
    Py_ssize_t n_seen
    int row_bit
    int64_t least_entries  # a column with fewer, beside rows with its default, splits nothing
    StackRecord now
    Split split
    int64_t work  # since Ctrl-C was last looked for
    # The node in hand, where rows are counted.
    int64_t n
    int64_t least  # rows on either side of a cut
    double before  # information of all rows, times their number, in nats
    double tolerance
    double* sizes  # x ln x + (n - x) ln (n - x)
    # Stacks.
    uint64_t* entries
    EntryRange* lists
    StackRecord* waiting
    Py_ssize_t n_waiting
    uint32_t* rows
    double* row_weights
    # Scratch.
    uint8_t* in_set
    uint8_t* flags  # branch of a row where there are two: narrow, so that they stay in the cache
    int32_t* side  # branch of a row where there are more
    uint64_t* buffer
    Candidate* candidates
    int64_t* slot
    int64_t* bounds  # where branches begin and end
    int64_t* branch_rows
    double gain_sum
    Py_ssize_t n_valid
    TwoClassState two
    ManyClassState many
    WeightedState weighted


cdef inline double min_branch_weight(const Grower* g, double known) noexcept nogil:
    """Tell how many rows, or what weight, of ``known`` ones must be on either side of a cut."""
    cdef double share = 0.1 * known / g.sample.n_classes
    if share - g.settings.min_objects < TINY:
        return g.settings.min_objects
    return 25.0 if share - 25.0 > TINY else share


cdef inline bint has_few_values(const Grower* g, int64_t n_values) noexcept nogil:
    return n_values == 0 or 0.3 * g.sample.n_counted - n_values > TINY


cdef inline void add_gain(Grower* g, double gain, int64_t n_values) noexcept nogil:
    """Count a split in the mean of all gains, unless its column has too many values."""
    if gain >= 0.0 and (g.all_in_mean or has_few_values(g, n_values)):
        g.gain_sum += gain
        g.n_valid += 1


cdef inline void fill_table(double* sums, const double* table, int64_t n) noexcept nogil:
    """Tabulate x ln x + (n - x) ln (n - x) for 0..n."""
    cdef int64_t x
    for x in range(n + 1):
        sums[x] = table[x] + table[n - x]


cdef inline bint init_node(Grower* g) noexcept nogil:
    """Find what the cuts of a node of ``g.n`` rows share; False where there are too few rows."""
    cdef double least = min_branch_weight(g, g.n)
    if 2.0 * least - g.n > TINY:
        return False
    g.least = <int64_t> ceil(least - TINY)
    g.tolerance = TINY * LN2 * g.n
    fill_table(g.sizes, g.table, g.n)
    return True


cdef inline void init_column(
    const Grower* g, int64_t k, int64_t full, NumericColumn* column
) noexcept nogil:
    """Begin with a column of the node, which would have ``full`` entries without a default."""
    cdef const EntryRange* stretch = &g.lists[g.now.list_low + k]
    column.entries = g.entries
    column.values = g.columns.values + g.columns.begins[stretch.column]
    column.start, column.stop = stretch.start, stretch.stop
    column.default = g.columns.defaults[stretch.column]
    column.block = full - (stretch.stop - stretch.start)
    column.middle = stretch.stop
    if column.block:
        first = make_entry(column.default, 0, 0)
        column.middle = lower_bound(g.entries, column.start, column.stop, first)


cdef inline void init_best_cut(const Grower* g, Candidate* found) noexcept nogil:
    found.gain = g.tolerance - g.before
    found.left = found.left_positive = 0.0
    found.below = found.above = found.cuts = 0


cdef inline void finish_best_cut(Grower* g, Candidate* found) noexcept nogil:
    """Turn the best score into a gain, unless it does not pay for the choice among the cuts."""
    cdef double gain = g.before + (found.gain - g.tolerance)
    cdef double info
    if g.settings.mdl and found.cuts > 0:
        gain -= log(<double> found.cuts)
    if found.cuts == 0 or gain < g.tolerance:
        found.gain = -1.0
        return
    info = g.table[g.n] - g.sizes[<int64_t> found.left]
    found.gain = gain
    found.ratio = 0.0 if info < TINY * LN2 else gain / info


cdef inline void set_branch(Grower* g, uint64_t row, int64_t branch) noexcept nogil:
    """Note the branch of a row of the node in hand."""
    if g.split.n_branches == 2:
        g.flags[row] = branch
    else:
        g.side[row] = branch


cdef inline int64_t branch_of(const Grower* g, uint32_t row) noexcept nogil:
    """Tell the branch of a row of the node in hand; -1 where its value is missing."""
    if g.split.n_branches > 2:
        return g.side[row]
    return -1 if g.flags[row] == LOST else g.flags[row]
