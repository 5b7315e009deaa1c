"""Public names that load on first use (PEP 562), so that importing a room costs little."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the ``__getattr__`` and ``__dir__`` of a package."""
    # Editors and type checkers follow the imports the package writes under ``TYPE_CHECKING``.

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(homes[name])
        value = module if homes[name] == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        return sorted(sys.modules[package].__all__)

    return load, list_names
