"""The answers of DuckDB and Spark are those of memory."""

import ast
import csv
import lzma

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

import scumble
from scumble.measures import characterize, difficult_labels
from scumble.out_of_core import DuckDBEngine, Output, scan
from scumble.resample import REMEDIAL
from tests.out_of_core.tables import (
    assert_same_summary,
    expected_remedial,
    matrix,
    rows_of,
    write_lists,
    write_pairs,
    written_lists,
    written_pairs,
)

pytest.importorskip("duckdb", reason="DuckDB is missing: pip install 'scumble[scale]'")

# Label "war" is everywhere, "opera" appears once, with it.
FILMS = [["war"], ["love", "war"], ["opera", "war"], ["love", "war"]]
AWKWARD = [
    ["b", "a", "a"],
    None,
    [],
    ["a", None],
    ["ü", "日本", "a"],
    [None],
    ["a", "b"],
    ["it's", 'a "quote"', "a"],
    ["日本", "a", "ü"],
]


def test_the_films_by_hand(tmp_path, engine):
    write_lists(tmp_path / "films.parquet", FILMS)
    with scan(tmp_path / "films.parquet", **engine) as films:
        summary = characterize(films)
        assert summary.labels.name == ("love", "opera", "war")
        assert summary.labels["irlbl"].tolist() == [2.0, 4.0, 1.0]
        third = 1 - 2 / 2.5  # ratios 4 and 1: geometric mean 2, arithmetic mean 2.5
        second = 1 - 2**0.5 / 1.5
        scores = np.asarray(summary.scumble_by_instance)
        assert scores == pytest.approx([0, second, third, second], abs=1e-15)
        REMEDIAL().resample(films, tmp_path / "out")
    assert written_lists(tmp_path / "out") == [
        (0, ("war",)),
        (1, ("love", "war")),
        (2, ("opera",)),
        (2, ("war",)),
        (3, ("love", "war")),
    ]


@pytest.mark.parametrize("rows", [[["a"]], [[]], [["x", "y"]] * 3, FILMS])
def test_small_lists(tmp_path, rows):
    check_lists(tmp_path, {"threads": 1}, rows)


def test_awkward_lists(tmp_path, engine):
    check_lists(tmp_path, engine, AWKWARD)


@pytest.mark.parametrize("rows", [AWKWARD, FILMS * 3, [["a"]]])
@pytest.mark.parametrize("n_slices", [2, 3, 50])
def test_slices_change_nothing(tmp_path, monkeypatch, rows, n_slices):
    monkeypatch.setattr(DuckDBEngine, "n_slices", lambda self, n_labelsets: n_slices)
    check_lists(tmp_path, {"threads": 2}, rows)


def test_labelsets_are_cut_where_memory_is_short():
    engine = DuckDBEngine(memory="13MiB", threads=1)
    fitting = 13 * 2**20 // 130
    assert [engine.n_slices(n) for n in (0, fitting, fitting + 1, 10 * fitting)] == [1, 1, 5, 40]
    engine.close()


def check_lists(tmp_path, engine, rows):
    write_lists(tmp_path / "t.parquet", rows)
    with scan(tmp_path / "t.parquet", instance_column="instance", **engine) as table:
        assert_same_summary(table, rows)
        for one_sided in ("clone", "keep"):
            parameters = {"passes": 2, "one_sided": one_sided}
            expected, theirs = expected_remedial(rows, **parameters)
            ours = REMEDIAL(**parameters)
            ours.resample(table, tmp_path / one_sided)
            assert written_lists(tmp_path / one_sided) == expected
            assert [met.n_added for met in ours.passes_] == [met.n_added for met in theirs.passes_]
            assert ours.n_one_sided_ == theirs.n_one_sided_
            assert ours.n_added_ == theirs.n_added_


def test_integers_labels_never_seen_and_pairs(tmp_path, engine):
    rows = [[3, 1], [], [3], [1, 3, 12], [3, 1]]
    write_pairs(tmp_path / "t.parquet", rows)
    with scan(tmp_path / "t.parquet", labels=range(13), **engine) as table:
        assert_same_summary(table, rows, labels=range(13))
        expected, _ = expected_remedial(rows, passes=3)
        result = REMEDIAL(passes=3).resample(table, tmp_path / "out")
        assert written_pairs(tmp_path / "out") == expected
        after = characterize(result)
        assert (after.n_instances, after.n_unseen) == (len(expected), 10)


