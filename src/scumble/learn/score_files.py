"""Scores of a model that lives elsewhere, and the labels they belong to, from files."""

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
from scumble._core.validation import check_labels
from scumble.data import MultilabelDataset, read
from scumble.learn.storage.model_predictions import write_label_table

ARRAYS = (".npy", ".npz")
#: The arrays `scipy.sparse.save_npz` always writes.
_SPARSE = {"format", "shape", "data"}


@dataclass(frozen=True, eq=False)
class NamedMatrix:
    """A table of numbers with one column per label."""

    cells: Any  # ndarray or csr_array of numbers
    names: tuple[str, ...] | None  # the labels, where the file names them
    path: str
    are_tags: bool = False  # labels from lists, which cannot name one that no row has


def read_scores(path: str | os.PathLike[str]) -> NamedMatrix:
    """Read a table of scores: a row for each instance, a column for each label."""
    if is_array(path):
        return _read_array(path, "scores")
    table = read(path, labels=())
    if {"instance", "label", "score"} <= set(table.feature_names):
        raise ReadError(
            "this is a table with a row for each score. Expected a row for each instance and a "
            "column for each label. For the former there are scumble.scale.label_thresholds and "
            "scumble thresholds --engine duckdb.",
            path=Path(path),
        )
    for at, feature in enumerate(table.features):
        if feature.kind != "numeric":
            raise ReadError(
                f"column {feature.name!r} holds {_held(feature)}. Expected scores: a number for "
                "each row, and no columns but those of labels.",
                path=Path(path),
                column=at + 1,
            )
    return NamedMatrix(table.X, table.feature_names, display_path(path, "standard input"))


def read_true_labels(path: str | os.PathLike[str], **how: Any) -> NamedMatrix:
    """Read the labels that scores are compared with."""
    if not is_array(path):
        return labels_of_dataset(_read_dataset(path, how), path)
    table = _read_array(path, "labels")
    try:
        return NamedMatrix(check_labels(table.cells, caller="labels"), table.names, table.path)
    except LabelError as error:
        raise ReadError(str(error), path=Path(path)) from error


def read_predictions(path: str | os.PathLike[str]) -> NamedMatrix:
    """Read predicted labels, or scores: a table, an array, or a data set with such labels."""
    if not is_array(path):
        with suppress(ReadError):  # it may not say which of its columns are labels: all of them
            return labels_of_dataset(read(path), path)
    return read_scores(path)


def select_label_columns(table: NamedMatrix, truth: NamedMatrix) -> NamedMatrix:
    """Leave out columns that are none of the labels, where all of these have a column."""
    if table.names is None or truth.names is None or not set(truth.names) <= set(table.names):
        return table
    place = {name: at for at, name in enumerate(table.names)}
    cells = table.cells[:, [place[name] for name in truth.names]]
    return NamedMatrix(cells, truth.names, table.path)


def add_unseen_labels(truth: NamedMatrix, table: NamedMatrix) -> NamedMatrix:
    """Add labels that are predicted but that no row has, to truth from lists of tags."""
    # Other columns that are none of the labels are left out later, so they are named here.
    if table.names is None or truth.names is None:
        return truth
    known = set(truth.names)
    others = [(at, name) for at, name in enumerate(table.names) if name not in known]
    unseen = tuple(
        name for at, name in others if truth.are_tags and are_probabilities(table.cells[:, [at]])
    )
    left = tuple(name for _, name in others if name not in unseen)
    told = {
        f"no row of {truth.path} has {join_names(unseen, 8)}, for which {table.path} has a column: "
        "judged as labels that no row has.": unseen,
        f"{table.path} has columns that are none of the labels of {truth.path}: {join_names(left, 8)}. "
        "They are left out.": left if known < set(table.names) else (),
    }
    for sentence, names in told.items():
        if names:
            warnings.warn(sentence, ScumbleWarning, stacklevel=4)
    return _widened(truth, truth.names + unseen) if unseen else truth


