"""``data list|get|path`` and ``methods``: list public data sets and methods."""

from __future__ import annotations

from inspect import Signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scumble._core.registry import KINDS, CatalogueEntry
from scumble._core.text import escape_controls, wrap
from scumble.cli import console
from scumble.cli.command import CommandGroup
from scumble.cli.options import JsonOption

if TYPE_CHECKING:
    from scumble.report.terminal import Line

NameArgument = Annotated[str, typer.Argument(help="Name of the data set, see 'scumble data list'.")]
#: Fewest characters per line of a description, however narrow the terminal.
MIN_TEXT_WIDTH = 20


def list_entries(*, json: JsonOption = False) -> None:
    """List the data sets and where they are."""
    from scumble.data.public import repository
    from scumble.report.terminal import format_cells

    measures = ("instances", "features", "labels", "mean_ir", "scumble")
    rows: list[dict[str, Any]] = [
        {
            "name": entry.name,
            "title": entry.title,
            "aliases": list(entry.aliases),
            **{measure: entry.measures.get(measure) for measure in measures},
            "place": repository.availability(entry.name),
        }
        for entry in repository.entries()
    ]
    specs = {"instances": ",d", "labels": ",d", "mean_ir": ",.1f", "scumble": ".3f"}
    table = console.Table(
        head=("name", "instances", "labels", "MeanIR", "SCUMBLE", "place"),
        rows=[(row["name"], *format_cells(row, specs), row["place"]) for row in rows],
    )
    console.show_tables(rows, [table], as_json=json)


def get(
    name: NameArgument,
    *,
    force: Annotated[bool, typer.Option(help="Download it again.")] = False,
) -> None:
    """Download a data set, verify it and print its path."""
    from scumble.data.public import repository

    with console.progress():
        typer.echo(repository.fetch(name, force=force))


def path(name: NameArgument) -> None:
    """Print the path of a data set on this machine."""
    from scumble.data.public import repository

    typer.echo(repository.locate(name))


data = CommandGroup(
    help="Public data sets: list, download, find.",
    commands={"list": list_entries, "get": get, "path": path},
)


def methods(
    kind: Annotated[
        str, typer.Argument(metavar="[KIND]", help=f"One of {', '.join(KINDS)}.")
    ] = "resampler",
    name: Annotated[str | None, typer.Argument(help="Show this one with its parameters.")] = None,
    *,
    json: JsonOption = False,
) -> None:
    """List resamplers, classifiers, metrics and more, or the parameters of one of them."""
    from scumble.catalogue import describe, names

    if name is None:
        entries = [_entry_to_dict(describe(kind, entry_name)) for entry_name in names(kind)]
        console.show_result(entries, _render_list, as_json=json)
    else:
        entry = _entry_to_dict(describe(kind, name))
        console.show_result([entry], _render_details, as_json=json)


def _entry_to_dict(entry: CatalogueEntry) -> dict[str, Any]:
    """Return an entry of the catalogue, with its parameters, as a dictionary for JSON."""
    from scumble.catalogue import parameters_of

    parameters = []
    if isinstance(entry.obj, type):
        for parameter in parameters_of(entry.obj):
            has_default = parameter.default is not Signature.empty
            parameters.append(
                {
                    "name": parameter.name,
                    "default": repr(parameter.default) if has_default else "",
                    "allowed": parameter.constraint.description,
                    "text": parameter.text,
                }
            )
    return {
        "kind": entry.kind,
        "name": entry.name,
        "family": entry.display_group,
        "description": entry.description,
        "parameters": parameters,
    }


def _render_list(entries: list[dict[str, Any]], *, width: int | None) -> list[Line]:
    """Return the lines of a list of entries, under the headings of their groups."""
    from scumble.report.terminal import Segment

    lines: list[Line] = []
    indent = 4 + max(len(entry["name"]) for entry in entries)
    text_width = None if width is None else max(width - indent, MIN_TEXT_WIDTH)
    for group in dict.fromkeys(entry["family"] for entry in entries):
        lines += [[], [Segment(escape_controls(group), "title")]]
        for entry in entries:
            if entry["family"] == group:
                first_line, *more_lines = wrap(escape_controls(entry["description"]), text_width)
                name = f"  {entry['name']}".ljust(indent)
                lines.append([Segment(name), Segment(first_line, "dim")])
                lines += [[Segment(" " * indent + line, "dim")] for line in more_lines]
    return lines[1:]


def _render_details(entries: list[dict[str, Any]], *, width: int | None) -> list[Line]:
    """Return the lines of a single entry with its parameters."""
    from scumble.report.terminal import Segment

    [entry] = entries
    lines: list[Line] = [
        [Segment(f"{entry['name']}: {escape_controls(entry['description'])}", "title")]
    ]
    text_width = None if width is None else max(width - 4, MIN_TEXT_WIDTH)
    for parameter in entry["parameters"]:
        values = f": {parameter['allowed']}"
        if parameter["default"]:
            values += f" (default: {parameter['default']})"
        lines += [[], [Segment(parameter["name"], "rare"), Segment(values)]]
        for line in wrap(escape_controls(parameter["text"]), text_width):
            lines.append([Segment(f"    {line}", "dim")])
    return lines
