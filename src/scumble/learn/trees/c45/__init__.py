"""C4.5: sort the columns of a table once, grow and prune any number of trees, predict with them.

Modules in dependency order: `memory`, `layout` (the bits of an entry), `rows`, `arithmetic` and
`nodes`; `prepare` and `table` (sorted columns); `grower` (the records of growing) and one strategy
for each kind of target: `two_class_cuts` and `two_classes`, `many_classes`, `weighted`;
`partition` (divides rows and entries among branches); `prune_without_missing` and `prune`; `grow`
(the main loop); `predict` and `forest`; `growing` and `classifier` (the interface).
"""

from scumble.learn.trees.c45.classifier import C45Classifier
from scumble.learn.trees.c45.growing import Target, grow_trees, predict_trees
from scumble.learn.trees.c45.table import PreparedTable, prepare_table
from scumble.learn.trees.c45.tree import Tree, TreeSettings

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
