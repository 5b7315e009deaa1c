"""Several rankers as one."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ParameterTypeError, parameter_error
from scumble._core.parallel import run_in_threads
from scumble._core.parameters import AnyValue, Bool, Int, default
from scumble.learn.bagged_trees import BaggedTrees
from scumble.learn.base import BaseRanker, MultilabelClassifierConstraint, parameters
from scumble.learn.calibration import Calibration
from scumble.learn.inner_classifier import InnerClassifier, TrainingData, fit_with_scores
from scumble.learn.rank_scale import RankScale
from scumble.learn.ridge import RidgeRanker
from scumble.learn.weights import find_estimator_without_sample_weight

#: How loud the default rankers are before that is measured.
_DEFAULT_WEIGHTS = (2.0, 1.0, 1.0, 1.0)
#: A second look needs so many rows per label, and has this part of the say.
_ROWS_PER_LABEL, _SECOND_SHARE = 5, 1 / 6
#: Rows that stand for all in a second look.
_LANDMARKS = 500
#: How loud one ranker is tried at a time: silent, half, twice and four times as loud.
_FACTORS = (0.0, 0.5, 2.0, 4.0)
_ROUNDS = 2
#: A label with fewer rows is not asked.
_FEWEST_ROWS = 3
#: No more labels are asked.
_MOST_LABELS = 100
#: A smaller gain is none.
_SMALLEST_GAIN = 1e-6


@parameters()
class BlendedRanker(BaseRanker, name="blend", display_group="Rankers"):
    r"""Let several rankers speak, each on the scale of its own ranking.

    Scores of different methods mean different things. Here each says how few training rows it
    would rank as high, and what odds it gives; the logarithms of both are averaged over all, and a
    curve per label turns the mean into a probability, so that labels can be compared with each
    other as well as rows. A second look then lets what was found of all labels speak for each:
    labels that go together help each other.

    Parameters
    ----------
    rankers : sequence of classifiers, default=None
        Rankers of this package, which know their out-of-sample scores, or any other classifiers,
        which are fitted on inner folds for them. By default ridge regression with the Laplacian
        kernel, with the Gaussian one and straight, and bagged trees.
    weights : sequence of float, default=None
        How loud each of them is, for all labels. By default that is measured: so that the blend
        ranks rows that were left out as well as possible.
    second_look : bool, default=True
        Whether a curved ridge regression on the heights of all labels joins the blend, with a
        sixth of the say. It is left out where there is but one label, or fewer than five rows
        per label.
    n_folds : int, default=5
        Inner folds for classifiers that need them.
    random_state : None, int, Generator or RandomState, default=None
        Seeds the rankers that were left without one, each with its own, and deals inner folds.

    Attributes
    ----------
    rankers_ : list of InnerClassifier
        The fitted rankers.
    heights_ : list of Heights
        From the scores of each to heights.
    weights_ : ndarray of shape (n_rankers,)
        How loud each of them is; they sum to one.
    calibration_ : Calibration
        From mean heights to probabilities.
    second_ : SecondLook or None
        The second look, where there is one.

    See Also
    --------
    ThresholdedClassifier : Decides from which score on each label is predicted.

    Notes
    -----
    With :math:`r_m(x)` the share of training rows that ranker m scores at least as high as x, out
    of sample, and :math:`s_m(x)` its score, the height of a row is the mean of
    :math:`-\log r_m(x)` and :math:`\log(s_m(x) / (1 - s_m(x)))` over all rankers; of the former
    alone for rankers whose scores are not all in [0, 1] (margins of ``decision_function`` are
    squeezed into it). A row that one ranker puts at the very top and others in the upper tenth so
    gets further than one that all put there: what is rare shows. Rates, weights, curve and scores
    of training rows all come from out-of-sample scores.

    Weights are measured by the mean over labels of the average precision of these heights; rows
    count once each. From equal weights on (of the default rankers the first is twice as loud as
    each of the others), one ranker after the other is made silent, half, twice or four times as
    loud, whichever raises the mean most, if any does. There are two rounds; who is silent after
    the first stays so, and is not asked about new rows. Asked are labels that three rows or more
    have and some have not, a hundred of them at most, from the rarest to the most frequent.

    Out-of-sample scores of the second look are somewhat better than new rows will be, since the
    heights of other rows have seen a row's labels; measured on new rows it helps all the same.

    Examples
    --------
    >>> from scumble.learn import BlendedRanker, NeighbourRanker, RidgeRanker
    >>> X = [[0], [1], [2], [3], [7], [8], [9], [10]]
    >>> Y = [[1, 0], [1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 1]]
    >>> model = BlendedRanker([RidgeRanker(), NeighbourRanker(3)]).fit(X, Y)
    >>> model.predict([[1.5], [8.5]])
    array([[1, 0],
           [0, 1]])
    """

    rankers: Any = default(None, AnyValue("None or a list of classifiers"))
    _: KW_ONLY
    weights: Any = default(None, AnyValue("None or a number >= 0 per ranker"))
    second_look: bool = default(True, Bool())
    n_folds: int = default(5, Int(2))
    random_state: Any = None

    def _check_parameter_combinations(self) -> None:
        rankers = self._rankers()
        for ranker in rankers:
            MultilabelClassifierConstraint().check(ranker, name="rankers", caller="BlendedRanker")
        _read_blend_weights(self.weights, len(rankers))

    def _rankers(self) -> list[Any]:
        if self.rankers is None:
            kernels = ("laplacian", "rbf", "linear")
            return [*map(RidgeRanker, kernels), BaggedTrees(columns=1.0)]
        if isinstance(self.rankers, str) or not hasattr(self.rankers, "__len__"):
            must = "be None or a list of classifiers"
            raise ParameterTypeError(
                str(parameter_error("rankers", "BlendedRanker", must, self.rankers))
            )
        if len(self.rankers) == 0:
            raise ParameterError(
                "The 'rankers' parameter of BlendedRanker must hold at least one classifier. "
                "Got none."
            )
        return list(self.rankers)

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        self._fit_out_of_sample(X, Y, weights)

    def _fit_out_of_sample(self, X: Any, Y: sparse.csr_array, weights: Array | None) -> Array:
        generator = self._generator()
        training = TrainingData(
            X, Y, self._codes.n_values, weights, generator, self.n_jobs, is_validated=True
        )
        how: dict[str, Any] = {"n_folds": self.n_folds, "caller": "BlendedRanker"}

        def learn(ranker: Any) -> tuple[InnerClassifier, RankScale, Array]:
            fitted, scores = fit_with_scores(ranker, training, **how)
            scale = RankScale.of(scores, n_jobs=self.n_jobs)
            return fitted, scale, scale.ask(scores, n_jobs=self.n_jobs)

        learnt = zip(*map(learn, self._rankers()), strict=True)
        self.rankers_, self.heights_, parts = map(list, learnt)
        self.weights_ = self._blend_weights(parts, Y)
        heights = np.zeros(Y.shape, order="F")
        for loud, part in zip(self.weights_, parts, strict=True):
            heights += loud * part
        self.second_ = None
        if self.second_look and _ROWS_PER_LABEL * Y.shape[1] <= Y.shape[0] and Y.shape[1] > 1:
            seed = int(generator.integers(2**31 - 1))
            self.second_, heights = StackedRidge.of(heights, Y, weights, seed, self.n_jobs)
        self.calibration_ = Calibration.of(heights, Y, weights)
        return self.calibration_.ask(heights)

    def _predict_scores(self, X: Any) -> Array:
        heights = np.zeros((X.shape[0], self.n_labels_), order="F")
        for ranker, scale, loud in zip(self.rankers_, self.heights_, self.weights_, strict=True):
            if loud == 0:
                continue
            scores = ranker.scores(X, self._codes.n_values, caller="BlendedRanker")
            heights += loud * scale.ask(scores, n_jobs=self.n_jobs)
        if self.second_ is not None:
            heights = self.second_.join(heights, self.n_jobs)
        return self.calibration_.ask(heights)

    def _blend_weights(self, heights: list[Array], Y: sparse.csr_array) -> Array:
        if self.weights is not None:
            return _read_blend_weights(self.weights, len(heights))
        first = _DEFAULT_WEIGHTS if self.rankers is None else None
        return fit_blend_weights(heights, Y, _read_blend_weights(first, len(heights)), self.n_jobs)

    def _find_estimator_without_sample_weight(self) -> str | None:
        return next(
            (
                name
                for r in self._rankers()
                if (name := find_estimator_without_sample_weight(r)) is not None
            ),
            None,
        )


@dataclass(frozen=True, eq=False)
class StackedRidge:
    """Curved ridge regression on the heights of all labels: one more ranker in the blend."""

    ranker: RidgeRanker
    scale: RankScale  # from scores of the ranker to heights

    @classmethod
    def of(
        cls, heights: Array, Y: Any, weights: Array | None, seed: int, n_jobs: int | None
    ) -> tuple[StackedRidge, Array]:
        """Learn from training rows, and return their joint heights as well."""
        ranker = RidgeRanker("rbf", landmarks=_LANDMARKS, random_state=seed, n_jobs=n_jobs)
        scores = ranker._fit_out_of_sample_validated(
            np.ascontiguousarray(heights), Y, weights, n_values=np.zeros(Y.shape[1], np.int64)
        )
        scale = RankScale.of(scores, n_jobs=n_jobs)
        return cls(ranker, scale), _joined(heights, scale.ask(scores, n_jobs=n_jobs))

    def join(self, heights: Array, n_jobs: int | None) -> Array:
        """Return the joint heights of other rows."""
        return _joined(
            heights,
            self.scale.ask(
                self.ranker._predict_scores(np.ascontiguousarray(heights)), n_jobs=n_jobs
            ),
        )


def _joined(heights: Array, others: Array) -> Array:
    return (1 - _SECOND_SHARE) * heights + _SECOND_SHARE * others


def _read_blend_weights(weights: Any, n_rankers: int) -> Array:
    if weights is None:
        return np.full(n_rankers, 1 / n_rankers)
    found = np.asarray(weights, np.float64) if np.ndim(weights) == 1 else np.zeros(0)
    if found.shape != (n_rankers,) or not are_valid_weights(found):
        must = f"hold {n_rankers} numbers >= 0, one per ranker, not all 0"
        raise parameter_error("weights", "BlendedRanker", must, weights)
    return found / found.sum()


def are_valid_weights(weights: Array) -> bool:
    """Tell whether weights are numbers of at least 0, and one of them above."""
    return bool((np.isfinite(weights) & (weights >= 0)).all() and weights.any())


# All labels share the weights: few numbers, chosen by many rows and labels, hardly follow chance.
def fit_blend_weights(heights: list[Array], Y: Any, first: Array, n_jobs: Any = None) -> Array:
    """Go from first weights to better ones, one ranker after the other; they sum to one."""
    columns = Y.tocsc()
    labels = sample_labels(columns)
    if len(heights) == 1 or len(labels) == 0:
        return first

    def rate(tried: list[Array]) -> Array:
        ask = partial(_precisions, heights, columns, tried)
        return np.mean(run_in_threads(ask, labels.tolist(), n_jobs=n_jobs), axis=0)

    best, found = first, rate([first])[0]
    for ranker in list(range(len(first))) * _ROUNDS:
        if best[ranker] == 0:
            continue
        others = np.arange(len(first)) != ranker
        tried = [np.where(others, best, best * factor) for factor in _FACTORS]
        tried = [weights for weights in tried if weights.any()]
        reached = rate(tried)
        if reached.max() > found + _SMALLEST_GAIN:
            best, found = tried[int(reached.argmax())], reached.max()
    return best / best.sum()


def _precisions(heights: list[Array], columns: Any, tried: list[Array], label: int) -> list[float]:
    """Return the average precision of one label under different weights."""
    rows = columns.indices[slice(*columns.indptr[label : label + 2])]
    own = np.array([part[:, label] for part in heights])
    return [single_label_average_precision((w[:, None] * own).sum(axis=0), rows) for w in tried]


def single_label_average_precision(heights: Array, rows: Array) -> float:
    """Return the mean, over rows with a label, of the label's share of the rows as high as each."""
    ordered, own = np.sort(heights), np.sort(heights[rows])
    places = len(ordered) - np.searchsorted(ordered, own)
    return float(((len(own) - np.searchsorted(own, own)) / places).mean())


def sample_labels(columns: Any) -> Array:
    """Return labels that some rows have and some have not, from the rarest on at even steps."""
    counts = np.diff(columns.indptr)
    some = np.flatnonzero((counts >= _FEWEST_ROWS) & (counts < columns.shape[0]))
    if len(some) <= _MOST_LABELS:
        return some
    ordered = some[np.argsort(counts[some], kind="stable")]
    return ordered[np.linspace(0, len(some) - 1, _MOST_LABELS).astype(np.intp)]
