"""Rarity against concurrence: the difficult labels are in the upper right corner."""

from __future__ import annotations

from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.validation import check_count
from scumble.measures.difficult import by_difficulty
from scumble.plots.base import measured, plot
from scumble.plots.theme import Theme, canvas, entitle, keep_apart, written


@plot("difficult", title="IRLbl against SCUMBLELbl")
def plot_difficult(
    data: Any, *, n_names: int = 12, ax: Any = None, dark: bool | None = None
) -> Any:
    """Draw every label by how rare it is and how unequal its company.

    Parameters
    ----------
    data : Summary, MultilabelDataset, or labels
        The data set, its measures, or labels alone.
    n_names : int
        How many of the difficult labels (minority labels by decreasing SCUMBLELbl) to name.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Light ink on a dark page; by default as the figure's background asks.

    Returns
    -------
    matplotlib Axes
        With the drawing. Minority labels are triangles right of the line at MeanIR.

    Examples
    --------
    >>> from scumble.plots import plot_difficult
    >>> ax = plot_difficult([["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> ax.collections[1].get_offsets().data.round(3).tolist()  # the minority labels
    [[4.0, 0.2]]
    """
    check_count(n_names, name="n_names", caller="plot_difficult", minimum=0)
    summary = measured(data)
    table = summary.labels
    ax, theme = canvas(ax, dark, size=(8.5, 5.2), purpose="plot_difficult")
    seen = table.count > 0
    is_rare = table.is_minority
    for shown, colour, marker, name in (
        (seen & ~is_rare, theme.common[0], "o", "majority labels"),
        (seen & is_rare, theme.rare[0], "^", "minority labels"),
    ):
        style = {"s": 26, "c": colour, "marker": marker, "alpha": 0.65, "linewidths": 0}
        ax.scatter(table.irlbl[shown], table.scumble[shown], label=name, **style)
    top = float(np.nanmax(table.scumble, initial=0.0)) if seen.any() else 0.0
    ax.set_ylim(0, max(1.15 * top, 0.01))
    _scale(ax, theme, summary.mean_ir, summary.max_ir)
    rare = np.flatnonzero(is_rare)
    named = by_difficulty(rare, table.irlbl, table.scumble)[:n_names]
    _write_names(
        ax, theme, [table.name[at] for at in named], table.irlbl[named], table.scumble[named]
    )
    ax.set(
        xlabel="IRLbl: times rarer than the most frequent label",
        ylabel="SCUMBLELbl: company of unequal labels",
    )
    legend = ax.legend(loc="upper left", labelcolor=theme.ink, fontsize=9, edgecolor="none")
    legend.get_frame().set_facecolor(ax.figure.get_facecolor())  # the line at MeanIR ends there
    entitle(ax, summary.name, "rare labels in unequal company")
    return ax


def _scale(ax: Any, theme: Theme, mean: float, largest: float) -> None:
    if not np.isfinite(mean):
        return
    if largest > 20:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else "")
    beside = 0.03 * (largest - 1)  # so that no point is cut by an edge
    low, high = (0.9, 1.15 * largest) if largest > 20 else (1 - beside, largest + beside)
    ax.set_xlim(low, max(high, low + 0.1))
    ax.axvline(mean, color=theme.ink, linewidth=1, linestyle="--")
    ax.annotate(
        f"MeanIR {mean:,.1f}",
        (mean, 0),
        xycoords=("data", "axes fraction"),
        xytext=(-4, 4),
        textcoords="offset points",
        ha="right",
        va="bottom",
        color=theme.ink,
        fontsize=9,
    )


def _write_names(ax: Any, theme: Theme, names: list[str], x: Array, y: Array) -> None:
    """Write names in a column on the right; in this order lines hardly cross."""
    order = np.lexsort((x, y))
    step = 1 / max(len(names), 15)
    heights = keep_apart(y[order] / ax.get_ylim()[1], step, 0.0, 1.0)
    for at, height in zip(order, heights, strict=True):
        ax.annotate(
            written(names[at]),
            (x[at], y[at]),
            xytext=(1.04, height),
            textcoords="axes fraction",
            va="center",
            color=theme.ink,
            fontsize=9,
            parse_math=False,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": theme.line,
                "linewidth": 0.7,
                "relpos": (0, 0.5),
                "shrinkB": 3,
            },
        )
