"""Validation of labels: label matrices of users become one canonical sparse form.

Validated labels are a boolean `scipy.sparse.csr_array` with sorted indices, no duplicates and no
stored zeros, called the *canonical form* here. Kernels read its ``indptr`` and ``indices`` without
further checks. *Label lists* hold the labels of each row as names or numbers. In all functions,
``caller`` is the function or class that error messages name.
"""

import itertools
import numbers
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, first_true_cell, format_column_name
from scumble._core.errors import DataError, LabelError, ParameterTypeError
from scumble._core.kernels import check_rows
from scumble._core.parallel import SERIAL_BELOW, row_blocks, run_in_threads
from scumble._core.parameters import is_integer

#: Numbers in label lists must be below this. Larger ones are identifiers of something else, and a
#: matrix with as many columns would fill the memory.
MAX_LABELS = 2**31 - 1
_HINT = "Labels must be 0/1 or True/False."


def check_labels(Y: Any, *, caller: str = "scumble") -> sparse.csr_array:
    """Return labels in canonical form.

    ``Y`` is an array, sparse matrix, DataFrame, label lists or data set. Raise LabelError or
    ParameterTypeError if it is none of them, or a cell is neither 0 nor 1.
    """
    return check_named_labels(Y, caller=caller)[0]


def check_named_labels(
    Y: Any, *, caller: str = "scumble"
) -> tuple[sparse.csr_array, tuple[str, ...] | None]:
    """Return labels in canonical form like `check_labels`, and their names, None without names."""
    if is_dataset(Y):
        labels, names = check_named_labels(Y.Y, caller=caller)
        return labels, getattr(Y, "labels", names)
    if sparse.issparse(Y):
        return _from_sparse(Y, caller), None
    if isinstance(Y, list | tuple):
        return _from_lists(Y, caller)
    if hasattr(Y, "__array__") and not hasattr(Y, "columns"):
        cells = np.asarray(Y)
        if cells.ndim == 1 and cells.dtype == object and len(cells):  # a column of label lists
            return _from_lists(list(cells), caller)
        return _from_dense(cells, caller, None), None
    return _from_frame(Y, caller)


def is_dataset(data: Any) -> bool:
    """Return whether an object is a data set, with labels as ``Y``, and not labels itself."""
    return hasattr(data, "Y") and not hasattr(data, "columns")


@dataclass(frozen=True, eq=False)
class NamedLabels:
    """Canonical labels with their names, in the form of a data set that `check_labels` reads."""

    Y: sparse.csr_array
    labels: tuple[str, ...]


def label_lists(Y: Any) -> list[Any] | None:
    """Return label lists as a list of rows; None if ``Y`` is something else, or has no rows.

    Label lists are a list, a tuple, or a one-dimensional array of objects. Their rows hold names,
    are sets, or differ in length; otherwise they are the cells of a table.
    """
    if not isinstance(Y, list | tuple):
        if not hasattr(Y, "__array__") or hasattr(Y, "columns") or sparse.issparse(Y):
            return None
        Y = np.asarray(Y)
        if Y.ndim != 1 or Y.dtype != object:
            return None
    rows = list(Y)
    if not rows or any(isinstance(row, str) or not hasattr(row, "__len__") for row in rows):
        return None
    has_sets = any(isinstance(row, Set) for row in rows)
    has_different_lengths = len({len(row) for row in rows}) > 1
    if has_sets or has_different_lengths or _has_names(rows):
        return rows
    return None


def _has_names(rows: Sequence[Any]) -> bool:
    """Return whether one of the labels in label lists is a string."""
    return any(isinstance(label, str) for label in itertools.chain.from_iterable(rows))


def align_label_lists(Y: Any, predictions: Any) -> tuple[Any, Any]:
    """Return labels and predictions; convert label lists so that both have the same columns.

    Label lists become `NamedLabels`. The columns are those of ``Y``, or all names if both are label
    lists. Both arguments are returned unchanged if ``Y`` has no label names, if the
    predictions are no label lists of names, or if a predicted name is unknown to ``Y`` and cannot
    be added: ``Y`` is a matrix with fixed columns, or shares no name with the predictions.
    """
    names = get_label_names(Y)
    predicted_rows = label_lists(predictions)
    if predicted_rows is None and _is_list_of_empty_rows(predictions):
        predicted_rows = list(predictions)
    if names is None or predicted_rows is None:
        return Y, predictions
    predicted_names = set(itertools.chain.from_iterable(predicted_rows))
    if not all(isinstance(name, str) for name in predicted_names):
        return Y, predictions
    true_rows = label_lists(Y)
    if predicted_names - set(names):
        if true_rows is None or not predicted_names & set(names):
            return Y, predictions
        names = tuple(sorted(predicted_names | set(names)))
    if true_rows is not None:
        Y = NamedLabels(_matrix_of_names(true_rows, names, "labels"), names)
    return Y, NamedLabels(_matrix_of_names(predicted_rows, names, "labels"), names)


