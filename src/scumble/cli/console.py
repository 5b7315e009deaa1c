"""Print results: tables and colour on a terminal, plain text elsewhere, or JSON.

What all functions need to know about the current command is in one record, `ConsoleSettings`.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from scumble._core.text import display_path, escape_controls
from scumble.cli.messages import translate_to_options

if TYPE_CHECKING:
    from rich.progress import Progress

    from scumble.data import MultilabelDataset
    from scumble.report.terminal import Line

#: Styles of rich for the styles of `scumble.report.terminal`.
STYLES = {"title": "bold", "head": "dim", "rare": "bold yellow", "dim": "dim"}
#: Seconds after which a task gets a progress bar; a bar for less would only flicker.
PROGRESS_AFTER = 1.0


@dataclass(frozen=True)
class ConsoleSettings:
    """How the current command prints."""

    #: Print results and errors only.
    quiet: bool = False
    #: Print to standard error, because standard output receives a file.
    results_to_stderr: bool = False
    #: The options of the command by parameter, for messages of the library.
    options: Mapping[str, str] = field(default_factory=dict)
    #: Paths that messages repeat as they are: there are folders such as ``seed=1``.
    paths: frozenset[str] = frozenset()


_settings = ConsoleSettings()


def configure(settings: ConsoleSettings) -> None:
    """Set how the command that begins now prints."""
    global _settings
    _settings = settings


def is_quiet() -> bool:
    """Return whether the user requested results and errors only."""
    return _settings.quiet


def print_message(category: str, message: str) -> None:
    """Print an error or a note to standard error; control characters are made visible."""
    if category == "note" and _settings.quiet:
        return
    text = translate_to_options(message, _settings.options, _settings.paths)
    print(f"{category}: {escape_controls(text)}", file=sys.stderr)


def width() -> int | None:
    """Return the width of the terminal, or None if the output is not a terminal."""
    return shutil.get_terminal_size().columns if _output_stream().isatty() else None


def print_unless_quiet(text: str) -> None:
    """Print a sentence about what was done, unless the user requested results only."""
    if not _settings.quiet:
        print(text, file=_output_stream())


def print_json(result: Any) -> None:
    """Print a result as JSON."""
    stream = _output_stream()
    ascii_only = (stream.encoding or "").lower().replace("-", "") != "utf8"
    print(json.dumps(result, indent=2, ensure_ascii=ascii_only, allow_nan=False), file=stream)


def show_result(result: Any, render: Callable[..., Iterable[Line]], *, as_json: bool) -> None:
    """Print a result as JSON, or as the lines that `render` returns for it."""
    if as_json:
        print_json(result)
    else:
        show(render(result, width=width()))


def show_outcome(outcome: Mapping[str, Any], sentence: str, *, as_json: bool) -> None:
    """Print what was done, as JSON or as a sentence."""
    if as_json:
        print_json(outcome)
    else:
        print_unless_quiet(sentence)


class Table(NamedTuple):
    """A table to print, with a title above it if it has one."""

    head: Sequence[str]
    rows: Iterable[Sequence[str]]
    title: str | None = None


def show_tables(result: Any, tables: Iterable[Table], *, as_json: bool) -> None:
    """Print a result as JSON or as tables."""
    if as_json:
        print_json(result)
        return
    for table in tables:
        show_table(table)


def show_table(table: Table) -> None:
    """Print a table, under its title if it has one."""
    from scumble.report import terminal

    if table.title is not None:
        show([[terminal.Segment(table.title, "title")]])
    show(terminal.table_lines(table.head, table.rows, width=width()))


def show_unless_quiet(lines: Iterable[Line]) -> None:
    """Print lines about what was done, unless the user requested results only."""
    if not _settings.quiet:
        show(lines)


def show(lines: Iterable[Line]) -> None:
    """Print laid-out lines, styled on a terminal only."""
    stream = _output_stream()
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        for line in lines:
            print("".join(segment.text for segment in line).rstrip(), file=stream)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    for line in lines:
        text = Text()
        for segment in line:
            text.append(segment.text, STYLES.get(segment.style, ""))
        console.print(text, soft_wrap=True)


@contextmanager
def redirect_to_stderr(condition: bool = True) -> Iterator[None]:
    """Print to standard error inside the ``with`` block if the condition is true."""
    previous_settings = _settings
    if condition:
        configure(dataclasses.replace(previous_settings, results_to_stderr=True))
    try:
        yield
    finally:
        configure(previous_settings)


def _output_stream() -> TextIO:
    """Return the stream for results."""
    stream = sys.stderr if _settings.results_to_stderr else sys.stdout
    if stream is None:  # the shell's ``>&-`` closes it: nothing is to be printed
        return StringIO()
    return stream


def report_written_file(path: str, data: MultilabelDataset | None = None, *, as_json: bool) -> None:
    """Print which file was written, and the size of the data set in it if there is one."""
    counts = {}
    if data is not None:
        names = ("n_instances", "n_features", "n_labels")
        counts = {name: getattr(data, name) for name in names}
    sizes = ", ".join(f"{count:,} {name.removeprefix('n_')}" for name, count in counts.items())
    file_name = terminal_path(path)
    sentence = f"{file_name}: {sizes}" if sizes else f"{file_name} is written."
    show_outcome({"output": path, **counts}, sentence, as_json=as_json)


def terminal_path(path: str) -> str:
    """Return the name of a written file for the terminal."""
    return escape_controls(display_path(path, "standard output"))


@dataclass
class _Task:
    """A task under way, with its bar once it has one."""

    title: str
    total: int | None
    start_time: float
    n_done: int = 0
    bar: Progress | None = None

    def advance(self, n_steps: int) -> None:
        """Count steps; show them if the task takes long and standard error is a terminal."""
        self.n_done += n_steps
        if self.bar is None:
            seconds = time.monotonic() - self.start_time
            if _settings.quiet or seconds < PROGRESS_AFTER or not sys.stderr.isatty():
                return
            self.bar = _make_bar()
            self.bar.start()
            self.bar.add_task(escape_controls(self.title), total=self.total)
        self.bar.update(self.bar.task_ids[0], completed=self.n_done)


class ProgressBar:
    """Shows a bar on standard error for a task that takes longer than a second."""

    def __init__(self) -> None:
        self._tasks: list[_Task] = []

    def start(self, title: str, total: int | None) -> Callable[[int], None]:
        """Begin a task and return the function that counts its steps."""
        task = _Task(title=title, total=total, start_time=time.monotonic())
        self._tasks.append(task)
        return task.advance

    def finish(self) -> None:
        """End the task that began last."""
        task = self._tasks.pop()
        if task.bar is not None:
            task.bar.stop()


def progress() -> AbstractContextManager[None]:
    """Show the progress of all work inside the ``with`` block."""
    from scumble._core.progress import show_progress

    return show_progress(ProgressBar())


def _make_bar() -> Progress:
    """Return a progress bar of rich on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
