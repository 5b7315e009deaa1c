"""Validation of models from files: compiled kernels do not check the indices they are given."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ReadError
from scumble._core.neighbours import Space
from scumble._validation.features import FeatureCodes
from scumble.learn.base import BaseRanker
from scumble.learn.inner_classifier import InnerClassifier
from scumble.learn.neighbours.neighbourhood import NeighbourClassifier
from scumble.learn.rankers.bagged_trees import BaggedTrees
from scumble.learn.rankers.blended_ranker import BlendedRanker, StackedRidge, are_valid_weights
from scumble.learn.rankers.calibration import Calibration
from scumble.learn.rankers.neighbour_ranker import NeighbourRanker
from scumble.learn.rankers.radial_kernel import KERNEL_POWERS, RadialKernel
from scumble.learn.rankers.rank_scale import RankScale
from scumble.learn.rankers.ridge import RidgeRanker
from scumble.learn.rankers.scaling import MAX_RANKED_COLUMNS, N_QUANTILES, Scaling
from scumble.learn.regression_columns import RegressionColumns
from scumble.learn.storage.json_encoding import is_storable_class
from scumble.learn.texts import TextColumns, TextModel
from scumble.learn.thresholded_classifier import ThresholdedClassifier
from scumble.learn.transformation.chains import ClassifierChain, EnsembleOfClassifierChains
from scumble.learn.transformation.eccru import ECCRU
from scumble.learn.trees.c45 import C45Classifier, Tree
from scumble.learn.trees.c45.forest import Forest

#: The error for a model that lacks an attribute which was added after its file was written.
EARLIER_VERSION = "this model is of an earlier version of scumble: train it again"


def check_model(model: Any) -> None:
    """Raise a ReadError if an index in a model is out of bounds, or if its parts do not fit.

    All objects that the model contains are checked, also inner estimators. Objects of third-party
    packages are not, except for the trees of scikit-learn.
    """
    for part in _walk_objects([model], into_estimators=True):
        has_codes = "_codes" in getattr(part, "__dict__", {})
        # An estimator of this package, or one that is derived from it.
        if has_codes and any(is_storable_class(cls) for cls in type(part).__mro__):
            _check_estimator(part)
        if isinstance(part, Space):
            _check_space(part)
        if f"{type(part).__module__}.{type(part).__qualname__}" == "sklearn.tree._tree.Tree":
            _check_sklearn_tree(part)
        if isinstance(part, TextModel):
            _check_texts(part)


def _walk_objects(objects: list[Any], *, into_estimators: bool) -> Iterator[Any]:
    """Yield the objects and all objects that they contain, each once, but no texts or numbers.

    Unless ``into_estimators``, estimators and what they contain are left out. The list is emptied.
    """
    visited = {id(None)}
    while objects:
        part = objects.pop()
        if id(part) in visited or isinstance(part, str | bytes | int | float):
            continue
        if into_estimators or not hasattr(part, "get_params"):
            visited.add(id(part))
            yield part
            objects.extend(_contents(part))


def _contents(part: Any) -> list[Any]:
    """Return the objects in a list, tuple, dict or object array, else the values of attributes.

    Numeric arrays and sparse matrices contain no objects.
    """
    if isinstance(part, np.ndarray):
        return part.ravel().tolist() if part.dtype == object else []
    if isinstance(part, dict):
        return list(part.values())
    if isinstance(part, list | tuple):
        return list(part)
    if sparse.issparse(part):
        return []
    return list(getattr(part, "__dict__", {}).values())


def _check_estimator(model: Any) -> None:
    """Raise a ReadError if arrays of a loaded estimator have inconsistent sizes, types or indices.

    ``model`` is an estimator of this package, or of a class derived from one.
    """
    # An estimator of input that is not a table, such as a pipeline of texts, has no n_features_in_.
    n_features = getattr(model, "n_features_in_", 0)
    codes = model._codes
    # An object of another class with n_values could be used to predict, but would not be checked.
    ensure(isinstance(codes, FeatureCodes), "the kinds of the columns are missing")
    n_values = codes.n_values
    ensure(type(n_features) is int, "the number of features is not a whole number")
    ensure(is_vector(n_values, np.int64, n_features), "the kinds of the columns do not fit")
    ensure(len(codes.categories) == n_features, "the categories of the columns do not fit")
    for column_names in (codes.names, getattr(model, "feature_names_in_", None)):
        fits = column_names is None or len(column_names) == n_features
        ensure(fits, "the names of the columns do not fit")
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
        # The labels before a label are nominal columns of two values.
        n_values = np.append(n_values, np.full(model.n_labels_, 2))
    if hasattr(model, "pairs_"):
        _check_pairs(model)
    for part in _walk_objects(list(vars(model).values()), into_estimators=False):
        if isinstance(part, Forest):
            _check_forest(part, n_values)
        elif isinstance(part, RegressionColumns):
            _check_regression_columns(part, n_values)
    if hasattr(model, "space_"):
        _check_estimator_space(model, n_values)
    if isinstance(model, BaseRanker | ThresholdedClassifier):
        ensure(type(model.n_labels_) is int, "the number of labels is not a whole number")
    for cls, check in _CHECKS.items():
        if isinstance(model, cls):
            check(model)


def _check_regression_columns(columns: RegressionColumns, n_values: Array) -> None:
    """Raise a ReadError unless every feature has a valid fill value for missing cells.

    The fill value of a nominal feature must be one of its categories.

    ``n_values`` are the numbers of categories of the estimator's features; 0 for numeric ones.
    """
    fill_values = columns.fill_values
    fits = are_vectors(fill_values, size=len(n_values))
    fits = fits and np.array_equal(columns.n_categories, n_values)
    ensure(fits, "the columns do not fit the features")
    is_category = ((fill_values >= 0) & (fill_values < n_values))[n_values > 0]
    ensure(is_category.all(), "a missing value is filled with a category that does not exist")


def _check_estimator_space(model: Any, n_values: Array) -> None:
    """Raise a ReadError unless ``space_``, the training rows, has the columns of the estimator."""
    space = model.space_
    if isinstance(model, BaseRanker):
        # Scaled numeric columns, and one that marks rows of zeros.
        n_values = np.zeros(_check_scaling(model) + 1, np.int64)
    fits = isinstance(space, Space) and np.array_equal(space.n_values, n_values)
    ensure(fits and space.values.shape[1] == len(n_values), "the training rows do not fit")


def _check_chains(model: Any) -> None:
    """Raise a ReadError unless chains hold label indices, each once at most and with a model."""
    n_labels = model.n_labels_
    orders = [model.order_] if isinstance(model, ClassifierChain) else list(model.orders_)
    min_length = 1 if isinstance(model, ECCRU) else n_labels
    fits = all(
        _are_labels(order, n_labels) and min_length <= len(order) <= n_labels for order in orders
    )
    fits = fits and _are_two_class(model.models_, sum(map(len, orders)))
    ensure(fits, "the chains do not fit the labels")


def _check_pairs(model: Any) -> None:
    """Raise a ReadError unless pairs hold label indices, and each pair and label has a model."""
    pairs, n_labels = model.pairs_, model.n_labels_
    fits = isinstance(pairs, np.ndarray) and pairs.ndim == 2 and pairs.dtype.kind in "iu"
    fits = fits and pairs.shape[1] == 2 and ((pairs >= 0) & (pairs < n_labels)).all()
    fits = fits and _are_two_class(model.models_, len(pairs) + n_labels)
    ensure(fits, "the pairs of labels do not fit the labels")


def _are_labels(value: Any, n_labels: int) -> bool:
    """Return whether a value is an array of label indices, each at most once."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "iu":
        return False
    is_label = ((value >= 0) & (value < n_labels)).all()
    return bool(is_label) and len(np.unique(value)) == len(value)


