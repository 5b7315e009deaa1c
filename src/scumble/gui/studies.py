"""What worker processes do that takes minutes: advise, compare, prove, train, predict."""

import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from scumble._core.calls import format_call
from scumble._core.errors import ScumbleError, ScumbleWarning
from scumble._core.progress import progress_bar
from scumble.gui.folders import Upload, UploadedDataset
from scumble.gui.methods import make_model, make_resampler
from scumble.gui.worker import PackedDataset, Payload, interruptible

#: Labels whose gains a page shows at the most; of more, those in the most training rows.
MAX_LABELS = 2000

#: Options that say how a file is written; others of the same origin are mostly written alike.
WRITTEN = ("delimiter", "encoding", "decimal", "header")

#: Options of readers that have a name of their own on the command line.
OWN = ("format", "labels", "label_column", "label_separator", "ignore", "text", "category", "keep")

#: The name of a file that was written, and what is told of it.
Written = tuple[str, Payload]


def advise_on(
    packed: PackedDataset, source: str, options: Payload, budget: float | None, random_state: int
) -> Payload:
    """Judge the candidates of `scumble.advise` on a data set; its lines name the user's file.

    Stopped, it tells of those that were judged by then.
    """
    from scumble.advice import advise
    from scumble.advice.advice_text import fill_python, fill_shell

    with interruptible():
        found = advise(packed.data, budget=budget, random_state=random_state)
    told = found.to_dict()
    return {
        **told,
        "shell": fill_shell(
            told["shell"], source, f"{Path(source).stem}.model", as_shell_options(options)
        ),
        "python": [fill_python(line, as_python_call(source, options)) for line in told["python"]],
    }


def export_advice(advice: Payload, folder: Path, stem: str) -> Written:
    """Write an advice as a page that needs nothing but itself."""
    from scumble.report import render_advice_page

    path = folder / f"{stem}-advice.html"
    with progress_bar(f"Writing {path.name}"):
        path.write_text(render_advice_page(advice), encoding="utf-8")
    return path.name, {}


def run_side_by_side(
    packed: PackedDataset, methods: list[Payload], advice: Payload | None
) -> Payload:
    """Run resamplers, each on its own, and judge what they change."""
    from scumble.learn.inner_classifier import set_random_states
    from scumble.report.treatment import resampler_comparison
    from scumble.resample import compare_methods

    wishes = {format_chain([one]): [one] for one in methods}
    chains = {name: make_chain_of(steps) for name, steps in wishes.items()}
    for [step] in chains.values():
        set_random_states(step, 0)  # one click, one answer
    found = resampler_comparison(compare_methods(packed.data, chains))
    return {**found, "advised": advised_method(packed, advice), "chains": wishes}


def advised_method(packed: PackedDataset, advice: Payload | None) -> Payload:
    """Name the resampler that is advised: by what was measured here, or else on public data."""
    from scumble.advice.advice_text import best_resampler_in_advice
    from scumble.advice.evidence import best_resampler_in_evidence

    here = None if advice is None else best_resampler_in_advice(advice)
    scumble = packed.overview["summary"]["scumble"] or 0.0
    method, reason = here or best_resampler_in_evidence(scumble)
    return {"method": method, "reason": reason, "measured_here": here is not None}


