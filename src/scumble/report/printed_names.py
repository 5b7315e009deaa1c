"""Names on paper: where a line may end, and letters that no font at hand can print."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from typing import Any

#: Marks a place where a line may end; takes no room.
MAY_BREAK = "\u200b"
#: Letters and digits in a row after which a word counts as endless.
ENDLESS = 24
#: Combining class of the signs that tie two letters of an Indic script together.
VIRAMA = 9
#: For private use, at the very end of Unicode: no font has it.
NOBODYS = "\U0010fffd"
#: Sets each letter on a page of its own.
SPECIMEN = b"""
#set page(width: auto, height: auto, margin: 0pt)
#set text(font: ("Libertinus Serif", "DejaVu Sans Mono"))
#for letter in json(bytes(sys.inputs.letters)) { page(letter) }
"""


def breakable(name: str) -> str:
    """Let a long name end its line after any punctuation, and within endless words."""
    found: list[str] = []
    n_letters = 0
    for at, char in enumerate(name):
        found.append(char)
        kind = unicodedata.category(char)
        n_letters = n_letters + 1 if kind[0] in "LMN" else 0
        is_end = kind[0] == "P" or kind in ("Sm", "Sc") or n_letters >= ENDLESS
        if is_end and not _is_joined(char, name[at + 1 : at + 2]):
            found.append(MAY_BREAK)
            n_letters = 0
    return "".join(found)


def _is_joined(char: str, following: str) -> bool:
    """Tell whether a letter and what follows must not be parted; nothing is parted from the end."""
    if not following or unicodedata.category(following)[0] == "M":
        return True
    return unicodedata.combining(char) == VIRAMA


def unprintable(text: str, typst: Any) -> frozenset[str]:
    """Ask typst for which letters it finds no font: they all look the same."""
    letters = sorted(letter for letter in set(text) if not letter.isascii())
    if not letters:
        return frozenset()
    inputs = {"letters": json.dumps([NOBODYS, *letters])}
    box, *pages = typst.compile(SPECIMEN, format="svg", sys_inputs=inputs)
    return frozenset(letter for letter, page in zip(letters, pages, strict=True) if page == box)


def spelled(content: Any, letters: Iterable[str], *, after: str = "") -> Any:
    """Write letters as codes, in all texts of a JSON value."""
    codes = {ord(each): json.dumps(f"{code(each)}{after}")[1:-1] for each in letters}
    if not codes:
        return content
    return json.loads(json.dumps(content, ensure_ascii=False).translate(codes))


def code(letter: str) -> str:
    r"""Write a letter as Python does in ASCII."""
    return letter.encode("unicode_escape").decode()
