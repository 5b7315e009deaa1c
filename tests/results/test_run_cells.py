"""Running plans through errors, limits, kills and company."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scumble.experiment import Store, StoreError, run_cells
from tests.results.toys import instant, logged, make_cells, quick, troubled, troubled_cells

ROOT = Path(__file__).resolve().parents[2]


def results(path):
    with Store(path) as store:
        return {row["key"]: (row["state"], row["scores"]) for row in store.cells()}


def run(path, cells, compute, **options):
    with Store(path) as store:
        return run_cells(cells, store, compute=compute, **options)


@pytest.fixture
def importable(monkeypatch):
    """Let worker processes import the toys."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)


def test_everything_is_computed_once(tmp_path):
    cells = make_cells(5)
    report = run(tmp_path / "a.db", cells, instant, n_jobs=0)
    assert (report.n_cells, report.n_done, report.n_failed, report.n_done_before) == (5, 5, 0, 0)
    again = run(tmp_path / "a.db", make_cells(7), instant, n_jobs=0)
    assert (again.n_done, again.n_done_before) == (2, 5)


def test_numbers_do_not_depend_on_jobs_or_order(tmp_path, importable):
    cells = make_cells(12)
    run(tmp_path / "here.db", cells, instant, n_jobs=0)
    run(tmp_path / "back.db", cells[::-1], instant, n_jobs=0)
    run(tmp_path / "three.db", cells, instant, n_jobs=3)
    expected = results(tmp_path / "here.db")
    assert results(tmp_path / "back.db") == expected
    assert results(tmp_path / "three.db") == expected


def test_misbehaving_cells_are_recorded_and_the_others_done(tmp_path, importable):
    cells = troubled_cells(7)
    report = run(tmp_path / "a.db", cells, troubled, n_jobs=2)
    assert (report.n_done, report.n_failed) == (3, 4)
    with Store(tmp_path / "a.db") as store:
        rows = {row["fold"]: row for row in store.cells()}
    assert {fold: row["reason"] for fold, row in rows.items()} == {
        0: None, 1: "error", 2: "crash", 3: "time", 4: "memory", 5: None, 6: None,
    }  # fmt: skip
    assert rows[1]["error"].startswith("ValueError: no such luck")
    assert "toys.py" in rows[1]["error"]
    assert "signal 9" in rows[2]["error"]
    assert "the limit is 1 s" in rows[3]["error"]
    assert "the limit is 300 MB" in rows[4]["error"]
    assert rows[4]["megabytes"] > 300


def test_failed_cells_are_left_alone_until_asked_for(tmp_path):
    cells = make_cells(2)
    run(tmp_path / "a.db", cells, troubled, n_jobs=0)
    assert run(tmp_path / "a.db", cells, instant, n_jobs=0).n_done == 0
    report = run(tmp_path / "a.db", cells, instant, n_jobs=0, retry_failed=True)
    assert report.n_done == 1
    assert {state for state, _ in results(tmp_path / "a.db").values()} == {"done"}


def killed_run(path, cells, n_jobs, delay):
    """Run in a forked process and kill it after a while; tell whether it was still running."""
    child = os.fork()
    if child == 0:
        try:
            run(path, cells, quick, n_jobs=n_jobs)
        finally:
            os._exit(0)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.parametrize(("n_jobs", "n_kills", "longest"), [(0, 44, 0.05), (2, 6, 1.0)])
