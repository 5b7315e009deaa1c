"""Methods as people type them: names with commas between, parameters in brackets."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from scumble._core.errors import ParameterError


def split_outside_brackets(text: str, separator: str) -> list[str]:
    """Split a text where a separator stands outside brackets."""
    parts = re.split(rf"{re.escape(separator)}(?![^()]*\))", text)
    return [part.strip() for part in parts]


def parse_call(text: str) -> tuple[str, dict[str, Any]]:
    """Understand a method with its parameters: ``rare(quality=best, n_neighbors=3)``."""
    name, bracket, inside = text.strip().partition("(")
    if bracket and (not name or not inside.endswith(")")):
        raise ParameterError(
            f"Expected a name, with parameters in brackets, for example 'rare(quality=best)'. Got "
            f"{text!r} instead."
        )
    given = [part for part in split_outside_brackets(inside.removesuffix(")"), ",") if part]
    return name.strip(), parse_parameters(given)


def format_call(name: str, parameters: Mapping[str, Any]) -> str:
    """Write a method with its parameters, the way `parse_call` reads it; None is left out."""
    given = ",".join(f"{key}={value}" for key, value in parameters.items() if value is not None)
    return f"{name}({given})" if given else name


def parse_parameters(texts: Iterable[str]) -> dict[str, Any]:
    """Understand ``name=value``: numbers, true, false, none, or text."""
    parsed = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ParameterError(f"A parameter must be name=value. Got {text!r} instead.")
        parsed[name.strip()] = _parse_value(value.strip())
    return parsed


def _parse_value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
