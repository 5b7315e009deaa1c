"""The ARFF format itself: header, rows, dates, quoting. Files are made by hand."""

import math
import re

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import scumble
from scumble._core.errors import ParameterError, ReadError, ScumbleWarning
from scumble.data import Feature, MultilabelDataset
from scumble.data.formats.arff import body, reader
from scumble.data.formats.arff.dates import DateFormat
from scumble.data.formats.arff.quoting import quote, scan, unescape
from scumble.data.formats.arff.writer import number_text
from scumble.data.formats.meka import split_relation
from scumble.testing.strategies import texts

NAN = math.nan


def read(tmp_path, content: str | bytes, labels=1, **options) -> MultilabelDataset:
    """Read a file whose first columns are labels."""
    path = tmp_path / "data.arff"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return scumble.read(path, format="mulan", labels=labels, **options)


def table_of(data: MultilabelDataset) -> list[list[float]]:
    X = data.X.toarray() if data.is_sparse else data.X
    return X.tolist()


def labels_of(data: MultilabelDataset) -> list[list[int]]:
    return data.Y.toarray().astype(int).tolist()


def assert_same(X, expected) -> None:
    np.testing.assert_array_equal(X.toarray() if hasattr(X, "toarray") else X, expected)


# --- what a file may hold ------------------------------------------------------------------


def test_everything_at_once_dense(tmp_path):
    data = read(
        tmp_path,
        """% a comment, then a blank line

        @RELATION  'all of it'   % so they say
        @Attribute y {0, 1}
        @attribute\tsize\tREAL
        @attribute n Integer
        @attribute colour { red,'light blue' , "dark \\"x\\"",  green }
        @attribute text string
        @attribute day DATE "dd/MM/yyyy"
        % another
        @attribute moment date

        @DaTa % here they come
        % no row

        0,1.5,3,red,hello,'02/01/1970','1970-01-01T00:00:01'
          1 , -2e-3 , -7 , 'light blue' , "a, b" , "01/01/1970", "1969-12-31T23:59:59" % the end
        1\t?\t?\t?\t?\t?\t?
        0 .5 +4 "dark \\"x\\"" 'it\\'s' 31/12/1969 1970-01-01T00:00:00

        """,
    )
    assert data.name == "all of it"
    assert data.labels == ("y",)
    assert data.features == (
        Feature("size"),
        Feature("n", integer=True),
        Feature("colour", "nominal", ("red", "light blue", 'dark "x"', "green")),
        Feature("text", "string", ("hello", "a, b", "it's")),
        Feature("day", "date", date_format="dd/MM/yyyy"),
        Feature("moment", "date"),
    )
    assert_same(
        data.X,
        [
            [1.5, 3, 0, 0, 86400000, 1000],
            [-0.002, -7, 1, 1, 0, -1000],
            [NAN] * 6,
            [0.5, 4, 2, 2, -86400000, 0],
        ],
    )
    assert labels_of(data) == [[0], [1], [1], [0]]
    assert not data.is_sparse
    assert data.weights is None


def test_everything_at_once_sparse(tmp_path):
    data = read(
        tmp_path,
        "@relation r\n@attribute y {0,1}\n@attribute a numeric\n@attribute c {x,'y z'}\n"
        "@attribute s string\n@attribute d date yyyy\n@data\n"
        "{}\n"
        "{ 0 1 , 1 2.5,2 'y z', 3 hello, 4 1971 }\n"
        "  {1 0, 2 x, 3 '', 4 ?}  % a zero is not stored\n"
        '{1\t7 2 ? 3 "hello"}\n'
        "{0 1,}\n",
    )
    assert data.is_sparse
    assert data.features[2] == Feature("s", "string", ("", "hello"))
    assert_same(
        data.X,
        [[0, 0, 0, 0], [2.5, 1, 1, 31536000000], [0, 0, 0, NAN], [7, NAN, 1, 0], [0, 0, 0, 0]],
    )
    assert data.X.nnz == 8
    assert labels_of(data) == [[0], [1], [0], [0], [1]]


def test_a_text_that_no_sparse_row_omits_needs_no_empty_one(tmp_path):
    head = "@relation r\n@attribute y {0,1}\n@attribute s string\n@attribute t string\n@data\n"
    data = read(tmp_path, head + "{1 b,2 u}\n{0 1,1 a,2 ?}\n{1 b, 2 v}\n")
    assert [feature.categories for feature in data.features] == [("b", "a"), ("u", "v")]
    assert_same(data.X, [[0, 0], [1, NAN], [0, 1]])


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_marks(tmp_path, ending, final, mark):
    lines = ["% é", "@relation r", "@attribute y {0,1}", "@attribute a numeric", "@data", "", "1,2"]
    lines += ["% c", "0,3"]
    text = ending.join(lines) + (ending if final else "")
    data = read(tmp_path, mark + text.encode())
    assert (table_of(data), labels_of(data)) == ([[2], [3]], [[1], [0]])
    with pytest.raises(ReadError, match=r"line 10, value 2"):
        read(tmp_path, mark + (ending.join(lines) + ending + "1,x").encode())


