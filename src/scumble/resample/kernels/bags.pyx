"""Kernels of the random resamplers: bags of rows, and labels that take turns."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from scumble._core.interrupt cimport check_stop
from scumble._core.types cimport index_t

# Long loops call check_stop about every tenth of a second, so that Ctrl-C ends them.

ctypedef fused row_t:
    int32_t
    int64_t

ctypedef fused item_t:
    int32_t
    int64_t
    double


def fill_indptr(const index_t[::1] indptr, const int64_t[::1] rows, int64_t[::1] new_indptr):
    """Write the row pointers of a matrix that consists of the given rows."""
    cdef Py_ssize_t i, row
    cdef int64_t end = 0
    new_indptr[0] = 0
    with nogil:
        for i in range(rows.shape[0]):
            row = rows[i]
            end += indptr[row + 1] - indptr[row]
            new_indptr[i + 1] = end


def copy_rows(
    const index_t[::1] starts, const int64_t[::1] rows, const int64_t[::1] new_indptr,
    const item_t[::1] values,
):
    """Return the values stored for the given rows, one row after the other.

    The values of a row begin at its entry of ``starts``; their number follows from
    ``new_indptr``, the row pointers of the result.
    """
    copied = np.empty(new_indptr[rows.shape[0]], np.asarray(values).dtype)
    cdef item_t[::1] new_values = copied
    cdef Py_ssize_t i, step, n_items, source, target
    with nogil:
        for i in range(rows.shape[0]):
            source = starts[rows[i]]
            target = new_indptr[i]
            n_items = new_indptr[i + 1] - target
            if n_items > 16:  # for fewer items the call of memcpy takes longer than a loop
                memcpy(&new_values[target], &values[source], n_items * sizeof(item_t))
            else:
                for step in range(n_items):
                    new_values[target + step] = values[source + step]
    return copied


def group_by_number(const int64_t[::1] numbers, int64_t[::1] ends, int64_t[::1] rows):
    """Write the rows of each number side by side, in row order.

    ``ends`` holds where the rows of each number begin, and is advanced to where they end.
    """
    cdef Py_ssize_t row
    with nogil:
        for row in range(numbers.shape[0]):
            if row & 0x3FFFFF == 0:
                check_stop()
            rows[ends[numbers[row]]] = row
            ends[numbers[row]] += 1


def distribute_budget(int64_t total, const int64_t[::1] capacity):
    """Return equal shares of ``total``; what a bag cannot use is divided among those after it."""
    cdef Py_ssize_t n_bags = capacity.shape[0]
    # By bag: the difference between its share and that of the bag before, apart from ``surplus``.
    shares = np.zeros(n_bags, np.int64)
    differences = np.zeros(n_bags + 1, np.int64)
    cdef int64_t[::1] used = shares
    cdef int64_t[::1] difference = differences
    cdef int64_t surplus = total
    cdef int64_t share = 0
    cdef int64_t n_remaining, remainder
    cdef Py_ssize_t bag
    with nogil:
        for bag in range(n_bags):
            n_remaining = n_bags - bag
            # Divide what the bag before could not use; the first bags get the remainder.
            share += surplus // n_remaining
            remainder = surplus % n_remaining
            if remainder > 0:
                difference[bag] += 1
                difference[bag + remainder] -= 1
            share += difference[bag]
            used[bag] = min(share, capacity[bag])
            surplus = share - used[bag]
    return shares


def drop_from_bags(
    int64_t[::1] rows, const int64_t[::1] starts, const int64_t[::1] sizes,
    const int64_t[::1] shares, const double[::1] uniforms, uint8_t[::1] is_kept,
):
    """Clear ``is_kept`` for random rows of each bag, without replacement (Fisher and Yates)."""
    cdef Py_ssize_t n_drawn = 0
    cdef Py_ssize_t bag, position, start
    cdef int64_t size, row, _
    with nogil:
        for bag in range(starts.shape[0]):
            start = starts[bag]
            size = sizes[bag]
            for _ in range(shares[bag]):
                if n_drawn & 0xFFFFF == 0:
                    check_stop()
                position = start + <Py_ssize_t>(uniforms[n_drawn] * size)
                n_drawn += 1
                size -= 1
                row = rows[position]
                rows[position] = rows[start + size]
                rows[start + size] = row
                is_kept[row] = False


def list_rows(
    const index_t[::1] indptr, const index_t[::1] indices, const int64_t[::1] bag_of_label,
    int64_t[::1] ends, int64_t[::1] rows,
):
    """Write the rows of each label that has a bag side by side, in row order.

    ``bag_of_label`` is -1 for labels without a bag. ``ends`` holds where the rows of each bag
    begin, and is advanced to where they end.
    """
    cdef Py_ssize_t row, position
    cdef int64_t bag
    with nogil:
        for row in range(indptr.shape[0] - 1):
            if row & 0x7FFFFF == 0:
                check_stop()
            for position in range(indptr[row], indptr[row + 1]):
                bag = bag_of_label[indices[position]]
                if bag >= 0:
                    rows[ends[bag]] = row
                    ends[bag] += 1


def clone_in_turns(
    const index_t[::1] indptr, const index_t[::1] indices, const int64_t[::1] labels,
    const int64_t[::1] starts, const int64_t[::1] bag_rows, int64_t[::1] counts,
    double mean_ir, const double[::1] uniforms,
):
    """Let labels clone a row of their bags in turns, and return the cloned rows.

    The bag of ``labels[i]`` is ``bag_rows[starts[i] : starts[i + 1]]``. There are at most as many
    clones as ``uniforms``; ``counts``, the number of rows of each label, is updated.
    """
    cdef uint8_t[::1] is_open = np.ones(labels.shape[0], np.uint8)
    cdef Py_ssize_t n_open = labels.shape[0]
    cdef Py_ssize_t n_clones = 0
    cdef Py_ssize_t max_clones = uniforms.shape[0]
    cloned = np.empty(max_clones, np.int64)
    cdef int64_t[::1] clones = cloned
    cdef Py_ssize_t bag, position, row, label
    cdef int64_t max_count = 0
    with nogil:
        for label in range(counts.shape[0]):
            max_count = max(max_count, counts[label])
        while n_open > 0 and n_clones < max_clones:
            for bag in range(labels.shape[0]):
                if not is_open[bag]:
                    continue
                if <double>max_count / <double>counts[labels[bag]] <= mean_ir:
                    is_open[bag] = False
                    n_open -= 1
                    continue
                if n_clones == max_clones:
                    break
                if n_clones & 0x3FFFF == 0:
                    check_stop()
                row = bag_rows[
                    starts[bag]
                    + <Py_ssize_t>(uniforms[n_clones] * (starts[bag + 1] - starts[bag]))
                ]
                clones[n_clones] = row
                n_clones += 1
                for position in range(indptr[row], indptr[row + 1]):
                    label = indices[position]
                    counts[label] += 1
                    max_count = max(max_count, counts[label])
    return cloned[:n_clones]


def list_unprotected(
    const index_t[::1] indptr, const index_t[::1] indices, const uint8_t[::1] is_minority,
    const int64_t[::1] counts, row_t[::1] candidates,
):
    """Write the rows without minority labels under each of their labels; return where each starts.

    Rows with a minority label are few, so a first loop over the elements finds them and subtracts
    their labels from the counts.
    """
    cdef int64_t[::1] ends = np.array(counts)
    starts = np.zeros(counts.shape[0] + 1, np.int64)
    protection = np.zeros(indptr.shape[0] - 1, bool)
    cdef int64_t[::1] label_starts = starts
    cdef uint8_t[::1] is_protected = protection
    cdef Py_ssize_t n_elements = indices.shape[0]
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t start, label, position, row_position
    cdef int64_t size
    with nogil:
        for start in range(0, n_elements, 0x2000000):
            check_stop()
            for position in range(start, min(start + 0x2000000, n_elements)):
                if is_minority[indices[position]]:
                    while indptr[row + 1] <= position:
                        row += 1
                    if not is_protected[row]:
                        is_protected[row] = True
                        for row_position in range(indptr[row], indptr[row + 1]):
                            ends[indices[row_position]] -= 1
        for label in range(counts.shape[0]):
            size = ends[label]
            ends[label] = label_starts[label]
            label_starts[label + 1] = label_starts[label] + size
        for row in range(indptr.shape[0] - 1):
            if row & 0x3FFFFF == 0:
                check_stop()
            if not is_protected[row]:
                for position in range(indptr[row], indptr[row + 1]):
                    candidates[ends[indices[position]]] = <row_t>row
                    ends[indices[position]] += 1
    return starts


def delete_in_turns(
    const index_t[::1] indptr, const index_t[::1] indices, row_t[::1] candidates, pools,
    double mean_ir, state, const double[::1] uniforms, uint8_t[::1] is_kept,
):
    """Let labels delete one of their unprotected rows in turns; return the new state.

    The candidates of a label may include rows that another label has deleted; if such a row is
    drawn, it is removed from the candidates, and the same label draws again. ``pools`` and
    ``state`` are records of scumble.resample.ml_random. The kernel also returns if ``uniforms``
    are used up; call it again with more and the returned state.
    """
    cdef const int64_t[::1] labels = pools.labels
    cdef const int64_t[::1] starts = pools.starts
    cdef int64_t[::1] sizes = pools.sizes
    cdef int64_t[::1] counts = pools.counts
    cdef int64_t[::1] n_labels_by_count = pools.n_labels_by_count
    cdef Py_ssize_t turn = state.turn
    cdef int64_t n_remaining = state.n_remaining
    cdef int64_t max_count = state.max_count
    cdef int64_t n_open = state.n_open
    cdef Py_ssize_t n_drawn = 0
    cdef Py_ssize_t label, position, row, row_position
    cdef int64_t size, count
    with nogil:
        while n_open > 0 and n_remaining > 0:
            label = labels[turn]
            size = sizes[label]
            if size > 0 and <double>max_count / <double>counts[label] < mean_ir:
                if n_drawn == uniforms.shape[0]:
                    break
                if n_drawn & 0x3FFFF == 0:
                    check_stop()
                position = starts[label] + <Py_ssize_t>(uniforms[n_drawn] * size)
                n_drawn += 1
                row = candidates[position]
                candidates[position] = candidates[starts[label] + size - 1]
                sizes[label] = size - 1
                if not is_kept[row]:
                    continue  # already deleted: the same label draws again
                is_kept[row] = False
                n_remaining -= 1
                for row_position in range(indptr[row], indptr[row + 1]):
                    count = counts[indices[row_position]]
                    counts[indices[row_position]] = count - 1
                    n_labels_by_count[count] -= 1
                    n_labels_by_count[count - 1] += 1
                while n_labels_by_count[max_count] == 0:
                    max_count -= 1
            elif size >= 0:
                sizes[label] = -1  # closed for good
                n_open -= 1
            turn = turn + 1 if turn + 1 < labels.shape[0] else 0
    return turn, n_remaining, max_count, n_open
