"""Compiled loops of the random resamplers: rows in bags, and the turns that labels take."""

from __future__ import annotations

import numpy as np

from scumble._core.jit import kernel


@kernel
def place_rows(indptr, rows, new_indptr):
    """Tell where the given rows start when they stand one after another."""
    new_indptr[0] = 0
    for at in range(len(rows)):
        row = np.uint64(rows[at])
        new_indptr[at + 1] = new_indptr[at] + indptr[row + np.uint64(1)] - indptr[row]


@kernel
def copy_rows(indptr, values, rows, new_indptr, new_values):
    """Copy the stored values of the given rows to their new places."""
    for at in range(len(rows)):
        row, place = np.uint64(rows[at]), np.uint64(new_indptr[at])
        begin = np.uint64(indptr[row])
        for step in range(np.uint64(indptr[row + np.uint64(1)]) - begin):
            new_values[place + step] = values[begin + step]


@kernel
def _same_labels(indptr, indices, row, other):
    if indptr[row + 1] - indptr[row] != indptr[other + 1] - indptr[other]:
        return False
    shift = indptr[other] - indptr[row]
    for place in range(indptr[row], indptr[row + 1]):
        if indices[place] != indices[place + shift]:
            return False
    return True


@kernel
def number_labelsets(indptr, indices, bits, keys, table, numbers, first_rows):
    """Give the labelsets numbers in the order of their first rows; return how many there are.

    A row with few labels packs them into ``bits`` each and is its own exact key; longer rows with
    equal keys are compared label by label. ``keys`` and ``table`` (numbers + 1) are a hash table;
    its length is a power of two, at least twice the number of rows.
    """
    one = np.uint64(1)
    capacity = np.int64(np.uint64(63) // bits)
    is_long = one << np.uint64(63)
    mask = np.uint64(len(table) - 1)
    n_found = 0
    for row in range(len(indptr) - 1):
        begin, end = indptr[row], indptr[row + 1]
        key = np.uint64(0)
        if end - begin <= capacity:
            for place in range(begin, end):
                key = (key << bits) | (np.uint64(indices[place]) + one)
        else:
            for place in range(begin, end):
                key = (key ^ np.uint64(indices[place])) * np.uint64(0xBF58476D1CE4E5B9)
                key ^= key >> np.uint64(29)
            key |= is_long
        at = key * np.uint64(0x9E3779B97F4A7C15)
        at = (at ^ (at >> np.uint64(32))) & mask
        while True:
            known = table[at]
            if known == 0:
                keys[at] = key
                first_rows[n_found] = row
                n_found += 1
                table[at] = n_found
                numbers[row] = n_found - 1
                break
            if keys[at] == key and (
                key < is_long or _same_labels(indptr, indices, row, first_rows[known - 1])
            ):
                numbers[row] = known - 1
                break
            at = (at + one) & mask
    return n_found


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
def _row_of(indptr, place):
    """Find the row that holds an element."""
    low, high = 0, len(indptr) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if indptr[middle] <= place:
            low = middle
        else:
            high = middle
    return low


@kernel
def list_unprotected(indptr, indices, is_minority, counts, is_protected, starts, listed):
    """List the rows without minority labels under each of their labels.

    Rows with a minority label are few: they are found in a pass over the elements, and their
    labels taken off the counts. Unsigned indices spare a test for negative ones.
    """
    n_labels = len(counts)
    sizes = counts.copy()
    for place in range(len(indices)):
        if is_minority[np.uint64(indices[place])]:
            row = _row_of(indptr, place)
            if not is_protected[row]:
                is_protected[row] = True
                for own in range(indptr[row], indptr[row + 1]):
                    sizes[indices[own]] -= 1
    starts[0] = 0
    for label in range(n_labels):
        starts[label + 1] = starts[label] + sizes[label]
    places = starts.copy()
    for row in range(len(indptr) - 1):
        if not is_protected[row]:
            for place in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
                label = np.uint64(indices[place])
                listed[np.uint64(places[label])] = row
                places[label] += 1


@kernel
def delete_in_turns(
    indptr, indices, labels, starts, sizes, listed, counts, at_count, mean_ir, state, drawn, keep
):
    """Let the labels take turns in deleting one of their unprotected rows.

    A list may hold rows that another label has deleted; drawing one takes it off the list and
    draws again. ``state`` holds whose turn it is, how many deletions are left, the largest count
    and how many labels are open; with ``drawn`` used up before the end, call again with more.
    ``sizes`` are those of the lists, -1 once closed; ``at_count`` tells how many labels have each
    count, so that the largest is always at hand.
    """
    turn, n_left, most, n_open = state[0], state[1], state[2], state[3]
    n_drawn = 0
    while n_open > 0 and n_left > 0:
        label = labels[turn]
        size = sizes[label]
        if size > 0 and most / counts[label] < mean_ir:
            if n_drawn == len(drawn):
                break
            place = starts[label] + int(drawn[n_drawn] * size)
            n_drawn += 1
            row = listed[place]
            listed[place] = listed[starts[label] + size - 1]
            sizes[label] = size - 1
            if not keep[row]:
                continue  # the same label draws again
            keep[row] = False
            n_left -= 1
            for other in range(indptr[row], indptr[row + 1]):
                count = counts[indices[other]]
                counts[indices[other]] = count - 1
                at_count[count] -= 1
                at_count[count - 1] += 1
            while at_count[most] == 0:
                most -= 1
        elif size >= 0:
            sizes[label] = -1
            n_open -= 1
        turn = turn + 1 if turn + 1 < len(labels) else 0
    state[0], state[1], state[2], state[3] = turn, n_left, most, n_open
