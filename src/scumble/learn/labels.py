"""Validation of labels in any form, and conversion of predictions to the same form."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from scumble._core.arrays import Array, to_dense
from scumble._core.errors import LabelError
from scumble._core.optional import import_optional_dependency
from scumble._validation.labels import check_named_labels, label_lists


@dataclass(frozen=True, eq=False)
class LabelForm:
    """The form of the training labels, as texts, so that any file format can store it."""

    kind: str  # "array", "sparse", "frame", "lists" (a list or column of label lists) or "classes"
    #: of the cells, or the Python type of label lists; one per column of a frame
    dtypes: tuple[str, ...] = ("int64",)
    names: tuple[str, ...] | None = None
    library: Any = None  # that a frame, or a column of label lists, is from

    def convert(self, labels: Any, X: Any) -> Any:
        """Return predicted labels in this form; X provides the index of a pandas frame."""
        if self.kind == "classes":
            return labels
        if self.kind == "sparse":
            return sparse.csr_array(labels).astype(self.dtypes[0])
        if self.kind == "lists":
            return self._to_lists(sparse.csr_array(labels), X)
        cells = to_dense(labels)
        if self.kind == "array":
            return cells.astype(self.dtypes[0], copy=False)
        return self._to_frame(cells, X)

    def _to_lists(self, labels: sparse.csr_array, X: Any) -> Any:
        """Return the names of the labels of each row, as a list or a column of such lists."""
        names = np.array(range(labels.shape[1]) if self.names is None else self.names, object)
        types = {"tuple": tuple, "set": set, "frozenset": frozenset}
        row_type = types.get(self.dtypes[0], list)
        row_names = np.split(names[labels.indices], labels.indptr[1:-1])
        # numpy.split returns one part even if there are no rows.
        rows = [row_type(part.tolist()) for part in row_names][: labels.shape[0]]
        if self.library is None:
            return rows
        if self.library == "numpy":
            column = np.empty(len(rows), object)
            column[:] = rows
            return column
        library = import_optional_dependency(
            self.library, purpose="labels as a column of lists", extra="frames"
        )
        if self.library == "pandas":
            index = X.index if hasattr(X, "iloc") else None
            return library.Series(rows, index=index, dtype=object)
        return library.Series(rows)

    def _to_frame(self, cells: Array, X: Any) -> Any:
        """Return labels as a frame with the columns and types of the training labels."""
        import narwhals as nw

        assert self.names is not None
        columns = {}
        for label, (name, dtype) in enumerate(zip(self.names, self.dtypes, strict=True)):
            series = nw.new_series(name, cells[:, label], nw.Boolean, backend=self.library)
            columns[name] = series.cast(getattr(nw, dtype, nw.Int8))
        frame = nw.from_dict(columns, backend=self.library).to_native()
        if self.library == "pandas" and hasattr(X, "iloc"):
            frame.index = X.index
        return frame


def read_labels(Y: Any, *, caller: str) -> tuple[sparse.csr_array, LabelForm, Array | None]:
    """Return the label indicator matrix, the form of Y, and its classes if it has one per row."""
    if Y is None:
        raise LabelError(
            f"{caller} requires y to be passed, but the target y is None: give the labels of "
            "each row."
        )
    is_array_or_frame = isinstance(Y, np.ndarray) or sparse.issparse(Y) or hasattr(Y, "columns")
    if hasattr(Y, "__array__") and not is_array_or_frame and label_lists(Y) is None:
        Y = np.asarray(Y)
    if label_lists(Y) is None and _holds_classes(Y):
        classes, codes = read_classes(np.asarray(Y), caller=caller)
        form = LabelForm("classes", dtypes=(str(classes.dtype),))
        return one_hot_labels(codes, len(classes)), form, classes
    labels, names = check_named_labels(Y, caller=caller)
    if labels.shape[1] == 0:
        raise LabelError(f"{caller}: Y has no labels. Expected at least one column.")
    return labels, _form_of(Y, names), None


def _holds_classes(Y: Any) -> bool:
    """Return whether Y holds one class per row; a column of 0 and 1 is one label."""
    if isinstance(Y, list | tuple):
        return bool(Y) and not any(isinstance(row, list | tuple | Set | np.ndarray) for row in Y)
    if not isinstance(Y, np.ndarray):
        return False
    if Y.ndim == 2 and Y.shape[1] == 1:
        return Y.dtype.kind in "iuUS" and not np.isin(Y, (0, 1)).all()
    return Y.ndim == 1


def read_classes(y: Any, *, caller: str) -> tuple[Array, Array]:
    """Return the sorted classes, and for each row the index of its class."""
    try:
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        return np.unique(y, return_inverse=True)
    except (TypeError, ValueError) as error:
        raise LabelError(
            f"{caller}: y must hold one class per row. {error} Give all classes as numbers or all "
            "as text, and leave out rows without one; to learn a number, make classes of it "
            "first, for instance with numpy.digitize."
        ) from None


def one_hot_labels(codes: Array, n_labels: int) -> sparse.csr_array:
    """Return a label indicator matrix in which each row has one label, given by its index."""
    n_rows = len(codes)
    indptr = np.arange(n_rows + 1, dtype=np.int32)
    cells = (np.ones(n_rows, bool), codes.astype(np.int32), indptr)
    return sparse.csr_array(cells, shape=(n_rows, n_labels))


def _form_of(Y: Any, names: tuple[str, ...] | None) -> LabelForm:
    """Return the form of labels."""
    if sparse.issparse(Y):
        return LabelForm("sparse", dtypes=(str(Y.dtype),))
    rows = label_lists(Y)
    if rows is not None:
        module = type(Y).__module__.partition(".")[0]
        library = module if module in ("numpy", "pandas", "polars") else None
        row_types = {type(row).__name__ for row in rows}
        row_type = row_types.pop() if len(row_types) == 1 else "list"
        return LabelForm("lists", dtypes=(row_type,), names=names, library=library)
    if isinstance(Y, np.ndarray):
        dtype = "int64" if Y.dtype == object else str(Y.dtype)
        return LabelForm("array", dtypes=(dtype,))
    if not hasattr(Y, "columns"):
        return LabelForm("array", names=names)
    import narwhals as nw

    frame = nw.from_native(Y, eager_only=True)
    dtypes = tuple(str(dtype) for dtype in frame.schema.values())
    library = nw.get_native_namespace(frame).__name__
    return LabelForm("frame", dtypes=dtypes, names=names, library=library)
