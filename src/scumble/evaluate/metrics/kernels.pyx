"""Loops over label assignments and scores. Each function works on a range of rows or labels."""

from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.math cimport NAN, log
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from scumble._core.interrupt cimport check_stop
from scumble._core.types cimport index_t


cdef enum:
    # How labels with equal scores are ranked: the index in TIES. The rest is "worst".
    MULAN = 0
    AVERAGE = 1
    # Relevant labels of a row from which on sorting is cheaper than comparing each with all labels.
    MIN_SORTED = 64
    RECALL_LEVELS = 10  # at which precision is interpolated: 0, 1/9, ..., 1, as in MULAN
    RUN = 16  # elements sorted by insertion
    CHECK_INTERVAL = 1 << 16  # rows between two checks for interruption

# Distance of probabilities from 0 and 1 in the log loss, as in MULAN.
cdef double CLIP = 1e-8

cdef extern from "scumble/evaluate/metrics/counting.h" nogil:
    void count_above(double, const double*, Py_ssize_t, int64_t*, int64_t*)

cdef struct LabelPosition:
    # Numbers of labels of a row that rank above a relevant label, have its score, or have its score
    # and a larger index; then the same numbers of relevant labels alone.
    int64_t above, tied, after
    int64_t relevant_above, relevant_tied, relevant_after

cdef struct RowResult:
    # Columns of the result of `rank_rows`.
    double wrong_pairs, twice_tied_wrong_pairs, worst_rank, precision, top_error

cdef struct Entry:
    double score
    int32_t label

cdef struct ScoreRow:
    # The scores of a row, and buffers to sort them.
    const double* scores
    Py_ssize_t n_labels
    Entry* entries
    Entry* spare
    uint8_t* is_relevant

cdef struct Curve:
    # Counts of the rows that have a label (its positives) and of all rows, by their scores.
    Py_ssize_t n_positive
    Py_ssize_t n_distinct  # distinct scores of positives
    double* distinct  # these scores in increasing order
    int64_t* n_positive_tied  # positives with each distinct score
    int64_t* n_tied  # rows with each distinct score
    int64_t* n_between  # rows with scores between two distinct ones
    Py_ssize_t n_placed  # positives that were met so far
    int64_t* position  # of the next positive with a distinct score in the order of scores
    int64_t* rank_in_tie  # at this position: rows with the same score up to this row
    double* precisions


def count_hits(
    const index_t[::1] indptr, const index_t[::1] indices, const index_t[::1] other_indptr,
    const index_t[::1] other_indices, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] by_row,
    int64_t[::1] by_label,
):
    """Count the labels that rows start..stop have in both matrices, by row and by label."""
    cdef Py_ssize_t row, entry, end, other, other_end
    cdef index_t label, other_label
    cdef int64_t hits
    with nogil:
        for row in range(start, stop):
            if (row - start) % CHECK_INTERVAL == 0:
                check_stop()
            entry, end = indptr[row], indptr[row + 1]
            other, other_end = other_indptr[row], other_indptr[row + 1]
            hits = 0
            while entry < end and other < other_end:
                label = indices[entry]
                other_label = other_indices[other]
                if label == other_label:
                    hits += 1
                    by_label[label] += 1
                entry += label <= other_label
                other += label >= other_label
            by_row[row] = hits


def count_topmost_errors(
    const index_t[::1] indptr, const index_t[::1] indices, const index_t[::1] other_indptr,
    const index_t[::1] other_indices, const int64_t[::1] parents, Py_ssize_t start,
    Py_ssize_t stop,
):
    """Count the wrong labels of rows start..stop that have no wrong ancestor."""
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
    """Rank the labels of rows start..stop and add the errors of the rankings to ``results``.

    The columns of ``results`` are the number of wrong pairs, twice the number of wrong pairs with
    ties as halves, the worst rank of a relevant label, the average precision, and the error of the
    label ranked first. Rows without labels are skipped.
    """
    cdef ScoreRow line
    cdef RowResult* result
    cdef const index_t* labels
    cdef Py_ssize_t row, n_relevant, n_labels = scores.shape[1]
    cdef bytearray buffer = bytearray(n_labels * (2 * sizeof(Entry) + 1))
    line.n_labels = n_labels
    line.entries = <Entry*>PyByteArray_AS_STRING(buffer)
    line.spare = line.entries + n_labels
    line.is_relevant = <uint8_t*>(line.entries + 2 * n_labels)
    with nogil:
        for row in range(start, stop):
            if (row - start) % 1024 == 0:
                check_stop()
            n_relevant = indptr[row + 1] - indptr[row]
            if n_relevant == 0:
                continue
            result = <RowResult*>&results[row, 0]
            labels = &indices[indptr[row]]
            line.scores = &scores[row, 0]
            if n_relevant >= MIN_SORTED:
                _rank_by_sorting(&line, labels, n_relevant, ties, result)
            else:
                _rank_by_comparing(&line, labels, n_relevant, ties, result)
            result.precision /= n_relevant


