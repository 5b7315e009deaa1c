"""``evaluate``, ``compare`` and ``score``: evaluate classifiers, or predictions in a file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import typer

from scumble._core.calls import parse_call
from scumble._core.errors import ParameterError
from scumble.cli import console
from scumble.cli.files import FileRole
from scumble.cli.options import (
    RESAMPLER_SYNTAX,
    BaseOption,
    ClassifierOption,
    DataArgument,
    FoldsOption,
    JobsOption,
    JsonOption,
    MethodOptions,
    ReadOptions,
    SeedOption,
    TestOption,
    TopOption,
    TruthArgument,
    read_labels,
)
from scumble.cli.parse import parse_metrics, parse_names, parse_number_or_word

UndefinedOption = Annotated[
    str,
    typer.Option("--undefined", help="Value of a metric that is 0/0: mulan, ignore, or a number."),
]
TiesOption = Annotated[
    str,
    typer.Option("--ties", help="How equal scores are ranked: mulan, average or worst."),
]
MetricOption = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        "-m",
        help="Metric: show this only, one of 'scumble methods metric' or of a group such as "
        "minority.macro_f1; several separated by commas.",
    ),
]
#: What ``compare`` compares by default: binary relevance and the classifier for rare labels.
DEFAULT_CLASSIFIERS = ("br", "rare")


def evaluate(
    data: DataArgument,
    *,
    classifier: ClassifierOption,
    resample: Annotated[
        list[str] | None,
        typer.Option(
            "--resample", "-r", help=f"Resampling: of the training parts; {RESAMPLER_SYNTAX}"
        ),
    ] = None,
    folds: FoldsOption = "2x5",
    test: TestOption = None,
    splitter: Annotated[
        str,
        typer.Option(
            "--splitter", help="How rows are assigned to folds, see 'scumble methods splitter'."
        ),
    ] = "kfold",
    metric: MetricOption = None,
    groups: Annotated[
        str | None,
        typer.Option(
            "--groups",
            help="Label groups to show separately: all, minority, difficult, few, separated by "
            "commas. [default: minority]",
        ),
    ] = None,
    undefined: UndefinedOption = "mulan",
    ties: TiesOption = "mulan",
    method_options: MethodOptions,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    read: ReadOptions,
    json: JsonOption = False,
) -> None:
    """Evaluate a classifier on folds or on a test file; only training parts are resampled."""
    from scumble.evaluate import cross_validate, make_splitter
    from scumble.evaluate.metrics.label_groups import GROUPS, check_groups
    from scumble.report.evaluation import render_evaluation

    # Everything is checked before the data is read, which may take long.
    label_groups: tuple[str, ...] = GROUPS
    if groups is not None:
        label_groups = tuple(check_groups(groups, caller="evaluate", allow_custom=False))
    metrics = parse_metrics(metric, label_groups)
    method = method_options.make_method(classifier, resample)
    fold_splitter = make_splitter(folds, splitter)
    dataset = read.load(data)
    test_set = read.load_test(test)
    with console.progress():
        evaluation = cross_validate(
            dataset,
            method.classifier,
            method.resamplers or None,
            splitter=fold_splitter if test_set is None else None,
            test=test_set,
            undefined=parse_number_or_word(undefined),
            ties=ties,
            groups=label_groups,
            random_state=seed,
            n_jobs=jobs,
        )
    result: dict[str, Any] = {
        "data": dataset.name,
        "classifier": method.classifier_name,
        "base": method_options.base,
        "resample": method.resampler_name,
        "splits": folds if test_set is None else None,
        "test": test,
        **evaluation.to_dict(),
    }
    if metrics:
        result["metrics"] = {name: _metric_over_folds(result, name) for name in metrics}
    elif not json:
        result["groups"] = ("minority",) if groups is None else label_groups
    console.show_result(result, render_evaluation, as_json=json)


def score(
    predictions: Annotated[
        str,
        typer.Argument(
            metavar="PREDICTIONS",
            help="What 'scumble predict' wrote, or any table of 0 and 1 or of scores with a column "
            "per label: .csv, .parquet, .npy, .npz (also sparse).",
        ),
        FileRole.READS_DATA,
    ],
    truth: TruthArgument,
    *,
    scores: Annotated[
        str | None,
        typer.Option(
            "--scores", help="Scores that belong to PREDICTIONS of 0 and 1, for ranking metrics."
        ),
        FileRole.READS_DATA,
    ] = None,
    cut: Annotated[
        float | None,
        typer.Option(
            "--cut", help="Decision threshold of all labels; 0.5 if all scores are probabilities."
        ),
    ] = None,
    training: Annotated[
        str | None,
        typer.Option("--training", help="The training data: it determines which labels are rare."),
        FileRole.READS_DATA,
    ] = None,
    metric: MetricOption = None,
    top: TopOption = 20,
    undefined: UndefinedOption = "mulan",
    ties: TiesOption = "mulan",
    read: ReadOptions,
    json: JsonOption = False,
) -> None:
    """Evaluate a file of predictions against the labels, by every metric and label by label."""
    from scumble.evaluate.metrics.label_groups import GROUPS
    from scumble.evaluate.prediction_files import score_predictions
    from scumble.learn.storage.score_files import read_predictions
    from scumble.report.evaluation import render_prediction_report

    metrics = parse_metrics(metric, GROUPS)
    report = score_predictions(
        read_predictions(predictions),
        read_labels(truth, read),
        scores=None if scores is None else read_predictions(scores),
        cut=cut,
        training=None if training is None else read_labels(training, read),
        undefined=parse_number_or_word(undefined),
        ties=ties,
    )
    result: dict[str, Any] = {"predictions": predictions, "truth": truth, **report.to_dict()}
    if metrics:
        result["metrics"] = {name: _metric_of_file(result["metrics"], name) for name in metrics}
    render = partial(render_prediction_report, top=top, show_all_metrics=bool(metrics))
    console.show_result(result, render, as_json=json)


def _metric_over_folds(result: dict[str, Any], name: str) -> dict[str, Any]:
    """Return mean, standard deviation and folds of a metric; a pooled metric has the mean only."""
    prefix, _, pooled_name = name.partition(".")
    if prefix == "pooled":
        return {"mean": result["pooled"][pooled_name], "sd": None, "folds": []}
    values: dict[str, Any] = result["metrics"][name]
    return values


def _metric_of_file(metrics: dict[str, Any], name: str) -> Any:
    """Return the value of a metric; raise an error if an input for it is missing."""
    if name not in metrics:
        requirement = "--training" if "." in name else "predictions or scores that it evaluates"
        raise ParameterError(
            f"The metric {name!r} cannot be computed here: it needs {requirement}."
        )
    return metrics[name]


def compare(
    data: DataArgument,
    *,
    classifier: Annotated[
        list[str] | None,
        typer.Option(
            "--classifier",
            "-c",
            help="Classifier: several separated by commas; parameters in brackets: "
            "rare(quality=best),br. [default: br,rare]",
        ),
    ] = None,
    resample: Annotated[
        list[str] | None,
        typer.Option(
            "--resample",
            "-r",
            help="Resampling: of the training parts, several separated by commas: none, remedial, "
            "mlsmote(n_neighbors=3), or steps with '+'. [default: none]",
        ),
    ] = None,
    base: BaseOption = None,
    folds: FoldsOption = "2x5",
    test: TestOption = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            help="Metric: to compare by; several separated by commas, the first decides.",
        ),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option("--plot", help="Draw the gain of each label by the best method (png, svg)."),
        FileRole.WRITES,
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            "-s",
            help="Store: keep every fold in this file as soon as it is evaluated, and continue "
            "from there; the seed is 0 unless you give one.",
        ),
        FileRole.WRITES,
    ] = None,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    read: ReadOptions,
    json: JsonOption = False,
) -> None:
    """Compare classifiers, with and without resampling, on the same folds.

    Every combination is compared with the first and gets a verdict: better, worse, or no difference
    that these folds can show.
    """
    from scumble.evaluate import compare as run_comparison
    from scumble.evaluate.comparison import DEFAULT_METRICS
    from scumble.evaluate.metrics.label_groups import GROUPS
    from scumble.report import render_method_comparison
    from scumble.resample import make_chain

    # Everything is checked before the data is read, which may take long.
    metrics = tuple(parse_metrics(metric, GROUPS) or DEFAULT_METRICS)
    classifiers = _make_classifiers(parse_names(classifier) or DEFAULT_CLASSIFIERS, base)
    resamplers = {}
    for name in parse_names(resample) or ["none"]:
        resamplers[name] = make_chain(name) or None
    dataset = read.load(data)
    test_set = read.load_test(test)
    if store is not None and seed is None:
        seed = 0  # the next call with this store makes the same folds
    with console.progress():
        comparison = run_comparison(
            dataset,
            classifiers,
            resamplers,
            folds=folds,
            test=test_set,
            metrics=metrics,
            random_state=seed,
            n_jobs=jobs,
            store=store,
        )
    if plot is not None:
        from scumble.plots import plot_gains, save_plot

        save_plot(plot_gains(comparison), plot)
    console.show_result(comparison.to_dict(), render_method_comparison, as_json=json)


def _make_classifiers(names: Sequence[str], base: str | None) -> dict[str, Any]:
    """Return the classifiers by name; `base` is the base learner of those that name none."""
    from scumble.learn import make_classifier
    from scumble.learn.make_and_fit import base_parameter

    classifiers = {}
    is_base_used = False
    for text in names:
        name, parameters = parse_call(text)
        if base is None or "base" in parameters or base_parameter(name) is None:
            classifiers[text] = make_classifier(name, **parameters)
        else:
            is_base_used = True
            parameters["base"] = base
            text_in_brackets = ", ".join(f"{key}={value}" for key, value in parameters.items())
            classifiers[f"{name}({text_in_brackets})"] = make_classifier(name, **parameters)
    if base is not None and not is_base_used:
        raise ParameterError(
            f"None of {', '.join(names)} takes the base {base!r} of --base: they have no base "
            "learner, or name one themselves."
        )
    return classifiers
