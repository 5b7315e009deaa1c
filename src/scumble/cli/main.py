"""``scumble``: the commands. Rooms are imported when a command runs, so ``--help`` is quick."""

from __future__ import annotations

import atexit
import io
import os
import sys
import threading
import warnings
from typing import Any

import typer

from scumble._core.errors import ScumbleError, ScumbleWarning
from scumble._core.version import __version__
from scumble.cli.commands import Group
from scumble.cli.console import complain

INTERRUPTED = 130
NO_READER = 141

app = typer.Typer(
    name="scumble",
    cls=Group,
    help="The workbench for imbalanced multilabel data.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: importing rich would double the time it takes
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"scumble {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """The workbench for imbalanced multilabel data."""  # noqa: D401  (shown as help)


def run() -> None:
    """Run the command line of this process, and end it without taking Python apart.

    Freeing modules and objects one by one takes as much CPU as a short command itself; the system
    takes back all memory at once. Under ``python -m scumble`` profilers see the usual end.
    """
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
        at_work = [thread for thread in threading.enumerate() if not thread.daemon]
        if not isinstance(code, int) or at_work != [threading.main_thread()]:
            raise
        atexit._run_exitfuncs()
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:  # the shell's ``>&-`` closes it
                    stream.flush()
        except BrokenPipeError:
            code = NO_READER
        os._exit(code)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; expected errors end with a message and exit code 2."""
    warnings.showwarning = _show_warning
    warnings.simplefilter("default", ScumbleWarning)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal may not know every character
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app(args=arguments, prog_name="scumble")
    except ScumbleError as error:
        complain("error", str(error))
        sys.exit(2)
    except MemoryError as error:
        complain("error", f"there is not enough memory ({error}). Ask for less, or for a part.")
        sys.exit(2)
    except SystemExit as end:
        if end.code == INTERRUPTED:  # what typer makes of Ctrl-C
            complain("stopped", "interrupted; nothing half-written is left behind.")
        if isinstance(end.__context__, BrokenPipeError):  # typer makes 1 of it: a failure
            # The reader (head, less) has gone. Keep Python from complaining at shutdown.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(NO_READER)
        raise


def _show_warning(message: Any, category: type[Warning], *_where: Any, **_more: Any) -> None:
    if issubclass(category, ScumbleWarning):
        complain("note", str(message))
