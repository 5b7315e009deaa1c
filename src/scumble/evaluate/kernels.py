"""Compiled loops over label assignments and scores. Each takes a range of rows or labels."""

from __future__ import annotations

import math
from heapq import heappop, heappush

import numpy as np

from scumble._core.jit import kernel

# How labels with equal scores are ranked.
MULAN, AVERAGE, WORST = 0, 1, 2
#: From so many relevant labels on, sorting a row is cheaper than comparing each with all.
MANY = 64
#: Recall levels of the interpolated precision are 0, 1/9, ..., 1, as in MULAN.
LEVELS = 10
CLIP = 1e-8


@kernel
def count_hits(indptr, indices, other_indptr, other_indices, start, stop, by_row, by_label):
    """Count the labels that rows start..stop have in both matrices, by row and by label."""
    for row in range(start, stop):
        at, end = indptr[row], indptr[row + 1]
        other, other_end = other_indptr[row], other_indptr[row + 1]
        hits = 0
        while at < end and other < other_end:
            difference = np.int64(indices[at]) - np.int64(other_indices[other])
            if difference == 0:
                hits += 1
                by_label[indices[at]] += 1
            at += difference <= 0
            other += difference >= 0
        by_row[row] = hits


@kernel
def count_top_faults(indptr, indices, other_indptr, other_indices, parents, start, stop):
    """Count the wrong labels of rows start..stop that have no wrong label above them."""
    wrong = np.zeros(len(parents), np.bool_)
    touched = np.empty(2 * len(parents), np.int64)
    total = 0
    for row in range(start, stop):
        n = 0
        for at in range(indptr[row], indptr[row + 1]):
            touched[n] = indices[at]
            wrong[indices[at]] = True
            n += 1
        for at in range(other_indptr[row], other_indptr[row + 1]):
            touched[n] = other_indices[at]
            wrong[other_indices[at]] = not wrong[other_indices[at]]  # in both: right after all
            n += 1
        for at in range(n):
            if wrong[touched[at]]:
                above = parents[touched[at]]
                while above >= 0 and not wrong[above]:
                    above = parents[above]
                total += above < 0
        for at in range(n):
            wrong[touched[at]] = False
    return total


@kernel
def _credit(ties, above, tied, after, relevant_above, relevant_tied, relevant_after):
    """Judge one relevant label by the labels around it: rank, rank among relevant, wrong pairs."""
    if ties == MULAN:
        rank = above + after + 1.0
        among = relevant_above + relevant_after + 1.0
    elif ties == AVERAGE:
        rank = above + (tied + 1.0) / 2.0
        among = relevant_above + (relevant_tied + 1.0) / 2.0
    else:
        rank = above + tied + 0.0
        among = relevant_above + relevant_tied + 0.0
    return rank, among, rank - among


@kernel
def _top_fault(ties, above, tied, after, relevant_tied):
    """Tell how wrong the best label is, seen from the best relevant one."""
    if above > 0:
        return 1.0
    if ties == MULAN:
        return 1.0 if after > 0 else 0.0
    if ties == AVERAGE:
        return (tied - relevant_tied) / tied
    return 1.0 if tied > relevant_tied else 0.0


@kernel
def rank_rows(indptr, indices, scores, start, stop, ties, wrong, twice_auc, worst, precision, top):
    """Judge the ranking of the labels of rows start..stop.

    Writes the number of wrong pairs, twice the number of wrong pairs with ties as halves, the
    worst rank of a relevant label, the average precision, and how wrong the best label is.
    """
    for row in range(start, stop):
        n_relevant = indptr[row + 1] - indptr[row]
        if n_relevant >= MANY:
            _rank_long_row(
                indptr, indices, scores, row, ties, wrong, twice_auc, worst, precision, top
            )
        elif n_relevant > 0:
            _rank_row(indptr, indices, scores, row, ties, wrong, twice_auc, worst, precision, top)


@kernel
def _rank_row(indptr, indices, scores, row, ties, wrong, twice_auc, worst, precision, top):
    """Compare each relevant label with all labels."""
    first, last = indptr[row], indptr[row + 1]
    line = scores[row]
    for at in range(first, last):
        label = indices[at]
        value = line[label]
        above = tied = after = 0
        for k in range(len(line)):
            above += line[k] > value
            tied += line[k] == value
        if tied > 1:
            for k in range(label + 1, len(line)):
                after += line[k] == value
        relevant_above = relevant_tied = relevant_after = 0
        for other in range(first, last):
            relevant_above += line[indices[other]] > value
            equal = line[indices[other]] == value
            relevant_tied += equal
            relevant_after += equal & (other > at)
        rank, among, faults = _credit(
            ties, above, tied, after, relevant_above, relevant_tied, relevant_after
        )
        wrong[row] += faults
        twice_auc[row] += 2 * (above - relevant_above) + (tied - relevant_tied)
        worst[row] = max(worst[row], rank)
        precision[row] += among / rank
        if relevant_above == 0 and (ties != MULAN or relevant_after == 0):
            top[row] = _top_fault(ties, above, tied, after, relevant_tied)
    precision[row] /= last - first


