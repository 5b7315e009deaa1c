"""`characterize`, which computes all measures of a data set, and the tables it returns."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, cast

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.parallel import limit_threads
from scumble._core.parameters import check_choice
from scumble._core.registry import registered_objects
from scumble._core.table_repr import TableReprMixin, TableView
from scumble._core.text import default_names
from scumble._validation.labels import check_named_labels, is_dataset
from scumble.measures import imbalance, threaded_kernels
from scumble.measures.base import Measure, safe_divide
from scumble.measures.concurrence import (
    counts_and_concurrence,
    cv_by_label,
    cv_of_scores,
    sum_squared_deviations,
)
from scumble.measures.imbalance import Unseen, minority_from_ratios, ratios_from_counts
from scumble.measures.labelsets import Labelsets, find_labelsets, tcs_from_counts

#: Columns of a `LabelTable`.
LABEL_COLUMNS = ("name", "count", "frequency", "irlbl", "scumble", "scumble_cv")


@dataclass(frozen=True, eq=False, repr=False)
class LabelTable(TableReprMixin):
    """The measures of every label, in the order of the columns of ``Y``.

    ``table["irlbl"]`` is a column as an array; iteration yields a mapping for each label.

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
        """Return a column; raise a ParameterError for an unknown name."""
        if column not in LABEL_COLUMNS:
            raise ParameterError(
                f"The label table has no column {column!r}. "
                f"Expected one of {', '.join(LABEL_COLUMNS)}."
            )
        return getattr(self, column)

    def __len__(self) -> int:
        return len(self.name)

    def _repr_title(self) -> str:
        """Return the first line of the repr: the numbers of labels and of minority labels."""
        n_minority = int(self.is_minority.sum())
        return f"LabelTable: {len(self):,} labels, {n_minority:,} of them rarer than average"

    def _repr_table(self) -> TableView:
        """Return the table of the repr: the measures of each label."""
        columns = [self[column] for column in LABEL_COLUMNS]
        return TableView(LABEL_COLUMNS, zip(*columns, strict=True), len(self))

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        """Yield a dict from column to value, as Python numbers, for each label."""
        columns = [self[column].tolist() for column in LABEL_COLUMNS[1:]]
        for values in zip(self.name, *columns, strict=True):
            yield dict(zip(LABEL_COLUMNS, values, strict=True))

    @property
    def is_minority(self) -> Array:
        """Mask of the minority labels (IRLbl > MeanIR)."""
        return minority_from_ratios(self.irlbl)


@dataclass(frozen=True, eq=False, repr=False)
class Summary(TableReprMixin):
    """All measures of a data set, as `characterize` computes them.

    Attributes
    ----------
    name : str
        Name of the data set.
    n_instances, n_features, n_labels, n_labelsets : int
        Sizes; `n_features` is None for labels alone.
    n_single_labelsets, max_labelset_count : int
        Number of labelsets that occur once; instances with the most frequent labelset.
    cardinality, density, diversity, p_min : float
        See the functions of these names in `scumble.measures`.
    mean_ir, max_ir, cvir : float
        Imbalance: see `mean_ir`, `max_ir`, `cvir`.
    scumble, scumble_cv : float
        Concurrence: see `scumble`, `scumble_cv`.
    tcs : float or None
        Complexity: see `tcs`; None for labels alone.
    n_unseen, n_unlabelled, n_minority : int
        Numbers of unseen labels, of instances without labels, and of minority labels.
    labels : LabelTable
        The measures of every label.
    scumble_by_instance : ndarray of shape (n_instances,)
        SCUMBLE of every instance.
    labelsets : Labelsets
        The distinct labelsets.
    other_measures : dict of str to float or None
        Measures that were registered with ``in_summary=True``, by name; see
        `scumble.measures.base.measure`. None for data that does not fit in memory.

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
    other_measures: Mapping[str, float | None] = field(default_factory=dict)

    def _repr_title(self) -> str:
        """Return the first line of the repr: the name of the data set and its main measures."""
        return (
            f"Summary {self.name!r}: {self.n_instances:,} instances, {self.n_labels:,} labels, "
            f"MeanIR {self.mean_ir:.3f}, SCUMBLE {self.scumble:.4f}"
        )

    def _repr_table(self) -> TableView:
        """Return the table of the repr: a row for each measure of the data set."""
        rows = [(name, value) for name, value in self.to_dict().items() if name != "name"]
        return TableView(("", ""), rows, len(rows))

    def to_dict(self) -> dict[str, Any]:
        """Return the measures of the data set as Python numbers.

        Returns
        -------
        dict
            Without the tables; NaN becomes None, so that the result can be written as JSON.
        """
        left_out = {"labels", "scumble_by_instance", "labelsets", "other_measures"}
        names = [field.name for field in fields(self) if field.name not in left_out]
        values = {name: getattr(self, name) for name in names}
        return to_json_value({**values, **self.other_measures})


def to_json_value(value: Any) -> Any:
    """Return a value that JSON can hold: NaN and infinities become None.

    NumPy scalars become Python numbers, tuples become lists; items of lists and dicts are
    converted, too. Values of other types, such as arrays, are returned as they are.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: to_json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json_value(item) for item in value]
    return value


