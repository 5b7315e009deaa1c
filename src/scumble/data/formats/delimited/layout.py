"""The layout of a CSV file: which columns are features, labels, weights, or ignored."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scumble._core.errors import ParameterError, parameter_error
from scumble._core.files import InputFile
from scumble._core.parameters import Choice
from scumble.data.feature import ColumnSelection, first_duplicate
from scumble.data.formats.base import TableOptions
from scumble.data.formats.delimited.cells import (
    FEATURE_MARK,
    LABEL_LISTS_MARK,
    LABEL_MARK,
    SWAP_DECIMAL_MARKS,
    WEIGHT_MARK,
    Cells,
    has_label_marks,
)
from scumble.data.formats.delimited.values import preview_text_columns
from scumble.data.formats.kernels.numbers import NO_NUMBER, parse_float
from scumble.data.formats.label_choice import FileColumns, as_column_list
from scumble.data.infer.column_roles import MAX_INSPECTED_ROWS, suggest_label_options
from scumble.data.infer.feature_kinds import ROW_NUMBER_NAMES

#: The code of each opening bracket with that of its closing bracket.
_BRACKETS = {ord("["): ord("]"), ord("("): ord(")"), ord("{"): ord("}")}


@dataclass(frozen=True, kw_only=True)
class CsvOptions(TableOptions):
    """Options of the CSV reader: what the columns are, and how the file is written.

    Parameters
    ----------
    delimiter : str, optional
        The character between values; by default comma, semicolon, tab or bar, found from the file.
    header : bool, optional
        Whether the first row holds names.
    decimal : str, optional
        The decimal mark, ``"."`` or ``","``.
    encoding : str, optional
        Encoding of the text, such as ``"cp1252"``.
    """

    delimiter: str | None = None
    header: bool | None = None
    decimal: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        """Raise ParameterError for an option that is wrong, or that contradicts another one."""
        super().__post_init__()
        if self.labels is not None and self.label_column is not None:
            raise ParameterError(
                "The 'labels' and 'label_column' parameters of read_csv exclude each other. "
                "Give one of them."
            )
        Choice(None, ".", ",").check(self.decimal, name="decimal", caller="read_csv")
        if self.header not in (None, True, False):
            raise parameter_error("header", "read_csv", "be True, False or None", self.header)
        if self.delimiter is not None and not _is_valid_delimiter(self.delimiter):
            expected = "be one ASCII character other than quote, blank and newline"
            raise parameter_error("delimiter", "read_csv", expected, self.delimiter)
        separator = self.label_separator
        if separator is not None and (not isinstance(separator, str) or separator == ""):
            raise parameter_error("label_separator", "read_csv", "be a text", separator)
        if self.encoding is not None and not isinstance(self.encoding, str):
            expected = "be the name of an encoding"
            raise parameter_error("encoding", "read_csv", expected, self.encoding)
        if separator is not None and self.label_column is None:
            raise ParameterError(
                "The 'label_separator' parameter of read_csv needs 'label_column', the column it "
                "separates labels in."
            )


def _is_valid_delimiter(delimiter: Any) -> bool:
    """Return whether a value is a str of one ASCII character that can be a delimiter."""
    is_character = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()
    return is_character and delimiter not in '"\r\n '


@dataclass
class Layout:
    """What each column of a CSV file is; columns are given by their number from 0.

    Attributes
    ----------
    names : list of str or None
        Names of all columns; None without a header.
    feature_columns, label_columns : list of int
        The feature columns and the 0/1 label columns.
    label_list_column, weight_column : int or None
        The column of label lists and that of instance weights, if there are any.
    may_have_row_numbers : bool
        Whether the first column is left out if it numbers the rows.
    label_parents : tuple of int or None
        The parent of each label in a hierarchy, -1 for a label without parent; None without a
        hierarchy.
    unnamed_columns : set of int
        Columns that have no name in the header.
    text_columns, category_columns : set of int
        Columns that the options ``text`` and ``category`` name.
    as_is_columns : set of int
        Columns that are read as they are, without inference: those of the options ``keep`` and
        ``category``, and all features of a file that `write_csv` wrote.
    """

    names: list[str] | None
    feature_columns: list[int] = field(default_factory=list)
    label_columns: list[int] = field(default_factory=list)
    label_list_column: int | None = None
    weight_column: int | None = None
    may_have_row_numbers: bool = False
    label_parents: tuple[int, ...] | None = None
    unnamed_columns: set[int] = field(default_factory=set)
    text_columns: set[int] = field(default_factory=set)
    category_columns: set[int] = field(default_factory=set)
    as_is_columns: set[int] = field(default_factory=set)

    @property
    def label_names(self) -> list[str] | None:
        """Names of the 0/1 label columns; None without a header."""
        if self.names is None:
            return None
        return [self.names[column] for column in self.label_columns]

    def feature_name(self, column: int) -> str:
        """Return the name of a column; without a header it is made from the number."""
        if self.names is None:
            return default_column_name(column)
        return self.names[column]


def default_column_name(column: int) -> str:
    """Return the name of a column that has none in the file: x0, x1, ..."""
    return f"x{column}"


def find_layout(source: InputFile, first_cells: Cells, options: CsvOptions, decimal: str) -> Layout:
    """Return the layout of a file, from its first rows, the marks in its header and the options.

    ``decimal`` is the decimal mark. Raise ReadError if nothing says which columns are labels.
    """
    names = find_header(first_cells, options, decimal)
    has_label_option = options.labels is not None or options.label_column is not None
    if names is not None and not has_label_option and has_label_marks(names):
        return _layout_from_marks(source, names, options)
    column_names = names
    if column_names is None:
        column_names = [f"column {column}" for column in range(first_cells.n_columns)]
    check_unique_names(source, column_names, int(first_cells.lines[0]))
    columns = FileColumns(source, column_names)
    layout = Layout(names)
    if names is not None:
        layout.unnamed_columns = {column for column, name in enumerate(names) if not name}
        layout.names = _complete_names(names)
    if options.labels is not None:
        labels = columns.resolve_labels(options.labels)
        layout.label_columns = list(labels.columns)
        layout.label_parents = labels.parents
    elif options.label_column is not None:
        layout.label_list_column = columns.column_index(options.label_column, "label_column")
    else:
        rows = first_cells if names is None else first_cells[1:]
        layout.label_list_column = _only_list_column(source, rows, names, decimal)
    _assign_other_columns(layout, columns, options)
    return layout


def _complete_names(names: list[str]) -> list[str]:
    """Return the names in a header, with new unique ones where a name is empty."""
    complete_names: list[str] = []
    for column, name in enumerate(names):
        new_name = name or default_column_name(column)
        while not name and new_name in names:
            new_name += "_"
        complete_names.append(new_name)
    return complete_names


def _assign_other_columns(layout: Layout, columns: FileColumns, options: CsvOptions) -> None:
    """Set all fields of ``layout`` but those of labels, from the options.

    Columns that are neither labels nor weights nor ignored become features. Raise ReadError if a
    column has two of these roles.
    """
    assigned = set(layout.label_columns)
    if layout.label_list_column is not None:
        assigned.add(layout.label_list_column)
    if options.weight_column is not None:
        layout.weight_column = columns.column_index(options.weight_column, "weight_column")
        if layout.weight_column in assigned:
            raise columns.source.error(f"weight_column={options.weight_column!r} is a label.")
        assigned.add(layout.weight_column)
    ignored = set(columns.column_indices(options.ignore, "ignore"))
    if ignored & assigned:
        name = columns.names[min(ignored & assigned)]
        raise columns.source.error(
            f"ignore names the column {name!r}, which holds labels or weights. Expected another."
        )
    assigned |= ignored
    layout.feature_columns = [
        column for column in range(len(columns.names)) if column not in assigned
    ]
    # With labels=[] every column is a feature, as it is: this is how unlabelled rows are read.
    if options.keep is True or options.labels == []:
        layout.as_is_columns = set(layout.feature_columns)
    else:
        layout.as_is_columns = set(columns.column_indices(options.keep, "keep"))
    _assign_texts_and_categories(layout, columns, options)
    if 0 not in layout.as_is_columns:
        has_name = layout.names is not None and 0 not in layout.unnamed_columns
        first_name = columns.names[0].strip().lower()
        layout.may_have_row_numbers = not has_name or first_name in ROW_NUMBER_NAMES


def _assign_texts_and_categories(layout: Layout, columns: FileColumns, options: CsvOptions) -> None:
    """Set ``text_columns`` and ``category_columns`` from the options.

    Category columns are added to ``as_is_columns``.
    Raise ReadError for a column that is not a feature, or that both options name.
    """
    layout.text_columns = _select_features(layout, columns, options.text, "text")
    layout.category_columns = _select_features(layout, columns, options.category, "category")
    layout.as_is_columns |= layout.category_columns
    duplicates = sorted(layout.text_columns & layout.category_columns)
    if duplicates:
        name = columns.names[duplicates[0]]
        raise columns.source.error(
            f"text and category both name the column {name!r}. Expected one of them."
        )


def _select_features(
    layout: Layout, columns: FileColumns, selection: ColumnSelection, option: str
) -> set[int]:
    """Return the columns that ``selection``, the value of an option, selects.

    Raise ReadError if one of them is not a feature; the message calls the option ``option``.
    """
    selected = set(columns.column_indices(selection, option))
    non_features = sorted(selected - set(layout.feature_columns))
    if non_features:
        raise columns.source.error(
            f"{option} names the column {columns.names[non_features[0]]!r}, which is not a "
            "feature: it holds labels or weights, or is ignored."
        )
    return selected


def _layout_from_marks(source: InputFile, header: list[str], options: CsvOptions) -> Layout:
    """Return the layout that the marks in a header, put there by `write_csv`, describe.

    Only the options ``ignore``, ``weight_column``, ``text`` and ``category`` change it.
    """
    columns = FileColumns(source, header)
    ignored = set(columns.column_indices(options.ignore, "ignore"))
    layout = Layout([name.removeprefix(_mark_of(name)) for name in header])
    if options.weight_column is not None:
        layout.weight_column = columns.column_index(options.weight_column, "weight_column")
    for column, name in enumerate(header):
        if column in ignored or column == layout.weight_column:
            continue
        if name.startswith(LABEL_MARK):
            layout.label_columns.append(column)
        elif name == LABEL_LISTS_MARK and layout.label_list_column is None:
            layout.label_list_column = column
        elif name == WEIGHT_MARK and options.weight_column is None:
            layout.weight_column = column
        else:
            layout.feature_columns.append(column)
            layout.as_is_columns.add(column)  # the writer's columns need no inference
    if layout.label_columns and layout.label_list_column is not None:
        raise source.error(
            f"the header has columns {LABEL_MARK}... and {LABEL_LISTS_MARK} as well. Expected one "
            "kind of labels.",
            line=1,
        )
    _assign_texts_and_categories(layout, columns, options)
    for group in (layout.label_columns, layout.feature_columns):
        check_unique_names(source, [layout.feature_name(column) for column in group], 1)
    return layout


def _mark_of(name: str) -> str:
    """Return the mark ``label:`` or ``feature:`` that a name in the header begins with, or ""."""
    for mark in (LABEL_MARK, FEATURE_MARK):
        if name.startswith(mark):
            return mark
    return ""


def find_header(first_cells: Cells, options: CsvOptions, decimal: str) -> list[str] | None:
    """Return the names in the first row of a file; None if that row is not a header.

    The option ``header`` says whether it is one; None: whether it looks like one. ``decimal`` is
    the decimal mark.
    """
    names = [first_cells.cell(0, column) for column in range(first_cells.n_columns)]
    is_header = options.header
    if is_header is None:
        is_header = _looks_like_header(names, first_cells, options, decimal)
    return names if is_header else None


def _looks_like_header(
    names: list[str], first_cells: Cells, options: CsvOptions, decimal: str
) -> bool:
    """Return whether ``names``, the texts of the first row, look like names rather than values.

    The rules are in the docstring of `read_csv`, under *The first row*.
    """
    if has_label_marks(names) or _uses_column_names(options):
        return True
    list_columns = find_list_columns(first_cells[1:])
    if list_columns:
        return not any(_is_list(names[column]) for column in list_columns)
    return not any(_is_value(name, decimal) for name in names) and any(names)


def _uses_column_names(options: CsvOptions) -> bool:
    """Return whether an option names a column by its name, which requires a header."""
    labels = options.labels if isinstance(options.labels, Sequence) else ()
    columns: list[Any] = [options.label_column, options.weight_column]
    for selection in (labels, options.ignore, options.text, options.category, options.keep):
        columns += as_column_list(selection)
    return any(isinstance(column, str) for column in columns)


def parse_cell_number(text: str, decimal: str) -> tuple[int, float]:
    """Parse a cell as a number; return status and value as `parse_float` does.

    The status is NO_NUMBER if the text is not a number; ``decimal`` is the decimal mark.
    """
    data = text.strip().encode()
    return parse_float(data if decimal == "." else data.translate(SWAP_DECIMAL_MARKS))


def _is_value(text: str, decimal: str) -> bool:
    """Return whether a text is a value rather than a name.

    Values are numbers, missing values other than empty cells, true and false, and lists.
    """
    data = text.strip().encode()
    if data.lower() in (b"?", b"na", b"true", b"false") or _is_list(text):
        return True
    return parse_cell_number(text, decimal)[0] != NO_NUMBER


def _is_list(text: str) -> bool:
    """Return whether a text has brackets around it, or is ``set()``, an empty set of Python."""
    data = text.strip().encode()
    return data == b"set()" or (len(data) > 1 and _BRACKETS.get(data[0]) == data[-1])


def find_list_columns(rows: Cells) -> list[int]:
    """Return the columns that hold lists, as far as `MAX_INSPECTED_ROWS` rows say.

    In these columns at least one cell is not empty, and every such cell has brackets around it.
    """
    n_rows = min(len(rows), MAX_INSPECTED_ROWS)
    bounds = rows.bounds[: n_rows * rows.n_columns].reshape(n_rows, rows.n_columns, 2)
    starts, ends = bounds[:, :, 0], bounds[:, :, 1]
    is_empty = starts == ends
    # An empty cell may begin behind the last byte; its first and last bytes do not matter.
    first = rows.text[np.minimum(starts, len(rows.text) - 1)]
    last = rows.text[np.maximum(ends - 1, 0)]
    is_list: Any = np.zeros(is_empty.shape, bool)
    for opening, closing in _BRACKETS.items():
        is_list |= (first == opening) & (last == closing)
    # Python writes an empty set as set().
    is_list |= (first == ord("s")) & (last == ord(")")) & (ends - starts == 5)
    is_list_column = (is_list | is_empty).all(axis=0) & (~is_empty).any(axis=0)
    return [int(column) for column in np.flatnonzero(is_list_column)]


def _only_list_column(source: InputFile, rows: Cells, names: list[str] | None, decimal: str) -> int:
    """Return the number of the only column of label lists.

    If there is none, or several, raise a ReadError that suggests options for the labels.
    """
    list_columns = find_list_columns(rows)
    if len(list_columns) == 1:
        return list_columns[0]
    reason = "No column holds label lists in brackets."
    if list_columns:
        texts = [str(column) if names is None else repr(names[column]) for column in list_columns]
        reason = f"Columns {', '.join(texts[:5])} all hold lists."
    suggestion = suggest_label_options(
        preview_text_columns(rows[:MAX_INSPECTED_ROWS], names, decimal, list_columns)
    )
    raise source.error(
        f"which columns are labels? {reason}{suggestion} Say labels=[...] (names or "
        "numbers of the 0/1 columns), labels=-5 (the last five), or label_column=..., with "
        "label_separator='|' if its labels are not in brackets."
    )


def check_unique_names(source: InputFile, names: Sequence[str], line: int) -> None:
    """Raise ReadError if two columns have the same name, empty ones aside.

    ``line`` is the line number of the header.
    """
    duplicate = first_duplicate([name for name in names if name])
    if duplicate is not None:
        second = names.index(duplicate, names.index(duplicate) + 1)
        message = f"two columns are called {duplicate!r}. Rename one of them."
        raise source.error(message, line=line, column=second + 1)
