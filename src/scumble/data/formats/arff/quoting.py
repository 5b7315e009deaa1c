r"""Names and texts in ARFF files: when they are quoted, and how quoted ones are read.

A *word* stands for itself, backslashes included (``TAG_m\'usica`` is a name in a well-known data
set). Inside quotes a backslash begins an escape: ``\n``, ``\r``, ``\t``, ``\uXXXX``; before any
other character it only takes away that character's meaning.
"""

import re

#: What WEKA takes for a blank: everything up to the space.
BLANKS = "".join(map(chr, range(1, 33)))

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_TO_ESCAPE = re.compile(r"['\"\\%\n\r\t\0\ud800-\udfff]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
#: Words that need no quotes in any reader: a letter or digit first, then also some signs.
_PLAIN = re.compile(r"[\w.+-][\w.+\-/:;*()\[\]<>=!&$#@|~^]*")


def quote(text: str) -> str:
    """Write a name or text so that every reader of ARFF takes it for one value."""
    if _PLAIN.fullmatch(text):
        return text
    return f"'{escape(text)}'"


def escape(text: str) -> str:
    r"""Escape what must not stand bare inside quotes."""
    return _TO_ESCAPE.sub(_escape_one, text)


def _escape_one(match: re.Match[str]) -> str:
    character = match[0]
    if character == "\0" or character >= "\ud800":
        return f"\\u{ord(character):04x}"
    return _SHORT.get(character, f"\\{character}")


def unescape(text: str) -> str:
    """Undo the escapes of a quoted text."""
    return _ESCAPE.sub(_unescape_one, text) if "\\" in text else text


def _unescape_one(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return _ESCAPED.get(code, code)


class UnclosedQuoteError(ValueError):
    """A quote has no partner on its line."""


def scan(text: str, at: int) -> tuple[str, str | None, int]:
    """Read the value that begins at a place in a line, where no blank stands.

    Gives what it means (empty if there is none), what stands between its quotes if that holds
    escapes, and where it ends.
    """
    if text[at : at + 1] in ("'", '"'):
        match = _QUOTED[text[at]].match(text, at)
        if match is None:
            raise UnclosedQuoteError(text[at:])
        raw = match[1]
        return unescape(raw), (raw if "\\" in raw else None), match.end()
    match = _WORD.match(text, at)
    assert match is not None  # the pattern fits the empty word
    return match[0], None, match.end()


def skip_blanks(text: str, at: int, *, commas: bool = False) -> int:
    """Find the next character that is no blank, and no comma either if these are skipped, too."""
    match = (_BLANKS_AND_COMMAS if commas else _BLANKS).match(text, at)
    assert match is not None  # the patterns fit the empty text
    return match.end()


_QUOTED = {
    "'": re.compile(r"'([^'\\]*+(?:\\.[^'\\]*+)*+)'", re.DOTALL),
    '"': re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL),
}
_WORD = re.compile("(?!%)[^" + re.escape(BLANKS) + ",{}]*|")
_BLANKS = re.compile("[" + re.escape(BLANKS) + "]*")
_BLANKS_AND_COMMAS = re.compile(r"[\0-\x20,]*")
