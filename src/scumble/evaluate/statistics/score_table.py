"""Tables of results, data sets down and methods across, from wherever results are kept."""

from __future__ import annotations

import itertools
import math
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ParameterTypeError, ScumbleWarning, did_you_mean
from scumble._core.frames import is_frame
from scumble._core.table_repr import TableReprMixin, TableView
from scumble.evaluate.groups import metric_sign

Place = tuple[str, str]
#: A data set, a splitter, a classifier and a resampler.
Key = tuple[str, str, str, str]
FloatArray = npt.NDArray[np.float64]

#: What a resampler is called that does nothing, and a classifier that learns nothing.
NOTHING = "none"
#: Columns of a table of cells that tell what was computed, not what came out.
KEYS = ("dataset", "method", "resampler", "classifier", "splitter", "seed", "fold", "repeat")
#: What is better the less there is of it, besides losses.
COSTS = ("seconds", "cpu_seconds", "megabytes")
#: How the files begin that hold stores.
_SQLITE = b"SQLite format 3\x00"


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable(TableReprMixin):
    """Means of one metric: data sets down, methods across.

    Attributes
    ----------
    metric : str
        Name of the metric; may be empty.
    rows, columns : tuple of str
        Data sets and methods.
    means, deviations : dict
        From (row, column) to the mean and the sample standard deviation over folds and seeds.
    n_cells : dict
        From (row, column) to how many values the mean is made of.
    higher_is_better : bool or None
        None where that has no meaning.

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
    means: dict[Place, float]
    deviations: dict[Place, float]
    n_cells: dict[Place, int]
    higher_is_better: bool | None = None

    @property
    def values(self) -> Array:
        """The means as an array, NaN where there is none."""
        places = itertools.product(self.rows, self.columns)
        found = np.array([self.means.get(place, math.nan) for place in places], np.float64)
        return found.reshape(len(self.rows), len(self.columns))

    def __getitem__(self, method: str) -> Array:
        """Return the means of a method, one per data set."""
        _check_known([method], self.columns, "method")
        return self.values[:, self.columns.index(method)]

    def select(
        self, *, methods: Sequence[str] | None = None, datasets: Sequence[str] | None = None
    ) -> ScoreTable:
        """Keep some methods and data sets, in the order asked.

        Parameters
        ----------
        methods, datasets : sequence of str, optional
            Names; all where none are given.

        Returns
        -------
        ScoreTable
            A smaller table.
        """
        columns = _check_known(methods, self.columns, "method")
        rows = _check_known(datasets, self.rows, "data set")
        return replace(self, rows=rows, columns=columns)

    def complete(self) -> ScoreTable:
        """Leave out data sets on which a method has no value, with a warning that names them."""
        told = zip(self.rows, self.values, strict=True)
        lost = [row for row, values in told if np.isnan(values).any()]
        if not lost:
            return self
        some = ", ".join(lost[:5]) + (", ..." if len(lost) > 5 else "")
        warnings.warn(
            f"{len(lost)} of {len(self.rows)} data sets are left out, because not every method "
            f"has a value of {self.metric or 'the metric'} there: {some}.",
            ScumbleWarning,
            stacklevel=3,
        )
        return self.select(datasets=[row for row in self.rows if row not in set(lost)])

    def best(self, row: str) -> set[str]:
        """Return the columns with the best value of a row."""
        values = {column: self.means.get((row, column), math.nan) for column in self.columns}
        known = [value for value in values.values() if not math.isnan(value)]
        if not known or self.higher_is_better is None:
            return set()
        best = max(known) if self.higher_is_better else min(known)
        return {column for column, value in values.items() if value == best}

    def ranks(self) -> dict[str, float]:
        """Rank the methods on every data set that all of them have, and average; 1 is best."""
        values = self.values
        values = values[~np.isnan(values).any(axis=1)]
        if self.higher_is_better is None or not len(values):
            return dict.fromkeys(self.columns, math.nan)
        means = rank_methods(values, self.higher_is_better).mean(axis=0)
        return dict(zip(self.columns, means.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, as JSON has them."""

        def plain(value: float) -> float | None:
            return None if math.isnan(value) else value

        values = [
            {
                "dataset": row,
                "method": column,
                "mean": plain(self.means[row, column]),
                "deviation": plain(self.deviations[row, column]),
                "n": self.n_cells[row, column],
            }
            for row, column in itertools.product(self.rows, self.columns)
            if (row, column) in self.means
        ]
        ranks = {method: plain(rank) for method, rank in self.ranks().items()}
        return {"metric": self.metric, "values": values, "ranks": ranks}

    def _repr_title(self) -> str:
        of = f" of {self.metric}" if self.metric else ""
        sizes = ((len(self.rows), "data set"), (len(self.columns), "method"))
        counted = ", ".join(f"{n} {noun}{'s' * (n != 1)}" for n, noun in sizes)
        return f"ScoreTable{of}: {counted}"

    def _repr_table(self) -> TableView:
        rows = [(row, *values) for row, values in zip(self.rows, self.values, strict=True)]
        if self.higher_is_better is not None:
            rows.append(("mean rank", *self.ranks().values()))
        return TableView(("data set", *self.columns), rows, len(rows))


