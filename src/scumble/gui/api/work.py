"""Work on a data set, of moments or minutes: treatments, files, advice, proofs, models; jobs."""

import os
from collections.abc import Collection
from typing import Any

from scumble.gui.api.datasets import find_uploads, read_options
from scumble.gui.folders import TrainedModel, UploadedDataset, link_or_copy
from scumble.gui.http_messages import ApiRequest, ApiResponse, RequestError
from scumble.gui.jobs import Job
from scumble.gui.state import OpenDataset, ServerState, slug
from scumble.gui.long_tasks import format_recipe
from scumble.gui.worker import PackedDataset, Payload

MAX_STEPS = 6
#: Seconds a client may wait for the end of a job in one call.
MAX_WAIT = 30
ADVICE, METHODS, COMPARISON = "advice", "methods", "proof"
#: What a worker does to find them.
TASKS = {
    ADVICE: "long_tasks.advise_on",
    METHODS: "long_tasks.run_side_by_side",
    COMPARISON: "long_tasks.prove",
}
#: Seconds an advice may be asked to take; None tries everything.
MAX_BUDGET = 24 * 3600
MAX_SEED = 2**31
#: Classifiers, or treatments, of a proof, and what all of them together may come to.
MAX_LIST, MAX_METHODS = 30, 120
MAX_REPEATS, MAX_FOLDS = 10, 20
#: How answers can be written.
TABLES = (".csv", ".parquet")


async def list_jobs(state: ServerState, request: ApiRequest) -> Payload:
    """List the jobs that are not over."""
    return {"jobs": [job.to_dict() for job in state.jobs.shown]}


async def show_job(state: ServerState, request: ApiRequest, job: Job) -> Payload:
    """Tell how a job stands; with ``wait`` not before it is over, or so many seconds later."""
    for _ in range(request.get_query_int("wait", 0, maximum=MAX_WAIT)):
        if job.is_finished or state.is_closing():
            break
        await job.wait(1.0)
    return job.to_dict()


async def cancel_job(state: ServerState, request: ApiRequest, job: Job) -> Payload:
    """Stop a job; advice tells what it knows by then, unless this is said twice."""
    state.jobs.stop(job)
    return job.to_dict()


async def treat(state: ServerState, request: ApiRequest, entry: OpenDataset) -> Job:
    """Run resamplers on a data set; the result becomes a data set of its own."""
    steps = read_steps(request.json().get("steps"))
    known = {method["name"]: method for method in (await state.catalogue())["methods"]}
    check_known(steps, "method", known)
    state.datasets.check_open_limit()
    planned = " + ".join(_title(known[step["method"]], step["parameters"]) for step in steps)

    def finish(treated: tuple[PackedDataset, Payload], notes: list[str]) -> Payload:
        packed, report = treated
        title = " + ".join(step["title"] for step in report["methods"])
        source = f"{entry.source}, treated with {title}"
        treatment = {**report, "chain": steps, "title": title}
        parent = entry.id if state.datasets.holds(entry) else None
        kept = {"parent": parent, "notes": notes, "options": entry.options}
        return state.open(packed, source, treatment=treatment, **kept)

    arguments = {"packed": entry.packed, "steps": steps}
    return state.jobs.submit(f"{planned} on {entry.name}", "tasks.treat", arguments, finish)


async def export(state: ServerState, request: ApiRequest, entry: OpenDataset) -> Job:
    """Write a data set, or its report, to a file for download."""
    wish = request.json()
    catalogue = await state.catalogue()
    kind, form = wish.get("kind", "data"), wish.get("format")
    compression = wish.get("compression", "")
    formats = [each["name"] for each in catalogue["formats"]]
    forms = {"data": formats, "report": catalogue["reports"]}
    if kind not in forms or form not in forms[kind]:
        raise RequestError("'kind' must be data or report, and 'format' one it can be written in.")
    if compression not in catalogue["compressions"] or (compression and kind == "report"):
        raise RequestError(f"'compression' must be one of {catalogue['compressions']}.")
    stem = slug(entry.name)
    if entry.treatment is not None:
        stem += "-" + slug(entry.treatment["title"])
    of_report = {"treatment": entry.treatment, "source": entry.source}
    more = {"compression": compression} if kind == "data" else of_report
    arguments = {"packed": entry.packed, "stem": stem, "form": form, **more}
    return state.submit_file_job(f"Writing {entry.name}", f"tasks.export_{kind}", arguments)


