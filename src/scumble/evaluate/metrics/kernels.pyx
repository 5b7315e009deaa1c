"""Loops over label assignments and scores. Each function works on a range of rows or labels.

``indptr`` and ``indices`` are those of a CSR matrix of labels: row ``i`` has the labels
``indices[indptr[i]:indptr[i + 1]]``, which are its *relevant* labels. A *positive* of a label is a
row that has it. A *pair* is a relevant and an irrelevant label of a row; it is *wrong* if the
irrelevant label is ranked first.
"""

from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.math cimport NAN, log
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from scumble._core.interrupt cimport check_stop
from scumble._core.types cimport index_t


cdef enum:
    # How labels with equal scores are ranked: the index in TIES of `counts`. Others mean "worst".
    MULAN = 0
    AVERAGE = 1
    # Number of relevant labels of a row from which on sorting all labels is faster than comparing
    # each relevant label with all labels.
    MIN_SORTED = 64
    RECALL_LEVELS = 10  # levels at which precision is interpolated: 0, 1/9, ..., 1, as in MULAN
    RUN_LENGTH = 16  # elements that are sorted by insertion, before these runs are merged
    CHECK_INTERVAL = 1 << 16  # rows between two checks for interruption

# Smallest distance of probabilities from 0 and 1 in the log loss, as in MULAN.
cdef double CLIP = 1e-8

cdef extern from "scumble/evaluate/metrics/counting.h" nogil:
    void count_above(double, const double*, Py_ssize_t, int64_t*, int64_t*)

cdef struct LabelPosition:
    # The position of a relevant label in the ranking of its row: the numbers of labels with a
    # larger score, with the same score (including itself), and with the same score and a larger
    # index; then the same numbers of relevant labels alone.
    int64_t above, tied, after
    int64_t relevant_above, relevant_tied, relevant_after

cdef struct RowResult:
    # The columns of the results of `rank_rows`; `precision` is a sum over relevant labels at first.
    double wrong_pairs, twice_tied_wrong_pairs, worst_rank, precision, top_error

cdef struct ScoredLabel:
    double score
    int32_t label

cdef struct ScoreRow:
    # The scores of a row, and buffers to sort them.
    const double* scores
    Py_ssize_t n_labels
    ScoredLabel* sorted_labels  # with n_labels elements
    ScoredLabel* buffer  # with n_labels elements, for merging
    uint8_t* is_relevant  # for each label; False between two calls

cdef struct LabelCurve:
    # Counts of the positives of a label, and of all rows, by their scores: the ROC curve and the
    # precision-recall curve are computed from them.
    Py_ssize_t n_positive
    Py_ssize_t n_distinct  # number of distinct scores of positives
    double* distinct  # these scores in increasing order
    int64_t* n_positive_tied  # number of positives with each distinct score
    int64_t* n_tied  # number of rows with each distinct score
    int64_t* n_between  # number of rows with a score below each distinct one, above the one before
    Py_ssize_t n_read  # number of positives among the rows that were read so far
    # For each distinct score, the index of its next positive in the order of scores, ties by row.
    int64_t* position
    int64_t* rank_in_tie  # for each positive in this order, number of rows of its score up to it
    double* precisions  # precision at each positive, from the best score to the worst


def count_hits(
    const index_t[::1] indptr, const index_t[::1] indices, const index_t[::1] other_indptr,
    const index_t[::1] other_indices, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] by_row,
    int64_t[::1] by_label,
):
    """Count the label assignments of rows start..stop that are in both of two matrices.

    The counts by row are written to ``by_row``, those by label are added to ``by_label``.
    """
    cdef Py_ssize_t row, entry, end, other, other_end
    cdef index_t label, other_label
    cdef int64_t n_hits
    with nogil:
        for row in range(start, stop):
            if (row - start) % CHECK_INTERVAL == 0:
                check_stop()
            entry, end = indptr[row], indptr[row + 1]
            other, other_end = other_indptr[row], other_indptr[row + 1]
            n_hits = 0
            while entry < end and other < other_end:
                label = indices[entry]
                other_label = other_indices[other]
                if label == other_label:
                    n_hits += 1
                    by_label[label] += 1
                entry += label <= other_label
                other += label >= other_label
            by_row[row] = n_hits


