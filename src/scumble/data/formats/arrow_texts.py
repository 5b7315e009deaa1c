"""Formats rows as text, many at once, with Arrow. Imported when a file is written.

A *text* is an element of an Arrow array of strings.
"""

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
    """Return an Arrow array with the shortest text that reads back as each number; NaN is null.

    Numbers have a decimal point, unless ``as_integers`` is set and all of them are whole.
    """
    is_missing = np.isnan(values)
    if as_integers and are_integers(values[~is_missing]):
        with np.errstate(invalid="ignore"):
            return pa.array(values.astype(np.int64), mask=is_missing).cast(pa.string())
    texts = pa.array(values, mask=is_missing).cast(pa.string())
    lacks_point = pc.match_substring_regex(texts, r"^-?\d+$")
    return pc.if_else(lacks_point, pc.binary_join_element_wise(texts, ".0", ""), texts)


def join_slices(texts: pa.Array, offsets: Array, separator: str) -> pa.Array:
    """Return an Arrow array of texts: item i joins consecutive items of ``texts``.

    They are ``texts[offsets[i] - offsets[0] : offsets[i + 1] - offsets[0]]``. So ``offsets`` may be
    a part of the ``indptr`` of a CSR matrix if ``texts`` has an item per entry of these rows.
    """
    starts = pa.array((offsets - offsets[0]).astype(np.int32))
    return pc.binary_join(pa.ListArray.from_arrays(starts, texts), separator)


def as_lines(texts: pa.Array) -> bytes:
    """Return the texts as UTF-8, each followed by a line end."""
    lines = join_slices(texts, np.array([0, len(texts)]), "\n")
    content: bytes = lines[0].as_buffer().to_pybytes() + b"\n"
    return content


def _quoted(text: str, delimiter: str) -> str:
    """Return a text as a CSV cell: in double quotes if a reader could change or split it."""
    delimiters = re.escape(delimiter + DELIMITERS)  # a reader may take any of them for its own
    special = re.search(rf'[{delimiters}"\r\n\ufeff]|^[ \t]|[ \t]$', text)
    if special or text in ("", "NA", "?"):
        return '"' + text.replace('"', '""') + '"'
    return text


def table_header(dataset: MultilabelDataset, delimiter: str, *, as_lists: bool) -> str:
    """Return the header of a CSV file, whose marks say which columns are labels and weights.

    With ``as_lists`` there is one column of label lists, otherwise a column per label.
    """
    names = [
        FEATURE_MARK + name if not name or name.startswith(HEADER_MARKS) else name
        for name in dataset.feature_names
    ]
    if dataset.weights is not None:
        names.append(WEIGHT_MARK)
    names += [LABEL_LISTS_MARK] if as_lists else [LABEL_MARK + name for name in dataset.labels]
    return delimiter.join(_quoted(name, delimiter) for name in names) + "\n"


