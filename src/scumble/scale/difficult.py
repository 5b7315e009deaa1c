"""Difficult labels and the company they keep, from the tables of an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scumble._core.validation import check_count
from scumble.measures.difficult import DifficultLabel, Partner, _report_size
from scumble.measures.imbalance import minority_from_ratios
from scumble.scale import statements
from scumble.scale.labelset_tables import LabelsetTables
from scumble.scale.summary import label_table


def difficult_labels(
    tables: LabelsetTables, declared: Sequence[Any] | None, n_labels: int | None
) -> tuple[DifficultLabel, ...]:
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

    return tuple(
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