def score_table(
    results: Any, metric: str | None = None, *, higher_is_better: bool | None = None
) -> ScoreTable:
    """Read a table of results, whatever form it has.

    Parameters
    ----------
    results : Store, DataFrame, Arrow table, path or mapping
        A store of experiments; a table with one row per cell, as ``scumble experiment export``
        writes it (columns ``dataset``, ``classifier`` or ``method``, and metrics), or with one
        row per data set and one column per method; the .csv or .parquet file of such a table; or
        a mapping from methods to values.
    metric : str, optional
        Which metric; needed where there are several. It also tells whether more is better.
    higher_is_better : bool, optional
        By default as the metric says; True where that is not known.

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
    if hasattr(results, "__scumble_scores__"):
        found = results.__scumble_scores__(metric)
    elif isinstance(results, ScoreTable):
        found = results
    elif (is_path := isinstance(results, str | os.PathLike)) or is_frame(results):
        found = _from_frame(read_table(results) if is_path else results, metric)
    elif isinstance(results, Mapping):
        found = _wide(None, {str(name): list(column) for name, column in results.items()}, metric)
    else:
        raise ParameterTypeError(
            "Results must be a store of experiments, a DataFrame, a .csv or .parquet file, or a "
            f"mapping from methods to values. Got {type(results).__name__} instead."
        )
    return found if higher_is_better is None else replace(found, higher_is_better=higher_is_better)


def is_results(scores: Any) -> bool:
    """Tell whether `score_table` reads something; else it is a table of numbers."""
    kinds = (ScoreTable, str, os.PathLike, Mapping)
    return isinstance(scores, kinds) or hasattr(scores, "__scumble_scores__") or is_frame(scores)


def read_table(path: str | os.PathLike[str]) -> Any:
    """Read a .csv or .parquet file as an Arrow table."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    path = Path(path)
    try:
        with path.open("rb") as stream:
            start = stream.read(len(_SQLITE))
        if start == _SQLITE:
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
            f"{path} is no table of results: {error}. Expected a .csv or .parquet file, for "
            "example one that 'scumble experiment export' wrote."
        ) from None


def build_score_table(
    metric: str, found: Mapping[Key, Sequence[float]], n_cells: Mapping[Key, int] | None = None
) -> ScoreTable:
    """Average values by data set, splitter, classifier and resampler, which ``found`` is keyed by.

    Methods are sorted by classifier, untreated data first; data sets stay in their order.
    """
    several = len({splitter for _, splitter, _, _ in found}) > 1
    methods = sorted({place[2:] for place in found}, key=lambda m: (m[0], m[1] != NOTHING, m[1]))
    places = {
        key: (f"{key[0]}, {key[1]}" if several else key[0], column_name(*key[2:])) for key in found
    }
    rows = tuple(dict.fromkeys(row for row, _ in places.values()))
    columns = tuple(dict.fromkeys(column_name(*method) for method in methods))
    table = ScoreTable(metric, rows, columns, {}, {}, {}, _is_more_better(metric))
    for key, values in found.items():
        place, known = places[key], [value for value in values if not math.isnan(value)]
        table.means[place] = fmean(known) if known else math.nan
        table.deviations[place] = stdev(known) if len(known) > 1 else math.nan
        table.n_cells[place] = len(values) if n_cells is None else n_cells[key]
    return table


def column_name(classifier: str, resampler: str) -> str:
    """Name a column after its classifier and what was done to the data."""
    parts = [part for part in (classifier, resampler) if part != NOTHING]
    return " after ".join(parts) if len(parts) == 2 else (parts or [NOTHING])[0]


def _from_frame(frame: Any, metric: str | None) -> ScoreTable:
    import narwhals as nw

    table = nw.from_native(frame, eager_only=True)
    columns: dict[str, list[Any]] = {str(one.name): one.to_list() for one in table.iter_columns()}
    if "dataset" in columns and ("classifier" in columns or "method" in columns):
        return _long(columns, metric)
    return _wide(getattr(frame, "index", None), columns, metric)


