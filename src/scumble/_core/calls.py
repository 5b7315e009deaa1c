"""Methods as users type them: a name, and parameters in brackets."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from scumble._core.errors import ParameterError


def split_outside_brackets(text: str, separator: str) -> list[str]:
    """Split a text at every separator outside brackets, and strip the parts."""
    parts = re.split(rf"{re.escape(separator)}(?![^()]*\))", text)
    return [part.strip() for part in parts]


def parse_call(text: str) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of a method such as ``rare(quality=best, n_neighbors=3)``."""
    name, bracket, arguments = text.strip().partition("(")
    if bracket and (not name or not arguments.endswith(")")):
        raise ParameterError(
            f"Expected a name, with parameters in brackets, for example 'rare(quality=best)'. Got "
            f"{text!r} instead."
        )
    assignments = split_outside_brackets(arguments.removesuffix(")"), ",")
    return name.strip(), parse_parameters(part for part in assignments if part)


def format_call(name: str, parameters: Mapping[str, Any]) -> str:
    """Return a method with its parameters as `parse_call` reads it; None is left out."""
    assignments = ",".join(
        f"{key}={value}" for key, value in parameters.items() if value is not None
    )
    return f"{name}({assignments})" if assignments else name


def parse_parameters(texts: Iterable[str]) -> dict[str, Any]:
    """Parse ``name=value`` texts; a value is a number, true, false, none, or a string."""
    parameters = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ParameterError(f"A parameter must be name=value. Got {text!r} instead.")
        parameters[name.strip()] = _parse_value(value.strip())
    return parameters


def _parse_value(text: str) -> Any:
    """Return the boolean, None or number that a text spells, else the text itself."""
    constants = {"true": True, "false": False, "none": None}
    if text.lower() in constants:
        return constants[text.lower()]
    for number_type in (int, float):
        try:
            return number_type(text)
        except ValueError:
            continue
    return text
