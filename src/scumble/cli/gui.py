"""``gui``: the page in the browser."""

from pathlib import Path

import typer

from scumble._core.errors import ParameterError
from scumble.cli import inputs
from scumble.cli.console import print_message
from scumble.cli.files import may_be_public_dataset
from scumble.cli.inputs import make_argument, make_option


def gui(
    data: str | None = make_argument("[DATA]", "A file or public data set to open at once.", None),
    port: int | None = make_option("By default 8707, or a free one.", min=0, max=65535),
    host: str = make_option(
        "Address to listen on; others than this machine's are let in.", "127.0.0.1"
    ),
    allow_host: list[str] | None = make_option("A further name browsers may use; repeatable."),
    browser: bool = make_option("Open the browser.", True),
    max_upload: int = make_option("Megabytes of an uploaded file.", 512, min=1),
    max_unpacked: int = make_option("The same, decompressed.", 4096, min=1),
    reading: inputs.ReadOptions = inputs.DEFAULT_READ_OPTIONS,
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
            on_error=lambda reason: print_message("error", reason),
            worker=worker,
            **reading.told,
        )


def _refuse_absent(data: str) -> None:
    """Say at once that there is no such file or data set: nobody waits for a page without it."""
    if may_be_public_dataset(data):
        from scumble import data as room

        # Most names stand in the list as they are, and parsing it takes longer than looking.
        listed = Path(room.__file__).with_name("repository.toml").read_text(encoding="utf-8")
        if f"\n[sets.{data}]\n" in listed:
            return
        from scumble.data.public import repository

        try:
            repository.find(data)
        except ParameterError:
            repository.locate(data)  # a file in a folder of the user's own
    else:
        from scumble._core.files import InputFile

        InputFile(data)
