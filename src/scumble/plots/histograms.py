"""Histograms of labels, labelsets, instances and features."""

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterTypeError
from scumble._validation.labels import check_labels
from scumble.plots.base import Theme, add_title, as_summary, prepare_axes, register_plot

#: Size of a figure in inches.
SIZE = (7.0, 4.2)
#: Number of bins of the histogram of SCUMBLE scores.
N_BINS = 40
#: Height of the axes over that of the tallest bar, so that there is space for text.
HEADROOM = 1.14


@register_plot("label-histogram", title="how many labels occur how often", alias="LH")
def plot_label_histogram(data: Any, *, ax: Any = None, dark: bool | None = None) -> Any:
    """Draw a histogram of the counts of labels.

    Parameters
    ----------
    data : Summary, MultilabelDataset, or labels
        The data set, its measures, or labels alone.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing. Bins grow by powers of two if counts exceed 20.

    Examples
    --------
    >>> from scumble.plots import plot_label_histogram
    >>> ax = plot_label_histogram([["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> [int(bar.get_height()) for bar in ax.patches]
    [1, 1, 0, 1]
    """
    summary = as_summary(data)
    ax, theme = prepare_axes(ax, dark, size=SIZE, purpose="plot_label_histogram")
    _draw_count_histogram(ax, theme, summary.labels.count)
    ax.set(xlabel="instances with the label", ylabel="labels")
    add_title(ax, summary.name, f"{summary.n_labels:,} labels by count")
    return ax


@register_plot("labelset-histogram", title="how many labelsets occur how often", alias="LSH")
def plot_labelset_histogram(data: Any, *, ax: Any = None, dark: bool | None = None) -> Any:
    """Draw a histogram of the counts of labelsets.

    Parameters
    ----------
    data : Summary, MultilabelDataset, or labels
        The data set, its measures, or labels alone.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing. Bins grow by powers of two if counts exceed 20.

    Examples
    --------
    >>> from scumble.plots import plot_labelset_histogram
    >>> ax = plot_labelset_histogram([["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> [int(bar.get_height()) for bar in ax.patches]
    [2, 1]
    """
    summary = as_summary(data)
    ax, theme = prepare_axes(ax, dark, size=SIZE, purpose="plot_labelset_histogram")
    _draw_count_histogram(ax, theme, summary.labelsets.counts)
    ax.set(xlabel="instances with the labelset", ylabel="labelsets")
    description = f"{summary.n_single_labelsets:,} of {summary.n_labelsets:,} labelsets occur once"
    add_title(ax, summary.name, description)
    return ax


@register_plot("cardinality", title="how many labels instances have", alias="CH")
def plot_cardinality(data: Any, *, ax: Any = None, dark: bool | None = None) -> Any:
    """Draw a histogram of the number of labels of an instance.

    Parameters
    ----------
    data : MultilabelDataset, or labels
        The data set, or labels alone.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing; a line marks the mean, the cardinality.

    Examples
    --------
    >>> from scumble.plots import plot_cardinality
    >>> ax = plot_cardinality([["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> [int(bar.get_height()) for bar in ax.patches]
    [0, 1, 3]
    """
    Y = check_labels(data, caller="plot_cardinality")
    n_labels_of_rows = np.diff(Y.indptr)
    counts = np.bincount(n_labels_of_rows)
    ax, theme = prepare_axes(ax, dark, size=SIZE, purpose="plot_cardinality")
    _draw_bars(ax, theme, np.arange(len(counts)), counts, 0.8, is_counted=len(counts) <= 20)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="labels of an instance", ylabel="instances")
    if len(n_labels_of_rows):
        _mark_mean(ax, theme, float(n_labels_of_rows.mean()))
    add_title(ax, str(getattr(data, "name", "")), "labels of the instances")
    return ax


@register_plot("attributes", title="the features by kind", alias="AT")
def plot_attributes(data: Any, *, ax: Any = None, dark: bool | None = None) -> Any:
    """Draw the number of features of each kind.

    Parameters
    ----------
    data : MultilabelDataset
        The data set.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing; the last bar is the number of labels.

    Examples
    --------
    >>> import scumble
    >>> from scumble.plots import plot_attributes
    >>> ax = plot_attributes(scumble.MultilabelDataset([[0.0]], [["a", "b"]]))
    >>> [(int(b.get_width()), t.get_text()) for b, t in zip(ax.patches, ax.get_yticklabels())]
    [(1, 'numeric'), (2, 'labels')]
    """
    if not hasattr(data, "features") or not hasattr(data, "labels"):
        raise ParameterTypeError(
            f"plot_attributes needs a data set with features. Got {type(data).__name__} instead."
        )
    kinds = Counter(
        "integer" if feature.kind == "numeric" and feature.integer else feature.kind
        for feature in data.features
    )
    kinds["labels"] = len(data.labels)
    ax, theme = prepare_axes(
        ax, dark, size=(7.0, 1.2 + 0.4 * len(kinds)), purpose="plot_attributes"
    )
    colors = [theme.frequent_colors[0]] * (len(kinds) - 1) + [theme.rare_colors[1]]
    ax.barh(np.arange(len(kinds)), list(kinds.values()), color=colors, height=0.7)
    ax.set_yticks(np.arange(len(kinds)), list(kinds), color=theme.text_color)
    longest = max(kinds.values())
    for y, count in enumerate(kinds.values()):
        ax.text(count + 0.01 * longest, y, f"{count:,}", va="center", color=theme.muted_color)
    ax.set(xlim=(0, 1.1 * max(longest, 1)), ylim=(len(kinds) - 0.4, -0.6))
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    add_title(ax, data.name, f"{len(data.features):,} features")
    return ax


