"""Tasks of worker processes that take minutes: advice, comparisons, training and prediction."""

import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from scumble._core.calls import format_call
from scumble._core.errors import ScumbleError, ScumbleWarning
from scumble._core.progress import progress_bar
from scumble.gui.folders import Upload, UploadedDataset
from scumble.gui.methods import make_model, make_resampler
from scumble.gui.worker import PackedDataset, Payload, interruptible

#: Maximum number of labels whose gains the page shows; of more labels, those with the most training
#: rows.
MAX_LABELS = 2000

#: Options of readers that describe how a file is written; files of the same origin usually share
#: them.
FILE_STYLE_OPTIONS = ("delimiter", "encoding", "decimal", "header")

#: Options of readers that are options of the command line as well; the others need ``--option``.
SHELL_OPTIONS = (
    "format",
    "labels",
    "label_column",
    "label_separator",
    "ignore",
    "text",
    "category",
    "keep",
)

#: Result of a task that writes a file: the name of the file, and further values for the client.
WrittenFile = tuple[str, Payload]


def advise_on(
    packed: PackedDataset, source: str, options: Payload, budget: float | None, random_state: int
) -> Payload:
    """Return the advice for a data set, with commands that name the file of the user.

    If the task is stopped, the advice contains the methods that were evaluated until then.
    """
    from scumble.advice import advise
    from scumble.advice.advice_text import fill_python, fill_shell

    with interruptible():
        advice = advise(packed.data, budget=budget, random_state=random_state).to_dict()
    model_name = f"{Path(source).stem}.model"
    read_call = as_python_call(source, options)
    return {
        **advice,
        "shell": fill_shell(advice["shell"], source, model_name, as_shell_options(options)),
        "python": [fill_python(line, read_call) for line in advice["python"]],
    }


def export_advice(advice: Payload, folder: Path, stem: str) -> WrittenFile:
    """Write an advice as an HTML page that needs no other files."""
    from scumble.report import render_advice_page

    path = folder / f"{stem}-advice.html"
    with progress_bar(f"Writing {path.name}"):
        path.write_text(render_advice_page(advice), encoding="utf-8")
    return path.name, {}


def compare_resamplers(
    packed: PackedDataset, methods: list[Payload], advice: Payload | None
) -> Payload:
    """Return what each of several resamplers changes, and which one is advised."""
    from scumble.learn.inner_classifier import set_random_states
    from scumble.report.treatment import resampler_comparison
    from scumble.resample import compare_methods

    steps_by_name = {format_chain([method]): [method] for method in methods}
    chains = {name: make_chain_of(steps) for name, steps in steps_by_name.items()}
    for [resampler] in chains.values():
        set_random_states(resampler, 0)  # the same request gives the same result
    comparison = resampler_comparison(compare_methods(packed.data, chains))
    return {**comparison, "advised": advised_method(packed, advice), "chains": steps_by_name}


def advised_method(packed: PackedDataset, advice: Payload | None) -> Payload:
    """Return the best resampler: by the advice for this data set, else by public data sets."""
    from scumble.advice.advice_text import best_resampler_in_advice
    from scumble.advice.evidence import best_resampler_in_evidence

    best = None if advice is None else best_resampler_in_advice(advice)
    is_measured_here = best is not None
    if best is None:
        scumble = packed.overview["summary"]["scumble"] or 0.0
        best = best_resampler_in_evidence(scumble)
    method, reason = best
    return {"method": method, "reason": reason, "measured_here": is_measured_here}


def run_comparison(
    packed: PackedDataset,
    classifiers: list[Payload],
    treatments: list[list[Payload]],
    folds: str,
    random_state: int,
    store: Path,
    source: str,
    options: Payload,
) -> Payload:
    """Compare classifiers with and without treatments on the same folds.

    Parameters
    ----------
    packed : PackedDataset
        The data set.
    classifiers : list of dict
        Each with ``classifier`` and ``parameters``.
    treatments : list of list of dict
        Chains of resamplers, each with ``method`` and ``parameters``.
    folds : str
        Repeats and folds, such as ``"2x5"``.
    random_state : int
        The seed.
    store : Path
        The store of results; folds that are in it are not evaluated again.
    source : str
        The name of the data set on the command line.
    options : dict
        Options for its reader.
    """
    from scumble.evaluate import compare
    from scumble.evaluate.metrics.label_groups import metric_title
    from scumble.report.evaluation import best_sentences

    classifiers_by_name = {
        format_call(classifier["classifier"], classifier["parameters"]): classifier
        for classifier in classifiers
    }
    chains: dict[str, list[Payload]] = {"none": []}
    for steps in treatments:
        if steps:
            chains[format_chain(steps)] = steps
    comparison = compare(
        packed.data,
        {name: make_model(**classifier) for name, classifier in classifiers_by_name.items()},
        {name: make_chain_of(steps) or None for name, steps in chains.items()},
        folds=folds,
        store=store,
        random_state=random_state,
    )
    recipes = [
        {"classifier": classifier, "treatment": steps}
        for steps, classifier in product(chains.values(), classifiers_by_name.values())
    ]
    command = [
        *("scumble", "compare", source),
        *as_shell_options(options),
        *("-c", ",".join(classifiers_by_name)),
        *("-r", ",".join(chains)),
        *("--folds", folds),
        *("--seed", str(random_state)),
    ]
    methods = comparison.results[1:]  # all but the baseline
    values = comparison.to_dict()
    return {
        **values,
        "gains": _gains_by_label(
            {method.name: comparison.gains(method.name) for method in methods}
        ),
        "n_folds": len(comparison.results[0].counts),
        "repeats": int(folds.partition("x")[0]),
        "confidence": comparison.confidence,
        "titles": {metric: metric_title(metric) for metric in comparison.metrics},
        "conclusion": best_sentences(values),
        "recipes": recipes,
        "shell": shlex.join(command),
    }