def table_rows(dataset: MultilabelDataset, delimiter: str, *, as_lists: bool) -> Iterator[bytes]:
    """Yield the rows of a CSV file as bytes, many lines at a time; see `table_header`."""
    n_cells_per_row = dataset.n_features + (1 if as_lists else dataset.n_labels) + 1
    step = max(1, CELLS_PER_WRITE // n_cells_per_row)
    groups = _group_features(dataset.features, delimiter)
    label_texts = _label_texts(dataset.labels) if as_lists else None
    for start in range(0, dataset.n_instances, step):
        rows = slice(start, start + step)
        X = cast(Any, dataset.X)[rows]
        X = X.toarray() if dataset.is_sparse else X
        row_parts = [_group_texts(group, X, delimiter) for group in groups]
        if dataset.weights is not None:
            row_parts.append(number_texts(dataset.weights[rows], as_integers=False))
        Y = dataset.Y[rows]
        if as_lists:
            row_parts.append(_label_list_cells(Y, label_texts))
        else:
            row_parts.append(_label_flags(Y, delimiter))
        lines = pc.binary_join_element_wise(*row_parts, delimiter)
        yield as_lines(lines)


class _FeatureGroup(NamedTuple):
    """Consecutive features that are written in the same way."""

    columns: slice
    features: tuple[Feature, ...]
    categories: Any  # the quoted categories, as an Arrow array


def _group_features(features: tuple[Feature, ...], delimiter: str) -> list[_FeatureGroup]:
    """Divide the features into groups of consecutive ones that are written in the same way.

    A group is formatted at once, so that wide data is not formatted column by column.
    """

    def group_key(index: int) -> tuple[bool, bool, tuple[str, ...]]:
        """Return a key that is equal for features that are written in the same way."""
        feature = features[index]
        return feature.holds_codes, feature.integer, feature.categories

    groups = []
    for (_, _, categories), group in groupby(range(len(features)), group_key):
        indices = list(group)
        columns = slice(indices[0], indices[-1] + 1)
        texts = [_quoted(text, delimiter) for text in categories]
        groups.append(_FeatureGroup(columns, features[columns], pa.array(texts, pa.string())))
    return groups


def _group_texts(group: _FeatureGroup, X: Any, delimiter: str) -> Any:
    """Return an Arrow array with, for each row of X, the cells of a group of features as a text.

    The cells are joined by the delimiter; missing values are empty cells.
    """
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
    """Return an Arrow array with, for each row of Y, the cells 0 or 1 of all labels as a text."""
    texts = pa.array(["0", "1"]).take(pa.array(Y.toarray().ravel().astype(np.int8)))
    return join_slices(texts, np.arange(0, len(texts) + 1, Y.shape[1]), delimiter)


def _label_texts(labels: Sequence[str]) -> Any:
    """Return an Arrow array with each label as a JSON string, whose quotes are doubled for CSV."""
    texts = [json.dumps(label, ensure_ascii=False).replace('"', '""') for label in labels]
    return pa.array(texts, pa.string())


def _label_list_cells(Y: Any, label_texts: Any) -> Any:
    """Return an Arrow array with the label list of each row of Y, as a quoted CSV cell.

    ``label_texts`` is the result of `_label_texts`.
    """
    lists = join_slices(label_texts.take(pa.array(Y.indices)), Y.indptr, ", ")
    return pc.binary_join_element_wise('"[', lists, ']"', "")


def sparse_rows(dataset: MultilabelDataset, *, index_base: int) -> Iterator[bytes]:
    """Yield rows as lines such as ``1,3 5:0.2 7:1`` (labels, then features), many at a time.

    The first feature has the number ``index_base``, 0 or 1; the first label always 0.
    """
    X = sparse.csr_array(dataset.X)
    Y = dataset.Y
    all_integers = all(feature.integer or feature.holds_codes for feature in dataset.features)
    for start, stop in row_blocks(X.indptr, X.nnz // VALUES_PER_WRITE + 1):
        X_entries = slice(int(X.indptr[start]), int(X.indptr[stop]))
        indices = pa.array(X.indices[X_entries].astype(np.int64) + index_base).cast(pa.string())
        values = pc.fill_null(number_texts(X.data[X_entries], as_integers=all_integers), "nan")
        pairs = pc.binary_join_element_wise(indices, values, ":")
        features = join_slices(pairs, X.indptr[start : stop + 1], " ")
        Y_entries = slice(int(Y.indptr[start]), int(Y.indptr[stop]))
        labels = pa.array(Y.indices[Y_entries]).cast(pa.string())
        labels = join_slices(labels, Y.indptr[start : stop + 1], ",")
        lines = pc.binary_join_element_wise(labels, features, " ")
        # A row without features is its labels; one without both is a blank, as empty lines are no
        # rows.
        has_only_labels = pc.and_(pc.equal(features, ""), pc.not_equal(labels, ""))
        lines = pc.if_else(has_only_labels, labels, lines)
        yield as_lines(lines)
