"""Heavy work beside the event loop: queued, watched, cancelled."""

import asyncio
import itertools
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from scumble._core.processes import ChildExitedError
from scumble.gui.http_messages import ItemsById, RequestError
from scumble.gui.worker import INTERNAL_ERROR_MESSAGE, Payload, TaskError, TaskStoppedError, Worker

State = Literal["queued", "running", "done", "failed", "cancelled"]
#: Makes the result of a job of what its task returned and which warnings it gave.
ResultCallback = Callable[[Any, list[str]], Payload]
#: Is called with a job when it is over, however that came.
DoneCallback = Callable[["Job"], None]
#: Finished jobs that can still be asked about.
KEPT = 200
#: Seconds in which work that was asked to stop may still tell what it has found.
GRACE = 10.0


@dataclass(eq=False)
class Job:
    """A piece of heavy work.

    Attributes
    ----------
    id : str
        Number of the job.
    title : str
        Description for a person.
    state : {"queued", "running", "done", "failed", "cancelled"}
        Whether it waits, runs or is over.
    progress : dict
        ``title``, ``done`` and ``total`` of the step at hand, and ``left``, about how many seconds
        it will still take; ``total`` and ``left`` may be None.
    result : dict or None
        Its result, once it is done.
    error : str or None
        Why a job failed.
    is_asked_for : bool
        Whether somebody began it, who may want to know how it stands.
    can_stop : bool
        Whether it has something to tell when it is stopped.
    is_stopping : bool
        Whether it was asked to stop, and may still tell.
    has_begun : bool
        Whether a first step is done.
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
    has_begun: bool = False
    _began: float = field(default_factory=time.monotonic)
    _ended: float | None = None
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    _task: asyncio.Task[None] | None = None
    _worker: Worker | None = None

    def to_dict(self) -> Payload:
        """Return what the API tells about it."""
        seconds = (self._ended or time.monotonic()) - self._began
        shown = ("id", "title", "state", "progress", "result", "error", "notes")
        return {**{key: getattr(self, key) for key in shown}, "seconds": round(seconds, 3)}

    @property
    def is_finished(self) -> bool:
        """Whether nothing will change any more."""
        return self.state in ("done", "failed", "cancelled")

    async def wait(self, seconds: float) -> None:
        """Wait until it is over, but not longer than so many seconds."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), seconds)

    def set_final_state(self, state: State, error: str | None = None) -> None:
        """Say how it ended; what is said first stays."""
        if not self.is_finished:
            self.state, self.error, self._ended = state, error, time.monotonic()
            self._over.set()


