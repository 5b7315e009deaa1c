"""What the columns of a CSV file are: features, labels, weights, or none of these."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scumble._core.errors import ParameterError, parameter_error
from scumble._core.files import InputFile
from scumble._core.parameters import Choice
from scumble.data.column_roles import MAX_INSPECTED_ROWS, suggest_label_options
from scumble.data.feature import first_duplicate
from scumble.data.feature_kinds import ROW_NUMBER_NAMES
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

_BRACKETS = {b"["[0]: b"]"[0], b"("[0]: b")"[0], b"{"[0]: b"}"[0]}


@dataclass(frozen=True, kw_only=True)
class CsvOptions(TableOptions):
    """What users say of a CSV file: also how it is written.

    Parameters
    ----------
    delimiter : str, optional
        What stands between values; by default found among comma, semicolon, tab and bar.
    header : bool, optional
        Whether the first row holds names.
    decimal : str, optional
        What stands before decimals, ``"."`` or ``","``.
    encoding : str, optional
        Of the text, such as ``"cp1252"``.
    """

    delimiter: str | None = None
    header: bool | None = None
    decimal: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.labels is not None and self.label_column is not None:
            raise ParameterError(
                "The 'labels' and 'label_column' parameters of read_csv exclude each other. "
                "Give one of them."
            )
        Choice(None, ".", ",").check(self.decimal, name="decimal", caller="read_csv")
        sign, separator = self.delimiter, self.label_separator
        self._require("header", "True, False or None", self.header in (None, True, False))
        words = "one ASCII character other than quote, blank and newline"
        self._require("delimiter", words, sign is None or _parts_values(sign))
        is_text = isinstance(separator, str) and separator != ""
        self._require("label_separator", "a text", separator is None or is_text)
        is_name = self.encoding is None or isinstance(self.encoding, str)
        self._require("encoding", "the name of an encoding", is_name)
        if separator is not None and self.label_column is None:
            raise ParameterError(
                "The 'label_separator' parameter of read_csv needs 'label_column', the column it "
                "separates labels in."
            )

    def _require(self, name: str, words: str, fits: bool) -> None:
        if not fits:
            raise parameter_error(name, "read_csv", f"be {words}", getattr(self, name))


def _parts_values(delimiter: Any) -> bool:
    is_sign = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()
    return is_sign and delimiter not in '"\r\n '


@dataclass
class Layout:
    """What each column is, by its number."""

    names: list[str] | None
    features: list[int] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    label_list_column: int | None = None
    weights: int | None = None
    may_have_row_numbers: bool = False
    parents: tuple[int, ...] | None = None
    unnamed: set[int] = field(default_factory=set)
    texts: set[int] = field(default_factory=set)
    category_columns: set[int] = field(default_factory=set)
    kept_columns: set[int] = field(default_factory=set)

    @property
    def label_names(self) -> list[str] | None:
        """Names of the 0/1 columns, if the file tells."""
        return None if self.names is None else [self.names[at] for at in self.labels]

    def feature_name(self, column: int) -> str:
        """Name of a feature; by its place in the file, whatever else is read, without a header."""
        return name_by_place(column) if self.names is None else self.names[column]


def name_by_place(column: int) -> str:
    """Name a column that has no name."""
    return f"x{column}"


def find_layout(source: InputFile, first: Cells, options: CsvOptions, decimal: str) -> Layout:
    """Decide what each column is."""
    names = find_header(first, options, decimal)
    free = options.labels is None and options.label_column is None
    if names is not None and free and has_label_marks(names):
        return _marked(source, names, options)
    called = names if names is not None else [f"column {at}" for at in range(first.n_columns)]
    check_unique_names(source, called, int(first.lines[0]))
    columns = FileColumns(source, called)
    layout = Layout(names)
    if names is not None:
        layout.unnamed = {at for at, name in enumerate(names) if not name}
        layout.names = _filled(names)
    if options.labels is not None:
        chosen = columns.resolve_labels(options.labels)
        layout.labels, layout.parents = list(chosen.columns), chosen.parents
    elif options.label_column is not None:
        layout.label_list_column = columns.column_index(options.label_column, "label_column")
    else:
        rows = first if names is None else first[1:]
        layout.label_list_column = _only_lists(source, rows, names, decimal)
    _take_rest(layout, columns, options)
    return layout


def _filled(names: list[str]) -> list[str]:
    """Give columns without a name one by their position."""
    filled: list[str] = []
    for at, name in enumerate(names):
        new = name or name_by_place(at)
        while not name and new in names:
            new += "_"
        filled.append(new)
    return filled


def _take_rest(layout: Layout, columns: FileColumns, options: CsvOptions) -> None:
    """Find weights and what is ignored; all others are features."""
    taken = {
        *layout.labels,
        *([] if layout.label_list_column is None else [layout.label_list_column]),
    }
    if options.weight_column is not None:
        layout.weights = columns.column_index(options.weight_column, "weight_column")
        if layout.weights in taken:
            raise columns.source.error(f"weight_column={options.weight_column!r} is a label.")
        taken.add(layout.weights)
    ignored = set(columns.numbers(options.ignore, "ignore"))
    if ignored & taken:
        wrong = columns.names[min(ignored & taken)]
        raise columns.source.error(
            f"ignore names the column {wrong!r}, which holds labels or weights. Expected another."
        )
    taken |= ignored
    layout.features = [at for at in range(len(columns.names)) if at not in taken]
    # An empty choice of labels asks for every column as it is.
    keeps_all = options.keep is True or options.labels == []
    layout.kept_columns = set(
        layout.features if keeps_all else columns.numbers(options.keep, "keep")
    )
    _take_named(layout, columns, options)
    is_named = layout.names is not None and 0 not in layout.unnamed
    if 0 not in layout.kept_columns:
        layout.may_have_row_numbers = (
            not is_named or columns.names[0].strip().lower() in ROW_NUMBER_NAMES
        )


def _take_named(layout: Layout, columns: FileColumns, options: CsvOptions) -> None:
    """Find the columns whose words are learnt, and those of categories, among the features."""

    def chosen(option: str) -> set[int]:
        found = set(columns.numbers(getattr(options, option), option))
        wrong = sorted(found - set(layout.features))
        if wrong:
            raise columns.source.error(
                f"{option} names the column {columns.names[wrong[0]]!r}, which is no feature: it "
                "holds labels or weights, or is ignored."
            )
        return found

    layout.texts, layout.category_columns = chosen("text"), chosen("category")
    layout.kept_columns |= layout.category_columns
    both = sorted(layout.texts & layout.category_columns)
    if both:
        twice = columns.names[both[0]]
        raise columns.source.error(
            f"text and category both name the column {twice!r}. Expected one of them."
        )


def _marked(source: InputFile, header: list[str], options: CsvOptions) -> Layout:
    """Read the marks that the writer put into the header."""
    columns = FileColumns(source, header)
    left_out = set(columns.numbers(options.ignore, "ignore"))
    layout = Layout([name.removeprefix(_mark(name)) for name in header])
    if options.weight_column is not None:
        layout.weights = columns.column_index(options.weight_column, "weight_column")
    for at, name in enumerate(header):
        if at in left_out or at == layout.weights:
            continue
        if name.startswith(LABEL_MARK):
            layout.labels.append(at)
        elif name == LABEL_LISTS_MARK and layout.label_list_column is None:
            layout.label_list_column = at
        elif name == WEIGHT_MARK and options.weight_column is None:
            layout.weights = at
        else:
            layout.features.append(at)
            layout.kept_columns.add(at)  # our own files say what they hold: nothing is guessed
    if layout.labels and layout.label_list_column is not None:
        raise source.error(
            f"the header has columns {LABEL_MARK}... and {LABEL_LISTS_MARK} as well. Expected one kind of labels.",
            line=1,
        )
    _take_named(layout, columns, options)
    for part in (layout.labels, layout.features):
        check_unique_names(source, [(layout.names or [])[at] for at in part], 1)
    return layout


def _mark(name: str) -> str:
    return next((mark for mark in (LABEL_MARK, FEATURE_MARK) if name.startswith(mark)), "")


def find_header(first: Cells, options: CsvOptions, decimal: str) -> list[str] | None:
    """Return the header if the first row is one."""
    names = [first.cell(0, at) for at in range(first.n_columns)]
    is_header = options.header
    if is_header is None:
        is_header = _looks_like_header(names, first, options, decimal)
    return names if is_header else None


def _looks_like_header(names: list[str], first: Cells, options: CsvOptions, decimal: str) -> bool:
    if has_label_marks(names) or _names_columns(options):
        return True
    lists = find_list_columns(first[1:])
    if lists:
        return not any(_is_list(names[at]) for at in lists)
    return not any(_is_value(name, decimal) for name in names) and any(names)


def _names_columns(options: CsvOptions) -> bool:
    """Tell whether the caller speaks of columns by name, which only a header gives."""
    labels = options.labels if isinstance(options.labels, Sequence) else ()
    several = (labels, options.ignore, options.text, options.category, options.keep)
    named: list[Any] = [column for given in several for column in as_column_list(given)]
    named += [options.label_column, options.weight_column]
    return any(isinstance(column, str) for column in named)


def parse_cell_number(text: str, decimal: str) -> tuple[int, float]:
    """Read a cell as a number; give what it is, and its value."""
    data = text.strip().encode()
    return parse_float(data if decimal == "." else data.translate(SWAP_DECIMAL_MARKS))


def _is_value(text: str, decimal: str) -> bool:
    data = text.strip().encode()
    if data.lower() in (b"?", b"na", b"true", b"false") or _is_list(text):
        return True
    return parse_cell_number(text, decimal)[0] != NO_NUMBER


def _is_list(text: str) -> bool:
    data = text.strip().encode()
    return data == b"set()" or (len(data) > 1 and _BRACKETS.get(data[0]) == data[-1])


def find_list_columns(rows: Cells) -> list[int]:
    """Find the columns in which every cell that is not empty has brackets around it."""
    n = min(len(rows), MAX_INSPECTED_ROWS)
    places = rows.bounds[: n * rows.n_columns].reshape(n, rows.n_columns, 2)
    empty = places[:, :, 0] == places[:, :, 1]
    # An empty cell may begin behind the last byte; its first and last bytes do not matter.
    first = rows.text[np.minimum(places[:, :, 0], len(rows.text) - 1)]
    last = rows.text[np.maximum(places[:, :, 1] - 1, 0)]
    paired: Any = np.zeros(empty.shape, bool)
    for left, right in _BRACKETS.items():
        paired |= (first == left) & (last == right)
    # Python writes an empty set so.
    paired |= (first == b"s"[0]) & (last == b")"[0]) & (places[:, :, 1] - places[:, :, 0] == 5)
    good = (paired | empty).all(axis=0) & (~empty).any(axis=0)
    return [int(at) for at in np.flatnonzero(good)]


def _only_lists(source: InputFile, rows: Cells, names: list[str] | None, decimal: str) -> int:
    lists = find_list_columns(rows)
    if len(lists) == 1:
        return lists[0]
    found = "No column holds label lists in brackets."
    if lists:
        shown = ", ".join(str(at) if names is None else repr(names[at]) for at in lists[:5])
        found = f"Columns {shown} all hold lists."
    likely = suggest_label_options(
        preview_text_columns(rows[:MAX_INSPECTED_ROWS], names, decimal, lists)
    )
    raise source.error(
        f"which columns are labels? {found}{likely} Say labels=[...] (names or "
        "numbers of the 0/1 columns), labels=-5 (the last five), or label_column=..., with "
        "label_separator='|' if its labels are not in brackets."
    )


def check_unique_names(source: InputFile, names: Sequence[str], line: int) -> None:
    """Refuse two columns of one name."""
    if (name := first_duplicate([name for name in names if name])) is not None:
        second = names.index(name, names.index(name) + 1)
        message = f"two columns are called {name!r}. Rename one of them."
        raise source.error(message, line=line, column=second + 1)