def _is_list_of_empty_rows(predictions: Any) -> bool:
    """Return whether predictions are a list of rows without any label."""
    if not isinstance(predictions, list | tuple):
        return False
    return all(hasattr(row, "__len__") and len(row) == 0 for row in predictions)


def _matrix_of_names(rows: Sequence[Any], names: Sequence[str], caller: str) -> sparse.csr_array:
    """Return the labels of lists of names in canonical form; ``names`` are the columns."""
    column_of_name = {name: column for column, name in enumerate(names)}
    return _matrix_of_lists(rows, column_of_name.__getitem__, len(names), caller)


def _matrix_of_lists(
    rows: Sequence[Any], column_of: Callable[[Any], int], n_labels: int, caller: str
) -> sparse.csr_array:
    """Return label lists in canonical form; ``column_of`` returns the column index of a label."""
    labels = itertools.chain.from_iterable(rows)
    indices = np.array([column_of(label) for label in labels], np.int32)
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    cells = (np.ones(len(indices), bool), indices, indptr)
    return _canonical(sparse.csr_array(cells, shape=(len(rows), n_labels)), caller)


def check_same_names(Y: Any, predictions: Any, *, noun: str, caller: str) -> None:
    """Raise DataError if the label names of ``predictions`` differ from those of ``Y``.

    Nothing is checked if one of them has no names. ``noun`` is the word for the
    predictions in the message, such as "scores".
    """
    # Columns of frames without a common name are compared by position, because a frame that is made
    # of an array numbers its columns. Label lists have nothing but names.
    expected_names = get_label_names(Y)
    names = get_label_names(predictions)
    if expected_names is None or names is None or expected_names == names:
        return
    has_label_lists = any(isinstance(labels, list | tuple) for labels in (Y, predictions))
    if not has_label_lists and not set(expected_names) & set(names):
        return
    difference = f"{len(names)} labels, Y has {len(expected_names)}"
    for label, (expected_name, name) in enumerate(zip(expected_names, names, strict=False)):
        if expected_name != name:
            difference = f"{name!r} as label {label}, Y has {expected_name!r}"
            break
    raise DataError(
        f"{caller}: {noun} must have the labels of Y, in the same order. Found {difference}. "
        "Reorder the columns, or give 0/1 arrays."
    )


def get_label_names(labels: Any) -> tuple[str, ...] | None:
    """Return the names of labels; None if they have none, as arrays and label numbers do."""
    if is_dataset(labels):
        return getattr(labels, "labels", None)
    if hasattr(labels, "columns"):
        return tuple(map(str, labels.columns))
    rows = label_lists(labels)
    return None if rows is None else check_named_labels(rows)[1]


