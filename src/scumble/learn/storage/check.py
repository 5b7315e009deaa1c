"""Models from files looked over: compiled loops trust every index they are given."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ReadError
from scumble._core.features import FeatureCodes
from scumble._core.neighbours import Space
from scumble.learn.bagged_trees import BaggedTrees
from scumble.learn.base import BaseRanker
from scumble.learn.blended_ranker import BlendedRanker, StackedRidge, are_valid_weights
from scumble.learn.c45 import C45Classifier, Tree
from scumble.learn.c45.forest import Forest
from scumble.learn.calibration import Calibration
from scumble.learn.chains import ClassifierChain, EnsembleOfClassifierChains
from scumble.learn.eccru import ECCRU
from scumble.learn.inner_classifier import InnerClassifier
from scumble.learn.neighbour_ranker import NeighbourRanker
from scumble.learn.neighbourhood import NeighbourClassifier
from scumble.learn.radial_kernel import KERNEL_POWERS, RadialKernel
from scumble.learn.rank_scale import RankScale
from scumble.learn.regression_columns import RegressionColumns
from scumble.learn.ridge import RidgeRanker
from scumble.learn.scaling import MOST_RANKED, N_QUANTILES, Scaling
from scumble.learn.storage.json_encoding import is_storable_class
from scumble.learn.texts import TextColumns, TextModel
from scumble.learn.thresholded_classifier import ThresholdedClassifier

#: Said of what was saved before a part was added or changed its meaning, see `changes`.
EARLIER = "this model is of an earlier version of scumble: train it again"


def check_model(model: Any) -> None:
    """Refuse a model whose numbers point outside of its arrays."""
    for part in _parts([model], estimators=True):
        if "_codes" in getattr(part, "__dict__", {}) and any(
            map(is_storable_class, type(part).__mro__)
        ):
            _check_estimator(part)
        if isinstance(part, Space):
            _check_space(part)
        if f"{type(part).__module__}.{type(part).__qualname__}" == "sklearn.tree._tree.Tree":
            _check_foreign_tree(part)
        if isinstance(part, TextModel):
            _check_texts(part)


def _parts(waiting: list[Any], *, estimators: bool) -> Iterator[Any]:
    """Go through objects and all they hold, each once; into estimators only where wanted."""
    seen = {id(None)}
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float):
            continue
        if estimators or not hasattr(part, "get_params"):
            seen.add(id(part))
            yield part
            waiting.extend(_inside(part))


def _inside(part: Any) -> list[Any]:
    """List what an object holds."""
    if isinstance(part, np.ndarray):
        return part.ravel().tolist() if part.dtype == object else []
    if isinstance(part, dict):
        return list(part.values())
    if isinstance(part, list | tuple):
        return list(part)
    return [] if sparse.issparse(part) else list(getattr(part, "__dict__", {}).values())


def _check_estimator(model: Any) -> None:
    """Check the parts an estimator asks in compiled loops, by the columns it was fitted on."""
    # What is no table, such as texts for a pipeline inside, has no number of columns.
    n_features, codes = getattr(model, "n_features_in_", 0), model._codes
    # Any other class with 'n_values' would do for a prediction, too, but not be looked over.
    ensure(isinstance(codes, FeatureCodes), "the kinds of the columns are missing")
    n_values, names = codes.n_values, codes.names
    ensure(type(n_features) is int, "the number of features is no whole number")
    ensure(is_vector(n_values, np.int64, n_features), "the kinds of the columns do not fit")
    ensure(len(codes.categories) == n_features, "the categories of the columns do not fit")
    called = getattr(model, "feature_names_in_", None)
    sizes = {len(known) for known in (names, called) if known is not None}
    ensure(sizes <= {n_features}, "the names of the columns do not fit")
    if isinstance(model, C45Classifier):
        _check_tree(model.tree_, n_values, len(model.classes_))
        return
    n_labels = getattr(model, "n_labels_", None)
    ensure(n_labels is None or len(model.classes_) == n_labels, "the number of labels does not fit")
    if isinstance(model, NeighbourClassifier):
        fits = model.labels_.shape == (len(model.space_), n_labels)
        ensure(fits, "the labels of the training rows do not fit")
    if isinstance(model, ClassifierChain | EnsembleOfClassifierChains | ECCRU):
        _check_chains(model)
        n_values = np.append(n_values, np.full(model.n_labels_, 2))  # labels before are columns
    if hasattr(model, "pairs_"):
        _check_pairs(model)
    for part in _parts(list(vars(model).values()), estimators=False):
        if isinstance(part, Forest):
            _check_forest(part, n_values)
        elif isinstance(part, RegressionColumns):
            _check_columns(part, n_values)
    if hasattr(model, "space_"):
        _check_own_space(model, n_values)
    if isinstance(model, BaseRanker | ThresholdedClassifier):
        ensure(type(model.n_labels_) is int, "the number of labels is no whole number")
    for kind, check in _CHECKS.items():
        if isinstance(model, kind):
            check(model)


def _check_columns(columns: RegressionColumns, n_values: Array) -> None:
    """Check that every feature has a place, and every filling of a nominal one too."""
    fillings = columns.fillings
    fits = are_vectors(fillings, size=len(n_values)) and np.array_equal(columns.n_values, n_values)
    ensure(fits, "the columns do not fit the features")
    inside = ((fillings >= 0) & (fillings < n_values))[n_values > 0]
    ensure(inside.all(), "a missing value is filled with a category that is not there")


def _check_own_space(model: Any, n_values: Array) -> None:
    """Check the training rows of an estimator: features as they are, or columns of one scale."""
    space = model.space_
    if isinstance(model, BaseRanker):
        n_values = np.zeros(_width_of(model) + 1, np.int64)  # one more tells rows of zeros
    fits = isinstance(space, Space) and np.array_equal(space.n_values, n_values)
    ensure(fits and space.values.shape[1] == len(n_values), "the training rows do not fit")


def _check_chains(model: Any) -> None:
    orders = [model.order_] if isinstance(model, ClassifierChain) else list(model.orders_)
    sizes = range(1, model.n_labels_ + 1) if isinstance(model, ECCRU) else (model.n_labels_,)
    fits = all(_are_labels(order, model.n_labels_) and len(order) in sizes for order in orders)
    fits = fits and _are_two_class(model.models_, sum(map(len, orders)))
    ensure(fits, "the chains do not fit the labels")


def _check_pairs(model: Any) -> None:
    pairs, n_labels = model.pairs_, model.n_labels_
    fits = isinstance(pairs, np.ndarray) and pairs.ndim == 2 and pairs.dtype.kind in "iu"
    fits = fits and pairs.shape[1] == 2 and ((pairs >= 0) & (pairs < n_labels)).all()
    fits = fits and _are_two_class(model.models_, len(pairs) + n_labels)
    ensure(fits, "the pairs of labels do not fit the labels")


def _are_labels(value: Any, n_labels: int) -> bool:
    """Tell whether an array names labels that are there, each once."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "iu":
        return False
    inside = ((value >= 0) & (value < n_labels)).all()
    return bool(inside) and len(np.unique(value)) == len(value)


