"""Which classes a model file may name."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from scumble._core.errors import ReadError

#: Classes of these rooms hold numbers, and are made from a file without running any code.
_OWN = re.compile(r"scumble\.(learn|resample|_core\.(neighbours|features))(\.[A-Za-z_]\w*)*")
#: What skops does not trust by itself, and we check after loading.
CHECKED = frozenset({"sklearn.tree._tree.Tree"})


def is_own(kind: type) -> bool:
    """Tell whether a class is one of this package that a file may hold."""
    if not _OWN.fullmatch(kind.__module__):
        return False
    return find_class(f"{kind.__module__}.{kind.__qualname__}") is kind


def find_class(name: str) -> type | None:
    """Find one of this package's classes by its full name."""
    module, _, short = name.rpartition(".")
    if not _OWN.fullmatch(module):
        return None
    try:
        found: Any = getattr(import_module(module), short, None)
    except ImportError:
        return None
    defined_here = isinstance(found, type) and found.__module__ == module
    return found if defined_here else None


def refuse_untrusted(found: list[str], trusted: tuple[str, ...]) -> list[str]:
    """Refuse the types skops does not trust, unless they are ours or the caller trusts them."""
    unknown = [
        name
        for name in found
        if name not in trusted and name not in CHECKED and find_class(name) is None
    ]
    if unknown:
        raise ReadError(
            f"the model holds objects of types that are not trusted: {', '.join(unknown)}. Making "
            "them could run code of whoever wrote the file. If you know where it comes from, say "
            f"load(path, trusted={unknown!r})."
        )
    return found
