"""The file of results: claims, crashes, other people's files."""

import math
import multiprocessing
import os
import sqlite3
import threading
import time
from dataclasses import replace

import pytest

from scumble._core.processes import is_alive, machine_id, process_start_time
from scumble.evaluate.statistics.score_table import score_table_from_cells
from scumble.experiment import Component, Result, Store, StoreError
from tests.results.toys import make_cells


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.db"


def begin(store, cells):
    store.add(cells)
    store.register()


def finish(store, cell, score=1.0):
    return store.finish(cell.key, Result({"f1": score}), seconds=0, megabytes=None)


def finish_all(store, cells, score=1.0):
    begin(store, cells)
    for cell in cells:
        assert store.claim([cell.key]) == cell.key
        finish(store, cell, score)


def test_a_cell_goes_from_pending_to_done(path):
    (cell,) = make_cells(1)
    with Store(path) as store:
        assert store.add([cell]) == 1
        store.register()
        assert store.claim([cell.key]) == cell.key
        assert store.counts()["running"] == 1
        result = Result({"f1": 0.5, "auc": math.nan}, {"note": "fine"}, b"archive")
        assert store.finish(cell.key, result, seconds=1.5, megabytes=20.0)
        (row,) = store.cells()
    assert row["state"] == "done"
    assert row["scores"]["f1"] == 0.5
    assert math.isnan(row["scores"]["auc"])
    assert (row["seconds"], row["megabytes"], row["attempts"]) == (1.5, 20.0, 1)
    assert row["details"] == {"note": "fine"}
    with Store(path) as store:
        assert store.predictions(cell.key) == b"archive"


def test_adding_again_changes_nothing(path):
    cells = make_cells(3)
    with Store(path) as store:
        finish_all(store, cells[:1])
        store.add(cells)
        assert store.add(make_cells(5)) == 2
        assert store.counts() == {"pending": 4, "running": 0, "done": 1, "failed": 0}


def test_a_claim_is_exclusive_and_lost_claims_record_nothing(path):
    (cell,) = make_cells(1)
    with Store(path) as first, Store(path) as second:
        begin(first, [cell])
        second.register()
        assert first.claim([cell.key]) == cell.key
        assert second.claim([cell.key]) is None
        assert not finish(second, cell, 0.0)
        assert not second.fail(cell.key, "error", "no", seconds=0)
        assert finish(first, cell)
        assert first.cells()[0]["scores"] == {"f1": 1.0}


def test_claims_keep_the_order_and_do_not_ask_for_every_cell(path):
    cells = make_cells(1200)
    keys = [cell.key for cell in cells]
    asked = []
    with Store(path) as store:
        begin(store, cells)
        assert [store.claim(keys[::-1]) for _ in range(3)] == keys[:-4:-1]
        store._change("UPDATE cells SET state = 'done' WHERE key <> ?", keys[-4])
        store._connection.set_trace_callback(asked.append)
        assert store.claim(keys) == keys[-4]
        assert store.claim(keys) is None
        store._connection.set_trace_callback(None)
    assert len(asked) < 20


def test_closing_gives_claims_back(path):
    (cell,) = make_cells(1)
    with Store(path) as store:
        begin(store, [cell])
        store.claim([cell.key])
    with Store(path) as store:
        assert store.counts()["pending"] == 1


def test_claims_of_dead_runners_are_found_by_process_and_by_silence(path):
    cells = make_cells(3)
    with Store(path) as store:
        store.add(cells)
        ended = multiprocessing.get_context("fork").Process(target=int)
        ended.start()
        ended.join()
        other = sqlite3.connect(path, isolation_level=None)
        here, now = machine_id(), time.time()
        runners = [
            ("gone", here, ended.pid, 1.0, now),
            ("reused", here, os.getpid(), -1.0, now),
            ("silent", "elsewhere", 1, None, now - 1000),
            ("alive", here, os.getpid(), process_start_time(os.getpid()), now - 1000),
            ("far", "elsewhere", 1, None, now - 10),
        ]
        other.executemany("INSERT INTO runners VALUES (?, ?, ?, ?, ?)", runners)
        for cell, runner in zip(cells, ("gone", "reused", "silent"), strict=True):
            other.execute(
                "UPDATE cells SET state = 'running', runner = ? WHERE key = ?", (runner, cell.key)
            )
        assert store.release_stale() == 3
        assert {row[0] for row in other.execute("SELECT id FROM runners")} == {"alive", "far"}
        other.execute("UPDATE cells SET state = 'running', runner = 'alive'")
        assert store.release_stale() == 0
        other.close()


def test_a_runner_taken_for_dead_that_was_only_silent_is_known_again(path):
    cells = make_cells(2)
    with Store(path) as silent, Store(path) as other:
        begin(silent, cells)
        other._change("UPDATE runners SET host = 'elsewhere', heartbeat = 0")
        other.release_stale()
        silent.send_heartbeat()
        assert silent.claim([cells[0].key])
        assert other.release_stale() == 0
        assert silent.finish(cells[0].key, Result({}), seconds=0, megabytes=None)


def test_processes_are_told_apart():
    assert is_alive(os.getpid(), process_start_time(os.getpid()))
    assert not is_alive(os.getpid(), -1.0)
    assert not is_alive(2**22 + 1)


