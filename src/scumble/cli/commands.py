"""Which commands there are; each is imported and built when it is called.

Building all of them takes a tenth of the time of a short command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from scumble._core.errors import ParameterError
from scumble.cli.console import aside, begin
from scumble.cli.files import marked_parameters, piping, refuse_losses
from scumble.cli.inputs import lettered, optional
from scumble.cli.words import elsewhere

#: The module of each command, in the order of the help. It holds a function of the command's name,
#: or a group of that name with commands of its own.
HOMES = {
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


class Commands(Mapping[str, Any]):
    """The commands by name."""

    def __getitem__(self, name: str) -> Any:
        return _build(name)

    def __contains__(self, name: object) -> bool:  # builds nothing
        return name in HOMES

    def __iter__(self) -> Iterator[str]:
        return iter(HOMES)

    def __len__(self) -> int:
        return len(HOMES)


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
            if wrong is not None and (ours := elsewhere(wrong, known)):
                error.possibilities = ours  # type: ignore[attr-defined]  # click prints them
            raise


class Group(TyperGroup):
    """The command ``scumble``, under which the others stand."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands: Any = Commands()


@dataclass(frozen=True, kw_only=True)
class Everywhere:
    """What every command has, and need not say: ``output`` where its argument OUT is written."""

    output: str | None = lettered("output", "the same as OUT.")
    quiet: bool = optional(
        "Print results and errors only: no notes, no progress, no words.", False, "--quiet -q"
    )


def prepared(command: Callable[..., Any]) -> Callable[..., Any]:
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
    options = {name: "--" + name.replace("_", "-") for name in listed if name != "data"}

    @wraps(command)
    def checked(*, quiet: bool, **given: Any) -> Any:
        begin(quiet=quiet, options=options, given=given.values())
        if out is not None:
            given["out"] = _where(given["out"], given.pop("output"), out)
        marks = marked_parameters(checked)
        refuse_losses(marks, given)
        for name, kind in groups.items():
            given[name] = kind(**{each.name: given[each.name] for each in fields(kind)})
        with piping(marks, given) as to_pipe, aside(to_pipe):
            return command(**{name: given[name] for name in own})

    output, quiet = map(_for_typer, _fields(Everywhere))
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
    """Put what `optional` says of a parameter into its annotation, where Typer looks for it."""
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
    found: Any = getattr(import_module(f"scumble.cli.{HOMES[name]}"), name)
    parent = typer.Typer(rich_markup_mode=None)
    if hasattr(found, "registered_commands"):
        for info in found.registered_commands:
            info.cls, info.callback = Command, prepared(info.callback)
        parent.add_typer(found, name=name)
    else:
        parent.command(cls=Command)(prepared(found))
    return get_group(parent).commands[name]
