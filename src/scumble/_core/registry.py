"""What exists, by kind and name. Decorators fill it; ``scumble.catalogue`` reads it."""

import inspect
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any

from scumble._core.errors import ParameterError, ParameterTypeError, ScumbleWarning, did_you_mean
from scumble._core.text import strip_markup

KINDS = ("measure", "format", "resampler", "metric", "classifier", "splitter", "plot")
#: Kinds whose things are classes.
CLASS_KINDS = ("resampler", "classifier", "splitter")
#: What a thing of each kind must have to be of use.
REQUIRED_ATTRIBUTES = {
    "measure": ("function", "level"),
    "format": ("sniff", "read", "write", "preserved_parts", "suffixes"),
    "resampler": ("fit_resample", "resample", "get_params", "check_parameters"),
    "metric": ("function", "formula", "needs"),
    "classifier": ("fit", "predict", "get_params"),
    "splitter": ("split", "get_n_splits", "get_params"),
    "plot": ("function", "title"),
}
#: Packages name their modules here; importing such a module registers what it has.
PLUGINS = "scumble.plugins"


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One thing of the catalogue.

    Attributes
    ----------
    kind, name : str
        Where it stands.
    thing : object
        A class, or the record of a function or format.
    display_group : str
        What things of its kind it belongs with.
    description : str
        One line.

    Examples
    --------
    >>> from scumble import catalogue
    >>> catalogue.describe("splitter", "kfold").description
    'Deal the rows into folds of equal size by chance.'
    """

    kind: str
    name: str
    obj: Any
    display_group: str
    description: str


_entries: dict[str, dict[str, CatalogueEntry]] = {kind: {} for kind in KINDS}


def register(
    kind: str, name: str, obj: Any, *, display_group: str = "More", description: str = ""
) -> None:
    """Enter a thing under ``kind`` and ``name``; the same name twice is a mistake.

    The first line of its docstring describes it unless something else is given.
    """
    known = _entries[kind]
    present = known.get(name)
    if present is not None and _identity(present.obj) != _identity(obj):
        raise ParameterError(
            f"Two entries want to be the {kind} {name!r}: {present.obj!r} and {obj!r}."
        )
    known[name] = CatalogueEntry(kind, name, obj, display_group, description or _first_line(obj))


def unregister(kind: str, name: str) -> None:
    """Take an entry out again."""
    _entries[kind].pop(name, None)


def registered_entries(kind: str) -> Mapping[str, CatalogueEntry]:
    """Return the entries of one kind, in the order of their registration."""
    return MappingProxyType(_entries[kind])


def registered_objects(kind: str) -> Mapping[str, Any]:
    """Return the things of one kind, in the order of their registration."""
    return MappingProxyType({name: entry.obj for name, entry in _entries[kind].items()})


def find_object(kind: str, name: str) -> Any:
    """Return a thing by its name, in any case; load what other packages offer if need be."""
    return find_entry(kind, name).obj


def find_entry(kind: str, name: str) -> CatalogueEntry:
    """Return an entry by its name, in any case; load what other packages offer if need be."""
    if not isinstance(name, str):
        raise ParameterTypeError(f"The name of a {kind} must be a text. Got {name!r} instead.")
    known = registered_entries(kind)
    if not known.keys() & {name, name.lower()}:
        load_plugins()
    for candidate in (name, name.lower()):
        if candidate in known:
            return known[candidate]
    meant = _of_class(name, known) or did_you_mean(name, known)
    raise ParameterError(f"There is no {kind} {name!r}.{meant} Known are: {', '.join(known)}.")


def _of_class(name: str, known: Mapping[str, CatalogueEntry]) -> str:
    """Say under which name a class stands that was called by its own."""
    for entry in known.values():
        if getattr(entry.obj, "__name__", "").lower() == name.lower():
            return f" Did you mean {entry.name!r}?"
    return ""


def find_class(kind: str, name: str) -> Any:
    """Return a class by its name, or import it by its dotted name."""
    # Never for names that come from outside: importing a module runs it.
    if "." not in name:
        return find_object(kind, name)
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ParameterError(f"There is no {kind} {name!r}: {error}.") from error
    check_required_attributes(kind, found)
    return found


def check_required_attributes(kind: str, obj: Any) -> None:
    """Refuse what lacks something that things of its kind have to have."""
    missing = [need for need in REQUIRED_ATTRIBUTES[kind] if not hasattr(obj, need)]
    if missing or (kind in CLASS_KINDS and not inspect.isclass(obj)):
        lack = f"it has no {missing[0]!r}" if missing else "it is no class"
        raise ParameterTypeError(f"{obj!r} is no {kind}: {lack}.")


@cache
def load_plugins() -> None:
    """Import what other packages offer, once. One that fails is left out, with a warning."""
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=PLUGINS), key=lambda point: point.name):
        try:
            point.load()
        except Exception as error:  # another package's fault must not end our work
            package = point.dist.name if point.dist is not None else "unknown"
            warnings.warn(
                f"The plug-in {point.name!r} of the package {package!r} cannot be loaded: "
                f"{type(error).__name__}: {error}. Update or remove the package.",
                ScumbleWarning,
                stacklevel=2,
            )


def _identity(obj: Any) -> tuple[str, str]:
    """Name a thing so that reloading its module is not taken for a clash."""
    owner = obj if hasattr(obj, "__qualname__") else type(obj)
    return owner.__module__, getattr(obj, "name", owner.__qualname__)


def _first_line(obj: Any) -> str:
    text = inspect.getdoc(getattr(obj, "function", obj)) or ""
    return strip_markup(text.partition("\n\n")[0])
