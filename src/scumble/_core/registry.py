"""What exists, by kind and name. Decorators fill it; ``scumble.catalogue`` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from scumble._core.errors import ParameterError

KINDS = ("measure", "format", "resampler", "metric", "classifier", "splitter", "plot")

_entries: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}


def register(kind: str, name: str, entry: Any) -> None:
    """Enter ``entry`` under ``kind`` and ``name``; the same name twice is a mistake."""
    known = _entries[kind]
    present = known.get(name)
    if present is not None and _identity(present) != _identity(entry):
        raise ParameterError(
            f"Two entries want to be the {kind} {name!r}: {present!r} and {entry!r}."
        )
    known[name] = entry


def registered(kind: str) -> Mapping[str, Any]:
    """Return the entries of one kind, in the order of their registration."""
    return MappingProxyType(_entries[kind])


def _identity(entry: Any) -> tuple[str, str]:
    """Name an entry so that reloading its module is not taken for a clash."""
    owner = entry if hasattr(entry, "__qualname__") else type(entry)
    return owner.__module__, getattr(entry, "name", owner.__qualname__)
