"""``gui``: the page in the browser."""

from pathlib import Path

import typer

from scumble._core.errors import ParameterError
from scumble.cli import inputs
from scumble.cli.console import complain
from scumble.cli.files import may_be_on_the_shelf
from scumble.cli.inputs import argument, optional


def gui(
    data: str | None = argument("[DATA]", "A file or public data set to open at once.", None),
    port: int | None = optional("By default 8707, or a free one.", min=0, max=65535),
    host: str = optional(
        "Address to listen on; others than this machine's are let in.", "127.0.0.1"
    ),
    allow_host: list[str] | None = optional("A further name browsers may use; repeatable."),
    browser: bool = optional("Open the browser.", True),
    max_upload: int = optional("Megabytes of an uploaded file.", 512, min=1),
    max_unpacked: int = optional("The same, decompressed.", 4096, min=1),
    reading: inputs.Reading = inputs.AS_IS,
) -> None:
    """Look at data sets and treat them in the browser; nothing leaves this machine."""
    from scumble.gui.worker import Worker

    # A process that can work takes as long to start as this one takes to import the rest.
    with Worker() as worker:
        from scumble.gui.server import serve

        if data is not None:
            _refuse_absent(data)
        serve(
            data,
            host=host,
            port=port,
            allow_hosts=tuple(allow_host or ()),
            open_browser=browser,
            max_upload_mb=max_upload,
            max_unpacked_mb=max_unpacked,
            announce=lambda address: typer.echo(f"scumble is at {address}\nCtrl-C ends it."),
            complain=lambda reason: complain("error", reason),
            worker=worker,
            **reading.told,
        )


def _refuse_absent(data: str) -> None:
    """Say at once that there is no such file or data set: nobody waits for a page without it."""
    if may_be_on_the_shelf(data):
        from scumble import data as room

        # Most names stand in the list as they are, and parsing it takes longer than looking.
        listed = Path(room.__file__).with_name("shelf.toml").read_text(encoding="utf-8")
        if f"\n[sets.{data}]\n" in listed:
            return
        from scumble.data import shelf

        try:
            shelf.find(data)
        except ParameterError:
            shelf.locate(data)  # a file in a folder of the user's own
    else:
        from scumble._core.files import Source

        Source(data)
