"""``train`` and ``predict``: a model as a file, and what it says about other data."""

from __future__ import annotations

from typing import Any

from scumble.cli import inputs
from scumble.cli.console import say, show_json, written
from scumble.cli.files import READS, WRITES, WRITES_DATA
from scumble.cli.inputs import argument, optional


def train(
    data: str = inputs.DATA,
    out: str = argument("MODEL", "The model file to write.", mark=WRITES),
    classifier: list[str] = inputs.CLASSIFIER,
    resample: list[str] | None = inputs.one_resampling("of the data to learn from"),
    inside: inputs.Inside = inputs.BARE,
    seed: int | None = inputs.SEED,
    jobs: int | None = inputs.JOBS,
    reading: inputs.Reading = inputs.AS_IS,
    json: bool = inputs.JSON,
) -> None:
    """Fit a classifier on a data set and keep it in a file."""
    import os
    import time

    from scumble._core.text import PIPE, safe
    from scumble.learn import TextModel, fit_dataset, save

    base = inside.base
    method, before, model, chain = inside.make(classifier, resample, random_state=seed, n_jobs=jobs)
    given = reading.load(data)
    began = time.perf_counter()
    model = fit_dataset(model, given, chain, random_state=seed)
    seconds = time.perf_counter() - began
    n_rows = len(chain[-1].sample_indices_) if chain else given.n_instances
    n_columns = model.model.n_features_in_ if isinstance(model, TextModel) else given.n_features
    notes = {"classifier": method, "resample": before} | ({} if base is None else {"base": base})
    save(model, out, data=given, notes=notes)
    size = None if out == PIPE else os.path.getsize(out)
    facts = {
        "model": out,
        "classifier": type(model.model if isinstance(model, TextModel) else model).__name__,
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
    line = (
        f"{written(out)}: {facts['classifier']} of {given.n_labels:,} labels on "
        f"{n_columns:,} features, fitted on {n_rows:,} instances{after} in "
        f"{seconds:.1f} s{'' if size is None else f'; {size:,} bytes'}"
    )
    _tell(facts, line, json)


def predict(
    model: str = argument("MODEL", "What 'scumble train' wrote.", mark=READS),
    data: str = inputs.DATA,
    out: str = argument("OUT", "The file to write: .csv or .parquet; or -.", mark=WRITES_DATA),
    probabilities: bool = optional(
        "Write confidences instead of 0 and 1.", False, "--probabilities", "-p"
    ),
    whole: bool = optional(
        "Write the whole data set with the predicted labels, in any format.", False, "--whole"
    ),
    to: str | None = inputs.TO,
    trust: list[str] | None = optional(
        "A type of another package that the model may hold; repeatable."
    ),
    reading: inputs.Reading = inputs.AS_IS,
    json: bool = inputs.JSON,
) -> None:
    """Tell which labels the rows of a data set have; its own labels are not needed."""
    from functools import partial

    from scumble._core.errors import ParameterError
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
    line = (
        f"{written(out)}: {facts['n_predicted']:,} labels of {rows.n_instances:,} instances, "
        f"{facts['n_unlabelled']:,} of them without any"
    )
    _tell(facts, line, json)


def _tell(facts: dict[str, Any], line: str, json: bool) -> None:
    if json:
        show_json(facts)
    else:
        say(line)
