"""``thresholds``: from which score on each label is predicted, for models that live elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scumble._core.errors import ParameterError
from scumble.cli.files import READS_DATA, WRITES, may_be_on_the_shelf
from scumble.cli.inputs import (
    FormatOption,
    JobsOption,
    JsonOption,
    LabelsOption,
    ReadOption,
    load,
    parse_labels,
    parse_one,
    parse_options,
)
from scumble.cli.scale import (
    Choice,
    EngineOption,
    InstanceColumnOption,
    LabelColumnOption,
    MemoryOption,
    SparkOption,
    engine_asked,
)

if TYPE_CHECKING:
    from scumble.learn import ThresholdTable
    from scumble.learn.score_files import NamedCells


def thresholds(
    scores: Annotated[
        str,
        typer.Argument(
            metavar="SCORES",
            help="Scores of rows the model has not learnt from, a column per label: a table "
            "(.csv, .parquet), .npy, or .npz (also sparse).",
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
    rule: Annotated[
        str, typer.Option(help="How to choose: shrunken, capped, plain, rate, fixed.")
    ] = "shrunken",
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Metric: to make large, f1, f2 or f0.5. [default: f1]"),
    ] = None,
    strength: Annotated[
        float, typer.Option(help="How many positives the mean of all labels is worth.")
    ] = 20.0,
    threshold: Annotated[float, typer.Option(help="The threshold of --rule fixed.")] = 0.5,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Where to write: the table, too, as .csv or .json."),
        WRITES,
    ] = None,
    predictions: Annotated[
        str | None,
        typer.Option(help="Also write the resulting labels: .csv, .parquet or .npz (sparse)."),
        WRITES,
    ] = None,
    jobs: JobsOption = None,
    format: FormatOption = None,
    labels: LabelsOption = None,
    option: ReadOption = None,
    label_column: LabelColumnOption = None,
    instance_column: InstanceColumnOption = None,
    score_column: Annotated[
        str | None, typer.Option(help="With --engine: the column with scores.")
    ] = None,
    n_instances: Annotated[
        int | None, typer.Option(help="With --engine: how many instances there are, if known.")
    ] = None,
    engine: EngineOption = None,
    memory: MemoryOption = None,
    spark: SparkOption = None,
    json: JsonOption = False,
) -> None:
    """Choose from which score on each label is predicted, for the scores of any model."""
    from scumble.cli.console import show, show_json, width
    from scumble.report.terminal import render_thresholds

    _check_outputs(output, predictions)
    judged = parse_one(metric, "--metric") or "f1"
    how = {"rule": rule, "metric": judged, "strength": strength, "threshold": threshold}
    choice = Choice(engine, memory, label_column, instance_column, spark)
    asked = engine_asked(scores, choice) or ("duckdb" if score_column or n_instances else None)
    if asked is not None:
        if predictions is not None:
            raise ParameterError(
                "--predictions needs scores that fit into memory. With --engine write the "
                "thresholds (--output) and compare them where the scores are."
            )
        how |= {"score_column": score_column or "score", "n_instances": n_instances}
        table = _on_engine(scores, truth, asked, choice, how)
    else:
        given = read_labels(truth, format=format, labels=labels, options=option)
        table = _in_memory(scores, given, predictions, how | {"n_jobs": jobs})
    if output is not None:
        table.write(output)
    if json:
        show_json(table.to_dict())
    else:
        show(render_thresholds(table.to_dict(), width=width()))


def _on_engine(
    scores: str, truth: str, engine: str, choice: Choice, how: dict[str, Any]
) -> ThresholdTable:
    from scumble._core.progress import show_progress
    from scumble.cli.console import ProgressBar
    from scumble.scale import label_thresholds

    with show_progress(ProgressBar()):
        return label_thresholds(
            scores,
            truth,
            engine=engine,
            memory=choice.memory,
            spark=choice.spark,
            label_column=choice.label_column,
            instance_column=choice.instance_column,
            **how,
        )


def _in_memory(
    scores: str, truth: NamedCells, predictions: str | None, how: dict[str, Any]
) -> ThresholdTable:
    from scumble.learn import threshold_table
    from scumble.learn.score_files import aligned, read_scores, write_labels
    from scumble.learn.thresholds import predict_labels

    cells, names = aligned(read_scores(scores), truth)
    table = threshold_table(cells, truth.cells, labels=names, **how)
    if predictions is not None:
        write_labels(predictions, names, predict_labels(cells, table.thresholds))
    return table


def read_labels(
    name: str, *, format: str | None, labels: str | None, options: list[str] | None
) -> NamedCells:
    """Read labels from a file, or from a data set of the shelf."""
    from scumble.learn.score_files import read_truth, truth_of

    if not may_be_on_the_shelf(name):
        more = parse_options(options)
        return read_truth(name, format=format, labels=parse_labels(labels), **more)
    return truth_of(load(name, format=format, labels=labels, options=options), name)


def _check_outputs(output: str | None, predictions: str | None) -> None:
    """Say what is wrong with the names of files before any work."""
    from scumble.learn.chosen_thresholds import output_suffix
    from scumble.learn.storage.answers import table_suffix

    if output is not None:
        output_suffix(output)
    if predictions is not None and Path(predictions).suffix.lower() != ".npz":
        table_suffix(predictions)