class RemainingTimeEstimator:
    """Watches steps being done, and tells how many seconds the others will take.

    Examples
    --------
    >>> from scumble.gui.jobs import RemainingTimeEstimator
    >>> seconds = iter([0.0, 1.0, 5.0])
    >>> pace = RemainingTimeEstimator(clock=lambda: next(seconds))
    >>> pace.left("Folds", 0, 10), pace.left("Folds", 6, 10), pace.left("Folds", 8, 10)
    (None, None, 4.0)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._title: str | None = None
        self._first: tuple[float, int] | None = None

    def left(self, title: str, done: int, total: int | None) -> float | None:
        """Tell about how many seconds are left, None where that cannot be known yet.

        The first report of something done is where the clock starts: it may be about steps that
        were done another day.
        """
        now = self._clock()
        if title != self._title:
            self._title, self._first = title, None
        if self._first is None:
            self._first = (now, done) if done else None
            return None
        began, known = self._first
        if total is None or done <= known:
            return None
        return (now - began) / (done - known) * max(0, total - done)


class Jobs(ItemsById[Job]):
    """The jobs of a server. All methods belong to the event loop."""

    def __init__(self, n_workers: int, idle: Sequence[Worker] = ()) -> None:
        super().__init__("There is no such job.")
        self._numbers = itertools.count(1)
        self._idle = list(idle)
        self._slots = asyncio.Semaphore(n_workers)
        # Work of minutes leaves a process to work of moments.
        self._long_slots = asyncio.Semaphore(max(1, n_workers - 1))
        self._threads = ThreadPoolExecutor(n_workers, thread_name_prefix="scumble-job")

    @property
    def running(self) -> list[Job]:
        """Jobs that are not over."""
        return [job for job in self._items.values() if not job.is_finished]

    @property
    def shown(self) -> list[Job]:
        """Jobs that are not over and that somebody asked for."""
        return [job for job in self.running if job.is_user_requested]

    def submit(
        self,
        title: str,
        task: str,
        arguments: Payload,
        finish: ResultCallback = lambda found, _: found,
        after: DoneCallback = lambda _: None,
        *,
        is_user_requested: bool = True,
        is_long: bool = False,
        can_stop: bool = False,
    ) -> Job:
        """Queue a task."""
        number = str(next(self._numbers))
        job = Job(number, title, is_user_requested=is_user_requested, can_stop=can_stop)
        self._items[job.id] = job
        self._forget_old()
        job._task = asyncio.get_running_loop().create_task(
            self._run(job, task, arguments, finish, is_long), name=f"job {job.id}"
        )
        # Not in the coroutine: one that is cancelled early never begins.
        job._task.add_done_callback(lambda _: after(job))
        return job

    def cancel(self, job: Job) -> None:
        """Stop a job, whatever it is doing; one that is over stays as it is."""
        if job.is_finished:
            return
        job.set_final_state("cancelled")
        if job._worker is not None:
            job._worker.kill()
        elif job._task is not None:
            job._task.cancel()

    def stop(self, job: Job) -> None:
        """Let a job tell what it has found by now, if it can; asked again, cancel it."""
        worker = job._worker if job.can_stop and job.has_begun else None
        if worker is None or job.is_stopping:
            self.cancel(job)
            return
        job.is_stopping = True
        job.progress = {"title": "Stopping", "done": 0, "total": None, "left": None}
        worker.interrupt()
        asyncio.get_running_loop().call_later(GRACE, self.cancel, job)

    async def close(self) -> None:
        """Cancel everything and end all processes."""
        for job in self.running:
            self.cancel(job)
        tasks = [job._task for job in self._items.values() if job._task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
        while self._idle:
            self._idle.pop().close()
        self._threads.shutdown(wait=False)

    async def _run(
        self, job: Job, task: str, arguments: Payload, finish: ResultCallback, is_long: bool
    ) -> None:
        loop = asyncio.get_running_loop()
        pace = RemainingTimeEstimator()

        def tell(title: str, done: int, total: int | None) -> None:
            left = pace.left(title, done, total)
            job.has_begun = job.has_begun or done > 0
            if job.is_stopping:
                return
            job.progress = {"title": title, "done": done, "total": total, "left": left}

        async with self._long_slots if is_long else nullcontext(), self._slots:
            try:
                worker = job._worker = self._take_worker()
            except OSError as error:  # too many processes, or no memory for another
                job.set_final_state("failed", f"No process can be started for this: {error}.")
                return
            job.state = "running"
            try:
                result, notes = await loop.run_in_executor(
                    self._threads, worker.run, task, arguments, tell
                )
                if (
                    not job.is_finished
                ):  # it may have been cancelled while the answer was on its way
                    job.notes = notes
                    job.result = finish(result, notes)
                    job.set_final_state("done")
            except (TaskError, RequestError) as error:
                job.set_final_state("failed", str(error))
            except TaskStoppedError:
                job.set_final_state("cancelled")
            except ChildExitedError:
                job.set_final_state(
                    "failed", "The work was ended from outside, most likely for want of memory."
                )
            except Exception:  # else it would be taken for running for ever
                traceback.print_exc()
                job.set_final_state("failed", INTERNAL_ERROR_MESSAGE)
            finally:
                job._worker = None
                if worker.is_alive:
                    self._idle.append(worker)
                else:
                    worker.close()

    def _take_worker(self) -> Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
            worker.close()
        return Worker()

    def _forget_old(self) -> None:
        over = [job.id for job in self._items.values() if job.is_finished]
        for job_id in over[: max(0, len(self._items) - KEPT)]:
            del self._items[job_id]
