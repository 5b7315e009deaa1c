"""Options and arguments that several commands share.

Each is a type with its Typer annotation. Options that travel together are the fields of a frozen
dataclass; `scumble.cli.command` shows how a command uses them.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from scumble._core.calls import parse_call, parse_parameters
from scumble._core.errors import ParameterError, ScumbleWarning
from scumble.cli.console import progress
from scumble.cli.files import FileRole, may_be_public_dataset
from scumble.cli.parse import (
    combine_classifier_parameters,
    parse_labels,
    parse_reader_parameters,
    parse_single_name,
)

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset
    from scumble.learn.storage.score_files import NamedMatrix
    from scumble.out_of_core import OutOfCoreDataset


def _check_jobs(jobs: int | None) -> int | None:
    """Return the number of jobs; raise an error if it is 0."""
    if jobs == 0:
        raise typer.BadParameter("Expected a number from 1 on, or -1 for all cores. Got 0 instead.")
    return jobs


#: How help texts describe the value of an option for one resampler or a chain of several.
RESAMPLER_SYNTAX = (
    "none, or one or more resamplers with '+' between, parameters in brackets: "
    "remedial+mlsmote(n_neighbors=3)."
)

DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="A file, or the name of a public data set (see 'scumble data list')."
    ),
    FileRole.READS_DATA,
]
TruthArgument = Annotated[
    str,
    typer.Argument(
        metavar="LABELS",
        help="The labels of these rows: a data set, or a table or array of 0 and 1.",
    ),
    FileRole.READS_DATA,
]
#: `scumble.cli.command` adds --output, which means the same.
OutArgument = Annotated[
    str, typer.Argument(metavar="OUT", help="The file to write."), FileRole.WRITES_DATA
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SeedOption = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Random seed; the same seed gives the same result."),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        callback=_check_jobs,
        help="Number of threads or processes, -1: all cores; does not change the result.",
    ),
]
TopOption = Annotated[int, typer.Option("--top", min=0, help="How many to show: 0 for all.")]
OutputFormatOption = Annotated[
    str | None,
    typer.Option(
        "--to", help="Format of the output (see 'scumble methods format'); by default its suffix."
    ),
]
HtmlOption = Annotated[
    Path | None,
    typer.Option("--html", help="Also write it to this file, as an HTML page."),
    FileRole.WRITES,
]
ClassifierOption = Annotated[
    list[str],
    typer.Option(
        "--classifier",
        "-c",
        help="Classifier: for rare labels rare, or rare(quality=best), which is slower and finds "
        "more; br and others, see 'scumble methods classifier'; or package.module.Class.",
    ),
]
BaseOption = Annotated[
    str | None,
    typer.Option(
        "--base",
        help="Base: the base learner, for example sklearn.linear_model.LogisticRegression; its "
        "parameters are named base.C=0.1 and the like.",
    ),
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option("--param", help="A parameter of the method, as name=value; repeatable."),
]
FoldsOption = Annotated[
    str,
    typer.Option("--folds", help="Repetitions x folds, a number of folds, or a file of folds."),
    FileRole.READS,
]
TestOption = Annotated[
    str | None,
    typer.Option("--test", help="Train on DATA and evaluate on this file instead of folds."),
    FileRole.READS_DATA,
]
LabelColumnOption = Annotated[
    str | None,
    typer.Option("--label-column", help="Table: the column that holds the labels of a row."),
]
InstanceColumnOption = Annotated[
    str | None,
    typer.Option(
        "--instance-column", help="With --engine: the column that identifies the instance."
    ),
]
EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="For files larger than memory: 'duckdb' on this machine or 'spark' on a cluster.",
    ),
]
MemoryOption = Annotated[
    str | None, typer.Option("--memory", help="Memory limit of DuckDB, such as 2GB.")
]
SparkOption = Annotated[
    str | None,
    typer.Option(
        "--spark",
        help="With --engine spark: the address of a master or a Spark Connect server.",
    ),
]

#: Options for plain tables: ``--label-column tags`` means ``--option label_column=tags``.
TABLE_OPTIONS = ("label_column", "label_separator", "ignore", "text", "category", "keep")


@dataclass(frozen=True)
class ReadOptions:
    """How to read a data set: the options of all commands that read one."""

    format: Annotated[
        str | None,
        typer.Option("--format", "-f", help="Format of the file, where it is not recognised."),
    ] = None
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels",
            "-l",
            help="Which columns are labels: names or numbers separated by commas, a count "
            "(negative: from the end), or a MULAN XML file.",
        ),
        FileRole.READS,
    ] = None
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            help="An option of the format's reader, as name=value, for example encoding=cp1252; "
            "repeatable.",
        ),
    ] = None
    label_column: Annotated[
        str | None,
        typer.Option("--label-column", help="Table: the column that holds all labels of a row."),
    ] = None
    label_separator: Annotated[
        str | None,
        typer.Option(
            "--label-separator",
            help="Table: the separator in the column of labels, for example ';'.",
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", help="Columns to leave out, separated by commas; repeatable."),
    ] = None
    text: Annotated[
        list[str] | None,
        typer.Option(
            "--text",
            help="Text columns whose words become features, separated by commas; repeatable.",
        ),
    ] = None
    category: Annotated[
        list[str] | None,
        typer.Option("--category", help="Table: numeric columns that hold categories; repeatable."),
    ] = None
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            help="Table: columns to read as they are, although they seem to identify rows or to "
            "hold dates or texts; repeatable.",
        ),
    ] = None

    def all_options(self) -> list[str]:
        """Return the values of --option and of the options for plain tables, as name=value."""
        options = list(self.option or ())
        for name in TABLE_OPTIONS:
            value = getattr(self, name)
            if isinstance(value, list):
                options += [f"{name}={item}" for item in value]
            elif value is not None:
                options.append(f"{name}={value}")
        return options

    def reader_parameters(self) -> dict[str, Any]:
        """Return the keyword arguments of `scumble.read`."""
        parameters = parse_reader_parameters(self.all_options())
        for name in ("format", "labels"):
            if name in parameters:
                raise ParameterError(
                    f"--option {name}=... is not an option of a reader. Give --{name} instead."
                )
        return {"format": self.format, "labels": parse_labels(self.labels), **parameters}

    def load(self, name: str) -> MultilabelDataset:
        """Return the data set in a file, or the public data set if there is no such file."""
        return load_dataset(name, **self.reader_parameters())

    def load_test(self, name: str | None) -> MultilabelDataset | None:
        """Return the test set, a file or a public data set; None without a name.

        It is read with the same options and ``keep=True``: inference leaves out or converts no
        column, because the training set determines which are used.
        """
        if name is None:
            return None
        parameters = self.reader_parameters()
        parameters["keep"] = True
        return load_dataset(name, **parameters)


DEFAULT_READ_OPTIONS = ReadOptions()


def load_dataset(name: str, /, *, labels: Any = None, **parameters: Any) -> MultilabelDataset:
    """Return the data set in a file, or the public data set if there is no such file.

    With ``labels=()`` every column is read as a feature.
    """
    from scumble.data import read

    if labels == ():
        parameters = {
            key: value for key, value in parameters.items() if not key.startswith("label_")
        }
    with progress():
        if not may_be_public_dataset(name):
            return read(name, labels=labels, **parameters)
        if "name" in parameters:
            raise ParameterError(f"There is no option 'name' for reading {name!r}.")
        from scumble.data.public import repository

        parameters["labels"] = labels
        parameters = {key: value for key, value in parameters.items() if value is not None}
        try:
            return repository.load(name, **parameters)
        except ParameterError as error:
            raise ParameterError(f"There is no file {name!r}. {error}") from error


def read_labels(name: str, read: ReadOptions) -> NamedMatrix:
    """Return the labels in a file, or those of a public data set."""
    from scumble.learn.storage.score_files import labels_of_dataset, read_true_labels

    if may_be_public_dataset(name):
        return labels_of_dataset(read.load(name), name)
    return read_true_labels(name, **read.reader_parameters())


@dataclass(frozen=True)
class OutOfCoreOptions:
    """How to process files that are larger than memory."""

    label_column: LabelColumnOption = None
    instance_column: InstanceColumnOption = None
    engine: EngineOption = None
    memory: MemoryOption = None
    spark: SparkOption = None

    def requested_engine(self, name: str) -> str | None:
        """Return the engine that the options or the path ``name`` request, or None.

        Object stores, patterns, a memory limit, an instance column, and a folder with a label
        column request DuckDB.
        """
        if self.engine is not None:
            return self.engine
        if self.spark is not None:
            return "spark"
        # Only engines read object stores and patterns. They read a folder, too, but a folder is a
        # likely mistake unless the column of its labels is named.
        is_remote_or_pattern = "://" in name or "*" in name
        is_folder = self.label_column is not None and os.path.isdir(name)
        if is_folder or self.memory or self.instance_column or is_remote_or_pattern:
            return "duckdb"
        return None

    def open(self, name: str, read: ReadOptions) -> OutOfCoreDataset | None:
        """Return the data set on an engine, or None if it is to be loaded into memory."""
        engine = self.requested_engine(name) or _engine_for_size(name)
        if engine is None:
            return None
        from scumble.out_of_core import scan

        separator = parse_reader_parameters(read.all_options()).get("label_separator")
        options = asdict(self)
        options["engine"] = engine
        return scan(name, separator=separator, format=read.format, **options)


def _engine_for_size(name: str) -> str | None:
    """Return an engine for a file that does not fit in memory, or None if it does."""
    suffixes = (".parquet", ".pq", ".arrow", ".feather", ".csv", ".tsv")
    if not name.lower().endswith(suffixes) or not os.path.isfile(name):
        return None
    from scumble.out_of_core.files import bytes_available, bytes_needed, find_files

    needed = bytes_needed(find_files(name))
    available = bytes_available()
    if needed <= available:
        return None
    warnings.warn(
        f"{name} needs about {needed / 2**30:.1f} GiB of memory and {available / 2**30:.1f} GiB "
        "are free: DuckDB reads it from disk instead (--engine duckdb).",
        ScumbleWarning,
        stacklevel=2,
    )
    return "duckdb"


class Method(NamedTuple):
    """A classifier and the resamplers before it, with the texts that name them."""

    classifier_name: str
    resampler_name: str | None
    classifier: Any
    resamplers: list[Any]


@dataclass(frozen=True)
class MethodOptions:
    """Parameters of a classifier, its base learner and the resamplers before it."""

    base: BaseOption = None
    param: ParamOption = None
    resample_param: Annotated[
        list[str] | None,
        typer.Option(
            "--resample-param", help="A parameter of the resampler, as name=value; repeatable."
        ),
    ] = None

    def make_method(
        self, classifier: list[str], resample: list[str] | None, **shared_parameters: Any
    ) -> Method:
        """Return the classifier and the resamplers that --classifier and --resample name."""
        from scumble.learn import make_classifier
        from scumble.resample import make_chain

        classifier_name = str(parse_single_name(classifier, "--classifier"))
        resampler_name = parse_single_name(resample, "--resample")
        class_name, parameters_in_brackets = parse_call(classifier_name)
        classifier_parameters = combine_classifier_parameters(
            shared_parameters | parameters_in_brackets, self.base, self.param
        )
        model = make_classifier(class_name, **classifier_parameters)
        resampler_parameters = shared_parameters | parse_parameters(self.resample_param or [])
        chain = make_chain(resampler_name or "none", **resampler_parameters)
        return Method(
            classifier_name=classifier_name,
            resampler_name=resampler_name,
            classifier=model,
            resamplers=chain,
        )