def test_retry_makes_failed_cells_pending(path):
    cells = make_cells(2)
    with Store(path) as store:
        begin(store, cells)
        store.claim([cells[0].key])
        store.fail(cells[0].key, "error", "ValueError: bad", seconds=0.1)
        assert store.cells()[0]["reason"] == "error"
        assert store.counts()["failed"] == 1
        store.retry_failed([cell.key for cell in cells])
        assert store.counts() == {"pending": 2, "running": 0, "done": 0, "failed": 0}


def test_scores_that_only_another_plan_asked_for_stay(path):
    (cell,) = make_cells(1)
    with Store(path) as store:
        begin(store, [cell])
        store.claim([cell.key])
        first = Result({"f1": 0.5, "hits.f1": 0.75})
        assert store.finish(cell.key, first, seconds=0, megabytes=None)
        assert store.requeue_incomplete([cell.key], without_score="ignore.f1") == 1
        store.claim([cell.key])
        second = Result({"f1": 0.5, "ignore.f1": 0.25})
        assert store.finish(cell.key, second, seconds=0, megabytes=None)
        (row,) = store.cells()
    assert row["scores"] == {"f1": 0.5, "hits.f1": 0.75, "ignore.f1": 0.25}


def test_a_store_from_a_newer_version_is_refused_and_left_alone(path):
    Store(path).close()
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 99")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"newer scumble.*form 99.*upgrade"):
        Store(path)
    assert path.read_bytes() == before


def test_other_files_are_refused(path, tmp_path):
    path.write_text("this is a letter, not a database, and it is long enough to be read" * 20)
    with pytest.raises(StoreError, match="not a store of results"):
        Store(path)
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as other:
        other.execute("CREATE TABLE people (name TEXT)")
    other.close()
    with pytest.raises(StoreError, match="another program"):
        Store(foreign)
    damaged = tmp_path / "damaged.db"
    Store(damaged).close()
    content = bytearray(damaged.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)  # the first page alone is whole
    damaged.write_bytes(content)
    with pytest.raises(StoreError, match=r"damaged: use a copy"), Store(damaged) as store:
        store.cells()
    with pytest.raises(StoreError, match="no such store"):
        Store(tmp_path / "absent.db", create=False)
    with pytest.raises(StoreError, match="folder exists"):
        Store(tmp_path / "no" / "folder" / "results.db")


def test_a_full_disk_stops_with_a_message_and_loses_nothing(path):
    cells = make_cells(2)
    with Store(path) as store:
        finish_all(store, cells[:1])
        store.add(cells)
        store.claim([cells[1].key])
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match="disk is full: free some space"):
            store.finish(
                cells[1].key, Result({}, predictions=bytes(10**6)), seconds=0, megabytes=None
            )
    with Store(path) as store:
        assert store.counts() == {"pending": 1, "running": 0, "done": 1, "failed": 0}
        assert store.cells()[0]["scores"] == {"f1": 1.0}


def test_plain_values_are_remembered(path):
    with Store(path) as store:
        assert store.get_metadata("yeast") is None
        store.set_metadata("yeast", {"stamp": "1 2", "facts": {"work": 3.0}})
        store.set_metadata("metrics", ["f1"])
    with Store(path) as store:
        assert store.get_metadata("yeast") == {"stamp": "1 2", "facts": {"work": 3.0}}
        store.set_metadata("yeast", None)
        assert (store.get_metadata("yeast"), store.get_metadata("metrics")) == (None, ["f1"])


def test_results_of_changed_data_or_code_are_never_averaged_with_earlier_ones(path):
    old = make_cells(2)
    new = [replace(cell, dataset_checksum="abd") for cell in old]
    newer = [replace(cell, versions={"scumble": "9"}) for cell in old]
    with Store(path) as store:
        for score, cells in enumerate((old, new, newer)):
            finish_all(store, cells, float(score))
        table = score_table_from_cells(store.cells(), "f1")
        assert table.means["toy data", "toy"] == 2.0
        assert sorted(table.means.values()) == [0.0, 1.0, 2.0]
        assert set(table.n_cells.values()) == {2}
        assert sum(" (earlier " in row for row in table.rows) == 2
        assert store.add(old) == 0  # the data as they were: known, and in their place again
        assert score_table_from_cells(store.cells(), "f1").means["toy data", "toy"] == 0.0


def test_results_of_two_splitters_are_not_averaged(path):
    cells = make_cells(2)
    with Store(path) as store:
        finish_all(store, cells)
        finish_all(store, [replace(cell, splitter=Component("other")) for cell in cells], 0.0)
        means = score_table_from_cells(store.cells(), "f1").means
    assert means == {("toy data, folds", "toy"): 1.0, ("toy data, other", "toy"): 0.0}


def test_two_processes_may_open_a_new_file_at_once(path):
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")  # as one that makes its tables
    later = threading.Timer(0.3, other.rollback)
    later.start()
    with Store(path) as store:
        assert store.counts()["done"] == 0
    later.join()
    other.close()


def test_looking_at_an_empty_file_leaves_it_empty(path):
    path.touch()
    with pytest.raises(StoreError, match="this file is empty"):
        Store(path, create=False)
    assert path.stat().st_size == 0