def _long(columns: dict[str, list[Any]], metric: str | None) -> ScoreTable:
    """Average a table of cells."""
    values = {name: found for name, found in columns.items() if name not in KEYS}
    metric = _one_metric(metric, list(values))
    n_rows = len(columns["dataset"])

    def column(name: str) -> list[str]:
        return [str(value) for value in columns.get(name, [NOTHING] * n_rows)]

    learners = column("classifier" if "classifier" in columns else "method")
    keys = zip(column("dataset"), column("splitter"), learners, column("resampler"), strict=True)
    found: dict[Key, list[float]] = {}
    for key, value in zip(keys, _numbers(values[metric], metric), strict=True):
        found.setdefault(key, []).append(value)
    return build_score_table(metric, found)


def _wide(index: Any, columns: dict[str, list[Any]], metric: str | None) -> ScoreTable:
    """Take a table with one row per data set and one column per method."""
    lengths = {len(found) for found in columns.values()}
    if len(lengths) != 1:
        raise ParameterError(
            "A table of results must have one value of every method for every data set. Got "
            + (f"columns of {sorted(lengths)} values." if lengths else "no columns.")
        )
    naming = [name for name, found in columns.items() if any(isinstance(v, str) for v in found)]
    if len(naming) > 1:
        raise ParameterError(
            f"The columns {', '.join(map(repr, naming[:3]))} hold text, and one is enough to name "
            "the data sets. Expected 'dataset', 'classifier' and metrics, or one column per method."
        )
    n_rows = lengths.pop()
    names: Iterable[Any] = range(1, n_rows + 1)
    if naming:
        names = columns[naming[0]]
    elif index is not None and list(index) != list(range(n_rows)):
        names = list(index)
    rows = tuple(map(str, names))
    methods = [name for name in columns if name not in naming]
    if len(set(rows)) < len(rows):
        repeated = next(row for row in rows if rows.count(row) > 1)
        raise ParameterError(
            f"The data set {repeated!r} stands in two rows. Expected one row per data set; for one "
            "row per fold, columns 'dataset' and 'method'."
        )
    found = {
        (row, NOTHING, name, NOTHING): [value]
        for name in methods
        for row, value in zip(rows, _numbers(columns[name], name), strict=True)
    }
    return replace(build_score_table(metric or "", found), rows=rows, columns=tuple(methods))


def _is_more_better(metric: str) -> bool | None:
    """Tell by the name; of a metric that is the user's own more is better unless they say so."""
    if metric.startswith(("before.", "after.")):
        return None
    return metric not in COSTS and metric_sign(metric) >= 0


def _numbers(values: list[Any], name: str) -> list[float]:
    try:
        return [math.nan if value is None or value == "" else float(value) for value in values]
    except (TypeError, ValueError) as error:
        raise ParameterError(f"The column {name!r} must hold numbers only: {error}.") from None


def _one_metric(metric: str | None, names: list[str]) -> str:
    if metric is None:
        if len(names) == 1:
            return names[0]
        raise ParameterError(
            f"Say which metric. The table has {', '.join(names[:12])}"
            + (", ..." if len(names) > 12 else ".")
        )
    _check_known([metric], names, "metric")
    return metric


def _check_known(wanted: Sequence[str] | None, known: Sequence[str], what: str) -> tuple[str, ...]:
    """Refuse names that are not there, or twice; all of them where none is asked for."""
    for name in wanted or ():
        if name not in known:
            some = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
            raise ParameterError(
                f"These results have no {what} {name!r}.{did_you_mean(str(name), known)} Known are: "
                f"{some}."
            )
    chosen = tuple(known if wanted is None else wanted)
    if len(set(chosen)) < len(chosen):
        repeated = next(name for name in chosen if chosen.count(name) > 1)
        raise ParameterError(f"The {what} {repeated!r} is asked for twice.")
    return chosen


def check_numbers(values: Any, *, name: str, caller: str, dimensions: int = 1) -> FloatArray:
    """Turn ``values`` into floats; what is not a finite number is refused with its place."""
    must = f"The {name!r} parameter of {caller} must"
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{must} hold numbers only: {error}.") from error
    if numbers.ndim != dimensions:
        raise ParameterError(f"{must} have {dimensions} dimension(s). Got {numbers.ndim} instead.")
    missing = np.argwhere(~np.isfinite(numbers))
    if len(missing):
        got = f"{numbers[tuple(missing[0])]} at [{', '.join(map(str, missing[0]))}]"
        raise ParameterError(f"{must} hold finite numbers. Got {got}: leave such cases out first.")
    return numbers


def rank_methods(values: FloatArray, higher_is_better: bool) -> FloatArray:
    """Rank the methods within every case; equal ones share the mean of their ranks."""
    from scipy import stats  # a table without ranks need not wait for it

    # Decimal numbers that came by different ways must be equal to share a rank.
    rounded = np.array([[float(f"{value:.12g}") for value in row] for row in values])
    return stats.rankdata(-rounded if higher_is_better else rounded, axis=1)
