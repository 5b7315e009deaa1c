"""The record that describes a file format, and the options of readers of plain tables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from scumble._core.arrays import stored_values
from scumble._core.files import InputFile, OutputFile
from scumble._core.registry import register
from scumble._core.text import default_names
from scumble.data.dataset import MultilabelDataset
from scumble.data.feature import ColumnSelection

#: The option ``labels``: names, column numbers, a count, or the path of a MULAN XML file.
LabelChoice = Sequence[str] | Sequence[int] | int | str | None

#: Fields of `TableOptions` that may hold several columns.
_COLUMN_LIST_OPTIONS = ("labels", "ignore", "text", "category", "keep")

#: The parts of a data set that some formats cannot store, each with a function that says whether a
#: data set has it. The name of a data set is such a part unless it is the stem of the file, because
#: readers use the stem as the name.
_PART_CHECKS: dict[str, Callable[[MultilabelDataset, str], bool]] = {
    "data set name": lambda data, stem: data.name not in ("", stem),
    "feature names": lambda data, _: data.feature_names != default_names("x", data.n_features),
    "feature kinds": lambda data, _: any(f.kind != "numeric" for f in data.features),
    "label names": lambda data, _: data.labels != default_names("y", data.n_labels),
    "labels never seen": lambda data, _: 0 in np.bincount(data.Y.indices, minlength=data.n_labels),
    "label hierarchy": lambda data, _: data.label_parents is not None,
    "instance weights": lambda data, _: data.weights is not None,
    "missing values": lambda data, _: bool(np.isnan(stored_values(data.X)).any()),
    "rows without labels": lambda data, _: 0 in np.diff(data.Y.indptr),
    "sparse storage": lambda data, _: data.is_sparse,
}
#: The names of these parts, as `Format.preserved_parts` lists them.
DATASET_PARTS = tuple(_PART_CHECKS)


def present_parts(dataset: MultilabelDataset, stem: str = "") -> set[str]:
    """Return those of `DATASET_PARTS` that a data set has.

    ``stem`` is the name, without suffixes, of the file that it is written to; "" if there is none.
    """
    return {part for part, is_present in _PART_CHECKS.items() if is_present(dataset, stem)}


@dataclass(frozen=True)
class Format:
    """One file format. Creating the record registers the format in the catalogue.

    Parameters
    ----------
    name : str
        The value of ``format=`` that selects it.
    title : str
        A short description for lists.
    suffixes : tuple of str
        File suffixes, with their dot; the first one is preferred when a file is written.
    sniff : callable
        Takes an `InputFile` and its first bytes; returns a score between 0 and 1 that says how
        likely the file has this format.
    read : callable
        Takes an `InputFile` and options by keyword; returns a `MultilabelDataset`.
    write : callable
        Takes a `MultilabelDataset`, an `OutputFile` and options by keyword.
    preserved_parts : frozenset of str
        The members of `DATASET_PARTS` that a file of this format can store.
    companion_file : callable
        Returns the path of the second file that is read or written with a file, if there is one.
    display_group : str
        The heading under which the format is listed.
    can_hold_zero_rows : bool
        Whether a file can hold a data set without instances; if not, writing one is an error.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    sniff: Callable[[InputFile, bytes], float]
    read: Callable[..., MultilabelDataset]
    write: Callable[..., None]
    preserved_parts: frozenset[str] = frozenset(DATASET_PARTS)
    companion_file: Callable[[InputFile | OutputFile], Path | None] = lambda _: None
    display_group: str = "More"
    can_hold_zero_rows: bool = True

    def __post_init__(self) -> None:
        """Register the format in the catalogue, after a check of ``preserved_parts``."""
        unknown = self.preserved_parts - set(DATASET_PARTS)
        assert not unknown, f"{self.name} preserves unknown parts: {unknown}"
        register(
            "format", self.name, self, display_group=self.display_group, description=self.title
        )


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Options that say what the columns of a plain table are, in any format.

    Parameters
    ----------
    labels : sequence, int or str, optional
        Which columns are labels, see `scumble.read`.
    label_column : str or int, optional
        The column that holds all labels of a row.
    label_separator : str, optional
        The text between the labels of ``label_column``, if its cells are texts and not lists.
    weight_column : str or int, optional
        A column with the weights of the instances.
    ignore : str, int or a sequence of them, optional
        Columns to leave out, by name or number.
    text : str, int or a sequence of them, optional
        Columns of free text, which a classifier gets as one number per word, computed from the
        training rows; see `scumble.learn.TextColumns`.
    category : str, int or a sequence of them, optional
        Columns whose values are categories, although they look like numbers, dates or identifiers.
    keep : str, int, a sequence of them, or True, optional
        Columns that are read as they are, without inference: they are not left out and not
        converted, whatever they seem to hold. True stands for all columns.
    """

    labels: LabelChoice = None
    label_column: str | int | None = None
    label_separator: str | None = None
    weight_column: str | int | None = None
    ignore: ColumnSelection = None
    text: ColumnSelection = None
    category: ColumnSelection = None
    keep: ColumnSelection | Literal[True] = None

    def __post_init__(self) -> None:
        """Turn NumPy scalars into Python values, and sequences of columns into lists."""
        for name, value in vars(self).items():
            if isinstance(value, np.generic):
                object.__setattr__(self, name, value.item())
            elif name in _COLUMN_LIST_OPTIONS and np.iterable(value) and not isinstance(value, str):
                # A list, because records that hold arrays cannot be compared.
                object.__setattr__(self, name, list(value))
