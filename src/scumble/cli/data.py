"""``data list|get|path``: the shelf of public data sets."""

from __future__ import annotations

import typer

from scumble.cli.console import progress, show_json, show_table
from scumble.cli.inputs import JSON, argument, group, optional

app = group("Public data sets: list, download, find.")

NAME = argument(None, "Name of the data set, see 'scumble data list'.")


@app.command("list")
def list_entries(json: bool = JSON) -> None:
    """List the data sets and where they are."""
    from scumble.data import shelf
    from scumble.report.terminal import cells

    keys = ("instances", "features", "labels", "mean_ir", "scumble")
    rows = [
        {
            "name": entry.name,
            "title": entry.title,
            "aliases": list(entry.aliases),
            **{key: entry.measures.get(key) for key in keys},
            "place": shelf.place(entry.name),
        }
        for entry in shelf.entries()
    ]
    if json:
        show_json(rows)
        return
    shown = {"instances": ",d", "labels": ",d", "mean_ir": ",.1f", "scumble": ".3f"}
    lines = [(str(row["name"]), *cells(row, shown), str(row["place"])) for row in rows]
    show_table(("name", "instances", "labels", "MeanIR", "SCUMBLE", "place"), lines)


@app.command()
def get(name: str = NAME, force: bool = optional("Download it again.", False)) -> None:
    """Download a data set, verify it and keep it."""
    from scumble.data import shelf

    with progress():
        typer.echo(shelf.fetch(name, force=force))


@app.command()
def path(name: str = NAME) -> None:
    """Print where a data set lies on this machine."""
    from scumble.data import shelf

    typer.echo(shelf.locate(name))
