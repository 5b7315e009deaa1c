"""Where a line may end within a name."""

from __future__ import annotations

import unicodedata

#: Marks a place where a line may end; takes no room.
MAY_BREAK = "\u200b"
#: Letters and digits in a row after which a word counts as endless.
ENDLESS = 24
#: Combining class of the signs that tie two letters of an Indic script together.
VIRAMA = 9


def breakable(name: str) -> str:
    r"""Let a long name end its line after any punctuation, and within endless words.

    Examples
    --------
    >>> from scumble.report.breaks import breakable
    >>> breakable("role::plugin").split("\u200b")
    ['role:', ':', 'plugin']
    """
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
