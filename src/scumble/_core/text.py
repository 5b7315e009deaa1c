"""Text for people: formatted numbers, escaped control characters, alignment and wrapping."""

import os
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

#: The path that means standard input or standard output.
STDIO_PATH = "-"
#: Terminal cells that the first column of a table keeps when the table is made narrower.
MIN_FIRST_COLUMN_WIDTH = 8


def escape_controls(text: str) -> str:
    """Return the text with escape sequences instead of unprintable characters."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def strip_markup(text: str) -> str:
    """Return a docstring on one line, without the markup of reStructuredText."""
    return re.sub(r":\w+:(?=`)|`+", "", " ".join(text.split()))


def display_width(text: str) -> int:
    """Return the number of terminal cells (columns of one character) that a text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


def _character_width(char: str) -> int:
    """Return the number of terminal cells of a character.

    Wide East Asian characters take 2, combining ones (accents) 0, all others 1.
    """
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def shorten(text: str, width: int) -> str:
    """Return the text in at most ``width`` terminal cells; an ellipsis replaces what is cut off."""
    if display_width(text) <= width:
        return text
    n_characters = 0
    n_cells = 0
    for char in text:
        n_cells += display_width(char)
        if n_cells >= width:  # one cell is left for the ellipsis
            break
        n_characters += 1
    return text[:n_characters] + "…"


def excerpt(text: str, limit: int = 60) -> str:
    """Return a text in quotes, as `repr` does; "..." replaces what exceeds ``limit`` characters."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


def join_names(names: Iterable[object], max_names: int) -> str:
    """Return the first names in quotes, separated by commas.

    ", ..." follows if there are more than ``max_names``.
    """
    first = list(islice(names, max_names + 1))
    text = ", ".join(map(repr, first[:max_names]))
    return f"{text}, ..." if len(first) > max_names else text


def default_names(letter: str, n_columns: int) -> tuple[str, ...]:
    """Return names for columns without names: y0, y1, and so on for the letter y."""
    return tuple(f"{letter}{index}" for index in range(n_columns))


def align(
    header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None
) -> list[list[str]]:
    """Return the cells of a table, header first, padded to the widths of their columns.

    The first column is flush left, all others are flush right. The first column is shortened
    where the table would be wider than ``width`` terminal cells.
    """
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(display_width(cell) for cell in column) for column in zip(*lines, strict=True)]
    if width is not None:
        available = width - sum(2 + column_width for column_width in widths[1:])
        widths[0] = max(min(widths[0], available), MIN_FIRST_COLUMN_WIDTH)
    for line in lines:
        for index, column_width in enumerate(widths):
            text = shorten(line[index], column_width) if index == 0 else line[index]
            padding = " " * (column_width - display_width(text))
            line[index] = text + padding if index == 0 else padding + text
    return lines


def wrap(text: str, width: int | None) -> list[str]:
    """Return a text as lines of at most ``width`` characters; None means 100.

    A longer word stays whole on its line; an empty text gives one empty line.
    """
    return textwrap.wrap(text, width or 100, break_long_words=False, break_on_hyphens=False) or [""]


def display_path(path: str | os.PathLike[str], stdio_name: str) -> str:
    """Return a path as messages show it; ``stdio_name`` for "-", standard input or output.

    Examples
    --------
    >>> from scumble._core.text import display_path
    >>> display_path("films.csv", "standard output"), display_path("-", "standard output")
    ('films.csv', 'standard output')
    """
    if os.fspath(path) == STDIO_PATH:
        return stdio_name
    return os.fspath(path)


def format_number(value: Any, spec: str = ",d") -> str:
    """Return a number formatted by a format specification; a dash for None."""
    return "–" if value is None else format(value, spec)


def pluralize(n: int, noun: str) -> str:
    """Return a number with a noun in the singular or plural: "1 label", "1,200 labels"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def format_significant(value: float | None, digits: int = 4) -> str:
    """Return a number with ``digits`` significant digits, without an exponent; a dash for None."""
    if value is None:
        return "–"
    text = f"{value:,.{digits}g}"
    if "e" not in text:
        return text
    if abs(value) >= 1:
        return f"{value:,.0f}"
    return f"{value:.{digits + 4}f}"
