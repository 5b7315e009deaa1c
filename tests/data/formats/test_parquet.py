"""Parquet and Arrow IPC: our own files whole, other programs' files by their columns."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from scipy import sparse

import scumble
from scumble._core.errors import ParameterError, ReadError, ScumbleError
from scumble.data import Feature, MultilabelDataset
from scumble.testing.strategies import datasets

FILMS = MultilabelDataset(
    [[150, 1, 0, 1.5e12], [np.nan, 0, 1, np.nan], [90, 2, np.nan, -1.0]],
    [[1, 0, 1], [0, 0, 0], [0, 0, 1]],
    features=[
        Feature("minutes", integer=np.bool_(True)),  # as numpy says it
        Feature("size", "nominal", ("S", "M", "L", "XL")),
        Feature("title", "string", ("b", "a")),
        Feature("seen", "date", date_format="yyyy-MM-dd"),
    ],
    labels=["war", "love", "comedy"],
    name="films",
    weights=[1, 0.5, 2],
    label_parents=[-1, 2, -1],
)
SUFFIXES = (".parquet", ".arrow", ".feather")
write_table = {
    ".parquet": pq.write_table,
    ".arrow": feather.write_feather,
    ".feather": feather.write_feather,
}


def read_table(path):
    return pq.read_table(path) if path.suffix == ".parquet" else feather.read_table(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("layout", ["names", "numbers", "columns"])
def test_everything_comes_back(tmp_path, suffix, layout):
    path = tmp_path / f"a{suffix}"
    scumble.write(FILMS, path, label_layout=layout)
    again = scumble.read(path)
    assert again == FILMS
    assert again.features == FILMS.features
    assert not again.is_sparse


def test_other_programs_see_plain_columns(tmp_path):
    scumble.write(FILMS, tmp_path / "a.parquet")
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.column_names == ["minutes", "size", "title", "seen", "weight", "labels"]
    assert table["minutes"].to_pylist() == [150, None, 90]
    assert table["size"].to_pylist() == ["M", "S", "L"]
    assert table["title"].to_pylist() == ["b", "a", None]
    assert table["seen"].type == pa.timestamp("ms", "UTC")
    assert table["labels"].to_pylist() == [["war", "comedy"], [], ["comedy"]]
    assert table["weight"].to_pylist() == [1, 0.5, 2]


def test_labels_as_numbers_and_as_columns(tmp_path):
    scumble.write(FILMS, tmp_path / "a.parquet", label_layout="numbers")
    assert pq.read_table(tmp_path / "a.parquet")["labels"].to_pylist() == [[0, 2], [], [2]]
    scumble.write(FILMS, tmp_path / "a.parquet", label_layout="columns")
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.column_names[-3:] == ["war", "love", "comedy"]
    assert table["comedy"].to_pylist() == [True, False, True]
    with pytest.raises(ParameterError, match="label_layout"):
        scumble.write(FILMS, tmp_path / "a.parquet", label_layout="tree")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_sparse_features_are_two_columns_of_lists(tmp_path, suffix):
    X = sparse.csr_array([[0, 0.5, 0], [0, 0, 0], [np.nan, 0, 2]])
    data = MultilabelDataset(X, [[1], [0], [1]])
    path = tmp_path / f"a{suffix}"
    scumble.write(data, path)
    table = read_table(path)
    assert table.column_names == ["feature_indices", "feature_values", "labels"]
    assert table["feature_indices"].to_pylist() == [[1], [], [0, 2]]
    again = scumble.read(path)
    assert again.is_sparse
    assert again == data


def test_names_that_clash_with_ours(tmp_path):
    data = MultilabelDataset(
        [[1.0, 2, 3]],
        [[1, 0]],
        features=["labels", "weight", "a"],
        labels=["a", "labels"],
        weights=[3],
    )
    for layout in ("names", "numbers", "columns"):
        scumble.write(data, tmp_path / "a.parquet", label_layout=layout)
        assert scumble.read(tmp_path / "a.parquet") == data


@given(data=datasets(infinite=True))
@settings(max_examples=60)
@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_there_and_back(tmp_path_factory, suffix, data):
    path = tmp_path_factory.mktemp("parquet") / f"a{suffix}"
    scumble.write(data, path)
    again = scumble.read(path)
    assert again == data
    assert again.is_sparse == data.is_sparse
    content = path.read_bytes()
    scumble.write(data, path)
    assert path.read_bytes() == content


def test_dates_finer_than_a_microsecond(tmp_path):
    data = MultilabelDataset(
        [[0.1], [1e300], [np.nan]], [[1], [0], [1]], features=[Feature("t", "date")]
    )
    scumble.write(data, tmp_path / "a.parquet")
    assert scumble.read(tmp_path / "a.parquet") == data


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
class TestForeign:
    @pytest.fixture
    def path(self, tmp_path, suffix):
        path = tmp_path / f"films{suffix}"
        table = pa.table({"w": [1.0, 2.0], "a": [1, 0], "x": ["u", None], "b": [True, False]})
        write_table[suffix](table, path)
        return path

    def test_label_columns(self, path):
        data = scumble.read(path, labels=["b", "a"], weight_column="w")
        assert data.labels == ("a", "b")
        assert data.Y.toarray().astype(int).tolist() == [[1, 1], [0, 0]]
        assert data.features == (Feature("x", "nominal", ("u",)),)
        assert data.weights.tolist() == [1, 2]
        assert data.name == "films"
        assert scumble.read(path, labels=[1, 3]).labels == ("a", "b")
        assert scumble.read(path, labels=-1).labels == ("b",)
        assert scumble.read(path, labels=-1, ignore=["w", 2]).feature_names == ("a",)

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            ({}, "which columns are labels.*no column does"),
            (
                {"labels": ["c"]},
                "names the label 'c', .* no such column. The columns are 'w', 'a', 'x', 'b'",
            ),
            ({"labels": ["a", "a"]}, "names the label 'a' twice"),
            ({"labels": [1, 9]}, "names the column 9, but the columns are numbered 0 to 3"),
            ({"labels": 5}, "5 labels are requested, but the file has only 4 columns"),
            ({"labels": ["w"]}, "row 1, column 'w' holds 2.0"),
            ({"label_column": "a"}, "expected lists of label names or numbers, found int64"),
            ({"labels": ["a"], "label_column": "b"}, "exclude each other"),
            ({"labels": ["a"], "ignore": ["z"]}, "ignore names 'z'"),
        ],
    )
    def test_refusals(self, path, options, reason):
        with pytest.raises(ReadError, match=reason) as fault:
            scumble.read(path, **options)
        assert fault.value.path == str(path)

    @pytest.mark.parametrize("labels", ["a", True, [0.5], object()])
    def test_bad_choices(self, path, labels):
        with pytest.raises(ScumbleError, match="'labels' parameter is"):
            scumble.read(path, labels=labels)

    def test_one_column_of_lists_is_found(self, tmp_path, suffix):
        path = tmp_path / f"films{suffix}"
        write_table[suffix](pa.table({"x": [1.5, 2], "tags": [["b", "a"], []]}), path)
        data = scumble.read(path)
        assert data.labels == ("a", "b")
        assert data.X.tolist() == [[1.5], [2]]

    def test_two_columns_of_lists_are_a_question(self, tmp_path, suffix):
        path = tmp_path / f"films{suffix}"
        write_table[suffix](pa.table({"ids": [[1], [2, 3]], "tags": [["b"], []]}), path)
        with pytest.raises(ReadError, match=r"2 columns hold lists \(ids, tags\)"):
            scumble.read(path)
        assert scumble.read(path, label_column="ids", ignore=["tags"]).labels == ("1", "2", "3")


def test_a_choice_overrides_our_own_description(tmp_path):
    scumble.write(FILMS, tmp_path / "a.parquet", label_layout="columns")
    data = scumble.read(tmp_path / "a.parquet", labels=["war"], ignore=["weight"])
    assert data.labels == ("war",)
    assert data.feature_names == ("minutes", "size", "title", "seen", "love", "comedy")


def test_labels_from_an_xml_file(tmp_path):
    (tmp_path / "films.xml").write_text(
        '<labels xmlns="http://mulan.sourceforge.net/labels">'
        '<label name="b"><label name="a"/></label></labels>'
    )
    pq.write_table(pa.table({"a": [1], "x": [2], "b": [0]}), tmp_path / "films.parquet")
    data = scumble.read(tmp_path / "films.parquet", labels=str(tmp_path / "films.xml"))
    assert data.labels == ("a", "b")
    assert data.label_parents == (1, -1)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_damaged_file(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    scumble.write(FILMS, path)
    content = path.read_bytes()
    for cut in (8, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:cut])
        with pytest.raises(ReadError, match="damaged"):
            scumble.read(path)


def test_an_arrow_stream(tmp_path):
    table = pa.table({"x": [1.0], "tags": [["a"]]})
    with (
        pa.OSFile(str(tmp_path / "a"), "wb") as sink,
        pa.ipc.new_stream(sink, table.schema) as writer,
    ):
        writer.write_table(table)
    assert scumble.read(tmp_path / "a").labels == ("a",)


def test_feather_version_1_is_refused(tmp_path):
    (tmp_path / "a.feather").write_bytes(b"FEA1" + bytes(100) + b"FEA1")
    with pytest.raises(ReadError, match="Feather version 1"):
        scumble.read(tmp_path / "a.feather")


def _rewritten(tmp_path, change) -> str:
    """Write FILMS, then change the description another program left in place."""
    path = tmp_path / "a.parquet"
    scumble.write(FILMS, path)
    table = pq.read_table(path)
    told = json.loads(table.schema.metadata[b"scumble"])
    table = change(table, told) or table
    metadata = {b"scumble": json.dumps(told).encode()}
    pq.write_table(table.replace_schema_metadata(metadata), path)
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda table, told: table.drop_columns(["size"]),
        lambda table, told: table.drop_columns(["labels"]),
        lambda table, told: told.pop("labels") and None,
        lambda table, told: told.update(labels=["war"]),
        lambda table, told: told.update(features=[1, 2, 3, 4]),
        lambda table, told: told.update(features=[{"name": "minutes", "colour": 1}]),
        lambda table, told: told.update(label_parents=[0, 0, 0]),
        lambda table, told: told["columns"].update(labels="size"),
        lambda table, told: told["columns"].update(indices="labels", values="labels"),
    ],
)
def test_a_description_that_does_not_fit(tmp_path, change):
    path = _rewritten(tmp_path, change)
    with pytest.raises(ReadError):
        scumble.read(path)


def test_a_newer_form(tmp_path):
    path = _rewritten(tmp_path, lambda table, told: told.update(version=99))
    with pytest.raises(ReadError, match="newer release"):
        scumble.read(path)


def test_codes_without_a_category_are_not_written(tmp_path):
    data = MultilabelDataset([[7.0]], [[1]], features=[Feature("c", "nominal", ("a",))])
    with pytest.raises(ScumbleError, match="not a code of its 1 categories"):
        scumble.write(data, tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_no_unicode_are_not_written(tmp_path):
    data = MultilabelDataset([[7.0]], [[1]], features=["\ud800"])
    with pytest.raises(ScumbleError, match="UTF-8"):
        scumble.write(data, tmp_path / "a.parquet")


def test_what_looks_like_labels_is_named(tmp_path):
    path = tmp_path / "films.parquet"
    pq.write_table(pa.table({"x": [1.5, 2.0, 3.0], "tags": ["a|b", "b|c", "a"]}), path)
    with pytest.raises(ReadError, match=r"It looks like label_column='tags', label_separator='\|'"):
        scumble.read(path)


def test_a_bomb_is_refused(tmp_path, monkeypatch):
    from scumble.data.formats import columnar

    path = tmp_path / "a.parquet"
    scumble.write(MultilabelDataset(np.zeros((5000, 1)), np.ones((5000, 1), bool)), path)
    monkeypatch.setattr(columnar, "UNCHECKED_EXPANSION_BYTES", 100)
    monkeypatch.setattr("scumble._core.files.MAX_EXPANSION", 0)
    with pytest.raises(ReadError, match="decompression bomb"):
        scumble.read(path)
