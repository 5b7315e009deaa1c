"""From the labels each row names to a label matrix."""

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import LabelError, ScumbleWarning, parameter_error
from scumble._core.frames import is_string_type

#: A label matrix, and the names of its columns.
NamedLabels = tuple[sparse.csr_array, tuple[str, ...]]

_INTEGER = re.compile(r"-?\d+", re.ASCII)


def label_order(names: Sequence[str]) -> Array:
    """Find the order in which labels found in lists become columns."""
    are_numbers = all(_INTEGER.fullmatch(name) for name in names)
    keys: list[Any] = [(int(name), name) for name in names] if are_numbers else list(names)
    return np.array(sorted(range(len(names)), key=keys.__getitem__), dtype=np.int64)


def label_matrix(indptr: Array, codes: Array, names: Sequence[str], where: str) -> NamedLabels:
    """Make a label matrix with one column per name, in `label_order`."""
    order = label_order(names)
    column = np.empty(len(order), np.int64)
    column[order] = np.arange(len(order))
    Y = indicator_matrix(indptr, column[codes], len(names), where)
    return Y, tuple(names[at] for at in order)


def indptr_from_counts(counts: Array) -> Array:
    """Tell where the entries of each row begin, by their number in each."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def indicator_matrix(indptr: Array, columns: Array, n_labels: int, where: str) -> sparse.csr_array:
    """Make a label matrix from column numbers; a label named twice in a row counts once."""
    present = np.ones(len(columns), bool)
    Y = sparse.csr_array((present, columns, indptr), shape=(len(indptr) - 1, n_labels))
    Y.sum_duplicates()
    repeated = len(columns) - Y.nnz
    if repeated:
        warnings.warn(
            f"{where}: {repeated} labels repeat one that their row already has; each counts once.",
            ScumbleWarning,
            stacklevel=5,
        )
    return Y


def split_labels(cells: Any, separator: str) -> tuple[Any, Array, int]:
    """Cut an Arrow array of texts at a separator; blanks around names do not count."""
    # Returns all names, how many each cell has, and how many empty ones were left out of cells that
    # hold others.
    import pyarrow.compute as pc

    lists = pc.split_pattern(cells, separator)
    names = pc.utf8_trim_whitespace(lists.flatten())
    named = pc.not_equal(names, "")
    rows = pc.list_parent_indices(lists).filter(named).to_numpy()
    found = names.filter(named)
    n_blank = pc.sum(pc.equal(pc.utf8_trim_whitespace(cells), "")).as_py() or 0
    n_empty = 0 if separator.isspace() else len(names) - len(found) - n_blank
    return found, np.bincount(rows, minlength=len(cells)), n_empty


def warn_about_empty_names(n_empty: int, where: str) -> None:
    """Say that names were left out because there is nothing between two separators."""
    if n_empty:
        what = "an empty label name was" if n_empty == 1 else f"{n_empty} empty label names were"
        warnings.warn(
            f"{where}: {what} left out, where nothing stands between two separators or after the "
            "last.",
            ScumbleWarning,
            stacklevel=6,
        )


def labels_from_texts(column: Any, separator: str, where: str) -> NamedLabels:
    """Make a label matrix from an Arrow column of texts in which a separator parts the labels."""
    # A text that is missing has no labels: that is how pandas reads an empty cell.
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
    found, counts, n_empty = split_labels(cells, separator)
    warn_about_empty_names(n_empty, where)
    coded = found.dictionary_encode()
    indptr = indptr_from_counts(counts)
    return label_matrix(indptr, coded.indices.to_numpy(), coded.dictionary.to_pylist(), where)


def labels_from_lists(array: Any, where: str) -> NamedLabels:
    """Make a label matrix from an Arrow column of label lists."""
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
    _refuse_null(lengths, values, where)
    indptr = indptr_from_counts(lengths.to_numpy())
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    coded = values.dictionary_encode()
    names = [str(name) for name in coded.dictionary.to_pylist()]
    return label_matrix(indptr, coded.indices.to_numpy(), names, where)


def holds_label_lists(kind: Any) -> bool:
    """Tell whether an Arrow type is one of lists of text or of whole numbers."""
    import pyarrow.types as kinds

    lists = (kinds.is_list, kinds.is_large_list, kinds.is_fixed_size_list)
    views = (kinds.is_list_view, kinds.is_large_list_view)
    if not any(check(kind) for check in (*lists, *views)):
        return False
    value = kind.value_type
    value = value.value_type if kinds.is_dictionary(value) else value
    return bool(kinds.is_integer(value) or kinds.is_null(value)) or is_string_type(value)


def _refuse_null(lengths: Any, values: Any, where: str) -> None:
    if lengths.null_count:
        row = int(lengths.is_null().to_numpy(zero_copy_only=False).argmax())
        raise LabelError(
            f"{where}: the label list of row {row} is missing. Expected a list, [] for no labels."
        )
    if values.null_count:
        at = int(values.is_null().to_numpy(zero_copy_only=False).argmax())
        row = int(np.searchsorted(np.cumsum(lengths.to_numpy()), at, side="right"))
        raise LabelError(f"{where}: a label in row {row} is missing. Expected names or numbers.")
