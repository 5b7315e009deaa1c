"""KEEL files: attributes are listed as inputs and outputs."""

import math

import numpy as np
import pytest
from scipy import sparse

import scumble
from scumble._core.errors import ReadError
from scumble._core.files import InputFile
from scumble.data import Feature, MultilabelDataset
from scumble.data.formats.keel import sniff

HEAD = """@relation films
@attribute minutes integer [60, 240]
@attribute budget real[0.0,1.5]
@attribute genre {drama, comedy}
@attribute war {0, 1}
@attribute love {0,1}
"""
ROWS = "@data\n90, 0.5, drama, 1, 0\n<null>, ?, <null>, 0, 1\n300,2,comedy,1,1\n"


def read(tmp_path, content: str, name: str = "films.dat", **options) -> MultilabelDataset:
    path = tmp_path / name
    path.write_text(content)
    return scumble.read(path, **options)


def test_a_file_made_by_hand(tmp_path):
    roles = "@inputs minutes, budget, genre\n@outputs war, love\n"
    data = read(tmp_path, HEAD + roles + ROWS, "films.txt")
    assert data.name == "films"
    assert data.labels == ("war", "love")
    assert data.features == (
        Feature("minutes", integer=True),
        Feature("budget"),
        Feature("genre", "nominal", ("drama", "comedy")),
    )
    np.testing.assert_array_equal(
        data.X, [[90, 0.5, 0], [math.nan] * 3, [300, 2, 1]]
    )  # 300 lies outside of its range, which is not enforced
    assert data.Y.toarray().astype(int).tolist() == [[1, 0], [0, 1], [1, 1]]


@pytest.mark.parametrize(
    ("roles", "labels"),
    [
        ("@outputs war, love", ("war", "love")),
        ("@output love", ("love",)),
        ("@OUTPUTS love,war", ("war", "love")),
        ("@inputs minutes,budget,genre", ("war", "love")),
        ("@input minutes, budget, genre\n@outputs love", ("love",)),
        ("", ("love",)),
        ("@outputs 'war' % the last", ("war",)),
    ],
)
def test_roles(tmp_path, roles, labels):
    assert read(tmp_path, f"{HEAD}{roles}\n{ROWS}").labels == labels


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ("@outputs wars", "@outputs names the label 'wars', .* Did you mean 'war'"),
        ("@inputs minuts", "@inputs names the label 'minuts', .* Did you mean 'minutes'"),
        ("@outputs", "no attribute is an output"),
        ("@inputs minutes, budget, genre, war, love", "no attribute is an output"),
        ("@outputs war, war", "'war' twice"),
        ("@outputs {war}", "'{war}' is not a name"),
        ("@outputs genre", "the label 'genre' has the value 'drama'"),
        ("@outputs war\n@nonsense", "'@nonsense' is not known"),
    ],
)
def test_impossible_roles(tmp_path, roles, message):
    with pytest.raises(ReadError, match=message):
        read(tmp_path, f"{HEAD}{roles}\n{ROWS}")


def test_null_is_missing_in_keel_files_only(tmp_path):
    content = HEAD + "@outputs war\n" + ROWS
    assert np.isnan(read(tmp_path, content).X[1, :3]).all()
    with pytest.raises(ReadError, match="line 10, value 1: 'minutes' is numeric"):
        read(tmp_path, content, format="mulan", labels=["war"])
    with pytest.raises(ReadError, match="the label 'war' is missing"):
        read(tmp_path, content.replace("drama, 1, 0", "drama, <null>, 0"))


def test_labels_override_the_outputs(tmp_path):
    assert read(tmp_path, HEAD + "@outputs war\n" + ROWS, labels=["love"]).labels == ("love",)


def test_sniffing(tmp_path):
    path = tmp_path / "x.dat"
    path.write_text("x")
    assert sniff(InputFile(path), (HEAD + "@inputs minutes\n").encode()) > 0.95
    assert sniff(InputFile(path), HEAD.encode()) == 0.85
    assert sniff(InputFile(path), b"1,2\n") == 0
    other = tmp_path / "x.arff"
    other.write_text("x")
    assert sniff(InputFile(other), HEAD.encode()) == 0.1


def test_what_is_written(tmp_path):
    data = MultilabelDataset(
        sparse.csr_array([[1.5, 2, 1, 1000, 0], [0, 3, 0, 0, math.nan], [-math.inf, 4, 0, 0, 0]]),
        [[1, 0], [0, 1], [0, 0]],
        features=[
            Feature("a b"),
            Feature("n", integer=True),
            Feature("s", "string", ("x", "y")),
            Feature("d", "date", date_format="yyyy"),
            Feature("none"),
        ],
        labels=["p", "q"],
        name="all",
        weights=[1, 2.5, 3],
    )
    scumble.write(data, tmp_path / "all.dat")
    assert (tmp_path / "all.dat").read_text() == (
        '% scumble: {"features":{"d":{"date_format":"yyyy","kind":"date"},"s":{"kind":"string"}},'
        '"sparse":true,"weights":[1.0,2.5,3.0]}\n'
        "@relation all\n"
        "@attribute 'a b' real [0, 1.5]\n"
        "@attribute n integer [2, 4]\n"
        "@attribute s {x, y}\n"
        "@attribute d real [0, 1000]\n"
        "@attribute none real [0, 0]\n"
        "@attribute p {0,1}\n"
        "@attribute q {0,1}\n"
        "@inputs 'a b', n, s, d, none\n"
        "@outputs p, q\n"
        "@data\n"
        "1.5,2,y,1000,0,1,0\n"
        "0,3,x,0,?,0,1\n"
        "-Infinity,4,x,0,0,0,0\n"
    )


def test_a_real_data_set(datasets, tmp_path):
    data = scumble.read(datasets / "flags" / "flags.arff")
    scumble.write(data, tmp_path / "flags.dat")
    assert scumble.read(tmp_path / "flags.dat") == data
