"""``scumble``: which commands there are, and how they are run.

Each is imported and built when it is called: building all of them takes a tenth of the time of a
short command. Rooms are imported when a command runs, so ``--help`` is quick.
"""

import atexit
import errno
import io
import os
import sys
import threading
import warnings
from collections import UserDict
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from scumble._core.errors import ParameterError, ScumbleError, ScumbleWarning, write_failure_message
from scumble._core.version import __version__
from scumble.cli.console import configure_output, print_message, redirect_to_stderr, suggest_option
from scumble.cli.files import check_overwrites, list_file_arguments, prepare_pipes
from scumble.cli.inputs import make_option, make_short_option

INTERRUPTED = 130
NO_READER = 141
#: What the system says where there is no room: the disk is full, broken, or no more is granted.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
#: The module of each command, in the order of the help. It holds a function of the command's name,
#: or a group of that name with commands of its own.
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
#: Commands that print a word, a file or nothing, and have no ``--json``.
COMMANDS_WITHOUT_JSON = ("demo", "gui", "get", "path", "plan")


class Commands(UserDict[str, Any]):
    """The commands by name; only one that is taken out is built."""

    def __getitem__(self, name: str) -> Any:
        return _build(name)


class Command(TyperCommand):
    """A command that knows what its options are called elsewhere.

    Its help names the command ``methods`` rather than all methods: listing these loads their rooms.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; an option of other commands or packages is answered with ours."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            wrong = getattr(error, "option_name", None)  # only one kind of error has it
            known = [spelling for each in self.params for spelling in each.opts]
            if wrong is not None and (ours := suggest_option(wrong, known)):
                error.possibilities = ours  # type: ignore[attr-defined]  # click prints them
            raise


class Group(TyperGroup):
    """The command ``scumble``, under which the others stand."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands: Any = Commands(COMMAND_MODULES)


@dataclass(frozen=True, kw_only=True)
class CommonOptions:
    """What every command has, and need not say: ``output`` where its argument OUT is written."""

    json: bool = make_option("Print JSON.", False, "--json")
    output: str | None = make_short_option("output", "the same as OUT.")
    quiet: bool = make_option(
        "Print results and errors only: no notes, no progress, no words.", False, "--quiet -q"
    )


def with_common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that all have, and let it write over nothing that it reads.

    The fields of a dataclass among its parameters become options of its own; one of two
    dataclasses stands once, in the place and with the words of the second.
    """
    own = signature(command, eval_str=True).parameters
    kinds = {name: each.annotation for name, each in own.items()}
    groups: dict[str, Any] = {name: kind for name, kind in kinds.items() if is_dataclass(kind)}
    listed: dict[str, Parameter] = {}
    for each in own.values():
        for one in _fields(groups[each.name]) if each.name in groups else [each]:
            listed.pop(one.name, None)
            listed[one.name] = _for_typer(one)
    out = listed.get("out")
    json, output, quiet = map(_for_typer, _fields(CommonOptions))
    listed |= {} if command.__name__ in COMMANDS_WITHOUT_JSON else {"json": json}
    options = {name: "--" + name.replace("_", "-") for name in listed if name != "data"}

    @wraps(command)
    def checked(*, quiet: bool, json: bool = False, **given: Any) -> Any:
        configure_output(quiet=quiet, json=json, options=options, given=given.values())
        if out is not None:
            given["out"] = _where(given["out"], given.pop("output"), out)
        named = list_file_arguments(checked, given)
        check_overwrites(named, given)
        for name, kind in groups.items():
            given[name] = kind(**{each.name: given[each.name] for each in fields(kind)})
        with prepare_pipes(named) as to_pipe, redirect_to_stderr(to_pipe):
            return command(**{name: given[name] for name in own})

    if out is not None:
        listed |= {"out": out.replace(default=None), "output": output}
    checked.__signature__ = Signature([*listed.values(), quiet])  # type: ignore[attr-defined]  # for Typer
    return checked


def _fields(kind: Any) -> list[Parameter]:
    """List the fields of a dataclass as parameters."""
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(each.name, Parameter.KEYWORD_ONLY, default=each, annotation=hints[each.name])
        for each in fields(kind)
    ]


def _for_typer(given: Parameter) -> Parameter:
    """Put what `make_option` says of a parameter into its annotation, where Typer looks for it."""
    said: Field[Any] = given.default
    default = Parameter.empty if said.default is MISSING else said.default
    kind: Any = Annotated[given.annotation, said.metadata["told"], said.metadata["mark"]]
    return given.replace(kind=Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _where(out: Any, output: Any, argument: Parameter) -> Any:
    """Take what is written from OUT or from --output, whichever was given."""
    if out is not None and output is not None:
        raise ParameterError(f"Where to write stands twice: {out}, and --output {output}.")
    if out is None and output is None and argument.default is Parameter.empty:
        raise ParameterError("Where to write? Name a file with --output.")
    found = output if out is None else out
    return Path(found) if found is not None and "Path" in str(argument.annotation) else found


@cache
def _build(name: str) -> Any:
    found: Any = getattr(import_module(f"scumble.cli.{COMMAND_MODULES[name]}"), name)
    parent = typer.Typer(rich_markup_mode=None)
    if hasattr(found, "registered_commands"):
        for info in found.registered_commands:
            info.cls, info.callback = Command, with_common_options(info.callback)
        parent.add_typer(found, name=name)
    else:
        parent.command(cls=Command)(with_common_options(found))
    return get_group(parent).commands[name]


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
        print_message("error", _reason(error))
        return 2
    except SystemExit as end:
        if end.code == INTERRUPTED:  # what typer makes of Ctrl-C
            print_message("stopped", "interrupted; nothing half-written is left behind.")
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
        return f"standard output or another file {write_failure_message(error)}."
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
            print_message("error", f"standard output {write_failure_message(error)}.")
        code = code or 2
    _print_nowhere()
    return code


def _print_nowhere() -> None:
    """Keep Python from complaining at its end of what could not be printed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_warning(message: Any, category: type[Warning], *_where: Any, **_more: Any) -> None:
    if issubclass(category, ScumbleWarning):
        print_message("note", str(message))
