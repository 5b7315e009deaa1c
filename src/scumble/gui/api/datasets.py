"""Handlers that open, list, show and close data sets."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from scumble.gui.folders import Upload, UploadedDataset
from scumble.gui.http_messages import ApiRequest, ApiResponse, RequestError
from scumble.gui.jobs import Job
from scumble.gui.state import OpenDataset, ServerState
from scumble.gui.worker import Task

if TYPE_CHECKING:
    from scumble.gui.pages import PagedTable

#: Options of readers that a client may set, and their types. None of them can be a path.
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
#: Options of a preview.
PREVIEW_OPTIONS = ("format", "member", "delimiter", "encoding", "decimal", "header")
#: Options of synthetic data, and their maxima: larger data would take minutes or much memory.
MAX_SYNTHETIC_OPTIONS = {
    "n_instances": 1_000_000,
    "n_labels": 10_000,
    "n_features": 2_000,
    "cardinality": 1_000.0,
    "mean_ir": 100_000.0,
    "scumble": 1.0,
    "random_state": 2**31,
}
#: Maximum number of labels of a chord diagram.
MAX_LABELS = 2_000


async def list_datasets(state: ServerState, request: ApiRequest) -> dict[str, Any]:
    """Return the open data sets."""
    return {"datasets": [entry.to_dict() for entry in state.datasets]}


async def open_dataset(state: ServerState, request: ApiRequest) -> Job:
    """Submit a job that opens uploaded files."""
    body = request.json()
    upload_ids = body.pop("uploads", None)
    options = read_options(body)
    file, xml = find_uploads(state, upload_ids)
    uploaded = UploadedDataset(
        file=file, xml=xml, options=options, max_unpacked=max_unpacked(state, file)
    )
    return state.jobs.submit(
        f"Opening {file.display_name}",
        Task.OPEN_UPLOAD,
        {"uploaded": uploaded},
        make_result=state.make_open_callback(file.display_name, options),
        on_finished=state.uploads.reserve(uploaded.upload_ids),
    )


async def preview_upload(state: ServerState, request: ApiRequest, file: Upload) -> Job:
    """Submit a job that returns the first rows of an upload and infers the roles of its columns."""
    body = request.json()
    if not set(body) <= set(PREVIEW_OPTIONS):
        raise RequestError(f"The options of a preview are: {', '.join(PREVIEW_OPTIONS)}.")
    arguments = {"options": read_options(body), "max_unpacked": max_unpacked(state, file)}
    return _submit_upload_job(state, file, Task.PREVIEW_UPLOAD, arguments)


async def list_members(state: ServerState, request: ApiRequest, file: Upload) -> Job:
    """Submit a job that lists the files of an archive that may contain the data."""
    return _submit_upload_job(state, file, Task.LIST_MEMBERS, {})


def _submit_upload_job(
    state: ServerState, file: Upload, task: Task, arguments: dict[str, Any]
) -> Job:
    """Submit a job that reads an upload and keeps it."""
    return state.jobs.submit(
        f"Looking at {file.display_name}",
        task,
        {"file": file, **arguments},
        on_finished=state.uploads.reserve([file.id], is_last=False),
        is_user_requested=False,
    )


def max_unpacked(state: ServerState, file: Upload) -> int:
    """Return the maximum size of a decompressed file; local files have no limit."""
    return sys.maxsize if file.is_local_file else state.settings.max_unpacked


def waiting_file(state: ServerState) -> dict[str, Any] | None:
    """Return the file named on the command line if it waits to be opened by the page.

    This is a plain table without label options, or a file that could not be read.
    """
    if state.initial_upload is None or state.first_job is None or not state.first_job.is_finished:
        return None
    file, options = state.initial_upload
    if not state.uploads.holds(file.id):
        return None
    form_options = {
        name: value
        for name, value in options.items()
        if isinstance(value, READ_OPTIONS.get(name, ()))
    }
    return {
        "id": file.id,
        "name": file.display_name,
        "error": state.first_job.error,
        "options": form_options,
    }


async def discard_upload(state: ServerState, request: ApiRequest, file: Upload) -> None:
    """Remove an upload."""
    state.uploads.discard(file.id)


def find_uploads(state: ServerState, upload_ids: Any) -> tuple[Upload, Upload | None]:
    """Return the uploads that form a data set: the file with the data, and its XML file or None."""
    if not isinstance(upload_ids, list) or not 1 <= len(upload_ids) <= 2:
        raise RequestError("'uploads' must list one file, or a MULAN file and its XML.")
    uploads = [state.uploads.get(str(upload_id)) for upload_id in upload_ids]
    xml_files = [upload for upload in uploads if upload.path.suffix == ".xml"]
    data_files = [upload for upload in uploads if upload not in xml_files]
    if not data_files:
        raise RequestError("An XML file names the labels of an ARFF file: send both together.")
    if len(data_files) > 1:
        raise RequestError(
            "Only a MULAN file and its XML file form one data set: open other files one by one."
        )
    return data_files[0], xml_files[0] if xml_files else None


async def open_example(state: ServerState, request: ApiRequest) -> Job:
    """Submit a job that opens a built-in example."""
    name = request.path["example"]
    if name not in ("debtags", "synthetic"):
        raise RequestError("There is no such example. Known are: debtags, synthetic.", 404)
    body = request.json()
    options = None
    if name == "synthetic":
        options = _synthetic_options(body)
    elif body:
        raise RequestError("The example debtags has no options.")
    return state.jobs.submit(
        f"Opening {name}",
        Task.OPEN_NAMED,
        {"name": name, "options": options},
        make_result=state.make_open_callback("built-in example"),
    )


def list_public_datasets(state: ServerState, request: ApiRequest) -> dict[str, Any]:
    """Return the public data sets, and whether they are on this machine."""
    from scumble.data.public import repository

    datasets = [
        {
            "name": entry.name,
            "title": entry.title,
            "place": repository.availability(entry.name),
            "size": entry.files[0].size if entry.files else None,
            "instances": entry.measures["instances"],
            "features": entry.measures["features"],
            "labels": entry.measures["labels"],
        }
        for entry in repository.entries()
    ]
    return {"datasets": datasets}


async def open_public_dataset(state: ServerState, request: ApiRequest) -> Job:
    """Submit a job that opens a public data set and downloads it if necessary."""
    name = request.path["name"]
    if name not in await asyncio.to_thread(_public_dataset_names):
        raise RequestError(f"There is no public data set {name!r}.", 404)
    return state.jobs.submit(
        f"Opening {name}",
        Task.OPEN_NAMED,
        {"name": name},
        make_result=state.make_open_callback(name),
    )


def _public_dataset_names() -> set[str]:
    """Return the names of all public data sets."""
    from scumble.data.public import repository

    return {entry.name for entry in repository.entries()}


async def show_dataset(
    state: ServerState, request: ApiRequest, entry: OpenDataset
) -> dict[str, Any]:
    """Return the content of the page *Overview*."""
    content = {"dataset": entry.to_dict(), **entry.packed.overview, "treatment": entry.treatment}
    advice = entry.latest_jobs.result("advice")
    if advice is None:
        return {**content, "advice": None}
    from scumble.advice.evidence import treatment_sentences

    # Sentences about other data are replaced by those about this data.
    general_sentences = treatment_sentences(content["summary"]["scumble"] or 0.0)
    verdict = [sentence for sentence in content["verdict"] if sentence not in general_sentences]
    return {**content, "verdict": verdict, "advice": advice["sentences"]["What helps here"]}


async def close_dataset(state: ServerState, request: ApiRequest, entry: OpenDataset) -> None:
    """Close a data set, cancel its advice and comparisons, and remove its models."""
    for job in entry.latest_jobs.unfinished:
        state.jobs.cancel(job)
    state.datasets.close(entry.id)
    state.jobs.release_closed_datasets()
    state.models.discard_trained_on(entry.id)


def show_before_and_after(
    state: ServerState, request: ApiRequest, after: OpenDataset
) -> dict[str, Any]:
    """Return the comparison of a resampled data set with its original."""
    from scumble.gui.pages import before_and_after

    if after.treatment is None:
        raise RequestError(
            "This data set was not treated here, so there is nothing to compare.", 409
        )
    before = next((entry for entry in state.datasets if entry.id == after.parent), None)
    return before_and_after(before, after)


def show_chord(state: ServerState, request: ApiRequest, entry: OpenDataset) -> dict[str, Any]:
    """Return the layout of a chord diagram.

    The query selects the labels: ``labels`` by index, ``around`` a label and those that co-occur
    with it, or ``n_labels`` the most difficult ones.
    """
    n_all_labels = entry.packed.metadata["n_labels"]
    labels = _parse_label_indices(request.query.get("labels"), n_all_labels)
    if labels is None and "around" in request.query:
        from scumble.gui.pages import most_cooccurring_labels

        label = request.get_query_int("around", 0, maximum=n_all_labels - 1)
        labels = most_cooccurring_labels(entry.packed.data, label)
    n_labels = None
    if "n_labels" in request.query:
        n_labels = request.get_query_int("n_labels", 12, maximum=MAX_LABELS)
    order = request.get_query_choice("order", ("difficulty", "given"), "difficulty")
    return entry.chord(labels=labels, n_labels=n_labels, keep_order=order == "given")


def show_page(
    state: ServerState, request: ApiRequest, entry: OpenDataset, table: str
) -> dict[str, Any]:
    """Return a page of a table."""
    paged_table, _ = _find_table(request, entry, table)
    return paged_table.page(request)


def show_csv(
    state: ServerState, request: ApiRequest, entry: OpenDataset, table: str
) -> ApiResponse:
    """Return a complete table as CSV."""
    paged_table, stem = _find_table(request, entry, table)
    return paged_table.to_csv(request, f"{stem}.csv")


def _find_table(request: ApiRequest, entry: OpenDataset, table: str) -> tuple[PagedTable, str]:
    """Return a table of a data set, or of one of its labels, and the stem of its file name."""
    if table != "partners":
        return entry.table(table), f"{entry.id}-{table}"
    labels = _parse_label_indices(request.path["label"], entry.packed.metadata["n_labels"])
    if labels is None or len(labels) != 1:
        raise RequestError("There is no such label.", 404)
    from scumble.gui.pages import cooccurring_labels_table

    label = labels[0]
    return cooccurring_labels_table(entry.packed, label), f"{entry.id}-partners-{label}"


def show_distribution(
    state: ServerState, request: ApiRequest, entry: OpenDataset
) -> dict[str, Any]:
    """Return the counts of the values of a feature."""
    from scumble.data.feature_table import feature_distribution

    text = request.path["feature"]
    if not _is_index(text, entry.packed.metadata["n_features"]):
        raise RequestError("There is no such attribute.", 404)
    return feature_distribution(entry.packed.data, int(text))


def _parse_label_indices(text: str | None, n_labels: int) -> list[int] | None:
    """Return label indices that are separated by commas, or None if there is no text."""
    if text is None:
        return None
    parts = [part for part in text.split(",") if part]
    if len(parts) > MAX_LABELS or not all(_is_index(part, n_labels) for part in parts):
        raise RequestError(
            f"'labels' must be numbers from 0 to {n_labels - 1}, separated by commas, at most "
            f"{MAX_LABELS:,}.",
        )
    return [int(part) for part in parts]


def _is_index(text: str, n_items: int) -> bool:
    """Return whether a text is an index below a number of items."""
    return text.isascii() and text.isdecimal() and len(text) < 10 and int(text) < n_items


def read_options(body: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a reader that a client sent; wrong ones raise a `RequestError`."""
    options = {name: value for name, value in body.items() if value is not None}
    for name, value in options.items():
        if name not in READ_OPTIONS:
            raise RequestError(
                f"There is no option {name!r}. Known are: {', '.join(READ_OPTIONS)}."
            )
        if type(value) not in READ_OPTIONS[name]:  # exactly: true and false are not numbers
            raise RequestError(f"The option {name!r} has a wrong type.")
        if isinstance(value, list) and not all(type(item) in (str, int) for item in value):
            raise RequestError(f"The option {name!r} must list names or numbers of columns.")
    labels = options.get("labels")
    if isinstance(labels, list) and len({type(item) for item in labels}) != 1:
        raise RequestError("'labels' must be names, or column numbers, or a count.")
    return options


def _synthetic_options(body: dict[str, Any]) -> dict[str, Any]:
    """Return the options of synthetic data; wrong ones raise a `RequestError`."""
    for name, value in body.items():
        if name not in MAX_SYNTHETIC_OPTIONS:
            raise RequestError(
                f"There is no option {name!r}. Known are: {', '.join(MAX_SYNTHETIC_OPTIONS)}."
            )
        if type(value) not in (int, float):
            raise RequestError(f"{name!r} must be a number.")
        if not 0 <= value <= MAX_SYNTHETIC_OPTIONS[name]:
            raise RequestError(f"{name!r} must be between 0 and {MAX_SYNTHETIC_OPTIONS[name]:,}.")
    return {"random_state": 0, **body}
