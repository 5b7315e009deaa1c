"""Open, list, look at and close data sets."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from scumble.gui.folders import Upload, UploadedDataset
from scumble.gui.http_messages import ApiRequest, ApiResponse, RequestError
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


async def list_datasets(state: ServerState, request: ApiRequest) -> dict[str, Any]:
    """List what is open."""
    return {"datasets": [entry.to_dict() for entry in state.datasets]}


async def open_dataset(state: ServerState, request: ApiRequest) -> Job:
    """Open uploaded files."""
    wish = request.json()
    numbers = wish.pop("uploads", None)
    options = read_options(wish)
    file, xml = find_uploads(state, numbers)
    sent = UploadedDataset(file, xml, options, max_unpacked(state, file))
    ends = state.make_open_callback(file.shown, options), state.uploads.reserve(sent.upload_ids)
    return state.jobs.submit(
        f"Opening {file.shown}", "read_upload.open_upload", {"sent": sent}, *ends
    )


async def preview_upload(state: ServerState, request: ApiRequest, file: Upload) -> Job:
    """Look at the first rows of an upload, and guess what its columns are for."""
    wish = request.json()
    if any(key not in LOOK_OPTIONS for key in wish):
        raise RequestError(f"A preview knows the options {', '.join(LOOK_OPTIONS)}.")
    options = {"options": read_options(wish), "max_unpacked": max_unpacked(state, file)}
    return _look_at(state, file, "read_upload.preview_upload", options)


async def list_members(state: ServerState, request: ApiRequest, file: Upload) -> Job:
    """List the files of an archive that may hold the data."""
    return _look_at(state, file, "read_upload.list_members", {})


def _look_at(state: ServerState, file: Upload, task: str, options: dict[str, Any]) -> Job:
    """Begin work that reads an upload and leaves it where it is."""
    title, arguments = f"Looking at {file.shown}", {"file": file, **options}
    let_go = state.uploads.reserve([file.id], is_last=False)
    return state.jobs.submit(title, task, arguments, after=let_go, is_user_requested=False)


def max_unpacked(state: ServerState, file: Upload) -> int:
    """Tell how large a file may be when decompressed; the user's own has no limit."""
    return sys.maxsize if file.is_local_file else state.settings.max_unpacked


def waiting_file(state: ServerState) -> dict[str, Any] | None:
    """Describe the file of the command line, if its columns are to be told or it was not read."""
    if state.initial_upload is None or state.first_job is None or not state.first_job.is_finished:
        return None
    lent, given = state.initial_upload
    if not state.uploads.holds(lent.id):
        return None
    error, told = state.first_job.error, given.items()
    known = {key: value for key, value in told if isinstance(value, READ_OPTIONS.get(key, ()))}
    return {"id": lent.id, "name": lent.shown, "error": error, "options": known}


async def discard_upload(state: ServerState, request: ApiRequest, file: Upload) -> None:
    """Remove a file that was sent and is not wanted any more."""
    state.uploads.discard(file.id)


def find_uploads(state: ServerState, upload_ids: Any) -> tuple[Upload, Upload | None]:
    """Find the uploads that make a data set: its file, and its XML if any."""
    if not isinstance(upload_ids, list) or not 1 <= len(upload_ids) <= 2:
        raise RequestError("'uploads' must list one file, or a MULAN file and its XML.")
    stored = [state.uploads.get(str(number)) for number in upload_ids]
    xml = [each for each in stored if each.path.suffix == ".xml"]
    files = [each for each in stored if each not in xml]
    if len(files) != 1:
        alone = "An XML file names the labels of an ARFF file: send both together."
        many = "Only a MULAN file and its XML belong together: open other files one by one."
        raise RequestError(many if files else alone)
    return files[0], xml[0] if xml else None


async def open_example(state: ServerState, request: ApiRequest) -> Job:
    """Open one of the built-in examples."""
    name = request.path["example"]
    if name not in ("debtags", "synthetic"):
        raise RequestError("There is no such example. Known are: debtags, synthetic.", 404)
    wish = request.json()
    if name == "debtags" and wish:
        raise RequestError("The example debtags has no options.")
    options = _synthetic_options(wish) if name == "synthetic" else None
    finish = state.make_open_callback("built-in example")
    arguments = {"name": name, "options": options}
    return state.jobs.submit(f"Opening {name}", "tasks.open_named", arguments, finish)


def list_public_datasets(state: ServerState, request: ApiRequest) -> dict[str, Any]:
    """List the public data sets, with where they are."""
    from scumble.data.public import repository

    return {
        "datasets": [
            {
                "name": entry.name,
                "title": entry.title,
                "place": repository.availability(entry.name),
                "size": entry.files[0].size if entry.files else None,
                **{key: entry.measures[key] for key in ("instances", "features", "labels")},
            }
            for entry in repository.entries()
        ]
    }


async def open_public_dataset(state: ServerState, request: ApiRequest) -> Job:
    """Open a public data set; it is fetched where it is not on this machine."""
    name = request.path["name"]
    if name not in await asyncio.to_thread(_names_on_the_shelf):
        raise RequestError(f"There is no public data set {name!r}.", 404)
    finish = state.make_open_callback(name)
    return state.jobs.submit(f"Opening {name}", "tasks.open_named", {"name": name}, finish)


def _names_on_the_shelf() -> set[str]:
    from scumble.data.public import repository

    return {entry.name for entry in repository.entries()}


