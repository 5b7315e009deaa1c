"""Comma-separated values, with a 0/1 column for each label or one column of label lists."""

import re
import warnings
from itertools import chain
from typing import Literal

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ReadError, ScumbleWarning
from scumble._core.files import InputFile, OutputFile
from scumble._core.validation import check_choice
from scumble.data.dataset import MultilabelDataset
from scumble.data.feature_kinds import MIN_VALUES_TO_INFER, are_row_numbers, infer_feature_kinds
from scumble.data.formats.base import DATASET_PARTS, Format, options_from
from scumble.data.formats.delimited import cells as text_cells
from scumble.data.formats.delimited.layout import CsvOptions, find_layout, parse_cell_number
from scumble.data.formats.delimited.values import (
    BinaryLabelColumns,
    FeatureColumns,
    LabelListColumn,
)
from scumble.data.formats.kernels.numbers import NO_NUMBER

_LAYOUTS = ("columns", "lists")
_MARK = re.compile(rb'(?:^|[,;\t|])"?(?:label:|labels:)')


def sniff(source: InputFile, head: bytes) -> float:
    """Tell how much a file looks like CSV."""
    named = source.suffix in FORMAT.suffixes
    head = text_cells.head_as_utf8(head)
    if b"@relation" in head.lower() or (b"\0" in head and not named):
        return 0.0
    _, n_columns = text_cells.sniff_delimiter(source, head)
    if n_columns and _MARK.search(head):
        return 0.95
    if named:
        return 0.5 if n_columns else 0.2
    return 0.3 if n_columns > 1 else 0.0


