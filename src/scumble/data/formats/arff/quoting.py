r"""Quotes names and texts of ARFF files, and reads quoted ones.

A *word*, which has no quotes, is literal, backslashes included (``TAG_m\'usica`` is a name in a
well-known data set). Inside quotes a backslash begins an escape: ``\n``, ``\r``, ``\t``,
``\uXXXX``; any other character after it is literal.
"""

import re
from typing import NamedTuple

#: The characters that WEKA treats as blanks: all up to the space.
BLANKS = "".join(map(chr, range(1, 33)))

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPE_MEANINGS = {"n": "\n", "r": "\r", "t": "\t"}
_TO_ESCAPE = re.compile(r"['\"\\%\n\r\t\0\ud800-\udfff]")
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
#: Words that need no quotes in any reader: a letter or digit first, then also some signs.
_PLAIN = re.compile(r"[\w.+-][\w.+\-/:;*()\[\]<>=!&$#@|~^]*")


def quote(text: str) -> str:
    """Return a name or text, quoted if a reader of ARFF could split or misread it."""
    if _PLAIN.fullmatch(text):
        return text
    return f"'{escape(text)}'"


def escape(text: str) -> str:
    """Return a text with escapes for characters that quoted texts cannot hold."""
    return _TO_ESCAPE.sub(_escape_match, text)


def _escape_match(match: re.Match[str]) -> str:
    """Return the escape of a character."""
    character = match[0]
    if character == "\0" or character >= "\ud800":
        return f"\\u{ord(character):04x}"
    return _SHORT_ESCAPES.get(character, f"\\{character}")


def unescape(text: str) -> str:
    """Return a quoted text with its escapes replaced by the characters they stand for."""
    if "\\" in text:
        return _ESCAPE.sub(_unescape_match, text)
    return text


def _unescape_match(match: re.Match[str]) -> str:
    """Return the character that an escape stands for."""
    code = match[1]
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return _ESCAPE_MEANINGS.get(code, code)


class UnclosedQuoteError(ValueError):
    """A quote is not closed on its line."""


class ScannedValue(NamedTuple):
    """A value in a line of the header."""

    text: str  # unescaped; empty if there is no value
    raw: str | None  # the text between the quotes if it holds escapes
    end: int


def scan(line: str, position: int) -> ScannedValue:
    """Return the value that begins at a position of a line, which is not a blank."""
    if line[position : position + 1] in ("'", '"'):
        match = _QUOTED[line[position]].match(line, position)
        if match is None:
            raise UnclosedQuoteError(line[position:])
        raw = match[1]
        return ScannedValue(unescape(raw), raw if "\\" in raw else None, match.end())
    match = _WORD.match(line, position)
    assert match is not None  # the pattern fits the empty word
    return ScannedValue(match[0], None, match.end())


def skip_blanks(line: str, position: int, *, commas: bool = False) -> int:
    """Return the position of the next character that is not a blank, or a comma if ``commas``."""
    pattern = _BLANKS_AND_COMMAS if commas else _BLANKS
    match = pattern.match(line, position)
    assert match is not None  # the patterns fit the empty text
    return match.end()


_QUOTED = {
    "'": re.compile(r"'([^'\\]*+(?:\\.[^'\\]*+)*+)'", re.DOTALL),
    '"': re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL),
}
_WORD = re.compile("(?!%)[^" + re.escape(BLANKS) + ",{}]*|")
_BLANKS = re.compile("[" + re.escape(BLANKS) + "]*")
_BLANKS_AND_COMMAS = re.compile(r"[\0-\x20,]*")
