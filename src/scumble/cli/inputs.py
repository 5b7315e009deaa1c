"""What a user may name as input: a file, or a data set of the shelf."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scumble._core.errors import ParameterError
from scumble.cli.files import READS, READS_DATA, may_be_on_the_shelf

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset

Input = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="A file, or the name of a public data set (see 'scumble data list')."
    ),
    READS_DATA,
]
FormatOption = Annotated[
    str | None,
    typer.Option("--format", "-f", help="Format of the file, where it is not recognised."),
]
LabelsOption = Annotated[
    str | None,
    typer.Option(
        "--labels",
        "-l",
        help="Which columns are labels: names or numbers with commas between them, a count "
        "(negative: from the end), or a MULAN XML file.",
    ),
    READS,
]
ReadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        help="An option of the format's reader, as name=value, for example label_separator='|'; "
        "repeatable.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ClassifierOption = Annotated[
    str,
    typer.Option(
        "--classifier",
        "-c",
        help="For rare labels: rare (--param quality=best is slower and finds more). All: "
        "{classifier}; or package.module.Class.",
    ),
]
ClassifierParameters = Annotated[
    list[str] | None,
    typer.Option(help="A parameter of the classifier, as name=value; repeatable."),
]
ResamplerParameters = Annotated[
    list[str] | None,
    typer.Option(help="A parameter of the resampler, as name=value; repeatable."),
]
SeedOption = Annotated[int | None, typer.Option(help="One seed, one answer.")]
ThreadsOption = Annotated[int | None, typer.Option(help="Threads; never changes a result.")]


def load(
    name: str,
    *,
    format: str | None = None,
    labels: str | tuple[()] | None = None,
    options: list[str] | None = None,
) -> MultilabelDataset:
    """Read a file, or a data set of the shelf when no such file exists.

    The options are as the user typed them; ``labels=()`` reads every column as a feature.
    """
    from scumble import data  # whose names load when they are used
    from scumble._core.progress import show_progress
    from scumble.cli.console import ProgressBar

    chosen: Any = parse_labels(labels) if isinstance(labels, str) else labels
    more = parse_parameters(options or [])
    with show_progress(ProgressBar()):
        if not may_be_on_the_shelf(name):
            return data.read(name, format=format, labels=chosen, **more)
        given: dict[str, Any] = {"format": format, "labels": chosen, **more}
        try:
            return data.shelf.load(name, **{key: v for key, v in given.items() if v is not None})
        except ParameterError as error:
            raise ParameterError(f"There is no file {name!r}. {error}") from error


def parse_labels(text: str | None) -> list[str] | list[int] | int | str | None:
    """Understand what follows ``--labels``.

    Examples
    --------
    >>> from scumble.cli.inputs import parse_labels
    >>> parse_labels("-3"), parse_labels("4,5"), parse_labels("war,love"), parse_labels("a.xml")
    (-3, [4, 5], ['war', 'love'], 'a.xml')

    A number alone is a count; with a comma it is the number of a column.

    >>> parse_labels("4"), parse_labels("4,")
    (4, [4])
    """
    if text is None:
        return None
    if text.lower().endswith(".xml"):
        return text
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or text.strip() == "0":
        raise ParameterError(
            f"--labels {text!r} chooses no label. Expected names or numbers with commas between "
            "them, a count (negative: from the end), or a MULAN XML file. The first column alone "
            "is '0,'."
        )
    try:
        numbers = [int(part) for part in parts]
    except ValueError:
        return parts
    return numbers if "," in text else numbers[0]


def parse_parameters(texts: list[str]) -> dict[str, Any]:
    """Understand ``name=value``: numbers, true, false, none, or text.

    Examples
    --------
    >>> from scumble.cli.inputs import parse_parameters
    >>> parse_parameters(["threshold=0.5", "union=true", "strategy=ranking"])
    {'threshold': 0.5, 'union': True, 'strategy': 'ranking'}
    """
    parsed = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ParameterError(f"A parameter must be name=value. Got {text!r} instead.")
        parsed[name.strip()] = _parse_value(value.strip())
    return parsed


def parse_methods(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Understand methods with commas between them, each with parameters in brackets.

    Examples
    --------
    >>> from scumble.cli.inputs import parse_methods
    >>> parse_methods("rare(quality=best), br")
    [('rare(quality=best)', 'rare', {'quality': 'best'}), ('br', 'br', {})]
    """
    found: list[tuple[str, str, dict[str, Any]]] = []
    for part in re.split(r",(?![^()]*\))", text):
        name, bracket, inside = part.strip().partition("(")
        if not name or (bracket and not inside.endswith(")")):
            raise ParameterError(
                f"Expected names with commas between them, parameters in brackets, for example "
                f"'rare(quality=best),br'. Got {text!r} instead."
            )
        given = [one for one in inside.removesuffix(")").split(",") if one.strip()]
        if any(part.strip() == other for other, _, _ in found):
            raise ParameterError(f"{part.strip()!r} stands twice in {text!r}. Expected it once.")
        found.append((part.strip(), name, parse_parameters(given)))
    return found


def _parse_value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
