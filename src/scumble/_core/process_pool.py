"""A pool of child processes that run tasks, with limits of time and memory for each task.

A task that exceeds a limit is ended by killing its process; a task whose process dies, for whatever
reason, is reported and does not affect the others. All processes end with the one that made the
pool, see `processes`.
"""

from __future__ import annotations

import pickle
import queue
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from scumble._core.processes import (
    ChildExitedError,
    ChildProcess,
    peak_memory,
    reset_peak,
    resident_memory,
)

#: Seconds between two checks of the limits of time and memory: short compared with any useful
#: limit, and long enough that the checks take no noticeable time.
SECONDS_BETWEEN_CHECKS = 0.05


@dataclass(eq=False)
class Task:
    """A request that a pool has taken, and the limits of its time and memory.

    The attributes that do not begin with an underscore are the arguments of `ProcessPool.submit`.
    """

    request: Any
    seconds: float | None = None
    megabytes: float | None = None
    on_report: Callable[[Any], None] | None = None
    # When the request was sent: seconds on the clock of time.perf_counter.
    _started: float = field(default_factory=time.perf_counter)
    _peak_megabytes: float = 0.0  # largest memory of the process in all checks so far


@dataclass(frozen=True)
class TaskOutcome:
    """The outcome of a task: its value, or the reason of its failure.

    Attributes
    ----------
    task : Task
        The task, which `ProcessPool.submit` has returned.
    value : object
        What the function returned; None if the task failed.
    reason : str
        Empty, or the reason of the failure: ``"error"`` (an exception), ``"time"``, ``"memory"``,
        ``"crash"`` (the process has died).
    error : str
        The full error message.
    seconds, megabytes : float
        Time and memory that the task took.
    """

    task: Task
    value: Any = None
    reason: str = ""
    error: str = ""
    seconds: float = 0.0
    megabytes: float = 0.0


