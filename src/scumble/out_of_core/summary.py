"""The same measures as in memory, from the tables of an engine.

Results with one row per instance or labelset stay in the engine until they are fetched.
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
from scumble.out_of_core import statements
from scumble.out_of_core.tables import LabelsetTables, arrow_column


class InstanceScores:
    r"""SCUMBLE of every instance, computed on demand.

    ``len(scores)`` is cheap; ``numpy.asarray(scores)`` and `to_arrow` fetch all scores.

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
        self._tables = tables
        self._n_rows = n_rows

    def __repr__(self) -> str:
        """Return the number of instances in angle brackets, without fetching scores."""
        return f"<InstanceScores: {self._n_rows:,} instances, to_arrow() fetches them>"

    def __len__(self) -> int:
        """Return the number of instances."""
        return self._n_rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Fetch the scores, sorted by instance if there are instance columns."""
        values = arrow_column(self.to_arrow(), "score")
        return values if dtype is None else values.astype(dtype)

    def sql(self) -> str:
        """Return the query for the scores.

        Returns
        -------
        str
            A SELECT for the engine of the scan: the instance columns and ``score``.
        """
        tables = self._tables
        tables.create_rows()
        tables.create_scored_raw()
        return tables.format_sql(
            statements.INSTANCE_SCORES,
            ids_with_trailing_comma_r=tables.layout.ids_with_trailing_comma("r."),
        )

    def to_arrow(self) -> Any:
        """Fetch the scores.

        Returns
        -------
        pyarrow.Table
            The instance columns, if there are any, and ``score``; sorted by instance. Without
            instance columns the order of the rows is arbitrary.
        """
        layout = self._tables.layout
        order = f" ORDER BY {layout.ids('r.')}" if layout.instance_columns else ""
        return self._tables.engine.query(self.sql() + order, title="Scoring instances")


class LabelsetRelation:
    r"""The distinct labelsets: their counts are known, the sets are fetched on demand.

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
        self._tables = tables
        self._totals = totals

    def __repr__(self) -> str:
        """Return the number of labelsets in angle brackets, without fetching them."""
        return f"<LabelsetRelation: {len(self):,} labelsets, head() fetches the most frequent>"

    def __len__(self) -> int:
        """Return the number of distinct labelsets."""
        return self._totals["n_labelsets"]

    @property
    def n_single(self) -> int:
        """Number of labelsets that occur once."""
        return self._totals["n_single_labelsets"]

    @property
    def max_count(self) -> int:
        """Number of instances of the most frequent labelset."""
        return self._totals["max_labelset_count"]

    @property
    def counts(self) -> Array:
        """Count of each labelset, most frequent first; fetched from the engine."""
        return arrow_column(self.head(len(self)), "n").astype(np.int64)

    def head(self, n: int = 20) -> Any:
        """Fetch the most frequent labelsets.

        Parameters
        ----------
        n : int
            Maximum number of labelsets.

        Returns
        -------
        pyarrow.Table
            Columns ``labels`` and ``n``; ties in the order of the labels.
        """
        sql = statements.FREQUENT_LABELSETS
        return self._tables.fetch(sql, title="Sorting labelsets", limit=int(n))


def summarize_tables(tables: LabelsetTables, name: str) -> Summary:
    """Return the measures of the data as `scumble.characterize` does; ``name`` is its name."""
    totals = tables.totals
    tables.create_scored()
    n_rows = totals["n_instances"]
    title = "Averaging scores"
    mean = safe_divide(float(tables.fetch_value(statements.SCORE_TOTAL, title=title)), n_rows)
    squares = float(tables.fetch_value(statements.SCORE_SQUARES, title=title, scumble=repr(mean)))
    n_features = None
    if tables.layout.has_lists and tables.layout.passthrough_columns:
        n_features = len(tables.layout.passthrough_columns)
    return summarize(
        measure_labels(tables),
        LabelsetRelation(tables, totals),
        name=name,
        n_instances=n_rows,
        n_features=n_features,
        n_assignments=totals["n_assignments"],
        n_one_label=totals["n_one_label"],
        n_unlabelled=totals["n_unlabelled"],
        scumble=mean,
        scumble_cv=cv_of_scores(squares, n_rows, mean),
        scumble_by_instance=InstanceScores(tables, n_rows),
    )


def measure_labels(tables: LabelsetTables) -> LabelStatistics:
    """Return count, mean SCUMBLE and sum of its squared deviations for every label.

    Labels that `scan` declares but no instance has are included, with the mean NaN.
    """
    occurring_labels, counts = tables.labels
    tables.create_scored()
    tables.create_if_missing("label_means", statements.LABEL_MEANS, title="Scoring labels")
    scores = tables.fetch(statements.LABEL_SQUARES, title="Scoring labels")
    names = occurring_labels if tables.declared_labels is None else tables.declared_labels
    positions = find_label_positions(occurring_labels, names)

    def with_unseen_labels(values: Array, fill_value: float, dtype: Any = float) -> Array:
        """Return the values of all labels, given those of the labels that occur."""
        all_values = np.full(len(names), fill_value, dtype)
        all_values[positions] = values
        return all_values

    return LabelStatistics(
        names,
        with_unseen_labels(counts, 0, np.int64),
        with_unseen_labels(arrow_column(scores, "mean"), math.nan),
        with_unseen_labels(arrow_column(scores, "squares"), 0.0),
    )


def difficult_labels(tables: LabelsetTables, n_labels: int | None) -> RecordList[DifficultLabel]:
    """Return the minority labels, ranked by SCUMBLELbl, with the majority labels that co-occur.

    ``n_labels`` is the maximum number of labels; None means all.
    """
    names, counts, means, _ = measure_labels(tables)
    index_of = {name: index for index, name in enumerate(names)}

    def count_cooccurrences(labels: Array) -> Iterator[LabelCooccurrences]:
        """Yield the joint counts of each of some label indices with majority labels."""
        partners_of = _cooccurring_labels(tables, [names[label] for label in labels])
        for label in labels:
            pairs = [(index_of[name], n) for name, n in partners_of.get(names[label], ())]
            partners, joint_counts = np.array(pairs, np.int64).reshape(-1, 2).T
            yield LabelCooccurrences(int(counts[label]), partners, joint_counts)

    ratios = ratios_from_counts(counts)
    return rank_difficult_labels(count_cooccurrences, ratios, means, [*map(str, names)], n_labels)


def _cooccurring_labels(
    tables: LabelsetTables, labels: list[Any]
) -> dict[Any, list[tuple[Any, int]]]:
    """Return, for each label, pairs of a majority label and their joint count.

    The joint count is the number of instances that have both. Labels without such pairs are left
    out.
    """
    import pyarrow as pa

    partners_of: dict[Any, list[tuple[Any, int]]] = {}
    if labels:
        tables.load("selected", pa.table({"label": labels}))
        pairs = tables.fetch(statements.COOCCURRING_LABELS, title="Counting partners")
        for row in pairs.to_pylist():
            partners_of.setdefault(row["label"], []).append((row["partner"], row["joint_count"]))
    return partners_of


def find_label_positions(labels: list[Any], names: list[Any]) -> Array:
    """Return the index in ``names`` of each label; raise ParameterError if one is missing."""
    index_of = {name: index for index, name in enumerate(names)}
    unknown = [label for label in labels if label not in index_of]
    if unknown:
        raise ParameterError(
            f"The data has the label {unknown[0]!r}, which the 'labels' parameter of scan does not "
            f"name, and {len(unknown) - 1} more. Expected all labels, or none to take those that "
            "occur."
        )
    return np.array([index_of[label] for label in labels], np.int64)
