"""Run a task in a worker process: find its function, report its progress, return its result."""

import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from scumble._core.errors import ScumbleError, ScumbleWarning
from scumble._core.progress import show_progress
from scumble._core.registry import load_plugins
from scumble.gui.packed_dataset import DatasetReference, HeldDatasets, PackedDataset
from scumble.gui.tasks import (
    advice,
    catalogue,
    comparison,
    exporting,
    models,
    opening,
    resampling,
    uploads,
)
from scumble.gui.worker import (
    INTERNAL_ERROR_MESSAGE,
    Payload,
    RetainDatasets,
    Task,
    disk_full_message,
    send_uninterrupted,
)

#: Minimum seconds between two progress messages; a page cannot show more.
PROGRESS_INTERVAL = 0.05
#: The data sets of this process.
HELD_DATASETS = HeldDatasets()
#: The function of each task. These modules import what they alone need inside their functions, so
#: that the first task, which opens a file, ends soon.
TASK_FUNCTIONS: Mapping[Task, Callable[..., Any]] = {
    Task.DESCRIBE_CATALOGUE: catalogue.describe_catalogue,
    Task.OPEN_PATH: opening.open_path,
    Task.OPEN_NAMED: opening.open_named,
    Task.OPEN_UPLOAD: uploads.open_upload,
    Task.PREVIEW_UPLOAD: uploads.preview_upload,
    Task.LIST_MEMBERS: uploads.list_members,
    Task.TREAT: resampling.treat,
    Task.COMPARE_RESAMPLERS: resampling.compare_resamplers,
    Task.EXPORT_DATA: exporting.export_data,
    Task.EXPORT_REPORT: exporting.export_report,
    Task.ADVISE: advice.advise_on,
    Task.EXPORT_ADVICE: advice.export_advice,
    Task.RUN_COMPARISON: comparison.run_comparison,
    Task.TRAIN: models.train,
    Task.PREDICT: models.predict,
}


def handle_request(
    request: tuple[Task, Payload] | RetainDatasets, send: Callable[[Any], None]
) -> tuple[str, Any]:
    """Run a task, or drop the data sets that the server has closed; return the last message."""
    if isinstance(request, RetainDatasets):
        HELD_DATASETS.retain(request.keys)
        return "retained", None
    return run_task(request, send)


def run_task(request: tuple[Task, Payload], send: Callable[[Any], None]) -> tuple[str, Any]:
    """Run a task and return its last message.

    Parameters
    ----------
    request : tuple of Task and dict
        The task, and the arguments of its function by name. A data set is a `PackedDataset`, or a
        `DatasetReference` to one that this process holds.
    send : callable
        Sends a message to the server.

    Returns
    -------
    tuple of str and object
        ``"done"`` with the result and the warnings, ``"failed"`` with the reason, ``"stopped"``
        with None, or ``"missing"`` with None if this process does not hold the data set.
    """
    task, arguments = request
    if any(_is_missing(value) for value in arguments.values()):
        return "missing", None
    load_plugins()  # with the first task only: no request imports anything later
    progress = _ProgressMessages(send_uninterrupted(send))
    try:
        with show_progress(progress), warnings.catch_warnings(record=True) as caught_warnings:
            warnings.simplefilter("always", ScumbleWarning)
            values = {name: _as_dataset(value) for name, value in arguments.items()}
            result = TASK_FUNCTIONS[task](**values)
    except ScumbleError as error:
        return "failed", str(error)
    except KeyboardInterrupt:  # there is no partial result yet
        return "stopped", None
    except MemoryError:
        return "failed", "There is not enough memory for this."
    except Exception as error:
        message = disk_full_message(error)
        if message is None:
            traceback.print_exc()
            message = INTERNAL_ERROR_MESSAGE
        return "failed", message
    notes = [
        str(warning.message)
        for warning in caught_warnings
        if issubclass(warning.category, ScumbleWarning)
    ]
    _hold_new_dataset(result)
    return "done", (result, notes)


def _is_missing(value: Any) -> bool:
    """Return whether an argument refers to a data set that this process does not hold."""
    return isinstance(value, DatasetReference) and value.key not in HELD_DATASETS


def _as_dataset(value: Any) -> Any:
    """Return the data set that an argument refers to, and any other argument as it is."""
    if isinstance(value, DatasetReference):
        return HELD_DATASETS.use(value.key)
    if isinstance(value, PackedDataset):
        HELD_DATASETS.add(value)
    return value


def _hold_new_dataset(result: Any) -> None:
    """Keep a data set that a task has made: its result, or the first item of its result."""
    new_item = result[0] if isinstance(result, tuple) else result
    if isinstance(new_item, PackedDataset):
        HELD_DATASETS.add(new_item)


class _ProgressMessages:
    """Sends the progress of a task to the server, at most once per `PROGRESS_INTERVAL`."""

    def __init__(self, send: Callable[[Any], None]) -> None:
        self._send = send
        self._last_time = 0.0

    def start(self, title: str, total: int | None) -> Callable[[int], None]:
        """Report the start of a step; return the function that reports its progress."""
        n_done = 0
        self._send(("progress", title, 0, total))

        def advance(steps: int) -> None:
            """Add steps to those done, and send the progress unless it was sent a moment ago."""
            nonlocal n_done
            n_done += steps
            now = time.monotonic()
            if now - self._last_time >= PROGRESS_INTERVAL:
                self._last_time = now
                self._send(("progress", title, n_done, total))

        return advance

    def finish(self) -> None:
        """Do nothing: the next message replaces this one."""
