"""Parameter constraints: the values that each parameter of a class may have, declared once.

A class declares them in a plain dict beside its explicit ``__init__``. Checks, error messages, the
documentation, the help of the command line and forms are derived from it::

    class MLkNN(BaseMultilabelClassifier):
        _parameter_constraints = {
            **BaseMultilabelClassifier._parameter_constraints,
            "n_neighbors": Int(minimum=1),
            "smoothing": Real(minimum=0),
        }

        def __init__(self, n_neighbors=10, *, smoothing=1.0):
            self.n_neighbors = n_neighbors
            self.smoothing = smoothing
"""

import inspect
import math
import numbers
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from scumble._core.errors import ParameterError, ScumbleError, did_you_mean, parameter_error
from scumble._core.text import strip_markup


class ParameterConstraint:
    """Base class of the constraints on the value of a parameter.

    A subclass implements `is_satisfied_by` and sets `description`, the text that completes the
    sentence "The 'k' parameter must be ...".

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

    #: The type of input field that a form shows for the parameter.
    kind: str = "text"
    error: ClassVar[type[ScumbleError]] = ParameterError
    description: str
    choices: tuple[Any, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    required: bool = True
    #: The value that None stands for, where None is allowed.
    value_for_none: Any = None

    def is_satisfied_by(self, value: Any) -> bool:
        """Return whether the value satisfies the constraint."""
        raise NotImplementedError  # each subclass implements it

    def check(self, value: Any, *, name: str, caller: str) -> None:
        """Raise an error that names the parameter if the value is not allowed."""
        if not self.is_satisfied_by(value):
            message = parameter_error(name, caller, f"be {self.description}", value)
            raise self.error(f"{message}{self.suggestion(value)}")

    def suggestion(self, value: Any) -> str:
        """Return a hint to append to the error for a value that is not allowed.

        It begins with a blank; by default it is empty.
        """
        return ""

    def field(self) -> dict[str, Any]:
        """Return a dict that describes the form field of the parameter.

        Its keys are ``kind``, ``choices``, ``minimum``, ``maximum`` and ``required``.
        """
        return {
            "kind": self.kind,
            "choices": list(self.choices),
            "minimum": self.minimum,
            "maximum": self.maximum,
            "required": self.required,
        }

    def hide_in_forms(self) -> Self:
        """Set `kind` to "hidden", so that forms omit the parameter; return this constraint."""
        self.kind = "hidden"
        return self

    def __repr__(self) -> str:
        """Return the description in angle brackets."""
        return f"<{self.description}>"


class Int(ParameterConstraint):
    """Integers of at least a minimum.

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
        """Return whether the value is an integer of at least the minimum."""
        return is_integer(value) and value >= self.minimum


class Real(ParameterConstraint):
    """Finite numbers in an interval; `closed` says which of its limits are included.

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
        self._interval = minimum, maximum
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
        minimum, maximum = self._interval
        return is_number and minimum <= value <= maximum and value not in self._excluded


class Bool(ParameterConstraint):
    """Booleans.

    Examples
    --------
    >>> from scumble.catalogue import Bool
    >>> Bool().is_satisfied_by(False), Bool().is_satisfied_by(0)
    (True, False)
    """

    kind = "switch"
    description = "True or False"

    def is_satisfied_by(self, value: Any) -> bool:
        """Return whether the value is a boolean of Python or NumPy."""
        return isinstance(value, bool | np.bool_)


class Choice(ParameterConstraint):
    """A fixed set of strings, numbers or None.

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
        """Return whether the value equals one of the choices and has its type."""
        # Types are compared because True == 1 == 1.0.
        python_value = value.item() if isinstance(value, np.generic) else value
        return any(
            type(python_value) is type(choice) and python_value == choice for choice in self.choices
        )

    def suggestion(self, value: Any) -> str:
        """Return a hint with the choices that are spelt like the value, if it is a string."""
        if not isinstance(value, str):
            return ""
        return did_you_mean(value, [choice for choice in self.choices if isinstance(choice, str)])


