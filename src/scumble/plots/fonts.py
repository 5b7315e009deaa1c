"""Fonts for names in scripts that matplotlib's own font lacks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

#: Tried first: one look for many scripts.
PREFERRED = ("Noto Sans", "Source Han Sans", "WenQuanYi", "Droid Sans Fallback", "DejaVu Sans")
#: Fonts that draw a box for everything.
NO_FONTS = ("Last Resort",)


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


def _installed() -> Iterable[tuple[str, str]]:
    from matplotlib.font_manager import fontManager

    usual = {font.name: font.fname for font in fontManager.ttflist if font.style == "normal"}
    names = [name for name in usual if not name.startswith(NO_FONTS)]
    return [(name, usual[name]) for name in sorted(names, key=_rank)]


def _rank(name: str) -> tuple[int, str]:
    at = [name.startswith(start) for start in PREFERRED]
    return (at.index(True) if True in at else len(PREFERRED)), name
