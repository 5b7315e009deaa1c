"""Work of minutes on a data set: advice, methods side by side, proofs, models, predictions."""

from __future__ import annotations

import os
from typing import Any

from scumble.gui.answers import Answer, Call, RefusedError
from scumble.gui.api.datasets import held_uploads, read_options
from scumble.gui.api.work import check_known, read_named, read_steps
from scumble.gui.folders import Model
from scumble.gui.jobs import Job
from scumble.gui.open_datasets import OpenDataset, slug
from scumble.gui.state import ServerState
from scumble.gui.studies import spell_recipe
from scumble.gui.uploads import link_or_copy

ADVICE, METHODS, PROOF = "advice", "methods", "proof"
#: What a worker does to find them.
TASKS = {ADVICE: "advise_on", METHODS: "run_side_by_side", PROOF: "prove"}
#: Seconds an advice may be asked to take; None tries everything.
MAX_BUDGET = 24 * 3600
MAX_SEED = 2**31
#: Classifiers, or treatments, of a proof, and what all of them together may come to.
MAX_LIST, MAX_METHODS = 30, 120
MAX_REPEATS, MAX_FOLDS = 10, 20
#: How answers can be written.
TABLES = (".csv", ".parquet")


async def show_latest(
    state: ServerState, call: Call, entry: OpenDataset, kind: str
) -> dict[str, Any]:
    """Give the job of a kind that runs, or was done last."""
    job = entry.latest.get(kind)
    return {"job": None if job is None else job.to_dict()}


async def advise(state: ServerState, call: Call, entry: OpenDataset) -> Job:
    """Tell which method to take for a data set, by trying them on it."""
    _check_untreated(entry)
    wish = call.json()
    budget = wish.get("budget", 120)
    if budget is not None and not (_is_number(budget) and 0 < budget <= MAX_BUDGET):
        raise RefusedError(422, f"'budget' must be seconds up to {MAX_BUDGET:,}, or null.")
    source, seed = _source(entry), _seed(wish)
    wanted = {"source": source, "options": entry.options, "budget": budget, "random_state": seed}
    return _begin(state, entry, ADVICE, f"Advice for {entry.name}", wanted)


async def export_advice(state: ServerState, call: Call, entry: OpenDataset) -> Job:
    """Write the last advice for a data set as a page for download."""
    advice = entry.latest.result(ADVICE)
    if advice is None:
        raise RefusedError(409, "There is no advice for this data set yet: ask for it first.")
    arguments = {"advice": advice, "stem": slug(entry.name)}
    return state.write(f"Writing the advice for {entry.name}", "export_advice", arguments)


async def run_methods(state: ServerState, call: Call, entry: OpenDataset) -> Job:
    """Run resamplers side by side, each on its own."""
    wish = call.json()
    known = [method["name"] for method in (await state.catalogue())["methods"]]
    asked = wish.get("methods")
    chosen = [{"method": name, "parameters": {}} for name in known]
    if asked is not None:
        chosen = read_steps({"steps": asked}, most=MAX_LIST)
        check_known(chosen, "method", known)
    wanted = {"methods": _once(chosen), "advice": entry.latest.result(ADVICE)}
    return _begin(state, entry, METHODS, f"{len(chosen)} methods on {entry.name}", wanted)


async def prove(state: ServerState, call: Call, entry: OpenDataset) -> Job:
    """Judge classifiers with and without treatments on the same folds."""
    _check_untreated(entry)
    wish = call.json()
    catalogue = await state.catalogue()
    classifiers = _classifiers(wish.get("classifiers"), catalogue)
    treatments = _treatments(wish.get("treatments", []), catalogue)
    if len(classifiers) * (1 + len(treatments)) > MAX_METHODS:
        raise RefusedError(422, f"At most {MAX_METHODS} combinations are compared at once.")
    if len(classifiers) * (1 + len(treatments)) < 2:
        raise RefusedError(422, "Choose a second classifier or a treatment to compare with.")
    wanted = {
        "classifiers": classifiers,
        "treatments": treatments,
        "folds": _folds(wish),
        "random_state": _seed(wish),
        "store": state.proofs(),
        "source": _source(entry),
        "options": entry.options,
    }
    return _begin(state, entry, PROOF, f"Proof on {entry.name}", wanted)


async def list_models(state: ServerState, call: Call, entry: OpenDataset) -> dict[str, Any]:
    """List the models that were trained on a data set."""
    return {"models": [model.to_dict() for model in state.models.of(entry.id)]}


async def train(state: ServerState, call: Call, entry: OpenDataset) -> Job:
    """Train a classifier on all rows of a data set."""
    wish = call.json()
    recipe = await _recipe(state, wish)
    folder = state.models.new_folder()
    title = spell_recipe(recipe)
    arguments = {
        "packed": entry.packed,
        "recipe": recipe,
        "random_state": _seed(wish),
        "folder": folder,
        "stem": f"{slug(entry.name)}-{slug(title)}",
    }

    def finish(facts: dict[str, Any], _: list[str]) -> dict[str, Any]:
        facts["size"] = (folder / facts["name"]).stat().st_size
        return state.models.add(folder.name, facts["name"], entry.id, facts).to_dict()

    job = state.jobs.submit(
        f"Training {title} on {entry.name}",
        "train",
        arguments,
        finish,
        lambda _: state.models.forget_folder(folder.name),
        is_long=True,
    )
    return entry.latest.begin(f"model {folder.name}", job)  # several may be trained at a time


