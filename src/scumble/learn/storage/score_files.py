"""Files with scores or predictions of other models, and with the true labels of the same rows."""

import io
import os
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.errors import DataError, LabelError, ReadError, ScumbleWarning
from scumble._core.files import InputFile, atomic_write
from scumble._core.text import display_path, join_names
from scumble._validation.labels import check_labels
from scumble.data import MultilabelDataset, read
from scumble.learn.storage.model_predictions import write_label_table

#: Suffixes of files that hold arrays of numpy or scipy.
ARRAY_SUFFIXES = (".npy", ".npz")
#: Names of arrays that are in every file of `scipy.sparse.save_npz`.
_SPARSE_MATRIX_ARRAYS = {"format", "shape", "data"}


@dataclass(frozen=True, eq=False)
class NamedMatrix:
    """A matrix of scores or labels with one column per label, read from a file."""

    cells: Any  # ndarray or csr_array of numbers, of shape (n_rows, n_labels)
    names: tuple[str, ...] | None  # names of the labels; None if the file has none
    path: str  # the file, as messages name it
    are_tags: bool = False  # whether the file has label lists, which omit labels that no row has


def read_scores(path: str | os.PathLike[str]) -> NamedMatrix:
    """Read a table of scores with a row for each instance and a column for each label.

    Raises a ReadError for tables of another form and for columns that are not numeric.
    """
    if is_array_file(path):
        return _read_array(path, "scores")
    table = read(path, labels=())
    if {"instance", "label", "score"} <= set(table.feature_names):
        raise ReadError(
            "this is a table with a row for each score. Expected a row for each instance and a "
            "column for each label. For the former there are scumble.out_of_core.label_thresholds "
            "and scumble thresholds --engine duckdb.",
            path=Path(path),
        )
    for number, feature in enumerate(table.features, start=1):
        if feature.kind != "numeric":
            raise ReadError(
                f"column {feature.name!r} holds {_describe_values(feature)}. Expected scores: a "
                "number for each row, and no columns but those of labels.",
                path=Path(path),
                column=number,
            )
    return NamedMatrix(table.X, table.feature_names, display_path(path, "standard input"))


def read_true_labels(path: str | os.PathLike[str], **options: Any) -> NamedMatrix:
    """Read true labels from a data set, a table of labels or an array.

    ``options`` are those of `scumble.read`, which array files do not use.
    """
    if not is_array_file(path):
        return labels_of_dataset(_read_dataset(path, options), path)
    matrix = _read_array(path, "labels")
    try:
        return NamedMatrix(check_labels(matrix.cells, caller="labels"), matrix.names, matrix.path)
    except LabelError as error:
        raise ReadError(str(error), path=Path(path)) from error


def read_predictions(path: str | os.PathLike[str]) -> NamedMatrix:
    """Read predicted labels or scores from a table, an array, or the labels of a data set."""
    if not is_array_file(path):
        # In a table that does not specify its label columns, all columns are labels.
        with suppress(ReadError):
            return labels_of_dataset(read(path), path)
    return read_scores(path)


def select_label_columns(matrix: NamedMatrix, truth: NamedMatrix) -> NamedMatrix:
    """Return the columns of ``matrix`` that the true labels name, in the order of ``truth``.

    ``matrix`` itself is returned if it lacks a true label, or if one of both has no names.
    """
    if matrix.names is None or truth.names is None or not set(truth.names) <= set(matrix.names):
        return matrix
    index_of = {name: index for index, name in enumerate(matrix.names)}
    cells = matrix.cells[:, [index_of[name] for name in truth.names]]
    return NamedMatrix(cells, truth.names, matrix.path)


def add_unseen_labels(truth: NamedMatrix, predictions: NamedMatrix) -> NamedMatrix:
    """Return ``truth`` with empty columns for labels of ``predictions`` that no row has.

    Only label lists omit such labels, and only a column of numbers from 0 to 1 counts as a label.
    Other columns of ``predictions`` that ``truth`` lacks are not added, so that `align_to_labels`
    leaves them out. A warning names both kinds of columns.
    """
    if predictions.names is None or truth.names is None:
        return truth
    true_names = set(truth.names)
    unseen = []
    ignored = []
    for index, name in enumerate(predictions.names):
        if name in true_names:
            continue
        if truth.are_tags and are_probabilities(predictions.cells[:, [index]]):
            unseen.append(name)
        else:
            ignored.append(name)
    if unseen:
        warnings.warn(
            f"no row of {truth.path} has {join_names(unseen, 8)}, for which {predictions.path} has "
            "a column: evaluated as labels that no row has.",
            ScumbleWarning,
            stacklevel=4,
        )
    if ignored and true_names < set(predictions.names):
        warnings.warn(
            f"{predictions.path} has columns that are none of the labels of {truth.path}: "
            f"{join_names(ignored, 8)}. They are left out.",
            ScumbleWarning,
            stacklevel=4,
        )
    if unseen:
        return _add_empty_labels(truth, (*truth.names, *unseen))
    return truth


