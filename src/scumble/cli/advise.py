"""``advise``: from a file to a decision."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from scumble._core.errors import ParameterError
from scumble.cli.files import WRITES, may_be_on_the_shelf
from scumble.cli.inputs import (
    FormatOption,
    Input,
    JobsOption,
    JsonOption,
    LabelsOption,
    ReadOption,
    SeedOption,
    load,
    parse_labels,
    parse_options,
)
from scumble.cli.tables import TABLE_OPTIONS

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def advise(
    data: Input,
    budget: Annotated[
        str, typer.Option(help="How long it may take: 90, 90s, 2m, 1h; 'none' tries everything.")
    ] = "2m",
    train: Annotated[
        str | None,
        typer.Option(help="Train what is advised, and write the model to this file."),
        WRITES,
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Also write it as a page, to this file."), WRITES
    ] = None,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    format: FormatOption = None,
    labels: LabelsOption = None,
    option: ReadOption = None,
    json: JsonOption = False,
) -> None:
    """Tell what is wrong with a data set, which method helps, and how sure that is.

    Methods are judged on rows of this data that they have not seen. Ctrl-C ends it with what is
    known so far.
    """
    from scumble._core.progress import show_progress
    from scumble.advise import advise
    from scumble.cli.console import ProgressBar, say, show, show_json, width
    from scumble.report import render_advice

    seconds = parse_budget(budget)
    given = load(data, format=format, labels=labels, options=option)
    with show_progress(ProgressBar()):
        found = advise(given, budget=seconds, random_state=seed or 0, n_jobs=jobs)
    told = with_files(found.to_dict(), data, train or "MODEL", format, labels, option)
    # Shown first: a file that cannot be written must not cost the answer.
    if json:
        show_json(told)
    else:
        show(render_advice(told, width=width()))
    if html is not None:
        from scumble._core.files import writing
        from scumble.report import render_advice_page

        with writing(html) as target, target.open() as stream:
            stream.write(render_advice_page(told).encode())
    if train is not None:
        from scumble.learn import save

        with show_progress(ProgressBar()):
            model = found.train(n_jobs=jobs)
        save(model, train, data=given, notes={"advised": found.chosen})
        if not json:
            say(f"\n{train}: {found.chosen}, trained on {len(given):,} rows")


def parse_budget(text: str) -> float | None:
    """Understand a time such as ``90``, ``2m`` or ``none``.

    Examples
    --------
    >>> from scumble.cli.advise import parse_budget
    >>> parse_budget("90"), parse_budget("2m"), parse_budget("1.5h"), parse_budget("none")
    (90.0, 120.0, 5400.0, None)
    """
    if text.strip().lower() == "none":
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh]?)\s*", text.lower())
    if found is None or not float(found[1]):
        raise ParameterError(
            f"--budget must be a time such as 90s, 2m or 1h. Got {text!r} instead."
        )
    return float(found[1]) * UNITS[found[2]]


def with_files(
    told: dict[str, Any],
    data: str,
    model: str,
    format: str | None = None,
    labels: str | None = None,
    options: list[str] | None = None,
) -> dict[str, Any]:
    """Let the suggested lines read the user's data as it was read here."""
    from scumble.advise.words import fill_python, fill_shell

    given = [("--format", format), ("--labels", labels)]
    given += [_as_typed(option) for option in options or []]
    more = [word for name, value in given if value is not None for word in (name, value)]
    parsed = {"format": format, "labels": parse_labels(labels), **parse_options(options)}
    inside = [repr(data), *(f"{name}={v!r}" for name, v in parsed.items() if v is not None)]
    verb = "load" if may_be_on_the_shelf(data) else "read"
    call = f"scumble.{verb}({', '.join(inside)})"
    return {
        **told,
        "shell": fill_shell(told["shell"], data, model, more),
        "python": [fill_python(line, call) for line in told["python"]],
    }


def _as_typed(option: str) -> tuple[str, str]:
    """Give an option of the reader as the user may have typed it."""
    name, _, value = option.partition("=")
    return (f"--{name.replace('_', '-')}", value) if name in TABLE_OPTIONS else ("--option", option)
