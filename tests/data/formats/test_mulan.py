"""MULAN data sets: an ARFF file and the XML file that goes with it."""

import dataclasses
import math
import re

import arff
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse

import scumble
from scumble._core.errors import DataError, ParameterError, ReadError, ScumbleError
from scumble._core.files import InputFile
from scumble.data import Feature, MultilabelDataset
from scumble.data.formats.arff.label_xml import format_label_xml, read_label_xml
from scumble.data.formats.mulan import sniff
from scumble.testing.strategies import datasets as any_dataset

ARFF = """@relation films
@attribute minutes numeric
@attribute war {0,1}
@attribute love {0,1}
@data
150,1,0
90,1,1
"""
XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="love"></label>
<label name="war"></label>
</labels>
"""


def put(folder, *, arff_name="films.arff", arff_text=ARFF, xml_name="films.xml", xml=XML):
    folder.mkdir(exist_ok=True)
    (folder / arff_name).write_text(arff_text, encoding="utf-8")
    if xml is not None:
        (folder / xml_name).write_bytes(xml if isinstance(xml, bytes) else xml.encode())
    return folder / arff_name


def test_a_data_set_made_by_hand(tmp_path):
    data = scumble.read(put(tmp_path))
    assert data.name == "films"
    assert data.labels == ("war", "love")  # in the order of the ARFF file
    assert data.label_parents is None
    assert data.X.tolist() == [[150], [90]]
    assert data.Y.toarray().tolist() == [[True, False], [True, True]]


# --- finding the XML file ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arff_name", "xml_name"),
    [
        ("films.arff", "films.xml"),
        ("films-train.arff", "films.xml"),
        ("films-test.arff", "films.xml"),
        ("films-train.arff", "films-train.xml"),
        ("films.arff", "anything.xml"),
        ("films.arff", "ANYTHING.XML"),
    ],
)
def test_where_the_xml_file_may_be(tmp_path, arff_name, xml_name):
    path = put(tmp_path, arff_name=arff_name, xml_name=xml_name)
    assert scumble.read(path).labels == ("war", "love")


def test_the_xml_file_of_a_compressed_file(tmp_path):
    data = scumble.read(put(tmp_path))
    for suffix in (".gz", ".bz2", ".xz", ".zst"):
        folder = tmp_path / suffix[1:]
        folder.mkdir()
        scumble.write(data, folder / f"x.arff{suffix}")
        assert sorted(path.name for path in folder.iterdir()) == [f"x.arff{suffix}", "x.xml"]
        assert scumble.read(folder / f"x.arff{suffix}") == data


def test_its_own_xml_file_goes_before_others(tmp_path):
    path = put(tmp_path)
    put(tmp_path, xml_name="other.xml", xml="<labels><label name='minutes'/></labels>")
    assert scumble.read(path).labels == ("war", "love")


def test_two_other_xml_files_do_not_tell(tmp_path):
    path = put(tmp_path, xml_name="a.xml")
    put(tmp_path, xml_name="b.xml")
    with pytest.raises(ReadError, match=r"Expected films\.xml: put it there, or name the labels"):
        scumble.read(path)
    assert scumble.read(path, labels=str(tmp_path / "a.xml")).labels == ("war", "love")
    assert scumble.read(path, labels=tmp_path / "a.xml").labels == ("war", "love")
    assert scumble.read(path, labels=["love"]).labels == ("love",)
    assert scumble.read(path, labels=-2).labels == ("war", "love")


def test_what_the_relation_says_does_not_matter_with_an_xml_file_of_its_own(tmp_path):
    text = ARFF.replace("films", "'films: -C 1'")
    data = scumble.read(put(tmp_path, arff_text=text))
    assert data.labels == ("war", "love")
    assert data.name == "films: -C 1"
    text = text.replace("minutes numeric", "minutes {90,150,0,1}")
    other = put(tmp_path / "other", arff_text=text, xml_name="unrelated.xml")
    with pytest.raises(ReadError, match="the label 'minutes' has the value '150'"):
        scumble.read(other)  # a MEKA file beside some XML


def test_sniffing(tmp_path):
    path = put(tmp_path)
    source = InputFile(path)
    assert sniff(source, path.read_bytes()) > 0.9
    assert sniff(source, b"\xef\xbb\xbf% c\r\n\r\n  @RELATION x\r\n") > 0.9
    assert sniff(source, b"a,b\n1,2\n") == 0
    assert sniff(source, b"@relationship\n") < 0.5
    assert sniff(source, b"% comments only") > 0
    (tmp_path / "films.xml").unlink()
    assert sniff(source, path.read_bytes()) == 0.5


# --- the XML file --------------------------------------------------------------------------


def test_hierarchies(tmp_path):
    attributes = "".join(f"@attribute {name} {{0,1}}\n" for name in "dacbe")
    xml = (
        "<labels><label name='a'><label name='b'><label name='c'/></label><label name='d'/>"
        "</label><!-- alone --><label name='e'></label></labels>"
    )
    path = put(tmp_path, arff_text=f"@relation r\n{attributes}@data\n1,1,0,0,1\n", xml=xml)
    data = scumble.read(path)
    assert data.labels == tuple("dacbe")
    assert data.label_parents == (1, -1, 3, 1, -1)
    scumble.write(data, tmp_path / "again.arff")
    assert scumble.read(tmp_path / "again.arff") == data


def test_a_deep_hierarchy(tmp_path):
    n = 3000
    names = [f"n{i}" for i in range(n)]
    parents = [-1, *range(n - 1)]
    data = MultilabelDataset(
        np.zeros((1, 0)), sparse.csr_array((1, n), dtype=bool), labels=names, label_parents=parents
    )
    scumble.write(data, tmp_path / "deep.arff")
    assert scumble.read(tmp_path / "deep.arff") == data


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("", "the file is empty"),
        ("<labels>", "line 1: the XML is damaged"),
        ("<labels>\n<label name='war'>\n</labels>", "line 3: the XML is damaged"),
        (b"\xff\xfe\x00", "the XML"),
        ("<?xml version='1.0' encoding='klingon'?><labels/>", "the XML"),
        ("<html><label name='war'/></html>", "the XML begins with <html>"),
        ("<labels><tag name='war'/></labels>", "the XML holds <tag>"),
        ("<labels><label/></labels>", "the XML holds <label> without a name"),
        ("<labels></labels>", "names no label"),
        ("<labels><label name='war'/><label name='war'/></labels>", "the label 'war' twice"),
        ("<labels><label name='wars'/></labels>", "'wars', .*no such column. Did you mean 'war'"),
        ("<!DOCTYPE labels><labels><label name='war'/></labels>", "declares a document type"),
        (
            "<!DOCTYPE l [<!ENTITY a 'x'><!ENTITY b '&a;&a;'>]><labels>&b;</labels>",
            "declares a document type or entities",
        ),
        (
            "<!DOCTYPE l [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><labels>&a;</labels>",
            "declares a document type or entities",
        ),
    ],
)
def test_bad_xml(tmp_path, xml, message):
    path = put(tmp_path, xml=xml)
    with pytest.raises(ReadError, match=message) as error:
        scumble.read(path)
    assert "films.xml" in str(error.value)


@given(
    st.lists(
        st.text(
            st.characters(codec="utf-8", exclude_categories=["Cc"]) | st.sampled_from("\t\n\r")
        ).filter(lambda name: not re.search("[\ufffe\uffff]", name)),
        min_size=1,
        max_size=5,
        unique=True,
    ),
    st.data(),
)
def test_names_survive_the_xml_file(tmp_path_factory, names, data):
    parents = tuple(data.draw(st.integers(-1, at - 1)) for at in range(len(names)))
    path = tmp_path_factory.mktemp("xml") / "labels.xml"
    path.write_bytes(format_label_xml(tuple(names), parents).encode())
    tree = read_label_xml(path)
    above = [names[parent] if parent >= 0 else None for parent in parents]
    assert tree.parents == dict(zip(names, above, strict=True))


# --- write, then read ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "format", "files"),
    [
        ("data.arff", None, ["data.arff", "data.xml"]),
        ("data.arff", "meka", ["data.arff"]),
        ("data.dat", None, ["data.dat"]),
    ],
)
@settings(max_examples=150)
@given(data=any_dataset(infinite=True))
def test_writing_and_reading_gives_the_same_back(tmp_path_factory, name, format, files, data):
    path = tmp_path_factory.mktemp("family") / name
    scumble.write(data, path, format=format)
    again = scumble.read(path)
    assert again == data
    assert again.is_sparse == data.is_sparse
    assert sorted(file.name for file in path.parent.iterdir()) == files


def awkward() -> dict[str, MultilabelDataset]:
    """Data sets that the syntax of ARFF has no room for."""
    Y = sparse.csr_array(np.array([[1, 0], [0, 1], [1, 1]], bool))
    X = np.array([[0.0, 2], [1, 0], [2, 1]])

    def make(X=X, Y=Y, **parts):
        return MultilabelDataset(X, Y, **parts)

    strings = (
        Feature("s", "string", ("z", "unused", "a", "")),
        Feature("n", "nominal", ("a", "b", "c"), integer=True),
    )
    dates = (
        Feature("day", "date", date_format="yyyy-MM-dd"),
        Feature("odd", "date", date_format="not a pattern"),
    )
    times = np.array([[0.5, 1], [86400000, math.nan], [-1e300, 2]])
    return {
        "a label called like a feature": make(features=["a", "b"], labels=["b", "label-0"]),
        "names XML does not know": make(labels=["\x01", "\ud800"]),
        "aliases that are taken": make(features=["\x01", "label-0"], labels=["\x01", "label-0-"]),
        "texts in another order": make(features=strings),
        "texts in another order, sparse": make(sparse.csr_array(X), features=strings),
        "dates no pattern can spell": make(times, features=dates),
        "dates no pattern can spell, sparse": make(sparse.csr_array(times), features=dates),
        "dates with a pattern": make(
            np.array([[0, 1000], [86400000, 0], [math.nan, math.nan]]),
            features=[
                Feature("d", "date", date_format='yyyy-MM-dd "x\\'),
                Feature("e", "date", date_format="yyyy-MM-dd'T'HH:mm:ss"),
            ],
        ),
        "a number with a pattern": make(features=[Feature("a", date_format="yyyy"), "b"]),
        "nothing declared": make(np.full((3, 1), math.nan), features=[Feature("n", "nominal")]),
        "no features": make(np.zeros((3, 0))),
        "no features, sparse": make(sparse.csr_array((3, 0))),
        "no rows": make(np.zeros((0, 2)), np.zeros((0, 2)), weights=[], name=""),
        "no rows, sparse": make(sparse.csr_array((0, 2)), np.zeros((0, 2))),
        "no labels": make(X, np.zeros((3, 0))),
        "no columns": make(np.zeros((3, 0)), np.zeros((3, 0)), weights=[1, 2, 3]),
        "no columns, sparse": make(sparse.csr_array((3, 0)), np.zeros((3, 0))),
        "no anything": make(np.zeros((0, 0)), np.zeros((0, 0))),
        "weights": make(weights=[0, 0.1, 1e300]),
        "weights, sparse": make(sparse.csr_array(X), weights=[1, 1, 1]),
        "infinite": make(np.array([[math.inf], [-math.inf], [math.nan]])),
        "a hierarchy": make(label_parents=[1, -1], labels=["a", "b"]),
        "names with options": make(name="x: -C 9 -split 3"),
        "all kinds of blanks": make(labels=["\x0b\x85", "\xa0\u2028"], name="a\rb\nc"),
    }


@pytest.mark.parametrize("format", ["mulan", "meka", "keel"])
@pytest.mark.parametrize("case", awkward())
def test_what_the_syntax_has_no_room_for_survives_nevertheless(tmp_path, case, format):
    data = awkward()[case]
    path = tmp_path / "data.arff"
    scumble.write(data, path, format=format)
    again = scumble.read(path)
    assert again == data
    assert dataclasses.asdict(again)["features"] == dataclasses.asdict(data)["features"]
    assert again.is_sparse == data.is_sparse
    first = path.read_bytes()
    scumble.write(again, path, format=format)
    assert path.read_bytes() == first


def test_what_is_written(tmp_path):
    data = MultilabelDataset(
        sparse.csr_array([[1.5, 0, 1, 0], [0, -2, 0, 86400000], [math.nan, 0, 1, 0]]),
        [[1, 0], [0, 1], [0, 0]],
        features=[
            Feature("a b"),
            Feature("n", integer=True),
            Feature("c", "nominal", ("it's", "50%")),
            Feature("d", "date", date_format="yyyy-MM-dd"),
        ],
        labels=["x,y", "z"],
        name="all",
        weights=[1, 2.5, 1],
    )
    scumble.write(data, tmp_path / "all.arff")
    assert (tmp_path / "all.arff").read_text() == (
        "@relation all\n"
        "\n"
        "@attribute 'a b' numeric\n"
        "@attribute n integer\n"
        "@attribute c {'it\\'s','50\\%'}\n"
        '@attribute d date "yyyy-MM-dd"\n'
        "@attribute 'x,y' {0,1}\n"
        "@attribute z {0,1}\n"
        "\n"
        "@data\n"
        "{0 1.5,2 '50\\%',4 1},{1}\n"
        "{1 -2,3 1970-01-02,5 1},{2.5}\n"
        "{0 ?,2 '50\\%'},{1}\n"
    )
    assert (tmp_path / "all.xml").read_text() == XML.replace("love", "x,y").replace("war", "z")


@pytest.mark.parametrize("format", ["mulan", "meka", "keel"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [0.5, 2.0, -1.0, math.inf])
def test_codes_that_are_none_are_refused_and_nothing_is_left_behind(tmp_path, format, make, value):
    data = MultilabelDataset(
        make([[1.0], [value]]), [[1], [0]], features=[Feature("c", "nominal", ("a", "b"))]
    )
    with pytest.raises(DataError, match=f"The feature 'c' holds {value:g}. Expected the number of"):
        scumble.write(data, tmp_path / "data.arff", format=format)
    assert list(tmp_path.iterdir()) == []
    texts = dataclasses.replace(data.features[0], kind="string")
    data = MultilabelDataset(data.X, data.Y, features=[texts])
    with pytest.raises(DataError, match="The feature 'c' holds"):
        scumble.write(data, tmp_path / "data.arff", format=format)


def test_the_data_file_cannot_be_the_xml_file(tmp_path):
    data = MultilabelDataset([[1.0]], [[1]])
    with pytest.raises(
        ParameterError, match=r"the suffix \.xml belongs to the file with the labels"
    ):
        scumble.write(data, tmp_path / "data.xml", format="mulan")
    assert list(tmp_path.iterdir()) == []


def test_many_rows_are_written_in_pieces(tmp_path, monkeypatch):
    from scumble.data.formats.arff import writer

    generator = np.random.default_rng(0)
    X = generator.random((500, 4)).round(3) * (generator.random((500, 4)) < 0.5)
    X[:, 3] = generator.integers(0, 2, 500)
    data = MultilabelDataset(
        X,
        generator.random((500, 3)) < 0.3,
        features=["a", "b", "c", Feature("d", "nominal", ("x", "y"))],
        weights=generator.random(500),
    )
    for whole in (
        data,
        MultilabelDataset(
            sparse.csr_array(X), data.Y, features=data.features, weights=data.weights
        ),
    ):
        scumble.write(whole, tmp_path / "one.arff")
        with monkeypatch.context() as patch:
            patch.setattr(writer, "_VALUES_PER_WRITE", 37)
            scumble.write(whole, tmp_path / "two.arff")
        assert (tmp_path / "one.arff").read_bytes() == (tmp_path / "two.arff").read_bytes()
        assert scumble.read(tmp_path / "two.arff") == whole


# --- other programs ------------------------------------------------------------------------


def liac(path) -> tuple[list[str], list[list[object]]]:
    with open(path, encoding="utf-8", newline="") as stream:
        content = arff.load(stream)
    return [name for name, _ in content["attributes"]], content["data"]


def cells(data: MultilabelDataset, *, labels_first: bool) -> list[list[object]]:
    """Lay a data set out as liac-arff does: numbers, texts, None."""
    X = data.X.toarray() if data.is_sparse else data.X
    rows = []
    for values, labels in zip(X.tolist(), data.Y.toarray().astype(int).tolist(), strict=True):
        features = [
            None
            if math.isnan(value)
            else feature.categories[int(value)]
            if feature.is_categorical
            else value
            for value, feature in zip(values, data.features, strict=True)
        ]
        names = [str(label) for label in labels]
        rows.append(names + features if labels_first else features + names)
    return rows


#: liac-arff stumbles over braces in declarations, escaped names, quotes in name and values.
PLAIN = st.text(
    st.characters(codec="utf-8", categories=["L", "N"]) | st.sampled_from(" ,;.%'\\#\t\n!-"),
    min_size=1,
    max_size=6,
)


@st.composite
def liac_datasets(draw) -> MultilabelDataset:
    n = draw(st.integers(1, 5))
    features, columns = [], []
    for at, kind in enumerate(draw(st.lists(st.sampled_from("nics"), max_size=4))):
        if kind in "ni":
            numbers = (
                st.integers(-(2**53), 2**53).map(float) if kind == "i" else st.floats(-1e9, 1e9)
            )
            features.append(Feature(f"x {at}", integer=kind == "i"))  # a name in quotes
            columns.append(draw(st.lists(numbers | st.just(math.nan), min_size=n, max_size=n)))
            continue
        categories = tuple(draw(st.lists(PLAIN, min_size=2, max_size=4, unique=True)))
        codes = draw(
            st.lists(st.integers(0, len(categories) - 1).map(float), min_size=n, max_size=n)
        )
        features.append(Feature(f"x{at}", "nominal" if kind == "c" else "string", categories))
        columns.append(codes)
    X = np.array(columns).reshape(len(features), n).T
    Y = draw(st.lists(st.lists(st.booleans(), min_size=2, max_size=2), min_size=n, max_size=n))
    return MultilabelDataset(
        sparse.csr_array(X) if draw(st.booleans()) else X,
        np.array(Y),
        features=features,
        name="x y",
    )


@settings(max_examples=150)
@given(liac_datasets(), st.sampled_from(["mulan", "meka"]))
def test_liac_arff_reads_the_same_values(tmp_path_factory, data, format):
    path = tmp_path_factory.mktemp("liac") / "data.arff"
    scumble.write(data, path, format=format)
    names, rows = liac(path)
    first = format == "meka"
    expected = [*data.labels, *data.feature_names] if first else [*data.feature_names, *data.labels]
    assert names == expected
    assert rows == cells(data, labels_first=first)


# --- real data -----------------------------------------------------------------------------

REAL = [
    ("corel5k", 5000, 499, 374, 3.522, True),
    ("mediamill_reduced", 2000, 120, 101, 4.394, False),
    ("cal500", 502, 68, 174, 26.044, False),
    ("enron", 1702, 1001, 53, 3.378, True),
    ("corel16k010", 13618, 500, 144, 2.815, True),
    ("stackex_cs", 9270, 635, 274, 2.556, True),
    ("tmc2007-500", 28596, 500, 22, 2.158, True),
    ("yeast", 2417, 103, 14, 4.237, False),
    ("bibtex", 7395, 1836, 159, 2.402, True),
    ("medical", 978, 1449, 45, 1.245, True),
    ("genbase", 662, 1186, 27, 1.252, False),
    ("emotions", 593, 72, 6, 1.868, False),
    ("flags", 194, 19, 7, 3.392, False),
    ("delicious", 16105, 500, 983, 19.020, True),
    ("birds", 645, 260, 19, 1.014, False),
    ("scene", 2407, 294, 6, 1.074, False),
    ("slashdot", 3782, 1079, 22, 1.181, True),
    ("rcv1sub1", 6000, 47236, 101, 2.880, True),
]


@pytest.mark.parametrize(
    ("name", "n_instances", "n_features", "n_labels", "cardinality", "is_sparse"), REAL
)
def test_real_data_sets(
    datasets, tmp_path, name, n_instances, n_features, n_labels, cardinality, is_sparse
):
    data = scumble.read(next((datasets / name).glob(f"{name}.arff*")))
    assert (data.n_instances, data.n_features, data.n_labels) == (n_instances, n_features, n_labels)
    assert round(data.Y.nnz / n_instances, 3) == cardinality
    assert data.is_sparse == is_sparse
    assert not np.isnan(data.X.data if is_sparse else data.X).any()
    scumble.write(data, tmp_path / "again.arff")
    assert scumble.read(tmp_path / "again.arff") == data


@pytest.mark.parametrize("name", ["emotions", "enron", "flags", "medical"])
def test_real_parts_together_are_the_whole(datasets, name):
    def part(end):
        return scumble.read(next((datasets / name).glob(f"{name}{end}.arff*")))

    both, whole = [part("-train"), part("-test")], part("")
    for data in both:
        assert (data.feature_names, data.labels) == (whole.feature_names, whole.labels)
    assert sum(map(len, both)) == len(whole)
    together = sum(data.Y.sum(axis=0) for data in both)
    assert together.tolist() == whole.Y.sum(axis=0).tolist()


@pytest.mark.parametrize("name", ["emotions", "flags", "medical", "cal500"])
def test_real_data_as_liac_arff_reads_it(datasets, name):
    data = scumble.read(datasets / name / f"{name}.arff")
    names, rows = liac(datasets / name / f"{name}.arff")
    assert (*data.feature_names, *data.labels) == tuple(names)
    assert rows == cells(data, labels_first=False)


def test_real_names_that_are_traps(datasets):
    delicious = scumble.read(next((datasets / "delicious").glob("delicious.arff*")))
    assert {"TAG_m\\'usica", "TAG_dise\\~no"} <= set(delicious.labels)
    flags = scumble.read(datasets / "flags" / "flags.arff")
    assert flags.features[0] == Feature("landmass", "nominal", tuple("123456"))
    genbase = scumble.read(next((datasets / "genbase").glob("genbase.arff*")))
    assert len(genbase.features[0].categories) == 662
    assert genbase.features[1].categories == ("YES", "NO")


def test_every_error_is_ours(tmp_path):
    with pytest.raises(ScumbleError):
        scumble.read(put(tmp_path, arff_text=ARFF.replace("150", "many")))
