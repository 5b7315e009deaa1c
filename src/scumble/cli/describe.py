"""``summary``, ``labels``, ``labelsets`` and ``report``: look at a data set."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from scumble.cli import inputs
from scumble.cli.console import progress, show, show_json, show_result, width
from scumble.cli.files import WRITES
from scumble.cli.inputs import lettered, optional, parse_names
from scumble.cli.scale import UNASKED, Choice

SORTS = ("order", "name", "count", "irlbl", "scumble")


def summary(
    data: inputs.Input,
    reading: inputs.Reading = inputs.AS_IS,
    large: Choice = UNASKED,
    json: inputs.JsonOption = False,
) -> None:
    """Sizes, imbalance and concurrence of a data set."""
    from scumble.measures import characterize
    from scumble.report.terminal import render_summary

    found = large.open(data, reading)
    if found is not None:
        with found, progress():
            numbers = characterize(found)
    else:
        numbers = characterize(reading.load(data))
    show_result(numbers.to_dict(), render_summary, json=json)


def labels(
    data: inputs.Input,
    reading: inputs.Reading = inputs.AS_IS,
    sort: str = optional(f"Order: {', '.join(SORTS)}.", "order"),
    top: inputs.TopOption = 0,
    json: inputs.JsonOption = False,
) -> None:
    """Count, IRLbl and SCUMBLE of every label."""
    from scumble._core.validation import check_choice
    from scumble.measures import characterize
    from scumble.report.concurrence import label_rows
    from scumble.report.terminal import render_labels

    check_choice(sort, SORTS, name="sort", caller="labels")
    rows = label_rows(characterize(reading.load(data)), sort=sort, top=top or None)
    if json:
        show_json([{k: v for k, v in row.items() if k != "is_minority"} for row in rows])
    else:
        show(render_labels(rows, width=width()))


def labelsets(
    data: inputs.Input,
    reading: inputs.Reading = inputs.AS_IS,
    top: inputs.TopOption = 20,
    json: inputs.JsonOption = False,
) -> None:
    """The labelsets, most frequent first."""  # noqa: D401  (shown as help)
    from scumble.report.concurrence import labelset_rows
    from scumble.report.terminal import render_labelsets

    rows, n_all = labelset_rows(reading.load(data), top=top or None)
    show_result(rows, partial(render_labelsets, n_all=n_all), json=json)


def report(
    data: inputs.Input,
    reading: inputs.Reading = inputs.AS_IS,
    difficult: int | None = optional("How many difficult labels to list.", min=0),
    html: inputs.HtmlOption = None,
    pdf: Path | None = optional("Also write it for paper, to this file.", mark=WRITES),
    resample: list[str] | None = lettered(
        "resample", "to show before and after; several with ',' between them."
    ),
    seed: inputs.SeedOption = None,
    json: inputs.JsonOption = False,
) -> None:
    """Which rare labels are masked by frequent ones."""
    from scumble.report import concurrence_report, render_report
    from scumble.report.concurrence import origin_in_words

    if pdf is not None:  # complaints come before the data is read, which may take long
        from scumble._core.optional import require

        require("typst", purpose="scumble report --pdf", extra="pdf")
        require("matplotlib", purpose="scumble report --pdf", extra="pdf")
    result = concurrence_report(
        reading.load(data),
        n_labels=difficult,
        treatments=[name for name in parse_names(resample) if name.lower() != "none"],
        random_state=seed,
        origin=origin_in_words(Path(data).name),
    )
    write_files(html, pdf, result)
    show_result(result, render_report, json=json)


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
