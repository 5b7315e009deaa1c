"""One fold: resample the training part, learn, predict, judge; and counts of several folds."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.table_repr import RecordList, TableReprMixin
from scumble.data import MultilabelDataset
from scumble.evaluate.bipartition_metrics import RATES
from scumble.evaluate.counts import Counts
from scumble.evaluate.evaluation import Evaluation, evaluate, group_metrics
from scumble.evaluate.groups import GROUPS, MIN_TRAINING_POSITIVES
from scumble.learn import TextColumns, fit_dataset
from scumble.learn.predictions import predict_with_scores
from scumble.resample import run_chain

STEPS = ("resample", "fit", "predict")


@dataclass(frozen=True, eq=False)
class FittedFold:
    """Everything that came of one fold.

    Attributes
    ----------
    training, resampled : MultilabelDataset
        The training part before and after resampling, with numbers in the place of texts.
    model : estimator
        The fitted classifier.
    predictions : csr_array of bool
        What it predicted for the test part.
    scores : ndarray of shape (n_samples, n_labels) or None
        How sure it was, where it can tell.
    evaluation : Evaluation
        All metrics, of all labels and of each group.
    seconds : dict of str to float
        Wall time of ``resample``, ``fit`` and ``predict``.

    Examples
    --------
    >>> import scumble
    >>> from scumble.evaluate import run_fold
    >>> from scumble.learn import BinaryRelevance
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> fold = run_fold(data[:60], data[60:], BinaryRelevance())
    >>> type(fold.model).__name__, fold.predictions.shape
    ('BinaryRelevance', (30, 8))
    """

    training: MultilabelDataset
    resampled: MultilabelDataset
    model: Any
    predictions: sparse.csr_array
    scores: Array | None
    evaluation: Evaluation
    seconds: dict[str, float]


def run_fold(
    training: MultilabelDataset,
    tested: MultilabelDataset,
    classifier: Any,
    resamplers: Sequence[Any] = (),
    *,
    random_state: int | None = None,
    groups: Any = GROUPS,
    undefined: Any = "mulan",
    ties: str = "mulan",
) -> FittedFold:
    """Learn from one part of the data and judge on another.

    Cross-validation and experiments run their folds here, so that they cannot differ.

    Parameters
    ----------
    training, tested : MultilabelDataset
        The two parts. Resamplers see the first alone, and so does what turns texts into numbers;
        see `scumble.learn.TextColumns`.
    classifier : estimator
        Not changed; a copy is fitted, see `scumble.learn.fit_dataset`.
    resamplers : sequence of resamplers
        Applied in order; their seeds are set.
    random_state : int, optional
        Seed for what the classifier leaves open.
    groups, undefined, ties : object
        See `evaluate`. Groups are those of the training part before resampling.

    Returns
    -------
    Fold
        The fitted model, its predictions and what they are worth.

    Examples
    --------
    >>> import scumble
    >>> from scumble.evaluate import run_fold
    >>> data = scumble.make_multilabel(200, 6, mean_ir=5, scumble=0.1, random_state=0)
    >>> fold = run_fold(data[:150], data[150:], scumble.learn.MLkNN())
    >>> fold.predictions.shape, 0 <= fold.evaluation["minority.macro_f1"] <= 1
    ((50, 6), True)
    """
    seconds = dict.fromkeys(STEPS, 0.0)
    with add_elapsed_seconds(seconds, "fit"):
        texts = TextColumns.of(training)
        training = texts.transform(training)
    with add_elapsed_seconds(seconds, "resample"):
        resampled = run_chain(training, resamplers)
    with add_elapsed_seconds(seconds, "fit"):
        model = fit_dataset(classifier, resampled, random_state=random_state)
    with add_elapsed_seconds(seconds, "predict"):
        predictions, scores = predict_with_scores(model, texts.transform(tested).X, tested.n_labels)
    rules = {"undefined": undefined, "ties": ties, "groups": groups}
    evaluation = evaluate(tested, predictions, scores, training=training.Y, **rules)
    return FittedFold(training, resampled, model, predictions, scores, evaluation, seconds)


@contextmanager
def add_elapsed_seconds(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Add the wall time of a block to what a step took."""
    started = time.perf_counter()
    yield
    seconds[step] += time.perf_counter() - started


# Hits and misses of every label, added up over folds before anything is divided -------------------


