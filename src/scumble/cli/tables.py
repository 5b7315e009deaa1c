"""Options for plain tables, which every command has that reads a data set.

A command declares ``option: ReadOption``; where it is built, `reading_tables` adds these options to
it and hands them over as options of the reader. So they stand here alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any

import typer

from scumble.cli.inputs import SEVERAL

#: Their names as readers have them, with what the help says.
TABLE_OPTIONS = {
    "label_column": "Table: the column that holds all labels of a row.",
    "label_separator": "Table: what stands between the labels in it, for example ';'.",
    "ignore": "Columns to leave out, with commas between; repeatable.",
    "text": "Columns of texts whose words are learnt, with commas between; repeatable.",
    "category": "Table: columns of numbers that stand for categories; repeatable.",
    "keep": "Table: columns to take as they are, though they seem to name rows; repeatable.",
}


def _option(name: str) -> Parameter:
    kind = list[str] if name in SEVERAL else str
    told = typer.Option(f"--{name.replace('_', '-')}", help=TABLE_OPTIONS[name])
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, told]
    )


def reading_tables(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command that reads data sets the options for plain tables."""
    own = signature(command, eval_str=True)
    if "option" not in own.parameters:
        return command

    @wraps(command)
    def read(**given: Any) -> Any:
        for name in TABLE_OPTIONS:
            value = given[name] if name in own.parameters else given.pop(name, None)
            values = value if isinstance(value, list) else [value]
            found = [f"{name}={one}" for one in values if one is not None]
            given["option"] = [*(given["option"] or []), *found]
        return command(**given)

    options = {name: _option(name) for name in TABLE_OPTIONS if name not in own.parameters}
    listed = []
    for each in own.parameters.values():
        listed.append(each.replace(kind=Parameter.KEYWORD_ONLY))
        if each.name == "option":
            listed += options.values()
    read.__signature__ = own.replace(parameters=listed)  # type: ignore[attr-defined]  # for Typer
    read.__annotations__ = {each.name: each.annotation for each in listed}
    return read
