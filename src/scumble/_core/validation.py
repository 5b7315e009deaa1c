"""The door: every label matrix becomes one canonical sparse form here, once.

Inside, ``Y`` is always a boolean `scipy.sparse.csr_array` with sorted indices, no duplicates and
no stored zeros. Kernels read its ``indptr`` and ``indices`` and never ask again.
"""

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
from scumble._core.parameters import Choice, Int, is_integer

#: Numbers in label lists beyond this are no labels but identifiers: columns would fill the memory.
MOST_LABELS = 2**31 - 1
_HINT = "Labels must be 0/1 or True/False."


def check_labels(Y: Any, *, caller: str = "scumble") -> sparse.csr_array:
    """Bring labels into canonical form, or refuse them with the first offending cell."""
    return check_named_labels(Y, caller=caller)[0]


def check_named_labels(
    Y: Any, *, caller: str = "scumble"
) -> tuple[sparse.csr_array, tuple[str, ...] | None]:
    """Do what `check_labels` does and also return the labels' names where ``Y`` has any."""
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
    """Tell whether something holds features and labels, rather than being labels."""
    return hasattr(data, "Y") and not hasattr(data, "columns")


@dataclass(frozen=True, eq=False)
class NamedLabels:
    """Canonical labels with their names: as much of a data set as the door looks at."""

    Y: sparse.csr_array
    labels: tuple[str, ...]


def label_lists(Y: Any) -> list[Any] | None:
    """Return the rows of label lists, in a list or a column of a table; None for anything else."""
    # Rows of equal length that hold no names are no label lists but a table of cells.
    if not isinstance(Y, list | tuple):
        if not hasattr(Y, "__array__") or hasattr(Y, "columns") or sparse.issparse(Y):
            return None
        Y = np.asarray(Y)
        if Y.ndim != 1 or Y.dtype != object:
            return None
    rows = list(Y)
    if not rows or any(isinstance(row, str) or not hasattr(row, "__len__") for row in rows):
        return None
    is_lists = any(isinstance(row, Set) for row in rows) or len({len(row) for row in rows}) > 1
    return rows if is_lists or any(isinstance(item, str) for row in rows for item in row) else None


def align_label_lists(Y: Any, predictions: Any) -> tuple[Any, Any]:
    """Give lists of predicted names the columns of ``Y``; all names where both are lists."""
    # What has no names, or none in common, comes back as it is.
    names, rows = get_label_names(Y), label_lists(predictions)
    if rows is None and isinstance(predictions, list | tuple) and not any(map(_size, predictions)):
        rows = list(predictions)  # nothing was predicted
    if names is None or rows is None:
        return Y, predictions
    found = {item for row in rows for item in row}
    if not all(isinstance(item, str) for item in found):
        return Y, predictions
    truth = label_lists(Y)
    if found - set(names):
        if truth is None or not found & set(names):
            return Y, predictions
        names = tuple(sorted(found | set(names)))
    place, n_labels = _place_of(names), len(names)
    if truth is not None:
        Y = NamedLabels(_matrix(truth, place, n_labels, "labels"), names)
    return Y, NamedLabels(_matrix(rows, place, n_labels, "labels"), names)


def _size(row: Any) -> int:
    return len(row) if hasattr(row, "__len__") else 1


def _place_of(names: Sequence[str]) -> Callable[[str], int]:
    """Tell the column of each name."""
    return {name: at for at, name in enumerate(names)}.__getitem__


def _matrix(
    rows: Sequence[Any], place: Callable[[Any], int], n_labels: int, caller: str
) -> sparse.csr_array:
    """Put every label of every row into its place."""
    flat = np.array([place(item) for row in rows for item in row], np.int32)
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    cells = (np.ones(len(flat), bool), flat, starts)
    return _canonical(sparse.csr_array(cells, shape=(len(rows), n_labels)), caller)


def check_same_names(Y: Any, given: Any, *, what: str, caller: str) -> None:
    """Refuse columns that tell by their names that they are other labels, or in another order."""
    # Columns of frames that have no name in common are compared by their places: a frame made of an
    # array numbers its columns. The columns of label lists are nothing but their names.
    expected, found = get_label_names(Y), get_label_names(given)
    if expected is None or found is None or expected == found:
        return
    lists = any(isinstance(labels, list | tuple) for labels in (Y, given))
    if lists or set(expected) & set(found):
        pairs = enumerate(zip(expected, found, strict=False))
        unlike = (f"{b!r} as label {at}, Y has {a!r}" for at, (a, b) in pairs if a != b)
        where = next(unlike, f"{len(found)} labels, Y has {len(expected)}")
        raise DataError(
            f"{caller}: {what} must have the labels of Y, in the same order. Found {where}. "
            "Reorder the columns, or give 0/1 arrays."
        )