def check_consistent_length(X: Any, Y: Any, *, caller: str) -> None:
    """Raise an error if ``X`` and ``Y`` have different numbers of rows."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows != Y.shape[0]:
        raise LabelError(
            f"{caller}: X and Y must have equally many rows. "
            f"Found inconsistent numbers of samples: {n_rows} in X and {Y.shape[0]} in Y."
        )


def _from_sparse(Y: Any, caller: str) -> sparse.csr_array:
    """Return a sparse matrix of 0 and 1 in canonical form; raise an error if it is invalid."""
    if len(Y.shape) != 2:
        raise _shape_error(Y.shape, caller)
    if Y.dtype.kind not in "biuf":
        raise ParameterTypeError(f"{caller}: {_HINT} Got values of type {Y.dtype} instead.")
    if Y.format != "csr":
        Y = Y.tocsr()  # COO duplicates are summed here, as everywhere in scipy
    if Y.dtype != bool:
        is_present = Y.data != 0
        is_wrong = is_present & (Y.data != 1)
        if is_wrong.any():
            row, column = first_true_cell(Y, is_wrong)
            raise _cell_error(row, column, Y.data[is_wrong.argmax()].item(), caller)
        Y = sparse.csr_array((is_present, Y.indices, Y.indptr), shape=Y.shape)
    elif not isinstance(Y, sparse.csr_array):
        Y = sparse.csr_array(Y)
    return _canonical(_with_kernel_indices(Y), caller)


def _with_kernel_indices(Y: sparse.csr_array) -> sparse.csr_array:
    """Return ``Y`` with contiguous indptr and indices of the same integer type, as kernels need."""
    # If the types differ, the few row pointers are converted to the type of the many indices.
    fits_int32 = np.can_cast(Y.indices.dtype, np.int32) and Y.nnz <= np.iinfo(np.int32).max
    index_dtype = np.int32 if fits_int32 else np.int64
    indptr = np.ascontiguousarray(Y.indptr, index_dtype)
    indices = np.ascontiguousarray(Y.indices, index_dtype)
    if indptr is Y.indptr and indices is Y.indices:
        return Y
    converted = sparse.csr_array(Y.shape, dtype=bool)  # its constructor could change the types
    converted.data = Y.data
    converted.indices = indices
    converted.indptr = indptr
    return converted


def _canonical(Y: sparse.csr_array, caller: str) -> sparse.csr_array:
    """Return ``Y`` with sorted indices, no stored zeros and no duplicates; copied if necessary."""
    if Y.data.all() and _rows_strictly_increase(Y, caller):
        return Y
    Y = Y.copy()
    # The flags that SciPy caches may be out of date.
    Y.has_canonical_format = False
    Y.has_sorted_indices = False
    Y.eliminate_zeros()
    Y.sum_duplicates()
    return Y


def _rows_strictly_increase(Y: sparse.csr_array, caller: str) -> bool:
    """Return whether the column indices of each row are sorted and unique.

    Raise LabelError if an index is out of range or the row pointers decrease.
    """
    if Y.nnz == 0:
        return True

    def check_block(block: tuple[int, int]) -> int:
        """Return 1 if the indices of the rows in a block strictly increase, 0 if not.

        It is -1 if an index is out of range or row pointers decrease. A block is its first row and
        the row after its last one.
        """
        start, stop = block
        return check_rows(Y.indptr, Y.indices, start, stop, Y.shape[1])

    n_blocks = 1 if Y.nnz < SERIAL_BELOW else 64
    results = run_in_threads(check_block, row_blocks(Y.indptr, n_blocks))
    if min(results) < 0:
        raise LabelError(
            f"{caller}: a sparse label matrix with {Y.shape[1]} columns stores a column index "
            "outside of them, or row pointers that step back. Rebuild it, or run its "
            "check_format()."
        )
    return all(result == 1 for result in results)


def _from_dense(Y: Array, caller: str, names: tuple[str, ...] | None) -> sparse.csr_array:
    """Return an array of 0 and 1 in canonical form; raise an error if it is invalid.

    ``names`` are the names of the columns for error messages; None if they have none.
    """
    if Y.ndim != 2:
        raise _shape_error(Y.shape, caller)
    if Y.dtype == object:
        Y = _objects_to_numbers(Y, caller, names)
    if Y.dtype.kind not in "biuf":
        raise ParameterTypeError(f"{caller}: {_HINT} Got values of type {Y.dtype} instead.")
    if Y.dtype == bool:
        return sparse.csr_array(Y)
    is_present = Y == 1
    is_wrong = ~(is_present | (Y == 0))
    if is_wrong.any():
        row, column = first_true_cell(Y, is_wrong)
        raise _cell_error(row, column, Y[row, column].item(), caller, names)
    return sparse.csr_array(is_present)


def _objects_to_numbers(Y: Array, caller: str, names: tuple[str, ...] | None) -> Array:
    """Return an array of Python objects as floats; raise an error if one is neither 0 nor 1."""
    for position, cell in enumerate(Y.flat):
        if not isinstance(cell, np.bool_ | numbers.Real | Decimal) or cell not in (0, 1):
            row, column = divmod(position, Y.shape[1])
            raise _cell_error(row, column, cell, caller, names)
    return Y.astype(float)


def _from_lists(Y: Sequence[Any], caller: str) -> tuple[sparse.csr_array, tuple[str, ...] | None]:
    """Return label lists, or nested lists of 0 and 1, in canonical form, and the label names.

    The names are None for nested lists and for label numbers.
    """
    if not Y:
        raise LabelError(f"{caller}: Y is an empty list, so its number of labels is unknown.")
    rows = [_check_row(row, index, caller) for index, row in enumerate(Y)]
    if label_lists(Y) is not None:
        return _from_label_lists(rows, caller)
    try:
        cells = np.array([list(row) for row in rows])
    except ValueError:  # some cell is itself a list
        raise _nested_cell_error(rows, caller) from None
    return _from_dense(cells, caller, None), None


def _check_row(row: Any, index: int, caller: str) -> Sequence[Any]:
    """Return a row of label lists as a sequence, a set in sorted order.

    Raise LabelError, with the ``index`` of the row, if it is neither a sequence nor a set.
    """
    if isinstance(row, str) or not isinstance(row, Sequence | Set | np.ndarray):
        raise LabelError(
            f"{caller}: Y must be two-dimensional; row {index} is {row!r}. "
            "Expected 2D array: give one row, or one list of labels, per instance."
        )
    if isinstance(row, Set):
        return sorted(row, key=str)
    return row  # type: ignore[return-value]  # an array serves as a sequence


def _nested_cell_error(rows: list[Sequence[Any]], caller: str) -> LabelError:
    """Return the error for the first cell of nested lists that is no scalar."""
    for row_index, row in enumerate(rows):
        for column, cell in enumerate(row):
            if not np.isscalar(cell):
                return _cell_error(row_index, column, cell, caller)
    raise AssertionError("all cells are scalars")


def _from_label_lists(
    rows: list[Sequence[Any]], caller: str
) -> tuple[sparse.csr_array, tuple[str, ...] | None]:
    """Return lists of label names or numbers in canonical form, and the sorted names.

    The names are None for numbers. Raise LabelError if a label is neither, or both occur.
    """
    has_names = _has_names(rows)
    for index, row in enumerate(rows):
        for label in row:
            is_valid = isinstance(label, str) if has_names else _is_label_number(label)
            if not is_valid:
                raise LabelError(
                    f"{caller}: row {index} of the label lists holds {label!r}. Expected label "
                    f"names (all strings) or label numbers from 0 (all integers below "
                    f"{MAX_LABELS})."
                )
    labels = set(itertools.chain.from_iterable(rows))
    if has_names:
        names = tuple(sorted(labels))
        return _matrix_of_names(rows, names, caller), names
    n_labels = max(map(int, labels), default=-1) + 1
    return _matrix_of_lists(rows, int, n_labels, caller), None


def _is_label_number(label: Any) -> bool:
    """Return whether a label is an integer from 0 to ``MAX_LABELS - 1``."""
    return is_integer(label) and 0 <= int(label) < MAX_LABELS


def _from_frame(Y: Any, caller: str) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """Return a DataFrame of 0 and 1 in canonical form, and its column names."""
    import narwhals as nw

    try:
        frame = nw.from_native(Y, eager_only=True)
    except TypeError:
        raise ParameterTypeError(
            f"{caller}: Y must be a data set, an array, a sparse matrix, a DataFrame or a list of "
            f"label lists. Got {type(Y).__name__} instead."
        ) from None
    except nw.exceptions.DuplicateError:
        raise LabelError(f"{caller}: two label columns of Y have the same name.") from None
    names = tuple(str(name) for name in frame.columns)
    columns = [_boolean_column(frame.get_column(name), str(name), caller) for name in frame.columns]
    is_present = np.column_stack(columns) if columns else np.zeros((len(frame), 0), bool)
    return sparse.csr_array(is_present), names


def _boolean_column(column: Any, name: str, caller: str) -> Array:
    """Return a column of a DataFrame as booleans; raise an error if a cell is neither 0 nor 1."""
    values = column.to_numpy()
    if values.dtype == bool:
        return values
    return _from_dense(values.reshape(-1, 1), caller, (name,)).toarray().ravel()


def _shape_error(shape: tuple[int, ...], caller: str) -> LabelError:
    """Return the error for labels of a shape that is not two-dimensional."""
    return LabelError(
        f"{caller}: Y must be two-dimensional, (n_samples, n_labels). Got shape {shape} instead. "
        "Expected 2D array: for a single label use Y.reshape(-1, 1)."
    )


def _cell_error(
    row: int, column: int, value: Any, caller: str, names: tuple[str, ...] | None = None
) -> LabelError:
    """Return the error for a cell that is neither 0 nor 1, or is missing."""
    # NaN and NaT do not equal themselves; the comparison of pandas.NA has no truth value.
    is_missing = value is None or type(value).__name__ == "NAType" or bool(np.any(value != value))
    problem = "is missing" if is_missing else f"holds {value!r}"
    hint = _HINT
    if not is_missing and names is None:
        hint += (
            " If Y is meant as label lists, give sets or label names, not lists of equal length."
        )
    column_text = format_column_name(column, names)
    return LabelError(f"{caller}: the label cell in row {row}, {column_text} {problem}. {hint}")
