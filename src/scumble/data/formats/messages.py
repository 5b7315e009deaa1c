"""Pieces of files in messages about what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any


def excerpt(text: str, limit: int = 60) -> str:
    """Quote a piece of a file, cut to a readable length."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


def suggest(name: str, known: Iterable[str]) -> str:
    """Propose known names that look like a wrong one."""
    # The comparison is slow: it must not be what a wrong file costs most.
    candidates = [other for other in islice(known, 20_000) if len(other) <= 60]
    near = get_close_matches(name, candidates, n=3, cutoff=0.6) if len(name) <= 60 else []
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def first_repeated(items: Sequence[Any]) -> Any:
    """Find the first item that stands in a list twice; None if there is none."""
    seen = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None
