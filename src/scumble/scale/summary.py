"""The same measures as in memory, from the tables of an engine.

Results with one row per instance or labelset stay with the engine until they are asked for.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.table_repr import RecordList
from scumble.measures.base import safe_divide
from scumble.measures.concurrence import cv_of_scores
from scumble.measures.difficult import DifficultLabel, LabelCooccurrences, rank_difficult_labels
from scumble.measures.imbalance import ratios_from_counts
from scumble.measures.summary import LabelStatistics, Summary, summarize
from scumble.scale import statements
from scumble.scale.tables import LabelsetTables, column


class InstanceScores:
    r"""SCUMBLE of every instance, computed when it is asked for.

    ``len(scores)`` costs nothing; ``numpy.asarray(scores)`` and `to_arrow` fetch all of them.

    Parameters
    ----------
    tables : LabelsetTables
        The tables of the input.
    n_rows : int
        Number of instances.

    Examples
    --------
    >>> import numpy, pathlib, scumble, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "films.csv"
    >>> _ = path.write_text("instance,label\n1,war\n2,war\n2,love\n")
    >>> with scumble.scan(path) as films:
    ...     scores = scumble.characterize(films).scumble_by_instance
    ...     len(scores), numpy.asarray(scores).round(3)
    (2, array([0.   , 0.057]))
    """

    def __init__(self, tables: LabelsetTables, n_rows: int) -> None:
        self._tables, self._n_rows = tables, n_rows

    def __repr__(self) -> str:
        return f"<InstanceScores: {self._n_rows:,} instances, to_arrow() fetches them>"

    def __len__(self) -> int:
        return self._n_rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Fetch the scores, in the order of the instances' names where they have any."""
        values = column(self.to_arrow(), "score")
        return values if dtype is None else values.astype(dtype)

    def sql(self) -> str:
        """Return the query that computes them.

        Returns
        -------
        str
            A SELECT for the engine of the scan: the instance columns and ``score``.
        """
        tables = self._tables
        tables.rows()
        tables.scored_spellings()
        return tables.format_sql(
            statements.INSTANCE_SCORES, ids_first_r=tables.layout.ids_first("r.")
        )

    def to_arrow(self) -> Any:
        """Fetch the scores.

        Returns
        -------
        pyarrow.Table
            The instance columns, if there are any, and ``score``; sorted by instance. Without
            instance columns the order of the rows says nothing.
        """
        layout = self._tables.layout
        order = f" ORDER BY {layout.ids('r.')}" if layout.instance_columns else ""
        return self._tables.engine.query(self.sql() + order, title="Scoring instances")


class LabelsetRelation:
    r"""The distinct labelsets: numbers at once, the sets themselves on demand.

    Parameters
    ----------
    tables : LabelsetTables
        The tables of the input.
    totals : dict of str to int
        From `LabelsetTables.totals`.

    Examples
    --------
    >>> import pathlib, scumble, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "films.csv"
    >>> _ = path.write_text("instance,label\n1,war\n2,war\n2,love\n3,war\n")
    >>> with scumble.scan(path) as films:
    ...     labelsets = scumble.characterize(films).labelsets
    ...     len(labelsets), labelsets.head(1).to_pylist()
    (2, [{'labels': ['war'], 'n': 2}])
    """

    def __init__(self, tables: LabelsetTables, totals: dict[str, int]) -> None:
        self._tables, self._totals = tables, totals

    def __repr__(self) -> str:
        return f"<LabelsetRelation: {len(self):,} labelsets, head() fetches the most frequent>"

    def __len__(self) -> int:
        return self._totals["n_labelsets"]

    @property
    def n_single(self) -> int:
        """Number of labelsets that occur once."""
        return self._totals["n_single_labelsets"]

    @property
    def max_count(self) -> int:
        """Instances of the most frequent labelset."""
        return self._totals["max_labelset_count"]

    @property
    def counts(self) -> Array:
        """How often each labelset occurs, most frequent first; fetched from the engine."""
        return column(self.head(len(self)), "n").astype(np.int64)

    def head(self, n: int = 20) -> Any:
        """Fetch the most frequent labelsets.

        Parameters
        ----------
        n : int
            How many to fetch.

        Returns
        -------
        pyarrow.Table
            Columns ``labels`` and ``n``; ties in the order of the labels.
        """
        sql = statements.FREQUENT_LABELSETS
        return self._tables.fetch(sql, title="Sorting labelsets", limit=int(n))


