"""Resamplers, classifiers and the like as users type them: a name, and parameters in brackets."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from scumble._core.errors import ParameterError


def split_outside_brackets(text: str, separator: str) -> list[str]:
    """Return the parts of a text between separators, without surrounding blanks.

    Separators inside round brackets do not count.
    """
    parts = re.split(rf"{re.escape(separator)}(?![^()]*\))", text)
    return [part.strip() for part in parts]


def parse_call(text: str) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of a call such as ``rare(quality=best, n_neighbors=3)``.

    A name without brackets has no parameters. Raise ParameterError if the text is no such call.
    """
    name, bracket, arguments = text.strip().partition("(")
    if bracket and (not name or not arguments.endswith(")")):
        raise ParameterError(
            f"Expected a name, with parameters in brackets, for example 'rare(quality=best)'. Got "
            f"{text!r} instead."
        )
    assignments = split_outside_brackets(arguments.removesuffix(")"), ",")
    return name.strip(), parse_parameters(part for part in assignments if part)


def format_call(name: str, parameters: Mapping[str, Any]) -> str:
    """Return the text ``name(parameter=value,...)`` that `parse_call` reads.

    Parameters with the value None are left out.
    """
    assignments = ",".join(
        f"{key}={value}" for key, value in parameters.items() if value is not None
    )
    return f"{name}({assignments})" if assignments else name


def parse_parameters(texts: Iterable[str]) -> dict[str, Any]:
    """Return the values of ``name=value`` texts by name.

    Values become True, False, None, an int or a float if they are spelt so, else strings.
    """
    parameters = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ParameterError(f"A parameter must be name=value. Got {text!r} instead.")
        parameters[name.strip()] = _parse_value(value.strip())
    return parameters


def _parse_value(text: str) -> Any:
    """Return a text as bool, None, int or float if it is written so, else the text itself."""
    constants = {"true": True, "false": False, "none": None}
    if text.lower() in constants:
        return constants[text.lower()]
    for number_type in (int, float):
        try:
            return number_type(text)
        except ValueError:
            continue
    return text
