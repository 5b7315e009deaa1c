"""Before and after a treatment, by one method and by another, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scumble._core.errors import ParameterError, ParameterTypeError
from scumble._core.registry import registered_objects
from scumble._core.validation import check_choice, check_count
from scumble.plots.base import add_title, as_summary, display_name, new_figure, prepare_axes
from scumble.plots.chord_layout import chord_layout

if TYPE_CHECKING:
    from scumble.evaluate import Comparison

#: The measures of labels that can be compared, and what to call them.
MEASURES = {"scumble": "SCUMBLELbl", "irlbl": "IRLbl", "count": "instances"}


def plot_before_after(
    before: Any,
    after: Any,
    *,
    measure: str = "scumble",
    n_labels: int = 30,
    ax: Any = None,
    dark: bool | None = None,
) -> Any:
    """Draw for every label where a measure stood before a treatment and where it stands after.

    Parameters
    ----------
    before, after : Summary, MultilabelDataset, or labels
        The data, with the same labels.
    measure : {"scumble", "irlbl", "count"}
        The measure of labels that is compared.
    n_labels : int
        How many labels to draw at the most, those with the largest values before.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Light ink on a dark page; by default as the figure's background asks.

    Returns
    -------
    matplotlib Axes
        With the drawing: a hollow circle before, a filled one after.

    Examples
    --------
    >>> from scumble.plots import plot_before_after
    >>> from scumble.resample import REMEDIAL
    >>> before = [[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]]
    >>> _, after = REMEDIAL().fit_resample([[0.0]] * 4, before)
    >>> ax = plot_before_after(before, after)
    >>> ax.collections[1].get_offsets().data.round(3)[:, 0].tolist()  # before, then after
    [0.2, 0.079, 0.057]
    >>> ax.collections[2].get_offsets().data.round(3)[:, 0].tolist()
    [0.0, 0.029, 0.057]
    """
    check_choice(measure, tuple(MEASURES), name="measure", caller="plot_before_after")
    check_count(n_labels, name="n_labels", caller="plot_before_after")
    first, second = as_summary(before), as_summary(after)
    if len(first.labels) != len(second.labels):
        raise ParameterError(
            f"plot_before_after: the two data sets must have the same labels. Got "
            f"{len(first.labels)} labels before and {len(second.labels)} after."
        )
    old, new = first.labels[measure], second.labels[measure]
    order = np.lexsort((np.arange(len(old)), -np.nan_to_num(old, nan=-1)))
    shown = order[~np.isnan(old[order])][:n_labels]
    ax, theme = prepare_axes(ax, dark, size=_size(len(shown)), purpose="plot_before_after")
    places = np.arange(len(shown))
    is_rare = first.labels.is_minority[shown]
    colours = [theme.rare_colors[0] if rare else theme.frequent_colors[0] for rare in is_rare]
    ax.hlines(places, old[shown], new[shown], color=theme.line_color, linewidth=2, zorder=1)
    hollow = {"facecolors": theme.background_color, "edgecolors": colours, "linewidths": 1.4}
    ax.scatter(old[shown], places, s=34, zorder=2, **hollow)
    ax.scatter(new[shown], places, s=34, c=colours, linewidths=0, zorder=3)
    theme.name_rows(ax, places, [first.labels.name[at] for at in shown], is_rare)
    ax.set(xlim=(0, None), ylim=(len(shown) - 0.4, -0.6))
    hidden = len(old) - len(shown)
    more = f"\n{hidden:,} labels are not drawn" if hidden else ""
    ax.set_xlabel(f"{MEASURES[measure]}: hollow before, filled after{more}")
    add_title(ax, first.name, f"SCUMBLE {first.scumble:.4f} → {second.scumble:.4f}")
    return ax


def plot_gains(
    comparison: Comparison,
    method: str | None = None,
    *,
    n_labels: int = 40,
    ax: Any = None,
    dark: bool | None = None,
) -> Any:
    """Draw the F1 of every label by the baseline of a comparison, and by another method.

    Parameters
    ----------
    comparison : Comparison
        From `scumble.evaluate.compare`.
    method : str, optional
        The method; by default the best one, or the second where the baseline is best.
    n_labels : int
        How many labels to draw at the most, those that change most.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Light ink on a dark page; by default as the figure's background asks.

    Returns
    -------
    matplotlib Axes
        With the drawing: a hollow circle for the baseline, a filled triangle for the method,
        upwards where the label gains. Numbers behind names are training rows.

    Examples
    --------
    >>> import scumble
    >>> from scumble.plots import plot_gains
    >>> data = scumble.make_multilabel(300, 8, mean_ir=10, scumble=0.1, random_state=0)
    >>> found = scumble.evaluate.compare(data, ["br", "rare"], folds="1x3", random_state=0)
    >>> ax = plot_gains(found)
    >>> len(ax.get_yticklabels())
    8
    """
    check_count(n_labels, name="n_labels", caller="plot_gains")
    if not hasattr(comparison, "gains"):
        raise ParameterTypeError(
            "plot_gains draws what scumble.evaluate.compare gives. "
            f"Got {type(comparison).__name__} instead."
        )
    if len(comparison.results) < 2:
        raise ParameterError("plot_gains needs a second method to compare with. Got one alone.")
    if method is None:
        best = comparison.best
        method = best if best != comparison.baseline else comparison.results[1].name
    gains = comparison.gains(method)
    changed = sorted(gains, key=lambda row: -abs(row["gain"]))[:n_labels]
    rows = sorted(changed, key=lambda row: (row["gain"], row["name"]))
    ax, theme = prepare_axes(ax, dark, size=_size(len(rows)), purpose="plot_gains")
    places = list(range(len(rows)))
    before, after = ([row[when] for row in rows] for when in ("before", "after"))
    ax.hlines(places, before, after, color=theme.line_color, linewidth=2, zorder=1)
    style = {
        "s": 30,
        "facecolors": theme.background_color,
        "edgecolors": theme.text_color,
        "linewidths": 1.2,
    }
    ax.scatter(before, places, label=comparison.baseline, zorder=2, **style)
    up, down = (1, "^", theme.rare_colors[0], "gains"), (-1, "v", theme.frequent_colors[0], "loses")
    for sign, marker, colour, word in (up, down):
        at = [place for place in places if rows[place]["gain"] * sign > 0]
        if at:
            style = {"s": 40, "c": colour, "marker": marker, "linewidths": 0, "zorder": 3}
            ax.scatter([after[place] for place in at], at, label=f"{method}: {word}", **style)
    names = [f"{display_name(row['name'], 32)} ({row['training_positives']:,.0f})" for row in rows]
    ax.set_yticks(places, names, fontsize=9, parse_math=False)
    ax.set(xlabel="F1, counts of all folds added up", xlim=(-0.02, 1.02))
    ax.set_ylim(-0.8, len(rows) - 0.2)
    below = -0.55 / (ax.get_position().height * ax.get_figure(root=True).get_figheight())
    theme.legend_below(ax, below, 3)
    left = "" if len(rows) == len(gains) else f", {len(rows)} of {len(gains)} labels"
    add_title(ax, comparison.data, f"what labels gain{left}")
    return ax


def _size(n_rows: int) -> tuple[float, float]:
    return 7.5, 1.6 + 0.23 * max(n_rows, 4)


def plot_pair(
    before: Any,
    after: Any,
    kind: str = "instances",
    *,
    titles: tuple[str, str] = ("before", "after"),
    dark: bool | None = None,
    **options: Any,
) -> tuple[Any, Any]:
    """Draw the same picture of two data sets, side by side.

    Parameters
    ----------
    before, after : MultilabelDataset, or labels
        The data.
    kind : str
        Name of a plot, see ``scumble.catalogue.names("plot")``.
    titles : tuple of str
        The titles above the two pictures.
    dark : bool, optional
        Light ink on a dark page.
    **options
        Further options of the plot.

    Returns
    -------
    tuple of two matplotlib Axes
        Of one figure. Axes with numbers have the same range.

    Examples
    --------
    >>> from scumble.plots import plot_pair
    >>> left, right = plot_pair([["a"], ["a", "b"]], [["a"], ["b"]], "cardinality")
    >>> left.get_ylim() == right.get_ylim()
    True
    """
    known = registered_objects("plot")
    check_choice(kind, tuple(known), name="kind", caller="plot_pair")
    draw = known[kind].function
    if kind == "chord":  # the same labels on both sides, in the same colours
        options = _same_chord(before, options)
    alone = draw(before, dark=dark, **options)  # tells how large one picture wants to be
    width, height = alone.figure.get_size_inches()
    figure = new_figure((2 * width, height + 0.3), dark, pads=(0.15, 0.12), purpose="plot_pair")
    left, right = figure.subplots(1, 2)
    for ax, data, title in zip((left, right), (before, after), titles, strict=True):
        draw(data, ax=ax, dark=dark, **options)
        ax.set_title(f"{display_name(title, 30)}\n{ax.get_title()}", parse_math=False, fontsize=11)
    if left.axison and not left.images:
        _same_range(left, right)
    return left, right


def _same_chord(before: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Choose labels and colours by the first of two chord diagrams."""
    like = chord_layout(before, **options)
    if options.get("labels") is None:
        style = {key: value for key, value in options.items() if key == "max_ribbons"}
        options = {**style, "labels": [arc.label for arc in like.arcs], "keep_order": True}
    return {**options, "like": like}


def _same_range(left: Any, right: Any) -> None:
    """Give two axes the same numbers; an axis of names keeps its own."""
    for axis in ("x", "y"):
        lows, highs = zip(*(getattr(ax, f"get_{axis}lim")() for ax in (left, right)), strict=True)
        if lows[0] <= highs[0]:  # else these are names, from top to bottom
            for ax in (left, right):
                ax.set(**{f"{axis}lim": (min(lows), max(highs))})
