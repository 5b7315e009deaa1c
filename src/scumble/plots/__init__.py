"""A number or a table in, a figure out. Every function takes and returns matplotlib axes."""

import typing

from scumble._core import exports
from scumble.plots.base import Plot as Plot
from scumble.plots.chord import plot_chord as plot_chord
from scumble.plots.chord_layout import (
    ChordArc as ChordArc,
    ChordLayout as ChordLayout,
    ChordRibbon as ChordRibbon,
    chord_layout as chord_layout,
)
from scumble.plots.comparison import (
    plot_before_after as plot_before_after,
    plot_gains as plot_gains,
    plot_pair as plot_pair,
)
from scumble.plots.histograms import (
    plot_attributes as plot_attributes,
    plot_cardinality as plot_cardinality,
    plot_instances as plot_instances,
    plot_label_histogram as plot_label_histogram,
    plot_labelset_histogram as plot_labelset_histogram,
)
from scumble.plots.labels import (
    plot_cooccurrence as plot_cooccurrence,
    plot_difficult as plot_difficult,
    plot_labels as plot_labels,
    plot_labelsets as plot_labelsets,
)
from scumble.plots.saving import plot_bytes as plot_bytes, save_plot as save_plot
from scumble.plots.thresholds import plot_thresholds as plot_thresholds

if typing.TYPE_CHECKING:
    from scumble.plots.tree import plot_tree as plot_tree, tree_layout as tree_layout

# Matplotlib is imported where something is drawn. Trees load on first use, because they bring the
# learners along.
exports.publish(globals(), {"scumble.plots.tree": ("plot_tree", "tree_layout")})
