"""Handlers for work on a data set: treatments, files, advice, comparisons, models; and for jobs."""

import os
from collections.abc import Collection
from typing import Any

from scumble.gui.api.datasets import find_uploads, read_options
from scumble.gui.folders import TrainedModel, UploadedDataset, link_or_copy
from scumble.gui.http_messages import ApiRequest, ApiResponse, RequestError
from scumble.gui.jobs import Job
from scumble.gui.packed_dataset import PackedDataset
from scumble.gui.recipes import format_recipe
from scumble.gui.state import OpenDataset, ServerState, slug
from scumble.gui.worker import Payload, Task

#: Maximum number of resamplers in a chain.
MAX_STEPS = 6
#: Maximum seconds that a request may wait for the end of a job.
MAX_WAIT = 30
#: Kinds of long jobs, as they are spelled in addresses.
ADVICE, RESAMPLERS, COMPARISON = "advice", "methods", "comparison"
#: The task of each kind.
TASKS = {
    ADVICE: Task.ADVISE,
    RESAMPLERS: Task.COMPARE_RESAMPLERS,
    COMPARISON: Task.RUN_COMPARISON,
}
#: Maximum time limit of an advice in seconds; a request may also set no limit.
MAX_BUDGET = 24 * 3600
MAX_SEED = 2**31
#: Maximum number of classifiers, and of treatments, of a comparison.
MAX_LIST = 30
#: Maximum number of combinations of a classifier and a treatment in a comparison.
MAX_METHODS = 120
MAX_REPEATS, MAX_FOLDS = 10, 20
#: File name extensions of the formats in which predictions can be written.
PREDICTION_FORMATS = (".csv", ".parquet")


async def list_jobs(state: ServerState, request: ApiRequest) -> Payload:
    """Return the jobs of users that have not finished."""
    return {"jobs": [job.to_dict() for job in state.jobs.user_requested]}


async def show_job(state: ServerState, request: ApiRequest, job: Job) -> Payload:
    """Return the state of a job; with ``wait``, when it has finished or after so many seconds."""
    for _ in range(request.get_query_int("wait", 0, maximum=MAX_WAIT)):
        if job.is_finished or state.is_closing():
            break
        await job.wait(1.0)
    return job.to_dict()


async def cancel_job(state: ServerState, request: ApiRequest, job: Job) -> Payload:
    """Stop a job; an advice still returns a partial result, unless it is stopped twice."""
    state.jobs.stop(job)
    return job.to_dict()


async def treat(state: ServerState, request: ApiRequest, entry: OpenDataset) -> Job:
    """Submit a job that applies resamplers to a data set; the result is opened as a new one."""
    steps = read_steps(request.json().get("steps"))
    catalogue = await state.catalogue()
    methods = {method["name"]: method for method in catalogue["methods"]}
    check_names(steps, "method", methods)
    state.datasets.check_open_limit()
    titles = [_method_title(methods[step["method"]], step["parameters"]) for step in steps]

    def open_result(result: tuple[PackedDataset, Payload], notes: list[str]) -> Payload:
        packed, report = result
        title = " + ".join(method["title"] for method in report["methods"])
        return state.open(
            packed,
            f"{entry.source}, treated with {title}",
            parent=entry.id if state.datasets.holds(entry) else None,
            treatment={**report, "chain": steps, "title": title},
            notes=notes,
            options=entry.options,
        )

    return state.jobs.submit(
        f"{' + '.join(titles)} on {entry.name}",
        Task.TREAT,
        {"packed": entry.packed, "steps": steps},
        make_result=open_result,
    )


async def export(state: ServerState, request: ApiRequest, entry: OpenDataset) -> Job:
    """Submit a job that writes a data set, or its report, to a file for download."""
    body = request.json()
    catalogue = await state.catalogue()
    kind = body.get("kind", "data")
    format_name = body.get("format")
    compression = body.get("compression", "")
    format_names = {
        "data": [file_format["name"] for file_format in catalogue["formats"]],
        "report": catalogue["reports"],
    }
    if kind not in format_names or format_name not in format_names[kind]:
        raise RequestError(
            "'kind' must be data or report, and 'format' one of the formats of this kind."
        )
    if compression not in catalogue["compressions"] or (compression and kind == "report"):
        raise RequestError(f"'compression' must be one of {catalogue['compressions']}.")
    stem = slug(entry.name)
    if entry.treatment is not None:
        stem += "-" + slug(entry.treatment["title"])
    arguments = {"packed": entry.packed, "stem": stem, "format_name": format_name}
    if kind == "data":
        task = Task.EXPORT_DATA
        arguments["compression"] = compression
    else:
        task = Task.EXPORT_REPORT
        arguments["treatment"] = entry.treatment
        arguments["source"] = entry.source
    return state.submit_file_job(f"Writing {entry.name}", task, arguments)