def count_topmost_errors(
    const index_t[::1] indptr, const index_t[::1] indices, const index_t[::1] other_indptr,
    const index_t[::1] other_indices, const int64_t[::1] parents, Py_ssize_t start,
    Py_ssize_t stop,
):
    """Return the number of wrong labels of rows start..stop that have no wrong ancestor.

    A label is wrong if it is in only one of two matrices, the true and the predicted labels.
    ``parents`` holds the index of the parent of each label, -1 for none.
    """
    cdef bytearray buffer = bytearray(parents.shape[0] + 1)
    cdef uint8_t* is_wrong = <uint8_t*>PyByteArray_AS_STRING(buffer)
    cdef Py_ssize_t row, entry
    cdef int64_t total = 0
    with nogil:
        for row in range(start, stop):
            if (row - start) % CHECK_INTERVAL == 0:
                check_stop()
            for entry in range(indptr[row], indptr[row + 1]):
                is_wrong[indices[entry]] = True
            for entry in range(other_indptr[row], other_indptr[row + 1]):
                is_wrong[other_indices[entry]] ^= True  # in both matrices: correct
            for entry in range(indptr[row], indptr[row + 1]):
                total += _is_topmost_error(is_wrong, parents, indices[entry])
            for entry in range(other_indptr[row], other_indptr[row + 1]):
                total += _is_topmost_error(is_wrong, parents, other_indices[entry])
            for entry in range(indptr[row], indptr[row + 1]):
                is_wrong[indices[entry]] = False
            for entry in range(other_indptr[row], other_indptr[row + 1]):
                is_wrong[other_indices[entry]] = False
    return total


cdef bint _is_topmost_error(
    const uint8_t* is_wrong, const int64_t[::1] parents, Py_ssize_t label
) noexcept nogil:
    """Return whether a label is wrong and none of its ancestors is."""
    if not is_wrong[label]:
        return False
    label = parents[label]
    while label >= 0 and not is_wrong[label]:
        label = parents[label]
    return label < 0


def rank_rows(
    const index_t[::1] indptr, const index_t[::1] indices, const double[:, ::1] scores,
    int ties, double[:, ::1] results, Py_ssize_t start, Py_ssize_t stop,
):
    """Rank the labels of rows start..stop by their scores, and write statistics to ``results``.

    The columns of ``results``, which has zeros at first, are the number of wrong pairs, twice the
    number of wrong pairs with ties as halves, the worst rank of a relevant label, the average
    precision, and the error of the label ranked first. Rows without labels are skipped. ``ties`` is
    `MULAN`, `AVERAGE` or another number for "worst".
    """
    cdef ScoreRow score_row
    cdef RowResult* result
    cdef const index_t* labels
    cdef Py_ssize_t row, n_relevant, n_labels = scores.shape[1]
    cdef bytearray memory = bytearray(n_labels * (2 * sizeof(ScoredLabel) + 1))
    score_row.n_labels = n_labels
    score_row.sorted_labels = <ScoredLabel*>PyByteArray_AS_STRING(memory)
    score_row.buffer = score_row.sorted_labels + n_labels
    score_row.is_relevant = <uint8_t*>(score_row.sorted_labels + 2 * n_labels)
    with nogil:
        for row in range(start, stop):
            if (row - start) % 1024 == 0:
                check_stop()
            n_relevant = indptr[row + 1] - indptr[row]
            if n_relevant == 0:
                continue
            result = <RowResult*>&results[row, 0]
            labels = &indices[indptr[row]]
            score_row.scores = &scores[row, 0]
            if n_relevant >= MIN_SORTED:
                _rank_by_sorting(&score_row, labels, n_relevant, ties, result)
            else:
                _rank_by_comparing(&score_row, labels, n_relevant, ties, result)
            result.precision /= n_relevant


