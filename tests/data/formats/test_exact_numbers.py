"""Every reader of text gives, bit by bit, the double that Python's float() gives."""

import numpy as np
import pyarrow as pa
import pytest

import scumble
from scumble.data.formats.arrow_texts import join_slices, number_texts
from scumble.data.formats.kernels.numbers import exact_floats, parse_float

#: Numbers that parsers get wrong: halfway between two doubles, at the ends of their range, with
#: more digits or larger exponents than any integer holds.
HARD = [
    "9007199254740993",
    "9007199254740992.999999999999999999999999999999999",
    "0.1",
    "0.30000000000000004",
    "1e23",
    "8.5e22",
    "1.7976931348623157e308",
    "2.2250738585072011e-308",
    "2.2250738585072014e-308",
    "4.9406564584124654e-324",
    "2.4703282292062328e-324",
    "2.4703282292062327208e-324",
    "1e-400",
    "7.2057594037927933e16",
    "6250000000000000000000000000000000e-35",
    "123456789012345678901234567890",
    "0.000000000000000000000000000000000001e36",
    "-0.0",
    "-0",
    "+.5",
    "5.",
    "00000000000000000000000000000007.50",
    "1.00000000000000011102230246251565404236316680908203125",
    "1.00000000000000011102230246251565404236316680908203124",
    "1.00000000000000011102230246251565404236316680908203126",
    "179769313486231570" + "0" * 291,
    "0." + "0" * 99_990 + "1e99990",
    "1" + "0" * 99_990 + "e-99990",
    "0." + "0" * 99_990 + "1e-150000",
    "0e99999999999999999999",
]
BITS = np.array([float(text) for text in HARD]).view(np.int64)


@pytest.mark.parametrize("text", HARD)
def test_one_by_one(text):
    assert np.float64(parse_float(text.encode())[1]).view(np.int64) == np.float64(text).view(
        np.int64
    )


@pytest.mark.parametrize("times", [1, 50])  # few are read by Python, many by Arrow
def test_together(times):
    text = np.frombuffer("".join(HARD).encode(), np.uint8)
    ends = np.cumsum([len(number) for number in HARD])
    starts = ends - [len(number) for number in HARD]
    values = exact_floats(text, np.tile(starts, times), np.tile(ends, times))
    np.testing.assert_array_equal(values.view(np.int64), np.tile(BITS, times))


ARFF = "@relation 'r: -C -1'\n@attribute x real\n@attribute y {0,1}\n@data\n"
FILES = {
    "csv": ("x,label:y\n", "%s,1\n"),
    "mulan": (ARFF, "%s,1\n"),
    "meka": (ARFF, "{0 %s, 1 1}\n"),
    "keel": (ARFF, "'%s',1\n"),
    "libsvm": ("", "1 1:%s\n"),
    "extreme": (f"{len(HARD)} 1 2\n", "1 0:%s\n"),
}


@pytest.mark.parametrize("name", FILES)
def test_in_files(tmp_path, name):
    head, row = FILES[name]
    (tmp_path / "a.xml").write_text("<labels><label name='y'/></labels>")
    (tmp_path / "a.data").write_text(head + "".join(row % text for text in HARD))
    data = scumble.read(tmp_path / "a.data", format=name)
    expected = BITS.view(np.float64)
    if data.is_sparse:
        expected = expected + 0.0  # a zero is not stored, so its sign is gone
    values = data.X.toarray() if data.is_sparse else data.X
    np.testing.assert_array_equal(values.ravel().view(np.int64), expected.view(np.int64))


def test_an_exponent_beyond_counting_is_no_small_number():
    """Its digits and its exponent, each cut to what fits, once cancelled to 1e9."""
    for text, value in (("0." + "0" * 99_990 + "1e150000", np.inf), ("1e-99999999999999999999", 0)):
        assert parse_float(text.encode())[1] == float(text) == value


def test_texts_of_numbers_and_runs_of_them():
    assert number_texts(np.array([5, 0.1, 1e300]), as_integers=False).to_pylist() == [
        "5.0",
        "0.1",
        "1e+300",
    ]
    assert number_texts(np.array([5, np.nan]), as_integers=True).to_pylist() == ["5", None]
    assert join_slices(pa.array(["a", "b", "c"]), np.array([0, 1, 3]), "-").to_pylist() == [
        "a",
        "b-c",
    ]
