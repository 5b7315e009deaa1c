"""Rows as text, many at once by Arrow, for the writers. Imported when something is written."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, cast

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

CELLS_PER_WRITE = 1_000_000
VALUES_PER_WRITE = 500_000


def number_texts(values: Array, *, as_integers: bool) -> pa.Array:
    """Write doubles as the shortest text that reads back the same; missing ones become null."""
    missing = np.isnan(values)
    if as_integers and are_integers(values[~missing]):
        with np.errstate(invalid="ignore"):
            return pa.array(values.astype(np.int64), mask=missing).cast(pa.string())
    texts = pa.array(values, mask=missing).cast(pa.string())
    bare = pc.match_substring_regex(texts, r"^-?\d+$")
    return pc.if_else(bare, pc.binary_join_element_wise(texts, ".0", ""), texts)


def join_runs(texts: pa.Array, ends: Array, separator: str) -> pa.Array:
    """Join texts that follow each other, each run between two of ``ends``."""
    offsets = pa.array((ends - ends[0]).astype(np.int32))
    return pc.binary_join(pa.ListArray.from_arrays(offsets, texts), separator)


def as_lines(texts: pa.Array) -> bytes:
    """Put texts below each other."""
    lines = join_runs(texts, np.array([0, len(texts)]), "\n")
    content: bytes = lines[0].as_buffer().to_pybytes() + b"\n"
    return content


def _quoted(text: str, delimiter: str) -> str:
    """Quote a text if it would not be read back as itself."""
    delimiters = re.escape(delimiter + DELIMITERS)  # any of them could mislead a reader
    awkward = re.search(rf'[{delimiters}"\r\n\ufeff]|^[ \t]|[ \t]$', text)
    if awkward or text in ("", "NA", "?"):
        return '"' + text.replace('"', '""') + '"'
    return text


def table_header(dataset: MultilabelDataset, delimiter: str, *, lists: bool) -> str:
    """Make the first line."""
    names = [
        FEATURE_MARK + name if not name or name.startswith(HEADER_MARKS) else name
        for name in dataset.feature_names
    ]
    if dataset.weights is not None:
        names.append(WEIGHT_MARK)
    names += [LABEL_LISTS_MARK] if lists else [LABEL_MARK + name for name in dataset.labels]
    return delimiter.join(_quoted(name, delimiter) for name in names) + "\n"


def table_rows(dataset: MultilabelDataset, delimiter: str, *, lists: bool) -> Iterator[bytes]:
    """Write the rows, many at a time."""
    width = dataset.n_features + (1 if lists else dataset.n_labels) + 1
    step = max(1, CELLS_PER_WRITE // width)
    runs = _runs(dataset.features, delimiter)
    names = _label_texts(dataset.labels) if lists else None
    for start in range(0, dataset.n_instances, step):
        rows = slice(start, start + step)
        X = cast(Any, dataset.X)[rows]
        X = X.toarray() if dataset.is_sparse else X
        parts = [
            _run_texts(X[:, columns], features, texts, delimiter)
            for columns, features, texts in runs
        ]
        if dataset.weights is not None:
            parts.append(number_texts(dataset.weights[rows], as_integers=False))
        Y = dataset.Y[rows]
        parts.append(_lists(Y, names) if lists else _flags(Y, delimiter))
        lines = pc.binary_join_element_wise(*parts, delimiter)
        yield as_lines(lines)


def _runs(
    features: tuple[Feature, ...], delimiter: str
) -> list[tuple[slice, tuple[Feature, ...], Any]]:
    """Group neighbours that are written alike, so that wide data is not written by columns."""

    def key(at: int) -> tuple[bool, bool, tuple[str, ...]]:
        feature = features[at]
        return feature.holds_codes, feature.integer, feature.categories

    runs = []
    for (_, _, categories), group in groupby(range(len(features)), key):
        numbers = list(group)
        columns = slice(numbers[0], numbers[-1] + 1)
        texts = [_quoted(text, delimiter) for text in categories]
        runs.append((columns, features[columns], pa.array(texts, pa.string())))
    return runs


def _run_texts(values: Any, features: Sequence[Feature], categories: Any, delimiter: str) -> Any:
    """Write the values of features that are written alike, as a text a row."""
    if features[0].holds_codes:
        columns = [category_codes(f, values[:, at]) for at, f in enumerate(features)]
        codes = np.column_stack(columns).ravel()
        texts = categories.take(pa.array(codes, mask=codes < 0))
    else:
        texts = number_texts(np.ascontiguousarray(values).ravel(), as_integers=features[0].integer)
    ends = np.arange(0, len(texts) + 1, len(features))
    return join_runs(pc.fill_null(texts, ""), ends, delimiter)


def _flags(Y: Any, delimiter: str) -> Any:
    texts = pa.array(["0", "1"]).take(pa.array(Y.toarray().ravel().astype(np.int8)))
    return join_runs(texts, np.arange(0, len(texts) + 1, Y.shape[1]), delimiter)


def _label_texts(labels: Sequence[str]) -> Any:
    """Write labels as JSON, for a cell in quotes."""
    texts = [json.dumps(label, ensure_ascii=False).replace('"', '""') for label in labels]
    return pa.array(texts, pa.string())


def _lists(Y: Any, names: Any) -> Any:
    lists = join_runs(names.take(pa.array(Y.indices)), Y.indptr, ", ")
    return pc.binary_join_element_wise('"[', lists, ']"', "")


def sparse_rows(dataset: MultilabelDataset, *, base: int) -> Iterator[bytes]:
    """Write rows as lines, many at a time."""
    X = sparse.csr_array(dataset.X)
    Y = dataset.Y
    whole = all(feature.integer or feature.holds_codes for feature in dataset.features)
    for start, stop in row_blocks(X.indptr, X.nnz // VALUES_PER_WRITE + 1):
        part = slice(int(X.indptr[start]), int(X.indptr[stop]))
        indices = pa.array(X.indices[part].astype(np.int64) + base).cast(pa.string())
        values = pc.fill_null(number_texts(X.data[part], as_integers=whole), "nan")
        pairs = pc.binary_join_element_wise(indices, values, ":")
        features = join_runs(pairs, X.indptr[start : stop + 1], " ")
        label_part = slice(int(Y.indptr[start]), int(Y.indptr[stop]))
        labels = pa.array(Y.indices[label_part]).cast(pa.string())
        labels = join_runs(labels, Y.indptr[start : stop + 1], ",")
        lines = pc.binary_join_element_wise(labels, features, " ")
        # Without features the labels end the line; without both a blank shows that it is a row.
        bare = pc.and_(pc.equal(features, ""), pc.not_equal(labels, ""))
        lines = pc.if_else(bare, labels, lines)
        yield as_lines(lines)