def _are_two_class(models: Any, n_models: int) -> bool:
    """Return whether there are ``n_models`` models, all of two classes."""
    return len(models) == n_models and bool((models.n_classes == 2).all())


def _check_forest(forest: Forest, n_values: Array) -> None:
    """Raise a ReadError unless the indices in a forest point to its nodes, values and columns."""
    n_nodes, n_trees = len(forest.feature), len(forest.roots)
    expected = {
        "roots": (np.int64, n_trees),
        "n_classes": (np.int64, n_trees),
        "feature": (np.int32, n_nodes),
        "width": (np.int32, n_nodes),
        "cut": (np.float64, n_nodes),
        "share": (np.float64, n_nodes),
        "first": (np.int64, n_nodes),
        "leaf": (np.int64, n_nodes),
        "probabilities": (np.float64, len(forest.probabilities)),
    }
    for name, (dtype, size) in expected.items():
        ensure(is_vector(getattr(forest, name), dtype, size), f"the trees' {name} do not fit")
    roots, n_classes = forest.roots, forest.n_classes
    are_nodes = ((roots >= 0) & (roots < n_nodes)).all() and (n_classes >= 1).all()
    ensure(bool(are_nodes) and bool((np.diff(roots) > 0).all()), "the trees' roots do not fit")
    check_nodes(forest.feature, forest.cut, forest.first, forest.width, n_values)
    if n_trees:
        tree_of_node = np.searchsorted(roots, np.arange(n_nodes), side="right") - 1
        stop = forest.leaf + n_classes[np.maximum(tree_of_node, 0)]
        fits = ((forest.leaf >= 0) & (stop <= len(forest.probabilities))).all()
        # A child in another tree would have the number of classes of that tree.
        is_inner = forest.feature >= 0
        first_child = forest.first[is_inner]
        last_child = (forest.first + forest.width - 1)[is_inner]
        tree = tree_of_node[is_inner]
        is_same_tree = (tree_of_node[first_child] == tree) & (tree_of_node[last_child] == tree)
        ensure(bool(fits and is_same_tree.all() and roots[0] == 0), "the trees' leaves do not fit")


