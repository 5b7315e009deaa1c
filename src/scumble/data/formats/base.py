"""What a file format offers, and how one is found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, Literal

import numpy as np

from scumble._core.arrays import stored_values
from scumble._core.files import InputFile, OutputFile
from scumble._core.registry import register
from scumble._core.text import default_names
from scumble.data.dataset import MultilabelDataset
from scumble.data.feature import ColumnSelection

#: What `labels=` may be: names, column numbers, a count, or the path of a MULAN XML file.
LabelChoice = Sequence[str] | Sequence[int] | int | str | None

#: Options that may name several columns.
_SEVERAL = ("labels", "ignore", "text", "category", "keep")

#: How to tell whether a data set holds a part that a format may or may not be able to carry. Its
#: name is such a part unless it is the stem of the file, which a reader calls it by.
_HELD: dict[str, Callable[[MultilabelDataset, str], bool]] = {
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
DATASET_PARTS = tuple(_HELD)


def present_parts(dataset: MultilabelDataset, stem: str = "") -> set[str]:
    """Name the parts that a data set holds; ``stem`` is the name of its file."""
    return {part for part, is_held in _HELD.items() if is_held(dataset, stem)}


@dataclass(frozen=True)
class Format:
    """One file format."""

    name: str
    title: str
    suffixes: tuple[str, ...]
    sniff: Callable[[InputFile, bytes], float]
    read: Callable[..., MultilabelDataset]
    write: Callable[..., None]
    preserved_parts: frozenset[str] = frozenset(DATASET_PARTS)
    #: Which file beside it is read, or would be written, with a file.
    companion_file: Callable[[InputFile | OutputFile], Path | None] = lambda _: None
    display_group: str = "More"

    def __post_init__(self) -> None:
        unknown = self.preserved_parts - set(DATASET_PARTS)
        assert not unknown, f"{self.name} carries unknown parts: {unknown}"
        register(
            "format", self.name, self, display_group=self.display_group, description=self.title
        )


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """What users say of the columns of a plain table, whatever its form.

    Parameters
    ----------
    labels : sequence, int or str, optional
        Which columns are labels, see `scumble.read`.
    label_column : str or int, optional
        The column that holds all labels of a row.
    label_separator : str, optional
        What stands between the labels there, where they are texts and not lists.
    weight_column : str or int, optional
        A column with the weights of the instances.
    ignore : str, int or a sequence of them, optional
        Columns to leave out, by name or number.
    text : str, int or a sequence of them, optional
        Columns of texts whose words are learnt.
    category : str, int or a sequence of them, optional
        Columns whose values are categories, though they look like numbers, dates or names of rows.
    keep : str, int, a sequence of them, or True, optional
        Columns to take as they are, whatever they look like; True takes all of them so.
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
        for name, given in vars(self).items():
            if isinstance(given, np.generic):
                object.__setattr__(self, name, given.item())
            elif name in _SEVERAL and np.iterable(given) and not isinstance(given, str):
                object.__setattr__(self, name, list(given))  # arrays cannot be compared with others


def options_from(options: type) -> Callable[[Callable[[InputFile, Any], MultilabelDataset]], Any]:
    """Let a reader take the fields of a record as options; it gets the record."""

    def dress(reader: Callable[[InputFile, Any], MultilabelDataset]) -> Any:
        @wraps(reader)
        def read(source: InputFile, **given: Any) -> MultilabelDataset:
            return reader(source, options(**given))

        source = Parameter("source", Parameter.POSITIONAL_OR_KEYWORD, annotation=InputFile)
        named = signature(options).parameters.values()
        read.__signature__ = Signature([source, *named])  # type: ignore[attr-defined]  # for `read`
        return read

    return dress
