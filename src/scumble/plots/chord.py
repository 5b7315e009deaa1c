"""Chord diagrams of labels that share instances, drawn by matplotlib.

The circle has radius 1, which is the unit of all lengths; angles are in radians, clockwise from the
top. A *path* is a matplotlib Path.
"""

import math
from collections.abc import Sequence
from itertools import cycle, pairwise
from typing import Any

from scumble.plots.base import Theme, add_title, display_name, prepare_axes, register_plot
from scumble.plots.chord_layout import (
    MAX_RIBBONS,
    N_PARTNERS,
    ChordArc,
    ChordLayout,
    ChordRibbon,
    chord_layout,
)

Point = tuple[float, float]
#: Thickness of an arc, in units of the radius.
RING_WIDTH = 0.055
#: Distance of the names from the center, in units of the radius.
NAME_RADIUS = 1.07
#: Mean width of a letter as a share of its height, rounded up.
LETTER_ASPECT = 0.6
#: Longest name, in letters.
MAX_NAME_WIDTH = 24
#: Largest font size in points.
MAX_FONT_SIZE = 9.0
#: Width and height of the figure in inches.
SIZE_INCHES = 8.0
#: Opacity of ribbons between a rare and a frequent label, from 0 (invisible) to 1.
MIXED_OPACITY = 0.7
#: Opacity of all other ribbons.
OTHER_OPACITY = 0.3


@register_plot("chord", title="which labels share instances", alias="LC")
def plot_chord(
    data: Any,
    labels: Sequence[str | int] | None = None,
    *,
    n_labels: int | None = None,
    n_partners: int = N_PARTNERS,
    max_ribbons: int = MAX_RIBBONS,
    keep_order: bool = False,
    like: ChordLayout | None = None,
    ax: Any = None,
    dark: bool | None = None,
) -> Any:
    """Draw labels as arcs of a circle and join those that share instances.

    Rare labels are at the top, in warm colors. A ribbon has the color of the rarer label; those
    between a rare and a frequent label are strong, all others faint. The end of an arc without
    ribbons stands for instances that have only this label; a thin pale band inside it marks
    instances whose other labels are not drawn.

    Parameters
    ----------
    data : ChordLayout, MultilabelDataset, or labels
        The data set, labels alone, or a layout of them.
    labels, n_labels, n_partners, max_ribbons, keep_order
        Which labels and ribbons to draw, see `chord_layout`. By default the difficult labels and
        the labels they co-occur with.
    like : ChordLayout, optional
        A layout, such as that before resampling, whose labels keep their colors.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Whether to use light colors on a dark background; by default the background of the
        figure decides.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing; a line below the circle says what is left out.

    Examples
    --------
    >>> from scumble.plots import plot_chord
    >>> ax = plot_chord([["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> [text.get_text() for text in ax.texts]
    ['c  1', 'a  4', '2  b', 'All 3 labels that occur.']
    """
    layout = data
    if not isinstance(data, ChordLayout):
        layout = chord_layout(
            data,
            labels,
            n_labels=n_labels,
            n_partners=n_partners,
            max_ribbons=max_ribbons,
            keep_order=keep_order,
        )
    size = (SIZE_INCHES, SIZE_INCHES + 0.4)
    ax, theme = prepare_axes(ax, dark, size=size, purpose="plot_chord")
    colors = _arc_colors(layout, theme, like)
    _draw_ribbons(ax, layout, colors)
    _draw_arcs(ax, layout, colors)
    letter_height = _letter_height(ax, layout)
    letter_width = letter_height * LETTER_ASPECT
    name_ends = [NAME_RADIUS + letter_width * _n_letters(arc) for arc in layout.arcs]
    half_width = max([1.25, *name_ends])  # of the axes, so that circle and names fit
    font_size = letter_height * _points_per_radius(ax, half_width)
    for arc in layout.arcs:
        _write_name(ax, arc, theme, font_size=font_size)
    ax.set(xlim=(-half_width, half_width), ylim=(-half_width - 0.12, half_width), aspect="equal")
    ax.set_axis_off()
    add_title(ax, layout.name, f"SCUMBLE {layout.scumble:.4f}")
    style = {"ha": "center", "va": "bottom", "color": theme.muted_color, "fontsize": 9}
    ax.text(0, -half_width - 0.1, layout.note, wrap=True, **style)
    return ax


