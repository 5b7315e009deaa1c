"""Plots of experiments: differences between methods, and SCUMBLE against their effect."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble.evaluate.statistics import NemenyiResult, nemenyi
from scumble.plots.base import Theme, add_title, check_length, display_name, prepare_axes


def plot_critical_difference(
    result: Any,
    names: Sequence[str] | None = None,
    *,
    metric: str | None = None,
    alpha: float = 0.05,
    ax: Any = None,
    dark: bool | None = None,
) -> Any:
    """Draw a critical difference diagram: mean ranks, and bars over methods without a difference.

    Parameters
    ----------
    result : NemenyiResult or results
        The result of `scumble.evaluate.statistics.nemenyi`, or results that it accepts: a store, a
        DataFrame or a file.
    names : sequence of str, optional
        Names of the methods; by default those of the results.
    metric : str, optional
        The metric to compare.
    alpha : float
        Significance level of the test.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing; better methods are on the left.

    Examples
    --------
    >>> from scumble.evaluate.statistics import nemenyi
    >>> from scumble.plots.statistics import plot_critical_difference
    >>> scores = [[0.9, 0.8, 0.1], [0.8, 0.7, 0.2], [0.7, 0.8, 0.3]] * 4
    >>> ax = plot_critical_difference(nemenyi(scores), ["BR", "CC", "LP"])
    >>> [text.get_text() for text in ax.texts][3:6]
    ['BR  1.33', 'CC  1.67', 'LP  3.00']
    """
    if not isinstance(result, NemenyiResult):
        result = nemenyi(result, metric=metric, alpha=alpha)
    names = result.methods if names is None else names
    ranks = np.asarray(result.mean_ranks)
    check_length(
        names,
        len(ranks),
        caller="plot_critical_difference",
        description="a name",
        owners="methods",
    )
    height = 1.6 + 0.28 * (len(ranks) / 2 + len(result.groups))
    ax, theme = prepare_axes(ax, dark, size=(8.0, height), purpose="plot_critical_difference")
    _draw_rank_axis(ax, theme, len(ranks))
    lowest_y = _draw_methods(ax, theme, ranks, names, len(result.groups))
    for level, group in enumerate(result.groups, 1):
        group_ranks = ranks[list(group)]
        ax.plot(
            [group_ranks.min() - 0.03, group_ranks.max() + 0.03],
            [-0.32 * level] * 2,
            solid_capstyle="round",
            lw=4,
            c=theme.frequent_colors[0],
        )
    width = result.critical_difference
    ax.plot([1, 1 + width], [0.75] * 2, lw=1.5, c=theme.rare_colors[0])
    ax.text(
        1 + width / 2,
        0.82,
        f"critical difference {width:.2f}",
        ha="center",
        va="bottom",
        color=theme.text_color,
        fontsize=9,
    )
    ax.set(xlim=(0.2, len(ranks) + 0.8), ylim=(lowest_y - 0.3, 1.5))
    ax.set_axis_off()
    return ax


def plot_change(
    datasets: Sequence[str],
    scumble: Sequence[float],
    changes: Mapping[str, Sequence[float]],
    *,
    title: str = "SCUMBLE and the change by resampling",
    ax: Any = None,
    dark: bool | None = None,
) -> Any:
    """Draw SCUMBLE as points and relative changes as bars, with logarithmic trend lines.

    Parameters
    ----------
    datasets : sequence of str
        Names of the data sets, from left to right.
    scumble : sequence of float
        SCUMBLE of each data set.
    changes : mapping of str to sequence of float
        Name of each series of bars, with the relative change of each data set: 0.1 for 10 % more.
    title : str
        The title.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing.
    """
    columns = {name: np.asarray(values, dtype=float) for name, values in changes.items()}
    scores = np.asarray(scumble, dtype=float)
    for name, values in {"SCUMBLE": scores, **columns}.items():
        check_length(
            values,
            len(datasets),
            caller="plot_change",
            description=f"a value of {name!r}",
            owners="data sets",
        )
    ax, theme = prepare_axes(ax, dark, size=(8.0, 4.6), purpose="plot_change")
    positions = np.arange(1, len(datasets) + 1)
    trend_positions = np.linspace(1, max(len(datasets), 2), 60)
    width = 0.7 / max(len(columns), 1)
    colors = (*theme.frequent_colors, *theme.rare_colors[1:])
    for number, (name, values) in enumerate(columns.items()):
        color = colors[number % len(colors)]
        shift = (number - (len(columns) - 1) / 2) * width
        ax.bar(positions + shift, values, width * 0.9, color=color, alpha=0.75, label=name)
        ax.plot(trend_positions, log_trend(values, trend_positions), ls="--", lw=1.3, color=color)
    ax.plot(positions, scores, "o", color=theme.rare_colors[0], label="SCUMBLE")
    ax.plot(trend_positions, log_trend(scores, trend_positions), lw=1.6, color=theme.rare_colors[0])
    ax.axhline(0, lw=0.8, color=theme.line_color)
    ax.set_xticks(positions, [display_name(name, 14) for name in datasets], parse_math=False)
    ax.set_ylabel("SCUMBLE, and relative change")
    ax.legend(frameon=False, labelcolor=theme.text_color, fontsize=9)
    add_title(ax, "", title)
    return ax


def plot_intervals(
    names: Sequence[str],
    series: Mapping[str, Sequence[tuple[float, float, float]]],
    *,
    title: str = "Changes and their intervals",
    ax: Any = None,
    dark: bool | None = None,
) -> Any:
    """Draw means with their intervals: a row for each name, a marker for each series.

    A line marks 0, no change.

    Parameters
    ----------
    names : sequence of str
        Names of the rows, from top to bottom.
    series : mapping of str to sequence of (float, float, float)
        Name of each series, with the mean and the lower and upper end of its interval for each
        row. A mean that is NaN is not drawn.
    title : str
        The title.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing.
    """
    for name, values in series.items():
        check_length(
            values,
            len(names),
            caller="plot_intervals",
            description=f"a value of {name!r}",
            owners="names",
        )
    size = (8.0, 1.4 + 0.13 * len(names) * (len(series) + 1))
    ax, theme = prepare_axes(ax, dark, size=size, purpose="plot_intervals")
    ax.axvline(0, lw=1.0, color=theme.line_color, zorder=0)
    colors = (theme.rare_colors[0], theme.frequent_colors[0], theme.text_color)
    markers = "osD^vX"
    for number, (name, values) in enumerate(series.items()):
        color = colors[number % len(colors)]
        marker = markers[number % len(markers)]
        shift = ((number + 1) / (len(series) + 1) - 0.5) * 0.9
        table = np.asarray(values, dtype=float).reshape(-1, 3)
        positions = np.arange(len(names)) + shift
        has_value = ~np.isnan(table[:, 0])
        means, lows, highs = table[has_value].T
        ax.scatter(means, positions[has_value], s=26, c=color, marker=marker, label=name, zorder=2)
        ax.hlines(positions[has_value], lows, highs, color=color, lw=1.3, zorder=1)
    for row in range(1, len(names)):
        ax.axhline(row - 0.5, lw=0.5, color=theme.line_color)
    ax.set_yticks(
        np.arange(len(names)), [display_name(name, 26) for name in names], parse_math=False
    )
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    theme.add_legend_below(ax, -0.05, min(len(series), 6), columnspacing=1.2)
    add_title(ax, "", title)
    return ax


def plot_choices(
    values: Any,
    situations: Sequence[str],
    methods: Sequence[str],
    *,
    tolerance: float = 0.01,
    title: str = "Which method when",
    ax: Any = None,
    dark: bool | None = None,
) -> Any:
    """Draw a table of values with a row for each situation and a column for each method.

    Higher values are better. The color of a cell shows its value as a share of the best value of
    its row.

    Parameters
    ----------
    values : array-like of shape (n_situations, n_methods)
        The values. Cells that are NaN stay empty.
    situations, methods : sequence of str
        Names of the rows and of the columns.
    tolerance : float
        The best value of a row has a solid frame; values that are at most this much lower have a
        dotted one.
    title : str
        The title.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing.
    """
    table = np.asarray(values, np.float64)
    if table.shape != (len(situations), len(methods)):
        raise ParameterError(
            f"plot_choices needs a value for each of {len(situations)} situations and "
            f"{len(methods)} methods. Got an array of shape {table.shape}."
        )
    size = (2.6 + 0.72 * len(methods), 1.5 + 0.34 * len(situations))
    ax, theme = prepare_axes(ax, dark, size=size, purpose="plot_choices")
    best = np.nanmax(np.where(np.isnan(table), -np.inf, table), axis=1, keepdims=True)
    shares = np.divide(table, best, out=np.zeros_like(table), where=best > 0)
    ax.imshow(shares, cmap=theme.colormap, vmin=0, vmax=1.6, aspect="auto")
    for row, column in np.argwhere(np.isfinite(table)):
        value = table[row, column]
        best_value = best[row, 0]
        is_best = value == best_value
        _write_cell(ax, theme, row=row, column=column, value=value, is_best=is_best)
        if value >= best_value - tolerance:
            _frame_cell(ax, theme, row=row, column=column, is_best=is_best)
    column_names = [display_name(name, 26) for name in methods]
    row_names = [display_name(name, 44) for name in situations]
    theme.set_table_names(ax, column_names, row_names, 9, rotation=40, ha="right")
    add_title(ax, "", title)
    return ax


def log_trend(values: Any, positions: Any) -> Array:
    """Return the trend ``a + b ln(position)`` at some positions.

    It is fitted by least squares to ``values``, which are at positions 1, 2, and so on. The trend
    of a single value is constant, that of no value NaN.
    """
    values = np.asarray(values, dtype=float)
    logs = np.log(np.asarray(positions, dtype=float))
    if len(values) < 2:
        return np.full(logs.shape, values[0] if len(values) else np.nan)
    slope, intercept = np.polyfit(np.log(np.arange(1, len(values) + 1)), values, 1)
    return np.asarray(intercept + slope * logs)


def _draw_rank_axis(ax: Any, theme: Theme, n_methods: int) -> None:
    """Draw the axis of mean ranks, from 1 to ``n_methods``, with a tick at every whole rank."""
    ax.plot([1, n_methods], [0, 0], lw=1.2, c=theme.text_color)
    for rank in range(1, n_methods + 1):
        ax.plot([rank, rank], [0, 0.12], lw=1.2, c=theme.text_color)
        ax.annotate(
            str(rank), (rank, 0.16), ha="center", va="bottom", color=theme.muted_color, fontsize=9
        )


def _draw_methods(
    ax: Any, theme: Theme, ranks: Array, names: Sequence[str], n_groups: int
) -> float:
    """Write names and mean ranks, the better half of the methods on the left, the others right.

    A line leads from each name to its rank on the axis. ``n_groups`` bars are drawn between the
    axis and the names. Returns the y coordinate of the lowest name.
    """
    order = np.argsort(ranks, kind="stable")
    n_left = (len(order) + 1) // 2
    top = -0.32 * n_groups - 0.4
    for position, method in enumerate(order):
        if position < n_left:
            text_x = 0.9
            text_y = top - 0.45 * position
            alignment = "right"
        else:
            text_x = len(ranks) + 0.1
            text_y = top - 0.45 * (len(order) - 1 - position)
            alignment = "left"
        rank = ranks[method]
        ax.plot([rank, rank, text_x], [0, text_y, text_y], lw=0.9, c=theme.muted_color)
        ax.text(
            text_x,
            text_y,
            f"{display_name(names[method])}  {rank:.2f}",
            ha=alignment,
            va="center",
            color=theme.text_color,
            fontsize=9,
            parse_math=False,
        )
    return top - 0.45 * (n_left - 1)


def _write_cell(
    ax: Any, theme: Theme, *, row: int, column: int, value: float, is_best: bool
) -> None:
    """Write a value with two decimals into a cell of the table, in bold if it is the best."""
    ax.text(
        column,
        row,
        f"{value:.2f}".replace("0.", ".", 1),
        ha="center",
        va="center",
        fontsize=9,
        color=theme.text_color,
        fontweight="bold" if is_best else "normal",
    )


def _frame_cell(ax: Any, theme: Theme, *, row: int, column: int, is_best: bool) -> None:
    """Draw a frame around a cell of the table, solid if its value is the best, else dotted."""
    from matplotlib.patches import Rectangle

    corner = (column - 0.46, row - 0.44)
    frame = Rectangle(corner, 0.92, 0.88, fill=False, ec=theme.rare_colors[0])
    frame.set(lw=2.0 if is_best else 1.2, ls="-" if is_best else ":")
    ax.add_patch(frame)
