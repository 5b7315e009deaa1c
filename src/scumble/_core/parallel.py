"""Threads that change the time and never the result.

Work is cut into blocks by the shape of the data alone. Threads pick blocks; every block writes
to a place of its own, and partial results are combined in block order.
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

#: Below this many elements a second thread costs more than it brings.
SERIAL_BELOW = 200_000


class StoppedError(ScumbleError):
    """Ends a block of work whose result nobody waits for any more."""


class _Here(threading.local):
    #: Set where the blocks of a `run_in_threads` shall end: of that around this thread, and those around it.
    stop_events: tuple[threading.Event, ...] = ()


_here = _Here()

_limit: ContextVar[int | None] = ContextVar("scumble_threads", default=None)


def thread_count(n_jobs: int | None = None) -> int:
    """Tell how many threads to use."""
    n_jobs = _limit.get() if n_jobs is None else n_jobs
    n_jobs = _from_environment() if n_jobs is None else n_jobs
    NJobsConstraint().check(n_jobs, name="n_jobs", caller="")
    return int(n_jobs) if n_jobs > 0 else max(1, _cores() + 1 + int(n_jobs))


@contextmanager
def limit_threads(n_jobs: int | None) -> Iterator[None]:
    """Use at most ``n_jobs`` threads inside the ``with`` block.

    Parameters
    ----------
    n_jobs : int or None
        See `thread_count`; None changes nothing.

    Examples
    --------
    >>> import scumble
    >>> with scumble.limit_threads(1):
    ...     scumble.measures.mean_ir([[1, 0], [1, 1]])
    1.5
    """
    token = _limit.set(_limit.get() if n_jobs is None else thread_count(n_jobs))
    try:
        yield
    finally:
        _limit.reset(token)


def run_in_threads(
    work: Callable[[T], R], blocks: Sequence[T], *, n_jobs: int | None = None
) -> list[R]:
    """Do ``work`` on every block and return the results in block order."""
    # Only work that releases the GIL for most of its time gains from threads. The first exception
    # is raised after all threads have stopped.
    n_threads = min(thread_count(n_jobs), len(blocks))
    if n_threads <= 1:
        return [work(block) for block in blocks]
    stop = threading.Event()
    stops = (*_here.stop_events, stop)

    def work_until_stopped(block: T) -> R:
        _here.stop_events = stops
        return work(block)

    with ThreadPoolExecutor(n_threads) as pool:
        futures: list[Future[R]] = []
        try:
            futures.extend(pool.submit(work_until_stopped, block) for block in blocks)
            return [future.result() for future in futures]
        except BaseException:  # Ctrl-C too
            stop.set()
            for future in futures:
                future.cancel()
            raise


def raise_if_stopped() -> None:
    """Raise where a kernel shall end before it is done; kernels ask every now and then."""
    # In the main thread, being called is enough: Python then raises what Ctrl-C has asked for.
    if any(stop.is_set() for stop in _here.stop_events):
        raise StoppedError("This block of work was stopped, because another has failed.")


#: One entry for each who wants products in one thread; the first one holds the limit.
_in_one_thread: list[Any] = []
_lock = threading.Lock()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Let matrix products inside the ``with`` block use one thread each."""
    with _lock:
        first = not _in_one_thread
        _in_one_thread.append(_blas_threads().limit(limits=1, user_api="blas") if first else None)
    try:
        yield
    finally:
        with _lock:
            if (limit := _in_one_thread.pop()) is not None:
                limit.restore_original_limits()


@cache
def _blas_threads() -> Any:
    """Find the libraries of linear algebra, once: looking for them takes milliseconds."""
    import scipy.linalg  # noqa: F401  (it brings a library of its own, which must be there)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def row_slices(n_rows: int, width: int, cells: int = 2**22) -> list[slice]:
    """Cut rows into slices of at most so many cells, where a row has ``width`` of them."""
    size = max(1, cells // max(width, 1))
    return [slice(at, min(at + size, n_rows)) for at in range(0, n_rows, size)]


def row_blocks(indptr: np.ndarray[Any, Any], n_blocks: int) -> list[tuple[int, int]]:
    """Cut rows into ranges that hold about equally many elements."""
    n_rows = len(indptr) - 1
    # A row costs something even when it is empty, hence the row number beside its elements.
    wanted = np.arange(1, n_blocks) * (int(indptr[-1]) + n_rows) // max(n_blocks, 1)

    def cost_before(row: int) -> int:
        return int(indptr[row]) + row

    inner = (bisect_left(range(n_rows), cost, key=cost_before) for cost in wanted.tolist())
    return [(a, b) for a, b in itertools.pairwise([0, *inner, n_rows]) if b > a]


def _cores() -> int:
    """Count the cores this process may use, which may be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _from_environment() -> int:
    """Read SCUMBLE_NUM_THREADS; all cores where it is not set."""
    value = os.environ.get("SCUMBLE_NUM_THREADS")
    if not value:
        return -1
    if not value.isdecimal() or int(value) < 1:
        raise ParameterError(
            f"The environment variable SCUMBLE_NUM_THREADS must be an int in [1, inf). "
            f"Got {value!r} instead."
        )
    return int(value)
