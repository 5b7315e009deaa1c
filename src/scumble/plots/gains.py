"""What every label gains by a method, and what it loses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scumble._core.errors import ParameterError, ParameterTypeError
from scumble._core.validation import check_count
from scumble.plots.theme import canvas, entitle, written

if TYPE_CHECKING:
    from scumble.evaluate import Comparison


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
    if len(comparison.trials) < 2:
        raise ParameterError("plot_gains needs a second method to compare with. Got one alone.")
    method = _method(comparison) if method is None else method
    gains = comparison.gains(method)
    changed = sorted(gains, key=lambda row: -abs(row["gain"]))[:n_labels]
    rows = sorted(changed, key=lambda row: (row["gain"], row["name"]))
    size = (7.5, 1.6 + 0.23 * max(len(rows), 4))
    ax, theme = canvas(ax, dark, size=size, purpose="plot_gains")
    places = list(range(len(rows)))
    before, after = ([row[when] for row in rows] for when in ("before", "after"))
    ax.hlines(places, before, after, color=theme.line, linewidth=2, zorder=1)
    style = {"s": 30, "facecolors": theme.page, "edgecolors": theme.ink, "linewidths": 1.2}
    ax.scatter(before, places, label=comparison.baseline, zorder=2, **style)
    for sign, marker, colour, word in (
        (1, "^", theme.rare[0], "gains"),
        (-1, "v", theme.common[0], "loses"),
    ):
        at = [place for place in places if rows[place]["gain"] * sign > 0]
        if at:
            found = [after[place] for place in at]
            name = f"{method}: {word}"
            ax.scatter(found, at, s=40, c=colour, marker=marker, linewidths=0, label=name, zorder=3)
    names = [f"{written(row['name'], 32)} ({row['training_positives']:,.0f})" for row in rows]
    ax.set_yticks(places, names, fontsize=9, parse_math=False)
    ax.set(xlabel="F1, counts of all folds added up", xlim=(-0.02, 1.02))
    ax.set_ylim(-0.8, len(rows) - 0.2)
    below = -0.55 / (ax.get_position().height * ax.get_figure(root=True).get_figheight())
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, below),
        ncols=3,
        frameon=False,
        labelcolor=theme.ink,
        fontsize=9,
    )
    left = "" if len(rows) == len(gains) else f", {len(rows)} of {len(gains)} labels"
    entitle(ax, comparison.data, f"what labels gain{left}")
    return ax


def _method(comparison: Comparison) -> str:
    best = comparison.best
    return best if best != comparison.baseline else comparison.trials[1].name
