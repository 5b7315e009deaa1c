"""`characterize`: every measure of a data set, from one reading of its labels."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.parallel import limit_threads
from scumble._core.table_repr import TableReprMixin, TableView
from scumble._core.validation import check_choice, check_named_labels, is_dataset
from scumble.measures import imbalance, threaded_kernels
from scumble.measures.base import safe_divide
from scumble.measures.concurrence import (
    counts_and_concurrence,
    cv_by_label,
    cv_of_scores,
    sum_squared_deviations,
)
from scumble.measures.imbalance import Unseen, minority_from_ratios, ratios_from_counts
from scumble.measures.labelsets import Labelsets, find_labelsets, tcs_from_counts

LABEL_COLUMNS = ("name", "count", "frequency", "irlbl", "scumble", "scumble_cv")


@dataclass(frozen=True, eq=False, repr=False)
class LabelTable(TableReprMixin):
    """The measures of every label, in data order.

    ``table["irlbl"]`` is a column as an array; iterating gives one mapping per label.

    Attributes
    ----------
    name : tuple of str
        Names of the labels.
    count, frequency, irlbl, scumble, scumble_cv : ndarray of shape (n_labels,)
        Their measures.

    Examples
    --------
    >>> from scumble.measures import characterize
    >>> table = characterize([[1, 0], [1, 0], [1, 1]]).labels
    >>> table["irlbl"], [label["count"] for label in table]
    (array([1., 3.]), [3, 1])
    """

    name: tuple[str, ...]
    count: Array
    frequency: Array
    irlbl: Array
    scumble: Array
    scumble_cv: Array

    def __getitem__(self, column: str) -> Any:
        if column not in LABEL_COLUMNS:
            raise ParameterError(
                f"The label table has no column {column!r}. "
                f"Expected one of {', '.join(LABEL_COLUMNS)}."
            )
        return getattr(self, column)

    def __len__(self) -> int:
        return len(self.name)

    def _repr_title(self) -> str:
        n_rare = int(self.is_minority.sum())
        return f"LabelTable: {len(self):,} labels, {n_rare:,} of them rarer than average"

    def _repr_table(self) -> TableView:
        columns = [self[column] for column in LABEL_COLUMNS]
        return TableView(LABEL_COLUMNS, zip(*columns, strict=True), len(self))

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        numbers = (self[column].tolist() for column in LABEL_COLUMNS[1:])
        for values in zip(self.name, *numbers, strict=True):
            yield dict(zip(LABEL_COLUMNS, values, strict=True))

    @property
    def is_minority(self) -> Array:
        """Which labels are rarer than average (IRLbl > MeanIR)."""
        return minority_from_ratios(self.irlbl)


@dataclass(frozen=True, eq=False, repr=False)
class Summary(TableReprMixin):
    """Everything `characterize` measures.

    Attributes
    ----------
    name : str
        Name of the data set.
    n_instances, n_features, n_labels, n_labelsets : int
        Sizes; `n_features` is None where only labels were given.
    n_single_labelsets, max_labelset_count : int
        Labelsets that occur once; instances of the most frequent one.
    cardinality, density, diversity, p_min : float
        See the functions of these names in `scumble.measures`.
    mean_ir, max_ir, cvir : float
        Imbalance: see `mean_ir`, `max_ir`, `cvir`.
    scumble, scumble_cv : float
        Concurrence: see `scumble`, `scumble_cv`.
    tcs : float or None
        Complexity: see `tcs`; None where only labels were given.
    n_unseen, n_unlabelled, n_minority : int
        Labels that never occur; instances without labels; labels with IRLbl > MeanIR.
    labels : LabelTable
        The measures of every label.
    scumble_by_instance : ndarray of shape (n_instances,)
        SCUMBLE of every instance.
    labelsets : Labelsets
        The distinct labelsets.

    Examples
    --------
    >>> from scumble.measures import characterize
    >>> summary = characterize([[1, 0], [1, 0], [1, 1]])
    >>> summary.n_labels, summary.mean_ir, round(summary.scumble, 3)
    (2, 2.0, 0.045)
    """

    name: str
    n_instances: int
    n_features: int | None
    n_labels: int
    n_labelsets: int
    n_single_labelsets: int
    max_labelset_count: int
    cardinality: float
    density: float
    diversity: float
    p_min: float
    mean_ir: float
    max_ir: float
    cvir: float
    scumble: float
    scumble_cv: float
    tcs: float | None
    n_unseen: int
    n_unlabelled: int
    n_minority: int
    labels: LabelTable
    scumble_by_instance: Array
    labelsets: Labelsets

    def _repr_title(self) -> str:
        return (
            f"Summary {self.name!r}: {self.n_instances:,} instances, {self.n_labels:,} labels, "
            f"MeanIR {self.mean_ir:.3f}, SCUMBLE {self.scumble:.4f}"
        )

    def _repr_table(self) -> TableView:
        rows = [(name, value) for name, value in self.to_dict().items() if name != "name"]
        return TableView(("", ""), rows, len(rows))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of the data set as plain Python values.

        Returns
        -------
        dict
            Without the tables; NaN becomes None, so that it can be written as JSON.
        """
        tables = {"labels", "scumble_by_instance", "labelsets"}
        names = (field.name for field in fields(self) if field.name not in tables)
        return {name: to_json_value(getattr(self, name)) for name in names}


