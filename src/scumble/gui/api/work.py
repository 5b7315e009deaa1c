"""Handlers for work on a data set: treatments, files, advice, comparisons, models; and for jobs."""

import os
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from scumble.gui.api.bodies import (
    WRONG_CLASSIFIER,
    WRONG_EXPORT_FORMAT,
    AdviceBody,
    Classifier,
    ComparisonBody,
    DownloadTokenBody,
    ExportBody,
    ModelBody,
    PredictionBody,
    ResamplersBody,
    Step,
    TreatmentBody,
)
from scumble.gui.api.datasets import find_uploads
from scumble.gui.api.queries import WaitQuery
from scumble.gui.folders import TrainedModel, UploadedDataset, link_or_copy
from scumble.gui.http_messages import ApiResponse, RequestError
from scumble.gui.jobs import Job
from scumble.gui.packed_dataset import PackedDataset
from scumble.gui.recipes import format_recipe
from scumble.gui.state import OpenDataset, ServerState, slug
from scumble.gui.worker import Payload, Task

#: Kinds of long jobs, as they are spelled in addresses.
ADVICE, RESAMPLERS, COMPARISON = "advice", "methods", "comparison"
#: The task of each kind.
TASKS = {
    ADVICE: Task.ADVISE,
    RESAMPLERS: Task.COMPARE_RESAMPLERS,
    COMPARISON: Task.RUN_COMPARISON,
}
#: Maximum number of combinations of a classifier and a treatment in a comparison.
MAX_METHODS = 120


async def list_jobs(state: ServerState) -> Payload:
    """Return the jobs of users that have not finished."""
    return {"jobs": [job.to_dict() for job in state.jobs.user_requested]}


async def show_job(state: ServerState, job: Job, query: WaitQuery) -> Payload:
    """Return the state of a job; with ``wait``, when it has finished or after so many seconds."""
    for _ in range(query.wait):
        if job.is_finished or state.is_closing():
            break
        await job.wait(1.0)
    return job.to_dict()


async def cancel_job(state: ServerState, job: Job) -> Payload:
    """Stop a job; an advice still returns a partial result, unless it is stopped twice."""
    state.jobs.stop(job)
    return job.to_dict()


async def treat(state: ServerState, dataset: OpenDataset, body: TreatmentBody) -> Job:
    """Submit a job that applies resamplers to a data set; the result is opened as a new one."""
    steps = [asdict(step) for step in body.steps]
    catalogue = await state.catalogue()
    methods = {method["name"]: method for method in catalogue["methods"]}
    check_names(steps, "method", methods)
    state.datasets.check_open_limit()
    titles = [_method_title(methods[step["method"]], step["parameters"]) for step in steps]

    def open_result(result: tuple[PackedDataset, Payload], notes: list[str]) -> Payload:
        """Open the resampled data set, with the report of the chain as its treatment."""
        packed, report = result
        title = " + ".join(method["title"] for method in report["methods"])
        return state.open(
            packed,
            f"{dataset.source}, treated with {title}",
            parent=dataset.id if state.datasets.holds(dataset) else None,
            treatment={**report, "chain": steps, "title": title},
            notes=notes,
            options=dataset.options,
        )

    return state.jobs.submit(
        f"{' + '.join(titles)} on {dataset.name}",
        Task.TREAT,
        {"packed": dataset.packed, "steps": steps},
        make_result=open_result,
    )


async def export(state: ServerState, dataset: OpenDataset, body: ExportBody) -> Job:
    """Submit a job that writes a data set, or its report, to a file for download."""
    catalogue = await state.catalogue()
    format_names = {
        "data": [file_format["name"] for file_format in catalogue["formats"]],
        "report": catalogue["reports"],
    }
    if body.format not in format_names[body.kind]:
        raise RequestError(WRONG_EXPORT_FORMAT)
    is_compressed_report = body.compression != "" and body.kind == "report"
    if body.compression not in catalogue["compressions"] or is_compressed_report:
        raise RequestError(f"'compression' must be one of {catalogue['compressions']}.")
    stem = slug(dataset.name)
    if dataset.treatment is not None:
        stem += "-" + slug(dataset.treatment["title"])
    arguments = {"packed": dataset.packed, "stem": stem, "format_name": body.format}
    if body.kind == "data":
        task = Task.EXPORT_DATA
        arguments["compression"] = body.compression
    else:
        task = Task.EXPORT_REPORT
        arguments["treatment"] = dataset.treatment
        arguments["source"] = dataset.source
    return state.submit_file_job(f"Writing {dataset.name}", task, arguments)


async def issue_download_token(state: ServerState, body: DownloadTokenBody) -> Payload:
    """Return an address of this API that can be fetched once without the token of the server."""
    return {"address": state.download_tokens.issue(body.address)}