def test_other_columns_of_pairs_follow_their_label(tmp_path, engine):
    table = pa.table(
        {
            "instance": [0, 1, 1, 2, 2, 3, 3],
            "label": ["war", "love", "war", "opera", "war", "love", "war"],
            "when": [10, 11, 12, 13, 14, 15, 16],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    with scan(tmp_path / "t.parquet", **engine) as pairs:
        REMEDIAL().resample(pairs, tmp_path / "out")
    found = pq.read_table(tmp_path / "out").to_pylist()
    assert sorted((row["when"], row["instance"], row["clone"], row["label"]) for row in found) == [
        (10, 0, 0, "war"),
        (11, 1, 0, "love"),
        (12, 1, 0, "war"),
        (13, 2, 0, "opera"),
        (14, 2, 1, "war"),
        (15, 3, 0, "love"),
        (16, 3, 0, "war"),
    ]


def test_csv_arrow_globs_and_folders(tmp_path, engine):
    texts = pa.array(["war", "love;war", None, "opera;;war", "a.b|c;war"])
    table = pa.table({"instance": range(5), "tags": texts})
    pa.csv.write_csv(table, tmp_path / "t.csv")
    rows = [["war"], ["love", "war"], [], ["opera", "war"], ["a.b|c", "war"]]
    with scan(tmp_path / "t.csv", label_column="tags", separator=";", **engine) as lists:
        assert_same_summary(lists, rows)
        assert characterize(lists).name == "t"
    lists = pa.table({"instance": range(5), "tags": pa.array(rows, pa.list_(pa.string()))})
    (tmp_path / "parts").mkdir()
    for part in range(2):
        path = tmp_path / "parts" / f"{part}.arrow"
        pa.feather.write_feather(lists.slice(part * 3, 3), path)
    with scan(tmp_path / "parts", instance_column="instance", **engine) as arrow:
        assert_same_summary(arrow, rows)
    with scan(tmp_path / "parts" / "*.arrow", instance_column="instance", **engine) as arrow:
        assert_same_summary(arrow, rows)


def test_features_pass_through_and_folders_by_column(tmp_path, engine):
    years = pa.array([1999, 2001, 1999, 2001], pa.int32())
    weights = pa.array([0.1, None, -0.0, 1e300])
    write_lists(tmp_path / "t.parquet", FILMS, year=years, weight=weights)
    out = Output(tmp_path / "out", partition_by=("year",), clone_column="copy")
    with scan(tmp_path / "t.parquet", instance_column="instance", **engine) as films:
        assert characterize(films).n_features == 2
        result = REMEDIAL().resample(films, out)
        assert characterize(result).n_instances == 5
    found = pq.read_table(tmp_path / "out" / "year=1999", partitioning=None).to_pylist()
    assert sorted(
        (row["instance"], row["copy"], row["weight"], tuple(row["tags"])) for row in found
    ) == [(0, 0, 0.1, ("war",)), (2, 0, -0.0, ("opera",)), (2, 1, -0.0, ("war",))]
    assert {path.name for path in (tmp_path / "out").glob("year=*")} == {"year=1999", "year=2001"}


def test_difficult_labels_and_their_partners(tmp_path, engine):
    data = scumble.load("debtags")
    rows = rows_of(data.Y)[:400]
    Y, values = matrix(rows)
    write_lists(tmp_path / "t.parquet", rows)
    with scan(tmp_path / "t.parquet", label_column="tags", **engine) as table:
        ours = table.difficult_labels()
    theirs = difficult_labels(Y)
    assert [one.name for one in ours] == [str(values[one.label]) for one in theirs]
    for a, b in zip(ours, theirs, strict=True):
        assert (a.label, a.count) == (b.label, b.count)
        assert a.scumble == pytest.approx(b.scumble, abs=1e-9)
        assert [(p.label, p.joint_count) for p in a.partners] == [
            (p.label, p.joint_count) for p in b.partners
        ]


@pytest.mark.parametrize("name", ["debtags", "delicious", "eurlex_eurovoc-labels"])
def test_real_data(tmp_path, engine, name, request):
    rows = real_rows(name, request)
    write_lists(tmp_path / "t.parquet", rows)
    with scan(tmp_path / "t.parquet", instance_column="instance", **engine) as table:
        assert_same_summary(table, rows)
        REMEDIAL().resample(table, tmp_path / "out")
    assert written_lists(tmp_path / "out") == expected_remedial(rows)[0]


def real_rows(name, request):
    """The label lists of a real data set."""
    if name == "debtags":
        return rows_of(scumble.load("debtags").Y)
    folder = request.getfixturevalue("datasets") / name
    if name == "delicious":
        return rows_of(scumble.read(next(iter(sorted(folder.glob("*.arff*"))))).Y)
    with lzma.open(folder / "label.csv.xz", "rt", encoding="utf-8", newline="") as stream:
        return [ast.literal_eval(row[1]) for row in csv.reader(stream) if row[1:]]


label = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "ü", "", " ", "日本", "a,b", "'"]))
tables = st.lists(st.one_of(st.none(), st.lists(label, max_size=6)), min_size=1, max_size=15)


@settings(max_examples=40)
@given(rows=tables, passes=st.integers(1, 3), one_sided=st.sampled_from(["clone", "keep"]))
def test_any_small_table_on_duckdb(tmp_path_factory, rows, passes, one_sided):
    folder = tmp_path_factory.mktemp("any")
    write_lists(folder / "t.parquet", rows, kind=pa.string())
    with scan(folder / "t.parquet", instance_column="instance", threads=1) as table:
        assert_same_summary(table, rows)
        REMEDIAL(passes=passes, one_sided=one_sided).resample(table, folder / "out")
    expected, _ = expected_remedial(rows, passes=passes, one_sided=one_sided)
    assert written_lists(folder / "out") == expected


# Every table costs Spark seconds, so few of them are made, and those are larger.
@settings(max_examples=2)
@given(rows=st.lists(st.one_of(st.none(), st.lists(label, max_size=6)), min_size=20, max_size=60))
def test_any_table_on_spark(tmp_path_factory, spark, rows):
    folder = tmp_path_factory.mktemp("any")
    write_lists(folder / "t.parquet", rows, kind=pa.string())
    with scan(
        folder / "t.parquet", instance_column="instance", engine="spark", spark=spark
    ) as table:
        assert_same_summary(table, rows)
        REMEDIAL(passes=2).resample(table, folder / "out")
    assert written_lists(folder / "out") == expected_remedial(rows, passes=2)[0]


@settings(max_examples=25)
@given(rows=st.lists(st.lists(st.integers(-5, 5), max_size=5), min_size=1, max_size=12))
def test_any_small_table_of_pairs_on_duckdb(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("any")
    if not any(rows):
        rows = [*rows, [1]]
    write_pairs(folder / "t.parquet", rows)
    with scan(folder / "t.parquet", threads=1) as table:
        assert_same_summary(table, rows)
        REMEDIAL().resample(table, folder / "out")
    assert written_pairs(folder / "out") == expected_remedial(rows)[0]
