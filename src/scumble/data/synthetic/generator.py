"""`make_multilabel`: data with a chosen cardinality, imbalance and concurrence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from scumble._core.errors import ParameterError
from scumble._core.parameters import Real
from scumble._core.random import as_generator
from scumble._core.validation import check_count
from scumble.data.dataset import MultilabelDataset
from scumble.data.synthetic.assignment import assign_labels, most_rows
from scumble.data.synthetic.counts import label_counts
from scumble.data.synthetic.features import FeaturePlan, dense_features, sparse_features

CALLER = "make_multilabel"
AUTO = "auto"
#: What is made where nothing else is asked for; or what comes nearest.
USUAL = {"cardinality": 3.0, "mean_ir": 20.0, "scumble": 0.2}
#: How far the curve of label counts may be bent, in order of preference, to reach a SCUMBLE.
BENDS = (1.0, 1.5, 2.0, 3.0, 5.0, 0.7, 0.5)


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
    plan = _plan(n_features, n_informative, n_nominal, n_categories, separation, density)
    n_assignments = _n_assignments(n_instances, n_labels, cardinality)
    n_unlabelled = _n_unlabelled(n_instances, n_labels, n_assignments, unlabelled)
    wanted_ir = _number(mean_ir, USUAL["mean_ir"], "mean_ir", 1.0, math.inf)
    aim = None if scumble is None else _number(scumble, USUAL["scumble"], "scumble", 0.0, 1.0)
    rng = as_generator(random_state, caller=CALLER)

    most = most_rows(n_instances, n_unlabelled)
    counts = _candidates(n_assignments, n_labels, wanted_ir, most, aim, nearest=mean_ir == AUTO)
    Y = assign_labels(counts, n_instances, n_unlabelled, aim, rng, n_jobs, nearest=scumble == AUTO)
    make_features = sparse_features if sparse and n_features else dense_features
    X, features = make_features(Y, plan, rng)
    return MultilabelDataset(X, Y, features=features, name=name)


def _candidates(
    n_assignments: int,
    n_labels: int,
    mean_ir: float,
    most: int,
    scumble: float | None,
    *,
    nearest: bool,
) -> Iterator[np.ndarray[Any, Any]]:
    """Offer label counts, the straightest law first; bent ones may turn out impossible."""
    yield label_counts(n_assignments, n_labels, mean_ir, most, nearest=nearest)
    for bend in BENDS[1:] if scumble is not None and n_labels > 2 else ():
        try:
            yield label_counts(n_assignments, n_labels, mean_ir, most, bend=bend)
        except ParameterError:
            continue


def _plan(
    n_features: Any,
    n_informative: Any,
    n_nominal: Any,
    n_categories: Any,
    separation: Any,
    density: Any,
) -> FeaturePlan:
    n_features = check_count(n_features, name="n_features", caller=CALLER, minimum=0)
    if n_informative is None:
        n_informative = (n_features + 1) // 2
    for value, parameter in ((n_informative, "n_informative"), (n_nominal, "n_nominal")):
        check_count(value, name=parameter, caller=CALLER, minimum=0)
        if value > n_features:
            raise ParameterError(
                f"The {parameter!r} parameter of {CALLER} must not exceed 'n_features', "
                f"{n_features}. Got {value!r} instead."
            )
    check_count(n_categories, name="n_categories", caller=CALLER, minimum=2)
    Real(0.0, math.inf).check(separation, name="separation", caller=CALLER)
    Real(0.0, 1.0).check(density, name="density", caller=CALLER)
    return FeaturePlan(
        n_features, n_informative, n_nominal, n_categories, float(separation), float(density)
    )


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
