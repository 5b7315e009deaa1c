"""How a plot gets on paper, in fonts that have its letters."""

import io
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from scumble._core.errors import ParameterError, ScumbleWarning
from scumble._core.files import atomic_write

#: What `save_plot` writes.
SUFFIXES = ("svg", "pdf", "png")
#: Tried first: one look for many scripts.
PREFERRED = ("Noto Sans", "Source Han Sans", "WenQuanYi", "Droid Sans Fallback", "DejaVu Sans")
#: Fonts that draw a box for everything.
NO_FONTS = ("Last Resort",)


def save_plot(ax: Any, path: str | Path, *, dpi: int = 150) -> None:
    """Write the figure of some axes to a file, whole or not at all.

    Parameters
    ----------
    ax : matplotlib Axes, or several of one figure
        From any function of `scumble.plots`.
    path : str or Path
        The file to write; its suffix decides between SVG, PDF and PNG.
    dpi : int
        Dots per inch of a PNG.

    Examples
    --------
    >>> from scumble.plots import plot_labels, save_plot
    >>> save_plot(plot_labels([["a"], ["a", "b"]]), getfixture("tmp_path") / "labels.svg")
    """
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in SUFFIXES:
        raise ParameterError(
            f"{path}: a picture's name must end in .{', .'.join(SUFFIXES)}. Got {suffix!r} instead."
        )
    with atomic_write(path) as target, target.open() as stream:
        stream.write(plot_bytes(ax, suffix, dpi=dpi))


def plot_bytes(ax: Any, suffix: str, *, dpi: int = 150) -> bytes:
    """Return the figure of some axes as the content of a file.

    Parameters
    ----------
    ax : matplotlib Axes, or several of one figure
        From any function of `scumble.plots`.
    suffix : {"svg", "pdf", "png"}
        The format.
    dpi : int
        Dots per inch of a PNG.

    Returns
    -------
    bytes
        The same picture gives the same bytes: no dates, no random names.

    Warns
    -----
    ScumbleWarning
        If a name holds letters that no font of this machine has. An SVG then keeps all its words
        as text, which whoever looks at it may have fonts for.

    Examples
    --------
    >>> from scumble.plots import plot_bytes, plot_labels
    >>> plot_bytes(plot_labels([["a"], ["a", "b"]]), "png")[1:4]
    b'PNG'
    """
    from matplotlib import rc_context

    dates = {"svg": "Date", "pdf": "CreationDate"}
    metadata = {dates[suffix]: None} if suffix in dates else {}
    content = io.BytesIO()
    figure = (ax[0] if isinstance(ax, tuple) else ax).get_figure(root=True)
    lost = complete_fonts(figure)
    style = {"svg.hashsalt": "scumble", "svg.fonttype": "none" if lost else "path"}
    with rc_context(style), warnings.catch_warnings():
        # Said once, below, and not letter by letter.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(content, format=suffix, dpi=dpi, metadata=metadata)
    if lost and suffix != "svg":
        warnings.warn(_boxes(lost), ScumbleWarning, stacklevel=2)
    return content.getvalue()


def _boxes(lost: set[str]) -> str:
    n_lost = f"{len(lost):,} letters" if len(lost) > 1 else "a letter"
    return (
        f"the names hold {n_lost} that no font of this machine has, such as {min(lost)!r}: the "
        "picture shows boxes. Install a font that has them (Noto has all scripts), or save an SVG, "
        "which keeps the names as text."
    )


def complete_fonts(figure: Any) -> set[str]:
    """Give texts whose letters the chosen font lacks more fonts of this machine."""
    from matplotlib.text import Text

    lost: set[str] = set()
    for text in figure.findobj(Text):
        written = text.get_text()
        if written.isascii():
            continue
        missing = _beyond(written, text.get_fontproperties())
        further, lacked = _fonts_with(missing)
        lost |= lacked
        if further:
            text.set_fontfamily([*text.get_fontfamily(), *further])
    return lost


def letters_without_font(text: str) -> frozenset[str]:
    """Find letters that no picture can show."""
    from matplotlib.font_manager import FontProperties

    return frozenset() if text.isascii() else _fonts_with(_beyond(text, FontProperties()))[1]


def _beyond(text: str, chosen: Any) -> frozenset[str]:
    """Find the letters that the chosen font lacks."""
    from matplotlib.font_manager import fontManager

    missing = set(text) - _letters_in(fontManager.findfont(chosen))
    return frozenset(letter for letter in missing if not letter.isspace())


@cache
def _letters_in(path: str) -> set[str]:
    from matplotlib.font_manager import get_font

    return {chr(code) for code in get_font(path).get_charmap()}


@cache
def _fonts_with(letters: frozenset[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Choose fonts that have all the letters, and tell which letters none has."""
    found: list[str] = []
    wanted = set(letters)
    for name, path in _installed() if wanted else ():
        try:
            held = wanted & _letters_in(path)
        except (OSError, RuntimeError):  # a font that cannot be read is no font
            continue
        if held:
            found.append(name)
            wanted -= held
        if not wanted:
            break
    return tuple(found), frozenset(wanted)


def _installed() -> list[tuple[str, str]]:
    from matplotlib.font_manager import fontManager

    usual = {font.name: font.fname for font in fontManager.ttflist if font.style == "normal"}
    names = [name for name in usual if not name.startswith(NO_FONTS)]
    return [(name, usual[name]) for name in sorted(names, key=_rank)]


def _rank(name: str) -> tuple[list[bool], str]:
    return [not name.startswith(start) for start in PREFERRED], name