@options_from(CsvOptions)
def read_csv(source: InputFile, options: CsvOptions) -> MultilabelDataset:
    r"""Read comma-separated values.

    Notes
    -----
    *Labels* are, if nothing is said: the columns whose names begin with ``label:``, as `write_csv`
    names them; or the one column in which every value stands in brackets. Labels from lists are
    put in the order of their names, or of their numbers if all are whole numbers.

    *Missing* are empty values, ``NA`` and ``?``; in columns of text only without quotes, so that
    ``""`` is an empty text. A label cannot be missing; an empty label list has no labels.

    *The first row* is a header if a name in it begins with ``label:``, if a column is chosen by
    name, if it has no brackets where all other rows have, or else if it holds no number, no
    missing value but empty ones, and neither true nor false.

    Without a header features are named by their place in the file, ``x0`` being the first column,
    whichever columns are labels or left out: a model finds its columns in other files by place.

    *The first column* is left out as a number of the rows if it has no name or is called id, index,
    row or Unnamed: 0, and holds whole numbers that increase from 0 or 1 to less than twice the
    number of rows, of which there are at least two.

    *Other columns that name rows*, dates and long texts are told from their values; the rules stand
    in `scumble.data.feature_kinds.infer_feature_kinds`. Nothing is guessed of files that `write_csv` made, nor
    of columns in ``keep``, which is True for all columns; ``text`` names columns whose words are
    learnt, ``category`` columns whose values are categories, ``ignore`` columns to leave out.

    *The decimal mark* is a comma if that is not the delimiter, some numbers have one and none has a
    point; ``decimal=","`` or ``"."`` decides.

    *The text* is UTF-8, or UTF-16 if the file begins with its mark, as those that Excel writes.
    Other encodings have to be named.

    Blanks around values without quotes do not count.

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
    reading = _Reading(source, options, set())
    if (
        late := reading.features.late_text_columns
    ):  # columns that began with numbers hold text after all
        known = late | reading.features.texts.keys()
        reading = _Reading(source, options, {int(reading.features.columns[k]) for k in known})
    return reading.dataset()


class _Reading:
    """One pass over a file, in which the columns ``texts`` are known to hold text."""

    def __init__(self, source: InputFile, options: CsvOptions, texts: set[int]) -> None:
        self.source = source
        text = text_cells.text_blocks(source, options.encoding)
        start = next(text, b"")
        delimiter = options.delimiter or text_cells.sniff_delimiter(source, start[:65536])[0]
        blocks = text_cells.iter_cells(source, chain([start], text), delimiter)
        first = next(blocks, None)
        if first is None:
            raise source.error("the file is empty. Expected a table.")
        self.decimal = options.decimal or text_cells.sniff_decimal(
            first, delimiter, options.label_column
        )
        self.layout = layout = find_layout(source, first, options, self.decimal)
        if layout.names is not None:
            first = first[1:]
        self.features = FeatureColumns(
            layout.features, texts | layout.texts | layout.category_columns, self.decimal
        )
        self.weights = FeatureColumns(
            [] if layout.weights is None else [layout.weights], set(), self.decimal
        )
        self.labels: BinaryLabelColumns | LabelListColumn = (
            BinaryLabelColumns(source.where, layout.labels, layout.label_names)
            if layout.label_list_column is None
            else LabelListColumn(source.where, layout.label_list_column, options.label_separator)
        )
        for cells in chain([first], blocks):
            self._add(cells)

    def _add(self, cells: text_cells.Cells) -> None:
        if not len(cells):
            return
        self.features.add(cells)
        self.labels.add(cells)
        if self.layout.weights is not None:
            weights = self.weights.add(cells).ravel()
            bad = np.isnan(weights) | (weights < 0) | np.isinf(weights)
            if not self.weights.column_flags[0, 0] or bad.any():
                raise self._bad_weight(cells, self.layout.weights)

    def _bad_weight(self, cells: text_cells.Cells, column: int) -> ReadError:
        for row in range(len(cells)):
            text = cells.cell(row, column)
            kind, weight = parse_cell_number(text, self.decimal)
            if kind == NO_NUMBER or not 0 <= weight < np.inf:
                break
        message = f"the weight is {text!r}. Expected a number >= 0."
        return cells.error(message, row, column)

    def dataset(self) -> MultilabelDataset:
        """Put everything together."""
        X, categories = self.features.matrix()
        keep = [k for k in range(X.shape[1]) if not self._is_no_feature(k, X)]
        X = X if len(keep) == X.shape[1] else X[:, keep]
        layout, where = self.layout, self.source.where
        names = [layout.feature_name(at) for at in layout.features]
        features = [self.features.describe(k, names[k], categories) for k in keep]
        texts, kept = (
            set(map(layout.feature_name, some)) for some in (layout.texts, layout.kept_columns)
        )
        numbers = {layout.feature_name(at): at for at in layout.features if layout.names is None}
        X, settled = infer_feature_kinds(X, features, texts, kept, where, numbers)
        Y, labels = self.labels.matrix()
        data = MultilabelDataset(
            X,
            Y,
            features=settled,
            labels=labels,
            name=self.source.stem,
            weights=None if self.layout.weights is None else self.weights.matrix()[0].ravel(),
            label_parents=self.layout.parents,
        )
        return data.mark_read_from_lists(self.layout.label_list_column is not None)

    def _is_no_feature(self, k: int, X: Array) -> bool:
        """Tell whether a column numbers the rows, or has neither name nor values."""
        column = self.layout.features[k]
        is_number, is_whole, has_values = self.features.column_flags[k]
        if column in self.layout.unnamed and is_number and not has_values:
            return True
        if column != 0 or not self.layout.may_have_row_numbers or not (is_number and is_whole):
            return False
        name = "" if self.layout.names is None else self.layout.names[0].lower()
        if name in ("id", "index", "row") and len(X) >= MIN_VALUES_TO_INFER:
            return False  # it is left out as others that name rows, with a warning
        return are_row_numbers(X[:, k])


# Writing ------------------------------------------------------------------------------------------


def write_csv(
    dataset: MultilabelDataset,
    target: OutputFile,
    *,
    layout: Literal["columns", "lists"] = "columns",
    delimiter: str | None = None,
) -> None:
    """Write comma-separated values.

    Notes
    -----
    Nominal features are written as text, dates as milliseconds since 1970 (UTC).
    """
    from scumble.data.formats.arrow_texts import table_header, table_rows

    check_choice(layout, _LAYOUTS, name="layout", caller="write_csv")
    if delimiter is None:
        delimiter = "\t" if target.suffix == ".tsv" else ","
    check_choice(delimiter, tuple(",;\t|"), name="delimiter", caller="write_csv")
    lists = layout == "lists" or dataset.n_labels == 0
    if lists:
        _warn_unseen(dataset, target)
    try:
        with target.open() as stream:
            stream.write(table_header(dataset, delimiter, lists=lists).encode())
            for lines in table_rows(dataset, delimiter, lists=lists):
                stream.write(lines)
    except UnicodeEncodeError as error:
        raise DataError(f"A name cannot be written as UTF-8: {error.object!r}.") from None


def _warn_unseen(dataset: MultilabelDataset, target: OutputFile) -> None:
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
