"""Hypothesis strategies for label matrices and data sets, with awkward values.

``parts`` are names of what a data set may have, such as "missing values" or "label hierarchy"; see
``DATASET_PARTS`` of `scumble.data.formats.base`. ``draw`` is the function of Hypothesis that draws
a value from a strategy.
"""

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.formats.base import DATASET_PARTS

Draw = Callable[[st.SearchStrategy[Any]], Any]

#: Texts that file formats often read or write incorrectly.
AWKWARD = (
    "",
    " ",
    "?",
    "NA",
    "0",
    "1e5",
    "a b",
    " a",
    "a,b",
    "a;b",
    "a|b",
    "a\tb",
    "a\nb",
    "a\r\nb",
    "it's",
    'say "no"',
    "{a}",
    "[a]",
    "50%",
    "%",
    "@data",
    "# a",
    "back\\slash",
    "été",
    "\N{SNOWMAN}",
    "\U0001f40d",
    "label:a",
    "labels",
)


def texts(max_size: int = 6) -> st.SearchStrategy[str]:
    """Return a strategy for texts: those of `AWKWARD`, or at most ``max_size`` characters."""
    return st.sampled_from(AWKWARD) | st.text(st.characters(codec="utf-8"), max_size=max_size)


@st.composite
def label_matrices(
    draw: Draw,
    *,
    min_instances: int = 0,
    max_instances: int = 8,
    min_labels: int = 1,
    max_labels: int = 5,
    unseen: bool = True,
    unlabelled: bool = True,
) -> sparse.csr_array:
    """Return a strategy for boolean label matrices in canonical form.

    The limits are those of the numbers of instances and labels. ``unseen`` allows labels that no
    instance has, ``unlabelled`` instances without a label.

    Examples
    --------
    >>> from hypothesis import find
    >>> from scumble.testing.strategies import label_matrices
    >>> find(label_matrices(), lambda Y: Y.nnz == 2).toarray()
    array([[ True,  True]])
    """
    low = min_instances if unseen else max(min_instances, 1)
    n_instances = draw(st.integers(low, max(low, max_instances)))
    n_labels = draw(st.integers(min_labels, max_labels))
    cells = st.lists(st.booleans(), min_size=n_labels, max_size=n_labels)
    rows = draw(st.lists(cells, min_size=n_instances, max_size=n_instances))
    Y = np.array(rows, bool).reshape(n_instances, n_labels)
    if not unlabelled and n_labels:
        Y[~Y.any(axis=1), 0] = True
    if not unseen:
        Y[0, ~Y.any(axis=0)] = True
    return sparse.csr_array(Y)


@st.composite
def datasets(
    draw: Draw,
    *,
    parts: Collection[str] = DATASET_PARTS,
    min_instances: int = 0,
    max_instances: int = 6,
    max_features: int = 4,
    max_labels: int = 4,
    infinite: bool = False,
) -> MultilabelDataset:
    """Return a strategy for data sets that have at most these parts.

    The limits are those of the numbers of instances, features and labels. ``infinite`` allows
    infinite values of numeric features.

    Examples
    --------
    >>> from hypothesis import find
    >>> from scumble.testing.strategies import datasets
    >>> find(datasets(), lambda data: data.n_features and data.weights is not None)
    <MultilabelDataset '': 0 instances, 1 feature, 1 label>
    """
    Y = draw(
        label_matrices(
            min_instances=min_instances,
            max_instances=max_instances,
            max_labels=max_labels,
            unseen="labels never seen" in parts,
            unlabelled="rows without labels" in parts,
        )
    )
    n_instances, n_labels = Y.shape
    n_features = draw(st.integers(0, max_features))
    names = _names(draw, n_features, prefix="x", allow_texts="feature names" in parts)
    columns = [_column(draw, name, n_instances, parts, infinite=infinite) for name in names]
    X: Any = np.array([values for _, values in columns], float).reshape(n_features, n_instances).T
    if "sparse storage" in parts and draw(st.booleans()):
        X = sparse.csr_array(X)
    return MultilabelDataset(
        X,
        Y,
        features=[feature for feature, _ in columns],
        labels=_names(draw, n_labels, prefix="y", allow_texts="label names" in parts),
        name=draw(texts()) if "data set name" in parts else "",
        weights=_weights(draw, n_instances) if "instance weights" in parts else None,
        label_parents=_parents(draw, n_labels) if "label hierarchy" in parts else None,
    )


def _names(draw: Draw, n_names: int, *, prefix: str, allow_texts: bool) -> list[str]:
    """Return different names: ``prefix`` and a number, or if allowed sometimes arbitrary texts."""
    if allow_texts and draw(st.booleans()):
        return draw(st.lists(texts(), min_size=n_names, max_size=n_names, unique=True))
    return [f"{prefix}{i}" for i in range(n_names)]


def _column(
    draw: Draw, name: str, n_instances: int, parts: Collection[str], *, infinite: bool
) -> tuple[Feature, list[float]]:
    """Return a feature of a drawn kind, and its values as in X: numbers or codes of categories."""
    kinds = ("numeric", "integer", "nominal", "string", "date", "text")
    kind: Any = draw(st.sampled_from(kinds)) if "feature kinds" in parts else "numeric"
    if kind in ("string", "text"):
        values = _values(draw, texts(), n_instances, parts)
        # Texts are numbered in the order of their first occurrence.
        categories = list(dict.fromkeys(text for text in values if isinstance(text, str)))
        codes = [
            float(categories.index(text)) if isinstance(text, str) else np.nan for text in values
        ]
        return Feature(name, kind, tuple(categories)), codes
    if kind == "nominal":
        categories = draw(st.lists(texts(), min_size=1, max_size=4, unique=True))
        code_strategy = st.integers(0, len(categories) - 1).map(float)
        codes = _values(draw, code_strategy, n_instances, parts)
        return Feature(name, kind, tuple(categories)), codes
    numbers = {
        "numeric": st.floats(allow_nan=False, allow_infinity=infinite),
        "integer": st.integers(-(2**53), 2**53).map(float),
        "date": st.integers(-2_000_000_000, 4_000_000_000).map(lambda second: second * 1000.0),
    }
    feature = Feature(name, "date" if kind == "date" else "numeric", integer=kind == "integer")
    return feature, _values(draw, numbers[kind], n_instances, parts)


def _values(
    draw: Draw, strategy: st.SearchStrategy[Any], n_values: int, parts: Collection[str]
) -> list[Any]:
    """Return values drawn from a strategy; NaN is among them if missing values are allowed."""
    if "missing values" in parts:
        strategy = strategy | st.just(np.nan)
    return draw(st.lists(strategy, min_size=n_values, max_size=n_values))


def _weights(draw: Draw, n_instances: int) -> list[float] | None:
    """Return drawn instance weights, or None for a data set without weights."""
    numbers = st.floats(0, allow_nan=False, allow_infinity=False)
    return draw(st.none() | st.lists(numbers, min_size=n_instances, max_size=n_instances))


def _parents(draw: Draw, n_labels: int) -> list[int] | None:
    """Return the drawn parent of each label, -1 for none; None for no label hierarchy.

    No label is its own ancestor.
    """
    if not draw(st.booleans()):
        return None
    order = draw(st.permutations(range(n_labels)))
    parents = [-1] * n_labels
    for position, label in enumerate(order):
        parent_position = draw(st.integers(-1, position - 1))
        if parent_position >= 0:
            parents[label] = order[parent_position]
    return parents
