"""Thresholds as a table: for each label its positives, its threshold and what that gives."""

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
from scumble._core.validation import check_named_labels, check_same_names
from scumble.learn.thresholds import ScoreColumns, SelectedThresholds, ThresholdRule

COLUMNS = ("label", "positives", "threshold", "predicted", "hits", "expected")
#: What `ThresholdTable.write` writes.
SUFFIXES = (".csv", ".json")


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdTable(TableReprMixin):
    """The thresholds of all labels, and what is expected of them.

    Attributes
    ----------
    labels : tuple
        Names of the labels, or their numbers.
    positives : ndarray of int64
        Rows that have the label.
    thresholds : ndarray of float64
        A label is predicted where its score is at least this; infinite where it never is, minus
        infinite where it always is.
    predicted, hits : ndarray of int64
        Rows that are predicted to have the label, and those of them that have it.
    expected : ndarray of float64
        The metric that is expected of new rows; NaN for a label without positives.
    metric : str
        Which metric.

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
        return f"ThresholdTable: {len(self):,} labels, {self.n_silent:,} of them never predicted"

    def _repr_table(self) -> TableView:
        return TableView(COLUMNS, (tuple(row.values()) for row in self.rows()), len(self))

    @property
    def n_silent(self) -> int:
        """Number of labels that are predicted for no row."""
        return int((self.predicted == 0).sum())

    @property
    def mean_expected(self) -> float:
        """Mean of the expected metric over labels with positives; NaN without any."""
        known = self.expected[~np.isnan(self.expected)]
        return float(known.mean()) if len(known) else float("nan")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over the labels.

        Yields
        ------
        dict
            Plain values: ``label``, ``positives``, ``threshold``, ``predicted``, ``hits`` and
            ``expected`` (None for a label without positives).
        """
        columns = (self.positives, self.thresholds, self.predicted, self.hits, self.expected)
        for label, *values in zip(self.labels, *(c.tolist() for c in columns), strict=True):
            row = dict(zip(COLUMNS, (label, *values), strict=True))
            yield row | {"expected": None if np.isnan(row["expected"]) else row["expected"]}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, which has no infinity: it is the text ``"inf"`` there.

        Returns
        -------
        dict
            ``metric``, ``mean_expected``, ``n_silent``, and ``labels``: one mapping for each.
        """
        rows = [row | {"threshold": _finite(row["threshold"])} for row in self.rows()]
        mean = None if np.isnan(self.mean_expected) else self.mean_expected
        told = {"metric": self.metric, "mean_expected": mean, "n_silent": self.n_silent}
        return told | {"labels": rows}

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            A file that ends in ``.csv`` or ``.json``; a further suffix such as ``.gz``
            compresses it.
        """
        suffix = output_suffix(path)
        with atomic_write(path) as target, target.open() as stream:
            stream.write((self._csv() if suffix == ".csv" else self._json()).encode())

    def _csv(self) -> str:
        text = io.StringIO()
        table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(self.rows())
        return text.getvalue()

    def _json(self) -> str:
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
    """Choose a threshold for each label, and tell what it gives.

    Parameters
    ----------
    scores, Y, rule, metric, strength, threshold, n_jobs : object
        See `label_thresholds`.
    labels : sequence, optional
        Names of the labels; by default those that ``Y`` has, or their numbers.

    Returns
    -------
    ThresholdTable
        One row per label.

    See Also
    --------
    label_thresholds : The thresholds alone.
    scumble.scale.label_thresholds : The same from tables that do not fit into memory.

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
    wanted = ThresholdRule(rule, metric, strength, threshold).check(caller="threshold_table")
    truth, named = check_named_labels(Y, caller="threshold_table, Y")
    if labels is None:
        labels = range(truth.shape[1]) if named is None else named
    if len(labels) != truth.shape[1]:
        raise DataError(
            f"threshold_table: {truth.shape[1]} labels need as many names. Got {len(labels)}."
        )
    check_same_names(Y, scores, what="scores", caller="threshold_table")
    columns = ScoreColumns.of(scores, truth, caller="threshold_table")
    return table_from_thresholds(labels, columns.choose(wanted, n_jobs=n_jobs), wanted.metric)


def table_from_thresholds(
    labels: Sequence[Any], cuts: SelectedThresholds, metric: str
) -> ThresholdTable:
    """Give the cuts of labels their names."""
    columns = (cuts.n_positives, cuts.thresholds, cuts.n_predicted, cuts.hits, cuts.expected)
    return ThresholdTable(tuple(labels), *columns, metric)


def output_suffix(path: str | os.PathLike[str]) -> str:
    """Tell which form of a table of thresholds a file name means, or refuse it."""
    suffix = CompressiblePath("stdout.csv" if os.fspath(path) == STDIO_PATH else path).suffix
    if suffix not in SUFFIXES:
        raise ParameterError(
            f"Thresholds are written as {' or '.join(SUFFIXES)} (also .csv.gz and the like). Got "
            f"{str(path)!r} instead."
        )
    return suffix


def _finite(value: float) -> float | str:
    return value if np.isfinite(value) else str(value)
