"""A number or a table in, a figure out. Every function takes and returns matplotlib axes."""

from scumble.plots.tree import plot_tree, tree_layout

__all__ = ["plot_tree", "tree_layout"]
