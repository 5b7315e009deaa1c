"""Models from files looked over: compiled loops trust every index they are given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.features import FeatureCodes
from scumble._core.neighbours import Space
from scumble.learn.c45 import C45Classifier, Tree
from scumble.learn.c45.forest import Forest
from scumble.learn.chains import ClassifierChain, EnsembleOfClassifierChains
from scumble.learn.eccru import ECCRU
from scumble.learn.neighbourhood import NeighbourClassifier
from scumble.learn.ranker import BaseRanker
from scumble.learn.regression_columns import RegressionColumns
from scumble.learn.storage.check_rankers import check_ranker, width_of
from scumble.learn.storage.classes import is_own
from scumble.learn.storage.demands import demand, is_vector
from scumble.learn.texts import TextColumns, TextModel
from scumble.learn.thresholded import ThresholdedClassifier


def check_model(model: Any) -> None:
    """Refuse a model whose numbers point outside of its arrays."""
    for part in _parts([model], estimators=True):
        if "_codes" in getattr(part, "__dict__", {}) and any(map(is_own, type(part).__mro__)):
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
    n_features, codes = model.n_features_in_, model._codes
    # Any other class with 'n_values' would do for a prediction, too, but not be looked over.
    demand(isinstance(codes, FeatureCodes), "the kinds of the columns are missing")
    n_values, names = codes.n_values, codes.names
    demand(type(n_features) is int, "the number of features is no whole number")
    demand(is_vector(n_values, np.int64, n_features), "the kinds of the columns do not fit")
    demand(len(codes.categories) == n_features, "the categories of the columns do not fit")
    demand(names is None or len(names) == n_features, "the names of the columns do not fit")
    if isinstance(model, C45Classifier):
        _check_tree(model.tree_, n_values, len(model.classes_))
        return
    n_labels = getattr(model, "n_labels_", None)
    demand(n_labels is None or len(model.classes_) == n_labels, "the number of labels does not fit")
    if isinstance(model, NeighbourClassifier):
        fits = model.labels_.shape == (len(model.space_), n_labels)
        demand(fits, "the labels of the training rows do not fit")
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
        check_ranker(model)


def _check_columns(columns: RegressionColumns, n_values: Array) -> None:
    """Check that every feature has a place, and every filling of a nominal one too."""
    fillings = columns.fillings
    fits = np.array_equal(columns.n_values, n_values) and is_vector(
        fillings, np.float64, len(n_values)
    )
    demand(fits, "the columns do not fit the features")
    nominal = n_values > 0
    inside = (fillings >= 0) & (fillings < n_values)
    demand(inside[nominal].all(), "a missing value is filled with a category that is not there")


def _check_own_space(model: Any, n_values: Array) -> None:
    """Check the training rows of an estimator: features as they are, or columns of one scale."""
    space = model.space_
    if isinstance(model, BaseRanker):
        n_values = np.zeros(width_of(model) + 1, np.int64)  # one more tells rows of zeros
    fits = isinstance(space, Space) and np.array_equal(space.n_values, n_values)
    demand(fits and space.values.shape[1] == len(n_values), "the training rows do not fit")


def _check_chains(model: Any) -> None:
    orders = [model.order_] if isinstance(model, ClassifierChain) else list(model.orders_)
    partial = isinstance(model, ECCRU)
    fits = (
        all(_is_chain(order, model.n_labels_, partial=partial) for order in orders)
        and len(model.models_) == sum(len(order) for order in orders)
        and (model.models_.n_classes == 2).all()
    )
    demand(fits, "the chains do not fit the labels")


def _is_chain(order: Any, n_labels: int, *, partial: bool) -> bool:
    """Tell whether it names labels that are there, each once, and all unless ``partial``."""
    if not isinstance(order, np.ndarray) or order.ndim != 1 or order.dtype.kind not in "iu":
        return False
    inside = len(order) > 0 and order.min() >= 0 and order.max() < n_labels
    once = len(np.unique(order)) == len(order)
    return bool(inside and once and (partial or len(order) == n_labels))


def _check_pairs(model: Any) -> None:
    pairs, n_labels = model.pairs_, model.n_labels_
    fits = (
        isinstance(pairs, np.ndarray)
        and pairs.ndim == 2
        and pairs.dtype.kind in "iu"
        and pairs.shape[1] == 2
        and ((pairs >= 0) & (pairs < n_labels)).all()
        and len(model.models_) == len(pairs) + n_labels
        and (model.models_.n_classes == 2).all()
    )
    demand(fits, "the pairs of labels do not fit the labels")


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
        demand(is_vector(getattr(forest, name), kind, size), f"the trees' {name} do not fit")
    roots, n_classes = forest.roots, forest.n_classes
    inside = ((roots >= 0) & (roots < n_nodes)).all() and (n_classes >= 1).all()
    demand(bool(inside) and bool((np.diff(roots) > 0).all()), "the trees' roots do not fit")
    _check_nodes(forest.feature, forest.cut, forest.first, forest.width, n_values)
    if n_trees:
        tree_of = np.searchsorted(roots, np.arange(n_nodes), side="right") - 1
        stop = forest.leaf + n_classes[np.maximum(tree_of, 0)]
        fits = ((forest.leaf >= 0) & (stop <= len(forest.probabilities))).all()
        # A child in another tree would answer with the classes of that one.
        inner = forest.feature >= 0
        last = (forest.first + forest.width - 1)[inner]
        same = (tree_of[forest.first[inner]] == tree_of[inner]) & (tree_of[last] == tree_of[inner])
        demand(bool(fits and same.all() and roots[0] == 0), "the trees' leaves do not fit")


def _check_tree(tree: Any, n_values: Array, n_classes: int) -> None:
    demand(isinstance(tree, Tree), "the tree is missing, or of another type")
    n_nodes = len(tree.feature)
    sizes = all(
        isinstance(part, np.ndarray) and part.shape == (n_nodes,) and part.dtype.kind in "biuf"
        for part in (tree.feature, tree.cut, tree.first, tree.width, tree.branch, tree.empty)
    )
    demand(sizes and n_nodes > 0, "the tree's nodes do not fit")
    fits = isinstance(tree.counts, np.ndarray) and tree.counts.shape == (n_nodes, n_classes)
    demand(fits, "the tree's counts do not fit")
    for part in (tree.feature, tree.first, tree.width):
        demand(part.dtype.kind in "iu", "the tree's places are no whole numbers")
    _check_nodes(tree.feature, tree.cut, tree.first, tree.width, n_values)


def _check_nodes(feature: Array, cut: Array, first: Array, width: Array, n_values: Array) -> None:
    """Check that children come after their parents and that every value has a child."""
    inner = np.flatnonzero(feature >= 0)
    columns = feature[inner]
    demand(bool((columns < len(n_values)).all()), "a tree asks for a column that is not there")
    begin, size = first[inner].astype(np.int64), width[inner].astype(np.int64)
    fits = (begin > inner) & (begin <= len(feature)) & (size >= 1)
    fits &= begin + size <= len(feature)
    nominal = np.isnan(cut[inner])
    needed = np.where(nominal, n_values[columns], 2)
    fits &= (size >= needed) & (needed >= 1)
    demand(bool(fits.all()), "a node of a tree has no place for its children")


def _check_space(space: Space) -> None:
    values = space.values
    stored = values.data if sparse.issparse(values) else values
    n_columns = values.shape[1] if getattr(values, "ndim", 0) == 2 else -1
    arrays = [space.n_values, space.divisors] + ([] if space.lows is None else [space.lows])
    fits = (
        isinstance(values, np.ndarray | sparse.csr_array)
        and stored.dtype == np.float64
        and all(isinstance(a, np.ndarray) and a.shape == (n_columns,) for a in arrays)
        and space.n_values.dtype == np.int64
        and (space.n_values >= 0).all()
    )
    demand(bool(fits), "the training rows do not fit")


def _check_foreign_tree(tree: Any) -> None:
    """Check a tree of scikit-learn: its own loops trust indices as ours do."""
    n_nodes = tree.node_count
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    inner = np.flatnonzero(left != -1)
    fits = len(left) == n_nodes > 0 and (tree.value.shape[0] == n_nodes)
    for children in (left[inner], right[inner]):
        fits = fits and bool(((children > inner) & (children < n_nodes)).all())
    inside = (feature[inner] >= 0) & (feature[inner] < tree.n_features)
    demand(bool(fits and inside.all()), "the nodes of a scikit-learn tree do not fit")


def _check_texts(model: TextModel) -> None:
    """Check that every text column has words, each once and with a weight."""
    texts = model.texts
    demand(isinstance(texts, TextColumns), "the words of the texts are missing")
    known = {feature.name for feature in model.features if feature.kind == "text"}
    fits = isinstance(texts.names, tuple) and known == set(texts.names)
    fits = fits and len(texts.names) == len(texts.words) == len(texts.weights) == len(known)
    demand(fits, "the words do not fit the text columns")
    for words, weights in zip(texts.words, texts.weights, strict=True):
        plain = isinstance(words, tuple) and all(type(word) is str for word in words)
        demand(plain and len(set(words)) == len(words), "the words of a text are not all different")
        fits = is_vector(weights, np.float64, len(words)) and bool(np.isfinite(weights).all())
        demand(fits, "the weights of words do not fit")