async def show_dataset(
    state: ServerState, request: ApiRequest, entry: OpenDataset
) -> dict[str, Any]:
    """Tell all measures of a data set, and what its overview shows."""
    found = {"dataset": entry.to_dict(), **entry.packed.overview, "treatment": entry.treatment}
    advice = entry.latest_jobs.result("advice")
    if advice is None:
        return {**found, "advice": None}
    from scumble.advice.evidence import treatment_sentences

    # What was measured on this data takes the place of what was measured on other data.
    general = treatment_sentences(found["summary"]["scumble"] or 0.0)
    verdict = [sentence for sentence in found["verdict"] if sentence not in general]
    return {**found, "verdict": verdict, "advice": advice["sentences"]["What helps here"]}


async def close_dataset(state: ServerState, request: ApiRequest, entry: OpenDataset) -> None:
    """Close a data set, end what is being found out about it, and remove its models."""
    for job in entry.latest_jobs.running:
        state.jobs.cancel(job)
    state.datasets.close(entry.id)
    state.models.discard_trained_on(entry.id)


def show_before_and_after(
    state: ServerState, request: ApiRequest, after: OpenDataset
) -> dict[str, Any]:
    """Put a treated data set beside the one it was made of."""
    from scumble.gui.pages import before_and_after

    if after.treatment is None:
        raise RequestError(
            "This data set was not treated here, so there is nothing to compare.", 409
        )
    before = next((entry for entry in state.datasets if entry.id == after.parent), None)
    return before_and_after(before, after)


def show_chord(state: ServerState, request: ApiRequest, entry: OpenDataset) -> dict[str, Any]:
    """Compute where the arcs and ribbons of a chord diagram lie."""
    known = entry.packed.metadata["n_labels"]
    labels = _parse_label_indices(request.query.get("labels"), known)
    if labels is None and "around" in request.query:
        from scumble.gui.pages import most_cooccurring_labels

        labels = most_cooccurring_labels(
            entry.packed.data, request.get_query_int("around", 0, maximum=known - 1)
        )
    n_labels = (
        request.get_query_int("n_labels", 12, maximum=MAX_LABELS)
        if "n_labels" in request.query
        else None
    )
    as_given = request.get_query_choice("order", ("difficulty", "given"), "difficulty") == "given"
    return entry.chord(labels=labels, n_labels=n_labels, keep_order=as_given)


def show_page(
    state: ServerState, request: ApiRequest, entry: OpenDataset, table: str
) -> dict[str, Any]:
    """Give a page of a table."""
    return _table(request, entry, table)[0].page(request)


def show_csv(
    state: ServerState, request: ApiRequest, entry: OpenDataset, table: str
) -> ApiResponse:
    """Give a whole table as CSV."""
    found, stem = _table(request, entry, table)
    return found.to_csv(request, f"{stem}.csv")


def _table(request: ApiRequest, entry: OpenDataset, table: str) -> tuple[PagedTable, str]:
    """Find a table of a data set, or of one of its labels, and name it."""
    if table != "partners":
        return entry.table(table), f"{entry.id}-{table}"
    found = _parse_label_indices(request.path["label"], entry.packed.metadata["n_labels"])
    if not found or len(found) > 1:
        raise RequestError("There is no such label.", 404)
    from scumble.gui.pages import cooccurring_labels_table

    return cooccurring_labels_table(entry.packed, found[0]), f"{entry.id}-partners-{found[0]}"


def show_distribution(
    state: ServerState, request: ApiRequest, entry: OpenDataset
) -> dict[str, Any]:
    """Count the values of a feature."""
    from scumble.data.feature_table import feature_distribution

    text, known = request.path["feature"], entry.packed.metadata["n_features"]
    if not _is_number(text, known):
        raise RequestError("There is no such attribute.", 404)
    return feature_distribution(entry.packed.data, int(text))


def _parse_label_indices(text: str | None, n_labels: int) -> list[int] | None:
    """Read numbers of labels with commas between them."""
    if text is None:
        return None
    parts = [part for part in text.split(",") if part]
    if len(parts) > MAX_LABELS or not all(_is_number(part, n_labels) for part in parts):
        raise RequestError(
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
            raise RequestError(f"There is no option {key!r}. Known are: {', '.join(READ_OPTIONS)}.")
        if type(value) not in READ_OPTIONS[key]:  # exactly: true and false are no numbers
            raise RequestError(f"The option {key!r} has a wrong type.")
        if isinstance(value, list) and not all(type(item) in (str, int) for item in value):
            raise RequestError(f"The option {key!r} must list names or numbers of columns.")
    labels = given.get("labels")
    if isinstance(labels, list) and len({type(item) for item in labels}) != 1:
        raise RequestError("'labels' must be names, or column numbers, or a count.")
    return given


def _synthetic_options(wish: dict[str, Any]) -> dict[str, Any]:
    for key, value in wish.items():
        if key not in SYNTHETIC:
            raise RequestError(f"There is no option {key!r}. Known are: {', '.join(SYNTHETIC)}.")
        if type(value) not in (int, float):
            raise RequestError(f"{key!r} must be a number.")
        if not 0 <= value <= SYNTHETIC[key]:
            raise RequestError(f"{key!r} must lie between 0 and {SYNTHETIC[key]:,}.")
    return {"random_state": 0, **wish}
