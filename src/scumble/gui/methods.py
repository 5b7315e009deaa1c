"""Resamplers and classifiers of the catalogue, with the descriptions that forms are made from."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ParameterError, did_you_mean_parameter
from scumble._core.text import strip_markup

if TYPE_CHECKING:
    from scumble.catalogue import CatalogueEntry, Parameter

#: Titles of parameters in a form, where the name alone would be unclear.
PARAMETER_TITLES = {
    "n_neighbors": "neighbours",
    "percent": "percent of the rows",
    "random_state": "seed",
    "one_sided": "one-sided instances",
    "ranking_ties": "half is enough",
    "resampler": "resampler afterwards",
    "scale": "scale features",
}

#: The display group of classifiers that the page lists first.
FIRST_CLASSIFIER_GROUP = "For rare labels"


def methods() -> list[dict[str, Any]]:
    """Return the descriptions of all resamplers of the catalogue.

    Examples
    --------
    >>> from scumble.gui.methods import methods
    >>> first = methods()[0]
    >>> first["title"], [parameter["name"] for parameter in first["parameters"]]
    ('REMEDIAL', ['passes', 'one_sided', 'unseen'])
    """
    from scumble.resample.base import DISPLAY_GROUPS

    return _describe_by_group("resampler", DISPLAY_GROUPS)


def classifiers() -> list[dict[str, Any]]:
    """Return the descriptions of all classifiers of the catalogue, those for rare labels first.

    Examples
    --------
    >>> from scumble.gui.methods import classifiers
    >>> [classifier["name"] for classifier in classifiers()][:3]
    ['rare', 'resampled', 'thresholded']
    """
    return _describe_by_group("classifier", [FIRST_CLASSIFIER_GROUP])


def _describe_by_group(kind: str, first_groups: Sequence[str]) -> list[dict[str, Any]]:
    """Return the descriptions of all entries of a kind, sorted by display group.

    Groups that are not in ``first_groups`` follow in the order of the catalogue.
    """
    entries = _catalogue_entries(kind)
    groups = list(dict.fromkeys([*first_groups, *(entry.display_group for entry in entries)]))
    entries.sort(key=lambda entry: groups.index(entry.display_group))
    return [_describe_entry(entry) for entry in entries]


def _catalogue_entries(kind: str) -> list[CatalogueEntry]:
    """Return all entries of a kind, in the order of the catalogue."""
    from scumble.catalogue import describe, names

    return [describe(kind, name) for name in names(kind)]


def make_resampler(method: str, parameters: dict[str, Any]) -> Any:
    """Return a resampler with the parameters that a client sent."""
    from scumble.resample import make_chain

    name, values = _check_parameters("resampler", method, parameters)
    [resampler] = make_chain(name, **values)
    return resampler


def make_resamplers(steps: list[dict[str, Any]]) -> list[Any]:
    """Return the resamplers of a chain that a client sent."""
    return [make_resampler(**step) for step in steps]


def make_model(classifier: str, parameters: dict[str, Any]) -> Any:
    """Return a classifier with the parameters that a client sent."""
    from scumble.learn import make_classifier

    name, values = _check_parameters("classifier", classifier, parameters)
    model = make_classifier(name, **values)
    if hasattr(model, "check_parameters"):
        model.check_parameters()
    return model


def _check_parameters(
    kind: str, name: str, parameters: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return the name of a method and the parameters that a client set.

    Those that are None, which stands for the default, are left out. A parameter that is itself a
    resampler, sent as its name, becomes an instance. Unknown parameters raise an error. Only names
    of the catalogue are accepted: a dotted name would import a module.
    """
    from scumble.catalogue import describe, get

    entry = describe(kind, name)
    supported = {parameter["name"]: parameter for parameter in _describe_parameters(entry)}
    unknown = sorted(set(parameters) - set(supported))
    if unknown:
        raise ParameterError(
            f"{entry.obj.__name__} has no parameter {unknown[0]!r} here."
            f"{did_you_mean_parameter(unknown[0], supported)} "
            f"Known are: {', '.join(sorted(supported)) or 'none'}."
        )
    values = {}
    for parameter_name, value in parameters.items():
        if value is None:
            continue
        if supported[parameter_name]["kind"] == "method":
            value = get("resampler", value)()
        values[parameter_name] = value
    return entry.name, values


def _describe_entry(entry: CatalogueEntry) -> dict[str, Any]:
    """Return the description of a resampler or classifier for a form."""
    docstring = inspect.getdoc(entry.obj) or ""
    paragraphs = docstring.split("\n\n")
    details = paragraphs[1] if len(paragraphs) > 1 else ""
    if details.startswith("Parameters\n"):  # the summary is the only paragraph
        details = ""
    return {
        "name": entry.name,
        "title": entry.obj.__name__,
        "family": entry.display_group,
        "summary": entry.description,
        "details": strip_markup(details),
        "parameters": _describe_parameters(entry),
    }


def _describe_parameters(entry: CatalogueEntry) -> list[dict[str, Any]]:
    """Return the descriptions of the parameters that a form shows."""
    from scumble.catalogue import parameters_of

    descriptions = []
    for parameter in parameters_of(entry.obj):
        description = _describe_parameter(parameter)
        if description["kind"] == "hidden":
            continue
        if description["kind"] == "method":  # a resampler of another group, applied afterwards
            description["choices"] = [
                resampler.name
                for resampler in _catalogue_entries("resampler")
                if resampler.display_group != entry.display_group
            ]
        descriptions.append(description)
    return descriptions


def _describe_parameter(parameter: Parameter) -> dict[str, Any]:
    """Return the description of a parameter for a form: title, default, help, allowed values.

    If the default is None, it is the value that None stands for. The constraint adds the kind of
    the field.
    """
    constraint = parameter.constraint
    default = parameter.default
    if default is None:
        default = constraint.value_for_none
    title = PARAMETER_TITLES.get(parameter.name, parameter.name.replace("_", " "))
    return {
        "name": parameter.name,
        "title": title,
        "default": default,
        "help": parameter.text,
        "allowed": constraint.description,
        **constraint.field(),
    }
