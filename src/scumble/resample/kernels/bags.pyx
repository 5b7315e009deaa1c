"""Loops of the random resamplers: rows in bags, and the turns that labels take."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from scumble._core.interrupt cimport check_stop
from scumble._core.types cimport index_t

# DoneCallback about a tenth of a second's work, kernels look whether they shall stop.

ctypedef fused row_t:
    int32_t
    int64_t

ctypedef fused item_t:
    int32_t
    int64_t
    double


def fill_indptr(const index_t[::1] indptr, const int64_t[::1] rows, int64_t[::1] new_indptr):
    """Tell where the given rows start when they stand one after another."""
    cdef Py_ssize_t at, row
    cdef int64_t place = 0
    new_indptr[0] = 0
    with nogil:
        for at in range(rows.shape[0]):
            row = rows[at]
            place += indptr[row + 1] - indptr[row]
            new_indptr[at + 1] = place


def copy_rows(
    const index_t[::1] begins, const int64_t[::1] rows, const int64_t[::1] places,
    const item_t[::1] values,
):
    """Copy what is stored for the given rows to new places, which follow on each other."""
    copied = np.empty(places[rows.shape[0]], np.asarray(values).dtype)
    cdef item_t[::1] new_values = copied
    cdef Py_ssize_t at, step, n, begin, place
    with nogil:
        for at in range(rows.shape[0]):
            begin = begins[rows[at]]
            place = places[at]
            n = places[at + 1] - place
            if n > 16:  # a call is dear for a few items
                memcpy(&new_values[place], &values[begin], n * sizeof(item_t))
            else:
                for step in range(n):
                    new_values[place + step] = values[begin + step]
    return copied


def group_by_number(const int64_t[::1] numbers, int64_t[::1] places, int64_t[::1] rows):
    """Write the rows of each number side by side, in order; ``places`` are their starts."""
    cdef Py_ssize_t row
    with nogil:
        for row in range(numbers.shape[0]):
            if row & 0x3FFFFF == 0:
                check_stop()
            rows[places[numbers[row]]] = row
            places[numbers[row]] += 1


def distribute_budget(int64_t total, const int64_t[::1] capacity):
    """Share ``total`` equally among bags in order, passing on what a bag cannot use."""
    cdef Py_ssize_t n_bags = capacity.shape[0]
    # At each bag, by how much the share differs from that of the bag before.
    shares, changes = np.zeros(n_bags, np.int64), np.zeros(n_bags + 1, np.int64)
    cdef int64_t[::1] used = shares
    cdef int64_t[::1] change = changes
    cdef int64_t spare = total
    cdef int64_t share = 0
    cdef int64_t left, single
    cdef Py_ssize_t bag
    with nogil:
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
    return shares


def drop_from_bags(
    int64_t[::1] rows, const int64_t[::1] starts, const int64_t[::1] sizes,
    const int64_t[::1] shares, const double[::1] drawn, uint8_t[::1] keep,
):
    """Clear ``keep`` for random rows of each bag, without replacement (Fisher and Yates)."""
    cdef Py_ssize_t at = 0
    cdef Py_ssize_t bag, place, start
    cdef int64_t size, row, _
    with nogil:
        for bag in range(starts.shape[0]):
            start = starts[bag]
            size = sizes[bag]
            for _ in range(shares[bag]):
                if at & 0xFFFFF == 0:
                    check_stop()
                place = start + <Py_ssize_t>(drawn[at] * size)
                at += 1
                size -= 1
                row = rows[place]
                rows[place] = rows[start + size]
                rows[start + size] = row
                keep[row] = False


def list_rows(
    const index_t[::1] indptr, const index_t[::1] indices, const int64_t[::1] number,
    int64_t[::1] places, int64_t[::1] rows,
):
    """Write the rows of each numbered label side by side; ``places`` are their starts."""
    cdef Py_ssize_t row, place
    cdef int64_t at
    with nogil:
        for row in range(indptr.shape[0] - 1):
            if row & 0x7FFFFF == 0:
                check_stop()
            for place in range(indptr[row], indptr[row + 1]):
                at = number[indices[place]]
                if at >= 0:
                    rows[places[at]] = row
                    places[at] += 1


def clone_in_turns(
    const index_t[::1] indptr, const index_t[::1] indices, bags, int64_t[::1] counts,
    double mean_ir, const double[::1] drawn,
):
    """Let the labels take turns in cloning a row of their bags; return the clones.

    ``bags`` are the labels, where the rows of each start, and the rows.
    """
    cdef const int64_t[::1] labels = bags[0]
    cdef const int64_t[::1] starts = bags[1]
    cdef const int64_t[::1] bag_rows = bags[2]
    cdef uint8_t[::1] is_open = np.ones(labels.shape[0], np.uint8)
    cdef Py_ssize_t n_open = labels.shape[0]
    cdef Py_ssize_t n_clones = 0
    cdef Py_ssize_t n_wanted = drawn.shape[0]
    cloned = np.empty(n_wanted, np.int64)
    cdef int64_t[::1] clones = cloned
    cdef Py_ssize_t at, place, row, label
    cdef int64_t most = 0
    with nogil:
        for label in range(counts.shape[0]):
            most = max(most, counts[label])
        while n_open > 0 and n_clones < n_wanted:
            for at in range(labels.shape[0]):
                if not is_open[at]:
                    continue
                if <double>most / <double>counts[labels[at]] <= mean_ir:
                    is_open[at] = False
                    n_open -= 1
                    continue
                if n_clones == n_wanted:
                    break
                if n_clones & 0x3FFFF == 0:
                    check_stop()
                row = bag_rows[
                    starts[at] + <Py_ssize_t>(drawn[n_clones] * (starts[at + 1] - starts[at]))
                ]
                clones[n_clones] = row
                n_clones += 1
                for place in range(indptr[row], indptr[row + 1]):
                    label = indices[place]
                    counts[label] += 1
                    most = max(most, counts[label])
    return cloned[:n_clones]


def list_unprotected(
    const index_t[::1] indptr, const index_t[::1] indices, const uint8_t[::1] is_minority,
    const int64_t[::1] counts, row_t[::1] listed,
):
    """List the rows without minority labels under each of their labels; return where each starts.

    Rows with a minority label are few: they are found in a pass over the elements, and their
    labels taken off the counts.
    """
    cdef int64_t[::1] places = np.array(counts)
    begins, spared = np.zeros(counts.shape[0] + 1, np.int64), np.zeros(indptr.shape[0] - 1, bool)
    cdef int64_t[::1] starts = begins
    cdef uint8_t[::1] is_protected = spared
    cdef Py_ssize_t n_places = indices.shape[0]
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t start, label, place, own
    cdef int64_t size
    with nogil:
        for start in range(0, n_places, 0x2000000):
            check_stop()
            for place in range(start, min(start + 0x2000000, n_places)):
                if is_minority[indices[place]]:
                    while indptr[row + 1] <= place:
                        row += 1
                    if not is_protected[row]:
                        is_protected[row] = True
                        for own in range(indptr[row], indptr[row + 1]):
                            places[indices[own]] -= 1
        for label in range(counts.shape[0]):
            size = places[label]
            places[label] = starts[label]
            starts[label + 1] = starts[label] + size
        for row in range(indptr.shape[0] - 1):
            if row & 0x3FFFFF == 0:
                check_stop()
            if not is_protected[row]:
                for place in range(indptr[row], indptr[row + 1]):
                    listed[places[indices[place]]] = <row_t>row
                    places[indices[place]] += 1
    return begins


def delete_in_turns(
    const index_t[::1] indptr, const index_t[::1] indices, row_t[::1] listed, lists,
    double mean_ir, int64_t[::1] state, const double[::1] drawn, uint8_t[::1] keep,
):
    """Let the labels take turns in deleting one of their unprotected rows.

    A list may hold rows that another label has deleted; drawing one takes it off the list and
    draws again. ``lists`` are the labels, where the list of each starts in ``listed``, its size
    (-1 once closed), the counts of the labels, and how many labels have each count, so that the
    largest is always at hand. ``state`` holds whose turn it is, how many deletions are left, the
    largest count and how many labels are open; with ``drawn`` used up before the end, call again
    with more.
    """
    cdef const int64_t[::1] labels = lists[0]
    cdef const int64_t[::1] starts = lists[1]
    cdef int64_t[::1] sizes = lists[2]
    cdef int64_t[::1] counts = lists[3]
    cdef int64_t[::1] at_count = lists[4]
    cdef Py_ssize_t turn = state[0]
    cdef int64_t n_left = state[1]
    cdef int64_t most = state[2]
    cdef int64_t n_open = state[3]
    cdef Py_ssize_t n_drawn = 0
    cdef Py_ssize_t label, place, row, other
    cdef int64_t size, count
    with nogil:
        while n_open > 0 and n_left > 0:
            label = labels[turn]
            size = sizes[label]
            if size > 0 and <double>most / <double>counts[label] < mean_ir:
                if n_drawn == drawn.shape[0]:
                    break
                if n_drawn & 0x3FFFF == 0:
                    check_stop()
                place = starts[label] + <Py_ssize_t>(drawn[n_drawn] * size)
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
            turn = turn + 1 if turn + 1 < labels.shape[0] else 0
    state[0], state[1], state[2], state[3] = turn, n_left, most, n_open
