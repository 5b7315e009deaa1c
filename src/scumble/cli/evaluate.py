"""``evaluate`` and ``score``: judge a classifier on folds, or predictions in a file."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from scumble._core.errors import ParameterError
from scumble.cli import inputs
from scumble.cli.console import progress, show_result
from scumble.cli.files import READS_DATA
from scumble.cli.inputs import lettered, one_resampling, optional

UNDEFINED = optional("What stands for 0/0: mulan, ignore, or a number.", "mulan")
TIES = optional("How equal scores are ranked: mulan, average or worst.", "mulan")
METRIC = lettered(
    "metric",
    "show this only, one of 'scumble methods metric' or of a group such as minority.macro_f1; "
    "several with ',' between.",
)


def evaluate(
    data: inputs.Input,
    classifier: list[str] = inputs.CLASSIFIER,
    resample: list[str] | None = one_resampling("of the training parts"),
    folds: inputs.FoldsOption = "2x5",
    test: inputs.TestOption = None,
    splitter: str = optional("How rows are dealt, see 'scumble methods splitter'.", "kfold"),
    metric: list[str] | None = METRIC,
    groups: str | None = optional(
        "Labels to show apart: all, minority, difficult, few, with ',' between. [default: minority]"
    ),
    undefined: str = UNDEFINED,
    ties: str = TIES,
    inside: inputs.Inside = inputs.BARE,
    seed: inputs.SeedOption = None,
    jobs: inputs.JobsOption = None,
    reading: inputs.Reading = inputs.AS_IS,
    json: inputs.JsonOption = False,
) -> None:
    """Judge a classifier on folds or on a test file; resampling touches training parts only."""
    from scumble.evaluate import cross_validate, make_splitter
    from scumble.evaluate.groups import GROUPS, check_groups
    from scumble.report.evaluation import render_evaluation

    # Everything is checked before the data is read, which may take long.
    judged = GROUPS if groups is None else tuple(check_groups(groups, caller="evaluate", own=False))
    metrics = inputs.parse_metrics(metric, judged)
    method, before, model, chain = inside.make(classifier, resample)
    dealt = make_splitter(folds, splitter)
    given, tested = reading.load(data), reading.load_test(test)
    with progress():
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
        "base": inside.base,
        "resample": before,
        "splits": folds if tested is None else None,
        "test": test,
        **found.to_dict(),
    }
    if metrics:
        result["metrics"] = {name: _of_folds(result, name) for name in metrics}
    elif not json:
        result["groups"] = ("minority",) if groups is None else judged
    show_result(result, render_evaluation, json=json)


def score(
    predictions: Annotated[
        str,
        typer.Argument(
            metavar="PREDICTIONS",
            help="What 'scumble predict' wrote, or any table of 0 and 1 or of scores with a column "
            "per label: .csv, .parquet, .npy, .npz (also sparse).",
        ),
        READS_DATA,
    ],
    truth: inputs.Truth,
    scores: str | None = optional(
        "Scores that belong to PREDICTIONS of 0 and 1, to judge their order.", mark=READS_DATA
    ),
    cut: float | None = optional(
        "From which score on a label is predicted; 0.5 where all are probabilities."
    ),
    training: str | None = optional(
        "The data that was learnt from: it tells which labels are rare.", mark=READS_DATA
    ),
    metric: list[str] | None = METRIC,
    top: inputs.TopOption = 20,
    undefined: str = UNDEFINED,
    ties: str = TIES,
    reading: inputs.Reading = inputs.AS_IS,
    json: inputs.JsonOption = False,
) -> None:
    """Judge a file of predictions against the labels, by every metric and label by label."""
    from scumble.evaluate.groups import GROUPS
    from scumble.evaluate.prediction_files import judge_predictions
    from scumble.learn.score_files import read_predictions
    from scumble.report.evaluation import render_judgement

    wanted = inputs.parse_metrics(metric, GROUPS)
    found = judge_predictions(
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
    show_result(result, partial(render_judgement, top=top, chosen=bool(wanted)), json=json)


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
