"""Tables of results with a row per data set and a column per method.

A *method* is a classifier with the resampler before it, if any. A *cell* of an experiment is one
fold of one data set and seed with one method; a table of cells has a row for each.
"""

from __future__ import annotations

import itertools
import math
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ParameterTypeError, ScumbleWarning, did_you_mean
from scumble._core.table_repr import TableReprMixin, TableView
from scumble._core.text import pluralize
from scumble._validation.frames import is_frame
from scumble.evaluate.metrics.label_groups import metric_names, metric_sign
from scumble.evaluate.model_selection.folds import LabelCounts, pooled_metrics
from scumble.results.cell import LABEL_COUNTS_KEY
from scumble.results.store import Store, StoreError

#: The names of a row (data set) and of a column (method).
Position = tuple[str, str]
#: The names of a data set, a splitter, a classifier and a resampler.
ScoreKey = tuple[str, str, str, str]
#: An array of float64.
FloatArray = npt.NDArray[np.float64]

#: Name that stands for no resampler, or for no classifier.
NO_ESTIMATOR = "none"
#: Columns of a table of cells that identify a cell; the others hold results.
KEYS = ("dataset", "method", "resampler", "classifier", "splitter", "seed", "fold", "repeat")
#: Results besides losses of which smaller values are better.
COSTS = ("seconds", "cpu_seconds", "megabytes")
#: First bytes of a store, which is an SQLite file.
_SQLITE_HEADER = b"SQLite format 3\x00"


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable(TableReprMixin):
    """Means of one metric, with a row per data set and a column per method.

    Attributes
    ----------
    metric : str
        Name of the metric; may be empty.
    rows, columns : tuple of str
        Data sets and methods.
    means, deviations : dict
        From (row, column) to the mean and the sample standard deviation over folds and seeds.
    n_cells : dict
        From (row, column) to the number of cells, including those whose value is NaN.
    higher_is_better : bool or None
        None if neither direction is better.

    Examples
    --------
    >>> from scumble.evaluate.statistics import score_table
    >>> table = score_table({"br": [0.4, 0.3, 0.5], "rare": [0.6, 0.3, 0.7]}, "macro_f1")
    >>> print(table)
    ScoreTable of macro_f1: 3 data sets, 2 methods
    data set        br   rare
    1              0.4    0.6
    2              0.3    0.3
    3              0.5    0.7
    mean rank    1.833  1.167
    >>> table["rare"], table.best("1")
    (array([0.6, 0.3, 0.7]), {'rare'})
    """

    metric: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    means: dict[Position, float]
    deviations: dict[Position, float]
    n_cells: dict[Position, int]
    higher_is_better: bool | None = None

    @property
    def values(self) -> Array:
        """The means as an array of shape (n_rows, n_columns); NaN where there is none."""
        positions = itertools.product(self.rows, self.columns)
        means = [self.means.get(position, math.nan) for position in positions]
        return np.array(means, np.float64).reshape(len(self.rows), len(self.columns))

    def __getitem__(self, method: str) -> Array:
        """Return the means of a method, one per data set."""
        _check_names([method], self.columns, "method")
        return self.values[:, self.columns.index(method)]

    def select(
        self, *, methods: Sequence[str] | None = None, datasets: Sequence[str] | None = None
    ) -> ScoreTable:
        """Return the table of some methods and data sets.

        Parameters
        ----------
        methods, datasets : sequence of str, optional
            Names, in the order of the result; all by default.

        Returns
        -------
        ScoreTable
            A smaller table.
        """
        columns = _check_names(methods, self.columns, "method")
        rows = _check_names(datasets, self.rows, "data set")
        return replace(self, rows=rows, columns=columns)

    def drop_incomplete_datasets(self) -> ScoreTable:
        """Return the table without the data sets that lack the value of a method.

        A ScumbleWarning names the data sets that are left out.
        """
        rows_and_values = zip(self.rows, self.values, strict=True)
        incomplete = [row for row, values in rows_and_values if np.isnan(values).any()]
        if not incomplete:
            return self
        warnings.warn(
            f"{len(incomplete)} of {len(self.rows)} data sets are left out, because not every "
            f"method has a value of {self.metric or 'the metric'} there: "
            f"{_abbreviate(incomplete, 5)}.",
            ScumbleWarning,
            stacklevel=3,
        )
        return self.select(datasets=[row for row in self.rows if row not in set(incomplete)])

    def best(self, row: str) -> set[str]:
        """Return the methods with the best mean on a data set.

        Parameters
        ----------
        row : str
            Name of the data set.

        Returns
        -------
        set of str
            Several methods if they are equal; empty if no mean is defined, or if neither direction
            is better.
        """
        means = {column: self.means.get((row, column), math.nan) for column in self.columns}
        defined = [mean for mean in means.values() if not math.isnan(mean)]
        if not defined or self.higher_is_better is None:
            return set()
        best = max(defined) if self.higher_is_better else min(defined)
        return {column for column, mean in means.items() if mean == best}

    def mean_ranks(self) -> dict[str, float]:
        """Return the mean rank of every method over the data sets with a value of all methods.

        Returns
        -------
        dict of str to float
            Mean ranks by method; 1 is best. NaN if there is no such data set, or if neither
            direction is better.
        """
        values = self.values
        values = values[~np.isnan(values).any(axis=1)]
        if self.higher_is_better is None or not len(values):
            return dict.fromkeys(self.columns, math.nan)
        means = rank_methods(values, self.higher_is_better).mean(axis=0)
        return dict(zip(self.columns, means.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values, for JSON; NaN becomes None."""
        values = []
        for row, column in itertools.product(self.rows, self.columns):
            if (row, column) in self.means:
                values.append(
                    {
                        "dataset": row,
                        "method": column,
                        "mean": _none_if_nan(self.means[row, column]),
                        "deviation": _none_if_nan(self.deviations[row, column]),
                        "n": self.n_cells[row, column],
                    }
                )
        ranks = {method: _none_if_nan(rank) for method, rank in self.mean_ranks().items()}
        return {"metric": self.metric, "values": values, "ranks": ranks}

    def _repr_title(self) -> str:
        """Return the first line of the repr: metric and numbers of data sets and methods."""
        of_metric = f" of {self.metric}" if self.metric else ""
        n_datasets = pluralize(len(self.rows), "data set")
        n_methods = pluralize(len(self.columns), "method")
        return f"ScoreTable{of_metric}: {n_datasets}, {n_methods}"

    def _repr_table(self) -> TableView:
        """Return the table of the repr: means per data set, and a last row with mean ranks."""
        rows = [(row, *values) for row, values in zip(self.rows, self.values, strict=True)]
        if self.higher_is_better is not None:
            rows.append(("mean rank", *self.mean_ranks().values()))
        return TableView(("data set", *self.columns), rows, len(rows))


def score_table(
    results: Any, metric: str | None = None, *, higher_is_better: bool | None = None
) -> ScoreTable:
    """Read a table of results from a store, a frame, a file or a mapping.

    Parameters
    ----------
    results : Store, DataFrame, Arrow table, path or mapping
        A store of experiments; a table with one row per cell, as ``scumble experiment export``
        writes it (columns ``dataset``, ``classifier`` or ``method``, and metrics), or with one
        row per data set and one column per method; the .csv or .parquet file of such a table; or
        a mapping from methods to values.
    metric : str, optional
        The metric to read; required if there are several. It determines which values are better.
    higher_is_better : bool, optional
        By default as the metric is registered; True for metrics that are not.

    Returns
    -------
    ScoreTable
        Means over folds and seeds.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from scumble.evaluate.statistics import score_table
    >>> cells = pa.table({
    ...     "dataset": ["a", "a", "b"], "classifier": ["br", "br", "br"],
    ...     "resampler": ["none", "none", "remedial"], "macro_f1": [0.5, 0.7, 0.3],
    ... })
    >>> score_table(cells, "macro_f1").means
    {('a', 'br'): 0.6, ('b', 'br after remedial'): 0.3}
    """
    if isinstance(results, Store):
        table = score_table_from_store(results, metric)
    elif isinstance(results, ScoreTable):
        table = results
    elif isinstance(results, str | os.PathLike):
        table = _from_frame(read_table(results), metric)
    elif is_frame(results):
        table = _from_frame(results, metric)
    elif isinstance(results, Mapping):
        columns = {str(name): list(values) for name, values in results.items()}
        table = _from_wide_columns(columns, metric=metric, index=None)
    else:
        raise ParameterTypeError(
            "Results must be a store of experiments, a DataFrame, a .csv or .parquet file, or a "
            f"mapping from methods to values. Got {type(results).__name__} instead."
        )
    if higher_is_better is None:
        return table
    return replace(table, higher_is_better=higher_is_better)


def is_results(scores: Any) -> bool:
    """Return whether an object is one that `score_table` reads, rather than an array of numbers."""
    is_table = isinstance(scores, ScoreTable | Store | str | os.PathLike | Mapping)
    return is_table or is_frame(scores)


def read_table(path: str | os.PathLike[str]) -> Any:
    """Read a .csv or .parquet file as an Arrow table.

    Raises a ParameterError if the file cannot be read, is no table, or is a store of experiments.
    """
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    path = Path(path)
    try:
        with path.open("rb") as stream:
            first_bytes = stream.read(len(_SQLITE_HEADER))
        if first_bytes == _SQLITE_HEADER:
            raise ParameterError(
                f"{path} is a store of experiments. Give scumble.experiment.Store({str(path)!r})."
            )
        if path.suffix.lower() == ".parquet":
            return pyarrow.parquet.read_table(path)
        return pyarrow.csv.read_csv(path)
    except OSError as error:
        raise ParameterError(f"{path} cannot be read: {error}.") from None
    except pa.ArrowInvalid as error:
        raise ParameterError(
            f"{path} is not a table of results: {error}. Expected a .csv or .parquet file, for "
            "example one that 'scumble experiment export' wrote."
        ) from None


def build_score_table(
    metric: str,
    values: Mapping[ScoreKey, Sequence[float]],
    n_cells: Mapping[ScoreKey, int] | None = None,
) -> ScoreTable:
    """Return the score table of values that are listed by data set, splitter and method.

    Each key of ``values`` is a data set, a splitter, a classifier and a resampler; these are the
    values of its cells. Means and deviations leave out NaN. ``n_cells`` holds the number of cells
    of each key; by default it is the number of values, NaN included. Methods are sorted by
    classifier, without resampler first; data sets stay in their order. If there are several
    splitters, the name of a row is that of the data set and of the splitter.
    """
    has_several_splitters = len({splitter for _, splitter, _, _ in values}) > 1
    positions: dict[ScoreKey, Position] = {}
    for dataset, splitter, classifier, resampler in values:
        row = f"{dataset}, {splitter}" if has_several_splitters else dataset
        column = column_name(classifier, resampler)
        positions[dataset, splitter, classifier, resampler] = row, column
    methods = {(classifier, resampler) for _, _, classifier, resampler in values}
    ordered_methods = sorted(
        methods, key=lambda method: (method[0], method[1] != NO_ESTIMATOR, method[1])
    )
    table = ScoreTable(
        metric=metric,
        rows=tuple(dict.fromkeys(row for row, _ in positions.values())),
        columns=tuple(dict.fromkeys(column_name(*method) for method in ordered_methods)),
        means={},
        deviations={},
        n_cells={},
        higher_is_better=_higher_is_better(metric),
    )
    for key, cell_values in values.items():
        position = positions[key]
        defined = [value for value in cell_values if not math.isnan(value)]
        table.means[position] = fmean(defined) if defined else math.nan
        table.deviations[position] = stdev(defined) if len(defined) > 1 else math.nan
        table.n_cells[position] = len(cell_values) if n_cells is None else n_cells[key]
    return table


def column_name(classifier: str, resampler: str) -> str:
    """Return the name of a method, such as "br after remedial", for names of its two parts.

    A part that is "none" is left out.
    """
    if resampler == NO_ESTIMATOR:
        return classifier
    if classifier == NO_ESTIMATOR:
        return resampler
    return f"{classifier} after {resampler}"


def _from_frame(frame: Any, metric: str | None) -> ScoreTable:
    """Return the score table of a frame with a row per cell, or with a column per method.

    The first kind has the columns ``dataset`` and ``classifier`` or ``method``.
    """
    import narwhals as nw

    table = nw.from_native(frame, eager_only=True)
    columns: dict[str, list[Any]] = {
        str(column.name): column.to_list() for column in table.iter_columns()
    }
    if "dataset" in columns and ("classifier" in columns or "method" in columns):
        return _from_cell_columns(columns, metric=metric)
    return _from_wide_columns(columns, metric=metric, index=getattr(frame, "index", None))


def _from_cell_columns(columns: dict[str, list[Any]], *, metric: str | None) -> ScoreTable:
    """Return the score table of a metric from a table of cells, given as lists of values by column.

    Without ``metric``, there must be a single column that does not identify cells.
    """
    metric = _choose_metric(metric, [name for name in columns if name not in KEYS])
    n_rows = len(columns["dataset"])

    def get_names(column: str) -> list[str]:
        """Return the values of a column as strings; "none" for each cell without the column."""
        return [str(value) for value in columns.get(column, [NO_ESTIMATOR] * n_rows)]

    keys = zip(
        get_names("dataset"),
        get_names("splitter"),
        get_names("classifier" if "classifier" in columns else "method"),
        get_names("resampler"),
        strict=True,
    )
    values: dict[ScoreKey, list[float]] = {}
    for key, value in zip(keys, _as_numbers(columns[metric], metric), strict=True):
        values.setdefault(key, []).append(value)
    return build_score_table(metric, values)


def _from_wide_columns(
    columns: dict[str, list[Any]], *, metric: str | None, index: Any
) -> ScoreTable:
    """Return the score table of columns with one value per data set, one column per method.

    The names of the data sets are the only column of strings, else ``index`` unless this is None or
    0, 1, ..., else 1, 2, .... Columns of different lengths, several columns of strings and equal
    names raise a ParameterError.
    """
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1:
        got = f"columns of {sorted(lengths)} values." if lengths else "no columns."
        raise ParameterError(
            "A table of results must have one value of every method for every data set. Got " + got
        )
    text_columns = [
        name for name, values in columns.items() if any(isinstance(value, str) for value in values)
    ]
    if len(text_columns) > 1:
        raise ParameterError(
            f"The columns {', '.join(map(repr, text_columns[:3]))} hold text, and one is enough to "
            "name the data sets. Expected 'dataset', 'classifier' and metrics, or one column per "
            "method."
        )
    n_rows = lengths.pop()
    names: Iterable[Any] = range(1, n_rows + 1)
    if text_columns:
        names = columns[text_columns[0]]
    elif index is not None and list(index) != list(range(n_rows)):
        names = list(index)
    rows = tuple(map(str, names))
    methods = [name for name in columns if name not in text_columns]
    if len(set(rows)) < len(rows):
        repeated = next(row for row in rows if rows.count(row) > 1)
        raise ParameterError(
            f"The data set {repeated!r} is in two rows. Expected one row per data set; for one "
            "row per fold, columns 'dataset' and 'method'."
        )
    values: dict[ScoreKey, list[float]] = {}
    for name in methods:
        for row, value in zip(rows, _as_numbers(columns[name], name), strict=True):
            values[row, NO_ESTIMATOR, name, NO_ESTIMATOR] = [value]
    return replace(build_score_table(metric or "", values), rows=rows, columns=tuple(methods))


def _higher_is_better(metric: str) -> bool | None:
    """Return whether larger values of a metric are better; None for measures of training parts.

    It is True for metrics that are not registered, except costs.
    """
    if metric.startswith(("before.", "after.")):
        return None
    return metric not in COSTS and metric_sign(metric) >= 0


def _as_numbers(values: list[Any], name: str) -> list[float]:
    """Return the values of a column as floats; None and empty strings become NaN.

    Raises a ParameterError, with the name of the column, for other values that are no numbers.
    """
    try:
        return [math.nan if value is None or value == "" else float(value) for value in values]
    except (TypeError, ValueError) as error:
        raise ParameterError(f"The column {name!r} must hold numbers only: {error}.") from None


def _choose_metric(metric: str | None, names: list[str]) -> str:
    """Return ``metric`` if it is among the names, or the only name if it is None.

    Raises a ParameterError for an unknown metric, and for None if there are several names.
    """
    if metric is None:
        if len(names) == 1:
            return names[0]
        shortened = _abbreviate(names, 12)
        full_stop = "" if shortened.endswith("...") else "."
        raise ParameterError(f"Say which metric. The table has {shortened}{full_stop}")
    _check_names([metric], names, "metric")
    return metric


def _check_names(
    names: Sequence[str] | None, available: Sequence[str], description: str
) -> tuple[str, ...]:
    """Return the names as a tuple; all available ones if they are None.

    Raises a ParameterError for a name that is not available or is repeated; ``description`` is the
    word for such a name, "method" for example.
    """
    for name in names or ():
        if name not in available:
            raise ParameterError(
                f"These results have no {description} {name!r}."
                f"{did_you_mean(str(name), available)} Known are: {_abbreviate(available, 12)}."
            )
    checked = tuple(available if names is None else names)
    if len(set(checked)) < len(checked):
        repeated = next(name for name in checked if checked.count(name) > 1)
        raise ParameterError(f"The {description} {repeated!r} is given twice.")
    return checked


def _abbreviate(names: Sequence[str], n_names: int) -> str:
    """Return the first ``n_names`` names separated by commas, with "..." if there are more."""
    text = ", ".join(names[:n_names])
    return f"{text}, ..." if len(names) > n_names else text


def _none_if_nan(value: float) -> float | None:
    """Return the value; None if it is NaN."""
    return None if math.isnan(value) else value


def check_numbers(values: Any, *, name: str, caller: str, dimensions: int = 1) -> FloatArray:
    """Return values as an array of float64 with so many dimensions.

    Raises a ParameterError, with the names of parameter and caller, for values that are no numbers
    or not finite (with the index of the first one), and for other numbers of dimensions.
    """
    requirement = f"The {name!r} parameter of {caller} must"
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{requirement} hold numbers only: {error}.") from error
    if numbers.ndim != dimensions:
        raise ParameterError(
            f"{requirement} have {dimensions} dimension(s). Got {numbers.ndim} instead."
        )
    not_finite = np.argwhere(~np.isfinite(numbers))
    if len(not_finite):
        index = tuple(not_finite[0])
        got = f"{numbers[index]} at [{', '.join(map(str, index))}]"
        raise ParameterError(
            f"{requirement} hold finite numbers. Got {got}: leave such cases out first."
        )
    return numbers


def rank_methods(values: FloatArray, higher_is_better: bool) -> FloatArray:
    """Return the rank of each method on every data set, as array of shape (n_cases, n_methods).

    ``values`` has the same shape. Rank 1 is best; equal values share the mean of their ranks.
    """
    from scipy import stats  # a table without ranks need not wait for this import

    # Rounding makes equal decimal numbers equal that were computed in different ways.
    rounded = np.array([[float(f"{value:.12g}") for value in row] for row in values])
    return stats.rankdata(-rounded if higher_is_better else rounded, axis=1)


# Tables of the cells of a store ------------------------------------------------------------------

#: Return what determines the row and the column of a cell in a table of scores, as a tuple.
_score_table_key = itemgetter("dataset", "splitter", "classifier", "resampler")


def score_table_from_store(store: Store, metric: str | None = None) -> ScoreTable:
    """Return the score table of one metric of a store, by default the only one that it names.

    Raises a StoreError if the store names another number of metrics than one.
    """
    metrics = [metric] if metric is not None else store.get_metadata("metrics") or []
    if len(metrics) != 1:
        hint = f" The plan names {', '.join(metrics)}." if metrics else ""
        raise StoreError(f"{store.path}: say which metric, metric=...{hint}")
    return score_table_from_cells(store.cells(), metrics[0])


def score_table_from_cells(cells: Iterable[dict[str, Any]], metric: str) -> ScoreTable:
    """Return the score table of a metric from cells, as dicts with some keys of `Store.cells`.

    These are the names of data set, splitter, classifier and resampler, the state, the scores and
    the details.
    Each value is the mean over folds and seeds or, for a name with the prefix ``pooled.``, the
    value from label counts added up over them. Raises a ParameterError if no done cell has the
    metric.
    """
    done = [cell for cell in cells if cell["state"] == "done"]
    cells_by_key: dict[tuple[str, str, str, str], list[dict[str, Any]]] = {}
    for cell in done:
        cells_by_key.setdefault(_score_table_key(cell), []).append(cell)
    if metric.startswith("pooled."):
        with_counts = [cell for cell in done if LABEL_COUNTS_KEY in cell["details"]]
        _check_metric(metric, sorted(_pooled_scores(with_counts[:1])))
        values = {
            key: [_pooled_scores(key_cells).get(metric, math.nan)]
            for key, key_cells in cells_by_key.items()
        }
    else:
        names = set[str]().union(*(cell["scores"] for cell in done))
        _check_metric(metric, sorted(names))
        values = {
            key: [cell["scores"].get(metric, math.nan) for cell in key_cells]
            for key, key_cells in cells_by_key.items()
        }
    n_cells = {key: len(key_cells) for key, key_cells in cells_by_key.items()}
    return build_score_table(metric, values, n_cells)


def _check_metric(metric: str, names: Sequence[str]) -> None:
    """Raise a ParameterError if a metric is not among the names of those that cells have."""
    if metric in names:
        return
    hint = ""
    if metric in metric_names():
        hint = " Cells that an earlier version computed lack it: run a plan that names it."
    raise ParameterError(
        f"No finished cell has a value {metric!r}.{did_you_mean(metric, names)} "
        f"There are: {', '.join(names) or 'none'}.{hint}"
    )


def _pooled_scores(cells: list[dict[str, Any]]) -> dict[str, float]:
    """Return the pooled metrics of some cells by name, with the prefix ``pooled.``.

    Cells of earlier versions, which have no label counts, are left out; the dict is empty if all
    are.
    """
    counts = [
        LabelCounts.from_dict(cell["details"][LABEL_COUNTS_KEY])
        for cell in cells
        if LABEL_COUNTS_KEY in cell["details"]
    ]
    if not counts:
        return {}
    return {f"pooled.{name}": value for name, value in pooled_metrics(counts).items()}
