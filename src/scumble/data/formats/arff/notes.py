"""What the syntax of a file cannot carry travels in a comment: ``% scumble: {...}``.

Other programs skip it. It holds a JSON object; every key is optional.

``name``
    The data set's name, where the relation cannot spell it.
``labels``
    The real names of label columns that had to be renamed.
``parents``
    The number of each label's parent, -1 at the top.
``features``
    Fields of `Feature` by column name, where the declaration says something else.
``weights``
    The instances' weights.
``sparse``
    Whether the features were stored sparse.
``unlabelled``
    True for a data set without any label; without a feature as well it may have no column.
"""

import json
from collections.abc import Callable
from typing import Any

from scumble._core.files import InputFile

NOTE = "% scumble:"


def parse_notes(text: str, source: InputFile, line: int) -> dict[str, Any]:
    """Read the comment."""
    try:
        notes = json.loads(text[len(NOTE) :])
    except (ValueError, RecursionError):
        notes = None
    if not _fit(notes, _NOTES):
        raise source.error(
            f"the comment {NOTE!r} is damaged. Restore it, or remove the line and lose what it "
            "adds to the file.",
            line=line,
        )
    return notes


def format_notes(notes: dict[str, Any]) -> str:
    """Write the comment, without what is None, False or ``{}``; nothing if there is no more."""
    told = {key: value for key, value in notes.items() if value not in (None, False, {})}
    return f"{NOTE} {json.dumps(told, sort_keys=True, separators=(',', ':'))}\n" if told else ""


def _fit(notes: Any, checks: dict[str, Callable[[Any], bool]]) -> bool:
    """Tell whether something is a mapping, each part of which is known and passes its check."""
    if not isinstance(notes, dict):
        return False
    return all(key in checks and checks[key](value) for key, value in notes.items())


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: type(value) in kinds


def _lists(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(type(each) in kinds for each in value)


_FEATURE: dict[str, Callable[[Any], bool]] = {
    "kind": lambda value: value in ("string", "date", "text"),
    "integer": _is(bool),
    "date_format": _is(str, type(None)),
    "categories": _lists(str),
}
_NOTES: dict[str, Callable[[Any], bool]] = {
    "name": _is(str),
    "labels": lambda value: isinstance(value, dict) and _lists(str)([*value.values()]),
    "parents": _lists(int),
    "weights": _lists(int, float),
    "features": lambda value: (
        isinstance(value, dict) and all(_fit(fields, _FEATURE) for fields in value.values())
    ),
    "sparse": _is(bool),
    "unlabelled": _is(bool),
}
