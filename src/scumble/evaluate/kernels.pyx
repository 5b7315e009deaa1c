"""Loops over label assignments and scores. Each takes a range of rows or labels."""

from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.math cimport NAN, log
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from scumble._core.interrupt cimport check_stop
from scumble._core.types cimport index_t


cdef enum:
    # How labels with equal scores are ranked, by the place in TIES; what is left ranks them last.
    MULAN = 0
    AVERAGE = 1
    MANY = 64  # relevant labels from which on sorting is cheaper than comparing each with all
    LEVELS = 10  # of recall, at which precision is interpolated: 0, 1/9, ..., 1, as in MULAN
    RUN = 16  # elements sorted by insertion
    STEP = 1 << 16  # rows between two looks at whether to stop

cdef double CLIP = 1e-8

cdef extern from "scumble/evaluate/counting.h" nogil:
    void count_above(double, const double*, Py_ssize_t, int64_t*, int64_t*)

cdef struct Around:
    # How many labels, and how many relevant ones, stand around a relevant label.
    int64_t above, tied, after
    int64_t relevant_above, relevant_tied, relevant_after

cdef struct Judgement:
    # Of the ranking of a row.
    double wrong, twice_auc, worst, precision, top

cdef struct Entry:
    double score
    int32_t label

cdef struct Line:
    # The scores of a row, and room to sort them.
    const double* scores
    Py_ssize_t n_labels
    Entry* entries
    Entry* spare
    uint8_t* relevant

cdef struct Curve:
    # What is counted of the rows that have a label, and of all rows by their scores.
    Py_ssize_t n_positive
    Py_ssize_t n  # distinct scores
    double* distinct  # in increasing order
    int64_t* times  # how often each occurs among the positives
    int64_t* tied  # and among all rows
    int64_t* between  # rows with scores between two distinct ones
    Py_ssize_t next  # the positive that comes next
    int64_t* place  # of the next positive with this score, when all stand in the order of scores
    int64_t* within  # at this place: how many rows with the same score came up to it
    double* precisions


def count_hits(
    const index_t[::1] indptr, const index_t[::1] indices, const index_t[::1] other_indptr,
    const index_t[::1] other_indices, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] by_row,
    int64_t[::1] by_label,
):
    """Count the labels that rows start..stop have in both matrices, by row and by label."""
    cdef Py_ssize_t row, at, end, other, other_end
    cdef index_t label, other_label
    cdef int64_t hits
    with nogil:
        for row in range(start, stop):
            if (row - start) % STEP == 0:
                check_stop()
            at, end = indptr[row], indptr[row + 1]
            other, other_end = other_indptr[row], other_indptr[row + 1]
            hits = 0
            while at < end and other < other_end:
                label = indices[at]
                other_label = other_indices[other]
                if label == other_label:
                    hits += 1
                    by_label[label] += 1
                at += label <= other_label
                other += label >= other_label
            by_row[row] = hits


def count_topmost_errors(
    const index_t[::1] indptr, const index_t[::1] indices, const index_t[::1] other_indptr,
    const index_t[::1] other_indices, const int64_t[::1] parents, Py_ssize_t start,
    Py_ssize_t stop,
):
    """Count the wrong labels of rows start..stop that have no wrong label above them."""
    cdef bytearray room = bytearray(parents.shape[0] + 1)
    cdef uint8_t* wrong = <uint8_t*>PyByteArray_AS_STRING(room)
    cdef Py_ssize_t row, at
    cdef int64_t total = 0
    with nogil:
        for row in range(start, stop):
            if (row - start) % STEP == 0:
                check_stop()
            for at in range(indptr[row], indptr[row + 1]):
                wrong[indices[at]] = True
            for at in range(other_indptr[row], other_indptr[row + 1]):
                wrong[other_indices[at]] ^= True  # in both: right after all
            for at in range(indptr[row], indptr[row + 1]):
                total += _is_top_fault(wrong, parents, indices[at])
            for at in range(other_indptr[row], other_indptr[row + 1]):
                total += _is_top_fault(wrong, parents, other_indices[at])
            for at in range(indptr[row], indptr[row + 1]):
                wrong[indices[at]] = False
            for at in range(other_indptr[row], other_indptr[row + 1]):
                wrong[other_indices[at]] = False
    return total