class Either(ParameterConstraint):
    """The values that satisfy one of two constraints, such as numbers or a string.

    Examples
    --------
    >>> from scumble.catalogue import Choice, Either, Real
    >>> Either(Real(0, 1), Choice("auto"))
    <a number in [0, 1] or 'auto'>
    """

    kind = "number_or_word"

    def __init__(self, first: ParameterConstraint, second: ParameterConstraint) -> None:
        self.first = first
        self.second = second
        self.choices = first.choices + second.choices
        self.minimum = first.minimum
        self.maximum = first.maximum
        self.description = f"{first.description} or {second.description.removeprefix('one of ')}"

    def is_satisfied_by(self, value: Any) -> bool:
        """Return whether the value satisfies one of the two constraints."""
        return self.first.is_satisfied_by(value) or self.second.is_satisfied_by(value)

    def suggestion(self, value: Any) -> str:
        """Return the hint of the first constraint, or that of the second if it is empty."""
        return self.first.suggestion(value) or self.second.suggestion(value)


class Optional(Either):
    """None, and the values that satisfy another constraint.

    Examples
    --------
    >>> from scumble.catalogue import Int, Optional
    >>> Optional(Int(1))
    <None or an int in [1, inf)>
    """

    required = False

    def __init__(self, inner: ParameterConstraint) -> None:
        super().__init__(Choice(None), inner)
        self.kind = inner.kind
        self.choices = inner.choices
        self.minimum = inner.minimum
        self.maximum = inner.maximum
        self.description = f"None or {inner.description}"


class RandomStateConstraint(ParameterConstraint):
    """Values of ``random_state``: None, seeds, and generators of NumPy.

    Examples
    --------
    >>> from scumble.catalogue import RandomStateConstraint
    >>> constraint = RandomStateConstraint()
    >>> [constraint.is_satisfied_by(value) for value in (None, 7, "lucky")]
    [True, True, False]
    """

    kind = "seed"
    description = "None, an int of at least 0, or a numpy Generator or RandomState"

    def is_satisfied_by(self, value: Any) -> bool:
        """Return whether the value is None, a seed, or a generator of NumPy."""
        generators = np.random.Generator | np.random.RandomState
        return value is None or isinstance(value, generators) or Int(0).is_satisfied_by(value)


def as_generator(random_state: Any, *, caller: str) -> np.random.Generator:
    """Return a generator for a ``random_state``, after checking it; ``caller`` is named in errors.

    None gives a generator with a random seed, an int one with this seed, a ``RandomState`` one
    that is seeded by its next number; a ``Generator`` is returned itself.
    """
    RandomStateConstraint().check(random_state, name="random_state", caller=caller)
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31 - 1)
    return np.random.default_rng(random_state)


class NJobsConstraint(ParameterConstraint):
    """Numbers of threads; as in joblib, -1 means all cores and -2 all but one.

    Examples
    --------
    >>> from scumble.catalogue import NJobsConstraint
    >>> constraint = NJobsConstraint()
    >>> [constraint.is_satisfied_by(value) for value in (None, -1, 0)]
    [True, True, False]
    """

    kind = "hidden"
    description = "a nonzero int or None"

    def is_satisfied_by(self, value: Any) -> bool:
        """Return whether the value is None or an integer other than 0."""
        return value is None or (is_integer(value) and value != 0)


