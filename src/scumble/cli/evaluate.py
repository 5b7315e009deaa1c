"""``evaluate``: a classifier on folds of a data set, with or without resampling."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from scumble.cli.inputs import (
    ONE_RESAMPLING,
    BaseOption,
    ClassifierOption,
    FoldsOption,
    FormatOption,
    Input,
    JobsOption,
    JsonOption,
    LabelsOption,
    ParamOption,
    ReadOption,
    ResamplerParameters,
    SeedOption,
    TestOption,
    TiesOption,
    UndefinedOption,
    load,
    load_test,
    method_parameters,
    parse_names,
    parse_one,
    parse_parameters,
)


def evaluate(
    data: Input,
    classifier: ClassifierOption,
    resample: Annotated[
        list[str] | None,
        typer.Option("--resample", "-r", help=ONE_RESAMPLING % "of the training parts"),
    ] = None,
    folds: FoldsOption = "2x5",
    test: TestOption = None,
    splitter: Annotated[
        str, typer.Option(help="How rows are dealt, see 'scumble methods splitter'.")
    ] = "kfold",
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            help="Metric: show this only, one of 'scumble methods metric' or of a group such as "
            "minority.macro_f1; several with ',' between.",
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            help="Labels to show apart: all, minority, difficult, few, with ',' between. "
            "[default: minority]"
        ),
    ] = None,
    undefined: UndefinedOption = "mulan",
    ties: TiesOption = "mulan",
    base: BaseOption = None,
    param: ParamOption = None,
    resample_param: ResamplerParameters = None,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    format: FormatOption = None,
    labels: LabelsOption = None,
    option: ReadOption = None,
    json: JsonOption = False,
) -> None:
    """Judge a classifier on folds or on a test file; resampling touches training parts only."""
    from scumble._core.calls import parse_call
    from scumble._core.progress import show_progress
    from scumble.cli.console import ProgressBar, show, show_json, width
    from scumble.evaluate import cross_validate, find_metric, make_splitter
    from scumble.evaluate.groups import GROUPS, check_groups
    from scumble.learn import make_classifier
    from scumble.report.evaluation import render_evaluation
    from scumble.resample import make_chain

    # Everything is checked before the data is read, which may take long.
    judged = GROUPS if groups is None else tuple(check_groups(groups, caller="evaluate", own=False))
    metrics = parse_names(metric)
    for name in metrics:
        find_metric(name, groups=judged)
    method, before = parse_one(classifier, "--classifier"), parse_one(resample, "--resample")
    name, own = parse_call(str(method))
    model = make_classifier(name, **method_parameters(own, base, param))
    chain = make_chain(before or "none", **parse_parameters(resample_param or []))
    dealt = make_splitter(folds, splitter)
    read: dict[str, Any] = {"format": format, "labels": labels, "options": option}
    given = load(data, **read)
    tested = load_test(test, **read)
    with show_progress(ProgressBar()):
        found = cross_validate(
            given,
            model,
            chain or None,
            splitter=dealt if tested is None else None,
            test=tested,
            undefined=number_or_word(undefined),
            ties=ties,
            groups=judged,
            random_state=seed,
            n_jobs=jobs,
        )
    result: dict[str, Any] = {
        "data": given.name,
        "classifier": method,
        "base": base,
        "resample": before,
        "splits": folds if tested is None else None,
        "test": test,
        **found.to_dict(),
    }
    if metrics:
        result["metrics"] = {name: _chosen(result, name) for name in metrics}
    elif not json:
        result["groups"] = ("minority",) if groups is None else judged
    if json:
        show_json(result)
    else:
        show(render_evaluation(result, width=width()))


def _chosen(result: dict[str, Any], name: str) -> dict[str, Any]:
    """Take a metric, by its mean over folds or pooled, out of what was found."""
    start, _, rest = name.partition(".")
    if start != "pooled":
        found: dict[str, Any] = result["metrics"][name]
        return found
    return {"mean": result["pooled"][rest], "sd": None, "folds": []}


def number_or_word(text: str) -> Any:
    """Understand what stands for 0/0."""
    try:
        return float(text)
    except ValueError:
        return text
