"""The candidate methods, and their out-of-sample predictions within a time budget.

A *candidate* is a method that `advise` can recommend: a classifier, with resamplers before it or
without. Predictions and scores are *out of sample* if those of a row come from a model that was
fitted without this row: by cross-validation (out-of-fold), or by leave-one-out for rankers that
provide such scores. ``scores`` have shape (n_samples, n_labels).

This is no `scumble.evaluate.compare`: a candidate needs out-of-sample predictions of all rows, from
which metrics are estimated with bootstrap samples, and some get them from one fit without folds. A
time budget decides between folds whether a candidate is continued. Folds are run by the same
function, `run_fold`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ScumbleError
from scumble._core.progress import progress_bar
from scumble._core.table_repr import TableReprMixin
from scumble.data import MultilabelDataset
from scumble.evaluate.model_selection.folds import run_fold
from scumble.learn import BinaryRelevance, RareLabelClassifier, ThresholdedClassifier, fit_dataset
from scumble.learn.inner_classifier import set_categorical_features, set_random_states
from scumble.learn.predictions import adapt_features
from scumble.learn.thresholds.selection import label_thresholds
from scumble.measures.stratification import assign_folds
from scumble.resample import make_chain

#: Number of folds for methods without leave-one-out scores.
N_FOLDS = 5
#: Number of folds for thresholds: they are chosen on all folds but one and applied to that one.
N_THRESHOLD_FOLDS = 4
#: The time of a candidate is estimated by fitting it on one in this many rows ...
TIMING_DIVISOR = 8
#: ... or on this number of rows, if it is larger: fits on fewer rows mostly measure overhead.
MIN_TIMING_ROWS = 150
#: The time of a fit is assumed to grow with this power of the number of rows, as for trees.
TIME_EXPONENT = 1.0
#: The same for rankers with out-of-sample scores, whose neighbours and kernels take more time.
TIME_EXPONENT_OF_RANKERS = 1.4
#: Durations below this share of the time budget are not worth an estimate.
NEGLIGIBLE_TIME_SHARE = 0.02


@dataclass(frozen=True)
class Candidate:
    """A method that can be recommended.

    Attributes
    ----------
    name : str
        Its name.
    description : str
        A short description.
    family : str
        ``"untreated"``, ``"rare-label classifier"``, ``"thresholds"``, ``"weights"`` or
        ``"resampling"``.
    classifier_factory : callable
        Returns the classifier, not fitted.
    python : str
        A Python expression that trains it on ``data``.
    shell : str or None
        A command that trains it; ``DATA`` and ``MODEL`` stand for files.
    resampler : str or None
        The resampler that is applied to the training rows.
    scores_from : str or None
        The candidate whose scores it thresholds, instead of computing its own.
    percent_of_time : int
        Approximate percentage of the time that all candidates take together.

    Examples
    --------
    >>> from scumble.advice import CANDIDATES
    >>> CANDIDATES[0].name, CANDIDATES[0].shell
    ('rare', 'scumble train DATA MODEL -c rare')
    """

    name: str
    description: str
    family: str
    classifier_factory: Callable[[], Any]
    python: str
    shell: str | None = None
    resampler: str | None = None
    scores_from: str | None = None
    percent_of_time: int = 4

    def has_out_of_sample_scores(self, data: MultilabelDataset) -> bool:
        """Return whether a single fit provides out-of-sample scores of the training rows.

        It does so for rare-label classifiers, unless the data contains texts: the vocabulary is
        taken from all rows, also from those left out.
        """
        return isinstance(self.classifier_factory(), RareLabelClassifier) and not data.text_features

    def fit(self, data: MultilabelDataset, *, random_state: int, n_jobs: int | None = None) -> Any:
        """Return the classifier, fitted on all rows of ``data`` after resampling."""
        return fit_dataset(
            self.make_classifier(n_jobs),
            data,
            self.make_resamplers(random_state),
            random_state=random_state,
        )

    def make_classifier(self, n_jobs: int | None) -> Any:
        """Return the unfitted classifier; ``n_jobs`` is set if it is one of its parameters."""
        classifier = self.classifier_factory()
        if "n_jobs" in classifier.get_params(deep=False):
            classifier.set_params(n_jobs=n_jobs)
        return classifier

    def make_resamplers(self, random_state: int) -> list[Any]:
        """Return the unfitted resamplers with their seeds, in the order in which they are applied.

        The list is empty if the candidate does not resample.
        """
        if not self.resampler:
            return []
        return [set_random_states(step, random_state) for step in make_chain(self.resampler)]


@dataclass(frozen=True, eq=False, repr=False)
class CandidatePredictions(TableReprMixin):
    """Out-of-sample predictions of a candidate for every row."""

    candidate: Candidate
    predictions: sparse.csr_array  # predicted label matrix
    scores: Array | None  # None if the classifier has no scores
    seconds: float  # duration of fitting and predicting


def _make_logistic_regression() -> Any:
    """Return binary relevance of logistic regression with balanced class weights."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler

    # Without scaling, fitting takes about ten times as long and the scores are worse.
    learner = LogisticRegression(class_weight="balanced", solver="liblinear")
    return BinaryRelevance(make_pipeline(MaxAbsScaler(), learner))


