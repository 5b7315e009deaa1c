"""``evaluate``, ``compare`` and ``score``: judge classifiers on folds, or predictions in a file."""

from functools import partial
from typing import Any

from scumble._core.calls import parse_call
from scumble._core.errors import ParameterError
from scumble.cli import console, inputs
from scumble.cli.files import READS_DATA, WRITES
from scumble.cli.inputs import make_argument, make_option, make_short_option

UNDEFINED = make_option("What stands for 0/0: mulan, ignore, or a number.", "mulan")
TIES = make_option("How equal scores are ranked: mulan, average or worst.", "mulan")
METRIC = make_short_option(
    "metric",
    "show this only, one of 'scumble methods metric' or of a group such as minority.macro_f1; "
    "several with ',' between.",
)


def evaluate(
    data: str = inputs.DATA,
    classifier: list[str] = inputs.CLASSIFIER,
    resample: list[str] | None = inputs.make_resample_option("of the training parts"),
    folds: str = inputs.FOLDS,
    test: str | None = inputs.TEST,
    splitter: str = make_option("How rows are dealt, see 'scumble methods splitter'.", "kfold"),
    metric: list[str] | None = METRIC,
    groups: str | None = make_option(
        "Labels to show apart: all, minority, difficult, few, with ',' between. [default: minority]"
    ),
    undefined: str = UNDEFINED,
    ties: str = TIES,
    method_options: inputs.MethodOptions = inputs.DEFAULT_METHOD_OPTIONS,
    seed: int | None = inputs.SEED,
    jobs: int | None = inputs.JOBS,
    reading: inputs.ReadOptions = inputs.DEFAULT_READ_OPTIONS,
) -> None:
    """Judge a classifier on folds or on a test file; resampling touches training parts only."""
    from scumble.evaluate import cross_validate, make_splitter
    from scumble.evaluate.metrics.label_groups import GROUPS, check_groups
    from scumble.report.evaluation import render_evaluation

    # Everything is checked before the data is read, which may take long.
    judged = (
        GROUPS
        if groups is None
        else tuple(check_groups(groups, caller="evaluate", allow_custom=False))
    )
    metrics = inputs.parse_metrics(metric, judged)
    method, before, model, chain = method_options.make(classifier, resample)
    dealt = make_splitter(folds, splitter)
    given, tested = reading.load(data), reading.load_test(test)
    with console.progress():
        found = cross_validate(
            given,
            model,
            chain or None,
            splitter=dealt if tested is None else None,
            test=tested,
            undefined=_number_or_word(undefined),
            ties=ties,
            groups=judged,
            random_state=seed,
            n_jobs=jobs,
        )
    result: dict[str, Any] = {
        "data": given.name,
        "classifier": method,
        "base": method_options.base,
        "resample": before,
        "splits": folds if tested is None else None,
        "test": test,
        **found.to_dict(),
    }
    if metrics:
        result["metrics"] = {name: _of_folds(result, name) for name in metrics}
    elif not console.is_json():
        result["groups"] = ("minority",) if groups is None else judged
    console.show_result(result, render_evaluation)


def score(
    predictions: str = make_argument(
        "PREDICTIONS",
        "What 'scumble predict' wrote, or any table of 0 and 1 or of scores with a column "
        "per label: .csv, .parquet, .npy, .npz (also sparse).",
        file_role=READS_DATA,
    ),
    truth: str = inputs.TRUTH,
    scores: str | None = make_option(
        "Scores that belong to PREDICTIONS of 0 and 1, to judge their order.", file_role=READS_DATA
    ),
    cut: float | None = make_option(
        "From which score on a label is predicted; 0.5 where all are probabilities."
    ),
    training: str | None = make_option(
        "The data that was learnt from: it tells which labels are rare.", file_role=READS_DATA
    ),
    metric: list[str] | None = METRIC,
    top: int = make_option("How many to show: 0 for all.", 20, min=0),
    undefined: str = UNDEFINED,
    ties: str = TIES,
    reading: inputs.ReadOptions = inputs.DEFAULT_READ_OPTIONS,
) -> None:
    """Judge a file of predictions against the labels, by every metric and label by label."""
    from scumble.evaluate.metrics.label_groups import GROUPS
    from scumble.evaluate.prediction_files import score_predictions
    from scumble.learn.storage.score_files import read_predictions
    from scumble.report.evaluation import render_prediction_report

    wanted = inputs.parse_metrics(metric, GROUPS)
    found = score_predictions(
        read_predictions(predictions),
        inputs.read_labels(truth, reading),
        scores=None if scores is None else read_predictions(scores),
        cut=cut,
        training=None if training is None else inputs.read_labels(training, reading),
        undefined=_number_or_word(undefined),
        ties=ties,
    )
    result: dict[str, Any] = {"predictions": predictions, "truth": truth, **found.to_dict()}
    if wanted:
        result["metrics"] = {name: _of_file(result["metrics"], name) for name in wanted}
    console.show_result(
        result, partial(render_prediction_report, top=top, show_all_metrics=bool(wanted))
    )


