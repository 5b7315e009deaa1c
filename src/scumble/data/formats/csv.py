"""Comma-separated values, with a 0/1 column for each label or one column of label lists."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from scumble._core.errors import DataError, ParameterError, ScumbleWarning
from scumble._core.validation import check_choice
from scumble.data.formats.base import Format, LabelChoice, Source, Target
from scumble.data.formats.delimited.cells import sniff_delimiter

if TYPE_CHECKING:
    from scumble.data.dataset import MultilabelDataset

_LAYOUTS = ("columns", "lists")
_MARK = re.compile(rb'(?:^|[,;\t|])"?(?:label:|labels:)')


def sniff(source: Source, head: bytes) -> float:
    """Tell how much a file looks like CSV."""
    named = source.suffix in FORMAT.suffixes
    if b"@relation" in head.lower() or (b"\0" in head and not named):
        return 0.0
    _, n_columns = sniff_delimiter(source, head)
    if n_columns and _MARK.search(head):
        return 0.95
    if named:
        return 0.5 if n_columns else 0.2
    return 0.3 if n_columns > 1 else 0.0


def read_csv(
    source: Source,
    *,
    labels: LabelChoice = None,
    label_column: str | int | None = None,
    label_separator: str | None = None,
    weight_column: str | int | None = None,
    ignore: Sequence[str | int] | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str = "utf-8",
) -> MultilabelDataset:
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

    *The first column* is left out as a number of the rows if it has no name or is called id, index,
    row or Unnamed: 0, and holds whole numbers that increase from 0 or 1 to less than twice the
    number of rows, of which there are at least two.

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
    from scumble.data.formats.delimited.layout import Options
    from scumble.data.formats.delimited.table import read_table

    options = Options(labels, label_column, label_separator, weight_column, ignore, header)
    _check_delimiter(delimiter)
    return read_table(source, options, delimiter, encoding)


def write_csv(
    dataset: MultilabelDataset,
    target: Target,
    *,
    layout: Literal["columns", "lists"] = "columns",
    delimiter: str | None = None,
) -> None:
    """Write comma-separated values.

    Notes
    -----
    Nominal features are written as text, dates as milliseconds since 1970 (UTC).
    """
    from scumble.data.formats.delimited import writer

    check_choice(layout, _LAYOUTS, name="layout", caller="write_csv")
    if delimiter is None:
        delimiter = "\t" if target.suffix == ".tsv" else ","
    check_choice(delimiter, tuple(",;\t|"), name="delimiter", caller="write_csv")
    lists = layout == "lists" or dataset.n_labels == 0
    if lists:
        _warn_unseen(dataset, target)
    try:
        with target.open() as stream:
            stream.write(writer.header(dataset, delimiter, lists=lists).encode())
            for lines in writer.row_texts(dataset, delimiter, lists=lists):
                stream.write(lines)
    except UnicodeEncodeError as error:
        raise DataError(f"A name cannot be written as UTF-8: {error.object!r}.") from None


def _check_delimiter(delimiter: str | None) -> None:
    if delimiter is None:
        return
    if (
        not isinstance(delimiter, str)
        or len(delimiter) != 1
        or not delimiter.isascii()
        or delimiter in '"\r\n '
    ):
        raise ParameterError(
            "The 'delimiter' parameter of read_csv must be one ASCII character other than quote, "
            f"blank and newline. Got {delimiter!r} instead."
        )


def _warn_unseen(dataset: MultilabelDataset, target: Target) -> None:
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
    suffixes=(".csv", ".tsv"),
    sniff=sniff,
    read=read_csv,
    write=write_csv,
    carries=frozenset(
        {
            "feature names",
            "label names",
            "labels never seen",
            "instance weights",
            "missing values",
            "rows without labels",
        }
    ),
)
