"""One training and one test part: dealt from one data set, or put together from two."""

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterTypeError, ScumbleWarning
from scumble._core.parameters import Either, Int, Real, as_generator
from scumble._core.provenance import warn_if_resampled
from scumble._core.text import join_names
from scumble._core.validation import check_consistent_length, check_labels
from scumble.data import Feature, MultilabelDataset
from scumble.learn.storage.columns import align_columns
from scumble.measures.stratification import assign_folds
from scumble.measures.threaded_kernels import count_labels
from scumble.resample.containers import take_rows

_SIZES = Either(Real(0, 1, closed="neither"), Int(1))
TRAIN, TEST = 0, 1
#: So many rows are moved in search of a place for a label that is on one side only.
_MOVES = 300
#: The right size is reached in so many rounds, after each of which labels are counted anew.
_ROUNDS = 8


def train_test_split(
    data: Any, Y: Any = None, *, test_size: float = 0.25, random_state: Any = None
) -> tuple[Any, ...]:
    """Split a data set in two, so that rare labels are on both sides.

    Chance leaves a rare label out of the test part, or out of the training part. Here rows are
    dealt by iterative stratification: every label keeps its share, and a label with two rows or
    more has at least one on each side, wherever that is possible.

    Parameters
    ----------
    data : MultilabelDataset, or features in any form that has rows
        The data, or its features.
    Y : array, sparse matrix, DataFrame or list of labels, optional
        The labels, where ``data`` is no data set.
    test_size : float or int, default=0.25
        The share of rows for testing, rounded up; or their number. Where so few rows cannot hold
        every label that needs one, the part is larger.
    random_state : None, int, Generator or RandomState
        One seed, one answer.

    Returns
    -------
    train, test : MultilabelDataset
        Of a data set, its rows in their order.
    X_train, X_test, Y_train, Y_test : as given
        Of features and labels, in the order of scikit-learn.

    See Also
    --------
    IterativeStratification : Several test parts.
    cross_validate : Takes a test part, too.

    Notes
    -----
    The method of Sechidis et al. [1]_, as `IterativeStratification` has it, for two sides of
    unequal size, with three rules added. Each side wants at least one row of a label that has two;
    the only row of a label is for training. Where labels that are met in the same rows leave one of
    them on one side, rows are moved, and others after them, until no label is lost to a side; a
    label stays on one side only if no such moves are found (for labels with two rows that means:
    if there are none). Last, rows that no label needs on their side are moved, until the parts have
    the size that was asked for.

    References
    ----------
    .. [1] Sechidis, K., Tsoumakas, G., & Vlahavas, I. (2011). On the stratification of
       multi-label data. *ECML PKDD 2011*, LNCS 6913.

    Examples
    --------
    >>> import scumble
    >>> from scumble.evaluate import train_test_split
    >>> data = scumble.make_multilabel(200, 6, mean_ir=20, scumble=0.1, random_state=0)
    >>> train, test = train_test_split(data, test_size=0.2, random_state=0)
    >>> rarest = int(data.Y.sum(axis=0).argmin())
    >>> [(len(part), int(part.Y[:, [rarest]].sum())) for part in (train, test)]
    [(160, 1), (40, 1)]

    Features and labels apart come back as in scikit-learn.

    >>> X_train, X_test, Y_train, Y_test = train_test_split(data.X, data.Y, random_state=0)
    >>> X_train.shape, Y_test.shape
    ((150, 20), (50, 6))
    """
    if Y is None and not isinstance(data, MultilabelDataset):
        raise DataError(
            "train_test_split: there are no labels to split by. Give a MultilabelDataset, or both "
            f"X and Y. Got {type(data).__name__} alone."
        )
    labels = check_labels(data.Y if Y is None else Y, caller="train_test_split")
    if Y is not None and hasattr(data, "shape"):
        check_consistent_length(data, labels, caller="train_test_split")
    warn_if_resampled(data, Y, caller="train_test_split")
    n_test = _count_test_rows(labels.shape[0], test_size)
    sides = assign_train_test(labels, n_test, as_generator(random_state, caller="train_test_split"))
    parts = [np.flatnonzero(sides == side) for side in (0, 1)]
    given = (data,) if Y is None else (data, Y)
    return tuple(_take(one, rows) for one in given for rows in parts)


def _count_test_rows(n_rows: int, test_size: Any) -> int:
    _SIZES.check(test_size, name="test_size", caller="train_test_split")
    n_test = math.ceil(n_rows * test_size) if test_size < 1 else int(test_size)
    if not 0 < n_test < n_rows:
        raise DataError(
            f"train_test_split: {n_test} of {n_rows} rows for testing leave {n_rows - n_test} for "
            "training. Expected at least one row on each side."
        )
    return n_test


def _take(given: Any, rows: Array) -> Any:
    """Select rows of anything that has them."""
    if isinstance(given, MultilabelDataset):
        return given[rows]
    if isinstance(given, list | tuple):
        return type(given)(given[row] for row in rows.tolist())
    return take_rows(given, rows)


# Two sides of a chosen size, both with every label that occurs twice, where that can be ----------


def assign_train_test(Y: sparse.csr_array, n_test: int, generator: np.random.Generator) -> Array:
    """Give 0 to the rows of the training and 1 to those of the test side."""
    wanted = target_label_counts(Y, n_test)
    rows = np.array([Y.shape[0] - n_test, n_test], float)
    dealt = TrainTestAssignment(Y, assign_folds(Y, 2, generator, wanted, rows))
    dealt.ensure_labels_on_both_sides()
    dealt.resize(n_test, wanted, generator.random(Y.shape[0]))
    return dealt.sides