def summarize_tables(tables: LabelsetTables, name: str) -> Summary:
    """Measure everything that `scumble.characterize` measures."""
    totals = tables.totals
    tables.scored()
    n_rows = totals["n_instances"]
    title = "Averaging scores"
    mean = safe_divide(float(tables.fetch_value(statements.SCORE_TOTAL, title=title)), n_rows)
    squares = float(tables.fetch_value(statements.SCORE_SQUARES, title=title, scumble=repr(mean)))
    layout = tables.layout
    return summarize(
        measure_labels(tables),
        LabelsetRelation(tables, totals),
        name=name,
        n_instances=n_rows,
        # Columns that are neither labels nor names; None where there are none.
        n_features=len(layout.passthrough_columns) or None if layout.has_lists else None,
        n_assignments=totals["n_assignments"],
        n_one_label=totals["n_one_label"],
        n_unlabelled=totals["n_unlabelled"],
        scumble=mean,
        scumble_cv=cv_of_scores(squares, n_rows, mean),
        scumble_by_instance=InstanceScores(tables, n_rows),
    )


def measure_labels(tables: LabelsetTables) -> LabelStatistics:
    """Count and score every label."""
    occurring, counts = tables.labels
    tables.scored()
    tables.create_if_missing("label_means", statements.LABEL_MEANS, title="Scoring labels")
    measured = tables.fetch(statements.LABEL_SQUARES, title="Scoring labels")
    names = occurring if tables.declared_labels is None else tables.declared_labels
    places = find_label_positions(occurring, names)

    def spread(values: Array, empty: float, dtype: Any = float) -> Array:
        whole = np.full(len(names), empty, dtype)
        whole[places] = values
        return whole

    return LabelStatistics(
        names,
        spread(counts, 0, np.int64),
        spread(column(measured, "mean"), math.nan),
        spread(column(measured, "squares"), 0.0),
    )


def difficult_labels(tables: LabelsetTables, n_labels: int | None) -> RecordList[DifficultLabel]:
    """Rank the minority labels by SCUMBLELbl and tell which majority labels they meet."""
    names, counts, means, _ = measure_labels(tables)
    place = {name: at for at, name in enumerate(names)}

    def meetings(chosen: Array) -> Iterator[LabelCooccurrences]:
        met = _partners(tables, [names[at] for at in chosen])
        for at in chosen:
            pairs = [(place[label], times) for label, times in met.get(names[at], ())]
            partners, times = np.array(pairs, np.int64).reshape(-1, 2).T
            yield int(counts[at]), partners, times

    ratios = ratios_from_counts(counts)
    return rank_difficult_labels(meetings, ratios, means, [*map(str, names)], n_labels)


def _partners(tables: LabelsetTables, chosen: list[Any]) -> dict[Any, list[tuple[Any, int]]]:
    import pyarrow as pa

    met: dict[Any, list[tuple[Any, int]]] = {}
    if chosen:
        tables.load("chosen", pa.table({"label": chosen}))
        for row in tables.fetch(
            statements.COOCCURRING_LABELS, title="Counting partners"
        ).to_pylist():
            met.setdefault(row["label"], []).append((row["partner"], row["joint_count"]))
    return met


def find_label_positions(found: list[Any], names: list[Any]) -> Array:
    """Find the place of each label that occurs."""
    place = {name: at for at, name in enumerate(names)}
    unknown = [name for name in found if name not in place]
    if unknown:
        raise ParameterError(
            f"The data has the label {unknown[0]!r}, which the 'labels' parameter of scan does not "
            f"name, and {len(unknown) - 1} more. Expected all labels, or none to take those that "
            "occur."
        )
    return np.array([place[name] for name in found], np.int64)
