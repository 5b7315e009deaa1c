"""Jobs: heavy work in worker processes beside the event loop, queued, observed and cancelled."""

import asyncio
import itertools
import time
import traceback
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from scumble._core.processes import ChildExitedError
from scumble.gui.http_messages import ItemsById, RequestError
from scumble.gui.worker import (
    INTERNAL_ERROR_MESSAGE,
    Payload,
    Task,
    TaskError,
    TaskStoppedError,
    Worker,
)

State = Literal["queued", "running", "done", "failed", "cancelled"]
#: Makes the result of a job from what its task returned and the warnings of the task.
ResultCallback = Callable[[Any, list[str]], Payload]
#: Is called with a job when it has finished, in whatever state.
FinishedCallback = Callable[["Job"], None]
#: Maximum number of jobs that are remembered; older finished ones are forgotten.
MAX_JOBS = 200
#: Seconds that a stopped job has to return its partial result; after that it is cancelled.
STOP_GRACE_SECONDS = 10.0


@dataclass(eq=False)
class Job:
    """A piece of heavy work.

    Attributes
    ----------
    id : str
        Id of the job.
    title : str
        Description for the user.
    state : {"queued", "running", "done", "failed", "cancelled"}
        Whether the job waits, runs or has finished.
    progress : dict
        ``title``, ``done`` and ``total`` of the current step, and ``left``, the estimated seconds
        that remain; ``total`` and ``left`` may be None.
    result : dict or None
        The result of a job that is done.
    error : str or None
        Why the job failed.
    notes : list of str
        Warnings of the task.
    is_user_requested : bool
        Whether a user started the job and may want to see its progress.
    can_stop : bool
        Whether the task has a partial result when it is stopped.
    is_stopping : bool
        Whether the job was asked to stop and may still return a partial result.
    has_completed_step : bool
        Whether the first step is done; before that there is no partial result.
    """

    id: str
    title: str
    state: State = "queued"
    progress: Payload = field(default_factory=dict)
    result: Payload | None = None
    error: str | None = None
    notes: list[str] = field(default_factory=list)
    is_user_requested: bool = True
    can_stop: bool = False
    is_stopping: bool = False
    has_completed_step: bool = False
    _start_time: float = field(default_factory=time.monotonic)
    _end_time: float | None = None
    _finished: asyncio.Event = field(default_factory=asyncio.Event)
    _task: asyncio.Task[None] | None = None
    _worker: Worker | None = None

    def to_dict(self) -> Payload:
        """Return the description of the job for the client."""
        seconds = (self._end_time or time.monotonic()) - self._start_time
        return {
            "id": self.id,
            "title": self.title,
            "state": self.state,
            "progress": self.progress,
            "result": self.result,
            "error": self.error,
            "notes": self.notes,
            "seconds": round(seconds, 3),
        }

    @property
    def is_finished(self) -> bool:
        """Whether the state is final."""
        return self.state in ("done", "failed", "cancelled")

    async def wait(self, seconds: float) -> None:
        """Wait until the job has finished, but at most so many seconds."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._finished.wait(), seconds)

    def set_final_state(self, state: State, error: str | None = None) -> None:
        """Set the final state; if the job already has one, it stays."""
        if self.is_finished:
            return
        self.state = state
        self.error = error
        self._end_time = time.monotonic()
        self._finished.set()


class RemainingTimeEstimator:
    """Estimates the remaining seconds of a step from the times of its progress reports.

    Examples
    --------
    >>> from scumble.gui.jobs import RemainingTimeEstimator
    >>> times = iter([0.0, 1.0, 5.0])
    >>> estimator = RemainingTimeEstimator(clock=lambda: next(times))
    >>> estimator.remaining_seconds("Folds", 0, 10), estimator.remaining_seconds("Folds", 6, 10)
    (None, None)
    >>> estimator.remaining_seconds("Folds", 8, 10)
    4.0
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._title: str | None = None
        self._first_report: tuple[float, int] | None = None

    def remaining_seconds(self, title: str, n_done: int, total: int | None) -> float | None:
        """Return the estimate after a progress report, or None if there is none yet.

        The estimate starts with the first report of something done. What this report counts may
        come from an earlier run, for example folds that are in a store.
        """
        now = self._clock()
        if title != self._title:
            self._title = title
            self._first_report = None
        if self._first_report is None:
            if n_done:
                self._first_report = (now, n_done)
            return None
        first_time, n_done_first = self._first_report
        if total is None or n_done <= n_done_first:
            return None
        return (now - first_time) / (n_done - n_done_first) * max(0, total - n_done)


