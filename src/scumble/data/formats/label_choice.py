"""Resolves the columns that users name: labels, ignored columns, and columns of texts.

In error messages, ``origin`` is the text that says what names a column: an option such as
"labels=...", a keyword of a file's header, or the path of an XML file.
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
from scumble.data.formats.arff.label_xml import LabelHierarchy, read_label_xml
from scumble.data.formats.base import LabelChoice
from scumble.data.infer.feature_kinds import as_text_feature

_ALLOWED = (
    "Expected names, column numbers from 0, a count (negative: from the end), or the path of a "
    "MULAN XML file."
)


@dataclass(frozen=True)
class LabelColumns:
    """The columns of a file that are labels."""

    columns: tuple[int, ...]  # in ascending order
    parents: tuple[int, ...] | None = None  # index of each label's parent in ``columns``, or -1


@dataclass(frozen=True)
class FileColumns:
    """Finds columns of a file by name or number; raises ReadError if a column does not exist.

    Parameters
    ----------
    source : InputFile
        The file, for error messages.
    names : sequence of str
        Names of all columns.
    is_unlabelled : bool
        Whether the file declares that it has no labels, so that none need be named.
    """

    source: InputFile
    names: Sequence[str]
    is_unlabelled: bool = False

    def resolve_labels(self, labels: LabelChoice) -> LabelColumns:
        """Return the columns that the option ``labels`` of `scumble.read` selects."""
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
            duplicate = first_duplicate(columns)
            if duplicate is not None:
                raise self.source.error(f"labels=... names the label {duplicate!r} twice.")
            return LabelColumns(tuple(sorted(columns)))
        raise ParameterError(f"The 'labels' parameter is {labels!r}. {_ALLOWED}")

    def labels_by_count(self, count: int) -> LabelColumns:
        """Return the first ``count`` columns, or the last ``-count`` if the count is negative."""
        n_columns = len(self.names)
        if abs(count) > n_columns:
            raise self.source.error(
                f"{abs(count)} labels are requested, but the file has only {n_columns} columns."
            )
        columns = range(count) if count >= 0 else range(n_columns + count, n_columns)
        return LabelColumns(tuple(columns))

    def labels_by_name(self, names: Sequence[str], origin: str = "labels=...") -> LabelColumns:
        """Return the columns with these names, in the order of the file.

        Raise ReadError as `check_names` does.

        ``origin`` is what gives the names, such as the path of an XML file, for messages.
        """
        self.check_names(names, origin)
        index_of = {name: index for index, name in enumerate(self.names)}
        return LabelColumns(tuple(sorted(index_of[name] for name in names)))

    def check_names(self, names: Sequence[str], origin: str) -> None:
        """Raise ReadError if a name is not that of a column, or occurs twice.

        ``origin``, what gives the names, begins the message.
        """
        existing_names = set(self.names)
        unknown_names = [name for name in names if name not in existing_names]
        if unknown_names:
            suffix = f" (and {len(unknown_names) - 1} more)" if len(unknown_names) > 1 else ""
            raise self._unknown_column_error(
                f"{origin} names the label", unknown_names[0], suffix=suffix
            )
        duplicate = first_duplicate(names)
        if duplicate is not None:
            raise self.source.error(f"{origin} names the label {duplicate!r} twice.")

    def labels_from_hierarchy(self, hierarchy: LabelHierarchy) -> LabelColumns:
        """Return the columns that an XML file names, and their parents if one of them has any.

        A parent that is not a column of the file counts as none.
        """
        if not hierarchy.parents and not self.is_unlabelled:
            raise self.source.error(
                f"{hierarchy.origin} names no label. Expected at least one <label name='...'>."
            )
        columns = self.labels_by_name(list(hierarchy.parents), origin=hierarchy.origin).columns
        names = [self.names[column] for column in columns]
        index_of_label: dict[str | None, int] = {name: index for index, name in enumerate(names)}
        parents = tuple(index_of_label.get(hierarchy.parents[name], -1) for name in names)
        has_parents = any(parent >= 0 for parent in parents)
        return LabelColumns(columns, parents if has_parents else None)

    def column_index(self, column: str | int, option: str) -> int:
        """Return the number, from 0, of a column that ``option`` gives by name or number.

        A negative number counts from the end.
        """
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
        """Return the numbers, from 0, of the columns that ``option`` selects.

        A text that is not a column's name may hold several names, with commas between them.
        """
        columns: list[str | int] = []
        for column in as_column_list(selection):
            if isinstance(column, str) and column not in self.names and "," in column:
                columns += [name.strip() for name in column.split(",")]
            else:
                columns.append(column)
        return [self.column_index(column, option) for column in columns]

    def _check_no_column_name(self, text: str) -> None:
        """Raise ParameterError if ``labels=text`` names a column instead of an XML file."""
        if text in self.names and not text.lower().endswith(".xml"):
            raise ParameterError(
                f"The 'labels' parameter is {text!r}, the name of a column. A text means the path "
                f"of an XML file: for a single label give a list, [{text!r}]; where a column holds "
                f"lists of labels, use label_column={text!r}."
            )

    def _unknown_column_error(self, subject: str, name: str, *, suffix: str = "") -> ReadError:
        """Return the error for a column that does not exist.

        Its message begins with ``subject``, the name, and ``suffix``.
        """
        suggestion = did_you_mean(name, self.names)
        if not suggestion:
            names = [excerpt(column) for column in self.names[:20]]
            if len(self.names) > 20:
                names.append("...")
            suggestion = f" The columns are {', '.join(names)}."
        return self.source.error(
            f"{subject} {excerpt(name)}{suffix}, but the file has no such column.{suggestion}"
        )


def as_column_list(selection: ColumnSelection) -> list[str | int]:
    """Return a selection of one column, of several, or of none (None) as a list."""
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
    """Return a data set without the features ``ignore``, and with ``text`` as text features.

    This is for formats that declare their columns; readers of plain tables have these options
    themselves.
    """
    columns = FileColumns(source, data.feature_names)
    ignored_columns = set(columns.column_indices(ignore, "ignore"))
    text_columns = set(columns.column_indices(text, "text"))
    if not ignored_columns and not text_columns:
        return data
    remaining_columns = [
        column for column in range(data.n_features) if column not in ignored_columns
    ]
    features = []
    for column in remaining_columns:
        feature = data.features[column]
        if column in text_columns:
            feature = as_text_feature(feature, input_name=source.display_name)
        features.append(feature)
    X = data.X[:, remaining_columns] if ignored_columns else data.X

    return replace(data, X=X, features=tuple(features))
