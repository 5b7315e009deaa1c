"""What all plots share: registration in the catalogue, colors, titles and names.

Functions take matplotlib axes as ``ax``. Names of labels and data sets come from files, so they
are shortened, and their control characters made visible, before they are drawn (`display_name`).
``is_rare`` is a boolean array: whether each label is a minority label.

Rare labels have warm colors and frequent labels cool ones, in all plots. The hues are those of
Okabe and Ito, which color-blind people can distinguish; where both groups are drawn together, they
differ in lightness or shape as well.
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
#: Width and height in inches.
Size = tuple[float, float]

#: Longest name in a plot, in letters; wide letters, such as Chinese ones, count twice.
MAX_NAME_WIDTH = 28
#: Width of a letter of a title in inches, rounded up: the mean width in the 11 points of a title.
TITLE_LETTER_WIDTH = 0.095
#: A background with a luminance (0 for black, 1 for white) below this is dark: light text has more
#: contrast on it.
MAX_DARK_LUMINANCE = 0.4


@dataclass(frozen=True, slots=True)
class Plot:
    """Entry of a plot in the catalogue.

    Parameters
    ----------
    name : str
        Name on the command line.
    title : str
        A short description.
    alias : str
        Its name in mldr, or an empty text.
    function : callable
        Takes a data set, draws it, and returns matplotlib axes.

    Examples
    --------
    >>> from scumble import catalogue
    >>> chord = catalogue.get("plot", "chord")
    >>> chord.title, chord.alias
    ('which labels share instances', 'LC')
    """

    name: str
    title: str
    alias: str
    function: Callable[..., Any]


def register_plot(name: str, *, title: str, alias: str = "") -> Callable[[F], F]:
    """Return a decorator that adds a function that draws a data set to the catalogue of plots.

    ``name`` is the name of the plot on the command line, ``title`` a short description, and
    ``alias`` its name in mldr. The function itself is not changed.
    """

    def register_function(function: F) -> F:
        """Add the function to the catalogue and return it unchanged."""
        entry = Plot(name, title, alias, function)
        register("plot", name, entry, display_group="Of a data set", description=title)
        return function

    return register_function


def as_summary(data: Any) -> Summary:
    """Return the measures of a data set or of a label matrix; return a `Summary` unchanged."""
    if isinstance(data, Summary):
        return data
    return characterize(data)


@dataclass(frozen=True, slots=True)
class Theme:
    """The colors of a plot, as hexadecimal codes, and functions that draw with them."""

    background_color: str
    text_color: str
    muted_color: str
    line_color: str
    rare_colors: tuple[str, ...]  # of minority labels, used in turns
    frequent_colors: tuple[str, ...]  # of majority labels, used in turns
    colormap: str  # name of a colormap of matplotlib, for amounts

    def style_axes(self, ax: Any) -> None:
        """Apply the colors of the theme to axes, and hide their upper and right border.

        The background of the axes becomes transparent.
        """
        ax.set_facecolor("none")
        ax.tick_params(colors=self.muted_color, which="both")
        for text in (ax.xaxis.label, ax.yaxis.label, ax.title):
            text.set_color(self.text_color)
        for side, spine in ax.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(self.line_color)

    def set_row_names(self, ax: Any, positions: Any, names: Sequence[str], is_rare: Any) -> None:
        """Write names at the ticks of the y axis, those of rare labels in bold.

        ``positions`` are the y coordinates of the names. Axes made with ``sharey`` have the same
        names; if another of these axes already shows different names, raise a ParameterError.
        """
        texts = [display_name(name, 36) for name in names]
        other_axes = [item for item in ax.get_shared_y_axes().get_siblings(ax) if item is not ax]
        if any(item.has_data() for item in other_axes):
            formatter = ax.yaxis.get_major_formatter()
            present_texts = [formatter(position, index) for index, position in enumerate(positions)]
            if present_texts != texts:
                raise ParameterError(
                    "These axes share their names with others, which show other labels or another "
                    "order. Make them without sharey."
                )
        ax.set_yticks(positions, texts, parse_math=False, fontsize=9, color=self.text_color)
        ax.tick_params(axis="y", length=0)
        set_bold(ax.get_yticklabels(), is_rare)

    def set_table_names(
        self,
        ax: Any,
        column_names: list[str],
        row_names: list[str],
        font_size: float,
        **text_options: Any,
    ) -> None:
        """Write the column and row names of a table drawn by ``imshow``, and hide its frame.

        ``font_size`` is in points. ``text_options`` are options of matplotlib for the column names
        only, such as ``rotation``.
        """
        style = {"parse_math": False, "fontsize": font_size, "color": self.text_color}
        ax.set_xticks(np.arange(len(column_names)), column_names, **text_options, **style)
        ax.set_yticks(np.arange(len(row_names)), row_names, **style)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)

    def draw_vertical_line(
        self, ax: Any, x: float, text: str, offset: tuple[int, int], **style: Any
    ) -> None:
        """Draw a dashed vertical line at ``x`` with a text beside its upper or lower end.

        ``offset`` is the distance of the text from that end in points, to the right and upwards. If
        it is negative upwards, the text is below the upper end, otherwise above the lower end.
        ``style`` are further options of matplotlib's ``annotate``.
        """
        horizontal = "left" if offset[0] > 0 else "right"
        y, vertical = (1, "top") if offset[1] < 0 else (0, "bottom")
        ax.axvline(x, color=self.text_color, linewidth=1, linestyle="--")
        style = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", **style}
        ax.annotate(
            text, (x, y), offset, ha=horizontal, va=vertical, color=self.text_color, **style
        )

    def add_legend_below(self, ax: Any, y: float, n_columns: int, **style: Any) -> None:
        """Add a legend below the axes.

        ``y`` is the position of its upper edge in units of the height of the axes: -0.1 is a tenth
        of that height below them. ``style`` are further options of matplotlib's ``legend``.
        """
        ax.legend(
            loc="upper center",
            bbox_to_anchor=(0.5, y),
            ncols=n_columns,
            frameon=False,
            labelcolor=self.text_color,
            fontsize=9,
            **style,
        )


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
    """Return the axes to draw on, with the colors of the theme applied, and the theme.

    If ``ax`` is None, the axes are those of a new figure of ``size``. ``dark`` is as in
    `theme_for`; ``purpose`` is the function that an error names if matplotlib is not installed.
    """
    if ax is None:
        ax = new_figure(size, dark, purpose=purpose).add_subplot()
    theme = theme_for(ax, dark)
    theme.style_axes(ax)
    return ax, theme


def new_figure(
    size: Size, dark: bool | None = None, *, pads: Size = (0.12, 0.12), purpose: str
) -> Any:
    """Return a new matplotlib figure of a size, with the background of a theme.

    If ``dark`` is None, the background is matplotlib's default. ``pads`` are the horizontal and
    vertical space between axes in inches; ``purpose`` is the function that an error names if
    matplotlib is not installed.
    """
    matplotlib_figure = import_optional_dependency(
        "matplotlib.figure", purpose=purpose, extra="plots"
    )
    figure = matplotlib_figure.Figure(figsize=size, layout="constrained")
    figure.get_layout_engine().set(w_pad=pads[0], h_pad=pads[1])
    if dark is not None:
        theme = DARK if dark else LIGHT
        figure.set_facecolor(theme.background_color)
    return figure


def theme_for(ax: Any, dark: bool | None) -> Theme:
    """Return the dark or the light theme; if ``dark`` is None, by the background of the figure.

    A transparent background counts as light.
    """
    from matplotlib.colors import to_rgba

    if dark is None:
        red, green, blue, alpha = to_rgba(ax.get_figure(root=True).get_facecolor())
        dark = bool(
            alpha > 0 and 0.2126 * red + 0.7152 * green + 0.0722 * blue < MAX_DARK_LUMINANCE
        )
    return DARK if dark else LIGHT


def set_bold(texts: Iterable[Any], is_rare: Iterable[bool]) -> None:
    """Set the texts of rare labels in bold and all others in normal weight."""
    # Axes that share their names with others have fewer texts than labels, so not strict.
    for text, is_bold in zip(texts, is_rare, strict=False):
        text.set_fontweight("bold" if is_bold else "normal")


def add_title(ax: Any, name: str, description: str) -> None:
    """Add a title: the name of the data set and a description, or the description alone.

    The name may be empty. If both do not fit into a line, the description is on a second line.
    """
    name = display_name(name, 30)
    if not name:
        title = description[:1].upper() + description[1:]
    else:
        title = f"{name}: {description}"
        width = ax.get_figure(root=True).get_size_inches()[0]
        if TITLE_LETTER_WIDTH * len(title) > width:
            title = f"{name}\n{description}"
    ax.set_title(title, parse_math=False, fontsize=11)


def check_length(
    values: Sequence[Any] | Array, n_expected: int, *, caller: str, description: str, owners: str
) -> None:
    """Raise a ParameterError unless ``values`` has ``n_expected`` items.

    The error says that ``caller`` needs ``description`` (such as "a name") for each of
    ``n_expected`` ``owners`` (such as "labels").
    """
    if len(values) != n_expected:
        raise ParameterError(
            f"{caller} needs {description} for each of {n_expected} {owners}. Got {len(values)}."
        )


def display_name(name: str, width: int = MAX_NAME_WIDTH) -> str:
    """Return a name for a plot, at most ``width`` letters long, with visible control characters."""
    return shorten(escape_controls(name), width)


def spread_positions(positions: Array, step: float, low: float, high: float) -> Array:
    """Return positions that are at least ``step`` apart and as near to the given ones as possible.

    ``positions`` are sorted. The sum of squared distances to them is minimal; then the result is
    moved so that it stays half a step within ``low`` and ``high``.
    """
    # Less its multiple of the step, a position need only be at least as large as the one before.
    offsets = step * np.arange(len(positions))
    min_position = low + step / 2
    max_position = max(high - step * (len(positions) - 0.5), min_position)
    return np.clip(_isotonic_fit(positions - offsets), min_position, max_position) + offsets


def _isotonic_fit(values: Array) -> Array:
    """Return the non-decreasing sequence nearest to ``values`` by least squares.

    The pool-adjacent-violators algorithm: neighbours in the wrong order are replaced by their mean.
    """
    pools: list[tuple[float, int]] = []  # mean and number of values of each pool
    for value in values.tolist():
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, size = pools.pop()
            previous_mean, previous_size = pools.pop()
            total = previous_size + size
            pools.append(((previous_mean * previous_size + mean * size) / total, total))
    return np.repeat([mean for mean, _ in pools], [size for _, size in pools])
