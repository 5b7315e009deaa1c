"""``demo``: the main job on the embedded data, start to end."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from scumble.cli.console import progress, say, tell, width
from scumble.cli.files import WRITES, write_file
from scumble.cli.inputs import lettered

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset

N_SHOWN = 12  # labels on the terminal; the page has them all
#: Rows and seconds for the advice: enough to see it, quick enough to wait for.
N_ROWS, BUDGET = 1000, 12.0


def demo(
    output: Path = lettered("output", "a folder.", Path("scumble-demo"), mark=WRITES),
) -> None:
    """Report, decouple and advise on Debian's package tags."""
    from scumble._core.errors import WriteError
    from scumble.data import load, write
    from scumble.plots import chord_layout
    from scumble.report import concurrence_report, render_html, render_report, render_treatment
    from scumble.resample import apply_remedial

    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(
            f"{output}: cannot be made a folder: {error.strerror}. Choose another with --output."
        ) from error
    data = load("debtags")
    result = concurrence_report(data)
    brief = {**result, "labels": result["labels"][:N_SHOWN], "difficult": result["difficult"][:3]}
    tell(render_report(brief, width=width()))
    hidden = len(result["labels"]) - N_SHOWN
    say(f"\nThe page named below lists {hidden} more labels. Now REMEDIAL:\n")

    after, treatment = apply_remedial(data)
    tell(render_treatment(treatment, width=width()))

    drawn = [arc["label"] for arc in result["chord"]["arcs"]]
    treatment["chord"] = chord_layout(after, drawn, keep_order=True).to_json()
    page, decoupled = output / "report.html", output / "debtags-remedial.arff"
    write_file(page, render_html(result, treatment))
    write(after, decoupled)
    say(f"\nOpen {page} in a browser; the decoupled data is {decoupled}.")
    if find_spec("matplotlib") is not None:
        from scumble.plots import plot_before_after, plot_pair, save_plot

        save_plot(plot_pair(data, after, "chord")[0], output / "chord.svg")
        save_plot(plot_before_after(data, after), output / "before-after.svg")
        say(f"Pictures of it: {output / 'chord.svg'}, {output / 'before-after.svg'}.")
    _advise(data)


def _advise(data: MultilabelDataset) -> None:
    """Say what helps, by part of the data so that nobody waits."""
    from scumble.advise import advise
    from scumble.cli.advise import with_files
    from scumble.report import render_advice

    say(
        "\nThat was the paper's way. Which way predicts the rare tags? To be quick, methods are "
        f"tried on the first {N_ROWS:,} packages, for about {BUDGET:.0f} seconds\n"
        "('scumble advise debtags' takes all of them).\n"
    )
    with progress():
        advice = advise(data[:N_ROWS], budget=BUDGET)
    tell(render_advice(with_files(advice.to_dict(), "debtags", "tags.scumble"), width=width()))
