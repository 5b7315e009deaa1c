"""Heavy work: treat a data set, write files, watch and cancel jobs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from scumble.gui.answers import Answer, Call, RefusedError
from scumble.gui.jobs import Job
from scumble.gui.open_datasets import OpenDataset, slug
from scumble.gui.packed_dataset import PackedDataset
from scumble.gui.state import ServerState

MAX_STEPS = 6
#: Seconds a client may wait for the end of a job in one call.
MAX_WAIT = 30


async def list_jobs(state: ServerState, call: Call) -> dict[str, Any]:
    """List the jobs that are not over."""
    return {"jobs": [job.to_dict() for job in state.jobs.shown]}


async def show_job(state: ServerState, call: Call, job: Job) -> dict[str, Any]:
    """Tell how a job stands; with ``wait`` not before it is over, or so many seconds later."""
    for _ in range(call.integer("wait", 0, most=MAX_WAIT)):
        if job.is_over or state.is_closing():
            break
        await job.wait(1.0)
    return job.to_dict()


async def cancel_job(state: ServerState, call: Call, job: Job) -> dict[str, Any]:
    """Stop a job; advice tells what it knows by then, unless this is said twice."""
    state.jobs.stop(job)
    return job.to_dict()


async def treat(state: ServerState, call: Call, entry: OpenDataset) -> Job:
    """Run resamplers on a data set; the result becomes a data set of its own."""
    steps = read_steps(call.json())
    known = {method["name"]: method for method in (await state.catalogue())["methods"]}
    check_known(steps, "method", known)
    state.datasets.check_room()
    planned = " + ".join(_title(known[step["method"]], step["parameters"]) for step in steps)

    def finish(treated: tuple[PackedDataset, dict[str, Any]], notes: list[str]) -> dict[str, Any]:
        packed, report = treated
        title = " + ".join(step["title"] for step in report["methods"])
        return state.open(
            packed,
            f"{entry.source}, treated with {title}",
            parent=entry.id if state.datasets.holds(entry) else None,
            treatment={**report, "chain": steps, "title": title},
            notes=notes,
            options=entry.options,
        )

    arguments = {"packed": entry.packed, "steps": steps}
    return state.jobs.submit(f"{planned} on {entry.name}", "treat", arguments, finish)


async def export(state: ServerState, call: Call, entry: OpenDataset) -> Job:
    """Write a data set, or its report, to a file for download."""
    wish = call.json()
    catalogue = await state.catalogue()
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
    stem = slug(entry.name)
    if entry.treatment is not None:
        stem += "-" + slug(entry.treatment["title"])
    arguments = {"packed": entry.packed, "stem": stem, "form": form}
    if kind == "data":
        arguments["compression"] = compression
    else:
        arguments |= {"treatment": entry.treatment, "source": entry.source}
    return state.write(f"Writing {entry.name}", f"export_{kind}", arguments)


async def give_ticket(state: ServerState, call: Call) -> dict[str, Any]:
    """Give an address of this API that can be fetched once without the token."""
    address = call.json().get("address")
    if not isinstance(address, str) or not address.startswith("/api/v1/"):
        raise RefusedError(422, "'address' must be one of this API, such as /api/v1/files/NUMBER.")
    return {"address": state.tickets.give(address)}


async def download(state: ServerState, call: Call) -> Answer:
    """Give a file that a job has written."""
    return state.files.fetch(call.path["file"])


def _title(method: dict[str, Any], parameters: dict[str, Any]) -> str:
    """Name a method that is about to run, with the parameters that are not its defaults."""
    usual = {each["name"]: each["default"] for each in method["parameters"]}
    changed = [
        f"{name}={value}"
        for name, value in parameters.items()
        if value is not None and value != usual.get(name)
    ]
    return method["title"] + (f"({', '.join(changed)})" if changed else "")


def read_steps(wish: dict[str, Any], *, most: int = MAX_STEPS) -> list[dict[str, Any]]:
    """Read resamplers with their parameters."""
    steps = wish.get("steps")
    if not isinstance(steps, list) or not 1 <= len(steps) <= most:
        raise RefusedError(422, f"'steps' must list 1 to {most} methods with their parameters.")
    return [read_named(step, "method", "step") for step in steps]


def read_named(wish: Any, kind: str, called: str = "one") -> dict[str, Any]:
    """Read a method, or a classifier, with its parameters."""
    if not isinstance(wish, dict) or not isinstance(wish.get(kind), str):
        raise RefusedError(422, f"Each {called} must have a {kind!r} and may have 'parameters'.")
    return {kind: wish[kind], "parameters": plain_values(wish.get("parameters", {}))}


def check_known(wishes: list[dict[str, Any]], kind: str, known: Collection[str]) -> None:
    """Refuse methods, or classifiers, that there are not."""
    for wish in wishes:
        if wish[kind] not in known:
            raise RefusedError(422, f"There is no {kind} {wish[kind]!r}.")


def plain_values(parameters: Any) -> dict[str, Any]:
    """Refuse parameters that are not plain values by name."""
    simple = (str, int, float, type(None))
    if not isinstance(parameters, dict) or not all(
        isinstance(value, simple) for value in parameters.values()
    ):
        raise RefusedError(422, "'parameters' must hold numbers, words, true, false or null.")
    return parameters
