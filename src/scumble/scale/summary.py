"""The same measures as in memory, from the tables of an engine."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.shown import Records
from scumble.measures.base import quotient
from scumble.measures.concurrence import cv_of_scores
from scumble.measures.difficult import DifficultLabel, Meeting, list_difficult
from scumble.measures.imbalance import ratios_from_counts
from scumble.measures.summary import LabelNumbers, Summary, summarize
from scumble.scale import statements
from scumble.scale.labelset_tables import LabelsetTables
from scumble.scale.relations import InstanceScores, LabelsetRelation
from scumble.scale.workspace import column


def summarize_tables(tables: LabelsetTables, name: str, declared: Sequence[Any] | None) -> Summary:
    """Measure everything that `scumble.characterize` measures."""
    totals = tables.totals()
    tables.scored()
    n_rows = totals["n_instances"]
    total = tables.number(statements.SCORE_TOTAL, title="Averaging scores")
    mean = quotient(float(total), n_rows)
    layout = tables.layout
    return summarize(
        measure_labels(tables, declared),
        LabelsetRelation(tables, totals),
        name=name,
        n_instances=n_rows,
        # Columns that are neither labels nor names; None where there are none.
        n_features=len(layout.others) or None if layout.has_lists else None,
        n_assignments=totals["n_assignments"],
        n_one_label=totals["n_one_label"],
        n_unlabelled=totals["n_unlabelled"],
        scumble=mean,
        scumble_cv=_scumble_cv(tables, n_rows, mean),
        scumble_by_instance=InstanceScores(tables, n_rows),
    )


def measure_labels(tables: LabelsetTables, declared: Sequence[Any] | None) -> LabelNumbers:
    """Count and score every label."""
    found = tables.labels()
    tables.scored()
    tables.make("label_means", statements.LABEL_MEANS, title="Scoring labels")
    measured = tables.fetch(statements.LABEL_SQUARES, title="Scoring labels")
    names = found.names if declared is None else list(declared)
    places = _places(found.names, names)

    def spread(values: Array, empty: float, dtype: Any = float) -> Array:
        whole = np.full(len(names), empty, dtype)
        whole[places] = values
        return whole

    return LabelNumbers(
        names,
        spread(found.counts, 0, np.int64),
        spread(column(measured, "mean"), math.nan),
        spread(column(measured, "squares"), 0.0),
    )


def difficult_labels(
    tables: LabelsetTables, declared: Sequence[Any] | None, n_labels: int | None
) -> Records[DifficultLabel]:
    """Rank the minority labels by SCUMBLELbl and tell which majority labels they meet."""
    names, counts, means, _ = measure_labels(tables, declared)
    place = {name: at for at, name in enumerate(names)}

    def meetings(chosen: Array) -> Iterator[Meeting]:
        met = _partners(tables, [names[at] for at in chosen])
        for at in chosen:
            pairs = [(place[label], times) for label, times in met.get(names[at], ())]
            partners, times = np.array(pairs, np.int64).reshape(-1, 2).T
            yield int(counts[at]), partners, times

    ratios = ratios_from_counts(counts)
    return list_difficult(ratios, means, [*map(str, names)], meetings, n_labels)


def _partners(tables: LabelsetTables, chosen: list[Any]) -> dict[Any, list[tuple[Any, int]]]:
    import pyarrow as pa

    met: dict[Any, list[tuple[Any, int]]] = {}
    if chosen:
        tables.load("chosen", pa.table({"label": chosen}))
        for row in tables.fetch(statements.PARTNERS, title="Counting partners").to_pylist():
            met.setdefault(row["label"], []).append((row["partner"], row["joint_count"]))
    return met


def _places(found: list[Any], names: list[Any]) -> Array:
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


def _scumble_cv(tables: LabelsetTables, n_rows: int, mean: float) -> float:
    squares = 0.0
    if n_rows:
        sql = statements.SCORE_SQUARES
        squares = float(tables.number(sql, title="Averaging scores", scumble=repr(mean)))
    return cv_of_scores(squares, n_rows, mean)
