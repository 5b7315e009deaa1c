"""`make_multilabel`: data with a chosen cardinality, imbalance and concurrence.

Its features say something about the labels, so that classifiers have something to learn.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.sparse import coo_array, csr_array, vstack

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, parameter_error
from scumble._core.parameters import Real, as_generator
from scumble._core.validation import check_count
from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.synthetic.labels import assign_labels, label_counts, max_rows_per_label

#: The features, and what they are.
Made = tuple[Any, tuple[Feature, ...]]
CALLER = "make_multilabel"
AUTO = "auto"
#: What is made where nothing else is asked for; or what comes nearest.
USUAL = {"cardinality": 3.0, "mean_ir": 20.0, "scumble": 0.2}
#: How far the curve of label counts may be bent, in order of preference, to reach a SCUMBLE.
BENDS = (1.5, 2.0, 3.0, 5.0, 0.7, 0.5)
#: Rows made at a time, so that temporary arrays stay small.
BLOCK_ROWS = 65536
#: Words that belong to a label, in sparse features.
WORDS_PER_LABEL = 8
#: Share of a row's words that come from its labels; the others are chatter.
TOLD_BY_LABELS = 0.7


def make_multilabel(
    n_instances: int = 1000,
    n_labels: int = 20,
    *,
    n_features: int = 20,
    cardinality: float | Literal["auto"] = "auto",
    mean_ir: float | Literal["auto"] = "auto",
    scumble: float | Literal["auto"] | None = "auto",
    unlabelled: float | None = None,
    n_informative: int | None = None,
    n_nominal: int = 0,
    n_categories: int = 4,
    separation: float = 1.0,
    sparse: bool = False,
    density: float = 0.1,
    random_state: Any = None,
    n_jobs: int | None = None,
    name: str = "synthetic",
) -> MultilabelDataset:
    """Make a data set whose labels are as imbalanced and as entangled as asked for.

    The labels' counts follow a power law whose exponent gives the wanted MeanIR. They are dealt
    to the instances at random; then instances exchange labels, two at a time, until SCUMBLE is
    what was asked for. All labels occur; the first is the most frequent.

    Parameters
    ----------
    n_instances : int
        Number of rows.
    n_labels : int
        Number of labels.
    n_features : int
        Number of features; 0 makes labels only.
    cardinality : float or "auto"
        Mean number of labels of an instance; met to one assignment. By default 3, or three quarters
        of fewer labels, or more where else not every label would occur.
    mean_ir : float or "auto"
        MeanIR; met within 2 %, usually much closer. By default 20, or what is nearest to it for so
        many instances and labels.
    scumble : float, "auto" or None
        SCUMBLE; met within 0.01, usually much closer. By default 0.2, or what is nearest to it in
        reach. None leaves the labels independent of each other.
    unlabelled : float, optional
        Share of instances without any label. By default 0 where the cardinality is at least 1;
        below, so many that the others have one label or more.
    n_informative : int, optional
        How many features, the first ones, depend on the labels; by default half of them.
    n_nominal : int
        How many features, spread over all, are nominal.
    n_categories : int
        How many values a nominal feature has (in sparse features always 2).
    separation : float
        How far a label moves an informative feature, in standard deviations of the noise. Larger
        is easier to learn. Without effect on sparse features.
    sparse : bool
        Whether features are counts of words, stored sparse: each label has words of its own.
    density : float
        About the share of nonzero values in sparse features.
    random_state : int, Generator, RandomState or None
        Source of randomness. The same int always gives the same data; None always others.
    n_jobs : int, optional
        Number of threads; changes the time only.
    name : str
        Name of the data set.

    Returns
    -------
    MultilabelDataset
        Labels y0, y1, ... in order of their frequency, features x0, x1, ...

    Raises
    ------
    ParameterError
        If a parameter is out of its domain, or the wishes contradict each other; then the
        message says what can be reached.

    See Also
    --------
    scumble.load : Real data.

    Notes
    -----
    Where a true power law would need a label in more than three quarters of the instances, or
    cannot give the wanted SCUMBLE, the law is bent: ln IRLbl grows with (ln rank)^p, p other
    than 1.

    Time and memory grow with the number of assignments; labels and instances cost little.
    Exchanges happen within blocks of about 8,000 instances, each a small copy of the whole.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(500, 12, cardinality=2.5, mean_ir=8, random_state=0)
    >>> data
    <MultilabelDataset 'synthetic': 500 instances, 20 features, 12 labels>
    >>> summary = scumble.characterize(data)
    >>> round(summary.cardinality, 1), round(summary.mean_ir), round(summary.scumble, 2)
    (2.5, 8, 0.2)
    """
    n_instances = check_count(n_instances, name="n_instances", caller=CALLER)
    n_labels = check_count(n_labels, name="n_labels", caller=CALLER)
    n_features = check_count(n_features, name="n_features", caller=CALLER, minimum=0)
    n_telling = (n_features + 1) // 2 if n_informative is None else n_informative
    plan = FeaturePlan(n_features, n_telling, n_nominal, n_categories, separation, density)
    n_assignments = _n_assignments(n_instances, n_labels, cardinality)
    n_unlabelled = _n_unlabelled(n_instances, n_labels, n_assignments, unlabelled)
    wanted_ir = _number(mean_ir, USUAL["mean_ir"], "mean_ir", 1.0, math.inf)
    aim = None if scumble is None else _number(scumble, USUAL["scumble"], "scumble", 0.0, 1.0)
    rng = as_generator(random_state, caller=CALLER)

    most = max_rows_per_label(n_instances, n_unlabelled)
    law = partial(label_counts, n_assignments, n_labels, wanted_ir, most)
    bends = BENDS if aim is not None and n_labels > 2 else ()
    counts = _candidates(law, bends, allow_nearest=mean_ir == AUTO)
    Y = assign_labels(
        counts, n_instances, n_unlabelled, aim, rng, n_jobs, allow_nearest=scumble == AUTO
    )
    X, features = (plan.sparse if sparse and n_features else plan.dense)(Y, rng)
    return MultilabelDataset(X, Y, features=features, name=name)


def _candidates(
    law: Callable[..., Array], bends: Sequence[float], *, allow_nearest: bool
) -> Iterator[Array]:
    """Offer label counts, the straightest law first; bent ones may turn out impossible."""
    yield law(allow_nearest=allow_nearest)
    for bend in bends:
        with suppress(ParameterError):
            yield law(curvature=bend)


def _n_assignments(n_instances: int, n_labels: int, cardinality: Any) -> int:
    usual = max(min(USUAL["cardinality"], 0.75 * n_labels), n_labels / n_instances)
    cardinality = _number(cardinality, usual, "cardinality", 0.0, math.inf)
    n_assignments = round(n_instances * cardinality)
    if not n_labels <= n_assignments <= n_instances * n_labels:
        raise ParameterError(
            f"{CALLER}: every label must occur, and no instance can have more than all "
            f"{n_labels}. Expected 'cardinality' in [{n_labels / n_instances:.4g}, {n_labels}]. "
            f"Got {cardinality!r} instead."
        )
    return n_assignments


def _n_unlabelled(n_instances: int, n_labels: int, n_assignments: int, unlabelled: Any) -> int:
    if unlabelled is None:
        # Below one label each, as many stay without as if labels fell on instances like rain.
        needed = math.ceil(n_assignments / n_labels)
        if n_assignments >= n_instances:
            return 0
        expected = round(n_instances * math.exp(-n_assignments / n_instances))
        return min(max(expected, n_instances - n_assignments), n_instances - needed)
    Real(0.0, 1.0).check(unlabelled, name="unlabelled", caller=CALLER)
    n_unlabelled = round(n_instances * unlabelled)
    n_labelled = n_instances - n_unlabelled
    if not n_labelled <= n_assignments <= n_labelled * n_labels:
        least = max(0.0, 1 - n_assignments / n_instances)
        most = 1 - n_assignments / (n_instances * n_labels)
        raise ParameterError(
            f"{CALLER}: the other instances must have at least one label each, and at most all. "
            f"Expected 'unlabelled' in [{least:.4g}, {most:.4g}] for this cardinality. "
            f"Got {unlabelled!r} instead."
        )
    return n_unlabelled


def _number(value: Any, usual: float, name: str, least: float, most: float) -> float:
    """Take the usual value for ``"auto"``, and refuse what is no number in its range."""
    if isinstance(value, str) and value == AUTO:
        return usual
    Real(least, most).check(value, name=name, caller=CALLER)
    return float(value)


@dataclass(frozen=True)
class FeaturePlan:
    """What features to make."""

    n_features: int
    n_informative: int
    n_nominal: int
    n_categories: int
    separation: float
    density: float

    def __post_init__(self) -> None:
        for parameter in ("n_informative", "n_nominal"):
            value = check_count(getattr(self, parameter), name=parameter, caller=CALLER, minimum=0)
            if value > self.n_features:
                most = f"not exceed 'n_features', {self.n_features}"
                raise parameter_error(parameter, CALLER, most, value)
        check_count(self.n_categories, name="n_categories", caller=CALLER, minimum=2)
        Real(0.0, math.inf).check(self.separation, name="separation", caller=CALLER)
        Real(0.0, 1.0).check(self.density, name="density", caller=CALLER)

    @property
    def nominal(self) -> Array:
        """Numbers of the nominal columns."""
        return np.linspace(0, self.n_features - 1, self.n_nominal).round().astype(np.int64)

    def dense(self, Y: csr_array, rng: np.random.Generator) -> Made:
        """Make a sum of the labels' directions plus noise; cut nominal columns at quantiles."""
        n_rows, n_labels = Y.shape
        X = np.empty((n_rows, self.n_features))
        directions = self.separation * rng.standard_normal((n_labels, self.n_informative))
        for start in range(0, n_rows, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, n_rows))
            X[rows] = rng.standard_normal((rows.stop - start, self.n_features))
            if self.n_informative:
                X[rows, : self.n_informative] += Y[rows].astype(np.float64) @ directions
        for column in self.nominal:
            X[:, column] = _cut(X[:, column], self.n_categories)
        return X, self._described([f"v{code}" for code in range(self.n_categories)])

    def sparse(self, Y: csr_array, rng: np.random.Generator) -> Made:
        """Make counts of words: each label has words of its own, all rows share some chatter."""
        n_rows, n_labels = Y.shape
        vocabulary = rng.integers(0, max(self.n_informative, 1), size=(n_labels, WORDS_PER_LABEL))
        starts = range(0, n_rows, BLOCK_ROWS)
        parts = [self._words(Y[start : start + BLOCK_ROWS], vocabulary, rng) for start in starts]
        X = vstack(parts, format="csr")
        X.data[np.isin(X.indices, self.nominal)] = 1.0
        return X, self._described(["0", "1"], integer=True)

    def _words(self, Y: csr_array, vocabulary: Array, rng: np.random.Generator) -> csr_array:
        n_rows = Y.shape[0]
        lengths = rng.poisson(self.density * self.n_features, size=n_rows)
        rows = np.repeat(np.arange(n_rows), lengths)
        sizes = np.diff(Y.indptr)[rows]
        words = rng.integers(0, self.n_features, size=len(rows))
        told = (rng.random(len(rows)) < TOLD_BY_LABELS) & (sizes > 0)
        told &= self.n_informative > 0
        turn = (rng.random(len(rows)) * sizes).astype(np.int64)  # which of the row's labels speaks
        speaking = Y.indices[Y.indptr[rows[told]] + turn[told]]
        words[told] = vocabulary[speaking, rng.integers(0, WORDS_PER_LABEL, size=int(told.sum()))]
        counts = coo_array((np.ones(len(rows)), (rows, words)), shape=(n_rows, self.n_features))
        return counts.tocsr()

    def _described(self, categories: list[str], *, integer: bool = False) -> tuple[Feature, ...]:
        nominal = set(self.nominal.tolist())
        return tuple(
            Feature(f"x{at}", "nominal", tuple(categories))
            if at in nominal
            else Feature(f"x{at}", integer=integer)
            for at in range(self.n_features)
        )


def _cut(values: Array, n_categories: int) -> Array:
    """Replace numbers by the number of the quantile they fall into."""
    edges = np.quantile(values[:BLOCK_ROWS], np.arange(1, n_categories) / n_categories)
    return np.searchsorted(edges, values, side="right").astype(np.float64)