def train(
    packed: PackedDataset, recipe: Payload, random_state: int, folder: Path, stem: str
) -> Payload:
    """Train a model on all rows and save it; return its description.

    Parameters
    ----------
    packed : PackedDataset
        The data set.
    recipe : dict
        Either ``candidate``, the name of a method of the advice, or ``classifier`` and
        ``treatment``, the resamplers that are applied to the rows first.
    random_state : int
        The seed.
    folder : Path
        The folder for the model.
    stem : str
        Name of the file without its extension.
    """
    from scumble.learn import save

    data = packed.data
    title = format_recipe(recipe)
    with progress_bar(f"Training {title}"):
        model = _fit_recipe(data, recipe, random_state)
        path = folder / f"{stem}.model"
        save(model, path, data=data, notes={"method": title, "random_state": random_state})
    return {"name": path.name, "title": title, "n_labels": data.n_labels}


def _fit_recipe(data: Any, recipe: Payload, random_state: int) -> Any:
    """Return the fitted model of a recipe."""
    from scumble.advice import CANDIDATES
    from scumble.learn import fit_dataset
    from scumble.learn.inner_classifier import set_random_states

    if "candidate" in recipe:
        [candidate] = [
            candidate for candidate in CANDIDATES if candidate.name == recipe["candidate"]
        ]
        return candidate.fit(data, random_state=random_state)
    resamplers = make_chain_of(recipe["treatment"])
    resamplers = [set_random_states(resampler, random_state) for resampler in resamplers]
    classifier = make_model(**recipe["classifier"])
    return fit_dataset(classifier, data, resamplers, random_state=random_state)


def predict(
    model: Path,
    uploaded: UploadedDataset,
    training_options: Payload,
    folder: Path,
    name: str,
    confidences: bool,
) -> WrittenFile:
    """Predict the labels of an uploaded file with a saved model, and write the predictions.

    Parameters
    ----------
    model : Path
        The file of the model.
    uploaded : UploadedDataset
        The file with the rows.
    training_options : dict
        Options with which the training data was read. They are tried for options of the file that
        are not specified.
    folder : Path
        The folder for the predictions.
    name : str
        Name of the file of predictions.
    confidences : bool
        Whether to write the scores as well.
    """
    from scumble import learn
    from scumble.gui.read_upload import read_upload
    from scumble.learn.storage.model_predictions import read_with_optional_labels

    def read_rows(path: Path, **options: Any) -> Any:
        from scumble.data import read

        return read_with_optional_labels(partial(read, path, keep=True), **options)

    def read_with_options(options: Payload) -> Any:
        all_options = {**options, **uploaded.options}
        return read_upload(read_rows, replace(uploaded, options=all_options))

    with progress_bar("Predicting"):
        predictions = _predict_with_first_fitting_options(
            predict_rows=partial(learn.predict_dataset, learn.read_model(model)),
            read_with_options=read_with_options,
            candidates=_candidate_options(training_options, uploaded),
        )
        predictions.write(folder / name, confidences=confidences)
    return name, predictions.to_dict()


def _candidate_options(training_options: Payload, uploaded: UploadedDataset) -> Iterator[Payload]:
    """Yield options that may fit a file similar to the training data, the likeliest first.

    Reading a file of another encoding as UTF-8 fails. Reading UTF-8 in another encoding does not
    fail but gives wrong texts, so UTF-8 comes first.
    """
    style = {key: training_options[key] for key in FILE_STYLE_OPTIONS if key in training_options}
    utf8_style = {key: value for key, value in style.items() if key != "encoding"}
    candidates: list[Payload] = []
    for options in (utf8_style, style, {}):
        if options not in candidates:
            candidates.append(options)
    yield from candidates
    if "encoding" in uploaded.options:
        return
    encoding = _likely_encoding(uploaded.file, utf8_style)
    if encoding not in (None, "utf-8", "utf-16", style.get("encoding")):
        warnings.warn(
            f"{uploaded.file.display_name} is not UTF-8. It is read as {encoding}.",
            ScumbleWarning,
            stacklevel=2,
        )
        yield {**utf8_style, "encoding": encoding}


