"""Which labels share instances, as a chord diagram."""

import math
from collections.abc import Sequence
from itertools import chain, cycle, pairwise
from operator import attrgetter
from typing import Any

from scumble.plots.base import Theme, add_title, display_name, prepare_axes, register_plot
from scumble.plots.chord_layout import MAX_RIBBONS, N_PARTNERS, ChordArc, ChordLayout, chord_layout

Point = tuple[float, float]
RING = 0.055  # thickness of an arc; the radius of the circle is 1
NAME_RADIUS = 1.07
LETTER = 0.6  # width of a letter over its height
LONGEST_NAME = 24
LARGEST = 9.0  # points
INCHES = 8.0
#: Opacity of ribbons between a rare and a frequent label, and of all others.
MIXED, OTHER = 0.7, 0.3
#: The angles of a ribbon, once round.
ENDS = attrgetter("source_start", "source_end", "target_start", "target_end")


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

    Rare labels stand at the top in warm colours. A ribbon has the colour of the rarer label; those
    between a rare and a frequent label are strong, all others faint. The bare end of an arc are
    instances with that label alone; where a thin pale band lies inside, the company is not drawn.

    Parameters
    ----------
    data : ChordLayout, MultilabelDataset, or labels
        The data set, labels alone, or a layout of them.
    labels, n_labels, n_partners, max_ribbons, keep_order
        What to choose, see `chord_layout`. By default the difficult labels and their partners.
    like : ChordLayout, optional
        A layout, such as that before a treatment, whose labels keep the colours they have there.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Light ink on a dark page; by default as the figure's background asks.

    Returns
    -------
    matplotlib Axes
        With the drawing; a line below says what was left out.

    Examples
    --------
    >>> from scumble.plots import plot_chord
    >>> ax = plot_chord([["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> [text.get_text() for text in ax.texts]
    ['c  1', 'a  4', '2  b', 'All 3 labels that occur.']
    """
    layout = data
    if not isinstance(data, ChordLayout):
        most: Any = {"n_labels": n_labels, "n_partners": n_partners, "max_ribbons": max_ribbons}
        layout = chord_layout(data, labels, keep_order=keep_order, **most)
    ax, theme = prepare_axes(ax, dark, size=(INCHES, INCHES + 0.4), purpose="plot_chord")
    inks = _arc_colors(layout, theme, like)
    _draw_ribbons(ax, layout, inks)
    _draw_arcs(ax, layout, inks)
    letter = _letter_height(ax, layout)
    reach = max([1.25, *(NAME_RADIUS + letter * LETTER * _n_letters(arc) for arc in layout.arcs)])
    size = letter * _points_per_radius(ax, reach)
    for arc in layout.arcs:
        _write_name(ax, arc, theme, size=size)
    ax.set(xlim=(-reach, reach), ylim=(-reach - 0.12, reach), aspect="equal")
    ax.set_axis_off()
    _write_around(ax, layout, theme, reach)
    return ax


def _arc_colors(layout: ChordLayout, theme: Theme, like: ChordLayout | None = None) -> list[str]:
    """Give rare and frequent labels colours of their own, in turns; known labels keep theirs."""
    known: dict[int, str] = {}
    if like is not None:
        known = dict(zip((arc.label for arc in like.arcs), _arc_colors(like, theme), strict=True))
    turns = {True: cycle(theme.rare_colors), False: cycle(theme.frequent_colors)}
    return [known.get(arc.label, next(turns[arc.is_minority])) for arc in layout.arcs]


def _draw_ribbons(ax: Any, layout: ChordLayout, inks: list[str]) -> None:
    paths = [_ribbon_path(*ENDS(ribbon)) for ribbon in layout.ribbons]
    strengths = [MIXED if ribbon.is_mixed else OTHER for ribbon in layout.ribbons]
    _fill(ax, paths, [inks[ribbon.source] for ribbon in layout.ribbons], strengths)


def _draw_arcs(ax: Any, layout: ChordLayout, inks: list[str]) -> None:
    paths = [_band(arc.start, arc.end, 1 - RING, 1.0) for arc in layout.arcs]
    _fill(ax, paths, inks, [1.0] * len(paths))
    inner = 1 - RING - 0.03
    pairs = zip(layout.arcs, inks, strict=True)
    hidden = [(arc, ink) for arc, ink in pairs if arc.company_end > arc.ribbons_end]
    bands = [_band(arc.ribbons_end, arc.company_end, inner, inner + 0.02) for arc, _ in hidden]
    _fill(ax, bands, [ink for _, ink in hidden], [0.4] * len(hidden))


def _fill(ax: Any, paths: list[Any], inks: list[str], strengths: list[float]) -> None:
    """Add all paths as one artist: a thousand single ones take seconds."""
    from matplotlib.collections import PathCollection
    from matplotlib.colors import to_rgba_array

    colours = to_rgba_array(inks, strengths) if paths else "none"
    ax.add_collection(
        PathCollection(paths, facecolors=colours, edgecolors=colours, linewidths=0.5), autolim=False
    )


def _ribbon_path(a: float, b: float, c: float, d: float) -> Any:
    radius = 1 - RING - 0.01
    there = (*_along(a, b, radius), *_across(b, c, radius))
    back = (*_along(c, d, radius), *_across(d, a, radius))
    return _closed(_point(a, radius), there, back)


def _band(start: float, end: float, inner: float, outer: float) -> Any:
    line = [_point(end, inner)]
    return _closed(_point(start, outer), _along(start, end, outer), line, _along(end, start, inner))


def _write_name(ax: Any, arc: ChordArc, theme: Theme, *, size: float) -> None:
    angle = arc.name_angle
    if angle is None:
        return
    turned = angle % (2 * math.pi) > math.pi
    middle = (arc.start + arc.end) / 2
    ends = (_point(middle, 1.005), _point(angle, NAME_RADIUS - 0.01))
    ax.plot(*zip(*ends, strict=True), color=theme.line_color, linewidth=0.6)
    name, count = display_name(arc.name, LONGEST_NAME), f"{arc.count:,}"
    text, side = (f"{count}  {name}", "right") if turned else (f"{name}  {count}", "left")
    rotation = (90 - math.degrees(angle)) + (180 if turned else 0)
    place = {"rotation": rotation, "rotation_mode": "anchor", "ha": side, "va": "center"}
    weight = "bold" if arc.is_minority else "normal"
    look = {"color": theme.text_color, "fontsize": size, "fontweight": weight, "clip_on": False}
    ax.text(*_point(angle, NAME_RADIUS), text, parse_math=False, **place, **look)


def _n_letters(arc: ChordArc) -> int:
    return len(display_name(arc.name, LONGEST_NAME)) + 2 + len(f"{arc.count:,}")


def _letter_height(ax: Any, layout: ChordLayout) -> float:
    """Letters as large as neighbouring names allow, in units of the radius."""
    angles = [arc.name_angle for arc in layout.arcs if arc.name_angle is not None]
    apart = min((b - a for a, b in pairwise(angles)), default=math.pi)
    fitting = 0.9 * NAME_RADIUS * min(apart, 1.0)
    # Large letters make long names, which make the circle small: solve for both.
    longest = max((_n_letters(arc) for arc in layout.arcs), default=1)
    per_point = 1 / _points_per_radius(ax, 1.0)
    largest = LARGEST * per_point
    return min(fitting, largest * NAME_RADIUS / max(1 - largest * LETTER * longest, 0.2))


def _points_per_radius(ax: Any, reach: float) -> float:
    """How many points the radius measures when so many radii must fit in either direction."""
    box = ax.get_position()
    width, height = ax.get_figure(root=True).get_size_inches()
    return float(72 * min(box.width * width, box.height * height) / (2 * reach))


def _write_around(ax: Any, layout: ChordLayout, theme: Theme, reach: float) -> None:
    add_title(ax, layout.name, f"SCUMBLE {layout.scumble:.4f}")
    style = {"ha": "center", "va": "bottom", "color": theme.muted_color, "fontsize": 9}
    ax.text(0, -reach - 0.1, layout.note, wrap=True, **style)


def _closed(start: Point, *pieces: Sequence[Point]) -> Any:
    """Join cubic curves, three points each, and lines, of one point, to a path of matplotlib's."""
    from matplotlib.path import Path

    codes = [Path.CURVE4 if len(piece) > 1 else Path.LINETO for piece in pieces for _ in piece]
    points = [start, *chain(*pieces), start]
    return Path(points, [Path.MOVETO, *codes, Path.CLOSEPOLY])


def _along(start: float, end: float, radius: float) -> list[Point]:
    """Follow the circle, a cubic curve for every eighth of it."""
    n_pieces = max(1, math.ceil(abs(end - start) / (math.pi / 4)))
    step = (end - start) / n_pieces
    stretch = 4 / 3 * math.tan(step / 4)
    points = []
    for piece in range(n_pieces):
        a, b = start + piece * step, start + (piece + 1) * step
        (ax, ay), (bx, by) = _point(a, radius), _point(b, radius)
        leaving = (ax + stretch * ay, ay - stretch * ax)
        arriving = (bx - stretch * by, by + stretch * bx)
        points += [leaving, arriving, (bx, by)]
    return points


def _across(start: float, end: float, radius: float) -> list[Point]:
    """Cross the circle; between distant arcs near the centre, else further out."""
    apart = abs((start - end + 3 * math.pi) % (2 * math.pi) - math.pi) / math.pi
    pull = radius * (0.55 - 0.5 * apart)
    return [_point(start, pull), _point(end, pull), _point(end, radius)]


def _point(angle: float, radius: float) -> Point:
    return radius * math.sin(angle), radius * math.cos(angle)
