"""Conversion of lists of labels to a label matrix.

In messages, ``input_name`` is the text that says where the labels come from: a file, or a column.
"""

import re
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import LabelError, ScumbleWarning, parameter_error
from scumble._validation.frames import is_string_type

#: The label matrix Y, a boolean CSR matrix, and the names of its columns.
NamedLabels = tuple[sparse.csr_array, tuple[str, ...]]

_INTEGER = re.compile(r"-?\d+", re.ASCII)


def label_order(names: Sequence[str]) -> Array:
    """Return the indices that sort label names: by number if all are whole numbers, else by name.

    Labels from lists have no declared order, so the columns of Y are sorted in this way.
    """
    are_numbers = all(_INTEGER.fullmatch(name) for name in names)
    keys: list[Any] = [(int(name), name) for name in names] if are_numbers else list(names)
    return np.array(sorted(range(len(names)), key=keys.__getitem__), dtype=np.int64)


def sorted_label_matrix(
    indptr: Array, codes: Array, names: Sequence[str], *, input_name: str
) -> NamedLabels:
    """Return the label matrix with its columns in `label_order`, and their names in that order.

    Parameters
    ----------
    indptr : array of int, shape (n_rows + 1,)
        ``codes[indptr[i]:indptr[i + 1]]`` are the labels of row i, as in a CSR matrix.
    codes : array of int
        The labels of all rows, as indices into ``names``.
    names : sequence of str
        The name for each code, in any order.
    input_name : str
        The text by which the warning of `label_indicator_matrix` calls the file or column.
    """
    order = label_order(names)
    column_of_code = np.empty(len(order), np.int64)
    column_of_code[order] = np.arange(len(order))
    Y = label_indicator_matrix(indptr, column_of_code[codes], len(names), input_name=input_name)
    return Y, tuple(names[code] for code in order)


def indptr_from_counts(counts: Array) -> Array:
    """Return the ``indptr`` of a CSR matrix from the number of entries per row, as int64."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def label_indicator_matrix(
    indptr: Array, label_indices: Array, n_labels: int, *, input_name: str
) -> sparse.csr_array:
    """Return the boolean label matrix whose columns are numbered by ``label_indices``.

    ``label_indices[indptr[i]:indptr[i + 1]]`` are the labels of row i. A label that a row repeats
    counts once, with a warning.
    """
    present = np.ones(len(label_indices), bool)
    Y = sparse.csr_array((present, label_indices, indptr), shape=(len(indptr) - 1, n_labels))
    Y.sum_duplicates()
    n_repeated = len(label_indices) - Y.nnz
    if n_repeated:
        warnings.warn(
            f"{input_name}: {n_repeated} labels repeat one that their row already has; each counts "
            "once.",
            ScumbleWarning,
            stacklevel=5,
        )
    return Y


class SplitLabels(NamedTuple):
    """Label names that were split from texts."""

    names: Any  # Arrow array of all names that are not empty, row by row
    counts: Array  # number of these names per row
    #: Number of empty names that were dropped, except those of blank texts; 0 if the separator is
    #: a blank.
    n_empty: int


def split_labels(texts: Any, separator: str) -> SplitLabels:
    """Split an Arrow array of texts at a separator, and strip blanks around the names."""
    import pyarrow.compute as pc

    lists = pc.split_pattern(texts, separator)
    names = pc.utf8_trim_whitespace(lists.flatten())
    is_named = pc.not_equal(names, "")
    row_of_name = pc.list_parent_indices(lists).filter(is_named).to_numpy()
    nonempty_names = names.filter(is_named)
    n_empty = 0
    if not separator.isspace():  # several blanks in a row are one separator
        n_blank_texts = pc.sum(pc.equal(pc.utf8_trim_whitespace(texts), "")).as_py() or 0
        n_empty = len(names) - len(nonempty_names) - n_blank_texts
    return SplitLabels(
        names=nonempty_names,
        counts=np.bincount(row_of_name, minlength=len(texts)),
        n_empty=n_empty,
    )


def warn_about_empty_names(n_empty: int, *, input_name: str) -> None:
    """Warn of ``n_empty`` dropped names, where nothing stood between separators; 0: no warning."""
    if n_empty:
        names = "an empty label name was" if n_empty == 1 else f"{n_empty} empty label names were"
        warnings.warn(
            f"{input_name}: {names} left out, where nothing stands between two separators or after "
            "the last.",
            ScumbleWarning,
            stacklevel=6,
        )


def labels_from_texts(column: Any, separator: str, *, input_name: str) -> NamedLabels:
    """Return the label matrix of an Arrow column of texts such as "sky;sea", and the label names.

    A missing text means no labels, because pandas reads an empty cell as missing. Empty names, as
    in "sky;;sea", are dropped with a warning.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(separator, str) or not separator:
        raise parameter_error("label_separator", "", "be a text", separator)
    array = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    if not (pa.types.is_null(array.type) or is_string_type(array.type)):
        raise LabelError(
            f"{input_name}: label_separator={separator!r} splits texts, but the column holds "
            f"values of type {array.type}. Leave it out for lists."
        )
    texts = pc.fill_null(array.cast(pa.large_string()), "")
    split = split_labels(texts, separator)
    warn_about_empty_names(split.n_empty, input_name=input_name)
    encoded = split.names.dictionary_encode()
    return sorted_label_matrix(
        indptr_from_counts(split.counts),
        encoded.indices.to_numpy(),
        encoded.dictionary.to_pylist(),
        input_name=input_name,
    )


def labels_from_lists(array: Any, *, input_name: str) -> NamedLabels:
    """Return the label matrix of an Arrow array of label lists, and the label names.

    Raise LabelError unless every cell is a list of texts or whole numbers without missing values.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not holds_label_lists(array.type):
        raise LabelError(
            f"{input_name}: expected lists of label names or numbers, found {array.type}. If it is "
            "one 0/1 column, give its name in a list; if it is text, say what stands between the "
            "labels: label_separator=';'."
        )
    lengths = pc.list_value_length(array)
    values = pc.list_flatten(array)
    _check_no_missing(lengths, values, input_name)
    indptr = indptr_from_counts(lengths.to_numpy())
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    encoded = values.dictionary_encode()
    names = [str(name) for name in encoded.dictionary.to_pylist()]
    return sorted_label_matrix(indptr, encoded.indices.to_numpy(), names, input_name=input_name)


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


def _check_no_missing(lengths: Any, values: Any, input_name: str) -> None:
    """Raise LabelError if a list, or a label in a list, is missing.

    ``lengths`` are the Arrow lengths of the lists, null for a missing list; ``values`` are the
    labels of all lists.
    """
    if lengths.null_count:
        row = int(lengths.is_null().to_numpy(zero_copy_only=False).argmax())
        raise LabelError(
            f"{input_name}: the label list of row {row} is missing. Expected a list, [] for no "
            "labels."
        )
    if values.null_count:
        first = int(values.is_null().to_numpy(zero_copy_only=False).argmax())
        row = int(np.searchsorted(np.cumsum(lengths.to_numpy()), first, side="right"))
        raise LabelError(
            f"{input_name}: a label in row {row} is missing. Expected names or numbers."
        )
