"""What a model that lives elsewhere has predicted, judged against the labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError
from scumble.evaluate.evaluation import Evaluation, evaluate
from scumble.evaluate.groups import GROUPS
from scumble.learn import score_files as files
from scumble.learn.score_files import NamedMatrix
from scumble.learn.thresholds import predict_labels
from scumble.measures.summary import to_json_value
from scumble.measures.threaded_kernels import count_labels

#: From this probability on a label is predicted, unless something else is said.
HALF = 0.5
#: What is told of every label, where it is known.
OF_LABELS = (
    "training_positives", "true_positives", "false_positives", "false_negatives", "precision",
    "recall", "f1", "auc", "average_precision",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class PredictionReport:
    """What predictions are worth."""

    evaluation: Evaluation  # every metric, of all labels and by label
    labels: tuple[str, ...]
    positives: Array  # how many rows have each label
    n_instances: int
    # From which score on labels were predicted; None where they were given, or cannot be told.
    cut: float | None

    def label_table(self) -> list[dict[str, Any]]:
        """Tell for every label how often it occurs, and how well it was predicted."""
        known = self.evaluation.by_label
        columns = {"name": list(self.labels), "positives": self.positives.tolist()}
        columns |= {name: known[name].tolist() for name in OF_LABELS if name in known}
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
    """Judge tables of 0 and 1, of scores, or of both, by every metric there is.

    Columns are found by their names, where both sides have names. Numbers other than 0 and 1 are
    scores: a label is predicted from ``cut`` on, by default one half where all of them are
    probabilities; without a cut only their order is judged. Labels that are predicted, but that no
    row of a table of tags has, are judged too, and so are tags for which there is no column: these
    are never predicted. Other columns that are no labels are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from scumble.evaluate.prediction_files import score_predictions
    >>> from scumble.learn.score_files import NamedMatrix
    >>> Y = NamedMatrix(sparse.csr_array(np.array([[1, 0], [1, 1]], bool)), ("sky", "ship"), "Y.csv")
    >>> said = NamedMatrix(np.array([[0.9, 0.2], [0.8, 0.4]]), ("sky", "ship"), "said.csv")
    >>> found = score_predictions(said, Y)
    >>> found.evaluation["micro_recall"], found.evaluation["ranking_loss"], found.cut
    (0.6666666666666666, 0.0, 0.5)
    """
    known = predictions.names
    predictions = files.add_missing_labels(predictions, truth)
    truth = files.add_unseen_labels(truth, predictions)
    cells, names = files.align_to_labels(files.select_label_columns(predictions, truth), truth)
    said, sure = cells, None
    if _are_labels(cells):
        if cut is not None:
            raise ParameterError(
                f"A cut, {cut:g}, is for scores. {predictions.path} holds 0 and 1."
            )
        if scores is not None:
            sure, _ = files.align_to_labels(
                files.select_label_columns(files.add_missing_labels(scores, truth), truth), truth
            )
    elif scores is not None:
        raise DataError(
            f"{predictions.path} holds scores, as {scores.path} does. Expected 0 and 1 in it, or "
            "one of the two files."
        )
    else:
        cut = HALF if cut is None and files.are_probabilities(cells) else cut
        said = None if cut is None else predict_labels(cells, _cuts(cut, names, known))
        sure = cells
    rules: dict[str, Any] = {"undefined": undefined, "ties": ties}
    if training is not None:
        rules |= {"groups": GROUPS, "training": _training_labels(training, truth)}
    found = evaluate(truth.cells, said, sure, **rules)
    labels = tuple(str(name) for name in names)
    return PredictionReport(found, labels, count_labels(truth.cells), truth.cells.shape[0], cut)


def _cuts(cut: float, names: Sequence[Any], known: tuple[str, ...] | None) -> Array:
    """Cut all scores at one place; labels without any are never predicted, however low it is."""
    missed = set() if known is None else set(names) - set(known)
    has_scores = [name not in missed for name in names]
    return np.where(has_scores, cut, np.inf)


def _are_labels(cells: Any) -> bool:
    values = cells.data if sparse.issparse(cells) else np.asarray(cells)
    return bool(np.isin(values, (0, 1)).all())


def _training_labels(training: NamedMatrix, truth: NamedMatrix) -> Any:
    """Bring the labels of the training part into the order of the others."""
    table = files.select_label_columns(files.add_missing_labels(training, truth, warn=False), truth)
    if truth.names is not None and table.names is not None and table.names != truth.names:
        lacking = next((name for name in truth.names if name not in table.names), table.names[0])
        raise DataError(
            f"{training.path} lacks the label {lacking!r} of {truth.path}. Expected the labels "
            "that the model has learnt from, with the same names."
        )
    return table.cells
