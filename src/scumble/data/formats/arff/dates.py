"""Parses and formats dates by a pattern of Java's SimpleDateFormat, in UTC.

The letters that data files use are supported: ``y M d H h m s S a``. Texts in single quotes are
literal, two single quotes stand for one. Names of months are English. Unlike in Java, a date that
does not exist (February 30) is an error, and a two-digit year means 1969 to 2068.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

#: The pattern of a date attribute that declares none.
DEFAULT = "yyyy-MM-dd'T'HH:mm:ss"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Spelled out, because the calendar module would let the locale decide what a file means.
_MONTHS = (
    "January February March April May June July August September October November December"
).split()
_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|([^A-Za-z'])", re.DOTALL)
_LETTERS = "yMdHhmsSa"
#: The argument of `datetime` for each letter, and its value if a pattern lacks the letter.
_DATETIME_ARGUMENTS = {
    "y": ("year", 1970),
    "M": ("month", 1),
    "d": ("day", 1),
    "H": ("hour", 0),
    "m": ("minute", 0),
    "s": ("second", 0),
}
#: Largest number of repetitions of a letter.
_MAX_WIDTH = 9


class _Field(NamedTuple):
    """A letter that is repeated ``width`` times; with width 0, ``letter`` is a literal text."""

    letter: str
    width: int

    @property
    def is_number(self) -> bool:
        """Whether the field is written in digits."""
        return self.width > 0 and self.letter != "a" and not self.is_name

    @property
    def is_name(self) -> bool:
        """Whether the field is the name of a month."""
        return self.letter == "M" and self.width > 2


class DateFormat:
    """Converts texts with dates to milliseconds since 1970 (UTC) and back."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._fields = _parse_pattern(pattern)
        next_fields = (*self._fields[1:], _Field("", 0))
        regex = "".join(map(_field_regex, self._fields, next_fields))
        self._regex = re.compile(regex, re.ASCII | re.IGNORECASE)

    def parse(self, text: str) -> float:
        """Return the date in a text, in milliseconds."""
        match = self._regex.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"it does not follow the pattern {self.pattern[:60]}")
        parts = match.groupdict()
        if _Field("y", 2) in self._fields and len(parts["y"]) == 2:
            century = "19" if parts["y"] >= "69" else "20"
            parts["y"] = century + parts["y"]
        if "M" in parts and not parts["M"].isdigit():
            names = [month[:3].lower() for month in _MONTHS]
            parts["M"] = str(names.index(parts["M"][:3].lower()) + 1)
        is_afternoon = parts.pop("a", "am").lower() == "pm"
        numbers = {letter: int(digits) for letter, digits in parts.items()}
        return _milliseconds(numbers, is_afternoon=is_afternoon)

    def format(self, milliseconds: float) -> str:
        """Return the text of a date in milliseconds."""
        try:
            moment = _EPOCH + timedelta(milliseconds=milliseconds)
        except OverflowError as error:
            raise ValueError("the date lies too far away") from error
        return "".join(_field_text(field, moment) for field in self._fields)


@lru_cache(maxsize=256)
def date_format(pattern: str | None) -> DateFormat:
    """Return the format for a pattern, None for the default one; formats are cached."""
    return DateFormat(DEFAULT if pattern is None else pattern)


def _parse_pattern(pattern: str) -> tuple[_Field, ...]:
    """Return the fields of a pattern."""
    fields: list[_Field] = []
    position = 0
    while position < len(pattern):
        match = _TOKEN.match(pattern, position)
        if match is None:
            raise ValueError("a single quote is not closed")
        quoted, letter, character = match.groups()
        if letter is None:
            literal = character or quoted.replace("''", "'") or "'"
            fields.append(_Field(literal, 0))
        elif letter not in _LETTERS:
            raise ValueError(f"the letter {letter!r} is not known, only {' '.join(_LETTERS)} are")
        else:
            fields.append(_Field(letter, match.end() - position))
        position = match.end()
    letters = [field.letter for field in fields if field.width]
    if len(set(letters)) < len(letters):
        raise ValueError("a letter comes twice")
    if any(field.width > _MAX_WIDTH for field in fields):
        raise ValueError(f"a letter comes more than {_MAX_WIDTH} times in a row")
    return tuple(fields)


def _field_regex(field: _Field, next_field: _Field) -> str:
    """Return the regular expression for a field, given the one after it."""
    letter, width = field
    if width == 0:
        return re.escape(letter)
    if field.is_name:
        return "(?P<M>" + "|".join(f"{month}|{month[:3]}" for month in _MONTHS) + ")"
    if letter == "a":
        return "(?P<a>AM|PM)"
    if next_field.is_number:  # only the width says where this field ends
        return rf"(?P<{letter}>\d{{{width}}})"
    n_digits = max(width, 9 if letter == "y" else 3)
    return rf"(?P<{letter}>\d{{1,{n_digits}}})"


def _milliseconds(numbers: dict[str, int], *, is_afternoon: bool) -> float:
    """Return a date, given by the numbers for the letters, in milliseconds since 1970."""
    if "H" not in numbers:
        hour = numbers.get("h", 12)
        if not 1 <= hour <= 12:
            raise ValueError("hour must be in 1..12")
        numbers["H"] = hour % 12
        if is_afternoon:
            numbers["H"] += 12
    arguments = {
        name: numbers.get(letter, default)
        for letter, (name, default) in _DATETIME_ARGUMENTS.items()
    }
    # `datetime` raises an error with a message if a number is out of range.
    moment = datetime(**arguments, microsecond=1000 * numbers.get("S", 0), tzinfo=UTC)
    return (moment - _EPOCH) / timedelta(milliseconds=1)


def _field_text(field: _Field, moment: datetime) -> str:
    """Return the text of a field of a date."""
    letter, width = field
    if width == 0:
        return letter
    if field.is_name:
        name = _MONTHS[moment.month - 1]
        return name[:3] if width == 3 else name
    if letter == "a":
        return "AM" if moment.hour < 12 else "PM"
    if letter == "y" and width == 2:
        return f"{moment.year % 100:02d}"
    if letter in _DATETIME_ARGUMENTS:
        number = getattr(moment, _DATETIME_ARGUMENTS[letter][0])
    elif letter == "h":
        number = moment.hour % 12 or 12
    else:
        number = moment.microsecond // 1000
    return f"{number:0{width}d}"
