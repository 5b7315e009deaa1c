"""Threads: they change the time that work takes, never its result.

Work is divided into blocks by the shape of the data alone. Each block writes to its own memory, and
partial results are combined in the order of the blocks.
"""

import itertools
import os
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

import numpy as np

from scumble._core.errors import ParameterError, ScumbleError
from scumble._core.parameters import NJobsConstraint

T = TypeVar("T")
R = TypeVar("R")

#: Elements of an array below which starting a second thread takes longer than it saves.
SERIAL_BELOW = 200_000


class StoppedError(ScumbleError):
    """Raised in a block of work whose result is no longer needed."""


class _ThreadState(threading.local):
    """Values of which each thread has its own."""

    #: The stop events of the calls of `run_in_threads` that this thread works for, outermost first.
    stop_events: tuple[threading.Event, ...] = ()


_thread_state = _ThreadState()

_thread_limit: ContextVar[int | None] = ContextVar("scumble_threads", default=None)


def thread_count(n_jobs: int | None = None) -> int:
    """Return the number of threads to use, at least 1.

    None stands for the limit of `limit_threads`; if there is none, for the environment variable
    SCUMBLE_NUM_THREADS; if that is not set, for all cores.
    Negative values count from the number of cores: -1 means all, -2 all but one.
    """
    if n_jobs is None:
        n_jobs = _thread_limit.get()
    if n_jobs is None:
        n_jobs = _n_jobs_from_environment()
    NJobsConstraint().check(n_jobs, name="n_jobs", caller="")
    if n_jobs > 0:
        return int(n_jobs)
    return max(1, _n_cores() + 1 + int(n_jobs))


@contextmanager
def limit_threads(n_jobs: int | None) -> Iterator[None]:
    """Use at most ``n_jobs`` threads inside the ``with`` block.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads; negative values count from the number of cores, so -1 means all. None
        leaves the limit unchanged.

    Examples
    --------
    >>> import scumble
    >>> with scumble.limit_threads(1):
    ...     scumble.measures.mean_ir([[1, 0], [1, 1]])
    1.5
    """
    token = _thread_limit.set(_thread_limit.get() if n_jobs is None else thread_count(n_jobs))
    try:
        yield
    finally:
        _thread_limit.reset(token)


def run_in_threads(
    work: Callable[[T], R], blocks: Sequence[T], *, n_jobs: int | None = None
) -> list[R]:
    """Call ``work`` with every block and return the results in the order of the blocks.

    Up to ``n_jobs`` threads call it at the same time, see `thread_count`. If a call fails, the
    others are stopped or cancelled, and the exception is raised after all threads have stopped.
    """
    # Only work that releases the GIL for most of its time gains from threads.
    n_threads = min(thread_count(n_jobs), len(blocks))
    if n_threads <= 1:
        return [work(block) for block in blocks]
    stop = threading.Event()
    stop_events = (*_thread_state.stop_events, stop)

    def work_until_stopped(block: T) -> R:
        """Return the result of a block, after setting the events that `raise_if_stopped` checks."""
        _thread_state.stop_events = stop_events
        return work(block)

    with ThreadPoolExecutor(n_threads) as pool:
        futures: list[Future[R]] = []
        try:
            futures.extend(pool.submit(work_until_stopped, block) for block in blocks)
            return [future.result() for future in futures]
        except BaseException:  # KeyboardInterrupt too
            stop.set()
            for future in futures:
                future.cancel()
            raise


def raise_if_stopped() -> None:
    """Raise `StoppedError` if another block has failed; kernels call it about once per second."""
    # In the main thread, executing Python code is enough: Python then raises KeyboardInterrupt.
    if any(stop.is_set() for stop in _thread_state.stop_events):
        raise StoppedError("This block of work was stopped, because another has failed.")


#: One entry per active `single_threaded_blas` block: the first holds the limiter, others None.
_blas_limiters: list[Any] = []
_blas_limiters_lock = threading.Lock()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS, and so matrix products, to one thread inside the ``with`` block."""
    with _blas_limiters_lock:
        limiter = None
        if not _blas_limiters:
            limiter = _blas_controller().limit(limits=1, user_api="blas")
        _blas_limiters.append(limiter)
    try:
        yield
    finally:
        with _blas_limiters_lock:
            # Blocks in several threads may end in any order; the last one restores the limits.
            limiter = _blas_limiters.pop()
            if limiter is not None:
                limiter.restore_original_limits()


@cache
def _blas_controller() -> Any:
    """Return the controller of the loaded BLAS libraries; finding them takes milliseconds."""
    import scipy.linalg  # noqa: F401  (SciPy has its own BLAS, which must be loaded before)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def row_slices(n_rows: int, width: int, cells: int = 2**22) -> list[slice]:
    """Return slices that divide the rows of a table into consecutive blocks.

    The table has ``n_rows`` rows of ``width`` cells; a block has at most ``cells`` cells, but at
    least one row.
    """
    rows_per_block = max(1, cells // max(width, 1))
    return [
        slice(start, min(start + rows_per_block, n_rows))
        for start in range(0, n_rows, rows_per_block)
    ]


def row_blocks(indptr: np.ndarray[Any, Any], n_blocks: int) -> list[tuple[int, int]]:
    """Return up to ``n_blocks`` ranges of rows of a CSR matrix, as pairs of start and stop.

    The ranges have similar numbers of stored elements. Empty ranges are left out.
    """
    n_rows = len(indptr) - 1

    def cost_before(row: int) -> int:
        """Return the number of stored elements and rows before a row."""
        return int(indptr[row]) + row  # an empty row costs something as well

    total_cost = int(indptr[-1]) + n_rows
    boundaries = [0]
    for block in range(1, n_blocks):
        cost = block * total_cost // n_blocks
        boundaries.append(bisect_left(range(n_rows), cost, key=cost_before))
    boundaries.append(n_rows)
    return [(start, stop) for start, stop in itertools.pairwise(boundaries) if stop > start]


def _n_cores() -> int:
    """Return the number of cores that this process may use; the machine may have more."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _n_jobs_from_environment() -> int:
    """Return the value of SCUMBLE_NUM_THREADS; -1, all cores, if it is not set."""
    value = os.environ.get("SCUMBLE_NUM_THREADS")
    if not value:
        return -1
    if not value.isdecimal() or int(value) < 1:
        raise ParameterError(
            f"The environment variable SCUMBLE_NUM_THREADS must be an int in [1, inf). "
            f"Got {value!r} instead."
        )
    return int(value)
