"""Resamplers and classifiers of the catalogue with their parameters, as a form can show them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ParameterError, did_you_mean_parameter
from scumble._core.text import strip_markup

if TYPE_CHECKING:
    from scumble.catalogue import CatalogueEntry, Parameter

#: How parameters are called in a form.
TITLES = {
    "n_neighbors": "neighbours",
    "percent": "percent of the rows",
    "random_state": "seed",
    "one_sided": "one-sided instances",
    "ranking_ties": "half is enough",
    "resampler": "resampler afterwards",
    "scale": "scale features",
}

#: The classifiers a page lists first.
FIRST_FAMILY = "For rare labels"


def methods() -> list[dict[str, Any]]:
    """Describe every resampler of the catalogue.

    Examples
    --------
    >>> from scumble.gui.methods import methods
    >>> first = methods()[0]
    >>> first["title"], [parameter["name"] for parameter in first["parameters"]]
    ('REMEDIAL', ['passes', 'one_sided', 'unseen'])
    """
    from scumble.resample.base import DISPLAY_GROUPS

    return _by_family("resampler", DISPLAY_GROUPS)


def classifiers() -> list[dict[str, Any]]:
    """Describe every classifier of the catalogue, those made for rare labels first.

    Examples
    --------
    >>> from scumble.gui.methods import classifiers
    >>> [each["name"] for each in classifiers()][:3]
    ['rare', 'resampled', 'thresholded']
    """
    return _by_family("classifier", [FIRST_FAMILY])


def _by_family(kind: str, first: Sequence[str]) -> list[dict[str, Any]]:
    """Describe all of a kind, those of some families first, the others in their own order."""
    found = _entries(kind)
    order = list(dict.fromkeys([*first, *(entry.display_group for entry in found)]))
    return [
        _describe(entry)
        for entry in sorted(found, key=lambda each: order.index(each.display_group))
    ]


def _entries(kind: str) -> list[CatalogueEntry]:
    from scumble.catalogue import describe, names

    return [describe(kind, name) for name in names(kind)]


def make_resampler(method: str, parameters: dict[str, Any]) -> Any:
    """Make a resampler as a client asked for it."""
    from scumble.resample import make_chain

    name, values = _checked("resampler", method, parameters)
    [step] = make_chain(name, **values)
    return step


def make_model(classifier: str, parameters: dict[str, Any]) -> Any:
    """Make a classifier as a client asked for it."""
    from scumble.learn import make_classifier

    name, values = _checked("classifier", classifier, parameters)
    model = make_classifier(name, **values)
    if hasattr(model, "check_parameters"):
        model.check_parameters()
    return model


def _checked(kind: str, name: str, parameters: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Find the parameters a client gave, None left out.

    Only names of the catalogue are looked up here: a dotted name would import a module.
    """
    from scumble.catalogue import describe, get

    entry = describe(kind, name)
    offered = {parameter["name"]: parameter for parameter in _parameters(entry)}
    unknown = sorted(set(parameters) - set(offered))
    if unknown:
        raise ParameterError(
            f"{entry.obj.__name__} has no parameter {unknown[0]!r} here."
            f"{did_you_mean_parameter(unknown[0], offered)} "
            f"Known are: {', '.join(sorted(offered)) or 'none'}."
        )
    return entry.name, {
        name: get("resampler", value)() if offered[name]["kind"] == "method" else value
        for name, value in parameters.items()
        if value is not None  # which leaves the default
    }


def _describe(entry: CatalogueEntry) -> dict[str, Any]:
    more = (inspect.getdoc(entry.obj) or "").partition("\n\n")[2].partition("\n\n")[0]
    return {
        "name": entry.name,
        "title": entry.obj.__name__,
        "family": entry.display_group,
        "summary": entry.description,
        "details": "" if more.startswith("Parameters\n") else strip_markup(more),
        "parameters": _parameters(entry),
    }


def _parameters(entry: CatalogueEntry) -> list[dict[str, Any]]:
    from scumble.catalogue import parameters_of

    found = [_parameter(each) for each in parameters_of(entry.obj)]
    for each in found:
        if each["kind"] == "method":  # a resampler of another family, which can follow this one
            others = (
                one for one in _entries("resampler") if one.display_group != entry.display_group
            )
            each["choices"] = [other.name for other in others]
    return [each for each in found if each["kind"] != "hidden"]


def _parameter(parameter: Parameter) -> dict[str, Any]:
    domain, default = parameter.constraint, parameter.default
    return {
        "name": parameter.name,
        "title": TITLES.get(parameter.name, parameter.name.replace("_", " ")),
        "default": domain.value_for_none if default is None else default,
        "help": parameter.text,
        "allowed": domain.description,
        **domain.field(),
    }
