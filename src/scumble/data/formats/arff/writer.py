"""Writes files of the ARFF family: declarations in Python, rows in compiled loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import IO, Any, cast

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, column_of, dense
from scumble._core.errors import DataError
from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.formats.arff.dates import date_format
from scumble.data.formats.arff.notes import format_notes
from scumble.data.formats.arff.quoting import escape, quote
from scumble.data.formats.kernels import arff_rows as k

#: About how many values are written at once.
_ROOM = 1 << 17
_MISSING = b"?"
LABEL = "{0,1}"


@dataclass(frozen=True)
class Column:
    """One attribute as it is written."""

    name: str
    declaration: str
    meant: Feature  # what a reader makes of the declaration
    # Values are codes of texts, or go through `spell`, or are plain numbers.
    texts: tuple[str, ...] | None = None
    spell: Callable[[float], str] | None = None
    explicit: bool = False  # named in every sparse row


def arff_column(feature: Feature, values: Callable[[], Array], *, sparse_rows: bool) -> Column:
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
        return Column(name, "string", meant, texts, explicit=True)
    if feature.kind == "date" and _survive(feature.date_format, values()):
        pattern = feature.date_format
        written = "date" if pattern is None else f'date "{escape(pattern)}"'
        return Column(
            name, written, Feature(name, "date", date_format=pattern), spell=_spell_date(pattern)
        )
    return number_column(feature, "numeric")


def nominal_column(feature: Feature, separator: str) -> Column:
    """Declare a feature with all its values."""
    texts = tuple(quote(text) for text in feature.categories)
    meant = Feature(feature.name, "nominal", feature.categories)
    return Column(feature.name, "{" + separator.join(texts) + "}", meant, texts)


def number_column(feature: Feature, real: str, limits: str = "") -> Column:
    """Declare a feature as whole numbers, or as ``real`` ones."""
    integer = feature.integer and feature.kind == "numeric"
    meant = Feature(feature.name, integer=integer)
    return Column(feature.name, ("integer" if integer else real) + limits, meant)


def note_features(features: Sequence[Feature], columns: Sequence[Column]) -> dict[str, Any]:
    """Note what the declarations of features do not say."""
    noted = {}
    for feature, column in zip(features, columns, strict=True):
        if feature == column.meant:
            continue
        noted[column.name] = {
            part.name: getattr(feature, part.name)
            for part in fields(Feature)
            if getattr(feature, part.name) != getattr(column.meant, part.name)
        }
    return noted


def label_columns(
    dataset: MultilabelDataset, fits: Callable[[str], bool]
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
    fits = _are_codes(values, n_categories)
    if not fits.all():
        value = values[~fits][0]
        raise DataError(
            f"The feature {feature_name!r} holds {value:g}. Expected the number of one of its "
            f"{n_categories} categories, from 0."
        )
    return values.astype(np.int64)


def _are_codes(values: Array, n_categories: Any) -> Array:
    return (values >= 0) & (values < n_categories) & (values == np.floor(values))


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


def _spell_date(pattern: str | None) -> Callable[[float], str]:
    form = date_format(pattern)
    return lambda value: quote(form.format(value))


def write_arff(
    stream: IO[bytes],
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
        arff_column(feature, partial(column_of, X, at), sparse_rows=sparse_rows)
        for at, feature in enumerate(dataset.features)
    ]
    notes = notes | common_notes(dataset, columns)
    no_rows = dataset.n_instances == 0
    notes["sparse"] = dataset.is_sparse and (no_columns or no_rows)
    notes["weights"] = [] if dataset.weights is not None and no_rows else None
    attributes = attribute_lines(columns, label_names, labels_first=labels_first)
    header = f"{format_notes(notes)}@relation {quote(relation)}\n\n{attributes}\n@data\n"
    stream.write(header.encode())
    order = {"labels_first": labels_first, "sparse_rows": sparse_rows}
    RowWriter(dataset, columns, **order, weights=dataset.weights).write(stream)


def common_notes(dataset: MultilabelDataset, columns: list[Column]) -> dict[str, Any]:
    """Note what no format of the family can say."""
    features = note_features(dataset.features, columns)
    return {"features": features, "unlabelled": dataset.n_labels == 0}


def attribute_lines(columns: list[Column], label_names: list[str], *, labels_first: bool) -> str:
    """Declare all attributes."""
    features = [f"@attribute {quote(c.name)} {c.declaration}\n" for c in columns]
    labels = [f"@attribute {quote(name)} {LABEL}\n" for name in label_names]
    return "".join([*labels, *features] if labels_first else [*features, *labels])


class RowWriter:
    """Turns ranges of rows into bytes."""

    def __init__(
        self,
        dataset: MultilabelDataset,
        columns: list[Column],
        *,
        labels_first: bool,
        sparse_rows: bool,
        weights: Array | None = None,
    ) -> None:
        self._dataset, self._columns, self._weights = dataset, columns, weights
        self._labels_first, self._sparse_rows = labels_first, sparse_rows
        self._offset = dataset.n_labels if labels_first else 0
        n_columns = dataset.n_features + dataset.n_labels
        self._first_text = np.full(n_columns, -1, np.int64)
        self._n_texts = np.zeros(n_columns, np.int64)
        self._spelled = np.zeros(n_columns, bool)
        self._declared = self._declare()
        self._explicit = [self._offset + at for at, column in enumerate(columns) if column.explicit]

    def _declare(self) -> k.Texts:
        """Put the texts of all categories behind each other; equal lists share their place."""
        starts: dict[tuple[str, ...], int] = {}
        texts: list[bytes] = []
        for at, column in enumerate(self._columns, self._offset):
            self._spelled[at] = column.spell is not None
            if column.texts is None:
                continue
            if column.texts not in starts:
                starts[column.texts] = len(texts)
                texts.extend(text.encode() for text in column.texts)
            self._first_text[at] = starts[column.texts]
            self._n_texts[at] = len(column.texts)
        return k.Texts(texts)

    def write(self, stream: IO[bytes]) -> None:
        """Write all rows, in ranges of about equally many values."""
        X, Y, n = cast(Any, self._dataset.X), self._dataset.Y, len(self._dataset)
        width = X.shape[1] + Y.shape[1]
        if self._dataset.is_sparse and self._sparse_rows and n:
            width = 1 + (X.nnz + Y.nnz) // n
        step = max(1, _ROOM // max(width, 1))
        for start in range(0, n, step):
            stream.write(self._text(slice(start, min(start + step, n))))

    def _text(self, rows: slice) -> bytes:
        """Write some rows."""
        values, columns, row_end = self._cells(rows)
        decimals = k.count_decimals(values)
        declared = self._codes(values, columns)
        prepared, texts = self._prepare(values, columns, decimals, declared)
        endings = np.full(len(row_end), -1, np.int64)
        if self._weights is not None:
            endings = np.arange(len(texts), len(texts) + len(row_end))
            spelled = map(number_text, self._weights[rows].tolist())
            texts += [f",{{{weight}}}".encode() for weight in spelled]
        return k.write_rows(
            values,
            decimals,
            columns if self._sparse_rows else None,
            (declared, prepared, endings),
            row_end,
            self._declared,
            k.Texts(texts),
        ).tobytes()

    def _cells(self, rows: slice) -> tuple[Array, Array, Array]:
        """Lay the values of some rows behind each other: values, columns, end of each row."""
        X, Y = self._dataset.X[rows], self._dataset.Y[rows]
        parts = [Y, X] if self._labels_first else [X, Y]
        if not self._sparse_rows:
            cells = np.hstack([np.asarray(dense(part), np.float64) for part in parts])
            columns = np.tile(np.arange(cells.shape[1], dtype=np.int32), len(cells))
            return cells.ravel(), columns, np.arange(1, len(cells) + 1) * cells.shape[1]
        cells = sparse.hstack([sparse.csr_array(part, dtype=np.float64) for part in parts], "csr")
        if self._explicit:
            return self._with_explicit(cells)
        return cells.data, cells.indices.astype(np.int32, copy=False), cells.indptr[1:].astype(int)

    def _with_explicit(self, cells: sparse.csr_array) -> tuple[Array, Array, Array]:
        """Add the zeros of columns that every row has to name."""
        n_rows = cells.shape[0]
        rows = np.repeat(np.arange(n_rows), np.diff(cells.indptr))
        others = ~np.isin(cells.indices, self._explicit)
        values = np.concatenate([cells.data[others], cells[:, self._explicit].toarray().ravel()])
        columns = np.concatenate([cells.indices[others], np.tile(self._explicit, n_rows)])
        rows = np.concatenate([rows[others], np.repeat(np.arange(n_rows), len(self._explicit))])
        order = np.lexsort((columns, rows))
        row_end = np.cumsum(np.bincount(rows, minlength=n_rows))
        return values[order], columns[order].astype(np.int32), row_end

    def _codes(self, values: Array, columns: Array) -> Array:
        """Find the declared texts of coded values; -1 for other values."""
        declared = self._first_text[columns]
        declared[np.isnan(values)] = -1
        coded = np.flatnonzero(declared >= 0)
        codes = values[coded]
        fits = _are_codes(codes, self._n_texts[columns[coded]])
        if not fits.all():
            column = self._columns[columns[coded[~fits][0]] - self._offset]
            check_codes(column.name, codes[~fits], len(column.texts or ()))
        declared[coded] += codes.astype(np.int64)
        return declared

    def _prepare(
        self, values: Array, columns: Array, decimals: Array, declared: Array
    ) -> tuple[Array, list[bytes]]:
        """Spell what the compiled loop cannot: missing values, dates, long numbers."""
        prepared = np.full(len(values), -1, np.int64)
        missing = np.isnan(values)
        prepared[missing] = 0
        spelled = self._spelled[columns]
        here = np.flatnonzero(~missing & (declared < 0) & ((decimals < 0) | spelled))
        prepared[here] = np.arange(1, len(here) + 1)
        cells = zip(columns[here].tolist(), values[here].tolist(), strict=True)
        return prepared, [_MISSING, *[self._spell(at, value).encode() for at, value in cells]]

    def _spell(self, column: int, value: float) -> str:
        if not self._spelled[column]:
            return number_text(value)
        spell = self._columns[column - self._offset].spell
        assert spell is not None
        return spell(value)


def number_text(value: float) -> str:
    """Write a number with as few digits as give it back."""
    text = repr(value)
    if text.endswith("inf"):
        return text.replace("inf", "Infinity")
    return text.removesuffix(".0")
