"""The public names of a package: those it imports as themselves, at once or on first use."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any


def publish(
    namespace: dict[str, Any], homes: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> None:
    """Give a package its ``__all__``: what it has imported, without modules, and names in homes.

    The latter load on first use (PEP 562), so that importing the package costs little; those whose
    home is the package itself are its modules. Type checkers follow the imports, also those below
    ``TYPE_CHECKING``: an ``__all__`` that is made would tell them of no name at all.
    """
    package = namespace["__name__"]
    home_of = {name: home for home, names in homes.items() for name in names}
    imported = (
        name
        for name, value in namespace.items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    )
    namespace["__all__"] = known = sorted({*imported, *home_of})

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = home_of[name]
        is_module = home == package
        value = import_module(f"{home}.{name}") if is_module else getattr(import_module(home), name)
        namespace[name] = value
        return value

    if home_of:
        namespace.update(__getattr__=load, __dir__=lambda: known)
