"""Advice for a data set: its problems, the best method, and the expected values of metrics.

A *method* or *candidate* is a classifier, with resamplers before it or without; see `CANDIDATES`.
*Untreated* is a tree per label without resampling; *gains* are differences in macro F1 from it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError, parameter_error
from scumble._core.table_repr import TableReprMixin, TableView, format_cell
from scumble._validation.provenance import warn_if_resampled
from scumble.advice.advice_text import advice_to_dict, format_advice, sentences
from scumble.advice.candidates import Candidate, CandidatePredictions, CandidateRunner, TimeBudget
from scumble.advice.diagnosis import Diagnosis, diagnose
from scumble.advice.estimates import (
    METRICS,
    MetricEstimate,
    RowSubsamples,
    learnable_labels,
    rows_needed,
)
from scumble.data import MultilabelDataset
from scumble.evaluate import confusion
from scumble.evaluate.metrics.bipartition import f1s
from scumble.evaluate.model_selection.cross_validation import check_dataset, resolve_seed

#: A method replaces the default if it gains at least this much macro F1 and the interval of the
#: gain is above 0. Without this rule the best of nine methods would often be the best by chance.
MIN_GAIN_OVER_DEFAULT = 0.02
#: The slow default replaces the quick one if it gains at least this much macro F1; a smaller gain
#: is not worth the time.
MIN_GAIN_OF_SLOW_DEFAULT = 0.003
# Names of the candidates that are recommended by default.
QUICK_DEFAULT = "rare"
SLOW_DEFAULT = "rare(quality=best)"
#: Gains are relative to this candidate.
UNTREATED = "br"
#: With fewer rows, out-of-sample scores are mostly chance.
MIN_ROWS = 20


@dataclass(frozen=True, eq=False, repr=False)
class CandidateResult(TableReprMixin):
    """The estimated performance of a candidate on new rows."""

    candidate: Candidate
    expected: dict[str, MetricEstimate]  # macro_f1, minority_f1 and micro_f1 on new rows
    gain: MetricEstimate  # difference in macro F1 from the untreated classifier, or NaN
    label_f1: Array  # out-of-sample F1 of every label, 0 where it is undefined
    seconds: float  # duration of the evaluation


@dataclass(frozen=True, eq=False, repr=False)
class Advice(TableReprMixin):
    """The recommended method for a data set, with the reasons.

    Attributes
    ----------
    data : MultilabelDataset
        The data.
    diagnosis : Diagnosis
        The problems that the data alone shows.
    results : tuple of CandidateResult
        The evaluated candidates, in the order of `CANDIDATES`.
    selected : str
        Name of the recommended candidate.
    learnable : ndarray of bool
        Labels that a method ranks better than chance.
    left_out : tuple of (str, str)
        Names of the candidates that were not evaluated, with the reasons.
    rows_needed : int or None
        Number of rows from which on most labels of this data are learnt. None if it cannot be
        estimated.
    random_state : int
        The seed; with it `advise` returns the same advice again.
    interrupted : bool
        Whether the evaluation was stopped before all candidates were evaluated.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(200, 6, scumble=None, random_state=0)
    >>> advice = scumble.advise(data, budget=None, random_state=0)
    >>> advice.selected == advice[advice.selected].candidate.name
    True
    >>> type(advice.model).__name__, sorted(advice.expected)
    ('RareLabelClassifier', ['macro_f1', 'micro_f1', 'minority_f1'])
    """

    data: MultilabelDataset
    diagnosis: Diagnosis
    results: tuple[CandidateResult, ...]
    selected: str
    learnable: Array
    left_out: tuple[tuple[str, str], ...]
    rows_needed: int | None
    random_state: int
    interrupted: bool = False

    def __getitem__(self, name: str) -> CandidateResult:
        """Return the result of the candidate with a name; a ParameterError if it has none."""
        for result in self.results:
            if result.candidate.name == name:
                return result
        evaluated = ", ".join(result.candidate.name for result in self.results)
        raise ParameterError(f"{name!r} was not evaluated. Evaluated methods: {evaluated}.")

    @property
    def model(self) -> Any:
        """The recommended classifier, not fitted.

        `train` also applies the resampling that is recommended with it.
        """
        return self[self.selected].candidate.classifier_factory()

    @property
    def expected(self) -> dict[str, MetricEstimate]:
        """Estimates of all metrics on new rows for the recommended method, by metric."""
        return self[self.selected].expected

    @property
    def nothing_to_learn(self) -> bool:
        """Whether no method ranks any label better than chance."""
        return not self.learnable.any()

    @property
    def not_learnable_yet(self) -> Array:
        """Mask of the labels that are never predicted correctly or ranked no better than chance.

        Labels that all rows or no rows have are not included.
        """
        is_never_predicted = self[self.selected].label_f1 == 0
        has_both_classes = self.diagnosis.has_both_classes(len(self.data))
        is_not_learnable: Array = has_both_classes & (is_never_predicted | ~self.learnable)
        return is_not_learnable

    def train(self, *, n_jobs: int | None = None) -> Any:
        """Fit the recommended method on all rows.

        Parameters
        ----------
        n_jobs : int, optional
            Number of threads.

        Returns
        -------
        estimator
            The fitted classifier.
        """
        candidate = self[self.selected].candidate
        return candidate.fit(self.data, random_state=self.random_state, n_jobs=n_jobs)

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as values that can be written as JSON; NaN becomes None.

        Returns
        -------
        dict
            ``chosen`` (name of the recommended method), ``methods`` (all that were evaluated),
            ``left_out``, ``labels``, ``at_risk``, ``same_labels``, ``identifiers``, ``leaks``,
            ``sentences`` (by heading), ``shell`` and ``python`` (code that trains the recommended
            method), and more.
        """
        return advice_to_dict(self)

    def __str__(self) -> str:
        """Return the sentences of the advice and the suggested code as one text."""
        return format_advice(self)

    def _repr_title(self) -> str:
        """Return a line with the data set, the recommended method and its expected macro F1."""
        macro_f1 = format_cell(self.expected["macro_f1"].value)
        return (
            f"Advice for {self.data.name!r}: {self.selected}, macro F1 {macro_f1}; "
            f"{len(self.results)} methods evaluated"
        )

    def _repr_table(self) -> TableView:
        """Return the estimates of all candidates as a table, with the sentences as notes."""
        rows = []
        for result in self.results:
            estimates = [estimate.value for estimate in result.expected.values()]
            rows.append((result.candidate.name, *estimates, result.gain.value, result.seconds))
        head = ("method", *self.expected, "gain", "seconds")
        notes = []
        for section in sentences(self).values():
            notes += section
        return TableView(head, rows, len(rows), notes)