def _of_folds(result: dict[str, Any], name: str) -> Any:
    """Take a metric, by its mean over folds or pooled, out of what was found."""
    start, _, rest = name.partition(".")
    if start != "pooled":
        return result["metrics"][name]
    return {"mean": result["pooled"][rest], "sd": None, "folds": []}


def _of_file(metrics: dict[str, Any], name: str) -> Any:
    if name not in metrics:
        what = "--training" if "." in name else "predictions or scores that it judges"
        raise ParameterError(f"The metric {name!r} cannot be told here: it needs {what}.")
    return metrics[name]


def _number_or_word(text: str) -> Any:
    """Understand what stands for 0/0."""
    try:
        return float(text)
    except ValueError:
        return text


def compare(
    data: str = inputs.DATA,
    classifier: list[str] | None = make_short_option(
        "classifier",
        "several with ',' between; parameters in brackets: rare(quality=best),br. "
        "[default: br,rare]",
    ),
    resample: list[str] | None = make_short_option(
        "resample",
        "of the training parts, several with ',' between: none, remedial, "
        "mlsmote(n_neighbors=3), or steps with '+'. [default: none]",
    ),
    base: str | None = inputs.BASE,
    folds: str = inputs.FOLDS,
    test: str | None = inputs.TEST,
    metric: list[str] | None = make_short_option(
        "metric", "to judge by; several with ',' between, the first decides."
    ),
    plot: str | None = make_option(
        "Draw what each label gains by the best method (png, svg).", file_role=WRITES
    ),
    store: str | None = make_short_option(
        "store",
        "keep every fold in this file as soon as it is judged, and go on from there; the seed "
        "is 0 unless you give one.",
        file_role=WRITES,
    ),
    seed: int | None = inputs.SEED,
    jobs: int | None = inputs.JOBS,
    reading: inputs.ReadOptions = inputs.DEFAULT_READ_OPTIONS,
) -> None:
    """Compare classifiers, with and without resampling, on the same folds.

    Every combination is held against the first, and gets a verdict: better, worse, or no difference
    that these folds can show.
    """
    from scumble.evaluate.comparison import DEFAULT_METRICS
    from scumble.evaluate.metrics.label_groups import GROUPS
    from scumble.report import render_method_comparison
    from scumble.resample import make_chain

    # Everything is checked before the data is read, which may take long.
    metrics = tuple(inputs.parse_metrics(metric, GROUPS) or DEFAULT_METRICS)
    models = _models(inputs.parse_names(classifier) or ["br", "rare"], base)
    chains = {text: make_chain(text) or None for text in inputs.parse_names(resample) or ["none"]}
    given, tested = reading.load(data), reading.load_test(test)
    options: dict[str, Any] = {"folds": folds, "metrics": metrics, "test": tested, "n_jobs": jobs}
    with console.progress():
        found = _compare(store, seed, given, models, chains, **options)
    if plot is not None:
        from scumble.plots import plot_gains, save_plot

        save_plot(plot_gains(found), plot)
    console.show_result(found.to_dict(), render_method_comparison)


def _models(texts: list[str], base: str | None) -> dict[str, Any]:
    """Make classifiers of what was typed; those without a base of their own get the common one."""
    from scumble.learn import make_classifier
    from scumble.learn.make_and_fit import base_parameter

    models = {}
    without = 0
    for text in texts:
        name, own = parse_call(text)
        common = None if "base" in own or base_parameter(name) is None else base
        without += common is None
        given = inputs.method_parameters(own, common)
        inside = ", ".join(f"{key}={value}" for key, value in given.items())
        shown = text if common is None else f"{name}({inside})"
        models[shown] = make_classifier(name, **given)
    if base is not None and without == len(texts):
        raise ParameterError(
            f"None of {', '.join(texts)} takes the base {base!r} of --base: they ask no other "
            "classifier, or have one of their own."
        )
    return models


def _compare(store: str | None, seed: int | None, *given: Any, **options: Any) -> Any:
    """Compare, with a store or without."""
    if store is None:
        from scumble import evaluate

        return evaluate.compare(*given, random_state=seed, **options)
    from scumble import experiment

    return experiment.compare(*given, store=store, random_state=seed or 0, **options)