cdef bint _is_top_fault(
    const uint8_t* wrong, const int64_t[::1] parents, Py_ssize_t label
) noexcept nogil:
    """Tell whether a label is wrong and none above it is."""
    if not wrong[label]:
        return False
    label = parents[label]
    while label >= 0 and not wrong[label]:
        label = parents[label]
    return label < 0


def rank_rows(
    const index_t[::1] indptr, const index_t[::1] indices, const double[:, ::1] scores,
    int ties, double[:, ::1] judged, Py_ssize_t start, Py_ssize_t stop,
):
    """Judge the ranking of the labels of rows start..stop.

    Adds, each to a column of ``judged``, the number of wrong pairs, twice the number of wrong pairs
    with ties as halves, the worst rank of a relevant label, the average precision, and how wrong
    the best label is; nothing where a row has no label.
    """
    cdef Line line
    cdef Judgement* found
    cdef const index_t* labels
    cdef Py_ssize_t row, n_relevant, n_labels = scores.shape[1]
    cdef bytearray room = bytearray(n_labels * (2 * sizeof(Entry) + 1))
    line.n_labels, line.entries = n_labels, <Entry*>PyByteArray_AS_STRING(room)
    line.spare, line.relevant = line.entries + n_labels, <uint8_t*>(line.entries + 2 * n_labels)
    with nogil:
        for row in range(start, stop):
            if (row - start) % 1024 == 0:
                check_stop()
            n_relevant = indptr[row + 1] - indptr[row]
            if n_relevant == 0:
                continue
            found, labels = <Judgement*>&judged[row, 0], &indices[indptr[row]]
            line.scores = &scores[row, 0]
            if n_relevant >= MANY:
                _rank_long_row(&line, labels, n_relevant, ties, found)
            else:
                _rank_row(&line, labels, n_relevant, ties, found)
            found.precision /= n_relevant


cdef inline void _judge(Around around, int ties, Judgement* found) noexcept nogil:
    """Judge one relevant label by the labels around it."""
    cdef double rank, among
    if ties == MULAN:
        rank = around.above + around.after + 1.0
        among = around.relevant_above + around.relevant_after + 1.0
    elif ties == AVERAGE:
        rank = around.above + (around.tied + 1.0) / 2.0
        among = around.relevant_above + (around.relevant_tied + 1.0) / 2.0
    else:
        rank = around.above + around.tied
        among = around.relevant_above + around.relevant_tied
    found.wrong += rank - among
    found.twice_auc += (
        2 * (around.above - around.relevant_above) + (around.tied - around.relevant_tied)
    )
    found.worst = max(found.worst, rank)
    found.precision += among / rank
    if around.relevant_above == 0 and (ties != MULAN or around.relevant_after == 0):
        found.top = _top_fault(around, ties)


cdef inline double _top_fault(Around around, int ties) noexcept nogil:
    """Tell how wrong the best label is, seen from the best relevant one."""
    if around.above > 0:
        return 1.0
    if ties == MULAN:
        return 1.0 if around.after > 0 else 0.0
    if ties == AVERAGE:
        return (around.tied - around.relevant_tied) / <double>around.tied
    return 1.0 if around.tied > around.relevant_tied else 0.0


cdef void _rank_row(
    const Line* line, const index_t* labels, Py_ssize_t n_relevant, int ties, Judgement* found
) noexcept nogil:
    """Compare each relevant label with all labels."""
    cdef Around around
    cdef double value, other_value
    cdef Py_ssize_t at, other
    for at in range(n_relevant):
        value = line.scores[labels[at]]
        around = Around(0, 0, 0, 0, 0, 0)
        count_above(value, line.scores, line.n_labels, &around.above, &around.tied)
        if around.tied > 1:
            for other in range(labels[at] + 1, line.n_labels):
                around.after += line.scores[other] == value
        for other in range(n_relevant):
            other_value = line.scores[labels[other]]
            around.relevant_above += other_value > value
            around.relevant_tied += other_value == value
            around.relevant_after += other_value == value and other > at
        _judge(around, ties, found)


