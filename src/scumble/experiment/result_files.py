"""Results of experiments read back: from a store, or from a table that was exported."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from scumble.experiment.errors import StoreError
from scumble.experiment.result_tables import COST_KEYS, ROW_KEYS
from scumble.experiment.store import Store


def read_cells(path: str | os.PathLike[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Read results from a store, or from a .csv or .parquet file that `export` wrote."""
    # Returns the cells, as a store gives them, and the metrics that a plan named.
    if Path(path).suffix.lower() not in (".csv", ".parquet") or _is_store(path):
        with Store(path, create=False) as store:
            return store.cells(), store.recall("metrics") or []
    from scumble.evaluate.statistics.score_table import read_table

    rows = read_table(path).to_pylist()
    needed = [key for key in ("dataset", "classifier") if rows and key not in rows[0]]
    if needed or not rows:
        found = f"has no column {needed[0]!r}" if needed else "is empty"
        raise StoreError(
            f"{path} {found}. Expected a store, or a table that 'scumble experiment export' wrote."
        )
    return [_cell_of_row(row) for row in rows], []


def _is_store(path: str | os.PathLike[str]) -> bool:
    try:
        with open(path, "rb") as stream:
            return stream.read(6) == b"SQLite"
    except OSError:
        return True  # the store knows what to say


def _cell_of_row(row: dict[str, Any]) -> dict[str, Any]:
    """Undo what `long_table` did, as far as that is possible."""
    usual = {"resampler": "none", "splitter": "", "seed": 0, "fold": 0}
    place = {key: usual.get(key) if row.get(key) is None else row[key] for key in ROW_KEYS}
    names = row.keys() - {*ROW_KEYS, *COST_KEYS}
    scores = {name: math.nan if row[name] is None else float(row[name]) for name in names}
    costs = {key: row.get(key) for key in COST_KEYS}
    return {**place, **costs, "state": "done", "scores": scores, "details": {}}
