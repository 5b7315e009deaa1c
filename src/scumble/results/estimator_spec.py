"""What identifies an estimator in a store of results: its class, parameters and versions."""

import hashlib
import math
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from scumble._core.errors import ParameterError


def estimator_spec(value: Any) -> Any:
    """Return a JSON value that identifies an estimator, or a parameter, in every process.

    An estimator becomes a dict with its class and parameters, without ``n_jobs``; an array becomes
    its dtype, shape and checksum. Raises a ParameterError for what cannot be identified.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "get_params"):
        parameters = value.get_params(deep=False)
        parameters.pop("n_jobs", None)
        specs = {name: estimator_spec(parameter) for name, parameter in parameters.items()}
        return {"class": estimator_spec(type(value)), "parameters": specs}
    if isinstance(value, list | tuple):
        return [estimator_spec(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): estimator_spec(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
    return _stable_repr(value)


def _stable_repr(value: Any) -> str:
    """Return the ``repr`` of a value; raise a ParameterError if it contains a memory address."""
    text = repr(value)
    if " at 0x" in text or " object" in text:
        raise ParameterError(
            f"compare with a store cannot identify {text} in a later run. Expected plain values as "
            "parameters, whole numbers as seeds; or leave out the store."
        )
    return text


def estimator_versions(estimator: Any) -> Iterator[tuple[str, str]]:
    """Yield (name, version) of an estimator's code, and of the estimators among its parameters.

    For a class of another package, these are the name and version of the package; for a class of
    scumble with a ``revision``, which is increased if its results change, its name and revision.
    """
    cls = type(estimator)
    package = cls.__module__.partition(".")[0]
    if package != "scumble":
        yield package, str(getattr(import_module(package), "__version__", "unknown"))
    elif getattr(cls, "revision", 0):
        yield cls.__name__, str(cls.revision)
    parameters = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    for parameter in parameters.values():
        if hasattr(parameter, "get_params") and not isinstance(parameter, type):
            yield from estimator_versions(parameter)
