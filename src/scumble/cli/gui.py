"""``gui``: serve the page for the browser."""

from pathlib import Path
from typing import Annotated

import typer

from scumble._core.errors import ParameterError
from scumble.cli.console import print_message
from scumble.cli.files import may_be_public_dataset
from scumble.cli.options import ReadOptions


def gui(
    data: Annotated[
        str | None,
        typer.Argument(metavar="[DATA]", help="A file or public data set to open at once."),
    ] = None,
    *,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="Port; by default 8707, or a free one."),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            "--host", help="Address to listen on; a non-local address accepts other machines."
        ),
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", help="Another name that browsers may use for this host; repeatable."
        ),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
    max_upload: Annotated[
        int,
        typer.Option("--max-upload", min=1, help="Maximum size of an uploaded file, in megabytes."),
    ] = 512,
    max_unpacked: Annotated[
        int, typer.Option("--max-unpacked", min=1, help="The same, decompressed.")
    ] = 4096,
    read: ReadOptions,
) -> None:
    """Explore and resample data sets in the browser; no data leaves this machine."""
    from scumble.gui.worker import Worker

    # The worker process starts while this process imports the server.
    with Worker() as worker:
        from scumble.gui.server import serve

        if data is not None:
            _check_exists(data)
        serve(
            data,
            host=host,
            port=port,
            allow_hosts=tuple(allow_host or ()),
            open_browser=browser,
            max_upload_mb=max_upload,
            max_unpacked_mb=max_unpacked,
            announce=_print_address,
            on_error=_print_error,
            worker=worker,
            **read.reader_parameters(),
        )


def _print_address(address: str) -> None:
    """Print the address of the page."""
    typer.echo(f"scumble is running at {address}\nPress Ctrl-C to stop it.")


def _print_error(reason: str) -> None:
    """Print an error of the server."""
    print_message("error", reason)


def _check_exists(data: str) -> None:
    """Raise an error for a file or public data set that does not exist, before the page opens."""
    if not may_be_public_dataset(data):
        from scumble._core.files import InputFile

        InputFile(data)
        return
    from scumble import data as data_subpackage

    # Searching the text of the list is faster than parsing it, and finds all names but aliases.
    list_file = Path(data_subpackage.__file__).parent / "public" / "repository.toml"
    if f"\n[sets.{data}]\n" in list_file.read_text(encoding="utf-8"):
        return
    from scumble.data.public import repository

    try:
        repository.find(data)
    except ParameterError:
        repository.locate(data)  # a file in a folder of the user; raises an error if there is none
