"""Dates written after a pattern in the manner of Java's SimpleDateFormat, in UTC.

Known are the letters that data files use: ``y M d H h m s S a``. Texts in single quotes stand for
themselves, two single quotes for one. Names of months are English. Unlike Java, a date that does
not exist (February 30) is refused, and a two-digit year means 1969 to 2068.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

#: The pattern of ``@attribute when date`` without one of its own.
DEFAULT = "yyyy-MM-dd'T'HH:mm:ss"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Spelled out, because the calendar module would let the locale decide what a file means.
_MONTHS = (
    "January February March April May June July August September October November December"
).split()
_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|([^A-Za-z'])", re.DOTALL)
_LETTERS = "yMdHhmsSa"
#: What the letters of whole numbers stand for, with what it is where a pattern lacks them.
_PARTS = {
    "y": ("year", 1970),
    "M": ("month", 1),
    "d": ("day", 1),
    "H": ("hour", 0),
    "m": ("minute", 0),
    "s": ("second", 0),
}
_WIDEST = 9


class _Field(NamedTuple):
    """A letter repeated ``width`` times, or the literal text in ``letter`` with width 0."""

    letter: str
    width: int

    @property
    def is_number(self) -> bool:
        return self.width > 0 and self.letter != "a" and not self.is_name

    @property
    def is_name(self) -> bool:
        """Whether it is the name of a month."""
        return self.letter == "M" and self.width > 2


class DateFormat:
    """Reads and writes dates as milliseconds since 1970 (UTC)."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._fields = _fields(pattern)
        following = (*self._fields[1:], _Field("", 0))
        regex = "".join(map(_field_regex, self._fields, following))
        self._regex = re.compile(regex, re.ASCII | re.IGNORECASE)

    def parse(self, text: str) -> float:
        """Read a date."""
        match = self._regex.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"it does not follow the pattern {self.pattern[:60]}")
        parts = match.groupdict()
        if _Field("y", 2) in self._fields and len(parts["y"]) == 2:
            parts["y"] = ("19" if parts["y"] >= "69" else "20") + parts["y"]
        if "M" in parts and not parts["M"].isdigit():
            names = [month[:3].lower() for month in _MONTHS]
            parts["M"] = str(names.index(parts["M"][:3].lower()) + 1)
        afternoon = parts.pop("a", "am").lower() == "pm"
        return _milliseconds({letter: int(text) for letter, text in parts.items()}, afternoon)

    def format(self, milliseconds: float) -> str:
        """Write a date."""
        try:
            moment = _EPOCH + timedelta(milliseconds=milliseconds)
        except OverflowError as error:
            raise ValueError("the date lies too far away") from error
        return "".join(_field_text(field, moment) for field in self._fields)


@lru_cache(maxsize=256)
def date_format(pattern: str | None) -> DateFormat:
    """Make a `DateFormat`, or find one made before."""
    return DateFormat(DEFAULT if pattern is None else pattern)


def _fields(pattern: str) -> tuple[_Field, ...]:
    fields: list[_Field] = []
    at = 0
    while at < len(pattern):
        match = _TOKEN.match(pattern, at)
        if match is None:
            raise ValueError("a single quote is not closed")
        quoted, letter, other = match.groups()
        if letter is None:
            fields.append(_Field(other or quoted.replace("''", "'") or "'", 0))
        elif letter not in _LETTERS:
            raise ValueError(f"the letter {letter!r} is not known, only {' '.join(_LETTERS)} are")
        else:
            fields.append(_Field(letter, match.end() - at))
        at = match.end()
    letters = [field.letter for field in fields if field.width]
    if len(set(letters)) < len(letters):
        raise ValueError("a letter comes twice")
    if any(field.width > _WIDEST for field in fields):
        raise ValueError(f"a letter comes more than {_WIDEST} times in a row")
    return tuple(fields)


def _field_regex(field: _Field, following: _Field) -> str:
    letter, width = field
    if width == 0:
        return re.escape(letter)
    if field.is_name:
        return "(?P<M>" + "|".join(f"{month}|{month[:3]}" for month in _MONTHS) + ")"
    if letter == "a":
        return "(?P<a>AM|PM)"
    if following.is_number:  # only the width tells where this one ends
        return rf"(?P<{letter}>\d{{{width}}})"
    return rf"(?P<{letter}>\d{{1,{max(width, 9 if letter == 'y' else 3)}}})"


def _milliseconds(parts: dict[str, int], afternoon: bool) -> float:
    """Count from 1970; `datetime` refuses numbers that are out of range, in words."""
    if "H" not in parts and not 1 <= parts.get("h", 12) <= 12:
        raise ValueError("hour must be in 1..12")
    if "H" not in parts:
        parts["H"] = parts.get("h", 12) % 12 + 12 * afternoon
    named = {name: parts.get(letter, usual) for letter, (name, usual) in _PARTS.items()}
    moment = datetime(**named, microsecond=1000 * parts.get("S", 0), tzinfo=UTC)
    return (moment - _EPOCH) / timedelta(milliseconds=1)


def _field_text(field: _Field, moment: datetime) -> str:
    letter, width = field
    if width == 0:
        return letter
    if field.is_name:
        return _MONTHS[moment.month - 1][: 3 if width == 3 else None]
    if letter == "a":
        return "AM" if moment.hour < 12 else "PM"
    if letter == "y" and width == 2:
        return f"{moment.year % 100:02d}"
    if letter in _PARTS:
        number = getattr(moment, _PARTS[letter][0])
    else:
        number = moment.hour % 12 or 12 if letter == "h" else moment.microsecond // 1000
    return f"{number:0{width}d}"
