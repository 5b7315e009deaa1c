"""What all plots share: an entry in the catalogue, colours, names and their places.

Warm colours are rare labels and cool colours frequent ones, everywhere. The hues are those of Okabe
and Ito, which colour-blind people can tell apart; the two groups also differ in lightness or shape
wherever they meet.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.optional import import_optional_dependency
from scumble._core.registry import register
from scumble._core.text import escape_controls, shorten
from scumble.measures.summary import Summary, characterize

F = TypeVar("F", bound=Callable[..., Any])
#: Inches across and down.
Size = tuple[float, float]

#: Letters of a name that are written; wide ones count twice.
LONGEST_NAME = 28
#: Width of a letter of a title, in inches, with something to spare.
LETTER = 0.095
#: The luminance below which a page counts as dark.
DARK_BELOW = 0.4


@dataclass(frozen=True, slots=True)
class Plot:
    """What the catalogue knows of a plot.

    Parameters
    ----------
    name : str
        How users spell it on the command line.
    title : str
        What it shows, in a few words.
    alias : str
        What mldr calls it, or nothing.
    function : callable
        Draws it: takes a data set, returns matplotlib axes.

    Examples
    --------
    >>> from scumble import catalogue
    >>> chord = catalogue.get("register_plot", "chord")
    >>> chord.title, chord.alias
    ('which labels share instances', 'LC')
    """

    name: str
    title: str
    alias: str
    function: Callable[..., Any]


def register_plot(name: str, *, title: str, alias: str = "") -> Callable[[F], F]:
    """Register a function that draws a data set and return it untouched."""

    def enter(function: F) -> F:
        entry = Plot(name, title, alias, function)
        register("plot", name, entry, display_group="Of a data set", description=title)
        return function

    return enter


def as_summary(data: Any) -> Summary:
    """Return the measures of a data set, or of labels; a summary is one already."""
    return data if isinstance(data, Summary) else characterize(data)


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a picture."""

    background_color: str
    text_color: str
    muted_color: str
    line_color: str
    rare_colors: tuple[str, ...]  # colours of minority labels, used in turns
    frequent_colors: tuple[str, ...]  # and of majority labels
    colormap: str  # name of matplotlib's map for amounts

    def style_axes(self, ax: Any) -> None:
        """Give axes the colours of the theme, and no more lines than needed."""
        ax.set_facecolor("none")
        ax.tick_params(colors=self.muted_color, which="both")
        for text in (ax.xaxis.label, ax.yaxis.label, ax.title):
            text.set_color(self.text_color)
        for side, spine in ax.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(self.line_color)

    def name_rows(self, ax: Any, places: Any, names: Sequence[str], is_rare: Any) -> None:
        """Write names beside rows, those of rare labels in bold; refuse to rename other axes'."""
        # Axes that were made with `sharey` have one set of names for all.
        shown = [display_name(name, 36) for name in names]
        others = [other for other in ax.get_shared_y_axes().get_siblings(ax) if other is not ax]
        if any(other.has_data() for other in others):
            known = [ax.yaxis.get_major_formatter()(place, at) for at, place in enumerate(places)]
            if known != shown:
                raise ParameterError(
                    "These axes share their names with others, which show other labels or another "
                    "order. Make them without sharey."
                )
        ax.set_yticks(places, shown, parse_math=False, fontsize=9, color=self.text_color)
        ax.tick_params(axis="y", length=0)
        set_bold(ax.get_yticklabels(), is_rare)

    def name_cells(
        self, ax: Any, across: list[str], down: list[str], size: float, **turned: Any
    ) -> None:
        """Write names below columns and beside rows of cells, which need no frame."""
        style = {"parse_math": False, "fontsize": size, "color": self.text_color}
        ax.set_xticks(np.arange(len(across)), across, **turned, **style)
        ax.set_yticks(np.arange(len(down)), down, **style)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)

    def mark_line(
        self, ax: Any, at: float, text: str, shift: tuple[int, int], **style: Any
    ) -> None:
        """Draw a line at a place of the x axis; its meaning stands beside one end of it."""
        side = "left" if shift[0] > 0 else "right"
        height, end = (1, "top") if shift[1] < 0 else (0, "bottom")
        ax.axvline(at, color=self.text_color, linewidth=1, linestyle="--")
        style = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", **style}
        ax.annotate(text, (at, height), shift, ha=side, va=end, color=self.text_color, **style)

    def legend_below(self, ax: Any, depth: float, n_columns: int, **style: Any) -> None:
        """Explain marks below the axes, so far down as a part of their height."""
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, depth), "ncols": n_columns}
        ax.legend(frameon=False, labelcolor=self.text_color, fontsize=9, **place, **style)


