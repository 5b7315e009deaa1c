"""Cells on a real Dask cluster of separate processes."""

import os
import signal
import threading
import time
import warnings
from pathlib import Path

import pytest

from scumble._core.errors import ParameterError
from scumble.experiment import Store, run_cells
from tests.experiment.toys import instant, make_cells, slow_then_logged, troubled, troubled_cells

distributed = pytest.importorskip("distributed", reason="pip install 'scumble[cluster]'")
ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.filterwarnings("default")  # Dask's own warnings are not our affair


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    import dask

    folder = tmp_path_factory.mktemp("dask")
    patience = {f"distributed.comm.timeouts.{each}": "300s" for each in ("connect", "tcp")}
    with pytest.MonkeyPatch.context() as patch, dask.config.set(patience):
        patch.setenv("TOY_LOG", str(folder / "log"))
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                local_directory=str(folder),
            )  # fmt: skip
        yield made
        made.close()


def test_a_killed_worker_loses_nothing(cluster, tmp_path):
    cells = make_cells(24)
    log = Path(os.environ["TOY_LOG"])

    def kill_one():
        while not log.exists() or len(log.read_text().split()) < 4:
            time.sleep(0.05)
        nanny = next(iter(cluster.workers.values()))
        os.kill(nanny.process.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    with Store(tmp_path / "a.db") as store:
        report = run_cells(
            cells, store, compute=slow_then_logged, cluster=cluster.scheduler_address
        )
        killer.join()
        assert (report.n_done, report.n_failed) == (24, 0)
        rows = {row["key"]: row["scores"]["score"] for row in store.cells()}
    assert rows == {cell.key: instant(cell).scores["score"] for cell in cells}


def test_limits_hold_on_the_cluster(cluster, tmp_path):
    cells = troubled_cells(6)
    with Store(tmp_path / "a.db") as store:
        report = run_cells(cells, store, compute=troubled, cluster=cluster.scheduler_address)
        reasons = {row["fold"]: row["reason"] for row in store.cells()}
    assert (report.n_done, report.n_failed) == (2, 4)
    assert reasons == {0: None, 1: "error", 2: "crash", 3: "time", 4: "memory", 5: None}


def test_a_wrong_address_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("scumble.results.executors.CONNECT_TIMEOUT", 1)
    with (
        Store(tmp_path / "a.db") as store,
        pytest.raises(ParameterError, match="no Dask scheduler"),
    ):
        run_cells(make_cells(1), store, compute=instant, cluster="tcp://127.0.0.1:1")
