"""The content of the pages of a data set: overview, tables, before and after resampling.

Tables are sent one page at a time. They are sorted and searched on the server, so that large ones
are fast, too.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from scumble._core.arrays import Array
from scumble.data import MultilabelDataset
from scumble.data.feature_table import describe_features
from scumble.gui.api.queries import TableQuery
from scumble.gui.http_messages import ApiResponse
from scumble.measures.difficult import cooccurrence_counter, rank_difficult_labels
from scumble.measures.summary import LABEL_COLUMNS, LabelTable, Summary, to_json_value
from scumble.report.concurrence import (
    difficult_label_to_dict,
    features_by_kind,
    interpretation_sentences,
)
from scumble.report.treatment import BEFORE_AFTER_MEASURES, step_notes

if TYPE_CHECKING:
    from scumble.gui.packed_dataset import PackedDataset
    from scumble.gui.state import OpenDataset

#: The measures of a label in scatter plots, before/after tables and lists of co-occurring labels.
LABEL_MEASURES = ("count", "irlbl", "scumble")
#: Difficult labels on the overview, and co-occurring labels listed for each: what fits on a screen.
N_DIFFICULT, N_PARTNERS = 12, 4
#: Co-occurring labels in the chord diagram of a label; with more, the ribbons are hard to follow.
N_CHORD_PARTNERS = 15
#: Maximum number of bars of a histogram.
MAX_BINS = 40
#: Maximum number of points of the scatter plot; browsers draw so many without delay.
MAX_POINTS = 4000
#: Maximum number of names listed for a labelset in a table; the page counts the others.
MAX_LISTED_LABELS = 40
#: Spreadsheets interpret a cell that begins with one of these characters as a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def overview(data: MultilabelDataset, summary: Summary) -> dict[str, Any]:
    """Return the content of the page *Overview*."""
    table = summary.labels
    difficult = rank_difficult_labels(
        cooccurrence_counter(data.Y), table.irlbl, table.scumble, data.labels
    )
    return {
        "summary": summary.to_dict(),
        "verdict": interpretation_sentences(summary, difficult),
        "difficult": [
            difficult_label_to_dict(label, N_PARTNERS) for label in difficult[:N_DIFFICULT]
        ],
        "points": _scatter_points(summary),
        "histograms": {
            "labels_per_instance": _labels_per_instance_histogram(data),
            "scumble_by_instance": scumble_histogram(summary),
            "label_frequency": _logarithmic_histogram(table.count),
            "labelset_count": _logarithmic_histogram(summary.labelsets.counts),
        },
        "kinds": features_by_kind(data),
    }


def _scatter_points(summary: Summary) -> dict[str, Any]:
    """Return the columns of the scatter plot of labels, of many the most concurrent ones."""
    table = summary.labels
    present = np.flatnonzero(table.count > 0)
    by_scumble = np.argsort(-table.scumble[present], kind="stable")
    labels = present[by_scumble][:MAX_POINTS]
    columns = {
        name: getattr(table, name)[labels].tolist() for name in (*LABEL_MEASURES, "is_minority")
    }
    return {
        "label": labels.tolist(),
        "name": [table.name[label] for label in labels],
        **columns,
        "n_left_out": len(present) - len(labels),
    }


def scumble_histogram(summary: Summary) -> dict[str, Any]:
    """Return the histogram of the SCUMBLE of instances."""
    edges = np.linspace(0.0, 1.0, MAX_BINS + 1)
    return _histogram(summary.scumble_by_instance, edges)


def _histogram(values: Array, edges: Array) -> dict[str, Any]:
    """Return the number of values between each two edges."""
    counts, _ = np.histogram(values, bins=edges)
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def _labels_per_instance_histogram(data: MultilabelDataset) -> dict[str, Any]:
    """Return how many instances have 0, 1, 2, ... labels; wide ranges are grouped into bins."""
    n_labels = np.diff(data.Y.indptr)
    maximum = int(n_labels.max(initial=0))
    step = math.ceil((maximum + 1) / MAX_BINS)
    return _histogram(n_labels, np.arange(0, maximum + step + 1, step))


def _logarithmic_histogram(counts: Array) -> dict[str, Any]:
    """Return a histogram of counts with edges 1, 2, 5, 10, 20, ...; zeros are left out.

    Counts of labels and labelsets extend over several powers of ten.
    """
    positive = counts[counts > 0]
    maximum = int(positive.max(initial=1))
    edges = [1]
    while edges[-1] <= maximum:
        first_digit = int(str(edges[-1])[0])
        edges.append(edges[-1] * 5 // 2 if first_digit == 2 else edges[-1] * 2)
    histogram = _histogram(positive, np.array(edges) - 0.5)
    return {"edges": edges, "counts": histogram["counts"]}


def before_and_after(before: OpenDataset | None, after: OpenDataset) -> dict[str, Any]:
    """Return the content of the page that compares a resampled data set with its original.

    Parameters
    ----------
    before : OpenDataset or None
        The original; None if it has been closed. Its labels and histograms are then missing.
    after : OpenDataset
        The resampled data set.
    """
    report = after.treatment or {}
    measures = [
        {
            "key": key,
            "title": title,
            "before": report["before"][key],
            "steps": [step[key] for step in report["steps"]],
        }
        for key, title, _ in BEFORE_AFTER_MEASURES
    ]
    label_changes: list[dict[str, Any]] = []
    histograms: dict[str, Any] = {}
    if before is not None:
        label_changes = _label_changes(before, after)
        histograms["before"] = scumble_histogram(before.packed.summary)
        histograms["after"] = scumble_histogram(after.packed.summary)
    return {
        "dataset": after.to_dict(),
        "steps": report["methods"],
        "chain": report["chain"],
        "notes": step_notes(report),
        "measures": measures,
        "labels": label_changes,
        "histograms": histograms,
    }


def _label_changes(before: OpenDataset, after: OpenDataset) -> list[dict[str, Any]]:
    """Return the measures of the most difficult labels of the original, before and after."""
    table_before = before.packed.summary.labels
    table_after = after.packed.summary.labels
    return [
        {
            "label": difficult["label"],
            "name": difficult["name"],
            "before": _label_measures(table_before, difficult["label"]),
            "after": _label_measures(table_after, difficult["label"]),
        }
        for difficult in before.packed.overview["difficult"][:N_DIFFICULT]
    ]


def _label_measures(table: LabelTable, label: int) -> dict[str, Any]:
    """Return the measures of a label as values for JSON."""
    return {name: to_json_value(table[name][label]) for name in LABEL_MEASURES}


@dataclass(frozen=True, eq=False)
class PagedTable:
    """A table that is sorted, searched and sent page by page.

    Attributes
    ----------
    columns : mapping of str to array or sequence of str
        The columns, all of the same length.
    matches : callable
        ``matches(text)`` returns which rows match a search, as an array of bool.
    default_sort, default_order : str
        The column that the table is sorted by if a request names none, and its order.
    row_details : callable or None
        ``row_details(rows)`` returns a dict with further values of each of some rows.
    csv_columns : mapping of str to callable
        Further columns of the CSV file; each function returns the cell of a row.
    """

    columns: Mapping[str, Any]
    matches: Callable[[str], Array]
    default_sort: str
    default_order: str = "descending"
    row_details: Callable[[Array], list[dict[str, Any]]] | None = None
    csv_columns: Mapping[str, Callable[[int], str]] = field(default_factory=dict)

    def page(self, query: TableQuery) -> dict[str, Any]:
        """Return the page that a query selects."""
        sort, order = self._sorting(query)
        rows = self._matching_rows(query.q, sort, order)
        first_column = next(iter(self.columns.values()))
        return {
            "total": len(first_column),
            "n_matches": len(rows),
            "offset": query.offset,
            "limit": query.limit,
            "sort": sort,
            "order": order,
            "rows": self._rows_to_dicts(rows[query.offset : query.offset + query.limit]),
        }

    def to_csv(self, query: TableQuery, filename: str) -> ApiResponse:
        """Return all rows that match the query as CSV.

        Names that a spreadsheet would interpret as formulas get an apostrophe in front.
        """
        sort, order = self._sorting(query)
        rows = self._matching_rows(query.q, sort, order)
        out = io.StringIO(newline="")
        writer = csv.writer(out)
        writer.writerow([*self.columns, *self.csv_columns])
        for row in rows:
            values = [column[row] for column in self.columns.values()]
            values.extend(cell_of_row(row) for cell_of_row in self.csv_columns.values())
            writer.writerow([_csv_cell(value) for value in values])
        return ApiResponse(out.getvalue(), filename=filename)

    def _sorting(self, query: TableQuery) -> tuple[str, str]:
        """Return the column to sort by, and the order, which depends on the column by default."""
        sort = query.sort or self.default_sort
        if not isinstance(self.columns[sort], np.ndarray):  # texts
            default_order = "ascending"
        elif sort == self.default_sort:
            default_order = self.default_order
        else:
            default_order = "descending"
        return sort, query.order or default_order

    def _matching_rows(self, text: str, sort: str, order: str) -> Array:
        """Return the sorted indices of the rows that match a search."""
        rows = _row_order(self.columns[sort], order == "descending")
        if not text:
            return rows
        return rows[self.matches(text)[rows]]

    def _rows_to_dicts(self, rows: Array) -> list[dict[str, Any]]:
        """Return the values of rows by column, with their details."""
        dicts = [
            {name: to_json_value(column[row]) for name, column in self.columns.items()}
            for row in rows
        ]
        if self.row_details is not None:
            for row_dict, details in zip(dicts, self.row_details(rows), strict=True):
                row_dict.update(details)
        return dicts


def labels_table(packed: PackedDataset) -> PagedTable:
    """Return the table of all labels."""
    table = packed.summary.labels
    return PagedTable(
        columns={
            "label": np.arange(len(table)),
            **{name: table[name] for name in LABEL_COLUMNS},
            "is_minority": table.is_minority,
        },
        matches=matcher(table.name),
        default_sort="scumble",
    )


def labelsets_table(packed: PackedDataset) -> PagedTable:
    """Return the table of all labelsets, by default the most frequent first."""
    data, summary = packed.data, packed.summary
    labelsets = summary.labelsets
    first_rows = labelsets.first_row[labelsets.order]
    members = data.Y[first_rows]  # one row per labelset

    def matches(text: str) -> Array:
        """Return for each labelset whether the name of one of its labels contains a text."""
        label_matches = matcher(data.labels)(text).astype(np.int64)
        return np.asarray(members @ label_matches).ravel() > 0

    def label_names(index: int, maximum: int | None = None) -> list[str]:
        """Return the names of the labels of a labelset, of the first ``maximum`` at most."""
        labels = members.indices[members.indptr[index] : members.indptr[index + 1]]
        return [data.labels[label] for label in labels[:maximum]]

    return PagedTable(
        columns={
            "rank": np.arange(1, len(first_rows) + 1),
            "size": np.diff(members.indptr),
            "count": labelsets.counts[labelsets.order],
            "imbalance": labelsets.imbalance[labelsets.order],
            "scumble": summary.scumble_by_instance[first_rows],
        },
        matches=matches,
        default_sort="rank",
        default_order="ascending",
        row_details=lambda rows: [{"labels": label_names(row, MAX_LISTED_LABELS)} for row in rows],
        csv_columns={"labels": lambda row: " | ".join(label_names(row))},
    )


def cooccurring_labels_table(packed: PackedDataset, label: int) -> PagedTable:
    """Return the table of the labels that co-occur with a label, the most frequent first."""
    table = packed.summary.labels
    counts = joint_counts(packed.data, label)
    partners = np.flatnonzero(counts)
    names = [table.name[partner] for partner in partners]
    n_instances = max(int(table.count[label]), 1)  # a label that never occurs has no partners
    return PagedTable(
        columns={
            "label": partners,
            "name": names,
            "joint_count": counts[partners],
            "share": counts[partners] / n_instances,
            **{name: getattr(table, name)[partners] for name in (*LABEL_MEASURES, "is_minority")},
        },
        matches=matcher(names),
        default_sort="joint_count",
    )


def most_cooccurring_labels(data: MultilabelDataset, label: int) -> list[int]:
    """Return a label and those that co-occur with it most often, for a chord diagram.

    These are at most `N_CHORD_PARTNERS`, the most frequent first; all share instances with it.
    """
    counts = joint_counts(data, label)
    partners = np.argsort(-counts, kind="stable")[:N_CHORD_PARTNERS]
    return [label, *partners[counts[partners] > 0].tolist()]


def joint_counts(data: MultilabelDataset, label: int) -> Array:
    """Return, for each label, the number of instances that it shares with a label.

    The count of the label itself is 0.
    """
    rows = data.Y[:, [label]].nonzero()[0]
    counts = np.bincount(data.Y[rows].indices, minlength=data.n_labels)
    counts[label] = 0
    return counts


def features_table(packed: PackedDataset) -> PagedTable:
    """Return the table of all features."""
    data, table = packed.data, packed.feature_table
    n_nonzero = table.n_nonzero.astype(object)
    is_code = [kind in ("nominal", "string") for kind in table.kind]
    n_nonzero[is_code] = None  # a code is not a quantity
    cache: dict[int, dict[str, Any]] = {}  # descriptions by column; they require reading the data

    def descriptions(rows: Array) -> list[dict[str, Any]]:
        """Return the descriptions of the features with these indices, and cache them."""
        columns = [int(row) for row in rows]
        new_columns = [column for column in columns if column not in cache]
        new_descriptions = describe_features(data, new_columns)
        cache.update(zip(new_columns, new_descriptions, strict=True))
        return [cache[column] for column in columns]

    return PagedTable(
        columns={
            "feature": np.arange(len(table)),
            "name": table.name,
            "kind": table.kind,
            "n_missing": table.n_missing,
            "n_nonzero": n_nonzero,
            "minimum": table.minimum,
            "mean": table.mean,
            "maximum": table.maximum,
        },
        matches=matcher(table.name),
        default_sort="feature",
        default_order="ascending",
        row_details=descriptions,
    )


#: The functions that make the tables of a data set, by the name of the table in addresses.
TABLE_BUILDERS = {"labels": labels_table, "labelsets": labelsets_table, "features": features_table}


def matcher(names: Sequence[str]) -> Callable[[str], Array]:
    """Return a function that finds the names which contain a text, ignoring case.

    Examples
    --------
    >>> from scumble.gui.pages import matcher
    >>> matcher(["Sky", "sea"])("SK").tolist()
    [True, False]
    """
    folded_names = [name.casefold() for name in names]

    def matches(text: str) -> Array:
        """Return for each name whether it contains a text; case is ignored."""
        folded_text = text.casefold()
        return np.array([folded_text in name for name in folded_names], bool)

    return matches


def _row_order(column: Any, descending: bool) -> Array:
    """Return the row indices sorted by a column; ties keep their order, gaps come last."""
    if not isinstance(column, np.ndarray):
        keys = [str(value).casefold() for value in column]
        order = sorted(range(len(keys)), key=keys.__getitem__, reverse=descending)
        return np.array(order, np.int64)
    values = column.astype(np.float64)
    if descending:
        values = -values
    return np.argsort(values, kind="stable")  # NaN is always last


def _csv_cell(value: Any) -> Any:
    """Return a value for a CSV file: empty if missing, with an apostrophe before a formula."""
    value = to_json_value(value)
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value
