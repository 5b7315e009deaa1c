"""What the pages show of a data set: its overview, its tables, and two of them side by side.

Tables come a page at a time. They are sorted and searched on the server, so that any size is quick.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from scumble._core.arrays import Array
from scumble.data import MultilabelDataset
from scumble.data.feature_table import describe_features
from scumble.gui.http_messages import ApiRequest, ApiResponse, RequestError
from scumble.measures.difficult import cooccurrence_counter, rank_difficult_labels
from scumble.measures.summary import LABEL_COLUMNS, Summary, to_json_value
from scumble.report.concurrence import difficult_label_to_dict, features_by_kind, verdict_sentences
from scumble.report.treatment import BEFORE_AFTER_MEASURES, step_notes

if TYPE_CHECKING:
    from scumble.gui.state import OpenDataset
    from scumble.gui.worker import PackedDataset

#: What is told of a label.
TOLD = ("count", "irlbl", "scumble")
N_DIFFICULT, N_PARTNERS = 12, 4
#: Partners of a label that a chord diagram around it shows.
N_AROUND = 15
N_BINS = 40
#: Points of the scatter plot that a browser draws without effort.
MAX_POINTS = 4000
PAGE, MAX_PAGE = 50, 500
#: Names of a labelset that a page shows; the rest is counted.
N_SHOWN_LABELS = 40
#: A spreadsheet takes a cell that begins so for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def overview(data: MultilabelDataset, summary: Summary) -> dict[str, Any]:
    """Gather what the overview shows."""
    table = summary.labels
    difficult = rank_difficult_labels(
        cooccurrence_counter(data.Y), table.irlbl, table.scumble, data.labels
    )
    return {
        "summary": summary.to_dict(),
        "verdict": verdict_sentences(summary, difficult),
        "difficult": [
            difficult_label_to_dict(label, N_PARTNERS) for label in difficult[:N_DIFFICULT]
        ],
        "points": _points(summary),
        "histograms": {
            "labels_per_instance": _sizes(data),
            "scumble_by_instance": scumble_histogram(summary),
            "label_frequency": _by_decade(table.count),
            "labelset_count": _by_decade(summary.labelsets.counts),
        },
        "kinds": features_by_kind(data),
    }


def _points(summary: Summary) -> dict[str, Any]:
    """Columns of the scatter plot; of very many labels the most concurrent."""
    table = summary.labels
    seen = np.flatnonzero(table.count > 0)
    order = seen[np.argsort(-table.scumble[seen], kind="stable")][:MAX_POINTS]
    return {
        "label": order.tolist(),
        "name": [table.name[at] for at in order],
        **{key: getattr(table, key)[order].tolist() for key in (*TOLD, "is_minority")},
        "n_left_out": len(seen) - len(order),
    }


def scumble_histogram(summary: Summary) -> dict[str, Any]:
    """Count instances by their SCUMBLE."""
    return _histogram(summary.scumble_by_instance, bins=N_BINS, range=(0.0, 1.0))


def _histogram(values: Array, **bins: Any) -> dict[str, Any]:
    counts, edges = np.histogram(values, **bins)
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def _sizes(data: MultilabelDataset) -> dict[str, Any]:
    """How many instances have 0, 1, 2, ... labels; wide ranges are put into bins."""
    sizes = np.diff(data.Y.indptr)
    most = int(sizes.max(initial=0))
    step = -(-(most + 1) // N_BINS)
    return _histogram(sizes, bins=np.arange(0, most + step + 1, step))


def _by_decade(counts: Array) -> dict[str, Any]:
    """Put counts into bins 1-2, 2-5, 5-10, 10-20, ...: they spread over powers of ten."""
    seen = counts[counts > 0]
    most = int(seen.max(initial=1))
    edges = [1]
    while edges[-1] <= most:
        digit = int(str(edges[-1])[0])
        edges.append(edges[-1] * 2 if digit != 2 else edges[-1] * 5 // 2)
    return _histogram(seen, bins=np.array(edges) - 0.5) | {"edges": edges}


def before_and_after(before: OpenDataset | None, after: OpenDataset) -> dict[str, Any]:
    """Put a treated data set beside the one it was made of."""
    report = after.treatment or {}
    first, steps = report["before"], report["steps"]
    both = {} if before is None else {"before": before, "after": after}
    return {
        "dataset": after.to_dict(),
        "steps": report["methods"],
        "chain": report["chain"],
        "notes": step_notes(report),
        "traits": [
            {"key": key, "title": title, "before": first[key], "steps": [one[key] for one in steps]}
            for key, title, _ in BEFORE_AFTER_MEASURES
        ],
        "labels": [] if before is None else _label_changes(before, both),
        "histograms": {when: scumble_histogram(each.packed.summary) for when, each in both.items()},
    }


def _label_changes(before: OpenDataset, both: dict[str, OpenDataset]) -> list[dict[str, Any]]:
    """Follow the difficult labels of the first data set."""
    tables = {when: each.packed.summary.labels for when, each in both.items()}
    return [
        {"label": each["label"], "name": each["name"]}
        | {
            when: {key: to_json_value(table[key][each["label"]]) for key in TOLD}
            for when, table in tables.items()
        }
        for each in before.packed.overview["difficult"][:N_DIFFICULT]
    ]


@dataclass(frozen=True, eq=False)
class PagedTable:
    """Columns that can be sorted, and a way to find rows by a text.

    Attributes
    ----------
    columns : mapping of str to array or sequence of str
        All of one length.
    matches : callable
        ``matches(text)`` tells which rows fit, as an array of bool.
    default_sort, default_order : str
        How it is sorted if nothing is said.
    details : callable
        ``details(rows)`` gives further values of the rows of one page.
    exported : mapping of str to callable
        Further columns of the whole table, made row by row.
    """

    columns: Mapping[str, Any]
    matches: Callable[[str], Array]
    default_sort: str
    default_order: str = "descending"
    details: Callable[[Array], list[dict[str, Any]]] = lambda rows: [{}] * len(rows)
    exported: Mapping[str, Callable[[int], str]] = field(default_factory=dict)

    def page(self, request: ApiRequest) -> dict[str, Any]:
        """Answer a call for a page: ``sort``, ``order``, ``q``, ``offset``, ``limit`` choose it."""
        limit = request.get_query_int("limit", PAGE, minimum=1, maximum=MAX_PAGE)
        offset = request.get_query_int("offset", 0)
        sort, order = self._sorting(request)
        rows = self._rows(request, sort, order)
        return {
            "total": len(next(iter(self.columns.values()))),
            "found": len(rows),
            "offset": offset,
            "limit": limit,
            "sort": sort,
            "order": order,
            "rows": self._as_dicts(rows[offset : offset + limit]),
        }

    def to_csv(self, request: ApiRequest, filename: str) -> ApiResponse:
        """Answer a call for the whole table as CSV; formulas get an apostrophe before them."""
        rows = self._rows(request, *self._sorting(request))
        out = io.StringIO(newline="")
        writer = csv.writer(out)
        cells = {name: column.__getitem__ for name, column in self.columns.items()}
        cells |= self.exported
        writer.writerow(cells)
        for row in rows:
            writer.writerow([_cell(cell_of(row)) for cell_of in cells.values()])
        return ApiResponse(out.getvalue(), filename=filename)

    def _sorting(self, request: ApiRequest) -> tuple[str, str]:
        sort = request.get_query_choice("sort", tuple(self.columns), self.default_sort)
        usual = self.default_order if sort == self.default_sort else "descending"
        if not isinstance(self.columns[sort], np.ndarray):
            usual = "ascending"
        return sort, request.get_query_choice("order", ("ascending", "descending"), usual)

    def _rows(self, request: ApiRequest, sort: str, order: str) -> Array:
        ranked = _row_order(self.columns[sort], order == "descending")
        text = request.query.get("q", "")
        if len(text) > 1000:
            raise RequestError("'q' is too long: a search has at most 1,000 characters.")
        return ranked[self.matches(text)[ranked]] if text else ranked

    def _as_dicts(self, rows: Array) -> list[dict[str, Any]]:
        return [
            {name: to_json_value(column[row]) for name, column in self.columns.items()} | details
            for row, details in zip(rows, self.details(rows), strict=True)
        ]


def labels_table(packed: PackedDataset) -> PagedTable:
    """List all labels."""
    table = packed.summary.labels
    columns = {name: table[name] for name in LABEL_COLUMNS}
    columns = {"label": np.arange(len(table)), **columns, "is_minority": table.is_minority}
    return PagedTable(columns, matcher(table.name), "scumble")


def labelsets_table(packed: PackedDataset) -> PagedTable:
    """List all labelsets, the most frequent first."""
    data, summary = packed.data, packed.summary
    sets = summary.labelsets
    rows = sets.first_row[sets.order]
    members = data.Y[rows]

    def matches(text: str) -> Array:
        return np.asarray(members @ matcher(data.labels)(text).astype(np.int64)).ravel() > 0

    def names(at: int, maximum: int | None = None) -> list[str]:
        held = members.indices[members.indptr[at] : members.indptr[at + 1]]
        return [data.labels[label] for label in held[:maximum]]

    return PagedTable(
        {
            "rank": np.arange(1, len(rows) + 1),
            "size": np.diff(members.indptr),
            "count": sets.counts[sets.order],
            "imbalance": sets.imbalance[sets.order],
            "scumble": summary.scumble_by_instance[rows],
        },
        matches,
        "rank",
        "ascending",
        lambda shown: [{"labels": names(at, N_SHOWN_LABELS)} for at in shown],
        {"labels": lambda at: " | ".join(names(at))},
    )


def cooccurring_labels_table(packed: PackedDataset, label: int) -> PagedTable:
    """List the labels that share instances with a label, those it meets most often first."""
    table = packed.summary.labels
    joint = joint_counts(packed.data, label)
    met = np.flatnonzero(joint)
    names = [table.name[at] for at in met]
    return PagedTable(
        {
            "label": met,
            "name": names,
            "joint_count": joint[met],
            "share": joint[met] / max(int(table.count[label]), 1),
            **{key: getattr(table, key)[met] for key in (*TOLD, "is_minority")},
        },
        matcher(names),
        "joint_count",
    )


def most_cooccurring_labels(data: MultilabelDataset, label: int) -> list[int]:
    """Choose a label and those it meets most often, for a chord diagram."""
    joint = joint_counts(data, label)
    order = np.argsort(-joint, kind="stable")[:N_AROUND]
    return [label, *order[joint[order] > 0].tolist()]


def joint_counts(data: MultilabelDataset, label: int) -> Array:
    """Count for each label the instances it shares with one; 0 for that one itself."""
    rows = data.Y[:, [label]].nonzero()[0]
    joint = np.bincount(data.Y[rows].indices, minlength=data.n_labels)
    joint[label] = 0
    return joint


def features_table(packed: PackedDataset) -> PagedTable:
    """List all features."""
    data, table = packed.data, packed.feature_table
    known: dict[int, dict[str, Any]] = {}
    n_nonzero = table.n_nonzero.astype(object)
    n_nonzero[[kind in ("nominal", "string") for kind in table.kind]] = None  # a code is no amount

    def details(shown: Array) -> list[dict[str, Any]]:
        columns = [int(at) for at in shown]
        new = [column for column in columns if column not in known]
        known.update(zip(new, describe_features(data, new), strict=True))
        return [known[column] for column in columns]

    return PagedTable(
        {
            "feature": np.arange(len(table)),
            **{key: getattr(table, key) for key in ("name", "kind", "n_missing")},
            "n_nonzero": n_nonzero,
            **{key: getattr(table, key) for key in ("minimum", "mean", "maximum")},
        },
        matcher(table.name),
        "feature",
        "ascending",
        details,
    )


TABLE_BUILDERS = {"labels": labels_table, "labelsets": labelsets_table, "features": features_table}


def matcher(names: Sequence[str]) -> Callable[[str], Array]:
    """Find names that hold a text, in any case.

    Examples
    --------
    >>> from scumble.gui.pages import matcher
    >>> matcher(["Sky", "sea"])("SK").tolist()
    [True, False]
    """
    folded = [name.casefold() for name in names]
    return lambda text: np.array([text.casefold() in name for name in folded], bool)


def _row_order(column: Any, descending: bool) -> Array:
    """Order rows; ties keep the order of the data, and what is missing comes last."""
    if not isinstance(column, np.ndarray):
        keys = [str(value).casefold() for value in column]
        order = sorted(range(len(keys)), key=keys.__getitem__, reverse=descending)
        return np.array(order, np.int64)
    values = column.astype(np.float64)
    return np.argsort(-values if descending else values, kind="stable")  # NaN is always last


def _cell(value: Any) -> Any:
    value = to_json_value(value)
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return "" if value is None else value