@pytest.mark.parametrize(
    ("declaration", "name"),
    [
        ("update {0,1}", "update"),
        ("TAG_date {0,1}", "TAG_date"),
        ("real real", "real"),
        (r"TAG_m\'usica {0,1}", r"TAG_m\'usica"),
        (r"TAG_dise\~no {0,1}", r"TAG_dise\~no"),
        ("'two words' numeric", "two words"),
        (r"'it\'s \"so\"\t\\\u0041\%\x' numeric", 'it\'s "so"\t\\A%x'),
        ('"it\'s" numeric', "it's"),
        ("'' numeric", ""),
        ("a{0,1}", "a"),
        ("- numeric", "-"),
        ("50% numeric", "50%"),
        ("été numeric", "été"),
        ("@data numeric", "@data"),
        ("x\treal [0.5, 2] % a range", "x"),
        ("x integer {0.5}", "x"),
        ("x {0,1} {0.5} % an attribute's weight", "x"),
    ],
)
def test_attribute_names(tmp_path, declaration, name):
    data = read(
        tmp_path, f"@relation r\n@attribute y {{0,1}}\n@attribute {declaration}\n@data\n1,1"
    )
    assert data.feature_names == (name,)
    assert table_of(data) == [[1]]


@pytest.mark.parametrize(
    ("declared", "categories"),
    [
        ("{0,1}", ("0", "1")),
        ("{ 1 , 2,3 }", ("1", "2", "3")),
        ("{a b}", ("a", "b")),
        ("{'a b'}", ("a b",)),
        ("{a,b,}", ("a", "b")),
        ("{'', '?', \"}\", '%'}", ("", "?", "}", "%")),
        (r"{'\'', a\'b, \n, '\n'}", ("'", r"a\'b", r"\n", "\n")),
        ("{50%,a'b}", ("50%", "a'b")),
        ("{}", ()),
    ],
)
def test_nominal_declarations(tmp_path, declared, categories):
    data = read(tmp_path, f"@relation r\n@attribute y {{0,1}}\n@attribute a {declared}\n@data\n")
    assert data.features == (Feature("a", "nominal", categories),)


def test_nominal_values_are_found_however_they_are_spelled(tmp_path):
    data = read(
        tmp_path,
        "@relation r\n@attribute y {0,1}\n"
        "@attribute a {plain,'don\\'t',\"a\\\\b\",a\\\\b,'%'}\n@data\n"
        "0,plain\n0,'plain'\n0,\"plain\"\n"
        "0,'don\\'t'\n0,\"don't\"\n0,'don\\u0027t'\n0,don't\n"
        "0,'a\\\\b'\n0,a\\b\n"
        "0,a\\\\b\n"
        "0,'\\%'\n0,'%'\n",
    )
    assert data.X.ravel().tolist() == [0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 4, 4]


def test_missing_is_only_an_unquoted_question_mark(tmp_path):
    head = "@relation r\n@attribute y {0,1}\n@attribute a {'?',b}\n@attribute s string\n@data\n"
    data = read(tmp_path, head + "0,'?',?\n0,?,'?'\n1,b,??")
    assert data.features[1].categories == ("?", "??")
    assert_same(data.X, [[0, NAN], [NAN, 0], [1, 1]])


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_instance_weights(tmp_path, form):
    head = "@relation r\n@attribute y {0,1}\n@attribute a numeric\n@data\n"
    dense = "1,5\n0,6,{2.5}\n0,7 { 0 } % no weight at all\n1,8,{1e1},\n1,9{3}"
    sparse = "{0 1,1 5}\n{1 6},{2.5}\n{1 7} { 0 } % none\n{0 1,1 8},{1e1}\n{0 1,1 9}{3}"
    content = head + (dense if form == "dense" else sparse)
    if form == "dense":
        with pytest.raises(ReadError, match=r"line 8, value 3: .*','.* is left over"):
            read(tmp_path, content)
        content = content.replace("{1e1},", "{1e1}")
    data = read(tmp_path, content)
    assert data.weights.tolist() == [1, 2.5, 0, 10, 3]
    assert table_of(data) == [[5], [6], [7], [8], [9]]


def test_a_weight_too_long_for_exact_arithmetic(tmp_path):
    head = "@relation r\n@attribute y {0,1}\n@data\n"
    data = read(tmp_path, head + "1,{0.12345678901234567}\n0\n")
    assert data.weights.tolist() == [0.12345678901234567, 1.0]


@pytest.mark.parametrize(
    ("declared", "values", "expected"),
    [
        ("{0,1}", "0 1 '1'", [0, 1, 1]),
        ("{1,0}", "0 1 '1'", [0, 1, 1]),
        ("{false,true}", "false true 'true'", [0, 1, 1]),
        ("{TRUE,FALSE}", "TRUE FALSE", [1, 0]),
        ("{0}", "0 0", [0, 0]),
        ("{1.0,0.0}", "1.0 0.0", [1, 0]),
        ("numeric", "0 1 1.0 0e5 '1'", [0, 1, 1, 0, 1]),
        ("integer", "1 0 -0", [1, 0, 0]),
        ("{0,1,2}", "1 0", [1, 0]),
    ],
)
def test_labels_are_zero_and_one_in_many_spellings(tmp_path, declared, values, expected):
    content = f"@relation r\n@attribute y {declared}\n@data\n" + "\n".join(values.split())
    assert labels_of(read(tmp_path, content)) == [[value] for value in expected]


@pytest.mark.parametrize(
    ("declared", "omitted"), [("{0,1}", 0), ("{1,0}", 1), ("{true,false}", 1), ("numeric", 0)]
)
def test_a_label_omitted_from_a_sparse_row_has_its_first_value(tmp_path, declared, omitted):
    head = f"@relation r\n@attribute a numeric\n@attribute y {declared}\n@attribute z {{0,1}}\n"
    other = {"{true,false}": ("false", "true")}.get(declared, ("0", "1"))
    data = read(
        tmp_path, f"{head}@data\n{{2 1}}\n{{1 {other[0]}}}\n{{1 {other[1]},2 1}}\n", labels=[1, 2]
    )
    assert labels_of(data) == [[omitted, 1], [0, 0], [1, 1]]


