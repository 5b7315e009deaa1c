"""Backslashes in the strings of Python and JSON."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[\s\S]|$)")
_SHORT = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "a": "\a",
    "v": "\v",
    "0": "\0",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "/": "/",
}


def unescape(text: str) -> str:
    r"""Replace what a backslash introduces by what it means.

    Examples
    --------
    >>> from scumble.data.formats.delimited.escapes import unescape
    >>> unescape(r"it\'s \u00e9t\xe9")
    "it's été"
    """
    text = _ESCAPE.sub(_meaning, text)
    try:
        # JSON writes characters beyond U+FFFF as two halves.
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise ValueError("half a character") from None


def _meaning(found: re.Match[str]) -> str:
    code = found[0][1:]
    if len(code) > 1:
        number = int(code[1:], 16)
        if number > 0x10FFFF:
            raise ValueError(f"no character has the number {code[1:]}")
        return chr(number)
    if code not in _SHORT:
        raise ValueError(f"unknown escape \\{code}")
    return _SHORT[code]