async def download(state: ServerState, file: str) -> ApiResponse:
    """Return a file that a job has written."""
    return state.files.fetch(file)


def _method_title(method: Payload, parameters: Payload) -> str:
    """Return the title of a method with the parameters that differ from the defaults."""
    defaults = {parameter["name"]: parameter["default"] for parameter in method["parameters"]}
    changed = [
        f"{name}={value}"
        for name, value in parameters.items()
        if value is not None and value != defaults.get(name)
    ]
    if not changed:
        return str(method["title"])
    return f"{method['title']}({', '.join(changed)})"


def check_names(methods: list[Payload], kind: str, names: Collection[str]) -> None:
    """Raise a `RequestError` if a method does not exist."""
    for method in methods:
        if method[kind] not in names:
            raise RequestError(f"There is no {kind} {method[kind]!r}.")


async def show_latest(state: ServerState, dataset: OpenDataset, kind: str) -> Payload:
    """Return the unfinished job of a kind, or the last one that was done."""
    job = dataset.latest_jobs.get(kind)
    return {"job": None if job is None else job.to_dict()}


async def advise(state: ServerState, dataset: OpenDataset, body: AdviceBody) -> Job:
    """Submit a job that evaluates methods on a data set and recommends one."""
    _check_untreated(dataset)
    arguments = {
        "source": _source_name(dataset),
        "options": dataset.options,
        "budget": body.budget,
        "random_state": body.random_state,
    }
    return _submit_long_job(state, dataset, ADVICE, f"Advice for {dataset.name}", arguments)


async def export_advice(state: ServerState, dataset: OpenDataset) -> Job:
    """Submit a job that writes the latest advice as an HTML page for download."""
    advice = dataset.latest_jobs.result(ADVICE)
    if advice is None:
        raise RequestError("There is no advice for this data set yet: ask for it first.", 409)
    return state.submit_file_job(
        f"Writing the advice for {dataset.name}",
        Task.EXPORT_ADVICE,
        {"advice": advice, "stem": slug(dataset.name)},
    )


async def compare_resamplers(state: ServerState, dataset: OpenDataset, body: ResamplersBody) -> Job:
    """Submit a job that applies each of several resamplers, by default all, and compares them."""
    catalogue = await state.catalogue()
    names = [method["name"] for method in catalogue["methods"]]
    if body.methods is None:
        steps = [{"method": name, "parameters": {}} for name in names]
    else:
        steps = [asdict(step) for step in body.methods]
        check_names(steps, "method", names)
    title = f"{len(steps)} methods on {dataset.name}"
    arguments = {
        "methods": _without_duplicates(steps),
        "advice": dataset.latest_jobs.result(ADVICE),
    }
    return _submit_long_job(state, dataset, RESAMPLERS, title, arguments)


async def run_comparison(state: ServerState, dataset: OpenDataset, body: ComparisonBody) -> Job:
    """Submit a job that compares classifiers with and without treatments on the same folds."""
    _check_untreated(dataset)
    catalogue = await state.catalogue()
    classifiers = _check_classifiers(body.classifiers, catalogue)
    treatments = _check_treatments(body.treatments, catalogue)
    n_methods = len(classifiers) * (1 + len(treatments))  # 1: without a treatment
    if n_methods > MAX_METHODS:
        raise RequestError(f"At most {MAX_METHODS} combinations are compared at once.")
    if n_methods < 2:
        raise RequestError("Choose a second classifier or a treatment to compare with.")
    arguments = {
        "classifiers": classifiers,
        "treatments": treatments,
        "folds": f"{body.repeats}x{body.folds}",
        "random_state": body.random_state,
        "source": _source_name(dataset),
        "options": dataset.options,
        "store": state.comparison_store_path(),
    }
    return _submit_long_job(
        state, dataset, COMPARISON, f"Comparison of classifiers on {dataset.name}", arguments
    )


async def list_models(state: ServerState, dataset: OpenDataset) -> Payload:
    """Return the models that were trained on a data set."""
    return {"models": [model.to_dict() for model in state.models.list_trained_on(dataset.id)]}


async def train(state: ServerState, dataset: OpenDataset, body: ModelBody) -> Job:
    """Submit a job that trains a model on all rows of a data set."""
    recipe = await _make_recipe(state, body)
    title = format_recipe(recipe)
    folder = state.models.new_folder()
    model_id = folder.name

    def add_model(metadata: Payload, _: list[str]) -> Payload:
        """Return the description of the trained model, which can then be used and downloaded."""
        return state.models.add(model_id, dataset.id, metadata).to_dict()

    job = state.jobs.submit(
        f"Training {title} on {dataset.name}",
        Task.TRAIN,
        {
            "packed": dataset.packed,
            "recipe": recipe,
            "random_state": body.random_state,
            "folder": folder,
            "stem": f"{slug(dataset.name)}-{slug(title)}",
        },
        make_result=add_model,
        on_finished=lambda _: state.models.remove_unused_folder(model_id),
        is_long=True,
    )
    # Each model is a kind of its own: several may be trained at the same time.
    return dataset.latest_jobs.add_job(f"model {model_id}", job)