def test_labels_anywhere_keep_the_order_of_the_file(tmp_path):
    head = "@relation r\n" + "".join(
        f"@attribute {name} {kind}\n"
        for name, kind in [
            ("p", "{0,1}"),
            ("a", "real"),
            ("q", "{0,1}"),
            ("b", "real"),
            ("r", "{0,1}"),
        ]
    )
    for labels in (["r", "p", "q"], [4, 0, 2], np.array([0, 2, 4])):
        dense = read(tmp_path, head + "@data\n1,5,0,6,1\n0,7,1,8,0", labels=labels)
        sparse = read(tmp_path, head + "@data\n{0 1,1 5,3 6,4 1}\n{1 7,2 1,3 8}", labels=labels)
        assert dense == sparse
        assert dense.labels == ("p", "q", "r")
        assert dense.feature_names == ("a", "b")
        assert labels_of(dense) == [[1, 0, 1], [0, 1, 0]]
        assert table_of(dense) == [[5, 6], [7, 8]]


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (2, ("a", "b")),
        (-1, ("c",)),
        (-3, ("a", "b", "c")),
        (["c"], ("c",)),
        ([1], ("b",)),
        ([-1], ("c",)),
    ],
)
def test_label_choices(tmp_path, labels, names):
    head = "@relation r\n" + "".join(f"@attribute {name} {{0,1}}\n" for name in "abc")
    assert read(tmp_path, head + "@data\n1,0,1\n", labels=labels).labels == names


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (4, ReadError, "4 labels are requested, but the file has only 3 columns"),
        (-4, ReadError, "4 labels"),
        ([3], ReadError, "column 3, but the columns are numbered 0 to 2"),
        ([-4], ReadError, "column -4"),
        ([0, 0], ReadError, "label 0 twice"),
        (["a", "a"], ReadError, "label 'a' twice"),
        (
            ["alpha"],
            ReadError,
            r"'alpha', but the file has no such column\. The columns are 'a', 'b', 'c'\.$",
        ),
        (["bb"], ReadError, "Did you mean 'b'"),
        (["x", "y", "z"], ReadError, r"'x' \(and 2 more\)"),
        ("a", ParameterError, r"for a single label give a list, \['a'\]"),
        ("no/such.xml", ReadError, "no/such.xml: no such file"),
        (True, ParameterError, "'labels' parameter is True"),
        (1.5, ParameterError, "'labels' parameter is 1.5"),
        (["a", 1], ParameterError, "Expected names, column numbers"),
        ([True], ParameterError, "Expected names, column numbers"),
    ],
)
def test_label_choices_that_make_no_sense(tmp_path, labels, error, message):
    head = "@relation r\n" + "".join(f"@attribute {name} {{0,1}}\n" for name in "abc")
    with pytest.raises(error, match=message):
        read(tmp_path, head + "@data\n1,0,1\n", labels=labels)


def test_no_rows(tmp_path):
    data = read(tmp_path, "@relation r\n@attribute y {0,1}\n@attribute s string\n@data")
    assert (data.n_instances, data.n_features, data.n_labels) == (0, 1, 1)
    assert data.features == (Feature("s", "string"),)


def test_no_features(tmp_path):
    data = read(tmp_path, "@relation r\n@attribute y {0,1}\n@data\n1\n0\n")
    assert data.X.shape == (2, 0)
    assert labels_of(data) == [[1], [0]]


def test_relations(tmp_path):
    for text, name in [
        ("r", "r"),
        ("two words", "two words"),
        ("two words % and a comment", "two words"),
        ("50%", "50%"),
        ("''", ""),
        ("", ""),
        (r"'it\'s' % so", "it's"),
        ("Corel5k-weka.filters.Remove-R1,2", "Corel5k-weka.filters.Remove-R1,2"),
    ]:
        assert read(tmp_path, f"@relation {text}\n@attribute y {{0,1}}\n@data\n").name == name


# --- numbers -------------------------------------------------------------------------------


@settings(max_examples=200)
@given(
    st.lists(
        st.floats(allow_nan=False, allow_infinity=False).map(repr)
        | st.from_regex(r"[+-]?[0-9]{1,25}\.?[0-9]{0,25}([eE][+-]?[0-9]{1,2})?", fullmatch=True)
        | st.from_regex(r"[+-]?\.[0-9]{1,20}(e-?[0-9])?", fullmatch=True),
        min_size=1,
        max_size=6,
    ),
    st.booleans(),
)
@example(["9007199254740993", "1e22", "1e23", "1e-22", "123456789012345678", "0e9999999999"], False)
@example(["5e-324", "1.7976931348623157e308", "2.2250738585072011e-308", "1e-400"], True)
@example(["-0", "+0.0", "00012", "1.", ".5", "1E5"], True)
def test_numbers_are_read_to_the_last_bit(tmp_path_factory, numbers, sparse):
    head = "@relation r\n@attribute y {0,1}\n" + "".join(
        f"@attribute a{i} numeric\n" for i in range(len(numbers))
    )
    row = ",".join(["1", *numbers])
    if sparse:
        row = "{" + ",".join(f"{i} {text}" for i, text in enumerate(row.split(","))) + "}"
    data = read(tmp_path_factory.mktemp("numbers"), f"{head}@data\n{row}")
    assert table_of(data)[0] == [float(text) for text in numbers]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nan", NAN),
        ("NaN", NAN),
        ("inf", math.inf),
        ("-Infinity", -math.inf),
        ("'1.5'", 1.5),
        ('"-2e3"', -2000.0),
        ("'0.12345678901234567'", 0.12345678901234567),
        ("'inf'", math.inf),
    ],
)
def test_numbers_in_words_and_quotes(tmp_path, text, value):
    for row in (f"1,{text}", f"{{0 1,1 {text}}}"):
        data = read(tmp_path, f"@relation r\n@attribute y {{0,1}}\n@attribute a real\n@data\n{row}")
        assert_same(data.X, [[value]])


