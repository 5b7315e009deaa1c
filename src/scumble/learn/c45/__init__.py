"""C4.5: sort the columns of a table once, grow and prune any number of trees on it, ask them.

From the floor up: `layout` (the bits of an entry), `prepare` (sorted columns), `grow` with one
strategy for each kind of target (`two_classes` and its `cuts`, `many_classes`, `weighted`) and
`part` (rows and entries sent down the branches), `prune`, and `forest`, which asks.
"""

from scumble.learn.c45.classifier import C45Classifier
from scumble.learn.c45.growing import (
    Target,
    grow_trees,
    predict_trees,
)
from scumble.learn.c45.table import PreparedTable, prepare_table
from scumble.learn.c45.tree import Tree, TreeSettings

__all__ = [
    "C45Classifier",
    "PreparedTable",
    "Target",
    "Tree",
    "TreeSettings",
    "grow_trees",
    "predict_trees",
    "prepare_table",
]
