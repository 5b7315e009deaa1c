"""Compiled loops of the random resamplers: rows in bags, and the turns that labels take."""

from __future__ import annotations

import numpy as np

from scumble._core.jit import kernel


@kernel
def group_by_number(numbers, places, rows):
    """Write the rows of each number side by side, in order; ``places`` are their starts."""
    for row in range(len(numbers)):
        number = numbers[row]
        rows[places[number]] = row
        places[number] += 1


@kernel
def share_out(total, capacity, change, used):
    """Share ``total`` equally among bags in order, passing on what a bag cannot use.

    ``change`` holds, at each bag, by how much the share differs from that of the bag before.
    """
    n_bags = len(capacity)
    spare = total
    share = 0
    for bag in range(n_bags):
        left = n_bags - bag
        # Share out what the bag before could not use: equal parts, single rows first.
        share += spare // left
        single = spare % left
        if single > 0:
            change[bag] += 1
            change[bag + single] -= 1
        share += change[bag]
        used[bag] = min(share, capacity[bag])
        spare = share - used[bag]


@kernel
def drop_from_bags(rows, starts, sizes, shares, drawn, keep):
    """Clear ``keep`` for random rows of each bag, without replacement (Fisher and Yates)."""
    at = 0
    for bag in range(len(starts)):
        start, size = starts[bag], sizes[bag]
        for _ in range(shares[bag]):
            place = start + int(drawn[at] * size)
            at += 1
            size -= 1
            row = rows[place]
            rows[place] = rows[start + size]
            rows[start + size] = row
            keep[row] = False


@kernel
def count_listed(indices, number, starts):
    """Count the rows of each numbered label into the place after its own."""
    for place in range(len(indices)):
        at = number[indices[place]]
        if at >= 0:
            starts[at + 1] += 1


@kernel
def list_rows(indptr, indices, number, places, rows):
    """Write the rows of each numbered label side by side; ``places`` are their starts."""
    for row in range(len(indptr) - 1):
        for place in range(indptr[row], indptr[row + 1]):
            at = number[indices[place]]
            if at >= 0:
                rows[places[at]] = row
                places[at] += 1


@kernel
def clone_in_turns(indptr, indices, labels, starts, bag_rows, counts, mean_ir, drawn, clones):
    """Let the labels take turns in cloning a row of their bags; return how many were cloned."""
    is_open = np.ones(len(labels), np.bool_)
    n_open = len(labels)
    most = counts.max() if len(counts) else 0
    n_clones = 0
    while n_open > 0 and n_clones < len(clones):
        for at in range(len(labels)):
            if not is_open[at]:
                continue
            if most / counts[labels[at]] <= mean_ir:
                is_open[at] = False
                n_open -= 1
                continue
            if n_clones == len(clones):
                break
            size = starts[at + 1] - starts[at]
            row = bag_rows[starts[at] + int(drawn[n_clones] * size)]
            clones[n_clones] = row
            n_clones += 1
            for place in range(indptr[row], indptr[row + 1]):
                counts[indices[place]] += 1
                most = max(most, counts[indices[place]])
    return n_clones


@kernel
def list_unprotected(indptr, indices, is_minority, starts, listed, place_of):
    """List the rows without minority labels under each of their labels.

    ``place_of`` tells where each label assignment is listed; -1 in protected rows.
    """
    n_rows = len(indptr) - 1
    starts[:] = 0
    for row in range(n_rows):
        protected = False
        for place in range(indptr[row], indptr[row + 1]):
            protected |= is_minority[indices[place]]
        for place in range(indptr[row], indptr[row + 1]):
            place_of[place] = -1 if protected else 0
            if not protected:
                starts[indices[place] + 1] += 1
    for label in range(len(starts) - 1):
        starts[label + 1] += starts[label]
    filled = np.zeros(len(starts) - 1, np.int64)
    for row in range(n_rows):
        for place in range(indptr[row], indptr[row + 1]):
            if place_of[place] >= 0:
                label = indices[place]
                place_of[place] = starts[label] + filled[label]
                listed[place_of[place]] = row
                filled[label] += 1


@kernel
def _unlist(indptr, indices, row, label, at, starts, sizes, listed, place_of):
    """Take the row at place ``at`` off the label's list; the last row takes its place."""
    sizes[label] -= 1
    last = starts[label] + sizes[label]
    moved = listed[last]
    listed[at] = moved
    listed[last] = row
    low, high = indptr[moved], indptr[moved + 1]
    while low < high:  # the labels of a row are sorted
        middle = (low + high) // 2
        if indices[middle] < label:
            low = middle + 1
        else:
            high = middle
    place_of[low] = at


@kernel
def delete_in_turns(
    indptr, indices, labels, starts, listed, place_of, counts, mean_ir, drawn, keep
):
    """Let the labels take turns in deleting one of their unprotected rows."""
    sizes = np.diff(starts)
    is_open = np.ones(len(labels), np.bool_)
    n_open = len(labels)
    most = counts.max() if len(counts) else 0
    n_deleted = 0
    while n_open > 0 and n_deleted < len(drawn):
        for at in range(len(labels)):
            if not is_open[at]:
                continue
            label = labels[at]
            if sizes[label] == 0 or most / counts[label] >= mean_ir:
                is_open[at] = False
                n_open -= 1
                continue
            if n_deleted == len(drawn):
                break
            row = listed[starts[label] + int(drawn[n_deleted] * sizes[label])]
            n_deleted += 1
            keep[row] = False
            touched_most = False
            for place in range(indptr[row], indptr[row + 1]):
                other = indices[place]
                touched_most |= counts[other] == most
                counts[other] -= 1
                _unlist(
                    indptr, indices, row, other, place_of[place], starts, sizes, listed, place_of
                )
            if touched_most:
                most = counts.max()
