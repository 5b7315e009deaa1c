"""Labels and labelsets: how often each occurs, how often labels meet, and which are difficult."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.validation import check_count, check_named_labels
from scumble.measures.difficult import sort_by_difficulty
from scumble.measures.shape import joint_counts
from scumble.measures.summary import Summary
from scumble.plots.base import (
    Theme,
    add_title,
    as_summary,
    display_name,
    prepare_axes,
    register_plot,
    set_bold,
    spread_positions,
)
from scumble.plots.chord_layout import choose_labels, find_label_indices

#: Bars drawn at the most.
N_BARS = 40
ROW = 0.23  # inches
#: Labels of which is shown how often they meet; where there are more, half of them difficult ones.
N_MET = 40


@register_plot("labels", title="the labels by count", alias="LB")
def plot_labels(
    data: Any,
    labels: Sequence[str | int] | None = None,
    *,
    n_labels: int = N_BARS,
    ax: Any = None,
    dark: bool | None = None,
) -> Any:
    """Draw a bar for every label, the most frequent first.

    Parameters
    ----------
    data : Summary, MultilabelDataset, or labels
        The data set, its measures, or labels alone.
    labels : sequence of str or int, optional
        Names or numbers of labels to draw.
    n_labels : int
        How many to draw at the most: where there are more, the most frequent and the rarest ones.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Light ink on a dark page; by default as the figure's background asks.

    Returns
    -------
    matplotlib Axes
        With the drawing; minority labels have another colour and bold names.

    Examples
    --------
    >>> from scumble.plots import plot_labels
    >>> ax = plot_labels([["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> [(int(b.get_width()), t.get_text()) for b, t in zip(ax.patches, ax.get_yticklabels())]
    [(4, 'a'), (2, 'b'), (1, 'c')]
    """
    check_count(n_labels, name="n_labels", caller="plot_labels")
    summary = as_summary(data)
    table = summary.labels
    chosen = np.arange(len(table)) if labels is None else find_label_indices(labels, table.name)
    chosen = chosen[np.lexsort((chosen, -table.count[chosen]))]
    # Where there are too many, the first and the last ones.
    n_hidden, n_first = max(len(chosen) - n_labels, 0), (n_labels + 1) // 2
    shown = np.delete(chosen, slice(n_first, n_first + n_hidden))
    ax, theme = prepare_axes(ax, dark, size=_size(len(shown)), purpose="plot_labels")
    is_rare = table.is_minority[shown]
    names = [table.name[at] for at in shown]
    _bars(ax, theme, names, table.count[shown], is_rare, n_first if n_hidden else None)
    notes = [f"{n_hidden:,} labels in between are not drawn"] if n_hidden else []
    if is_rare.any():
        notes.append("bold: minority labels, with IRLbl above MeanIR")
    ax.set_xlabel("\n".join(["instances", *notes]))
    add_title(ax, summary.name, f"{len(chosen):,} labels")
    return ax


@register_plot("labelsets", title="the most frequent labelsets", alias="LSB")
def plot_labelsets(
    data: Any, *, n_labelsets: int = 25, ax: Any = None, dark: bool | None = None
) -> Any:
    """Draw a bar for each of the most frequent labelsets.

    Parameters
    ----------
    data : MultilabelDataset, or labels
        The data set, or labels alone.
    n_labelsets : int
        How many to draw at the most.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Light ink on a dark page; by default as the figure's background asks.

    Returns
    -------
    matplotlib Axes
        With the drawing. How many more labelsets there are is written, not drawn: together they
        would often dwarf all bars.

    Examples
    --------
    >>> from scumble.plots import plot_labelsets
    >>> ax = plot_labelsets([["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> [(int(b.get_width()), t.get_text()) for b, t in zip(ax.patches, ax.get_yticklabels())]
    [(2, 'a, b'), (1, 'a'), (1, 'a, c')]
    """
    check_count(n_labelsets, name="n_labelsets", caller="plot_labelsets")
    summary = as_summary(data)
    found = summary.labelsets
    shown = found.order[:n_labelsets]
    ax, theme = prepare_axes(ax, dark, size=_size(len(shown)), purpose="plot_labelsets")
    names = _labelset_names(data, summary, found.first_row[shown])
    counts = found.counts[shown]
    _bars(ax, theme, names, counts, np.zeros(len(shown), bool))
    n_more, n_rest = len(found) - len(shown), summary.n_instances - int(counts.sum())
    rest = f"\n{n_more:,} more labelsets in {n_rest:,} instances" if n_more else ""
    ax.set_xlabel(f"instances{rest}")
    add_title(ax, summary.name, f"{len(found):,} labelsets")
    return ax


@register_plot("difficult", title="IRLbl against SCUMBLELbl")
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
    summary = as_summary(data)
    table = summary.labels
    ax, theme = prepare_axes(ax, dark, size=(8.5, 5.2), purpose="plot_difficult")
    seen = table.count > 0
    is_rare = table.is_minority
    frequent = (seen & ~is_rare, theme.frequent_colors[0], "o", "majority labels")
    rare = (seen & is_rare, theme.rare_colors[0], "^", "minority labels")
    for shown, colour, marker, name in (frequent, rare):
        style = {"s": 26, "c": colour, "marker": marker, "alpha": 0.65, "linewidths": 0}
        ax.scatter(table.irlbl[shown], table.scumble[shown], label=name, **style)
    top = float(np.nanmax(table.scumble, initial=0.0)) if seen.any() else 0.0
    ax.set_ylim(0, max(1.15 * top, 0.01))
    _scale(ax, theme, summary.mean_ir, summary.max_ir)
    named = sort_by_difficulty(np.flatnonzero(is_rare), table.irlbl, table.scumble)[:n_names]
    names = [table.name[at] for at in named]
    _write_names(ax, theme, names, table.irlbl[named], table.scumble[named])
    ax.set_xlabel("IRLbl: times rarer than the most frequent label")
    ax.set_ylabel("SCUMBLELbl: company of unequal labels")
    legend = ax.legend(loc="upper left", labelcolor=theme.text_color, fontsize=9, edgecolor="none")
    legend.get_frame().set_facecolor(ax.figure.get_facecolor())  # the line at MeanIR ends there
    add_title(ax, summary.name, "rare labels in unequal company")
    return ax


@register_plot("cooccurrence", title="how often labels meet, similar labels together")
def plot_cooccurrence(
    data: Any,
    labels: Sequence[str | int] | None = None,
    *,
    n_labels: int = N_MET,
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
    ax, theme = prepare_axes(ax, dark, size=(side + 1, side), purpose="plot_cooccurrence")
    cells = shares if len(shares) else [[0.0]]
    image = ax.imshow(cells, cmap=theme.colormap, vmin=0, vmax=1, interpolation="nearest")
    names = [display_name(summary.labels.name[at], 24) for at in chosen]
    theme.name_cells(ax, names, names, 8, rotation=90)
    is_rare = summary.labels.is_minority[chosen]
    for texts in (ax.get_xticklabels(), ax.get_yticklabels()):
        set_bold(texts, is_rare)
    _explain(ax, image, theme)
    n_seen = int((summary.labels.count > 0).sum())
    drawn = "all" if len(chosen) == n_seen else f"{len(chosen):,} of"
    add_title(ax, summary.name, f"the company of {drawn} {n_seen:,} labels")
    return ax


def _labelset_names(data: Any, summary: Summary, rows: Array) -> list[str]:
    if isinstance(data, Summary):
        return [f"labelset of row {row}" for row in rows]
    Y, found = check_named_labels(data, caller="plot_labelsets")
    names = found or summary.labels.name
    return [", ".join(names[label] for label in Y[[row]].indices) or "(no label)" for row in rows]


def _size(n_bars: int) -> tuple[float, float]:
    return 7.5, 1.4 + ROW * max(n_bars, 4)


def _bars(
    ax: Any, theme: Theme, names: list[str], counts: Array, is_rare: Array, cut: int | None = None
) -> None:
    """Draw bars from top to bottom, each with its count; a gap after the first ``cut``."""
    places = np.arange(len(names), dtype=float)
    if cut is not None:
        places[cut:] += 1
    colours = [theme.rare_colors[0] if rare else theme.frequent_colors[0] for rare in is_rare]
    ax.barh(places, counts, color=colours, height=0.75)
    theme.name_rows(ax, places, names, is_rare)
    longest = max(counts.max(initial=0), 1)
    style = {"va": "center", "fontsize": 8, "color": theme.muted_color}
    for place, count in zip(places, counts, strict=True):
        ax.text(count + longest * 0.008, place, f"{count:,}", **style)
    ax.set_xlim(0, longest * 1.1)
    ax.xaxis.get_major_locator().set_params(integer=True)
    if len(places):
        ax.set_ylim(places[-1] + 0.6, -0.6)
    ax.spines["left"].set_visible(False)


def _scale(ax: Any, theme: Theme, mean: float, largest: float) -> None:
    if not np.isfinite(mean):
        return
    if largest > 20:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else "")
    beside = 0.03 * (largest - 1)  # so that no point is cut by an edge
    low, high = (0.9, 1.15 * largest) if largest > 20 else (1 - beside, largest + beside)
    ax.set_xlim(low, max(high, low + 0.1))
    theme.mark_line(ax, mean, f"MeanIR {mean:,.1f}", (-4, 4), fontsize=9)


def _write_names(ax: Any, theme: Theme, names: list[str], x: Array, y: Array) -> None:
    """Write names in a column on the right; in this order lines hardly cross."""
    order = np.lexsort((x, y))
    step = 1 / max(len(names), 15)
    heights = spread_positions(y[order] / ax.get_ylim()[1], step, 0.0, 1.0)
    line = {"arrowstyle": "-", "color": theme.line_color, "linewidth": 0.7, "shrinkB": 3}
    style = {"va": "center", "color": theme.text_color, "fontsize": 9, "parse_math": False}
    style |= {"annotation_clip": False, "arrowprops": {**line, "relpos": (0, 0.5)}}
    for at, height in zip(order, heights, strict=True):
        place, beside = (x[at], y[at]), (1.04, height)
        ax.annotate(display_name(names[at]), place, beside, textcoords="axes fraction", **style)


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
    bar.set_label(
        "share of the row's instances that have the column's label", color=theme.muted_color
    )
    bar.ax.tick_params(colors=theme.muted_color)
    bar.outline.set_visible(False)
