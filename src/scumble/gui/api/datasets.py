"""Handlers that open, list, show and close data sets."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from scumble.gui.api.bodies import READ_OPTIONS, OpenBody, PreviewBody, SyntheticBody
from scumble.gui.api.conversion import Range, accepts, check_range
from scumble.gui.api.queries import MAX_LABELS, ChordQuery, PartnersQuery, TableQuery
from scumble.gui.folders import Upload, UploadedDataset
from scumble.gui.http_messages import ApiResponse, RequestError
from scumble.gui.jobs import Job
from scumble.gui.state import OpenDataset, ServerState
from scumble.gui.worker import Task

#: Limits of the index of a label or feature as text; longer texts are slow to convert.
MAX_INDEX_DIGITS = 9


async def list_datasets(state: ServerState) -> dict[str, Any]:
    """Return the open data sets."""
    return {"datasets": [entry.to_dict() for entry in state.datasets]}


async def open_dataset(state: ServerState, body: OpenBody) -> Job:
    """Submit a job that opens uploaded files."""
    options = body.read_options()
    file, xml = find_uploads(state, body.uploads)
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


async def preview_upload(state: ServerState, upload: Upload, body: PreviewBody) -> Job:
    """Submit a job that returns the first rows of an upload and infers the roles of its columns."""
    arguments = {"options": body.read_options(), "max_unpacked": max_unpacked(state, upload)}
    return _submit_upload_job(state, upload, Task.PREVIEW_UPLOAD, arguments)


async def list_members(state: ServerState, upload: Upload) -> Job:
    """Submit a job that lists the files of an archive that may contain the data."""
    return _submit_upload_job(state, upload, Task.LIST_MEMBERS, {})


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
        if name in READ_OPTIONS and accepts(value, READ_OPTIONS[name])
    }
    return {
        "id": file.id,
        "name": file.display_name,
        "error": state.first_job.error,
        "options": form_options,
    }


async def discard_upload(state: ServerState, upload: Upload) -> None:
    """Remove an upload."""
    state.uploads.discard(upload.id)


def find_uploads(state: ServerState, upload_ids: list[str]) -> tuple[Upload, Upload | None]:
    """Return the uploads that form a data set: the file with the data, and its XML file or None."""
    uploads = [state.uploads.get(upload_id) for upload_id in upload_ids]
    xml_files = [upload for upload in uploads if upload.path.suffix == ".xml"]
    data_files = [upload for upload in uploads if upload not in xml_files]
    if not data_files:
        raise RequestError("An XML file names the labels of an ARFF file: send both together.")
    if len(data_files) > 1:
        raise RequestError(
            "Only a MULAN file and its XML file form one data set: open other files one by one."
        )
    return data_files[0], xml_files[0] if xml_files else None


async def open_example(state: ServerState, example: str, body: SyntheticBody) -> Job:
    """Submit a job that opens a built-in example."""
    if example not in ("debtags", "synthetic"):
        raise RequestError("There is no such example. Known are: debtags, synthetic.", 404)
    options = None
    if example == "synthetic":
        options = {"random_state": 0, **body.options()}
    elif body.options():
        raise RequestError("The example debtags has no options.")
    return state.jobs.submit(
        f"Opening {example}",
        Task.OPEN_NAMED,
        {"name": example, "options": options},
        make_result=state.make_open_callback("built-in example"),
    )


def list_public_datasets(state: ServerState) -> dict[str, Any]:
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


async def open_public_dataset(state: ServerState, name: str) -> Job:
    """Submit a job that opens a public data set and downloads it if necessary."""
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


async def show_dataset(state: ServerState, dataset: OpenDataset) -> dict[str, Any]:
    """Return the content of the page *Overview*."""
    content = {
        "dataset": dataset.to_dict(),
        **dataset.packed.overview,
        "treatment": dataset.treatment,
    }
    advice = dataset.latest_jobs.result("advice")
    if advice is None:
        return {**content, "advice": None}
    from scumble.advice.evidence import treatment_sentences

    # Sentences about other data are replaced by those about this data.
    general_sentences = treatment_sentences(content["summary"]["scumble"] or 0.0)
    verdict = [sentence for sentence in content["verdict"] if sentence not in general_sentences]
    return {**content, "verdict": verdict, "advice": advice["sentences"]["What helps here"]}


async def close_dataset(state: ServerState, dataset: OpenDataset) -> None:
    """Close a data set, cancel its advice and comparisons, and remove its models."""
    for job in dataset.latest_jobs.unfinished:
        state.jobs.cancel(job)
    state.datasets.close(dataset.id)
    state.jobs.release_closed_datasets()
    state.models.discard_trained_on(dataset.id)


def show_before_and_after(state: ServerState, dataset: OpenDataset) -> dict[str, Any]:
    """Return the comparison of a resampled data set with its original."""
    from scumble.gui.pages import before_and_after

    if dataset.treatment is None:
        raise RequestError(
            "This data set was not treated here, so there is nothing to compare.", 409
        )
    before = next((entry for entry in state.datasets if entry.id == dataset.parent), None)
    return before_and_after(before, after=dataset)


def show_chord(state: ServerState, dataset: OpenDataset, query: ChordQuery) -> dict[str, Any]:
    """Return the layout of a chord diagram of the labels that the query selects."""
    n_all_labels = dataset.packed.metadata["n_labels"]
    labels = _parse_label_indices(query.labels, n_all_labels)
    if labels is None and query.around is not None:
        from scumble.gui.pages import most_cooccurring_labels

        check_range("around", query.around, Range(0, n_all_labels - 1))
        labels = most_cooccurring_labels(dataset.packed.data, query.around)
    return dataset.chord(labels=labels, n_labels=query.n_labels, keep_order=query.order == "given")


def show_page(
    state: ServerState, dataset: OpenDataset, query: TableQuery, table: str
) -> dict[str, Any]:
    """Return a page of the table of a data set that has the name ``table``."""
    return dataset.table(table).page(query)


def show_csv(
    state: ServerState, dataset: OpenDataset, query: TableQuery, table: str
) -> ApiResponse:
    """Return a complete table as CSV."""
    return dataset.table(table).to_csv(query, f"{dataset.id}-{table}.csv")


def show_partners(
    state: ServerState, dataset: OpenDataset, label: str, query: PartnersQuery
) -> dict[str, Any]:
    """Return a page of the table of the labels that co-occur with a label."""
    from scumble.gui.pages import cooccurring_labels_table

    return cooccurring_labels_table(dataset.packed, _parse_label(label, dataset)).page(query)


def show_partners_csv(
    state: ServerState, dataset: OpenDataset, label: str, query: PartnersQuery
) -> ApiResponse:
    """Return the table of the labels that co-occur with a label as CSV."""
    from scumble.gui.pages import cooccurring_labels_table

    index = _parse_label(label, dataset)
    table = cooccurring_labels_table(dataset.packed, index)
    return table.to_csv(query, f"{dataset.id}-partners-{index}.csv")


def show_distribution(state: ServerState, dataset: OpenDataset, feature: str) -> dict[str, Any]:
    """Return the counts of the values of a feature."""
    from scumble.data.feature_table import feature_distribution

    if not _is_index(feature, dataset.packed.metadata["n_features"]):
        raise RequestError("There is no such attribute.", 404)
    return feature_distribution(dataset.packed.data, int(feature))


def _parse_label(text: str, dataset: OpenDataset) -> int:
    """Return the index of a label in a path; raise a `RequestError` if there is no such label."""
    if not _is_index(text, dataset.packed.metadata["n_labels"]):
        raise RequestError("There is no such label.", 404)
    return int(text)


def _parse_label_indices(text: str | None, n_labels: int) -> list[int] | None:
    """Return label indices that are separated by commas, or None if there is no text.

    Raise a `RequestError` for other texts, for indices that do not exist, and for too many.
    """
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
    is_short_number = text.isascii() and text.isdecimal() and len(text) <= MAX_INDEX_DIGITS
    return is_short_number and int(text) < n_items
