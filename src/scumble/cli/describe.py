"""``summary``, ``labels``, ``labelsets``, ``report`` and ``plot``: look at a data set."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ParameterError
from scumble._core.optional import import_optional_dependency
from scumble.cli import console, inputs
from scumble.cli.files import WRITES
from scumble.cli.inputs import make_option, make_short_option

if TYPE_CHECKING:
    from scumble.plots import Plot

SORTS = ("order", "name", "count", "irlbl", "scumble")
BEFORE_AFTER = "before-after"
ALL = sys.maxsize  # what --top 0 stands for


def summary(
    data: str = inputs.DATA,
    reading: inputs.ReadOptions = inputs.DEFAULT_READ_OPTIONS,
    large: inputs.OutOfCoreOptions = inputs.IN_MEMORY,
) -> None:
    """Sizes, imbalance and concurrence of a data set."""
    from scumble.measures import characterize
    from scumble.report.terminal import render_summary

    found = large.open(data, reading)
    if found is not None:
        with found, console.progress():
            numbers = characterize(found)
    else:
        numbers = characterize(reading.load(data))
    console.show_result(numbers.to_dict(), render_summary)


def labels(
    data: str = inputs.DATA,
    reading: inputs.ReadOptions = inputs.DEFAULT_READ_OPTIONS,
    sort: str = make_option(f"Order: {', '.join(SORTS)}.", "order"),
    top: int = make_option("How many to show: 0 for all.", 0, min=0),
) -> None:
    """Count, IRLbl and SCUMBLE of every label."""
    from scumble._core.parameters import check_choice
    from scumble.measures import characterize
    from scumble.report.concurrence import label_rows
    from scumble.report.terminal import render_labels

    check_choice(sort, SORTS, name="sort", caller="labels")
    rows = label_rows(characterize(reading.load(data)), sort=sort, top=top or None)
    told = [{key: value for key, value in row.items() if key != "is_minority"} for row in rows]
    console.show_result(told, lambda _, width: render_labels(rows, width=width))


def labelsets(
    data: str = inputs.DATA,
    reading: inputs.ReadOptions = inputs.DEFAULT_READ_OPTIONS,
    top: int = make_option("How many to show: 0 for all.", 20, min=0),
) -> None:
    """The labelsets, most frequent first."""  # noqa: D401  (shown as help)
    from scumble.report.concurrence import labelset_rows
    from scumble.report.terminal import render_labelsets

    rows, n_all = labelset_rows(reading.load(data), top=top or None)
    console.show_result(rows, partial(render_labelsets, n_all=n_all))


def report(
    data: str = inputs.DATA,
    reading: inputs.ReadOptions = inputs.DEFAULT_READ_OPTIONS,
    difficult: int | None = make_option("How many difficult labels to list.", min=0),
    html: Path | None = inputs.HTML,
    pdf: Path | None = make_option("Also write it for paper, to this file.", file_role=WRITES),
    resample: list[str] | None = make_short_option(
        "resample", "to show before and after; several with ',' between them."
    ),
    seed: int | None = inputs.SEED,
) -> None:
    """Which rare labels are masked by frequent ones."""
    from scumble.report import concurrence_report, render_report
    from scumble.report.concurrence import origin_text

    if pdf is not None:  # complaints come before the data is read, which may take long
        import_optional_dependency("typst", purpose="scumble report --pdf", extra="pdf")
        import_optional_dependency("matplotlib", purpose="scumble report --pdf", extra="pdf")
    result = concurrence_report(
        reading.load(data),
        n_labels=difficult,
        treatments=[name for name in inputs.parse_names(resample) if name.lower() != "none"],
        random_state=seed,
        origin=origin_text(Path(data).name),
    )
    write_files(html, pdf, result)
    console.show_result(result, render_report)


def write_files(html: Path | None, pdf: Path | None, result: dict[str, Any]) -> None:
    """Write a report as the files asked for: all of them, or none."""
    from scumble import report
    from scumble._core.files import atomic_write_all

    wanted = {path: ink for path, ink in ((html, "html"), (pdf, "pdf")) if path is not None}
    with atomic_write_all(wanted) as targets:
        for target, ink in zip(targets, wanted.values(), strict=True):
            content = report.render_pdf(result) if ink == "pdf" else report.render_html(result)
            with target.open() as stream:
                stream.write(content.encode() if isinstance(content, str) else content)


def plot(
    data: str = inputs.DATA,
    output: Path = make_short_option("output", "a file .svg, .pdf or .png.", ..., file_role=WRITES),
    kind: str = make_option(
        "What to draw: chord, labels, difficult, before-after and others, see 'scumble "
        "methods plot'; or as mldr calls it, such as LC.",
        "chord",
        "--kind -k",
    ),
    draw: str | None = make_option(
        "Labels to draw (chord, cooccurrence, labels), with commas between."
    ),
    top: int | None = make_option("How many to show: labels or labelsets; 0 for all.", min=0),
    resample: list[str] | None = inputs.make_resample_option("to draw before and after"),
    seed: int | None = inputs.SEED,
    dark: bool = make_option("Light ink on a dark page.", False, "--dark"),
    dpi: int = make_option("Dots per inch of a PNG.", 150, min=20, max=1200),
    reading: inputs.ReadOptions = inputs.DEFAULT_READ_OPTIONS,
) -> None:
    """Draw a data set: its difficult labels, their company, counts, before and after."""
    from scumble import plots

    entry = None if kind == BEFORE_AFTER else find_plot(kind)
    options = {} if entry is None else _options(entry, draw, top)
    method = inputs.parse_single_name(resample, "--resample") or (None if entry else "remedial")
    treat = None if method is None or method.lower() == "none" else _treatment(method, seed)
    before = reading.load(data)
    after = before if treat is None else treat(before)
    if entry is None:
        few: dict[str, Any] = {} if top is None else {"n_labels": top or ALL}
        ax = plots.plot_before_after(before, after, dark=dark, **few)
    elif treat is not None:
        titles = ("before", f"after {method}")
        ax, _ = plots.plot_pair(before, after, entry.name, titles=titles, dark=dark, **options)
    else:
        ax = entry.function(before, dark=dark, **options)
    plots.save_plot(ax, output, dpi=dpi)
    console.report_written_file(str(output))


def find_plot(kind: str) -> Plot:
    """Find a plot by its name, or by what mldr calls it."""
    from scumble._core.errors import did_you_mean
    from scumble._core.registry import registered_objects

    known = registered_objects("plot")
    for entry in known.values():
        if kind.lower() == entry.name or kind.upper() == entry.alias:
            return entry
    names = ", ".join([*known, BEFORE_AFTER])
    meant = did_you_mean(kind, [*known, BEFORE_AFTER])
    raise ParameterError(f"There is no plot {kind!r}.{meant} Expected one of {names}.")


def _options(entry: Plot, draw: str | None, top: int | None) -> dict[str, Any]:
    """Pass on what a plot understands, and refuse what it does not."""
    known = signature(entry.function).parameters
    options: dict[str, Any] = {}
    if draw is not None:
        if "labels" not in known:
            raise ParameterError(f"--draw chooses labels, which the plot {entry.name!r} cannot.")
        options["labels"] = [name.strip() for name in draw.split(",") if name.strip()]
    if top is not None:
        count = next((n for n in ("n_labels", "n_labelsets", "n_names") if n in known), None)
        if count is None:
            raise ParameterError(f"--top has no meaning for the plot {entry.name!r}.")
        options[count] = top or ALL
    return options


def _treatment(method: str, seed: int | None) -> Callable[[Any], Any]:
    """Check the names of resamplers now, and run them on the data that is given later."""
    from scumble.learn import TextColumns
    from scumble.resample import make_chain, run_chain

    chain = make_chain(method, random_state=seed)
    return lambda data: run_chain(TextColumns.of(data).transform(data), chain)
