"""The methods that are tried while the time lasts, and what each says of rows it has not seen."""

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

#: Folds for methods that cannot tell by themselves what they would say of a row left out.
N_FOLDS = 5
#: Parts of the rows on which thresholds are tried that were chosen on the others.
N_THRESHOLD_FOLDS = 4
#: Times are guessed from one row in so many, or from so many rows.
GUESS_PART, GUESS_ROWS = 8, 150
#: They grow with such a power of the rows; neighbours and kernels, in the blend, with a higher one.
GROWTH, GROWTH_OF_BLENDS = 1.0, 1.4


@dataclass(frozen=True)
class Candidate:
    """A method that may be advised.

    Attributes
    ----------
    name : str
        Its name.
    what : str
        What it is, in a few words.
    family : str
        ``"untreated"``, ``"rare-label classifier"``, ``"thresholds"``, ``"weights"`` or
        ``"resampling"``.
    make : callable
        Makes the classifier.
    resampler : str or None
        What the training rows go through first.
    shell, python : str
        How to train it; ``DATA`` and ``MODEL`` stand for files.
    of : str or None
        The candidate whose scores it puts thresholds on.
    share : int
        About how many of a hundred parts of the time for all candidates it takes.

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
    of: str | None = None
    share: int = 4

    def has_out_of_sample_scores(self, data: MultilabelDataset) -> bool:
        """Tell whether one fit gives out-of-sample scores as well.

        It does not where there are texts: their words would be known of the rows left out.
        """
        return isinstance(self.classifier_factory(), RareLabelClassifier) and not data.text_features

    def fit(self, data: MultilabelDataset, *, random_state: int, n_jobs: int | None = None) -> Any:
        """Train it on all rows."""
        steps = self.steps(random_state)
        return fit_dataset(self.model(n_jobs), data, steps, random_state=random_state)

    def model(self, n_jobs: int | None) -> Any:
        """Make the classifier, with so many threads."""
        made = self.classifier_factory()
        if "n_jobs" in made.get_params(deep=False):
            made.set_params(n_jobs=n_jobs)
        return made

    def steps(self, random_state: int) -> list[Any]:
        """Make the resamplers, with their seeds."""
        chain = make_chain(self.resampler) if self.resampler else []
        return [set_random_states(step, random_state) for step in chain]


@dataclass(frozen=True, eq=False, repr=False)
class CandidatePredictions(TableReprMixin):
    """What a candidate says of every row by models that have not seen it."""

    candidate: Candidate
    predictions: sparse.csr_array  # the labels it predicts
    scores: Array | None  # how sure it is
    seconds: float  # what it took to find out


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler

    # Columns of one size: else it takes ten times as long, and finds less.
    learner = LogisticRegression(class_weight="balanced", solver="liblinear")
    return BinaryRelevance(make_pipeline(MaxAbsScaler(), learner))


def _after(resampler: str) -> Candidate:
    return Candidate(
        f"br after {resampler}",
        f"a tree for each label, on rows resampled by {resampler.upper()}",
        "resampling",
        BinaryRelevance,
        f"fit_dataset(BinaryRelevance(), data, make_chain({resampler!r}))",
        f"scumble train DATA MODEL -c br -r {resampler}",
        resampler,
    )


#: In the order they are tried; a small budget leaves out those at the end.
CANDIDATES = (
    Candidate(
        "rare",
        "ridge regression with a threshold of its own for each label",
        "rare-label classifier",
        RareLabelClassifier,
        "fit_dataset(RareLabelClassifier(), data)",
        "scumble train DATA MODEL -c rare",
    ),
    Candidate(
        "br",
        "a tree for each label, untreated",
        "untreated",
        BinaryRelevance,
        "fit_dataset(BinaryRelevance(), data)",
        "scumble train DATA MODEL -c br",
    ),
    Candidate(
        "br with thresholds",
        "a tree for each label, with a threshold of its own",
        "thresholds",
        lambda: ThresholdedClassifier(BinaryRelevance()),
        "fit_dataset(ThresholdedClassifier(BinaryRelevance()), data)",
        of="br",
        share=1,
    ),
    Candidate(
        "rare(quality=best)",
        "a blend of several rankers with a threshold of its own for each label",
        "rare-label classifier",
        lambda: RareLabelClassifier("best"),
        'fit_dataset(RareLabelClassifier("best"), data)',
        "scumble train DATA MODEL -c rare --param quality=best",
        share=50,
    ),
    Candidate(
        "balanced logistic regression",
        "logistic regression in which rare and frequent weigh the same",
        "weights",
        _logistic,
        "fit_dataset(BinaryRelevance(make_pipeline(MaxAbsScaler(), "
        'LogisticRegression(class_weight="balanced", solver="liblinear"))), data)',
        share=20,
    ),
    Candidate(
        "br with balanced weights",
        "a tree for each label in which rare and frequent weigh the same",
        "weights",
        lambda: BinaryRelevance(class_weight="balanced"),
        'fit_dataset(BinaryRelevance(class_weight="balanced"), data)',
        "scumble train DATA MODEL -c br --param class_weight=balanced",
        share=9,
    ),
    *map(_after, ("remedial", "mlsmote", "mlros")),
)


class OutOfTimeError(Exception):
    """A method would take longer than the budget allows."""

    def __init__(self, seconds: float) -> None:
        text = f"it would take about {seconds:,.0f} s" if seconds >= 1 else "the time was up"
        super().__init__(text)


class TimeBudget:
    """Seconds to spend, counted from now on; None stands for any number."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self._began = time.perf_counter()

    @property
    def spent(self) -> float:
        """Seconds since it was made."""
        return time.perf_counter() - self._began

    def is_ample_after(self, seconds: float) -> bool:
        """Tell whether what took so long is next to nothing of it."""
        return self.seconds is None or seconds < 0.02 * self.seconds

    def ask(self, more: float, *, of: float | None = None) -> None:
        """Refuse work that would take so many more seconds, ``of`` so many in all."""
        if self.seconds is not None and self.spent + more > self.seconds:
            raise OutOfTimeError(more if of is None else of)