async def issue_download_token(state: ServerState, request: ApiRequest) -> Payload:
    """Give an address of this API that can be fetched once without the token."""
    address = request.json().get("address")
    if not isinstance(address, str) or not address.startswith("/api/v1/"):
        raise RequestError("'address' must be one of this API, such as /api/v1/files/NUMBER.")
    return {"address": state.download_tokens.issue(address)}


async def download(state: ServerState, request: ApiRequest) -> ApiResponse:
    """Give a file that a job has written."""
    return state.files.fetch(request.path["file"])


def _title(method: Payload, parameters: Payload) -> str:
    """Name a method that is about to run, with the parameters that are not its defaults."""
    usual = {each["name"]: each["default"] for each in method["parameters"]}
    changed = [
        f"{name}={value}"
        for name, value in parameters.items()
        if value is not None and value != usual.get(name)
    ]
    return method["title"] + (f"({', '.join(changed)})" if changed else "")


def read_steps(steps: Any, *, maximum: int = MAX_STEPS) -> list[Payload]:
    """Read resamplers with their parameters."""
    if not isinstance(steps, list) or not 1 <= len(steps) <= maximum:
        raise RequestError(f"'steps' must list 1 to {maximum} methods with their parameters.")
    return [read_named(step, "method", "step") for step in steps]


def read_named(wish: Any, kind: str, called: str = "one") -> Payload:
    """Read a method, or a classifier, with its parameters."""
    if not isinstance(wish, dict) or not isinstance(wish.get(kind), str):
        raise RequestError(f"Each {called} must have a {kind!r} and may have 'parameters'.")
    return {kind: wish[kind], "parameters": plain_values(wish.get("parameters", {}))}


def check_known(wishes: list[Payload], kind: str, known: Collection[str]) -> None:
    """Refuse methods, or classifiers, that there are not."""
    for wish in wishes:
        if wish[kind] not in known:
            raise RequestError(f"There is no {kind} {wish[kind]!r}.")


def plain_values(parameters: Any) -> Payload:
    """Refuse parameters that are not plain values by name."""
    simple = (str, int, float, type(None))
    if not isinstance(parameters, dict) or not all(
        isinstance(value, simple) for value in parameters.values()
    ):
        raise RequestError("'parameters' must hold numbers, words, true, false or null.")
    return parameters


async def show_latest(
    state: ServerState, request: ApiRequest, entry: OpenDataset, kind: str
) -> Payload:
    """Give the job of a kind that runs, or was done last."""
    job = entry.latest_jobs.get(kind)
    return {"job": None if job is None else job.to_dict()}


async def advise(state: ServerState, request: ApiRequest, entry: OpenDataset) -> Job:
    """Tell which method to take for a data set, by trying them on it."""
    _check_untreated(entry)
    wish = request.json()
    budget = wish.get("budget", 120)
    if budget is not None and not (type(budget) in (int, float) and 0 < budget <= MAX_BUDGET):
        raise RequestError(f"'budget' must be seconds up to {MAX_BUDGET:,}, or null.")
    source, seed = _source(entry), _seed(wish)
    wanted = {"source": source, "options": entry.options, "budget": budget, "random_state": seed}
    return _begin(state, entry, ADVICE, f"Advice for {entry.name}", wanted)


async def export_advice(state: ServerState, request: ApiRequest, entry: OpenDataset) -> Job:
    """Write the last advice for a data set as a page for download."""
    advice = entry.latest_jobs.result(ADVICE)
    if advice is None:
        raise RequestError("There is no advice for this data set yet: ask for it first.", 409)
    arguments = {"advice": advice, "stem": slug(entry.name)}
    return state.submit_file_job(
        f"Writing the advice for {entry.name}", "long_tasks.export_advice", arguments
    )


