"""Plots of labels and labelsets: counts, co-occurrence and difficulty."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.parameters import check_count
from scumble._validation.labels import check_named_labels
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
from scumble.plots.chord_layout import LabelLimits, find_label_indices, select_labels

#: Largest number of bars.
N_BARS = 40
#: Height of a bar in inches.
ROW_HEIGHT = 0.23
#: Largest number of labels of the co-occurrence matrix.
N_COOCCURRENCE_LABELS = 40


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
        Names or indices of labels to draw.
    n_labels : int
        Largest number of bars. If there are more labels, the most frequent and the rarest ones are
        drawn.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing; minority labels have another color and bold names.

    Examples
    --------
    >>> from scumble.plots import plot_labels
    >>> ax = plot_labels([["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> [(int(b.get_width()), t.get_text()) for b, t in zip(ax.patches, ax.get_yticklabels())]
    [(4, 'a'), (2, 'b'), (1, 'c')]
    """
    check_count(n_labels, name="n_labels", caller="plot_labels")
    summary = as_summary(data)
    measures = summary.labels
    selected = np.arange(len(measures))
    if labels is not None:
        selected = find_label_indices(labels, measures.name)
    selected = selected[np.lexsort((selected, -measures.count[selected]))]
    n_hidden = max(len(selected) - n_labels, 0)
    n_first = (n_labels + 1) // 2
    drawn = np.delete(selected, slice(n_first, n_first + n_hidden))
    ax, theme = prepare_axes(ax, dark, size=_figure_size(len(drawn)), purpose="plot_labels")
    is_rare = measures.is_minority[drawn]
    names = [measures.name[label] for label in drawn]
    n_above_gap = n_first if n_hidden else None
    _draw_bars(ax, theme, names, measures.count[drawn], is_rare, n_above_gap=n_above_gap)
    lines = ["instances"]
    if n_hidden:
        lines.append(f"{n_hidden:,} labels in between are not drawn")
    if is_rare.any():
        lines.append("bold: minority labels, with IRLbl above MeanIR")
    ax.set_xlabel("\n".join(lines))
    add_title(ax, summary.name, f"{len(selected):,} labels")
    return ax


@register_plot("labelsets", title="the most frequent labelsets", alias="LSB")
def plot_labelsets(
    data: Any, *, n_labelsets: int = 25, ax: Any = None, dark: bool | None = None
) -> Any:
    """Draw a bar for each of the most frequent labelsets.

    Parameters
    ----------
    data : Summary, MultilabelDataset, or labels
        The data set, its measures, or labels alone. The measures do not hold the labels of
        labelsets; a labelset is then called by the index of its first row.
    n_labelsets : int
        Largest number of bars.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing. The number of other labelsets is written below, not drawn:
        together they would often dwarf all bars.

    Examples
    --------
    >>> from scumble.plots import plot_labelsets
    >>> ax = plot_labelsets([["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> [(int(b.get_width()), t.get_text()) for b, t in zip(ax.patches, ax.get_yticklabels())]
    [(2, 'a, b'), (1, 'a'), (1, 'a, c')]
    """
    check_count(n_labelsets, name="n_labelsets", caller="plot_labelsets")
    summary = as_summary(data)
    labelsets = summary.labelsets
    drawn = labelsets.order[:n_labelsets]
    ax, theme = prepare_axes(ax, dark, size=_figure_size(len(drawn)), purpose="plot_labelsets")
    names = _labelset_names(data, summary, labelsets.first_row[drawn])
    counts = labelsets.counts[drawn]
    _draw_bars(ax, theme, names, counts, np.zeros(len(drawn), bool))
    x_label = "instances"
    n_hidden = len(labelsets) - len(drawn)
    if n_hidden:
        n_instances = summary.n_instances - int(counts.sum())
        x_label += f"\n{n_hidden:,} more labelsets in {n_instances:,} instances"
    ax.set_xlabel(x_label)
    add_title(ax, summary.name, f"{len(labelsets):,} labelsets")
    return ax


