"""How the command line speaks: tables and colour on a terminal, plain text elsewhere, JSON."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import scumble
from scumble._core.text import safe, shown_path
from scumble.cli.words import in_the_shell

if TYPE_CHECKING:
    from scumble.report.terminal import Line

STYLES = {"title": "bold", "head": "dim", "rare": "bold yellow", "dim": "dim"}
PROGRESS_AFTER = 1.0  # seconds


_quiet = False
_is_aside = False
_options: Mapping[str, str] = {}
_paths: frozenset[str] = frozenset()


def begin(*, quiet: bool, options: Mapping[str, str], given: Iterable[Any] = ()) -> None:
    """Speak for a command: results and errors only, or everything, in words of its options.

    Paths among what is given keep their names: there are folders such as ``seed=1``.
    """
    global _quiet, _options, _paths
    texts = [str(value) for value in given if isinstance(value, (str, Path))]
    paths = (spelling for text in texts for spelling in (text, str(Path(text))))
    _quiet, _options = quiet, options
    _paths = frozenset(path for path in paths if "=" in path or " " in path)


def is_quiet() -> bool:
    """Tell whether the user asked for results and errors only."""
    return _quiet


def complain(kind: str, message: str) -> None:
    """Print an error or a note to standard error; control characters are made visible."""
    if kind == "note" and _quiet:
        return
    print(f"{kind}: {safe(in_the_shell(message, _options, _paths))}", file=sys.stderr)


def width() -> int | None:
    """Tell how wide the terminal is; None where output is no terminal, as wide as needed."""
    return shutil.get_terminal_size().columns if _out().isatty() else None


def say(text: str) -> None:
    """Print a sentence on what is done, unless the user asked for results only."""
    if not _quiet:
        print(text, file=_out())


def show_result(result: Any, render: Callable[..., Iterable[Line]], *, json: bool) -> None:
    """Print a result, as JSON or laid out."""
    if json:
        show_json(result)
    else:
        show(render(result, width=width()))


def show_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], title: str | None = None
) -> None:
    """Print a table, under a title if it has one."""
    from scumble.report.terminal import Segment, table

    if title is not None:
        show([[Segment(title, "title")]])
    show(table(head, rows, width=width()))


def tell(lines: Iterable[Line]) -> None:
    """Print lines on what is done, unless the user asked for results only."""
    if not _quiet:
        show(lines)


def show(lines: Iterable[Line]) -> None:
    """Print laid-out lines, styled on a terminal only."""
    out = _out()
    if not out.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        for line in lines:
            print("".join(segment.text for segment in line).rstrip(), file=out)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=out, highlight=False, markup=False, emoji=False)
    for line in lines:
        text = Text.assemble(*((part.text, STYLES.get(part.style, "")) for part in line))
        console.print(text, soft_wrap=True)


@contextmanager
def aside(wanted: bool) -> Iterator[None]:
    """Tell things where they do not mix with what goes to standard output, if that is wanted."""
    global _is_aside
    before, _is_aside = _is_aside, wanted or _is_aside
    try:
        yield
    finally:
        _is_aside = before


def _out() -> TextIO:
    stream = sys.stderr if _is_aside else sys.stdout
    # The shell's ``>&-`` closes it: whoever does so wants to see nothing.
    return StringIO() if stream is None else stream


def tell_written(
    path: str, data: scumble.MultilabelDataset | None = None, *, json: bool = False
) -> None:
    """Say which file was written, and what it holds."""
    counts = ("n_instances", "n_features", "n_labels")
    facts = {} if data is None else {name: getattr(data, name) for name in counts}
    if json:
        show_json({"output": path, **facts})
    elif data is None:
        say(f"{written(path)} is written.")
    else:
        told = ", ".join(f"{count:,} {name[2:]}" for name, count in facts.items())
        say(f"{written(path)}: {told}")


def written(path: str) -> str:
    """Name a file that was written, for the terminal."""
    return safe(shown_path(path, "standard output"))


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    ascii_only = (_out().encoding or "").lower().replace("-", "") != "utf8"
    text = json.dumps(value, indent=2, ensure_ascii=ascii_only, allow_nan=False)
    print(text, file=_out())


class ProgressBar:
    """Shows a bar on standard error once a task has taken longer than a second."""

    def __init__(self) -> None:
        self._bars: list[list[Any]] = []

    def start(self, title: str, total: int | None) -> Callable[[int], None]:
        """Begin a task."""
        began = time.monotonic()
        bar: list[Any] = []
        done = 0
        self._bars.append(bar)

        def advance(steps: int) -> None:
            nonlocal done
            done += steps
            if not bar:
                if _quiet or time.monotonic() - began < PROGRESS_AFTER or not sys.stderr.isatty():
                    return
                bar.append(_progress())
                bar[0].start()
                bar[0].add_task(safe(title), total=total)
            bar[0].update(bar[0].task_ids[0], completed=done)

        return advance

    def finish(self) -> None:
        """End the task begun last."""
        for bar in self._bars.pop():
            bar.stop()


def progress() -> AbstractContextManager[None]:
    """Show how far all work inside the ``with`` block is."""
    from scumble._core.progress import show_progress

    return show_progress(ProgressBar())


def _progress() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
