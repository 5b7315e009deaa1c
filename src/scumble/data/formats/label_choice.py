"""What ``labels=`` means for a file that is a table: which of its columns are labels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from scumble._core.errors import ParameterError
from scumble._core.files import Source
from scumble.data.formats.base import LabelChoice

_ALLOWED = (
    "Expected a list of column names or of column numbers from 0, a count (negative: from the "
    "end), or the path of a MULAN XML file."
)


def chosen_columns(source: Source, names: Sequence[str], labels: LabelChoice) -> list[int]:
    """Find the columns a caller means.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from scumble._core.files import Source
    >>> from scumble.data.formats.label_choice import chosen_columns
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("x,war,love")
    >>> chosen_columns(Source(path), ["x", "war", "love"], -2)
    [1, 2]
    """
    if isinstance(labels, str | os.PathLike):
        return _by_names(source, names, _from_xml(names, labels))
    if isinstance(labels, bool | np.bool_):
        raise ParameterError(f"The 'labels' parameter is {labels!r}. {_ALLOWED}")
    if isinstance(labels, int | np.integer):
        return _by_count(source, names, int(labels))
    try:
        items: list[Any] = list(labels or ())
    except TypeError:
        raise ParameterError(f"The 'labels' parameter is {labels!r}. {_ALLOWED}") from None
    if all(isinstance(item, str) for item in items):
        return _by_names(source, names, items)
    if all(isinstance(item, int | np.integer) and not isinstance(item, bool) for item in items):
        return _by_numbers(source, names, [int(item) for item in items])
    raise ParameterError(f"The 'labels' parameter is {labels!r}. {_ALLOWED}")


def chosen_parents(labels: LabelChoice, names: Sequence[str]) -> list[int] | None:
    """Find the labels' hierarchy, if ``labels=`` names an XML file that has one."""
    if not isinstance(labels, str | os.PathLike):
        return None
    from scumble.data.formats.arff.label_xml import read_label_xml

    parents = read_label_xml(os.fspath(labels)).parents
    number: dict[str | None, int] = {name: at for at, name in enumerate(names)}
    return [number.get(parents[name], -1) for name in names]


def column_number(source: Source, names: Sequence[str], column: str | int, option: str) -> int:
    """Find one column by its name or number."""
    if isinstance(column, str):
        if column not in names:
            raise source.error(f"{option} names {column!r}. {_there_is(names)}")
        return list(names).index(column)
    if not isinstance(column, int | np.integer) or isinstance(column, bool):
        raise ParameterError(
            f"The {option!r} parameter must be a column's name or number. Got {column!r} instead."
        )
    if not -len(names) <= column < len(names):
        raise source.error(
            f"{option} names the column {column}, but the columns are numbered 0 to "
            f"{len(names) - 1}."
        )
    return int(column) % len(names)


def _by_names(source: Source, names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    places = {name: at for at, name in enumerate(names)}
    seen: set[str] = set()
    for name in wanted:
        if name not in places:
            raise source.error(f"labels=... names {name!r}. {_there_is(names)}")
        if name in seen:
            raise source.error(f"labels=... names {name!r} twice.")
        seen.add(name)
    return sorted(places[name] for name in wanted)


def _by_numbers(source: Source, names: Sequence[str], wanted: Sequence[int]) -> list[int]:
    found = [column_number(source, names, number, "labels=...") for number in wanted]
    if len(set(found)) < len(found):
        raise source.error("labels=... names a column twice.")
    return sorted(found)


def _by_count(source: Source, names: Sequence[str], count: int) -> list[int]:
    n = len(names)
    if abs(count) > n:
        raise source.error(f"labels={count} asks for more columns than the {n} of the file.")
    return list(range(count) if count >= 0 else range(n + count, n))


def _from_xml(names: Sequence[str], path: str | os.PathLike[str]) -> list[str]:
    from scumble.data.formats.arff.label_xml import read_label_xml

    text = os.fspath(path)
    if text in names and not text.lower().endswith(".xml"):
        raise ParameterError(
            f"The 'labels' parameter is {text!r}, the name of a column. A text means the path of "
            f"an XML file: for a single 0/1 column give a list, [{text!r}]; for a column of label "
            f"lists use label_column={text!r}."
        )
    return list(read_label_xml(text).parents)


def _there_is(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:20])
    return f"The columns are {shown}{', ...' if len(names) > 20 else ''}."
