"""The number parser gives the double that Python's own float() gives, or says no."""

import math
import re

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from scumble.data.formats.kernels.numbers import (
    DECIMAL,
    INTEGER,
    LONG,
    NO_NUMBER,
    parse_float,
    slices_to_arrow,
)

GRAMMAR = re.compile(r"[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf|infinity|nan)", re.I)


def parse(text: str) -> tuple[int, float]:
    kind, value = parse_float(memoryview(b"9" + text.encode() + b"9")[1:-1])
    return kind, float(value)


def same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or (
        a == b and math.copysign(1, a) == math.copysign(1, b)
    )


@given(st.floats())
@example(5e-324)
@example(1.7976931348623157e308)
@example(9007199254740993.0)
@example(-0.0)
def test_every_double_survives_its_repr(value):
    kind, found = parse(repr(value))
    assert kind in (DECIMAL, LONG)
    assert same(found, value)


@given(st.from_regex(r"[+-]?[0-9]{0,25}\.?[0-9]{0,25}([eE][+-]?[0-9]{1,4})?", fullmatch=True))
@example("9007199254740993")
@example("0.000000000000000000000000000000000001e36")
@example("1e23")
@example("12345678901234567890")
@example("1e99999999999999999999")
@example("0e99999999999999999999")
def test_any_spelling_gives_the_nearest_double(text):
    kind, value = parse(text)
    if GRAMMAR.fullmatch(text):
        assert kind != NO_NUMBER
        assert same(value, float(text))
    else:
        assert kind == NO_NUMBER


@given(st.text(st.sampled_from("0123456789.eE+-infatyNIA _x"), max_size=12))
def test_whatever_is_no_number_is_refused(text):
    kind, _ = parse(text)
    assert (kind != NO_NUMBER) == (GRAMMAR.fullmatch(text) is not None)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("7", INTEGER, 7.0),
        ("-007", INTEGER, -7.0),
        ("7.", DECIMAL, 7.0),
        ("7e0", DECIMAL, 7.0),
        ("0.1", DECIMAL, 0.1),
        ("9007199254740992", INTEGER, 2.0**53),
        ("9007199254740993", LONG, 2.0**53),
        ("-Infinity", DECIMAL, -math.inf),
        ("1e400", LONG, math.inf),
    ],
)
def test_kinds(text, kind, value):
    assert parse(text) == (kind, value)


@pytest.mark.parametrize("before", [b"-", b"+", b","])
def test_what_stands_before_does_not_matter(before):
    for text in (b"inf", b"nan", b"5", b"1e23"):
        kind, value = parse_float(memoryview(before + text)[1:])
        assert kind != NO_NUMBER
        assert same(value, float(text))


@pytest.mark.parametrize(
    "text", ["", "+", "-", ".", "e5", "1e", "1e+", "1_0", "0x1", "--1", ".nan"]
)
def test_not_numbers(text):
    assert parse(text)[0] == NO_NUMBER


def test_pieces_that_end_before_they_begin_write_nothing_beyond_the_end():
    text = np.frombuffer(b"x" * 100_000, np.uint8)
    with pytest.raises(IndexError, match="within the text"):
        slices_to_arrow(text, np.array([0, 90_000]), np.array([80_000, 10_001]))
