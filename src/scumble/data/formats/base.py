"""What a file format offers, and how one is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scumble._core.files import Source, Target
from scumble._core.registry import register

if TYPE_CHECKING:
    from scumble.data.dataset import MultilabelDataset

#: What `labels=` may be: names, column numbers, a count, or the path of a MULAN XML file.
LabelChoice = Sequence[str] | Sequence[int] | int | str | None

#: What options that name columns may be: names, or numbers from 0, one or several.
Columns = Sequence[str | int] | str | int | None

#: Everything a data set holds that a format may or may not be able to carry.
PARTS = (
    "data set name",
    "feature names",
    "feature kinds",
    "label names",
    "labels never seen",
    "label hierarchy",
    "instance weights",
    "missing values",
    "rows without labels",
    "sparse storage",
)


@dataclass(frozen=True)
class Format:
    """One file format."""

    name: str
    title: str
    suffixes: tuple[str, ...]
    sniff: Callable[[Source, bytes], float]
    read: Callable[..., MultilabelDataset]
    write: Callable[..., None]
    carries: frozenset[str]
    #: Which file beside it is read, or would be written, with a file.
    beside: Callable[[Source | Target], Path | None] = lambda _: None
    family: str = "More"

    def __post_init__(self) -> None:
        unknown = self.carries - set(PARTS)
        assert not unknown, f"{self.name} carries unknown parts: {unknown}"
        register("format", self.name, self, family=self.family, description=self.title)


__all__ = ["PARTS", "Columns", "Format", "LabelChoice", "Source", "Target"]
