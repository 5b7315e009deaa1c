"""Plots of data sets, labels and results. Every function takes and returns matplotlib axes."""

import typing

from scumble._core import lazy_imports
from scumble.plots.base import Plot
from scumble.plots.chord import plot_chord
from scumble.plots.chord_layout import (
    ChordArc,
    ChordLayout,
    ChordRibbon,
    chord_layout,
)
from scumble.plots.comparison import (
    plot_before_after,
    plot_gains,
    plot_pair,
)
from scumble.plots.histograms import (
    plot_attributes,
    plot_cardinality,
    plot_instances,
    plot_label_histogram,
    plot_labelset_histogram,
)
from scumble.plots.labels import (
    plot_cooccurrence,
    plot_difficult,
    plot_labels,
    plot_labelsets,
)
from scumble.plots.saving import plot_bytes, save_plot
from scumble.plots.thresholds import plot_thresholds

if typing.TYPE_CHECKING:
    from scumble.plots.tree import plot_tree, tree_layout

# Matplotlib is imported by the functions that draw. The plots of trees are imported on first use,
# because they import the classifiers.
__all__ = [
    "ChordArc",
    "ChordLayout",
    "ChordRibbon",
    "Plot",
    "chord_layout",
    "plot_attributes",
    "plot_before_after",
    "plot_bytes",
    "plot_cardinality",
    "plot_chord",
    "plot_cooccurrence",
    "plot_difficult",
    "plot_gains",
    "plot_instances",
    "plot_label_histogram",
    "plot_labels",
    "plot_labelset_histogram",
    "plot_labelsets",
    "plot_pair",
    "plot_thresholds",
    "plot_tree",
    "save_plot",
    "tree_layout",
]

if not typing.TYPE_CHECKING:
    __getattr__, __dir__ = lazy_imports.attach(
        __name__, __all__, {"scumble.plots.tree": ("plot_tree", "tree_layout")}
    )