cdef inline void _add_label(LabelPosition position, int ties, RowResult* result) noexcept nogil:
    """Add the contribution of one relevant label to the result of its row."""
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
    """Return the error of the label ranked first, from the position of the best relevant label."""
    if position.above > 0:
        return 1.0
    if ties == MULAN:
        return 1.0 if position.after > 0 else 0.0
    if ties == AVERAGE:
        return (position.tied - position.relevant_tied) / <double>position.tied
    return 1.0 if position.tied > position.relevant_tied else 0.0


cdef void _rank_by_comparing(
    const ScoreRow* line, const index_t* labels, Py_ssize_t n_relevant, int ties,
    RowResult* result,
) noexcept nogil:
    """Rank a row with few relevant labels: compare each of them with all labels."""
    cdef LabelPosition position
    cdef double value, other_value
    cdef Py_ssize_t i, other
    for i in range(n_relevant):
        value = line.scores[labels[i]]
        position = LabelPosition(0, 0, 0, 0, 0, 0)
        count_above(value, line.scores, line.n_labels, &position.above, &position.tied)
        if position.tied > 1:
            for other in range(labels[i] + 1, line.n_labels):
                position.after += line.scores[other] == value
        for other in range(n_relevant):
            other_value = line.scores[labels[other]]
            position.relevant_above += other_value > value
            position.relevant_tied += other_value == value
            position.relevant_after += other_value == value and other > i
        _add_label(position, ties, result)


cdef void _rank_by_sorting(
    const ScoreRow* line, const index_t* labels, Py_ssize_t n_relevant, int ties,
    RowResult* result,
) noexcept nogil:
    """Rank a row with many relevant labels: sort all labels and visit them from the best."""
    cdef LabelPosition position
    cdef Py_ssize_t i, low, high
    cdef const Entry* entries
    for i in range(n_relevant):
        line.is_relevant[labels[i]] = True
    for i in range(line.n_labels):
        line.entries[i].score = line.scores[i]
        line.entries[i].label = <int32_t>i
    entries = _sort(line.entries, line.spare, line.n_labels)
    high = line.n_labels
    position.relevant_above = 0
    while high > 0:
        low = high
        position.relevant_tied = 0
        while low > 0 and entries[low - 1].score == entries[high - 1].score:
            low -= 1
            position.relevant_tied += line.is_relevant[entries[low].label]
        position.above, position.tied = line.n_labels - high, high - low
        position.after = position.relevant_after = 0
        for i in range(high - 1, low - 1, -1):
            if line.is_relevant[entries[i].label]:
                _add_label(position, ties, result)
                position.relevant_after += 1
            position.after += 1
        position.relevant_above += position.relevant_tied
        high = low
    for i in range(n_relevant):
        line.is_relevant[labels[i]] = False


cdef const Entry* _sort(Entry* entries, Entry* spare, Py_ssize_t n) noexcept nogil:
    """Sort by score, stably; return which of the two buffers holds the result."""
    cdef Entry inserted
    cdef Py_ssize_t i, position, low, size
    for i in range(n):
        inserted = entries[i]
        position = i
        while position % RUN > 0 and entries[position - 1].score > inserted.score:
            entries[position] = entries[position - 1]
            position -= 1
        entries[position] = inserted
    size = RUN
    while size < n:
        low = 0
        while low < n:
            _merge(
                entries + low, min(size, n - low), max(0, min(size, n - low - size)), spare + low
            )
            low += 2 * size
        entries, spare = spare, entries
        size *= 2
    return entries


cdef void _merge(
    const Entry* run, Py_ssize_t n_left, Py_ssize_t n_right, Entry* merged
) noexcept nogil:
    """Merge two adjacent runs, without branches, which could not be predicted."""
    cdef const Entry* left = run
    cdef const Entry* left_end = run + n_left
    cdef const Entry* right = left_end
    cdef const Entry* right_end = right + n_right
    cdef bint takes_right
    while left < left_end and right < right_end:
        takes_right = right.score < left.score
        merged[0] = right[0] if takes_right else left[0]
        right += takes_right
        left += not takes_right
        merged += 1
    memcpy(merged, left, (left_end - left) * sizeof(Entry))
    memcpy(merged + (left_end - left), right, (right_end - right) * sizeof(Entry))


def rank_labels(
    const index_t[::1] indptr, const index_t[::1] rows, const double[:, ::1] scores,
    Py_ssize_t start, Py_ssize_t stop, bint is_grouped, double[:, ::1] results,
):
    """Rank the rows by the scores of labels start..stop, whose rows come in CSC form.

    Each score is placed among the scores of the label's positives, which are few: this is cheaper
    than sorting all scores. The columns of ``results`` are AUC, average precision, interpolated
    precision and area under the precision-recall curve; NaN where one is undefined. With
    ``is_grouped``, rows with equal scores are retrieved together, else in their order.
    """
    cdef Py_ssize_t label, entry, n_labels = stop - start
    cdef Py_ssize_t n_positive = indptr[stop] - indptr[start]
    cdef Py_ssize_t n_counts = 5 * n_positive + n_labels
    cdef bytearray buffer = bytearray(
        n_labels * sizeof(Curve) + n_counts * sizeof(int64_t)
        + 2 * n_positive * (sizeof(Entry) + sizeof(double))
    )
    cdef Curve* curves = <Curve*>PyByteArray_AS_STRING(buffer)
    cdef int64_t* counts = <int64_t*>(curves + n_labels)
    cdef Entry* entries = <Entry*>(counts + n_counts)
    with nogil:
        _divide_buffer(curves, indptr, start, stop, <double*>(entries + 2 * n_positive), counts)
        for label in range(start, stop):
            for entry in range(indptr[label], indptr[label + 1]):
                entries[entry - indptr[label]].score = scores[rows[entry], label]
            _list_distinct(&curves[label - start], entries)
        _place_rows(curves, indptr, rows, scores, start, stop)
        for label in range(start, stop):
            _compute_areas(
                &curves[label - start], scores.shape[0], is_grouped, &results[label, 0]
            )