def add_missing_labels(
    predictions: NamedMatrix, truth: NamedMatrix, *, warn: bool = True
) -> NamedMatrix:
    """Return predictions with columns for labels that only the true labels have.

    A model has no column for a label that none of its training rows has: it is never predicted,
    or gets the lowest score in a table of scores. Columns are added if ``truth`` was read from
    label lists and has at least one label in common; with ``warn``, a warning names the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from scumble.learn.storage.score_files import NamedMatrix, add_missing_labels
    >>> tags = NamedMatrix(sparse.csr_array([[True, True]]), ("sky", "ufo"), "tags.csv", True)
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     scores = NamedMatrix(np.array([[0.9]]), ("sky",), "scores.csv")
    ...     extended = add_missing_labels(scores, tags)
    >>> extended.names, extended.cells
    (('sky', 'ufo'), array([[0.9, 0. ]]))
    """
    if predictions.names is None or truth.names is None or not truth.are_tags:
        return predictions
    predicted_names = set(predictions.names)
    missing = tuple(name for name in truth.names if name not in predicted_names)
    if not missing or len(missing) == len(truth.names):
        return predictions
    if warn:
        warnings.warn(
            f"{predictions.path} has no column for {join_names(missing, 8)}, which rows of "
            f"{truth.path} have: evaluated as labels that are never predicted.",
            ScumbleWarning,
            stacklevel=4,
        )
    return _add_empty_labels(predictions, predictions.names + missing)


def _add_empty_labels(matrix: NamedMatrix, names: tuple[str, ...]) -> NamedMatrix:
    """Return a named matrix with columns for the last of ``names``, and with these names.

    ``names`` begin with its present names. New columns of a sparse matrix are empty; those of an
    array hold its minimum, or 0 if that is less.
    """
    n_rows, n_columns = matrix.cells.shape
    new_shape = (n_rows, len(names) - n_columns)
    if sparse.issparse(matrix.cells):
        new_columns = sparse.csr_array(new_shape, dtype=matrix.cells.dtype)
        cells = sparse.hstack([matrix.cells, new_columns], format="csr")
        return replace(matrix, cells=cells, names=names)
    lowest = min(0.0, matrix.cells.min(initial=0.0))
    cells = np.hstack([matrix.cells, np.full(new_shape, lowest)])
    return replace(matrix, cells=cells, names=names)


def are_probabilities(cells: Any) -> bool:
    """Return whether all numbers of an array or sparse matrix are in [0, 1]; NaN is not."""
    values = cells.data if sparse.issparse(cells) else np.asarray(cells)
    return bool(((values >= 0) & (values <= 1)).all())


def labels_of_dataset(data: MultilabelDataset, path: str | os.PathLike[str]) -> NamedMatrix:
    """Return the labels of a data set, without names if these are y0, y1, ... of a reader."""
    generated_names = tuple(f"y{label}" for label in range(data.n_labels))
    names = None if data.labels == generated_names else data.labels
    return NamedMatrix(data.Y, names, display_path(path, "standard input"), data.from_lists)


def align_to_labels(scores: NamedMatrix, truth: NamedMatrix) -> tuple[Any, tuple[Any, ...]]:
    """Return scores with columns in the order of the true labels, and the names of the labels.

    Columns are matched by name if both files have names, else by position. The names are column
    indices if neither file has names. Raises a DataError if the shapes differ or a label is
    missing.
    """
    if scores.cells.shape != truth.cells.shape:
        raise DataError(
            f"{scores.path} has {_describe_shape(scores)}, and {truth.path} "
            f"{_describe_shape(truth)}. Expected the same: scores and labels of the same "
            "instances, in the same order."
        )
    if scores.names is None or truth.names is None or scores.names == truth.names:
        names: tuple[Any, ...] | None = truth.names or scores.names
        if names is None:
            names = tuple(range(scores.cells.shape[1]))
        return scores.cells, names
    scored_names = set(scores.names)
    missing = [name for name in truth.names if name not in scored_names]
    if missing:
        raise DataError(
            f"{scores.path} has no scores for {len(missing)} of the labels of {truth.path}, such "
            f"as {missing[0]!r}. Its columns are {join_names(scores.names, 8)}. Expected the same "
            "names."
        )
    return select_label_columns(scores, truth).cells, truth.names


