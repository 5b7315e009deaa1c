"""``summary``, ``labels``, ``labelsets`` and ``report``: look at a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from scumble.cli.files import WRITES
from scumble.cli.inputs import (
    FormatOption,
    Input,
    JsonOption,
    LabelsOption,
    ReadOption,
    SeedOption,
    load,
    parse_names,
)
from scumble.cli.scale import (
    Choice,
    EngineOption,
    InstanceColumnOption,
    LabelColumnOption,
    MemoryOption,
    SparkOption,
    open_scan,
)

TopOption = Annotated[int, typer.Option(min=0, help="How many to show: 0 for all.")]
SORTS = ("order", "name", "count", "irlbl", "scumble")


def summary(
    data: Input,
    format: FormatOption = None,
    labels: LabelsOption = None,
    option: ReadOption = None,
    label_column: LabelColumnOption = None,
    instance_column: InstanceColumnOption = None,
    engine: EngineOption = None,
    memory: MemoryOption = None,
    spark: SparkOption = None,
    json: JsonOption = False,
) -> None:
    """Sizes, imbalance and concurrence of a data set."""
    from scumble._core.progress import show_progress
    from scumble.cli.console import ProgressBar, show, show_json, width
    from scumble.measures import characterize
    from scumble.report.terminal import render_summary

    choice = Choice(engine, memory, label_column, instance_column, spark)
    found = open_scan(data, choice, format=format, options=option)
    if found is not None:
        with found, show_progress(ProgressBar()):
            numbers = characterize(found).to_dict()
    else:
        numbers = characterize(load(data, format=format, labels=labels, options=option)).to_dict()
    if json:
        show_json(numbers)
    else:
        show(render_summary(numbers, width=width()))


def labels(
    data: Input,
    format: FormatOption = None,
    labels: LabelsOption = None,
    option: ReadOption = None,
    sort: Annotated[str, typer.Option(help=f"Order: {', '.join(SORTS)}.")] = "order",
    top: TopOption = 0,
    json: JsonOption = False,
) -> None:
    """Count, IRLbl and SCUMBLE of every label."""
    from scumble._core.validation import check_choice
    from scumble.cli.console import show, show_json, width
    from scumble.measures import characterize
    from scumble.report.concurrence import label_rows
    from scumble.report.terminal import render_labels

    check_choice(sort, SORTS, name="sort", caller="labels")
    rows = label_rows(
        characterize(load(data, format=format, labels=labels, options=option)),
        sort=sort,
        top=top or None,
    )
    if json:
        show_json([{k: v for k, v in row.items() if k != "is_minority"} for row in rows])
    else:
        show(render_labels(rows, width=width()))


def labelsets(
    data: Input,
    format: FormatOption = None,
    labels: LabelsOption = None,
    option: ReadOption = None,
    top: TopOption = 20,
    json: JsonOption = False,
) -> None:
    """The labelsets, most frequent first."""  # noqa: D401  (shown as help)
    from scumble.cli.console import show, show_json, width
    from scumble.report.terminal import labelset_rows, render_labelsets

    rows, n_all = labelset_rows(
        load(data, format=format, labels=labels, options=option), top=top or None
    )
    if json:
        show_json(rows)
    else:
        show(render_labelsets(rows, n_all, width=width()))


def report(
    data: Input,
    format: FormatOption = None,
    labels: LabelsOption = None,
    option: ReadOption = None,
    difficult: Annotated[
        int | None, typer.Option(min=0, help="How many difficult labels to list.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Also write it as a page, to this file."), WRITES
    ] = None,
    pdf: Annotated[
        Path | None, typer.Option(help="Also write it for paper, to this file."), WRITES
    ] = None,
    resample: Annotated[
        list[str] | None,
        typer.Option(
            "--resample",
            "-r",
            help="Resampling: to show before and after; several with ',' between them.",
        ),
    ] = None,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """Which rare labels are masked by frequent ones."""
    from scumble.cli.console import show, show_json, width
    from scumble.report import concurrence_report, render_report
    from scumble.report.concurrence import origin_in_words

    if pdf is not None:  # complaints come before the data is read, which may take long
        from scumble._core.optional import require

        require("typst", purpose="scumble report --pdf", extra="pdf")
        require("matplotlib", purpose="scumble report --pdf", extra="pdf")
    result = concurrence_report(
        load(data, format=format, labels=labels, options=option),
        n_labels=difficult,
        treatments=[name for name in parse_names(resample) if name.lower() != "none"],
        random_state=seed,
        origin=origin_in_words(Path(data).name),
    )
    write_files(html, pdf, result)
    if json:
        show_json(result)
    else:
        show(render_report(result, width=width()))


def write_page(path: Path, result: dict[str, Any], treatment: dict[str, Any] | None = None) -> None:
    """Write a report as an HTML file, whole or not at all."""
    from scumble._core.files import writing
    from scumble.report import render_html

    with writing(path) as target, target.open() as stream:
        stream.write(render_html(result, treatment).encode())


def write_files(html: Path | None, pdf: Path | None, result: dict[str, Any]) -> None:
    """Write a report as the files asked for: all of them, or none."""
    from scumble._core.files import writing
    from scumble.report import render_html, render_pdf

    wanted = [path for path in (html, pdf) if path is not None]
    if not wanted:
        return
    with writing(wanted[0]) as target:
        for path in wanted:
            content = render_html(result).encode() if path is html else render_pdf(result)
            with target.open(None if path is wanted[0] else path) as stream:
                stream.write(content)
