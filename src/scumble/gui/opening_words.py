"""How a file was opened, as the command line and Python say it."""

from __future__ import annotations

from typing import Any

#: Options of readers that have a name of their own on the command line.
OWN = ("format", "labels", "label_column", "label_separator", "ignore", "text", "category", "keep")


def as_words(options: dict[str, Any]) -> list[str]:
    r"""Write options of a reader as words of a command.

    Examples
    --------
    >>> from scumble.gui.opening_words import as_words
    >>> as_words({"labels": ["sky", "sea"], "ignore": [0, "id"], "decimal": ",", "header": True})
    ['--labels', 'sky,sea', '--ignore', '0', '--ignore', 'id', '--option', 'decimal=,',
     '--option', 'header=true']
    >>> as_words({"labels": [4], "label_separator": "\t"})
    ['--labels', '4,', '--label-separator', '\\t']
    """
    words: list[str] = []
    for name, value in options.items():
        values = value if isinstance(value, list) and name != "labels" else [value]
        for text in map(_written, values):
            option = f"--{name.replace('_', '-')}"
            words += [option, text] if name in OWN else ["--option", f"{name}={text}"]
    return words


def as_call(source: str, options: dict[str, Any]) -> str:
    """Write what reads the data in Python.

    Examples
    --------
    >>> from scumble.gui.opening_words import as_call
    >>> as_call("photos.csv", {"labels": ["sky"]}), as_call("yeast", {})
    ("scumble.read('photos.csv', labels=['sky'])", "scumble.load('yeast')")
    """
    inside = [repr(source), *(f"{name}={value!r}" for name, value in options.items())]
    return f"scumble.{'read' if '.' in source else 'load'}({', '.join(inside)})"


def _written(value: Any) -> str:
    """Write a value; a list with a comma behind a single number, which else were a count."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(map(str, value)) + ("," if value and isinstance(value[-1], int) else "")
    return str(value).replace("\t", "\\t")