def _are_two_class(models: Any, n: int) -> bool:
    return len(models) == n and bool((models.n_classes == 2).all())


def _check_forest(forest: Forest, n_values: Array) -> None:
    n_nodes, n_trees = len(forest.feature), len(forest.roots)
    kinds = {
        "roots": (np.int64, n_trees), "n_classes": (np.int64, n_trees),
        "feature": (np.int32, n_nodes), "width": (np.int32, n_nodes),
        "cut": (np.float64, n_nodes), "share": (np.float64, n_nodes),
        "first": (np.int64, n_nodes), "leaf": (np.int64, n_nodes),
        "probabilities": (np.float64, len(forest.probabilities)),
    }  # fmt: skip
    for name, (kind, size) in kinds.items():
        ensure(is_vector(getattr(forest, name), kind, size), f"the trees' {name} do not fit")
    roots, n_classes = forest.roots, forest.n_classes
    inside = ((roots >= 0) & (roots < n_nodes)).all() and (n_classes >= 1).all()
    ensure(bool(inside) and bool((np.diff(roots) > 0).all()), "the trees' roots do not fit")
    check_nodes(forest.feature, forest.cut, forest.first, forest.width, n_values)
    if n_trees:
        tree_of = np.searchsorted(roots, np.arange(n_nodes), side="right") - 1
        stop = forest.leaf + n_classes[np.maximum(tree_of, 0)]
        fits = ((forest.leaf >= 0) & (stop <= len(forest.probabilities))).all()
        # A child in another tree would answer with the classes of that one.
        inner = forest.feature >= 0
        last = (forest.first + forest.width - 1)[inner]
        same = (tree_of[forest.first[inner]] == tree_of[inner]) & (tree_of[last] == tree_of[inner])
        ensure(bool(fits and same.all() and roots[0] == 0), "the trees' leaves do not fit")


