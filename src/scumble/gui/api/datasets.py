"""Open, list, look at and close data sets."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from scumble.gui.answers import Answer, Call, RefusedError
from scumble.gui.folders import Sent, Upload
from scumble.gui.jobs import Job
from scumble.gui.state import OpenDataset, ServerState

if TYPE_CHECKING:
    from scumble.gui.pages import PagedTable

#: What a client may say about a file, and of which type it must be.
READ_OPTIONS: dict[str, tuple[type, ...]] = {
    "format": (str,),
    "member": (str,),
    "labels": (int, list),
    "label_column": (str, int),
    "label_separator": (str,),
    "weight_column": (str, int),
    "ignore": (list,),
    "text": (list,),
    "category": (list,),
    "keep": (list, bool),
    "delimiter": (str,),
    "encoding": (str,),
    "decimal": (str,),
    "header": (bool,),
}
#: What may be said when a file is only looked at.
LOOK_OPTIONS = ("format", "member", "delimiter", "encoding", "decimal", "header")
#: What a client may wish of synthetic data, with the most a server makes.
SYNTHETIC = {
    "n_instances": 1_000_000,
    "n_labels": 10_000,
    "n_features": 2_000,
    "cardinality": 1_000.0,
    "mean_ir": 100_000.0,
    "scumble": 1.0,
    "random_state": 2**31,
}
MAX_LABELS = 2_000


async def list_datasets(state: ServerState, call: Call) -> dict[str, Any]:
    """List what is open."""
    return {"datasets": [entry.to_dict() for entry in state.datasets]}


async def open_dataset(state: ServerState, call: Call) -> Job:
    """Open uploaded files."""
    wish = call.json()
    numbers = wish.pop("uploads", None)
    options = read_options(wish)
    file, xml = find_uploads(state, numbers)
    sent = Sent(file, xml, options, max_unpacked(state, file))
    ends = state.open_result(file.shown, options), state.uploads.reading(sent.numbers)
    return state.jobs.submit(
        f"Opening {file.shown}", "read_upload.open_upload", {"sent": sent}, *ends
    )


async def preview_upload(state: ServerState, call: Call, file: Upload) -> Job:
    """Look at the first rows of an upload, and guess what its columns are for."""
    wish = call.json()
    if any(key not in LOOK_OPTIONS for key in wish):
        raise RefusedError(f"A preview knows the options {', '.join(LOOK_OPTIONS)}.")
    options = {"options": read_options(wish), "max_unpacked": max_unpacked(state, file)}
    return _look_at(state, file, "read_upload.preview_upload", options)


async def list_members(state: ServerState, call: Call, file: Upload) -> Job:
    """List the files of an archive that may hold the data."""
    return _look_at(state, file, "read_upload.list_members", {})


def _look_at(state: ServerState, file: Upload, task: str, options: dict[str, Any]) -> Job:
    """Begin work that reads an upload and leaves it where it is."""
    title, arguments = f"Looking at {file.shown}", {"file": file, **options}
    let_go = state.uploads.reading([file.id], is_last=False)
    return state.jobs.submit(title, task, arguments, after=let_go, is_asked_for=False)


def max_unpacked(state: ServerState, file: Upload) -> int:
    """Tell how large a file may be when decompressed; the user's own has no limit."""
    return sys.maxsize if file.is_lent else state.settings.max_unpacked


def waiting_file(state: ServerState) -> dict[str, Any] | None:
    """Describe the file of the command line, if its columns are to be told or it was not read."""
    if state.first is None or state.first_job is None or not state.first_job.is_over:
        return None
    lent, given = state.first
    if not state.uploads.holds(lent.id):
        return None
    error, told = state.first_job.error, given.items()
    known = {key: value for key, value in told if isinstance(value, READ_OPTIONS.get(key, ()))}
    return {"id": lent.id, "name": lent.shown, "error": error, "options": known}


async def discard_upload(state: ServerState, call: Call, file: Upload) -> None:
    """Remove a file that was sent and is not wanted any more."""
    state.uploads.discard(file.id)


