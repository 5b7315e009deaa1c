"""The same measures as in memory, from the tables of an engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.shown import Records
from scumble._core.validation import check_count
from scumble.measures.concurrence import cv_by_label, cv_of_scores, mean_of_scores
from scumble.measures.difficult import DifficultLabel, Partner, _report_size, listed
from scumble.measures.imbalance import (
    cv_of_ratios,
    frequencies_from_counts,
    max_of_ratios,
    mean_of_ratios,
    minority_from_ratios,
    ratios_from_counts,
)
from scumble.measures.labelsets import tcs_of
from scumble.measures.summary import LabelTable, Summary
from scumble.scale import statements
from scumble.scale.labelset_tables import LabelsetTables
from scumble.scale.relations import InstanceScores, LabelsetRelation
from scumble.scale.workspace import column


def summarize(tables: LabelsetTables, name: str, declared: Sequence[Any] | None) -> Summary:
    """Measure everything that `scumble.characterize` measures."""
    totals = tables.totals()
    tables.scored()
    n_rows, n_sets = totals["n_instances"], totals["n_labelsets"]
    mean = scumble_of(tables, totals)
    labels = label_table(tables, n_rows, declared)
    cardinality = totals["n_assignments"] / n_rows if n_rows else math.nan
    # Columns that are neither labels nor names; None where there are none.
    n_features = len(tables.layout.others) or None if tables.layout.has_lists else None
    return Summary(
        name=name,
        n_instances=n_rows,
        n_features=n_features,
        n_labels=len(labels),
        n_labelsets=n_sets,
        n_single_labelsets=totals["n_single_labelsets"],
        max_labelset_count=totals["max_labelset_count"],
        cardinality=cardinality,
        density=cardinality / len(labels) if len(labels) else math.nan,
        diversity=n_sets / n_rows if n_rows else math.nan,
        p_min=totals["n_one_label"] / n_rows if n_rows else math.nan,
        mean_ir=mean_of_ratios(labels.irlbl),
        max_ir=max_of_ratios(labels.irlbl),
        cvir=cv_of_ratios(labels.irlbl),
        scumble=mean,
        scumble_cv=_scumble_cv(tables, totals, mean),
        tcs=None if n_features is None else tcs_of(n_features, len(labels), n_sets),
        n_unseen=int((labels.count == 0).sum()),
        n_unlabelled=totals["n_unlabelled"],
        n_minority=int(minority_from_ratios(labels.irlbl).sum()),
        labels=labels,
        scumble_by_instance=cast(Any, InstanceScores(tables, n_rows)),
        labelsets=cast(Any, LabelsetRelation(tables, totals)),
    )


def scumble_of(tables: LabelsetTables, totals: dict[str, int]) -> float:
    """Compute SCUMBLE of the data set."""
    tables.scored()
    total = tables.number(statements.SCORE_TOTAL, title="Averaging scores")
    return mean_of_scores(float(total), totals["n_instances"])


def label_table(tables: LabelsetTables, n_rows: int, declared: Sequence[Any] | None) -> LabelTable:
    """Measure every label."""
    found = tables.labels()
    tables.scored()
    tables.make("label_means", statements.LABEL_MEANS, title="Scoring labels")
    measured = tables.fetch(statements.LABEL_SQUARES, title="Scoring labels")
    places, n_labels = _places(found.names, declared)

    def spread(values: Array, empty: float, dtype: Any = float) -> Array:
        column_ = np.full(n_labels, empty, dtype)
        column_[places] = values
        return column_

    counts = spread(found.counts, 0, np.int64)
    means = spread(column(measured, "mean"), math.nan)
    squares = spread(column(measured, "squares"), 0.0)
    return LabelTable(
        tuple(str(name) for name in (found.names if declared is None else declared)),
        counts,
        frequencies_from_counts(counts, n_rows),
        ratios_from_counts(counts),
        means,
        cv_by_label(squares, counts, means),
    )


def difficult_labels(
    tables: LabelsetTables, declared: Sequence[Any] | None, n_labels: int | None
) -> Records[DifficultLabel]:
    """Rank the minority labels by SCUMBLELbl and tell which majority labels they meet."""
    if n_labels is not None:
        check_count(n_labels, name="n_labels", caller="difficult_labels", minimum=0)
    measured = label_table(tables, tables.totals()["n_instances"], declared)
    values = list(tables.labels().names if declared is None else declared)
    minority = np.flatnonzero(minority_from_ratios(measured.irlbl))
    order = np.lexsort((minority, -measured.irlbl[minority], -measured.scumble[minority]))
    chosen = minority[order][: _report_size(len(minority)) if n_labels is None else n_labels]
    met = _partners(tables, [values[at] for at in chosen])
    place = {value: at for at, value in enumerate(values)}

    def partner(label: Any, times: int) -> Partner:
        at = place[label]
        return Partner(
            at, measured.name[at], times, float(measured.irlbl[at]), float(measured.scumble[at])
        )

    def partners_of(at: int) -> tuple[Partner, ...]:
        found = [partner(label, times) for label, times in met.get(values[at], [])]
        return tuple(sorted(found, key=lambda one: (-one.joint_count, one.label)))

    return listed(
        DifficultLabel(
            int(at),
            measured.name[at],
            int(measured.count[at]),
            float(measured.irlbl[at]),
            float(measured.scumble[at]),
            partners_of(int(at)),
        )
        for at in chosen
    )


def _partners(tables: LabelsetTables, chosen: list[Any]) -> dict[Any, list[tuple[Any, int]]]:
    import pyarrow as pa

    met: dict[Any, list[tuple[Any, int]]] = {}
    if chosen:
        tables.load("chosen", pa.table({"label": chosen}))
        for row in tables.fetch(statements.PARTNERS, title="Counting partners").to_pylist():
            met.setdefault(row["label"], []).append((row["partner"], row["joint_count"]))
    return met


def _places(names: list[Any], declared: Sequence[Any] | None) -> tuple[Array, int]:
    """Find the row of each label that occurs."""
    if declared is None:
        return np.arange(len(names)), len(names)
    place = {name: at for at, name in enumerate(declared)}
    unknown = [name for name in names if name not in place]
    if unknown:
        raise ParameterError(
            f"The data has the label {unknown[0]!r}, which the 'labels' parameter of scan does not "
            f"name, and {len(unknown) - 1} more. Expected all labels, or none to take those that "
            "occur."
        )
    return np.array([place[name] for name in names], np.int64), len(place)


def _scumble_cv(tables: LabelsetTables, totals: dict[str, int], mean: float) -> float:
    squares = 0.0
    if totals["n_instances"]:
        sql = statements.SCORE_SQUARES
        squares = float(tables.number(sql, title="Averaging scores", scumble=repr(mean)))
    return cv_of_scores(squares, totals["n_instances"], mean)
