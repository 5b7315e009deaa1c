"""Packages whose names are imported on first use (PEP 562)."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def attach(
    package: str, public_names: Sequence[str], names_by_module: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a package with lazy names.

    Parameters
    ----------
    package : str
        Name of the package, its ``__name__``.
    public_names : sequence of str
        Its ``__all__``, the names that ``dir()`` lists.
    names_by_module : mapping of str to sequence of str
        The names to import on first use, by the module that defines them. Names listed under the
        package itself are its submodules.

    Returns
    -------
    tuple of callables
        Values of ``__getattr__`` and ``__dir__`` of the package. After its first use, a name is
        an ordinary attribute of the package.
    """
    module_of_name: dict[str, str] = {}
    for module, names in names_by_module.items():
        module_of_name |= dict.fromkeys(names, module)

    def getattr_lazily(name: str) -> Any:
        """Import a name of the package, store it as an attribute of the package, and return it."""
        if name not in module_of_name:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = module_of_name[name]
        if module == package:
            value: Any = import_module(f"{package}.{name}")
        else:
            value = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    def list_public_names() -> list[str]:
        """Return the public names of the package."""
        return list(public_names)

    return getattr_lazily, list_public_names