@register_plot("difficult", title="IRLbl against SCUMBLELbl")
def plot_difficult(
    data: Any, *, n_names: int = 12, ax: Any = None, dark: bool | None = None
) -> Any:
    """Draw every label by its imbalance ratio and its concurrence.

    Parameters
    ----------
    data : Summary, MultilabelDataset, or labels
        The data set, its measures, or labels alone.
    n_names : int
        Number of difficult labels (minority labels by decreasing SCUMBLELbl) to name.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing. Minority labels are triangles to the right of the line at MeanIR.

    Examples
    --------
    >>> from scumble.plots import plot_difficult
    >>> ax = plot_difficult([["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> ax.collections[1].get_offsets().data.round(3).tolist()  # the minority labels
    [[4.0, 0.2]]
    """
    check_count(n_names, name="n_names", caller="plot_difficult", minimum=0)
    summary = as_summary(data)
    measures = summary.labels
    ax, theme = prepare_axes(ax, dark, size=(8.5, 5.2), purpose="plot_difficult")
    occurs = measures.count > 0
    is_rare = measures.is_minority
    groups = (
        (occurs & ~is_rare, theme.frequent_colors[0], "o", "majority labels"),
        (occurs & is_rare, theme.rare_colors[0], "^", "minority labels"),
    )
    for is_member, color, marker, name in groups:
        ax.scatter(
            measures.irlbl[is_member],
            measures.scumble[is_member],
            label=name,
            s=26,
            c=color,
            marker=marker,
            alpha=0.65,
            linewidths=0,
        )
    max_score = float(np.nanmax(measures.scumble, initial=0.0)) if occurs.any() else 0.0
    ax.set_ylim(0, max(1.15 * max_score, 0.01))
    _scale_irlbl_axis(ax, theme, mean_ir=summary.mean_ir, max_ir=summary.max_ir)
    by_difficulty = sort_by_difficulty(np.flatnonzero(is_rare), measures.irlbl, measures.scumble)
    named = by_difficulty[:n_names]
    names = [measures.name[label] for label in named]
    _write_names(ax, theme, names, measures.irlbl[named], measures.scumble[named])
    ax.set_xlabel("IRLbl: times rarer than the most frequent label")
    ax.set_ylabel("SCUMBLELbl: concurrence with unequal labels")
    legend = ax.legend(loc="upper left", labelcolor=theme.text_color, fontsize=9, edgecolor="none")
    legend.get_frame().set_facecolor(
        ax.figure.get_facecolor()
    )  # hides the end of the line at MeanIR
    add_title(ax, summary.name, "rare labels that co-occur with frequent ones")
    return ax


