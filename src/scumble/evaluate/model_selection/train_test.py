"""A training and a test part: split from one data set, or combined from two."""

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterTypeError, ScumbleWarning
from scumble._core.parameters import Either, Int, Real, as_generator
from scumble._core.text import join_names
from scumble._validation.labels import check_consistent_length, check_labels
from scumble._validation.provenance import warn_if_resampled
from scumble.data import Feature, MultilabelDataset
from scumble.learn.storage.columns import align_columns
from scumble.measures.stratification import assign_folds
from scumble.measures.threaded_kernels import count_labels
from scumble.resample.containers import take_rows

#: A share of the rows, or their number.
_TEST_SIZE = Either(Real(0, 1, closed="neither"), Int(1))
# The two *sides* that a row can be assigned to: the training part and the test part.
TRAIN = 0
TEST = 1
#: Maximum number of moves of rows in the search that puts one label on both sides; each move takes
#: a few microseconds.
_MAX_MOVES = 300
#: Number of rounds in which the sides are brought to the requested size; after each, the rows are
#: ordered anew by the labels of which their side then has too many rows.
_RESIZE_ROUNDS = 8


def train_test_split(
    data: Any, Y: Any = None, *, test_size: float = 0.25, random_state: Any = None
) -> tuple[Any, ...]:
    """Split a data set into a training and a test part that both have the rare labels.

    A random split often leaves a rare label out of one part. Here rows are assigned by iterative
    stratification: every label keeps its share, and a label with two rows or more has at least one
    in each part, if that is possible.

    Parameters
    ----------
    data : MultilabelDataset, or features in any form that has rows
        The data, or its features.
    Y : array, sparse matrix, DataFrame or list of labels, optional
        The labels, if ``data`` holds features only.
    test_size : float or int, default=0.25
        Share of rows for testing, rounded up, or their number. If so few rows cannot hold every
        label that needs one, the test part is larger.
    random_state : None, int, Generator or RandomState
        The same seed gives the same parts.

    Returns
    -------
    train, test : MultilabelDataset
        For a data set: the two parts, rows in their order.
    X_train, X_test, Y_train, Y_test : same types as the input
        For features and labels: their parts, in the order of scikit-learn.

    See Also
    --------
    IterativeStratification : Several test parts.
    cross_validate : Evaluates on a test part too.

    Notes
    -----
    The method of Sechidis et al. [1]_, as in `IterativeStratification`, for two sides of unequal
    size, with three more rules. First, a label with one row has it on the training side. Second, if
    all rows of another label are on one side, one of them is moved to the other side. If this
    leaves another label without a row on the first side, a row of that label is moved back, and so
    on. The moves are undone if no sequence of at most 300 moves puts all these labels on both
    sides. Third, rows are moved until the parts have the requested size, except for a row that is
    the last one with a label on its side.

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
    generator = as_generator(random_state, caller="train_test_split")
    sides = assign_train_test(labels, n_test, generator)
    train_indices = np.flatnonzero(sides == TRAIN)
    test_indices = np.flatnonzero(sides == TEST)
    if Y is None:
        return _take_rows(data, train_indices), _take_rows(data, test_indices)
    return (
        _take_rows(data, train_indices),
        _take_rows(data, test_indices),
        _take_rows(Y, train_indices),
        _take_rows(Y, test_indices),
    )


def _count_test_rows(n_rows: int, test_size: Any) -> int:
    """Return the number of test rows for a share, which is rounded up, or a number.

    Raises a DataError if the training part or the test part would be empty.
    """
    _TEST_SIZE.check(test_size, name="test_size", caller="train_test_split")
    n_test = math.ceil(n_rows * test_size) if test_size < 1 else int(test_size)
    if not 0 < n_test < n_rows:
        raise DataError(
            f"train_test_split: {n_test} of {n_rows} rows for testing leave {n_rows - n_test} for "
            "training. Expected at least one row on each side."
        )
    return n_test


def _take_rows(container: Any, row_indices: Array) -> Any:
    """Return some rows of a data set, list, array, matrix or frame, in a container of its type."""
    if isinstance(container, MultilabelDataset):
        return container[row_indices]
    if isinstance(container, list | tuple):
        return type(container)(container[row] for row in row_indices.tolist())
    return take_rows(container, row_indices)


# Assignment of rows to the two sides ---------------------------------------------------------


def assign_train_test(Y: sparse.csr_array, n_test: int, generator: np.random.Generator) -> Array:
    """Return the side of each row, `TRAIN` or `TEST`, by the method of `train_test_split`.

    About ``n_test`` rows are on the test side: more or fewer if labels would be missing on a side.
    """
    target_counts = target_label_counts(Y, n_test)
    target_rows = np.array([Y.shape[0] - n_test, n_test], float)
    sides = assign_folds(Y, 2, generator, target_counts, target_rows)
    assignment = TrainTestAssignment(Y, sides)
    assignment.ensure_labels_on_both_sides()
    assignment.resize(n_test, target_counts, generator.random(Y.shape[0]))
    return assignment.sides


def target_label_counts(Y: sparse.csr_array, n_test: int) -> Array:
    """Return how many rows of each label each side should have, as array of shape (n_labels, 2).

    The numbers are in proportion to the size of the sides, but at least 1 for labels with two rows.
    """
    # The only row of a label is for training: a label that is not learnt cannot be evaluated.
    counts = count_labels(Y)
    share = counts * (n_test / Y.shape[0])
    test_counts = np.where(counts < 2, 0.0, np.clip(share, 1.0, np.maximum(counts - 1.0, 1.0)))
    return np.column_stack([counts - test_counts, test_counts])


@dataclass
class _MoveSearch:
    """State of the search for a sequence of moves that puts a label on both sides."""

    is_exempt: Array  # mask of the labels that may have all rows on one side
    moved_rows: set[int]  # indices of the rows that are moved; a row is moved at most once
    missing_labels: set[int]  # indices of the labels that a side lacks, without the exempt ones
    n_remaining_moves: int = _MAX_MOVES


class TrainTestAssignment:
    """An assignment of rows to the two sides, which is changed by moving rows.

    Parameters
    ----------
    Y : csr_array of bool
        The labels.
    sides : ndarray of int
        The side of each row, `TRAIN` or `TEST`. The array is changed.

    Attributes
    ----------
    sides : ndarray of int
        The side of each row.
    counts : ndarray of shape (2, n_labels)
        Number of rows with each label on each side.
    """

    def __init__(self, Y: sparse.csr_array, sides: Array) -> None:
        self._Y = Y
        self._Y_columns = Y.tocsc()
        self.sides = sides
        self.counts = np.stack([count_labels(Y[sides == side]) for side in (TRAIN, TEST)])
        #: Mask of the labels that at least two rows have, so that both sides can have one.
        self._can_be_on_both_sides = self.counts.sum(axis=0) >= 2

    def ensure_labels_on_both_sides(self) -> None:
        """Move rows until every label of two rows or more is on both sides, if that is possible.

        A label that is on one side only is put on both by moving one of its rows. If a side then
        lacks other labels, rows of these are moved in turn; a row moves at most once. A label stays
        on one side if there is no such sequence of moves, or none is found in `_MAX_MOVES` moves.
        """
        is_exempt = self._are_on_one_side(slice(None))
        for label in np.flatnonzero(is_exempt).tolist():
            if not is_exempt[label]:  # moves for another label have put it on both sides
                continue
            is_exempt[label] = False
            moved_rows: set[int] = set()
            search = _MoveSearch(is_exempt, moved_rows, missing_labels={label})
            if not self._put_on_both_sides(label, search):
                is_exempt[label] = True
            for row in moved_rows:
                labels = self._labels_of(row)
                is_exempt[labels] &= self._are_on_one_side(labels)

    def _are_on_one_side(self, labels: Any) -> Array:
        """Return a mask of those of the labels that have two rows or more, all on one side."""
        is_missing = (self.counts[:, labels] == 0).any(axis=0)
        return self._can_be_on_both_sides[labels] & is_missing

    def _put_on_both_sides(self, label: int, search: _MoveSearch) -> bool:
        """Move a row of a label, and further rows, until no label is missing; or move nothing.

        Return whether this was possible. The search is depth-first and continues in ``search``.
        """
        Y = self._Y_columns
        rows = Y.indices[Y.indptr[label] : Y.indptr[label + 1]].tolist()
        candidates = [row for row in rows if row not in search.moved_rows]
        for row in sorted(candidates, key=lambda row: int(self._is_last_on_side(row).sum())):
            if search.n_remaining_moves == 0:
                return False
            search.n_remaining_moves -= 1
            search.moved_rows.add(row)
            self._move_and_update(row, search)
            if not search.missing_labels:
                return True
            if self._put_on_both_sides(min(search.missing_labels), search):
                return True
            self._move_and_update(row, search)
            search.moved_rows.remove(row)
        return False

    def _move_and_update(self, row: int, search: _MoveSearch) -> None:
        """Move a row to the other side, and update ``search.missing_labels``."""
        self._move(row)
        labels = self._labels_of(row)
        is_missing = self._are_on_one_side(labels) & ~search.is_exempt[labels]
        search.missing_labels.difference_update(labels.tolist())
        search.missing_labels.update(labels[is_missing].tolist())

    def _labels_of(self, row: int) -> Array:
        """Return the indices of the labels of a row."""
        return self._Y.indices[self._Y.indptr[row] : self._Y.indptr[row + 1]]

    def _is_last_on_side(self, row: int) -> Array:
        """Return a mask of the labels of a row: True if no other row on its side has the label.

        It is False for labels that only this row has: they are missing on one side in any case.
        """
        labels = self._labels_of(row)
        is_last = self.counts[self.sides[row], labels] == 1
        return is_last & self._can_be_on_both_sides[labels]

    def _move(self, row: int) -> None:
        """Move a row to the other side, and update the counts."""
        labels = self._labels_of(row)
        side = self.sides[row]
        self.counts[side, labels] -= 1
        self.counts[1 - side, labels] += 1
        self.sides[row] = 1 - side

    def resize(self, n_test: int, target_counts: Array, tie_breakers: Array) -> None:
        """Move rows until the test side has ``n_test`` rows, as far as no label leaves a side.

        ``target_counts``, of shape (n_labels, 2), is the number of rows with each label that each
        side should have: rows of labels with more are moved first. ``tie_breakers``, a random
        number per row, order the others.
        """
        surplus = int(self.sides.sum()) - n_test
        n_moves_per_round = math.ceil(abs(surplus) / _RESIZE_ROUNDS)
        while surplus:
            side = TEST if surplus > 0 else TRAIN
            rows = self._dispensable_rows(side, target_counts[:, side], tie_breakers)
            surplus_before = abs(surplus)
            for row in rows[: min(n_moves_per_round, surplus_before)].tolist():
                # A row that was dispensable may be needed after the moves of this round.
                if not self._is_last_on_side(row).any():
                    self._move(row)
                    surplus += 1 if side == TRAIN else -1
            if abs(surplus) == surplus_before:
                return

    def _dispensable_rows(self, side: int, target_counts: Array, tie_breakers: Array) -> Array:
        """Return the indices of the rows that can leave a side, in the order of moving.

        No label of such a row would be missing on the side. First come the rows with labels of
        which the side has many more rows than ``target_counts``, its share of shape (n_labels,).
        """
        side_rows = np.flatnonzero(self.sides == side)
        Y_side = self._Y[side_rows].astype(np.float64)
        is_last_row_of_label = (self.counts[side] == 1) & self._can_be_on_both_sides
        is_needed = Y_side @ is_last_row_of_label.astype(np.float64) > 0
        n_rows_of_label = np.maximum(self.counts.sum(axis=0), 1)
        excess = Y_side @ ((self.counts[side] - target_counts) / n_rows_of_label)
        movable = np.flatnonzero(~is_needed)
        order = np.lexsort((tie_breakers[side_rows[movable]], -excess[movable]))
        return side_rows[movable[order]]


# A training and a test part from two files --------------------------------------------------


def append_test_set(
    data: MultilabelDataset, test: Any, *, caller: str
) -> tuple[MultilabelDataset, tuple[Array, Array]]:
    """Append the rows of a test part to the data; return the result and the indices of both parts.

    The indices are a pair of arrays, of the training rows and of the test rows. Columns and labels
    of the test part may be in another order. Categories of the test part that the training part
    does not have become missing values, as for a stored model. The result has the labels of both
    parts, with a warning if they differ: a label that no training row has cannot be learnt, and
    counts against the classifier.

    Examples
    --------
    >>> from scumble import MultilabelDataset
    >>> from scumble.evaluate.model_selection.train_test import append_test_set
    >>> data = MultilabelDataset([[1.0], [2.0]], [[1, 0], [0, 1]], labels=["war", "love"])
    >>> test = MultilabelDataset([[3.0]], [[1, 0]], labels=["love", "war"])
    >>> combined, (train_indices, test_indices) = append_test_set(data, test, caller="example")
    >>> train_indices, test_indices, combined.Y[test_indices].toarray()
    (array([0, 1]), array([2]), array([[False,  True]]))
    """
    if not isinstance(test, MultilabelDataset):
        raise ParameterTypeError(
            f"The 'test' parameter of {caller} must be a MultilabelDataset, as the data. Got "
            f"{type(test).__name__} instead."
        )
    if (data.features, data.labels) != (test.features, test.labels):
        features = _merge_features(data, test)
        labels = _merge_labels(data, test, caller)
        parents = data.label_parents
        if parents:
            n_new = len(labels) - data.n_labels
            parents = (*parents, *[-1] * n_new)
        test = replace(
            test,
            X=align_columns(test, features),
            Y=_label_columns(test, labels),
            features=features,
            labels=labels,
            label_parents=parents,
        )
        data = replace(
            data,
            Y=_label_columns(data, labels),
            features=features,
            labels=labels,
            label_parents=parents,
        )
    combined = replace(data + test, name=data.name)
    return combined, (np.arange(len(data)), np.arange(len(data), len(combined)))


def _merge_features(data: MultilabelDataset, test: MultilabelDataset) -> tuple[Feature, ...]:
    """Return the features of the training part.

    For text features, whose categories are the texts, those of the test part are appended.
    """
    test_categories = {feature.name: feature.categories for feature in test.features}
    features = []
    for feature in data.features:
        if feature.kind == "text":
            texts = (*feature.categories, *test_categories.get(feature.name, ()))
            feature = replace(feature, categories=tuple(dict.fromkeys(texts)))
        features.append(feature)
    return tuple(features)


def _merge_labels(data: MultilabelDataset, test: MultilabelDataset, caller: str) -> tuple[str, ...]:
    """Return the names of the labels of the training part, then those that only test rows have.

    The latter include only labels that a test row has. Warns of labels that one of the parts does
    not have; raises a DataError if the parts have no label in common, or if a label of one part is
    a feature of the other.
    """
    train_labels = set(data.labels)
    test_counts = dict(zip(test.labels, count_labels(test.Y), strict=True))
    only_test = tuple(
        name for name, n_rows in test_counts.items() if name not in train_labels and n_rows
    )
    only_train = tuple(name for name in data.labels if name not in test_counts)
    if len(only_train) == data.n_labels:
        raise DataError(
            f"{caller}: the training part has {join_names(data.labels, 3)} as labels, the test "
            f"part {join_names(test.labels, 3)}. Expected the same labels in both, in any order."
        )
    _refuse_labels_that_are_features(
        only_train, test, name="training", other_name="test", caller=caller
    )
    _refuse_labels_that_are_features(
        only_test, data, name="test", other_name="training", caller=caller
    )
    if only_train:
        warnings.warn(
            f"{caller}: no row of the test part has {len(only_train)} of the {data.n_labels} "
            f"labels of the training part: {join_names(only_train, 3)}. They count as labels that "
            "its rows do not have.",
            ScumbleWarning,
            stacklevel=6,
        )
    if only_test:
        warnings.warn(
            f"{caller}: no row of the training part has {len(only_test)} of the {test.n_labels} "
            f"labels of the test part: {join_names(only_test, 3)}. They cannot be learnt, and "
            "count as missed.",
            ScumbleWarning,
            stacklevel=6,
        )
    return data.labels + only_test


def _refuse_labels_that_are_features(
    labels: tuple[str, ...], other: MultilabelDataset, *, name: str, other_name: str, caller: str
) -> None:
    """Raise a DataError if some of the labels of a part are features of the other part.

    ``name`` and ``other_name`` are those of the parts, for the message.
    """
    columns = set(other.feature_names).intersection(labels)
    if columns:
        raise DataError(
            f"{caller}: the {name} part has a label {min(columns)!r} that the {other_name} part "
            "has as a feature, not as a label. Expected the same labels in both."
        )


def _label_columns(part: MultilabelDataset, labels: tuple[str, ...]) -> sparse.csr_array:
    """Return the label matrix of a part with the columns ``labels``, in this order.

    A label that the part does not have gets a column of zeros.
    """
    if part.labels == labels:
        return part.Y
    index_by_name = {name: index for index, name in enumerate(part.labels)}
    empty = sparse.csr_array((len(part), 1), dtype=bool)
    with_empty = sparse.hstack([part.Y, empty], format="csr", dtype=bool)
    return with_empty[:, [index_by_name.get(name, part.n_labels) for name in labels]]
