"""The record of a measure, and the decorator that registers one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from scumble._core.errors import ParameterError
from scumble._core.registry import register

#: The type of a function that is registered.
F = TypeVar("F", bound=Callable[..., Any])
#: What a measure has a value for: the data set, each label or each instance.
Level = Literal["dataset", "label", "instance"]
#: Heading under which the measures of each level are listed.
DISPLAY_GROUPS = {
    "dataset": "Of a data set",
    "label": "Of each label",
    "instance": "Of each instance",
}


@dataclass(frozen=True, slots=True)
class Measure:
    """The entry of a measure in the catalogue.

    Parameters
    ----------
    name : str
        Name of the function.
    level : {"dataset", "label", "instance"}
        Whether its result is one number, or one per label or instance.
    lower, upper : float
        Bounds of its values; NaN is allowed as well.
    function : callable
        The function of ``Y``.
    in_summary : bool
        Whether `characterize` computes it as well; only for the level "dataset".

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
    in_summary: bool = False

    def __post_init__(self) -> None:
        """Check that a measure of the summary is one number."""
        if self.in_summary and self.level != "dataset":
            raise ParameterError(
                f"The measure {self.name!r} cannot be in the summary: this needs the level "
                f"'dataset'. Got {self.level!r}."
            )


def safe_divide(numerator: float, denominator: int) -> float:
    """Return the quotient of two numbers; NaN if the denominator is 0."""
    return numerator / denominator if denominator else float("nan")


def measure(
    *,
    level: Level,
    lower: float = 0.0,
    upper: float = float("inf"),
    in_summary: bool = False,
) -> Callable[[F], F]:
    """Return a decorator that registers a function of ``Y`` as a measure and returns it unchanged.

    The parameters are fields of `Measure`.
    """

    def register_measure(function: F) -> F:
        """Register the function in the catalogue under its name."""
        name = function.__name__
        entry = Measure(
            name=name,
            level=level,
            lower=lower,
            upper=upper,
            function=function,
            in_summary=in_summary,
        )
        register("measure", name, entry, display_group=DISPLAY_GROUPS[level])
        return function

    return register_measure
