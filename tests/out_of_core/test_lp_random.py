"""LP-ROS and LP-RUS by hash: the same rows in memory, on DuckDB and on Spark."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from scumble._core.errors import ParameterError
from scumble.out_of_core import Output, scan
from scumble.resample import LPROS, LPRUS
from tests.out_of_core.tables import matrix, write_lists, write_pairs, written_lists, written_pairs

pytest.importorskip("duckdb", reason="DuckDB is missing: pip install 'scumble[scale]'")

# Bags of 4, 2, 1 and 1 rows, 2 on average.
ROWS = [["a"], ["a"], ["b", "a"], ["a"], ["b"], [], ["a"], ["a", "b"]]


def in_memory(method, rows):
    Y, values = matrix(rows)
    X = np.arange(len(rows)).reshape(-1, 1)
    chosen, labels = method(seeding="hash").fit_resample(X, Y)
    names = [tuple(values[at] for at in row.nonzero()[0]) for row in labels.toarray()]
    return sorted(zip(chosen.ravel().tolist(), names, strict=True))


def test_the_rule_by_hand():
    Y, _ = matrix(ROWS)
    X = np.arange(8).reshape(-1, 1)
    grown, _ = LPROS(percent=25, random_state=1, seeding="hash").fit_resample(X, Y)
    assert sorted(grown.ravel()[8:]) == [4, 5]  # each bag of one takes one clone
    shrunk, _ = LPRUS(percent=25, random_state=1, seeding="hash").fit_resample(X, Y)
    assert set(range(8)) - set(shrunk.ravel()) < {0, 1, 3, 6}  # the bag of four loses two
    assert len(shrunk) == 6


def test_the_same_rows_everywhere(tmp_path, engine):
    rows = [*ROWS * 3, ["c"], ["c", "b"], ["a", "c", "b"]]
    write_lists(tmp_path / "t.parquet", rows)
    with scan(tmp_path / "t.parquet", instance_column="instance", **engine) as table:
        for number, kind in enumerate((LPROS, LPRUS)):

            def method(kind=kind, **more):
                return kind(percent=30, random_state=7, **more)

            chosen = method()
            chosen.resample(table, tmp_path / f"out{number}")
            assert written_lists(tmp_path / f"out{number}") == in_memory(method, rows)
            assert chosen.n_added_ + chosen.n_removed_ == 8


def test_pairs_and_numbered_clones(tmp_path):
    write_pairs(tmp_path / "t.parquet", ROWS)
    with scan(tmp_path / "t.parquet", threads=1) as table:
        for name, kind in (("ros", LPROS), ("rus", LPRUS)):
            kind(percent=50, random_state=3).resample(table, tmp_path / name)

            def method(kind=kind, **more):
                return kind(percent=50, random_state=3, **more)

            assert written_pairs(tmp_path / name) == in_memory(method, ROWS)
    write_lists(tmp_path / "l.parquet", ROWS)
    with scan(tmp_path / "l.parquet", instance_column="instance") as table:
        LPROS(random_state=0).resample(table, Output(tmp_path / "n", clone_column="copy"))
    assert sorted(pq.read_table(tmp_path / "n")["copy"].to_pylist()) == [0] * 8 + [1, 1]


labels = st.lists(st.sampled_from("abc"), max_size=2, unique=True)


@settings(max_examples=20)
@given(
    rows=st.lists(labels, min_size=1, max_size=25),
    percent=st.sampled_from([0, 10, 33.3, 100]),
    seed=st.integers(0, 99),
    kind=st.sampled_from([LPROS, LPRUS]),
)
def test_any_small_table(tmp_path_factory, rows, percent, seed, kind):
    def method(**more):
        return kind(percent=percent, random_state=seed, **more)

    folder = tmp_path_factory.mktemp("any")
    write_lists(folder / "t.parquet", rows)
    with scan(folder / "t.parquet", instance_column="instance", threads=1) as table:
        method().resample(table, folder / "out")
    assert written_lists(folder / "out") == in_memory(method, rows)


def test_hashes_need_a_number_and_names(tmp_path):
    Y, _ = matrix(ROWS)
    with pytest.raises(ParameterError, match="must be an int with seeding='hash'"):
        LPROS(seeding="hash").fit_resample(np.zeros((8, 1)), Y)
    with pytest.raises(ParameterError, match="'seeding' parameter of LPRUS"):
        LPRUS(seeding="dice").fit_resample(np.zeros((8, 1)), Y)
    write_lists(tmp_path / "t.parquet", ROWS)
    with scan(tmp_path / "t.parquet") as table:
        with pytest.raises(ParameterError, match="instance_column"):
            LPROS(random_state=0).resample(table, tmp_path / "out")
