"""``advise`` and ``demo``: recommend a method for a data set, and demonstrate the package."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scumble._core.errors import ParameterError, WriteError
from scumble.cli import console
from scumble.cli.files import FileRole, may_be_public_dataset, write_file
from scumble.cli.options import (
    DEFAULT_READ_OPTIONS,
    TABLE_OPTIONS,
    DataArgument,
    HtmlOption,
    JobsOption,
    JsonOption,
    ReadOptions,
    SeedOption,
)

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset

#: Seconds per unit of time.
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
#: Numbers of labels and of difficult labels that ``demo`` prints; the page lists all labels.
N_DEMO_LABELS = 12
N_DEMO_DIFFICULT_LABELS = 3
#: Rows and seconds for the advice of ``demo``: enough for a result, short enough to wait for.
N_DEMO_ROWS = 1000
DEMO_BUDGET = 12.0


def advise(
    data: DataArgument,
    *,
    budget: Annotated[
        str,
        typer.Option("--budget", help="Time limit: 90, 90s, 2m, 1h; 'none' tries everything."),
    ] = "2m",
    train: Annotated[
        str | None,
        typer.Option(
            "--train", help="Train the recommended method, and write the model to this file."
        ),
        FileRole.WRITES,
    ] = None,
    html: HtmlOption = None,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    read: ReadOptions,
    json: JsonOption = False,
) -> None:
    """Report problems of a data set, which method helps, and how certain that is.

    Methods are evaluated on rows of this data that they were not trained on. Ctrl-C ends the
    command with the results so far.
    """
    from scumble.advice import advise
    from scumble.learn import save
    from scumble.report import render_advice, render_advice_page

    seconds = parse_budget(budget)
    dataset = read.load(data)
    with console.progress():
        advice = advise(dataset, budget=seconds, random_state=seed or 0, n_jobs=jobs)
    result = fill_suggestions(advice.to_dict(), data=data, model=train or "MODEL", read=read)
    # Printed before files are written: an error of a file must not lose the result.
    console.show_result(result, render_advice, as_json=json)
    if html is not None:
        write_file(html, render_advice_page(result))
    if train is not None:
        with console.progress():
            model = advice.train(n_jobs=jobs)
        save(model, train, data=dataset, notes={"advised": advice.selected})
        if not json:
            console.print_unless_quiet(
                f"\n{train}: {advice.selected}, trained on {len(dataset):,} rows"
            )


def parse_budget(text: str) -> float | None:
    """Return the seconds of a time such as ``90`` or ``2m``, and None for ``none``.

    Parameters
    ----------
    text : str
        The text after ``--budget``.

    Returns
    -------
    float or None
        Seconds; None means that there is no limit.

    Examples
    --------
    >>> from scumble.cli.advise import parse_budget
    >>> parse_budget("90"), parse_budget("2m"), parse_budget("1.5h"), parse_budget("none")
    (90.0, 120.0, 5400.0, None)
    """
    if text.strip().lower() == "none":
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh]?)\s*", text.lower())
    if match is None or not float(match[1]):
        raise ParameterError(
            f"--budget must be a time such as 90s, 2m or 1h. Got {text!r} instead."
        )
    return float(match[1]) * SECONDS[match[2]]


def fill_suggestions(
    advice: dict[str, Any], *, data: str, model: str, read: ReadOptions = DEFAULT_READ_OPTIONS
) -> dict[str, Any]:
    """Return the advice with the user's files and options in the suggested commands and code."""
    from scumble.advice.advice_text import fill_python, fill_shell

    options: list[str] = []
    if read.format is not None:
        options += ["--format", read.format]
    if read.labels is not None:
        options += ["--labels", read.labels]
    for option in read.all_options():
        options += _shell_words(option)
    arguments = [repr(data)]
    for name, value in read.reader_parameters().items():
        if value is not None:
            arguments.append(f"{name}={value!r}")
    function = "load" if may_be_public_dataset(data) else "read"
    call = f"scumble.{function}({', '.join(arguments)})"
    return {
        **advice,
        "shell": fill_shell(advice["shell"], data, model, options),
        "python": [fill_python(line, call) for line in advice["python"]],
    }


def _shell_words(option: str) -> list[str]:
    """Return an option of the reader, name=value, as two words for the shell.

    The first word is the option with this name, such as ``--label-column``; ``--option`` if there
    is none.
    """
    name, _, value = option.partition("=")
    if name in TABLE_OPTIONS:
        return [f"--{name.replace('_', '-')}", value]
    return ["--option", option]


def demo(
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Output: a folder."), FileRole.WRITES
    ] = Path("scumble-demo"),
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
    excerpt = {
        **result,
        "labels": result["labels"][:N_DEMO_LABELS],
        "difficult": result["difficult"][:N_DEMO_DIFFICULT_LABELS],
    }
    console.show_unless_quiet(report.render_report(excerpt, width=console.width()))
    n_more_labels = len(result["labels"]) - N_DEMO_LABELS
    console.print_unless_quiet(
        f"\nThe page named below lists {n_more_labels} more labels. Now REMEDIAL:\n"
    )

    after, treatment = apply_remedial(data)
    console.show_unless_quiet(report.render_treatment(treatment, width=console.width()))

    labels_in_chord = [arc["label"] for arc in result["chord"]["arcs"]]
    chord_after = plots.chord_layout(after, labels_in_chord, keep_order=True)
    treatment["chord"] = chord_after.to_json()
    page = output / "report.html"
    decoupled = output / "debtags-remedial.arff"
    write_file(page, report.render_html(result, treatment))
    write(after, decoupled)
    console.print_unless_quiet(f"\nOpen {page} in a browser; the decoupled data is {decoupled}.")
    if find_spec("matplotlib") is not None:
        pair_plot, _ = plots.plot_pair(data, after, "chord")
        plots.save_plot(pair_plot, output / "chord.svg")
        plots.save_plot(plots.plot_before_after(data, after), output / "before-after.svg")
        console.print_unless_quiet(f"Plots: {output / 'chord.svg'}, {output / 'before-after.svg'}.")
    _show_demo_advice(data)


def _show_demo_advice(data: MultilabelDataset) -> None:
    """Print advice for the first `N_DEMO_ROWS` rows, computed for about `DEMO_BUDGET` seconds."""
    from scumble.advice import advise
    from scumble.report import render_advice

    console.print_unless_quiet(
        "\nREMEDIAL is the method of the paper. Which method predicts the rare tags? To be quick, "
        f"methods are\nevaluated on the first {N_DEMO_ROWS:,} packages, for about "
        f"{DEMO_BUDGET:.0f} seconds ('scumble advise debtags' uses all of them).\n"
    )
    with console.progress():
        advice = advise(data[:N_DEMO_ROWS], budget=DEMO_BUDGET)
    result = fill_suggestions(advice.to_dict(), data="debtags", model="tags.scumble")
    console.show_unless_quiet(render_advice(result, width=console.width()))
