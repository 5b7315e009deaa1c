"""What a parameter may be, declared once: checks, error texts, pages, help and forms read it.

A class that lists its parameters as fields says it with their defaults, ``n_neighbors: int =
default(10, Int(1))``; others say ``_parameter_constraints = declare(n_neighbors=Int(1), ...)``. What its bases say
counts as well.
"""

import inspect
import math
import numbers
import re
from collections.abc import Mapping
from dataclasses import Field, dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np

from scumble._core.errors import ParameterError, ScumbleError, did_you_mean, parameter_error
from scumble._core.text import strip_markup


class ParameterConstraint:
    """The values a parameter may have, and the words for them.

    A subclass implements `is_satisfied_by` and has a `description`, which ends the sentence
    "The 'k' parameter must be".

    Examples
    --------
    >>> from scumble.catalogue import ParameterConstraint
    >>> class Even(ParameterConstraint):
    ...     description = "an even int"
    ...     def is_satisfied_by(self, value):
    ...         return isinstance(value, int) and value % 2 == 0
    >>> Even().check(3, name="k", caller="Mine")
    Traceback (most recent call last):
    ...
    scumble._core.errors.ParameterError: The 'k' parameter of Mine must be an even int. Got 3
    instead.
    """

    #: The kind of field that a form shows for it.
    kind: str = "text"
    error: ClassVar[type[ScumbleError]] = ParameterError
    description: str
    choices: tuple[Any, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    required: bool = True
    #: What None stands for, where that is one of the choices.
    value_for_none: Any = None

    def is_satisfied_by(self, value: Any) -> bool:
        """Tell whether a value is one of them."""
        raise NotImplementedError  # every kind of domain says it in its own way

    def check(self, value: Any, *, name: str, caller: str) -> None:
        """Refuse any other value."""
        if not self.is_satisfied_by(value):
            text = parameter_error(name, caller, f"be {self.description}", value)
            raise self.error(f"{text}{self.suggestion(value)}")

    def suggestion(self, value: Any) -> str:
        """Say what may have been meant, after a blank; nothing by default."""
        return ""

    def field(self) -> dict[str, Any]:
        """Describe the field of a form."""
        limits = {name: getattr(self, name) for name in ("minimum", "maximum", "required")}
        return {"kind": self.kind, "choices": list(self.choices), **limits}

    def hide_in_forms(self) -> Self:
        """Leave it out of forms."""
        self.kind = "hidden"
        return self

    def __repr__(self) -> str:
        return f"<{self.description}>"


class Int(ParameterConstraint):
    """Whole numbers from a minimum on.

    Examples
    --------
    >>> from scumble.catalogue import Int
    >>> Int(1)
    <an int in [1, inf)>
    >>> Int(1).is_satisfied_by(3), Int(1).is_satisfied_by(0), Int(1).is_satisfied_by(True)
    (True, False, False)
    """

    kind = "integer"

    def __init__(self, minimum: int) -> None:
        self.minimum = minimum
        self.description = f"an int in [{minimum}, inf)"

    def is_satisfied_by(self, value: Any) -> bool:
        """Tell whether a value is one of them."""
        return is_integer(value) and value >= self.minimum


class Real(ParameterConstraint):
    """Finite numbers in an interval, of which `closed` says which ends belong to it.

    Examples
    --------
    >>> from scumble.catalogue import Real
    >>> Real(0, 1, closed="right"), Real(0)
    (<a number in (0, 1]>, <a number in [0, inf)>)
    >>> Real(0, 1, closed="neither")
    <a number in (0, 1)>
    >>> Real(0, 1, closed="right").is_satisfied_by(0), Real(0).is_satisfied_by(float("nan"))
    (False, False)
    """

    kind = "number"

    def __init__(
        self, minimum: float = -math.inf, maximum: float = math.inf, *, closed: str = "both"
    ) -> None:
        Choice("both", "left", "right", "neither").check(closed, name="closed", caller="Real")
        self.minimum = minimum if math.isfinite(minimum) else None
        self.maximum = maximum if math.isfinite(maximum) else None
        self._limits = minimum, maximum
        includes_minimum = closed in ("both", "left") and math.isfinite(minimum)
        includes_maximum = closed in ("both", "right") and math.isfinite(maximum)
        self._excluded = {-math.inf, math.inf}
        if not includes_minimum:
            self._excluded.add(minimum)
        if not includes_maximum:
            self._excluded.add(maximum)
        left = "[" if includes_minimum else "("
        right = "]" if includes_maximum else ")"
        self.description = f"a number in {left}{minimum:g}, {maximum:g}{right}"

    def is_satisfied_by(self, value: Any) -> bool:
        """Return whether the value is a finite number in the interval."""
        is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        minimum, maximum = self._limits
        return is_number and minimum <= value <= maximum and value not in self._excluded


class Bool(ParameterConstraint):
    """True and False.

    Examples
    --------
    >>> from scumble.catalogue import Bool
    >>> Bool().is_satisfied_by(False), Bool().is_satisfied_by(0)
    (True, False)
    """

    kind = "switch"
    description = "True or False"

    def is_satisfied_by(self, value: Any) -> bool:
        """Tell whether a value is one of them."""
        return isinstance(value, bool | np.bool_)


class Choice(ParameterConstraint):
    """Some words, numbers or None.

    Examples
    --------
    >>> from scumble.catalogue import Choice
    >>> Choice("clone", "keep")
    <one of 'clone', 'keep'>
    >>> Choice(1, 2).is_satisfied_by(1), Choice(1, 2).is_satisfied_by(True)
    (True, False)
    """

    kind = "choice"

    def __init__(self, *choices: Any) -> None:
        self.choices = choices
        self.description = f"one of {', '.join(map(repr, choices))}"

    def is_satisfied_by(self, value: Any) -> bool:
        """Tell whether a value is one of them."""
        plain = value.item() if isinstance(value, np.generic) else value
        return any(type(plain) is type(choice) and plain == choice for choice in self.choices)

    def suggestion(self, value: Any) -> str:
        """Say which of them may have been meant."""
        words = [choice for choice in self.choices if isinstance(choice, str)]
        return did_you_mean(value, words) if isinstance(value, str) else ""


class Either(ParameterConstraint):
    """Numbers, or some words.

    Examples
    --------
    >>> from scumble.catalogue import Choice, Either, Real
    >>> Either(Real(0, 1), Choice("auto"))
    <a number in [0, 1] or 'auto'>
    """

    kind = "number_or_word"

    def __init__(self, first: ParameterConstraint, second: ParameterConstraint) -> None:
        self.first, self.second = first, second
        self.choices = first.choices + second.choices
        self.minimum, self.maximum = first.minimum, first.maximum
        self.description = f"{first.description} or {second.description.removeprefix('one of ')}"

    def is_satisfied_by(self, value: Any) -> bool:
        """Tell whether a value is one of them."""
        return self.first.is_satisfied_by(value) or self.second.is_satisfied_by(value)

    def suggestion(self, value: Any) -> str:
        """Say what the parts say."""
        return self.first.suggestion(value) or self.second.suggestion(value)


class Optional(Either):
    """None, or what a domain has.

    Examples
    --------
    >>> from scumble.catalogue import Int, Optional
    >>> Optional(Int(1))
    <None or an int in [1, inf)>
    """

    required = False

    def __init__(self, inner: ParameterConstraint) -> None:
        super().__init__(Choice(None), inner)
        self.kind, self.choices = inner.kind, inner.choices
        self.minimum, self.maximum = inner.minimum, inner.maximum
        self.description = f"None or {inner.description}"


class RandomStateConstraint(ParameterConstraint):
    """What random numbers can start from.

    Examples
    --------
    >>> from scumble.catalogue import RandomStateConstraint
    >>> RandomStateConstraint().is_satisfied_by(None), RandomStateConstraint().is_satisfied_by(7), RandomStateConstraint().is_satisfied_by("lucky")
    (True, True, False)
    """

    kind = "seed"
    description = "None, an int of at least 0, or a numpy Generator or RandomState"

    def is_satisfied_by(self, value: Any) -> bool:
        """Tell whether a value is one of them."""
        generators = np.random.Generator | np.random.RandomState
        return value is None or isinstance(value, generators) or Int(0).is_satisfied_by(value)


def as_generator(random_state: Any, *, caller: str) -> np.random.Generator:
    """Make the generator a `random_state` stands for."""
    RandomStateConstraint().check(random_state, name="random_state", caller=caller)
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31 - 1)
    return np.random.default_rng(random_state)


