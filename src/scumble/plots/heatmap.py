"""Heat maps: how often labels meet, and which method does best in which situation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.validation import check_count
from scumble.measures.shape import joint_counts
from scumble.plots.base import plot
from scumble.plots.chord_layout import choose_labels
from scumble.plots.theme import Theme, canvas, embolden, entitle, written

#: Up to so many labels are all drawn; of more, half difficult ones and half partners.
N_LABELS = 40


@plot("cooccurrence", title="how often labels meet, similar labels together")
def plot_cooccurrence(
    data: Any,
    labels: Sequence[str | int] | None = None,
    *,
    n_labels: int = N_LABELS,
    cluster: bool = True,
    ax: Any = None,
    dark: bool | None = None,
) -> Any:
    """Draw for every pair of labels how much of the one comes with the other.

    A cell is the share of the row label's instances that also have the column label. Labels that
    keep the same company stand together.

    Parameters
    ----------
    data : MultilabelDataset, or labels
        The data set, or labels alone.
    labels : sequence of str or int, optional
        Names or numbers of labels to draw.
    n_labels : int
        How many labels to draw at the most where none are given: all, or else half of them the most
        difficult ones and half their partners.
    cluster : bool
        Whether to order labels by a hierarchical clustering, rather than as in the data.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Light ink on a dark page; by default as the figure's background asks.

    Returns
    -------
    matplotlib Axes
        With the drawing.

    Examples
    --------
    >>> from scumble.plots import plot_cooccurrence
    >>> ax = plot_cooccurrence([["a"], ["a", "b"], ["a", "c"], ["a", "b"]], cluster=False)
    >>> ax.images[0].get_array().data.tolist()
    [[1.0, 0.5, 0.25], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    check_count(n_labels, name="n_labels", caller="plot_cooccurrence", minimum=2)
    half = n_labels // 2
    chosen, Y, summary = choose_labels(data, labels, (n_labels, half, n_labels - half))
    joint = joint_counts(Y, chosen)[:, chosen].toarray()
    shares = joint / np.maximum(joint.diagonal(), 1)[:, np.newaxis]
    order = _clustered(shares) if cluster else np.argsort(chosen)
    chosen, shares = chosen[order], shares[np.ix_(order, order)]

    side = 3.2 + 0.2 * len(chosen)
    ax, theme = canvas(ax, dark, size=(side + 1, side), purpose="plot_cooccurrence")
    cells = shares if len(shares) else [[0.0]]
    image = ax.imshow(cells, cmap=theme.colormap, vmin=0, vmax=1, interpolation="nearest")
    names = [written(summary.labels.name[at], 24) for at in chosen]
    _name_cells(ax, theme, names, names, 8, rotation=90)
    is_rare = summary.labels.is_minority[chosen]
    for texts in (ax.get_xticklabels(), ax.get_yticklabels()):
        embolden(texts, is_rare)
    _explain(ax, image, theme)
    n_seen = int((summary.labels.count > 0).sum())
    drawn = "all" if len(chosen) == n_seen else f"{len(chosen):,} of"
    entitle(ax, summary.name, f"the company of {drawn} {n_seen:,} labels")
    return ax


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
    _name_cells(ax, theme, across, down, 9, rotation=40, ha="right")
    entitle(ax, "", title)
    return ax


def _name_cells(
    ax: Any, theme: Theme, across: list[str], down: list[str], size: float, **turned: Any
) -> None:
    """Write names below columns and beside rows of cells, which need no frame."""
    style = {"parse_math": False, "fontsize": size, "color": theme.ink}
    ax.set_xticks(np.arange(len(across)), across, **turned, **style)
    ax.set_yticks(np.arange(len(down)), down, **style)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _clustered(shares: Array) -> Array:
    """Order labels so that those with the same company are neighbours."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    if len(shares) < 3:
        return np.arange(len(shares))
    distance = 1 - np.maximum(shares, shares.T)  # 0 where one never comes without the other
    np.fill_diagonal(distance, 0)
    condensed = squareform(distance, checks=False)
    tree = linkage(condensed, "average")
    return leaves_list(optimal_leaf_ordering(tree, condensed))


def _explain(ax: Any, image: Any, theme: Theme) -> None:
    bar = ax.get_figure().colorbar(image, ax=ax, shrink=0.6, aspect=30)
    bar.set_label("share of the row's instances that have the column's label", color=theme.dim)
    bar.ax.tick_params(colors=theme.dim)
    bar.outline.set_visible(False)


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