@kernel
def _rank_long_row(indptr, indices, scores, row, ties, wrong, twice_auc, worst, precision, top):
    """Sort the labels once and walk from the best to the worst, tie by tie."""
    first, last = indptr[row], indptr[row + 1]
    line = scores[row]
    relevant = np.zeros(len(line), np.bool_)
    for at in range(first, last):
        relevant[indices[at]] = True
    order = np.argsort(line, kind="mergesort")
    high = len(line)
    relevant_above = 0
    while high > 0:
        value = line[order[high - 1]]
        low = high
        relevant_tied = 0
        while low > 0 and line[order[low - 1]] == value:
            low -= 1
            relevant_tied += relevant[order[low]]
        above, tied = len(line) - high, high - low
        after = relevant_after = 0
        for place in range(high - 1, low - 1, -1):
            if relevant[order[place]]:
                rank, among, faults = _credit(
                    ties, above, tied, after, relevant_above, relevant_tied, relevant_after
                )
                wrong[row] += faults
                twice_auc[row] += 2 * (above - relevant_above) + (tied - relevant_tied)
                worst[row] = max(worst[row], rank)
                precision[row] += among / rank
                if relevant_above == 0 and (ties != MULAN or relevant_after == 0):
                    top[row] = _top_fault(ties, above, tied, after, relevant_tied)
                relevant_after += 1
            after += 1
        relevant_above += relevant_tied
        high = low
    precision[row] /= last - first


@kernel
def gather_positives(indptr, rows, scores, start, stop, distinct, times, n_distinct):
    """For labels start..stop list the distinct scores of their rows, ascending, and how often."""
    for label in range(start, stop):
        first, last = indptr[label], indptr[label + 1]
        values = np.empty(last - first, np.float64)
        for at in range(first, last):
            values[at - first] = scores[rows[at], label]
        values.sort()
        n = 0
        for at in range(len(values)):
            if n > 0 and distinct[first + n - 1] == values[at]:
                times[first + n - 1] += 1
            else:
                distinct[first + n] = values[at]
                times[first + n] = 1
                n += 1
        n_distinct[label] = n


@kernel
def _count_below(sorted_values, first, n, value):
    """Count the values below; without branches, since these could not be foreseen."""
    base = first
    length = n
    while length > 1:
        half = length // 2
        base += half * (sorted_values[base + half - 1] < value)
        length -= half
    return base - first + (sorted_values[base] < value)


@kernel
def rank_labels(
    indptr, rows, scores, start, stop, grouped, distinct, times, n_distinct, tied, between, curves
):
    """Judge the ranking of the rows by labels start..stop.

    Every score is placed among the scores of the label's own rows, which are few: this is
    cheaper than sorting all. Writes AUC, average precision, interpolated precision and area
    under the precision-recall curve to ``curves``; NaN where there is none.
    """
    n_rows = scores.shape[0]
    within = np.empty(indptr[stop] - indptr[start], np.int64)
    group = np.empty(indptr[stop] - indptr[start], np.int64)
    offset = indptr[start]
    following = indptr[start : stop + 1].copy()
    for row in range(n_rows):
        for label in range(start, stop):
            n = n_distinct[label]
            if n == 0:
                continue
            first = indptr[label]
            value = scores[row, label]
            below = _count_below(distinct, first, n, value)
            if below < n and distinct[first + below] == value:
                tied[first + below] += 1
                at = following[label - start]
                if at < indptr[label + 1] and rows[at] == row:
                    group[at - offset] = below
                    within[at - offset] = tied[first + below]
                    following[label - start] += 1
            else:
                between[first + label + below] += 1
    for label in range(start, stop):
        _draw_curves(
            indptr, label, n_rows, grouped, times, n_distinct[label], tied, between,
            group[indptr[label] - offset :], within[indptr[label] - offset :], curves,
        )  # fmt: skip