class NJobsConstraint(ParameterConstraint):
    """Numbers of threads; negative ones leave some cores alone.

    Examples
    --------
    >>> from scumble.catalogue import NJobsConstraint
    >>> NJobsConstraint().is_satisfied_by(None), NJobsConstraint().is_satisfied_by(-1), NJobsConstraint().is_satisfied_by(0)
    (True, True, False)
    """

    kind = "hidden"
    description = "a nonzero int or None"

    def is_satisfied_by(self, value: Any) -> bool:
        """Tell whether a value is one of them."""
        return value is None or (is_integer(value) and value != 0)


class AnyValue(ParameterConstraint):
    """Anything: what it has to be depends on the data, and is checked together with it.

    Examples
    --------
    >>> from scumble.catalogue import AnyValue
    >>> AnyValue("None or nested lists of labels")
    <None or nested lists of labels>
    """

    kind = "hidden"

    def __init__(self, description: str) -> None:
        self.description = description

    def is_satisfied_by(self, value: Any) -> bool:
        """Let every value pass."""
        return True


#: Which columns hold codes of nominal values.
CATEGORICAL_FEATURES = AnyValue(
    "None, column numbers, names, a mask, or a mapping of columns to numbers of values"
)


def parameter_constraints(
    **_parameter_constraints: ParameterConstraint,
) -> Mapping[str, ParameterConstraint]:
    """Say what the parameters of a class may be.

    Examples
    --------
    >>> from scumble._core.parameters import Choice, ValidatedParametersMixin, Int, parameter_constraints
    >>> class Sampler(ValidatedParametersMixin):
    ...     _parameter_constraints = parameter_constraints(passes=Int(1), mode=Choice("clone", "keep"))
    ...
    ...     def __init__(self, passes=1, mode="clone"):
    ...         self.passes, self.mode = passes, mode
    >>> Sampler(passes=0).check_parameters()
    Traceback (most recent call last):
    ...
    scumble._core.errors.ParameterError: The 'passes' parameter of Sampler must be an int in [1,
    inf). Got 0 instead.
    """
    return MappingProxyType(_parameter_constraints)


