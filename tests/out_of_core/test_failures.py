"""What goes wrong says so, and leaves nothing that looks whole."""

import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scumble._core.errors import (
    MissingDependencyError,
    ParameterError,
    ReadError,
    ScumbleError,
    WriteError,
)
from scumble.measures import characterize
from scumble.out_of_core import Output, scan
from scumble.out_of_core.engines.base import Column, column_from_type
from scumble.resample import LPROS, MLROS, REMEDIAL
from tests.out_of_core.tables import write_lists

pytest.importorskip("duckdb", reason="DuckDB is missing: pip install 'scumble[scale]'")

FILMS = [["war"], ["love", "war"], ["opera", "war"], ["love", "war"]]


@pytest.fixture
def films(tmp_path):
    write_lists(tmp_path / "films.parquet", FILMS)
    with scan(tmp_path / "films.parquet", instance_column="instance") as found:
        yield found


def many_lists(path, n_rows, n_labels=2000, seed=0):
    """Write rows of up to eight of many labels: nearly all labelsets differ."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, n_rows)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    labels = rng.integers(0, n_labels, indptr[-1]).astype(np.int32)
    lists = pa.ListArray.from_arrays(pa.array(indptr), pa.array(labels))
    pq.write_table(pa.table({"instance": range(n_rows), "tags": lists}), path)


def nothing_in(folder, *but):
    return sorted(path.name for path in folder.iterdir()) == sorted(but)


def test_a_wrong_column_is_named_with_those_there_are(tmp_path):
    write_lists(tmp_path / "t.parquet", FILMS)
    with pytest.raises(ReadError, match=r"no column 'tag'.*'instance', 'tags'.*label_column"):
        scan(tmp_path / "t.parquet", label_column="tag")
    with pytest.raises(ReadError, match=r"no column 'id'.*instance_column"):
        scan(tmp_path / "t.parquet", label_column="tags", instance_column="id")
    pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "u.parquet")
    with pytest.raises(ReadError, match=r"which column holds the labels.*'a', 'b'"):
        scan(tmp_path / "u.parquet")


def test_a_link_to_a_missing_file_is_missing(tmp_path):
    (tmp_path / "link.parquet").symlink_to(tmp_path / "none.parquet")
    with pytest.raises(ReadError, match="no such file"):
        scan(tmp_path / "link.parquet")
    with pytest.raises(ReadError, match="no file matches"):
        scan(tmp_path / "*.parquet")


def test_missing_files_and_unknown_forms(tmp_path):
    with pytest.raises(ReadError, match="no such file"):
        scan(tmp_path / "none.parquet")
    with pytest.raises(ReadError, match="no file matches"):
        scan(tmp_path / "*.parquet")
    with pytest.raises(ReadError, match="in this folder"):
        scan(tmp_path)
    (tmp_path / "t.what").write_text("x")
    with pytest.raises(ReadError, match="format is not known"):
        scan(tmp_path / "t.what")
    with pytest.raises(ParameterError, match="'engine' parameter of scan"):
        scan(tmp_path / "t.what", format="csv", engine="abacus")
    with pytest.raises(ParameterError, match="'memory' parameter of scan is for DuckDB"):
        scan(tmp_path / "t.what", format="csv", engine="spark", memory="2GB")


def test_hidden_files_are_left_out(tmp_path, films):
    REMEDIAL().resample(films, tmp_path / "out")
    for name in (".half.parquet", "_half.parquet"):
        (tmp_path / "out" / name).write_bytes(b"rubbish")
    (tmp_path / "out" / ".x.partial").mkdir()
    (tmp_path / "out" / ".x.partial" / "part.parquet").write_bytes(b"rubbish")
    with scan(tmp_path / "out") as result:
        assert characterize(result).n_instances == 5


def test_an_output_is_never_overwritten_unasked(tmp_path, films):
    REMEDIAL().resample(films, tmp_path / "out")
    before = sorted((tmp_path / "out").iterdir())
    with pytest.raises(WriteError, match="something already"):
        REMEDIAL().resample(films, tmp_path / "out")
    assert sorted((tmp_path / "out").iterdir()) == before
    again = REMEDIAL(passes=2).resample(films, Output(tmp_path / "out", overwrite=True))
    assert characterize(again).n_instances == 7
    assert nothing_in(tmp_path, "films.parquet", "out")


def test_a_missing_folder_a_missing_place_and_a_method_for_memory_only(tmp_path, films):
    with pytest.raises(WriteError, match="does not exist"):
        REMEDIAL().resample(films, tmp_path / "no" / "out")
    with pytest.raises(ParameterError, match="needs a place"):
        REMEDIAL().resample(films)
    with pytest.raises(ScumbleError, match="MLROS works in memory only"):
        MLROS().resample(films, tmp_path / "out")
    with pytest.raises(ParameterError, match="'random_state' parameter of LPROS"):
        LPROS().resample(films, tmp_path / "out")
    with pytest.raises(ParameterError, match=r"REMEDIAL\(unseen='zero'\) is for data in memory"):
        REMEDIAL(unseen="zero").resample(films, tmp_path / "out")
    with pytest.raises(ParameterError, match="partition_by"):
        REMEDIAL().resample(films, Output(tmp_path / "out", partition_by=("tags",)))
    assert nothing_in(tmp_path, "films.parquet")


def test_a_corrupt_file_among_good_ones(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for part in range(3):
        many_lists(folder / f"{part}.parquet", 5000, seed=part)
    damaged = bytearray((folder / "1.parquet").read_bytes())
    damaged[4 : len(damaged) // 2] = np.random.default_rng(0).bytes(len(damaged) // 2 - 4)
    (folder / "1.parquet").write_bytes(damaged)
    with scan(folder) as table:
        with pytest.raises(ReadError, match=r"1\.parquet: DuckDB cannot read the data"):
            characterize(table)
        with pytest.raises(ReadError, match=r"1\.parquet: DuckDB cannot read the data"):
            REMEDIAL().resample(table, tmp_path / "out")
    (folder / "1.parquet").write_bytes(damaged[:1000])
    with pytest.raises(ReadError, match=r"1\.parquet"), scan(folder) as table:
        characterize(table)
    assert nothing_in(tmp_path, "in")


def test_instances_without_a_name(tmp_path):
    pairs = pa.table({"instance": [1, None], "label": ["a", "b"]})
    pq.write_table(pairs, tmp_path / "t.parquet")
    with scan(tmp_path / "t.parquet") as table, pytest.raises(ReadError, match="1 rows do not"):
        characterize(table)


def test_a_label_that_was_not_declared(tmp_path):
    write_lists(tmp_path / "t.parquet", FILMS)
    with scan(tmp_path / "t.parquet", labels=["war", "love"]) as table:
        with pytest.raises(ParameterError, match="label 'opera'"):
            characterize(table)


def test_no_room_to_spill(tmp_path):
    from scumble.out_of_core import DuckDBEngine

    many_lists(tmp_path / "t.parquet", 700_000)
    engine = DuckDBEngine(memory="40MB", spill_directory=str(tmp_path), max_spill="1MB", threads=2)
    with scan(tmp_path / "t.parquet", engine=engine) as table:
        with pytest.raises(ScumbleError, match="No output was written"):
            REMEDIAL().resample(table, tmp_path / "out")
    assert nothing_in(tmp_path, "t.parquet")


def test_a_disk_that_is_full(tmp_path):
    """/dev/full stands for a disk without room; the folder of the result cannot grow there."""
    from scumble.out_of_core.engines.duckdb import DuckDBEngine

    engine = DuckDBEngine()
    with pytest.raises(WriteError, match="disk is full"):
        engine._run("COPY (SELECT * FROM range(1000000)) TO '/dev/full' (FORMAT csv)", "Writing")
    engine.close()


def test_limits_nobody_understands(tmp_path):
    write_lists(tmp_path / "t.parquet", FILMS)
    with pytest.raises(ParameterError, match="DuckDB refuses memory='plenty'"):
        scan(tmp_path / "t.parquet", memory="plenty", spill_directory=str(tmp_path))
    assert nothing_in(tmp_path, "t.parquet")


def test_a_missing_engine_says_how_to_install_it(tmp_path, monkeypatch):
    write_lists(tmp_path / "t.parquet", FILMS)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'scumble\[scale\]'"):
        scan(tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'scumble\[spark\]'"):
        scan(tmp_path / "t.parquet", engine="spark")


KILLED = """
import sys
from scumble.resample import REMEDIAL
from scumble.out_of_core import scan