@pytest.mark.parametrize(
    "text", "|x|1x|1_0|0x1|1e|1e+|--1|+|-|.|e5|1.5.2|.nan|infin|1d|'1 '|١|nano|1e5.5|''".split("|")
)
def test_what_is_no_number(tmp_path, text):
    head = "@relation r\n@attribute y {0,1}\n@attribute a real\n@attribute b real\n@data\n0,1,1\n"
    with pytest.raises(ReadError, match=r"line 7, value 2: .*'a'") as error:
        read(tmp_path, f"{head}1,{text},2")
    assert (error.value.line, error.value.column) == (7, 2)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "'1e400'", "1" + "0" * 400])
def test_numbers_too_large_for_a_double(tmp_path, text):
    head = "@relation r\n@attribute y {0,1}\n@attribute a real\n@data\n0,1\n"
    with pytest.raises(ReadError, match=r"line 6, value 2: the number '.*' is too large"):
        read(tmp_path, f"{head}1,{text}")


@given(st.floats(allow_nan=False) | st.integers(-(2**70), 2**70).map(float))
def test_numbers_are_written_as_short_as_possible(value):
    text = number_text(value)
    assert float(text) == value
    assert text == repr(value).removesuffix(".0").replace("inf", "Infinity")


# --- faults --------------------------------------------------------------------------------

HEAD = "@relation r\n@attribute y {0,1}\n@attribute a numeric\n@attribute c {red,green}\n@data\n"


@pytest.mark.parametrize(
    ("row", "value", "message"),
    [
        ("1,2", 3, "the row has 2 values, but the header declares 3 attributes"),
        ("1,2 % red", 3, "the row has 2 values"),
        ("1,2,red,4", 4, "more than the 3 values the header declares: '4' is left over"),
        ("1,2,red,{x}", 4, "found 'x' as the weight"),
        ("1,2,red,{-1}", 4, "found '-1' as the weight"),
        ("1,2,red,{1", 4, "found '1' as the weight"),
        ("1,2,red,{inf}", 4, "found 'inf' as the weight"),
        ("1,2,red,{}", 4, "found '' as the weight"),
        ("1,2,red,{1e400}", 4, "found '1e400' as the weight"),
        ("1,2,red,{nan}", 4, "found 'nan' as the weight"),
        ("1,2,red,{1} x", 4, "'x' is left over"),
        ("1,,red", 2, "the value of 'a' is empty"),
        (",1,red", 1, "the value of 'y' is empty"),
        ("1,2,blue", 3, "'blue' is not among the values declared for 'c' in line 4"),
        ("1,2,gren", 3, "Expected one of 'red', 'green'. Did you mean 'green'"),
        ("1,2,RED", 3, "'RED' is not among"),
        (r"1,2,'b\'d'", 3, '"b\'d" is not among'),
        ("1,2,'red", 3, "the quote before 'red' is not closed"),
        ('1,"2,red', 2, "the quote before '2,red' is not closed"),
        ("1,'2'x,red", 2, "no comma follows '2', the value of 'a'"),
        ("2,2,red", 1, "the label 'y' has the value '2'"),
        ("?,2,red", 1, "the label 'y' is missing"),
        ("'?',2,red", 1, "the label 'y' has the value '?'"),
        ("{0 1}", 1, "the row begins with '{', other than the rows before it"),
        ("1,x,red", 2, "'a' is numeric, but its value is 'x'"),
        ("@data", 1, "the label 'y' has the value '@data'"),
    ],
)
def test_bad_dense_rows(tmp_path, row, value, message):
    with pytest.raises(ReadError, match=re.escape(message)) as error:
        read(tmp_path, HEAD + "0,1,red\n\n% comment\n" + row + "\n0,1,red")
    assert (error.value.line, error.value.column) == (9, value)


@pytest.mark.parametrize(
    ("row", "value", "message"),
    [
        ("{0 1", 2, "the sparse row is not closed after 1 values"),
        ("{0 1,", 2, "not closed after 1"),
        ("{", 1, "not closed after 0"),
        ("{0 1 % }", 2, "not closed after 1"),
        ("{x 1}", 1, "found 'x' instead of an attribute's number"),
        ("{-1 1}", 1, "found '-1' instead"),
        ("{1.5 1}", 1, "found '1.5' instead"),
        ("{,1 1}", 1, "found '' instead"),
        ("{1 1,,2 red}", 2, "found '' instead"),
        ("{'1' 1}", 1, "found \"'1'\" instead"),
        ("{3 1}", 1, "names the attribute '3', but there are only 3"),
        ("{1 1, 1000000000000000000000 1}", 2, "there are only 3"),
        ("{2 red, 1 1}", 2, "names the attribute '1' out of order or twice"),
        ("{1 1, 1 1}", 2, "names the attribute '1' out of order or twice"),
        ("{1}", 1, "the value of 'a' is empty"),
        ("{1,2 red}", 1, "the value of 'a' is empty"),
        ("{1", 1, "the value of 'a' is empty"),
        ("{1 x}", 1, "'a' is numeric, but its value is 'x'"),
        ("{1 1, 2 blue}", 2, "'blue' is not among"),
        ("{0 1,2 'red}", 2, "the quote before 'red}' is not closed"),
        ("{2 'red'x}", 1, "no comma follows 'red'"),
        ("{0 2}", 1, "the label 'y' has the value '2'"),
        ("{0 ?}", 1, "the label 'y' is missing"),
        ("{0 1} x", 2, "'x' follows the closing brace"),
        ("{0 1}}", 2, "'}' follows the closing brace"),
        ("{0 1}, {x}", 2, "found 'x' as the weight"),
        ("1,2,red", 1, "the row begins with '1', other than the rows before it"),
    ],
)
def test_bad_sparse_rows(tmp_path, row, value, message):
    with pytest.raises(ReadError, match=re.escape(message)) as error:
        read(tmp_path, HEAD + "{}\n\n% comment\n" + row + "\n{}")
    assert (error.value.line, error.value.column) == (9, value)


