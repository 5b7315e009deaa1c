"""Writes ARFF files: declarations in Python, rows with a compiled writer.

An *attribute* is a column of the file: a feature or a label. The compiled writer formats most
numbers itself; all other values are copied from *texts* that Python prepares, each of which has a
number.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast

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
from scumble.data.formats.kernels import arff_rows as kernel

#: About how many values are written at once: a megabyte of doubles.
_VALUES_PER_WRITE = 1 << 17
#: The text of a missing value.
_MISSING = "?"
#: The type of a label's attribute.
LABEL_TYPE = "{0,1}"


def number_text(value: float) -> str:
    """Return the shortest text that reads back as the same number, "5" for 5.0."""
    text = repr(value)
    if text.endswith("inf"):
        return text.replace("inf", "Infinity")
    return text.removesuffix(".0")


@dataclass(frozen=True)
class ArffColumn:
    """How a feature is written.

    Attributes
    ----------
    name, declaration : str
        Name of the attribute, and its type as written in the file.
    declared_feature : Feature
        The feature that a reader makes of the declaration.
    texts : tuple of str
        The quoted texts of values that are codes.
    format_value : callable
        Returns the text of a value that is not a code.
    explicit : bool
        Whether sparse rows never omit the attribute, even where its value is 0.
    """

    name: str
    declaration: str
    declared_feature: Feature
    texts: tuple[str, ...] = ()
    format_value: Callable[[float], str] = number_text
    explicit: bool = False


def arff_column(
    feature: Feature, get_values: Callable[[], Array], *, sparse_rows: bool
) -> ArffColumn:
    """Return how a feature is written for WEKA.

    ``get_values`` returns the feature's column of X; it is called only for texts and dates.
    """
    name = feature.name
    if feature.kind == "nominal":
        return nominal_column(feature, ",")
    if feature.kind in ("string", "text"):
        texts = _texts_in_order_of_appearance(feature, get_values())
        if sparse_rows and "" in texts:
            # Readers give code 0 to the text that a sparse row omits, the empty one.
            texts = ("", *(text for text in texts if text))
        return ArffColumn(
            name=name,
            declaration="string",
            declared_feature=Feature(name, "string", texts),
            texts=tuple(quote(text) for text in feature.categories),
            explicit=True,
        )
    if feature.kind == "date" and _can_restore(feature.date_format, get_values()):
        pattern = feature.date_format
        formatter = date_format(feature.date_format)
        return ArffColumn(
            name=name,
            declaration="date" if pattern is None else f'date "{escape(pattern)}"',
            declared_feature=Feature(name, "date", date_format=pattern),
            format_value=lambda value: quote(formatter.format(value)),
        )
    return numeric_column(feature, "numeric")


def nominal_column(feature: Feature, separator: str) -> ArffColumn:
    """Return how a nominal feature is written; its declaration lists all values in braces.

    ``separator`` stands between the values.
    """
    texts = tuple(quote(text) for text in feature.categories)
    return ArffColumn(
        name=feature.name,
        declaration="{" + separator.join(texts) + "}",
        declared_feature=Feature(feature.name, "nominal", feature.categories),
        texts=texts,
    )


def numeric_column(feature: Feature, real_type: str, value_range: str = "") -> ArffColumn:
    """Return how a numeric feature, or a date as milliseconds since 1970, is written.

    Its type is "integer" for a numeric feature with ``integer`` set, else ``real_type``.
    ``value_range`` is text appended to the type, such as " [0, 5]" in KEEL files; it is empty for
    WEKA.
    """
    integer = feature.integer and feature.kind == "numeric"
    number_type = "integer" if integer else real_type
    return ArffColumn(
        name=feature.name,
        declaration=number_type + value_range,
        declared_feature=Feature(feature.name, integer=integer),
    )


def label_column_names(
    dataset: MultilabelDataset, is_allowed: Callable[[str], bool] = lambda name: True
) -> tuple[list[str], dict[str, str]]:
    """Return names for the label columns, and the original names of those that are renamed.

    A label is renamed if a feature has its name or the name is not allowed.
    """
    features = set(dataset.feature_names)
    used = features | set(dataset.labels)
    names: list[str] = []
    original_names: dict[str, str] = {}
    for label, name in enumerate(dataset.labels):
        column = name
        while column in features or not is_allowed(column) or (column != name and column in used):
            column = f"label-{label}" if column == name else column + "-"
        if column != name:
            original_names[column] = name
        used.add(column)
        names.append(column)
    return names, original_names


def check_codes(feature_name: str, values: Array, n_categories: int) -> Array:
    """Return values as int64 codes; raise DataError if one is not in 0 ... ``n_categories - 1``."""
    is_code = are_codes(values, n_categories)
    if not is_code.all():
        value = values[~is_code][0]
        raise DataError(
            f"The feature {feature_name!r} holds {value:g}. Expected the number of one of its "
            f"{n_categories} categories, from 0."
        )
    return values.astype(np.int64)


def _texts_in_order_of_appearance(feature: Feature, values: Array) -> tuple[str, ...]:
    """Return the categories of a feature that occur in its values, in the order of the rows."""
    present = values[~np.isnan(values)]
    codes = check_codes(feature.name, present, len(feature.categories))
    _, first_rows = np.unique(codes, return_index=True)
    return tuple(feature.categories[codes[row]] for row in np.sort(first_rows))


def _can_restore(pattern: str | None, values: Array) -> bool:
    """Return whether dates, written in the pattern, read back as exactly the same values.

    ``values`` are milliseconds since 1970; None is the default pattern.
    """
    times = np.unique(values[~np.isnan(values)]).tolist()
    try:
        formatter = date_format(pattern)
        return all(formatter.parse(formatter.format(time)) == time for time in times)
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
    """Write a data set as an ARFF file that WEKA can read.

    Parameters
    ----------
    target : OutputFile
        The file.
    dataset : MultilabelDataset
        The data set.
    relation : str
        The name of the relation.
    label_names : list of str
        Names of the label columns, see `label_column_names`.
    labels_first : bool
        Whether labels come before features.
    notes : dict
        Notes to which this function adds those that it needs itself.
    """
    no_columns = not (dataset.features or label_names)
    sparse_rows = dataset.is_sparse or no_columns
    X = sparse.csc_array(dataset.X) if dataset.is_sparse else dataset.X
    columns = [
        arff_column(feature, partial(get_column, X, index), sparse_rows=sparse_rows)
        for index, feature in enumerate(dataset.features)
    ]
    writer = ArffWriter(
        dataset,
        columns,
        label_names,
        sparse_rows=sparse_rows,
        labels_first=labels_first,
        weights=dataset.weights,
    )
    notes = notes | writer.notes()
    no_rows = dataset.n_instances == 0
    notes["sparse"] = dataset.is_sparse and (no_columns or no_rows)
    notes["weights"] = [] if dataset.weights is not None and no_rows else None
    attributes = writer.attribute_lines()
    header = f"{format_notes(notes)}@relation {quote(relation)}\n\n{attributes}\n@data\n"
    writer.write(target, header)


class ConcatenatedTexts:
    """A list of texts as UTF-8, one after the other: text i is ``blob[offsets[i]:offsets[i + 1]]``.

    The compiled writer reads them in this form.
    """

    def __init__(self, texts: list[str]) -> None:
        """Store the texts."""
        self.blob = bytearray()
        self.offsets = array("q", [0])
        self.extend(texts)

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.offsets) - 1

    def extend(self, texts: list[str]) -> None:
        """Append texts in place, without a copy of those that are there: they may be many."""
        encoded = [text.encode() for text in texts]
        ends = len(self.blob) + np.cumsum([*map(len, encoded)], dtype=np.int64)
        self.offsets.frombytes(ends.tobytes())
        self.blob += b"".join(encoded)

    def truncate(self, n_texts: int) -> None:
        """Remove, in place, all texts but the first ``n_texts``."""
        del self.offsets[n_texts + 1 :], self.blob[self.offsets[n_texts] :]


@dataclass
class ArffWriter:
    """Writes the declarations and the rows of a data set.

    Parameters
    ----------
    dataset : MultilabelDataset
        The data set.
    columns : list of ArffColumn
        How its features are written.
    label_names : list of str
        Names of the label columns.
    sparse_rows : bool
        Whether rows are written in the sparse form, ``{0 1.5, 3 red}``.
    labels_first : bool
        Whether labels come before features.
    weights : array, optional
        Weights of the rows, which are written at their end, in braces.
    """

    dataset: MultilabelDataset
    columns: list[ArffColumn]
    label_names: list[str]
    sparse_rows: bool
    labels_first: bool = False
    weights: Array | None = None

    def __post_init__(self) -> None:
        """Collect the texts of all categories, and which columns have which of them."""
        # For each column of the file: the number of the text of its first category (-1 if it has
        # no categories), how many it has, and whether Python formats its values.
        n_columns = self.dataset.n_features + self.dataset.n_labels
        self._first_text = np.full(n_columns, -1, np.int64)
        self._n_texts = np.zeros(n_columns, np.int64)
        self._is_formatted = np.zeros(n_columns, bool)
        # The number, in the file, of the column of the first feature.
        self._first_feature = self.dataset.n_labels if self.labels_first else 0
        self._texts = self._collect_texts()
        self._explicit_columns = [
            index
            for index, column in enumerate(self.columns, self._first_feature)
            if column.explicit
        ]

    def _collect_texts(self) -> ConcatenatedTexts:
        """Return the text of missing values, number 0, and those of all categories.

        Features with equal lists of categories share their texts. Also set, for each column, the
        number of its first text, how many it has, and whether Python formats its values.
        """
        first_text_of: dict[tuple[str, ...], int] = {}
        texts = [_MISSING]
        for index, column in enumerate(self.columns, self._first_feature):
            self._is_formatted[index] = column.format_value is not number_text
            if not column.declared_feature.holds_codes:
                continue
            if column.texts not in first_text_of:
                first_text_of[column.texts] = len(texts)
                texts.extend(column.texts)
            self._first_text[index] = first_text_of[column.texts]
            self._n_texts[index] = len(column.texts)
        return ConcatenatedTexts(texts)

    def notes(self) -> dict[str, Any]:
        """Return notes, for `format_notes`, on what the declarations of features cannot express.

        ``features`` holds, by column name, the fields of a feature that its declaration gives
        wrongly; ``unlabelled`` is true without labels.
        """
        features = {
            column.name: differing_fields(feature, column.declared_feature)
            for feature, column in zip(self.dataset.features, self.columns, strict=True)
            if feature != column.declared_feature
        }
        return {"features": features, "unlabelled": self.dataset.n_labels == 0}

    def attribute_lines(self) -> str:
        """Return the declarations of all attributes, a line each."""
        features = [
            f"@attribute {quote(column.name)} {column.declaration}\n" for column in self.columns
        ]
        labels = [f"@attribute {quote(name)} {LABEL_TYPE}\n" for name in self.label_names]
        lines = labels + features if self.labels_first else features + labels
        return "".join(lines)

    def write(self, target: OutputFile, header: str) -> None:
        """Write the header and all rows, about equally many values at a time."""
        X = cast(Any, self.dataset.X)
        Y = self.dataset.Y
        n_rows = len(self.dataset)
        width = X.shape[1] + Y.shape[1]
        if self.dataset.is_sparse and self.sparse_rows and n_rows:
            width = 1 + (X.nnz + Y.nnz) // n_rows
        step = max(1, _VALUES_PER_WRITE // max(width, 1))
        with target.open() as stream:
            stream.write(header.encode())
            for start in range(0, n_rows, step):
                stream.write(self._format_rows(slice(start, min(start + step, n_rows))))

    def _format_rows(self, rows: slice) -> bytes:
        """Return the lines of a slice of rows."""
        X, Y = self.dataset.X[rows], self.dataset.Y[rows]
        matrices = [Y, X] if self.labels_first else [X, Y]
        cells = self._sparse_cells(matrices) if self.sparse_rows else _dense_cells(matrices)
        decimals = kernel.count_decimals(cells.values)
        text_numbers, new_texts = self._text_numbers(cells, decimals)
        n_rows = len(cells.row_end)
        endings = np.full(n_rows, -1, np.int64)
        if self.weights is not None:
            endings = len(self._texts) + len(new_texts) + np.arange(n_rows)
            weights = self.weights[rows].tolist()
            new_texts += [f",{{{number_text(weight)}}}" for weight in weights]
        n_declared = len(self._texts)
        self._texts.extend(new_texts)
        content: bytes = kernel.write_rows(
            values=cells.values,
            decimals=decimals,
            columns=cells.columns if self.sparse_rows else None,
            text_numbers=text_numbers,
            row_end=cells.row_end,
            endings=endings,
            texts=self._texts,
        ).tobytes()
        self._texts.truncate(n_declared)
        return content

    def _sparse_cells(self, matrices: list[Any]) -> _Cells:
        """Return the cells that are written in sparse rows of matrices, from left to right.

        These are the cells that are not zero, and all cells of explicit columns.
        """
        cells = sparse.hstack(
            [sparse.csr_array(matrix, dtype=np.float64) for matrix in matrices], "csr"
        )
        if not self._explicit_columns:
            columns = cells.indices.astype(np.int32, copy=False)
            return _Cells(cells.data, columns, cells.indptr[1:].astype(int))
        n_rows = cells.shape[0]
        n_explicit = len(self._explicit_columns)
        rows = np.repeat(np.arange(n_rows), np.diff(cells.indptr))
        is_implicit = ~np.isin(cells.indices, self._explicit_columns)
        explicit_values = cells[:, self._explicit_columns].toarray().ravel()
        explicit_columns = np.tile(self._explicit_columns, n_rows)
        explicit_rows = np.repeat(np.arange(n_rows), n_explicit)
        values = np.concatenate([cells.data[is_implicit], explicit_values])
        columns = np.concatenate([cells.indices[is_implicit], explicit_columns])
        rows = np.concatenate([rows[is_implicit], explicit_rows])
        order = np.lexsort((columns, rows))
        row_end = np.cumsum(np.bincount(rows, minlength=n_rows))
        return _Cells(values[order], columns[order].astype(np.int32), row_end)

    def _text_numbers(self, cells: _Cells, decimals: Array) -> tuple[Array, list[str]]:
        """Return the number of the text of each value, and a list of new texts.

        The number is -1 for values that the compiled writer formats, with ``decimals``. Values with
        a text are missing values, codes of categories, dates and long numbers. The texts of dates
        and long numbers are new and get the numbers after those of ``self._texts``. Raise DataError
        for a value that is not a code of a category.
        """
        values, columns = cells.values, cells.columns
        is_missing = np.isnan(values)
        text_numbers = self._first_text[columns]
        code_indices = np.flatnonzero((text_numbers >= 0) & ~is_missing)
        codes = values[code_indices]
        is_code = are_codes(codes, self._n_texts[columns[code_indices]])
        if not is_code.all():
            column = self.columns[columns[code_indices[~is_code][0]] - self._first_feature]
            check_codes(column.name, codes[~is_code], len(column.texts))
        text_numbers[code_indices] += codes.astype(np.int64)
        text_numbers[is_missing] = 0
        needs_text = (decimals < 0) | self._is_formatted[columns]
        new_text_indices = np.flatnonzero((text_numbers < 0) & needs_text)
        text_numbers[new_text_indices] = len(self._texts) + np.arange(len(new_text_indices))
        features = (columns[new_text_indices] - self._first_feature).tolist()
        new_texts = [
            self.columns[feature].format_value(value)
            for feature, value in zip(features, values[new_text_indices].tolist(), strict=True)
        ]
        return text_numbers, new_texts


class _Cells(NamedTuple):
    """The values of rows that are written, one row after the other."""

    values: Array
    columns: Array  # number of each value's column in the file, int32
    row_end: Array  # index after the last value of each row


def _dense_cells(matrices: list[Any]) -> _Cells:
    """Return all cells of the rows of matrices, from left to right."""
    cells = np.hstack([np.asarray(to_dense(matrix), np.float64) for matrix in matrices])
    columns = np.tile(np.arange(cells.shape[1], dtype=np.int32), len(cells))
    return _Cells(cells.ravel(), columns, np.arange(1, len(cells) + 1) * cells.shape[1])
