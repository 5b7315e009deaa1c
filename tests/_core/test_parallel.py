import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, strategies as st
from threadpoolctl import threadpool_info

from scumble._core.errors import ParameterError
from scumble._core.parallel import (
    limit_threads,
    raise_if_stopped,
    row_blocks,
    row_slices,
    run_in_threads,
    single_threaded_blas,
    thread_count,
)


@given(st.lists(st.integers(0, 50), max_size=60), st.integers(1, 9))
def test_blocks_cover_all_rows_once_and_in_order(sizes, n_blocks):
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    blocks = row_blocks(indptr, n_blocks)
    assert len(blocks) <= n_blocks
    assert [row for start, stop in blocks for row in range(start, stop)] == list(range(len(sizes)))
    assert all(start < stop for start, stop in blocks)


def test_blocks_hold_about_equally_much():
    indptr = np.arange(0, 1001, 10)
    assert row_blocks(indptr, 4) == [(0, 25), (25, 50), (50, 75), (75, 100)]


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_block_order(n_jobs):
    assert run_in_threads(lambda block: block * block, range(20), n_jobs=n_jobs) == [
        n * n for n in range(20)
    ]


def test_work_really_runs_side_by_side():
    barrier = threading.Barrier(2, timeout=600)
    assert sorted(run_in_threads(lambda _: barrier.wait(), [0, 1], n_jobs=2)) == [0, 1]


def test_an_error_in_a_thread_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        run_in_threads(lambda block: 1 // block, [1, 0], n_jobs=2)


def test_how_many_threads(monkeypatch):
    monkeypatch.setenv("SCUMBLE_NUM_THREADS", "3")
    assert thread_count() == 3
    assert thread_count(2) == 2
    with limit_threads(1):
        assert thread_count() == 1
    monkeypatch.setenv("SCUMBLE_NUM_THREADS", "many")
    with pytest.raises(ParameterError, match="SCUMBLE_NUM_THREADS must be an int"):
        thread_count()
    monkeypatch.setenv("SCUMBLE_NUM_THREADS", "²")
    with pytest.raises(ParameterError, match="SCUMBLE_NUM_THREADS must be an int"):
        thread_count()
    for wrong in (0, "2", 1.5, True):
        with pytest.raises(ParameterError, match="nonzero"):
            thread_count(wrong)
    monkeypatch.delenv("SCUMBLE_NUM_THREADS")
    assert thread_count(-1) == thread_count()
    assert thread_count(-1000) == 1


def test_a_failure_ends_the_blocks_under_way():
    """The second block would never end by itself."""

    def work(block):
        while block == 1:
            raise_if_stopped()
        raise ValueError("block 0")

    with pytest.raises(ValueError, match="block 0"):
        run_in_threads(work, range(2), n_jobs=2)


def test_a_failure_ends_the_runs_inside_a_block():
    def inner(_):
        while True:
            raise_if_stopped()

    def work(block):
        if block == 1:
            run_in_threads(inner, range(2), n_jobs=2)
        raise ValueError("block 0")

    with pytest.raises(ValueError, match="block 0"):
        run_in_threads(work, range(2), n_jobs=2)
    raise_if_stopped()  # what has ended stops nothing else


GROW = """
import signal
import numpy as np
from scumble.learn import BinaryRelevance, C45Classifier
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs may ignore it
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(300_000, 20)), rng.integers(0, 2, (300_000, 8))
model = BinaryRelevance(C45Classifier(mdl=False), n_jobs={n_jobs})
print("growing", flush=True)
model.fit(X, Y)
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_kernels_that_would_take_long(n_jobs):
    """Labels at random: trees that are grown to the end, in about a minute."""
    command = [sys.executable, "-c", GROW.format(n_jobs=n_jobs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"growing\n"
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert errors.rstrip().endswith(b"KeyboardInterrupt")


def test_products_in_our_threads_have_one_thread_each():
    def threads():
        return {library["num_threads"] for library in threadpool_info() if "blas" in str(library)}

    before = threads()
    with single_threaded_blas():
        with single_threaded_blas():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == before


def test_slices_hold_so_many_cells_and_at_least_a_row():
    assert row_slices(5, 2, 4) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert row_slices(2, 9, 4) == [slice(0, 1), slice(1, 2)]
    assert row_slices(3, 0, 4) == [slice(0, 3)]
    assert row_slices(0, 2, 4) == []
