"""Writes files of the ARFF family: declarations in Python, rows in compiled loops."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, are_codes, get_column, to_dense
from scumble._core.errors import DataError
from scumble._core.files import OutputFile
from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.feature import differing_fields
from scumble.data.formats.arff.dates import date_format
from scumble.data.formats.arff.notes import format_notes
from scumble.data.formats.arff.quoting import escape, quote
from scumble.data.formats.kernels import arff_rows as k

#: About how many values are written at once.
_ROOM = 1 << 17
_MISSING = "?"
LABEL = "{0,1}"


def number_text(value: float) -> str:
    """Write a number with as few digits as give it back."""
    text = repr(value)
    if text.endswith("inf"):
        return text.replace("inf", "Infinity")
    return text.removesuffix(".0")


@dataclass(frozen=True)
class ArffColumn:
    """One attribute as it is written."""

    name: str
    declaration: str
    meant: Feature  # what a reader makes of the declaration
    # Values are codes of texts, or numbers that go through `spell`.
    texts: tuple[str, ...] = ()
    spell: Callable[[float], str] = number_text
    explicit: bool = False  # named in every sparse row


def arff_column(feature: Feature, values: Callable[[], Array], *, sparse_rows: bool) -> ArffColumn:
    """Declare a feature as WEKA does."""
    name = feature.name
    if feature.kind == "nominal":
        return nominal_column(feature, ",")
    if feature.kind in ("string", "text"):
        known = _in_order_of_appearance(feature, values())
        if sparse_rows and "" in known:  # where a text may be omitted, the empty one comes first
            known = ("", *(text for text in known if text))
        meant = Feature(name, "string", known)
        texts = tuple(quote(text) for text in feature.categories)
        return ArffColumn(name, "string", meant, texts, explicit=True)
    if feature.kind == "date" and _survive(feature.date_format, values()):
        pattern, form = feature.date_format, date_format(feature.date_format)
        written = "date" if pattern is None else f'date "{escape(pattern)}"'
        meant = Feature(name, "date", date_format=pattern)
        return ArffColumn(name, written, meant, spell=lambda value: quote(form.format(value)))
    return number_column(feature, "numeric")


def nominal_column(feature: Feature, separator: str) -> ArffColumn:
    """Declare a feature with all its values."""
    texts = tuple(quote(text) for text in feature.categories)
    meant = Feature(feature.name, "nominal", feature.categories)
    return ArffColumn(feature.name, "{" + separator.join(texts) + "}", meant, texts)


def number_column(feature: Feature, real: str, limits: str = "") -> ArffColumn:
    """Declare a feature as whole numbers, or as ``real`` ones."""
    integer = feature.integer and feature.kind == "numeric"
    meant = Feature(feature.name, integer=integer)
    return ArffColumn(feature.name, ("integer" if integer else real) + limits, meant)


def label_column_names(
    dataset: MultilabelDataset, fits: Callable[[str], bool] = lambda name: True
) -> tuple[list[str], dict[str, str]]:
    """Name the columns of the labels."""
    taken = {*dataset.feature_names, *dataset.labels}
    features = set(dataset.feature_names)
    names, renamed = [], {}
    for number, name in enumerate(dataset.labels):
        column = name
        while column in features or not fits(column) or (column != name and column in taken):
            column = f"label-{number}" if column == name else column + "-"
        if column != name:
            renamed[column] = name
        taken.add(column)
        names.append(column)
    return names, renamed


def check_codes(feature_name: str, values: Array, n_categories: int) -> Array:
    """Turn values into codes, or refuse them."""
    fits = are_codes(values, n_categories)
    if not fits.all():
        value = values[~fits][0]
        raise DataError(
            f"The feature {feature_name!r} holds {value:g}. Expected the number of one of its "
            f"{n_categories} categories, from 0."
        )
    return values.astype(np.int64)


def _in_order_of_appearance(feature: Feature, values: Array) -> tuple[str, ...]:
    """List the texts as a reader will meet them."""
    present = values[~np.isnan(values)]
    codes = check_codes(feature.name, present, len(feature.categories))
    _, first = np.unique(codes, return_index=True)
    return tuple(feature.categories[codes[at]] for at in np.sort(first))


def _survive(pattern: str | None, values: Array) -> bool:
    """Tell whether a pattern gives all dates back to the last bit."""
    known = np.unique(values[~np.isnan(values)]).tolist()
    try:
        form = date_format(pattern)
        return all(form.parse(form.format(value)) == value for value in known)
    except ValueError:
        return False


def write_arff(
    target: OutputFile,
    dataset: MultilabelDataset,
    relation: str,
    label_names: list[str],
    *,
    labels_first: bool,
    notes: dict[str, Any],
) -> None:
    """Write a file as WEKA reads it."""
    no_columns = not (dataset.features or label_names)
    sparse_rows = dataset.is_sparse or no_columns
    X = sparse.csc_array(dataset.X) if dataset.is_sparse else dataset.X
    columns = [
        arff_column(feature, partial(get_column, X, at), sparse_rows=sparse_rows)
        for at, feature in enumerate(dataset.features)
    ]
    writer = ArffWriter(dataset, columns, label_names, sparse_rows, labels_first, dataset.weights)
    notes = notes | writer.notes()
    no_rows = dataset.n_instances == 0
    notes["sparse"] = dataset.is_sparse and (no_columns or no_rows)
    notes["weights"] = [] if dataset.weights is not None and no_rows else None
    attributes = writer.attribute_lines()
    header = f"{format_notes(notes)}@relation {quote(relation)}\n\n{attributes}\n@data\n"
    writer.write(target, header)


class Texts:
    """Texts behind each other in a blob: text i is ``blob[at[i]:at[i + 1]]``."""

    def __init__(self, texts: list[str]) -> None:
        self.blob, self.at = bytearray(), array("q", [0])
        self.extend(texts)

    def __len__(self) -> int:
        return len(self.at) - 1

    def extend(self, texts: list[str]) -> None:
        """Add texts; those that are there are not copied, for they may be many."""
        added = [text.encode() for text in texts]
        ends = len(self.blob) + np.cumsum([*map(len, added)], dtype=np.int64)
        self.at.frombytes(ends.tobytes())
        self.blob += b"".join(added)

    def cut(self, n: int) -> None:
        """Leave the first ``n`` texts."""
        del self.at[n + 1 :], self.blob[self.at[n] :]


@dataclass
class ArffWriter:
    """Declares the columns of a data set, and turns ranges of rows into bytes."""

    dataset: MultilabelDataset
    columns: list[ArffColumn]
    label_names: list[str]
    sparse_rows: bool
    labels_first: bool = False
    weights: Array | None = None  # that end the rows

    def __post_init__(self) -> None:
        self._offset = self.dataset.n_labels if self.labels_first else 0
        n_columns = self.dataset.n_features + self.dataset.n_labels
        self._first_text = np.full(n_columns, -1, np.int64)
        self._n_texts = np.zeros(n_columns, np.int64)
        self._spelled = np.zeros(n_columns, bool)
        self._texts = self._declare()
        self._explicit = [at for at, c in enumerate(self.columns, self._offset) if c.explicit]

    def _declare(self) -> Texts:
        """List the texts of all categories; equal lists share their place."""
        starts: dict[tuple[str, ...], int] = {}
        texts = [_MISSING]
        for at, column in enumerate(self.columns, self._offset):
            self._spelled[at] = column.spell is not number_text
            if not column.meant.holds_codes:
                continue
            if column.texts not in starts:
                starts[column.texts] = len(texts)
                texts.extend(column.texts)
            self._first_text[at] = starts[column.texts]
            self._n_texts[at] = len(column.texts)
        return Texts(texts)

    def notes(self) -> dict[str, Any]:
        """Note what no format of the family can say, or declarations of features do not."""
        features = {
            column.name: differing_fields(feature, column.meant)
            for feature, column in zip(self.dataset.features, self.columns, strict=True)
            if feature != column.meant
        }
        return {"features": features, "unlabelled": self.dataset.n_labels == 0}

    def attribute_lines(self) -> str:
        """Declare all attributes."""
        features = [f"@attribute {quote(c.name)} {c.declaration}\n" for c in self.columns]
        labels = [f"@attribute {quote(name)} {LABEL}\n" for name in self.label_names]
        return "".join([*labels, *features] if self.labels_first else [*features, *labels])

    def write(self, target: OutputFile, header: str) -> None:
        """Write the header and all rows, these in ranges of about equally many values."""
        X, Y, n = cast(Any, self.dataset.X), self.dataset.Y, len(self.dataset)
        width = X.shape[1] + Y.shape[1]
        if self.dataset.is_sparse and self.sparse_rows and n:
            width = 1 + (X.nnz + Y.nnz) // n
        step = max(1, _ROOM // max(width, 1))
        with target.open() as stream:
            stream.write(header.encode())
            for start in range(0, n, step):
                stream.write(self._text(slice(start, min(start + step, n))))

    def _text(self, rows: slice) -> bytes:
        """Write some rows."""
        X, Y = self.dataset.X[rows], self.dataset.Y[rows]
        parts = [Y, X] if self.labels_first else [X, Y]
        values, columns, row_end = self._sparse(parts) if self.sparse_rows else _dense(parts)
        decimals = k.count_decimals(values)
        names, spelled = self._name_texts(values, columns, decimals)
        endings = np.full(len(row_end), -1, np.int64)
        if self.weights is not None:
            endings = len(self._texts) + len(spelled) + np.arange(len(row_end))
            spelled += [f",{{{number_text(weight)}}}" for weight in self.weights[rows].tolist()]
        named, texts = columns if self.sparse_rows else None, self._texts
        n_declared = len(texts)
        texts.extend(spelled)
        written = k.write_rows(values, decimals, named, names, row_end, endings, texts).tobytes()
        texts.cut(n_declared)
        return written

    def _sparse(self, parts: list[Any]) -> tuple[Array, Array, Array]:
        """Lay the values of rows behind each other, without zeros, but in columns all must name."""
        cells = sparse.hstack([sparse.csr_array(part, dtype=np.float64) for part in parts], "csr")
        if not self._explicit:
            columns = cells.indices.astype(np.int32, copy=False)
            return cells.data, columns, cells.indptr[1:].astype(int)
        n_rows = cells.shape[0]
        rows = np.repeat(np.arange(n_rows), np.diff(cells.indptr))
        others = ~np.isin(cells.indices, self._explicit)
        values = np.concatenate([cells.data[others], cells[:, self._explicit].toarray().ravel()])
        columns = np.concatenate([cells.indices[others], np.tile(self._explicit, n_rows)])
        rows = np.concatenate([rows[others], np.repeat(np.arange(n_rows), len(self._explicit))])
        order = np.lexsort((columns, rows))
        row_end = np.cumsum(np.bincount(rows, minlength=n_rows))
        return values[order], columns[order].astype(np.int32), row_end

    def _name_texts(
        self, values: Array, columns: Array, decimals: Array
    ) -> tuple[Array, list[str]]:
        """Give numbers to the texts of values that the compiled loop does not spell, -1 to others.

        These are missing values, codes of categories, dates and long numbers; the texts of the
        latter two follow the declared ones.
        """
        missing, names = np.isnan(values), self._first_text[columns]
        coded = np.flatnonzero((names >= 0) & ~missing)
        codes = values[coded]
        fits = are_codes(codes, self._n_texts[columns[coded]])
        if not fits.all():
            column = self.columns[columns[coded[~fits][0]] - self._offset]
            check_codes(column.name, codes[~fits], len(column.texts))
        names[coded] += codes.astype(np.int64)
        names[missing] = 0
        here = np.flatnonzero((names < 0) & ((decimals < 0) | self._spelled[columns]))
        names[here] = len(self._texts) + np.arange(len(here))
        cells = zip((columns[here] - self._offset).tolist(), values[here].tolist(), strict=True)
        return names, [self.columns[at].spell(value) for at, value in cells]


def _dense(parts: list[Any]) -> tuple[Array, Array, Array]:
    """Lay the values of rows behind each other: values, columns, end of each row."""
    cells = np.hstack([np.asarray(to_dense(part), np.float64) for part in parts])
    columns = np.tile(np.arange(cells.shape[1], dtype=np.int32), len(cells))
    return cells.ravel(), columns, np.arange(1, len(cells) + 1) * cells.shape[1]
