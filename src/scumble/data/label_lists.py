"""Conversion of lists of labels to a label matrix."""

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import LabelError, ScumbleWarning, parameter_error
from scumble._validation.frames import is_string_type

#: A label matrix and the names of its columns.
NamedLabels = tuple[sparse.csr_array, tuple[str, ...]]

_INTEGER = re.compile(r"-?\d+", re.ASCII)


def label_order(names: Sequence[str]) -> Array:
    """Return the column order of labels that were read from lists: by name, or by number."""
    are_numbers = all(_INTEGER.fullmatch(name) for name in names)
    keys: list[Any] = [(int(name), name) for name in names] if are_numbers else list(names)
    return np.array(sorted(range(len(names)), key=keys.__getitem__), dtype=np.int64)


def label_matrix(indptr: Array, codes: Array, names: Sequence[str], where: str) -> NamedLabels:
    """Return a label matrix with one column per name, in `label_order`."""
    order = label_order(names)
    column_of_code = np.empty(len(order), np.int64)
    column_of_code[order] = np.arange(len(order))
    Y = indicator_matrix(indptr, column_of_code[codes], len(names), where)
    return Y, tuple(names[code] for code in order)


def indptr_from_counts(counts: Array) -> Array:
    """Return the start of each row in a CSR matrix, from the number of entries per row."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def indicator_matrix(indptr: Array, columns: Array, n_labels: int, where: str) -> sparse.csr_array:
    """Return a label matrix from column numbers; warn of labels that a row repeats."""
    present = np.ones(len(columns), bool)
    Y = sparse.csr_array((present, columns, indptr), shape=(len(indptr) - 1, n_labels))
    Y.sum_duplicates()
    n_repeated = len(columns) - Y.nnz
    if n_repeated:
        warnings.warn(
            f"{where}: {n_repeated} labels repeat one that their row already has; each counts "
            "once.",
            ScumbleWarning,
            stacklevel=5,
        )
    return Y


def split_labels(cells: Any, separator: str) -> tuple[Any, Array, int]:
    """Split an Arrow array of texts at a separator, and strip blanks around the names.

    Returns
    -------
    names : pyarrow.Array
        All names that are not empty, row by row.
    counts : ndarray
        Number of names per cell.
    n_empty : int
        Number of empty names that were dropped, except those of blank cells.
    """
    import pyarrow.compute as pc

    lists = pc.split_pattern(cells, separator)
    names = pc.utf8_trim_whitespace(lists.flatten())
    is_named = pc.not_equal(names, "")
    rows = pc.list_parent_indices(lists).filter(is_named).to_numpy()
    nonempty_names = names.filter(is_named)
    n_empty = 0
    if not separator.isspace():  # several blanks in a row are one separator
        n_blank_cells = pc.sum(pc.equal(pc.utf8_trim_whitespace(cells), "")).as_py() or 0
        n_empty = len(names) - len(nonempty_names) - n_blank_cells
    return nonempty_names, np.bincount(rows, minlength=len(cells)), n_empty


def warn_about_empty_names(n_empty: int, where: str) -> None:
    """Warn of names that were dropped because nothing stands between two separators."""
    if n_empty:
        names = "an empty label name was" if n_empty == 1 else f"{n_empty} empty label names were"
        warnings.warn(
            f"{where}: {names} left out, where nothing stands between two separators or after the "
            "last.",
            ScumbleWarning,
            stacklevel=6,
        )


def labels_from_texts(column: Any, separator: str, where: str) -> NamedLabels:
    """Return a label matrix from an Arrow column of texts with a label separator."""
    # A missing text means no labels, because pandas reads an empty cell as missing.
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(separator, str) or not separator:
        raise parameter_error("label_separator", "", "be a text", separator)
    array = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    if not (pa.types.is_null(array.type) or is_string_type(array.type)):
        raise LabelError(
            f"{where}: label_separator={separator!r} parts texts, but the column holds values of "
            f"type {array.type}. Leave it out for lists."
        )
    cells = pc.fill_null(array.cast(pa.large_string()), "")
    names, counts, n_empty = split_labels(cells, separator)
    warn_about_empty_names(n_empty, where)
    encoded = names.dictionary_encode()
    indptr = indptr_from_counts(counts)
    return label_matrix(indptr, encoded.indices.to_numpy(), encoded.dictionary.to_pylist(), where)


def labels_from_lists(array: Any, where: str) -> NamedLabels:
    """Return a label matrix from an Arrow column of label lists."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not holds_label_lists(array.type):
        raise LabelError(
            f"{where}: expected lists of label names or numbers, found {array.type}. If it is one "
            "0/1 column, give its name in a list; if it is text, say what stands between the "
            "labels: label_separator=';'."
        )
    lengths = pc.list_value_length(array)
    values = pc.list_flatten(array)
    _refuse_missing(lengths, values, where)
    indptr = indptr_from_counts(lengths.to_numpy())
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    encoded = values.dictionary_encode()
    names = [str(name) for name in encoded.dictionary.to_pylist()]
    return label_matrix(indptr, encoded.indices.to_numpy(), names, where)


def holds_label_lists(arrow_type: Any) -> bool:
    """Return whether an Arrow type is a list of texts or of whole numbers."""
    import pyarrow.types as pat

    list_checks = (
        pat.is_list,
        pat.is_large_list,
        pat.is_fixed_size_list,
        pat.is_list_view,
        pat.is_large_list_view,
    )
    if not any(is_of_type(arrow_type) for is_of_type in list_checks):
        return False
    value_type = arrow_type.value_type
    if pat.is_dictionary(value_type):
        value_type = value_type.value_type
    return bool(pat.is_integer(value_type) or pat.is_null(value_type)) or is_string_type(value_type)


def _refuse_missing(lengths: Any, values: Any, where: str) -> None:
    """Raise LabelError if a list, or a label in a list, is missing."""
    if lengths.null_count:
        row = int(lengths.is_null().to_numpy(zero_copy_only=False).argmax())
        raise LabelError(
            f"{where}: the label list of row {row} is missing. Expected a list, [] for no labels."
        )
    if values.null_count:
        first = int(values.is_null().to_numpy(zero_copy_only=False).argmax())
        row = int(np.searchsorted(np.cumsum(lengths.to_numpy()), first, side="right"))
        raise LabelError(f"{where}: a label in row {row} is missing. Expected names or numbers.")
