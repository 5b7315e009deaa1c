"""``summary``, ``labels``, ``labelsets``, ``report`` and ``plot``: describe a data set."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scumble._core.errors import ParameterError
from scumble._core.optional import import_optional_dependency
from scumble.cli import console
from scumble.cli.files import FileRole
from scumble.cli.options import (
    RESAMPLER_SYNTAX,
    DataArgument,
    HtmlOption,
    JsonOption,
    OutOfCoreOptions,
    ReadOptions,
    SeedOption,
    TopOption,
)
from scumble.cli.parse import parse_names, parse_single_name

if TYPE_CHECKING:
    from scumble.plots import Plot

#: Orders of the labels that ``labels`` prints.
SORTS = ("order", "name", "count", "irlbl", "scumble")
#: The plot that compares a data set before and after resampling.
BEFORE_AFTER = "before-after"
#: Number of items for ``--top 0``: plots then show all there are.
ALL = sys.maxsize


def summary(
    data: DataArgument,
    read: ReadOptions,
    out_of_core: OutOfCoreOptions,
    *,
    json: JsonOption = False,
) -> None:
    """Sizes, imbalance and concurrence of a data set."""
    from scumble.measures import characterize
    from scumble.report.terminal import render_summary

    dataset = out_of_core.open(data, read)
    if dataset is None:
        measures = characterize(read.load(data))
    else:
        with dataset, console.progress():
            measures = characterize(dataset)
    console.show_result(measures.to_dict(), render_summary, as_json=json)


def labels(
    data: DataArgument,
    read: ReadOptions,
    *,
    sort: Annotated[str, typer.Option("--sort", help=f"Order: {', '.join(SORTS)}.")] = "order",
    top: TopOption = 0,
    json: JsonOption = False,
) -> None:
    """Count, IRLbl and SCUMBLE of every label."""
    from scumble._core.parameters import check_choice
    from scumble.measures import characterize
    from scumble.report.concurrence import label_rows
    from scumble.report.terminal import render_labels

    check_choice(sort, SORTS, name="sort", caller="labels")
    rows = label_rows(characterize(read.load(data)), sort=sort, top=top or None)
    result = [_without_key(row, "is_minority") for row in rows]
    console.show_result(result, lambda _, width: render_labels(rows, width=width), as_json=json)


def _without_key(row: dict[str, Any], omitted_key: str) -> dict[str, Any]:
    """Return a row of a table without one of its keys."""
    return {key: value for key, value in row.items() if key != omitted_key}


def labelsets(
    data: DataArgument, read: ReadOptions, *, top: TopOption = 20, json: JsonOption = False
) -> None:
    """The labelsets, most frequent first."""  # noqa: D401  (shown as help)
    from scumble.report.concurrence import labelset_rows
    from scumble.report.terminal import render_labelsets

    rows, n_labelsets = labelset_rows(read.load(data), top=top or None)
    console.show_result(rows, partial(render_labelsets, n_all=n_labelsets), as_json=json)


def report(
    data: DataArgument,
    read: ReadOptions,
    *,
    difficult: Annotated[
        int | None,
        typer.Option("--difficult", min=0, help="How many difficult labels to list."),
    ] = None,
    html: HtmlOption = None,
    pdf: Annotated[
        Path | None,
        typer.Option("--pdf", help="Also write it to this file, as a PDF."),
        FileRole.WRITES,
    ] = None,
    resample: Annotated[
        list[str] | None,
        typer.Option(
            "--resample",
            "-r",
            help="Resampling: to show before and after; several separated by commas.",
        ),
    ] = None,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """Which rare labels are masked by frequent ones."""
    from scumble.report import concurrence_report, render_report
    from scumble.report.concurrence import origin_text

    if pdf is not None:  # before the data is read, which may take long
        import_optional_dependency("typst", purpose="scumble report --pdf", extra="pdf")
        import_optional_dependency("matplotlib", purpose="scumble report --pdf", extra="pdf")
    result = concurrence_report(
        read.load(data),
        n_labels=difficult,
        treatments=[name for name in parse_names(resample) if name.lower() != "none"],
        random_state=seed,
        origin=origin_text(Path(data).name),
    )
    write_report_files(result, html=html, pdf=pdf)
    console.show_result(result, render_report, as_json=json)


def write_report_files(result: dict[str, Any], *, html: Path | None, pdf: Path | None) -> None:
    """Write a report as HTML, as PDF or both; if one fails, no file is written."""
    from scumble._core.files import atomic_write_all
    from scumble.report import render_html, render_pdf

    renderers: dict[Path, Callable[[dict[str, Any]], str | bytes]] = {}
    if html is not None:
        renderers[html] = render_html
    if pdf is not None:
        renderers[pdf] = render_pdf
    with atomic_write_all(renderers) as output_files:
        for output_file, render in zip(output_files, renderers.values(), strict=True):
            content = render(result)
            with output_file.open() as stream:
                stream.write(content.encode() if isinstance(content, str) else content)


def plot(
    data: DataArgument,
    *,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Output: a file .svg, .pdf or .png."),
        FileRole.WRITES,
    ],
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            "-k",
            help="What to draw: chord, labels, difficult, before-after and others, see 'scumble "
            "methods plot'; or as mldr calls it, such as LC.",
        ),
    ] = "chord",
    draw: Annotated[
        str | None,
        typer.Option(
            "--draw", help="Labels to draw (chord, cooccurrence, labels), separated by commas."
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option("--top", min=0, help="How many to show: labels or labelsets; 0 for all."),
    ] = None,
    resample: Annotated[
        list[str] | None,
        typer.Option(
            "--resample", "-r", help=f"Resampling: to draw before and after; {RESAMPLER_SYNTAX}"
        ),
    ] = None,
    seed: SeedOption = None,
    dark: Annotated[
        bool, typer.Option("--dark", help="Use light colours on a dark background.")
    ] = False,
    dpi: Annotated[
        int, typer.Option("--dpi", min=20, max=1200, help="Dots per inch of a PNG.")
    ] = 150,
    read: ReadOptions,
    json: JsonOption = False,
) -> None:
    """Draw a data set: difficult labels, co-occurrence, counts, before and after."""
    from scumble import plots

    # Everything is checked before the data is read, which may take long.
    entry = None if kind == BEFORE_AFTER else find_plot(kind)
    options = {} if entry is None else _plot_options(entry, draw, top)
    resampler_name = parse_single_name(resample, "--resample")
    if resampler_name is None and entry is None:
        resampler_name = "remedial"
    apply_resampler = None
    if resampler_name is not None and resampler_name.lower() != "none":
        apply_resampler = _resampling_function(resampler_name, seed)

    before = read.load(data)
    after = before if apply_resampler is None else apply_resampler(before)
    if entry is None:
        n_labels: dict[str, Any] = {} if top is None else {"n_labels": top or ALL}
        ax = plots.plot_before_after(before, after, dark=dark, **n_labels)
    elif apply_resampler is not None:
        titles = ("before", f"after {resampler_name}")
        ax, _ = plots.plot_pair(before, after, entry.name, titles=titles, dark=dark, **options)
    else:
        ax = entry.function(before, dark=dark, **options)
    plots.save_plot(ax, output, dpi=dpi)
    console.report_written_file(str(output), as_json=json)


def find_plot(kind: str) -> Plot:
    """Return the plot of this name, which may also be its name in mldr."""
    from scumble._core.errors import did_you_mean
    from scumble._core.registry import registered_objects

    plots = registered_objects("plot")
    for entry in plots.values():
        if kind.lower() == entry.name or kind.upper() == entry.alias:
            return entry
    names = [*plots, BEFORE_AFTER]
    suggestion = did_you_mean(kind, names)
    raise ParameterError(
        f"There is no plot {kind!r}.{suggestion} Expected one of {', '.join(names)}."
    )


def _plot_options(entry: Plot, draw: str | None, top: int | None) -> dict[str, Any]:
    """Return the keyword arguments of a plot; raise an error for an option it does not support."""
    parameters = signature(entry.function).parameters
    options: dict[str, Any] = {}
    if draw is not None:
        if "labels" not in parameters:
            raise ParameterError(
                f"--draw selects labels, which the plot {entry.name!r} does not support."
            )
        options["labels"] = [name.strip() for name in draw.split(",") if name.strip()]
    if top is not None:
        count_parameters = [
            name for name in ("n_labels", "n_labelsets", "n_names") if name in parameters
        ]
        if not count_parameters:
            raise ParameterError(f"The plot {entry.name!r} does not support --top.")
        options[count_parameters[0]] = top or ALL
    return options


def _resampling_function(names: str, seed: int | None) -> Callable[[Any], Any]:
    """Return a function that applies the resamplers that ``names`` joins with "+".

    Raise ParameterError at once if there is no such resampler.
    """
    from scumble.learn import TextColumns
    from scumble.resample import make_chain, run_chain

    chain = make_chain(names, random_state=seed)

    def apply_resampler(data: Any) -> Any:
        """Return the resampled data set; words of texts become features first."""
        return run_chain(TextColumns.of(data).transform(data), chain)

    return apply_resampler