async def compare_resamplers(state: ServerState, request: ApiRequest, entry: OpenDataset) -> Job:
    """Run resamplers side by side, each on its own."""
    wish = request.json()
    known = [method["name"] for method in (await state.catalogue())["methods"]]
    asked = wish.get("methods")
    chosen = [{"method": name, "parameters": {}} for name in known]
    if asked is not None:
        chosen = read_steps(asked, maximum=MAX_LIST)
        check_known(chosen, "method", known)
    wanted = {"methods": _once(chosen), "advice": entry.latest_jobs.result(ADVICE)}
    return _begin(state, entry, METHODS, f"{len(chosen)} methods on {entry.name}", wanted)


async def run_comparison(state: ServerState, request: ApiRequest, entry: OpenDataset) -> Job:
    """Judge classifiers with and without treatments on the same folds."""
    _check_untreated(entry)
    wish = request.json()
    catalogue = await state.catalogue()
    classifiers = _classifiers(wish.get("classifiers"), catalogue)
    treatments = _treatments(wish.get("treatments", []), catalogue)
    if len(classifiers) * (1 + len(treatments)) > MAX_METHODS:
        raise RequestError(f"At most {MAX_METHODS} combinations are compared at once.")
    if len(classifiers) * (1 + len(treatments)) < 2:
        raise RequestError("Choose a second classifier or a treatment to compare with.")
    judged = {"classifiers": classifiers, "treatments": treatments}
    split = {"folds": _folds(wish), "random_state": _seed(wish)}
    named = {"source": _source(entry), "options": entry.options}
    wanted = {**judged, **split, **named, "store": state.comparison_store_path()}
    return _begin(state, entry, COMPARISON, f"Proof on {entry.name}", wanted)


async def list_models(state: ServerState, request: ApiRequest, entry: OpenDataset) -> Payload:
    """List the models that were trained on a data set."""
    return {"models": [model.to_dict() for model in state.models.list_trained_on(entry.id)]}


async def train(state: ServerState, request: ApiRequest, entry: OpenDataset) -> Job:
    """Train a classifier on all rows of a data set."""
    wish = request.json()
    recipe, seed = await _recipe(state, wish), _seed(wish)
    title, folder = format_recipe(recipe), state.models.new_folder()
    target = {"folder": folder, "stem": f"{slug(entry.name)}-{slug(title)}"}
    arguments = {"packed": entry.packed, "recipe": recipe, "random_state": seed, **target}

    job = state.jobs.submit(
        f"Training {title} on {entry.name}",
        "long_tasks.train",
        arguments,
        lambda metadata, _: state.models.add(folder.name, entry.id, metadata).to_dict(),
        lambda _: state.models.remove_unused_folder(folder.name),
        is_long=True,
    )
    return entry.latest_jobs.add_job(
        f"model {folder.name}", job
    )  # several may be trained at a time


async def offer_model(state: ServerState, request: ApiRequest, model: TrainedModel) -> ApiResponse:
    """Offer a model for download."""
    folder = state.files.new_folder()
    target = folder / model.path.name
    try:
        link_or_copy(os.link, model.path, target)
        return ApiResponse(state.files.offer(folder.name, target.name), 201)
    finally:
        state.files.remove_unused_folder(
            folder.name
        )  # where nothing is offered: the disk may be full


async def predict(state: ServerState, request: ApiRequest, model: TrainedModel) -> Job:
    """Ask a model about the rows of an uploaded file."""
    wish = request.json()
    suffix, confidences = wish.pop("format", ".csv"), wish.pop("confidences", False)
    if suffix not in TABLES or not isinstance(confidences, bool):
        raise RequestError(
            f"'format' must be one of {', '.join(TABLES)}, 'confidences' true or false."
        )
    wish["format"] = wish.pop("file_format", None)  # of what is read; the other is written
    file, xml = find_uploads(state, wish.pop("uploads", None))
    sent = UploadedDataset(file, xml, read_options(wish), state.settings.max_unpacked)
    learnt = state.datasets.get(model.dataset).options
    target = {"name": f"{slug(file.shown.rpartition('.')[0])}-predicted{suffix}"}
    asked = {"model": model.path, "sent": sent, "learnt": learnt, "confidences": confidences}
    return state.submit_file_job(
        f"Predicting {file.shown}", "long_tasks.predict", asked | target, sent.upload_ids
    )


