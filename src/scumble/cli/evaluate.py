"""``evaluate``: a classifier on folds of a data set, with or without resampling."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from scumble.cli.inputs import (
    ClassifierOption,
    ClassifierParameters,
    FormatOption,
    Input,
    JsonOption,
    LabelsOption,
    ReadOption,
    ResamplerParameters,
    SeedOption,
    load,
    parse_parameters,
)


def evaluate(
    data: Input,
    classifier: ClassifierOption,
    resample: Annotated[
        str | None,
        typer.Option(
            "--resample", "-r", help="Resample training parts; several methods with '+' between."
        ),
    ] = None,
    folds: Annotated[
        str, typer.Option(help="Repetitions x folds, a number of folds, or a file of folds.")
    ] = "2x5",
    splitter: Annotated[str, typer.Option(help="How rows are dealt: {splitter}.")] = "kfold",
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Show this metric only: one of 'scumble methods metric', or of a group such as "
            "minority.macro_f1; repeatable."
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            help="Labels to show apart: all, minority, difficult, few, with ',' between. "
            "[default: minority]"
        ),
    ] = None,
    undefined: Annotated[
        str, typer.Option(help="What stands for 0/0: mulan, ignore, or a number.")
    ] = "mulan",
    ties: Annotated[
        str, typer.Option(help="How equal scores are ranked: mulan, average or worst.")
    ] = "mulan",
    param: ClassifierParameters = None,
    resample_param: ResamplerParameters = None,
    seed: SeedOption = None,
    jobs: Annotated[
        int | None, typer.Option(help="Processes that share the folds; never changes a result.")
    ] = None,
    format: FormatOption = None,
    labels: LabelsOption = None,
    option: ReadOption = None,
    json: JsonOption = False,
) -> None:
    """Judge a classifier by cross-validation; resampling touches training parts only."""
    from scumble._core.progress import show_progress
    from scumble.cli.console import ProgressBar, show, show_json, width
    from scumble.evaluate import cross_validate, find_metric, make_splitter
    from scumble.evaluate.groups import GROUPS, check_groups
    from scumble.learn import make_classifier
    from scumble.report.evaluation import render_evaluation
    from scumble.resample import make_chain

    # Everything is checked before the data is read, which may take long.
    judged = GROUPS if groups is None else tuple(check_groups(groups, caller="evaluate", own=False))
    for name in metric or []:
        find_metric(name, groups=judged)
    model = make_classifier(classifier, **parse_parameters(param or []))
    chain = (
        None if resample is None else make_chain(resample, **parse_parameters(resample_param or []))
    )
    dealt = make_splitter(folds, splitter)
    given = load(data, format=format, labels=labels, options=option)
    with show_progress(ProgressBar()):
        found = cross_validate(
            given,
            model,
            chain,
            splitter=dealt,
            undefined=_number_or_word(undefined),
            ties=ties,
            groups=judged,
            random_state=seed,
            n_jobs=jobs,
        )
    result: dict[str, Any] = {
        "data": given.name,
        "classifier": classifier,
        "resample": resample,
        "splits": folds,
        **found.to_dict(),
    }
    if metric:
        result["metrics"] = {name: _chosen(result, name) for name in metric}
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


def _number_or_word(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