def to_json_value(value: Any) -> Any:
    """Turn NumPy scalars into Python ones, and NaN and infinities into None, also inside."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: to_json_value(inner) for key, inner in value.items()}
    return [to_json_value(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def characterize(data: Any, *, unseen: Unseen = "nan", n_jobs: int | None = None) -> Summary:
    """Measure a data set: sizes, imbalance, concurrence, labelsets, and every label.

    Parameters
    ----------
    data : MultilabelDataset, or labels as array, sparse matrix, DataFrame or label lists
        With labels alone `n_features` and `tcs` are None.
    unseen : {"nan", "zero"}
        Labels that never occur have no imbalance ratio: they are NaN and left out of MeanIR and
        CVIR. ``"zero"`` gives the numbers of mldr, which counts them as 0.
    n_jobs : int, optional
        Number of threads; it never changes a result.

    Returns
    -------
    Summary
        All measures, with ``.labels`` (one row per label) and ``.scumble_by_instance``.

    See Also
    --------
    difficult_labels : The rare labels that frequent ones mask.

    Examples
    --------
    >>> from scumble import characterize
    >>> summary = characterize([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]])
    >>> summary
    <Summary '': 4 instances, 3 labels, MeanIR 2.333, SCUMBLE 0.0786>
    >>> summary.labels["count"]
    array([4, 2, 1])
    """
    check_choice(unseen, ("nan", "zero"), name="unseen", caller="characterize")
    out_of_core = getattr(data, "__scumble_characterize__", None)
    if out_of_core is not None and unseen != "nan":
        raise ParameterError(
            "characterize: unseen='zero' is for data in memory only. Leave it out, or use "
            "scumble.read."
        )
    with limit_threads(n_jobs):
        return out_of_core() if out_of_core is not None else _characterize(data, unseen)


def _characterize(data: Any, unseen: Unseen) -> Summary:
    has_features = is_dataset(data) and hasattr(data, "X")
    Y, names = check_named_labels(data, caller="characterize")
    n_rows, n_labels = Y.shape

    sets = find_labelsets(Y)  # first, so that the scores can use the memory it takes meanwhile
    counts, found = counts_and_concurrence(Y)
    squares, label_squares = sum_squared_deviations(Y, found)
    n_unlabelled, n_one_label = threaded_kernels.count_short_rows(Y)
    names = names or tuple(f"y{k}" for k in range(n_labels))
    return summarize(
        LabelStatistics(names, counts, found.by_label, label_squares),
        sets,
        unseen=unseen,
        name=str(getattr(data, "name", "")) if has_features else "",
        n_instances=n_rows,
        n_features=int(data.X.shape[1]) if has_features else None,
        n_assignments=Y.nnz,
        n_one_label=n_one_label,
        n_unlabelled=n_unlabelled,
        scumble=found.scumble,
        scumble_cv=cv_of_scores(squares, n_rows, found.scumble),
        scumble_by_instance=found.by_instance,
    )


class LabelStatistics(NamedTuple):
    """What the measures of labels follow from."""

    names: Sequence[Any]
    counts: Array
    means: Array  # of the scores of each label's instances; NaN without any
    squares: Array  # sums of squared deviations from them


def summarize(
    labels: LabelStatistics,
    sets: Any,
    *,
    unseen: Unseen = "nan",
    n_instances: int,
    n_features: int | None,
    n_assignments: int,
    n_one_label: int,
    **known: Any,
) -> Summary:
    """Compute what follows from counts and scores; all else is known already."""
    names, counts, means, squares = labels
    n_labels, n_sets = len(names), len(sets)
    cardinality = safe_divide(n_assignments, n_instances)
    ratios = ratios_from_counts(counts, unseen=unseen)
    return Summary(
        n_instances=n_instances,
        n_features=n_features,
        n_labels=n_labels,
        n_labelsets=n_sets,
        n_single_labelsets=sets.n_single,
        max_labelset_count=sets.max_count,
        cardinality=cardinality,
        density=safe_divide(cardinality, n_labels),
        diversity=safe_divide(n_sets, n_instances),
        p_min=safe_divide(n_one_label, n_instances),
        mean_ir=imbalance.mean_of_ratios(ratios),
        max_ir=imbalance.max_of_ratios(ratios),
        cvir=imbalance.cv_of_ratios(ratios),
        tcs=None if n_features is None else tcs_from_counts(n_features, n_labels, n_sets),
        n_unseen=int((counts == 0).sum()),
        n_minority=int(minority_from_ratios(ratios).sum()),
        labels=LabelTable(
            tuple(map(str, names)),
            counts,
            imbalance.frequencies_from_counts(counts, n_instances),
            ratios,
            np.nan_to_num(means) if unseen == "zero" else means,
            cv_by_label(squares, counts, means),
        ),
        labelsets=sets,
        **known,
    )
