"""Files that commands read and write: none writes over what it reads.

A parameter that names a file carries a mark, in its annotation or its option: what happens to the
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
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

from typer.models import ArgumentInfo, ParameterInfo

from scumble._core.errors import ParameterError, ScumbleError
from scumble._core.text import STDIO_PATH


class FileRole(Enum):
    """What a command does with the file that a parameter names."""

    READS = "reads it"
    READS_DATA = "reads it, or a data set of the shelf, with the files that belong to it"
    WRITES = "writes it"
    WRITES_DATA = "writes it, with the files that belong to it"
    WRITES_PARTS = "writes a training and a test part beside it, with the files that belong to them"


READS, READS_DATA, WRITES, WRITES_DATA, WRITES_PARTS = FileRole
#: Parameters that name files only beside other things: ``-`` is a word there, not a file.
WORDS = ("labels", "folds")
#: SQLite keeps what is not yet in a store's file in files beside it.
BESIDE_STORES = ("-wal", "-shm", "-journal")


def find_file_parameters(command: Callable[..., Any]) -> dict[str, tuple[FileRole, str]]:
    """Find the parameters that name files: their marks, and what the user calls them."""
    found = {}
    for name, parameter in signature(command).parameters.items():
        told, mark = parameter.annotation.__metadata__
        if mark is not None:
            found[name] = mark, _title(name, told)
    return found


class FileArgument(NamedTuple):
    """A file that is named: by which parameter, what users call that, its mark, and the file."""

    name: str
    title: str
    file_role: FileRole
    value: str


def list_file_arguments(command: Callable[..., Any], given: dict[str, Any]) -> list[FileArgument]:
    """List the files that the parameters of a command name: none, one or several each."""
    return [
        FileArgument(name, title, mark, os.fspath(value))
        for name, (mark, title) in find_file_parameters(command).items()
        for value in (given[name] if isinstance(given[name], list) else [given[name]])
        if value is not None
    ]


def check_overwrites(named: list[FileArgument], given: dict[str, Any]) -> None:
    """Refuse outputs that are inputs, that belong to one, or that are named twice."""
    outputs = [(each, path) for each in named for path in _files_written(each, given)]
    _refuse_twice(outputs)
    for read in named if outputs else ():
        for kept in _files_read(read, given):
            for output, path in outputs:
                if _is_same(path, kept):
                    raise _loss(output, path, kept, read.value)


@contextmanager
def prepare_pipes(named: list[FileArgument]) -> Iterator[bool]:
    """Keep standard input for a command that reads it; tell whether standard output is written."""
    pipes = [
        each.file_role for each in named if each.value == STDIO_PATH and each.name not in WORDS
    ]
    n_read = sum(mark in (READS, READS_DATA) for mark in pipes)
    if n_read > 1:
        raise ParameterError(
            "'-', standard input, stands for several files. Expected it once: name the others."
        )
    with ExitStack() as stack:
        if n_read:
            from scumble.data.input_files import stdin_buffer_folder

            stack.enter_context(_ending_in_order())
            stack.enter_context(stdin_buffer_folder())
        yield len(pipes) > n_read


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let a command that is told to end remove what it keeps meanwhile."""
    ask, is_main = signal.SIGTERM, threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(ask) is not signal.SIG_DFL:
        yield
        return
    signal.signal(ask, lambda number, _: sys.exit(128 + number))  # as a shell counts it
    try:
        yield
    finally:
        signal.signal(ask, signal.SIG_DFL)


def write_file(path: Path, content: str) -> None:
    """Write a text, whole or not at all."""
    from scumble._core.files import atomic_write

    with atomic_write(path) as target, target.open() as stream:
        stream.write(content.encode())


def _refuse_twice(outputs: list[tuple[FileArgument, Path]]) -> None:
    """Refuse two parameters that name one file, be it there or not."""
    seen: dict[str, str] = {}
    for output, path in outputs:
        title = output.title
        other = seen.setdefault(os.path.realpath(path), title)
        if other != title:
            raise ParameterError(
                f"{other} and {title} name the same file, {path}. Expected two: one would be lost."
            )


def _loss(output: FileArgument, path: Path, kept: str | Path, read: str) -> ParameterError:
    beside = "" if str(path) == str(Path(output.value)) else f", written with {output.value}"
    what = "this is the file to read" if _is_same(kept, read) else f"it belongs to {read}"
    way_out = "" if not beside else ", or a format that needs no second file, such as --to meka"
    return ParameterError(
        f"{path}{beside}: {what}, and would be lost. "
        f"Name another to write as {output.title}{way_out}."
    )


def _title(name: str, told: ParameterInfo) -> str:
    """Name a parameter as the help does."""
    if isinstance(told, ArgumentInfo):
        return told.metavar or name.upper()
    long = [part for part in told.param_decls or () if part.startswith("--")]
    return long[0] if long else f"--{name.replace('_', '-')}"


def _files_written(named: FileArgument, given: dict[str, Any]) -> list[Path]:
    if named.file_role is WRITES:
        return [Path(named.value)]
    if named.file_role not in (WRITES_DATA, WRITES_PARTS):
        return []
    from scumble.data.io import output_paths, train_test_paths

    paths = (
        train_test_paths(named.value) if named.file_role is WRITES_PARTS else [Path(named.value)]
    )
    try:
        return [file for path in paths for file in output_paths(path, format=given.get("to"))]
    except ScumbleError:  # no format has this name: it is said where the file is written
        return paths


def _files_read(named: FileArgument, given: dict[str, Any]) -> Iterator[str | Path]:
    """Go through the files that a parameter names, with those that belong to them."""
    if named.file_role is READS:
        yield named.value
        yield from (named.value + ending for ending in BESIDE_STORES)
    elif named.file_role is READS_DATA:
        for path in _resolve_data_files(named.value):
            yield path
            if not os.path.isdir(named.value):
                yield from _files_of_data(path, given)


def _resolve_data_files(value: str) -> list[str]:
    """Find the file of a data set on the shelf, or the files of a folder or a pattern."""
    if may_be_public_dataset(value):
        from scumble.data.public import repository

        # Warnings come again when the data is read.
        with warnings.catch_warnings(action="ignore"), suppress(ScumbleError):
            return [str(repository.locate(value))]
        return []
    found = [value] if os.path.lexists(value) else glob.glob(value, recursive=True)
    return [
        file
        for path in found
        for file in (path, *glob.glob(f"{glob.escape(path)}/**", recursive=True))
    ]


def _files_of_data(path: str, given: dict[str, Any]) -> list[Path]:
    from scumble.data.io import input_paths

    with suppress(ScumbleError):  # not to be read as a data set: nothing belongs to it
        return input_paths(path, format=given.get("format"), labels=given.get("labels"))
    return []


def may_be_public_dataset(name: str) -> bool:
    """Tell names of public data sets, which have neither a folder nor a suffix, from files."""
    is_word = os.path.basename(name) == name and "." not in name and name != STDIO_PATH
    return is_word and not os.path.lexists(name)


def _is_same(path: str | Path, other: str | Path) -> bool:
    """Tell whether two paths lead to one file that is there, by links or other spellings."""
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return False
