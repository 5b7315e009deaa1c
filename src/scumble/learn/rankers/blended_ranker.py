"""A ranker that blends the scores of several others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ParameterTypeError, parameter_error
from scumble._core.parallel import run_in_threads
from scumble._core.parameters import AnyValue, Bool, Int
from scumble.learn.base import BaseRanker, MultilabelClassifierConstraint
from scumble.learn.classifier_tags import ClassifierTags
from scumble.learn.inner_classifier import TrainingData, fit_with_scores
from scumble.learn.rankers.bagged_trees import BaggedTrees
from scumble.learn.rankers.calibration import Calibration
from scumble.learn.rankers.rank_scale import RankScale
from scumble.learn.rankers.ridge import RidgeRanker
from scumble.learn.weights import find_estimator_without_sample_weight

#: Blend weights of the default rankers, relative to each other, at which the search starts.
_DEFAULT_WEIGHTS = (2.0, 1.0, 1.0, 1.0)
#: Smallest number of training rows divided by labels for stacking: with fewer it overfits.
_MIN_ROWS_PER_LABEL = 5
#: Weight of the scores of the stacked ridge regression; the blended ones have the remaining weight.
_STACKED_WEIGHT = 1 / 6
#: Number of landmarks of the stacked ridge regression, see `RidgeRanker`; it bounds the cost.
_N_LANDMARKS = 500
#: Factors by which the weight of one ranker at a time is multiplied; the best product is used.
_FACTORS = (0.0, 0.5, 2.0, 4.0)
#: How often the search changes the weight of each ranker.
_N_ROUNDS = 2
#: Smallest number of rows that a label needs to be used for the estimate of the weights.
_MIN_POSITIVES = 3
#: Largest number of labels that are used to estimate weights; more hardly change them.
_MAX_LABELS = 100
#: Gains in mean average precision up to this are rounding errors, and change no weight.
_MIN_GAIN = 1e-6


class BlendedRanker(BaseRanker, name="blend", display_group="Rankers"):
    r"""Weighted mean of several rankers, on a common scale of ranks and odds.

    Scores of different methods are not comparable. Each score is therefore replaced by the mean of
    two logarithms: of the share of training rows that score as high, and of the odds it stands for.
    These are averaged over all rankers, with weights that are estimated out of sample. A logistic
    curve per label turns the mean into a probability, so that labels can be compared with each
    other as well as rows. Stacking then uses the scores of all labels to score each of them, so
    that labels that co-occur help each other.

    Parameters
    ----------
    rankers : sequence of classifiers, default=None
        Rankers of this package, which have out-of-sample scores, or any other classifiers, which
        are fitted on inner folds. By default ridge regression with the Laplacian, the Gaussian and
        the linear kernel, and bagged trees.
    weights : sequence of float, default=None
        Blend weight of each ranker, for all labels. By default they are estimated, so that the
        blend ranks held-out rows as well as possible.
    stacking : bool, default=True
        Whether the blend includes stacking: a ridge regression with Gaussian kernel on the blended
        scores of all labels, with a weight of one sixth. It is left out if there is only one
        label, or if there are fewer than five rows per label.
    n_folds : int, default=5
        Inner folds for classifiers without out-of-sample scores.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    random_state : None, int, Generator or RandomState, default=None
        Seed of the inner folds, and of the rankers whose own `random_state` is None: a different
        seed for each.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    rankers_ : list of InnerClassifier
        The fitted rankers.
    rank_scales_ : list of RankScale
        For each ranker, the scale of ranks and odds of its scores.
    weights_ : ndarray of shape (n_rankers,)
        Blend weight of each ranker; they sum to one.
    calibration_ : Calibration
        The curves that turn blended scores into probabilities.
    stacked_ridge_ : StackedRidge or None
        The stacked ridge regression, if there is one.
    classes_ : list of ndarray, or ndarray
        The two values of each label; the classes if ``y`` held one class per row.
    n_labels_ : int
        Number of labels, or of classes.
    label_names_ : tuple of str or None
        Names of the labels; None if they have none.
    n_features_in_ : int
        Number of columns of X in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X; only if they have names.

    See Also
    --------
    ThresholdedClassifier : Chooses a decision threshold per label.

    Notes
    -----
    Let :math:`r_m(x)` be the share of training rows that ranker m scores at least as high as x, out
    of sample, and :math:`s_m(x)` its score. The value of a row on the rank scale is the mean of
    :math:`-\log r_m(x)` and :math:`\log(s_m(x) / (1 - s_m(x)))`, and the blended score is the
    weighted mean over the rankers. For rankers whose scores are not all in [0, 1] it is the former
    alone (margins of ``decision_function`` are squashed into [0, 1] first). A row that one ranker
    puts at the very top and others in the upper tenth thus has a higher value than one that all
    put there, which favours rare labels. Rates, weights, curves and scores of training rows all
    come from out-of-sample scores.

    Weights are estimated by the mean over labels of the average precision of the blended scores;
    rows count once each. The search starts at equal weights (of the default rankers the first has
    twice the weight of the others). For one ranker after the other, its weight is multiplied by 0,
    1/2, 2 or 4, whichever raises the mean most, if any does. There are two rounds; a ranker of
    weight 0 is left out from then on, also in predictions. Labels are used that at least three
    rows have and some have not, at most a hundred of them, at even steps from the rarest to the
    most frequent.

    Out-of-sample scores of stacking are slightly better than those of new rows will be, since the
    blended scores of other rows depend on a row's labels; on new rows stacking helps all the same.

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

    classifier_tags = ClassifierTags(weights_equal_repetitions=False, sparse_equals_dense=False)
    _parameter_constraints = {
        **BaseRanker._parameter_constraints,
        "rankers": AnyValue("None or a list of classifiers"),
        "weights": AnyValue("None or a number >= 0 per ranker"),
        "stacking": Bool(),
        "n_folds": Int(minimum=2),
    }

    def __init__(
        self,
        rankers: Any = None,
        *,
        weights: Any = None,
        stacking: bool = True,
        n_folds: int = 5,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.rankers = rankers
        self.weights = weights
        self.stacking = stacking
        self.n_folds = n_folds
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameter_combinations(self) -> None:
        """Raise an error unless rankers are classifiers, with a valid weight for each."""
        rankers = self._list_rankers()
        for ranker in rankers:
            MultilabelClassifierConstraint().check(ranker, name="rankers", caller="BlendedRanker")
        _check_blend_weights(self.weights, len(rankers))

    def _list_rankers(self) -> list[Any]:
        """Return the rankers to fit: those of the parameter, or the default ones.

        Raises an error if the parameter is not a sequence with at least one element.
        """
        if self.rankers is None:
            kernels = ("laplacian", "rbf", "linear")
            return [*map(RidgeRanker, kernels), BaggedTrees(columns=1.0)]
        if isinstance(self.rankers, str) or not hasattr(self.rankers, "__len__"):
            requirement = "be None or a list of classifiers"
            raise ParameterTypeError(
                str(parameter_error("rankers", "BlendedRanker", requirement, self.rankers))
            )
        if len(self.rankers) == 0:
            raise ParameterError(
                "The 'rankers' parameter of BlendedRanker must hold at least one classifier. "
                "Got none."
            )
        return list(self.rankers)

    def _find_estimator_without_sample_weight(self) -> str | None:
        """Return the name of the first ranker that cannot use weights; None if all can."""
        for ranker in self._list_rankers():
            name = find_estimator_without_sample_weight(ranker)
            if name is not None:
                return name
        return None

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Set the fitted attributes, for which out-of-sample scores are needed in any case."""
        self._fit_out_of_sample(X, Y, sample_weight)

    def _fit_out_of_sample(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None) -> Array:
        """Fit rankers, weights, stacking and calibration; set the fitted attributes.

        Returns the calibrated out-of-sample scores of the training rows, (n_samples, n_labels).
        """
        n_rows, n_labels = Y.shape
        generator = self._generator()
        training = TrainingData(
            X=X,
            Y=Y,
            n_categories=self._codes.n_values,
            weights=sample_weight,
            generator=generator,
            n_jobs=self.n_jobs,
            is_validated=True,
        )
        self.rankers_, self.rank_scales_ = [], []
        scaled_scores = []  # of each ranker, on its rank scale
        for ranker in self._list_rankers():
            fitted, scores = fit_with_scores(
                ranker, training, n_folds=self.n_folds, caller="BlendedRanker"
            )
            scale = RankScale.fit(scores, n_jobs=self.n_jobs)
            self.rankers_.append(fitted)
            self.rank_scales_.append(scale)
            scaled_scores.append(scale.transform(scores, n_jobs=self.n_jobs))
        self.weights_ = self._get_or_fit_weights(scaled_scores, Y)
        blended = np.zeros(Y.shape, order="F")
        for weight, ranker_scores in zip(self.weights_, scaled_scores, strict=True):
            blended += weight * ranker_scores
        self.stacked_ridge_ = None
        if self.stacking and n_labels > 1 and n_rows >= _MIN_ROWS_PER_LABEL * n_labels:
            seed = int(generator.integers(2**31 - 1))
            self.stacked_ridge_, blended = StackedRidge.fit(
                blended, Y, sample_weight, seed=seed, n_jobs=self.n_jobs
            )
        self.calibration_ = Calibration.fit(blended, Y, sample_weight)
        return self.calibration_.transform(blended)

    def _predict_scores(self, X: Any) -> Array:
        """Return the calibrated scores of the blend, (n_samples, n_labels)."""
        blended = np.zeros((X.shape[0], self.n_labels_), order="F")
        for ranker, scale, weight in zip(
            self.rankers_, self.rank_scales_, self.weights_, strict=True
        ):
            if weight == 0:
                continue
            scores = ranker.predict_scores(X, self._codes.n_values, caller="BlendedRanker")
            blended += weight * scale.transform(scores, n_jobs=self.n_jobs)
        if self.stacked_ridge_ is not None:
            blended = self.stacked_ridge_.add_to(blended, n_jobs=self.n_jobs)
        return self.calibration_.transform(blended)

    def _get_or_fit_weights(self, scaled_scores: list[Array], Y: sparse.csr_array) -> Array:
        """Return blend weights that sum to one: those of the parameter, else estimated ones."""
        n_rankers = len(scaled_scores)
        if self.weights is not None:
            return _check_blend_weights(self.weights, n_rankers)
        start = _DEFAULT_WEIGHTS if self.rankers is None else None
        start_weights = _check_blend_weights(start, n_rankers)
        return fit_blend_weights(scaled_scores, Y, start_weights, self.n_jobs)


@dataclass(frozen=True, eq=False)
class StackedRidge:
    """Stacking: ridge regression with Gaussian kernel on the blended scores of all labels."""

    ranker: RidgeRanker  # its features are the blended scores, one column per label
    scale: RankScale  # of the scores of the ranker

    @classmethod
    def fit(
        cls, blended: Array, Y: Any, weights: Array | None, *, seed: int, n_jobs: int | None
    ) -> tuple[StackedRidge, Array]:
        """Return a model fitted to blended scores, and their mean with the stacked ones.

        ``blended`` are the scores of the training rows, (n_samples, n_labels); the second result
        has the same shape and is what `add_to` returns for new rows, but out of sample.
        """
        ranker = RidgeRanker("rbf", landmarks=_N_LANDMARKS, random_state=seed, n_jobs=n_jobs)
        n_categories = np.zeros(Y.shape[1], np.int64)  # no column is nominal
        scores = ranker._fit_out_of_sample_validated(
            np.ascontiguousarray(blended), Y, weights, n_categories=n_categories
        )
        scale = RankScale.fit(scores, n_jobs=n_jobs)
        stacked = scale.transform(scores, n_jobs=n_jobs)
        return cls(ranker, scale), _add_stacked(blended, stacked)

    def add_to(self, blended: Array, *, n_jobs: int | None) -> Array:
        """Return the weighted mean of the blended scores of new rows and of the stacked ones."""
        scores = self.ranker._predict_scores(np.ascontiguousarray(blended))
        return _add_stacked(blended, self.scale.transform(scores, n_jobs=n_jobs))


def _add_stacked(blended: Array, stacked: Array) -> Array:
    """Return the mean of blended and stacked scores, the latter with a weight of one sixth."""
    return (1 - _STACKED_WEIGHT) * blended + _STACKED_WEIGHT * stacked


def _check_blend_weights(weights: Any, n_rankers: int) -> Array:
    """Return the weights divided by their sum; None stands for equal weights.

    Raises an error unless they are a sequence of one finite number >= 0 per ranker, not all 0.
    """
    if weights is None:
        return np.full(n_rankers, 1 / n_rankers)
    values = np.asarray(weights, np.float64) if np.ndim(weights) == 1 else np.zeros(0)
    if values.shape != (n_rankers,) or not are_valid_weights(values):
        requirement = f"hold {n_rankers} numbers >= 0, one per ranker, not all 0"
        raise parameter_error("weights", "BlendedRanker", requirement, weights)
    return values / values.sum()


def are_valid_weights(weights: Array) -> bool:
    """Return whether weights are finite, at least 0, and not all 0."""
    return bool((np.isfinite(weights) & (weights >= 0)).all() and weights.any())


# All labels share the weights: a few numbers, chosen by many rows and labels, hardly overfit.
def fit_blend_weights(
    scaled_scores: list[Array], Y: Any, start_weights: Array, n_jobs: int | None = None
) -> Array:
    """Return the blend weights of greatest mean average precision; they sum to one.

    ``scaled_scores`` are the out-of-sample scores of each ranker on its rank scale. The search
    begins at ``start_weights`` and multiplies the weight of one ranker at a time. The start is
    returned if there is only one ranker, or no label to compare with, see
    `labels_for_weight_search`.
    """
    Y_by_column = Y.tocsc()
    labels = labels_for_weight_search(Y_by_column)
    if len(scaled_scores) == 1 or len(labels) == 0:
        return start_weights

    def mean_precisions(candidates: list[Array]) -> Array:
        """Return the mean average precision of the labels with each of several blend weights."""

        def label_precisions(label: int) -> list[float]:
            """Return the average precision of one label with each of the blend weights."""
            return _average_precisions(scaled_scores, Y_by_column, candidates, label)

        return np.mean(run_in_threads(label_precisions, labels.tolist(), n_jobs=n_jobs), axis=0)

    best_weights = start_weights
    best_precision = mean_precisions([start_weights])[0]
    n_rankers = len(start_weights)
    for ranker_index in list(range(n_rankers)) * _N_ROUNDS:
        if best_weights[ranker_index] == 0:
            continue
        is_ranker = np.arange(n_rankers) == ranker_index
        candidates = [
            np.where(is_ranker, best_weights * factor, best_weights) for factor in _FACTORS
        ]
        candidates = [weights for weights in candidates if weights.any()]
        precisions = mean_precisions(candidates)
        if precisions.max() > best_precision + _MIN_GAIN:
            best_weights = candidates[int(precisions.argmax())]
            best_precision = precisions.max()
    return best_weights / best_weights.sum()


def _average_precisions(
    scaled_scores: list[Array], Y_by_column: Any, candidates: list[Array], label: int
) -> list[float]:
    """Return the average precision of one label with each of several blend weights.

    ``Y_by_column`` is a CSC matrix.
    """
    start, stop = Y_by_column.indptr[label], Y_by_column.indptr[label + 1]
    positive_rows = Y_by_column.indices[start:stop]
    label_scores = np.array([ranker_scores[:, label] for ranker_scores in scaled_scores])
    return [
        single_label_average_precision((weights[:, None] * label_scores).sum(axis=0), positive_rows)
        for weights in candidates
    ]


def single_label_average_precision(scores: Array, positive_rows: Array) -> float:
    """Return the average precision of the scores of one label.

    It is the mean, over the rows that have the label, of the precision among the rows that score
    at least as high. ``positive_rows`` are the indices of these rows.
    """
    ordered = np.sort(scores)
    positives = np.sort(scores[positive_rows])
    n_at_least = len(ordered) - np.searchsorted(ordered, positives)
    n_positives_at_least = len(positives) - np.searchsorted(positives, positives)
    return float((n_positives_at_least / n_at_least).mean())


def labels_for_weight_search(Y_by_column: Any) -> Array:
    """Return the indices of the labels that blend weights are estimated with.

    They are the labels that at least three rows have and some have not; if there are more than a
    hundred, a hundred of them at even steps from the rarest to the most frequent.
    """
    counts = np.diff(Y_by_column.indptr)
    is_usable = (counts >= _MIN_POSITIVES) & (counts < Y_by_column.shape[0])
    usable = np.flatnonzero(is_usable)
    if len(usable) <= _MAX_LABELS:
        return usable
    by_frequency = usable[np.argsort(counts[usable], kind="stable")]
    return by_frequency[np.linspace(0, len(usable) - 1, _MAX_LABELS).astype(np.intp)]
