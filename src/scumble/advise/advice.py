"""The advice: what is wrong, what helps here, what does not, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError, ScumbleError
from scumble._core.progress import track
from scumble._core.provenance import warn_if_resampled
from scumble._core.shown import Sheet, Shown, cell_text
from scumble.advise.budget import Budget, OutOfTimeError
from scumble.advise.candidates import CANDIDATES, N_FOLDS, Candidate, Tried, try_candidate
from scumble.advise.diagnosis import Diagnosis, diagnose
from scumble.advise.estimates import (
    METRICS,
    Draws,
    Estimate,
    estimate,
    learnable_labels,
    rows_needed,
)
from scumble.data import MultilabelDataset
from scumble.evaluate import confusion
from scumble.evaluate.bipartition_metrics import f1s
from scumble.evaluate.cross_validation import check_data, draw_seed

#: The default is left only for a gain of macro F1 that is at least so large, and no accident.
CLEAR_GAIN = 0.02
#: The slower of two good defaults must gain so much over the quick one.
WORTH_WAITING = 0.003
QUICK, GOOD, UNTREATED = "rare", "rare(quality=best)", "br"
#: Fewer rows than this tell nothing.
FEWEST_ROWS = 20
#: Times are guessed from one row in so many, or from so many rows.
GUESS_PART, GUESS_ROWS = 8, 150
#: They grow with such a power of the rows; neighbours and kernels, in the blend, with a higher one.
GROWTH, GROWTH_OF_BLENDS = 1.0, 1.4


@dataclass(frozen=True, eq=False, repr=False)
class Judged(Shown):
    """A candidate with what to expect of it."""

    candidate: Candidate
    expected: dict[str, Estimate]  # macro_f1, minority_f1 and micro_f1 on new rows
    gain: Estimate  # change of macro F1 against the untreated classifier
    label_f1: Array  # F1 of every label on rows the models had not seen, 0 where it is undefined
    seconds: float  # what it took to judge it


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Shown):
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
    judged: tuple[Judged, ...]
    chosen: str
    learnable: Array
    left_out: tuple[tuple[str, str], ...]
    rows_needed: int | None
    random_state: int
    interrupted: bool = False

    def __getitem__(self, name: str) -> Judged:
        for one in self.judged:
            if one.candidate.name == name:
                return one
        known = ", ".join(one.candidate.name for one in self.judged)
        raise ParameterError(f"{name!r} was not judged here. Judged were: {known}.")

    @property
    def model(self) -> Any:
        """The advised classifier, not fitted; `train` also resamples where that is advised."""
        return self[self.chosen].candidate.make()

    @property
    def expected(self) -> dict[str, Estimate]:
        """What to expect of the advised method on new rows, metric by metric."""
        return self[self.chosen].expected

    @property
    def nothing_to_learn(self) -> bool:
        """Whether no label is ranked better than by chance."""
        return not self.learnable.any()

    @property
    def not_learnable_yet(self) -> Array:
        """Labels with rows and without, which nothing here tells apart."""
        found: Array = self.diagnosis.varies(len(self.data)) & (
            (self[self.chosen].label_f1 == 0) | ~self.learnable
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
        from scumble.advise.words import plain_advice

        return plain_advice(self)

    def __str__(self) -> str:
        from scumble.advise.words import spoken

        return spoken(self)

    def _headline(self) -> str:
        return (
            f"Advice for {self.data.name!r}: {self.chosen}, macro F1 "
            f"{cell_text(self.expected['macro_f1'].value)}; {len(self.judged)} methods judged"
        )

    def _sheet(self) -> Sheet:
        from scumble.advise.words import sentences

        rows = [
            (
                one.candidate.name,
                *(e.value for e in (*one.expected.values(), one.gain)),
                one.seconds,
            )
            for one in self.judged
        ]
        head = ("method", *self.expected, "gain", "seconds")
        notes = [line for lines in sentences(self).values() for line in lines]
        return Sheet(head, rows, len(rows), notes)


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
    >>> from scumble.advise import advise
    >>> data = scumble.make_multilabel(300, 8, mean_ir=10, scumble=0.1, random_state=0)
    >>> found = advise(data, random_state=0)
    >>> found.chosen in ("rare", "rare(quality=best)"), found["br"].gain.value
    (True, 0.0)
    """
    check_data(data, caller="advise")
    _check(data, budget)
    seed = draw_seed(random_state, caller="advise")
    warn_if_resampled(data, caller="advise")
    diagnosis = diagnose(data)
    tried, left_out, interrupted = try_all(data, Budget(budget), seed, n_jobs=n_jobs)
    return decide(data, diagnosis, tried, left_out, random_state=seed, interrupted=interrupted)


def decide(
    data: MultilabelDataset,
    diagnosis: Diagnosis,
    tried: dict[str, Tried],
    left_out: Sequence[tuple[str, str]] = (),
    *,
    random_state: int,
    interrupted: bool = False,
) -> Advice:
    """Judge the candidates by what they said of rows they had not seen, and take one."""
    if not tried:
        raise DataError(
            "advise: no candidate could be judged. "
            + " ".join(f"{name}: {why}" for name, why in left_out)
        )
    draws = Draws(data.Y, diagnosis.is_rare, random_state)
    values = {name: draws.values(one.predictions) for name, one in tried.items()}
    judged = tuple(_judge(one, values, data) for one in tried.values())
    chosen = _choose(values)
    learnable = learnable_labels(_rankings(tried), data.Y)
    f1 = next(one.label_f1 for one in judged if one.candidate.name == chosen)
    return Advice(
        data=data,
        diagnosis=diagnosis,
        judged=judged,
        chosen=chosen,
        learnable=learnable,
        left_out=tuple(left_out),
        rows_needed=rows_needed(diagnosis.counts, f1),
        random_state=random_state,
        interrupted=interrupted,
    )


