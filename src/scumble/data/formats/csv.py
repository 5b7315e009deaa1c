"""The CSV format: a 0/1 column for each label, or one column of label lists."""

import re
import warnings
from itertools import chain
from typing import Literal

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ReadError, ScumbleWarning
from scumble._core.files import InputFile, OutputFile
from scumble._core.parameters import check_choice
from scumble.data.dataset import MultilabelDataset
from scumble.data.feature import ColumnSelection
from scumble.data.formats.base import DATASET_PARTS, Format, LabelChoice
from scumble.data.formats.delimited import cells as text_cells
from scumble.data.formats.delimited.layout import CsvOptions, find_layout, parse_cell_number
from scumble.data.formats.delimited.values import (
    BinaryLabelColumns,
    FeatureColumns,
    LabelListColumn,
)
from scumble.data.formats.kernels.numbers import NO_NUMBER
from scumble.data.infer.feature_kinds import (
    MIN_VALUES_TO_INFER,
    are_row_numbers,
    infer_feature_kinds,
)

#: How `write_csv` writes labels: a 0/1 column each, or one column of label lists.
_LAYOUTS = ("columns", "lists")
#: A header name that marks label columns, as `write_csv` writes it.
_LABEL_MARK = re.compile(rb'(?:^|[,;\t|])"?(?:label:|labels:)')


def sniff(source: InputFile, head: bytes) -> float:
    """Return how likely a file is CSV, from 0 to 1; ``head`` are its first bytes."""
    has_csv_suffix = source.suffix in FORMAT.suffixes
    head = text_cells.head_as_utf8(head)
    if b"@relation" in head.lower() or (b"\0" in head and not has_csv_suffix):
        return 0.0
    n_columns = text_cells.sniff_delimiter(source, head).n_columns
    if n_columns and _LABEL_MARK.search(head):
        return 0.95
    if has_csv_suffix:
        return 0.5 if n_columns else 0.2
    return 0.3 if n_columns > 1 else 0.0


