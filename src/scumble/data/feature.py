"""What a column of features means, and whether names of columns are unique."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from scumble._core.errors import DataError, ParameterError

Kind = Literal["numeric", "nominal", "string", "date", "text"]
KINDS: tuple[Kind, ...] = ("numeric", "nominal", "string", "date", "text")


@dataclass(frozen=True, slots=True)
class Feature:
    """What a column of ``X`` means.

    Parameters
    ----------
    name : str
        Its name, unique in the data set.
    kind : {"numeric", "nominal", "string", "date", "text"}
        ``X`` holds numbers for *numeric*, codes of `categories` for *nominal*, *string* and *text*,
        and milliseconds since 1970 (UTC) for *date*. What is learnt from a *text* are its words; a
        *string* is one value among others, as in ARFF files.
    categories : tuple of str
        The declared values of a *nominal* feature, or the texts of another, by code.
    integer : bool
        Whether a *numeric* feature holds whole numbers only.
    date_format : str or None
        How a *date* is written in files, in the manner of Java's SimpleDateFormat.

    Examples
    --------
    >>> from scumble.data import Feature
    >>> Feature("colour", "nominal", ("red", "green")).is_categorical
    True
    """

    name: str
    kind: Kind = "numeric"
    categories: tuple[str, ...] = ()
    integer: bool = False
    date_format: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(
                f"The kind of feature {self.name!r} must be one of {', '.join(KINDS)}. "
                f"Got {self.kind!r} instead."
            )
        if self.date_format is not None and not isinstance(self.date_format, str):
            raise ParameterError(
                f"The date format of feature {self.name!r} must be a text. Got "
                f"{self.date_format!r} instead."
            )
        if self.categories and not self.holds_codes:
            raise DataError(f"The {self.kind} feature {self.name!r} cannot have categories.")
        if self.categories and len(set(self.categories)) < len(self.categories):
            raise DataError(f"The categories of feature {self.name!r} repeat a value.")

    @property
    def is_categorical(self) -> bool:
        """Whether each value is a category to learn from."""
        return self.kind in ("nominal", "string")

    @property
    def holds_codes(self) -> bool:
        """Whether ``X`` holds codes of `categories` rather than quantities."""
        return self.is_categorical or self.kind == "text"


def first_repeated(items: Sequence[Any]) -> Any:
    """Find the first item that stands in a list twice; None if there is none."""
    if len(set(items)) == len(items):
        return None
    seen: set[Any] = set()
    for item in items:
        if item in seen:
            break
        seen.add(item)
    return item
