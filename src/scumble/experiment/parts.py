"""From names and parameters to resamplers, classifiers and splitters."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from scumble import catalogue
from scumble._core.errors import ScumbleError
from scumble._core.suggestions import suggest_parameter
from scumble._core.version import __version__
from scumble.experiment.cell import NOTHING, Part, PlanError


def make_splitter(part: Part, *, seed: int, folder: str = "") -> Any:
    """Make a splitter; the path of a file of folds starts at ``folder``."""
    parameters = dict(part.parameters)
    if isinstance(parameters.get("fold_table"), str):
        parameters["fold_table"] = str(Path(folder, parameters["fold_table"]))
    return _instance(catalogue.get("splitter", part.name), parameters, seed)


def make_resamplers(part: Part, *, seed: int) -> list[Any]:
    """Make a chain of resamplers."""
    if part.name == NOTHING:
        return []
    from scumble.resample import make_chain

    return make_chain(part.name, **{"random_state": seed, **part.parameters})


def make_classifier(part: Part, *, seed: int) -> Any:
    """Make a classifier; a parameter that is a table with a ``name`` stands for another one."""
    return _instance(_class_of(part.name), part.parameters, seed)


def runs_otherwise(part: Part, weighted: bool) -> bool:
    """Tell whether a classifier's cells hold other numbers than those of the first stores."""
    # Their fold runner knew neither weights nor scores other than probabilities, and told nominal
    # columns to the outermost classifier only. Cells for which this matters have keys of their own.
    from scumble.learn.weights import takes_weights

    if part.name == NOTHING:
        return False
    made = make_classifier(part, seed=0)
    outer, inner = made.get_params(deep=False), getattr(made, "estimator", None)
    told_inside = "categorical_features" not in outer and hasattr(inner, "categorical_features")
    uses_weights = weighted and takes_weights(made)
    return uses_weights or told_inside or not hasattr(made, "predict_proba")


def versions_of(resampler: Part, classifier: Part, splitter: Part) -> dict[str, str]:
    """Name the versions of the code that decides about results."""
    # A class whose results change raises its revision, so that stored cells are computed anew.
    found = {"scumble": __version__}
    for kind, part in (("resampler", resampler), ("classifier", classifier)):
        if part.name == NOTHING:
            continue
        for name in part.name.split("+") if kind == "resampler" else _classifiers_in(part.spec):
            cls = catalogue.resolve(kind, name) if kind == "resampler" else _class_of(name)
            package = cls.__module__.partition(".")[0]
            if package != "scumble":
                found[package] = str(getattr(import_module(package), "__version__", "unknown"))
            if getattr(cls, "revision", 0):
                found[name] = str(cls.revision)
    if revision := getattr(catalogue.get("splitter", splitter.name), "revision", 0):
        found[splitter.name] = str(revision)
    return found


def complaints(kind: str, part: Part, folder: str) -> Iterator[str]:
    """Make what a plan names, and say why it cannot be made."""
    try:
        if kind == "splitter":
            _checked(make_splitter(part, seed=0, folder=folder)).get_n_splits()
        elif kind == "resamplers":
            make_resamplers(part, seed=0)
        elif part.name != NOTHING:
            _checked(make_classifier(part, seed=0))
    except (ScumbleError, TypeError, ValueError, ImportError, AttributeError) as error:
        yield f"{part.label}: {error}"


def _classifiers_in(spec: Mapping[str, Any]) -> Iterator[str]:
    """Name a classifier and those among its parameters."""
    yield spec["name"]
    for value in spec.get("parameters", spec).values():
        if isinstance(value, Mapping) and "name" in value:
            yield from _classifiers_in(value)


def _checked(made: Any) -> Any:
    check = getattr(made, "check_parameters", None)
    if check is not None:
        check()
    return made


def _class_of(name: str) -> Any:
    """Find a classifier's class by its name in the catalogue or its dotted name."""
    from scumble.learn.make_and_fit import class_of

    return class_of(name)


def _instance(cls: Any, parameters: Mapping[str, Any], seed: int) -> Any:
    known = inspect.signature(cls).parameters
    for name in parameters:
        if name not in known:
            raise PlanError(
                f"{cls.__name__} has no parameter {name!r}.{suggest_parameter(name, known)} "
                f"Known are: {', '.join(sorted(known)) or 'none'}."
            )
    given = {name: _value(value, seed) for name, value in parameters.items()}
    if "random_state" in known:
        given.setdefault("random_state", seed)
    return cls(**given)


def _value(value: Any, seed: int) -> Any:
    """Turn a table with a name into the classifier it stands for."""
    if isinstance(value, Mapping) and "name" in value:
        rest = {key: inner for key, inner in value.items() if key != "name"}
        return _instance(_class_of(value["name"]), rest, seed)
    return value