async def issue_download_token(state: ServerState, request: ApiRequest) -> Payload:
    """Return an address of this API that can be fetched once without the token of the server."""
    address = request.json().get("address")
    if not isinstance(address, str) or not address.startswith("/api/v1/"):
        raise RequestError(
            "'address' must be an address of this API, such as /api/v1/files/NUMBER."
        )
    return {"address": state.download_tokens.issue(address)}


async def download(state: ServerState, request: ApiRequest) -> ApiResponse:
    """Return a file that a job has written."""
    return state.files.fetch(request.path["file"])


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


def read_steps(steps: Any, *, maximum: int = MAX_STEPS) -> list[Payload]:
    """Return the resamplers that a client sent, each with ``method`` and ``parameters``."""
    if not isinstance(steps, list) or not 1 <= len(steps) <= maximum:
        raise RequestError(f"'steps' must list 1 to {maximum} methods with their parameters.")
    return [read_method(step, "method") for step in steps]


def read_method(body: Any, kind: str) -> Payload:
    """Return a method that a client sent: its name under ``kind``, and its parameters."""
    if not isinstance(body, dict) or not isinstance(body.get(kind), str):
        raise RequestError(f"Each item must have a {kind!r} and may have 'parameters'.")
    return {kind: body[kind], "parameters": check_parameters(body.get("parameters", {}))}


def check_names(methods: list[Payload], kind: str, names: Collection[str]) -> None:
    """Raise a `RequestError` if a method does not exist."""
    for method in methods:
        if method[kind] not in names:
            raise RequestError(f"There is no {kind} {method[kind]!r}.")


def check_parameters(parameters: Any) -> Payload:
    """Return parameters if they are plain values by name; else raise a `RequestError`."""
    plain_types = (str, int, float, type(None))
    if not isinstance(parameters, dict) or not all(
        isinstance(value, plain_types) for value in parameters.values()
    ):
        raise RequestError("'parameters' must hold numbers, words, true, false or null.")
    return parameters


async def show_latest(
    state: ServerState, request: ApiRequest, entry: OpenDataset, kind: str
) -> Payload:
    """Return the unfinished job of a kind, or the last one that was done."""
    job = entry.latest_jobs.get(kind)
    return {"job": None if job is None else job.to_dict()}


async def advise(state: ServerState, request: ApiRequest, entry: OpenDataset) -> Job:
    """Submit a job that evaluates methods on a data set and recommends one."""
    _check_untreated(entry)
    body = request.json()
    budget = body.get("budget", 120)
    if budget is not None and not (type(budget) in (int, float) and 0 < budget <= MAX_BUDGET):
        raise RequestError(f"'budget' must be seconds up to {MAX_BUDGET:,}, or null.")
    arguments = {
        "source": _source_name(entry),
        "options": entry.options,
        "budget": budget,
        "random_state": _read_seed(body),
    }
    return _submit_long_job(state, entry, ADVICE, f"Advice for {entry.name}", arguments)


async def export_advice(state: ServerState, request: ApiRequest, entry: OpenDataset) -> Job:
    """Submit a job that writes the latest advice as an HTML page for download."""
    advice = entry.latest_jobs.result(ADVICE)
    if advice is None:
        raise RequestError("There is no advice for this data set yet: ask for it first.", 409)
    return state.submit_file_job(
        f"Writing the advice for {entry.name}",
        Task.EXPORT_ADVICE,
        {"advice": advice, "stem": slug(entry.name)},
    )


async def compare_resamplers(state: ServerState, request: ApiRequest, entry: OpenDataset) -> Job:
    """Submit a job that applies each of several resamplers, by default all, and compares them."""
    methods = request.json().get("methods")
    catalogue = await state.catalogue()
    names = [method["name"] for method in catalogue["methods"]]
    if methods is None:
        steps = [{"method": name, "parameters": {}} for name in names]
    else:
        steps = read_steps(methods, maximum=MAX_LIST)
        check_names(steps, "method", names)
    title = f"{len(steps)} methods on {entry.name}"
    arguments = {
        "methods": _without_duplicates(steps),
        "advice": entry.latest_jobs.result(ADVICE),
    }
    return _submit_long_job(state, entry, RESAMPLERS, title, arguments)


