"""Text for people: numbers written out, untrusted names made harmless, measured, wrapped."""

import os
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import accumulate, islice, takewhile
from typing import Any

#: The path that means standard input or standard output.
STDIO_PATH = "-"


def escape_controls(text: str) -> str:
    """Make control characters visible."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def strip_markup(text: str) -> str:
    """Join the lines of a docstring, without the marks of the documentation."""
    return re.sub(r":\w+:(?=`)|`+", "", " ".join(text.split()))


def display_width(text: str) -> int:
    """Count the terminal cells a text takes (wide East Asian characters take two)."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def shorten(text: str, width: int) -> str:
    """Cut a text to a number of cells, with an ellipsis where something is missing."""
    if display_width(text) <= width:
        return text
    fitting = takewhile(lambda cells: cells < width, accumulate(map(display_width, text)))
    return text[: sum(1 for _ in fitting)] + "…"


def excerpt(text: str, limit: int = 60) -> str:
    """Quote a piece of a file, cut to a readable length."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


def join_names(names: Iterable[object], most: int) -> str:
    """Quote the first names of a list, with dots where there are more."""
    first = [*islice(names, most + 1)]
    return ", ".join(map(repr, first[:most])) + (", ..." if len(first) > most else "")


def default_names(letter: str, n: int) -> tuple[str, ...]:
    """Name things that have no names of their own: y0, y1, and so on."""
    return tuple(f"{letter}{at}" for at in range(n))


def align(
    head: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None
) -> list[list[str]]:
    """Pad the cells of a table: the first column flush left, all others flush right."""
    lines = [[*head], *([*row] for row in rows)]
    widths = [max(display_width(cell) for cell in column) for column in zip(*lines, strict=True)]
    if width is not None:
        widths[0] = max(min(widths[0], width - sum(2 + other for other in widths[1:])), 8)
    for line in lines:
        for at, (cell, wide) in enumerate(zip(line, widths, strict=True)):
            text = shorten(cell, wide) if at == 0 else cell
            space = " " * (wide - display_width(text))
            line[at] = text + space if at == 0 else space + text
    return lines


def wrap(text: str, width: int | None) -> list[str]:
    """Break a sentence into lines of at most ``width`` cells."""
    return textwrap.wrap(text, width or 100, break_long_words=False, break_on_hyphens=False) or [""]


def display_path(path: str | os.PathLike[str], pipe: str) -> str:
    """Tell what messages call a file: its path, or ``pipe`` for that of standard input or output.

    Examples
    --------
    >>> from scumble._core.text import display_path
    >>> display_path("films.csv", "standard output"), display_path("-", "standard output")
    ('films.csv', 'standard output')
    """
    return pipe if os.fspath(path) == STDIO_PATH else os.fspath(path)


def format_number(value: Any, spec: str = ",d") -> str:
    """Print a number, or a dash where there is none."""
    return "–" if value is None else format(value, spec)


def pluralize(n: int, noun: str) -> str:
    """Print a number of things: "1 label", "1,200 labels"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def format_significant(value: float | None, digits: int = 4) -> str:
    """Print with so many significant digits, never in powers of ten."""
    if value is None:
        return "–"
    text = f"{value:,.{digits}g}"
    if "e" not in text:
        return text
    return f"{value:,.0f}" if abs(value) >= 1 else f"{value:.{digits + 4}f}"
