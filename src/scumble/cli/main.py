"""``scumble``: the commands. Rooms are imported when a command runs, so ``--help`` is quick."""

from __future__ import annotations

import atexit
import errno
import io
import os
import sys
import threading
import warnings
from typing import Any

import typer

from scumble._core.errors import ScumbleError, ScumbleWarning, cannot_be_written
from scumble._core.version import __version__
from scumble.cli.commands import Group
from scumble.cli.console import complain

INTERRUPTED = 130
NO_READER = 141
#: What the system says where there is no room: the disk is full, broken, or no more is granted.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

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
        except OSError:  # the rest of what is printed has been printed, or told to be lost
            code = code or NO_READER
        os._exit(code)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; expected errors end with a message and exit code 2."""
    warnings.showwarning = _show_warning
    warnings.simplefilter("default", ScumbleWarning)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal may not know every character
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(_flushed(_code_of(arguments)))


def _code_of(arguments: list[str] | None) -> Any:
    """Run a command, and give the code to exit with."""
    try:
        app(args=arguments, prog_name="scumble")
    except (ScumbleError, MemoryError, OSError) as error:
        complain("error", _reason(error))
        return 2
    except SystemExit as end:
        if end.code == INTERRUPTED:  # what typer makes of Ctrl-C
            complain("stopped", "interrupted; nothing half-written is left behind.")
        if isinstance(end.__context__, BrokenPipeError):  # typer makes 1 of it: a failure
            return NO_READER
        return end.code


def _reason(error: ScumbleError | MemoryError | OSError) -> str:
    """Say what is wrong; a file without a name that is refused may be standard output."""
    if isinstance(error, ScumbleError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"there is not enough memory ({error}). Ask for less, or for a part."
    if error.filename is None and error.errno in NO_ROOM:
        return f"standard output or another file {cannot_be_written(error)}."
    return f"the system refuses: {error}."


def _flushed(code: Any) -> Any:
    """Print what is left to be printed, and give the code to exit with if that fails."""
    try:
        if sys.stdout is not None:  # the shell's ``>&-`` closes it
            sys.stdout.flush()
        if code != NO_READER:
            return code
    except BrokenPipeError:  # the reader (head, less) has gone
        code = NO_READER
    except OSError as error:
        if not code:
            complain("error", f"standard output {cannot_be_written(error)}.")
        code = code or 2
    _print_nowhere()
    return code


def _print_nowhere() -> None:
    """Keep Python from complaining at its end of what could not be printed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_warning(message: Any, category: type[Warning], *_where: Any, **_more: Any) -> None:
    if issubclass(category, ScumbleWarning):
        complain("note", str(message))
