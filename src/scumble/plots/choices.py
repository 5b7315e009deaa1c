"""Which method does best in which situation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scumble._core.errors import ParameterError
from scumble.plots.theme import canvas, entitle, name_cells, written


def plot_choices(
    values: Any,
    situations: Sequence[str],
    methods: Sequence[str],
    *,
    near: float = 0.01,
    title: str = "Which method when",
    ax: Any = None,
    dark: bool | None = None,
) -> Any:
    """Draw a table of situations down and methods across; the higher a value, the better."""
    # The best method of a row is framed, those within `near` of it are framed by dots. The darker a
    # cell (the lighter, on a dark page), the nearer to the best of its row; a cell without a value
    # stays empty.
    table = np.asarray(values, np.float64)
    if table.shape != (len(situations), len(methods)):
        raise ParameterError(
            f"plot_choices needs a value for each of {len(situations)} situations and "
            f"{len(methods)} methods. Got an array of shape {table.shape}."
        )
    size = (2.6 + 0.72 * len(methods), 1.5 + 0.34 * len(situations))
    ax, theme = canvas(ax, dark, size=size, purpose="plot_choices")
    best = np.nanmax(np.where(np.isnan(table), -np.inf, table), axis=1, keepdims=True)
    shares = np.divide(table, best, out=np.zeros_like(table), where=best > 0)
    ax.imshow(shares, cmap=theme.colormap, vmin=0, vmax=1.6, aspect="auto")
    for row, column in np.argwhere(np.isfinite(table)):
        _write(ax, theme, (column, row), table[row, column], best[row, 0], near)
    across, down = [written(one, 26) for one in methods], [written(one, 44) for one in situations]
    name_cells(ax, theme, across, down, 9, rotation=40, ha="right")
    entitle(ax, "", title)
    return ax


def _write(
    ax: Any, theme: Any, place: tuple[int, int], value: float, best: float, near: float
) -> None:
    """Write a value into its cell; frame it where it is the best, or as good as that."""
    from matplotlib.patches import Rectangle

    is_best = value == best
    weight = "bold" if is_best else "normal"
    text = f"{value:.2f}".replace("0.", ".", 1)
    ax.text(*place, text, ha="center", va="center", fontsize=9, color=theme.ink, fontweight=weight)
    if value >= best - near:
        corner = (place[0] - 0.46, place[1] - 0.44)
        frame = Rectangle(corner, 0.92, 0.88, fill=False, ec=theme.rare[0])
        frame.set(lw=2.0 if is_best else 1.2, ls="-" if is_best else ":")
        ax.add_patch(frame)