cdef void _rank_long_row(
    const Line* line, const index_t* labels, Py_ssize_t n_relevant, int ties, Judgement* found
) noexcept nogil:
    """Sort the labels once and walk from the best to the worst, tie by tie."""
    cdef Around around
    cdef Py_ssize_t at, low, high
    cdef const Entry* entries
    for at in range(n_relevant):
        line.relevant[labels[at]] = True
    for at in range(line.n_labels):
        line.entries[at].score = line.scores[at]
        line.entries[at].label = <int32_t>at
    entries = _sort(line.entries, line.spare, line.n_labels)
    high = line.n_labels
    around.relevant_above = 0
    while high > 0:
        low = high
        around.relevant_tied = 0
        while low > 0 and entries[low - 1].score == entries[high - 1].score:
            low -= 1
            around.relevant_tied += line.relevant[entries[low].label]
        around.above, around.tied = line.n_labels - high, high - low
        around.after = around.relevant_after = 0
        for at in range(high - 1, low - 1, -1):
            if line.relevant[entries[at].label]:
                _judge(around, ties, found)
                around.relevant_after += 1
            around.after += 1
        around.relevant_above += around.relevant_tied
        high = low
    for at in range(n_relevant):
        line.relevant[labels[at]] = False


cdef const Entry* _sort(Entry* entries, Entry* spare, Py_ssize_t n) noexcept nogil:
    """Sort by score, equal ones in their order; return which of the two holds the result."""
    cdef Entry moved
    cdef Py_ssize_t at, place, low, size
    for at in range(n):
        moved = entries[at]
        place = at
        while place % RUN > 0 and entries[place - 1].score > moved.score:
            entries[place] = entries[place - 1]
            place -= 1
        entries[place] = moved
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
    """Merge two runs that follow each other, without branches that could not be foreseen."""
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
    Py_ssize_t start, Py_ssize_t stop, bint grouped, double[:, ::1] curves,
):
    """Judge the ranking of the rows by labels start..stop, given column by column.

    Every score is placed among the scores of the label's own rows, which are few: this is
    cheaper than sorting all. Writes AUC, average precision, interpolated precision and area
    under the precision-recall curve to ``curves``; NaN where there is none.
    """
    cdef Py_ssize_t label, at, n_labels = stop - start, n_positive = indptr[stop] - indptr[start]
    cdef Py_ssize_t n_counts = 5 * n_positive + n_labels
    cdef bytearray room = bytearray(
        n_labels * sizeof(Curve) + n_counts * sizeof(int64_t)
        + 2 * n_positive * (sizeof(Entry) + sizeof(double))
    )
    cdef Curve* found = <Curve*>PyByteArray_AS_STRING(room)
    cdef int64_t* counts = <int64_t*>(found + n_labels)
    cdef Entry* entries = <Entry*>(counts + n_counts)
    with nogil:
        _share_out(found, indptr, start, stop, <double*>(entries + 2 * n_positive), counts)
        for label in range(start, stop):
            for at in range(indptr[label], indptr[label + 1]):
                entries[at - indptr[label]].score = scores[rows[at], label]
            _list_distinct(&found[label - start], entries)
        _place_rows(found, indptr, rows, scores, start, stop)
        for label in range(start, stop):
            _draw_curves(&found[label - start], scores.shape[0], grouped, &curves[label, 0])


cdef void _share_out(
    Curve* curves, const index_t[::1] indptr, Py_ssize_t start, Py_ssize_t stop, double* numbers,
    int64_t* counts,
) noexcept nogil:
    """Give every label its part of the memory."""
    cdef Py_ssize_t label, n
    for label in range(start, stop):
        n = indptr[label + 1] - indptr[label]
        curves.n_positive = n
        curves.distinct = numbers
        curves.precisions = numbers + n
        curves.times = counts
        curves.tied = counts + n
        curves.place = counts + 2 * n
        curves.within = counts + 3 * n
        curves.between = counts + 4 * n
        numbers += 2 * n
        counts += 5 * n + 1
        curves += 1


cdef void _list_distinct(Curve* curve, Entry* entries) noexcept nogil:
    """List the distinct scores of a label's rows, ascending, and how often each occurs."""
    cdef const Entry* found = _sort(entries, entries + curve.n_positive, curve.n_positive)
    cdef Py_ssize_t at
    for at in range(curve.n_positive):
        if curve.n == 0 or curve.distinct[curve.n - 1] != found[at].score:
            curve.distinct[curve.n] = found[at].score
            curve.place[curve.n] = at
            curve.n += 1
        curve.times[curve.n - 1] += 1


