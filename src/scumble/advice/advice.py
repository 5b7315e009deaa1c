"""The advice: what is wrong, what helps here, what does not, and how sure that is."""

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

#: The default is left only for a gain of macro F1 that is at least so large, and no accident.
CLEAR_GAIN = 0.02
#: The slower of two good defaults must gain so much over the quick one.
WORTH_WAITING = 0.003
QUICK, GOOD, UNTREATED = "rare", "rare(quality=best)", "br"
#: Fewer rows than this tell nothing.
FEWEST_ROWS = 20


@dataclass(frozen=True, eq=False, repr=False)
class CandidateResult(TableReprMixin):
    """A candidate with what to expect of it."""

    candidate: Candidate
    expected: dict[str, MetricEstimate]  # macro_f1, minority_f1 and micro_f1 on new rows
    gain: MetricEstimate  # change of macro F1 against the untreated classifier
    label_f1: Array  # F1 of every label on rows the models had not seen, 0 where it is undefined
    seconds: float  # what it took to judge it


@dataclass(frozen=True, eq=False, repr=False)
class Advice(TableReprMixin):
    """A decision with its reasons.

    Attributes
    ----------
    data : MultilabelDataset
        The data.
    diagnosis : Diagnosis
        What stands in the way, by the data alone.
    judged : tuple of Judged
        The candidates that were tried, in their order.
    chosen : str
        Name of the one that is advised.
    learnable : ndarray of bool
        Labels that a method ranks better than by chance.
    left_out : tuple of (str, str)
        Candidates that were not tried, and why.
    rows_needed : int or None
        From so many rows on most labels of this data are learnt.
    random_state : int
        Give it again to get the same.
    interrupted : bool
        Whether it was stopped before all was done.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(200, 6, scumble=None, random_state=0)
    >>> found = scumble.advise(data, budget=None, random_state=0)
    >>> found.chosen == found[found.chosen].candidate.name
    True
    >>> type(found.model).__name__, sorted(found.expected)
    ('RareLabelClassifier', ['macro_f1', 'micro_f1', 'minority_f1'])
    """

    data: MultilabelDataset
    diagnosis: Diagnosis
    results: tuple[CandidateResult, ...]
    chosen: str
    learnable: Array
    left_out: tuple[tuple[str, str], ...]
    rows_needed: int | None
    random_state: int
    interrupted: bool = False

    def __getitem__(self, name: str) -> CandidateResult:
        known = {one.candidate.name: one for one in self.results}
        if name not in known:
            raise ParameterError(f"{name!r} was not judged here. Judged were: {', '.join(known)}.")
        return known[name]

    @property
    def model(self) -> Any:
        """The advised classifier, not fitted; `train` also resamples where that is advised."""
        return self[self.chosen].candidate.classifier_factory()

    @property
    def expected(self) -> dict[str, MetricEstimate]:
        """What to expect of the advised method on new rows, metric by metric."""
        return self[self.chosen].expected

    @property
    def nothing_to_learn(self) -> bool:
        """Whether no label is ranked better than by chance."""
        return not self.learnable.any()

    @property
    def not_learnable_yet(self) -> Array:
        """Labels with rows and without, which nothing here tells apart."""
        never_found = self[self.chosen].label_f1 == 0
        found: Array = self.diagnosis.has_both_classes(len(self.data)) & (
            never_found | ~self.learnable
        )
        return found

    def train(self, *, n_jobs: int | None = None) -> Any:
        """Fit what is advised on all rows.

        Parameters
        ----------
        n_jobs : int, optional
            Number of threads.

        Returns
        -------
        estimator
            The fitted classifier.
        """
        candidate = self[self.chosen].candidate
        return candidate.fit(self.data, random_state=self.random_state, n_jobs=n_jobs)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; NaN becomes None.

        Returns
        -------
        dict
            ``labels``, ``methods``, ``chosen``, ``columns``, ``sentences`` and more.
        """
        return advice_to_dict(self)

    def __str__(self) -> str:
        return format_advice(self)

    def _repr_title(self) -> str:
        return (
            f"Advice for {self.data.name!r}: {self.chosen}, macro F1 "
            f"{format_cell(self.expected['macro_f1'].value)}; {len(self.results)} methods judged"
        )

    def _repr_table(self) -> TableView:
        told = [(one, [*one.expected.values(), one.gain]) for one in self.results]
        rows = [(one.candidate.name, *(e.value for e in own), one.seconds) for one, own in told]
        head = ("method", *self.expected, "gain", "seconds")
        notes = [line for lines in sentences(self).values() for line in lines]
        return TableView(head, rows, len(rows), notes)


def advise(
    data: MultilabelDataset,
    *,
    budget: float | None = 120.0,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Advice:
    """Tell what is wrong with a data set, which method to take, and what to expect of it.

    Every candidate is judged by what it says of rows it has not seen, on this data. A good default
    is left only where another is clearly better here.

    Parameters
    ----------
    data : MultilabelDataset
        The data.
    budget : float, optional
        About how many seconds it may take, 120 by default. It only shortens the list of
        candidates, see `CANDIDATES`: the answer is otherwise one of data and seed. None tries all.
    random_state : None, int, Generator or RandomState, default=0
        One seed, one answer.
    n_jobs : int, optional
        Number of threads; it changes the time and nothing else.

    Returns
    -------
    Advice
        Print it, or see its ``chosen``, ``judged``, ``train()`` and ``to_dict()``.

    Notes
    -----
    Rare-label classifiers tell by themselves what they would say of a row left out; the others, and
    all of them where there are texts, are fitted on five folds. Thresholds are chosen on three
    parts of the rows and tried on the fourth. What to expect on new rows is the mean over 200
    parts, each a quarter of the rows, drawn by chance. The middle nine tenths of them make the
    interval, widened because new rows vary more than parts of the same rows.

    Examples
    --------
    >>> import scumble
    >>> from scumble.advice import advise
    >>> data = scumble.make_multilabel(300, 8, mean_ir=10, scumble=0.1, random_state=0)
    >>> found = advise(data, random_state=0)
    >>> found.chosen in ("rare", "rare(quality=best)"), found["br"].gain.value
    (True, 0.0)
    """
    check_dataset(data, caller="advise")
    _check(data, budget)
    seed = resolve_seed(random_state, caller="advise")
    warn_if_resampled(data, caller="advise")
    diagnosis = diagnose(data)
    return build_advice(
        CandidateRunner(data, seed, n_jobs, TimeBudget(budget)).try_all(), diagnosis
    )


def build_advice(results: CandidateRunner, diagnosis: Diagnosis) -> Advice:
    """Judge the candidates by what they said of rows they had not seen, and take one."""
    data, tried = results.data, results.candidate_predictions
    if not tried:
        raise DataError(
            "advise: no candidate could be judged. "
            + " ".join(f"{name}: {why}" for name, why in results.left_out)
        )
    draws = RowSubsamples(data.Y, diagnosis.is_rare, results.random_state)
    values = {name: draws.values(one.predictions) for name, one in tried.items()}
    judged = {name: _judge(one, values, data) for name, one in tried.items()}
    chosen = _choose(values)
    return Advice(
        data=data,
        diagnosis=diagnosis,
        results=tuple(judged.values()),
        chosen=chosen,
        learnable=learnable_labels(_rankings(tried), data.Y),
        left_out=tuple(results.left_out),
        rows_needed=rows_needed(diagnosis.counts, judged[chosen].label_f1),
        random_state=results.random_state,
        interrupted=results.interrupted,
    )


def _rankings(candidate_predictions: dict[str, CandidatePredictions]) -> list[Array]:
    """Return the scores of methods that learn from the rows as they are, each once."""
    as_they_are = [
        c
        for c in candidate_predictions.values()
        if not c.candidate.resampler and not c.candidate.of
    ]
    return [one.scores for one in as_they_are if one.scores is not None]


def _check(data: MultilabelDataset, budget: float | None) -> None:
    if budget is not None and not (isinstance(budget, int | float) and budget > 0):
        raise parameter_error("budget", "advise", "be seconds, more than 0", budget)
    if len(data) < FEWEST_ROWS:
        raise DataError(
            f"advise: found {len(data)} rows. Expected at least {FEWEST_ROWS}: with fewer, what is "
            "measured on rows left out is mostly chance."
        )
    for wanted, found in (("features to learn from", data.features), ("labels", data.labels)):
        if not found:
            raise DataError(f"advise: the data has no {wanted}. Expected at least one.")


def _judge(
    one: CandidatePredictions, values: dict[str, Array], data: MultilabelDataset
) -> CandidateResult:
    own = values[one.candidate.name]
    expected = {
        metric: MetricEstimate(*np.clip(MetricEstimate.of(own[:, at]), 0.0, 1.0).tolist())
        for at, metric in enumerate(METRICS)
    }
    base = values.get(UNTREATED, np.full_like(own, np.nan))
    gain = MetricEstimate.of(own[:, 0] - base[:, 0])
    label_f1, _ = f1s(confusion(data.Y, one.predictions).by_label)
    return CandidateResult(one.candidate, expected, gain, np.nan_to_num(label_f1), one.seconds)


def _choose(values: dict[str, Array]) -> str:
    """Take the default, and leave it only for a clear gain of macro F1."""
    f1 = {name: found[:, 0] for name, found in values.items()}
    default = _default(f1)
    gains = {name: MetricEstimate.of(f1[name] - f1[default]) for name in f1}
    clear = [n for n, gain in gains.items() if gain.value >= CLEAR_GAIN and gain.low > 0]
    return max([default, *clear], key=lambda name: float(np.nanmean(f1[name])))


def _default(f1: dict[str, Array]) -> str:
    if GOOD in f1 and QUICK in f1:
        return GOOD if np.nanmean(f1[GOOD] - f1[QUICK]) >= WORTH_WAITING else QUICK
    return next(name for name in (GOOD, QUICK, *f1) if name in f1)