async def offer_model(state: ServerState, call: Call, model: Model) -> Answer:
    """Offer a model for download."""
    folder = state.files.new_folder()
    target = folder / model.path.name
    try:
        link_or_copy(os.link, model.path, target)
        return Answer(state.files.offer(folder.name, target.name), 201)
    finally:
        state.files.forget_folder(folder.name)  # where nothing is offered: the disk may be full


async def predict(state: ServerState, call: Call, model: Model) -> Job:
    """Ask a model about the rows of an uploaded file."""
    wish = call.json()
    suffix, confidences = wish.pop("format", ".csv"), wish.pop("confidences", False)
    if suffix not in TABLES or not isinstance(confidences, bool):
        raise RefusedError(
            422, f"'format' must be one of {', '.join(TABLES)}, 'confidences' true or false."
        )
    wish["format"] = wish.pop("file_format", None)  # of what is read; the other is written
    file, xml, held = held_uploads(state, wish.pop("uploads", None))
    folder = state.files.new_folder()
    arguments = {
        "model": model.path,
        "file": file,
        "xml": xml,
        "options": read_options(wish),
        "learnt": state.datasets.get(model.dataset).options,
        "max_unpacked": state.settings.max_unpacked,
        "path": folder / f"{slug(file.shown.rpartition('.')[0])}-predicted{suffix}",
        "confidences": confidences,
    }

    def finish(found: tuple[str, dict[str, Any]], _: list[str]) -> dict[str, Any]:
        name, facts = found
        return {**state.files.offer(folder.name, name), **facts}

    let_go = state.uploads.reading(held)

    def clean_up(job: Job) -> None:
        state.files.forget_folder(folder.name)
        let_go(job)

    title = f"Predicting {file.shown}"
    return state.jobs.submit(title, "predict", arguments, finish, clean_up)


def _begin(
    state: ServerState, entry: OpenDataset, kind: str, title: str, wanted: dict[str, Any]
) -> Job:
    """Begin long work, unless such work on this data set goes on."""
    running = entry.latest.get(kind)
    if running is not None and not running.is_over:
        raise RefusedError(
            409, f"{running.title}: this is still running. Wait, or cancel it first."
        )
    arguments, can_stop = {"packed": entry.packed, **wanted}, kind == ADVICE
    job = state.jobs.submit(title, TASKS[kind], arguments, is_long=True, can_stop=can_stop)
    return entry.latest.begin(kind, job)


def _check_untreated(entry: OpenDataset) -> None:
    """Refuse a data set that cannot be split: copies of one row must not fall on both sides."""
    if entry.treatment is not None:
        raise RefusedError(
            409,
            f"{entry.treatment['title']} made this data set: copies of one row would be learnt "
            "from and asked about. Take the data as it was; treatments are then applied to the "
            "training parts only.",
        )


async def _recipe(state: ServerState, wish: dict[str, Any]) -> dict[str, Any]:
    """Read what is to be trained: a candidate of the advice, or a classifier and a treatment."""
    catalogue = await state.catalogue()
    if "candidate" in wish:
        known = catalogue["candidates"]
        if wish["candidate"] not in known:
            raise RefusedError(422, f"'candidate' must be one of {', '.join(known)}.")
        return {"candidate": wish["candidate"]}
    [classifier] = _classifiers([wish.get("classifier")], catalogue)
    asked = [wish["treatment"]] if wish.get("treatment") else []
    treatments = _treatments(asked, catalogue)
    return {"classifier": classifier, "treatment": treatments[0] if treatments else []}


def _classifiers(asked: Any, catalogue: dict[str, Any]) -> list[dict[str, Any]]:
    if not isinstance(asked, list) or not 1 <= len(asked) <= MAX_LIST:
        raise RefusedError(422, f"'classifiers' must list 1 to {MAX_LIST} of them.")
    found = [read_named(one, "classifier") for one in asked]
    check_known(found, "classifier", [each["name"] for each in catalogue["classifiers"]])
    return _once(found)


def _treatments(asked: Any, catalogue: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Read treatments, each one a list of steps; untreated is there in any case."""
    if not isinstance(asked, list) or len(asked) > MAX_LIST:
        raise RefusedError(422, f"'treatments' must list at most {MAX_LIST} lists of steps.")
    found = [read_steps({"steps": steps}) for steps in asked if steps != []]
    for steps in found:
        check_known(steps, "method", [each["name"] for each in catalogue["methods"]])
    return _once(found)


def _once(wishes: list[Any]) -> list[Any]:
    """Leave out what was named before."""
    return [one for at, one in enumerate(wishes) if one not in wishes[:at]]


def _folds(wish: dict[str, Any]) -> str:
    repeats, folds = wish.get("repeats", 2), wish.get("folds", 5)
    if not _is_whole(repeats, 1, MAX_REPEATS) or not _is_whole(folds, 2, MAX_FOLDS):
        raise RefusedError(
            422, f"'repeats' must be 1 to {MAX_REPEATS}, and 'folds' 2 to {MAX_FOLDS}."
        )
    return f"{repeats}x{folds}"


def _seed(wish: dict[str, Any]) -> int:
    seed = wish.get("random_state", 0)
    if not _is_whole(seed, 0, MAX_SEED):
        raise RefusedError(422, f"'random_state' must be a whole number from 0 to {MAX_SEED:,}.")
    return int(seed)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _source(entry: OpenDataset) -> str:
    """Tell how the command line would call a data set."""
    if entry.source != "built-in example":
        return entry.source
    # What was made here has no name elsewhere but that of its download.
    return entry.name if entry.name == "debtags" else f"{slug(entry.name)}.arff"
