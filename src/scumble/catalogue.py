"""Find every measure, format, resampler, ... by kind and name, and add some of your own.

>>> from scumble import catalogue
>>> "remedial" in catalogue.names("resampler")
True

Packages that name a module in their entry points, group ``scumble.plugins``, are imported when the
catalogue is first asked; such a module calls `register`, or derives from classes that do.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from scumble._core.errors import ParameterError, ParameterTypeError
from scumble._core.parameters import (
    Bool,
    Choice,
    Domain,
    Either,
    Free,
    Int,
    Optional,
    Parameter,
    Real,
    Seed,
    Threads,
    declare,
    parameters_of,
)
from scumble._core.registry import (
    KINDS,
    Entry,
    described,
    find,
    load_plugins,
    registered,
    unregister,
)
from scumble._core.registry import register as _register

#: The rooms that register things.
_ROOMS = ("measures", "data.formats", "resample", "learn", "evaluate", "plots")
#: What a thing of each kind must have to be of use.
_NEEDS = {
    "measure": ("function", "level"),
    "format": ("sniff", "read", "write", "carries", "suffixes"),
    "resampler": ("fit_resample", "get_params"),
    "metric": ("function", "formula", "needs"),
    "classifier": ("fit", "predict", "get_params"),
    "splitter": ("split", "get_n_splits", "get_params"),
    "plot": ("function", "title"),
}


def register(
    kind: str, name: str, thing: Any, *, family: str = "More", description: str = ""
) -> None:
    """Add something of your own to the catalogue.

    From then on the command line, plans of experiments and ``make_chain`` or ``make_classifier``
    know it by its name, and it is listed with the others.

    Parameters
    ----------
    kind : str
        One of ``resampler``, ``classifier``, ``splitter`` (classes), ``metric``, ``measure``,
        ``plot``, ``format`` (records, which the decorators of their rooms make).
    name : str
        How users spell it: lower case, no dots and no plus signs.
    thing : object
        The class or record.
    family : str, default="More"
        What it is listed with, for example ``"Add rows"``.
    description : str, default=""
        One line; the first of its docstring if empty.

    Raises
    ------
    ParameterError
        If there is another thing of that name, or the name cannot be typed.
    ParameterTypeError
        If the thing lacks what its kind has to have.

    See Also
    --------
    unregister : Take it out again.

    Examples
    --------
    >>> from scumble import catalogue
    >>> from scumble.resample import MLROS, make_chain
    >>> class Doubled(MLROS):
    ...     '''Clone as many rows as there are.'''
    ...
    ...     def __init__(self, *, percent=100, random_state=None):
    ...         super().__init__(percent=percent, random_state=random_state)
    >>> catalogue.register("resampler", "doubled", Doubled, family="Add rows")
    >>> catalogue.describe("resampler", "doubled").description
    'Clone as many rows as there are.'
    >>> make_chain("remedial+doubled")
    [REMEDIAL(), Doubled()]
    >>> catalogue.unregister("resampler", "doubled")
    """
    _check_kind(kind)
    if not name or name != name.lower() or any(sign in name for sign in ".+, ("):
        raise ParameterError(
            f"The name of a {kind} must be in lower case, without dots, commas, spaces, brackets "
            f"and plus signs. Got {name!r} instead."
        )
    missing = [need for need in _NEEDS[kind] if not hasattr(thing, need)]
    if missing:
        raise ParameterTypeError(f"{thing!r} cannot be a {kind}: it has no {missing[0]!r}.")
    _load_rooms()  # so that a name that is taken is refused now
    _register(kind, name, thing, family=family, description=description)


def entries(kind: str) -> Mapping[str, Any]:
    """Return everything of one kind by name.

    Parameters
    ----------
    kind : str
        Such as ``"resampler"``; an unknown one is refused with those there are.

    Returns
    -------
    mapping of str to object
        Classes of resamplers, classifiers and splitters; records of everything else.

    Examples
    --------
    >>> from scumble import catalogue
    >>> catalogue.entries("measure")["scumble"].upper
    1.0
    """
    _check_kind(kind)
    _load_rooms()
    load_plugins()
    return registered(kind)


def names(kind: str) -> tuple[str, ...]:
    """Return the names of one kind, sorted.

    Examples
    --------
    >>> from scumble import catalogue
    >>> catalogue.names("splitter")
    ('fixed', 'iterative', 'kfold', 'labelset', 'mulan')
    """
    return tuple(sorted(entries(kind)))


def get(kind: str, name: str) -> Any:
    """Return one thing by its name; case does not matter.

    Examples
    --------
    >>> from scumble import catalogue
    >>> catalogue.get("resampler", "MLSMOTE")()
    MLSMOTE()
    """
    entries(kind)
    return find(kind, name)


def describe(kind: str, name: str) -> Entry:
    """Return what the catalogue knows of a thing: family, description, and itself.

    Examples
    --------
    >>> from scumble import catalogue
    >>> found = catalogue.describe("resampler", "remedial")
    >>> found.family, found.thing
    ('Decouple', <class 'scumble.resample.remedial.REMEDIAL'>)
    """
    thing = get(kind, name)
    return next(entry for entry in described(kind).values() if entry.thing is thing)


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise ParameterError(f"Unknown kind {kind!r}. Expected one of {', '.join(KINDS)}.")


def _load_rooms() -> None:
    for room in _ROOMS:
        import_module(f"scumble.{room}")


__all__ = [
    "Bool",
    "Choice",
    "Domain",
    "Either",
    "Entry",
    "Free",
    "Int",
    "Optional",
    "Parameter",
    "Real",
    "Seed",
    "Threads",
    "declare",
    "describe",
    "entries",
    "get",
    "names",
    "parameters_of",
    "register",
    "unregister",
]
