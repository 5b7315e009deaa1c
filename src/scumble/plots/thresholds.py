"""What every possible threshold of a label gives, and which one was taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scumble._core.errors import ParameterError, ParameterTypeError
from scumble._core.validation import check_count
from scumble.measures.imbalance import minority_from_ratios, ratios_from_counts
from scumble.plots.base import Theme, check_length, display_name, new_figure, theme_for
from scumble.plots.chord_layout import find_label_indices

if TYPE_CHECKING:
    from scumble.learn import ThresholdCurve

#: Panels in a row at the most.
ACROSS = 3
PANEL = (2.9, 2.2)


def plot_thresholds(
    fitted: Any,
    labels: Sequence[Any] | None = None,
    *,
    names: Sequence[str] | None = None,
    n_labels: int = 9,
    figure: Any = None,
    dark: bool | None = None,
) -> tuple[Any, ...]:
    """Draw for some labels what every possible threshold gives, and which one was taken.

    From left to right more rows are predicted. The thin line is the metric of the rows the
    threshold was chosen from, which jumps where positives are few; the strong one is what the rule
    expects of new rows. Its highest point is taken.

    Parameters
    ----------
    fitted : ThresholdedClassifier, or list of ThresholdCurve
        A fitted classifier, or what `scumble.learn.threshold_curves` gives.
    labels : sequence of int or str, optional
        Which labels, by number or name. By default ``n_labels`` of those that had a choice, in
        equal steps from the rarest to the most frequent.
    names : sequence of str, optional
        Names of all labels; by default those the classifier was fitted with.
    n_labels : int
        How many to draw where ``labels`` does not say.
    figure : matplotlib Figure, optional
        The figure to draw on; by default a new one.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    tuple of matplotlib Axes
        One for each label, of one figure. Warm colors are minority labels, cool ones majority.

    See Also
    --------
    scumble.learn.threshold_curves : The numbers.

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
    curves = _curves(fitted)
    known = _names(fitted, names, len(curves))
    chosen = _spread(curves, n_labels) if labels is None else _asked(labels, known)
    panels, theme = _panels(len(chosen), figure, dark)
    rare = minority_from_ratios(ratios_from_counts(np.array([c.n_positives for c in curves])))
    for ax, at in zip(panels, chosen, strict=True):
        color = theme.rare_colors[0] if rare[at] else theme.frequent_colors[0]
        _draw(ax, theme, curves[at], color)
        title = f"{display_name(known[at], 22)}, P = {curves[at].n_positives:,}"
        ax.set_title(title, parse_math=False, fontsize=10)
    _finish(panels, theme, [curves[at] for at in chosen])
    metric = getattr(fitted, "metric", "F")
    title = metric.upper() if isinstance(metric, str) else "F"
    panels[0].get_figure(root=True).supylabel(title, fontsize=10, color=theme.text_color)
    return tuple(panels)


def _curves(fitted: Any) -> list[ThresholdCurve]:
    curves = getattr(fitted, "curves_", fitted)
    found = list(curves) if isinstance(curves, Sequence) else []
    if not found or not all(hasattr(curve, "n_predicted") for curve in found):
        raise ParameterTypeError(
            "plot_thresholds: expected a fitted ThresholdedClassifier, or the list that "
            f"threshold_curves gives. Got {type(fitted).__name__} instead"
            + ("." if found or hasattr(fitted, "curves_") else ": call fit first, or give curves.")
        )
    return found


def _names(fitted: Any, names: Sequence[str] | None, n_labels: int) -> list[str]:
    given = getattr(fitted, "label_names_", None) if names is None else names
    if given is None:
        return [f"label {at}" for at in range(n_labels)]
    check_length("plot_thresholds", "a name", given, n_labels, "labels")
    return [str(name) for name in given]


def _spread(curves: Sequence[ThresholdCurve], n_labels: int) -> list[int]:
    """Choose labels in equal steps of rank, the rarest first."""
    able = [at for at, curve in enumerate(curves) if len(curve.thresholds)]
    if not able:
        raise ParameterError(
            "plot_thresholds: no label has a threshold to draw. Expected labels with positives "
            "whose scores differ."
        )
    order = sorted(able, key=lambda at: curves[at].n_positives)
    steps = np.linspace(0, len(order) - 1, min(n_labels, len(order))).round().astype(int)
    return [order[step] for step in steps]