@dataclass(frozen=True, eq=False, repr=False)
class LabelCounts(TableReprMixin):
    """What one fold says of each label, in numbers that may be added up.

    Attributes
    ----------
    training : ndarray of int64
        Instances of the training part, before resampling, that have the label.
    hits, predicted, true : ndarray of int64
        Instances of the test part with the label predicted rightly, predicted, and there.
    n_test : int
        Instances of the test part.
    groups : mapping of str to ndarray of bool
        Which labels belong to which group on this fold.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> found = scumble.evaluate.cross_validate(data, "br", splitter="1x3", random_state=0)
    >>> counts = found.label_counts[0]
    >>> counts.n_test, len(counts.hits)
    (30, 8)
    """

    training: Array
    hits: Array
    predicted: Array
    true: Array
    n_test: int
    groups: Mapping[str, Array]

    @classmethod
    def of(cls, evaluation: Evaluation) -> LabelCounts:
        """Take the counts out of what `evaluate` says of one fold.

        Parameters
        ----------
        evaluation : Evaluation
            Made with ``training`` and predictions.

        Returns
        -------
        LabelCounts
            The counts.
        """
        table = evaluation.by_label
        hits, others = table["true_positives"], table["true_negatives"]
        predicted, true = hits + table["false_positives"], hits + table["false_negatives"]
        n_test = int((predicted + true - hits + others)[0])
        return cls(table["training_positives"], hits, predicted, true, n_test, evaluation.groups)

    def to_dict(self) -> dict[str, Any]:
        """Return lists of whole numbers, as JSON can hold them.

        Returns
        -------
        dict
            For `from_plain`.
        """
        columns = {name: getattr(self, name).tolist() for name in COLUMNS}
        groups = {name: np.flatnonzero(mask).tolist() for name, mask in self.groups.items()}
        groups.pop("all", None)  # which is known
        return {**columns, "n_test": self.n_test, "groups": groups}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> LabelCounts:
        """Read what `to_plain` gave.

        Parameters
        ----------
        plain : mapping
            The lists.

        Returns
        -------
        LabelCounts
            The counts.
        """
        columns = {name: np.array(plain[name], np.int64) for name in COLUMNS}
        labels = np.arange(len(columns["true"]))
        members = {"all": labels, **plain["groups"]}
        groups = {name: np.isin(labels, chosen) for name, chosen in members.items()}
        return cls(**columns, n_test=plain["n_test"], groups=groups)


COLUMNS = ("training", "hits", "predicted", "true")


def pooled_metrics(folds: Iterable[LabelCounts]) -> dict[str, float]:
    """Compute metrics from counts added up over folds.

    A mean over folds of macro F does not punish false positives of labels that a fold's test part
    does not hold, and a label with two test instances in five folds has three folds that say
    nothing. Adding up first has neither fault.

    Parameters
    ----------
    folds : iterable of LabelCounts
        One per fold, all repetitions together.

    Returns
    -------
    dict of str to float
        Metrics of predicted labels: ``macro_f1``, ``micro_f1``, ..., ``never_predicted``, and the
        same of each group, such as ``minority.macro_f1``. NaN where no label counts.

    Notes
    -----
    Of a label the folds are added up whose training part has it at least twice and, for a group,
    puts it into that group; it counts if it occurs in one of their test parts. Without a group
    this is the rule for all labels.

    Examples
    --------
    On the first fold the label is found; on the second it is absent and predicted twice.

    >>> import numpy as np
    >>> from scumble.evaluate.folds import LabelCounts, pooled_metrics
    >>> def fold(hits, predicted, true):
    ...     counts = (np.array([n]) for n in (5, hits, predicted, true))
    ...     return LabelCounts(*counts, n_test=10, groups={})
    >>> pooled_metrics([fold(2, 2, 2), fold(0, 2, 0)])["macro_precision"]
    0.5
    """
    folds = list(folds)
    found = group_metrics(_added(folds, None))
    for group in folds[0].groups:
        rated = group_metrics(_added(folds, group))
        found |= {f"{group}.{name}": value for name, value in rated.items()}
    return found


def label_table(folds: Iterable[LabelCounts], names: Sequence[str]) -> RecordList[dict[str, Any]]:
    """Tell for every label what the folds together say of it."""
    folds = list(folds)
    counts = _summed(folds, np.ones((len(folds), len(names)), bool))
    columns: dict[str, Any] = {
        "name": list(names),
        "training_positives": np.mean([fold.training for fold in folds], axis=0).tolist(),
        "test_positives": counts.true.tolist(),
        "true_positives": counts.hits.tolist(),
        "false_positives": counts.false_positives.tolist(),
        "false_negatives": counts.false_negatives.tolist(),
        **{name: RATES[name](counts)[0].tolist() for name in ("precision", "recall", "f1")},
    }
    for group in folds[0].groups:
        if group != "all":
            columns[group] = np.sum([fold.groups[group] for fold in folds], axis=0).tolist()
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return RecordList(rows, "labels", tuple(columns))


def _added(folds: Sequence[LabelCounts], group: str | None) -> Counts:
    """Add up each label over the folds on which it counts, and keep labels that occur."""
    member = np.stack([fold.training >= MIN_TRAINING_POSITIVES for fold in folds])
    if group is not None:
        member &= np.stack([fold.groups[group] for fold in folds])
    counts = _summed(folds, member)
    return counts.take(counts.true > 0)


def _summed(folds: Sequence[LabelCounts], member: Array) -> Counts:
    def add(values: list[Any]) -> Array:
        return (member * np.array(values)).sum(axis=0)

    hits, predicted, true = (add([getattr(f, name) for f in folds]) for name in COLUMNS[1:])
    return Counts(hits, predicted, true, add([[fold.n_test] for fold in folds]))
