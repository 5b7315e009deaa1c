"""Extra scores of a cell, which are computed only if the plan asks for them.

They repeat how other programs treat undefined values; the plans of the paper need them.

=============== ===================================================================================
``ignore``      means of precision, recall and F1, over rows and over labels, that leave out
                undefined values (0/0), as ``ignore.f1``
``hits``        means of F1 over the rows, and over the labels, with at least one true positive, as
                ``hits.f1`` and ``hits.macro_f1``
``mean_ir_zero`` the mean imbalance ratio of the training set in which a label that does not occur
                counts as 0, as mldr computes it: ``before.mean_ir_zero``, ``after.mean_ir_zero``
=============== ===================================================================================
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # a plan need not import classifiers and metrics
    from scumble.data import MultilabelDataset
    from scumble.measures.summary import Summary

IGNORE = "ignore"
HITS = "hits"
MEAN_IR_ZERO = "mean_ir_zero"
#: Metrics that are stored a second time, as ``ignore.<name>``.
METRICS_IGNORING_UNDEFINED = (
    "precision",
    "recall",
    "f1",
    "macro_precision",
    "macro_recall",
    "macro_f1",
)
#: Names of scores by the name with which a plan asks for them. A done cell without the first of
#: them is computed again for a plan that asks.
EXTRA_SCORES = {
    IGNORE: tuple(f"ignore.{name}" for name in METRICS_IGNORING_UNDEFINED),
    HITS: ("hits.f1", "hits.macro_f1"),
    MEAN_IR_ZERO: ("before.mean_ir_zero", "after.mean_ir_zero"),
}
#: Those of `EXTRA_SCORES` that evaluate predictions: cells without a classifier do not have them.
EXTRA_METRICS = (IGNORE, HITS)


def group_of_extra_score(name: str) -> str | None:
    """Return the key of `EXTRA_SCORES` that a score belongs to; None for any other score."""
    for group, names in EXTRA_SCORES.items():
        if name in names:
            return group
    return None


def extra_metrics(
    test: MultilabelDataset, predictions: Any, requested: Collection[str]
) -> dict[str, float]:
    """Return the requested ones of `EXTRA_METRICS` on a test set, by the names of their scores."""
    from scumble.evaluate import evaluate

    values: dict[str, float] = {}
    if IGNORE in requested:
        without_undefined = evaluate(
            test, predictions, undefined="ignore", metrics=METRICS_IGNORING_UNDEFINED
        )
        for name in METRICS_IGNORING_UNDEFINED:
            values[f"ignore.{name}"] = float(without_undefined[name])
    if HITS in requested:
        with_hits = mean_f1_with_hits(test.Y, predictions)
        values["hits.f1"] = with_hits.over_rows
        values["hits.macro_f1"] = with_hits.over_labels
    return values


class MeanF1(NamedTuple):
    """The F1 averaged over rows and over labels."""

    over_rows: float
    over_labels: float


def mean_f1_with_hits(Y: Any, predictions: Any) -> MeanF1:
    """Return the mean F1 of the rows, and of the labels, with at least one true positive.

    Without a true positive, precision and recall are 0, and their harmonic mean is 0/0. A mean is
    NaN if no row, or no label, has one.
    """
    from scumble.evaluate import confusion
    from scumble.evaluate.metrics.bipartition import f1s

    counts = confusion(Y, predictions)
    means = []
    for unit_counts in (counts.by_instance, counts.by_label):
        values = f1s(unit_counts.take(unit_counts.true_positives > 0)).values
        means.append(float(values.mean()) if len(values) else float("nan"))
    return MeanF1(*means)


def mean_ir_with_zeros(summary: Summary) -> float:
    """Return the mean imbalance ratio in which a label that does not occur counts as 0."""
    n_seen = summary.n_labels - summary.n_unseen
    if not n_seen:
        return 0.0
    return summary.mean_ir * n_seen / summary.n_labels
