"""Labels in any form a user gives them, and predictions in the same form."""

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
from scumble._core.validation import check_named_labels, label_lists


@dataclass(frozen=True, eq=False)
class LabelForm:
    """What the labels looked like when fitting, in plain values that any file format can hold."""

    kind: str  # "array", "sparse", "frame", "lists" (a list or column of labels), or "classes"
    #: of the cells, or of the rows of lists; one per column for a frame
    dtypes: tuple[str, ...] = ("int64",)
    names: tuple[str, ...] | None = None
    library: Any = None  # of a frame or of a column of lists

    def convert(self, labels: Any, X: Any) -> Any:
        """Put predicted labels into this form."""
        if self.kind == "classes":
            return labels
        if self.kind == "sparse":
            return sparse.csr_array(labels).astype(self.dtypes[0])
        if self.kind == "lists":
            return self._give_lists(sparse.csr_array(labels), X)
        cells = to_dense(labels)
        if self.kind == "array":
            return cells.astype(self.dtypes[0], copy=False)
        return self._give_frame(cells, X)

    def _give_lists(self, labels: sparse.csr_array, X: Any) -> Any:
        names = np.array(range(labels.shape[1]) if self.names is None else self.names, object)
        make = {"tuple": tuple, "set": set, "frozenset": frozenset}.get(self.dtypes[0], list)
        parts = np.split(names[labels.indices], labels.indptr[1:-1])
        rows = [make(part.tolist()) for part in parts][: labels.shape[0]]
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

    def _give_frame(self, cells: Array, X: Any) -> Any:
        import narwhals as nw

        assert self.names is not None
        columns = {
            name: nw.new_series(name, cells[:, at], nw.Boolean, backend=self.library).cast(
                getattr(nw, dtype, nw.Int8)
            )
            for at, (name, dtype) in enumerate(zip(self.names, self.dtypes, strict=True))
        }
        frame = nw.from_dict(columns, backend=self.library).to_native()
        if self.library == "pandas" and hasattr(X, "iloc"):
            frame.index = X.index
        return frame


def read_labels(Y: Any, *, caller: str) -> tuple[sparse.csr_array, LabelForm, Array | None]:
    """Read labels or classes."""
    if Y is None:
        raise LabelError(
            f"{caller} requires y to be passed, but the target y is None: give the labels of "
            "each row."
        )
    if hasattr(Y, "__array__") and not (
        isinstance(Y, np.ndarray) or sparse.issparse(Y) or hasattr(Y, "columns")
    ):
        Y = Y if label_lists(Y) is not None else np.asarray(Y)
    if label_lists(Y) is None and _holds_classes(Y):
        classes, codes = read_classes(np.asarray(Y), caller=caller)
        form = LabelForm("classes", (str(classes.dtype),))
        return one_hot_labels(codes, len(classes)), form, classes
    labels, names = check_named_labels(Y, caller=caller)
    if labels.shape[1] == 0:
        raise LabelError(f"{caller}: Y has no labels. Expected at least one column.")
    return labels, _form_of(Y, names), None


def _holds_classes(Y: Any) -> bool:
    """Tell one class per row from labels; a column of 0/1 is one label."""
    if isinstance(Y, list | tuple):
        return bool(Y) and not any(isinstance(row, list | tuple | Set | np.ndarray) for row in Y)
    if not isinstance(Y, np.ndarray):
        return False
    return Y.ndim == 1 or (Y.ndim == 2 and Y.shape[1] == 1 and _is_no_label(Y))


def _is_no_label(column: Array) -> bool:
    """Tell whether a column holds classes: several values that are not 0 and 1 only."""
    return column.dtype.kind in "iuUS" and not np.isin(column, (0, 1)).all()


def read_classes(y: Any, *, caller: str) -> tuple[Array, Array]:
    """Read one class per row: the classes there are, and the code of each row's."""
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
    """Give each row the label of its code."""
    cells, starts = np.ones(len(codes), bool), np.arange(len(codes) + 1, dtype=np.int32)
    parts = (cells, codes.astype(np.int32), starts)
    return sparse.csr_array(parts, shape=(len(codes), n_labels))


def _form_of(Y: Any, names: tuple[str, ...] | None) -> LabelForm:
    if sparse.issparse(Y):
        return LabelForm("sparse", (str(Y.dtype),))
    rows = label_lists(Y)
    if rows is not None:
        home = type(Y).__module__.partition(".")[0]
        library = home if home in ("numpy", "pandas", "polars") else None
        kinds = {type(row).__name__ for row in rows}
        return LabelForm("lists", (kinds.pop() if len(kinds) == 1 else "list",), names, library)
    if isinstance(Y, np.ndarray):
        return LabelForm("array", ("int64" if Y.dtype == object else str(Y.dtype),))
    if not hasattr(Y, "columns"):
        return LabelForm("array", names=names)
    import narwhals as nw

    frame = nw.from_native(Y, eager_only=True)
    dtypes = tuple(str(dtype) for dtype in frame.schema.values())
    return LabelForm("frame", dtypes, names, nw.get_native_namespace(frame).__name__)