def _likely_encoding(file: Upload, options: Payload) -> str | None:
    """Return the encoding that a preview would show, or None if the file has no preview."""
    from scumble.data.preview import preview

    with suppress(ScumbleError):
        return preview(file.path, **options).encoding
    return None


def _predict_with_first_fitting_options(
    predict_rows: Callable[[Any], Any],
    read_with_options: Callable[[Payload], Any],
    candidates: Iterator[Payload],
) -> Any:
    """Return the predictions for the rows read with the first options that fit the model.

    If none fit, the error of a file that was read but has, for example, other columns is raised;
    if no options could read the file, the error of the reader.
    """
    read_error = prediction_error = None
    for options in candidates:
        try:
            rows = read_with_options(options)
        except ScumbleError as error:
            read_error = error
            continue
        try:
            return predict_rows(rows)
        except ScumbleError as error:
            prediction_error = error
    raise prediction_error or read_error or ScumbleError("There is no way to read the file.")


def make_chain_of(steps: list[Payload]) -> list[Any]:
    """Return the resamplers of a chain that a client sent."""
    return [make_resampler(**step) for step in steps]


def format_chain(steps: list[Payload]) -> str:
    """Return a chain of resamplers as the command line spells it."""
    return "+".join(format_call(step["method"], step["parameters"]) for step in steps)


def format_recipe(recipe: Payload) -> str:
    """Return the name of a recipe, as in comparisons: its classifier and its treatment."""
    if "candidate" in recipe:
        return str(recipe["candidate"])
    classifier = recipe["classifier"]
    name = format_call(classifier["classifier"], classifier["parameters"])
    chain = format_chain(recipe["treatment"])
    return f"{name} after {chain}" if chain else name


def _gains_by_label(gains: Mapping[str, Sequence[Payload]]) -> Payload:
    """Return the F1 of labels, before and after each method, as columns.

    Parameters
    ----------
    gains : mapping of str to sequence of dict
        For each method, a row per label: ``name``, ``training_positives``, ``before``, ``after``.
    """
    all_rows = next(iter(gains.values()), ())
    rows = sorted(all_rows, key=lambda row: -row["training_positives"])[:MAX_LABELS]
    after = {}
    for method, method_rows in gains.items():
        f1_after = {row["name"]: row["after"] for row in method_rows}
        after[method] = [f1_after[row["name"]] for row in rows]
    return {
        "label": [row["name"] for row in rows],
        "training_positives": [row["training_positives"] for row in rows],
        "before": [row["before"] for row in rows],
        "after": after,
        "n_left_out": len(all_rows) - len(rows),
    }


# The options with which a file was opened, for the command line and for Python


def as_shell_options(options: Payload) -> list[str]:
    r"""Return options of a reader as arguments of a command.

    Examples
    --------
    >>> from scumble.gui.long_tasks import as_shell_options
    >>> as_shell_options({"labels": ["sky", "sea"], "ignore": [0, "id"]})
    ['--labels', 'sky,sea', '--ignore', '0', '--ignore', 'id']
    >>> as_shell_options({"decimal": ",", "header": True})
    ['--option', 'decimal=,', '--option', 'header=true']
    >>> as_shell_options({"labels": [4], "label_separator": "\t"})
    ['--labels', '4,', '--label-separator', '\\t']
    """
    arguments: list[str] = []
    for name, value in options.items():
        # Only --labels takes a list; other options are repeated.
        values = value if isinstance(value, list) and name != "labels" else [value]
        for single_value in values:
            text = _shell_value(single_value)
            if name in SHELL_OPTIONS:
                arguments += [f"--{name.replace('_', '-')}", text]
            else:
                arguments += ["--option", f"{name}={text}"]
    return arguments


def as_python_call(source: str, options: Payload) -> str:
    """Return the Python call that reads the data.

    Examples
    --------
    >>> from scumble.gui.long_tasks import as_python_call
    >>> as_python_call("photos.csv", {"labels": ["sky"]}), as_python_call("yeast", {})
    ("scumble.read('photos.csv', labels=['sky'])", "scumble.load('yeast')")
    """
    function = "read" if "." in source else "load"
    arguments = [repr(source), *(f"{name}={value!r}" for name, value in options.items())]
    return f"scumble.{function}({', '.join(arguments)})"


def _shell_value(value: Any) -> str:
    """Return the value of an option as text.

    A list of column numbers ends with a comma: a single number without one would be a count.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        text = ",".join(map(str, value))
        if value and isinstance(value[-1], int):
            text += ","
        return text
    return str(value).replace("\t", "\\t")
