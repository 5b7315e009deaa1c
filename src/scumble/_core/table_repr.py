"""Records that show themselves: a table by ``print``, HTML in a notebook, one line as ``repr``."""

import html
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np

from scumble._core.text import align, escape_controls, format_significant, shorten

T = TypeVar("T")

#: Rows of a table that are shown; how many more there are is said below.
MAX_ROWS_SHOWN = 60
#: Terminal cells that the first column may take.
WIDEST = 48
#: Characters of a ``repr``.
LONGEST = 300
#: Items of a list within a cell that are shown.
FEW_ITEMS = 3


class TableView(NamedTuple):
    """A table to be shown."""

    head: Sequence[str]  # names of the columns
    rows: Iterable[Sequence[Any]]  # values of any kind; only the first ones are asked for
    n_rows: int
    notes: Sequence[str] = ()  # sentences below


# A dataclass that is made with ``repr=False`` has a ``repr`` of one short line.
class TableReprMixin:
    """What is printed as a table: ``_headline`` and what stands in ``_sheet``, else its fields."""

    __slots__ = ()

    def _repr_title(self) -> str:
        return type(self).__name__

    def _repr_table(self) -> TableView:
        rows = list(_fields(self))
        return TableView(("", ""), rows, len(rows))

    def __repr__(self) -> str:
        text = escape_controls(self._repr_title())
        if type(self)._repr_title is TableReprMixin._repr_title:
            text += ": " + ", ".join(
                f"{name} {format_cell(value)}" for name, value in _fields(self)
            )
        return f"<{shorten(text, LONGEST)}>"

    def __str__(self) -> str:
        sheet = self._repr_table()
        head, rows, left = _texts(sheet)
        rows = [[shorten(first, WIDEST), *others] for first, *others in rows]
        table = align(head, rows) if any(head) else align(("",) * len(head), rows)[1:]
        lines = [
            escape_controls(self._repr_title()),
            *("  ".join(cells).rstrip() for cells in table),
        ]
        return "\n".join([*lines, *left, *map(escape_controls, sheet.notes)])

    def _repr_html_(self) -> str:
        sheet = self._repr_table()
        head, rows, left = _texts(sheet)
        title = f"<p>{_cells('b', [escape_controls(self._repr_title())])}</p>"
        titles = [f"<thead><tr>{_cells('th', head)}</tr></thead>"] if any(head) else []
        body = [f"<tr>{_cells('th', row[:1])}{_cells('td', row[1:])}</tr>" for row in rows]
        notes = [_cells("p", [escape_controls(note)]) for note in (*left, *sheet.notes)]
        parts = [title, "<table>", *titles, "<tbody>", *body, "</tbody></table>", *notes]
        return "\n".join(parts)


class RecordList(TableReprMixin, list[T]):
    """A list of records or mappings that prints as a table."""

    def __init__(
        self, items: Iterable[T] = (), what: str = "rows", columns: Sequence[str] = ()
    ) -> None:
        super().__init__(items)
        self.what, self.columns = what, tuple(columns)

    def _repr_title(self) -> str:
        return f"{len(self):,} {self.what}"

    def _repr_table(self) -> TableView:
        columns = self.columns or (tuple(_as_mapping(self[0])) if self else ())
        rows = ([row[column] for column in columns] for row in map(_as_mapping, self))
        return TableView(columns, rows, len(self))


def _cells(tag: str, texts: Iterable[str]) -> str:
    return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)


def _fields(record: Any) -> Iterator[tuple[str, Any]]:
    return ((field.name, getattr(record, field.name)) for field in fields(record))


def _as_mapping(row: Any) -> Mapping[str, Any]:
    return row if isinstance(row, Mapping) else dict(_fields(row))


def _texts(sheet: TableView) -> tuple[list[str], list[list[str]], list[str]]:
    """Write head and first rows as texts, and say how many rows are left."""
    rows = [[format_cell(value) for value in row] for row in islice(sheet.rows, MAX_ROWS_SHOWN)]
    more = sheet.n_rows - len(rows)
    return (
        [escape_controls(str(title)) for title in sheet.head],
        rows,
        [f"... {more:,} more"] * (more > 0),
    )


def format_cell(value: Any) -> str:
    """Write a value as it stands in a table."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.1e}" if 0 < abs(value) < 1e-4 else format_significant(value)
    if isinstance(value, np.ndarray) and value.ndim > 1:
        return " x ".join(map(str, value.shape)) + " values"
    if isinstance(value, TableReprMixin):
        return repr(value)
    if isinstance(value, Mapping):
        value = list(value)
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes):
        few = ", ".join(format_cell(item) for item in value[:FEW_ITEMS])
        return f"{few}, ... ({len(value):,})" if len(value) > FEW_ITEMS else few
    return escape_controls(str(value))
