"""Pictures of experiments: which methods differ, which to take when, what SCUMBLE foretells."""

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
    """Draw mean ranks on a line, with bars over methods that cannot be told apart.

    Parameters
    ----------
    result : NemenyiResult or results
        From `scumble.evaluate.statistics.nemenyi`; or what that takes: a store, a DataFrame or
        a file.
    names : sequence of str, optional
        Of the methods; by default those of the results.
    metric : str, optional
        Which metric of the results.
    alpha : float
        Level of the test of the results.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing; better methods stand to the left.

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
    check_length("plot_critical_difference", "a name", names, len(ranks), "methods")
    height = 1.6 + 0.28 * (len(ranks) / 2 + len(result.groups))
    ax, theme = prepare_axes(ax, dark, size=(8.0, height), purpose="plot_critical_difference")
    _draw_axis(ax, theme, len(ranks))
    lowest = _draw_methods(ax, theme, ranks, names, len(result.groups))
    for level, group in enumerate(result.groups, 1):
        ends = ranks[list(group)]
        reach, bar = (
            [ends.min() - 0.03, ends.max() + 0.03],
            {"lw": 4, "c": theme.frequent_colors[0]},
        )
        ax.plot(reach, [-0.32 * level] * 2, solid_capstyle="round", **bar)
    width = result.critical_difference
    ax.plot([1, 1 + width], [0.75] * 2, lw=1.5, c=theme.rare_colors[0])
    style = {"ha": "center", "va": "bottom", "color": theme.text_color, "fontsize": 9}
    ax.text(1 + width / 2, 0.82, f"critical difference {width:.2f}", **style)
    ax.set(xlim=(0.2, len(ranks) + 0.8), ylim=(lowest - 0.3, 1.5))
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
    """Draw SCUMBLE beside relative changes, each with a logarithmic trend line."""
    columns = {name: np.asarray(values, dtype=float) for name, values in changes.items()}
    scores = np.asarray(scumble, dtype=float)
    for name, values in {"SCUMBLE": scores, **columns}.items():
        check_length("plot_change", f"a value of {name!r}", values, len(datasets), "data sets")
    ax, theme = prepare_axes(ax, dark, size=(8.0, 4.6), purpose="plot_change")
    positions = np.arange(1, len(datasets) + 1)
    smooth = np.linspace(1, max(len(datasets), 2), 60)
    width = 0.7 / max(len(columns), 1)
    colors = (*theme.frequent_colors, *theme.rare_colors[1:])
    for number, (name, values) in enumerate(columns.items()):
        color = colors[number % len(colors)]
        shift = (number - (len(columns) - 1) / 2) * width
        ax.bar(positions + shift, values, width * 0.9, color=color, alpha=0.75, label=name)
        ax.plot(smooth, log_trend(values, smooth), ls="--", lw=1.3, color=color)
    ax.plot(positions, scores, "o", color=theme.rare_colors[0], label="SCUMBLE")
    ax.plot(smooth, log_trend(scores, smooth), lw=1.6, color=theme.rare_colors[0])
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
    """Draw values with their intervals, names down and one mark for each series; 0 is no change."""
    # A value is a mean with the ends of its interval; one that is NaN stays undrawn.
    for name, values in series.items():
        check_length("plot_intervals", f"a value of {name!r}", values, len(names), "names")
    size = (8.0, 1.4 + 0.13 * len(names) * (len(series) + 1))
    ax, theme = prepare_axes(ax, dark, size=size, purpose="plot_intervals")
    ax.axvline(0, lw=1.0, color=theme.line_color, zorder=0)
    inks = (theme.rare_colors[0], theme.frequent_colors[0], theme.text_color)
    for number, (name, values) in enumerate(series.items()):
        ink, marker = inks[number % len(inks)], "osD^vX"[number % 6]
        shift = ((number + 1) / (len(series) + 1) - 0.5) * 0.9
        table = np.asarray(values, dtype=float).reshape(-1, 3)
        places = np.arange(len(names)) + shift
        known = ~np.isnan(table[:, 0])
        means, lows, highs = table[known].T
        ax.scatter(means, places[known], s=26, c=ink, marker=marker, label=name, zorder=2)
        ax.hlines(places[known], lows, highs, color=ink, lw=1.3, zorder=1)
    for between in range(1, len(names)):
        ax.axhline(between - 0.5, lw=0.5, color=theme.line_color)
    ax.set_yticks(
        np.arange(len(names)), [display_name(name, 26) for name in names], parse_math=False
    )
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    theme.legend_below(ax, -0.05, min(len(series), 6), columnspacing=1.2)
    add_title(ax, "", title)
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
    ax, theme = prepare_axes(ax, dark, size=size, purpose="plot_choices")
    best = np.nanmax(np.where(np.isnan(table), -np.inf, table), axis=1, keepdims=True)
    shares = np.divide(table, best, out=np.zeros_like(table), where=best > 0)
    ax.imshow(shares, cmap=theme.colormap, vmin=0, vmax=1.6, aspect="auto")
    for row, column in np.argwhere(np.isfinite(table)):
        _write(ax, theme, (column, row), table[row, column], best[row, 0], near)
    across, down = (
        [display_name(one, 26) for one in methods],
        [display_name(one, 44) for one in situations],
    )
    theme.name_cells(ax, across, down, 9, rotation=40, ha="right")
    add_title(ax, "", title)
    return ax


def log_trend(values: Any, positions: Any) -> Array:
    """Fit ``a + b ln(position)`` to values at positions 1, 2, ... and evaluate it."""
    values = np.asarray(values, dtype=float)
    where = np.log(np.asarray(positions, dtype=float))
    if len(values) < 2:
        return np.full(where.shape, values[0] if len(values) else np.nan)
    slope, start = np.polyfit(np.log(np.arange(1, len(values) + 1)), values, 1)
    return np.asarray(start + slope * where)


def _draw_axis(ax: Any, theme: Theme, n_methods: int) -> None:
    ax.plot([1, n_methods], [0, 0], lw=1.2, c=theme.text_color)
    for rank in range(1, n_methods + 1):
        ax.plot([rank, rank], [0, 0.12], lw=1.2, c=theme.text_color)
        ax.annotate(
            str(rank), (rank, 0.16), ha="center", va="bottom", color=theme.muted_color, fontsize=9
        )


def _draw_methods(
    ax: Any, theme: Theme, ranks: Array, names: Sequence[str], n_groups: int
) -> float:
    """Hang the better half on the left and the rest on the right; return the lowest height."""
    order = np.argsort(ranks, kind="stable")
    half = (len(order) + 1) // 2
    top = -0.32 * n_groups - 0.4
    style = {"va": "center", "color": theme.text_color, "fontsize": 9, "parse_math": False}
    for at, method in enumerate(order):
        is_left = at < half
        depth = top - 0.45 * (at if is_left else len(order) - 1 - at)
        edge = 0.9 if is_left else len(ranks) + 0.1
        ax.plot(
            [ranks[method], ranks[method], edge], [0, depth, depth], lw=0.9, c=theme.muted_color
        )
        text = f"{display_name(names[method])}  {ranks[method]:.2f}"
        ax.text(edge, depth, text, ha="right" if is_left else "left", **style)
    return top - 0.45 * (half - 1)


def _write(
    ax: Any, theme: Any, place: tuple[int, int], value: float, best: float, near: float
) -> None:
    """Write a value into its cell; frame it where it is the best, or as good as that."""
    from matplotlib.patches import Rectangle

    is_best = value == best
    weight = "bold" if is_best else "normal"
    text = f"{value:.2f}".replace("0.", ".", 1)
    ax.text(
        *place,
        text,
        ha="center",
        va="center",
        fontsize=9,
        color=theme.text_color,
        fontweight=weight,
    )
    if value >= best - near:
        corner = (place[0] - 0.46, place[1] - 0.44)
        frame = Rectangle(corner, 0.92, 0.88, fill=False, ec=theme.rare_colors[0])
        frame.set(lw=2.0 if is_best else 1.2, ls="-" if is_best else ":")
        ax.add_patch(frame)