def test_a_label_without_two_values_omitted_from_a_sparse_row(tmp_path):
    head = "@relation r\n@attribute y {NEG,K}\n@attribute z {}\n@data\n"
    with pytest.raises(ReadError, match=r"line 5.*'y' is omitted .* its first value, 'NEG'"):
        read(tmp_path, head + "{}")
    with pytest.raises(ReadError, match=r"line 5.*'z' is omitted"):
        read(tmp_path, head + "{}", labels=[1])


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", None, "the file is empty"),
        ("  \n", None, "ends without @data"),
        ("% only\n", None, "ends without @data"),
        ("@relation r\n@attribute y {0,1}\n", None, "ends without @data"),
        ("hello\n@relation r", 1, "found 'hello' before @data"),
        ("@relation r\n@attribute y {0,1}\n1,2\n@data\n", 3, "found '1,2' before @data"),
        ("@attribute y {0,1}\n@data\n", 1, "@attribute comes before @relation"),
        ("@data\n", 1, "@data comes before @relation"),
        ("\ufeff@data\n", 1, "@data comes before @relation"),  # behind a mark of byte order
        ("@relation r\n@data\n", 2, "no @attribute comes before @data"),
        ("@relation r\n@relation s\n", 2, "a second @relation"),
        ("@relation 'r\n", 1, "is not closed"),
        ("@relation 'r' s\n", 1, "'s' follows the quoted name"),
        ("@relation r\n@atribute y {0,1}\n", 2, "'@atribute' is not known"),
        ("@relation r\n@attribute\n", 2, "@attribute without a name"),
        ("@relation r\n@attribute {0,1}\n", 2, "@attribute without a name"),
        ("@relation r\n@attribute y\n", 2, "'y' has no type"),
        ("@relation r\n@attribute 'y\n", 2, "is not closed"),
        ("@relation r\n@attribute two words numeric\n", 2, "has the type 'words numeric'"),
        ("@relation r\n@attribute y numeric x\n", 2, "'x' follows the type"),
        ("@relation r\n@attribute y string x\n", 2, "'x' follows the type"),
        ("@relation r\n@attribute y {a} x\n", 2, "'x' follows the type"),
        ("@relation r\n@attribute y {a,,b}\n", 2, "have an empty value"),
        ("@relation r\n@attribute y {a,b\n", 2, "have no closing brace"),
        ("@relation r\n@attribute y {a,'b}\n", 2, "is not closed"),
        ("@relation r\n@attribute y {a,b,a}\n", 2, "declares the value 'a' twice"),
        ("@relation r\n@attribute y {0,1}\n@attribute y real\n", 3, "first in line 2"),
        ("@relation r\n@attribute y relational\n", 2, "is relational"),
        ("@relation r\n@attribute y date yyyy-QQ\n", 2, "the letter 'Q' is not known"),
        ('@relation r\n@attribute y date "yyyy-\'"\n', 2, "a single quote is not closed"),
        ("@relation r\n@attribute y date yyyy yyyy\n", 2, "'yyyy' follows the type"),
        ("@relation r\n@attribute y date 'yyyy yyyy'\n", 2, "a letter comes twice"),
        ("@relation r\n@attribute y {0,1}\n@data 1\n", 3, "'1' follows @data"),
        ("@relation r\n@attribute y string\n@data\n", 2, "the label 'y' is declared as string"),
        ("@relation r\n@attribute y date\n@data\n", 2, "the label 'y' is declared as date"),
        ("@relation r\n@attribute y {0,1}\n@data\n1\n\0", 5, "holds a NUL byte"),
        ("@rel\0ation r\n", 1, "holds a NUL byte"),
        ("% scumble: {\n@relation r\n", 1, "the comment '% scumble:' is damaged"),
        ("% scumble: []\n@relation r\n", 1, "damaged"),
        ('% scumble: {"name": 1}\n@relation r\n', 1, "damaged"),
        ('% scumble: {"what": 1}\n@relation r\n', 1, "damaged"),
        ("% scumble: " + "[" * 100_000 + "\n@relation r\n", 1, "damaged"),
    ],
)
def test_bad_headers(tmp_path, content, line, message):
    with pytest.raises(ReadError, match=re.escape(message)) as error:
        read(tmp_path, content)
    assert error.value.line == line
    assert error.value.path.endswith("data.arff")


@pytest.mark.parametrize(
    "note",
    [
        '{"weights": [1, 2, 3]}',
        '{"weights": [1, -2]}',
        '{"parents": [0]}',
        '{"parents": [5]}',
        '{"features": {"a": {"kind": "string"}}}',
        '{"features": {"c": {"kind": "date"}}}',
        '{"features": {"a": {"kind": "numeric"}}}',
        '{"features": {"c": {"categories": ["x", 1]}}}',
        '{"features": [1]}',
        '{"labels": {"y": 1}}',
    ],
)
def test_notes_that_do_not_fit_the_file(tmp_path, note):
    with pytest.raises(ReadError):
        read(tmp_path, f"% scumble: {note}\n{HEAD}1,2,red\n0,1,green\n")


