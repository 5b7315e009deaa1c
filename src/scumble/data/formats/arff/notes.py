"""Notes: a comment, ``% scumble: {...}``, with what the syntax of ARFF cannot express.

Other programs skip it. It holds a JSON object; every key is optional.

``name``
    The name of the data set, if the relation cannot hold it.
``labels``
    The original names of label columns that had to be renamed, by column name.
``parents``
    The number of each label's parent, -1 at the top.
``features``
    Fields of `Feature` that differ from the declaration, by column name.
``weights``
    The weights of the instances.
``sparse``
    Whether the features were stored sparse.
``unlabelled``
    True for a data set without labels. If it has no features either, it may have no columns.
"""

import json
from collections.abc import Callable
from typing import Any

from scumble._core.files import InputFile

#: The beginning of the comment.
NOTES_PREFIX = "% scumble:"


def parse_notes(text: str, source: InputFile, line: int) -> dict[str, Any]:
    """Return the notes in ``text``, a comment in a line of the file.

    Raise ReadError if they are not a JSON object, or a key or value is not allowed.
    """
    try:
        notes = json.loads(text[len(NOTES_PREFIX) :])
    except (ValueError, RecursionError):
        notes = None
    if not _is_valid(notes, _NOTE_CHECKS):
        raise source.error(
            f"the comment {NOTES_PREFIX!r} is damaged. Restore it, or remove the line and lose "
            "what it adds to the file.",
            line=line,
        )
    return notes


def format_notes(notes: dict[str, Any]) -> str:
    """Return the line of the comment, or an empty text if all notes are None, False or empty."""
    notes = {key: value for key, value in notes.items() if value not in (None, False, {})}
    if not notes:
        return ""
    return f"{NOTES_PREFIX} {json.dumps(notes, sort_keys=True, separators=(',', ':'))}\n"


def _is_valid(notes: Any, checks: dict[str, Callable[[Any], bool]]) -> bool:
    """Return whether a value is a mapping whose keys are known and whose values pass the checks."""
    if not isinstance(notes, dict):
        return False
    return all(key in checks and checks[key](value) for key, value in notes.items())


def _is_instance(*types: type) -> Callable[[Any], bool]:
    """Return a check for values of exactly these types."""
    return lambda value: type(value) in types


def _is_list_of(*types: type) -> Callable[[Any], bool]:
    """Return a check for lists with items of exactly these types."""
    return lambda value: isinstance(value, list) and all(type(item) in types for item in value)


_FEATURE_CHECKS: dict[str, Callable[[Any], bool]] = {
    "kind": lambda value: value in ("string", "date", "text"),
    "integer": _is_instance(bool),
    "date_format": _is_instance(str, type(None)),
    "categories": _is_list_of(str),
}
_NOTE_CHECKS: dict[str, Callable[[Any], bool]] = {
    "name": _is_instance(str),
    "labels": lambda value: isinstance(value, dict) and _is_list_of(str)([*value.values()]),
    "parents": _is_list_of(int),
    "weights": _is_list_of(int, float),
    "features": lambda value: (
        isinstance(value, dict)
        and all(_is_valid(fields, _FEATURE_CHECKS) for fields in value.values())
    ),
    "sparse": _is_instance(bool),
    "unlabelled": _is_instance(bool),
}