cdef void _divide_buffer(
    Curve* curves, const index_t[::1] indptr, Py_ssize_t start, Py_ssize_t stop, double* numbers,
    int64_t* counts,
) noexcept nogil:
    """Assign each label its parts of the buffers."""
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


cdef void _list_distinct(Curve* curve, Entry* entries) noexcept nogil:
    """List the distinct scores of a label's positives, ascending, and count each."""
    cdef const Entry* ordered = _sort(entries, entries + curve.n_positive, curve.n_positive)
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
    """Count the sorted numbers below a value, without branches, which could not be predicted."""
    cdef const double* base = numbers
    cdef Py_ssize_t half
    while n > 1:
        half = n // 2
        base += half & -<Py_ssize_t>(base[half - 1] < value)
        n -= half
    return base - numbers + (base[0] < value)


cdef int _place_rows(
    Curve* curves, const index_t[::1] indptr, const index_t[::1] rows,
    const double[:, ::1] scores, Py_ssize_t start, Py_ssize_t stop,
) except -1 nogil:
    """Count the scores of all rows by their place among the distinct scores of each label."""
    cdef Curve* curve
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
            if curve.n_placed < curve.n_positive and rows[indptr[label] + curve.n_placed] == row:
                curve.rank_in_tie[curve.position[below]] = curve.n_tied[below]
                curve.position[below] += 1
                curve.n_placed += 1
    return 0


cdef void _compute_areas(
    Curve* curve, Py_ssize_t n_rows, bint is_grouped, double* result
) noexcept nogil:
    """Compute the four results of a label from its counts, from the best score to the worst."""
    cdef int64_t n_positive = curve.n_positive, n_negative = n_rows - curve.n_positive
    cdef int64_t positive_tied, tied, hits, negative_below
    cdef int64_t n_above = 0, n_positive_above = 0, twice_auc = 0
    cdef const int64_t* rank_in_tie
    cdef double precision, area = 0.0, total = 0.0
    cdef Py_ssize_t group, i
    result[0] = result[1] = result[2] = result[3] = NAN
    if n_positive == 0:
        return
    for group in range(curve.n_distinct - 1, -1, -1):
        positive_tied, tied = curve.n_positive_tied[group], curve.n_tied[group]
        rank_in_tie = curve.rank_in_tie + curve.position[group] - positive_tied
        n_above += curve.n_between[group + 1]
        negative_below = n_negative - (n_above - n_positive_above) - (tied - positive_tied)
        twice_auc += positive_tied * (2 * negative_below + (tied - positive_tied))
        for i in range(positive_tied):
            hits = n_positive_above + (positive_tied if is_grouped else i + 1)
            precision = hits / <double>(n_above + (tied if is_grouped else rank_in_tie[i]))
            curve.precisions[n_positive_above + i] = precision
            total += precision
        n_above += tied
        n_positive_above += positive_tied
        area += positive_tied * (n_positive_above / <double>n_above)
    if n_negative > 0:
        result[0] = twice_auc / (2.0 * n_positive * n_negative)
    result[1] = total / n_positive
    result[2] = _interpolate(curve.precisions, n_positive)
    result[3] = area / n_positive


cdef double _interpolate(const double* precisions, Py_ssize_t n) noexcept nogil:
    """Return the mean, over the recall levels, of the best precision at that recall or more."""
    cdef double best = 0.0, total = 0.0
    cdef Py_ssize_t i, level = RECALL_LEVELS - 1
    for i in range(n - 1, -1, -1):
        # Levels above the recall before this row are reached by this row and those after it.
        best = max(best, precisions[i])
        while level > 0 and (RECALL_LEVELS - 1) * i < level * n:
            total += best
            level -= 1
    return (total + best) / RECALL_LEVELS


def count_positives_above(
    const double[:, ::1] scores, const double[::1] distinct, const int64_t[::1] n_below,
    Py_ssize_t start, Py_ssize_t stop,
):
    """Return twice the number of positives above each cell of rows start..stop, summed.

    A positive with the same score counts once. ``n_below`` is the number of positives with a
    score below each of ``distinct``, and their total number at the end.
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
    """Add log loss and squared error of the cells of rows start..stop to the two totals.

    Rows of a sparse score matrix come in several calls: adding to running totals rounds as a single
    call over all rows does.
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