def _check_tree(tree: Any, n_values: Array, n_classes: int) -> None:
    """Raise a ReadError unless all indices in a single tree point to its nodes and columns."""
    ensure(isinstance(tree, Tree), "the tree is missing, or of another type")
    n_nodes = len(tree.feature)
    arrays = (tree.feature, tree.cut, tree.first, tree.width, tree.branch, tree.empty)
    fits = all(isinstance(array, np.ndarray) and array.shape == (n_nodes,) for array in arrays)
    fits = fits and all(array.dtype.kind in "biuf" for array in arrays)
    ensure(fits and n_nodes > 0, "the tree's nodes do not fit")
    fits = isinstance(tree.counts, np.ndarray) and tree.counts.shape == (n_nodes, n_classes)
    ensure(fits, "the tree's counts do not fit")
    for indices in (tree.feature, tree.first, tree.width):
        ensure(indices.dtype.kind in "iu", "the tree's node indices are not whole numbers")
    check_nodes(tree.feature, tree.cut, tree.first, tree.width, n_values)


def check_nodes(feature: Array, cut: Array, first: Array, width: Array, n_values: Array) -> None:
    """Raise a ReadError unless children come after their parents, and every value has a child.

    The first four arrays have a value per node: ``feature`` is the column that the node splits, -1
    for a leaf; ``cut`` is the value at which it splits a numeric column, NaN for a nominal one;
    ``first`` is the index of its first child, and ``width`` the number of its children, which
    follow one another. ``n_values`` has a value per column: the number of categories, 0 for a
    numeric column.
    """
    inner_nodes = np.flatnonzero(feature >= 0)
    columns = feature[inner_nodes]
    ensure(bool((columns < len(n_values)).all()), "a tree splits a column that does not exist")
    first_child = first[inner_nodes].astype(np.int64)
    n_children = width[inner_nodes].astype(np.int64)
    min_children = np.where(np.isnan(cut[inner_nodes]), n_values[columns], 2)
    fits = (first_child > inner_nodes) & (n_children >= min_children) & (min_children >= 1)
    # The sum first_child + n_children might overflow.
    fits &= first_child <= len(feature) - n_children
    ensure(bool(fits.all()), "the children of a tree's node do not fit")


def _check_space(space: Space) -> None:
    """Raise a ReadError unless the arrays of the stored training rows have right types and sizes.

    A `Space` holds the training rows of a nearest-neighbour search.
    """
    values = space.values
    stored = values.data if sparse.issparse(values) else values
    n_columns = values.shape[1] if getattr(values, "ndim", 0) == 2 else -1
    arrays = [space.n_values, space.divisors]
    if space.lows is not None:
        arrays.append(space.lows)
    fits = isinstance(values, np.ndarray | sparse.csr_array) and stored.dtype == np.float64
    fits = fits and all(
        isinstance(array, np.ndarray) and array.shape == (n_columns,) for array in arrays
    )
    fits = fits and space.n_values.dtype == np.int64 and (space.n_values >= 0).all()
    ensure(bool(fits), "the training rows do not fit")


def _check_sklearn_tree(tree: Any) -> None:
    """Raise a ReadError unless the indices in a scikit-learn tree point to nodes and columns."""
    n_nodes = tree.node_count
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    inner_nodes = np.flatnonzero(left != -1)
    fits = len(left) == n_nodes > 0 and (tree.value.shape[0] == n_nodes)
    for children in (left[inner_nodes], right[inner_nodes]):
        fits = fits and bool(((children > inner_nodes) & (children < n_nodes)).all())
    are_columns = (feature[inner_nodes] >= 0) & (feature[inner_nodes] < tree.n_features)
    ensure(bool(fits and are_columns.all()), "the nodes of a scikit-learn tree do not fit")


