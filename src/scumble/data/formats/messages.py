"""Pieces of files in messages about what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def excerpt(text: str, limit: int = 60) -> str:
    """Quote a piece of a file, cut to a readable length."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


def first_repeated(items: Sequence[Any]) -> Any:
    """Find the first item that stands in a list twice; None if there is none."""
    seen = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None
