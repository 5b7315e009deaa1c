"""How the command line speaks: tables and colour on a terminal, plain text elsewhere, JSON.

Messages of the rooms, which speak of parameters, are said in the words of the shell: options.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from scumble._core.text import display_path, escape_controls

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset
    from scumble.report.terminal import Line

STYLES = {"title": "bold", "head": "dim", "rare": "bold yellow", "dim": "dim"}
PROGRESS_AFTER = 1.0  # seconds
#: What parameters are called in the shell, where they have another name there.
CALLED = {
    "random_state": "seed",
    "n_jobs": "jobs",
    "n_neighbors": "k",
    "n_splits": "folds",
    "splitter": "folds",
    "metrics": "metric",
    "treatments": "resample",
    "resampler": "resample",
    "parameters": "param",
}
#: Parameters of readers that have no option of their own; ``--option`` passes them on.
OF_READERS = (
    "encoding", "delimiter", "decimal", "header", "label_column", "label_separator",
    "weight_column", "ignore", "text", "category", "n_features", "n_labels", "zero_based", "part",
)  # fmt: skip
#: Our options, the first there is, and what other commands or packages call them.
OURS = {
    ("--resample",): ("--method", "--treat", "--resampler", "-m"),
    ("--classifier",): ("--model", "--learner", "--estimator"),
    ("--output", "--html"): ("--out",),
    ("--html", "--store"): ("--output", "-o"),
    ("--whole",): ("--dataset",),
    ("--jobs",): ("--n-jobs", "--threads"),
    ("--seed",): ("--random-state",),
    ("--k", "--param"): ("--n-neighbors", "--neighbors"),
    ("--percent",): ("--sampling-strategy", "--ratio", "--percentage"),
    ("--folds",): ("--cv",),
    ("--metric",): ("--scoring", "--score"),
    ("--probabilities",): ("--proba",),
    ("--quiet",): ("--silent", "--verbose"),
    ("--labels",): ("--target", "--label"),
}
OPTION_SUGGESTIONS = {theirs: ours for ours, others in OURS.items() for theirs in others}
PARAMETER = re.compile(r"[Tt]he '(\w+)' parameter of (\w+)")
#: Names and values of users, which stand in quotes, are passed over: a column may be called seed=1.
QUOTED = r"(?<!\w)'[^']*'(?!\w)|(?<!\w)\"[^\"]*\"(?!\w)"
ASSIGNED = rf"{QUOTED}|\b(\w+)=(\['[^\]]*\]|\[\.\.\.\]|\.\.\.|'[^']*'|-?\w[\w.]*)"
#: How readers speak of a parameter without its value.
NAMED = (
    rf"'(label_column)'(?=, the column)|{QUOTED}|"
    r"\b(label_column|label_separator|ignore|text|category|keep)(?= names\b)"
)
LEAST = re.compile(r"(an int|a number) in \[(-?[\w.]+), inf\)")


_quiet = False
_as_json = False
_is_aside = False
_options: Mapping[str, str] = {}
_paths: frozenset[str] = frozenset()


def configure_output(
    *, quiet: bool, json: bool, options: Mapping[str, str], given: Iterable[Any]
) -> None:
    """Speak for a command: results and errors only, or everything, in words of its options.

    Paths among what is given keep their names: there are folders such as ``seed=1``.
    """
    global _quiet, _as_json, _options, _paths
    texts = [str(value) for value in given if isinstance(value, (str, Path))]
    paths = (spelling for text in texts for spelling in (text, str(Path(text))))
    _quiet, _as_json, _options = quiet, json, options
    _paths = frozenset(path for path in paths if "=" in path or " " in path)


def is_quiet() -> bool:
    """Tell whether the user asked for results and errors only."""
    return _quiet


def is_json() -> bool:
    """Tell whether the user asked for results as JSON."""
    return _as_json


def print_message(kind: str, message: str) -> None:
    """Print an error or a note to standard error; control characters are made visible."""
    if kind == "note" and _quiet:
        return
    print(
        f"{kind}: {escape_controls(translate_to_options(message, _options, _paths))}",
        file=sys.stderr,
    )


def width() -> int | None:
    """Tell how wide the terminal is; None where output is no terminal, as wide as needed."""
    return shutil.get_terminal_size().columns if _out().isatty() else None


def print_unless_quiet(text: str) -> None:
    """Print a sentence on what is done, unless the user asked for results only."""
    if not _quiet:
        print(text, file=_out())


def print_json_if_requested(result: Any) -> bool:
    """Print a result as JSON if the user asked for that, and tell whether so."""
    if _as_json:
        out = _out()
        ascii_only = (out.encoding or "").lower().replace("-", "") != "utf8"
        print(json.dumps(result, indent=2, ensure_ascii=ascii_only, allow_nan=False), file=out)
    return _as_json


def show_result(result: Any, render: Callable[..., Iterable[Line]]) -> None:
    """Print a result, as JSON or laid out."""
    if not print_json_if_requested(result):
        show(render(result, width=width()))


def show_outcome(facts: Mapping[str, Any], sentence: str) -> None:
    """Print what was done, as JSON or in a sentence."""
    if not print_json_if_requested(facts):
        print_unless_quiet(sentence)


def show_tables(result: Any, tables: Iterable[Sequence[Any]]) -> None:
    """Print a result, as JSON or as tables: a head, rows, and a title if there is one."""
    for table in () if print_json_if_requested(result) else tables:
        show_table(*table)


def show_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], title: str | None = None
) -> None:
    """Print a table, under a title if it has one."""
    from scumble.report.terminal import Segment, table

    if title is not None:
        show([[Segment(title, "title")]])
    show(table(head, rows, width=width()))


def show_unless_quiet(lines: Iterable[Line]) -> None:
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
def redirect_to_stderr(wanted: bool) -> Iterator[None]:
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


def report_written_file(path: str, data: MultilabelDataset | None = None) -> None:
    """Say which file was written, and what it holds."""
    counts = ("n_instances", "n_features", "n_labels")
    facts = {} if data is None else {name: getattr(data, name) for name in counts}
    told = ", ".join(f"{count:,} {name[2:]}" for name, count in facts.items())
    sentence = f"{terminal_path(path)}: {told}" if told else f"{terminal_path(path)} is written."
    show_outcome({"output": path, **facts}, sentence)


def terminal_path(path: str) -> str:
    """Name a file that was written, for the terminal."""
    return escape_controls(display_path(path, "standard output"))


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
                bar[0].add_task(escape_controls(title), total=total)
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


def translate_to_options(
    message: str, options: Mapping[str, str], given: Iterable[str] = ()
) -> str:
    """Say a message with the options of a command, given by the names of their parameters.

    What the user has given, such as a path, is repeated as it is.

    Examples
    --------
    >>> from scumble.cli.console import translate_to_options
    >>> translate_to_options("Say labels=[...] or labels=-5.", {"labels": "--labels"})
    'Say --labels ... or --labels -5.'
    >>> translate_to_options("The 'n_jobs' parameter of X must be an int in [1, inf).", {"jobs": "--jobs"})
    '--jobs must be a whole number of at least 1.'
    >>> translate_to_options("ignore names 'jd', keep=['id', 'no'].", {"ignore": "-i", "keep": "--keep"})
    "-i names 'jd', --keep id,no."
    """
    if "belongs to no format" in message and "to" in options:  # it is about what is written
        options = {**options, "format": options["to"]}

    def of_owner(found: re.Match[str]) -> str:
        name, owner = found.groups()
        option = _option(name, options)
        if option is None and "param" in options:
            return f"--param {name} of {owner}"
        return option or found[0]

    def assigned(found: re.Match[str]) -> str:
        name, value = found.groups()
        if name is None:
            return found[0]
        option = _option(name, options)
        if option is None:
            is_read = name in OF_READERS and "option" in options
            return f"--option {found[0]}" if is_read else found[0]
        return f"{option} {'...' if value == '[...]' else _bare(value)}"

    def named(found: re.Match[str]) -> str:
        return _option(found[1] or found[2] or "", options) or found[0]

    own = "".join(f"{re.escape(text)}|" for text in sorted(given, key=len, reverse=True) if text)
    message = re.sub(r"\bscan\((\w+=[^)]*)\)", r"\1", message)
    message = re.sub(own + ASSIGNED, assigned, PARAMETER.sub(of_owner, message))
    message = re.sub(own + NAMED, named, message)
    return LEAST.sub(_at_least, message)


def suggest_option(option: str, known: list[str]) -> list[str]:
    """Tell which options of a command stand for one that it has not."""
    return [ours for ours in OPTION_SUGGESTIONS.get(option, ()) if ours in known][:1]


def _option(name: str, options: Mapping[str, str]) -> str | None:
    return options.get(name) or options.get(CALLED.get(name, ""))


def _bare(value: str) -> str:
    """Take away quotes that a shell does not need; of a list, leave names with commas between."""
    if value.startswith("['"):
        value = f"'{','.join(part.strip()[1:-1] for part in value[1:-1].split(', '))}'"
    return value[1:-1] if re.fullmatch(r"'[\w.,-]+'", value) else value


def _at_least(found: re.Match[str]) -> str:
    kind = "a whole number" if found[1] == "an int" else found[1]
    return f"{kind} of at least {found[2]}"
