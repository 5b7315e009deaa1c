"""The public names of a package: those it imports as themselves, at once or on first use."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any


def public_names(namespace: Mapping[str, Any]) -> list[str]:
    """Return the ``__all__`` of a package: what it has imported, without modules."""
    return sorted(
        name
        for name, value in namespace.items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    )


def lazy_names(
    namespace: dict[str, Any], homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make the ``__getattr__``, ``__dir__`` and ``__all__`` of a package (PEP 562).

    Names load from their homes on first use, so that importing the package costs little; those
    whose home is the package itself are its modules. Editors and type checkers follow the imports
    below ``TYPE_CHECKING``.
    """
    package = namespace["__name__"]
    home_of = {name: home for home, names in homes.items() for name in names}
    known = sorted({*public_names(namespace), *home_of})

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = home_of[name]
        is_module = home == package
        value = import_module(f"{home}.{name}") if is_module else getattr(import_module(home), name)
        namespace[name] = value
        return value

    return load, lambda: known, known
