"""C4.5: sort the columns of a table once, grow and prune any number of trees on it, ask them.

From the floor up: `layout` (the bits of an entry), `prepare` (sorted columns), `grow` with one
strategy for each kind of target (`two_classes` and its `cuts`, `many_classes`, `weighted`) and
`part` (rows and entries sent down the branches), `prune`, and `forest`, which asks.
"""

from scumble.learn.c45.classifier import C45Classifier
from scumble.learn.c45.forest import Forest, each_block, join_nodes
from scumble.learn.c45.growing import (
    ListedTargets,
    Target,
    grow_listed,
    grow_tree,
    grow_trees,
    predict_trees,
)
from scumble.learn.c45.table import Table, as_rows, prepare_table
from scumble.learn.c45.tree import Nodes, Tree, TreeSettings

__all__ = [
    "C45Classifier",
    "Forest",
    "ListedTargets",
    "Nodes",
    "Table",
    "Target",
    "Tree",
    "TreeSettings",
    "as_rows",
    "each_block",
    "grow_listed",
    "grow_tree",
    "grow_trees",
    "join_nodes",
    "predict_trees",
    "prepare_table",
]
