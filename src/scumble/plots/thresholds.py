"""Plots of a metric for every possible threshold of a label, and of the selected threshold.

A panel is the axes of one label.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scumble._core.errors import ParameterError, ParameterTypeError
from scumble._core.parameters import check_count
from scumble.measures.imbalance import minority_from_ratios, ratios_from_counts
from scumble.plots.base import Theme, check_length, display_name, new_figure, theme_for
from scumble.plots.chord_layout import find_label_indices

if TYPE_CHECKING:
    from scumble.learn import ThresholdCurve

#: Largest number of panels side by side.
MAX_PANELS_ACROSS = 3
#: Width and height of a panel in inches.
PANEL_SIZE = (2.9, 2.2)


def plot_thresholds(
    fitted: Any,
    labels: Sequence[Any] | None = None,
    *,
    names: Sequence[str] | None = None,
    n_labels: int = 9,
    figure: Any = None,
    dark: bool | None = None,
) -> tuple[Any, ...]:
    """Draw the metric for every possible threshold of some labels, and the selected threshold.

    More rows are predicted from left to right. The thin line is the metric on the rows from which
    the threshold was selected, which jumps if there are few positives; the thick line is the value
    that the rule expects for new rows. The threshold at its highest point is selected.

    Parameters
    ----------
    fitted : ThresholdedClassifier, or list of ThresholdCurve
        A fitted classifier, or the result of `scumble.learn.threshold_curves`.
    labels : sequence of int or str, optional
        Labels to draw, by index or name. By default ``n_labels`` of those with candidate
        thresholds, in equal steps from the rarest to the most frequent.
    names : sequence of str, optional
        Names of all labels; by default those the classifier was fitted with.
    n_labels : int
        Number of labels to draw if ``labels`` is None.
    figure : matplotlib Figure, optional
        The figure to draw on; by default a new one.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    tuple of matplotlib Axes
        The axes of each label, of one figure. Minority labels have warm colors, majority labels
        cool ones.

    See Also
    --------
    scumble.learn.threshold_curves : Computes the values.

    Examples
    --------
    >>> from scumble.learn import threshold_curves
    >>> from scumble.plots import plot_thresholds
    >>> curves = threshold_curves([[0.9], [0.8], [0.4], [0.1]], [[1], [0], [1], [0]])
    >>> [ax] = plot_thresholds(curves, names=["heron"])
    >>> ax.get_title(), ax.texts[0].get_text()
    ('heron, P = 2', '≥ 0.25')
    """
    check_count(n_labels, name="n_labels", caller="plot_thresholds")
    curves = _get_curves(fitted)
    label_names = _get_label_names(fitted, names, len(curves))
    if labels is None:
        drawn = _select_by_frequency(curves, n_labels)
    else:
        drawn = find_label_indices(labels, label_names).tolist()
        if not drawn:
            raise ParameterError(
                "The 'labels' parameter of plot_thresholds is empty. Expected labels."
            )
    panels, theme = _make_panels(len(drawn), figure, dark)
    counts = np.array([curve.n_positives for curve in curves])
    is_rare = minority_from_ratios(ratios_from_counts(counts))
    for ax, label in zip(panels, drawn, strict=True):
        color = theme.rare_colors[0] if is_rare[label] else theme.frequent_colors[0]
        _draw_curve(ax, theme, curves[label], color)
        title = f"{display_name(label_names[label], 22)}, P = {curves[label].n_positives:,}"
        ax.set_title(title, parse_math=False, fontsize=10)
    _set_limits_and_legend(panels, theme, [curves[label] for label in drawn])
    metric = getattr(fitted, "metric", "F")
    title = metric.upper() if isinstance(metric, str) else "F"
    panels[0].get_figure(root=True).supylabel(title, fontsize=10, color=theme.text_color)
    return tuple(panels)


def _get_curves(fitted: Any) -> list[ThresholdCurve]:
    """Return the curves of all labels: ``curves_`` of a fitted classifier, or the given curves.

    Raises a ParameterTypeError for anything else.
    """
    curves = getattr(fitted, "curves_", fitted)
    items = list(curves) if isinstance(curves, Sequence) else []
    if not items or not all(hasattr(curve, "n_predicted") for curve in items):
        advice = "."
        if not items and not hasattr(fitted, "curves_"):
            advice = ": call fit first, or give curves."
        raise ParameterTypeError(
            "plot_thresholds: expected a fitted ThresholdedClassifier, or the list that "
            f"threshold_curves gives. Got {type(fitted).__name__} instead{advice}"
        )
    return items


def _get_label_names(fitted: Any, names: Sequence[str] | None, n_labels: int) -> list[str]:
    """Return ``names``, else the label names of the classifier, else "label 0", "label 1", ...

    Raises a ParameterError if there are not ``n_labels`` names.
    """
    if names is None:
        names = getattr(fitted, "label_names_", None)
    if names is None:
        return [f"label {label}" for label in range(n_labels)]
    check_length(names, n_labels, caller="plot_thresholds", description="a name", owners="labels")
    return [str(name) for name in names]


def _select_by_frequency(curves: Sequence[ThresholdCurve], n_labels: int) -> list[int]:
    """Return indices of ``n_labels`` labels, in equal steps from the rarest to the most frequent.

    Labels without a candidate threshold are left out; if no other is left, raise a ParameterError.
    """
    candidates = [label for label, curve in enumerate(curves) if len(curve.thresholds)]
    if not candidates:
        raise ParameterError(
            "plot_thresholds: no label has a threshold to draw. Expected labels with positives "
            "whose scores differ."
        )
    order = sorted(candidates, key=lambda label: curves[label].n_positives)
    ranks = np.linspace(0, len(order) - 1, min(n_labels, len(order))).round().astype(int)
    return [order[rank] for rank in ranks]


def _make_panels(n_panels: int, figure: Any, dark: bool | None) -> tuple[list[Any], Theme]:
    """Return the axes of the panels, in a grid on ``figure`` or on a new one, and the theme."""
    n_columns = 2 if n_panels == 4 else min(MAX_PANELS_ACROSS, n_panels)
    n_rows = math.ceil(n_panels / n_columns)
    if figure is None:
        width, height = PANEL_SIZE
        size = (max(width * n_columns, 3.6) + 0.4, height * n_rows + 0.8)
        figure = new_figure(size, dark, pads=(0.08, 0.08), purpose="plot_thresholds")
    grid = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True, sharey=True).ravel()
    panels = list(grid[:n_panels])
    for ax in grid[n_panels:]:
        ax.remove()
    theme = theme_for(grid[0], dark)
    for ax in panels:
        theme.style_axes(ax)
    for ax in panels[max(n_panels - n_columns, 0) :]:  # the lowest of each column
        ax.tick_params(labelbottom=True)
    return panels, theme


def _draw_curve(ax: Any, theme: Theme, curve: ThresholdCurve, color: str) -> None:
    """Draw the observed and the expected metric of a label, and mark the selected threshold.

    The x axis is the number of predicted rows divided by the number of positives.
    """
    if not len(curve.thresholds):
        ax.text(2, 0.5, "no threshold to choose", color=theme.muted_color, ha="center", fontsize=9)
        return
    rates = curve.n_predicted / curve.n_positives
    marker = "." if len(rates) <= 60 else ""
    ax.plot(
        rates, curve.observed, color=theme.muted_color, linewidth=0.9, marker=marker, markersize=4
    )
    ax.plot(rates, curve.expected, color=color, linewidth=2.2, zorder=3)
    if curve.selected >= 0:
        _mark_threshold(
            ax,
            theme,
            x=rates[curve.selected],
            y=curve.expected[curve.selected],
            threshold=curve.thresholds[curve.selected],
            color=color,
        )


def _mark_threshold(
    ax: Any, theme: Theme, *, x: float, y: float, threshold: float, color: str
) -> None:
    """Mark a threshold by a dot at (x, y) and a line down to the x axis, with its value there."""
    ax.plot([x, x], [0, y], color=color, linewidth=1, linestyle=":", zorder=2)
    ax.plot(
        x,
        y,
        zorder=4,
        clip_on=False,
        marker="o",
        markersize=7,
        color=color,
        markeredgecolor=theme.background_color,
    )
    alignment, shift = ("right", -4) if x > 2.6 else ("left", 4)
    ax.annotate(
        f"≥ {threshold:.3g}" if np.isfinite(threshold) else "all rows",
        (x, 0),
        (shift, 3),
        textcoords="offset points",
        ha=alignment,
        va="bottom",
        color=theme.text_color,
        fontsize=8.5,
    )


def _set_limits_and_legend(panels: list[Any], theme: Theme, curves: list[ThresholdCurve]) -> None:
    """Set the same limits for all panels, and add an x label and a legend to their figure."""
    highest = 0.0
    for curve in curves:
        highest = max(highest, curve.observed.max(initial=0.0), curve.expected.max(initial=0.0))
    rates = [curve.n_predicted[-1] / curve.n_positives for curve in curves if len(curve.thresholds)]
    panels[0].set_ylim(0, max(1.08 * highest, 0.1))
    panels[0].set_xlim(0, max(min(max(rates, default=4.0), 5.0), 1.2) * 1.02)
    figure = panels[0].get_figure(root=True)
    figure.supxlabel("rows predicted, per positive (P)", fontsize=10, color=theme.text_color)
    figure.legend(
        handles=_legend_handles(theme),
        loc="outside upper center",
        ncols=3 if len(panels) > 1 else 1,
        frameon=False,
        fontsize=9,
        labelcolor=theme.text_color,
    )


def _legend_handles(theme: Theme) -> list[Any]:
    """Return the lines of the legend: one for each of the two curves and one for the threshold."""
    from matplotlib.lines import Line2D

    observed: dict[str, Any] = {"linewidth": 0.9, "marker": ".", "markersize": 4}
    selected: dict[str, Any] = {"linewidth": 1, "linestyle": ":", "marker": "o"}
    return [
        Line2D([], [], label="observed on these rows", color=theme.muted_color, **observed),
        Line2D([], [], label="expected on new rows", color=theme.text_color, linewidth=2.2),
        Line2D([], [], label="selected threshold", color=theme.text_color, **selected),
    ]
