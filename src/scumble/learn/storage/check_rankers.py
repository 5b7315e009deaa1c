"""Rankers and thresholds from files looked over: every part has the size the others expect."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scumble.learn.bagged_trees import BaggedTrees
from scumble.learn.blended import BlendedRanker, SecondLook
from scumble.learn.c45.forest import Forest
from scumble.learn.calibration import Calibration
from scumble.learn.heights import Heights
from scumble.learn.inner_classifier import InnerClassifier
from scumble.learn.neighbour_ranker import NeighbourRanker
from scumble.learn.radial import POWERS, RadialKernel
from scumble.learn.ridge import RidgeRanker
from scumble.learn.scaling import MOST_RANKED, N_STEPS, Scaling
from scumble.learn.storage.demands import demand, is_table, is_vector
from scumble.learn.thresholded import ThresholdedClassifier


def check_ranker(model: Any) -> None:
    """Refuse a ranker, or a classifier with thresholds, whose parts do not fit."""
    demand(type(model.n_labels_) is int, "the number of labels is no whole number")
    for kind, check in _CHECKS.items():
        if isinstance(model, kind):
            check(model)


def width_of(model: Any) -> int:
    """Tell how many columns of one scale an estimator makes of its features."""
    scaling = model._scaling
    demand(isinstance(scaling, Scaling), "the scale of the columns is missing")
    n_values = model._codes.n_values
    width = int(np.where(n_values > 2, n_values - 1, 1).sum())
    fits = [
        is_vector(part, np.float64, width)
        for part in (scaling.centres, scaling.divisors)
        if part is not None
    ]
    if scaling.knots is not None:
        fits.append(is_table(scaling.knots, np.float64, (N_STEPS, width)))
    others = (scaling.centres, scaling.knots)
    alone = scaling.divisors is None and any(part is not None for part in others)
    # Files from before there were ranks, see `changes`.
    unranked = scaling.divisors is not None and scaling.knots is None and width <= MOST_RANKED
    demand(not unranked, "it is of an earlier version of scumble: train it again")
    demand(all(fits) and not alone, "the scale of the columns does not fit")
    return width


def _check_ridge(model: RidgeRanker) -> None:
    n_columns = width_of(model)
    demand(model.kernel_ in ("linear", *POWERS), f"there is no kernel {model.kernel_!r}")
    if model.kernel_ != "linear":
        kernel = model._kernel
        points = kernel.points if isinstance(kernel, RadialKernel) else None
        fits = isinstance(points, np.ndarray | sparse.csr_array) and points.dtype == np.float64
        demand(
            fits and points.ndim == 2 and points.shape[1] == n_columns,
            "the points of the kernel do not fit",
        )
        fits = isinstance(kernel.gamma, float) and 0 < kernel.gamma < np.inf
        demand(fits, "the width of the kernel is no number")
        demand(kernel.power == POWERS[model.kernel_], "the kernel is another one")
        n_columns = points.shape[0]
    fits = is_table(model.coefficients_, np.float64, (n_columns, model.n_labels_))
    demand(fits, "the coefficients do not fit")
    demand(is_vector(model.intercepts_, np.float64, model.n_labels_), "the intercepts do not fit")


def _check_neighbours(model: NeighbourRanker) -> None:
    n_rows, labels, k = model.space_.values.shape[0], model.labels_, model.n_neighbors_
    fits = (
        isinstance(labels, sparse.csr_array)
        and labels.shape == (n_rows, model.n_labels_)
        and is_vector(model._weights, np.float64, n_rows)
        and is_vector(model._shares, np.float64, model.n_labels_)
    )
    demand(fits, "the labels of the training rows do not fit")
    demand(type(k) is int and 0 <= k < n_rows, "there are not as many neighbours as are asked")


def _check_bags(model: BaggedTrees) -> None:
    trees, n_draws = model.models_, model.n_estimators
    fits = isinstance(trees, Forest) and len(trees) == n_draws * model.n_labels_
    demand(fits and (trees.n_classes == 2).all(), "the trees do not fit the labels")


def _check_blend(model: BlendedRanker) -> None:
    rankers, scales, curve = model.rankers_, model.heights_, model.calibration_
    sizes = {len(part) for part in (rankers, scales, model.weights) if part is not None}
    fits = len(sizes) == 1 and is_vector(model.weights_, np.float64, len(rankers))
    demand(fits, "the rankers do not fit")
    for ranker, scale in zip(rankers, scales, strict=True):
        _check_inside(ranker, model.n_labels_)
        _check_heights(scale, model.n_labels_)
    _check_curves(curve, model.n_labels_)
    second = model.second_
    if second is not None:
        fits = isinstance(second, SecondLook) and isinstance(second.ranker, RidgeRanker)
        demand(fits, "the second look is none")
        _check_heights(second.scale, model.n_labels_)
        known = (second.ranker.n_features_in_, second.ranker.n_labels_)
        demand(known == (model.n_labels_,) * 2, "the second look does not fit the labels")


def _check_curves(curves: Any, n_labels: int) -> None:
    fits = isinstance(curves, Calibration) and all(
        is_vector(part, np.float64, n_labels) for part in (curves.intercepts, curves.slopes)
    )
    demand(fits, "the curves of the labels do not fit")


def _check_heights(heights: Any, n_labels: int) -> None:
    demand(isinstance(heights, Heights), "the heights of scores are missing")
    starts, n_knots = heights.starts, len(heights.scores)
    fits = (
        is_vector(starts, np.int64, n_labels + 1)
        and starts[0] == 0
        and starts[-1] == n_knots
        and (np.diff(starts) > 0).all()
        and type(heights.are_probabilities) is bool
        and all(is_vector(part, np.float64, n_knots) for part in (heights.scores, heights.rates))
    )
    demand(fits, "the heights of scores do not fit")


def _check_thresholded(model: ThresholdedClassifier) -> None:
    _check_inside(model.estimator_, model.n_labels_)
    fits = is_vector(model.thresholds_, np.float64, model.n_labels_)
    n_curves = 0 if model.rule == "fixed" else model.n_labels_
    demand(fits and len(model.curves_) == n_curves, "the thresholds do not fit")


def _check_inside(inside: Any, n_labels: int) -> None:
    demand(isinstance(inside, InnerClassifier), "the classifier inside is missing")
    labels, always = inside.open_labels, inside.always
    fits = (
        is_vector(labels, np.int64, np.size(labels))
        and is_vector(always, np.bool_, n_labels)
        and ((labels >= 0) & (labels < n_labels)).all()
        and len(np.unique(labels)) == len(labels)
    )
    demand(fits, "the labels of the classifier inside do not fit")
    n_known = getattr(inside.model, "n_labels_", len(labels))
    demand(n_known == len(labels), "the classifier inside knows other labels")


_CHECKS: dict[type, Any] = {
    RidgeRanker: _check_ridge,
    NeighbourRanker: _check_neighbours,
    BaggedTrees: _check_bags,
    BlendedRanker: _check_blend,
    ThresholdedClassifier: _check_thresholded,
}