class ProcessPool:
    """Runs tasks in child processes; kills the process of a task that exceeds its limits.

    All methods are to be called by the same thread.

    Parameters
    ----------
    function : callable
        Function of a request that returns the value of the task. It may be one that cannot be
        imported by name.
    n_processes : int
        Maximum number of child processes. They are started when they are needed, and are used for
        one task after another.
    sends_reports : bool, default=False
        Whether the function is called with a second argument: a function that sends a value to the
        parent, for ``on_report`` of `submit`.
    environment : mapping of str to str, optional
        Additional environment variables of the child processes.

    Examples
    --------
    >>> from scumble._core.process_pool import ProcessPool
    >>> with ProcessPool(abs, n_processes=1) as pool:
    ...     task = pool.submit(-3)
    ...     [outcome] = pool.wait(60)
    >>> outcome.value, outcome.reason, outcome.task is task
    (3, '', True)
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        n_processes: int,
        sends_reports: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._function = function
        self._n_processes = n_processes
        self._sends_reports = sends_reports
        self._environment = environment
        self._messages: queue.Queue[tuple[ChildProcess, Any]] = queue.Queue()
        self._idle: list[ChildProcess] = []
        self._tasks: dict[ChildProcess, Task] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def can_submit(self) -> bool:
        """Return whether a process is idle or can be started."""
        return len(self._tasks) < self._n_processes

    def submit(
        self,
        request: Any,
        *,
        seconds: float | None = None,
        megabytes: float | None = None,
        on_report: Callable[[Any], None] | None = None,
    ) -> Task:
        """Send a request to an idle child process, or to a new one, and return the task.

        Parameters
        ----------
        request : object
            The argument of the function.
        seconds, megabytes : float, optional
            Limits of time, and of memory in units of 2 ** 20 bytes.
        on_report : callable, optional
            `wait` calls it with each value that the function reports.
        """
        child = self._idle.pop() if self._idle else self._start_child()
        if not child.is_alive:  # it has died while it was idle
            child.close()
            child = self._start_child()
        task = Task(request, seconds=seconds, megabytes=megabytes, on_report=on_report)
        self._tasks[child] = task
        child.send(request)
        return task

    def wait(self, timeout: float) -> list[TaskOutcome]:
        """Wait until a task has finished, and return the outcomes of all that have.

        Meanwhile, kill the processes whose tasks exceed their limits. The list is empty if no task
        finishes within ``timeout`` seconds.
        """
        deadline = time.perf_counter() + timeout
        outcomes: list[TaskOutcome] = []
        while not outcomes:
            remaining = deadline - time.perf_counter()
            if remaining <= 0:
                break
            for child, message in drain_queue(
                self._messages, timeout=min(SECONDS_BETWEEN_CHECKS, remaining)
            ):
                outcomes += self._receive(child, message)
            outcomes += self._enforce_limits()
        return outcomes

    def interrupt(self, task: Task) -> None:
        """Send SIGINT to the process of a task, whose function can return what it has so far."""
        for child, running_task in self._tasks.items():
            if running_task is task:
                child.interrupt()

    def cancel(self, task: Task) -> None:
        """Kill the process of a task; `wait` does not return an outcome of it."""
        for child, running_task in list(self._tasks.items()):
            if running_task is task:
                del self._tasks[child]
                child.close()

    def close(self) -> None:
        """Kill all child processes."""
        for child in [*self._idle, *self._tasks]:
            child.close()
        self._idle = []
        self._tasks = {}

    def _start_child(self) -> ChildProcess:
        """Start a child process, and a thread that receives its messages; return the process."""
        child = ChildProcess(
            "scumble._core.process_pool.run_task",
            self._function,
            self._sends_reports,
            environment=self._environment,
            keeps_stderr=True,
        )
        threading.Thread(target=self._listen, args=(child,), daemon=True).start()
        return child

    def _listen(self, child: ChildProcess) -> None:
        """Put (child, message) into the queue for each message, and (child, None) when it exits."""
        with suppress(ChildExitedError):
            while True:
                self._messages.put((child, child.receive()))
        self._messages.put((child, None))

    def _receive(self, child: ChildProcess, message: Any) -> Iterator[TaskOutcome]:
        """Handle a message of a process, and yield the outcome of its task if it has finished.

        The message is a `_Report`, a `_TaskResult`, or None if the process has exited. Then the
        outcome of its task is a failure, and a process that had no task yields nothing.
        """
        task = self._tasks.get(child)
        if task is None:  # it was killed, or has died while it was idle
            if child in self._idle:
                self._idle.remove(child)
                child.close()
        elif isinstance(message, _Report):
            if task.on_report is not None:
                task.on_report(message.value)
        elif message is None:
            del self._tasks[child]
            seconds = time.perf_counter() - task._started
            error = child.describe_exit()
            child.close()
            yield _failed_task(task, reason="crash", error=error, seconds=seconds)
        else:
            del self._tasks[child]
            self._idle.append(child)
            yield _outcome_of_result(task, message)

    def _enforce_limits(self) -> Iterator[TaskOutcome]:
        """Kill the processes whose tasks exceed their limits; yield the outcomes of these tasks."""
        for child, task in list(self._tasks.items()):
            # The time that starting the interpreter takes does not count.
            seconds = 0.0
            if child.ready_at is not None:
                seconds = time.perf_counter() - max(task._started, child.ready_at)
            megabytes = resident_memory(child.pid) / 2**20
            task._peak_megabytes = max(task._peak_megabytes, megabytes)
            outcome = _outcome_over_limit(task, seconds)
            if outcome is not None:
                del self._tasks[child]
                child.close()
                yield outcome


def describe_error(error: BaseException) -> str:
    """Return the message of an exception, and the last three frames of its traceback."""
    message = "".join(traceback.format_exception_only(error)).strip()
    frames = traceback.format_tb(error.__traceback__)[-3:]
    return message + "\n" + "".join(frames).rstrip()


def drain_queue(items: Any, timeout: float) -> Iterator[Any]:
    """Wait up to ``timeout`` seconds for an item of a queue; yield it and all others in it."""
    with suppress(queue.Empty):
        yield items.get(timeout=timeout)
        while True:
            yield items.get_nowait()


def _outcome_of_result(task: Task, result: _TaskResult) -> TaskOutcome:
    """Return the outcome of a task from what its process has sent back."""
    # Where the system does not measure the peak, it is that of the checks.
    megabytes = result.peak_megabytes or task._peak_megabytes
    if result.pickled_value is None:
        return TaskOutcome(
            task,
            reason="error",
            error=result.error,
            seconds=result.seconds,
            megabytes=megabytes,
        )
    value = pickle.loads(result.pickled_value)
    return TaskOutcome(task, value, seconds=result.seconds, megabytes=megabytes)


def _failed_task(task: Task, *, reason: str, error: str, seconds: float) -> TaskOutcome:
    """Return the outcome of a task whose process has exited or was killed."""
    return TaskOutcome(
        task, reason=reason, error=error, seconds=seconds, megabytes=task._peak_megabytes
    )


def _outcome_over_limit(task: Task, seconds: float) -> TaskOutcome | None:
    """Return the failure of a task that exceeds a limit after ``seconds``; None otherwise."""
    if task.seconds is not None and seconds > task.seconds:
        error = f"stopped after {seconds:.1f} s; the limit is {task.seconds:g} s"
        return _failed_task(task, reason="time", error=error, seconds=seconds)
    if task.megabytes is not None and task._peak_megabytes > task.megabytes:
        error = f"stopped at {task._peak_megabytes:.0f} MB; the limit is {task.megabytes:g} MB"
        return _failed_task(task, reason="memory", error=error, seconds=seconds)
    return None


# In the child process ---------------------------------------------------------------------------


class _Report(NamedTuple):
    """A value that the function of a task reports before it returns."""

    value: Any


class _TaskResult(NamedTuple):
    """What a child process sends back for a task."""

    pickled_value: bytes | None  # None if the task failed
    error: str
    seconds: float
    peak_megabytes: float  # 0 where the system does not measure it


def run_task(
    function: Callable[..., Any], sends_reports: bool, request: Any, send: Callable[[Any], None]
) -> _TaskResult:
    """Call a function with a request and measure time and peak memory; called in a child process.

    If it raises an exception, the result has the message instead of a value.
    """

    def report(value: Any) -> None:
        """Send a value to the parent before the task is finished."""
        send(_Report(value))

    reset_peak()
    pickled_value = None
    error_message = ""
    started = time.perf_counter()
    try:
        # The value is pickled here, so that an exception while pickling is reported as well.
        if sends_reports:
            pickled_value = pickle.dumps(function(request, report))
        else:
            pickled_value = pickle.dumps(function(request))
    except Exception as error:
        error_message = describe_error(error)
    return _TaskResult(
        pickled_value=pickled_value,
        error=error_message,
        seconds=time.perf_counter() - started,
        peak_megabytes=peak_memory() / 2**20,
    )