def test_a_date_that_is_none(tmp_path):
    head = "@relation r\n@attribute y {0,1}\n@attribute d date yyyy-MM-dd\n@data\n"
    for text in ("2024-02-30", "2024-13-01", "soon", "''", "2024-1-1x"):
        with pytest.raises(ReadError, match=r"line 6, value 2: .* is not a date for 'd'"):
            read(tmp_path, f"{head}1,2024-02-29\n1,{text}\n")


def test_rows_far_into_a_file_are_reported_with_their_line(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "BLOCK_BYTES", 100)
    for good, bad, message in (
        ("1,2,red\n", "1,2,blue\n", "'blue' is not among"),
        ("{0 1,1 2}\n", "{0 1,7 2}\n", "there are only 3"),
    ):
        with pytest.raises(ReadError, match=message) as error:
            read(tmp_path, HEAD + good * 1000 + bad + good * 10)
        assert error.value.line == 1006


def test_small_blocks_and_arrays_change_nothing(tmp_path, monkeypatch):
    generator = np.random.default_rng(0)
    head = HEAD.replace("@data", "@attribute s string\n@data")
    lines = [
        f"{generator.integers(2)},{generator.random()!r},{('red', 'green')[i % 2]},"
        f"t{generator.integers(9)}" + (f",{{{i}}}" if i > 100 and i % 3 else "")
        for i in range(300)
    ]
    sparse = [
        "{" + ",".join(f"{at} {v}" for at, v in enumerate(line.split(",")[:4])) + "}"
        for line in lines
    ]
    for content in ("\n".join(lines), "\n".join(sparse)):
        whole = read(tmp_path, head + content)
        with monkeypatch.context() as patch:
            patch.setattr(reader, "BLOCK_BYTES", 50)
            patch.setattr(body, "_N_BUFFERED_VALUES", 16)
            patch.setattr(body, "_N_BUFFERED_EVENTS", 1)
            assert read(tmp_path, head + content) == whole
        assert whole.n_instances == 300
    weights = read(tmp_path, head + "\n".join(lines)).weights
    assert weights.tolist() == [float(i) if i > 100 and i % 3 else 1.0 for i in range(300)]


# --- files made to hurt ------------------------------------------------------------------------


def test_long_runs_of_blanks_take_no_time(tmp_path):
    blank = " " * 200_000
    for content in (
        f"@relation r\n@attribute y numeric{blank}x\n@data\n",
        f"@relation r\n@attribute y numeric [0]{blank}{{1}}{blank}x\n@data\n",
        f"@relation r\n@attribute y string{blank}x\n@data\n",
        f"@relation {blank}'r\n",
        f"{blank}x\n",
        f"@relation r\n@attribute y {{0,1}}\n@data\n1{blank}x\n",
    ):
        with pytest.raises(ReadError):
            read(tmp_path, content)
        with pytest.raises(ReadError):
            scumble.read(tmp_path / "data.arff")
    assert split_relation(f"r{blank}: -C 1") == ("r", 1)
    assert split_relation(f"r{blank}-C {blank}x") == (f"r{blank}-C {blank}x", None)


def test_long_tokens_and_lists_take_no_time(tmp_path):
    long, many = "x" * 200_000, ",".join(f"v{i}" for i in range(100_000))
    head = "@relation r\n@attribute y {0,1}\n"
    for content, message in (
        (f"{head}@attribute a {{{many}}}\n@data\n1,v\n", "and 99992 more"),
        (f"{head}@attribute a {{{many},v99999}}\n@data\n", "declares the value 'v99999' twice"),
        (f"{head}@attribute a {{b{long},c}}\n@data\n1,{long}\n", "is not among"),
        (f"{head}@attribute '{long}\n@data\n", "is not closed"),
        (f"{head}@attribute a date '{long}'\n@data\n", "cannot be used"),
        (f"{head}@data\n{long}\n", "the label 'y' has the value"),
    ):
        with pytest.raises(ReadError, match=message) as error:
            read(tmp_path, content)
        assert len(str(error.value)) < 1000


def test_labels_present_by_omission_cannot_fill_the_memory(tmp_path, monkeypatch):
    head = "@relation r\n@attribute y {1,0}\n@attribute z {0,1}\n@data\n"
    monkeypatch.setattr(body, "MAX_IMPLIED_LABELS", 10)
    assert read(tmp_path, head + "{}\n" * 10).Y.nnz == 10
    with pytest.raises(ReadError, match="more than 10 labels are present because sparse rows omit"):
        read(tmp_path, head + "{}\n" * 11)


# --- encodings -----------------------------------------------------------------------------

LATIN = "@relation r\n@attribute y {0,1}\n@attribute größe {é,è}\n@attribute s string\n@data\n"


@pytest.mark.parametrize("content", [LATIN + "1,é,à\n0,è,à\n", LATIN + "{0 1,2 à}\n{1 è,2 à}\n"])
def test_a_file_that_is_not_utf8_is_read_as_latin_1_with_a_warning(tmp_path, content):
    expected = read(tmp_path, content)
    assert expected.features == (
        Feature("größe", "nominal", ("é", "è")),
        Feature("s", "string", ("à",)),
    )
    with pytest.warns(ScumbleWarning, match=r"data\.arff, line 3: the file is not UTF-8"):
        assert read(tmp_path, content.encode("latin-1")) == expected
    assert read(tmp_path, content.encode("latin-1"), encoding="latin-1") == expected
    assert read(tmp_path, content.encode("cp437"), encoding="cp437") == expected
    with pytest.raises(ReadError, match="line 3: the text cannot be read as utf-8"):
        read(tmp_path, content.encode("latin-1"), encoding="utf-8")