def _arc_colors(layout: ChordLayout, theme: Theme, like: ChordLayout | None = None) -> list[str]:
    """Return the color of each arc; rare and frequent labels take the colors of theirs in turns.

    Labels that are also in the layout ``like`` have the color that they have there.
    """
    color_of_label: dict[int, str] = {}
    if like is not None:
        labels = [arc.label for arc in like.arcs]
        color_of_label = dict(zip(labels, _arc_colors(like, theme), strict=True))
    rare_colors = cycle(theme.rare_colors)
    frequent_colors = cycle(theme.frequent_colors)
    colors = []
    for arc in layout.arcs:
        next_color = next(rare_colors if arc.is_minority else frequent_colors)
        colors.append(color_of_label.get(arc.label, next_color))
    return colors


def _draw_ribbons(ax: Any, layout: ChordLayout, colors: list[str]) -> None:
    """Draw all ribbons of a layout; ``colors`` are those of its arcs."""
    paths = [_ribbon_path(ribbon) for ribbon in layout.ribbons]
    opacities = [MIXED_OPACITY if ribbon.is_mixed else OTHER_OPACITY for ribbon in layout.ribbons]
    _add_filled_paths(ax, paths, [colors[ribbon.source] for ribbon in layout.ribbons], opacities)


def _draw_arcs(ax: Any, layout: ChordLayout, colors: list[str]) -> None:
    """Draw all arcs, and inside them bands for instances whose other labels are not drawn."""
    arcs = [_band_path(arc.start, arc.end, inner=1 - RING_WIDTH, outer=1.0) for arc in layout.arcs]
    _add_filled_paths(ax, arcs, colors, [1.0] * len(arcs))
    inner = 1 - RING_WIDTH - 0.03
    bands = []
    band_colors = []
    for arc, color in zip(layout.arcs, colors, strict=True):
        if arc.company_end > arc.ribbons_end:
            bands.append(
                _band_path(arc.ribbons_end, arc.company_end, inner=inner, outer=inner + 0.02)
            )
            band_colors.append(color)
    _add_filled_paths(ax, bands, band_colors, [0.4] * len(bands))


def _add_filled_paths(ax: Any, paths: list[Any], colors: list[str], opacities: list[float]) -> None:
    """Draw filled paths, each with its color and opacity."""
    from matplotlib.collections import PathCollection
    from matplotlib.colors import to_rgba_array

    # All paths are one artist of matplotlib, because a thousand single ones take seconds.
    fill_colors = to_rgba_array(colors, opacities) if paths else "none"
    collection = PathCollection(
        paths, facecolors=fill_colors, edgecolors=fill_colors, linewidths=0.5
    )
    ax.add_collection(collection, autolim=False)


def _ribbon_path(ribbon: ChordRibbon) -> Any:
    """Return the outline of a ribbon: along one arc, across, along the other, and back."""
    radius = 1 - RING_WIDTH - 0.01
    to_target = (
        *_curve_along_circle(ribbon.source_start, ribbon.source_end, radius),
        *_curve_across_circle(ribbon.source_end, ribbon.target_start, radius),
    )
    to_source = (
        *_curve_along_circle(ribbon.target_start, ribbon.target_end, radius),
        *_curve_across_circle(ribbon.target_end, ribbon.source_start, radius),
    )
    return _closed_path(_point(ribbon.source_start, radius), to_target, to_source)


def _band_path(start: float, end: float, *, inner: float, outer: float) -> Any:
    """Return the outline of the part of a ring between two angles and two radii."""
    line = [_point(end, inner)]
    outer_edge = _curve_along_circle(start, end, outer)
    inner_edge = _curve_along_circle(end, start, inner)
    return _closed_path(_point(start, outer), outer_edge, line, inner_edge)


