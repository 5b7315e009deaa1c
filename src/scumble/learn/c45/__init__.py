"""C4.5: sort the columns of a table once, grow and prune any number of trees on it, ask them.

From the floor up: `layout` (the bits of an entry), `prepare` (sorted columns), `grow` with one
strategy for each kind of target (`two_classes` and its `cuts`, `many_classes`, `weighted`) and
`part` (rows and entries sent down the branches), `prune`, and `forest`, which asks.
"""

from scumble._core import exports
from scumble.learn.c45.classifier import C45Classifier as C45Classifier
from scumble.learn.c45.growing import (
    Target as Target,
    grow_trees as grow_trees,
    predict_trees as predict_trees,
)
from scumble.learn.c45.table import PreparedTable as PreparedTable, prepare_table as prepare_table
from scumble.learn.c45.tree import Tree as Tree, TreeSettings as TreeSettings

exports.publish(globals())
