"""Tables, a page at a time: sorted and searched on the server, so that any size is quick."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scumble.gui.answers import Answer, Call, RefusedError
from scumble.measures.summary import plain

Array = np.ndarray[Any, Any]
PAGE, MAX_PAGE = 50, 500
#: A spreadsheet takes a cell that begins so for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


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
    details : callable or None
        ``details(rows)`` gives further values of the rows of one page.
    exported : mapping of str to sequence of str
        Further columns of the whole table.
    """

    columns: Mapping[str, Any]
    matches: Callable[[str], Array]
    default_sort: str
    default_order: str = "descending"
    details: Callable[[Array], list[dict[str, Any]]] | None = None
    exported: Mapping[str, Any] = field(default_factory=dict)

    def page(self, call: Call) -> dict[str, Any]:
        """Answer a call for a page.

        Parameters
        ----------
        call : Call
            With ``sort``, ``order``, ``q``, ``offset`` and ``limit`` in its query.

        Returns
        -------
        dict
            ``rows``, and ``total`` (all rows), ``found`` (those that fit), ``offset``, ``limit``,
            ``sort``, ``order``.
        """
        limit = call.integer("limit", PAGE, least=1, most=MAX_PAGE)
        offset = call.integer("offset", 0)
        sort, order = self._sorting(call)
        rows = self._rows(call, sort, order)
        shown = rows[offset : offset + limit]
        return {
            "total": self._n_rows,
            "found": len(rows),
            "offset": offset,
            "limit": limit,
            "sort": sort,
            "order": order,
            "rows": self._as_dicts(shown),
        }

    def csv(self, call: Call, filename: str) -> Answer:
        """Answer a call for the whole table as CSV.

        Parameters
        ----------
        call : Call
            With ``sort``, ``order`` and ``q`` in its query.
        filename : str
            Name of the file.

        Returns
        -------
        Answer
            Texts that a spreadsheet would run as formulas begin with an apostrophe.
        """
        sort, order = self._sorting(call)
        rows = self._rows(call, sort, order)
        out = io.StringIO(newline="")
        writer = csv.writer(out)
        columns = {**self.columns, **self.exported}
        writer.writerow(columns)
        for row in rows:
            writer.writerow([_cell(column[row]) for column in columns.values()])
        return Answer(out.getvalue(), 200, "text/csv; charset=utf-8", filename)

    @property
    def _n_rows(self) -> int:
        return len(next(iter(self.columns.values())))

    def _sorting(self, call: Call) -> tuple[str, str]:
        sort = call.choice("sort", tuple(self.columns), self.default_sort)
        usual = self.default_order if sort == self.default_sort else "descending"
        if not isinstance(self.columns[sort], np.ndarray):
            usual = "ascending"
        return sort, call.choice("order", ("ascending", "descending"), usual)

    def _rows(self, call: Call, sort: str, order: str) -> Array:
        ranked = _ranked(self.columns[sort], order == "descending")
        text = call.query.get("q", "")
        if len(text) > 1000:
            raise RefusedError(422, "'q' is too long: a search has at most 1,000 characters.")
        return ranked[self.matches(text)[ranked]] if text else ranked

    def _as_dicts(self, rows: Array) -> list[dict[str, Any]]:
        found = [
            {name: plain(column[row]) for name, column in self.columns.items()} for row in rows
        ]
        if self.details is not None:
            for row, more in zip(found, self.details(rows), strict=True):
                row.update(more)
        return found


def matcher(names: Sequence[str]) -> Callable[[str], Array]:
    """Find names that hold a text, in any case.

    Examples
    --------
    >>> from scumble.gui.paged_tables import matcher
    >>> matcher(["Sky", "sea"])("SK").tolist()
    [True, False]
    """
    folded = [name.casefold() for name in names]
    return lambda text: np.array([text.casefold() in name for name in folded], bool)


def _ranked(column: Any, descending: bool) -> Array:
    """Order rows; ties keep the order of the data, and what is missing comes last."""
    if not isinstance(column, np.ndarray):
        keys = [(str(value).casefold(), at) for at, value in enumerate(column)]
        order = sorted(range(len(keys)), key=keys.__getitem__, reverse=descending)
        return np.array(order, np.int64)
    values = column.astype(np.float64)
    return np.argsort(-values if descending else values, kind="stable")  # NaN is always last


def _cell(value: Any) -> Any:
    value = plain(value)
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return "" if value is None else value
