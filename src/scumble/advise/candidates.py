"""The methods that are tried, and what each says of rows it has not seen."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.shown import Shown
from scumble.advise.budget import Budget
from scumble.data import MultilabelDataset
from scumble.evaluate.folds import run_fold
from scumble.learn import (
    BinaryRelevance,
    RareLabelClassifier,
    ThresholdedClassifier,
    fit_dataset,
    label_thresholds,
)
from scumble.learn.inner_classifier import close_seeds, tell_nominal
from scumble.learn.predictions import features_for
from scumble.measures.stratification import deal_rows
from scumble.resample import make_chain

#: Folds for methods that cannot tell by themselves what they would say of a row left out.
N_FOLDS = 5
#: Parts of the rows on which thresholds are tried that were chosen on the others.
N_PARTS = 4


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
    >>> from scumble.advise import CANDIDATES
    >>> CANDIDATES[0].name, CANDIDATES[0].shell
    ('rare', 'scumble train DATA MODEL -c rare')
    """

    name: str
    what: str
    family: str
    make: Callable[[], Any]
    python: str
    shell: str | None = None
    resampler: str | None = None
    of: str | None = None
    share: int = 4

    def is_free(self, data: MultilabelDataset) -> bool:
        """Tell whether one fit gives out-of-sample scores as well.

        It does not where there are texts: their words would be known of the rows left out.
        """
        return isinstance(self.make(), RareLabelClassifier) and not data.text_features

    def fit(self, data: MultilabelDataset, *, random_state: int, n_jobs: int | None = None) -> Any:
        """Train it on all rows."""
        steps = self.steps(random_state)
        return fit_dataset(self.model(n_jobs), data, steps, random_state=random_state)

    def model(self, n_jobs: int | None) -> Any:
        """Make the classifier, with so many threads."""
        made = self.make()
        if "n_jobs" in made.get_params(deep=False):
            made.set_params(n_jobs=n_jobs)
        return made

    def steps(self, random_state: int) -> list[Any]:
        """Make the resamplers, with their seeds."""
        chain = make_chain(self.resampler) if self.resampler else []
        return [close_seeds(step, random_state) for step in chain]


@dataclass(frozen=True, eq=False, repr=False)
class Tried(Shown):
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
    _after("remedial"),
    _after("mlsmote"),
    _after("mlros"),
)


def try_candidate(
    candidate: Candidate,
    data: MultilabelDataset,
    known: dict[str, Tried],
    *,
    random_state: int,
    n_jobs: int | None = None,
    budget: Budget | None = None,
) -> Tried | None:
    """Ask a candidate for every row without its having seen it; None where it cannot be asked."""
    started = time.perf_counter()
    if candidate.of is not None:
        scores = known[candidate.of].scores if candidate.of in known else None
        if scores is None:
            return None
    elif candidate.is_free(data):
        scores = _free_scores(candidate, data, random_state, n_jobs)
    else:
        predictions, scores = _on_folds(candidate, data, random_state, n_jobs, budget or Budget())
        return Tried(candidate, predictions, scores, time.perf_counter() - started)
    predictions = _cross_fitted(scores, data.Y, random_state)
    return Tried(candidate, predictions, scores, time.perf_counter() - started)


def _free_scores(
    candidate: Candidate, data: MultilabelDataset, random_state: int, n_jobs: int | None
) -> Array:
    """Take leave-one-out and out-of-bag scores of the ranker inside."""
    ranker = candidate.make()._inside().set_params(n_jobs=n_jobs)
    if data.categorical_features:
        tell_nominal(ranker, data.categorical_features)
    close_seeds(ranker, random_state)
    return np.asarray(ranker.fit_out_of_sample(features_for(ranker, data.X), data.Y))


def _on_folds(
    candidate: Candidate,
    data: MultilabelDataset,
    random_state: int,
    n_jobs: int | None,
    budget: Budget,
) -> tuple[sparse.csr_array, Array | None]:
    """Learn on all folds but one and ask for that one, for every fold."""
    dealt = deal_rows(data.Y, N_FOLDS, np.random.default_rng([random_state, 1]))
    model = candidate.model(n_jobs)
    order, parts, scores = [], [], []
    began = budget.spent
    for fold in range(N_FOLDS):
        train, test = np.flatnonzero(dealt != fold), np.flatnonzero(dealt == fold)
        if not len(test):
            continue
        steps = candidate.steps(random_state + fold)
        done = run_fold(data[train], data[test], model, steps, random_state=random_state)
        order.append(test)
        parts.append(done.predictions)
        scores.append(done.scores)
        a_fold = (budget.spent - began) / (fold + 1)
        budget.ask(a_fold * (N_FOLDS - fold - 1), of=a_fold * N_FOLDS)
    back = np.argsort(np.concatenate(order))
    predictions = sparse.csr_array(sparse.vstack(parts, format="csr")[back])
    if any(part is None for part in scores):
        return predictions, None
    return predictions, np.concatenate([np.asarray(part) for part in scores])[back]


def _cross_fitted(scores: Array, Y: sparse.csr_array, random_state: int) -> sparse.csr_array:
    """Decide each part of the rows by thresholds that were chosen on the others."""
    parts = deal_rows(Y, N_PARTS, np.random.default_rng([random_state, 2]))
    decided = np.zeros(scores.shape, bool)
    for part in range(N_PARTS):
        own = parts == part
        if own.any() and not own.all():
            chosen = label_thresholds(scores[~own], Y[np.flatnonzero(~own)])
            decided[own] = scores[own] >= chosen
    return sparse.csr_array(decided)
