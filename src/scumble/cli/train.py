"""``train``, ``predict`` and ``thresholds``: a model as a file, and what it says of other data."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ParameterError
from scumble._core.text import PIPE, safe
from scumble.cli import console, inputs
from scumble.cli.files import READS, READS_DATA, WRITES, WRITES_DATA
from scumble.cli.inputs import argument, lettered, optional

if TYPE_CHECKING:
    from scumble.learn import ThresholdTable
    from scumble.learn.score_files import NamedCells


def train(
    data: str = inputs.DATA,
    out: str = argument("MODEL", "The model file to write.", mark=WRITES),
    classifier: list[str] = inputs.CLASSIFIER,
    resample: list[str] | None = inputs.one_resampling("of the data to learn from"),
    inside: inputs.Inside = inputs.BARE,
    seed: int | None = inputs.SEED,
    jobs: int | None = inputs.JOBS,
    reading: inputs.Reading = inputs.AS_IS,
) -> None:
    """Fit a classifier on a data set and keep it in a file."""
    from scumble.learn import TextModel, fit_dataset, save

    base = inside.base
    method, before, model, chain = inside.make(classifier, resample, random_state=seed, n_jobs=jobs)
    given = reading.load(data)
    began = time.perf_counter()
    model = fit_dataset(model, given, chain, random_state=seed)
    seconds = time.perf_counter() - began
    n_rows = len(chain[-1].sample_indices_) if chain else given.n_instances
    fitted = model.model if isinstance(model, TextModel) else model
    n_columns = given.n_features if fitted is model else fitted.n_features_in_
    notes = {"classifier": method, "resample": before} | ({} if base is None else {"base": base})
    save(model, out, data=given, notes=notes)
    size = None if out == PIPE else os.path.getsize(out)
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
    after = f" ({given.n_instances:,} before {safe(str(before))})" if chain else ""
    console.show_facts(
        facts,
        f"{console.written(out)}: {facts['classifier']} of {given.n_labels:,} labels on "
        f"{n_columns:,} features, fitted on {n_rows:,} instances{after} in "
        f"{seconds:.1f} s{'' if size is None else f'; {size:,} bytes'}",
    )


def predict(
    model: str = argument("MODEL", "What 'scumble train' wrote.", mark=READS),
    data: str = inputs.DATA,
    out: str = argument("OUT", "The file to write: .csv or .parquet; or -.", mark=WRITES_DATA),
    probabilities: bool = optional(
        "Write confidences instead of 0 and 1.", False, "--probabilities -p"
    ),
    whole: bool = optional(
        "Write the whole data set with the predicted labels, in any format.", False, "--whole"
    ),
    to: str | None = inputs.TO,
    trust: list[str] | None = optional(
        "A type of another package that the model may hold; repeatable."
    ),
    reading: inputs.Reading = inputs.AS_IS,
) -> None:
    """Tell which labels the rows of a data set have; its own labels are not needed."""
    from scumble.data import write
    from scumble.learn import ask, read_model
    from scumble.learn.storage.answers import read_rows, table_suffix

    if whole and probabilities:
        raise ParameterError("A data set has no place for --probabilities: leave out --whole.")
    if to is not None and not whole:
        raise ParameterError("--to is the format of a data set: it needs --whole.")
    if not whole:
        table_suffix(out)  # a wrong name is told before the work
    stored = read_model(model, trusted=trust or ())
    told = reading.told | {"keep": True}  # the model knows its columns
    rows = read_rows(partial(inputs.load, data), **told)
    answers = ask(stored, rows)
    if whole:
        write(answers.on(rows), out, format=to)
    else:
        answers.write(out, confidences=probabilities)
    names = {"model": model, "out": out, "classifier": type(stored.model).__name__}
    facts = {**names, **answers.to_dict()}
    console.show_facts(
        facts,
        f"{console.written(out)}: {facts['n_predicted']:,} labels of {rows.n_instances:,} "
        f"instances, {facts['n_unlabelled']:,} of them without any",
    )


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
) -> None:
    """Choose from which score on each label is predicted, for the scores of any model."""
    from scumble.report.terminal import render_thresholds

    _check_outputs(output, predictions)
    judged = inputs.parse_one(metric, "--metric") or "f1"
    how = dict[str, Any](rule=rule, metric=judged, strength=strength, threshold=threshold)
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