def _begin(state: ServerState, entry: OpenDataset, kind: str, title: str, wanted: Payload) -> Job:
    """Begin long work, unless such work on this data set goes on."""
    running = entry.latest_jobs.get(kind)
    if running is not None and not running.is_finished:
        raise RequestError(
            f"{running.title}: this is still running. Wait, or cancel it first.", 409
        )
    arguments, can_stop = {"packed": entry.packed, **wanted}, kind == ADVICE
    job = state.jobs.submit(title, TASKS[kind], arguments, is_long=True, can_stop=can_stop)
    return entry.latest_jobs.add_job(kind, job)


def _check_untreated(entry: OpenDataset) -> None:
    """Refuse a data set that cannot be split: copies of one row must not fall on both sides."""
    if entry.treatment is not None:
        raise RequestError(
            f"{entry.treatment['title']} made this data set: copies of one row would be learnt "
            "from and asked about. Take the data as it was; treatments are then applied to the "
            "training parts only.",
            409,
        )


async def _recipe(state: ServerState, wish: Payload) -> Payload:
    """Read what is to be trained: a candidate of the advice, or a classifier and a treatment."""
    catalogue = await state.catalogue()
    if "candidate" in wish:
        known = catalogue["candidates"]
        if wish["candidate"] not in known:
            raise RequestError(f"'candidate' must be one of {', '.join(known)}.")
        return {"candidate": wish["candidate"]}
    [classifier] = _classifiers([wish.get("classifier")], catalogue)
    asked = [wish["treatment"]] if wish.get("treatment") else []
    treatments = _treatments(asked, catalogue)
    return {"classifier": classifier, "treatment": treatments[0] if treatments else []}


def _classifiers(asked: Any, catalogue: Payload) -> list[Payload]:
    if not isinstance(asked, list) or not 1 <= len(asked) <= MAX_LIST:
        raise RequestError(f"'classifiers' must list 1 to {MAX_LIST} of them.")
    found = [read_named(one, "classifier") for one in asked]
    check_known(found, "classifier", [each["name"] for each in catalogue["classifiers"]])
    return _once(found)


def _treatments(asked: Any, catalogue: Payload) -> list[list[Payload]]:
    """Read treatments, each one a list of steps; untreated is there in any case."""
    if not isinstance(asked, list) or len(asked) > MAX_LIST:
        raise RequestError(f"'treatments' must list at most {MAX_LIST} lists of steps.")
    found = [read_steps(steps) for steps in asked if steps != []]
    for steps in found:
        check_known(steps, "method", [each["name"] for each in catalogue["methods"]])
    return _once(found)


def _once(wishes: list[Any]) -> list[Any]:
    """Leave out what was named before."""
    return [one for at, one in enumerate(wishes) if one not in wishes[:at]]


def _folds(wish: Payload) -> str:
    repeats, folds = wish.get("repeats", 2), wish.get("folds", 5)
    if not _is_whole(repeats, 1, MAX_REPEATS) or not _is_whole(folds, 2, MAX_FOLDS):
        raise RequestError(f"'repeats' must be 1 to {MAX_REPEATS}, and 'folds' 2 to {MAX_FOLDS}.")
    return f"{repeats}x{folds}"


def _seed(wish: Payload) -> int:
    seed = wish.get("random_state", 0)
    if not _is_whole(seed, 0, MAX_SEED):
        raise RequestError(f"'random_state' must be a whole number from 0 to {MAX_SEED:,}.")
    return int(seed)


def _is_whole(value: Any, minimum: int, maximum: int) -> bool:
    return type(value) is int and minimum <= value <= maximum


def _source(entry: OpenDataset) -> str:
    """Tell how the command line would call a data set."""
    if entry.source != "built-in example":
        return entry.source
    # What was made here has no name elsewhere but that of its download.
    return entry.name if entry.name == "debtags" else f"{slug(entry.name)}.arff"
