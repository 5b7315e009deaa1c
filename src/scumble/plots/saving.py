"""Saving of plots, with fonts that have all letters of the names."""

import io
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from scumble._core.errors import ParameterError, ScumbleWarning
from scumble._core.files import atomic_write

#: The file formats of `save_plot`.
SUFFIXES = ("svg", "pdf", "png")
#: Fonts that are tried first, because they have a similar design for many scripts.
PREFERRED_FONTS = (
    "Noto Sans",
    "Source Han Sans",
    "WenQuanYi",
    "Droid Sans Fallback",
    "DejaVu Sans",
)
#: Fonts that draw a box for every letter.
PLACEHOLDER_FONTS = ("Last Resort",)


def save_plot(ax: Any, path: str | Path, *, dpi: int = 150) -> None:
    """Save the figure of some axes to a file; if that fails, an existing file is unchanged.

    Parameters
    ----------
    ax : matplotlib Axes, or several of one figure
        From any function of `scumble.plots`.
    path : str or Path
        The file; its suffix selects SVG, PDF or PNG.
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
    """Return the content of a file with the figure of some axes.

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
        The content. The same figure gives the same bytes: there are no dates and no random names.

    Warns
    -----
    ScumbleWarning
        If a name has letters that no font of this machine has, and the format is PDF or PNG. An
        SVG then stores texts instead of outlines, without a warning, because another machine may
        have a font for them.

    Examples
    --------
    >>> from scumble.plots import plot_bytes, plot_labels
    >>> plot_bytes(plot_labels([["a"], ["a", "b"]]), "png")[1:4]
    b'PNG'
    """
    from matplotlib import rc_context

    date_fields = {"svg": "Date", "pdf": "CreationDate"}
    metadata = {date_fields[suffix]: None} if suffix in date_fields else {}
    content = io.BytesIO()
    first_axes = ax[0] if isinstance(ax, tuple) else ax
    figure = first_axes.get_figure(root=True)
    missing = add_fallback_fonts(figure)
    # If letters are missing, an SVG stores text instead of outlines: the viewer may have a font.
    font_type = "none" if missing else "path"
    rc_params = {"svg.hashsalt": "scumble", "svg.fonttype": font_type}
    with rc_context(rc_params), warnings.catch_warnings():
        # One warning, below, replaces those for every letter.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(content, format=suffix, dpi=dpi, metadata=metadata)
    if missing and suffix != "svg":
        warnings.warn(_missing_glyph_warning(missing), ScumbleWarning, stacklevel=2)
    return content.getvalue()


def _missing_glyph_warning(letters: set[str]) -> str:
    """Return the text of the warning about letters that no font of this machine has."""
    n_letters = f"{len(letters):,} letters" if len(letters) > 1 else "a letter"
    return (
        f"the names hold {n_letters} that no font of this machine has, such as {min(letters)!r}: "
        "the picture shows boxes. Install a font that has them (Noto has all scripts), or save an "
        "SVG, which keeps the names as text."
    )


def add_fallback_fonts(figure: Any) -> set[str]:
    """Add fallback fonts to the texts of a figure whose font lacks letters.

    Returns the letters that no font of this machine has.
    """
    from matplotlib.text import Text

    without_font: set[str] = set()
    for artist in figure.findobj(Text):
        text = artist.get_text()
        if text.isascii():
            continue
        fallbacks = _find_fallback_fonts(_missing_letters(text, artist.get_fontproperties()))
        without_font |= fallbacks.without_font
        if fallbacks.names:
            artist.set_fontfamily([*artist.get_fontfamily(), *fallbacks.names])
    return without_font


def characters_without_font(text: str) -> frozenset[str]:
    """Return the characters of a text that no installed font can draw; white space is ignored.

    Matplotlib's default font is tried first, then all others.
    """
    from matplotlib.font_manager import FontProperties

    if text.isascii():
        return frozenset()
    return _find_fallback_fonts(_missing_letters(text, FontProperties())).without_font


def _missing_letters(text: str, font: Any) -> frozenset[str]:
    """Return the letters of a text that a font lacks, without white space.

    ``font`` is a matplotlib FontProperties.
    """
    from matplotlib.font_manager import fontManager

    missing = set(text) - _letters_in(fontManager.findfont(font))
    return frozenset(letter for letter in missing if not letter.isspace())


@cache
def _letters_in(path: str) -> set[str]:
    """Return the letters that the font file at ``path`` can draw."""
    from matplotlib.font_manager import get_font

    return {chr(code) for code in get_font(path).get_charmap()}


class _FallbackFonts(NamedTuple):
    """Fonts that together have some letters, and the letters that no font has."""

    names: tuple[str, ...]  # of the fonts
    without_font: frozenset[str]  # letters


@cache
def _find_fallback_fonts(letters: frozenset[str]) -> _FallbackFonts:
    """Return the first fonts of this machine that together have all these letters.

    Letters that no font has are returned as well. Fonts that cannot be read are left out.
    """
    names: list[str] = []
    remaining = set(letters)
    if not remaining:
        return _FallbackFonts((), frozenset())
    for name, path in _installed_fonts():
        try:
            supported = remaining & _letters_in(path)
        except (OSError, RuntimeError):  # the font file cannot be read
            continue
        if supported:
            names.append(name)
            remaining -= supported
        if not remaining:
            break
    return _FallbackFonts(tuple(names), frozenset(remaining))


def _installed_fonts() -> list[tuple[str, str]]:
    """Return the name and the path of each upright font, `PREFERRED_FONTS` first."""
    from matplotlib.font_manager import fontManager

    paths = {font.name: font.fname for font in fontManager.ttflist if font.style == "normal"}
    names = [name for name in paths if not name.startswith(PLACEHOLDER_FONTS)]
    return [(name, paths[name]) for name in sorted(names, key=_font_rank)]


def _font_rank(name: str) -> tuple[list[bool], str]:
    """Return a sort key for font names: `PREFERRED_FONTS` in their order, then by name."""
    return [not name.startswith(prefix) for prefix in PREFERRED_FONTS], name
