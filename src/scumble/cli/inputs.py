"""What a user may name as input: a file, or a data set of the shelf; and options for it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

import typer

from scumble._core.calls import parse_call, parse_parameters, split_outside_brackets
from scumble._core.errors import ParameterError, ScumbleWarning
from scumble.cli.console import progress
from scumble.cli.files import READS, READS_DATA, WRITES, FileRole, may_be_public_dataset

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset
    from scumble.learn.storage.score_files import NamedMatrix
    from scumble.out_of_core import OutOfCoreDataset

#: Options of many commands: the same words, and the same meaning, wherever they stand.
WORDS = {
    "classifier": "Classifier",
    "metric": "Metric",
    "output": "Where to write",
    "resample": "Resampling",
    "store": "Store",
}


def make_option(
    help: str,
    default: Any = None,
    names: str = "",
    *,
    file_role: FileRole | None = None,
    **more: Any,
) -> Any:
    """Make an option, of a command or of a dataclass that is spread among its parameters.

    Names, such as ``--jobs -j``, are said where they are not the parameter's own.
    """
    return _option_field(typer.Option(*names.split(), help=help, **more), default, file_role)


def make_argument(
    metavar: str | None, help: str, default: Any = ..., *, file_role: FileRole | None = None
) -> Any:
    """Make an argument of a command, which must be given unless it has a default.

    It is shown by its own name where nothing else is said.
    """
    return _option_field(typer.Argument(metavar=metavar, help=help), default, file_role)


def _option_field(told: Any, default: Any, file_role: FileRole | None) -> Any:
    """Say all of a parameter in the place of its default; ``...`` means that it must be given."""
    default = MISSING if default is ... else default
    return field(default=default, metadata={"told": told, "mark": file_role})


def make_short_option(
    name: str, what: str, default: Any = None, *, file_role: FileRole | None = None
) -> Any:
    """Make one of these options, which have a letter; what follows the colon may differ.

    Where its default is ``...``, it must be given.
    """
    return make_option(
        f"{WORDS[name]}: {what}", default, f"--{name} -{name[0]}", file_role=file_role
    )


def make_command_group(help: str) -> typer.Typer:
    """Make a command that has commands of its own."""
    return typer.Typer(help=help, no_args_is_help=True, rich_markup_mode=None)


def make_resample_option(what: str) -> Any:
    """Make the option for one resampler, or several in order."""
    many = "none, or several methods with '+' between, parameters in brackets"
    return make_short_option("resample", f"{what}; {many}: remedial+mlsmote(n_neighbors=3).")


DATA = make_argument(
    "DATA",
    "A file, or the name of a public data set (see 'scumble data list').",
    file_role=READS_DATA,
)
TRUTH = make_argument(
    "LABELS",
    "The labels of these rows: a data set, or a table or array of 0 and 1.",
    file_role=READS_DATA,
)
#: Options of readers that name columns: several, with commas between them or one by one.
SEVERAL = ("ignore", "text", "category", "keep")


def _check_jobs(jobs: int | None) -> int | None:
    if jobs == 0:
        raise typer.BadParameter("0 is nobody. Expected a number from 1 on, or -1 for all cores.")
    return jobs


OUTPUT_FORMAT = make_option(
    "Format of what is written (see 'scumble methods format'); by default its suffix."
)
HTML = make_option("Also write it as a page, to this file.", file_role=WRITES)
CLASSIFIER = make_short_option(
    "classifier",
    "for rare labels rare, or rare(quality=best), which is slower and finds more; br and "
    "others, see 'scumble methods classifier'; or package.module.Class.",
    ...,
)
PARAM = make_option("A parameter of the method, as name=value; repeatable.")
BASE = make_option(
    "Base: the classifier inside, for example sklearn.linear_model.LogisticRegression; "
    "its parameters are base.C=0.1 and the like."
)
SEED = make_option("One seed, one answer.", min=0)
JOBS = make_option(
    "How many threads or processes share the work, -1: all cores; never changes a result.",
    names="--jobs -j",
    callback=_check_jobs,
)
FOLDS = make_option(
    "Repetitions x folds, a number of folds, or a file of folds.", "2x5", file_role=READS
)
TEST = make_option("Learn from DATA and judge on this file instead of folds.", file_role=READS_DATA)
LABEL_COLUMN = make_option("Table: the column that holds the labels of a row.")
INSTANCE_COLUMN = make_option("With --engine: the column that names the instance.")
ENGINE = make_option(
    "For files larger than memory: 'duckdb' on this machine or 'spark' on a cluster."
)
MEMORY = make_option("How much DuckDB may hold in memory, such as 2GB.")
SPARK = make_option("With --engine spark: the address of a master or a Spark Connect server.")


@dataclass(frozen=True)
class ReadOptions:
    """How to read a data set, as the user typed it: what every command has that reads one.

    Those below ``option`` are for plain tables: ``--label-column tags`` says the same as
    ``--option label_column=tags``.
    """

    format: str | None = make_option(
        "Format of the file, where it is not recognised.", names="--format -f"
    )
    labels: str | None = make_option(
        "Which columns are labels: names or numbers with commas between them, a count "
        "(negative: from the end), or a MULAN XML file.",
        names="--labels -l",
        file_role=READS,
    )
    option: list[str] | None = make_option(
        "An option of the format's reader, as name=value, for example encoding=cp1252; repeatable."
    )
    label_column: str | None = make_option("Table: the column that holds all labels of a row.")
    label_separator: str | None = make_option(
        "Table: what stands between the labels in it, for example ';'."
    )
    ignore: list[str] | None = make_option("Columns to leave out, with commas between; repeatable.")
    text: list[str] | None = make_option(
        "Columns of texts whose words are learnt, with commas between; repeatable."
    )
    category: list[str] | None = make_option(
        "Table: columns of numbers that stand for categories; repeatable."
    )
    keep: list[str] | None = make_option(
        "Table: columns to take as they are, though they seem to name rows; repeatable."
    )

    @property
    def options(self) -> list[str]:
        """Options of the reader, as name=value."""
        found = list(self.option or ())
        for name in TABLE_OPTIONS:
            value = getattr(self, name)
            values = value if isinstance(value, list) else [value]
            found += [f"{name}={one}" for one in values if one is not None]
        return found

    @property
    def told(self) -> dict[str, Any]:
        """All that the reader is told."""
        options = parse_options(self.options)
        for name in ("format", "labels"):
            if name in options:
                raise ParameterError(f"--option {name}=... is not known. Give --{name} instead.")
        return {"format": self.format, "labels": parse_labels(self.labels), **options}

    def load(self, name: str) -> MultilabelDataset:
        """Read a file, or a data set of the shelf when no such file exists."""
        return load(name, **self.told)

    def load_test(self, name: str | None) -> MultilabelDataset | None:
        """Read a test part, if any; the training part tells what its columns are."""
        return None if name is None else load(name, **self.told | {"keep": True})


DEFAULT_READ_OPTIONS = ReadOptions()
TABLE_OPTIONS = tuple(each.name for each in fields(ReadOptions))[3:]


def load(name: str, /, *, labels: Any = None, **more: Any) -> MultilabelDataset:
    """Read a file, or a data set of the shelf; ``labels=()`` reads every column as a feature."""
    from scumble.data import read

    if labels == ():
        more = {name: value for name, value in more.items() if not name.startswith("label_")}
    with progress():
        if not may_be_public_dataset(name):
            return read(name, labels=labels, **more)
        if "name" in more:
            raise ParameterError(f"There is no option 'name' for reading {name!r}.")
        from scumble.data.public import repository

        given = {key: v for key, v in {"labels": labels, **more}.items() if v is not None}
        try:
            return repository.load(name, **given)
        except ParameterError as error:
            raise ParameterError(f"There is no file {name!r}. {error}") from error


@dataclass(frozen=True)
class OutOfCoreOptions:
    """What the user said about large files."""

    label_column: str | None = LABEL_COLUMN
    instance_column: str | None = INSTANCE_COLUMN
    engine: str | None = ENGINE
    memory: str | None = MEMORY
    spark: str | None = SPARK

    def requested_engine(self, name: str) -> str | None:
        """Tell which engine the user asks for, by name or by an option that only engines have."""
        if self.engine is not None:
            return self.engine
        if self.spark is not None:
            return "spark"
        is_folder = self.label_column is not None and os.path.isdir(name)
        # Globs and object-store paths are no file; a folder is meant only where one says how.
        is_many = "://" in name or "*" in name
        return "duckdb" if is_folder or self.memory or self.instance_column or is_many else None

    def open(self, name: str, reading: ReadOptions) -> OutOfCoreDataset | None:
        """Open files with an engine if that is asked for, or if they do not fit into memory."""
        engine = self.requested_engine(name) or _engine_for_size(name)
        if engine is None:
            return None
        from scumble.out_of_core import scan

        separator = parse_options(reading.options).get("label_separator")
        how = asdict(self) | {"engine": engine, "format": reading.format}
        return scan(name, separator=separator, **how)


IN_MEMORY = OutOfCoreOptions()


def _engine_for_size(name: str) -> str | None:
    """Choose an engine for a file that does not fit into memory."""
    known = (".parquet", ".pq", ".arrow", ".feather", ".csv", ".tsv")
    if not name.lower().endswith(known) or not os.path.isfile(name):
        return None
    from scumble.out_of_core.files import bytes_available, bytes_needed, find_files

    needed, available = bytes_needed(find_files(name)), bytes_available()
    if needed <= available:
        return None
    warnings.warn(
        f"{name} needs about {needed / 2**30:.1f} GiB of memory and {available / 2**30:.1f} GiB "
        "are free: DuckDB reads it from disk instead (--engine duckdb).",
        ScumbleWarning,
        stacklevel=2,
    )
    return "duckdb"


def read_labels(name: str, reading: ReadOptions) -> NamedMatrix:
    """Read labels from a file, or from a data set of the shelf."""
    from scumble.learn.storage.score_files import labels_of_dataset, read_true_labels

    if not may_be_public_dataset(name):
        return read_true_labels(name, **reading.told)
    return labels_of_dataset(reading.load(name), name)


@dataclass(frozen=True)
class MethodOptions:
    """What is inside a classifier, and what resamples its training rows."""

    base: str | None = BASE
    param: list[str] | None = PARAM
    resample_param: list[str] | None = make_option(
        "A parameter of the resampler, as name=value; repeatable."
    )

    def make(
        self, classifier: list[str], resample: list[str] | None, **shared: Any
    ) -> tuple[str, str | None, Any, list[Any]]:
        """Make what --classifier and --resample name; with these names, for telling."""
        from scumble.learn import make_classifier
        from scumble.resample import make_chain

        method = str(parse_single_name(classifier, "--classifier"))
        before = parse_single_name(resample, "--resample")
        name, own = parse_call(method)
        given = method_parameters(shared | own, self.base, self.param)
        model = make_classifier(name, **given)
        more = shared | parse_parameters(self.resample_param or [])
        chain = make_chain(before or "none", **more)
        return method, before, model, chain


DEFAULT_METHOD_OPTIONS = MethodOptions()


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
        for name in split_outside_brackets(text, ","):
            if not name:
                raise ParameterError(
                    f"Expected names with commas between them. Got {text!r} instead."
                )
            if name in found:
                raise ParameterError(f"{name!r} stands twice. Expected it once.")
            found.append(name)
    return found


def parse_metrics(texts: list[str] | None, groups: Sequence[str]) -> list[str]:
    """Understand names of metrics, and refuse those that there are not."""
    from scumble.evaluate import find_metric

    names = parse_names(texts)
    for name in names:
        find_metric(name, groups=groups)
    return names


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


def parse_single_name(texts: list[str] | None, option: str) -> str | None:
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