@register_plot("cooccurrence", title="how often labels co-occur, similar labels together")
def plot_cooccurrence(
    data: Any,
    labels: Sequence[str | int] | None = None,
    *,
    n_labels: int = N_COOCCURRENCE_LABELS,
    cluster: bool = True,
    ax: Any = None,
    dark: bool | None = None,
) -> Any:
    """Draw the co-occurrence of every pair of labels.

    A cell is the share of the row label's instances that also have the column label. Labels with
    similar co-occurrences are neighbours.

    Parameters
    ----------
    data : MultilabelDataset, or labels
        The data set, or labels alone.
    labels : sequence of str or int, optional
        Names or indices of labels to draw.
    n_labels : int
        Largest number of labels if ``labels`` is None. If there are more, half of those drawn are
        the most difficult ones and half the labels they co-occur with.
    cluster : bool
        Whether to order labels by a hierarchical clustering, rather than as in the data.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing.

    Examples
    --------
    >>> from scumble.plots import plot_cooccurrence
    >>> ax = plot_cooccurrence([["a"], ["a", "b"], ["a", "c"], ["a", "b"]], cluster=False)
    >>> ax.images[0].get_array().data.tolist()
    [[1.0, 0.5, 0.25], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    check_count(n_labels, name="n_labels", caller="plot_cooccurrence", minimum=2)
    n_difficult = n_labels // 2
    limits = LabelLimits(
        max_to_draw_all=n_labels, n_difficult=n_difficult, n_partners=n_labels - n_difficult
    )
    selection = select_labels(data, labels, limits, caller="plot_cooccurrence")
    summary = selection.summary
    selected = selection.labels
    pair_counts = joint_counts(selection.Y, selected)[:, selected].toarray()
    shares = pair_counts / np.maximum(pair_counts.diagonal(), 1)[:, np.newaxis]
    order = _clustered_order(shares) if cluster else np.argsort(selected)
    selected = selected[order]
    shares = shares[np.ix_(order, order)]

    side = 3.2 + 0.2 * len(selected)  # in inches
    ax, theme = prepare_axes(ax, dark, size=(side + 1, side), purpose="plot_cooccurrence")
    cells = shares if len(shares) else [[0.0]]
    image = ax.imshow(cells, cmap=theme.colormap, vmin=0, vmax=1, interpolation="nearest")
    names = [display_name(summary.labels.name[label], 24) for label in selected]
    theme.set_table_names(ax, names, names, 8, rotation=90)
    is_rare = summary.labels.is_minority[selected]
    for texts in (ax.get_xticklabels(), ax.get_yticklabels()):
        set_bold(texts, is_rare)
    _add_colorbar(ax, image, theme)
    n_occurring = int((summary.labels.count > 0).sum())
    n_drawn = "all" if len(selected) == n_occurring else f"{len(selected):,} of"
    add_title(ax, summary.name, f"co-occurrence of {n_drawn} {n_occurring:,} labels")
    return ax


def _labelset_names(data: Any, summary: Summary, rows: Array) -> list[str]:
    """Return the labels of each of these rows as one text.

    ``rows`` are indices; the labels are separated by commas, and "(no label)" stands for none. A
    summary does not hold the labels: its texts are "labelset of row 5", for example.
    """
    if isinstance(data, Summary):
        return [f"labelset of row {row}" for row in rows]
    Y, names = check_named_labels(data, caller="plot_labelsets")
    names = names or summary.labels.name
    texts = []
    for row in rows:
        labels = [names[label] for label in Y[[row]].indices]
        texts.append(", ".join(labels) or "(no label)")
    return texts


def _figure_size(n_bars: int) -> tuple[float, float]:
    """Return width and height in inches of a figure with ``n_bars`` horizontal bars."""
    return 7.5, 1.4 + ROW_HEIGHT * max(n_bars, 4)


def _draw_bars(
    ax: Any,
    theme: Theme,
    names: list[str],
    counts: Array,
    is_rare: Array,
    *,
    n_above_gap: int | None = None,
) -> None:
    """Draw horizontal bars from top to bottom, each with its name and count.

    ``n_above_gap`` is the number of bars above a gap that stands for bars left out; None for no
    gap.
    """
    positions = np.arange(len(names), dtype=float)
    if n_above_gap is not None:
        positions[n_above_gap:] += 1
    colors = [theme.rare_colors[0] if rare else theme.frequent_colors[0] for rare in is_rare]
    ax.barh(positions, counts, color=colors, height=0.75)
    theme.set_row_names(ax, positions, names, is_rare)
    longest = max(counts.max(initial=0), 1)
    style = {"va": "center", "fontsize": 8, "color": theme.muted_color}
    for position, count in zip(positions, counts, strict=True):
        ax.text(count + longest * 0.008, position, f"{count:,}", **style)
    ax.set_xlim(0, longest * 1.1)
    ax.xaxis.get_major_locator().set_params(integer=True)
    if len(positions):
        ax.set_ylim(positions[-1] + 0.6, -0.6)
    ax.spines["left"].set_visible(False)


def _scale_irlbl_axis(ax: Any, theme: Theme, *, mean_ir: float, max_ir: float) -> None:
    """Set the limits of the x axis, which shows IRLbl, and draw a line at MeanIR.

    The scale is logarithmic if MaxIR exceeds 20. Nothing is done if MeanIR is not finite.
    """
    if not np.isfinite(mean_ir):
        return
    if max_ir > 20:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else "")
        low = 0.9
        high = 1.15 * max_ir
    else:
        margin = 0.03 * (max_ir - 1)  # so that no point is cut off at an edge
        low = 1 - margin
        high = max_ir + margin
    ax.set_xlim(low, max(high, low + 0.1))
    theme.draw_vertical_line(ax, mean_ir, f"MeanIR {mean_ir:,.1f}", (-4, 4), fontsize=9)


def _write_names(ax: Any, theme: Theme, names: list[str], x: Array, y: Array) -> None:
    """Write the names of points in a column right of the axes, with a line to each point.

    ``x`` and ``y`` are the coordinates of the points. The names are sorted by y, so that lines
    hardly cross.
    """
    order = np.lexsort((x, y))
    step = 1 / max(len(names), 15)
    name_positions = spread_positions(y[order] / ax.get_ylim()[1], step, 0.0, 1.0)
    arrow = {
        "arrowstyle": "-",
        "color": theme.line_color,
        "linewidth": 0.7,
        "shrinkB": 3,
        "relpos": (0, 0.5),
    }
    for index, text_y in zip(order, name_positions, strict=True):
        ax.annotate(
            display_name(names[index]),
            xy=(x[index], y[index]),
            xytext=(1.04, text_y),
            textcoords="axes fraction",
            va="center",
            color=theme.text_color,
            fontsize=9,
            parse_math=False,
            annotation_clip=False,
            arrowprops=arrow,
        )


def _clustered_order(shares: Array) -> Array:
    """Return indices that sort labels so that those with similar co-occurrences are neighbours.

    They are clustered by average linkage. ``shares[i, j]`` is the share of the instances of label
    i that also have label j.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    if len(shares) < 3:
        return np.arange(len(shares))
    distance = 1 - np.maximum(shares, shares.T)  # 0 if one label implies the other
    np.fill_diagonal(distance, 0)
    condensed = squareform(distance, checks=False)
    tree = linkage(condensed, "average")
    return leaves_list(optimal_leaf_ordering(tree, condensed))


def _add_colorbar(ax: Any, image: Any, theme: Theme) -> None:
    """Add a color bar that explains the colors of an image of co-occurrences."""
    bar = ax.get_figure().colorbar(image, ax=ax, shrink=0.6, aspect=30)
    bar.set_label(
        "share of the row's instances that have the column's label", color=theme.muted_color
    )
    bar.ax.tick_params(colors=theme.muted_color)
    bar.outline.set_visible(False)
