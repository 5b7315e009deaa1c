"""``scumble``: the list of commands, and how the command line runs and ends.

A command is imported and built only when it is called: building all of them takes a tenth of the
time of a short command. Other subpackages are imported when a command runs, so that ``--help`` is
fast.
"""

import errno
import gc
import io
import os
import sys
import warnings
from collections import UserDict
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from scumble._core.errors import ScumbleError, ScumbleWarning, write_failure_message
from scumble._core.version import __version__
from scumble.cli.command import build_command
from scumble.cli.console import print_message

#: Exit code after Ctrl-C, by convention 128 + the number of the signal.
INTERRUPTED = 130
#: Exit code if the reader of a pipe has ended, by the same convention.
CLOSED_PIPE = 141
#: System errors for which no file is to blame: the disk is full or broken, or a quota is exceeded.
DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
#: The module of each command, in the order of the help. It has a function or a `CommandGroup`
#: with the name of the command.
COMMAND_MODULES = {
    "demo": "advise",
    "summary": "describe",
    "labels": "describe",
    "labelsets": "describe",
    "report": "describe",
    "plot": "describe",
    "remedial": "write",
    "resample": "write",
    "train": "train",
    "predict": "train",
    "thresholds": "train",
    "split": "write",
    "evaluate": "evaluate",
    "score": "evaluate",
    "compare": "evaluate",
    "advise": "advise",
    "convert": "write",
    "gui": "gui",
    "data": "listing",
    "methods": "listing",
    "experiment": "experiment",
    "paper": "paper",
}


class LazyCommands(UserDict[str, Any]):
    """The commands by name; a command is built when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        return load_command(name)


class RootCommand(TyperGroup):
    """The command ``scumble``, which has all other commands."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.commands: Any = LazyCommands(COMMAND_MODULES)


@cache
def load_command(name: str) -> Any:
    """Import and build a command."""
    module = import_module(f"scumble.cli.{COMMAND_MODULES[name]}")
    return build_command(name, getattr(module, name))


app = typer.Typer(
    name="scumble",
    cls=RootCommand,
    help="The workbench for imbalanced multilabel data.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: importing rich would double the time it takes
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_requested: bool) -> None:
    """Print the version and exit if ``--version`` is given."""
    if is_requested:
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
    """Run the command line and end the process: the entry point of the program ``scumble``."""
    try:
        main()
    finally:
        # When Python exits, it searches all objects for cycles several times, which takes up to a
        # third of the CPU time of a short command. Frozen objects are left out of this search.
        gc.freeze()


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; expected errors end with a message and exit code 2."""
    warnings.showwarning = _show_warning  # a documented hook of Python
    warnings.simplefilter("default", ScumbleWarning)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal may not know every character
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(_flush_output(_run_app(arguments)))


def _run_app(arguments: list[str] | None) -> Any:
    """Run a command and return its exit code."""
    try:
        app(args=arguments, prog_name="scumble")
    except (ScumbleError, MemoryError, OSError) as error:
        print_message("error", _error_text(error))
        return 2
    except SystemExit as end:
        if end.code == INTERRUPTED:  # Typer exits with it after Ctrl-C
            print_message("stopped", "interrupted; no partly written file is left behind.")
        if isinstance(end.__context__, BrokenPipeError):  # Typer exits with 1, a failure
            return CLOSED_PIPE
        return end.code


def _error_text(error: ScumbleError | MemoryError | OSError) -> str:
    """Return the message for an error; a disk error without a file may concern standard output."""
    if isinstance(error, ScumbleError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"there is not enough memory ({error}). Request less, or use a part of the data."
    if error.filename is None and error.errno in DISK_ERRORS:
        return f"standard output or another file {write_failure_message(error)}."
    return f"the operating system reports: {error}."


def _flush_output(exit_code: Any) -> Any:
    """Flush standard output and return the exit code, which changes if flushing fails."""
    try:
        if sys.stdout is not None:  # the shell's ``>&-`` closes it
            sys.stdout.flush()
        if exit_code != CLOSED_PIPE:
            return exit_code
    except BrokenPipeError:  # the reader, such as head or less, has ended
        exit_code = CLOSED_PIPE
    except OSError as error:
        if not exit_code:
            print_message("error", f"standard output {write_failure_message(error)}.")
            exit_code = 2
    _discard_output()
    return exit_code


def _discard_output() -> None:
    """Redirect standard output to the null device, so that Python can flush it when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_warning(message: Any, category: type[Warning], *_position: Any, **_stream: Any) -> None:
    """Print warnings of scumble as notes; ignore those of other packages."""
    if issubclass(category, ScumbleWarning):
        print_message("note", str(message))
