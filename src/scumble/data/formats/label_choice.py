"""Which columns are labels: what ``labels=`` says, or an XML file, or the file itself.

And which are features, where users name columns to leave out or to learn the words of.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scumble._core.errors import ParameterError, ReadError, did_you_mean, parameter_error
from scumble._core.files import InputFile
from scumble._core.parameters import is_integer
from scumble._core.text import excerpt
from scumble.data.dataset import MultilabelDataset
from scumble.data.feature import ColumnSelection, first_duplicate
from scumble.data.feature_kinds import as_text_feature
from scumble.data.formats.arff.label_xml import LabelHierarchy, read_label_xml
from scumble.data.formats.base import LabelChoice

_ALLOWED = (
    "Expected names, column numbers from 0, a count (negative: from the end), or the path of a "
    "MULAN XML file."
)


@dataclass(frozen=True)
class LabelColumns:
    """The columns that are labels, in the order of the file, and their parents."""

    columns: tuple[int, ...]
    parents: tuple[int, ...] | None = None


@dataclass(frozen=True)
class FileColumns:
    """The columns of a file as users ask for them; those that are not there are refused."""

    source: InputFile
    names: Sequence[str]
    unlabelled: bool = False  # whether the file says that there is no label

    def resolve_labels(self, labels: LabelChoice) -> LabelColumns:
        """Find the columns that ``labels=`` means."""
        if isinstance(labels, str | os.PathLike):
            self._refuse_column_name(os.fspath(labels))
            return self.labels_from_tree(read_label_xml(os.fspath(labels)))
        if is_integer(labels):
            return self.labels_by_count(int(labels))  # type: ignore[arg-type]  # it is a number
        items: list[Any] = list(labels) if np.iterable(labels) else [None]
        if all(isinstance(item, str) for item in items):
            return self.labels_by_name(items)
        if all(map(is_integer, items)):
            columns = [self.column_index(number, "labels=...") for number in items]
            return self._sorted(columns, columns, "labels=...")
        raise ParameterError(f"The 'labels' parameter is {labels!r}. {_ALLOWED}")

    def labels_by_count(self, count: int) -> LabelColumns:
        """Take the first columns, or the last ones if the count is negative."""
        n = len(self.names)
        if abs(count) > n:
            found = f"{abs(count)} labels are asked for, but the file has only {n} columns."
            raise self.source.error(found)
        return LabelColumns(tuple(range(count) if count >= 0 else range(n + count, n)))

    def labels_by_name(self, wanted: Sequence[str], where: str = "labels=...") -> LabelColumns:
        """Take the columns with these names."""
        places = {name: at for at, name in enumerate(self.names)}
        unknown = [name for name in wanted if name not in places]
        if unknown:
            others = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
            raise self._no_column(f"{where} names the label", unknown[0], others)
        return self._sorted([places[name] for name in wanted], wanted, where)

    def labels_from_tree(self, tree: LabelHierarchy) -> LabelColumns:
        """Take the columns an XML file names."""
        if not tree.parents and not self.unlabelled:
            raise self.source.error(
                f"{tree.where} names no label. Expected at least one <label name='...'>."
            )
        columns = self.labels_by_name(list(tree.parents), where=tree.where).columns
        names = [self.names[at] for at in columns]
        number: dict[str | None, int] = {name: label for label, name in enumerate(names)}
        parents = tuple(number.get(tree.parents[name], -1) for name in names)
        return LabelColumns(columns, parents if any(parent >= 0 for parent in parents) else None)

    def column_index(self, column: str | int, option: str) -> int:
        """Find one column by its name or number."""
        if isinstance(column, str):
            if column not in self.names:
                raise self._no_column(f"{option} names", column)
            return list(self.names).index(column)
        if not is_integer(column):
            raise parameter_error(option, "", "be a column's name or number", column)
        n = len(self.names)
        if not -n <= column < n:
            raise self.source.error(
                f"{option} names the column {column}, but the columns are numbered 0 to {n - 1}."
            )
        return int(column) % n

    def numbers(self, given: ColumnSelection, option: str) -> list[int]:
        """Find columns by their names or numbers; a text may name several, with commas between."""
        found: list[str | int] = []
        for column in as_column_list(given):
            several = isinstance(column, str) and column not in self.names and "," in column
            found += [part.strip() for part in str(column).split(",")] if several else [column]
        return [self.column_index(column, option) for column in found]

    def _sorted(self, columns: list[int], spelled: Sequence[Any], where: str) -> LabelColumns:
        if len(set(columns)) < len(columns):
            raise self.source.error(f"{where} names the label {first_duplicate(spelled)!r} twice.")
        return LabelColumns(tuple(sorted(columns)))

    def _refuse_column_name(self, text: str) -> None:
        if text in self.names and not text.lower().endswith(".xml"):
            raise ParameterError(
                f"The 'labels' parameter is {text!r}, the name of a column. A text means the path "
                f"of an XML file: for a single label give a list, [{text!r}]; where a column holds "
                f"lists of labels, use label_column={text!r}."
            )

    def _no_column(self, asked: str, name: str, others: str = "") -> ReadError:
        names = self.names
        shown = ", ".join(map(excerpt, names[:20])) + (", ..." if len(names) > 20 else "")
        near = did_you_mean(name, names) or f" The columns are {shown}."
        return self.source.error(
            f"{asked} {excerpt(name)}{others}, but the file has no such column.{near}"
        )


def as_column_list(given: ColumnSelection) -> list[str | int]:
    """Make a list of one column or several, by name or number."""
    if given is None:
        return []
    return [given] if isinstance(given, str) or not np.iterable(given) else list(given)


def choose_features(
    source: InputFile,
    data: MultilabelDataset,
    *,
    ignore: ColumnSelection = None,
    text: ColumnSelection = None,
) -> MultilabelDataset:
    """Leave out features of a data set that was read, and learn the words of others."""
    # This is for files that declare what their columns are; a plain table is asked while it is
    # read.
    columns = FileColumns(source, data.feature_names)
    dropped, texts = set(columns.numbers(ignore, "ignore")), set(columns.numbers(text, "text"))
    if not dropped and not texts:
        return data
    features = tuple(
        as_text_feature(feature, source.where) if at in texts else feature
        for at, feature in enumerate(data.features)
        if at not in dropped
    )
    kept = [at for at in range(data.n_features) if at not in dropped]
    return replace(data, X=data.X[:, kept] if dropped else data.X, features=features)
