"""Letters that no font at hand can print, written as codes so that no name is lost."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

#: For private use, at the very end of Unicode: no font has it.
NOBODYS = "\U0010fffd"
#: Sets each letter on a page of its own.
SPECIMEN = b"""
#set page(width: auto, height: auto, margin: 0pt)
#set text(font: ("Libertinus Serif", "DejaVu Sans Mono"))
#for letter in json(bytes(sys.inputs.letters)) { page(letter) }
"""


def unprintable(text: str, typst: Any) -> frozenset[str]:
    """Ask typst for which letters it finds no font: they all look the same."""
    letters = sorted(letter for letter in set(text) if not letter.isascii())
    if not letters:
        return frozenset()
    inputs = {"letters": json.dumps([NOBODYS, *letters])}
    box, *pages = typst.compile(SPECIMEN, format="svg", sys_inputs=inputs)
    return frozenset(letter for letter, page in zip(letters, pages, strict=True) if page == box)


def spelled(content: Any, letters: Iterable[str], *, after: str = "") -> Any:
    r"""Write letters as codes, in all texts of a JSON value.

    Examples
    --------
    >>> from scumble.report.letters import spelled
    >>> print(spelled(["\u96fb, war"], {"\u96fb"}))
    ['\\u96fb, war']
    """
    codes = {ord(each): json.dumps(f"{code(each)}{after}")[1:-1] for each in letters}
    if not codes:
        return content
    return json.loads(json.dumps(content, ensure_ascii=False).translate(codes))


def code(letter: str) -> str:
    r"""Write a letter as Python does in ASCII."""
    return letter.encode("unicode_escape").decode()