def _check_texts(model: TextModel) -> None:
    """Raise a ReadError unless every text column has words, each once and with a finite weight."""
    texts = model.texts
    ensure(isinstance(texts, TextColumns), "the words of the texts are missing")
    text_names = {feature.name for feature in model.features if feature.kind == "text"}
    fits = isinstance(texts.names, tuple) and text_names == set(texts.names)
    fits = fits and len(texts.names) == len(texts.words) == len(texts.weights) == len(text_names)
    ensure(fits, "the words do not fit the text columns")
    for words, weights in zip(texts.words, texts.weights, strict=True):
        are_texts = isinstance(words, tuple) and all(type(word) is str for word in words)
        are_different = are_texts and len(set(words)) == len(words)
        ensure(are_different, "the words of a text are not all different")
        fits = are_vectors(weights, size=len(words)) and bool(np.isfinite(weights).all())
        ensure(fits, "the weights of words do not fit")


# Rankers and thresholds: all parts have the sizes that the others expect --------------------------


def _check_scaling(model: Any) -> int:
    """Return the number of columns after scaling; raise a ReadError unless the scaling fits.

    ``model`` is a fitted `RidgeRanker` or `NeighbourRanker`.
    """
    scaling = model._scaling
    ensure(isinstance(scaling, Scaling), "the scale of the columns is missing")
    n_values = model._codes.n_values
    n_columns = int(np.where(n_values > 2, n_values - 1, 1).sum())
    vectors = [vector for vector in (scaling.centres, scaling.divisors) if vector is not None]
    fits = are_vectors(*vectors, size=n_columns)
    if scaling.knots is not None:
        fits &= is_array(scaling.knots, np.float64, (N_QUANTILES, n_columns))
    has_other_parts = scaling.centres is not None or scaling.knots is not None
    lacks_divisors = scaling.divisors is None and has_other_parts
    # Models from before columns were ranked have divisors, but no knots.
    is_unranked = (
        scaling.divisors is not None and scaling.knots is None and n_columns <= MAX_RANKED_COLUMNS
    )
    ensure(not is_unranked, EARLIER_VERSION)
    ensure(fits and not lacks_divisors, "the scale of the columns does not fit")
    return n_columns


def _check_ridge(model: RidgeRanker) -> None:
    """Raise a ReadError unless kernel and coefficients of a ridge regression fit its columns."""
    n_columns = _check_scaling(model)
    ensure(model.kernel_ in ("linear", *KERNEL_POWERS), f"there is no kernel {model.kernel_!r}")
    if model.kernel_ != "linear":
        kernel = model._kernel
        points = kernel.points if isinstance(kernel, RadialKernel) else None
        fits = isinstance(points, np.ndarray | sparse.csr_array) and points.dtype == np.float64
        fits = fits and points.ndim == 2 and points.shape[1] == n_columns
        ensure(fits, "the points of the kernel do not fit")
        fits = isinstance(kernel.gamma, float) and 0 < kernel.gamma < np.inf
        ensure(fits, "the width of the kernel is not a number")
        ensure(kernel.power == KERNEL_POWERS[model.kernel_], "the kernel differs from its name")
        n_columns = points.shape[0]
    fits = is_array(model.coefficients_, np.float64, (n_columns, model.n_labels_))
    ensure(fits, "the coefficients do not fit")
    ensure(are_vectors(model.intercepts_, size=model.n_labels_), "the intercepts do not fit")


def _check_neighbours(model: NeighbourRanker) -> None:
    """Raise a ReadError unless labels, weights and number of neighbours fit the training rows."""
    n_rows = model.space_.values.shape[0]
    labels = model.labels_
    n_neighbors = model.n_neighbors_
    fits = isinstance(labels, sparse.csr_array) and labels.shape == (n_rows, model.n_labels_)
    fits = fits and are_vectors(model._weights, size=n_rows)
    fits = fits and are_vectors(model._shares, size=model.n_labels_)
    ensure(fits, "the labels of the training rows do not fit")
    fits = type(n_neighbors) is int and 0 <= n_neighbors < n_rows
    ensure(fits, "the number of neighbours does not fit the training rows")


def _check_bagged_trees(model: BaggedTrees) -> None:
    """Raise a ReadError unless bagged trees have ``n_estimators`` two-class trees per label."""
    trees = model.models_
    n_trees = model.n_estimators * model.n_labels_
    fits = isinstance(trees, Forest) and _are_two_class(trees, n_trees)
    ensure(fits, "the trees do not fit the labels")


