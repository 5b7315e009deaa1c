"""`make_multilabel`: synthetic data with specified cardinality, imbalance and concurrence.

The features depend on the labels, so that classifiers can learn them.
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
from scumble._core.parameters import Real, as_generator, check_count
from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.synthetic.labels import assign_labels, label_counts, max_rows_per_label

#: A matrix of features and the description of its columns.
FeatureMatrix = tuple[Any, tuple[Feature, ...]]
CALLER = "make_multilabel"
AUTO = "auto"
#: Targets for "auto"; if one cannot be reached, the nearest possible value is used.
DEFAULT_TARGETS = {"cardinality": 3.0, "mean_ir": 20.0, "scumble": 0.2}
#: Curvatures of the law of label counts, in order of preference, that are tried to reach a SCUMBLE.
CURVATURES = (1.5, 2.0, 3.0, 5.0, 0.7, 0.5)
#: Number of rows that are generated at a time, so that temporary arrays stay small.
BLOCK_ROWS = 65536
#: Number of words that belong to a label, in sparse features.
WORDS_PER_LABEL = 8
#: Share of a row's words that are words of its labels; the others are random.
LABEL_WORD_SHARE = 0.7


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
    """Generate a data set with specified cardinality, imbalance and concurrence.

    The counts of the labels follow a power law whose exponent gives the specified MeanIR. The
    labels are assigned to the instances at random; then pairs of instances exchange labels until
    SCUMBLE has the specified value. All labels occur; the first is the most frequent.

    Parameters
    ----------
    n_instances : int
        Number of rows.
    n_labels : int
        Number of labels.
    n_features : int
        Number of features; with 0 the data set has labels only.
    cardinality : float or "auto"
        Mean number of labels of an instance, accurate to one assignment. By default 3, or 3/4 of
        ``n_labels`` if that is less, or more if otherwise not every label could occur.
    mean_ir : float or "auto"
        MeanIR, accurate to 2 % and usually better. By default 20, or the nearest value that is
        possible with this number of instances and labels.
    scumble : float, "auto" or None
        SCUMBLE, accurate to 0.01 and usually better. By default 0.2, or the nearest value that is
        possible. With None the labels are independent of each other.
    unlabelled : float, optional
        Share of instances without labels. By default 0 if the cardinality is at least 1; otherwise
        as large as necessary for the other instances to have a label.
    n_informative : int, optional
        Number of features, the first ones, that depend on the labels; by default half of them.
    n_nominal : int
        Number of nominal features, which are distributed evenly over the columns.
    n_categories : int
        Number of categories of a nominal feature (in sparse features always 2).
    separation : float
        Effect of a label on an informative feature, in standard deviations of the noise. Larger
        values are easier to learn. Not used for sparse features.
    sparse : bool
        Whether the features are sparse word counts; each label has its own words.
    density : float
        Approximate share of nonzero values in sparse features.
    random_state : int, Generator, RandomState or None
        Source of randomness. The same int always gives the same data; with None they differ.
    n_jobs : int, optional
        Number of threads; affects only the time.
    name : str
        Name of the data set.

    Returns
    -------
    MultilabelDataset
        Labels y0, y1, ... in order of their frequency, features x0, x1, ...

    Raises
    ------
    ParameterError
        If a parameter is outside its range, or if the targets contradict each other; the message
        then says what is possible.

    See Also
    --------
    scumble.load : Load a real data set.

    Notes
    -----
    If a power law would need a label in more than three quarters of the instances, or cannot give
    the specified SCUMBLE, the law is curved: ln IRLbl grows with (ln rank)^p with p other than 1.

    Time and memory grow with the number of assignments; labels and instances cost little.
    Labels are exchanged within blocks of about 8,000 instances, which have the same distribution of
    labels.

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
    feature_generator = FeatureGenerator(
        n_features=n_features,
        n_informative=(n_features + 1) // 2 if n_informative is None else n_informative,
        n_nominal=n_nominal,
        n_categories=n_categories,
        separation=separation,
        density=density,
    )
    n_assignments = _n_assignments(n_instances, n_labels, cardinality)
    n_unlabelled = _n_unlabelled(
        n_instances, n_labels=n_labels, n_assignments=n_assignments, unlabelled=unlabelled
    )
    target_ir = _target(mean_ir, "mean_ir", minimum=1.0, maximum=math.inf)
    target_scumble = None
    if scumble is not None:
        target_scumble = _target(scumble, "scumble", minimum=0.0, maximum=1.0)
    rng = as_generator(random_state, caller=CALLER)

    counts_for = partial(
        label_counts,
        n_assignments=n_assignments,
        n_labels=n_labels,
        mean_ir=target_ir,
        max_count=max_rows_per_label(n_instances, n_unlabelled),
    )
    curvatures = CURVATURES if target_scumble is not None and n_labels > 2 else ()
    Y = assign_labels(
        _candidate_counts(counts_for, curvatures, allow_nearest=mean_ir == AUTO),
        n_instances,
        n_unlabelled=n_unlabelled,
        scumble=target_scumble,
        rng=rng,
        n_jobs=n_jobs,
        allow_nearest=scumble == AUTO,
    )
    if sparse and n_features:
        X, features = feature_generator.sparse(Y, rng)
    else:
        X, features = feature_generator.dense(Y, rng)
    return MultilabelDataset(X, Y, features=features, name=name)