def _check_tree(tree: Any, n_values: Array, n_classes: int) -> None:
    ensure(isinstance(tree, Tree), "the tree is missing, or of another type")
    n_nodes = len(tree.feature)
    parts = (tree.feature, tree.cut, tree.first, tree.width, tree.branch, tree.empty)
    sizes = all(isinstance(part, np.ndarray) and part.shape == (n_nodes,) for part in parts)
    sizes = sizes and all(part.dtype.kind in "biuf" for part in parts)
    ensure(sizes and n_nodes > 0, "the tree's nodes do not fit")
    fits = isinstance(tree.counts, np.ndarray) and tree.counts.shape == (n_nodes, n_classes)
    ensure(fits, "the tree's counts do not fit")
    for part in (tree.feature, tree.first, tree.width):
        ensure(part.dtype.kind in "iu", "the tree's places are no whole numbers")
    check_nodes(tree.feature, tree.cut, tree.first, tree.width, n_values)


def check_nodes(feature: Array, cut: Array, first: Array, width: Array, n_values: Array) -> None:
    """Check that children come after their parents and that every value has a child."""
    inner = np.flatnonzero(feature >= 0)
    columns = feature[inner]
    ensure(bool((columns < len(n_values)).all()), "a tree asks for a column that is not there")
    begin, size = first[inner].astype(np.int64), width[inner].astype(np.int64)
    needed = np.where(np.isnan(cut[inner]), n_values[columns], 2)
    # A sum of the two might be larger than any number there is.
    fits = (begin > inner) & (begin <= len(feature) - size) & (size >= needed) & (needed >= 1)
    ensure(bool(fits.all()), "a node of a tree has no place for its children")


def _check_space(space: Space) -> None:
    values = space.values
    stored = values.data if sparse.issparse(values) else values
    n_columns = values.shape[1] if getattr(values, "ndim", 0) == 2 else -1
    arrays = [space.n_values, space.divisors] + ([] if space.lows is None else [space.lows])
    fits = isinstance(values, np.ndarray | sparse.csr_array) and stored.dtype == np.float64
    fits = fits and all(isinstance(a, np.ndarray) and a.shape == (n_columns,) for a in arrays)
    fits = fits and space.n_values.dtype == np.int64 and (space.n_values >= 0).all()
    ensure(bool(fits), "the training rows do not fit")


