"""Large files on the command line."""

import json

import pytest

from scumble.cli.main import main
from scumble.out_of_core import files
from tests.out_of_core.tables import expected_remedial, write_lists, written_lists

pytest.importorskip("duckdb", reason="DuckDB is missing: pip install 'scumble[scale]'")

FILMS = [["war"], ["love", "war"], ["opera", "war"], ["love", "war"]]


@pytest.fixture
def run(capsys):
    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return stop.value.code or 0, printed.out, printed.err

    return call


def test_summary_of_a_glob(tmp_path, run):
    for part in range(2):
        write_lists(tmp_path / f"{part}.parquet", FILMS)
    options = ("--label-column", "tags", "--engine", "duckdb", "--memory", "1GB", "--json")
    code, out, _ = run("summary", tmp_path / "*.parquet", *options)
    found = json.loads(out)
    assert (code, found["n_instances"], found["n_labels"]) == (0, 8, 3)
    assert found["mean_ir"] == pytest.approx(7 / 3)


def test_remedial_into_a_folder(tmp_path, run):
    write_lists(tmp_path / "films.parquet", FILMS)
    options = ("--engine", "duckdb", "--one-sided", "keep", "--json")
    code, out, _ = run("remedial", tmp_path / "films.parquet", tmp_path / "out", *options)
    found = json.loads(out)
    assert (code, found["before"]["n_instances"], found["after"]["n_instances"]) == (0, 4, 5)
    assert found["passes"] == [{"n_above_mean": 1, "n_one_sided": 0, "n_added": 1}]
    assert written_lists(tmp_path / "out") == expected_remedial(FILMS, one_sided="keep")[0]


def test_remedial_in_two_passes_says_what_each_of_them_met(tmp_path, run):
    write_lists(tmp_path / "films.parquet", FILMS)
    out = tmp_path / "out"
    code, printed, _ = run(
        "remedial", tmp_path / "films.parquet", out, "--engine", "duckdb", "--passes", 2
    )
    assert code == 0
    assert printed.splitlines()[0].split() == ["before", "after"]
    said = " ".join(printed.split())
    assert "Pass 1: 1 instances above the mean" in said
    assert "Pass 2: " in said
    assert written_lists(out) == expected_remedial(FILMS, passes=2)[0]


def test_a_file_too_large_for_memory_goes_to_duckdb_and_says_so(tmp_path, run, monkeypatch):
    write_lists(tmp_path / "films.parquet", FILMS)
    monkeypatch.setattr(files, "bytes_available", lambda: 100)
    code, out, err = run("summary", tmp_path / "films.parquet", "--json")
    assert code == 0
    assert json.loads(out)["n_instances"] == 4
    assert "DuckDB reads it from disk instead" in " ".join(err.split())


def test_a_wrong_engine_and_a_wrong_column_end_with_2(tmp_path, run):
    write_lists(tmp_path / "films.parquet", FILMS)
    code, _, err = run("summary", tmp_path / "films.parquet", "--engine", "abacus")
    assert code == 2
    assert "'duckdb', 'spark'" in " ".join(err.split())
    code, _, err = run("summary", tmp_path / "films.parquet", "--label-column", "tag")
    assert code == 2
    assert "the file has no such column. Did you mean 'tags'?" in " ".join(err.split())
    code, _, err = run(
        "summary", tmp_path / "films.parquet", "--label-column", "tag", "--engine", "duckdb"
    )
    assert code == 2
    assert "no column 'tag'" in " ".join(err.split())


def test_a_separator_goes_to_the_engine_too(tmp_path, run):
    (tmp_path / "films.csv").write_text("instance,tags\n1,war;love\n2,war\n")
    options = ("--label-column", "tags", "--label-separator", ";", "--json")
    for engine in ((), ("--engine", "duckdb")):
        code, out, _ = run("summary", tmp_path / "films.csv", *options, *engine)
        found = json.loads(out)
        assert (code, found["n_labels"], found["cardinality"]) == (0, 2, 1.5)


def test_memory_estimates(tmp_path):
    from scumble.out_of_core.files import find_files

    write_lists(tmp_path / "films.parquet", FILMS)
    (tmp_path / "films.csv").write_text("instance,tags\n1,war\n")
    assert files.bytes_needed(find_files(tmp_path / "films.csv")) == 3 * 20
    assert 0 < files.bytes_needed(find_files(tmp_path / "films.parquet")) < 10_000
    assert files.bytes_needed(find_files("s3://bucket/films.parquet")) == 0
    assert files.bytes_available() > 1 << 20