cdef inline void _add_label(LabelPosition position, int ties, RowResult* result) noexcept nogil:
    """Add the contribution of a relevant label to the statistics of its row."""
    cdef double rank, relevant_rank
    if ties == MULAN:
        rank = position.above + position.after + 1.0
        relevant_rank = position.relevant_above + position.relevant_after + 1.0
    elif ties == AVERAGE:
        rank = position.above + (position.tied + 1.0) / 2.0
        relevant_rank = position.relevant_above + (position.relevant_tied + 1.0) / 2.0
    else:
        rank = position.above + position.tied
        relevant_rank = position.relevant_above + position.relevant_tied
    result.wrong_pairs += rank - relevant_rank
    result.twice_tied_wrong_pairs += (
        2 * (position.above - position.relevant_above) + (position.tied - position.relevant_tied)
    )
    result.worst_rank = max(result.worst_rank, rank)
    result.precision += relevant_rank / rank
    if position.relevant_above == 0 and (ties != MULAN or position.relevant_after == 0):
        result.top_error = _top_error(position, ties)


cdef inline double _top_error(LabelPosition position, int ties) noexcept nogil:
    """Return the error of the label ranked first from the position of the best relevant label.

    It is 1 if the first label is irrelevant, else 0; with ties "average", the share of irrelevant
    labels among those with the largest score.
    """
    if position.above > 0:
        return 1.0
    if ties == MULAN:
        return 1.0 if position.after > 0 else 0.0
    if ties == AVERAGE:
        return (position.tied - position.relevant_tied) / <double>position.tied
    return 1.0 if position.tied > position.relevant_tied else 0.0


cdef void _rank_by_comparing(
    const ScoreRow* score_row, const index_t* labels, Py_ssize_t n_relevant, int ties,
    RowResult* result,
) noexcept nogil:
    """Add up the statistics of a row with few relevant labels: compare each with all labels."""
    cdef LabelPosition position
    cdef double value, other_value
    cdef Py_ssize_t i, other
    for i in range(n_relevant):
        value = score_row.scores[labels[i]]
        position = LabelPosition(0, 0, 0, 0, 0, 0)
        count_above(value, score_row.scores, score_row.n_labels, &position.above, &position.tied)
        if position.tied > 1:
            for other in range(labels[i] + 1, score_row.n_labels):
                position.after += score_row.scores[other] == value
        for other in range(n_relevant):
            other_value = score_row.scores[labels[other]]
            position.relevant_above += other_value > value
            position.relevant_tied += other_value == value
            position.relevant_after += other_value == value and other > i
        _add_label(position, ties, result)


cdef void _rank_by_sorting(
    const ScoreRow* score_row, const index_t* labels, Py_ssize_t n_relevant, int ties,
    RowResult* result,
) noexcept nogil:
    """Add up the statistics of a row with many relevant labels: sort all labels by score.

    The labels are visited from the largest score on. Those with equal scores are at the positions
    low..high.
    """
    cdef LabelPosition position
    cdef Py_ssize_t i, low, high
    cdef const ScoredLabel* ranked
    for i in range(n_relevant):
        score_row.is_relevant[labels[i]] = True
    for i in range(score_row.n_labels):
        score_row.sorted_labels[i].score = score_row.scores[i]
        score_row.sorted_labels[i].label = <int32_t>i
    ranked = _sort(score_row.sorted_labels, score_row.buffer, score_row.n_labels)
    high = score_row.n_labels
    position.relevant_above = 0
    while high > 0:
        low = high
        position.relevant_tied = 0
        while low > 0 and ranked[low - 1].score == ranked[high - 1].score:
            low -= 1
            position.relevant_tied += score_row.is_relevant[ranked[low].label]
        position.above, position.tied = score_row.n_labels - high, high - low
        position.after = position.relevant_after = 0
        for i in range(high - 1, low - 1, -1):
            if score_row.is_relevant[ranked[i].label]:
                _add_label(position, ties, result)
                position.relevant_after += 1
            position.after += 1
        position.relevant_above += position.relevant_tied
        high = low
    for i in range(n_relevant):
        score_row.is_relevant[labels[i]] = False