def _make_balanced_trees() -> Any:
    """Return binary relevance of trees with balanced class weights."""
    return BinaryRelevance(class_weight="balanced")


def _make_thresholded_trees() -> Any:
    """Return binary relevance of trees with a decision threshold per label."""
    return ThresholdedClassifier(BinaryRelevance())


def _make_best_rare_label_classifier() -> Any:
    """Return the rare-label classifier that blends rankers, with a decision threshold per label."""
    return RareLabelClassifier("best")


def _trees_after_resampling(resampler: str) -> Candidate:
    """Return the candidate that fits trees per label after applying the resampler of this name."""
    return Candidate(
        name=f"br after {resampler}",
        description=f"a tree per label, fitted after resampling by {resampler.upper()}",
        family="resampling",
        classifier_factory=BinaryRelevance,
        python=f"fit_dataset(BinaryRelevance(), data, make_chain({resampler!r}))",
        shell=f"scumble train DATA MODEL -c br -r {resampler}",
        resampler=resampler,
    )


#: The candidates in the order of their evaluation. A small budget leaves out later ones first.
CANDIDATES = (
    Candidate(
        name="rare",
        description="ridge regression with a decision threshold per label",
        family="rare-label classifier",
        classifier_factory=RareLabelClassifier,
        python="fit_dataset(RareLabelClassifier(), data)",
        shell="scumble train DATA MODEL -c rare",
    ),
    Candidate(
        name="br",
        description="a tree per label, untreated",
        family="untreated",
        classifier_factory=BinaryRelevance,
        python="fit_dataset(BinaryRelevance(), data)",
        shell="scumble train DATA MODEL -c br",
    ),
    Candidate(
        name="br with thresholds",
        description="a tree and a decision threshold per label",
        family="thresholds",
        classifier_factory=_make_thresholded_trees,
        python="fit_dataset(ThresholdedClassifier(BinaryRelevance()), data)",
        scores_from="br",
        percent_of_time=1,
    ),
    Candidate(
        name="rare(quality=best)",
        description="a blend of several rankers with a decision threshold per label",
        family="rare-label classifier",
        classifier_factory=_make_best_rare_label_classifier,
        python='fit_dataset(RareLabelClassifier("best"), data)',
        shell="scumble train DATA MODEL -c rare --param quality=best",
        percent_of_time=50,
    ),
    Candidate(
        name="balanced logistic regression",
        description="logistic regression per label with balanced class weights",
        family="weights",
        classifier_factory=_make_logistic_regression,
        python="fit_dataset(BinaryRelevance(make_pipeline(MaxAbsScaler(), "
        'LogisticRegression(class_weight="balanced", solver="liblinear"))), data)',
        percent_of_time=20,
    ),
    Candidate(
        name="br with balanced weights",
        description="a tree per label with balanced class weights",
        family="weights",
        classifier_factory=_make_balanced_trees,
        python='fit_dataset(BinaryRelevance(class_weight="balanced"), data)',
        shell="scumble train DATA MODEL -c br --param class_weight=balanced",
        percent_of_time=9,
    ),
    _trees_after_resampling("remedial"),
    _trees_after_resampling("mlsmote"),
    _trees_after_resampling("mlros"),
)


class OutOfTimeError(Exception):
    """Raised if work would exceed the time budget; ``seconds`` is its estimated duration."""

    def __init__(self, seconds: float) -> None:
        """Make the message: the duration, or that the time is up if it is below a second."""
        if seconds >= 1:
            super().__init__(f"it would take about {seconds:,.0f} s")
        else:
            super().__init__("the time was up")