@register_plot("instances", title="SCUMBLE of the instances")
def plot_instances(data: Any, *, ax: Any = None, dark: bool | None = None) -> Any:
    """Draw a histogram of the SCUMBLE scores of instances.

    Parameters
    ----------
    data : Summary, MultilabelDataset, or labels
        The data set, its measures, or labels alone.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing: the scores above 0, and a line at the mean. Instances above the
        mean, which REMEDIAL splits, have another color. The title counts instances with score 0.

    Examples
    --------
    >>> from scumble.plots import plot_instances
    >>> ax = plot_instances([["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> int(sum(bar.get_height() for bar in ax.patches))
    3
    """
    summary = as_summary(data)
    scores = summary.scumble_by_instance
    ax, theme = prepare_axes(ax, dark, size=SIZE, purpose="plot_instances")
    # A bin ends at the mean, so that every bar is either below or above it.
    mean = summary.scumble if summary.scumble > 0 else 0.5
    top = max(float(scores.max(initial=0.0)), 1.02 * mean)
    n_below = max(1, round(N_BINS * mean / top))
    above = np.linspace(mean, top, max(1, N_BINS - n_below) + 1)
    edges = np.concatenate([np.linspace(0, mean, n_below + 1), above[1:]])
    # Scores equal to the mean are counted below it, because "above the mean" is strict: they move
    # to the middle of the last bin below it.
    last_middle = mean / 2 + edges[n_below - 1] / 2
    moved_scores = np.where(np.abs(scores - mean) <= 1e-12, last_middle, scores)
    counts, _ = np.histogram(moved_scores[moved_scores > 0], edges)
    n_bins_above = len(counts) - n_below
    colors = [theme.frequent_colors[0]] * n_below + [theme.rare_colors[0]] * n_bins_above
    ax.bar(edges[:-1], counts, np.diff(edges) * 0.94, align="edge", color=colors)
    ticks = ax.xaxis.get_major_locator().tick_values(0, top)
    ax.set_xlim(0, float(ticks[ticks >= top - 1e-12][0]))  # ends at a tick, not at the last bar
    ax.set_ylim(0, HEADROOM * max(counts.max(initial=0), 1))
    ax.set(xlabel="SCUMBLE of the instance", ylabel="instances")
    n_zero = int((scores <= 0).sum())
    n_above = int(counts[n_below:].sum())
    if summary.scumble > 0:
        _mark_mean(ax, theme, mean)
    description = f"{n_above:,} of {len(scores):,} instances above the mean, {n_zero:,} at 0"
    add_title(ax, summary.name, description)
    return ax


def _draw_count_histogram(ax: Any, theme: Theme, values: Array) -> None:
    """Draw a histogram of ``values``, which are counts of labels or labelsets.

    A bin holds a single number if none exceeds 20; otherwise the bins 1, 2-3, 4-7, ... double.
    """
    max_value = int(values.max(initial=0))
    if max_value <= 20:
        bar_heights = np.bincount(values, minlength=max_value + 1)
        first = 0 if bar_heights[0] else 1
        positions = np.arange(first, max_value + 1)
        _draw_bars(ax, theme, positions, bar_heights[first:], 0.8)
        ax.set_xticks(positions)
        # A single bar would fill the axes: they are at least three bars wide.
        ax.set_xlim(min(first, max_value - 2) - 0.6, max(max_value, first + 2) + 0.6)
        return
    edges = [0, *(2**exponent for exponent in range(max_value.bit_length() + 1))]
    bar_heights, _ = np.histogram(values, edges)  # the last edge exceeds all values
    first = int(np.flatnonzero(bar_heights)[0])
    names = [
        f"{low:,}" if high - low == 1 else f"{low:,}–{high - 1:,}" for low, high in pairwise(edges)
    ]
    positions = np.arange(first, len(bar_heights))
    _draw_bars(ax, theme, positions, bar_heights[first:], 0.85)
    rotation, alignment = (35, "right") if len(positions) > 8 else (0, "center")
    ax.set_xticks(positions, names[first:], rotation=rotation, ha=alignment, rotation_mode="anchor")


def _draw_bars(
    ax: Any, theme: Theme, positions: Array, counts: Array, width: float, *, is_counted: bool = True
) -> None:
    """Draw vertical bars of a width at x positions, and if ``is_counted`` their counts above."""
    bars = ax.bar(positions, counts, color=theme.frequent_colors[0], width=width)
    ax.set_ylim(0, HEADROOM * max(counts.max(initial=0), 1))
    if is_counted:
        texts = [f"{count:,}" if count else "" for count in counts]
        ax.bar_label(bars, texts, color=theme.muted_color, fontsize=8)
        ax.yaxis.get_major_locator().set_params(integer=True)


def _mark_mean(ax: Any, theme: Theme, mean: float) -> None:
    """Draw a vertical line at the mean, with its value on the side with more space."""
    is_in_left_half = mean < sum(ax.get_xlim()) / 2
    x_offset = 5 if is_in_left_half else -5
    theme.draw_vertical_line(ax, mean, f"mean {mean:.3f}", (x_offset, -4))