def _candidate_counts(
    counts_for: Callable[..., Array], curvatures: Sequence[float], *, allow_nearest: bool
) -> Iterator[Array]:
    """Yield label counts: of the power law first, then of each curvature that is possible."""
    yield counts_for(allow_nearest=allow_nearest)
    for curvature in curvatures:
        with suppress(ParameterError):
            yield counts_for(curvature=curvature)


def _n_assignments(n_instances: int, n_labels: int, cardinality: Any) -> int:
    """Return the number of label assignments; check that every label can occur."""
    default = max(min(DEFAULT_TARGETS["cardinality"], 0.75 * n_labels), n_labels / n_instances)
    cardinality = _target(
        cardinality, "cardinality", minimum=0.0, maximum=math.inf, default=default
    )
    n_assignments = round(n_instances * cardinality)
    if not n_labels <= n_assignments <= n_instances * n_labels:
        raise ParameterError(
            f"{CALLER}: every label must occur, and no instance can have more than all "
            f"{n_labels}. Expected 'cardinality' in [{n_labels / n_instances:.4g}, {n_labels}]. "
            f"Got {cardinality!r} instead."
        )
    return n_assignments


def _n_unlabelled(n_instances: int, *, n_labels: int, n_assignments: int, unlabelled: Any) -> int:
    """Return the number of rows without labels; check that the labels fit on the others."""
    if unlabelled is None:
        if n_assignments >= n_instances:
            return 0
        # With independent labels the number of labels of a row has a Poisson distribution.
        expected = round(n_instances * math.exp(-n_assignments / n_instances))
        n_labelled_min = math.ceil(n_assignments / n_labels)
        return min(max(expected, n_instances - n_assignments), n_instances - n_labelled_min)
    Real(0.0, 1.0).check(unlabelled, name="unlabelled", caller=CALLER)
    n_unlabelled = round(n_instances * unlabelled)
    n_labelled = n_instances - n_unlabelled
    if not n_labelled <= n_assignments <= n_labelled * n_labels:
        minimum = max(0.0, 1 - n_assignments / n_instances)
        maximum = 1 - n_assignments / (n_instances * n_labels)
        raise ParameterError(
            f"{CALLER}: the other instances must have at least one label each, and at most all. "
            f"Expected 'unlabelled' in [{minimum:.4g}, {maximum:.4g}] for this cardinality. "
            f"Got {unlabelled!r} instead."
        )
    return n_unlabelled


def _target(
    value: Any, name: str, *, minimum: float, maximum: float, default: float | None = None
) -> float:
    """Return a target as a number in its range, or its default for "auto"."""
    if isinstance(value, str) and value == AUTO:
        return DEFAULT_TARGETS[name] if default is None else default
    Real(minimum, maximum).check(value, name=name, caller=CALLER)
    return float(value)


