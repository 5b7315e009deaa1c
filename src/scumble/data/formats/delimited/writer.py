"""CSV as text: many rows at a time, every value quoted where it must be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, cast

import numpy as np

from scumble.data.columns import category_codes
from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.formats.arrow_texts import as_lines, join_runs, number_texts
from scumble.data.formats.delimited.cells import DELIMITERS, FEATURE, LABEL, LISTS, MARKS, WEIGHT

CELLS_PER_WRITE = 1_000_000


def quoted(text: str, delimiter: str) -> str:
    """Quote a text if it would not be read back as itself."""
    delimiters = re.escape(delimiter + DELIMITERS)  # any of them could mislead a reader
    awkward = re.search(rf'[{delimiters}"\r\n\ufeff]|^[ \t]|[ \t]$', text)
    if awkward or text in ("", "NA", "?"):
        return '"' + text.replace('"', '""') + '"'
    return text


def header(dataset: MultilabelDataset, delimiter: str, *, lists: bool) -> str:
    """Make the first line."""
    names = [
        FEATURE + name if not name or name.startswith(MARKS) else name
        for name in dataset.feature_names
    ]
    if dataset.weights is not None:
        names.append(WEIGHT)
    names += [LISTS] if lists else [LABEL + name for name in dataset.labels]
    return delimiter.join(quoted(name, delimiter) for name in names) + "\n"


def row_texts(dataset: MultilabelDataset, delimiter: str, *, lists: bool) -> Iterator[bytes]:
    """Write the rows, many at a time."""
    import pyarrow.compute as pc

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
            parts.append(number_texts(dataset.weights[rows], whole=False))
        Y = dataset.Y[rows]
        parts.append(_lists(Y, names) if lists else _flags(Y, delimiter))
        lines = pc.binary_join_element_wise(*parts, delimiter)
        yield as_lines(lines)


def _runs(
    features: tuple[Feature, ...], delimiter: str
) -> list[tuple[slice, tuple[Feature, ...], Any]]:
    """Group neighbours that are written alike, so that wide data is not written by columns."""
    import pyarrow as pa

    def key(at: int) -> tuple[bool, bool, tuple[str, ...]]:
        feature = features[at]
        return feature.holds_codes, feature.integer, feature.categories

    runs = []
    for (_, _, categories), group in groupby(range(len(features)), key):
        numbers = list(group)
        columns = slice(numbers[0], numbers[-1] + 1)
        texts = [quoted(text, delimiter) for text in categories]
        runs.append((columns, features[columns], pa.array(texts, pa.string())))
    return runs


def _run_texts(values: Any, features: Sequence[Feature], categories: Any, delimiter: str) -> Any:
    """Write the values of features that are written alike, as a text a row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if features[0].holds_codes:
        columns = [category_codes(f, values[:, at]) for at, f in enumerate(features)]
        codes = np.column_stack(columns).ravel()
        texts = categories.take(pa.array(codes, mask=codes < 0))
    else:
        texts = number_texts(np.ascontiguousarray(values).ravel(), whole=features[0].integer)
    ends = np.arange(0, len(texts) + 1, len(features))
    return join_runs(pc.fill_null(texts, ""), ends, delimiter)


def _flags(Y: Any, delimiter: str) -> Any:
    import pyarrow as pa

    texts = pa.array(["0", "1"]).take(pa.array(Y.toarray().ravel().astype(np.int8)))
    return join_runs(texts, np.arange(0, len(texts) + 1, Y.shape[1]), delimiter)


def _label_texts(labels: Sequence[str]) -> Any:
    """Write labels as JSON, for a cell in quotes."""
    import pyarrow as pa

    texts = [json.dumps(label, ensure_ascii=False).replace('"', '""') for label in labels]
    return pa.array(texts, pa.string())


def _lists(Y: Any, names: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    lists = join_runs(names.take(pa.array(Y.indices)), Y.indptr, ", ")
    return pc.binary_join_element_wise('"[', lists, ']"', "")