@dataclass
class CandidateRunner:
    """Candidates that are tried on some data, and what came of it."""

    data: MultilabelDataset
    random_state: int
    n_jobs: int | None = None
    budget: TimeBudget = field(default_factory=TimeBudget)
    candidate_predictions: dict[str, CandidatePredictions] = field(default_factory=dict)
    left_out: list[tuple[str, str]] = field(default_factory=list)  # names, and why
    interrupted: bool = False

    def try_all(self) -> CandidateRunner:
        """Try one candidate after another while the budget lasts, or until Ctrl-C."""
        n_parts = sum(candidate.share for candidate in CANDIDATES)
        try:
            with progress_bar(f"Trying {len(CANDIDATES)} methods", n_parts) as advance:
                for candidate in CANDIDATES:
                    self._try_in_time(candidate)
                    advance(candidate.share)
        except KeyboardInterrupt:  # wherever it comes, also between two candidates
            if not self.candidate_predictions:
                raise
            self.interrupted = True
        return self

    def _try_in_time(self, candidate: Candidate) -> None:
        try:
            self.budget.ask(self._usual_seconds(candidate) / 2)
            self.budget.ask(self._guess_seconds(candidate))
            found = self.try_one(candidate)
        except (OutOfTimeError, ScumbleError, ValueError) as error:
            # ValueError: a classifier of another package, missing values mostly.
            self.left_out.append((candidate.name, str(error).partition("\n")[0]))
        else:
            if found is not None:
                self.candidate_predictions[candidate.name] = found

    def _usual_seconds(self, candidate: Candidate) -> float:
        """Tell what a candidate takes on most data, by what the first one took here."""
        if not self.candidate_predictions:
            return 0.0
        first = next(iter(self.candidate_predictions.values()))
        return first.seconds * candidate.share / first.candidate.share

    def _guess_seconds(self, candidate: Candidate) -> float:
        """Guess what a candidate takes, from a part of the rows."""
        n_all = len(self.data)
        n_rows = max(n_all // GUESS_PART, GUESS_ROWS)
        if candidate.of is not None or not self.candidate_predictions or 2 * n_rows > n_all:
            return 0.0
        if self.budget.is_ample_after(
            sum(one.seconds for one in self.candidate_predictions.values())
        ):
            return 0.0  # what is as quick as this cannot be long in anything
        generator = np.random.default_rng([self.random_state, 4])
        part = self.data[np.sort(generator.permutation(n_all)[:n_rows])]
        began = self.budget.spent
        try:
            candidate.fit(part, random_state=self.random_state, n_jobs=self.n_jobs)
        except (ScumbleError, ValueError):
            return 0.0
        is_free = candidate.has_out_of_sample_scores(self.data)
        n_fits, growth = (1, GROWTH_OF_BLENDS) if is_free else (N_FOLDS, GROWTH)
        return float(n_fits * (n_all / n_rows) ** growth * (self.budget.spent - began))

    def try_one(self, candidate: Candidate) -> CandidatePredictions | None:
        """Ask a candidate for every row, unseen by it; None where it cannot be asked."""
        started = time.perf_counter()
        predictions, scores = self._asked(candidate)
        if predictions is None:
            if scores is None:
                return None
            predictions = _predict_cross_fitted(scores, self.data.Y, self.random_state)
        return CandidatePredictions(candidate, predictions, scores, time.perf_counter() - started)

    def _asked(self, candidate: Candidate) -> tuple[sparse.csr_array | None, Array | None]:
        if candidate.of is not None:
            return None, getattr(self.candidate_predictions.get(candidate.of), "scores", None)
        if candidate.has_out_of_sample_scores(self.data):
            return None, self._free_scores(candidate)
        return self._on_folds(candidate)

    def _free_scores(self, candidate: Candidate) -> Array:
        """Take leave-one-out and out-of-bag scores of the ranker inside."""
        ranker = candidate.classifier_factory()._inner_estimator().set_params(n_jobs=self.n_jobs)
        if self.data.categorical_features:
            set_categorical_features(ranker, self.data.categorical_features)
        set_random_states(ranker, self.random_state)
        X = adapt_features(ranker, self.data.X)
        return np.asarray(ranker.fit_out_of_sample(X, self.data.Y))

    def _on_folds(self, candidate: Candidate) -> tuple[sparse.csr_array, Array | None]:
        """Learn on all folds but one and ask for that one, for every fold."""
        data, seed = self.data, self.random_state
        # The first one is tried in any case: there must be something to tell.
        budget = self.budget if self.candidate_predictions else TimeBudget()
        dealt = assign_folds(data.Y, N_FOLDS, np.random.default_rng([seed, 1]))
        model = candidate.model(self.n_jobs)
        found = []
        began = budget.spent
        for fold in range(N_FOLDS):
            train, test = np.flatnonzero(dealt != fold), np.flatnonzero(dealt == fold)
            if not len(test):
                continue
            steps = candidate.steps(seed + fold)
            found.append(run_fold(data[train], data[test], model, steps, random_state=seed))
            a_fold = (budget.spent - began) / (fold + 1)
            budget.ask(a_fold * (N_FOLDS - fold - 1), of=a_fold * N_FOLDS)
        back = np.argsort(np.argsort(dealt, kind="stable"))  # the folds stand one after another
        parts = [done.predictions for done in found]
        predictions = sparse.csr_array(sparse.vstack(parts, format="csr")[back])
        if any(done.scores is None for done in found):
            return predictions, None
        return predictions, np.concatenate([np.asarray(done.scores) for done in found])[back]


def _predict_cross_fitted(
    scores: Array, Y: sparse.csr_array, random_state: int
) -> sparse.csr_array:
    """Decide each part of the rows by thresholds that were chosen on the others."""
    parts = assign_folds(Y, N_THRESHOLD_FOLDS, np.random.default_rng([random_state, 2]))
    decided = np.zeros(scores.shape, bool)
    for part in range(N_THRESHOLD_FOLDS):
        own = parts == part
        if own.any() and not own.all():
            chosen = label_thresholds(scores[~own], Y[np.flatnonzero(~own)])
            decided[own] = scores[own] >= chosen
    return sparse.csr_array(decided)