class TimeBudget:
    """A time limit in seconds from its creation on; None means no limit."""

    def __init__(self, seconds: float | None = None) -> None:
        """Start the clock."""
        self.seconds = seconds
        self._start = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """Seconds since the creation of the budget."""
        return time.perf_counter() - self._start

    def is_negligible(self, seconds: float) -> bool:
        """Return whether a duration is a negligible share of the budget; True without a limit."""
        return self.seconds is None or seconds < NEGLIGIBLE_TIME_SHARE * self.seconds

    def check(self, seconds: float, *, total: float | None = None) -> None:
        """Raise OutOfTimeError if work of this many more seconds would exceed the budget.

        The error reports ``total``, the duration of the work including what is done already; by
        default ``seconds``.
        """
        if self.seconds is not None and self.elapsed + seconds > self.seconds:
            raise OutOfTimeError(seconds if total is None else total)


@dataclass
class CandidateRunner:
    """Computes the out-of-sample predictions of the candidates on a data set.

    The results of `run_all` are in ``candidate_predictions``, ``left_out`` and ``interrupted``.
    """

    data: MultilabelDataset
    random_state: int
    n_jobs: int | None = None
    budget: TimeBudget = field(default_factory=TimeBudget)
    candidate_predictions: dict[str, CandidatePredictions] = field(default_factory=dict)  # by name
    left_out: list[tuple[str, str]] = field(default_factory=list)  # names and reasons
    interrupted: bool = False  # by Ctrl-C, before all candidates were evaluated

    def run_all(self) -> None:
        """Run one candidate after another and store their predictions.

        Candidates for which there is no time are left out. Ctrl-C ends the evaluation; before the
        first candidate is done, the KeyboardInterrupt is raised.
        """
        total = sum(candidate.percent_of_time for candidate in CANDIDATES)
        try:
            with progress_bar(f"Evaluating {len(CANDIDATES)} methods", total) as advance:
                for candidate in CANDIDATES:
                    self._run_within_budget(candidate)
                    advance(candidate.percent_of_time)
        except KeyboardInterrupt:  # at any moment, also between two candidates
            if not self.candidate_predictions:
                raise
            self.interrupted = True

    def _run_within_budget(self, candidate: Candidate) -> None:
        """Run a candidate and store its predictions, unless it fails or would take too long.

        A candidate that fails or would take too long is added to ``left_out`` with the reason.
        """
        try:
            self.budget.check(self._typical_seconds(candidate) / 2)
            self.budget.check(self._estimate_seconds(candidate))
            result = self.run(candidate)
        except (OutOfTimeError, ScumbleError, ValueError) as error:
            # ValueError: a classifier of another package, mostly because of missing values.
            reason = str(error).partition("\n")[0]
            self.left_out.append((candidate.name, reason))
            return
        if result is not None:
            self.candidate_predictions[candidate.name] = result

    def _typical_seconds(self, candidate: Candidate) -> float:
        """Return the seconds that a candidate usually takes, from the time of the first one here.

        Return 0 if no candidate has been run yet.
        """
        if not self.candidate_predictions:
            return 0.0
        first = next(iter(self.candidate_predictions.values()))
        return first.seconds * candidate.percent_of_time / first.candidate.percent_of_time

    def _estimate_seconds(self, candidate: Candidate) -> float:
        """Return the seconds that a candidate would take, estimated by fitting it on some rows.

        Return 0 if an estimate is impossible or not worth its time: for the first candidate, for
        those that reuse scores, for few rows, after quick candidates, and if fitting fails.
        """
        n_all = len(self.data)
        n_rows = max(n_all // TIMING_DIVISOR, MIN_TIMING_ROWS)
        is_first = not self.candidate_predictions
        if candidate.scores_from is not None or is_first or 2 * n_rows > n_all:
            return 0.0
        # If the candidates so far were quick, all candidates are.
        seconds_so_far = sum(result.seconds for result in self.candidate_predictions.values())
        if self.budget.is_negligible(seconds_so_far):
            return 0.0
        rng = np.random.default_rng([self.random_state, 4])
        sample = self.data[np.sort(rng.permutation(n_all)[:n_rows])]
        start = self.budget.elapsed
        try:
            candidate.fit(sample, random_state=self.random_state, n_jobs=self.n_jobs)
        except (ScumbleError, ValueError):
            return 0.0
        if candidate.has_out_of_sample_scores(self.data):
            n_fits = 1
            exponent = TIME_EXPONENT_OF_RANKERS
        else:
            n_fits = N_FOLDS
            exponent = TIME_EXPONENT
        return float(n_fits * (n_all / n_rows) ** exponent * (self.budget.elapsed - start))

    def run(self, candidate: Candidate) -> CandidatePredictions | None:
        """Return the out-of-sample predictions of a candidate.

        Return None if it applies thresholds to the scores of a candidate that was left out.
        """
        start = time.perf_counter()
        predictions, scores = self._predictions_or_scores(candidate)
        if predictions is None:
            if scores is None:
                return None
            predictions = _predict_cross_fitted(scores, self.data.Y, self.random_state)
        return CandidatePredictions(
            candidate=candidate,
            predictions=predictions,
            scores=scores,
            seconds=time.perf_counter() - start,
        )

    def _predictions_or_scores(
        self, candidate: Candidate
    ) -> tuple[sparse.csr_array | None, Array | None]:
        """Return out-of-sample predictions and scores of a candidate, either of which may be None.

        If the predictions are None, they are made by applying thresholds to the scores; if the
        scores are None as well, they are those of a candidate that was left out.
        """
        if candidate.scores_from is not None:
            source = self.candidate_predictions.get(candidate.scores_from)
            if source is None:
                return None, None
            return None, source.scores
        if candidate.has_out_of_sample_scores(self.data):
            return None, self._out_of_sample_scores(candidate)
        return self._cross_validate(candidate)

    def _out_of_sample_scores(self, candidate: Candidate) -> Array:
        """Return the scores of the candidate's ranker for rows that were left out.

        They are leave-one-out or out-of-bag scores, which a single fit provides.
        """
        ranker = candidate.classifier_factory()._inner_estimator().set_params(n_jobs=self.n_jobs)
        if self.data.categorical_features:
            set_categorical_features(ranker, self.data.categorical_features)
        set_random_states(ranker, self.random_state)
        X = adapt_features(ranker, self.data.X)
        return np.asarray(ranker.fit_out_of_sample(X, self.data.Y))

    def _cross_validate(self, candidate: Candidate) -> tuple[sparse.csr_array, Array | None]:
        """Return out-of-fold predictions and scores of a candidate.

        The scores are None if the classifier has none. Raises OutOfTimeError after a fold if the
        remaining folds would exceed the budget.
        """
        data = self.data
        seed = self.random_state
        # The first candidate has no time limit, so that there is a result.
        budget = self.budget if self.candidate_predictions else TimeBudget()
        fold_of_row = assign_folds(data.Y, N_FOLDS, np.random.default_rng([seed, 1]))
        model = candidate.make_classifier(self.n_jobs)
        results = []
        start = budget.elapsed
        for fold in range(N_FOLDS):
            train = np.flatnonzero(fold_of_row != fold)
            test = np.flatnonzero(fold_of_row == fold)
            if not len(test):
                continue
            resamplers = candidate.make_resamplers(seed + fold)
            # Only predictions and scores are used: advice is computed from those of all folds.
            results.append(
                run_fold(
                    data[train],
                    data[test],
                    model,
                    resamplers,
                    random_state=seed,
                    groups=None,
                    metrics=(),
                )
            )
            seconds_per_fold = (budget.elapsed - start) / (fold + 1)
            n_remaining = N_FOLDS - fold - 1
            budget.check(seconds_per_fold * n_remaining, total=seconds_per_fold * N_FOLDS)
        # Results are ordered by fold; this is the position of every row in that order.
        positions = np.argsort(np.argsort(fold_of_row, kind="stable"))
        stacked = sparse.vstack([result.predictions for result in results], format="csr")
        predictions = sparse.csr_array(stacked[positions])
        if any(result.scores is None for result in results):
            return predictions, None
        scores = np.concatenate([np.asarray(result.scores) for result in results])
        return predictions, scores[positions]


def _predict_cross_fitted(
    scores: Array, Y: sparse.csr_array, random_state: int
) -> sparse.csr_array:
    """Return the predictions for each fold of the rows, by thresholds chosen on the other folds.

    ``scores`` and ``Y`` are the scores and labels of all rows.
    """
    fold_of_row = assign_folds(Y, N_THRESHOLD_FOLDS, np.random.default_rng([random_state, 2]))
    predictions = np.zeros(scores.shape, bool)
    for fold in range(N_THRESHOLD_FOLDS):
        is_test = fold_of_row == fold
        if is_test.any() and not is_test.all():
            thresholds = label_thresholds(scores[~is_test], Y[np.flatnonzero(~is_test)])
            predictions[is_test] = scores[is_test] >= thresholds
    return sparse.csr_array(predictions)
