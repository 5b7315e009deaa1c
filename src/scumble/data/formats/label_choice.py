"""Which columns are labels: what ``labels=`` says, or an XML file, or the file itself.

And which are features, where users name columns to leave out or to learn the words of.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scumble._core.errors import ParameterError, refused, suggest
from scumble._core.files import Source
from scumble._core.text import excerpt
from scumble.data.dataset import MultilabelDataset
from scumble.data.feature import first_repeated
from scumble.data.formats.arff.label_xml import LabelTree, read_label_xml
from scumble.data.formats.base import Columns, LabelChoice
from scumble.data.guesses import as_text

_ALLOWED = (
    "Expected names, column numbers from 0, a count (negative: from the end), or the path of a "
    "MULAN XML file."
)


@dataclass(frozen=True)
class Chosen:
    """The columns that are labels, in the order of the file, and their parents."""

    columns: tuple[int, ...]
    parents: tuple[int, ...] | None = None


def choose_labels(
    source: Source, names: Sequence[str], labels: LabelChoice, *, unlabelled: bool = False
) -> Chosen:
    """Find the columns that ``labels=`` means; an XML may name none of ``unlabelled`` data."""
    if isinstance(labels, str | os.PathLike):
        _refuse_column_name(names, os.fspath(labels))
        return by_tree(source, names, read_label_xml(os.fspath(labels)), unlabelled=unlabelled)
    if isinstance(labels, int | np.integer) and not isinstance(labels, bool):
        return by_count(source, names, int(labels))
    items: list[Any] = list(labels) if np.iterable(labels) else [None]
    if all(isinstance(item, str) for item in items):
        return by_names(source, names, items)
    if all(isinstance(item, int | np.integer) and not isinstance(item, bool) for item in items):
        columns = [column_number(source, names, number, "labels=...") for number in items]
        return _sorted(source, columns, columns, "labels=...")
    raise ParameterError(f"The 'labels' parameter is {labels!r}. {_ALLOWED}")


def by_count(source: Source, names: Sequence[str], count: int) -> Chosen:
    """Take the first columns, or the last ones if the count is negative."""
    n = len(names)
    if abs(count) > n:
        raise source.error(f"{abs(count)} labels are asked for, but the file has only {n} columns.")
    return Chosen(tuple(range(count) if count >= 0 else range(n + count, n)))


def by_names(
    source: Source, names: Sequence[str], wanted: Sequence[str], where: str = "labels=..."
) -> Chosen:
    """Take the columns with these names."""
    places = {name: at for at, name in enumerate(names)}
    unknown = [name for name in wanted if name not in places]
    if unknown:
        others = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
        found = f"{where} names the label {excerpt(unknown[0])}{others}"
        raise source.error(f"{found}, {_no_column(unknown[0], names)}")
    return _sorted(source, [places[name] for name in wanted], wanted, where)


def by_tree(
    source: Source, names: Sequence[str], tree: LabelTree, *, unlabelled: bool = False
) -> Chosen:
    """Take the columns an XML file names."""
    if not tree.parents and not unlabelled:
        raise source.error(
            f"{tree.where} names no label. Expected at least one <label name='...'>."
        )
    columns = by_names(source, names, list(tree.parents), where=tree.where).columns
    number: dict[str | None, int] = {names[at]: label for label, at in enumerate(columns)}
    parents = tuple(number.get(tree.parents[names[at]], -1) for at in columns)
    return Chosen(columns, parents if any(parent >= 0 for parent in parents) else None)


def column_number(source: Source, names: Sequence[str], column: str | int, option: str) -> int:
    """Find one column by its name or number."""
    if isinstance(column, str):
        if column not in names:
            raise source.error(f"{option} names {excerpt(column)}, {_no_column(column, names)}")
        return list(names).index(column)
    if not isinstance(column, int | np.integer) or isinstance(column, bool):
        raise refused(option, "", "be a column's name or number", column)
    if not -len(names) <= column < len(names):
        raise source.error(
            f"{option} names the column {column}, but the columns are numbered 0 to "
            f"{len(names) - 1}."
        )
    return int(column) % len(names)


def listed(given: Columns) -> list[str | int]:
    """Make a list of one column or several, by name or number."""
    if given is None:
        return []
    return [given] if isinstance(given, str | int) else list(given)


def column_numbers(source: Source, names: Sequence[str], given: Columns, option: str) -> list[int]:
    """Find columns by their names or numbers; a text may name several, with commas between."""
    found: list[str | int] = []
    for column in listed(given):
        several = isinstance(column, str) and column not in names and "," in column
        found += [part.strip() for part in str(column).split(",")] if several else [column]
    return [column_number(source, names, column, option) for column in found]


def choose_features(
    source: Source, data: MultilabelDataset, *, ignore: Columns = None, text: Columns = None
) -> MultilabelDataset:
    """Leave out features of a data set that was read, and learn the words of others."""
    # This is for files that declare what their columns are; a plain table is asked while it is
    # read.
    names = data.feature_names
    dropped = set(column_numbers(source, names, ignore, "ignore"))
    texts = set(column_numbers(source, names, text, "text"))
    if not dropped and not texts:
        return data
    features = tuple(
        as_text(feature, source.where) if at in texts else feature
        for at, feature in enumerate(data.features)
        if at not in dropped
    )
    kept = [at for at in range(len(names)) if at not in dropped]
    return replace(data, X=data.X[:, kept] if dropped else data.X, features=features)


def _sorted(source: Source, columns: list[int], spelled: Sequence[Any], where: str) -> Chosen:
    if len(set(columns)) < len(columns):
        raise source.error(f"{where} names the label {first_repeated(spelled)!r} twice.")
    return Chosen(tuple(sorted(columns)))


def _refuse_column_name(names: Sequence[str], text: str) -> None:
    if text in names and not text.lower().endswith(".xml"):
        raise ParameterError(
            f"The 'labels' parameter is {text!r}, the name of a column. A text means the path of "
            f"an XML file: for a single label give a list, [{text!r}]; where a column holds lists "
            f"of labels, use label_column={text!r}."
        )


def _no_column(name: str, names: Sequence[str]) -> str:
    shown = ", ".join(map(excerpt, names[:20])) + (", ..." if len(names) > 20 else "")
    near = suggest(name, names)
    return f"but the file has no such column.{near or f' The columns are {shown}.'}"