cdef inline Py_ssize_t _count_below(
    const double* numbers, Py_ssize_t n, double value
) noexcept nogil:
    """Count the numbers below; without branches, since these could not be foreseen."""
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
    """Place the scores of all rows among the distinct ones of each label."""
    cdef Curve* curve
    cdef double value
    cdef Py_ssize_t row, label, below
    for row in range(scores.shape[0]):
        if row % STEP == 0:
            check_stop()
        for label in range(start, stop):
            curve = &curves[label - start]
            if curve.n == 0:
                continue
            value = scores[row, label]
            below = _count_below(curve.distinct, curve.n, value)
            if below == curve.n or curve.distinct[below] != value:
                curve.between[below] += 1
                continue
            curve.tied[below] += 1
            if curve.next < curve.n_positive and rows[indptr[label] + curve.next] == row:
                curve.within[curve.place[below]] = curve.tied[below]
                curve.place[below] += 1
                curve.next += 1
    return 0


cdef void _draw_curves(
    Curve* curve, Py_ssize_t n_rows, bint grouped, double* drawn
) noexcept nogil:
    """Turn counts into the four numbers of a label."""
    cdef int64_t n_positive = curve.n_positive, n_negative = n_rows - curve.n_positive
    cdef int64_t times, tied, hits, negative_below, seen = 0, positives = 0, twice = 0
    cdef const int64_t* within
    cdef double precision, area = 0.0, total = 0.0
    cdef Py_ssize_t g, at
    drawn[0] = drawn[1] = drawn[2] = drawn[3] = NAN
    if n_positive == 0:
        return
    for g in range(curve.n - 1, -1, -1):
        times, tied = curve.times[g], curve.tied[g]
        within = curve.within + curve.place[g] - times
        seen += curve.between[g + 1]
        negative_below = n_negative - (seen - positives) - (tied - times)
        twice += times * (2 * negative_below + (tied - times))
        for at in range(times):
            hits = positives + (times if grouped else at + 1)
            precision = hits / <double>(seen + (tied if grouped else within[at]))
            curve.precisions[positives + at] = precision
            total += precision
        seen += tied
        positives += times
        area += times * (positives / <double>seen)
    if n_negative > 0:
        drawn[0] = twice / (2.0 * n_positive * n_negative)
    drawn[1] = total / n_positive
    drawn[2] = _interpolate(curve.precisions, n_positive)
    drawn[3] = area / n_positive


cdef double _interpolate(const double* precisions, Py_ssize_t n) noexcept nogil:
    """Average, over the recall levels, the best precision at that recall or more."""
    cdef double best = 0.0, total = 0.0
    cdef Py_ssize_t at, level = LEVELS - 1
    for at in range(n - 1, -1, -1):
        # Levels above the recall before this row are reached from here on.
        best = max(best, precisions[at])
        while level > 0 and (LEVELS - 1) * at < level * n:
            total += best
            level -= 1
    return (total + best) / LEVELS


def count_positives_above(
    const double[:, ::1] scores, const double[::1] distinct, const int64_t[::1] below,
    Py_ssize_t start, Py_ssize_t stop,
):
    """Sum over all cells of rows start..stop the positives with a better score, twice.

    A positive with the same score counts once. ``below`` is the number of positives with a
    score below each of ``distinct``, and their total number at the end.
    """
    cdef Py_ssize_t row, at, place, equal, n = distinct.shape[0]
    cdef int64_t total = below[n], twice = 0
    cdef double value
    with nogil:
        for row in range(start, stop):
            if (row - start) % 1024 == 0:
                check_stop()
            for at in range(scores.shape[1]):
                value = scores[row, at]
                place = _count_below(&distinct[0], n, value)
                equal = place < n and distinct[min(place, n - 1)] == value
                twice += 2 * total - below[place] - below[place + equal]
    return twice


def sum_probability_losses(
    const index_t[::1] indptr, const index_t[::1] indices, const double[:, ::1] scores,
    Py_ssize_t start, Py_ssize_t stop,
):
    """Sum log loss and squared error over the cells of rows start..stop."""
    cdef double loss, square, value, clipped, log_total = 0.0, square_total = 0.0
    cdef Py_ssize_t row, label, at, last
    with nogil:
        for row in range(start, stop):
            if (row - start) % 1024 == 0:
                check_stop()
            at, last = indptr[row], indptr[row + 1]
            loss = square = 0.0
            for label in range(scores.shape[1]):
                value = scores[row, label]
                clipped = min(max(value, CLIP), 1.0 - CLIP)
                if at < last and indices[at] == label:
                    at += 1
                    square += (1.0 - value) * (1.0 - value)
                    loss -= log(clipped)
                else:
                    square += value * value
                    loss -= log(1.0 - clipped)
            log_total += loss
            square_total += square
    return log_total, square_total