def find_uploads(state: ServerState, numbers: Any) -> tuple[Upload, Upload | None]:
    """Find the uploads that make a data set: its file, and its XML if any."""
    if not isinstance(numbers, list) or not 1 <= len(numbers) <= 2:
        raise RefusedError("'uploads' must list one file, or a MULAN file and its XML.")
    stored = [state.uploads.get(str(number)) for number in numbers]
    xml = [each for each in stored if each.path.suffix == ".xml"]
    files = [each for each in stored if each not in xml]
    if len(files) != 1:
        alone = "An XML file names the labels of an ARFF file: send both together."
        many = "Only a MULAN file and its XML belong together: open other files one by one."
        raise RefusedError(many if files else alone)
    return files[0], xml[0] if xml else None


async def open_example(state: ServerState, call: Call) -> Job:
    """Open one of the built-in examples."""
    name = call.path["example"]
    if name not in ("debtags", "synthetic"):
        raise RefusedError("There is no such example. Known are: debtags, synthetic.", 404)
    wish = call.json()
    if name == "debtags" and wish:
        raise RefusedError("The example debtags has no options.")
    options = _synthetic_options(wish) if name == "synthetic" else None
    finish = state.open_result("built-in example")
    arguments = {"name": name, "options": options}
    return state.jobs.submit(f"Opening {name}", "tasks.open_named", arguments, finish)


def show_shelf(state: ServerState, call: Call) -> dict[str, Any]:
    """List the public data sets, with where they are."""
    from scumble.data import shelf

    return {
        "datasets": [
            {
                "name": entry.name,
                "title": entry.title,
                "place": shelf.place(entry.name),
                "size": entry.files[0].size if entry.files else None,
                **{key: entry.measures[key] for key in ("instances", "features", "labels")},
            }
            for entry in shelf.entries()
        ]
    }


async def open_shelf(state: ServerState, call: Call) -> Job:
    """Open a public data set; it is fetched where it is not on this machine."""
    name = call.path["name"]
    if name not in await asyncio.to_thread(_names_on_the_shelf):
        raise RefusedError(f"There is no public data set {name!r}.", 404)
    finish = state.open_result(name)
    return state.jobs.submit(f"Opening {name}", "tasks.open_named", {"name": name}, finish)


def _names_on_the_shelf() -> set[str]:
    from scumble.data import shelf

    return {entry.name for entry in shelf.entries()}


async def show_dataset(state: ServerState, call: Call, entry: OpenDataset) -> dict[str, Any]:
    """Tell all measures of a data set, and what its overview shows."""
    found = {"dataset": entry.to_dict(), **entry.packed.overview, "treatment": entry.treatment}
    advice = entry.latest.result("advice")
    if advice is None:
        return {**found, "advice": None}
    from scumble.advise.evidence import treatment_sentences

    # What was measured on this data takes the place of what was measured on other data.
    general = treatment_sentences(found["summary"]["scumble"] or 0.0)
    verdict = [sentence for sentence in found["verdict"] if sentence not in general]
    return {**found, "verdict": verdict, "advice": advice["sentences"]["What helps here"]}


async def close_dataset(state: ServerState, call: Call, entry: OpenDataset) -> None:
    """Close a data set, end what is being found out about it, and remove its models."""
    for job in entry.latest.running:
        state.jobs.cancel(job)
    state.datasets.close(entry.id)
    state.models.forget(entry.id)


def show_comparison(state: ServerState, call: Call, after: OpenDataset) -> dict[str, Any]:
    """Put a treated data set beside the one it was made of."""
    from scumble.gui.pages import comparison

    if after.treatment is None:
        raise RefusedError(
            "This data set was not treated here, so there is nothing to compare.", 409
        )
    before = next((entry for entry in state.datasets if entry.id == after.parent), None)
    return comparison(before, after)