def prove(
    packed: PackedDataset,
    classifiers: list[Payload],
    treatments: list[list[Payload]],
    folds: str,
    random_state: int,
    store: Path,
    source: str,
    options: Payload,
) -> Payload:
    """Judge classifiers with and without treatments on the same folds; what was judged is kept."""
    from scumble.evaluate.metrics.label_groups import metric_title
    from scumble.experiment import compare
    from scumble.report.evaluation import best_sentences

    learners = {format_call(one["classifier"], one["parameters"]): one for one in classifiers}
    chains = {"none": [], **{format_chain(steps): steps for steps in treatments if steps}}
    found = compare(
        packed.data,
        {name: make_model(**one) for name, one in learners.items()},
        {name: make_chain_of(steps) or None for name, steps in chains.items()},
        folds=folds,
        store=store,
        random_state=random_state,
    )
    told = found.to_dict()
    words = ["-c", ",".join(learners), "-r", ",".join(chains), "--folds", folds]
    words += ["--seed", str(random_state)]
    gains = {trial.name: found.gains(trial.name) for trial in found.results[1:]}
    return {
        **told,
        "gains": _by_label(gains),
        "n_folds": len(found.results[0].counts),
        "repeats": int(folds.partition("x")[0]),
        "confidence": found.confidence,
        "titles": {metric: metric_title(metric) for metric in found.metrics},
        "conclusion": best_sentences(told),
        "recipes": [
            {"classifier": learner, "treatment": steps}
            for steps in chains.values()
            for learner in learners.values()
        ],
        "shell": shlex.join(["scumble", "compare", source, *as_shell_options(options), *words]),
    }


def train(
    packed: PackedDataset, recipe: Payload, random_state: int, folder: Path, stem: str
) -> Payload:
    """Fit a classifier on all rows, treated first where that is asked for, and store it."""
    from scumble.advice import CANDIDATES
    from scumble.learn import fit_dataset, save
    from scumble.learn.inner_classifier import set_random_states

    data, title = packed.data, format_recipe(recipe)
    with progress_bar(f"Training {title}"):
        if "candidate" in recipe:
            [candidate] = [one for one in CANDIDATES if one.name == recipe["candidate"]]
            model = candidate.fit(data, random_state=random_state)
        else:
            steps = [
                set_random_states(one, random_state) for one in make_chain_of(recipe["treatment"])
            ]
            made = make_model(**recipe["classifier"])
            model = fit_dataset(made, data, steps, random_state=random_state)
        path = folder / f"{stem}.model"
        save(model, path, data=data, notes={"method": title, "random_state": random_state})
    return {"name": path.name, "title": title, "n_labels": data.n_labels}


def predict(
    model: Path, sent: UploadedDataset, learnt: Payload, folder: Path, name: str, confidences: bool
) -> Written:
    """Ask a stored model about the rows of a file that a client sent, and write its answers.

    What is not said of the file, in its ``options``, is taken from those of the file that was
    ``learnt`` from, or else found out.
    """
    from scumble import learn
    from scumble.gui.read_upload import read_upload
    from scumble.learn.storage.model_predictions import read_with_optional_labels

    def read_any(path: Path, **how: Any) -> Any:
        from scumble.data import read

        return read_with_optional_labels(partial(read, path, keep=True), **how)

    def rows_of(how: Payload) -> Any:
        return read_upload(read_any, replace(sent, options={**how, **sent.options}))

    with progress_bar("Predicting"):
        ways = _ways_to_read(learnt, sent)
        answers = _ask_in_turn(
            partial(learn.predict_dataset, learn.read_model(model)), rows_of, ways
        )
        answers.write(folder / name, confidences=confidences)
    return name, answers.to_dict()


def _ways_to_read(learnt: Payload, sent: UploadedDataset) -> Iterator[Payload]:
    """List how a file may be written that is like another one, the likeliest first.

    What is no UTF-8 says so, but UTF-8 can be read by another encoding, as nonsense.
    """
    alike = {key: learnt[key] for key in WRITTEN if key in learnt}
    plainer = {key: value for key, value in alike.items() if key != "encoding"}
    ways = [plainer, alike, {}]
    yield from (way for at, way in enumerate(ways) if way not in ways[:at])
    encoding = None if "encoding" in sent.options else _likely_encoding(sent.file, plainer)
    if encoding not in (None, "utf-8", "utf-16", alike.get("encoding")):
        warnings.warn(
            f"{sent.file.shown} is no UTF-8. It is read as {encoding}.",
            ScumbleWarning,
            stacklevel=2,
        )
        yield {**plainer, "encoding": encoding}