def _rankings(tried: dict[str, Tried]) -> list[Array]:
    """Return the scores of methods that learn from the rows as they are, each once."""
    return [
        one.scores
        for one in tried.values()
        if one.scores is not None and not one.candidate.resampler and not one.candidate.of
    ]


def _check(data: MultilabelDataset, budget: float | None) -> None:
    if budget is not None and not (isinstance(budget, int | float) and budget > 0):
        raise ParameterError(
            "The 'budget' parameter of advise must be seconds, more than 0. "
            f"Got {budget!r} instead."
        )
    if len(data) < FEWEST_ROWS:
        raise DataError(
            f"advise: found {len(data)} rows. Expected at least {FEWEST_ROWS}: with fewer, what is "
            "measured on rows left out is mostly chance."
        )
    if not data.n_features:
        raise DataError("advise: the data has no features to learn from. Expected at least one.")


def try_all(
    data: MultilabelDataset, budget: Budget, random_state: int, *, n_jobs: int | None = None
) -> tuple[dict[str, Tried], list[tuple[str, str]], bool]:
    """Try one candidate after another while the budget lasts, or until Ctrl-C."""
    tried: dict[str, Tried] = {}
    left_out: list[tuple[str, str]] = []
    common: dict[str, Any] = {"random_state": random_state, "n_jobs": n_jobs}
    n_parts = sum(candidate.share for candidate in CANDIDATES)
    try:
        with track(f"Trying {len(CANDIDATES)} methods", n_parts) as advance:
            for candidate in CANDIDATES:
                try:
                    budget.ask(_usual_seconds(candidate, tried) / 2)
                    budget.ask(_guess_seconds(candidate, data, tried, budget, common))
                    # The first one is tried in any case: there must be something to tell.
                    allowed = budget if tried else None
                    found = try_candidate(candidate, data, tried, budget=allowed, **common)
                except (OutOfTimeError, ScumbleError, ValueError) as error:
                    # ValueError: a classifier of another package, missing values mostly.
                    left_out.append((candidate.name, str(error).partition("\n")[0]))
                else:
                    if found is not None:
                        tried[candidate.name] = found
                advance(candidate.share)
    except KeyboardInterrupt:  # wherever it comes, also between two candidates
        if not tried:
            raise
        return tried, left_out, True
    return tried, left_out, False


def _usual_seconds(candidate: Candidate, tried: dict[str, Tried]) -> float:
    """Tell what a candidate takes on most data, by what the first one took here."""
    if not tried:
        return 0.0
    first = next(iter(tried.values()))
    return first.seconds * candidate.share / first.candidate.share


def _guess_seconds(
    candidate: Candidate,
    data: MultilabelDataset,
    tried: dict[str, Tried],
    budget: Budget,
    common: dict[str, Any],
) -> float:
    """Guess what a candidate takes, from a part of the rows."""
    n_rows = max(len(data) // GUESS_PART, GUESS_ROWS)
    if candidate.of is not None or not tried or 2 * n_rows > len(data):
        return 0.0
    if budget.is_ample_after(sum(one.seconds for one in tried.values())):
        return 0.0  # what is as quick as this cannot be long in anything
    generator = np.random.default_rng([common["random_state"], 4])
    part = data[np.sort(generator.permutation(len(data))[:n_rows])]
    began = budget.spent
    try:
        candidate.fit(part, **common)
    except (ScumbleError, ValueError):
        return 0.0
    n_fits, growth = (1, GROWTH_OF_BLENDS) if candidate.is_free(data) else (N_FOLDS, GROWTH)
    return float(n_fits * (len(data) / n_rows) ** growth * (budget.spent - began))


def _judge(one: Tried, values: dict[str, Array], data: MultilabelDataset) -> Judged:
    own = values[one.candidate.name]
    expected = {
        metric: Estimate(*np.clip(estimate(own[:, at]), 0.0, 1.0).tolist())
        for at, metric in enumerate(METRICS)
    }
    base = values.get(UNTREATED)
    gain = estimate(own[:, 0] - base[:, 0]) if base is not None else Estimate(*(math.nan,) * 3)
    return Judged(one.candidate, expected, gain, _label_f1(one, data), one.seconds)


def _label_f1(one: Tried, data: MultilabelDataset) -> Array:
    rated, _ = f1s(confusion(data.Y, one.predictions).by_label)
    return np.nan_to_num(rated)


def _choose(values: dict[str, Array]) -> str:
    """Take the default, and leave it only for a clear gain of macro F1."""
    f1 = {name: found[:, 0] for name, found in values.items()}
    default = _default(f1)
    gains = {name: estimate(f1[name] - f1[default]) for name in f1}
    clear = [n for n, gain in gains.items() if gain.value >= CLEAR_GAIN and gain.low > 0]
    return max([default, *clear], key=lambda name: float(np.nanmean(f1[name])))


def _default(f1: dict[str, Array]) -> str:
    if GOOD in f1 and QUICK in f1:
        return GOOD if np.nanmean(f1[GOOD] - f1[QUICK]) >= WORTH_WAITING else QUICK
    return next(name for name in (GOOD, QUICK, *f1) if name in f1)
