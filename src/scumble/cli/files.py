"""Files that commands read and write: no command overwrites what it reads.

The annotation of a parameter that names a file has a `FileRole`: what the command does with the
file. Before any work `check_overwrites` compares the files that will be written with those that are
read, and with the files that belong to these.
"""

import glob
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from enum import Enum
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, NamedTuple

from typer.models import ArgumentInfo

from scumble._core.errors import ParameterError, ScumbleError
from scumble._core.text import STDIO_PATH


class FileRole(Enum):
    """What a command does with the file that a parameter names."""

    READS = "reads it"
    READS_DATA = "reads it, or a public data set, with the files that belong to it"
    WRITES = "writes it"
    WRITES_DATA = "writes it, with the files that belong to it"
    WRITES_PARTS = "writes a training and a test part, with the files that belong to them"


#: Parameters that name a file or something else: ``-`` does not mean standard input there.
FILE_OR_TEXT_PARAMETERS = ("labels", "folds")
#: SQLite keeps recent changes to a store in files with these endings, next to its file.
SQLITE_SUFFIXES = ("-wal", "-shm", "-journal")


class FileParameter(NamedTuple):
    """What a command does with the file of a parameter, and the parameter's name in the help."""

    file_role: FileRole
    title: str


class FileArgument(NamedTuple):
    """A file that the user has named."""

    parameter: str
    title: str
    file_role: FileRole
    value: str


def find_file_parameters(command: Callable[..., Any]) -> dict[str, FileParameter]:
    """Return the parameters of a command that name files."""
    file_parameters = {}
    for name, parameter in signature(command).parameters.items():
        for annotation in parameter.annotation.__metadata__:
            if isinstance(annotation, FileRole):
                file_parameters[name] = FileParameter(annotation, parameter_title(parameter))
    return file_parameters


def parameter_title(parameter: Parameter) -> str:
    """Return the name of a parameter in the help: ``OUT`` or ``--output``.

    An option is called like its parameter, with hyphens. This is wrong for two flags, which no
    message mentions.
    """
    for annotation in parameter.annotation.__metadata__:
        if isinstance(annotation, ArgumentInfo):
            return (annotation.metavar or parameter.name.upper()).strip("[]")
    return f"--{parameter.name.replace('_', '-')}"


def list_file_arguments(command: Callable[..., Any], values: dict[str, Any]) -> list[FileArgument]:
    """Return the files that the user has named, by the parameters of a command."""
    arguments = []
    for name, (file_role, title) in find_file_parameters(command).items():
        files = values[name] if isinstance(values[name], list) else [values[name]]
        arguments += [
            FileArgument(name, title, file_role, os.fspath(file))
            for file in files
            if file is not None
        ]
    return arguments


def check_overwrites(
    files: list[FileArgument],
    *,
    input_format: str | None = None,
    output_format: str | None = None,
    labels: str | None = None,
) -> None:
    """Raise an error for an output that is an input, belongs to an input or is named twice."""
    outputs = []
    for file in files:
        outputs += [(file, path) for path in _files_written(file, output_format)]
    if not outputs:
        return
    _check_distinct(outputs)
    for file in files:
        for input_path in _files_read(file, input_format, labels):
            for output, output_path in outputs:
                if _is_same(output_path, input_path):
                    raise _overwrite_error(
                        output, output_path=output_path, input_path=input_path, input_file=file
                    )


@contextmanager
def prepare_pipes(files: list[FileArgument]) -> Iterator[bool]:
    """Store standard input in a file if the command reads it; yield whether it writes to "-".

    Raise ParameterError if the command reads standard input for several parameters.
    """
    piped_roles = [
        file.file_role
        for file in files
        if file.value == STDIO_PATH and file.parameter not in FILE_OR_TEXT_PARAMETERS
    ]
    n_read = sum(role in (FileRole.READS, FileRole.READS_DATA) for role in piped_roles)
    if n_read > 1:
        raise ParameterError(
            "'-', standard input, is named for several files. Use it once and name the others."
        )
    with ExitStack() as stack:
        if n_read:
            from scumble.data.input_files import stdin_buffer_folder

            stack.enter_context(_exit_on_sigterm())
            stack.enter_context(stdin_buffer_folder())
        yield len(piped_roles) > n_read


@contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Raise SystemExit on SIGTERM, so that temporary files are removed."""
    is_main_thread = threading.current_thread() is threading.main_thread()
    if not is_main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    # 128 + number is the exit code that shells give to a process that a signal has ended.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def write_file(path: Path, content: str) -> None:
    """Write a text completely or not at all."""
    from scumble._core.files import atomic_write

    with atomic_write(path) as target, target.open() as stream:
        stream.write(content.encode())


def _check_distinct(outputs: list[tuple[FileArgument, Path]]) -> None:
    """Raise an error if two parameters name the same output; the file need not exist."""
    titles: dict[str, str] = {}
    for output, path in outputs:
        first_title = titles.setdefault(os.path.realpath(path), output.title)
        if first_title != output.title:
            raise ParameterError(
                f"{first_title} and {output.title} name the same file, {path}. Expected two "
                "different files: one would be lost."
            )


def _overwrite_error(
    output: FileArgument, *, output_path: Path, input_path: str | Path, input_file: FileArgument
) -> ParameterError:
    """Return the error for an output that would overwrite an input or a file that belongs to it."""
    is_companion = str(output_path) != str(Path(output.value))
    reason = f"it belongs to {input_file.value}"
    if _is_same(input_path, input_file.value):
        reason = "this is the file to read"
    origin = f", written with {output.value}" if is_companion else ""
    alternative = ", or a format that needs no second file, such as --to meka"
    return ParameterError(
        f"{output_path}{origin}: {reason}, and would be lost. "
        f"Name another file for {output.title}{alternative if is_companion else ''}."
    )


def _files_written(file: FileArgument, output_format: str | None) -> list[Path]:
    """Return the files that a command writes for a parameter, with companion files."""
    if file.file_role is FileRole.WRITES:
        return [Path(file.value)]
    if file.file_role not in (FileRole.WRITES_DATA, FileRole.WRITES_PARTS):
        return []
    from scumble.data.io import output_paths, train_test_paths

    if file.file_role is FileRole.WRITES_PARTS:
        paths = [*train_test_paths(file.value)]
    else:
        paths = [Path(file.value)]
    files: list[Path] = []
    try:
        for path in paths:
            files += output_paths(path, format=output_format)
    except ScumbleError:  # no format has this name: writing the file reports it
        return paths
    return files


def _files_read(
    file: FileArgument, input_format: str | None, labels: str | None
) -> Iterator[str | Path]:
    """Yield the files that a command reads for a parameter, with those that belong to them."""
    if file.file_role is FileRole.READS:
        yield file.value
        for suffix in SQLITE_SUFFIXES:
            yield file.value + suffix
    elif file.file_role is FileRole.READS_DATA:
        for path in _resolve_data_files(file.value):
            yield path
            if not os.path.isdir(file.value):
                yield from _files_of_data(path, input_format, labels)


def _resolve_data_files(value: str) -> list[str]:
    """Return the file of a public data set, or the files of a path, a folder or a pattern."""
    if may_be_public_dataset(value):
        from scumble.data.public import repository

        # Reading the data repeats the warnings.
        with warnings.catch_warnings(action="ignore"), suppress(ScumbleError):
            return [str(repository.locate(value))]
        return []
    paths = [value] if os.path.lexists(value) else glob.glob(value, recursive=True)
    files = []
    for path in paths:
        files += [path, *glob.glob(f"{glob.escape(path)}/**", recursive=True)]
    return files


def _files_of_data(path: str, input_format: str | None, labels: str | None) -> list[Path]:
    """Return the files that are read with a data set, such as the XML file of its labels."""
    from scumble.data.io import input_paths

    with suppress(ScumbleError):  # not readable as a data set: nothing belongs to it
        return input_paths(path, format=input_format, labels=labels)
    return []


def may_be_public_dataset(name: str) -> bool:
    """Return whether a public data set may have this name: no folder, no suffix, no such file."""
    is_plain_name = os.path.basename(name) == name and "." not in name and name != STDIO_PATH
    return is_plain_name and not os.path.lexists(name)


def _is_same(path: str | Path, other_path: str | Path) -> bool:
    """Return whether two paths lead to the same existing file, also by links."""
    try:
        return os.path.samefile(path, other_path)
    except (OSError, ValueError):
        return False
