"""The registry of measures, resamplers, classifiers, ... by kind and name.

Decorators and base classes fill it; `scumble.catalogue` reads it.
"""

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
#: Kinds whose registered objects are classes.
CLASS_KINDS = ("resampler", "classifier", "splitter")
#: Attributes that an object of each kind must have.
REQUIRED_ATTRIBUTES = {
    "measure": ("function", "level"),
    "format": ("sniff", "read", "write", "preserved_parts", "suffixes"),
    "resampler": ("fit_resample", "resample", "get_params", "check_parameters"),
    "metric": ("function", "formula", "needs"),
    "classifier": ("fit", "predict", "get_params"),
    "splitter": ("split", "get_n_splits", "get_params"),
    "plot": ("function", "title"),
}
#: Entry point group of plug-ins: other packages name modules there, which register their objects
#: when they are imported.
PLUGIN_GROUP = "scumble.plugins"


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """An entry of the catalogue.

    Attributes
    ----------
    kind, name : str
        Kind of the object and its name, such as ``"resampler"`` and ``"remedial"``.
    obj : object
        A class, or the record of a function or format.
    display_group : str
        Heading under which it is listed.
    description : str
        One line of text.

    Examples
    --------
    >>> from scumble import catalogue
    >>> catalogue.describe("resampler", "remedial").description
    'Split the instances that have both rare and frequent labels.'
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
    """Register an object under ``kind`` and ``name``; raise an error if the name is taken.

    The description defaults to the first paragraph of the docstring.
    """
    entries = _entries[kind]
    present = entries.get(name)
    if present is not None and _identity(present.obj) != _identity(obj):
        raise ParameterError(
            f"The {kind} {name!r} is registered twice: {present.obj!r} and {obj!r}."
        )
    entries[name] = CatalogueEntry(
        kind=kind,
        name=name,
        obj=obj,
        display_group=display_group,
        description=description or _first_paragraph(obj),
    )


def unregister(kind: str, name: str) -> None:
    """Remove an entry from the catalogue; nothing happens if there is none."""
    _entries[kind].pop(name, None)


def registered_entries(kind: str) -> Mapping[str, CatalogueEntry]:
    """Return the entries of one kind by name, in the order of their registration."""
    return MappingProxyType(_entries[kind])


def registered_objects(kind: str) -> Mapping[str, Any]:
    """Return the objects of one kind by name, in the order of their registration."""
    return MappingProxyType({name: entry.obj for name, entry in _entries[kind].items()})


def find_object(kind: str, name: str) -> Any:
    """Return the object with a name; raise ParameterError if there is none.

    Upper and lower case do not matter. Plug-ins are imported first if the name is unknown.
    """
    return find_entry(kind, name).obj


def find_entry(kind: str, name: str) -> CatalogueEntry:
    """Return the entry with a name; raise ParameterError if there is none.

    Upper and lower case do not matter. Plug-ins are imported first if the name is unknown.
    """
    if not isinstance(name, str):
        raise ParameterTypeError(f"The name of a {kind} must be a text. Got {name!r} instead.")
    entries = registered_entries(kind)
    if name not in entries and name.lower() not in entries:
        load_plugins()
    for candidate in (name, name.lower()):
        if candidate in entries:
            return entries[candidate]
    suggestion = _suggest_for_class_name(name, entries) or did_you_mean(name, entries)
    raise ParameterError(
        f"There is no {kind} {name!r}.{suggestion} Known are: {', '.join(entries)}."
    )


def _suggest_for_class_name(name: str, entries: Mapping[str, CatalogueEntry]) -> str:
    """Return " Did you mean ...?" if ``name`` is that of a class registered under another name.

    The text is empty if no class has this name.
    """
    for entry in entries.values():
        if getattr(entry.obj, "__name__", "").lower() == name.lower():
            return f" Did you mean {entry.name!r}?"
    return ""


def find_class(kind: str, name: str) -> Any:
    """Return a class by its registered name, or import it by its dotted name.

    Raise an error if it does not exist, or lacks an attribute that its kind requires.
    """
    # Never for names from untrusted sources: importing a module runs it.
    if "." not in name:
        return find_object(kind, name)
    module, _, attribute = name.rpartition(".")
    try:
        cls = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ParameterError(f"There is no {kind} {name!r}: {error}.") from error
    check_required_attributes(kind, cls)
    return cls


def check_required_attributes(kind: str, obj: Any) -> None:
    """Raise ParameterTypeError if an object lacks an attribute that its kind requires.

    Objects of the kinds in `CLASS_KINDS` must be classes.
    """
    missing = [attribute for attribute in REQUIRED_ATTRIBUTES[kind] if not hasattr(obj, attribute)]
    if missing:
        raise ParameterTypeError(f"{obj!r} is not a {kind}: it has no {missing[0]!r}.")
    if kind in CLASS_KINDS and not inspect.isclass(obj):
        raise ParameterTypeError(f"{obj!r} is not a {kind}: it is not a class.")


@cache
def load_plugins() -> None:
    """Import the plug-ins of other packages, only once; warn about those that fail."""
    from importlib.metadata import entry_points

    for plugin in sorted(entry_points(group=PLUGIN_GROUP), key=lambda plugin: plugin.name):
        try:
            plugin.load()
        except Exception as error:  # a fault of another package must not stop this one
            package = plugin.dist.name if plugin.dist is not None else "unknown"
            warnings.warn(
                f"The plug-in {plugin.name!r} of the package {package!r} cannot be loaded: "
                f"{type(error).__name__}: {error}. Update or remove the package.",
                ScumbleWarning,
                stacklevel=2,
            )


def _identity(obj: Any) -> tuple[str, str]:
    """Return module and name of an object, by which two registered objects are compared.

    Both are equal after a module is reloaded, so that it may register its objects again.
    """
    obj_or_class = obj if hasattr(obj, "__qualname__") else type(obj)
    return obj_or_class.__module__, getattr(obj, "name", obj_or_class.__qualname__)


def _first_paragraph(obj: Any) -> str:
    """Return the first paragraph of the docstring of an object, as plain text on one line.

    For a record with a ``function``, such as a metric, it is the docstring of this function.
    """
    text = inspect.getdoc(getattr(obj, "function", obj)) or ""
    return strip_markup(text.partition("\n\n")[0])