@dataclass(frozen=True)
class FeatureGenerator:
    """Generates features that depend on labels."""

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
                expected = f"not exceed 'n_features', {self.n_features}"
                raise parameter_error(parameter, CALLER, expected, value)
        check_count(self.n_categories, name="n_categories", caller=CALLER, minimum=2)
        Real(0.0, math.inf).check(self.separation, name="separation", caller=CALLER)
        Real(0.0, 1.0).check(self.density, name="density", caller=CALLER)

    @property
    def nominal(self) -> Array:
        """Numbers of the nominal columns, distributed evenly."""
        return np.linspace(0, self.n_features - 1, self.n_nominal).round().astype(np.int64)

    def dense(self, Y: csr_array, rng: np.random.Generator) -> FeatureMatrix:
        """Generate noise plus a random vector per label; bin nominal columns at quantiles."""
        n_rows, n_labels = Y.shape
        X = np.empty((n_rows, self.n_features))
        directions = self.separation * rng.standard_normal((n_labels, self.n_informative))
        for start in range(0, n_rows, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, n_rows))
            X[rows] = rng.standard_normal((rows.stop - start, self.n_features))
            if self.n_informative:
                X[rows, : self.n_informative] += Y[rows].astype(np.float64) @ directions
        for column in self.nominal:
            X[:, column] = _bin_at_quantiles(X[:, column], self.n_categories)
        return X, self._describe([f"v{code}" for code in range(self.n_categories)])

    def sparse(self, Y: csr_array, rng: np.random.Generator) -> FeatureMatrix:
        """Generate word counts: words of the row's labels, and random words."""
        n_rows, n_labels = Y.shape
        words_of_labels = rng.integers(
            0, max(self.n_informative, 1), size=(n_labels, WORDS_PER_LABEL)
        )
        blocks = [
            self._word_counts(Y[start : start + BLOCK_ROWS], words_of_labels, rng)
            for start in range(0, n_rows, BLOCK_ROWS)
        ]
        X = vstack(blocks, format="csr")
        X.data[np.isin(X.indices, self.nominal)] = 1.0
        return X, self._describe(["0", "1"], integer=True)

    def _word_counts(
        self, Y: csr_array, words_of_labels: Array, rng: np.random.Generator
    ) -> csr_array:
        """Draw the words of some rows; ``words_of_labels`` has a row of word numbers per label."""
        n_rows = Y.shape[0]
        lengths = rng.poisson(self.density * self.n_features, size=n_rows)
        rows = np.repeat(np.arange(n_rows), lengths)  # the row of each word
        n_words = len(rows)
        n_labels_of_row = np.diff(Y.indptr)[rows]
        words = rng.integers(0, self.n_features, size=n_words)
        is_label_word = (rng.random(n_words) < LABEL_WORD_SHARE) & (n_labels_of_row > 0)
        is_label_word &= self.n_informative > 0
        # Number of the label, among those of the row, that the word belongs to.
        number_in_row = (rng.random(n_words) * n_labels_of_row).astype(np.int64)
        labels = Y.indices[Y.indptr[rows[is_label_word]] + number_in_row[is_label_word]]
        word_numbers = rng.integers(0, WORDS_PER_LABEL, size=int(is_label_word.sum()))
        words[is_label_word] = words_of_labels[labels, word_numbers]
        counts = coo_array((np.ones(n_words), (rows, words)), shape=(n_rows, self.n_features))
        return counts.tocsr()

    def _describe(self, categories: list[str], *, integer: bool = False) -> tuple[Feature, ...]:
        """Return the features x0, x1, ...; numeric ones hold whole numbers if ``integer``."""
        nominal = set(self.nominal.tolist())
        features = []
        for column in range(self.n_features):
            if column in nominal:
                features.append(Feature(f"x{column}", "nominal", tuple(categories)))
            else:
                features.append(Feature(f"x{column}", integer=integer))
        return tuple(features)


def _bin_at_quantiles(values: Array, n_categories: int) -> Array:
    """Replace each value by the number of its quantile."""
    edges = np.quantile(values[:BLOCK_ROWS], np.arange(1, n_categories) / n_categories)
    return np.searchsorted(edges, values, side="right").astype(np.float64)
