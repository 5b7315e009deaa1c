"""Checks of parameters that several classifiers have."""

from __future__ import annotations

from typing import Any

import numpy as np

from scumble._core.errors import ParameterError


def check_flag(value: Any, *, name: str, caller: str) -> None:
    """Refuse what is not True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(
            f"The {name!r} parameter of {caller} must be True or False. Got {value!r} instead."
        )


def check_share(value: Any, *, name: str, caller: str, maximum: float | None = None) -> None:
    """Refuse what is no positive number, or exceeds a maximum."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    largest = np.finfo(float).max if maximum is None else maximum
    if not is_number or not 0 < value <= largest:
        domain = "(0, inf)" if maximum is None else f"(0, {maximum:g}]"
        raise ParameterError(
            f"The {name!r} parameter of {caller} must be a float in {domain}. "
            f"Got {value!r} instead."
        )


def check_option(value: Any, options: tuple[Any, ...], *, name: str, caller: str) -> None:
    """Refuse what is none of some numbers, texts or None."""
    plain = value.item() if isinstance(value, np.generic) else value
    if not any(type(plain) is type(option) and plain == option for option in options):
        allowed = ", ".join(repr(option) for option in options)
        raise ParameterError(
            f"The {name!r} parameter of {caller} must be one of {allowed}. Got {value!r} instead."
        )