def characterize(data: Any, *, unseen: Unseen = "nan", n_jobs: int | None = None) -> Summary:
    """Compute all measures of a data set and of its labels.

    Parameters
    ----------
    data : MultilabelDataset, or labels as array, sparse matrix, DataFrame or label lists
        With labels alone `n_features` and `tcs` are None.
    unseen : {"nan", "zero"}
        The imbalance ratio of unseen labels. By default it is NaN and left out of MeanIR and CVIR;
        ``"zero"`` gives the results of mldr, which counts it as 0.
    n_jobs : int, optional
        Number of threads; it does not change the results.

    Returns
    -------
    Summary
        All measures; ``labels`` has a row per label, ``scumble_by_instance`` a score per instance.

    See Also
    --------
    difficult_labels : The rare labels that frequent labels mask.

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
    characterize_out_of_core = getattr(data, "__scumble_characterize__", None)
    if characterize_out_of_core is not None and unseen != "nan":
        raise ParameterError(
            "characterize: unseen='zero' is for data in memory only. Leave it out, or use "
            "scumble.read."
        )
    with limit_threads(n_jobs):
        if characterize_out_of_core is not None:
            return cast(Summary, characterize_out_of_core())
        return _characterize_in_memory(data, unseen)


def _characterize_in_memory(data: Any, unseen: Unseen) -> Summary:
    """Return all measures of a data set or labels in memory; see `characterize`."""
    has_features = is_dataset(data) and hasattr(data, "X")
    Y, names = check_named_labels(data, caller="characterize")
    n_rows, n_labels = Y.shape

    sets = find_labelsets(Y)  # first, so that the scores can reuse its temporary memory
    counts, concurrence = counts_and_concurrence(Y)
    squared_deviations, label_squared_deviations = sum_squared_deviations(Y, concurrence)
    few_labels = threaded_kernels.count_rows_with_few_labels(Y)
    return summarize(
        LabelStatistics(
            names=names or default_names("y", n_labels),
            counts=counts,
            means=concurrence.by_label,
            squares=label_squared_deviations,
        ),
        sets,
        unseen=unseen,
        name=str(getattr(data, "name", "")) if has_features else "",
        n_instances=n_rows,
        n_features=int(data.X.shape[1]) if has_features else None,
        n_assignments=Y.nnz,
        n_one_label=few_labels.n_one_label,
        n_unlabelled=few_labels.n_unlabelled,
        scumble=concurrence.scumble,
        scumble_cv=cv_of_scores(squared_deviations, n_rows=n_rows, mean=concurrence.scumble),
        scumble_by_instance=concurrence.by_instance,
        other_measures={measure.name: measure.function(Y) for measure in _other_measures()},
    )


def _other_measures() -> list[Measure]:
    """Return the measures that were registered for the summary, besides its own fields.

    Raises a ParameterError if one has the name of a field of the summary.
    """
    measures = [measure for measure in registered_objects("measure").values() if measure.in_summary]
    field_names = {summary_field.name for summary_field in fields(Summary)}
    for measure in measures:
        if measure.name in field_names:
            raise ParameterError(
                f"The measure {measure.name!r} cannot be in the summary, which has a field of this "
                "name. Register it under another name."
            )
    return measures


class LabelStatistics(NamedTuple):
    """The statistics of each label from which its measures are computed."""

    names: Sequence[Any]
    counts: Array  # number of instances of each label
    means: Array  # SCUMBLELbl: mean SCUMBLE of these instances; NaN if there are none
    squares: Array  # sum of squared deviations of their SCUMBLE from this mean


def summarize(
    labels: LabelStatistics,
    sets: Any,
    *,
    unseen: Unseen = "nan",
    n_instances: int,
    n_features: int | None,
    n_assignments: int,
    n_one_label: int,
    other_measures: Mapping[str, float | None] | None = None,
    **measures: Any,
) -> Summary:
    """Return the summary of a data set, with the measures that follow from counts and scores.

    ``sets`` is the `Labelsets`, or an object with its length, ``n_single`` and ``max_count``;
    ``n_assignments`` is the number of label assignments, ``n_one_label`` that of instances with one
    label. ``other_measures`` are None if they cannot be computed. ``measures`` are all other fields
    of `Summary`.
    """
    counts = labels.counts
    n_labels = len(labels.names)
    n_sets = len(sets)
    if other_measures is None:
        other_measures = dict.fromkeys([measure.name for measure in _other_measures()])
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
            name=tuple(map(str, labels.names)),
            count=counts,
            frequency=imbalance.frequencies_from_counts(counts, n_instances),
            irlbl=ratios,
            scumble=np.nan_to_num(labels.means) if unseen == "zero" else labels.means,
            scumble_cv=cv_by_label(labels.squares, counts=counts, means=labels.means),
        ),
        labelsets=sets,
        other_measures=other_measures,
        **measures,
    )
