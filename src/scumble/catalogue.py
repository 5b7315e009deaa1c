"""The catalogue: every measure, format, resampler, ... by kind and name, and those you add.

A *kind* is one of "measure", "format", "resampler", "classifier", "metric", "splitter", "plot".

>>> from scumble import catalogue
>>> "remedial" in catalogue.names("resampler")
True

Plug-ins are modules that other packages name in their entry points, group ``scumble.plugins``. They
are imported when the catalogue is first used; such a module calls `register`, or derives classes
from those that register themselves.
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
    parameters_of,
)
from scumble._core.registry import CatalogueEntry, unregister

#: The subpackage that registers the objects of a kind.
_SUBPACKAGES = {
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
    """Add an object to the catalogue.

    The command line, plans of experiments, `make_chain` and `make_classifier` then find it by its
    name, and it is listed with the others.

    Parameters
    ----------
    kind : str
        One of ``resampler``, ``classifier``, ``splitter`` (classes), ``metric``, ``measure``,
        ``plot``, ``format`` (records, which the decorators of their subpackages make).
    name : str
        The name that users type, in lower case and without dots, commas, spaces, brackets and plus
        signs.
    obj : object
        The class or record.
    display_group : str, default="More"
        Heading under which it is listed, for example ``"Add rows"``.
    description : str, default=""
        One line of text; by default the first paragraph of the docstring.

    Raises
    ------
    ParameterError
        If another object has this name, or the name has other characters than those allowed.
    ParameterTypeError
        If the object lacks an attribute that its kind requires.

    See Also
    --------
    unregister : Remove an entry.

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
    _load_subpackage(kind)  # so that a name in use is refused now
    if not name or name != name.lower() or any(character in name for character in ".+, ("):
        raise errors.ParameterError(
            f"The name of a {kind} must be in lower case, without dots, commas, spaces, brackets "
            f"and plus signs. Got {name!r} instead."
        )
    registry.check_required_attributes(kind, obj)
    registry.register(kind, name, obj, display_group=display_group, description=description)


def entries(kind: str) -> abc.Mapping[str, typing.Any]:
    """Return all objects of one kind by name.

    Parameters
    ----------
    kind : str
        Such as ``"resampler"``; the error for an unknown kind lists all kinds.

    Returns
    -------
    mapping of str to object
        Classes of resamplers, classifiers and splitters; records for the other kinds.

    Examples
    --------
    >>> from scumble import catalogue
    >>> catalogue.entries("measure")["scumble"].upper
    1.0
    """
    _load_subpackage(kind)
    registry.load_plugins()
    return registry.registered_objects(kind)


def names(kind: str) -> tuple[str, ...]:
    """Return the names of all objects of one kind, such as ``"splitter"``, sorted.

    Examples
    --------
    >>> from scumble import catalogue
    >>> catalogue.names("splitter")
    ('fixed', 'iterative', 'kfold', 'labelset', 'mulan')
    """
    return tuple(sorted(entries(kind)))


def get(kind: str, name: str) -> typing.Any:
    """Return a class or record of one kind by its name; case does not matter.

    Raise ParameterError if there is none.

    Examples
    --------
    >>> from scumble import catalogue
    >>> catalogue.get("resampler", "MLSMOTE")()
    MLSMOTE()
    """
    return describe(kind, name).obj


def resolve(kind: str, name: str) -> typing.Any:
    """Return a class by its name, or import it by its dotted name.

    Use it only for trusted names, because importing a module runs it.

    Parameters
    ----------
    kind : str
        ``"resampler"``, ``"classifier"`` or ``"splitter"``.
    name : str
        Such as ``"mlsmote"`` or ``"my_package.resampling.MyResampler"``.

    Returns
    -------
    type
        The class.

    Raises
    ------
    ParameterError
        If there is no such name, module or class.
    ParameterTypeError
        If the class lacks an attribute that its kind requires.

    Examples
    --------
    >>> from scumble import catalogue
    >>> catalogue.resolve("classifier", "sklearn.neighbors.KNeighborsClassifier")()
    KNeighborsClassifier()
    """
    _load_subpackage(kind)
    return registry.find_class(kind, name)


def describe(kind: str, name: str) -> CatalogueEntry:
    """Return the catalogue entry of a name: the object, its display group and description.

    Case does not matter. Raise ParameterError if there is none.

    Examples
    --------
    >>> from scumble import catalogue
    >>> entry = catalogue.describe("resampler", "remedial")
    >>> entry.display_group, entry.obj
    ('Decouple', <class 'scumble.resample.remedial.REMEDIAL'>)
    """
    entries(kind)
    return registry.find_entry(kind, name)


def _load_subpackage(kind: str) -> None:
    """Import the subpackage that registers the objects of a kind; refuse unknown kinds."""
    if kind not in registry.KINDS:
        suggestion = errors.did_you_mean(str(kind), registry.KINDS)
        raise errors.ParameterError(
            f"Unknown kind {kind!r}.{suggestion} Expected one of {', '.join(registry.KINDS)}."
        )
    importlib.import_module(f"scumble.{_SUBPACKAGES[kind]}")


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
    "parameters_of",
    "register",
    "resolve",
    "unregister",
]
