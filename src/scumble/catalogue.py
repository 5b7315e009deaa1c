"""Find every measure, format, resampler, ... by kind and name, and add some of your own.

>>> from scumble import catalogue
>>> "remedial" in catalogue.names("resampler")
True

Packages that name a module in their entry points, group ``scumble.plugins``, are imported when the
catalogue is first asked; such a module calls `register`, or derives from classes that do.
"""

import importlib
import typing
from collections import abc

from scumble._core import errors, registry
from scumble._core.parameters import (
    AnyValue,
    Bool,
    Choice,
    Either,
    Int,
    NJobsConstraint,
    Optional,
    Parameter,
    ParameterConstraint,
    RandomStateConstraint,
    Real,
    parameter_constraints,
    parameters_of,
)
from scumble._core.registry import CatalogueEntry, unregister

#: The room that registers the things of a kind.
_ROOMS = {
    "measure": "measures",
    "format": "data.formats",
    "resampler": "resample",
    "classifier": "learn",
    "metric": "evaluate",
    "splitter": "evaluate",
    "plot": "plots",
}


def register(
    kind: str, name: str, obj: typing.Any, *, display_group: str = "More", description: str = ""
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
    display_group : str, default="More"
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
    >>> catalogue.register("resampler", "doubled", Doubled, display_group="Add rows")
    >>> catalogue.describe("resampler", "doubled").description
    'Clone as many rows as there are.'
    >>> make_chain("remedial+doubled")
    [REMEDIAL(), Doubled()]
    >>> catalogue.unregister("resampler", "doubled")
    """
    _load_room(kind)  # so that a name that is taken is refused now
    if not name or name != name.lower() or any(sign in name for sign in ".+, ("):
        raise errors.ParameterError(
            f"The name of a {kind} must be in lower case, without dots, commas, spaces, brackets "
            f"and plus signs. Got {name!r} instead."
        )
    registry.check_required_attributes(kind, obj)
    registry.register(kind, name, obj, display_group=display_group, description=description)


def entries(kind: str) -> abc.Mapping[str, typing.Any]:
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
    _load_room(kind)
    registry.load_plugins()
    return registry.registered_objects(kind)


def names(kind: str) -> tuple[str, ...]:
    """Return the names of one kind, sorted.

    Examples
    --------
    >>> from scumble import catalogue
    >>> catalogue.names("splitter")
    ('fixed', 'iterative', 'kfold', 'labelset', 'mulan')
    """
    return tuple(sorted(entries(kind)))


def get(kind: str, name: str) -> typing.Any:
    """Return one thing by its name; case does not matter.

    Examples
    --------
    >>> from scumble import catalogue
    >>> catalogue.get("resampler", "MLSMOTE")()
    MLSMOTE()
    """
    return describe(kind, name).obj


def resolve(kind: str, name: str) -> typing.Any:
    """Return a class by its name, or import it by its dotted name.

    Only for names that the user of this process gives: importing a module runs it.

    Parameters
    ----------
    kind : str
        ``"resampler"``, ``"classifier"`` or ``"splitter"``.
    name : str
        Such as ``"mlsmote"`` or ``"my_package.resampling.Mine"``.

    Returns
    -------
    type
        The class.

    Raises
    ------
    ParameterError
        If there is no such name, module or class.
    ParameterTypeError
        If what was imported lacks something that its kind has to have.

    Examples
    --------
    >>> from scumble import catalogue
    >>> catalogue.resolve("classifier", "sklearn.neighbors.KNeighborsClassifier")()
    KNeighborsClassifier()
    """
    _load_room(kind)
    return registry.find_class(kind, name)


def describe(kind: str, name: str) -> CatalogueEntry:
    """Return what the catalogue knows of an object: display group, description, and itself.

    Examples
    --------
    >>> from scumble import catalogue
    >>> found = catalogue.describe("resampler", "remedial")
    >>> found.display_group, found.obj
    ('Decouple', <class 'scumble.resample.remedial.REMEDIAL'>)
    """
    entries(kind)
    return registry.find_entry(kind, name)


def _load_room(kind: str) -> None:
    if kind not in registry.KINDS:
        meant, known = errors.did_you_mean(str(kind), registry.KINDS), ", ".join(registry.KINDS)
        raise errors.ParameterError(f"Unknown kind {kind!r}.{meant} Expected one of {known}.")
    importlib.import_module(f"scumble.{_ROOMS[kind]}")


__all__ = [
    "AnyValue",
    "Bool",
    "CatalogueEntry",
    "Choice",
    "Either",
    "Int",
    "NJobsConstraint",
    "Optional",
    "Parameter",
    "ParameterConstraint",
    "RandomStateConstraint",
    "Real",
    "describe",
    "entries",
    "get",
    "names",
    "parameter_constraints",
    "parameters_of",
    "register",
    "resolve",
    "unregister",
]
