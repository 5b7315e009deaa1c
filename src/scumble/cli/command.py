"""Turn functions into commands.

A command is a function whose parameters have Typer annotations. Options that travel together are
the fields of a frozen dataclass, annotated in the same way; the function takes the dataclass::

    @dataclass(frozen=True)
    class ReadOptions:
        format: Annotated[str | None, typer.Option("--format", "-f", help="...")] = None


    def summary(data: DataArgument, read: ReadOptions, *, json: JsonOption = False) -> None:
        numbers = characterize(read.load(data))
        console.show_result(numbers.to_dict(), render_summary, as_json=json)

`flatten_options` returns the function that Typer needs: it has one parameter per option.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from scumble._core.errors import ParameterError
from scumble.cli.console import ConsoleSettings, configure, redirect_to_stderr
from scumble.cli.files import (
    FileArgument,
    check_overwrites,
    list_file_arguments,
    parameter_title,
    prepare_pipes,
)
from scumble.cli.messages import suggest_option

QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print results and errors only: no notes or progress.")
]
OutputOption = Annotated[
    str | None, typer.Option("--output", "-o", help="Output: the same as OUT.")
]


@dataclass(frozen=True)
class CommandGroup:
    """A command that has commands of its own, such as ``scumble data list``."""

    help: str
    commands: Mapping[str, Callable[..., None]]


class Command(TyperCommand):
    """A command that suggests an option for one of another command or package."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; add a suggestion to the error about an unknown option."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            unknown_option = getattr(error, "option_name", None)  # Typer does not export the class
            if unknown_option is not None:
                available = []
                for parameter in self.params:
                    available += parameter.opts
                suggestions = suggest_option(unknown_option, available)
                if suggestions:
                    error.possibilities = suggestions  # type: ignore[attr-defined]  # printed by Typer
            raise


def build_command(name: str, command: Callable[..., None] | CommandGroup) -> Any:
    """Return the Typer command of a function, or of a group with its functions."""
    parent = typer.Typer(rich_markup_mode=None)
    if isinstance(command, CommandGroup):
        group = typer.Typer(help=command.help, no_args_is_help=True, rich_markup_mode=None)
        for subcommand_name, function in command.commands.items():
            group.command(subcommand_name, cls=Command)(flatten_options(function))
        parent.add_typer(group, name=name)
    else:
        parent.command(name, cls=Command)(flatten_options(command))
    return typer.main.get_group(parent).commands[name]


def flatten_options(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function with one parameter per option, which calls `function`.

    The function has dataclasses of options among its parameters, which are built before the call.
    If two parameters declare an option of the same name, the last declaration counts, and both
    receive the value. Around the call:

    - ``--quiet`` is added, and the console is configured.
    - A command with a parameter ``out`` accepts it as the option ``--output``, too.
    - Nothing runs if an output would overwrite an input.
    """
    parameters = signature(function, eval_str=True).parameters
    groups: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if is_dataclass(parameter.annotation):
            groups[name] = parameter.annotation
    flat_parameters = _flatten(parameters.values())
    option_names = {
        name: parameter_title(parameter)
        for name, parameter in flat_parameters.items()
        if name != "data"
    }
    out_parameter = flat_parameters.get("out")

    @wraps(function)
    def run_command(*, quiet: bool, **values: Any) -> None:
        """Prepare the console and the files, then call the function."""
        configure(
            ConsoleSettings(quiet=quiet, options=option_names, paths=_ambiguous_paths(values))
        )
        if out_parameter is not None:
            values["out"] = _select_output(values["out"], values.pop("output"), out_parameter)
        files = list_file_arguments(run_command, values)
        check_overwrites(
            files,
            input_format=values.get("format"),
            output_format=values.get("to"),
            labels=values.get("labels"),
        )
        arguments = {}
        for name in parameters:
            if name in groups:
                arguments[name] = _build_group(groups[name], values)
            else:
                arguments[name] = values[name]
        _call_with_pipes(function, arguments, files)

    if out_parameter is not None:  # the argument may be missing, as --output replaces it
        flat_parameters["out"] = out_parameter.replace(default=None)
        flat_parameters["output"] = _keyword("output", OutputOption, default=None)
    flat_parameters["quiet"] = _keyword("quiet", QuietOption, default=False)
    run_command.__signature__ = Signature([*flat_parameters.values()])  # type: ignore[attr-defined]  # for Typer
    return run_command


def _call_with_pipes(
    function: Callable[..., None], arguments: Mapping[str, Any], files: list[FileArgument]
) -> None:
    """Call a command; it prints to standard error if it writes a file to standard output."""
    with prepare_pipes(files) as writes_stdout, redirect_to_stderr(writes_stdout):
        function(**arguments)


def _flatten(parameters: Iterable[Parameter]) -> dict[str, Parameter]:
    """Return the parameters by name, with the fields of dataclasses in place of the dataclasses."""
    flat: dict[str, Parameter] = {}
    for parameter in parameters:
        if is_dataclass(parameter.annotation):
            declarations = _field_parameters(parameter.annotation)
        else:
            declarations = [_keyword(parameter.name, parameter.annotation, parameter.default)]
        for declaration in declarations:
            flat.pop(declaration.name, None)  # so that the last declaration also sets the position
            flat[declaration.name] = declaration
    return flat


def _field_parameters(group: Any) -> list[Parameter]:
    """Return the fields of a dataclass as parameters."""
    annotations = get_type_hints(group, include_extras=True)
    parameters = []
    for field in fields(group):
        default = Parameter.empty if field.default is MISSING else field.default
        parameters.append(_keyword(field.name, annotations[field.name], default))
    return parameters


def _keyword(name: str, annotation: Any, default: Any) -> Parameter:
    """Return a keyword-only parameter."""
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _build_group(group: Any, values: Mapping[str, Any]) -> Any:
    """Return an instance of a dataclass of options with the values of the user."""
    return group(**{field.name: values[field.name] for field in fields(group)})


def _select_output(out: Any, output: str | None, parameter: Parameter) -> Any:
    """Return the output, which is named either by the argument OUT or by --output."""
    if out is not None and output is not None:
        raise ParameterError(f"The output is named twice: {out}, and --output {output}.")
    if output is not None:
        is_path = get_args(parameter.annotation)[0] is Path
        return Path(output) if is_path else output
    if out is None and parameter.default is Parameter.empty:
        raise ParameterError("No output is named. Name a file with --output.")
    return out


def _ambiguous_paths(values: Mapping[str, Any]) -> frozenset[str]:
    """Return the paths and texts of the user that hold "=" or a space, such as ``seed=1/a.csv``.

    In a message they look like parameters, whose names are replaced by those of options.
    """
    paths = set()
    for value in values.values():
        if isinstance(value, str | Path):
            paths |= {str(value), str(Path(value))}
    return frozenset(path for path in paths if "=" in path or " " in path)