def _check_blend(model: BlendedRanker) -> None:
    """Raise a ReadError unless a blend has a scale and a weight per ranker, and its parts fit."""
    rankers = model.rankers_
    scales = model.rank_scales_
    curves = model.calibration_
    sizes = {len(part) for part in (rankers, scales, model.weights) if part is not None}
    has_all_attributes = hasattr(model, "weights_") and hasattr(model, "stacked_ridge_")
    ensure(has_all_attributes, EARLIER_VERSION)
    fits = len(sizes) == 1 and is_vector(model.weights_, np.float64, len(rankers))
    ensure(fits and are_valid_weights(model.weights_), "the rankers do not fit")
    for ranker, scale in zip(rankers, scales, strict=True):
        _check_inner_classifier(ranker, model.n_labels_)
        _check_rank_scale(scale, model.n_labels_)
    fits = isinstance(curves, Calibration)
    fits = fits and are_vectors(curves.intercepts, curves.slopes, size=model.n_labels_)
    ensure(fits, "the curves of the labels do not fit")
    stacked = model.stacked_ridge_
    if stacked is not None:
        fits = isinstance(stacked, StackedRidge) and isinstance(stacked.ranker, RidgeRanker)
        ensure(fits, "the stacked ridge regression is missing, or of another type")
        _check_rank_scale(stacked.scale, model.n_labels_)
        shape = (stacked.ranker.n_features_in_, stacked.ranker.n_labels_)
        fits = shape == (model.n_labels_, model.n_labels_)
        ensure(fits, "the stacked ridge regression does not fit the labels")


def _check_rank_scale(scale: Any, n_labels: int) -> None:
    """Raise a ReadError unless a value is a rank scale that has knots for each label."""
    ensure(isinstance(scale, RankScale), "the rank scale of scores is missing")
    starts = scale.starts
    n_knots = len(scale.scores)
    fits = is_vector(starts, np.int64, n_labels + 1) and starts[0] == 0 and starts[-1] == n_knots
    fits = fits and (np.diff(starts) > 0).all() and type(scale.are_probabilities) is bool
    fits = fits and are_vectors(scale.scores, scale.rates, size=n_knots)
    ensure(fits, "the rank scale of scores does not fit")


def _check_thresholded(model: ThresholdedClassifier) -> None:
    """Raise a ReadError unless each label has a threshold, and a curve if the rule uses curves."""
    _check_inner_classifier(model.estimator_, model.n_labels_)
    fits = are_vectors(model.thresholds_, size=model.n_labels_)
    n_curves = 0 if model.rule == "fixed" else model.n_labels_
    ensure(fits and len(model.curves_) == n_curves, "the thresholds do not fit")


def _check_inner_classifier(inner: Any, n_labels: int) -> None:
    """Raise a ReadError unless a value is an inner classifier, fitted to labels of the outer one.

    ``n_labels`` is the number of labels of the outer classifier.
    """
    ensure(isinstance(inner, InnerClassifier), "the inner classifier is missing")
    labels = inner.varying_labels
    is_always_present = inner.is_always_present
    fits = _are_labels(labels, n_labels) and labels.dtype == np.int64
    fits = fits and is_vector(is_always_present, np.bool_, n_labels)
    ensure(fits, "the labels of the inner classifier do not fit")
    n_inner_labels = getattr(inner.model, "n_labels_", len(labels))
    ensure(n_inner_labels == len(labels), "the inner classifier was fitted to other labels")


#: The checks of single classes, after those that all estimators share.
_CHECKS: dict[type, Any] = {
    RidgeRanker: _check_ridge,
    NeighbourRanker: _check_neighbours,
    BaggedTrees: _check_bagged_trees,
    BlendedRanker: _check_blend,
    ThresholdedClassifier: _check_thresholded,
}


def ensure(condition: Any, message: str) -> None:
    """Raise a ReadError with the message unless a condition is true."""
    if not condition:
        raise ReadError(f"{message}.")


def is_vector(value: Any, dtype: Any, size: int) -> bool:
    """Return whether a value is a one-dimensional array of this dtype and size."""
    return is_array(value, dtype, (size,))


def are_vectors(*values: Any, size: int) -> bool:
    """Return whether values are one-dimensional float64 arrays of this size."""
    return all(is_vector(value, np.float64, size) for value in values)


def is_array(value: Any, dtype: Any, shape: tuple[int, ...]) -> bool:
    """Return whether a value is an array of this dtype and shape."""
    return isinstance(value, np.ndarray) and value.dtype == dtype and value.shape == shape