def _check_foreign_tree(tree: Any) -> None:
    """Check a tree of scikit-learn: its own loops trust indices as ours do."""
    n_nodes = tree.node_count
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    inner = np.flatnonzero(left != -1)
    fits = len(left) == n_nodes > 0 and (tree.value.shape[0] == n_nodes)
    for children in (left[inner], right[inner]):
        fits = fits and bool(((children > inner) & (children < n_nodes)).all())
    inside = (feature[inner] >= 0) & (feature[inner] < tree.n_features)
    ensure(bool(fits and inside.all()), "the nodes of a scikit-learn tree do not fit")


def _check_texts(model: TextModel) -> None:
    """Check that every text column has words, each once and with a weight."""
    texts = model.texts
    ensure(isinstance(texts, TextColumns), "the words of the texts are missing")
    known = {feature.name for feature in model.features if feature.kind == "text"}
    fits = isinstance(texts.names, tuple) and known == set(texts.names)
    fits = fits and len(texts.names) == len(texts.words) == len(texts.weights) == len(known)
    ensure(fits, "the words do not fit the text columns")
    for words, weights in zip(texts.words, texts.weights, strict=True):
        plain = isinstance(words, tuple) and all(type(word) is str for word in words)
        ensure(plain and len(set(words)) == len(words), "the words of a text are not all different")
        fits = are_vectors(weights, size=len(words)) and bool(np.isfinite(weights).all())
        ensure(fits, "the weights of words do not fit")


# Rankers and thresholds: every part has the size the others expect -----------------------------


def _width_of(model: Any) -> int:
    """Tell how many columns of one scale an estimator makes of its features."""
    scaling = model._scaling
    ensure(isinstance(scaling, Scaling), "the scale of the columns is missing")
    n_values = model._codes.n_values
    width = int(np.where(n_values > 2, n_values - 1, 1).sum())
    flat = [part for part in (scaling.centres, scaling.divisors) if part is not None]
    fits = are_vectors(*flat, size=width)
    if scaling.knots is not None:
        fits &= is_table(scaling.knots, np.float64, (N_QUANTILES, width))
    others = (scaling.centres, scaling.knots)
    alone = scaling.divisors is None and any(part is not None for part in others)
    # Files from before there were ranks.
    unranked = scaling.divisors is not None and scaling.knots is None and width <= MOST_RANKED
    ensure(not unranked, EARLIER)
    ensure(fits and not alone, "the scale of the columns does not fit")
    return width


def _check_ridge(model: RidgeRanker) -> None:
    n_columns = _width_of(model)
    ensure(model.kernel_ in ("linear", *KERNEL_POWERS), f"there is no kernel {model.kernel_!r}")
    if model.kernel_ != "linear":
        kernel = model._kernel
        points = kernel.points if isinstance(kernel, RadialKernel) else None
        fits = isinstance(points, np.ndarray | sparse.csr_array) and points.dtype == np.float64
        fits = fits and points.ndim == 2 and points.shape[1] == n_columns
        ensure(fits, "the points of the kernel do not fit")
        fits = isinstance(kernel.gamma, float) and 0 < kernel.gamma < np.inf
        ensure(fits, "the width of the kernel is no number")
        ensure(kernel.power == KERNEL_POWERS[model.kernel_], "the kernel is another one")
        n_columns = points.shape[0]
    fits = is_table(model.coefficients_, np.float64, (n_columns, model.n_labels_))
    ensure(fits, "the coefficients do not fit")
    ensure(are_vectors(model.intercepts_, size=model.n_labels_), "the intercepts do not fit")


def _check_neighbours(model: NeighbourRanker) -> None:
    n_rows, labels, k = model.space_.values.shape[0], model.labels_, model.n_neighbors_
    fits = isinstance(labels, sparse.csr_array) and labels.shape == (n_rows, model.n_labels_)
    fits = fits and are_vectors(model._weights, size=n_rows)
    fits = fits and are_vectors(model._shares, size=model.n_labels_)
    ensure(fits, "the labels of the training rows do not fit")
    ensure(type(k) is int and 0 <= k < n_rows, "there are not as many neighbours as are asked")