def test_a_text_in_the_rows_may_be_the_first_that_is_not_utf8(tmp_path):
    head = "@relation r\n@attribute y {0,1}\n@attribute s string\n@data\n1,a\n"
    with pytest.warns(ScumbleWarning, match="line 6: the file is not UTF-8"):
        data = read(tmp_path, (head + "1,é\n").encode("latin-1"))
    assert data.features[0].categories == ("a", "é")


@pytest.mark.parametrize("encoding", ["utf-16", "no such thing", "utf-32"])
def test_encodings_that_cannot_be_used(tmp_path, encoding):
    with pytest.raises(ParameterError, match="'encoding' parameter"):
        read(tmp_path, HEAD, encoding=encoding)


def test_utf_16_is_explained(tmp_path):
    with pytest.raises(ReadError, match="saved as UTF-16, save it as UTF-8"):
        read(tmp_path, HEAD.encode("utf-16"))


# --- quoting -------------------------------------------------------------------------------


@given(texts(12) | st.text(st.characters(), max_size=8))
@example("\ud800")
@example("\0")
@example("\x0b\x1c\x85\u2028")
def test_a_quoted_text_is_one_value_and_comes_back(text):
    written = quote(text)
    assert not re.search("[\n\r\0]", written)
    assert written.encode()  # no lone surrogates
    assert scan(written, 0)[0] == text
    assert scan(written, 0)[2] == len(written)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        (r"\n\r\t", "\n\r\t"),
        (r"\'\"\\\%", "'\"\\%"),
        (r"\u00e9\u2603", "é☃"),
        (r"\u12", "u12"),
        (r"\x\{", "x{"),
        ("plain", "plain"),
        ("end\\", "end\\"),
    ],
)
def test_escapes(text, meaning):
    assert unescape(text) == meaning


# --- dates ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "text", "milliseconds"),
    [
        ("yyyy-MM-dd'T'HH:mm:ss", "1970-01-01T00:00:01", 1000),
        ("yyyyMMddHHmmss", "19700102000000", 86400000),
        ("yyyy-MM-dd HH:mm:ss.SSS", "1970-01-01 00:00:00.007", 7),
        ("d.M.yy", "1.1.70", 0),
        ("d.M.yy", "1.1.01", 978307200000),
        ("MMM d, yyyy h:mm a", "Jan 1, 1970 12:05 AM", 300000),
        ("MMMM d yyyy h a", "january 2 1970 12 pm", 129600000),
        ("yyyyMd", "197011", 0),
        ("hh a", "11 PM", 82800000),
        ("'o''clock' HH", "o'clock 03", 10800000),
        ("yyyy", "  1971 ", 31536000000),
        ("yyyy", "0001", -62135596800000),
    ],
)
def test_dates(pattern, text, milliseconds):
    form = DateFormat(pattern)
    assert form.parse(text) == milliseconds
    assert form.parse(form.format(milliseconds)) == milliseconds


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("yyyy", "10000"),
        ("yyyy", "0"),
        ("HH", "24"),
        ("HH:mm", "00:60"),
        ("h a", "13 AM"),
        ("h a", "0 AM"),
        ("yyyy-MM-dd", "1970-1"),
        ("yyyy-MM-dd", "x"),
        ("MMM", "Foo"),
        ("yyyy-MM-dd", "1970-02-30"),
        ("ss.SSS", "00.1000"),
        ("yyyyMMdd", "197001"),
    ],
)
def test_dates_that_are_none(pattern, text):
    with pytest.raises(ValueError):
        DateFormat(pattern).parse(text)


@pytest.mark.parametrize("pattern", ["Q", "yyyy'", "yy yy", "w", "é G", "y" * 21])
def test_patterns_that_are_none(pattern):
    with pytest.raises(ValueError):
        DateFormat(pattern)


@pytest.mark.parametrize("letter", "DEFGKXYZkuwz")
def test_letters_of_java_that_data_files_do_not_use(tmp_path, letter):
    head = f"@relation r\n@attribute y {{0,1}}\n@attribute d date 'yyyy {letter}'\n@data\n"
    with pytest.raises(
        ReadError, match=f"line 3: .*'{letter}' is not known, only y M d H h m s S a"
    ):
        read(tmp_path, head + "1,'1970 1'\n")


@given(st.datetimes().map(lambda moment: moment.replace(microsecond=0)))
def test_every_second_survives_the_default_pattern(moment):
    from datetime import UTC

    form = DateFormat("yyyy-MM-dd'T'HH:mm:ss")
    milliseconds = moment.replace(tzinfo=UTC).timestamp() * 1000
    assert form.format(milliseconds) == moment.isoformat()
    assert form.parse(moment.isoformat()) == milliseconds


# --- against a slow, obvious parser --------------------------------------------------------


