"""``train``, ``predict`` and ``thresholds``: fit and save a model, predict, choose thresholds."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scumble._core.errors import ParameterError
from scumble._core.text import STDIO_PATH, escape_controls
from scumble.cli import console
from scumble.cli.files import FileRole
from scumble.cli.options import (
    RESAMPLER_SYNTAX,
    ClassifierOption,
    DataArgument,
    EngineOption,
    InstanceColumnOption,
    JobsOption,
    JsonOption,
    LabelColumnOption,
    MemoryOption,
    MethodOptions,
    OutOfCoreOptions,
    OutputFormatOption,
    ReadOptions,
    SeedOption,
    SparkOption,
    TruthArgument,
    load_dataset,
    read_labels,
)
from scumble.cli.parse import parse_single_name

if TYPE_CHECKING:
    from scumble.learn import ThresholdTable
    from scumble.learn.storage.score_files import NamedMatrix


def train(
    data: DataArgument,
    out: Annotated[
        str, typer.Argument(metavar="MODEL", help="The model file to write."), FileRole.WRITES
    ],
    *,
    classifier: ClassifierOption,
    resample: Annotated[
        list[str] | None,
        typer.Option(
            "--resample", "-r", help=f"Resampling: of the training data; {RESAMPLER_SYNTAX}"
        ),
    ] = None,
    method_options: MethodOptions,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    read: ReadOptions,
    json: JsonOption = False,
) -> None:
    """Fit a classifier on a data set and save it to a file."""
    from scumble.learn import TextModel, fit_dataset, save

    method = method_options.make_method(classifier, resample, random_state=seed, n_jobs=jobs)
    dataset = read.load(data)
    start_time = time.perf_counter()
    model = fit_dataset(method.classifier, dataset, method.resamplers, random_state=seed)
    seconds = time.perf_counter() - start_time

    n_rows = dataset.n_instances
    if method.resamplers:
        n_rows = len(method.resamplers[-1].sample_indices_)
    fitted_classifier = model
    n_columns = dataset.n_features
    if isinstance(model, TextModel):  # it makes features of texts, then calls a classifier
        fitted_classifier = model.model
        n_columns = fitted_classifier.n_features_in_
    notes = {"classifier": method.classifier_name, "resample": method.resampler_name}
    if method_options.base is not None:
        notes["base"] = method_options.base
    save(model, out, data=dataset, notes=notes)
    n_bytes = None if out == STDIO_PATH else os.path.getsize(out)
    outcome = {
        "model": out,
        "classifier": type(fitted_classifier).__name__,
        "base": method_options.base,
        "resample": method.resampler_name,
        "n_instances": dataset.n_instances,
        "n_trained_on": n_rows,
        "n_features": n_columns,
        "n_labels": dataset.n_labels,
        "seconds": round(seconds, 3),
        "bytes": n_bytes,
    }
    sentence = (
        f"{console.terminal_path(out)}: {outcome['classifier']} of {dataset.n_labels:,} labels on "
        f"{n_columns:,} features, fitted on {n_rows:,} instances"
    )
    if method.resamplers:
        resampler_name = escape_controls(str(method.resampler_name))
        sentence += f" ({dataset.n_instances:,} before {resampler_name})"
    sentence += f" in {seconds:.1f} s"
    if n_bytes is not None:
        sentence += f"; {n_bytes:,} bytes"
    console.show_outcome(outcome, sentence, as_json=json)


def predict(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="What 'scumble train' wrote."), FileRole.READS
    ],
    data: DataArgument,
    out: Annotated[
        str,
        typer.Argument(metavar="OUT", help="The file to write: .csv or .parquet; or -."),
        FileRole.WRITES_DATA,
    ],
    *,
    probabilities: Annotated[
        bool,
        typer.Option("--probabilities", "-p", help="Write scores instead of 0 and 1."),
    ] = False,
    write_dataset: Annotated[
        bool,
        typer.Option(
            "--whole", help="Write the whole data set with the predicted labels, in any format."
        ),
    ] = False,
    to: OutputFormatOption = None,
    trust: Annotated[
        list[str] | None,
        typer.Option(
            "--trust", help="A type of another package that the model may contain; repeatable."
        ),
    ] = None,
    read: ReadOptions,
    json: JsonOption = False,
) -> None:
    """Predict labels for a data set; its own labels are not needed."""
    from scumble.data import write
    from scumble.learn import predict_dataset, read_model
    from scumble.learn.storage.model_predictions import read_with_optional_labels, table_suffix

    if write_dataset and probabilities:
        raise ParameterError("A data set cannot store --probabilities: leave out --whole.")
    if to is not None and not write_dataset:
        raise ParameterError("--to is the format of a data set: it needs --whole.")
    if not write_dataset:
        table_suffix(out)  # raises an error for a wrong name before any work
    stored_model = read_model(model, trusted=trust or ())
    parameters = read.reader_parameters()
    parameters["keep"] = True  # the model selects the columns
    rows = read_with_optional_labels(partial(load_dataset, data), **parameters)
    predictions = predict_dataset(stored_model, rows)
    if write_dataset:
        write(predictions.to_dataset(rows), out, format=to)
    else:
        predictions.write(out, confidences=probabilities)
    outcome = {
        "model": model,
        "out": out,
        "classifier": type(stored_model.model).__name__,
        **predictions.to_dict(),
    }
    sentence = (
        f"{console.terminal_path(out)}: {outcome['n_predicted']:,} labels of "
        f"{rows.n_instances:,} instances, {outcome['n_unlabelled']:,} of them without any"
    )
    console.show_outcome(outcome, sentence, as_json=json)


def thresholds(
    scores: Annotated[
        str,
        typer.Argument(
            metavar="SCORES",
            help="Scores of rows that the model was not trained on, with a column per label: a "
            "table (.csv, .parquet), .npy, or .npz (also sparse).",
        ),
        FileRole.READS_DATA,
    ],
    truth: TruthArgument,
    *,
    rule: Annotated[
        str,
        typer.Option("--rule", help="How to choose: shrunken, capped, plain, rate, fixed."),
    ] = "shrunken",
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Metric: to maximise, f1, f2 or f0.5. [default: f1]"),
    ] = None,
    strength: Annotated[
        float,
        typer.Option(
            "--strength", help="Weight of the mean of all labels, as a number of positives."
        ),
    ] = 20.0,
    threshold: Annotated[
        float, typer.Option("--threshold", help="The threshold of --rule fixed.")
    ] = 0.5,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Output: also write the table, as .csv or .json."),
        FileRole.WRITES,
    ] = None,
    predictions: Annotated[
        str | None,
        typer.Option(
            "--predictions",
            help="Also write the resulting labels: .csv, .parquet or .npz (sparse).",
        ),
        FileRole.WRITES,
    ] = None,
    jobs: JobsOption = None,
    read: ReadOptions,
    label_column: LabelColumnOption = None,
    instance_column: InstanceColumnOption = None,
    score_column: Annotated[
        str | None, typer.Option("--score-column", help="With --engine: the column with scores.")
    ] = None,
    n_instances: Annotated[
        int | None,
        typer.Option("--n-instances", help="With --engine: the number of instances, if known."),
    ] = None,
    engine: EngineOption = None,
    memory: MemoryOption = None,
    spark: SparkOption = None,
    json: JsonOption = False,
) -> None:
    """Choose a decision threshold per label, from the scores of any model."""
    from scumble.report.terminal import render_thresholds

    _check_output_suffixes(output, predictions)
    rule_options: dict[str, Any] = {
        "rule": rule,
        "metric": parse_single_name(metric, "--metric") or "f1",
        "strength": strength,
        "threshold": threshold,
    }
    out_of_core = OutOfCoreOptions(
        label_column=label_column,
        instance_column=instance_column,
        engine=engine,
        memory=memory,
        spark=spark,
    )
    requested_engine = out_of_core.requested_engine(scores)
    if requested_engine is None and (score_column or n_instances):
        requested_engine = "duckdb"
    if requested_engine is None:
        table = _choose_thresholds(
            scores, read_labels(truth, read), predictions, n_jobs=jobs, **rule_options
        )
    else:
        if predictions is not None:
            raise ParameterError(
                "--predictions needs scores that fit into memory. With --engine write the "
                "thresholds (--output) and compare them where the scores are."
            )
        from scumble.out_of_core import label_thresholds

        engine_options = asdict(out_of_core)
        engine_options["engine"] = requested_engine
        with console.progress():
            table = label_thresholds(
                scores,
                truth,
                score_column=score_column or "score",
                n_instances=n_instances,
                **rule_options,
                **engine_options,
            )
    if output is not None:
        table.write(output)
    console.show_result(table.to_dict(), render_thresholds, as_json=json)


def _choose_thresholds(
    scores: str, truth: NamedMatrix, predictions: str | None, **options: Any
) -> ThresholdTable:
    """Return the thresholds for scores in memory; write the predicted labels if requested."""
    from scumble.learn import threshold_table
    from scumble.learn.storage.score_files import align_to_labels, read_scores, write_labels
    from scumble.learn.thresholds.selection import predict_labels

    y_score, labels = align_to_labels(read_scores(scores), truth)
    table = threshold_table(y_score, truth.cells, labels=labels, **options)
    if predictions is not None:
        write_labels(predictions, labels, predict_labels(y_score, table.thresholds))
    return table


def _check_output_suffixes(output: str | None, predictions: str | None) -> None:
    """Raise an error for outputs whose suffix names no format, before any work."""
    from scumble.learn.storage.model_predictions import table_suffix
    from scumble.learn.thresholds.tables import output_suffix

    if output is not None:
        output_suffix(output)
    if predictions is not None and Path(predictions).suffix.lower() != ".npz":
        table_suffix(predictions)
