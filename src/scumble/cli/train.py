"""``train`` and ``predict``: a model as a file, and what it says about other data."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from scumble.cli.files import READS, WRITES, WRITES_DATA
from scumble.cli.inputs import (
    ONE_RESAMPLING,
    BaseOption,
    ClassifierOption,
    FormatOption,
    Input,
    JobsOption,
    JsonOption,
    LabelsOption,
    ParamOption,
    ReadOption,
    ResamplerParameters,
    SeedOption,
    ToOption,
    load,
    method_parameters,
    parse_one,
    parse_parameters,
)


def train(
    data: Input,
    out: Annotated[str, typer.Argument(metavar="MODEL", help="The model file to write."), WRITES],
    classifier: ClassifierOption,
    resample: Annotated[
        list[str] | None,
        typer.Option("--resample", "-r", help=ONE_RESAMPLING % "of the data to learn from"),
    ] = None,
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
    """Fit a classifier on a data set and keep it in a file."""
    import os
    import time

    from scumble._core.calls import parse_call
    from scumble._core.text import PIPE, safe
    from scumble.cli.console import written
    from scumble.learn import TextModel, fit_dataset, make_classifier, save
    from scumble.resample import make_chain

    shared = {"random_state": seed, "n_jobs": jobs}
    method, before = parse_one(classifier, "--classifier"), parse_one(resample, "--resample")
    name, own = parse_call(str(method))
    model = make_classifier(name, **method_parameters(shared | own, base, param))
    chain = make_chain(before or "none", **shared | parse_parameters(resample_param or []))
    given = load(data, format=format, labels=labels, options=option)
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
    _show(facts, line, json)


def predict(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="What 'scumble train' wrote."), READS
    ],
    data: Input,
    out: Annotated[
        str,
        typer.Argument(metavar="OUT", help="The file to write: .csv or .parquet; or -."),
        WRITES_DATA,
    ],
    probabilities: Annotated[
        bool, typer.Option("--probabilities", "-p", help="Write confidences instead of 0 and 1.")
    ] = False,
    whole: Annotated[
        bool,
        typer.Option(
            "--whole", help="Write the whole data set with the predicted labels, in any format."
        ),
    ] = False,
    to: ToOption = None,
    trust: Annotated[
        list[str] | None,
        typer.Option(help="A type of another package that the model may hold; repeatable."),
    ] = None,
    format: FormatOption = None,
    labels: LabelsOption = None,
    option: ReadOption = None,
    json: JsonOption = False,
) -> None:
    """Tell which labels the rows of a data set have; its own labels are not needed."""
    from functools import partial

    from scumble._core.errors import ParameterError
    from scumble.cli.console import written
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
    reading = [*(option or []), "keep=true"]  # the model knows its columns
    rows = read_rows(partial(load, data), format=format, labels=labels, options=reading)
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
    _show(facts, line, json)


def _show(facts: dict[str, Any], line: str, json: bool) -> None:
    from scumble.cli.console import say, show_json

    if json:
        show_json(facts)
    else:
        say(line)