LIGHT = Theme(
    background_color="#ffffff",
    text_color="#1c2024",
    muted_color="#667079",
    line_color="#b9c1c8",
    rare_colors=("#d55e00", "#e69f00"),
    frequent_colors=("#0072b2", "#56b4e9", "#009e73"),
    colormap="Blues",
)
DARK = Theme(
    background_color="#15181b",
    text_color="#e6e9ec",
    muted_color="#98a2ab",
    line_color="#4a535b",
    rare_colors=("#f28e4b", "#f5c04a"),
    frequent_colors=("#4fa3e0", "#9bd4f5", "#3fc79b"),
    colormap="cividis",
)


def prepare_axes(ax: Any, dark: bool | None, *, size: Size, purpose: str) -> tuple[Any, Theme]:
    """Return the axes to draw on, and the colours to draw with."""
    if ax is None:
        ax = new_figure(size, dark, purpose=purpose).add_subplot()
    theme = theme_for(ax, dark)
    theme.style_axes(ax)
    return ax, theme


def new_figure(
    size: Size, dark: bool | None = None, *, pads: Size = (0.12, 0.12), purpose: str
) -> Any:
    """Make a figure, with so much room between its parts, across and down."""
    figure = import_optional_dependency("matplotlib.figure", purpose=purpose, extra="plots")
    whole = figure.Figure(figsize=size, layout="constrained")
    whole.get_layout_engine().set(w_pad=pads[0], h_pad=pads[1])
    if dark is not None:
        whole.set_facecolor((DARK if dark else LIGHT).background_color)
    return whole


def theme_for(ax: Any, dark: bool | None) -> Theme:
    """Return the colours that are asked for, or that suit the background of axes."""
    from matplotlib.colors import to_rgba

    if dark is None:
        red, green, blue, alpha = to_rgba(ax.get_figure(root=True).get_facecolor())
        dark = bool(alpha > 0 and 0.2126 * red + 0.7152 * green + 0.0722 * blue < DARK_BELOW)
    return DARK if dark else LIGHT


def set_bold(names: Iterable[Any], is_rare: Iterable[bool]) -> None:
    """Write the names of rare labels in bold; axes that share their names with others have none."""
    for text, rare in zip(names, is_rare, strict=False):
        text.set_fontweight("bold" if rare else "normal")


def add_title(ax: Any, name: str, what: str) -> None:
    """Write a title: the name of the data set, and what is shown."""
    shown = display_name(name, 30)
    text = f"{shown}: {what}" if shown else what[:1].upper() + what[1:]
    if shown and LETTER * len(text) > ax.get_figure(root=True).get_size_inches()[0]:
        text = f"{shown}\n{what}"
    ax.set_title(text, parse_math=False, fontsize=11)


def check_length(caller: str, what: str, given: Sequence[Any] | Array, n: int, things: str) -> None:
    """Refuse values that are too few or too many for what they belong to."""
    if len(given) != n:
        raise ParameterError(f"{caller} needs {what} for each of {n} {things}. Got {len(given)}.")


def display_name(name: str, width: int = LONGEST_NAME) -> str:
    """Make a name fit for a picture: harmless and not too long."""
    return shorten(escape_controls(name), width)


def spread_positions(wanted: Array, step: float, low: float, high: float) -> Array:
    """Move places apart by as little as possible, in the sense of least squares."""
    steps = step * np.arange(len(wanted))
    first = low + step / 2
    last = max(high - step * (len(wanted) - 0.5), first)
    return np.clip(_never_falling(wanted - steps), first, last) + steps


def _never_falling(values: Array) -> Array:
    """Find the nearest sequence that never falls: neighbours in the wrong order meet midway."""
    pools: list[list[float]] = []  # [mean, size]
    for value in values.tolist():
        pools.append([value, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, size = pools.pop()
            before, n_before = pools[-1]
            pools[-1] = [(before * n_before + mean * size) / (n_before + size), n_before + size]
    return np.repeat([mean for mean, _ in pools], [int(size) for _, size in pools])
