"""Public names that load on first use (PEP 562), so that importing a room costs little."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the ``__getattr__`` and ``__dir__`` of a package from the names in each home."""
    # What else is in ``__all__`` is a module of the package. Editors and type checkers follow the
    # imports the package writes under ``TYPE_CHECKING``.
    home_of = {name: home for home, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name not in sys.modules[package].__all__:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(home_of.get(name, f"{package}.{name}"))
        value = getattr(module, name) if name in home_of else module
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        return sorted(sys.modules[package].__all__)

    return load, list_names