def read_csv(
    source: InputFile,
    *,
    labels: LabelChoice = None,
    label_column: str | int | None = None,
    label_separator: str | None = None,
    weight_column: str | int | None = None,
    ignore: ColumnSelection = None,
    text: ColumnSelection = None,
    category: ColumnSelection = None,
    keep: ColumnSelection | Literal[True] = None,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> MultilabelDataset:
    r"""Read comma-separated values.

    Parameters
    ----------
    source : InputFile
        The file.
    labels : sequence, int, str or Path, optional
        Columns that are labels, see `scumble.read`.
    label_column : str or int, optional
        The column that holds all labels of a row.
    label_separator : str, optional
        The text between the labels of ``label_column``, if its cells are texts and not lists.
    weight_column : str or int, optional
        A column with the weights of the instances.
    ignore : str, int or a sequence of them, optional
        Columns to leave out, by name or number.
    text : str, int or a sequence of them, optional
        Columns of free text, which a classifier gets as one number per word.
    category : str, int or a sequence of them, optional
        Columns whose values are categories, although they look like numbers, dates or identifiers.
    keep : str, int, a sequence of them, or True, optional
        Columns that are read as they are, without inference; True stands for all columns.
    delimiter : str, optional
        The character between values; by default comma, semicolon, tab or bar, found from the file.
    header : bool, optional
        Whether the first row holds names; by default found from the file, see Notes.
    decimal : str, optional
        The decimal mark, ``"."`` or ``","``; by default found from the file, see Notes.
    encoding : str, optional
        Encoding of the text, such as ``"cp1252"``; by default UTF-8, or UTF-16 with a byte order
        mark.

    Returns
    -------
    MultilabelDataset
        The data.

    Notes
    -----
    *Labels.* By default, labels are the columns whose names begin with ``label:``, as `write_csv`
    names them, or the only column in which every value is in brackets. Labels from lists are sorted
    by name, or by number if all are whole numbers.

    *Missing values* are empty cells, ``NA`` and ``?``; in text columns only if unquoted, so that
    ``""`` is an empty text. A label cannot be missing; an empty label list has no labels.

    *The first row* is a header if a name in it begins with ``label:``, if an option names a column,
    or if it has no brackets where all other rows have them. Otherwise it is a header if it holds no
    number, no missing value other than empty cells, and neither true nor false.

    Without a header, features are named by their column number in the file (``x0`` is the first
    column), whichever columns are labels or left out: a model finds its columns in other files by
    number.

    *Row numbers.* The first column is left out if it has no name or is called id, index, row or
    Unnamed: 0, and holds whole numbers that increase from 0 or 1 to less than twice the number of
    rows. At least two rows are needed.

    *Identifier columns*, dates and long texts are inferred from the values, see
    `scumble.data.infer.feature_kinds`. Nothing is inferred for files that `write_csv` wrote, nor
    for columns in ``keep`` (True for all columns).

    *The decimal mark* is a comma if the delimiter is another character, some numbers have a comma
    and none has a point; ``decimal=","`` or ``"."`` sets it.

    *The encoding* is UTF-8, or UTF-16 if the file begins with a byte order mark, as Excel writes
    it. Other encodings have to be named.

    Blanks around unquoted values are ignored.

    Examples
    --------
    >>> import pathlib, tempfile, scumble
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "films.csv"
    >>> _ = path.write_text('minutes,tags\n150,"[\'war\', \'love\']"\n90,[]\n')
    >>> films = scumble.read(path)
    >>> films.labels, films.X.tolist()
    (('love', 'war'), [[150.0], [90.0]])
    >>> _ = path.write_text("minutes;war;love\n150;1;1\n90;0;0\n")
    >>> scumble.read(path, labels=-2).labels
    ('war', 'love')
    """
    options = CsvOptions(
        labels=labels,
        label_column=label_column,
        label_separator=label_separator,
        weight_column=weight_column,
        ignore=ignore,
        text=text,
        category=category,
        keep=keep,
        delimiter=delimiter,
        header=header,
        decimal=decimal,
        encoding=encoding,
    )
    return _read_table(source, options)


def _read_table(source: InputFile, options: CsvOptions) -> MultilabelDataset:
    """Return the data set in a file.

    The file is read a second time if a column of numbers turns out to hold text in a later block.
    """
    table = _Table(source, options, text_columns=set())
    features = table.features
    if features.late_text_columns:
        positions = features.late_text_columns | features.texts.keys()
        text_columns = {int(features.columns[position]) for position in positions}
        table = _Table(source, options, text_columns=text_columns)
    return table.make_dataset()


class _Table:
    """The content of a file, which the constructor reads.

    ``text_columns`` are the numbers of columns that hold text even where cells look like numbers.
    Other columns hold text if the first block of the file says so.
    """

    def __init__(self, source: InputFile, options: CsvOptions, text_columns: set[int]) -> None:
        """Read all rows of the file; raise ReadError for one that is wrong."""
        self.source = source
        blocks = text_cells.text_blocks(source, options.encoding)
        first_block = next(blocks, b"")
        delimiter = options.delimiter
        if not delimiter:
            sample = first_block[: text_cells.DELIMITER_SAMPLE_BYTES]
            delimiter = text_cells.sniff_delimiter(source, sample).delimiter
        blocks_of_cells = text_cells.iter_cells(source, chain([first_block], blocks), delimiter)
        first_cells = next(blocks_of_cells, None)
        if first_cells is None:
            raise source.error("the file is empty. Expected a table.")
        self.decimal = options.decimal or text_cells.sniff_decimal(
            first_cells, delimiter, options.label_column
        )
        self.layout = layout = find_layout(source, first_cells, options, self.decimal)
        if layout.names is not None:
            first_cells = first_cells[1:]
        text_columns = text_columns | layout.text_columns | layout.category_columns
        weight_columns = [] if layout.weight_column is None else [layout.weight_column]
        self.features = FeatureColumns(layout.feature_columns, text_columns, self.decimal)
        self.weights = FeatureColumns(weight_columns, set(), self.decimal)
        self.labels: BinaryLabelColumns | LabelListColumn
        if layout.label_list_column is None:
            self.labels = BinaryLabelColumns(
                layout.label_columns, layout.label_names, input_name=source.display_name
            )
        else:
            self.labels = LabelListColumn(
                layout.label_list_column, options.label_separator, input_name=source.display_name
            )
        for cells in chain([first_cells], blocks_of_cells):
            self._add(cells)

    def _add(self, cells: text_cells.Cells) -> None:
        """Add the rows of one block to features, labels and weights; check the weights."""
        if not len(cells):
            return
        self.features.add(cells)
        self.labels.add(cells)
        if self.layout.weight_column is not None:
            weights = self.weights.add(cells).ravel()
            is_invalid = np.isnan(weights) | (weights < 0) | np.isinf(weights)
            if not self.weights.is_numeric[0] or is_invalid.any():
                raise self._weight_error(cells, self.layout.weight_column)

    def _weight_error(self, cells: text_cells.Cells, column: int) -> ReadError:
        """Return the error for the first cell of the weight column that is not a number >= 0."""
        for row in range(len(cells)):
            text = cells.cell(row, column)
            status, weight = parse_cell_number(text, self.decimal)
            if status == NO_NUMBER or not 0 <= weight < np.inf:
                break
        message = f"the weight is {text!r}. Expected a number >= 0."
        return cells.error(message, row, column)

    def make_dataset(self) -> MultilabelDataset:
        """Return the data set of the columns that were read; infer the kinds of its features."""
        layout = self.layout
        X, categories = self.features.matrix()
        positions = [
            position for position in range(X.shape[1]) if not self._is_left_out(position, X)
        ]
        if len(positions) < X.shape[1]:
            X = X[:, positions]
        names = [layout.feature_name(column) for column in layout.feature_columns]
        features = [
            self.features.make_feature(position, names[position], categories)
            for position in positions
        ]
        text_names = {layout.feature_name(column) for column in layout.text_columns}
        as_is_names = {layout.feature_name(column) for column in layout.as_is_columns}
        column_numbers: dict[str, int] = {}
        if layout.names is None:
            column_numbers = dict(zip(names, layout.feature_columns, strict=True))
        X, inferred_features = infer_feature_kinds(
            X,
            features,
            text_names=text_names,
            as_is_names=as_is_names,
            input_name=self.source.display_name,
            column_numbers=column_numbers,
        )
        Y, labels = self.labels.matrix()
        weights = None
        if layout.weight_column is not None:
            weights = self.weights.matrix()[0].ravel()
        data = MultilabelDataset(
            X,
            Y,
            features=inferred_features,
            labels=labels,
            name=self.source.stem,
            weights=weights,
            label_parents=layout.label_parents,
        )
        return data.mark_read_from_lists(layout.label_list_column is not None)

    def _is_left_out(self, position: int, X: Array) -> bool:
        """Return whether a column of X holds row numbers, or has neither a name nor values.

        ``position`` is the column's number in X, which has all columns of
        ``layout.feature_columns``.
        """
        column = self.layout.feature_columns[position]
        is_numeric = self.features.is_numeric[position]
        is_empty = is_numeric and not self.features.has_values[position]
        if column in self.layout.unnamed_columns and is_empty:
            return True
        if column != 0 or not self.layout.may_have_row_numbers:
            return False
        if not (is_numeric and self.features.is_integer[position]):
            return False
        name = "" if self.layout.names is None else self.layout.names[0].lower()
        if name in ("id", "index", "row") and len(X) >= MIN_VALUES_TO_INFER:
            return False  # `infer_feature_kinds` leaves out identifier columns, with a warning
        return are_row_numbers(X[:, position])


# Writing ------------------------------------------------------------------------------------------


def write_csv(
    dataset: MultilabelDataset,
    target: OutputFile,
    *,
    layout: Literal["columns", "lists"] = "columns",
    delimiter: str | None = None,
) -> None:
    """Write comma-separated values, with a header that marks the labels.

    Notes
    -----
    Nominal features are written as text, dates as milliseconds since 1970 (UTC). With
    ``layout="lists"`` the labels of a row are one list; the default delimiter is a tab for
    ``.tsv`` and a comma otherwise.
    """
    from scumble.data.formats.arrow_texts import table_header, table_rows

    check_choice(layout, _LAYOUTS, name="layout", caller="write_csv")
    if delimiter is None:
        delimiter = "\t" if target.suffix == ".tsv" else ","
    check_choice(delimiter, tuple(",;\t|"), name="delimiter", caller="write_csv")
    as_lists = layout == "lists" or dataset.n_labels == 0
    if as_lists:
        _warn_about_unseen_labels(dataset, target)
    try:
        with target.open() as stream:
            stream.write(table_header(dataset, delimiter, as_lists=as_lists).encode())
            for lines in table_rows(dataset, delimiter, as_lists=as_lists):
                stream.write(lines)
    except UnicodeEncodeError as error:
        raise DataError(f"A name cannot be written as UTF-8: {error.object!r}.") from None


def _warn_about_unseen_labels(dataset: MultilabelDataset, target: OutputFile) -> None:
    """Warn if no row has some label, because label lists cannot store such a label."""
    counts = np.bincount(dataset.Y.indices, minlength=dataset.n_labels)
    if dataset.n_labels and counts.min() == 0:
        warnings.warn(
            f"{target.path}: label lists cannot carry: labels never seen. Use layout='columns'.",
            ScumbleWarning,
            stacklevel=4,
        )


FORMAT = Format(
    name="csv",
    title="CSV: label columns, or one column of label lists",
    display_group="Text tables",
    suffixes=(".csv", ".tsv"),
    sniff=sniff,
    read=read_csv,
    write=write_csv,
    preserved_parts=frozenset(DATASET_PARTS)
    - {"data set name", "feature kinds", "label hierarchy", "sparse storage"},
)
