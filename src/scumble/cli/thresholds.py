"""``thresholds``: from which score on each label is predicted, for models that live elsewhere."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ParameterError
from scumble.cli import inputs
from scumble.cli.console import progress, show_result
from scumble.cli.files import READS_DATA, WRITES
from scumble.cli.inputs import argument, lettered, optional, parse_one

if TYPE_CHECKING:
    from scumble.learn import ThresholdTable
    from scumble.learn.score_files import NamedCells


def thresholds(
    scores: str = argument(
        "SCORES",
        "Scores of rows the model has not learnt from, a column per label: a table "
        "(.csv, .parquet), .npy, or .npz (also sparse).",
        mark=READS_DATA,
    ),
    truth: str = inputs.TRUTH,
    rule: str = optional("How to choose: shrunken, capped, plain, rate, fixed.", "shrunken"),
    metric: list[str] | None = lettered("metric", "to make large, f1, f2 or f0.5. [default: f1]"),
    strength: float = optional("How many positives the mean of all labels is worth.", 20.0),
    threshold: float = optional("The threshold of --rule fixed.", 0.5),
    output: str | None = lettered("output", "the table, too, as .csv or .json.", mark=WRITES),
    predictions: str | None = optional(
        "Also write the resulting labels: .csv, .parquet or .npz (sparse).", mark=WRITES
    ),
    jobs: int | None = inputs.JOBS,
    reading: inputs.Reading = inputs.AS_IS,
    label_column: str | None = inputs.LABEL_COLUMN,
    instance_column: str | None = inputs.INSTANCE_COLUMN,
    score_column: str | None = optional("With --engine: the column with scores."),
    n_instances: int | None = optional("With --engine: how many instances there are, if known."),
    engine: str | None = inputs.ENGINE,
    memory: str | None = inputs.MEMORY,
    spark: str | None = inputs.SPARK,
    json: bool = inputs.JSON,
) -> None:
    """Choose from which score on each label is predicted, for the scores of any model."""
    from scumble.report.terminal import render_thresholds

    _check_outputs(output, predictions)
    judged = parse_one(metric, "--metric") or "f1"
    how = {"rule": rule, "metric": judged, "strength": strength, "threshold": threshold}
    choice = inputs.Large(label_column, instance_column, engine, memory, spark)
    asked = choice.asked(scores) or ("duckdb" if score_column or n_instances else None)
    if asked is not None:
        if predictions is not None:
            raise ParameterError(
                "--predictions needs scores that fit into memory. With --engine write the "
                "thresholds (--output) and compare them where the scores are."
            )
        from scumble.scale import label_thresholds

        how |= {"score_column": score_column or "score", "n_instances": n_instances}
        with progress():
            table = label_thresholds(scores, truth, **asdict(choice) | {"engine": asked} | how)
    else:
        given = inputs.read_labels(truth, reading)
        table = _in_memory(scores, given, predictions, how | {"n_jobs": jobs})
    if output is not None:
        table.write(output)
    show_result(table.to_dict(), render_thresholds, json=json)


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


def _check_outputs(output: str | None, predictions: str | None) -> None:
    """Say what is wrong with the names of files before any work."""
    from scumble.learn.chosen_thresholds import output_suffix
    from scumble.learn.storage.answers import table_suffix

    if output is not None:
        output_suffix(output)
    if predictions is not None and Path(predictions).suffix.lower() != ".npz":
        table_suffix(predictions)