def write_labels(
    path: str | os.PathLike[str], names: Sequence[Any], labels: sparse.csr_array
) -> None:
    """Write predicted labels as a table of 0 and 1, or as a sparse matrix in a ``.npz`` file."""
    if Path(path).suffix.lower() != ".npz":
        write_label_table(path, [str(name) for name in names], labels.toarray().astype(np.uint8))
        return
    buffer = io.BytesIO()
    sparse.save_npz(buffer, labels)
    with atomic_write(path) as target, target.open() as stream:
        stream.write(buffer.getvalue())


def is_array_file(path: str | os.PathLike[str]) -> bool:
    """Return whether the suffix of a path is that of an array file of numpy or scipy."""
    return Path(path).suffix.lower() in ARRAY_SUFFIXES


def _read_dataset(path: str | os.PathLike[str], options: dict[str, Any]) -> MultilabelDataset:
    """Read a data set; if that fails without ``labels`` in ``options``, use all columns as labels.

    ``options`` are those of `scumble.read`.
    """
    try:
        return read(path, **options)
    except ReadError as error:
        if options.get("labels") is not None:
            raise
        try:
            names = read(path, **options | {"labels": ()}).feature_names
        except ReadError:
            raise error from None
    return read(path, **options | {"labels": list(names)})


def _read_array(path: str | os.PathLike[str], contents: str) -> NamedMatrix:
    """Read a matrix from an array file; raise a ReadError if it does not hold one.

    ``contents`` is ``"scores"`` or ``"labels"``, for messages.
    """
    source = InputFile(path)
    try:
        array = _load(source)
    except Exception as error:  # numpy.load may raise any error of its parsers and archives
        raise source.error(
            f"the array cannot be read ({error}). Expected what numpy.save, numpy.savez or "
            "scipy.sparse.save_npz writes, without objects. Write it again."
        ) from error
    if isinstance(array, dict):
        return _select_from_archive(array, source, contents)
    return NamedMatrix(_check_matrix(array, source, contents), None, os.fspath(path))


def _load(source: InputFile) -> Any:
    """Return the contents of an array file: an array, a csr_array, or a dict of arrays by name."""
    with open(source.path, "rb") as stream:
        loaded = np.load(stream, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        if not set(loaded.files) >= _SPARSE_MATRIX_ARRAYS:
            return {name: loaded[name] for name in loaded.files}
    matrix = sparse.load_npz(source.path)
    if hasattr(matrix, "check_format"):  # an index outside the matrix would crash compiled code
        matrix.check_format(full_check=True)
    return sparse.csr_array(matrix)


def _select_from_archive(arrays: dict[str, Any], source: InputFile, contents: str) -> NamedMatrix:
    """Return the only matrix of an archive; raise a ReadError if there are none or several.

    Its names are the only array of texts with an element for each column; None without or with
    several such arrays.
    """
    matrix_names = [name for name, array in arrays.items() if array.ndim == 2]
    if len(matrix_names) != 1:
        raise source.error(
            f"the archive holds {len(matrix_names)} tables ({join_names(arrays, 8)}). Expected "
            f"one: the {contents}, a row for each instance and a column for each label."
        )
    cells = arrays[matrix_names[0]]
    texts = [array for array in arrays.values() if array.dtype.kind == "U" and array.ndim == 1]
    name_arrays = [array for array in texts if len(array) == cells.shape[1]]
    names = tuple(name_arrays[0].tolist()) if len(name_arrays) == 1 else None
    return NamedMatrix(_check_matrix(cells, source, contents), names, str(source.path))


def _check_matrix(cells: Any, source: InputFile, contents: str) -> Any:
    """Return ``cells``; raise a ReadError unless they are a two-dimensional array of numbers."""
    if cells.ndim != 2:
        raise source.error(
            f"the array has the shape {cells.shape}. Expected a table of {contents}: a row for "
            "each instance and a column for each label."
        )
    if cells.dtype.kind not in "biuf":
        raise source.error(f"the array holds values of type {cells.dtype}. Expected numbers.")
    return cells


def _describe_values(feature: Any) -> str:
    """Return a text for messages: what a column holds that is not numeric."""
    if feature.kind == "nominal" and feature.categories:
        return f"texts such as {feature.categories[0]!r}"
    return "dates" if feature.kind == "date" else "texts"


def _describe_shape(matrix: NamedMatrix) -> str:
    """Return the numbers of rows and labels of a matrix as a text."""
    n_rows, n_labels = matrix.cells.shape
    return f"{n_rows:,} rows and {n_labels:,} labels"
