"""``data list|get|path`` and ``methods``: what there is by name, data sets and methods."""

from __future__ import annotations

from inspect import Signature
from typing import TYPE_CHECKING, Any

import typer

from scumble._core.registry import KINDS, CatalogueEntry
from scumble._core.text import escape_controls, wrap
from scumble.cli import console
from scumble.cli.inputs import make_argument, make_command_group, make_option

if TYPE_CHECKING:
    from scumble.report.terminal import Line

data = make_command_group("Public data sets: list, download, find.")

NAME = make_argument(None, "Name of the data set, see 'scumble data list'.")


@data.command("list")
def list_entries() -> None:
    """List the data sets and where they are."""
    from scumble.data.public import repository
    from scumble.report.terminal import cells

    keys = ("instances", "features", "labels", "mean_ir", "scumble")
    rows = [
        {
            "name": entry.name,
            "title": entry.title,
            "aliases": list(entry.aliases),
            **{key: entry.measures.get(key) for key in keys},
            "place": repository.availability(entry.name),
        }
        for entry in repository.entries()
    ]
    shown = {"instances": ",d", "labels": ",d", "mean_ir": ",.1f", "scumble": ".3f"}
    lines = [(str(row["name"]), *cells(row, shown), str(row["place"])) for row in rows]
    head = ("name", "instances", "labels", "MeanIR", "SCUMBLE", "place")
    console.show_tables(rows, [(head, lines)])


@data.command()
def get(name: str = NAME, force: bool = make_option("Download it again.", False)) -> None:
    """Download a data set, verify it and keep it."""
    from scumble.data.public import repository

    with console.progress():
        typer.echo(repository.fetch(name, force=force))


@data.command()
def path(name: str = NAME) -> None:
    """Print where a data set lies on this machine."""
    from scumble.data.public import repository

    typer.echo(repository.locate(name))


def methods(
    kind: str = make_argument("[KIND]", f"One of {', '.join(KINDS)}.", "resampler"),
    name: str | None = make_argument(None, "Show this one with its parameters.", None),
) -> None:
    """List resamplers, classifiers, metrics and more, or the parameters of one of them."""
    from scumble.catalogue import describe, names

    told = [_plain(describe(kind, each)) for each in (names(kind) if name is None else (name,))]
    console.show_result(told, _listed if name is None else _in_detail)


def _plain(entry: CatalogueEntry) -> dict[str, Any]:
    """Tell what an entry is, and of each parameter name, default, domain and text."""
    from scumble.catalogue import parameters_of

    told = {
        "kind": entry.kind,
        "name": entry.name,
        "family": entry.display_group,
        "description": entry.description,
    }
    parameters = [
        {
            "name": each.name,
            "default": "" if each.default is Signature.empty else repr(each.default),
            "allowed": each.constraint.description,
            "text": each.text,
        }
        for each in (parameters_of(entry.obj) if isinstance(entry.obj, type) else ())
    ]
    return {**told, "parameters": parameters}


def _listed(entries: list[dict[str, Any]], *, width: int | None) -> list[Line]:
    from scumble.report.terminal import Segment

    lines: list[Line] = []
    indent = 4 + max(len(entry["name"]) for entry in entries)
    room = None if width is None else max(width - indent, 20)
    for family in dict.fromkeys(entry["family"] for entry in entries):
        lines += [[], [Segment(escape_controls(family), "title")]]
        for entry in entries:
            if entry["family"] == family:
                first, *rest = wrap(escape_controls(entry["description"]), room)
                lines.append([Segment(f"  {entry['name']}".ljust(indent)), Segment(first, "dim")])
                lines += [[Segment(" " * indent + more, "dim")] for more in rest]
    return lines[1:]


def _in_detail(entries: list[dict[str, Any]], *, width: int | None) -> list[Line]:
    from scumble.report.terminal import Segment

    [entry] = entries
    lines: list[Line] = [
        [Segment(f"{entry['name']}: {escape_controls(entry['description'])}", "title")]
    ]
    for each in entry["parameters"]:
        given = f" (default: {each['default']})" if each["default"] else ""
        lines += [[], [Segment(each["name"], "rare"), Segment(f": {each['allowed']}{given}")]]
        room = None if width is None else max(width - 4, 20)
        lines += [
            [Segment(f"    {part}", "dim")] for part in wrap(escape_controls(each["text"]), room)
        ]
    return lines