@kernel
def _draw_curves(indptr, label, n_rows, grouped, times, n, tied, between, group, within, curves):
    first, last = indptr[label], indptr[label + 1]
    n_positive = last - first
    n_negative = n_rows - n_positive
    curves[label, :] = np.nan
    if n_positive == 0:
        return
    rows_above = np.empty(n, np.int64)
    positives_above = np.empty(n, np.int64)
    seen = positives = twice = 0
    area = 0.0
    for g in range(n - 1, -1, -1):
        seen += between[first + label + g + 1]
        rows_above[g] = seen
        positives_above[g] = positives
        negative_tied = tied[first + g] - times[first + g]
        negative_below = n_negative - (seen - positives) - negative_tied
        twice += times[first + g] * (2 * negative_below + negative_tied)
        seen += tied[first + g]
        positives += times[first + g]
        area += times[first + g] * (positives / seen)
    precisions = np.empty(n_positive, np.float64)
    met = np.zeros(n, np.int64)
    for at in range(n_positive):
        g = group[at]
        met[g] += 1
        if grouped:
            hits = positives_above[g] + times[first + g]
            value = hits / (rows_above[g] + tied[first + g])
        else:
            value = (positives_above[g] + met[g]) / (rows_above[g] + within[at])
        precisions[positives_above[g] + met[g] - 1] = value
    if n_negative > 0:
        curves[label, 0] = twice / (2.0 * n_positive * n_negative)
    curves[label, 1] = precisions.sum() / n_positive
    curves[label, 2] = _interpolate(precisions)
    curves[label, 3] = area / n_positive


@kernel
def _interpolate(precisions):
    """Average, over the recall levels, the best precision at that recall or more."""
    n = len(precisions)
    best = 0.0
    total = 0.0
    level = LEVELS - 1
    for at in range(n - 1, -1, -1):
        # Levels above the recall before this row are reached from here on.
        best = max(best, precisions[at])
        while level > 0 and (LEVELS - 1) * at < level * n:
            total += best
            level -= 1
    return (total + best) / LEVELS


@kernel
def count_positives_above(scores, start, stop, distinct, below):
    """Sum over all cells of rows start..stop the positives with a better score, twice.

    A positive with the same score counts once. ``below`` is the number of positives with a
    score below each of ``distinct``, and their total number at the end.
    """
    n = len(distinct)
    total = below[n]
    twice = 0
    for row in range(start, stop):
        line = scores[row]
        for k in range(len(line)):
            place = _count_below(distinct, 0, n, line[k])
            equal = place < n and distinct[min(place, n - 1)] == line[k]
            twice += 2 * total - below[place] - below[place + equal]
    return twice


@kernel
def judge_probabilities(indptr, indices, scores, start, stop):
    """Sum log loss and squared error over the cells of rows start..stop."""
    log_total = 0.0
    square_total = 0.0
    for row in range(start, stop):
        at, last = indptr[row], indptr[row + 1]
        line = scores[row]
        loss = 0.0
        square = 0.0
        for k in range(len(line)):
            clipped = min(max(line[k], CLIP), 1.0 - CLIP)
            if at < last and indices[at] == k:
                at += 1
                square += (1.0 - line[k]) * (1.0 - line[k])
                loss -= math.log(clipped)
            else:
                square += line[k] * line[k]
                loss -= math.log(1.0 - clipped)
        log_total += loss
        square_total += square
    return log_total, square_total


@kernel
def stratify(indptr, indices, column_indptr, column_rows, n_folds, first_choice):
    """Deal rows to folds, the rarest label first, each to the fold that wants it most.

    A heap finds the rarest label: a label enters it again whenever it loses a row, and what is
    out of date is passed over.
    """
    n_rows, n_labels = len(indptr) - 1, len(column_indptr) - 1
    left = column_indptr[1:] - column_indptr[:-1]
    wanted = np.empty((n_labels, n_folds), np.float64)
    for label in range(n_labels):
        wanted[label] = left[label] / n_folds
    wanted_rows = np.full(n_folds, n_rows / n_folds)
    folds = np.full(n_rows, -1, np.int64)
    heap = [np.int64(0) for _ in range(0)]
    for label in range(n_labels):
        if left[label] > 0:
            heappush(heap, left[label] * n_labels + label)
    while len(heap) > 0:
        key = heappop(heap)
        label = key % n_labels
        if left[label] != key // n_labels:
            continue
        for at in range(column_indptr[label], column_indptr[label + 1]):
            row = column_rows[at]
            if folds[row] >= 0:
                continue
            best = _neediest(wanted[label], wanted_rows, first_choice[row])
            folds[row] = best
            wanted_rows[best] -= 1
            for other in indices[indptr[row] : indptr[row + 1]]:
                wanted[other, best] -= 1
                left[other] -= 1
                if left[other] > 0 and other != label:
                    heappush(heap, left[other] * n_labels + other)
    for row in range(n_rows):
        if folds[row] < 0:
            best = _neediest(wanted_rows, wanted_rows, first_choice[row])
            folds[row] = best
            wanted_rows[best] -= 1
    return folds


@kernel
def _neediest(wanted, wanted_rows, start):
    """Find the fold that wants most, looking from ``start`` on, so that ties are chance."""
    best = start
    for step in range(1, len(wanted)):
        fold = (start + step) % len(wanted)
        if wanted[fold] > wanted[best] or (
            wanted[fold] == wanted[best] and wanted_rows[fold] > wanted_rows[best]
        ):
            best = fold
    return best
