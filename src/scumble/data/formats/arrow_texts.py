"""Formats rows as text, many at once, with Arrow. Imported when a file is written."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parallel import row_blocks
from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.feature import are_integers, category_codes
from scumble.data.formats.delimited.cells import (
    DELIMITERS,
    FEATURE_MARK,
    HEADER_MARKS,
    LABEL_LISTS_MARK,
    LABEL_MARK,
    WEIGHT_MARK,
)

#: Cells of a table that are formatted at once: some ten megabytes of text.
CELLS_PER_WRITE = 1_000_000
#: Stored values of sparse rows that are formatted at once.
VALUES_PER_WRITE = 500_000


def number_texts(values: Array, *, as_integers: bool) -> pa.Array:
    """Return the shortest text that reads back as each number; null for missing values."""
    is_missing = np.isnan(values)
    if as_integers and are_integers(values[~is_missing]):
        with np.errstate(invalid="ignore"):
            return pa.array(values.astype(np.int64), mask=is_missing).cast(pa.string())
    texts = pa.array(values, mask=is_missing).cast(pa.string())
    lacks_point = pc.match_substring_regex(texts, r"^-?\d+$")
    return pc.if_else(lacks_point, pc.binary_join_element_wise(texts, ".0", ""), texts)


def join_slices(texts: pa.Array, offsets: Array, separator: str) -> pa.Array:
    """Return one text for each slice of texts between two offsets, joined by a separator."""
    starts = pa.array((offsets - offsets[0]).astype(np.int32))
    return pc.binary_join(pa.ListArray.from_arrays(starts, texts), separator)


def as_lines(texts: pa.Array) -> bytes:
    """Return the bytes of texts, one per line."""
    lines = join_slices(texts, np.array([0, len(texts)]), "\n")
    content: bytes = lines[0].as_buffer().to_pybytes() + b"\n"
    return content


def _quoted(text: str, delimiter: str) -> str:
    """Return a text, quoted if a reader could change or split it."""
    delimiters = re.escape(delimiter + DELIMITERS)  # a reader may take any of them for its own
    special = re.search(rf'[{delimiters}"\r\n\ufeff]|^[ \t]|[ \t]$', text)
    if special or text in ("", "NA", "?"):
        return '"' + text.replace('"', '""') + '"'
    return text


def table_header(dataset: MultilabelDataset, delimiter: str, *, as_lists: bool) -> str:
    """Return the first line of a table."""
    names = [
        FEATURE_MARK + name if not name or name.startswith(HEADER_MARKS) else name
        for name in dataset.feature_names
    ]
    if dataset.weights is not None:
        names.append(WEIGHT_MARK)
    names += [LABEL_LISTS_MARK] if as_lists else [LABEL_MARK + name for name in dataset.labels]
    return delimiter.join(_quoted(name, delimiter) for name in names) + "\n"


def table_rows(dataset: MultilabelDataset, delimiter: str, *, as_lists: bool) -> Iterator[bytes]:
    """Yield the rows of a table, many at a time."""
    width = dataset.n_features + (1 if as_lists else dataset.n_labels) + 1
    step = max(1, CELLS_PER_WRITE // width)
    groups = _group_features(dataset.features, delimiter)
    names = _label_texts(dataset.labels) if as_lists else None
    for start in range(0, dataset.n_instances, step):
        rows = slice(start, start + step)
        X = cast(Any, dataset.X)[rows]
        X = X.toarray() if dataset.is_sparse else X
        parts = [_group_texts(group, X, delimiter) for group in groups]
        if dataset.weights is not None:
            parts.append(number_texts(dataset.weights[rows], as_integers=False))
        Y = dataset.Y[rows]
        parts.append(_label_lists(Y, names) if as_lists else _label_flags(Y, delimiter))
        lines = pc.binary_join_element_wise(*parts, delimiter)
        yield as_lines(lines)


class _FeatureGroup(NamedTuple):
    """Consecutive features that are written in the same way."""

    columns: slice
    features: tuple[Feature, ...]
    categories: Any  # the quoted categories, as an Arrow array


def _group_features(features: tuple[Feature, ...], delimiter: str) -> list[_FeatureGroup]:
    """Group consecutive features that are written in the same way.

    A group is formatted at once, so that wide data is not formatted column by column.
    """

    def key(index: int) -> tuple[bool, bool, tuple[str, ...]]:
        feature = features[index]
        return feature.holds_codes, feature.integer, feature.categories

    groups = []
    for (_, _, categories), indices in groupby(range(len(features)), key):
        numbers = list(indices)
        columns = slice(numbers[0], numbers[-1] + 1)
        texts = [_quoted(text, delimiter) for text in categories]
        groups.append(_FeatureGroup(columns, features[columns], pa.array(texts, pa.string())))
    return groups


def _group_texts(group: _FeatureGroup, X: Any, delimiter: str) -> Any:
    """Return the text of each row for a group of features."""
    values = X[:, group.columns]
    features = group.features
    if features[0].holds_codes:
        columns = [
            category_codes(feature, values[:, index]) for index, feature in enumerate(features)
        ]
        codes = np.column_stack(columns).ravel()
        texts = group.categories.take(pa.array(codes, mask=codes < 0))
    else:
        texts = number_texts(np.ascontiguousarray(values).ravel(), as_integers=features[0].integer)
    offsets = np.arange(0, len(texts) + 1, len(features))
    return join_slices(pc.fill_null(texts, ""), offsets, delimiter)


def _label_flags(Y: Any, delimiter: str) -> Any:
    """Return the text of each row for label columns of 0 and 1."""
    texts = pa.array(["0", "1"]).take(pa.array(Y.toarray().ravel().astype(np.int8)))
    return join_slices(texts, np.arange(0, len(texts) + 1, Y.shape[1]), delimiter)


def _label_texts(labels: Sequence[str]) -> Any:
    """Return labels as JSON, for a quoted cell."""
    texts = [json.dumps(label, ensure_ascii=False).replace('"', '""') for label in labels]
    return pa.array(texts, pa.string())


def _label_lists(Y: Any, names: Any) -> Any:
    """Return the label list of each row, as a quoted cell."""
    lists = join_slices(names.take(pa.array(Y.indices)), Y.indptr, ", ")
    return pc.binary_join_element_wise('"[', lists, ']"', "")


def sparse_rows(dataset: MultilabelDataset, *, base: int) -> Iterator[bytes]:
    """Yield sparse rows as lines, many at a time; ``base`` is the number of the first feature."""
    X = sparse.csr_array(dataset.X)
    Y = dataset.Y
    all_integers = all(feature.integer or feature.holds_codes for feature in dataset.features)
    for start, stop in row_blocks(X.indptr, X.nnz // VALUES_PER_WRITE + 1):
        part = slice(int(X.indptr[start]), int(X.indptr[stop]))
        indices = pa.array(X.indices[part].astype(np.int64) + base).cast(pa.string())
        values = pc.fill_null(number_texts(X.data[part], as_integers=all_integers), "nan")
        pairs = pc.binary_join_element_wise(indices, values, ":")
        features = join_slices(pairs, X.indptr[start : stop + 1], " ")
        label_part = slice(int(Y.indptr[start]), int(Y.indptr[stop]))
        labels = pa.array(Y.indices[label_part]).cast(pa.string())
        labels = join_slices(labels, Y.indptr[start : stop + 1], ",")
        lines = pc.binary_join_element_wise(labels, features, " ")
        # A row without features is its labels; one without both is a blank, as empty lines are no
        # rows.
        has_only_labels = pc.and_(pc.equal(features, ""), pc.not_equal(labels, ""))
        lines = pc.if_else(has_only_labels, labels, lines)
        yield as_lines(lines)
