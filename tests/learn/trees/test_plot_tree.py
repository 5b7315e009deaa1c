"""What a drawn tree shows."""

import numpy as np
import pytest

from scumble._core.errors import ParameterError
from scumble.learn import C45Classifier
from scumble.plots.tree import plot_tree, tree_layout

pytest.importorskip("matplotlib", reason="pip install 'scumble[plots]'")

X = [[0, 1], [0, 2], [0, 8], [0, 9], [1, 5], [1, 5], [2, 5], [2, 5]]
Y = ["a", "a", "b", "b", "a", "a", "b", "b"]


def fitted():
    return C45Classifier(categorical_features=[0], prune=False).fit(X, Y)


def test_parents_stand_above_the_middle_of_their_children():
    tree = fitted().tree_
    x, depth = tree_layout(tree)
    for node in np.flatnonzero(tree.feature >= 0):
        children = slice(tree.first[node], tree.first[node] + tree.width[node])
        assert x[node] == x[children].mean()
        assert (depth[children] == depth[node] + 1).all()
    assert sorted(x[tree.feature < 0]) == list(range(tree.n_leaves))


def test_the_drawing_names_columns_values_and_classes():
    ax = plot_tree(fitted(), feature_names=["kind", "size"])
    texts = [text.get_text() for text in ax.texts]
    assert texts.count("kind") == 1
    assert texts.count("size") == 1
    assert {"= 0", "= 1", "= 2", "<= 5", "> 5", "a (2.0)", "b (2.0)"} <= set(texts)
    shallow = plot_tree(fitted(), max_depth=1)
    assert len(shallow.texts) == 1 + 2 * 3


def test_a_negative_depth_is_refused():
    with pytest.raises(ParameterError, match="max_depth"):
        plot_tree(fitted(), max_depth=-1)
