"""``advise`` and ``demo``: from a file to a decision, and all the way there on embedded data."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ParameterError, WriteError
from scumble.cli import console, inputs
from scumble.cli.files import WRITES, may_be_public_dataset, write_file
from scumble.cli.inputs import (
    DEFAULT_READ_OPTIONS,
    TABLE_OPTIONS,
    ReadOptions,
    make_option,
    make_short_option,
)

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
N_SHOWN = 12  # labels on the terminal; the page has them all
#: Rows and seconds for the advice: enough to see it, quick enough to wait for.
N_ROWS, BUDGET = 1000, 12.0


def advise(
    data: str = inputs.DATA,
    budget: str = make_option(
        "How long it may take: 90, 90s, 2m, 1h; 'none' tries everything.", "2m"
    ),
    train: str | None = make_option(
        "Train what is advised, and write the model to this file.", file_role=WRITES
    ),
    html: Path | None = inputs.HTML,
    seed: int | None = inputs.SEED,
    jobs: int | None = inputs.JOBS,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
) -> None:
    """Tell what is wrong with a data set, which method helps, and how sure that is.

    Methods are judged on rows of this data that they have not seen. Ctrl-C ends it with what is
    known so far.
    """
    from scumble.advice import advise
    from scumble.learn import save
    from scumble.report import render_advice, render_advice_page

    seconds = parse_budget(budget)
    given = reading.load(data)
    with console.progress():
        found = advise(given, budget=seconds, random_state=seed or 0, n_jobs=jobs)
    told = with_files(found.to_dict(), data, train or "MODEL", reading)
    # Shown first: a file that cannot be written must not cost the answer.
    console.show_result(told, render_advice)
    if html is not None:
        write_file(html, render_advice_page(told))
    if train is not None:
        with console.progress():
            model = found.train(n_jobs=jobs)
        save(model, train, data=given, notes={"advised": found.selected})
        if not console.is_json():
            console.print_unless_quiet(
                f"\n{train}: {found.selected}, trained on {len(given):,} rows"
            )


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
    told: dict[str, Any], data: str, model: str, reading: ReadOptions = DEFAULT_READ_OPTIONS
) -> dict[str, Any]:
    """Let the suggested lines read the user's data as it was read here."""
    from scumble.advice.advice_text import fill_python, fill_shell

    given = [("--format", reading.format), ("--labels", reading.labels)]
    given += [_as_typed(option) for option in reading.options]
    more = [word for name, value in given if value is not None for word in (name, value)]
    told_reader = reading.told.items()
    inside = [repr(data), *(f"{name}={v!r}" for name, v in told_reader if v is not None)]
    verb = "load" if may_be_public_dataset(data) else "read"
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


def demo(
    output: Path = make_short_option("output", "a folder.", Path("scumble-demo"), file_role=WRITES),
) -> None:
    """Report, decouple and advise on Debian's package tags."""
    from scumble import plots, report
    from scumble.data import load, write
    from scumble.resample import apply_remedial

    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(
            f"{output}: cannot be made a folder: {error.strerror}. Choose another with --output."
        ) from error
    data = load("debtags")
    result = report.concurrence_report(data)
    brief = {**result, "labels": result["labels"][:N_SHOWN], "difficult": result["difficult"][:3]}
    console.show_unless_quiet(report.render_report(brief, width=console.width()))
    hidden = len(result["labels"]) - N_SHOWN
    console.print_unless_quiet(
        f"\nThe page named below lists {hidden} more labels. Now REMEDIAL:\n"
    )

    after, treatment = apply_remedial(data)
    console.show_unless_quiet(report.render_treatment(treatment, width=console.width()))

    drawn = [arc["label"] for arc in result["chord"]["arcs"]]
    treatment["chord"] = plots.chord_layout(after, drawn, keep_order=True).to_json()
    page, decoupled = output / "report.html", output / "debtags-remedial.arff"
    write_file(page, report.render_html(result, treatment))
    write(after, decoupled)
    console.print_unless_quiet(f"\nOpen {page} in a browser; the decoupled data is {decoupled}.")
    if find_spec("matplotlib") is not None:
        plots.save_plot(plots.plot_pair(data, after, "chord")[0], output / "chord.svg")
        plots.save_plot(plots.plot_before_after(data, after), output / "before-after.svg")
        console.print_unless_quiet(
            f"Pictures of it: {output / 'chord.svg'}, {output / 'before-after.svg'}."
        )
    _advise(data)


def _advise(data: MultilabelDataset) -> None:
    """Say what helps, by part of the data so that nobody waits."""
    from scumble.advice import advise
    from scumble.report import render_advice

    console.print_unless_quiet(
        "\nThat was the paper's way. Which way predicts the rare tags? To be quick, methods are "
        f"tried on the first {N_ROWS:,} packages, for about {BUDGET:.0f} seconds\n"
        "('scumble advise debtags' takes all of them).\n"
    )
    with console.progress():
        advice = advise(data[:N_ROWS], budget=BUDGET)
    told = with_files(advice.to_dict(), "debtags", "tags.scumble")
    console.show_unless_quiet(render_advice(told, width=console.width()))
