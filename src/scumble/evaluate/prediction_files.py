"""Evaluation of predictions and scores that other programs have written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError
from scumble.evaluate.metrics.evaluation import Evaluation, evaluate
from scumble.evaluate.metrics.label_groups import GROUPS
from scumble.learn.storage import score_files as files
from scumble.learn.storage.score_files import NamedMatrix
from scumble.learn.thresholds.selection import predict_labels
from scumble.measures.summary import to_json_value
from scumble.measures.threaded_kernels import count_labels

#: Default threshold of probabilities.
DEFAULT_THRESHOLD = 0.5
#: Columns of the label table, where they are available.
LABEL_COLUMNS = (
    "training_positives", "true_positives", "false_positives", "false_negatives", "precision",
    "recall", "f1", "auc", "average_precision",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class PredictionReport:
    """Evaluation of the predictions in a file."""

    evaluation: Evaluation
    labels: tuple[str, ...]
    positives: Array  # number of rows with each label
    n_instances: int
    #: Threshold of the scores; None if the file holds labels, or if there is no threshold.
    cut: float | None

    def label_table(self) -> list[dict[str, Any]]:
        """Return a row per label with its number of rows and its metrics."""
        by_label = self.evaluation.by_label
        columns = {"name": list(self.labels), "positives": self.positives.tolist()}
        columns |= {name: by_label[name].tolist() for name in LABEL_COLUMNS if name in by_label}
        rows = zip(*columns.values(), strict=True)
        return [to_json_value(dict(zip(columns, row, strict=True))) for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; NaN becomes None."""
        return {
            "n_instances": self.n_instances,
            "n_labels": len(self.labels),
            "cut": self.cut,
            "metrics": to_json_value(dict(self.evaluation)),
            "labels": self.label_table(),
        }


def score_predictions(
    predictions: NamedMatrix,
    truth: NamedMatrix,
    *,
    scores: NamedMatrix | None = None,
    cut: float | None = None,
    training: NamedMatrix | None = None,
    undefined: Any = "mulan",
    ties: str = "mulan",
) -> PredictionReport:
    """Evaluate a table of predicted labels, of scores, or one of each, by all metrics.

    Columns are matched by name, if both sides have names. Numbers other than 0 and 1 are scores: a
    label is predicted at scores of ``cut`` or more, by default 0.5 if all scores are probabilities;
    without a threshold only rankings are evaluated. The evaluation includes predicted labels that
    no row of a table of tags has, and labels without a column, which count as never predicted.
    Other columns that are not labels are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from scumble.evaluate.prediction_files import score_predictions
    >>> from scumble.learn.storage.score_files import NamedMatrix
    >>> cells = sparse.csr_array(np.array([[1, 0], [1, 1]], bool))
    >>> truth = NamedMatrix(cells, ("sky", "ship"), "Y.csv")
    >>> scores = NamedMatrix(np.array([[0.9, 0.2], [0.8, 0.4]]), ("sky", "ship"), "scores.csv")
    >>> report = score_predictions(scores, truth)
    >>> report.evaluation["micro_recall"], report.evaluation["ranking_loss"], report.cut
    (0.6666666666666666, 0.0, 0.5)
    """
    names_in_file = predictions.names
    predictions = files.add_missing_labels(predictions, truth)
    truth = files.add_unseen_labels(truth, predictions)
    cells, names = files.align_to_labels(files.select_label_columns(predictions, truth), truth)
    predicted_cells = cells
    score_cells = None
    if _are_labels(cells):
        if cut is not None:
            raise ParameterError(
                f"A cut, {cut:g}, is for scores. {predictions.path} holds 0 and 1."
            )
        if scores is not None:
            scores = files.add_missing_labels(scores, truth)
            score_cells, _ = files.align_to_labels(files.select_label_columns(scores, truth), truth)
    elif scores is not None:
        raise DataError(
            f"{predictions.path} holds scores, as {scores.path} does. Expected 0 and 1 in it, or "
            "one of the two files."
        )
    else:
        score_cells = cells
        if cut is None and files.are_probabilities(cells):
            cut = DEFAULT_THRESHOLD
        if cut is None:
            predicted_cells = None
        else:
            predicted_cells = predict_labels(cells, _thresholds(cut, names, names_in_file))
    evaluation = evaluate(
        truth.cells,
        predicted_cells,
        score_cells,
        undefined=undefined,
        ties=ties,
        groups=None if training is None else GROUPS,
        training=None if training is None else _training_labels(training, truth),
    )
    return PredictionReport(
        evaluation=evaluation,
        labels=tuple(str(name) for name in names),
        positives=count_labels(truth.cells),
        n_instances=truth.cells.shape[0],
        cut=cut,
    )


def _thresholds(cut: float, names: Sequence[Any], names_in_file: tuple[str, ...] | None) -> Array:
    """Return the threshold of each label: infinite for labels that the file has no scores of."""
    if names_in_file is None:
        return np.full(len(names), float(cut))
    has_scores = [name in names_in_file for name in names]
    return np.where(has_scores, cut, np.inf)


def _are_labels(cells: Any) -> bool:
    """Return whether a table holds nothing but 0 and 1."""
    values = cells.data if sparse.issparse(cells) else np.asarray(cells)
    return bool(np.isin(values, (0, 1)).all())


def _training_labels(training: NamedMatrix, truth: NamedMatrix) -> Any:
    """Return the labels of the training part, with columns in the order of the true labels."""
    table = files.select_label_columns(files.add_missing_labels(training, truth, warn=False), truth)
    if truth.names is not None and table.names is not None and table.names != truth.names:
        missing = next((name for name in truth.names if name not in table.names), table.names[0])
        raise DataError(
            f"{training.path} lacks the label {missing!r} of {truth.path}. Expected the labels "
            "that the model has learnt from, with the same names."
        )
    return table.cells