async def run_comparison(state: ServerState, request: ApiRequest, entry: OpenDataset) -> Job:
    """Submit a job that compares classifiers with and without treatments on the same folds."""
    _check_untreated(entry)
    body = request.json()
    catalogue = await state.catalogue()
    classifiers = _read_classifiers(body.get("classifiers"), catalogue)
    treatments = _read_treatments(body.get("treatments", []), catalogue)
    n_methods = len(classifiers) * (1 + len(treatments))  # 1: without a treatment
    if n_methods > MAX_METHODS:
        raise RequestError(f"At most {MAX_METHODS} combinations are compared at once.")
    if n_methods < 2:
        raise RequestError("Choose a second classifier or a treatment to compare with.")
    arguments = {
        "classifiers": classifiers,
        "treatments": treatments,
        "folds": _read_folds(body),
        "random_state": _read_seed(body),
        "source": _source_name(entry),
        "options": entry.options,
        "store": state.comparison_store_path(),
    }
    return _submit_long_job(
        state, entry, COMPARISON, f"Comparison of classifiers on {entry.name}", arguments
    )


async def list_models(state: ServerState, request: ApiRequest, entry: OpenDataset) -> Payload:
    """Return the models that were trained on a data set."""
    return {"models": [model.to_dict() for model in state.models.list_trained_on(entry.id)]}


async def train(state: ServerState, request: ApiRequest, entry: OpenDataset) -> Job:
    """Submit a job that trains a model on all rows of a data set."""
    body = request.json()
    recipe = await _read_recipe(state, body)
    random_state = _read_seed(body)
    title = format_recipe(recipe)
    folder = state.models.new_folder()
    model_id = folder.name

    def add_model(metadata: Payload, _: list[str]) -> Payload:
        return state.models.add(model_id, entry.id, metadata).to_dict()

    job = state.jobs.submit(
        f"Training {title} on {entry.name}",
        Task.TRAIN,
        {
            "packed": entry.packed,
            "recipe": recipe,
            "random_state": random_state,
            "folder": folder,
            "stem": f"{slug(entry.name)}-{slug(title)}",
        },
        make_result=add_model,
        on_finished=lambda _: state.models.remove_unused_folder(model_id),
        is_long=True,
    )
    # Each model is a kind of its own: several may be trained at the same time.
    return entry.latest_jobs.add_job(f"model {model_id}", job)


async def offer_model(state: ServerState, request: ApiRequest, model: TrainedModel) -> ApiResponse:
    """Make a model available for download."""
    folder = state.files.new_folder()
    target = folder / model.path.name
    try:
        link_or_copy(os.link, model.path, target)
        return ApiResponse(state.files.offer(folder.name, target.name), 201)
    finally:
        # Has an effect only if the file could not be made, for example because the disk is full.
        state.files.remove_unused_folder(folder.name)


async def predict(state: ServerState, request: ApiRequest, model: TrainedModel) -> Job:
    """Submit a job that predicts the labels of an uploaded file."""
    body = request.json()
    suffix = body.pop("format", ".csv")
    confidences = body.pop("confidences", False)
    if suffix not in PREDICTION_FORMATS or not isinstance(confidences, bool):
        raise RequestError(
            f"'format' must be one of {', '.join(PREDICTION_FORMATS)}, 'confidences' true or false."
        )
    # ``format`` was that of the predictions; for the reader it is the format of the uploaded file.
    body["format"] = body.pop("file_format", None)
    file, xml = find_uploads(state, body.pop("uploads", None))
    uploaded = UploadedDataset(
        file=file,
        xml=xml,
        options=read_options(body),
        max_unpacked=state.settings.max_unpacked,
    )
    stem = slug(file.display_name.rpartition(".")[0])
    arguments = {
        "model": model.path,
        "uploaded": uploaded,
        "training_options": state.datasets.get(model.dataset).options,
        "confidences": confidences,
        "name": f"{stem}-predicted{suffix}",
    }
    return state.submit_file_job(
        f"Predicting {file.display_name}",
        Task.PREDICT,
        arguments,
        upload_ids=uploaded.upload_ids,
    )