with scan(sys.argv[1], threads=1, spill_directory=sys.argv[3]) as table:
    REMEDIAL().resample(table, sys.argv[2])
"""


def killed_while_it_writes(source, out, spill):
    """Start a job and kill it; tell whether it was still writing."""
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(source), str(out), str(spill)])
    started = time.monotonic()
    while not list(out.parent.glob(".out.*.partial/*")) and process.poll() is None:
        assert time.monotonic() - started < 600
        time.sleep(0.002)
    process.kill()
    assert process.wait() in (0, -signal.SIGKILL)
    return process.returncode != 0 and not out.exists()


def test_a_job_killed_while_it_writes(tmp_path):
    (tmp_path / "spill").mkdir()
    source = tmp_path / "t.parquet"
    for n_rows in (300_000, 600_000, 1_200_000, 2_400_000):
        many_lists(source, n_rows)
        out = tmp_path / f"results{n_rows}" / "out"
        out.parent.mkdir()
        if killed_while_it_writes(source, out, tmp_path / "spill"):
            break
        # A machine may be so busy that the kill comes too late; then there is more to write.
    else:
        pytest.fail("all was written before the kill")
    with pytest.raises(ReadError, match="in this folder"):
        scan(out.parent)  # nobody takes the half result for a whole one
    with scan(source) as table:
        result = REMEDIAL().resample(table, out)
        assert characterize(result).n_instances > n_rows


def test_a_type_of_an_engine_is_understood():
    assert column_from_type("tags", "VARCHAR[]") == Column("tags", "string", is_list=True)