cdef const ScoredLabel* _sort(
    ScoredLabel* values, ScoredLabel* buffer, Py_ssize_t n
) noexcept nogil:
    """Sort n elements by increasing score, stably, by merging sorted runs.

    Return ``values`` or ``buffer``, whichever holds the result; the contents of both are changed.
    """
    cdef ScoredLabel inserted
    cdef Py_ssize_t i, position, low, run_length
    for i in range(n):
        inserted = values[i]
        position = i
        while position % RUN_LENGTH > 0 and values[position - 1].score > inserted.score:
            values[position] = values[position - 1]
            position -= 1
        values[position] = inserted
    run_length = RUN_LENGTH
    while run_length < n:
        low = 0
        while low < n:
            _merge(
                values + low,
                min(run_length, n - low),
                max(0, min(run_length, n - low - run_length)),
                buffer + low,
            )
            low += 2 * run_length
        values, buffer = buffer, values
        run_length *= 2
    return values


cdef void _merge(
    const ScoredLabel* runs, Py_ssize_t n_left, Py_ssize_t n_right, ScoredLabel* merged
) noexcept nogil:
    """Merge two adjacent sorted runs; the loop has no branch, which could not be predicted."""
    cdef const ScoredLabel* left = runs
    cdef const ScoredLabel* left_end = runs + n_left
    cdef const ScoredLabel* right = left_end
    cdef const ScoredLabel* right_end = right + n_right
    cdef bint takes_right
    while left < left_end and right < right_end:
        takes_right = right.score < left.score
        merged[0] = right[0] if takes_right else left[0]
        right += takes_right
        left += not takes_right
        merged += 1
    memcpy(merged, left, (left_end - left) * sizeof(ScoredLabel))
    memcpy(merged + (left_end - left), right, (right_end - right) * sizeof(ScoredLabel))


def rank_labels(
    const index_t[::1] indptr, const index_t[::1] rows, const double[:, ::1] scores,
    Py_ssize_t start, Py_ssize_t stop, bint is_grouped, double[:, ::1] results,
):
    """Rank the rows by the scores of each of the labels start..stop, and write to ``results``.

    The columns of ``results`` are AUC, average precision, interpolated precision and area under the
    precision-recall curve of each label; NaN where one is undefined. ``indptr`` and ``rows`` are
    those of a CSC matrix: the positives of each label. With ``is_grouped``, rows with equal scores
    have the same rank, else they are ranked in their order. The position of each score among the
    scores of the positives, which are few, is searched: this is faster than sorting all scores.
    """
    cdef Py_ssize_t label, entry, n_labels = stop - start
    cdef Py_ssize_t n_positive = indptr[stop] - indptr[start]
    cdef Py_ssize_t n_counts = 5 * n_positive + n_labels
    cdef bytearray memory = bytearray(
        n_labels * sizeof(LabelCurve) + n_counts * sizeof(int64_t)
        + 2 * n_positive * (sizeof(ScoredLabel) + sizeof(double))
    )
    cdef LabelCurve* curves = <LabelCurve*>PyByteArray_AS_STRING(memory)
    cdef int64_t* counts = <int64_t*>(curves + n_labels)
    cdef ScoredLabel* positives = <ScoredLabel*>(counts + n_counts)
    with nogil:
        _set_arrays(curves, indptr, start, stop, <double*>(positives + 2 * n_positive), counts)
        for label in range(start, stop):
            for entry in range(indptr[label], indptr[label + 1]):
                positives[entry - indptr[label]].score = scores[rows[entry], label]
            _list_distinct(&curves[label - start], positives)
        _count_scores(curves, indptr, rows, scores, start, stop)
        for label in range(start, stop):
            _compute_areas(
                &curves[label - start], scores.shape[0], is_grouped, &results[label, 0]
            )


