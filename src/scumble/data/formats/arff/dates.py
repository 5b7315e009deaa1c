"""Dates written after a pattern in the manner of Java's SimpleDateFormat, in UTC.

Known letters: ``y M d D H k K h m s S a E`` and the time zones ``Z X z``. Texts in single quotes
stand for themselves, two single quotes for one. Names of months and days are English. Unlike Java,
a date that does not exist (February 30) is refused, and a two-digit year means 1969 to 2068.
"""

from __future__ import annotations

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
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|([^A-Za-z'])", re.DOTALL)
_NUMERIC = "ydDHkKhmsS"
_ZONE = r"Z|[+-]\d{2}(?::?\d{2})?|(?:GMT|UTC)(?:[+-]\d{2}:?\d{2})?"
_WIDEST = 20
_UNITS_WIDTH = {"y": 9, "S": 9}


class _Field(NamedTuple):
    """A letter repeated ``width`` times, or the literal text in ``letter`` with width 0."""

    letter: str
    width: int


class DateFormat:
    """Reads and writes dates as milliseconds since 1970 (UTC).

    Examples
    --------
    >>> from scumble.data.formats.arff.dates import DateFormat
    >>> day = DateFormat("dd/MM/yyyy")
    >>> day.parse("02/01/1970")
    86400000.0
    >>> day.format(86400000.0)
    '02/01/1970'
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._fields = _fields(pattern)
        self._regex = re.compile(_regex(self._fields), re.ASCII | re.IGNORECASE)

    def parse(self, text: str) -> float:
        """Read a date."""
        match = self._regex.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"it does not follow the pattern {self.pattern[:60]}")
        parts = {
            field.letter: found
            for field, found in zip(
                (field for field in self._fields if field.width), match.groups(), strict=True
            )
        }
        if _Field("y", 2) in self._fields and len(parts["y"]) == 2:
            parts["y"] = ("19" if parts["y"] >= "69" else "20") + parts["y"]
        try:
            return _to_milliseconds(parts)
        except OverflowError as error:
            raise ValueError("the date lies too far away") from error

    def format(self, milliseconds: float) -> str:
        """Write a date."""
        try:
            moment = _EPOCH + timedelta(milliseconds=milliseconds)
        except OverflowError as error:
            raise ValueError("the date lies too far away") from error
        return "".join(
            _write_field(field, moment) if field.width else field.letter for field in self._fields
        )


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
        if match[2] is not None:
            if match[2] not in "yMdDHkKhmsSaEZXz":
                raise ValueError(f"the letter {match[2]!r} is not known")
            width = match.end() - match.start()
            if width > _WIDEST:
                raise ValueError(f"the letter {match[2]!r} comes {width} times")
            fields.append(_Field(match[2], width))
        elif match[1] is not None:
            fields.append(_Field(match[1].replace("''", "'") or "'", 0))
        else:
            fields.append(_Field(match[3], 0))
        at = match.end()
    letters = [field.letter for field in fields if field.width]
    if len(set(letters)) < len(letters):
        raise ValueError("a letter comes twice")
    return tuple(fields)


def _regex(fields: tuple[_Field, ...]) -> str:
    following = (*fields[1:], _Field("", 0))
    return "".join(
        _field_regex(field, next_one) for field, next_one in zip(fields, following, strict=False)
    )


def _field_regex(field: _Field, following: _Field) -> str:
    letter, width = field
    if width == 0:
        return re.escape(letter)
    if letter == "M" and width > 2:
        return "(" + "|".join(f"{month}|{month[:3]}" for month in _MONTHS) + ")"
    if letter == "E":
        return "(" + "|".join(f"{day}|{day[:3]}" for day in _DAYS) + ")"
    if letter == "a":
        return "(AM|PM)"
    if letter in "ZXz":
        return f"({_ZONE})"
    if _is_number(following):
        return rf"(\d{{{width}}})"  # digits follow: only the width tells where this one ends
    return rf"(\d{{1,{max(width, _UNITS_WIDTH.get(letter, 3))}}})"


def _is_number(field: _Field) -> bool:
    return 0 < field.width and (
        field.letter in _NUMERIC or (field.letter == "M" and field.width < 3)
    )


def _to_milliseconds(parts: dict[str, str]) -> float:
    numbers = {letter: int(text) for letter, text in parts.items() if text.isdigit()}
    year = numbers.get("y", 1970)
    month = numbers.get("M", 1) if "M" not in parts or "M" in numbers else _month(parts["M"])
    start = datetime(year, month, numbers.get("d", 1), tzinfo=UTC)
    if "D" in numbers and "M" not in parts and "d" not in parts:
        n_days = (datetime(year, 12, 31, tzinfo=UTC) - start).days + 1
        start += timedelta(days=_within("D", numbers["D"], 1, n_days) - 1)
    moment = start + timedelta(
        hours=_hour(parts, numbers),
        minutes=_within("m", numbers.get("m", 0), 0, 59),
        seconds=_within("s", numbers.get("s", 0), 0, 59),
        milliseconds=_within("S", numbers.get("S", 0), 0, 999),
    )
    for letter in "ZXz":
        if letter in parts:
            moment -= _offset(parts[letter])
    return (moment - _EPOCH) / timedelta(milliseconds=1)


def _month(name: str) -> int:
    return next(n for n, month in enumerate(_MONTHS, 1) if month[:3].lower() == name[:3].lower())


def _hour(parts: dict[str, str], numbers: dict[str, int]) -> int:
    if "H" in numbers:
        return _within("H", numbers["H"], 0, 23)
    if "k" in numbers:
        return _within("k", numbers["k"], 1, 24) % 24
    half = 12 if parts.get("a", "").upper() == "PM" else 0
    if "K" in numbers:
        return _within("K", numbers["K"], 0, 11) + half
    if "h" in numbers:
        return _within("h", numbers["h"], 1, 12) % 12 + half
    return half


def _within(letter: str, number: int, low: int, high: int) -> int:
    if not low <= number <= high:
        raise ValueError(f"the field {letter!r} is {number}, not between {low} and {high}")
    return number


def _offset(zone: str) -> timedelta:
    digits = re.sub(r"[^0-9]", "", zone)
    if not digits:
        return timedelta(0)
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    return -offset if "-" in zone else offset


def _write_field(field: _Field, moment: datetime) -> str:
    letter, width = field
    if letter == "y":
        return f"{moment.year % 100:02d}" if width == 2 else f"{moment.year:0{width}d}"
    if letter == "M" and width > 2:
        name = _MONTHS[moment.month - 1]
        return name if width > 3 else name[:3]
    if letter == "E":
        name = _DAYS[moment.weekday()]
        return name if width > 3 else name[:3]
    if letter == "a":
        return "AM" if moment.hour < 12 else "PM"
    if letter in "ZXz":
        return {"Z": "+0000", "X": "Z", "z": "UTC"}[letter]
    number = {
        "M": moment.month,
        "d": moment.day,
        "D": moment.timetuple().tm_yday,
        "H": moment.hour,
        "k": moment.hour or 24,
        "K": moment.hour % 12,
        "h": moment.hour % 12 or 12,
        "m": moment.minute,
        "s": moment.second,
        "S": moment.microsecond // 1000,
    }[letter]
    return f"{number:0{width}d}"
