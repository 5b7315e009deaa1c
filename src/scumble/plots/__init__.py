"""A number or a table in, a figure out. Every function takes and returns matplotlib axes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scumble.plots.chord_layout import ChordArc, ChordLayout, ChordRibbon, chord_layout

if TYPE_CHECKING:
    from scumble.plots.tree import plot_tree, tree_layout

# Other names load on first use (PEP 562): a layout needs neither matplotlib nor the learners.
_HOMES = {
    "plot_tree": "tree",
    "tree_layout": "tree",
}

__all__ = ["ChordArc", "ChordLayout", "ChordRibbon", "chord_layout", "plot_tree", "tree_layout"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'scumble.plots' has no attribute {name!r}")
    value = getattr(import_module(f"scumble.plots.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
