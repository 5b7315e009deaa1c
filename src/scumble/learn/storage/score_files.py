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

ARRAYS = (".npy", ".npz")
#: Names of arrays that are in every file of `scipy.sparse.save_npz`.
_SPARSE = {"format", "shape", "data"}


@dataclass(frozen=True, eq=False)
class NamedMatrix:
    """Scores or labels with one column per label, read from a file."""

    cells: Any  # ndarray or csr_array of numbers
    names: tuple[str, ...] | None  # the labels, where the file names them
    path: str
    are_tags: bool = False  # whether the file has label lists, which omit labels that no row has


def read_scores(path: str | os.PathLike[str]) -> NamedMatrix:
    """Read a table of scores with a row for each instance and a column for each label."""
    if is_array(path):
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
    """Read true labels; ``options`` are those of `scumble.read`."""
    if not is_array(path):
        return labels_of_dataset(_read_dataset(path, options), path)
    table = _read_array(path, "labels")
    try:
        return NamedMatrix(check_labels(table.cells, caller="labels"), table.names, table.path)
    except LabelError as error:
        raise ReadError(str(error), path=Path(path)) from error


def read_predictions(path: str | os.PathLike[str]) -> NamedMatrix:
    """Read predicted labels, or scores: a table, an array, or a data set with such labels."""
    if not is_array(path):
        # A table that does not say which columns are labels has labels in all of them.
        with suppress(ReadError):
            return labels_of_dataset(read(path), path)
    return read_scores(path)


def select_label_columns(table: NamedMatrix, truth: NamedMatrix) -> NamedMatrix:
    """Return the columns of the true labels, in their order; all columns if one is missing."""
    if table.names is None or truth.names is None or not set(truth.names) <= set(table.names):
        return table
    index_of = {name: index for index, name in enumerate(table.names)}
    cells = table.cells[:, [index_of[name] for name in truth.names]]
    return NamedMatrix(cells, truth.names, table.path)


def add_unseen_labels(truth: NamedMatrix, table: NamedMatrix) -> NamedMatrix:
    """Add predicted labels that no row has to true labels that were read from label lists.

    Other columns of the predictions that are not labels are left out later. A warning names both.
    """
    if table.names is None or truth.names is None:
        return truth
    true_names = set(truth.names)
    unseen = []
    ignored = []
    for index, name in enumerate(table.names):
        if name in true_names:
            continue
        if truth.are_tags and are_probabilities(table.cells[:, [index]]):
            unseen.append(name)
        else:
            ignored.append(name)
    if unseen:
        warnings.warn(
            f"no row of {truth.path} has {join_names(unseen, 8)}, for which {table.path} has a "
            "column: evaluated as labels that no row has.",
            ScumbleWarning,
            stacklevel=4,
        )
    if ignored and true_names < set(table.names):
        warnings.warn(
            f"{table.path} has columns that are none of the labels of {truth.path}: "
            f"{join_names(ignored, 8)}. They are left out.",
            ScumbleWarning,
            stacklevel=4,
        )
    if unseen:
        return _add_empty_labels(truth, (*truth.names, *unseen))
    return truth


def add_missing_labels(table: NamedMatrix, truth: NamedMatrix, *, warn: bool = True) -> NamedMatrix:
    """Add labels of label lists that predictions have no column for: they are never predicted.

    In a table of scores they have the lowest score. A model has no column for a label that none of
    its training rows has.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from scumble.learn.storage.score_files import NamedMatrix, add_missing_labels
    >>> tags = NamedMatrix(sparse.csr_array([[True, True]]), ("sky", "ufo"), "tags.csv", True)
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     found = add_missing_labels(NamedMatrix(np.array([[0.9]]), ("sky",), "said.csv"), tags)
    >>> found.names, found.cells
    (('sky', 'ufo'), array([[0.9, 0. ]]))
    """
    if table.names is None or truth.names is None or not truth.are_tags:
        return table
    predicted_names = set(table.names)
    missing = tuple(name for name in truth.names if name not in predicted_names)
    if not missing or len(missing) == len(truth.names):
        return table
    if warn:
        warnings.warn(
            f"{table.path} has no column for {join_names(missing, 8)}, which rows of {truth.path} "
            "have: evaluated as labels that are never predicted.",
            ScumbleWarning,
            stacklevel=4,
        )
    return _add_empty_labels(table, table.names + missing)


