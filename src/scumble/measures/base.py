"""How a measure presents itself."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from scumble._core.registry import register

F = TypeVar("F", bound=Callable[..., Any])
Level = Literal["dataset", "label", "instance"]
DISPLAY_GROUPS = {
    "dataset": "Of a data set",
    "label": "Of each label",
    "instance": "Of each instance",
}


@dataclass(frozen=True, slots=True)
class Measure:
    """What the catalogue knows of a measure.

    Parameters
    ----------
    name : str
        Name of the function.
    level : {"dataset", "label", "instance"}
        Whether it gives one number, or one per label or instance.
    lower, upper : float
        Bounds of its values; NaN is allowed besides.
    function : callable
        The function of ``Y``.

    Examples
    --------
    >>> from scumble import catalogue
    >>> measure = catalogue.get("measure", "density")
    >>> measure.level, measure.upper, measure.function([[1, 0], [1, 1]])
    ('dataset', 1.0, 0.75)
    """

    name: str
    level: Level
    lower: float
    upper: float
    function: Callable[..., Any]


def safe_divide(part: float, whole: int) -> float:
    """Divide; NaN where there is nothing to divide by."""
    return part / whole if whole else float("nan")


def measure(*, level: Level, lower: float = 0.0, upper: float = float("inf")) -> Callable[[F], F]:
    """Register a function of ``Y`` and return it untouched."""

    def enter(function: F) -> F:
        name = function.__name__
        entry = Measure(name, level, lower, upper, function)
        register("measure", name, entry, display_group=DISPLAY_GROUPS[level])
        return function

    return enter
