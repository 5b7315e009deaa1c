"""Resolves the columns that users name: labels, ignored columns, and columns of texts."""

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
from scumble.data.formats.arff.label_xml import LabelHierarchy, read_label_xml
from scumble.data.formats.base import LabelChoice
from scumble.data.infer.feature_kinds import as_text_feature

_ALLOWED = (
    "Expected names, column numbers from 0, a count (negative: from the end), or the path of a "
    "MULAN XML file."
)


@dataclass(frozen=True)
class LabelColumns:
    """The label columns in the order of the file, and the parent of each label, -1 at the top."""

    columns: tuple[int, ...]
    parents: tuple[int, ...] | None = None


@dataclass(frozen=True)
class FileColumns:
    """Finds columns of a file by name or number; a column that does not exist is an error.

    Parameters
    ----------
    source : InputFile
        The file, for error messages.
    names : sequence of str
        Names of all columns.
    unlabelled : bool
        Whether the file declares that it has no labels.
    """

    source: InputFile
    names: Sequence[str]
    unlabelled: bool = False

    def resolve_labels(self, labels: LabelChoice) -> LabelColumns:
        """Return the columns that the option ``labels`` selects."""
        if isinstance(labels, str | os.PathLike):
            self._check_no_column_name(os.fspath(labels))
            return self.labels_from_hierarchy(read_label_xml(os.fspath(labels)))
        if is_integer(labels):
            return self.labels_by_count(int(labels))  # type: ignore[arg-type]  # it is a number
        items: list[Any] = list(labels) if np.iterable(labels) else [None]
        if all(isinstance(item, str) for item in items):
            return self.labels_by_name(items)
        if all(map(is_integer, items)):
            columns = [self.column_index(number, "labels=...") for number in items]
            return self._sorted_unique(columns, columns, "labels=...")
        raise ParameterError(f"The 'labels' parameter is {labels!r}. {_ALLOWED}")

    def labels_by_count(self, count: int) -> LabelColumns:
        """Return the first columns, or the last ones if the count is negative."""
        n_columns = len(self.names)
        if abs(count) > n_columns:
            raise self.source.error(
                f"{abs(count)} labels are requested, but the file has only {n_columns} columns."
            )
        columns = range(count) if count >= 0 else range(n_columns + count, n_columns)
        return LabelColumns(tuple(columns))

    def labels_by_name(self, names: Sequence[str], where: str = "labels=...") -> LabelColumns:
        """Return the columns with these names; messages call their origin ``where``."""
        index_of = {name: index for index, name in enumerate(self.names)}
        unknown = [name for name in names if name not in index_of]
        if unknown:
            n_more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
            raise self._unknown_column_error(f"{where} names the label", unknown[0], n_more)
        return self._sorted_unique([index_of[name] for name in names], names, where)

    def labels_from_hierarchy(self, hierarchy: LabelHierarchy) -> LabelColumns:
        """Return the columns that an XML file names."""
        if not hierarchy.parents and not self.unlabelled:
            raise self.source.error(
                f"{hierarchy.where} names no label. Expected at least one <label name='...'>."
            )
        columns = self.labels_by_name(list(hierarchy.parents), where=hierarchy.where).columns
        names = [self.names[column] for column in columns]
        label_of: dict[str | None, int] = {name: label for label, name in enumerate(names)}
        parents = tuple(label_of.get(hierarchy.parents[name], -1) for name in names)
        has_parents = any(parent >= 0 for parent in parents)
        return LabelColumns(columns, parents if has_parents else None)

    def column_index(self, column: str | int, option: str) -> int:
        """Return the number of a column, given by name or number."""
        if isinstance(column, str):
            if column not in self.names:
                raise self._unknown_column_error(f"{option} names", column)
            return list(self.names).index(column)
        if not is_integer(column):
            raise parameter_error(option, "", "be a column's name or number", column)
        n_columns = len(self.names)
        if not -n_columns <= column < n_columns:
            raise self.source.error(
                f"{option} names the column {column}, but the columns are numbered 0 to "
                f"{n_columns - 1}."
            )
        return int(column) % n_columns

    def column_indices(self, selection: ColumnSelection, option: str) -> list[int]:
        """Return the numbers of columns; a text may name several, with commas between them."""
        columns: list[str | int] = []
        for column in as_column_list(selection):
            if isinstance(column, str) and column not in self.names and "," in column:
                columns += [name.strip() for name in column.split(",")]
            else:
                columns.append(column)
        return [self.column_index(column, option) for column in columns]

    def _sorted_unique(
        self, columns: list[int], original: Sequence[Any], where: str
    ) -> LabelColumns:
        """Return columns in the order of the file; a duplicate is an error.

        ``original`` holds the columns as the user wrote them.
        """
        if len(set(columns)) < len(columns):
            raise self.source.error(f"{where} names the label {first_duplicate(original)!r} twice.")
        return LabelColumns(tuple(sorted(columns)))

    def _check_no_column_name(self, text: str) -> None:
        """Raise an error if the path of an XML file is in fact the name of a column."""
        if text in self.names and not text.lower().endswith(".xml"):
            raise ParameterError(
                f"The 'labels' parameter is {text!r}, the name of a column. A text means the path "
                f"of an XML file: for a single label give a list, [{text!r}]; where a column holds "
                f"lists of labels, use label_column={text!r}."
            )

    def _unknown_column_error(self, subject: str, name: str, n_more: str = "") -> ReadError:
        """Build the error for a column that does not exist; ``subject`` begins the sentence."""
        suggestion = did_you_mean(name, self.names)
        if not suggestion:
            names = [excerpt(column) for column in self.names[:20]]
            if len(self.names) > 20:
                names.append("...")
            suggestion = f" The columns are {', '.join(names)}."
        return self.source.error(
            f"{subject} {excerpt(name)}{n_more}, but the file has no such column.{suggestion}"
        )


def as_column_list(selection: ColumnSelection) -> list[str | int]:
    """Return a selection of one column or several as a list."""
    if selection is None:
        return []
    if isinstance(selection, str) or not np.iterable(selection):
        return [selection]
    return list(selection)


def choose_features(
    source: InputFile,
    data: MultilabelDataset,
    *,
    ignore: ColumnSelection = None,
    text: ColumnSelection = None,
) -> MultilabelDataset:
    """Return a data set without the ignored features, and with others turned into texts."""
    # This is for formats that declare their columns; readers of plain tables have these options
    # themselves.
    columns = FileColumns(source, data.feature_names)
    ignored = set(columns.column_indices(ignore, "ignore"))
    texts = set(columns.column_indices(text, "text"))
    if not ignored and not texts:
        return data
    kept_columns = [column for column in range(data.n_features) if column not in ignored]
    features = []
    for column in kept_columns:
        feature = data.features[column]
        features.append(as_text_feature(feature, source.where) if column in texts else feature)
    X = data.X[:, kept_columns] if ignored else data.X
    return replace(data, X=X, features=tuple(features))
