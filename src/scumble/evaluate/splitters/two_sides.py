"""Two sides of a chosen size, both with every label that occurs twice, where that can be."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble.measures.passes import count
from scumble.measures.stratification import deal_rows

TRAIN, TEST = 0, 1
#: So many rows are moved in search of a place for a label that is on one side only.
_MOVES = 300
#: The right size is reached in so many rounds, after each of which labels are counted anew.
_ROUNDS = 8


def deal_sides(Y: sparse.csr_array, n_test: int, generator: np.random.Generator) -> Array:
    """Give 0 to the rows of the training and 1 to those of the test side."""
    wanted = wanted_on(Y, n_test)
    rows = np.array([Y.shape[0] - n_test, n_test], float)
    dealt = Sides(Y, deal_rows(Y, 2, generator, wanted, rows))
    dealt.bring_labels_to_both()
    dealt.resize(n_test, wanted, generator.random(Y.shape[0]))
    return dealt.sides


def wanted_on(Y: sparse.csr_array, n_test: int) -> Array:
    """Tell how many rows of each label each side should have: at least one of two or more."""
    # The only row of a label is for training: a label that cannot be learnt cannot be judged.
    counts = count(Y)
    share = counts * (n_test / Y.shape[0])
    tested = np.where(counts < 2, 0.0, np.clip(share, 1.0, np.maximum(counts - 1.0, 1.0)))
    return np.column_stack([counts - tested, tested])


class Sides:
    """Rows on two sides, and the number of each label's rows on either."""

    def __init__(self, Y: sparse.csr_array, sides: Array) -> None:
        self._rows, self._columns = Y, Y.tocsc()
        self.sides = sides
        self.counts = np.stack([count(Y[sides == side]) for side in (TRAIN, TEST)])
        self._can_part = self.counts.sum(axis=0) >= 2

    def bring_labels_to_both(self) -> None:
        """Move rows until every label of two rows or more is on both sides, or cannot be."""
        # Each label that is on one side only is freed by a move, further moves for the labels that
        # the move has taken from a side, and so on; rows move once. What no such chain of moves can
        # free without taking another label from a side stays. The search is complete, but gives up
        # after some hundred moves.
        allowed = self._one_sided(slice(None))
        for label in np.flatnonzero(allowed).tolist():
            if not allowed[label]:  # freed with another
                continue
            allowed[label] = False
            moved: set[int] = set()
            if not self._free(label, allowed, moved, {label}, [_MOVES]):
                allowed[label] = True
            for row in moved:
                labels = self._labels(row)
                allowed[labels] &= self._one_sided(labels)

    def _one_sided(self, labels: Any) -> Array:
        """Tell which labels of two rows or more have all of them on one side."""
        found: Array = self._can_part[labels] & (self.counts[:, labels] == 0).any(axis=0)
        return found

    def _free(
        self, label: int, allowed: Array, moved: set[int], lost: set[int], left: list[int]
    ) -> bool:
        """Move one row of a label, and what that asks for; or nothing at all."""
        columns = self._columns
        rows = columns.indices[columns.indptr[label] : columns.indptr[label + 1]].tolist()
        open_rows = [row for row in rows if row not in moved]
        for row in sorted(open_rows, key=lambda row: int(self._alone(row).sum())):
            if left[0] == 0:
                return False
            left[0] -= 1
            moved.add(row)
            self._move_watched(row, allowed, lost)
            if not lost or self._free(min(lost), allowed, moved, lost, left):
                return True
            self._move_watched(row, allowed, lost)
            moved.remove(row)
        return False

    def _move_watched(self, row: int, allowed: Array, lost: set[int]) -> None:
        """Move a row, and keep the labels that are on one side now and must not be."""
        self._move(row)
        labels = self._labels(row)
        is_lost = self._one_sided(labels) & ~allowed[labels]
        lost.difference_update(labels.tolist())
        lost.update(labels[is_lost].tolist())

    def _labels(self, row: int) -> Array:
        indptr = self._rows.indptr
        found: Array = self._rows.indices[indptr[row] : indptr[row + 1]]
        return found

    def _alone(self, row: int) -> Array:
        """Tell which labels of a row would be gone from its side without it."""
        labels = self._labels(row)
        alone: Array = (self.counts[self.sides[row], labels] == 1) & self._can_part[labels]
        return alone

    def _move(self, row: int) -> None:
        labels, side = self._labels(row), self.sides[row]
        self.counts[side, labels] -= 1
        self.counts[1 - side, labels] += 1
        self.sides[row] = 1 - side

    def resize(self, n_test: int, wanted: Array, chance: Array) -> None:
        """Move rows that no label needs on their side, until the sides have the right size."""
        # Those with labels of which the side has more than its share go first.
        surplus = int(self.sides.sum()) - n_test
        step = -(-abs(surplus) // _ROUNDS)
        while surplus:
            side = TEST if surplus > 0 else TRAIN
            rows = self._spare_rows(side, wanted[:, side], chance)
            before = abs(surplus)
            for row in rows[: min(step, before)].tolist():
                if not self._alone(row).any():  # the rows before it may have changed that
                    self._move(row)
                    surplus += 1 if side == TRAIN else -1
            if abs(surplus) == before:
                return

    def _spare_rows(self, side: int, wanted: Array, chance: Array) -> Array:
        """List rows that can leave a side, those that it can spare best first."""
        rows = np.flatnonzero(self.sides == side)
        part = self._rows[rows].astype(np.float64)
        needed = part @ ((self.counts[side] == 1) & self._can_part).astype(np.float64) > 0
        total = np.maximum(self.counts.sum(axis=0), 1)
        excess = part @ ((self.counts[side] - wanted) / total)
        spare = np.flatnonzero(~needed)
        found: Array = rows[spare[np.lexsort((chance[rows[spare]], -excess[spare]))]]
        return found
