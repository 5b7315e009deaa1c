"""What a stored model says about a data set, and that as a file."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ReadError
from scumble._core.files import CompressiblePath, atomic_write
from scumble._core.text import STDIO_PATH
from scumble.data import MultilabelDataset
from scumble.learn.predictions import predict_with_unit_interval_scores
from scumble.learn.storage.columns import align_columns
from scumble.learn.texts import TextModel

if TYPE_CHECKING:
    from scumble.learn.storage.files import StoredModel

#: Tables these suffixes mean.
TABLES = (".csv", ".parquet")


@dataclass(frozen=True, eq=False)
class ModelPredictions:
    """Predictions for the rows of a data set.

    Attributes
    ----------
    names : tuple of str
        The labels.
    labels : csr_array of bool, shape (n_rows, n_labels)
        Which labels each row has.
    confidences : ndarray of float64, shape (n_rows, n_labels)
        How sure that is; 0 and 1 where the model has no numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from scumble.learn import SearchBuffers
    >>> sure = np.array([[0.9, 0.2], [0.1, 0.6]])
    >>> SearchBuffers(("sky", "soil"), sparse.csr_array(sure >= 0.5), sure).labels.toarray()
    array([[ True, False],
           [False,  True]])
    """

    names: tuple[str, ...]
    labels: sparse.csr_array
    confidences: Array

    def write(self, path: str | os.PathLike[str], *, confidences: bool = False) -> None:
        """Write a table with one column per label.

        Parameters
        ----------
        path : str or Path
            A file that ends in ``.csv`` or ``.parquet``; CSV may be compressed. ``"-"`` writes CSV
            to standard output.
        confidences : bool
            Whether to write confidences instead of 0 and 1.
        """
        cells = self.confidences if confidences else self.labels.toarray().astype(np.uint8)
        write_label_table(path, self.names, cells)

    def to_dict(self) -> dict[str, Any]:
        """Count what was predicted.

        Returns
        -------
        dict
            ``n_instances``, ``n_labels``, ``n_predicted``, ``n_unlabelled``, ``cardinality``, and
            ``labels``, each with ``name`` and ``count``.
        """
        counts = self.labels.sum(axis=0)
        n_rows = self.labels.shape[0]
        return {
            "n_instances": n_rows,
            "n_labels": len(self.names),
            "n_predicted": int(counts.sum()),
            "n_unlabelled": int((self.labels.sum(axis=1) == 0).sum()),
            "cardinality": float(counts.sum()) / max(n_rows, 1),
            "labels": [
                {"name": name, "count": int(count)}
                for name, count in zip(self.names, counts, strict=True)
            ],
        }

    def to_dataset(self, data: MultilabelDataset) -> MultilabelDataset:
        """Put the predicted labels in the place of a data set's own.

        Parameters
        ----------
        data : MultilabelDataset
            What was asked about.

        Returns
        -------
        MultilabelDataset
            Its features that are no label, with the predicted labels.
        """
        labels = set(self.names)
        kept = [at for at, name in enumerate(data.feature_names) if name not in labels]
        features = tuple(data.features[at] for at in kept)
        return replace(
            data, X=data.X[:, kept], Y=self.labels, features=features, labels=self.names,
            label_parents=None,
        )  # fmt: skip


def read_with_optional_labels(
    read: Callable[..., MultilabelDataset], **how: Any
) -> MultilabelDataset:
    """Read data whose labels may be there, or not, by a function that takes ``labels``."""
    try:
        return read(**how)
    except ReadError as error:
        if how.get("labels") is not None:
            raise
        try:  # all columns as features; the model picks its own by name
            return read(**how | {"labels": ()})
        except ReadError:
            raise error from None


def write_label_table(path: str | os.PathLike[str], names: Sequence[str], cells: Array) -> None:
    """Write a table with one column per label, whole or not at all."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    suffix = table_suffix(path)
    columns = [pa.array(np.ascontiguousarray(column)) for column in cells.T]
    table = pa.Table.from_arrays(columns, names=list(names))
    buffer = io.BytesIO()
    if suffix == ".csv":
        pyarrow.csv.write_csv(table, buffer)
    else:
        pyarrow.parquet.write_table(table, buffer)
    with atomic_write(path) as target, target.open() as stream:
        stream.write(buffer.getvalue())


def table_suffix(path: str | os.PathLike[str]) -> str:
    """Tell which of `TABLES` a file name means, or refuse it; standard output is CSV."""
    file = CompressiblePath("stdout.csv" if os.fspath(path) == STDIO_PATH else path)
    if file.suffix not in TABLES or (file.suffix == ".parquet" and file.compression):
        raise ParameterError(
            f"Predictions are written as .csv (also .csv.gz and the like) or .parquet. Got "
            f"{str(path)!r}. Any other format can hold a whole data set with the predicted labels."
        )
    return file.suffix


def predict_dataset(stored: StoredModel, data: MultilabelDataset) -> ModelPredictions:
    """Ask a stored model about a data set.

    Parameters
    ----------
    stored : StoredModel
        The model.
    data : MultilabelDataset
        The rows. Columns are found by name, categories by their text; labels are not looked at, and
        the words of texts are those the model has learnt.

    Returns
    -------
    Answers
        Labels and confidences.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from scumble import MultilabelDataset
    >>> from scumble.learn import MLkNN, predict_dataset, fit_dataset, read_model, save
    >>> X = [[0.0], [1.0], [8.0], [9.0]]
    >>> Y = [["land"], ["land"], ["sea"], ["sea"]]
    >>> data = MultilabelDataset(X, Y, features=["blue"])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "photos.model"
    >>> save(fit_dataset(MLkNN(n_neighbors=1), data), path, data=data)
    >>> answers = predict_dataset(read_model(path), data)
    >>> answers.names, answers.labels.toarray().astype(int).tolist()
    (('land', 'sea'), [[1, 0], [1, 0], [0, 1], [0, 1]])
    """
    model = stored.model
    if isinstance(model, TextModel):
        X, model = model.read(data), model.model
    else:
        X = align_columns(data, stored.features, by_name=stored.has_names)
    with warnings.catch_warnings():
        # The names have been matched; the model need not miss them on the array.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        answers = predict_with_unit_interval_scores(model, X, len(stored.labels))
    return ModelPredictions(stored.labels, *answers)
