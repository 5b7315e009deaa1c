"""Plots of decision trees."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.parameters import Int, Optional
from scumble.learn.trees.export import TreeTexts, fitted_tree
from scumble.plots.base import new_figure

#: Space around the figure in inches: the default of matplotlib.
PADS = (0.04167, 0.04167)


def tree_layout(tree: Any, max_depth: int | None = None) -> tuple[Array, Array]:
    """Return positions of the nodes of a tree: leaves side by side, parents above their children.

    Parameters
    ----------
    tree : Tree
        A fitted tree, as in ``tree_`` of a classifier.
    max_depth : int, optional
        Deeper nodes are left out.

    Returns
    -------
    x, depth : arrays of float and int, shape (n_nodes,)
        Horizontal position and depth of each node; NaN and -1 for nodes left out.

    Examples
    --------
    >>> from scumble.learn import C45Classifier
    >>> from scumble.plots.tree import tree_layout
    >>> tree = C45Classifier().fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
    >>> x, depth = tree_layout(tree.tree_)
    >>> x.tolist(), depth.tolist()
    ([0.5, 0.0, 1.0], [0, 1, 1])
    """
    x = np.full(tree.n_nodes, np.nan)
    depth = np.full(tree.n_nodes, -1)
    n_leaves = 0
    pending = [(0, 0)]  # nodes with their depth
    while pending:  # depth first, so that leaves come from left to right
        node, node_depth = pending.pop()
        depth[node] = node_depth
        if tree.feature[node] < 0 or node_depth == max_depth:
            x[node] = n_leaves
            n_leaves += 1
        else:
            children = range(tree.first[node], tree.first[node] + tree.width[node])
            pending.extend((child, node_depth + 1) for child in reversed(children))
    inner_nodes = np.flatnonzero((depth >= 0) & np.isnan(x))
    for node in inner_nodes[::-1]:  # children come before their parents
        x[node] = x[tree.first[node] : tree.first[node] + tree.width[node]].mean()
    return x, depth


def plot_tree(
    classifier: Any,
    *,
    max_depth: int | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    value_names: Sequence[Sequence[str] | None] | None = None,
    ax: Any = None,
) -> Any:
    """Draw a C4.5 tree.

    Inner nodes show the column of their split, branches its values, leaves their class and the
    weight of their training rows. The purer a leaf, the darker it is.

    Parameters
    ----------
    classifier : C45Classifier
        A fitted tree.
    max_depth : int, optional
        Number of levels below the root to draw; all by default.
    feature_names, class_names, value_names
        As in `scumble.learn.export_text`.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing.

    Examples
    --------
    >>> from scumble.learn import C45Classifier
    >>> from scumble.plots.tree import plot_tree
    >>> tree = C45Classifier().fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
    >>> ax = plot_tree(tree, feature_names=["size"])
    >>> [text.get_text() for text in ax.texts]
    ['size', 'a (2.0)', '<= 2', 'b (2.0)', '> 2']
    """
    Optional(Int(0)).check(max_depth, name="max_depth", caller="plot_tree")
    tree = fitted_tree(classifier, caller="plot_tree")
    texts = TreeTexts(classifier, feature_names, class_names, value_names)
    x, depth = tree_layout(tree, max_depth)
    if ax is None:
        size = (max(3.0, 1.3 * (int(np.nanmax(x)) + 1)), max(2.0, 1.1 * (int(depth.max()) + 1)))
        ax = new_figure(size, pads=PADS, purpose="plot_tree").add_subplot()
    for node in np.flatnonzero(depth >= 0):
        _draw_node(ax, tree, texts, int(node), x, depth)
    ax.set(xlim=(-0.7, np.nanmax(x) + 0.7), ylim=(-depth.max() - 0.5, 0.5))
    ax.set_axis_off()
    return ax


def _draw_node(ax: Any, tree: Any, texts: TreeTexts, node: int, x: Array, depth: Array) -> None:
    """Draw the node with index ``node`` and, unless it is the root, the branch from its parent.

    ``x`` and ``depth`` are the positions of all nodes from `tree_layout`.
    """
    is_leaf = tree.feature[node] < 0
    text = texts.leaf_text(node) if is_leaf else texts.split_text(node)
    counts = tree.counts[node]
    purity = counts.max() / counts.sum() if counts.sum() > 0 else 0.0
    color = (1 - 0.35 * purity, 1 - 0.15 * purity, 1.0) if is_leaf else "white"  # red, green, blue
    shape = "round,pad=0.3" if is_leaf else "square,pad=0.3"
    box = {"boxstyle": shape, "facecolor": color, "edgecolor": "0.4"}
    centered = {"ha": "center", "va": "center"}
    ax.text(x[node], -depth[node], text, fontsize=9, bbox=box, zorder=3, **centered)
    parent = tree.parent[node]
    if parent < 0:
        return
    ax.plot([x[parent], x[node]], [-depth[parent], -depth[node]], color="0.6", lw=1, zorder=1)
    middle_x = (x[parent] + x[node]) / 2
    middle_y = -(depth[parent] + depth[node]) / 2
    background = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    branch_text = texts.branch_text(node).strip()
    ax.text(
        middle_x,
        middle_y,
        branch_text,
        fontsize=8,
        color="0.25",
        bbox=background,
        zorder=2,
        **centered,
    )