def _add_empty_labels(table: NamedMatrix, names: tuple[str, ...]) -> NamedMatrix:
    """Add columns for the last of ``names``: labels of no row, or the lowest score in every row."""
    n_rows, n_columns = table.cells.shape
    shape = (n_rows, len(names) - n_columns)
    if sparse.issparse(table.cells):
        empty = sparse.csr_array(shape, dtype=table.cells.dtype)
        return replace(table, cells=sparse.hstack([table.cells, empty], format="csr"), names=names)
    lowest = np.full(shape, min(0.0, table.cells.min(initial=0.0)))
    return replace(table, cells=np.hstack([table.cells, lowest]), names=names)


def are_probabilities(cells: Any) -> bool:
    """Return whether all numbers are between 0 and 1."""
    values = cells.data if sparse.issparse(cells) else np.asarray(cells)
    return bool(((values >= 0) & (values <= 1)).all())


def labels_of_dataset(data: MultilabelDataset, path: str | os.PathLike[str]) -> NamedMatrix:
    """Return the labels of a data set, without names if a reader generated them."""
    generated_names = tuple(f"y{label}" for label in range(data.n_labels))
    names = None if data.labels == generated_names else data.labels
    return NamedMatrix(data.Y, names, display_path(path, "standard input"), data.from_lists)


def align_to_labels(scores: NamedMatrix, truth: NamedMatrix) -> tuple[Any, tuple[Any, ...]]:
    """Return scores with columns in the order of the true labels, and the names of the labels."""
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


def is_array(path: str | os.PathLike[str]) -> bool:
    """Return whether a file holds an array of numpy or scipy, by its suffix."""
    return Path(path).suffix.lower() in ARRAYS


def _read_dataset(path: str | os.PathLike[str], options: dict[str, Any]) -> MultilabelDataset:
    """Read a data set; all columns are labels if the file does not say which columns are."""
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
    """Read a table from an array file; ``contents`` is ``"scores"`` or ``"labels"``."""
    source = InputFile(path)
    try:
        array = _load(source)
    except Exception as error:  # numpy.load may raise any error of its parsers and archives
        raise source.error(
            f"the array cannot be read ({error}). Expected what numpy.save, numpy.savez or "
            "scipy.sparse.save_npz writes, without objects. Write it again."
        ) from error
    if isinstance(array, dict):
        return _from_archive(array, source, contents)
    return NamedMatrix(_check_table(array, source, contents), None, os.fspath(path))


def _load(source: InputFile) -> Any:
    """Return an array, a sparse matrix, or the arrays of an archive by name."""
    with open(source.path, "rb") as stream:
        loaded = np.load(stream, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        if not set(loaded.files) >= _SPARSE:
            return {name: loaded[name] for name in loaded.files}
    table = sparse.load_npz(source.path)
    if hasattr(table, "check_format"):  # an index outside the matrix would crash compiled code
        table.check_format(full_check=True)
    return sparse.csr_array(table)


def _from_archive(arrays: dict[str, Any], source: InputFile, contents: str) -> NamedMatrix:
    """Return the only table of an archive, with the names in its only array of as many texts."""
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    if len(tables) != 1:
        raise source.error(
            f"the archive holds {len(tables)} tables ({join_names(arrays, 8)}). Expected one: the "
            f"{contents}, a row for each instance and a column for each label."
        )
    cells = arrays[tables[0]]
    texts = [array for array in arrays.values() if array.dtype.kind == "U" and array.ndim == 1]
    name_arrays = [array for array in texts if len(array) == cells.shape[1]]
    names = tuple(name_arrays[0].tolist()) if len(name_arrays) == 1 else None
    return NamedMatrix(_check_table(cells, source, contents), names, str(source.path))


def _check_table(cells: Any, source: InputFile, contents: str) -> Any:
    """Return an array of numbers with two dimensions; raise an error for any other array."""
    if cells.ndim != 2:
        raise source.error(
            f"the array has the shape {cells.shape}. Expected a table of {contents}: a row for "
            "each instance and a column for each label."
        )
    if cells.dtype.kind not in "biuf":
        raise source.error(f"the array holds values of type {cells.dtype}. Expected numbers.")
    return cells


def _describe_values(feature: Any) -> str:
    """Return what a column holds that is not numeric."""
    if feature.kind == "nominal" and feature.categories:
        return f"texts such as {feature.categories[0]!r}"
    return "dates" if feature.kind == "date" else "texts"


def _describe_shape(table: NamedMatrix) -> str:
    """Return the numbers of rows and labels as a text."""
    n_rows, n_labels = table.cells.shape
    return f"{n_rows:,} rows and {n_labels:,} labels"