def test_fifty_kills_at_random_moments_change_nothing(
    tmp_path, importable, n_jobs, n_kills, longest
):
    cells = make_cells(600)
    run(tmp_path / "calm.db", cells, instant, n_jobs=0)
    moments = random.Random(20 + n_jobs)
    path = tmp_path / "storm.db"
    n_met = 0
    while n_met < n_kills:
        # A machine may be so fast, or the sleep so long, that all is done before the kill: then
        # the same store gets more work, and the kill is not counted.
        if killed_run(path, cells, n_jobs, moments.uniform(0, longest)):
            n_met += 1
        else:
            cells = make_cells(2 * len(cells))
            run(tmp_path / "calm.db", cells, instant, n_jobs=0)
    run(path, cells, quick, n_jobs=0)
    calm = {key: scores["score"] for key, (_, scores) in results(tmp_path / "calm.db").items()}
    storm = results(path)
    assert {key: scores["score"] for key, (_, scores) in storm.items()} == calm
    assert {state for state, _ in storm.values()} == {"done"}
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_two_runners_on_one_store_share_the_work(tmp_path, importable, monkeypatch):
    log = tmp_path / "log"
    monkeypatch.setenv("TOY_LOG", str(log))
    code = (
        "import sys\nfrom scumble.experiment import Store, run_cells\n"
        "from tests.results.toys import make_cells, logged\n"
        "with Store(sys.argv[1]) as store:\n"
        "    print(run_cells(make_cells(80), store, compute=logged, n_jobs=0).n_done)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a.db")]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    done = [int(process.communicate()[0]) for process in both]
    assert sum(done) == 80
    assert sorted(log.read_text().split()) == sorted(cell.key for cell in make_cells(80))


def test_a_runner_waits_for_another_and_takes_over_when_it_dies(tmp_path, monkeypatch):
    cells = make_cells(3)
    path = tmp_path / "a.db"
    child = os.fork()
    if child == 0:
        with Store(path) as store:
            store.add(cells)
            store.register()
            store.claim([cells[0].key])
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert {state for state, _ in results(path).values()} == {"running", "pending"}
    monkeypatch.setenv("TOY_LOG", str(tmp_path / "log"))
    assert run(path, cells, logged, n_jobs=0).n_done == 3


def test_a_cell_whose_claim_was_lost_is_not_forgotten(tmp_path):
    path, cells = tmp_path / "a.db", make_cells(3)
    silent = []

    def slept(cell):
        if cell.fold == 1 and not silent:
            silent.append(cell)
            with Store(path) as other:
                other._change("UPDATE runners SET host = 'elsewhere', heartbeat = 0")
                assert other.release_stale() == 1
        return instant(cell)

    assert run(path, cells, slept, n_jobs=0).n_done == 3
    assert {state for state, _ in results(path).values()} == {"done"}


def test_ctrl_c_gives_claims_back(tmp_path):
    def interrupted(_cell):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "a.db", make_cells(2), interrupted, n_jobs=0)
    assert {state for state, _ in results(tmp_path / "a.db").values()} == {"pending"}


def test_a_full_disk_ends_the_run_and_keeps_what_was_done(tmp_path):
    path = tmp_path / "a.db"
    cells = make_cells(400)
    with Store(path) as store:
        store.add(cells)
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreError, match="disk is full"):
            run_cells(cells, store, compute=instant, n_jobs=0)
    done = [scores for state, scores in results(path).values() if state == "done"]
    assert 0 < len(done) < 400
    assert all("score" in scores for scores in done)
    run(path, cells, instant, n_jobs=0)
    run(tmp_path / "calm.db", cells, instant, n_jobs=0)
    assert results(path) == results(tmp_path / "calm.db")


def test_workers_end_with_their_parent(tmp_path, importable):
    code = (
        "import sys, os, time\nfrom scumble.experiment import Store, run_cells\n"
        "from tests.results.toys import make_cells\n"
        "def told(cell):\n"
        "    open(sys.argv[1] + '.pid', 'w').write(str(os.getpid()))\n"
        "    time.sleep(1200)\n"
        "told.__module__ = '__main__'\n"
        "with Store(sys.argv[1]) as store:\n"
        "    run_cells(make_cells(1), store, compute=told, n_jobs=1)\n"
    ).replace("sys.argv[1] + '.pid'", repr(str(tmp_path / "pid")))
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "a.db")])
    pid = tmp_path / "pid"
    deadline = time.monotonic() + 600
    while not (pid.exists() and pid.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    worker = int(pid.read_text())
    parent.kill()
    parent.wait()
    from scumble._core.processes import is_alive

    while is_alive(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(worker)