def advise(
    data: MultilabelDataset,
    *,
    budget: float | None = 120.0,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Advice:
    """Diagnose a data set, recommend a method, and estimate its performance on new rows.

    All candidates are evaluated out of sample on this data. A default is recommended unless another
    candidate is clearly better.

    Parameters
    ----------
    data : MultilabelDataset
        The data.
    budget : float, optional
        Approximate time limit in seconds. Candidates that would exceed it are left out, see
        `CANDIDATES`; otherwise the advice depends only on data and seed. None evaluates all.
    random_state : None, int, Generator or RandomState, default=0
        The seed. The same seed gives the same advice.
    n_jobs : int, optional
        Number of threads. It affects the time but not the result.

    Returns
    -------
    Advice
        Print it, or use its ``selected``, ``results``, ``train()`` and ``to_dict()``.

    Notes
    -----
    Rare-label classifiers provide leave-one-out scores. All other candidates are fitted on five
    folds, and so are the rare-label classifiers if the data contains texts. Thresholds are chosen
    on three quarters of the rows and evaluated on the fourth. The expected value on new rows is the
    mean over 200 random subsamples, each a quarter of the rows. The interval contains the middle
    nine tenths of them; it is widened because new rows vary more than subsamples of the same rows.

    Examples
    --------
    >>> import scumble
    >>> from scumble.advice import advise
    >>> data = scumble.make_multilabel(300, 8, mean_ir=10, scumble=0.1, random_state=0)
    >>> advice = advise(data, random_state=0)
    >>> advice.selected in ("rare", "rare(quality=best)"), advice["br"].gain.value
    (True, 0.0)
    """
    check_dataset(data, caller="advise")
    _check_arguments(data, budget)
    seed = resolve_seed(random_state, caller="advise")
    warn_if_resampled(data, caller="advise")
    diagnosis = diagnose(data)
    runner = CandidateRunner(data, random_state=seed, n_jobs=n_jobs, budget=TimeBudget(budget))
    runner.run_all()
    return build_advice(runner, diagnosis)


def build_advice(runner: CandidateRunner, diagnosis: Diagnosis) -> Advice:
    """Return the advice that follows from the out-of-sample predictions of the candidates.

    ``runner`` holds the predictions, ``diagnosis`` the problems of its data. A DataError is raised
    if there are no predictions.
    """
    data = runner.data
    candidate_predictions = runner.candidate_predictions
    if not candidate_predictions:
        reasons = " ".join(f"{name}: {reason}" for name, reason in runner.left_out)
        raise DataError(f"advise: no candidate could be evaluated. {reasons}")
    subsamples = RowSubsamples(data.Y, diagnosis.is_rare, runner.random_state)
    subsample_metrics = {
        name: subsamples.metrics(item.predictions) for name, item in candidate_predictions.items()
    }
    results = {
        name: _evaluate_candidate(item, subsample_metrics, data)
        for name, item in candidate_predictions.items()
    }
    selected = _select_method(subsample_metrics)
    return Advice(
        data=data,
        diagnosis=diagnosis,
        results=tuple(results.values()),
        selected=selected,
        learnable=learnable_labels(_untreated_scores(candidate_predictions), data.Y),
        left_out=tuple(runner.left_out),
        rows_needed=rows_needed(diagnosis.counts, results[selected].label_f1),
        random_state=runner.random_state,
        interrupted=runner.interrupted,
    )


def _untreated_scores(candidate_predictions: dict[str, CandidatePredictions]) -> list[Array]:
    """Return the scores of all candidates that are fitted on the original rows.

    Candidates without scores, and those that use the scores of another one, are left out.
    """
    return [
        item.scores
        for item in candidate_predictions.values()
        if item.scores is not None
        and not item.candidate.resampler
        and not item.candidate.scores_from
    ]


def _check_arguments(data: MultilabelDataset, budget: float | None) -> None:
    """Raise an error if the budget is invalid, or the data lacks rows, features or labels."""
    if budget is not None and not (isinstance(budget, int | float) and budget > 0):
        raise parameter_error("budget", "advise", "be a positive number of seconds", budget)
    if len(data) < MIN_ROWS:
        raise DataError(
            f"advise: found {len(data)} rows. Expected at least {MIN_ROWS}: with fewer rows, "
            "out-of-sample scores are mostly chance."
        )
    if not data.features:
        raise DataError("advise: the data has no features to learn from. Expected at least one.")
    if not data.labels:
        raise DataError("advise: the data has no labels. Expected at least one.")


def _evaluate_candidate(
    candidate_predictions: CandidatePredictions,
    subsample_metrics: dict[str, Array],
    data: MultilabelDataset,
) -> CandidateResult:
    """Return the estimated performance of one candidate.

    ``subsample_metrics`` holds for each candidate the values of `METRICS` on all subsamples, of
    shape (n_subsamples, n_metrics).
    """
    values = subsample_metrics[candidate_predictions.candidate.name]
    expected = {
        metric: MetricEstimate.from_values(values[:, column]).clip(0.0, 1.0)
        for column, metric in enumerate(METRICS)
    }
    if UNTREATED in subsample_metrics:
        untreated_values = subsample_metrics[UNTREATED]
        gain = MetricEstimate.from_values(values[:, 0] - untreated_values[:, 0])
    else:
        gain = MetricEstimate(np.nan, np.nan, np.nan)
    label_f1, _ = f1s(confusion(data.Y, candidate_predictions.predictions).by_label)
    return CandidateResult(
        candidate=candidate_predictions.candidate,
        expected=expected,
        gain=gain,
        label_f1=np.nan_to_num(label_f1),
        seconds=candidate_predictions.seconds,
    )


def _select_method(subsample_metrics: dict[str, Array]) -> str:
    """Return the name of the default candidate, or of one that clearly gains macro F1 over it.

    ``subsample_metrics`` is as in `_evaluate_candidate`.
    """
    macro_f1 = {name: values[:, 0] for name, values in subsample_metrics.items()}
    default = _select_default(macro_f1)
    acceptable = [default]
    for name in macro_f1:
        gain = MetricEstimate.from_values(macro_f1[name] - macro_f1[default])
        if gain.value >= MIN_GAIN_OVER_DEFAULT and gain.low > 0:
            acceptable.append(name)
    return max(acceptable, key=lambda name: float(np.nanmean(macro_f1[name])))


def _select_default(macro_f1: dict[str, Array]) -> str:
    """Return the name of the candidate that is recommended unless another one is clearly better.

    It is the quick default, or the slow one if that gains enough; if only one was evaluated, this
    one, and if none was, the first candidate. ``macro_f1`` holds the values on all subsamples.
    """
    if SLOW_DEFAULT in macro_f1 and QUICK_DEFAULT in macro_f1:
        gain = np.nanmean(macro_f1[SLOW_DEFAULT] - macro_f1[QUICK_DEFAULT])
        if gain >= MIN_GAIN_OF_SLOW_DEFAULT:
            return SLOW_DEFAULT
        return QUICK_DEFAULT
    return next(name for name in (SLOW_DEFAULT, QUICK_DEFAULT, *macro_f1) if name in macro_f1)
