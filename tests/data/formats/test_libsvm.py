"""Multilabel LibSVM files."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse

import scumble
from scumble._core.errors import ParameterError, ReadError, ScumbleWarning
from scumble._core.files import InputFile
from scumble.data import Feature, MultilabelDataset
from scumble.data.formats import arrow_texts
from scumble.data.formats.libsvm import sniff


def read(tmp_path, text: str, name: str = "data.svm", **options) -> MultilabelDataset:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return scumble.read(path, format="libsvm", **options)


def test_a_file_made_by_hand(tmp_path):
    data = read(
        tmp_path,
        "# two films and a gap\n"
        "1,3 1:0.5 4:2e3 # first\r\n"
        " 2:-1\n"
        "3\n"
        "\n"
        "\t\n"
        "1:7\n"
        "2,1 qid:9 3:nan 1:+.25",
    )
    assert data.labels == ("1", "2", "3")
    assert data.name == "data"
    assert data.Y.toarray().astype(int).tolist() == [
        [1, 0, 1],
        [0, 0, 0],
        [0, 0, 1],
        [0, 0, 0],
        [0, 0, 0],
        [1, 1, 0],
    ]
    np.testing.assert_array_equal(
        data.X.toarray(),
        [
            [0.5, 0, 0, 2000],
            [0, -1, 0, 0],
            [0, 0, 0, 0],
            [0, 0, 0, 0],
            [7, 0, 0, 0],
            [0.25, 0, np.nan, 0],
        ],
    )
    assert data.is_sparse
    assert data.feature_names == ("x0", "x1", "x2", "x3")


def test_labels_may_have_names(tmp_path):
    data = read(tmp_path, "c#,été 0:1\n12 0:2\nété\n")
    assert data.labels == ("12", "c#", "été")
    assert data.Y.toarray().astype(int).tolist() == [[0, 1, 1], [1, 0, 0], [0, 0, 1]]


def test_numbers_that_are_spelled_differently_are_different_labels(tmp_path):
    data = read(tmp_path, "7,07 1:1\n-1 1:1\n123456789012345678901 1:1\n")
    assert data.labels == ("-1", "07", "7", "123456789012345678901")


@pytest.mark.parametrize(
    ("zero_based", "text", "columns"),
    [
        ("auto", "0 1:5 2:6\n", [5, 6]),
        ("auto", "0 0:4 2:6\n", [4, 0, 6]),
        (True, "0 1:5 2:6\n", [0, 5, 6]),
        (False, "0 1:5 2:6\n", [5, 6]),
    ],
)
def test_the_first_feature_has_number_0_or_1(tmp_path, zero_based, text, columns):
    data = read(tmp_path, text, zero_based=zero_based)
    assert data.X.toarray().tolist() == [columns]


def test_the_user_may_tell_the_numbers_of_columns(tmp_path):
    data = read(tmp_path, "1 1:5\n", n_features=3, n_labels=4)
    assert data.X.toarray().tolist() == [[5, 0, 0]]
    assert data.labels == ("y0", "y1", "y2", "y3")
    assert data.Y.indices.tolist() == [1]


def test_whole_numbers_make_integer_features(tmp_path):
    assert all(f.integer for f in read(tmp_path, "1 1:5 2:nan\n2 1:7\n").features)
    assert not any(f.integer for f in read(tmp_path, "1 1:5 2:1.0\n").features)
    assert read(tmp_path, "1\n2\n").n_features == 0


def test_features_out_of_order_are_sorted(tmp_path):
    data = read(tmp_path, "1 3:3 1:1 2:2\n1 2:5 1:4\n")
    assert data.X.toarray().tolist() == [[1, 2, 3], [4, 5, 0]]
    assert data.X.indices.tolist() == [0, 1, 2, 0, 1]


def test_a_label_named_twice_counts_once_and_is_reported(tmp_path):
    with pytest.warns(ScumbleWarning, match=r"data\.svm: 2 labels repeat"):
        data = read(tmp_path, "1,1,2 1:1\na,b,a\n")
    assert data.Y.toarray().astype(int).tolist() == [[1, 1, 0, 0], [0, 0, 1, 1]]


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ("1 1:2\n1 3\n", 2, 2, "expected index:value, found '3'"),
        ("1 1:2 x:3\n", 1, 3, "feature number before the colon, found 'x:3'"),
        ("1 :3\n", 1, 2, "feature number before the colon"),
        ("1 -1:3\n", 1, 2, "feature number before the colon, found '-1:3'"),
        ("\n# c\n1 1:abc 2:1\n", 3, 2, "a number after the colon, found '1:abc'"),
        ("1 1:\n", 1, 2, "a number after the colon, found '1:'"),
        ("1 1:1_0\n", 1, 2, "a number after the colon"),
        ("1,,2 1:1\n", 1, 1, "expected labels between commas"),
        (", 1:1\n", 1, 1, "expected labels between commas"),
        ("1 2147483647:1\n", 1, 2, "feature 2147483647 is too large"),
        ("1 99999999999999999999999:1\n", 1, 2, "too large"),
        ("1 2:1\n1 3:1 4:2 3:1\n", 2, None, "feature 3 is given twice"),
        ("1 1000000:1\n", None, None, "allow them with max_columns=1000000"),
    ],
)
def test_faults_name_their_place(tmp_path, text, line, column, reason):
    with pytest.raises(ReadError, match=reason) as fault:
        read(tmp_path, text)
    assert (fault.value.line, fault.value.column) == (line, column)
    assert fault.value.path == str(tmp_path / "data.svm")


def test_a_bad_byte_in_a_label_name(tmp_path):
    path = tmp_path / "data.svm"
    path.write_bytes(b"a 1:1\nb,\xff 1:1\n")
    with pytest.raises(ReadError, match="not UTF-8") as fault:
        scumble.read(path)
    assert fault.value.line == 2


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"zero_based": False}, "feature 0 occurs"),
        ({"n_features": 1}, "feature 2 is too large"),
        ({"n_features": 2}, "feature 2 is beyond the 2 features"),
        ({"n_labels": 2}, "label 3 is beyond the 2 labels"),
    ],
)
def test_content_against_what_the_user_said(tmp_path, options, reason):
    with pytest.raises(ReadError, match=reason):
        read(tmp_path, "3 0:1 2:2\n", **options)


def test_names_are_refused_where_numbers_are_expected(tmp_path):
    with pytest.raises(ReadError, match="label numbers from 0 to 1, found 'war'") as fault:
        read(tmp_path, "0 1:1\nwar 1:1\n", n_labels=2)
    assert fault.value.line == 2


@pytest.mark.parametrize("options", [{"labels": 2}, {"zero_based": "no"}, {"n_features": -1}])
def test_bad_parameters(tmp_path, options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        read(tmp_path, "1 1:1\n", **options)


def test_many_features_are_allowed_on_request(tmp_path):
    assert read(tmp_path, "1 200000:1\n", max_columns=200000).n_features == 200_000


def test_the_bytes_written(tmp_path):
    data = MultilabelDataset(
        sparse.csr_array([[0.5, 0, 1], [0, 0, 0], [0, np.nan, 1e-9], [0, 0, 0]]),
        [[1, 0, 1], [1, 0, 0], [0, 0, 0], [0, 0, 0]],
    )
    scumble.write(data, tmp_path / "a.svm")
    assert (tmp_path / "a.svm").read_text() == (
        "# multilabel LibSVM, features from 1: 3 features, 3 labels\n"
        "0,2 1:0.5 3:1.0\n"
        "0\n"
        " 2:nan 3:1e-9\n"
        " \n"
    )
    scumble.write(data, tmp_path / "b.svm", zero_based=True, comment=False)
    assert (tmp_path / "b.svm").read_text().splitlines()[0] == "0,2 0:0.5 2:1.0"


def test_sklearn_reads_what_we_write(tmp_path):
    from sklearn.datasets import load_svmlight_file

    data = MultilabelDataset([[0.1, 0, 3], [0, 2, 0]], [[1, 0, 1], [0, 1, 0]])
    scumble.write(data, tmp_path / "a.svm")
    X, y = load_svmlight_file(str(tmp_path / "a.svm"), multilabel=True)
    assert X.toarray().tolist() == data.X.tolist()
    assert y == [(0.0, 2.0), (1.0,)]


matrices = st.integers(0, 6).flatmap(
    lambda n: st.tuples(
        st.integers(0, 4).flatmap(
            lambda d: st.lists(
                st.lists(st.one_of(st.just(0.0), st.floats(width=64)), min_size=d, max_size=d),
                min_size=n,
                max_size=n,
            ).map(lambda rows: np.array(rows, float).reshape(n, d))
        ),
        st.integers(0, 4).flatmap(
            lambda q: st.lists(
                st.lists(st.booleans(), min_size=q, max_size=q), min_size=n, max_size=n
            ).map(lambda rows: np.array(rows, bool).reshape(n, q))
        ),
    )
)


@given(matrices, st.booleans(), st.booleans())
@settings(max_examples=60)
def test_write_then_read_is_the_identity(tmp_path_factory, matrices, zero_based, integer):
    X, Y = matrices
    if integer:
        X = np.where(np.isfinite(X), np.clip(np.rint(X), -(2**53), 2**53), X)
    known = X[~np.isnan(X)]
    integer = integer and bool((known != 0).any()) and bool(np.isfinite(known).all())
    features = [Feature(f"x{at}", integer=integer) for at in range(X.shape[1])]
    data = MultilabelDataset(X, Y, features=features, name="data")
    path = tmp_path_factory.mktemp("libsvm") / "data.svm"
    with warnings.catch_warnings():
        # Where all values are zero or missing, or dense, other parts may be lost with a warning.
        warnings.simplefilter("ignore", ScumbleWarning)
        scumble.write(data, path, zero_based=zero_based)
    again = scumble.read(path)
    assert again == data
    assert again.is_sparse


def test_blocks_make_no_difference(tmp_path, monkeypatch):
    lines = [f"{i % 3},l{i % 5} {i % 7 + 1}:{i / 3!r} {i % 7 + 9}:1" for i in range(300)]
    whole = read(tmp_path, "\n".join(lines))
    monkeypatch.setattr(InputFile.blocks, "__defaults__", (100,))
    assert read(tmp_path, "\n".join(lines)) == whole
    assert whole.X[299, 299 % 7] == 299 / 3


def test_writing_in_many_pieces_makes_no_difference(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    data = MultilabelDataset(
        rng.random((50, 9)) * (rng.random((50, 9)) < 0.5), rng.random((50, 4)) < 0.3
    )
    scumble.write(data, tmp_path / "a.svm")
    monkeypatch.setattr(arrow_texts, "VALUES_PER_WRITE", 20)
    scumble.write(data, tmp_path / "b.svm")
    assert (tmp_path / "a.svm").read_bytes() == (tmp_path / "b.svm").read_bytes()


def test_faults_in_later_blocks_have_the_right_line(tmp_path, monkeypatch):
    monkeypatch.setattr(InputFile.blocks, "__defaults__", (64,))
    text = "1 1:1\n" * 100 + "1 1:1 1:2\n"
    with pytest.raises(ReadError, match="feature 1 is given twice") as fault:
        read(tmp_path, text)
    assert fault.value.line == 101
    with pytest.raises(ReadError) as fault:
        read(tmp_path, "1 1:1\n" * 100 + "1 1:x\n")
    assert (fault.value.line, fault.value.column) == (101, 2)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("1,3 5:0.2 7:1\n2 1:1\n", 0.7, 1),
        ("5:0.2 7:1\n 2:1\n", 0.7, 1),
        ("# c\na,b qid:3 5:0.2 # d\n", 0.7, 1),
        ("a,b\n1,2\n", 0, 0.1),
        ("time 12:30:05\n", 0, 0.1),
        ("@relation x\n", 0, 0.1),
    ],
)
def test_sniff(tmp_path, text, low, high):
    path = tmp_path / "data"
    path.write_text(text)
    assert low <= sniff(InputFile(path), text.encode()) <= high