def _check_bags(model: BaggedTrees) -> None:
    trees, n_trees = model.models_, model.n_estimators * model.n_labels_
    fits = isinstance(trees, Forest) and _are_two_class(trees, n_trees)
    ensure(fits, "the trees do not fit the labels")


def _check_blend(model: BlendedRanker) -> None:
    rankers, scales, curve = model.rankers_, model.rank_scales_, model.calibration_
    sizes = {len(part) for part in (rankers, scales, model.weights) if part is not None}
    ensure(hasattr(model, "weights_"), EARLIER)
    fits = len(sizes) == 1 and is_vector(model.weights_, np.float64, len(rankers))
    ensure(fits and are_valid_weights(model.weights_), "the rankers do not fit")
    for ranker, scale in zip(rankers, scales, strict=True):
        _check_inside(ranker, model.n_labels_)
        _check_heights(scale, model.n_labels_)
    fits = isinstance(curve, Calibration)
    fits = fits and are_vectors(curve.intercepts, curve.slopes, size=model.n_labels_)
    ensure(fits, "the curves of the labels do not fit")
    if (second := model.second_) is not None:
        fits = isinstance(second, StackedRidge) and isinstance(second.ranker, RidgeRanker)
        ensure(fits, "the second look is none")
        _check_heights(second.scale, model.n_labels_)
        known = (second.ranker.n_features_in_, second.ranker.n_labels_)
        ensure(known == (model.n_labels_,) * 2, "the second look does not fit the labels")


def _check_heights(heights: Any, n_labels: int) -> None:
    ensure(isinstance(heights, RankScale), "the heights of scores are missing")
    starts, n_knots = heights.starts, len(heights.scores)
    fits = is_vector(starts, np.int64, n_labels + 1) and starts[0] == 0 and starts[-1] == n_knots
    fits = fits and (np.diff(starts) > 0).all() and type(heights.are_probabilities) is bool
    fits = fits and are_vectors(heights.scores, heights.rates, size=n_knots)
    ensure(fits, "the heights of scores do not fit")


def _check_thresholded(model: ThresholdedClassifier) -> None:
    _check_inside(model.estimator_, model.n_labels_)
    fits = are_vectors(model.thresholds_, size=model.n_labels_)
    n_curves = 0 if model.rule == "fixed" else model.n_labels_
    ensure(fits and len(model.curves_) == n_curves, "the thresholds do not fit")


def _check_inside(inside: Any, n_labels: int) -> None:
    ensure(isinstance(inside, InnerClassifier), "the classifier inside is missing")
    labels, always = inside.open_labels, inside.always
    fits = _are_labels(labels, n_labels) and labels.dtype == np.int64
    fits = fits and is_vector(always, np.bool_, n_labels)
    ensure(fits, "the labels of the classifier inside do not fit")
    n_known = getattr(inside.model, "n_labels_", len(labels))
    ensure(n_known == len(labels), "the classifier inside knows other labels")


_CHECKS: dict[type, Any] = {
    RidgeRanker: _check_ridge,
    NeighbourRanker: _check_neighbours,
    BaggedTrees: _check_bags,
    BlendedRanker: _check_blend,
    ThresholdedClassifier: _check_thresholded,
}


def ensure(condition: Any, message: str) -> None:
    """Refuse a model unless a condition holds."""
    if not condition:
        raise ReadError(f"{message}.")


def is_vector(value: Any, kind: Any, size: int) -> bool:
    """Tell whether a value is a flat array of a type and size."""
    return is_table(value, kind, (size,))


def are_vectors(*values: Any, size: int) -> bool:
    """Tell whether values are flat arrays of so many floats."""
    return all(is_vector(value, np.float64, size) for value in values)


def is_table(value: Any, kind: Any, shape: tuple[int, ...]) -> bool:
    """Tell whether a value is an array of a type and shape."""
    return isinstance(value, np.ndarray) and value.dtype == kind and value.shape == shape
