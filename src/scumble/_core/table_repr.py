"""Results that print as a table, show as HTML in a notebook, and have a ``repr`` of one line."""

import html
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np

from scumble._core.text import align, escape_controls, format_significant, shorten

T = TypeVar("T")

#: Rows of a table that are shown; a line below the table counts the others.
MAX_ROWS_SHOWN = 60
#: Terminal cells that the first column may take, so that other columns fit beside it.
MAX_FIRST_COLUMN_WIDTH = 48
#: Terminal cells of a ``repr``, about four lines.
MAX_REPR_WIDTH = 300
#: Items of a list that are shown in a cell.
MAX_ITEMS_SHOWN = 3


class TableView(NamedTuple):
    """The content of a table to print: values that are not formatted yet."""

    column_names: Sequence[str]  # all empty for a table without a header
    rows: Iterable[Sequence[Any]]  # values of any type; only the first `MAX_ROWS_SHOWN` are read
    n_rows: int
    notes: Sequence[str] = ()  # sentences below the table


class _FormattedTable(NamedTuple):
    """The texts of a table to print, one for each cell."""

    header: list[str]
    rows: list[list[str]]
    remainder: list[str]  # the line that counts the rows that are not shown, if there are any


# Dataclasses need ``repr=False``, or they would define a ``__repr__`` of their own.
class TableReprMixin:
    """Mixin for dataclasses that print as a table.

    Subclasses override ``_repr_title`` and ``_repr_table``; by default the table has a row for
    each field.
    """

    __slots__ = ()

    def _repr_title(self) -> str:
        """Return the line above the table, which is also the ``repr``."""
        return type(self).__name__

    def _repr_table(self) -> TableView:
        """Return the table below the title: by default names and values of the fields."""
        rows = list(_field_items(self))
        return TableView(("", ""), rows, len(rows))

    def __repr__(self) -> str:
        """Return the title in angle brackets; without a title of its own, the fields too."""
        text = escape_controls(self._repr_title())
        if type(self)._repr_title is TableReprMixin._repr_title:
            text += ": " + ", ".join(
                f"{name} {format_cell(value)}" for name, value in _field_items(self)
            )
        return f"<{shorten(text, MAX_REPR_WIDTH)}>"

    def __str__(self) -> str:
        """Return the title, the aligned table, and the notes as lines of text."""
        view = self._repr_table()
        table = _format_table(view)
        rows = [[shorten(row[0], MAX_FIRST_COLUMN_WIDTH), *row[1:]] for row in table.rows]
        aligned = align(table.header, rows)
        if not any(table.header):
            aligned = aligned[1:]
        lines = [
            escape_controls(self._repr_title()),
            *("  ".join(cells).rstrip() for cells in aligned),
            *table.remainder,
            *map(escape_controls, view.notes),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the table as HTML, for notebooks."""
        view = self._repr_table()
        table = _format_table(view)
        lines = [f"<p>{_html_elements('b', [escape_controls(self._repr_title())])}</p>", "<table>"]
        if any(table.header):
            lines.append(f"<thead><tr>{_html_elements('th', table.header)}</tr></thead>")
        lines.append("<tbody>")
        for row in table.rows:
            cells = _html_elements("th", row[:1]) + _html_elements("td", row[1:])
            lines.append(f"<tr>{cells}</tr>")
        lines.append("</tbody></table>")
        notes = [*table.remainder, *view.notes]
        lines.extend(_html_elements("p", [escape_controls(note)]) for note in notes)
        return "\n".join(lines)


class RecordList(TableReprMixin, list[T]):
    """A list of records or mappings that prints as a table."""

    def __init__(
        self, items: Iterable[T] = (), plural_noun: str = "rows", columns: Sequence[str] = ()
    ) -> None:
        """Make a list of records; ``columns`` are those to print, by default all."""
        super().__init__(items)
        self.plural_noun = plural_noun
        self.columns = tuple(columns)

    def _repr_title(self) -> str:
        """Return the number of records with the noun for them, such as "3 rows"."""
        return f"{len(self):,} {self.plural_noun}"

    def _repr_table(self) -> TableView:
        """Return a table with a row for each record and the columns ``self.columns``.

        If these are empty, the columns are all fields or keys of the first record.
        """
        columns = self.columns or (tuple(_as_mapping(self[0])) if self else ())
        rows = ([row[column] for column in columns] for row in map(_as_mapping, self))
        return TableView(columns, rows, len(self))


def _html_elements(tag: str, texts: Iterable[str]) -> str:
    """Return HTML with an element ``tag`` for each text, joined; the texts are escaped."""
    return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)


def _field_items(record: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each field of a dataclass."""
    return ((field.name, getattr(record, field.name)) for field in fields(record))


def _as_mapping(record: Any) -> Mapping[str, Any]:
    """Return the fields of a dataclass as a dict; a mapping is returned unchanged."""
    if isinstance(record, Mapping):
        return record
    return dict(_field_items(record))


def _format_table(view: TableView) -> _FormattedTable:
    """Return the texts of the header and of the first `MAX_ROWS_SHOWN` rows of a table."""
    header = [escape_controls(str(name)) for name in view.column_names]
    rows = [[format_cell(value) for value in row] for row in islice(view.rows, MAX_ROWS_SHOWN)]
    n_hidden = view.n_rows - len(rows)
    remainder = [f"... {n_hidden:,} more"] if n_hidden > 0 else []
    return _FormattedTable(header, rows, remainder)


def format_cell(value: Any) -> str:
    """Return a value as text for a cell of a table.

    None and NaN become a dash, booleans "yes" or "no". Of lists and mappings the first
    `MAX_ITEMS_SHOWN` items or keys are shown, of arrays with several dimensions the shape.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if 0 < abs(value) < 1e-4:
            return f"{value:.1e}"
        return format_significant(value)
    if isinstance(value, np.ndarray) and value.ndim > 1:
        return " x ".join(map(str, value.shape)) + " values"
    if isinstance(value, TableReprMixin):
        return repr(value)
    if isinstance(value, Mapping):
        value = list(value)
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes):
        text = ", ".join(format_cell(item) for item in value[:MAX_ITEMS_SHOWN])
        if len(value) > MAX_ITEMS_SHOWN:
            return f"{text}, ... ({len(value):,})"
        return text
    return escape_controls(str(value))