def _submit_long_job(
    state: ServerState, entry: OpenDataset, kind: str, title: str, arguments: Payload
) -> Job:
    """Submit a long job on a data set; raise a `RequestError` if one of its kind is unfinished."""
    latest = entry.latest_jobs.get(kind)
    if latest is not None and not latest.is_finished:
        raise RequestError(f"{latest.title}: this is still running. Wait, or cancel it first.", 409)
    job = state.jobs.submit(
        title,
        TASKS[kind],
        {"packed": entry.packed, **arguments},
        is_long=True,
        can_stop=kind == ADVICE,
    )
    return entry.latest_jobs.add_job(kind, job)


def _check_untreated(entry: OpenDataset) -> None:
    """Raise a `RequestError` for a resampled data set, which cannot be split into folds.

    Copies of one row would be in the training rows and in the test rows.
    """
    if entry.treatment is not None:
        raise RequestError(
            f"This data set was made by {entry.treatment['title']}: copies of one row would be in "
            "both the training and the test rows. Use the original data set; treatments are then "
            "applied to the training rows only.",
            409,
        )


async def _read_recipe(state: ServerState, body: Payload) -> Payload:
    """Return the recipe of a model: a candidate of the advice, or a classifier and a treatment."""
    catalogue = await state.catalogue()
    if "candidate" in body:
        candidates = catalogue["candidates"]
        if body["candidate"] not in candidates:
            raise RequestError(f"'candidate' must be one of {', '.join(candidates)}.")
        return {"candidate": body["candidate"]}
    [classifier] = _read_classifiers([body.get("classifier")], catalogue)
    treatment = []
    if body.get("treatment"):
        [treatment] = _read_treatments([body["treatment"]], catalogue)
    return {"classifier": classifier, "treatment": treatment}


def _read_classifiers(items: Any, catalogue: Payload) -> list[Payload]:
    """Return the classifiers that a client sent, without duplicates."""
    if not isinstance(items, list) or not 1 <= len(items) <= MAX_LIST:
        raise RequestError(f"'classifiers' must list 1 to {MAX_LIST} of them.")
    classifiers = [read_method(item, "classifier") for item in items]
    names = [classifier["name"] for classifier in catalogue["classifiers"]]
    check_names(classifiers, "classifier", names)
    return _without_duplicates(classifiers)


def _read_treatments(items: Any, catalogue: Payload) -> list[list[Payload]]:
    """Return the chains of resamplers that a client sent, without duplicates and empty ones."""
    if not isinstance(items, list) or len(items) > MAX_LIST:
        raise RequestError(f"'treatments' must list at most {MAX_LIST} lists of steps.")
    treatments = [read_steps(steps) for steps in items if steps != []]
    names = [method["name"] for method in catalogue["methods"]]
    for steps in treatments:
        check_names(steps, "method", names)
    return _without_duplicates(treatments)


def _without_duplicates(items: list[Any]) -> list[Any]:
    """Return the items without repetitions; they need not be hashable."""
    distinct: list[Any] = []
    for item in items:
        if item not in distinct:
            distinct.append(item)
    return distinct


def _read_folds(body: Payload) -> str:
    """Return the repeats and folds that a client sent, such as ``"2x5"``."""
    repeats = body.get("repeats", 2)
    folds = body.get("folds", 5)
    if not _is_int_between(repeats, 1, MAX_REPEATS) or not _is_int_between(folds, 2, MAX_FOLDS):
        raise RequestError(f"'repeats' must be 1 to {MAX_REPEATS}, and 'folds' 2 to {MAX_FOLDS}.")
    return f"{repeats}x{folds}"


def _read_seed(body: Payload) -> int:
    """Return the seed that a client sent, by default 0."""
    seed = body.get("random_state", 0)
    if not _is_int_between(seed, 0, MAX_SEED):
        raise RequestError(f"'random_state' must be a whole number from 0 to {MAX_SEED:,}.")
    return int(seed)


def _is_int_between(value: Any, minimum: int, maximum: int) -> bool:
    """Return whether a value is an int, not a bool, within limits."""
    return type(value) is int and minimum <= value <= maximum


def _source_name(entry: OpenDataset) -> str:
    """Return the name of a data set on the command line."""
    if entry.source != "built-in example":
        return entry.source
    if entry.name == "debtags":
        return entry.name
    return f"{slug(entry.name)}.arff"  # synthetic data: the name of its download
