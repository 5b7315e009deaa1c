"""Find every measure, format, resampler, ... by kind and name.

>>> from scumble import catalogue
>>> "remedial" in catalogue.names("resampler")
True
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from scumble._core.errors import ParameterError
from scumble._core.registry import KINDS, registered

#: The rooms that register things. A room that is still empty costs nothing.
_ROOMS = ("measures", "data.formats", "resample", "learn", "evaluate", "plots")


def entries(kind: str) -> Mapping[str, Any]:
    """Return everything of one kind.

    Examples
    --------
    >>> from scumble import catalogue
    >>> catalogue.entries("measure")["scumble"].upper
    1.0
    """
    if kind not in KINDS:
        raise ParameterError(f"Unknown kind {kind!r}. Expected one of {', '.join(KINDS)}.")
    for room in _ROOMS:
        import_module(f"scumble.{room}")
    return registered(kind)


def names(kind: str) -> tuple[str, ...]:
    """Return the names of one kind, sorted."""
    return tuple(sorted(entries(kind)))


def get(kind: str, name: str) -> Any:
    """Return one entry."""
    known = entries(kind)
    for candidate in (name, name.lower()):
        if candidate in known:
            return known[candidate]
    close = get_close_matches(name.lower(), known) or sorted(known)
    raise ParameterError(f"Unknown {kind} {name!r}. Expected for example {', '.join(close)}.")