class Jobs(ItemsById[Job]):
    """The jobs of a server. All methods run in the event loop.

    Parameters
    ----------
    n_workers : int
        Maximum number of jobs that run at the same time, each in a worker process.
    idle : sequence of Worker
        Workers that have been started already.
    open_dataset_keys : callable
        Returns the keys of all open data sets; workers drop all others.
    """

    def __init__(
        self,
        n_workers: int,
        idle: Sequence[Worker] = (),
        open_dataset_keys: Callable[[], Collection[str]] = tuple,
    ) -> None:
        super().__init__("There is no such job.")
        self._numbers = itertools.count(1)
        self._idle = list(idle)
        self._open_dataset_keys = open_dataset_keys
        self._slots = asyncio.Semaphore(n_workers)
        # Jobs of minutes leave one process to jobs of seconds.
        self._long_slots = asyncio.Semaphore(max(1, n_workers - 1))
        self._threads = ThreadPoolExecutor(n_workers, thread_name_prefix="scumble-job")

    @property
    def unfinished(self) -> list[Job]:
        """Jobs that are queued or running."""
        return [job for job in self._items.values() if not job.is_finished]

    @property
    def user_requested(self) -> list[Job]:
        """Queued and running jobs that a user started."""
        return [job for job in self.unfinished if job.is_user_requested]

    def submit(
        self,
        title: str,
        task: Task,
        arguments: Payload,
        make_result: ResultCallback = lambda result, _: result,
        on_finished: FinishedCallback = lambda _: None,
        *,
        is_user_requested: bool = True,
        is_long: bool = False,
        can_stop: bool = False,
    ) -> Job:
        """Queue a task for a worker process.

        Parameters
        ----------
        title : str
            Description for the user.
        task : Task
            What the worker does.
        arguments : dict
            The arguments of the task by name.
        make_result : callable
            Makes the result of the job from what the task returned and its warnings.
        on_finished : callable
            Is called with the job when it has finished, in whatever state.
        is_user_requested : bool
            Whether a user started the job and may want to see its progress.
        is_long : bool
            Whether the job may take minutes. Such jobs never occupy all processes.
        can_stop : bool
            Whether the task has a partial result when it is stopped.
        """
        job = Job(
            id=str(next(self._numbers)),
            title=title,
            is_user_requested=is_user_requested,
            can_stop=can_stop,
        )
        self._items[job.id] = job
        self._forget_old_jobs()
        job._task = asyncio.get_running_loop().create_task(
            self._run(job, task, arguments, make_result, is_long), name=f"job {job.id}"
        )
        # Not in the coroutine: if it is cancelled early, it never starts.
        job._task.add_done_callback(lambda _: on_finished(job))
        return job

    def cancel(self, job: Job) -> None:
        """End a job that has not finished, without a result."""
        if job.is_finished:
            return
        job.set_final_state("cancelled")
        if job._worker is not None:
            job._worker.kill()
        elif job._task is not None:
            job._task.cancel()

    def stop(self, job: Job) -> None:
        """Ask a job for its partial result; cancel it if it has none, or on the second call."""
        has_partial_result = job.can_stop and job.has_completed_step
        worker = job._worker
        if worker is None or not has_partial_result or job.is_stopping:
            self.cancel(job)
            return
        job.is_stopping = True
        job.progress = {"title": "Stopping", "done": 0, "total": None, "left": None}
        worker.interrupt()
        asyncio.get_running_loop().call_later(STOP_GRACE_SECONDS, self.cancel, job)

    def release_closed_datasets(self) -> None:
        """Let idle workers drop the data sets that were closed; busy ones do so after their job."""
        for worker in self._idle:
            worker.retain_datasets(self._open_dataset_keys())

    async def close(self) -> None:
        """Cancel all jobs and end all worker processes."""
        for job in self.unfinished:
            self.cancel(job)
        tasks = [job._task for job in self._items.values() if job._task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
        while self._idle:
            self._idle.pop().close()
        self._threads.shutdown(wait=False)

    async def _run(
        self, job: Job, task: Task, arguments: Payload, make_result: ResultCallback, is_long: bool
    ) -> None:
        """Wait for a worker, run a job in it, and set the result and the state of the job."""
        estimator = RemainingTimeEstimator()

        def report_progress(title: str, n_done: int, total: int | None) -> None:
            """Set the progress of the job and the seconds left, unless it is being stopped."""
            remaining = estimator.remaining_seconds(title, n_done, total)
            if n_done > 0:
                job.has_completed_step = True
            if job.is_stopping:
                return
            job.progress = {"title": title, "done": n_done, "total": total, "left": remaining}

        long_slot = self._long_slots if is_long else nullcontext()
        async with long_slot, self._slots:
            try:
                worker = self._take_worker()
            except OSError as error:  # too many processes, or no memory for another one
                job.set_final_state("failed", f"No worker process can be started: {error}.")
                return
            job._worker = worker
            job.state = "running"
            try:
                result, notes = await asyncio.get_running_loop().run_in_executor(
                    self._threads, worker.run, task, arguments, report_progress
                )
                if not job.is_finished:  # it may have been cancelled in the meantime
                    job.notes = notes
                    job.result = make_result(result, notes)
                    job.set_final_state("done")
            except (TaskError, RequestError) as error:
                job.set_final_state("failed", str(error))
            except TaskStoppedError:
                job.set_final_state("cancelled")
            except ChildExitedError:
                job.set_final_state(
                    "failed",
                    "The worker process was killed, most likely because memory ran out.",
                )
            except Exception:  # without a final state the job would seem to run forever
                traceback.print_exc()
                job.set_final_state("failed", INTERNAL_ERROR_MESSAGE)
            finally:
                job._worker = None
                if worker.is_alive:
                    worker.retain_datasets(self._open_dataset_keys())
                    self._idle.append(worker)
                else:
                    worker.close()

    def _take_worker(self) -> Worker:
        """Return an idle worker, or start one."""
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
            worker.close()
        return Worker()

    def _forget_old_jobs(self) -> None:
        """Forget the oldest finished jobs while there are too many jobs."""
        n_excess = max(0, len(self._items) - MAX_JOBS)
        finished_ids = [job.id for job in self._items.values() if job.is_finished]
        for job_id in finished_ids[:n_excess]:
            del self._items[job_id]
