"""Tables of thresholds: the threshold of each label, its positives and its results."""

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError
from scumble._core.files import CompressiblePath, atomic_write
from scumble._core.table_repr import TableReprMixin, TableView
from scumble._core.text import STDIO_PATH
from scumble._validation.labels import check_named_labels, check_same_names
from scumble.learn.thresholds.selection import ScoreColumns, SelectedThresholds, ThresholdRule

COLUMNS = ("label", "positives", "threshold", "predicted", "hits", "expected")
#: Suffixes of the files that `ThresholdTable.write` writes.
SUFFIXES = (".csv", ".json")


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdTable(TableReprMixin):
    """The thresholds of all labels, and their results.

    Attributes
    ----------
    labels : tuple
        Names of the labels, or their indices.
    positives : ndarray of int64
        Rows that have the label.
    thresholds : ndarray of float64
        A label is predicted at scores of at least its threshold; infinity if it is never
        predicted, minus infinity if it always is.
    predicted, hits : ndarray of int64
        Rows that are predicted to have the label, and those of them that have it.
    expected : ndarray of float64
        The metric that the rule expects on new rows; NaN for a label without positives.
    metric : str
        Name of the metric.

    Examples
    --------
    >>> from scumble.learn import threshold_table
    >>> table = threshold_table([[0.1, 0.9], [0.2, 0.8], [0.7, 0.4]], [["sky"], ["sky"], ["ship"]])
    >>> table
    <ThresholdTable: 2 labels, 0 of them never predicted>
    >>> table.labels, table.positives, table.predicted
    (('ship', 'sky'), array([1, 2]), array([1, 2]))
    """

    labels: tuple[Any, ...]
    positives: Array
    thresholds: Array
    predicted: Array
    hits: Array
    expected: Array
    metric: str = "f1"

    def __len__(self) -> int:
        return len(self.labels)

    def _repr_title(self) -> str:
        """Return the line above the printed table."""
        return f"ThresholdTable: {len(self):,} labels, {self.n_silent:,} of them never predicted"

    def _repr_table(self) -> TableView:
        """Return the printed table: one row per label."""
        return TableView(COLUMNS, (tuple(row.values()) for row in self.rows()), len(self))

    @property
    def n_silent(self) -> int:
        """Number of labels that are predicted for no row."""
        return int((self.predicted == 0).sum())

    @property
    def mean_expected(self) -> float:
        """Mean of the expected metric over labels with positives; NaN without any."""
        defined = self.expected[~np.isnan(self.expected)]
        return float(defined.mean()) if len(defined) else float("nan")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over the labels.

        Yields
        ------
        dict
            Python scalars: ``label``, ``positives``, ``threshold``, ``predicted``, ``hits`` and
            ``expected`` (None for a label without positives).
        """
        for index, label in enumerate(self.labels):
            expected = float(self.expected[index])
            yield {
                "label": label,
                "positives": int(self.positives[index]),
                "threshold": float(self.thresholds[index]),
                "predicted": int(self.predicted[index]),
                "hits": int(self.hits[index]),
                "expected": None if np.isnan(expected) else expected,
            }

    def to_dict(self) -> dict[str, Any]:
        """Return Python scalars for JSON, in which infinity is the text ``"inf"``.

        Returns
        -------
        dict
            ``metric``, ``mean_expected``, ``n_silent``, and ``labels``: a list with one mapping per
            label.
        """
        mean = self.mean_expected
        return {
            "metric": self.metric,
            "mean_expected": None if np.isnan(mean) else mean,
            "n_silent": self.n_silent,
            "labels": [
                row | {"threshold": _infinity_as_text(row["threshold"])} for row in self.rows()
            ],
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file; if that fails, no part of the file is left.

        Parameters
        ----------
        path : str or Path
            A file that ends in ``.csv`` or ``.json``; a further suffix such as ``.gz``
            compresses it.
        """
        suffix = output_suffix(path)
        text = self._to_csv() if suffix == ".csv" else self._to_json()
        with atomic_write(path) as target, target.open() as stream:
            stream.write(text.encode())

    def _to_csv(self) -> str:
        """Return the table as CSV."""
        stream = io.StringIO()
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows())
        return stream.getvalue()

    def _to_json(self) -> str:
        """Return the table as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def threshold_table(
    scores: Any,
    Y: Any,
    *,
    labels: Sequence[Any] | None = None,
    rule: str = "shrunken",
    metric: str = "f1",
    strength: float = 20.0,
    threshold: float = 0.5,
    n_jobs: int | None = None,
) -> ThresholdTable:
    """Choose a decision threshold for each label, and return a table of the results.

    Parameters
    ----------
    scores, Y, rule, metric, strength, threshold, n_jobs : object
        See `label_thresholds`.
    labels : sequence, optional
        Names of the labels; by default those of ``Y``, or their indices.

    Returns
    -------
    ThresholdTable
        One row per label.

    See Also
    --------
    label_thresholds : Returns the thresholds alone.
    scumble.out_of_core.label_thresholds : Does the same for tables that do not fit in memory.

    Examples
    --------
    >>> from scumble.learn import threshold_table
    >>> scores = [[0.9, 0.30], [0.8, 0.10], [0.4, 0.20], [0.3, 0.05], [0.1, 0.00]]
    >>> Y = [[1, 1], [1, 0], [1, 0], [0, 0], [0, 0]]
    >>> table = threshold_table(scores, Y, labels=["sky", "ship"], rule="capped")
    >>> for row in table.rows():
    ...     print(row["label"], row["positives"], row["threshold"], row["expected"])
    sky 3 0.35 1.0
    ship 1 0.25 1.0
    """
    caller = "threshold_table"
    threshold_rule = ThresholdRule(rule, metric, strength, threshold).check(caller=caller)
    true_labels, label_names = check_named_labels(Y, caller=f"{caller}, Y")
    n_labels = true_labels.shape[1]
    if labels is None:
        labels = range(n_labels) if label_names is None else label_names
    if len(labels) != n_labels:
        raise DataError(f"{caller}: {n_labels} labels need as many names. Got {len(labels)}.")
    check_same_names(Y, scores, noun="scores", caller=caller)
    columns = ScoreColumns.read(scores, true_labels, caller=caller)
    selected = columns.choose(threshold_rule, n_jobs=n_jobs)
    return table_from_thresholds(labels, selected, threshold_rule.metric)


def table_from_thresholds(
    labels: Sequence[Any], selected: SelectedThresholds, metric: str
) -> ThresholdTable:
    """Return a table of selected thresholds with the names of the labels."""
    return ThresholdTable(
        labels=tuple(labels),
        positives=selected.n_positives,
        thresholds=selected.thresholds,
        predicted=selected.n_predicted,
        hits=selected.hits,
        expected=selected.expected,
        metric=metric,
    )


def output_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a file of thresholds, which determines its format, or raise an error."""
    if os.fspath(path) == STDIO_PATH:
        return ".csv"
    suffix = CompressiblePath(path).suffix
    if suffix not in SUFFIXES:
        raise ParameterError(
            f"Thresholds are written as {' or '.join(SUFFIXES)} (also .csv.gz and the like). Got "
            f"{str(path)!r} instead."
        )
    return suffix


def _infinity_as_text(value: float) -> float | str:
    """Return a number that JSON can hold, or ``"inf"`` or ``"-inf"``."""
    return value if np.isfinite(value) else str(value)
