"""Plots that compare: before and after resampling, two methods, two data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scumble._core.errors import ParameterError, ParameterTypeError
from scumble._core.parameters import check_choice, check_count
from scumble._core.registry import registered_objects
from scumble.plots.base import add_title, as_summary, display_name, new_figure, prepare_axes
from scumble.plots.chord_layout import chord_layout

if TYPE_CHECKING:
    from scumble.evaluate import Comparison

#: The measures of labels that can be compared, with their names on the axis.
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
    """Draw a measure of every label before and after resampling.

    Parameters
    ----------
    before, after : Summary, MultilabelDataset, or labels
        The data, with equally many labels. The names are those of ``before``.
    measure : {"scumble", "irlbl", "count"}
        The measure of labels that is compared.
    n_labels : int
        Largest number of labels; those with the largest values before are drawn. Labels without a
        value before are left out.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing: hollow circles for before, filled ones for after.

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
    values_before = first.labels[measure]
    values_after = second.labels[measure]
    order = np.lexsort((np.arange(len(values_before)), -np.nan_to_num(values_before, nan=-1)))
    drawn = order[~np.isnan(values_before[order])][:n_labels]
    size = _figure_size(len(drawn))
    ax, theme = prepare_axes(ax, dark, size=size, purpose="plot_before_after")
    positions = np.arange(len(drawn))
    is_rare = first.labels.is_minority[drawn]
    colors = [theme.rare_colors[0] if rare else theme.frequent_colors[0] for rare in is_rare]
    ax.hlines(
        positions,
        values_before[drawn],
        values_after[drawn],
        color=theme.line_color,
        linewidth=2,
        zorder=1,
    )
    ax.scatter(
        values_before[drawn],
        positions,
        s=34,
        zorder=2,
        facecolors=theme.background_color,
        edgecolors=colors,
        linewidths=1.4,
    )
    ax.scatter(values_after[drawn], positions, s=34, c=colors, linewidths=0, zorder=3)
    names = [first.labels.name[label] for label in drawn]
    theme.set_row_names(ax, positions, names, is_rare)
    ax.set(xlim=(0, None), ylim=(len(drawn) - 0.4, -0.6))
    x_label = f"{MEASURES[measure]}: hollow before, filled after"
    n_hidden = len(values_before) - len(drawn)
    if n_hidden:
        x_label += f"\n{n_hidden:,} labels are not drawn"
    ax.set_xlabel(x_label)
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
    """Draw the F1 of every label for the baseline of a comparison and for another method.

    Parameters
    ----------
    comparison : Comparison
        From `scumble.evaluate.compare`.
    method : str, optional
        The method; by default the best one, or the second one if the baseline is best.
    n_labels : int
        Largest number of labels; those that change most are drawn.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing: a hollow circle for the baseline, a filled triangle for the
        method, pointing up if the label gains. Numbers after names are training rows.

    Examples
    --------
    >>> import scumble
    >>> from scumble.plots import plot_gains
    >>> data = scumble.make_multilabel(300, 8, mean_ir=10, scumble=0.1, random_state=0)
    >>> comparison = scumble.evaluate.compare(data, ["br", "rare"], folds="1x3", random_state=0)
    >>> ax = plot_gains(comparison)
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
    largest_gains = sorted(gains, key=lambda gain: -abs(gain["gain"]))[:n_labels]
    drawn_gains = sorted(largest_gains, key=lambda gain: (gain["gain"], gain["name"]))
    size = _figure_size(len(drawn_gains))
    ax, theme = prepare_axes(ax, dark, size=size, purpose="plot_gains")
    positions = list(range(len(drawn_gains)))
    before = [gain["before"] for gain in drawn_gains]
    after = [gain["after"] for gain in drawn_gains]
    ax.hlines(positions, before, after, color=theme.line_color, linewidth=2, zorder=1)
    ax.scatter(
        before,
        positions,
        label=comparison.baseline,
        zorder=2,
        s=30,
        facecolors=theme.background_color,
        edgecolors=theme.text_color,
        linewidths=1.2,
    )
    directions = (
        (1, "^", theme.rare_colors[0], "gains"),
        (-1, "v", theme.frequent_colors[0], "loses"),
    )
    for sign, marker, color, verb in directions:
        # Positions of the labels that change in this direction.
        changed = [position for position in positions if drawn_gains[position]["gain"] * sign > 0]
        if changed:
            ax.scatter(
                [after[position] for position in changed],
                changed,
                label=f"{method}: {verb}",
                s=40,
                c=color,
                marker=marker,
                linewidths=0,
                zorder=3,
            )
    names = [
        f"{display_name(gain['name'], 32)} ({gain['training_positives']:,.0f})"
        for gain in drawn_gains
    ]
    ax.set_yticks(positions, names, fontsize=9, parse_math=False)
    ax.set(xlabel="F1, counts of all folds added up", xlim=(-0.02, 1.02))
    ax.set_ylim(-0.8, len(drawn_gains) - 0.2)
    height = ax.get_position().height * ax.get_figure(root=True).get_figheight()
    theme.add_legend_below(ax, -0.55 / height, 3)
    description = "what labels gain"
    if len(drawn_gains) < len(gains):
        description += f", {len(drawn_gains)} of {len(gains)} labels"
    add_title(ax, comparison.data, description)
    return ax


def _figure_size(n_rows: int) -> tuple[float, float]:
    """Return width and height in inches of a figure with ``n_rows`` rows, one for each label."""
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
    """Draw the same plot of two data sets, side by side.

    Parameters
    ----------
    before, after : MultilabelDataset, or labels
        The data.
    kind : str
        Name of a plot, see ``scumble.catalogue.names("plot")``.
    titles : tuple of str
        The titles of the two plots.
    dark : bool, optional
        Whether to use light colors on a dark background.
    **options
        Further options of the plot.

    Returns
    -------
    tuple of two matplotlib Axes
        The axes, of one figure. Axes with numbers have the same range.

    Examples
    --------
    >>> from scumble.plots import plot_pair
    >>> left, right = plot_pair([["a"], ["a", "b"]], [["a"], ["b"]], "cardinality")
    >>> left.get_ylim() == right.get_ylim()
    True
    """
    plots = registered_objects("plot")
    check_choice(kind, tuple(plots), name="kind", caller="plot_pair")
    draw = plots[kind].function
    if kind == "chord":
        options = _chord_options(before, options)
    single_ax = draw(before, dark=dark, **options)  # drawn for its size only
    width, height = single_ax.figure.get_size_inches()
    figure = new_figure((2 * width, height + 0.3), dark, pads=(0.15, 0.12), purpose="plot_pair")
    left, right = figure.subplots(1, 2)
    for ax, data, title in zip((left, right), (before, after), titles, strict=True):
        draw(data, ax=ax, dark=dark, **options)
        ax.set_title(f"{display_name(title, 30)}\n{ax.get_title()}", parse_math=False, fontsize=11)
    if left.axison and not left.images:
        _set_same_range(left, right)
    return left, right


def _chord_options(before: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return options of `plot_chord` that give both data sets the same labels, order and colors.

    ``options`` are those that the user passed. If they do not name the labels to draw, these are
    selected on the data before resampling.
    """
    layout_before = chord_layout(before, **options)
    if options.get("labels") is None:
        # The labels are selected once, so the options that select them are left out.
        options = {key: value for key, value in options.items() if key == "max_ribbons"}
        options["labels"] = [arc.label for arc in layout_before.arcs]
        options["keep_order"] = True
    return {**options, "like": layout_before}


def _set_same_range(left: Any, right: Any) -> None:
    """Set the limits of both axes to the smallest range that holds both, for x and for y.

    Inverted ranges are not changed: they belong to names, which are drawn from top to bottom.
    """
    x_lows, x_highs = zip(left.get_xlim(), right.get_xlim(), strict=True)
    if x_lows[0] <= x_highs[0]:
        for ax in (left, right):
            ax.set_xlim(min(x_lows), max(x_highs))
    y_lows, y_highs = zip(left.get_ylim(), right.get_ylim(), strict=True)
    if y_lows[0] <= y_highs[0]:
        for ax in (left, right):
            ax.set_ylim(min(y_lows), max(y_highs))