cdef void _set_arrays(
    LabelCurve* curves, const index_t[::1] indptr, Py_ssize_t start, Py_ssize_t stop,
    double* numbers, int64_t* counts,
) noexcept nogil:
    """Set the arrays of the curves of labels start..stop to parts of ``numbers`` and ``counts``."""
    cdef Py_ssize_t label, n
    for label in range(start, stop):
        n = indptr[label + 1] - indptr[label]
        curves.n_positive = n
        curves.distinct = numbers
        curves.precisions = numbers + n
        curves.n_positive_tied = counts
        curves.n_tied = counts + n
        curves.position = counts + 2 * n
        curves.rank_in_tie = counts + 3 * n
        curves.n_between = counts + 4 * n
        numbers += 2 * n
        counts += 5 * n + 1
        curves += 1


cdef void _list_distinct(LabelCurve* curve, ScoredLabel* positives) noexcept nogil:
    """Write the distinct scores of a label's positives, ascending, and their counts to the curve.

    ``positives`` holds the scores, and memory for as many elements after them.
    """
    cdef const ScoredLabel* ordered = _sort(
        positives, positives + curve.n_positive, curve.n_positive
    )
    cdef Py_ssize_t i
    for i in range(curve.n_positive):
        if curve.n_distinct == 0 or curve.distinct[curve.n_distinct - 1] != ordered[i].score:
            curve.distinct[curve.n_distinct] = ordered[i].score
            curve.position[curve.n_distinct] = i
            curve.n_distinct += 1
        curve.n_positive_tied[curve.n_distinct - 1] += 1


cdef inline Py_ssize_t _count_below(
    const double* numbers, Py_ssize_t n, double value
) noexcept nogil:
    """Return how many of n sorted numbers are below a value; n is at least 1.

    The binary search has no branches, which could not be predicted.
    """
    cdef const double* base = numbers
    cdef Py_ssize_t half
    while n > 1:
        half = n // 2
        base += half & -<Py_ssize_t>(base[half - 1] < value)
        n -= half
    return base - numbers + (base[0] < value)


cdef int _count_scores(
    LabelCurve* curves, const index_t[::1] indptr, const index_t[::1] rows,
    const double[:, ::1] scores, Py_ssize_t start, Py_ssize_t stop,
) except -1 nogil:
    """Count all rows by the position of their score among the distinct scores of each label.

    Sets ``n_tied``, ``n_between`` and ``rank_in_tie`` of the curves of labels start..stop.
    """
    cdef LabelCurve* curve
    cdef double value
    cdef Py_ssize_t row, label, below
    for row in range(scores.shape[0]):
        if row % CHECK_INTERVAL == 0:
            check_stop()
        for label in range(start, stop):
            curve = &curves[label - start]
            if curve.n_distinct == 0:
                continue
            value = scores[row, label]
            below = _count_below(curve.distinct, curve.n_distinct, value)
            if below == curve.n_distinct or curve.distinct[below] != value:
                curve.n_between[below] += 1
                continue
            curve.n_tied[below] += 1
            if curve.n_read < curve.n_positive and rows[indptr[label] + curve.n_read] == row:
                curve.rank_in_tie[curve.position[below]] = curve.n_tied[below]
                curve.position[below] += 1
                curve.n_read += 1
    return 0


