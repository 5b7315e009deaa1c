"""Heavy work: treat a data set, write files, watch and cancel jobs."""

from __future__ import annotations

from typing import Any

from scumble.gui.answers import Answer, Call, FileAnswer, RefusedError
from scumble.gui.desk import Desk
from scumble.gui.jobs import Job
from scumble.gui.parcel import Parcel
from scumble.gui.store import slug

MAX_STEPS = 6
#: Seconds a client may wait for the end of a job in one call.
MAX_WAIT = 30


async def list_jobs(desk: Desk, call: Call) -> dict[str, Any]:
    """List the jobs that are not over."""
    return {"jobs": [job.to_dict() for job in desk.jobs.running]}


async def show_job(desk: Desk, call: Call) -> dict[str, Any]:
    """Tell how a job stands; with ``wait`` not before it is over, or so many seconds later."""
    job = _job(desk, call)
    for _ in range(call.integer("wait", 0, most=MAX_WAIT)):
        if job.is_over or desk.is_closing():
            break
        await job.wait(1.0)
    return job.to_dict()


async def cancel_job(desk: Desk, call: Call) -> dict[str, Any]:
    """Stop a job."""
    job = _job(desk, call)
    desk.jobs.cancel(job)
    return job.to_dict()


async def treat(desk: Desk, call: Call) -> Answer:
    """Run resamplers on a data set; the result becomes a data set of its own."""
    entry = desk.store.get(call.path["dataset"])
    steps = _steps(call.json())
    known = {method["name"]: method for method in (await desk.catalogue())["methods"]}
    for step in steps:
        if step["method"] not in known:
            raise RefusedError(422, f"There is no method {step['method']!r}.")
    desk.store.check_room()
    title = " + ".join(known[step["method"]]["title"] for step in steps)

    def finish(treated: tuple[Parcel, dict[str, Any]], notes: list[str]) -> dict[str, Any]:
        parcel, report = treated
        return desk.open(
            parcel,
            f"{title} of {entry.name}",
            parent=entry.id if desk.store.holds(entry) else None,
            treatment={**report, "chain": steps, "title": title},
            notes=notes,
        )

    arguments = {"parcel": entry.parcel, "steps": steps}
    job = desk.jobs.submit(f"{title} on {entry.name}", "treat", arguments, finish)
    return Answer(job.to_dict(), 202)


async def export(desk: Desk, call: Call) -> Answer:
    """Write a data set, or its report, to a file for download."""
    entry = desk.store.get(call.path["dataset"])
    wish = call.json()
    catalogue = await desk.catalogue()
    kind, form = wish.get("kind", "data"), wish.get("format")
    compression = wish.get("compression", "")
    forms = {
        "data": [each["name"] for each in catalogue["formats"]],
        "report": catalogue["reports"],
    }
    if kind not in forms or form not in forms[kind]:
        raise RefusedError(
            422, "'kind' must be data or report, and 'format' one it can be written in."
        )
    if compression not in catalogue["compressions"] or (compression and kind == "report"):
        raise RefusedError(422, f"'compression' must be one of {catalogue['compressions']}.")
    number, folder = desk.new_folder()
    stem = slug(entry.name)
    if entry.treatment is not None:
        stem += "-" + slug(entry.treatment["title"])
    arguments = {"parcel": entry.parcel, "folder": folder, "stem": stem, "form": form}
    if kind == "data":
        arguments["compression"] = compression
    else:
        arguments["treatment"] = entry.treatment

    job = desk.jobs.submit(
        f"Writing {entry.name}",
        f"export_{kind}",
        arguments,
        lambda name, _: desk.offer(number, name),
        lambda _: desk.forget_folder(number),
    )
    return Answer(job.to_dict(), 202)


async def download(desk: Desk, call: Call) -> FileAnswer:
    """Give a file that a job has written."""
    return desk.file(call.path["file"])


def _job(desk: Desk, call: Call) -> Job:
    job = desk.jobs.get(call.path["job"])
    if job is None:
        raise RefusedError(404, "There is no such job.")
    return job


def _steps(wish: dict[str, Any]) -> list[dict[str, Any]]:
    steps = wish.get("steps")
    if not isinstance(steps, list) or not 1 <= len(steps) <= MAX_STEPS:
        raise RefusedError(
            422, f"'steps' must list 1 to {MAX_STEPS} methods with their parameters."
        )
    found = []
    for step in steps:
        if not isinstance(step, dict) or not isinstance(step.get("method"), str):
            raise RefusedError(422, "Each step must have a 'method' and may have 'parameters'.")
        parameters = step.get("parameters", {})
        simple = (str, int, float, type(None))
        if not isinstance(parameters, dict) or not all(
            isinstance(value, simple) for value in parameters.values()
        ):
            raise RefusedError(422, "'parameters' must hold numbers, words, true, false or null.")
        found.append({"method": step["method"], "parameters": parameters})
    return found
