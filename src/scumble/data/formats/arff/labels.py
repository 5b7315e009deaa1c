"""Which attributes are labels: what ``labels=`` says, or an XML file, or the file itself."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scumble._core.errors import ParameterError
from scumble._core.files import Source
from scumble.data.formats.arff.faults import suggest
from scumble.data.formats.arff.header import Header, first_repeated, shorten
from scumble.data.formats.arff.label_xml import LabelTree, read_label_xml
from scumble.data.formats.base import LabelChoice

_ALLOWED = (
    "Expected names, column numbers from 0, a count (negative: from the end), or the path of a "
    "MULAN XML file."
)


@dataclass(frozen=True)
class Chosen:
    """The attributes that are labels, in the order of the file, and their parents."""

    attributes: tuple[int, ...]
    parents: tuple[int, ...] | None = None


def choose_labels(source: Source, header: Header, labels: LabelChoice) -> Chosen:
    """Find the attributes a caller's ``labels=`` means."""
    if isinstance(labels, str | os.PathLike):
        return _from_path(source, header, labels)
    if isinstance(labels, bool | np.bool_):
        raise ParameterError(f"The 'labels' parameter is {labels!r}. {_ALLOWED}")
    if isinstance(labels, int | np.integer):
        return by_count(source, header, int(labels))
    items = _as_list(labels)
    if all(isinstance(item, str) for item in items):
        return by_names(source, header, items)
    if all(isinstance(item, int | np.integer) and not isinstance(item, bool) for item in items):
        return _by_numbers(source, header, [int(item) for item in items])
    raise ParameterError(f"The 'labels' parameter is {labels!r}. {_ALLOWED}")


def by_count(source: Source, header: Header, count: int) -> Chosen:
    """Take the first attributes, or the last ones if the count is negative."""
    n = len(header.attributes)
    if abs(count) > n:
        raise source.error(
            f"{abs(count)} labels are asked for, but the file has only {n} attributes."
        )
    return Chosen(tuple(range(count) if count >= 0 else range(n + count, n)))


def by_names(
    source: Source, header: Header, names: Sequence[str], where: str = "labels=..."
) -> Chosen:
    """Take the attributes with these names."""
    _refuse_repeated(source, names, where)
    places = {name: at for at, name in enumerate(header.names)}
    unknown = [name for name in names if name not in places]
    if unknown:
        others = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
        raise source.error(
            f"{where} names the label {shorten(unknown[0])}{others}, but the file has no such "
            f"attribute.{suggest(unknown[0], places)}"
        )
    return Chosen(tuple(sorted(places[name] for name in names)))


def by_tree(source: Source, header: Header, tree: LabelTree) -> Chosen:
    """Take the attributes an XML file names."""
    if not tree.parents and not header.notes.get("unlabelled"):
        raise source.error(f"{tree.path} names no label. Expected at least one <label name='...'>.")
    chosen = by_names(source, header, list(tree.parents), where=str(tree.path))
    numbers = {header.attributes[at].name: i for i, at in enumerate(chosen.attributes)}
    return Chosen(chosen.attributes, _parent_numbers(tree.parents, numbers))


def _parent_numbers(
    parents: Mapping[str, str | None], numbers: Mapping[str, int]
) -> tuple[int, ...] | None:
    above = [-1] * len(numbers)
    for name, parent in parents.items():
        if parent is not None:
            above[numbers[name]] = numbers[parent]
    return None if all(parent == -1 for parent in above) else tuple(above)


def _from_path(source: Source, header: Header, path: str | os.PathLike[str]) -> Chosen:
    if isinstance(path, str) and path in header.names and not path.lower().endswith(".xml"):
        raise ParameterError(
            f"The 'labels' parameter is {path!r}, the name of one attribute. A text means the path "
            f"of an XML file: for a single label give a list, [{path!r}]."
        )
    return by_tree(source, header, read_label_xml(os.fspath(path)))


def _by_numbers(source: Source, header: Header, numbers: Sequence[int]) -> Chosen:
    n = len(header.attributes)
    for number in numbers:
        if not 0 <= number < n:
            raise source.error(
                f"labels=... names the column {number}, but the columns are numbered 0 to {n - 1}."
            )
    _refuse_repeated(source, numbers, "labels=...")
    return Chosen(tuple(sorted(numbers)))


def _as_list(labels: Any) -> list[Any]:
    try:
        return list(labels)
    except TypeError:
        raise ParameterError(f"The 'labels' parameter is {labels!r}. {_ALLOWED}") from None


def _refuse_repeated(source: Source, items: Sequence[Any], where: str) -> None:
    if len(set(items)) < len(items):
        raise source.error(f"{where} names the label {first_repeated(items)!r} twice.")