def _asked(labels: Sequence[Any], names: list[str]) -> list[int]:
    found: list[int] = find_label_indices(labels, names).tolist()
    if not found:
        raise ParameterError("The 'labels' parameter of plot_thresholds is empty. Expected labels.")
    return found


def _panels(n_panels: int, figure: Any, dark: bool | None) -> tuple[list[Any], Theme]:
    across = 2 if n_panels == 4 else min(ACROSS, n_panels)
    down = -(-n_panels // across)
    if figure is None:
        size = (max(PANEL[0] * across, 3.6) + 0.4, PANEL[1] * down + 0.8)
        figure = new_figure(size, dark, pads=(0.08, 0.08), purpose="plot_thresholds")
    grid = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel()
    for ax in grid[n_panels:]:
        ax.remove()
    theme = theme_for(grid[0], dark)
    for ax in grid[:n_panels]:
        theme.style_axes(ax)
    for ax in grid[max(n_panels - across, 0) : n_panels]:  # the lowest of each column
        ax.tick_params(labelbottom=True)
    return list(grid[:n_panels]), theme


def _draw(ax: Any, theme: Theme, curve: ThresholdCurve, color: str) -> None:
    if not len(curve.thresholds):
        ax.text(2, 0.5, "no threshold to choose", color=theme.muted_color, ha="center", fontsize=9)
        return
    rates = curve.n_predicted / curve.n_positives
    marker = "." if len(rates) <= 60 else ""
    ax.plot(
        rates, curve.observed, color=theme.muted_color, linewidth=0.9, marker=marker, markersize=4
    )
    ax.plot(rates, curve.expected, color=color, linewidth=2.2, zorder=3)
    if curve.chosen >= 0:
        at = (rates[curve.chosen], curve.expected[curve.chosen])
        _mark(ax, theme, at, curve.thresholds[curve.chosen], color)


def _mark(ax: Any, theme: Theme, at: tuple[float, float], threshold: float, color: str) -> None:
    """Mark the threshold that was taken; its value stands at the foot of the line."""
    ax.plot([at[0]] * 2, [0, at[1]], color=color, linewidth=1, linestyle=":", zorder=2)
    dot = {
        "marker": "o",
        "markersize": 7,
        "color": color,
        "markeredgecolor": theme.background_color,
    }
    ax.plot(*at, zorder=4, clip_on=False, **dot)
    text = f"≥ {threshold:.3g}" if np.isfinite(threshold) else "all rows"
    side, shift = ("right", -4) if at[0] > 2.6 else ("left", 4)
    style = {"ha": side, "va": "bottom", "color": theme.text_color, "fontsize": 8.5}
    ax.annotate(text, (at[0], 0), (shift, 3), textcoords="offset points", **style)


def _finish(panels: list[Any], theme: Theme, curves: list[ThresholdCurve]) -> None:
    """Give all panels the same numbers, and the figure its words."""
    values = [y.max(initial=0.0) for curve in curves for y in (curve.observed, curve.expected)]
    rates = [curve.n_predicted[-1] / curve.n_positives for curve in curves if len(curve.hits)]
    panels[0].set_ylim(0, max(1.08 * max(values), 0.1))
    panels[0].set_xlim(0, max([min(max(rates, default=4.0), 5.0), 1.2]) * 1.02)
    figure = panels[0].get_figure(root=True)
    figure.supxlabel("rows predicted, per positive (P)", fontsize=10, color=theme.text_color)
    style = {"frameon": False, "fontsize": 9, "labelcolor": theme.text_color}
    columns = 3 if len(panels) > 1 else 1
    figure.legend(handles=_samples(theme), loc="outside upper center", ncols=columns, **style)


def _samples(theme: Theme) -> list[Any]:
    from matplotlib.lines import Line2D

    thin: dict[str, Any] = {"linewidth": 0.9, "marker": ".", "markersize": 4}
    taken: dict[str, Any] = {"linewidth": 1, "linestyle": ":", "marker": "o"}
    return [
        Line2D([], [], label="on the rows at hand", color=theme.muted_color, **thin),
        Line2D([], [], label="expected of new rows", color=theme.text_color, linewidth=2.2),
        Line2D([], [], label="threshold taken", color=theme.text_color, **taken),
    ]
