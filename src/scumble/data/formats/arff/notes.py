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

from __future__ import annotations

import json
from typing import Any

from scumble._core.files import Source

NOTE = "% scumble:"


def parse_notes(text: str, source: Source, line: int) -> dict[str, Any]:
    """Read the comment."""
    try:
        notes = json.loads(text[len(NOTE) :])
    except (ValueError, RecursionError):
        notes = None
    if not isinstance(notes, dict) or not all(_fits(key, value) for key, value in notes.items()):
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


def _fits(key: str, value: Any) -> bool:
    if key == "name":
        return isinstance(value, str)
    if key == "labels":
        return isinstance(value, dict) and all(isinstance(name, str) for name in value.values())
    if key == "parents":
        return isinstance(value, list) and all(type(parent) is int for parent in value)
    if key == "weights":
        return isinstance(value, list) and all(type(w) in (int, float) for w in value)
    if key == "features":
        return isinstance(value, dict) and all(map(_fits_feature, value.values()))
    return key in ("sparse", "unlabelled") and isinstance(value, bool)


def _fits_feature(fields: Any) -> bool:
    if not isinstance(fields, dict):
        return False
    return all(
        (key == "kind" and value in ("string", "date", "text"))
        or (key == "integer" and isinstance(value, bool))
        or (key == "date_format" and (value is None or isinstance(value, str)))
        or (key == "categories" and _is_list_of_texts(value))
        for key, value in fields.items()
    )


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
