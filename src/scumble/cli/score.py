"""``score``: predictions that are there already, of any model, against the labels."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from scumble._core.errors import ParameterError
from scumble.cli.describe import TopOption
from scumble.cli.files import READS_DATA
from scumble.cli.inputs import (
    FormatOption,
    JsonOption,
    LabelsOption,
    ReadOption,
    TiesOption,
    UndefinedOption,
    parse_names,
)
from scumble.cli.thresholds import read_labels


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
    truth: Annotated[
        str,
        typer.Argument(
            metavar="LABELS",
            help="The labels of these rows: a data set, or a table or array of 0 and 1.",
        ),
        READS_DATA,
    ],
    scores: Annotated[
        str | None,
        typer.Option(help="Scores that belong to PREDICTIONS of 0 and 1, to judge their order."),
        READS_DATA,
    ] = None,
    cut: Annotated[
        float | None,
        typer.Option(
            help="From which score on a label is predicted; 0.5 where all are probabilities."
        ),
    ] = None,
    training: Annotated[
        str | None,
        typer.Option(help="The data that was learnt from: it tells which labels are rare."),
        READS_DATA,
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            help="Metric: show this only, one of 'scumble methods metric' or of a group such as "
            "minority.macro_f1; several with ',' between.",
        ),
    ] = None,
    top: TopOption = 20,
    undefined: UndefinedOption = "mulan",
    ties: TiesOption = "mulan",
    format: FormatOption = None,
    labels: LabelsOption = None,
    option: ReadOption = None,
    json: JsonOption = False,
) -> None:
    """Judge a file of predictions against the labels, by every metric and label by label."""
    from scumble.cli.console import show, show_json, width
    from scumble.cli.evaluate import number_or_word
    from scumble.evaluate import find_metric
    from scumble.evaluate.groups import GROUPS
    from scumble.evaluate.prediction_files import judge_predictions
    from scumble.learn.score_files import read_predictions
    from scumble.report.evaluation import render_judgement

    wanted = parse_names(metric)
    for name in wanted:
        find_metric(name, groups=GROUPS)
    how: dict[str, Any] = {"format": format, "labels": labels, "options": option}
    found = judge_predictions(
        read_predictions(predictions),
        read_labels(truth, **how),
        scores=None if scores is None else read_predictions(scores),
        cut=cut,
        training=None if training is None else read_labels(training, **how),
        undefined=number_or_word(undefined),
        ties=ties,
    )
    result: dict[str, Any] = {"predictions": predictions, "truth": truth, **found.to_dict()}
    if wanted:
        result["metrics"] = {name: _chosen(result["metrics"], name) for name in wanted}
    if json:
        show_json(result)
    else:
        show(render_judgement(result | {"chosen": bool(wanted)}, top=top, width=width()))


def _chosen(metrics: dict[str, Any], name: str) -> Any:
    if name not in metrics:
        what = "--training" if "." in name else "predictions or scores that it judges"
        raise ParameterError(f"The metric {name!r} cannot be told here: it needs {what}.")
    return metrics[name]
