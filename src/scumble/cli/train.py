"""``train``, ``predict`` and ``thresholds``: a model as a file, and what it says of other data."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ParameterError
from scumble._core.text import STDIO_PATH, escape_controls
from scumble.cli import console, inputs
from scumble.cli.files import READS, READS_DATA, WRITES, WRITES_DATA
from scumble.cli.inputs import make_argument, make_option, make_short_option

if TYPE_CHECKING:
    from scumble.learn import ThresholdTable
    from scumble.learn.storage.score_files import NamedMatrix


def train(
    data: str = inputs.DATA,
    out: str = make_argument("MODEL", "The model file to write.", file_role=WRITES),
    classifier: list[str] = inputs.CLASSIFIER,
    resample: list[str] | None = inputs.make_resample_option("of the data to learn from"),
    method_options: inputs.MethodOptions = inputs.DEFAULT_METHOD_OPTIONS,
    seed: int | None = inputs.SEED,
    jobs: int | None = inputs.JOBS,
    reading: inputs.ReadOptions = inputs.DEFAULT_READ_OPTIONS,
) -> None:
    """Fit a classifier on a data set and keep it in a file."""
    from scumble.learn import TextModel, fit_dataset, save

    base = method_options.base
    method, before, model, chain = method_options.make(
        classifier, resample, random_state=seed, n_jobs=jobs
    )
    given = reading.load(data)
    began = time.perf_counter()
    model = fit_dataset(model, given, chain, random_state=seed)
    seconds = time.perf_counter() - began
    n_rows = len(chain[-1].sample_indices_) if chain else given.n_instances
    fitted = model.model if isinstance(model, TextModel) else model
    n_columns = given.n_features if fitted is model else fitted.n_features_in_
    notes = {"classifier": method, "resample": before} | ({} if base is None else {"base": base})
    save(model, out, data=given, notes=notes)
    size = None if out == STDIO_PATH else os.path.getsize(out)
    facts = {
        "model": out,
        "classifier": type(fitted).__name__,
        "base": base,
        "resample": before,
        "n_instances": given.n_instances,
        "n_trained_on": n_rows,
        "n_features": n_columns,
        "n_labels": given.n_labels,
        "seconds": round(seconds, 3),
        "bytes": size,
    }
    after = f" ({given.n_instances:,} before {escape_controls(str(before))})" if chain else ""
    console.show_outcome(
        facts,
        f"{console.terminal_path(out)}: {facts['classifier']} of {given.n_labels:,} labels on "
        f"{n_columns:,} features, fitted on {n_rows:,} instances{after} in "
        f"{seconds:.1f} s{'' if size is None else f'; {size:,} bytes'}",
    )


def predict(
    model: str = make_argument("MODEL", "What 'scumble train' wrote.", file_role=READS),
    data: str = inputs.DATA,
    out: str = make_argument(
        "OUT", "The file to write: .csv or .parquet; or -.", file_role=WRITES_DATA
    ),
    probabilities: bool = make_option(
        "Write confidences instead of 0 and 1.", False, "--probabilities -p"
    ),
    whole: bool = make_option(
        "Write the whole data set with the predicted labels, in any format.", False, "--whole"
    ),
    to: str | None = inputs.OUTPUT_FORMAT,
    trust: list[str] | None = make_option(
        "A type of another package that the model may hold; repeatable."
    ),
    reading: inputs.ReadOptions = inputs.DEFAULT_READ_OPTIONS,
) -> None:
    """Tell which labels the rows of a data set have; its own labels are not needed."""
    from scumble.data import write
    from scumble.learn import predict_dataset, read_model
    from scumble.learn.storage.model_predictions import read_with_optional_labels, table_suffix

    if whole and probabilities:
        raise ParameterError("A data set has no place for --probabilities: leave out --whole.")
    if to is not None and not whole:
        raise ParameterError("--to is the format of a data set: it needs --whole.")
    if not whole:
        table_suffix(out)  # a wrong name is told before the work
    stored = read_model(model, trusted=trust or ())
    told = reading.told | {"keep": True}  # the model knows its columns
    rows = read_with_optional_labels(partial(inputs.load, data), **told)
    answers = predict_dataset(stored, rows)
    if whole:
        write(answers.to_dataset(rows), out, format=to)
    else:
        answers.write(out, confidences=probabilities)
    names = {"model": model, "out": out, "classifier": type(stored.model).__name__}
    facts = {**names, **answers.to_dict()}
    console.show_outcome(
        facts,
        f"{console.terminal_path(out)}: {facts['n_predicted']:,} labels of {rows.n_instances:,} "
        f"instances, {facts['n_unlabelled']:,} of them without any",
    )


def thresholds(
    scores: str = make_argument(
        "SCORES",
        "Scores of rows the model has not learnt from, a column per label: a table "
        "(.csv, .parquet), .npy, or .npz (also sparse).",
        file_role=READS_DATA,
    ),
    truth: str = inputs.TRUTH,
    rule: str = make_option("How to choose: shrunken, capped, plain, rate, fixed.", "shrunken"),
    metric: list[str] | None = make_short_option(
        "metric", "to make large, f1, f2 or f0.5. [default: f1]"
    ),
    strength: float = make_option("How many positives the mean of all labels is worth.", 20.0),
    threshold: float = make_option("The threshold of --rule fixed.", 0.5),
    output: str | None = make_short_option(
        "output", "the table, too, as .csv or .json.", file_role=WRITES
    ),
    predictions: str | None = make_option(
        "Also write the resulting labels: .csv, .parquet or .npz (sparse).", file_role=WRITES
    ),
    jobs: int | None = inputs.JOBS,
    reading: inputs.ReadOptions = inputs.DEFAULT_READ_OPTIONS,
    label_column: str | None = inputs.LABEL_COLUMN,
    instance_column: str | None = inputs.INSTANCE_COLUMN,
    score_column: str | None = make_option("With --engine: the column with scores."),
    n_instances: int | None = make_option("With --engine: how many instances there are, if known."),
    engine: str | None = inputs.ENGINE,
    memory: str | None = inputs.MEMORY,
    spark: str | None = inputs.SPARK,
) -> None:
    """Choose from which score on each label is predicted, for the scores of any model."""
    from scumble.report.terminal import render_thresholds

    _check_outputs(output, predictions)
    judged = inputs.parse_single_name(metric, "--metric") or "f1"
    how = dict[str, Any](rule=rule, metric=judged, strength=strength, threshold=threshold)
    choice = inputs.OutOfCoreOptions(label_column, instance_column, engine, memory, spark)
    asked = choice.requested_engine(scores) or ("duckdb" if score_column or n_instances else None)
    if asked is not None:
        if predictions is not None:
            raise ParameterError(
                "--predictions needs scores that fit into memory. With --engine write the "
                "thresholds (--output) and compare them where the scores are."
            )
        from scumble.out_of_core import label_thresholds

        how |= {"score_column": score_column or "score", "n_instances": n_instances}
        how |= asdict(choice) | {"engine": asked}
        with console.progress():
            table = label_thresholds(scores, truth, **how)
    else:
        given = inputs.read_labels(truth, reading)
        table = _in_memory(scores, given, predictions, how | {"n_jobs": jobs})
    if output is not None:
        table.write(output)
    console.show_result(table.to_dict(), render_thresholds)


def _in_memory(
    scores: str, truth: NamedMatrix, predictions: str | None, how: dict[str, Any]
) -> ThresholdTable:
    from scumble.learn import threshold_table
    from scumble.learn.storage.score_files import align_to_labels, read_scores, write_labels
    from scumble.learn.thresholds.selection import predict_labels

    cells, names = align_to_labels(read_scores(scores), truth)
    table = threshold_table(cells, truth.cells, labels=names, **how)
    if predictions is not None:
        write_labels(predictions, names, predict_labels(cells, table.thresholds))
    return table


def _check_outputs(output: str | None, predictions: str | None) -> None:
    """Say what is wrong with the names of files before any work."""
    from scumble.learn.storage.model_predictions import table_suffix
    from scumble.learn.thresholds.tables import output_format

    if output is not None:
        output_format(output)
    if predictions is not None and Path(predictions).suffix.lower() != ".npz":
        table_suffix(predictions)
