"""Hypothesis strategies for label matrices and data sets, with awkward values."""

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
    """Return a strategy for texts of any characters, often awkward ones."""
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
    """Return a strategy for label matrices in canonical form.

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
    """Return a strategy for data sets that have only these parts.

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
    names = _names(draw, n_features, "x", "feature names" in parts)
    columns = [_column(draw, name, n_instances, parts, infinite) for name in names]
    X: Any = np.array([values for _, values in columns], float).reshape(n_features, n_instances).T
    if "sparse storage" in parts and draw(st.booleans()):
        X = sparse.csr_array(X)
    return MultilabelDataset(
        X,
        Y,
        features=[feature for feature, _ in columns],
        labels=_names(draw, n_labels, "y", "label names" in parts),
        name=draw(texts()) if "data set name" in parts else "",
        weights=_weights(draw, n_instances) if "instance weights" in parts else None,
        label_parents=_parents(draw, n_labels) if "label hierarchy" in parts else None,
    )


def _names(draw: Draw, n: int, letter: str, arbitrary: bool) -> list[str]:
    """Draw ``n`` different names: a letter and a number, or arbitrary texts if allowed."""
    if arbitrary and draw(st.booleans()):
        return draw(st.lists(texts(), min_size=n, max_size=n, unique=True))
    return [f"{letter}{i}" for i in range(n)]


def _column(
    draw: Draw, name: str, n: int, parts: Collection[str], infinite: bool
) -> tuple[Feature, list[float]]:
    """Draw a feature and its values."""
    kinds = ("numeric", "integer", "nominal", "string", "date", "text")
    kind: Any = draw(st.sampled_from(kinds)) if "feature kinds" in parts else "numeric"
    if kind in ("string", "text"):
        values = _values(draw, texts(), n, parts)
        # Texts are numbered in the order of their first occurrence.
        categories = list(dict.fromkeys(text for text in values if isinstance(text, str)))
        codes = [
            float(categories.index(text)) if isinstance(text, str) else np.nan for text in values
        ]
        return Feature(name, kind, tuple(categories)), codes
    if kind == "nominal":
        categories = draw(st.lists(texts(), min_size=1, max_size=4, unique=True))
        codes = _values(draw, st.integers(0, len(categories) - 1).map(float), n, parts)
        return Feature(name, kind, tuple(categories)), codes
    numbers = {
        "numeric": st.floats(allow_nan=False, allow_infinity=infinite),
        "integer": st.integers(-(2**53), 2**53).map(float),
        "date": st.integers(-2_000_000_000, 4_000_000_000).map(lambda second: second * 1000.0),
    }
    feature = Feature(name, "date" if kind == "date" else "numeric", integer=kind == "integer")
    return feature, _values(draw, numbers[kind], n, parts)


def _values(
    draw: Draw, values: st.SearchStrategy[Any], n: int, parts: Collection[str]
) -> list[Any]:
    """Draw ``n`` values, of which some are missing if allowed."""
    if "missing values" in parts:
        values = values | st.just(np.nan)
    return draw(st.lists(values, min_size=n, max_size=n))


def _weights(draw: Draw, n: int) -> list[float] | None:
    """Draw instance weights, or None."""
    numbers = st.floats(0, allow_nan=False, allow_infinity=False)
    return draw(st.none() | st.lists(numbers, min_size=n, max_size=n))


def _parents(draw: Draw, n: int) -> list[int] | None:
    """Draw the parent of each label, -1 for none, without cycles; None for no hierarchy."""
    if not draw(st.booleans()):
        return None
    order = draw(st.permutations(range(n)))
    parents = [-1] * n
    for position, label in enumerate(order):
        parent_position = draw(st.integers(-1, position - 1))
        if parent_position >= 0:
            parents[label] = order[parent_position]
    return parents