def _likely_encoding(file: Upload, how: Payload) -> str | None:
    """Tell the encoding that the form would show; None where there is none to tell."""
    from scumble.data.preview import preview

    with suppress(ScumbleError):
        return preview(file.path, **how).encoding
    return None


def _ask_in_turn(
    ask: Callable[[Any], Any], rows_of: Callable[[Payload], Any], ways: Iterator[Payload]
) -> Any:
    """Ask about what is read in the first way that fits; else say what came nearest to it."""
    unread = unlike = None
    for way in ways:
        try:
            rows = rows_of(way)
        except ScumbleError as error:
            unread = error
            continue
        try:
            return ask(rows)
        except ScumbleError as error:  # such as columns that are not there
            unlike = error
    raise unlike or unread or ScumbleError("There is no way to read the file.")


def make_chain_of(steps: list[Payload]) -> list[Any]:
    """Make resamplers as a client asked for them."""
    return [make_resampler(**step) for step in steps]


def format_chain(steps: list[Payload]) -> str:
    """Write resamplers as the command line takes them."""
    return "+".join(format_call(step["method"], step["parameters"]) for step in steps)


def format_recipe(recipe: Payload) -> str:
    """Name a classifier and the treatment before it, as comparisons do."""
    if "candidate" in recipe:
        return str(recipe["candidate"])
    learner = recipe["classifier"]
    name = format_call(learner["classifier"], learner["parameters"])
    after = format_chain(recipe["treatment"])
    return f"{name} after {after}" if after else name


def _by_label(gains: Mapping[str, Sequence[Payload]]) -> Payload:
    """Turn gains into columns: names, rows and F1 before once, F1 after for each method."""
    first = sorted(next(iter(gains.values()), ()), key=lambda row: -row["training_positives"])
    shown = [row["name"] for row in first[:MAX_LABELS]]
    after = {method: {row["name"]: row["after"] for row in rows} for method, rows in gains.items()}
    return {
        "label": shown,
        "training_positives": [row["training_positives"] for row in first[:MAX_LABELS]],
        "before": [row["before"] for row in first[:MAX_LABELS]],
        "after": {method: [f1[name] for name in shown] for method, f1 in after.items()},
        "n_left_out": len(first) - len(shown),
    }


# How a file was opened, as the command line and Python say it


def as_shell_options(options: Payload) -> list[str]:
    r"""Write options of a reader as words of a command.

    Examples
    --------
    >>> from scumble.gui.studies import as_shell_options
    >>> as_shell_options({"labels": ["sky", "sea"], "ignore": [0, "id"], "decimal": ",", "header": True})
    ['--labels', 'sky,sea', '--ignore', '0', '--ignore', 'id', '--option', 'decimal=,',
     '--option', 'header=true']
    >>> as_shell_options({"labels": [4], "label_separator": "\t"})
    ['--labels', '4,', '--label-separator', '\\t']
    """
    words: list[str] = []
    for name, value in options.items():
        values = value if isinstance(value, list) and name != "labels" else [value]
        for text in map(_written, values):
            option = f"--{name.replace('_', '-')}"
            words += [option, text] if name in OWN else ["--option", f"{name}={text}"]
    return words


def as_python_call(source: str, options: Payload) -> str:
    """Write what reads the data in Python.

    Examples
    --------
    >>> from scumble.gui.studies import as_python_call
    >>> as_python_call("photos.csv", {"labels": ["sky"]}), as_python_call("yeast", {})
    ("scumble.read('photos.csv', labels=['sky'])", "scumble.load('yeast')")
    """
    inside = [repr(source), *(f"{name}={value!r}" for name, value in options.items())]
    return f"scumble.{'read' if '.' in source else 'load'}({', '.join(inside)})"


def _written(value: Any) -> str:
    """Write a value; a list with a comma behind a single number, which else were a count."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(map(str, value)) + ("," if value and isinstance(value[-1], int) else "")
    return str(value).replace("\t", "\\t")