def _write_name(ax: Any, arc: ChordArc, theme: Theme, *, font_size: float) -> None:
    """Write the name and the count of a label, with a line to its arc.

    Nothing is drawn if the layout has no space for the name. ``font_size`` is in points.
    """
    angle = arc.name_angle
    if angle is None:
        return
    is_on_left = angle % (2 * math.pi) > math.pi
    middle = (arc.start + arc.end) / 2
    line = (_point(middle, 1.005), _point(angle, NAME_RADIUS - 0.01))
    ax.plot(*zip(*line, strict=True), color=theme.line_color, linewidth=0.6)
    name = display_name(arc.name, MAX_NAME_WIDTH)
    count = f"{arc.count:,}"
    rotation = 90 - math.degrees(angle)
    if is_on_left:  # turned around, so that no text is upside down
        text = f"{count}  {name}"
        alignment = "right"
        rotation += 180
    else:
        text = f"{name}  {count}"
        alignment = "left"
    x, y = _point(angle, NAME_RADIUS)
    ax.text(
        x,
        y,
        text,
        parse_math=False,
        rotation=rotation,
        rotation_mode="anchor",
        ha=alignment,
        va="center",
        color=theme.text_color,
        fontsize=font_size,
        fontweight="bold" if arc.is_minority else "normal",
        clip_on=False,
    )


def _n_letters(arc: ChordArc) -> int:
    """Return the number of letters of the text that is drawn for a label: its name and count."""
    return len(display_name(arc.name, MAX_NAME_WIDTH)) + 2 + len(f"{arc.count:,}")


def _letter_height(ax: Any, layout: ChordLayout) -> float:
    """Return the largest height of letters, in units of the radius, without overlapping names.

    It is limited so that the font is at most `MAX_FONT_SIZE`.
    """
    angles = [arc.name_angle for arc in layout.arcs if arc.name_angle is not None]
    distance = min((b - a for a, b in pairwise(angles)), default=math.pi)
    fitting_height = 0.9 * NAME_RADIUS * min(distance, 1.0)
    # Large letters make long names, which make the circle small: solve for both.
    n_letters = max((_n_letters(arc) for arc in layout.arcs), default=1)
    point = 1 / _points_per_radius(ax, 1.0)  # in units of the radius
    max_height = MAX_FONT_SIZE * point
    share_of_circle = max(1 - max_height * LETTER_ASPECT * n_letters, 0.2)
    return min(fitting_height, max_height * NAME_RADIUS / share_of_circle)


def _points_per_radius(ax: Any, half_width: float) -> float:
    """Return the radius of the circle in points (1/72 inch).

    ``half_width`` is half the width and height of the axes in units of the radius.
    """
    box = ax.get_position()
    width, height = ax.get_figure(root=True).get_size_inches()
    return float(72 * min(box.width * width, box.height * height) / (2 * half_width))


def _closed_path(start: Point, *pieces: Sequence[Point]) -> Any:
    """Return a closed path from ``start`` through all pieces.

    A piece is a line to its single point, or consists of cubic Bézier curves of three points each:
    two control points and the end.
    """
    from matplotlib.path import Path

    points = [start]
    codes = [Path.MOVETO]
    for piece in pieces:
        points += piece
        codes += [Path.CURVE4 if len(piece) > 1 else Path.LINETO] * len(piece)
    return Path([*points, start], [*codes, Path.CLOSEPOLY])


def _curve_along_circle(start: float, end: float, radius: float) -> list[Point]:
    """Return the points of cubic Bézier curves along a circle between two angles.

    A curve covers at most an eighth of the circle, so that it is almost exact.
    """
    n_pieces = max(1, math.ceil(abs(end - start) / (math.pi / 4)))
    step = (end - start) / n_pieces
    stretch = 4 / 3 * math.tan(step / 4)
    points = []
    for piece in range(n_pieces):
        x1, y1 = _point(start + piece * step, radius)
        x2, y2 = _point(start + (piece + 1) * step, radius)
        points += [(x1 + stretch * y1, y1 - stretch * x1), (x2 - stretch * y2, y2 + stretch * x2)]
        points.append((x2, y2))
    return points


def _curve_across_circle(start: float, end: float, radius: float) -> list[Point]:
    """Return the points of a cubic Bézier curve through the inside of a circle to ``end``.

    The farther the two angles are apart, the nearer to the center it passes.
    """
    distance = abs((start - end + 3 * math.pi) % (2 * math.pi) - math.pi) / math.pi
    control_radius = radius * (0.55 - 0.5 * distance)
    return [_point(start, control_radius), _point(end, control_radius), _point(end, radius)]


def _point(angle: float, radius: float) -> Point:
    """Return the x and y of a point, given by its angle clockwise from the top and its radius."""
    return radius * math.sin(angle), radius * math.cos(angle)