def target_label_counts(Y: sparse.csr_array, n_test: int) -> Array:
    """Tell how many rows of each label each side should have: at least one of two or more."""
    # The only row of a label is for training: a label that cannot be learnt cannot be judged.
    counts = count_labels(Y)
    share = counts * (n_test / Y.shape[0])
    tested = np.where(counts < 2, 0.0, np.clip(share, 1.0, np.maximum(counts - 1.0, 1.0)))
    return np.column_stack([counts - tested, tested])


class TrainTestAssignment:
    """Rows on two sides, and the number of each label's rows on either."""

    def __init__(self, Y: sparse.csr_array, sides: Array) -> None:
        self._rows, self._columns = Y, Y.tocsc()
        self.sides = sides
        self.counts = np.stack([count_labels(Y[sides == side]) for side in (TRAIN, TEST)])
        self._can_part = self.counts.sum(axis=0) >= 2

    def ensure_labels_on_both_sides(self) -> None:
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
        return self._can_part[labels] & (self.counts[:, labels] == 0).any(axis=0)

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
        return self._rows.indices[self._rows.indptr[row] : self._rows.indptr[row + 1]]

    def _alone(self, row: int) -> Array:
        """Tell which labels of a row would be gone from its side without it."""
        labels = self._labels(row)
        return (self.counts[self.sides[row], labels] == 1) & self._can_part[labels]

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
        return rows[spare[np.lexsort((chance[rows[spare]], -excess[spare]))]]


# A training and a test part that were read by themselves -----------------------------------------


def append_test_set(
    data: MultilabelDataset, test: Any, *, caller: str
) -> tuple[MultilabelDataset, tuple[Array, Array]]:
    """Append a test part, and tell which rows are for training and which for testing.

    Two tables that were read by themselves know only what they hold. Columns and labels of the test
    part may stand in another order; its categories that training has not seen are missing, as they
    are for a stored model. A label that rows of one part alone have is a label of both: what no
    training row has is not learnt, and counts against the classifier.

    Examples
    --------
    >>> from scumble import MultilabelDataset
    >>> from scumble.evaluate.train_test import append_test_set
    >>> data = MultilabelDataset([[1.0], [2.0]], [[1, 0], [0, 1]], labels=["war", "love"])
    >>> test = MultilabelDataset([[3.0]], [[1, 0]], labels=["love", "war"])
    >>> both, (train_rows, test_rows) = append_test_set(data, test, caller="example")
    >>> train_rows, test_rows, both.Y[test_rows].toarray()
    (array([0, 1]), array([2]), array([[False,  True]]))
    """
    if not isinstance(test, MultilabelDataset):
        raise ParameterTypeError(
            f"The 'test' parameter of {caller} must be a MultilabelDataset, as the data. Got "
            f"{type(test).__name__} instead."
        )
    if (data.features, data.labels) != (test.features, test.labels):
        features = _features_of_both(data, test)
        labels = _all_labels(data, test, caller)
        roots = (-1,) * (len(labels) - data.n_labels)
        parents = data.label_parents and (*data.label_parents, *roots)
        common: Any = {"features": features, "labels": labels, "label_parents": parents}
        test = replace(test, X=align_columns(test, features), Y=_in_order(test, labels), **common)
        data = replace(data, Y=_in_order(data, labels), **common)
    both = replace(data + test, name=data.name)
    return both, (np.arange(len(data)), np.arange(len(data), len(both)))


def _features_of_both(data: MultilabelDataset, test: MultilabelDataset) -> tuple[Feature, ...]:
    """Describe the training columns; texts of the test part stand behind those of training."""
    others = {feature.name: feature.categories for feature in test.features}
    both = (dict.fromkeys((*f.categories, *others.get(f.name, ()))) for f in data.features)
    return tuple(
        replace(feature, categories=tuple(texts)) if feature.kind == "text" else feature
        for feature, texts in zip(data.features, both, strict=True)
    )


def _all_labels(data: MultilabelDataset, test: MultilabelDataset, caller: str) -> tuple[str, ...]:
    """List the labels of training, and behind them those that only rows of the test part have."""
    known, tested = set(data.labels), dict(zip(test.labels, count_labels(test.Y), strict=True))
    new = tuple(name for name, n_rows in tested.items() if name not in known and n_rows)
    missing = tuple(name for name in data.labels if name not in tested)
    if len(missing) == data.n_labels:
        raise DataError(
            f"{caller}: the training part has {join_names(data.labels, 3)} as labels, the test part "
            f"{join_names(test.labels, 3)}. Expected the same labels in both, in any order."
        )
    parts = (
        (missing, data, "training", test, "test", "count as labels that its rows do not have"),
        (new, test, "test", data, "training", "cannot be learnt, and count as missed"),
    )
    for alone, _, name, other, its_name, _ in parts:
        if columns := set(other.feature_names).intersection(alone):
            raise DataError(
                f"{caller}: the {name} part has a label {min(columns)!r} that the {its_name} part "
                "has not as a label, but as a feature. Expected the same labels in both."
            )
    for alone, part, name, _, its_name, what in parts:
        if alone:
            warnings.warn(
                f"{caller}: no row of the {its_name} part has {len(alone)} of the {part.n_labels} "
                f"labels of the {name} part: {join_names(alone, 3)}. They {what}.",
                ScumbleWarning,
                stacklevel=6,
            )
    return data.labels + new


def _in_order(part: MultilabelDataset, labels: tuple[str, ...]) -> sparse.csr_array:
    """Give the columns of some labels, one without rows for what the part does not know."""
    if part.labels == labels:
        return part.Y
    places = {name: at for at, name in enumerate(part.labels)}
    none = sparse.csr_array((len(part), 1), dtype=bool)
    wide = sparse.hstack([part.Y, none], format="csr", dtype=bool)
    return wide[:, [places.get(name, part.n_labels) for name in labels]]