cdef void _compute_areas(
    LabelCurve* curve, Py_ssize_t n_rows, bint is_grouped, double* result
) noexcept nogil:
    """Compute the four results of a label, the columns of `rank_labels`, from the counts by score.

    The distinct scores of positives are visited from the largest to the smallest.
    """
    cdef int64_t n_positive = curve.n_positive, n_negative = n_rows - curve.n_positive
    cdef int64_t positive_tied, tied, true_positives, rank, negative_below
    cdef int64_t n_above = 0, n_positive_above = 0, twice_auc = 0
    cdef const int64_t* rank_in_tie
    cdef double precision, area = 0.0, precision_sum = 0.0
    cdef Py_ssize_t distinct, i
    result[0] = result[1] = result[2] = result[3] = NAN
    if n_positive == 0:
        return
    for distinct in range(curve.n_distinct - 1, -1, -1):
        positive_tied = curve.n_positive_tied[distinct]
        tied = curve.n_tied[distinct]
        rank_in_tie = curve.rank_in_tie + curve.position[distinct] - positive_tied
        n_above += curve.n_between[distinct + 1]
        negative_below = n_negative - (n_above - n_positive_above) - (tied - positive_tied)
        twice_auc += positive_tied * (2 * negative_below + (tied - positive_tied))
        for i in range(positive_tied):
            true_positives = n_positive_above + (positive_tied if is_grouped else i + 1)
            rank = n_above + (tied if is_grouped else rank_in_tie[i])
            precision = true_positives / <double>rank
            curve.precisions[n_positive_above + i] = precision
            precision_sum += precision
        n_above += tied
        n_positive_above += positive_tied
        area += positive_tied * (n_positive_above / <double>n_above)
    if n_negative > 0:
        result[0] = twice_auc / (2.0 * n_positive * n_negative)
    result[1] = precision_sum / n_positive
    result[2] = _interpolate(curve.precisions, n_positive)
    result[3] = area / n_positive


cdef double _interpolate(const double* precisions, Py_ssize_t n) noexcept nogil:
    """Return the mean, over the recall levels, of the best precision at that recall or more.

    ``precisions`` holds the precision at each of the n positives, from the first in the ranking.
    """
    cdef double best = 0.0, total = 0.0
    cdef Py_ssize_t i, level = RECALL_LEVELS - 1
    for i in range(n - 1, -1, -1):
        # Levels above the recall before this positive are reached by it and those after it.
        best = max(best, precisions[i])
        while level > 0 and (RECALL_LEVELS - 1) * i < level * n:
            total += best
            level -= 1
    return (total + best) / RECALL_LEVELS


def count_positives_above(
    const double[:, ::1] scores, const double[::1] distinct, const int64_t[::1] n_below,
    Py_ssize_t start, Py_ssize_t stop,
):
    """Return the sum, over the scores of rows start..stop, of twice the number of positives above.

    A positive, here a true entry of the label matrix, counts twice if its score is larger, and once
    if it is equal. ``distinct`` holds the distinct scores of positives in increasing order,
    ``n_below`` the number of positives below each of them, and their total number at the end.
    """
    cdef Py_ssize_t row, label, index, is_equal, n = distinct.shape[0]
    cdef int64_t total = n_below[n], twice_above = 0
    cdef double value
    with nogil:
        for row in range(start, stop):
            if (row - start) % 1024 == 0:
                check_stop()
            for label in range(scores.shape[1]):
                value = scores[row, label]
                index = _count_below(&distinct[0], n, value)
                is_equal = index < n and distinct[min(index, n - 1)] == value
                twice_above += 2 * total - n_below[index] - n_below[index + is_equal]
    return twice_above


def add_probability_losses(
    const index_t[::1] indptr, const index_t[::1] indices, const double[:, ::1] scores,
    double[::1] totals, Py_ssize_t start, Py_ssize_t stop,
):
    """Add the log loss and the squared error of all scores of rows start..stop to ``totals``.

    Its first element is the total log loss, the second the total squared error. Rows of a sparse
    score matrix come in several calls: adding to running totals rounds as a single call over all
    rows does.
    """
    cdef double row_log, row_square, value, clipped
    cdef double log_total = totals[0], square_total = totals[1]
    cdef Py_ssize_t row, label, entry, end
    with nogil:
        for row in range(start, stop):
            if (row - start) % 1024 == 0:
                check_stop()
            entry, end = indptr[row], indptr[row + 1]
            row_log = row_square = 0.0
            for label in range(scores.shape[1]):
                value = scores[row, label]
                clipped = min(max(value, CLIP), 1.0 - CLIP)
                if entry < end and indices[entry] == label:
                    entry += 1
                    row_square += (1.0 - value) * (1.0 - value)
                    row_log -= log(clipped)
                else:
                    row_square += value * value
                    row_log -= log(1.0 - clipped)
            log_total += row_log
            square_total += row_square
    totals[0] = log_total
    totals[1] = square_total