def default(value: Any, constraint: ParameterConstraint) -> Any:
    """Give a parameter its default, and say what it may be."""
    return field(default=value, metadata={"domain": constraint})


class ValidatedParametersMixin:
    """Base of what has declared parameters."""

    _parameter_constraints: ClassVar[Mapping[str, ParameterConstraint]] = parameter_constraints()

    def check_parameters(self) -> None:
        """Refuse parameters outside their domains, and those that do not go together."""
        kind: Any = type(self)  # mypy takes a class for something that cannot be hashed
        for name, domain in get_parameter_constraints(kind).items():
            domain.check(getattr(self, name), name=name, caller=type(self).__name__)
        self._check_parameter_combinations()

    def _check_parameter_combinations(self) -> None:
        """Refuse parameters that do not go together."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What is known of one parameter of a class.

    Attributes
    ----------
    name : str
        Its name.
    default : object
        Its value where none is given; `inspect.Parameter.empty` where one must be.
    domain : Domain
        What it may be.
    text : str
        What the docstring says about it, as plain text.

    Examples
    --------
    >>> from scumble.catalogue import parameters_of
    >>> from scumble.resample import REMEDIAL
    >>> [(each.name, each.default, each.constraint) for each in parameters_of(REMEDIAL)[:2]]
    [('passes', 1, <an int in [1, inf)>), ('one_sided', 'clone', <one of 'clone', 'keep'>)]
    """

    name: str
    default: Any
    constraint: ParameterConstraint
    text: str


def parameters_of(kind: type) -> list[Parameter]:
    """Describe the parameters of a class, in the order of its signature.

    Parameters
    ----------
    kind : type
        Any class; what it does not declare may be anything.

    Returns
    -------
    list of Parameter
        Names, defaults, domains and texts.

    Examples
    --------
    >>> from scumble.catalogue import parameters_of
    >>> from scumble.resample import MLROS
    >>> parameters_of(MLROS)[0].constraint
    <a number in [0, inf)>
    """
    domains, told = get_parameter_constraints(kind), _texts_of(kind)
    return [
        Parameter(name, each.default, domains.get(name, AnyValue("anything")), told.get(name, ""))
        for name, each in inspect.signature(kind).parameters.items()
    ]


@lru_cache  # A small treatment takes less time than a look at a signature.
def get_parameter_constraints(kind: type) -> Mapping[str, ParameterConstraint]:
    """Return what the parameters of a class may be, in the order of its signature."""
    declared: dict[str, ParameterConstraint] = {}
    for base in reversed(kind.__mro__):
        fields = vars(base) | vars(base).get("__dataclass_fields__", {})
        told = {name: each.metadata for name, each in fields.items() if isinstance(each, Field)}
        declared |= {name: each["domain"] for name, each in told.items() if "domain" in each}
        declared |= vars(base).get("_parameter_constraints", {})
    return {name: declared[name] for name in inspect.signature(kind).parameters if name in declared}


def _texts_of(kind: type) -> dict[str, str]:
    """Read what a numpydoc docstring says about each parameter."""
    doc = inspect.getdoc(kind) or ""
    section = re.search(r"\nParameters\n-+\n(.*?)(?:\n\n\w[^\n]*\n-+\n|\Z)", doc, re.DOTALL)
    found: dict[str, str] = {}
    for block in re.split(r"\n(?=\S)", section[1]) if section is not None else ():
        head, _, body = block.partition("\n")
        for name in head.partition(" : ")[0].split(", "):
            found[name.strip()] = strip_markup(body)
    return found


def is_integer(value: Any) -> bool:
    """Tell whole numbers, of Python or numpy, from truth values and all else."""
    if type(value) is int:  # thousands of columns are mapped by plain numbers
        return True
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
