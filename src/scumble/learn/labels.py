"""Validation of labels in any format, and conversion of predictions to the same format."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from scumble._core.arrays import Array, to_dense
from scumble._core.errors import LabelError
from scumble._core.optional import import_optional_dependency
from scumble._validation.labels import check_named_labels, label_lists


@dataclass(frozen=True, eq=False)
class LabelFormat:
    """The container and types of the training labels, in which predictions are returned.

    All fields are strings, so that any file format can store them.
    """

    kind: str  # "array", "sparse", "frame", "lists" (a list or column of label lists) or "classes"
    #: Dtype of the values; one per column of a frame. For label lists, the Python type of a list.
    dtypes: tuple[str, ...] = ("int64",)
    names: tuple[str, ...] | None = None  # of the labels; None if they have none
    #: Package of a frame or of a column of label lists, such as "pandas"; else None.
    library: Any = None

    def convert(self, labels: Any, X: Any) -> Any:
        """Return predicted labels in this format; classes are returned unchanged.

        ``labels`` is a boolean ndarray or csr_array. A pandas result gets the index of X, which
        holds the predicted rows as the user passed them.
        """
        if self.kind == "classes":
            return labels
        if self.kind == "sparse":
            return sparse.csr_array(labels).astype(self.dtypes[0])
        if self.kind == "lists":
            return self._to_lists(sparse.csr_array(labels), X)
        Y = to_dense(labels)
        if self.kind == "array":
            return Y.astype(self.dtypes[0], copy=False)
        return self._to_frame(Y, X)

    def _to_lists(self, labels: sparse.csr_array, X: Any) -> Any:
        """Return a label list per row, all in a list, ndarray or Series.

        A label list holds names of labels, or their indices if they have no names. A pandas Series
        gets the index of ``X``.
        """
        names = np.array(range(labels.shape[1]) if self.names is None else self.names, object)
        types = {"tuple": tuple, "set": set, "frozenset": frozenset}
        list_type = types.get(self.dtypes[0], list)
        names_by_row = np.split(names[labels.indices], labels.indptr[1:-1])
        lists = [list_type(row_names.tolist()) for row_names in names_by_row]
        lists = lists[: labels.shape[0]]  # numpy.split returns one part even if there are no rows
        if self.library is None:
            return lists
        if self.library == "numpy":
            column = np.empty(len(lists), object)
            column[:] = lists
            return column
        library = import_optional_dependency(
            self.library, purpose="labels as a column of lists", extra="frames"
        )
        if self.library == "pandas":
            index = X.index if hasattr(X, "iloc") else None
            return library.Series(lists, index=index, dtype=object)
        return library.Series(lists)

    def _to_frame(self, Y: Array, X: Any) -> Any:
        """Return labels as a frame with the column names and dtypes of the training labels."""
        import narwhals as nw

        assert self.names is not None
        columns = {}
        for label, (name, dtype) in enumerate(zip(self.names, self.dtypes, strict=True)):
            series = nw.new_series(name, Y[:, label], nw.Boolean, backend=self.library)
            columns[name] = series.cast(getattr(nw, dtype, nw.Int8))
        frame = nw.from_dict(columns, backend=self.library).to_native()
        if self.library == "pandas" and hasattr(X, "iloc"):
            frame.index = X.index
        return frame


class ValidatedLabels(NamedTuple):
    """The result of `validate_y`."""

    Y: sparse.csr_array  # label indicator matrix, bool, shape (n_samples, n_labels)
    y_format: LabelFormat
    classes: Array | None  # sorted; the columns of Y. None if y did not hold one class per row


def validate_y(y: Any, *, caller: str) -> ValidatedLabels:
    """Return the label indicator matrix, the format and the classes of labels in any format.

    One class per row becomes a matrix with a column per class; the classes are None for labels. A
    missing y and labels without a column raise LabelError.
    """
    if y is None:
        raise LabelError(
            f"{caller} requires y to be passed, but the target y is None: give the labels of "
            "each row."
        )
    is_array_or_frame = isinstance(y, np.ndarray) or sparse.issparse(y) or hasattr(y, "columns")
    if hasattr(y, "__array__") and not is_array_or_frame and label_lists(y) is None:
        y = np.asarray(y)
    if label_lists(y) is None and _holds_classes(y):
        classes, codes = encode_classes(np.asarray(y), caller=caller)
        y_format = LabelFormat("classes", dtypes=(str(classes.dtype),))
        return ValidatedLabels(one_hot_labels(codes, len(classes)), y_format, classes)
    Y, names = check_named_labels(y, caller=caller)
    if Y.shape[1] == 0:
        raise LabelError(f"{caller}: Y has no labels. Expected at least one column.")
    return ValidatedLabels(Y, _format_of(y, names), classes=None)


def _holds_classes(y: Any) -> bool:
    """Return whether y holds one class per row.

    A list of numbers or strings does, and an array of one dimension. An array of one column does
    if it has other values than 0 and 1; otherwise the column is one label.
    """
    if isinstance(y, list | tuple):
        return bool(y) and not any(isinstance(row, list | tuple | Set | np.ndarray) for row in y)
    if not isinstance(y, np.ndarray):
        return False
    if y.ndim == 2 and y.shape[1] == 1:
        return y.dtype.kind in "iuUS" and not np.isin(y, (0, 1)).all()
    return y.ndim == 1


def encode_classes(y: Any, *, caller: str) -> tuple[Array, Array]:
    """Return the sorted classes of y, and for each row the index of its class among them.

    Raise LabelError if y is not one-dimensional, has missing values or is continuous.
    """
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
    """Return a label indicator matrix in which row i has only the label with index ``codes[i]``."""
    n_rows = len(codes)
    indptr = np.arange(n_rows + 1, dtype=np.int32)
    csr_parts = (np.ones(n_rows, bool), codes.astype(np.int32), indptr)
    return sparse.csr_array(csr_parts, shape=(n_rows, n_labels))


def _format_of(y: Any, names: tuple[str, ...] | None) -> LabelFormat:
    """Return the format of labels that are not classes; ``names`` are those of the labels."""
    if sparse.issparse(y):
        return LabelFormat("sparse", dtypes=(str(y.dtype),))
    lists = label_lists(y)
    if lists is not None:
        module = type(y).__module__.partition(".")[0]
        library = module if module in ("numpy", "pandas", "polars") else None
        type_names = {type(label_list).__name__ for label_list in lists}
        type_name = type_names.pop() if len(type_names) == 1 else "list"
        return LabelFormat("lists", dtypes=(type_name,), names=names, library=library)
    if isinstance(y, np.ndarray):
        dtype = "int64" if y.dtype == object else str(y.dtype)
        return LabelFormat("array", dtypes=(dtype,))
    if not hasattr(y, "columns"):
        return LabelFormat("array", names=names)
    import narwhals as nw

    frame = nw.from_native(y, eager_only=True)
    dtypes = tuple(str(dtype) for dtype in frame.schema.values())
    library = nw.get_native_namespace(frame).__name__
    return LabelFormat("frame", dtypes=dtypes, names=names, library=library)