def add_missing_labels(table: NamedMatrix, truth: NamedMatrix, *, warn: bool = True) -> NamedMatrix:
    """Add tags that rows have but a table of other labels does not know, in no row of it.

    In a table of scores they have the least score. A model cannot learn a tag that it never met.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from scumble.learn.score_files import NamedMatrix, add_missing_labels
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
    known = set(table.names)
    missed = tuple(name for name in truth.names if name not in known)
    if not missed or len(missed) == len(truth.names):
        return table
    if warn:
        warnings.warn(
            f"{table.path} has no column for {join_names(missed, 8)}, which rows of {truth.path} have: "
            "judged as labels that are never predicted.",
            ScumbleWarning,
            stacklevel=4,
        )
    return _widened(table, table.names + missed)


def _widened(table: NamedMatrix, names: tuple[str, ...]) -> NamedMatrix:
    """Add labels that no row has; in a table of scores they have the least score."""
    n_rows, n_known = table.cells.shape
    if sparse.issparse(table.cells):
        none = sparse.csr_array((n_rows, len(names) - n_known), dtype=table.cells.dtype)
        return replace(table, cells=sparse.hstack([table.cells, none], format="csr"), names=names)
    least = np.full((n_rows, len(names) - n_known), min(0.0, table.cells.min(initial=0.0)))
    return replace(table, cells=np.hstack([table.cells, least]), names=names)


def are_probabilities(cells: Any) -> bool:
    """Tell whether all numbers are between 0 and 1."""
    values = cells.data if sparse.issparse(cells) else np.asarray(cells)
    return bool(((values >= 0) & (values <= 1)).all())


def labels_of_dataset(data: MultilabelDataset, path: str | os.PathLike[str]) -> NamedMatrix:
    """Take the labels out of a data set; names that a reader made up are none."""
    made_up = tuple(f"y{at}" for at in range(data.n_labels))
    names = None if data.labels == made_up else data.labels
    return NamedMatrix(data.Y, names, display_path(path, "standard input"), data.from_lists)


def align_to_labels(scores: NamedMatrix, truth: NamedMatrix) -> tuple[Any, tuple[Any, ...]]:
    """Bring the columns of scores into the order of the labels."""
    if scores.cells.shape != truth.cells.shape:
        raise DataError(
            f"{scores.path} has {_size(scores)}, and {truth.path} {_size(truth)}. Expected the "
            "same: scores and labels of the same instances, in the same order."
        )
    if scores.names is None or truth.names is None or scores.names == truth.names:
        names = truth.names or scores.names
        return scores.cells, tuple(range(scores.cells.shape[1])) if names is None else names
    known = set(scores.names)
    lacking = [name for name in truth.names if name not in known]
    if lacking:
        raise DataError(
            f"{scores.path} has no scores for {len(lacking)} of the labels of {truth.path}, such "
            f"as {lacking[0]!r}. Its columns are {join_names(scores.names, 8)}. Expected the same "
            "names."
        )
    return select_label_columns(scores, truth).cells, truth.names


def write_labels(
    path: str | os.PathLike[str], names: Sequence[Any], labels: sparse.csr_array
) -> None:
    """Write predicted labels: 0 and 1 in a table, or a sparse matrix as ``.npz``."""
    if Path(path).suffix.lower() != ".npz":
        write_label_table(path, [str(name) for name in names], labels.toarray().astype(np.uint8))
        return
    buffer = io.BytesIO()
    sparse.save_npz(buffer, labels)
    with atomic_write(path) as target, target.open() as stream:
        stream.write(buffer.getvalue())


def is_array(path: str | os.PathLike[str]) -> bool:
    """Tell arrays of numpy and scipy from tables."""
    return Path(path).suffix.lower() in ARRAYS


def _read_dataset(path: str | os.PathLike[str], how: dict[str, Any]) -> MultilabelDataset:
    """Read a data set; a table that does not say which of its columns are labels is all labels."""
    try:
        return read(path, **how)
    except ReadError as error:
        if how.get("labels") is not None:
            raise
        try:
            names = read(path, **how | {"labels": ()}).feature_names
        except ReadError:
            raise error from None
    return read(path, **how | {"labels": list(names)})


def _read_array(path: str | os.PathLike[str], what: str) -> NamedMatrix:
    source = InputFile(path)
    try:
        found = _load(source)
    except Exception as error:  # numpy lets through whatever its parsers and archives raise
        raise source.error(
            f"the array cannot be read ({error}). Expected what numpy.save, numpy.savez or "
            "scipy.sparse.save_npz writes, without objects. Write it again."
        ) from error
    if isinstance(found, dict):
        return _from_arrays(found, source, what)
    return NamedMatrix(_table(found, source, what), None, os.fspath(path))


def _load(source: InputFile) -> Any:
    """Return an array, a sparse matrix, or the arrays of an archive by name."""
    with open(source.path, "rb") as stream:
        found = np.load(stream, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return found
        if not set(found.files) >= _SPARSE:
            return {name: found[name] for name in found.files}
    table = sparse.load_npz(source.path)
    if hasattr(table, "check_format"):  # a place outside the matrix would end the program
        table.check_format(full_check=True)
    return sparse.csr_array(table)


def _from_arrays(arrays: dict[str, Any], source: InputFile, what: str) -> NamedMatrix:
    """Take the only table of an archive, and the texts that name its columns."""
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    if len(tables) != 1:
        raise source.error(
            f"the archive holds {len(tables)} tables ({join_names(arrays, 8)}). Expected one: the "
            f"{what}, a row for each instance and a column for each label."
        )
    cells = arrays[tables[0]]
    texts = [array for array in arrays.values() if array.dtype.kind == "U" and array.ndim == 1]
    fitting = [array for array in texts if len(array) == cells.shape[1]]
    names = tuple(fitting[0].tolist()) if len(fitting) == 1 else None
    return NamedMatrix(_table(cells, source, what), names, str(source.path))


def _table(cells: Any, source: InputFile, what: str) -> Any:
    if cells.ndim != 2:
        raise source.error(
            f"the array has the shape {cells.shape}. Expected a table of {what}: a row for each "
            "instance and a column for each label."
        )
    if cells.dtype.kind not in "biuf":
        raise source.error(f"the array holds values of type {cells.dtype}. Expected numbers.")
    return cells


def _held(feature: Any) -> str:
    if feature.kind == "nominal" and feature.categories:
        return f"texts such as {feature.categories[0]!r}"
    return "dates" if feature.kind == "date" else "texts"


def _size(table: NamedMatrix) -> str:
    n_rows, n_labels = table.cells.shape
    return f"{n_rows:,} rows and {n_labels:,} labels"
