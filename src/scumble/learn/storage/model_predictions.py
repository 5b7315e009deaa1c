"""Predictions of a stored model for a data set, and tables of them."""

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

#: Suffixes of the tables that predictions are written to.
TABLES = (".csv", ".parquet")


@dataclass(frozen=True, eq=False)
class ModelPredictions:
    """Predictions for the rows of a data set.

    Attributes
    ----------
    names : tuple of str
        The names of the labels.
    labels : csr_array of bool, shape (n_rows, n_labels)
        The predicted labels of each row.
    confidences : ndarray of float64, shape (n_rows, n_labels)
        The scores in [0, 1]; 0 and 1 if the model has no scores.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from scumble.learn import ModelPredictions
    >>> scores = np.array([[0.9, 0.2], [0.1, 0.6]])
    >>> predictions = ModelPredictions(("sky", "soil"), sparse.csr_array(scores >= 0.5), scores)
    >>> predictions.labels.toarray()
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
            Whether to write scores instead of 0 and 1.
        """
        cells = self.confidences if confidences else self.labels.toarray().astype(np.uint8)
        write_label_table(path, self.names, cells)

    def to_dict(self) -> dict[str, Any]:
        """Count the predictions.

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
        """Return a data set with the predicted labels instead of its own.

        Parameters
        ----------
        data : MultilabelDataset
            The data set that was predicted.

        Returns
        -------
        MultilabelDataset
            Its features, without those that have the name of a label, and the predicted labels.
        """
        label_names = set(self.names)
        columns = [
            column for column, name in enumerate(data.feature_names) if name not in label_names
        ]
        return replace(
            data,
            X=data.X[:, columns],
            Y=self.labels,
            features=tuple(data.features[column] for column in columns),
            labels=self.names,
            label_parents=None,
        )


def read_with_optional_labels(
    read: Callable[..., MultilabelDataset], **options: Any
) -> MultilabelDataset:
    """Read data that may or may not have labels, by a function with a parameter ``labels``."""
    try:
        return read(**options)
    except ReadError as error:
        if options.get("labels") is not None:
            raise
        try:  # all columns as features; those of the model are found by their names
            return read(**options | {"labels": ()})
        except ReadError:
            raise error from None


def write_label_table(path: str | os.PathLike[str], names: Sequence[str], cells: Array) -> None:
    """Write a table with one column per label; if writing fails, no partial file is left."""
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
    with atomic_write(path) as output, output.open() as stream:
        stream.write(buffer.getvalue())


def table_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a table's path, one of `TABLES`; ``"-"`` means CSV."""
    file = CompressiblePath("stdout.csv" if os.fspath(path) == STDIO_PATH else path)
    if file.suffix not in TABLES or (file.suffix == ".parquet" and file.compression):
        raise ParameterError(
            f"Predictions are written as .csv (also .csv.gz and the like) or .parquet. Got "
            f"{str(path)!r}. Any other format can hold a whole data set with the predicted labels."
        )
    return file.suffix


def predict_dataset(stored: StoredModel, data: MultilabelDataset) -> ModelPredictions:
    """Predict the labels of a data set by a stored model.

    Parameters
    ----------
    stored : StoredModel
        The model.
    data : MultilabelDataset
        The rows. Columns are found by name, categories by their text; the labels of the data are
        not used, and the words of texts are those of the training data.

    Returns
    -------
    ModelPredictions
        Labels and scores.

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
    >>> predictions = predict_dataset(read_model(path), data)
    >>> predictions.names, predictions.labels.toarray().astype(int).tolist()
    (('land', 'sea'), [[1, 0], [1, 0], [0, 1], [0, 1]])
    """
    model = stored.model
    if isinstance(model, TextModel):
        X = model.read(data)
        model = model.model
    else:
        X = align_columns(data, stored.features, by_name=stored.has_names)
    with warnings.catch_warnings():
        # align_columns has matched the names, which the array X does not have.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        labels, scores = predict_with_unit_interval_scores(model, X, len(stored.labels))
    return ModelPredictions(stored.labels, labels, scores)
