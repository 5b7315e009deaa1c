"""Every parameter of every resampler, classifier and splitter is declared, and truly so."""

import inspect
import re

import numpy as np
import pytest
from numpydoc.docscrape import ClassDoc

from scumble import catalogue
from scumble._core.errors import ParameterError, ScumbleError
from scumble._core.parameters import ValidatedParametersMixin, get_parameter_constraints
from scumble.catalogue import (
    AnyValue,
    Bool,
    Choice,
    Either,
    Int,
    NJobsConstraint,
    Optional,
    ParameterConstraint,
    RandomStateConstraint,
    Real,
)
from scumble.learn import C45Classifier

CLASSES = [
    *(
        cls
        for kind in ("resampler", "classifier", "splitter")
        for cls in catalogue.entries(kind).values()
    ),
    C45Classifier,
]
NONSENSE = object()


def parameters_of(cls):
    return inspect.signature(cls).parameters


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_parameter_is_declared_and_its_default_allowed(cls):
    constraints = get_parameter_constraints(cls)
    assert list(constraints) == list(parameters_of(cls))
    for name, parameter in parameters_of(cls).items():
        if parameter.default is not parameter.empty:
            assert constraints[name].is_satisfied_by(parameter.default), name


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (cls, name)
        for cls in CLASSES
        for name, constraint in get_parameter_constraints(cls).items()
        if not isinstance(constraint, AnyValue)
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_nonsense_is_refused_with_the_words_of_the_declaration(cls, name):
    instance = cls(**{name: NONSENSE})
    words = re.escape(get_parameter_constraints(cls)[name].description)
    match = f"The '{name}' parameter of {cls.__name__} must be {words}. Got <object"
    with pytest.raises(ScumbleError, match=match):
        instance.check_parameters()


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_the_docstring_names_the_declared_choices(cls):
    types = {name: type_ for name, type_, _ in ClassDoc(cls)["Parameters"]}
    for name, constraint in get_parameter_constraints(cls).items():
        if isinstance(constraint, Choice):
            assert all(
                repr(choice).replace("'", '"') in types[name] for choice in constraint.choices
            )
            assert types[name].count('"') == 2 * sum(
                isinstance(c, str) for c in constraint.choices
            ) + (2 * ("default=" + '"' in types[name]))


@pytest.mark.parametrize(
    ("constraint", "good", "bad"),
    [
        (Int(1), [1, np.int64(7), 10**30], [0, True, np.True_, 1.0, "1", None]),
        (Real(0, 1), [0, 1, 0.5, np.float32(0.25)], [-0.1, 1.1, np.nan, True, "0", None]),
        (Real(0, 1, closed="right"), [1, 1e-9], [0, 0.0]),
        (Real(0, 1, closed="left"), [0, 0.5], [1, 1.0]),
        (Real(0, 1, closed="neither"), [0.5], [0, 1]),
        (Real(0), [0, 1e300], [np.inf, np.nan, -1]),
        (Real(), [-5, 1e9], [np.inf, -np.inf, np.nan]),
        (Bool(), [True, np.False_], [0, 1, None, "no"]),
        (Choice("a", None, 2), ["a", None, 2, np.str_("a"), np.int64(2)], ["b", True, 2.0, ["a"]]),
        (Either(Real(0, 1), Choice("auto")), [0.5, "auto"], ["high", 2, None]),
        (Optional(Int(1)), [None, 3], [0, "x"]),
        (
            RandomStateConstraint(),
            [None, 0, np.random.default_rng(0), np.random.RandomState(0)],
            [-1, "a", True],
        ),
        (NJobsConstraint(), [None, 1, -1], [0, True, "all", 1.5]),
        (AnyValue("anything"), [None, object()], []),
    ],
    ids=lambda value: repr(value) if isinstance(value, ParameterConstraint) else "",
)
def test_constraints(constraint, good, bad):
    for value in good:
        constraint.check(value, name="k", caller="F")
    for value in bad:
        with pytest.raises(
            ParameterError, match=re.escape(f"F must be {constraint.description}. Got ")
        ):
            constraint.check(value, name="k", caller="F")


def test_a_class_inherits_declarations_and_drops_those_of_parameters_it_has_not():
    class Base(ValidatedParametersMixin):
        _parameter_constraints = {"k": Int(1), "scale": Bool()}

    class Derived(Base):
        _parameter_constraints = {"k": Int(5), "mode": Choice("a", "b")}

        def __init__(self, mode="a", k=5):
            self.mode, self.k = mode, k

        def _check_parameter_combinations(self):
            if self.mode == "b" and self.k > 9:
                raise ParameterError("mode 'b' takes fewer.")

    assert get_parameter_constraints(Derived) == {
        "mode": Derived._parameter_constraints["mode"],
        "k": Derived._parameter_constraints["k"],
    }
    Derived().check_parameters()
    with pytest.raises(ParameterError, match=r"an int in \[5, inf\)"):
        Derived(k=4).check_parameters()
    with pytest.raises(ParameterError, match="takes fewer"):
        Derived("b", 10).check_parameters()


@pytest.mark.parametrize(
    ("constraint", "field"),
    [
        (Int(2), {"kind": "integer", "minimum": 2}),
        (Real(0, 100), {"kind": "number", "minimum": 0, "maximum": 100}),
        (Choice("a", "b"), {"kind": "choice", "choices": ["a", "b"]}),
        (
            Either(Real(0, 1), Choice("auto")),
            {"kind": "number_or_word", "choices": ["auto"], "minimum": 0, "maximum": 1},
        ),
        (Optional(Int(1)), {"kind": "integer", "minimum": 1, "required": False}),
    ],
    ids=repr,
)
def test_the_field_of_a_form(constraint, field):
    plain = {"choices": [], "minimum": None, "maximum": None, "required": True}
    assert constraint.field() == plain | field


def test_an_end_that_is_neither_left_nor_right():
    with pytest.raises(ParameterError, match="'closed' parameter of Real must be one of"):
        Real(0, 1, closed="up")