def get_label_names(labels: Any) -> tuple[str, ...] | None:
    """Return the names that labels bring along, None where they have none."""
    if is_dataset(labels):
        return getattr(labels, "labels", None)
    if hasattr(labels, "columns"):
        return tuple(map(str, labels.columns))
    rows = label_lists(labels)
    return None if rows is None else check_named_labels(rows)[1]


def check_consistent_length(X: Any, Y: Any, *, caller: str) -> None:
    """Refuse ``X`` and ``Y`` with different numbers of rows."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows != Y.shape[0]:
        raise LabelError(
            f"{caller}: X and Y must have equally many rows. "
            f"Found inconsistent numbers of samples: {n_rows} in X and {Y.shape[0]} in Y."
        )


def check_choice(value: Any, choices: Sequence[str], *, name: str, caller: str) -> str:
    """Refuse a parameter that is none of ``choices``."""
    Choice(*choices).check(value, name=name, caller=caller)
    return str(value)


def check_count(value: Any, *, name: str, caller: str, minimum: int = 1) -> int:
    """Refuse a parameter that is not an integer of at least ``minimum``."""
    Int(minimum).check(value, name=name, caller=caller)
    return int(value)


def _from_sparse(Y: Any, caller: str) -> sparse.csr_array:
    if len(Y.shape) != 2:
        raise _wrong_shape(Y.shape, caller)
    if Y.dtype.kind not in "biuf":
        raise ParameterTypeError(f"{caller}: {_HINT} Got values of type {Y.dtype} instead.")
    if Y.format != "csr":
        Y = Y.tocsr()  # COO duplicates are summed here, as everywhere in scipy
    if Y.dtype != bool:
        present = Y.data != 0
        wrong = present & (Y.data != 1)
        if wrong.any():
            raise _bad_cell(*first_true_cell(Y, wrong), Y.data[wrong.argmax()].item(), caller, None)
        Y = sparse.csr_array((present, Y.indices, Y.indptr), shape=Y.shape)
    elif not isinstance(Y, sparse.csr_array):
        Y = sparse.csr_array(Y)
    return _canonical(_with_plain_indices(Y), caller)


def _with_plain_indices(Y: sparse.csr_array) -> sparse.csr_array:
    """Store indptr and indices as kernels read them: of one type and without gaps."""
    # Where they differ, row pointers follow the column indices as long as they fit: these are many.
    narrow = np.can_cast(Y.indices.dtype, np.int32) and Y.nnz <= np.iinfo(np.int32).max
    kind = np.int32 if narrow else np.int64
    indptr, indices = (np.ascontiguousarray(part, kind) for part in (Y.indptr, Y.indices))
    if indptr is Y.indptr and indices is Y.indices:
        return Y
    plain = sparse.csr_array(Y.shape, dtype=bool)
    plain.data, plain.indices, plain.indptr = Y.data, indices, indptr
    return plain


def _canonical(Y: sparse.csr_array, caller: str) -> sparse.csr_array:
    """Sort indices, drop stored zeros and duplicates; leave a canonical matrix untouched."""
    if Y.data.all() and _rows_strictly_increase(Y, caller):
        return Y
    Y = Y.copy()
    Y.has_canonical_format = False  # scipy's cached answer may be out of date
    Y.has_sorted_indices = False
    Y.eliminate_zeros()
    Y.sum_duplicates()
    return Y


def _rows_strictly_increase(Y: sparse.csr_array, caller: str) -> bool:
    """Check all column indices: in range (else refuse), sorted and unique (else say no)."""
    if Y.nnz == 0:
        return True
    blocks = row_blocks(Y.indptr, 1 if Y.nnz < SERIAL_BELOW else 64)
    states = run_in_threads(
        lambda block: check_rows(Y.indptr, Y.indices, *block, Y.shape[1]), blocks
    )
    if min(states) < 0:
        raise LabelError(
            f"{caller}: a sparse label matrix with {Y.shape[1]} columns stores a column index "
            "outside of them, or row pointers that step back. Rebuild it, or run its "
            "check_format()."
        )
    return all(state == 1 for state in states)


def _from_dense(Y: Array, caller: str, names: tuple[str, ...] | None) -> sparse.csr_array:
    if Y.ndim != 2:
        raise _wrong_shape(Y.shape, caller)
    if Y.dtype == object:
        Y = _objects_to_numbers(Y, caller, names)
    if Y.dtype.kind not in "biuf":
        raise ParameterTypeError(f"{caller}: {_HINT} Got values of type {Y.dtype} instead.")
    present = Y if Y.dtype == bool else Y == 1
    if Y.dtype != bool:
        wrong = ~(present | (Y == 0))
        if wrong.any():
            row, column = first_true_cell(Y, wrong)
            raise _bad_cell(row, column, Y[row, column].item(), caller, names)
    return sparse.csr_array(present)


def _objects_to_numbers(Y: Array, caller: str, names: tuple[str, ...] | None) -> Array:
    """Turn Python objects (mixed columns of a frame) into floats; texts are no numbers."""
    for at, cell in enumerate(Y.flat):
        if not isinstance(cell, np.bool_ | numbers.Real | Decimal) or cell not in (0, 1):
            row, column = divmod(at, Y.shape[1])
            raise _bad_cell(row, column, cell, caller, names)
    return Y.astype(float)


def _from_lists(Y: Sequence[Any], caller: str) -> tuple[sparse.csr_array, tuple[str, ...] | None]:
    if not Y:
        raise LabelError(f"{caller}: Y is an empty list, so its number of labels is unknown.")
    rows = [_as_row(row, number, caller) for number, row in enumerate(Y)]
    if label_lists(Y) is not None:
        of_names = any(isinstance(item, str) for row in rows for item in row)
        return _from_label_lists(rows, caller, of_names=of_names)
    try:
        cells = np.array([list(row) for row in rows])
    except ValueError:  # some cell is itself a list
        raise next(
            _bad_cell(at, column, item, caller, None)
            for at, row in enumerate(rows)
            for column, item in enumerate(row)
            if not np.isscalar(item)
        ) from None
    return _from_dense(cells, caller, None), None


def _as_row(row: Any, number: int, caller: str) -> Sequence[Any]:
    if isinstance(row, str) or not isinstance(row, Sequence | Set | np.ndarray):
        raise LabelError(
            f"{caller}: Y must be two-dimensional; row {number} is {row!r}. "
            "Expected 2D array: give one row, or one list of labels, per instance."
        )
    return sorted(row, key=str) if isinstance(row, Set) else row  # type: ignore[return-value]  # an array serves as a sequence


def _from_label_lists(
    rows: list[Sequence[Any]], caller: str, *, of_names: bool
) -> tuple[sparse.csr_array, tuple[str, ...] | None]:
    for number, row in enumerate(rows):
        for item in row:
            if not _is_label(item, of_names=of_names):
                raise LabelError(
                    f"{caller}: row {number} of the label lists holds {item!r}. Expected label "
                    f"names (all strings) or label numbers from 0 (all integers below "
                    f"{MOST_LABELS})."
                )
    found = {item for row in rows for item in row}
    if not of_names:
        return _matrix(rows, int, max(map(int, found), default=-1) + 1, caller), None
    names = tuple(sorted(found))
    return _matrix(rows, _place_of(names), len(names), caller), names


def _is_label(item: Any, *, of_names: bool) -> bool:
    if of_names:
        return isinstance(item, str)
    return is_integer(item) and 0 <= int(item) < MOST_LABELS


def _from_frame(Y: Any, caller: str) -> tuple[sparse.csr_array, tuple[str, ...]]:
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
    columns = [_frame_column(frame.get_column(name), str(name), caller) for name in frame.columns]
    present = np.column_stack(columns) if columns else np.zeros((len(frame), 0), bool)
    return sparse.csr_array(present), names


def _frame_column(column: Any, name: str, caller: str) -> Array:
    values = column.to_numpy()
    if values.dtype == bool:
        return values
    return _from_dense(values.reshape(-1, 1), caller, (name,)).toarray().ravel()


def _wrong_shape(shape: tuple[int, ...], caller: str) -> LabelError:
    return LabelError(
        f"{caller}: Y must be two-dimensional, (n_samples, n_labels). Got shape {shape} instead. "
        "Expected 2D array: for a single label use Y.reshape(-1, 1)."
    )


def _bad_cell(
    row: int, column: int, value: Any, caller: str, names: tuple[str, ...] | None
) -> LabelError:
    # What does not equal itself is NaN or NaT; pandas' NA does not even say so.
    missing = value is None or type(value).__name__ == "NAType" or bool(np.any(value != value))
    found = "is missing" if missing else f"holds {value!r}"
    where, hint = format_column_name(column, names), _HINT
    if not missing and names is None:
        hint += (
            " If Y is meant as label lists, give sets or label names, not lists of equal length."
        )
    return LabelError(f"{caller}: the label cell in row {row}, {where} {found}. {hint}")