async def offer_model(state: ServerState, model: TrainedModel) -> ApiResponse:
    """Make a model available for download."""
    folder = state.files.new_folder()
    target = folder / model.path.name
    try:
        link_or_copy(os.link, model.path, target)
        return ApiResponse(state.files.offer(folder.name, target.name), 201)
    finally:
        # Has an effect only if the file could not be made, for example because the disk is full.
        state.files.remove_unused_folder(folder.name)


async def predict(state: ServerState, model: TrainedModel, body: PredictionBody) -> Job:
    """Submit a job that predicts the labels of an uploaded file."""
    file, xml = find_uploads(state, body.uploads)
    uploaded = UploadedDataset(
        file=file,
        xml=xml,
        options=body.read_options(),
        max_unpacked=state.settings.max_unpacked,
    )
    stem = slug(file.display_name.rpartition(".")[0])
    arguments = {
        "model": model.path,
        "uploaded": uploaded,
        "training_options": state.datasets.get(model.dataset).options,
        "confidences": body.confidences,
        "name": f"{stem}-predicted{body.format}",
    }
    return state.submit_file_job(
        f"Predicting {file.display_name}",
        Task.PREDICT,
        arguments,
        upload_ids=uploaded.upload_ids,
    )


def _submit_long_job(
    state: ServerState, dataset: OpenDataset, kind: str, title: str, arguments: Payload
) -> Job:
    """Submit a long job on a data set; raise a `RequestError` if one of its kind is unfinished."""
    latest = dataset.latest_jobs.get(kind)
    if latest is not None and not latest.is_finished:
        raise RequestError(f"{latest.title}: this is still running. Wait, or cancel it first.", 409)
    job = state.jobs.submit(
        title,
        TASKS[kind],
        {"packed": dataset.packed, **arguments},
        is_long=True,
        can_stop=kind == ADVICE,
    )
    return dataset.latest_jobs.add_job(kind, job)


def _check_untreated(dataset: OpenDataset) -> None:
    """Raise a `RequestError` for a resampled data set, which cannot be split into folds.

    Copies of one row would be in the training rows and in the test rows.
    """
    if dataset.treatment is not None:
        raise RequestError(
            f"This data set was made by {dataset.treatment['title']}: copies of one row would be "
            "in both the training and the test rows. Use the original data set; treatments are "
            "then applied to the training rows only.",
            409,
        )


async def _make_recipe(state: ServerState, body: ModelBody) -> Payload:
    """Return the recipe of a model: a candidate of the advice, or a classifier and a treatment."""
    catalogue = await state.catalogue()
    if body.candidate is not None:
        candidates = catalogue["candidates"]
        if body.candidate not in candidates:
            raise RequestError(f"'candidate' must be one of {', '.join(candidates)}.")
        return {"candidate": body.candidate}
    if body.classifier is None:
        raise RequestError(WRONG_CLASSIFIER)
    [classifier] = _check_classifiers([body.classifier], catalogue)
    treatment = []
    if body.treatment:
        [treatment] = _check_treatments([body.treatment], catalogue)
    return {"classifier": classifier, "treatment": treatment}


def _check_classifiers(classifiers: Sequence[Classifier], catalogue: Payload) -> list[Payload]:
    """Return classifiers that are in the catalogue, without duplicates."""
    descriptions = [asdict(classifier) for classifier in classifiers]
    names = [classifier["name"] for classifier in catalogue["classifiers"]]
    check_names(descriptions, "classifier", names)
    return _without_duplicates(descriptions)


def _check_treatments(
    treatments: Sequence[Sequence[Step]], catalogue: Payload
) -> list[list[Payload]]:
    """Return chains of resamplers in the catalogue, without duplicates and empty ones."""
    chains = [[asdict(step) for step in steps] for steps in treatments if steps]
    names = [method["name"] for method in catalogue["methods"]]
    for chain in chains:
        check_names(chain, "method", names)
    return _without_duplicates(chains)


def _without_duplicates(items: list[Any]) -> list[Any]:
    """Return the items without repetitions; they need not be hashable."""
    distinct: list[Any] = []
    for item in items:
        if item not in distinct:
            distinct.append(item)
    return distinct


def _source_name(dataset: OpenDataset) -> str:
    """Return the name of a data set on the command line."""
    if dataset.source != "built-in example":
        return dataset.source
    if dataset.name == "debtags":
        return dataset.name
    return f"{slug(dataset.name)}.arff"  # synthetic data: the name of its download