class AnyValue(ParameterConstraint):
    """Any value: the allowed ones depend on the data, and are checked together with it.

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
        """Return True for every value."""
        return True


#: The constraint of ``categorical_features``: the columns that hold codes of categories.
CATEGORICAL_FEATURES = AnyValue(
    "None, column numbers, names, a mask, or a mapping of columns to numbers of values"
)


class ValidatedParametersMixin:
    """Mixin for classes whose parameters are checked against ``_parameter_constraints``.

    Examples
    --------
    >>> from scumble._core.parameters import Choice, Int, ValidatedParametersMixin
    >>> class Sampler(ValidatedParametersMixin):
    ...     _parameter_constraints = {"passes": Int(minimum=1), "mode": Choice("clone", "keep")}
    ...
    ...     def __init__(self, passes=1, mode="clone"):
    ...         self.passes = passes
    ...         self.mode = mode
    >>> Sampler(passes=0).check_parameters()
    Traceback (most recent call last):
    ...
    scumble._core.errors.ParameterError: The 'passes' parameter of Sampler must be an int in [1,
    inf). Got 0 instead.
    """

    _parameter_constraints: ClassVar[Mapping[str, ParameterConstraint]] = {}

    def check_parameters(self) -> None:
        """Raise an error if a parameter, or a combination of parameters, is not allowed."""
        cls: Any = type(self)  # mypy does not know that classes are hashable
        for name, constraint in get_parameter_constraints(cls).items():
            constraint.check(getattr(self, name), name=name, caller=cls.__name__)
        self._check_parameter_combinations()

    def _check_parameter_combinations(self) -> None:
        """Raise an error if the values of several parameters contradict each other.

        Subclasses override this method; by default all combinations are allowed.
        """


@dataclass(frozen=True, slots=True)
class Parameter:
    """Name, default, constraint and description of one parameter of a class.

    Attributes
    ----------
    name : str
        Its name.
    default : object
        Its default; `inspect.Parameter.empty` for a required parameter.
    constraint : ParameterConstraint
        The values that are allowed.
    text : str
        Its description in the docstring of the class, as plain text.

    Examples
    --------
    >>> from scumble.catalogue import parameters_of
    >>> from scumble.resample import REMEDIAL
    >>> passes = parameters_of(REMEDIAL)[0]
    >>> passes.name, passes.default, passes.constraint
    ('passes', 1, <an int in [1, inf)>)
    """

    name: str
    default: Any
    constraint: ParameterConstraint
    text: str


def parameters_of(cls: type) -> list[Parameter]:
    """Return the parameters of a class, in the order of its signature.

    Parameters
    ----------
    cls : type
        Any class. A parameter without a constraint may be anything.

    Returns
    -------
    list of Parameter
        Names, defaults, constraints and descriptions.

    Examples
    --------
    >>> from scumble.catalogue import parameters_of
    >>> from scumble.resample import MLROS
    >>> parameters_of(MLROS)[0].constraint
    <a number in [0, inf)>
    """
    constraints = get_parameter_constraints(cls)
    texts = _parameter_texts(cls)
    return [
        Parameter(
            name=name,
            default=parameter.default,
            constraint=constraints.get(name, AnyValue("anything")),
            text=texts.get(name, ""),
        )
        for name, parameter in inspect.signature(cls).parameters.items()
    ]


@lru_cache  # Reading a signature takes longer than resampling a small data set.
def get_parameter_constraints(cls: type) -> Mapping[str, ParameterConstraint]:
    """Return the constraint of each parameter of a class by name, in the order of its signature.

    Constraints of base classes are included; a parameter without a constraint is left out.
    """
    constraints: dict[str, ParameterConstraint] = {}
    for base in reversed(cls.__mro__):
        constraints |= vars(base).get("_parameter_constraints", {})
    parameters = inspect.signature(cls).parameters
    return {name: constraints[name] for name in parameters if name in constraints}


def _parameter_texts(cls: type) -> dict[str, str]:
    """Return the description of each parameter by name, from the numpydoc docstring of a class.

    Descriptions are plain text on one line; parameters that the docstring lacks are left out.
    """
    doc = inspect.getdoc(cls) or ""
    section = re.search(r"\nParameters\n-+\n(.*?)(?:\n\n\w[^\n]*\n-+\n|\Z)", doc, re.DOTALL)
    if section is None:
        return {}
    texts: dict[str, str] = {}
    for block in re.split(r"\n(?=\S)", section[1]):
        heading, _, body = block.partition("\n")
        for name in heading.partition(" : ")[0].split(", "):
            texts[name.strip()] = strip_markup(body)
    return texts


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer of Python or NumPy; booleans are not."""
    if type(value) is int:  # the fast path: mappings of categorical columns hold thousands
        return True
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def check_choice(value: Any, choices: Sequence[str], *, name: str, caller: str) -> str:
    """Return a value of the parameter ``name`` of ``caller``; raise an error if it is no choice."""
    Choice(*choices).check(value, name=name, caller=caller)
    return str(value)


def check_count(value: Any, *, name: str, caller: str, minimum: int = 1) -> int:
    """Return a value of the parameter ``name`` of ``caller`` as int.

    Raise an error unless it is an integer of at least ``minimum``.
    """
    Int(minimum).check(value, name=name, caller=caller)
    return int(value)
