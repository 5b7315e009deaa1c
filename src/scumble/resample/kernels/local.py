"""Compiled loops over minority cells: where a row holds the rarer value of a label."""

from __future__ import annotations

import numpy as np

from scumble._core.jit import kernel

SAFE, BORDERLINE, RARE, OUTLIER = 0, 1, 2, 3


@kernel
def count_flipped(indptr, indices, is_flipped, n_flipped, new_indptr):
    """Count the cells of each row after exchanging the two values of flipped labels."""
    new_indptr[0] = 0
    for row in range(len(indptr) - 1):
        count = n_flipped
        for place in range(indptr[row], indptr[row + 1]):
            count += -1 if is_flipped[indices[place]] else 1
        new_indptr[row + 1] = new_indptr[row] + count


@kernel
def flip(indptr, indices, is_flipped, flipped, new_indptr, new_indices):
    """Exchange the two values of flipped labels; ``flipped`` lists them in order."""
    for row in range(len(indptr) - 1):
        end = new_indptr[row]
        at = 0
        for place in range(indptr[row], indptr[row + 1]):
            label = indices[place]
            while at < len(flipped) and flipped[at] < label:
                new_indices[end] = flipped[at]
                end += 1
                at += 1
            if is_flipped[label]:
                at += 1  # it is the next one, and it was here: now it is not
            else:
                new_indices[end] = label
                end += 1
        while at < len(flipped):
            new_indices[end] = flipped[at]
            end += 1
            at += 1


@kernel
def _find(indices, begin, end, label):
    """Find the place of a label in a row; -1 where it is not."""
    while begin < end:
        middle = (begin + end) // 2
        if indices[middle] < label:
            begin = middle + 1
        elif indices[middle] > label:
            end = middle
        else:
            return middle
    return -1


@kernel
def count_opposed(indptr, indices, neighbours, n_labels, start, stop, n_opposed):
    """For each minority cell of rows start..stop count the neighbours with the other value."""
    k = neighbours.shape[1]
    holders = np.zeros(n_labels, np.int64)
    for row in range(start, stop):
        for near in range(k):
            other = neighbours[row, near]
            for place in range(indptr[other], indptr[other + 1]):
                holders[indices[place]] += 1
        for place in range(indptr[row], indptr[row + 1]):
            n_opposed[place] = k - holders[indices[place]]
        for near in range(k):
            other = neighbours[row, near]
            for place in range(indptr[other], indptr[other + 1]):
                holders[indices[place]] = 0


@kernel
def weigh(indptr, indices, opposed, sums, shares, weights):
    """Divide each cell's opposition by its label's sum over cells that are no outliers."""
    for place in range(len(indices)):
        if opposed[place] < 1.0:
            sums[indices[place]] += opposed[place]
    for row in range(len(indptr) - 1):
        total = 0.0
        for place in range(indptr[row], indptr[row + 1]):
            inside = opposed[place] < 1.0 and sums[indices[place]] > 0.0
            shares[place] = opposed[place] / sums[indices[place]] if inside else 0.0
            total += shares[place]
        weights[row] = total


@kernel
def name_types(opposed, types):
    """Name the type of each cell by the share of neighbours with the other value."""
    for place in range(len(opposed)):
        if opposed[place] < 0.3:
            types[place] = 0
        elif opposed[place] < 0.7:
            types[place] = 1
        elif opposed[place] < 1.0:
            types[place] = 2
        else:
            types[place] = 3


@kernel
def soften_rare(indptr, indices, neighbours, types):
    """Make rare cells with a safe or borderline neighbour borderline, until none is left."""
    changed = True
    while changed:
        changed = False
        for row in range(len(indptr) - 1):
            for place in range(indptr[row], indptr[row + 1]):
                if types[place] != 2:
                    continue
                for near in range(neighbours.shape[1]):
                    other = neighbours[row, near]
                    at = _find(indices, indptr[other], indptr[other + 1], indices[place])
                    if at >= 0 and types[at] <= 1:
                        types[place] = 1
                        changed = True
                        break


@kernel
def sum_support(indptr, indices, neighbours, shares, types, support, n_askers):
    """Sum up how far each row supports the rows that have it among their neighbours."""
    for asker in range(len(indptr) - 1):
        for near in range(neighbours.shape[1]):
            row = neighbours[asker, near]
            total = 0.0
            for place in range(indptr[asker], indptr[asker + 1]):
                if types[place] == 3:
                    continue
                at = _find(indices, indptr[row], indptr[row + 1], indices[place])
                total += shares[place] if at >= 0 and types[at] != 3 else -shares[place]
            support[row] += total
            n_askers[row] += 1


@kernel
def _accepts(kind, share):
    """Tell whether a cell's value reaches a row at this share of the distance."""
    if kind == 0:
        return share <= 0.5
    if kind == 1:
        return share <= 0.75
    return kind == 2


@kernel
def inherit_cells(
    indptr, indices, types, seeds, partners, to_seed, to_partner, starts, out_indices, lengths
):
    """Choose the minority cells of synthetic rows from those of their seeds and partners."""
    for at in range(len(seeds)):
        whole = to_seed[at] + to_partner[at]
        seed_share = to_seed[at] / whole if whole > 0.0 else 0.0
        partner_share = to_partner[at] / whole if whole > 0.0 else 0.0
        a, a_end = indptr[seeds[at]], indptr[seeds[at] + 1]
        b, b_end = indptr[partners[at]], indptr[partners[at] + 1]
        end = starts[at]
        while a < a_end or b < b_end:
            if b == b_end or (a < a_end and indices[a] < indices[b]):
                label, taken = indices[a], _accepts(types[a], seed_share)
                a += 1
            elif a == a_end or indices[b] < indices[a]:
                label, taken = indices[b], _accepts(types[b], partner_share)
                b += 1
            else:
                label, taken = indices[a], True
                a += 1
                b += 1
            if taken:
                out_indices[end] = label
                end += 1
        lengths[at] = end - starts[at]
