"""What a user may name as input: a file, or a data set of the shelf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from scumble._core.calls import parse_parameters, split_outside
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
        help="An option of the format's reader, as name=value, for example encoding=cp1252; "
        "repeatable.",
    ),
]
#: Options of readers that name columns: several, with commas between them or one by one.
SEVERAL = ("ignore", "text", "category", "keep")
ToOption = Annotated[
    str | None,
    typer.Option(
        help="Format of what is written (see 'scumble methods format'); by default its suffix."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
#: The same words, and the same meaning, wherever they stand; what follows the colon may differ.
ONE_CLASSIFIER = (
    "Classifier: for rare labels rare, or rare(quality=best), which is slower and finds more; br "
    "and others, see 'scumble methods classifier'; or package.module.Class."
)
ONE_RESAMPLING = (
    "Resampling: %s; none, or several methods with '+' between, parameters in brackets: "
    "remedial+mlsmote(n_neighbors=3)."
)
ClassifierOption = Annotated[list[str], typer.Option("--classifier", "-c", help=ONE_CLASSIFIER)]
ParamOption = Annotated[
    list[str] | None,
    typer.Option("--param", help="A parameter of the method, as name=value; repeatable."),
]
BaseOption = Annotated[
    str | None,
    typer.Option(
        "--base",
        help="Base: the classifier inside, for example sklearn.linear_model.LogisticRegression; "
        "its parameters are base.C=0.1 and the like.",
    ),
]
ResamplerParameters = Annotated[
    list[str] | None,
    typer.Option(help="A parameter of the resampler, as name=value; repeatable."),
]
SeedOption = Annotated[int | None, typer.Option("--seed", min=0, help="One seed, one answer.")]
UndefinedOption = Annotated[
    str, typer.Option(help="What stands for 0/0: mulan, ignore, or a number.")
]
TiesOption = Annotated[
    str, typer.Option(help="How equal scores are ranked: mulan, average or worst.")
]


def _check_jobs(jobs: int | None) -> int | None:
    if jobs == 0:
        raise typer.BadParameter("0 is nobody. Expected a number from 1 on, or -1 for all cores.")
    return jobs


JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        callback=_check_jobs,
        help="How many threads or processes share the work, -1: all cores; never changes a result.",
    ),
]
FoldsOption = Annotated[
    str, typer.Option(help="Repetitions x folds, a number of folds, or a file of folds."), READS
]
TestOption = Annotated[
    str | None,
    typer.Option(help="Learn from DATA and judge on this file instead of folds."),
    READS_DATA,
]


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
    more = parse_options(options)
    if labels == ():
        more = {name: value for name, value in more.items() if not name.startswith("label_")}
    with show_progress(ProgressBar()):
        if not may_be_on_the_shelf(name):
            return data.read(name, format=format, labels=chosen, **more)
        given: dict[str, Any] = {"format": format, "labels": chosen, **more}
        try:
            return data.shelf.load(name, **{key: v for key, v in given.items() if v is not None})
        except ParameterError as error:
            raise ParameterError(f"There is no file {name!r}. {error}") from error


def load_test(name: str | None, *, options: list[str] | None, **how: Any) -> Any:
    """Read a test part, if any; what its columns are is told by the training part, not guessed."""
    if name is None:
        return None
    return load(name, options=[*(options or []), "keep=true"], **how)


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


def parse_names(texts: list[str] | None) -> list[str]:
    """Understand names with commas between them, or given one by one.

    Examples
    --------
    >>> from scumble.cli.inputs import parse_names
    >>> parse_names(["rare(quality=best, n_jobs=1),br", "ecc"])
    ['rare(quality=best, n_jobs=1)', 'br', 'ecc']
    """
    found: list[str] = []
    for text in texts or ():
        for name in split_outside(text, ","):
            if not name:
                raise ParameterError(
                    f"Expected names with commas between them. Got {text!r} instead."
                )
            if name in found:
                raise ParameterError(f"{name!r} stands twice. Expected it once.")
            found.append(name)
    return found


def parse_options(texts: list[str] | None) -> dict[str, Any]:
    r"""Understand options of a reader; those that name columns may come more than once.

    Examples
    --------
    >>> from scumble.cli.inputs import parse_options
    >>> parse_options(["label_separator= ", "ignore=id", "ignore=created", "decimal=,"])
    {'label_separator': ' ', 'ignore': ['id', 'created'], 'decimal': ','}
    """
    found: dict[str, Any] = {}
    for text in texts or ():
        ((name, value),) = parse_parameters([text]).items()
        if name in ("label_separator", "delimiter"):  # blanks count, and numbers are texts
            value = text.partition("=")[2].replace("\\t", "\t")
        if name in SEVERAL and value is not True and found.get(name) is not True:
            found.setdefault(name, []).append(value)
        else:
            found[name] = found.get(name) is True or value
    return found


def parse_one(texts: list[str] | None, option: str) -> str | None:
    """Understand an option that names one thing here, though it names several elsewhere."""
    names = parse_names(texts)
    if len(names) > 1:
        raise ParameterError(
            f"{option} names one here. Got {len(names)} instead: {', '.join(names)}."
        )
    return names[0] if names else None


def method_parameters(
    own: dict[str, Any], base: str | None, param: list[str] | None = None
) -> dict[str, Any]:
    """Put together the parameters of a classifier: in its brackets, --base and --param.

    Examples
    --------
    >>> from scumble.cli.inputs import method_parameters
    >>> method_parameters({"order": 1}, "c45", ["base.confidence=0.1"])
    {'order': 1, 'base': 'c45', 'base.confidence': 0.1}
    """
    return own | ({} if base is None else {"base": base}) | parse_parameters(param or [])
