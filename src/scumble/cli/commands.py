"""Which commands there are; each is imported and built when it is called.

Building all of them takes a tenth of the time of a short command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from scumble.cli.files import keeping_inputs

#: The module of each command, in the order of the help. It holds a function of the command's name,
#: or an ``app`` with commands of its own.
HOMES = {
    "demo": "demo",
    "summary": "describe",
    "labels": "describe",
    "labelsets": "describe",
    "report": "describe",
    "plot": "plot",
    "remedial": "remedial",
    "resample": "resample",
    "train": "train",
    "predict": "train",
    "thresholds": "thresholds",
    "evaluate": "evaluate",
    "compare": "compare",
    "advise": "advise",
    "convert": "convert",
    "gui": "gui",
    "data": "data",
    "methods": "methods",
    "experiment": "experiment",
    "paper": "paper",
}


class Commands(Mapping[str, Any]):
    """The commands by name."""

    def __getitem__(self, name: str) -> Any:
        return _build(name)

    def __contains__(self, name: object) -> bool:
        return name in HOMES

    def __iter__(self) -> Iterator[str]:
        return iter(HOMES)

    def __len__(self) -> int:
        return len(HOMES)


class Command(TyperCommand):
    """A command whose help names what there is to choose: ``{resampler}`` becomes a list.

    The catalogue is asked when the help of this one command is shown, and never before.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        for parameter in self.params:
            if isinstance(told := getattr(parameter, "help", None), str):
                parameter.help = re.sub(r"\{(\w+)\}", _names, told)  # type: ignore[attr-defined]  # options have one
        super().format_help(ctx, formatter)


def _names(kind: re.Match[str]) -> str:
    from scumble.catalogue import names

    return ", ".join(names(kind[1]))


class Group(TyperGroup):
    """The command ``scumble``, under which the others stand."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands: Any = Commands()


@cache
def _build(name: str) -> Any:
    module = import_module(f"scumble.cli.{HOMES[name]}")
    parent = typer.Typer(rich_markup_mode=None)
    if hasattr(module, "app"):
        for info in module.app.registered_commands:
            info.callback = keeping_inputs(info.callback)
        parent.add_typer(module.app, name=name)
    else:
        parent.command(cls=Command)(keeping_inputs(getattr(module, name)))
    return get_group(parent).commands[name]
