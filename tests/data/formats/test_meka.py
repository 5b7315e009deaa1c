"""MEKA files: the relation says how many attributes are labels."""

import pytest
from hypothesis import given

import scumble
from scumble._core.errors import ReadError
from scumble._core.files import InputFile
from scumble.data import MultilabelDataset
from scumble.data.formats.meka import sniff, split_relation
from scumble.testing.strategies import texts

BODY = "@attribute a {0,1}\n@attribute b {0,1}\n@attribute c {0,1}\n@data\n1,0,1\n0,0,1\n"


def read(tmp_path, relation: str, body: str = BODY, **options) -> MultilabelDataset:
    path = tmp_path / "data.arff"
    path.write_text(f"@relation {relation}\n{body}")
    return scumble.read(path, **options)


@pytest.mark.parametrize(
    ("relation", "name", "labels"),
    [
        ("'Music: -C 2'", "Music", ("a", "b")),
        ("'Music: -C -2'", "Music", ("b", "c")),
        ('"Music: -C 1"', "Music", ("a",)),
        ("Music: -C 1", "Music", ("a",)),
        ("'Music:-C 1'", "Music", ("a",)),
        ("'Music -C 1'", "Music", ("a",)),
        ("'-C 1'", "", ("a",)),
        ("': -C 1'", "", ("a",)),
        ("'My Music: -split-percentage 66.0 -C 2 -S 1'", "My Music", ("a", "b")),
        ("'a: b: -C 3'", "a: b", ("a", "b", "c")),
        ("'x-C 5: -C 1'", "x-C 5", ("a",)),
        ("'Music: -c 1'", "Music", ("a",)),
    ],
)
def test_relations(tmp_path, relation, name, labels):
    data = read(tmp_path, relation)
    assert (data.name, data.labels) == (name, labels)


def test_a_file_made_by_hand(tmp_path):
    data = read(tmp_path, "'Music: -C -1'")
    assert data.feature_names == ("a", "b")
    assert data.X.tolist() == [[1, 0], [0, 0]]
    assert data.Y.toarray().tolist() == [[True], [True]]


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        ("'Music: -C 4'", "4 labels are requested, but the file has only 3 columns"),
        ("'Music: -C -4'", "4 labels are requested"),
        ("'Music: -C 0'", "-C 0, no labels"),
    ],
)
def test_impossible_counts(tmp_path, relation, message):
    with pytest.raises(ReadError, match=message):
        read(tmp_path, relation)


def test_without_a_count(tmp_path):
    with pytest.raises(ReadError, match="does not say how many attributes are labels"):
        read(tmp_path, "Music", format="meka")
    assert read(tmp_path, "Music", format="meka", labels=["c"]).labels == ("c",)


def test_labels_override_the_count(tmp_path):
    data = read(tmp_path, "'Music: -C 2'", labels=["b"])
    assert (data.labels, data.name) == (("b",), "Music")


def test_sniffing(tmp_path):
    path = tmp_path / "x.arff"
    path.write_text("x")
    source = InputFile(path)
    assert sniff(source, b"% c\n@relation 'Music: -C 2'\n") == 0.9
    assert sniff(source, b"@RELATION Music:-C -2\n") == 0.9
    assert sniff(source, b"@relation Music\n@attribute '-C 2' real\n") == 0
    assert sniff(source, b"@relation Music-C 2\n") == 0
    assert sniff(source, b"a,b\n") == 0


@given(texts(12))
def test_any_name_survives(tmp_path_factory, name):
    path = tmp_path_factory.mktemp("meka") / "data.arff"
    scumble.write(MultilabelDataset([[1.0]], [[1]], name=name), path, format="meka")
    assert scumble.read(path).name == name


@pytest.mark.parametrize(
    "name", ["x: -C 5", "-split 3", "a:", "a ", "-C 2", ": -C 1: -C 2", "a\nb"]
)
def test_names_that_look_like_options_survive(tmp_path, name):
    path = tmp_path / "data.arff"
    scumble.write(MultilabelDataset([[1.0]], [[1]], name=name), path, format="meka")
    assert scumble.read(path).name == name


def test_what_is_written(tmp_path):
    data = MultilabelDataset(
        [[1.5], [2.0]], [[1, 0], [0, 1]], labels=["p", "q"], name="two", label_parents=[-1, 0]
    )
    scumble.write(data, tmp_path / "two.arff", format="meka")
    assert (tmp_path / "two.arff").read_text() == (
        '% scumble: {"parents":[-1,0]}\n'
        "@relation 'two: -C 2'\n\n@attribute p {0,1}\n@attribute q {0,1}\n@attribute x0 numeric\n"
        "\n@data\n1,0,1.5\n0,1,2\n"
    )


def test_splitting():
    assert split_relation("plain") == ("plain", None)
    assert split_relation("x: -C 10000000000") == ("x: -C 10000000000", None)


# --- real data -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "n_instances", "n_features", "n_labels", "title", "n_present"),
    [("enron-meka", 1702, 1001, 53, "Enron", 5750), ("imdb", 120919, 1001, 28, "IMDB", 241798)],
)
def test_real_data_sets(datasets, name, n_instances, n_features, n_labels, title, n_present):
    data = scumble.read(next((datasets / name).glob(f"{name}.arff*")))
    assert (data.n_instances, data.n_features, data.n_labels) == (n_instances, n_features, n_labels)
    assert data.name == title
    assert data.is_sparse
    assert data.Y.nnz == n_present


def test_the_same_labels_as_in_the_mulan_file(datasets):
    meka = scumble.read(next((datasets / "enron-meka").glob("*.arff*")))
    mulan = scumble.read(datasets / "enron" / "enron.arff")
    order = [meka.labels.index(name) for name in mulan.labels]
    assert (meka.Y[:, order] != mulan.Y).nnz == 0


@pytest.mark.parametrize(
    ("name", "line", "value", "message"),
    [
        ("thyroid-L7", 42, 1, "the label 'class_hyperthyroid' has the value 'NEG'"),
        ("solar_flare", 64, 1, "the label 'c-class' has the value '2'"),
        ("music_missing_classes", 84, 1, "the label 'amazed-suprised' is missing"),
    ],
)
def test_real_files_whose_labels_are_not_binary(datasets, name, line, value, message):
    with pytest.raises(ReadError, match=message) as error:
        scumble.read(datasets / name / f"{name}.arff")
    assert (error.value.line, error.value.column) == (line, value)
    assert "Expected 0 or 1" in str(error.value)
