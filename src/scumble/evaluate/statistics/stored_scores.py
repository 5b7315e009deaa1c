"""Score tables from the cells of a store."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from scumble._core.errors import ParameterError, did_you_mean
from scumble.evaluate.metrics.label_groups import metric_names
from scumble.evaluate.model_selection.folds import LabelCounts, pooled_metrics
from scumble.evaluate.statistics.score_table import ScoreTable, build_score_table
from scumble.results.cell import LABEL_COUNTS_KEY
from scumble.results.store import Store, StoreError

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