def show_chord(state: ServerState, call: Call, entry: OpenDataset) -> dict[str, Any]:
    """Compute where the arcs and ribbons of a chord diagram lie."""
    known = entry.packed.facts["n_labels"]
    labels = _label_numbers(call.query.get("labels"), known)
    if labels is None and "around" in call.query:
        from scumble.gui.pages import around

        labels = around(entry.packed.data, call.integer("around", 0, most=known - 1))
    n_labels = call.integer("n_labels", 12, most=MAX_LABELS) if "n_labels" in call.query else None
    as_given = call.choice("order", ("difficulty", "given"), "difficulty") == "given"
    return entry.chord(labels=labels, n_labels=n_labels, keep_order=as_given)


def show_page(state: ServerState, call: Call, entry: OpenDataset, table: str) -> dict[str, Any]:
    """Give a page of a table."""
    return _table(call, entry, table)[0].page(call)


def show_csv(state: ServerState, call: Call, entry: OpenDataset, table: str) -> Answer:
    """Give a whole table as CSV."""
    found, stem = _table(call, entry, table)
    return found.csv(call, f"{stem}.csv")


def _table(call: Call, entry: OpenDataset, table: str) -> tuple[PagedTable, str]:
    """Find a table of a data set, or of one of its labels, and name it."""
    if table != "partners":
        return entry.table(table), f"{entry.id}-{table}"
    found = _label_numbers(call.path["label"], entry.packed.facts["n_labels"])
    if not found or len(found) > 1:
        raise RefusedError("There is no such label.", 404)
    from scumble.gui.pages import partners_table

    return partners_table(entry.packed, found[0]), f"{entry.id}-partners-{found[0]}"


def show_distribution(state: ServerState, call: Call, entry: OpenDataset) -> dict[str, Any]:
    """Count the values of a feature."""
    from scumble.data.feature_table import feature_distribution

    text, known = call.path["feature"], entry.packed.facts["n_features"]
    if not _is_number(text, known):
        raise RefusedError("There is no such attribute.", 404)
    return feature_distribution(entry.packed.data, int(text))


def _label_numbers(text: str | None, n_labels: int) -> list[int] | None:
    """Read numbers of labels with commas between them."""
    if text is None:
        return None
    parts = [part for part in text.split(",") if part]
    if len(parts) > MAX_LABELS or not all(_is_number(part, n_labels) for part in parts):
        raise RefusedError(
            f"'labels' must be numbers from 0 to {n_labels - 1} with commas between them, at most "
            f"{MAX_LABELS:,}.",
        )
    return [int(part) for part in parts]


def _is_number(text: str, known: int) -> bool:
    """Tell whether a text is the number of one of so many things."""
    return text.isascii() and text.isdecimal() and len(text) < 10 and int(text) < known


def read_options(wish: dict[str, Any]) -> dict[str, Any]:
    """Take what may be said about a file; nothing of it can be a path."""
    given = {key: value for key, value in wish.items() if value is not None}
    for key, value in given.items():
        if key not in READ_OPTIONS:
            raise RefusedError(f"There is no option {key!r}. Known are: {', '.join(READ_OPTIONS)}.")
        if type(value) not in READ_OPTIONS[key]:  # exactly: true and false are no numbers
            raise RefusedError(f"The option {key!r} has a wrong type.")
        if isinstance(value, list) and not all(type(item) in (str, int) for item in value):
            raise RefusedError(f"The option {key!r} must list names or numbers of columns.")
    labels = given.get("labels")
    if isinstance(labels, list) and len({type(item) for item in labels}) != 1:
        raise RefusedError("'labels' must be names, or column numbers, or a count.")
    return given


def _synthetic_options(wish: dict[str, Any]) -> dict[str, Any]:
    for key, value in wish.items():
        if key not in SYNTHETIC:
            raise RefusedError(f"There is no option {key!r}. Known are: {', '.join(SYNTHETIC)}.")
        if type(value) not in (int, float):
            raise RefusedError(f"{key!r} must be a number.")
        if not 0 <= value <= SYNTHETIC[key]:
            raise RefusedError(f"{key!r} must lie between 0 and {SYNTHETIC[key]:,}.")
    return {"random_state": 0, **wish}