class Slow:
    """Reads one file character by character, without any of the code under test."""

    def __init__(self, text: str, n_labels: int) -> None:
        lines = text.split("\n")
        start = next(i for i, line in enumerate(lines) if line.strip().lower() == "@data")
        self.kinds: list[list[str] | str] = []
        for line in lines[:start]:
            tokens = self.tokens(line)
            if tokens and tokens[0][0].lower() == "@attribute":
                kind = [value for value, _ in tokens[2:]]
                self.kinds.append(kind[1:-1] if kind[0] == "{" else kind[0].lower())
        self.texts: list[list[str]] = [[] for _ in self.kinds]
        self.X: list[list[float]] = []
        self.Y: list[list[int]] = []
        self.weights: list[float] = []
        for line in lines[start + 1 :]:
            tokens = self.tokens(line)
            if tokens:
                self.row(tokens, n_labels)

    @staticmethod
    def tokens(line: str) -> list[tuple[str, bool]]:
        """Split a line into (value, whether it was quoted)."""
        found: list[tuple[str, bool]] = []
        i = 0
        while i < len(line):
            c = line[i]
            if c in " \t,":
                i += 1
            elif c == "%":
                break
            elif c in "{}":
                found.append((c, False))
                i += 1
            elif c in "'\"":
                value = ""
                i += 1
                while line[i] != c:
                    if line[i] == "\\":
                        i += 1
                        value += {"n": "\n", "r": "\r", "t": "\t"}.get(line[i], line[i])
                    else:
                        value += line[i]
                    i += 1
                found.append((value, True))
                i += 1
            else:
                value = ""
                while i < len(line) and line[i] not in " \t,{}":
                    value += line[i]
                    i += 1
                found.append((value, False))
        return found

    def row(self, tokens: list[tuple[str, bool]], n_labels: int) -> None:
        n = len(self.kinds)
        if tokens[0] == ("{", False):
            close = tokens.index(("}", False))
            pairs = tokens[1:close]
            cells = {int(pairs[i][0]): pairs[i + 1] for i in range(0, len(pairs), 2)}
            values = [self.value(i, *cells[i]) if i in cells else 0.0 for i in range(n)]
            rest = tokens[close + 1 :]
        else:
            values = [self.value(i, *token) for i, token in enumerate(tokens[:n])]
            rest = tokens[n:]
        self.weights.append(float(rest[1][0]) if rest else 1.0)
        self.Y.append([int(value) for value in values[:n_labels]])
        self.X.append(values[n_labels:])

    def value(self, at: int, text: str, quoted: bool) -> float:
        kind = self.kinds[at]
        if text == "?" and not quoted:
            return NAN
        if isinstance(kind, list):
            return float(kind.index(text))
        if kind == "string":
            if text not in self.texts[at]:
                self.texts[at].append(text)
            return float(self.texts[at].index(text))
        return float(text)


ODD = ["a", "b c", "it's", 'q"', "x,y", "%", "{z}", "\\", "", "?", "50%", "new\nline", "é"]


def _spelled(draw, text: str) -> str:
    """Write a text in one of the ways ARFF allows."""
    ways = ["'" + re.sub(r"(['\\])", r"\\\1", text).replace("\n", "\\n") + "'"]
    ways.append('"' + re.sub(r'(["\\%])', r"\\\1", text).replace("\n", "\\n") + '"')
    if re.fullmatch(r"[^\s,{}'\"%?\\][^\s,{}]*", text):
        ways.append(text)
    return draw(st.sampled_from(ways))


@st.composite
def files(draw) -> tuple[str, int]:
    """Draw a file with anything ARFF allows, and its number of labels."""
    n_labels = draw(st.integers(1, 3))
    kinds = draw(st.lists(st.sampled_from(["numeric", "nominal", "string"]), max_size=4))
    is_sparse = draw(st.booleans()) and "string" not in kinds
    domains = {}
    lines = ["@relation r"]
    lines += [
        f"@attribute y{i} {draw(st.sampled_from(['{0,1}', '{ 0, 1 }']))}" for i in range(n_labels)
    ]
    for i, kind in enumerate(kinds):
        if kind == "nominal":
            domains[i] = draw(st.lists(st.sampled_from(ODD), min_size=1, max_size=4, unique=True))
            kind = "{" + ", ".join(_spelled(draw, text) for text in domains[i]) + "}"
        lines.append(f"@attribute x{i} {kind}")
    lines.append("@data")
    blank = st.sampled_from(["", " ", "\t"])
    for _ in range(draw(st.integers(0, 5))):
        cells = [draw(st.sampled_from("01")) for _ in range(n_labels)]
        for i, kind in enumerate(kinds):
            number = st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.sampled_from(
                ["0", "7"]
            )
            if draw(st.integers(0, 5)) == 0:
                cells.append("?")
            elif kind == "numeric":
                cells.append(draw(number))
            else:
                cells.append(_spelled(draw, draw(st.sampled_from(domains.get(i, ODD)))))
        comma = draw(blank) + "," + draw(blank)
        if is_sparse:
            kept = [i for i in range(len(cells)) if draw(st.booleans())]
            row = "{" + comma.join(f"{i} {draw(blank)}{cells[i]}" for i in kept) + "}"
        else:
            row = comma.join(cells)
        if draw(st.integers(0, 4)) == 0:
            row += ",{" + draw(st.sampled_from(["2", "0.5", "0"])) + "}"
        lines.append(draw(blank) + row + draw(st.sampled_from(["", " ", " % c, 'd"])))
        lines.extend(draw(st.lists(st.sampled_from(["", "% {", "  "]), max_size=2)))
    return "\n".join(lines), n_labels


@settings(max_examples=300)
@given(files())
def test_the_fast_parser_reads_what_the_slow_one_reads(tmp_path_factory, file):
    text, n_labels = file
    data = read(tmp_path_factory.mktemp("files"), text, labels=n_labels)
    slow = Slow(text, n_labels)
    assert_same(data.X, np.array(slow.X).reshape(data.X.shape))
    assert labels_of(data) == slow.Y
    weights = [1.0] * len(slow.Y) if data.weights is None else data.weights.tolist()
    assert weights == slow.weights
    for feature, kind, known in zip(
        data.features, slow.kinds[n_labels:], slow.texts[n_labels:], strict=True
    ):
        if isinstance(kind, list):
            assert feature == Feature(feature.name, "nominal", tuple(kind))
        elif kind == "string":
            assert feature == Feature(feature.name, "string", tuple(known))
