"""The last piece of work of each kind about a data set, so that a page can come back to it."""

from __future__ import annotations

from typing import Any

from scumble.gui.jobs import Job


class Latest:
    """Jobs by kind: what runs, or else what was done last."""

    def __init__(self) -> None:
        self._begun: dict[str, Job] = {}
        self._done: dict[str, Job] = {}

    def begin(self, kind: str, job: Job) -> None:
        """Remember a job; one of its kind that was done stays until this one is."""
        self.get(kind)
        self._begun[kind] = job

    def get(self, kind: str) -> Job | None:
        """Find the job that runs, or the last one that was done."""
        job = self._begun.get(kind)
        if job is not None and job.state == "done":
            self._done[kind] = job
        return job if job is not None and not job.is_over else self._done.get(kind)

    @property
    def running(self) -> list[Job]:
        """Jobs that are not over."""
        return [job for job in self._begun.values() if not job.is_over]

    def result(self, kind: str) -> dict[str, Any] | None:
        """Return what the last one that was done found."""
        self.get(kind)
        job = self._done.get(kind)
        return None if job is None else job.result
