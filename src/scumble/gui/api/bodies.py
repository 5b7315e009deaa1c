"""The bodies of requests to the API."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from scumble.gui.api.conversion import ErrorMessage, Length, Range, field_types
from scumble.gui.http_messages import RequestError

#: Maximum number of resamplers in a chain.
MAX_STEPS = 6
#: Maximum time limit of an advice in seconds; a request may also set no limit.
MAX_BUDGET = 24 * 3600
MAX_SEED = 2**31
#: Maximum number of classifiers, and of treatments, of a comparison.
MAX_LIST = 30
MAX_REPEATS, MAX_FOLDS = 10, 20

#: Maximum values of the options of synthetic data: larger data would take minutes or much memory.
MAX_INSTANCES, MAX_LABELS, MAX_FEATURES = 1_000_000, 10_000, 2_000

WRONG_CLASSIFIER = "Each item must have a 'classifier' and may have 'parameters'."
WRONG_EXPORT_FORMAT = "'kind' must be data or report, and 'format' one of the formats of this kind."
_WRONG_TYPE = ErrorMessage("The option {name} has a wrong type.")
_WRONG_FOLDS = ErrorMessage(f"'repeats' must be 1 to {MAX_REPEATS}, and 'folds' 2 to {MAX_FOLDS}.")
_WRONG_METHOD = ErrorMessage("Each item must have a 'method' and may have 'parameters'.")
_WRONG_CLASSIFIER = ErrorMessage(WRONG_CLASSIFIER)
_WRONG_PREDICTION_OPTIONS = ErrorMessage(
    "'format' must be one of .csv, .parquet, 'confidences' true or false."
)

#: Parameters of a resampler or classifier, by name.
Parameters = Annotated[
    dict[str, str | float | bool | None],
    ErrorMessage("'parameters' must hold numbers, words, true, false or null."),
]
Seed = Annotated[
    int, Range(0, MAX_SEED), "Seed of all random numbers; the same seed gives the same result."
]
#: Columns by their names or their numbers from 0.
Columns = Annotated[
    list[str | int], ErrorMessage("The option {name} must list names or numbers of columns.")
]
# Options of readers that a preview has as well.
FormatOption = Annotated[
    str | None, _WRONG_TYPE, "Format of the file; by default, it is recognized."
]
MemberOption = Annotated[
    str | None, _WRONG_TYPE, "The file in a .zip archive, if several contain data."
]
DelimiterOption = Annotated[str | None, _WRONG_TYPE, "Separates the values of a row."]
EncodingOption = Annotated[str | None, _WRONG_TYPE, "The encoding, such as cp1252."]
DecimalOption = Annotated[str | None, _WRONG_TYPE, "The decimal sign: a point or a comma."]
HeaderOption = Annotated[bool | None, _WRONG_TYPE, "Whether the first row contains names."]
UploadIds = Annotated[
    list[str],
    Length(1, 2),
    ErrorMessage("'uploads' must list one file, or a MULAN file and its XML."),
    "Ids of uploads: a file, or a MULAN file and its XML file.",
]


@dataclass(frozen=True)
class Step:
    """A resampler and its parameters."""

    method: Annotated[str, _WRONG_METHOD, "A method of the catalogue."]
    parameters: Parameters = field(default_factory=dict)


@dataclass(frozen=True)
class Classifier:
    """A classifier and its parameters."""

    classifier: Annotated[str, _WRONG_CLASSIFIER, "A classifier of the catalogue."]
    parameters: Parameters = field(default_factory=dict)


ClassifierItem = Annotated[Classifier, _WRONG_CLASSIFIER]
#: Resamplers that are applied one after another.
Chain = Annotated[
    list[Annotated[Step, _WRONG_METHOD]],
    Length(1, MAX_STEPS),
    ErrorMessage(f"'steps' must list 1 to {MAX_STEPS} methods with their parameters."),
]
#: Resamplers that are applied one after another; an empty list stands for no treatment.
Treatment = Annotated[
    list[Annotated[Step, _WRONG_METHOD]],
    Length(0, MAX_STEPS),
    ErrorMessage(f"'steps' must list 1 to {MAX_STEPS} methods with their parameters."),
]


@dataclass(frozen=True)
class ReadOptions:
    """Options of readers that a client may set. None of them can be a path."""

    format: FormatOption = None
    member: MemberOption = None
    labels: Annotated[
        int | Columns | None,
        _WRONG_TYPE,
        "Label columns: names, numbers from 0, or a count; a negative one counts from the end.",
    ] = None
    label_column: Annotated[
        str | int | None, _WRONG_TYPE, "The column that lists all labels of a row."
    ] = None
    label_separator: Annotated[
        str | None,
        _WRONG_TYPE,
        "Separates the labels in this column; not needed if they are in brackets.",
    ] = None
    weight_column: Annotated[str | int | None, _WRONG_TYPE, "The column of sample weights."] = None
    ignore: Annotated[Columns | None, _WRONG_TYPE, "Columns to ignore."] = None
    text: Annotated[Columns | None, _WRONG_TYPE, "Columns of text, whose words are features."] = (
        None
    )
    category: Annotated[
        Columns | None, _WRONG_TYPE, "Columns of categories, even if they look like numbers."
    ] = None
    keep: Annotated[
        bool | Columns | None,
        _WRONG_TYPE,
        "Columns that are features, whatever they look like; true: all columns.",
    ] = None
    delimiter: DelimiterOption = None
    encoding: EncodingOption = None
    decimal: DecimalOption = None
    header: HeaderOption = None

    def __post_init__(self) -> None:
        if isinstance(self.labels, list) and len({type(item) for item in self.labels}) != 1:
            raise RequestError("'labels' must be names, or column numbers, or a count.")

    def read_options(self) -> dict[str, Any]:
        """Return the options that have a value, by name."""
        values = {name: getattr(self, name) for name in READ_OPTIONS}
        return {name: value for name, value in values.items() if value is not None}


#: Names and types of the options of readers.
READ_OPTIONS = field_types(ReadOptions)
_UNKNOWN_READ_OPTION = f"There is no option {{name}}. Known are: {', '.join(READ_OPTIONS)}."


@dataclass(frozen=True, kw_only=True)
class OpenBody(ReadOptions):
    """The files of a data set, and how to read them."""

    _unknown_field_message: ClassVar[str] = _UNKNOWN_READ_OPTION

    uploads: UploadIds


@dataclass(frozen=True)
class PreviewBody:
    """How to read the beginning of a file; other options are inferred."""

    format: FormatOption = None
    member: MemberOption = None
    delimiter: DelimiterOption = None
    encoding: EncodingOption = None
    decimal: DecimalOption = None
    header: HeaderOption = None

    _unknown_field_message: ClassVar[str] = (
        "The options of a preview are: format, member, delimiter, encoding, decimal, header."
    )

    def read_options(self) -> dict[str, Any]:
        """Return the options that have a value, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class SyntheticBody:
    """Options of synthetic data; the other examples have none."""

    n_instances: Annotated[float | None, Range(0, MAX_INSTANCES), "Number of instances."] = None
    n_labels: Annotated[float | None, Range(0, MAX_LABELS), "Number of labels."] = None
    n_features: Annotated[float | None, Range(0, MAX_FEATURES), "Number of features."] = None
    cardinality: Annotated[
        float | None, Range(0, 1_000.0), "Mean number of labels of an instance."
    ] = None
    mean_ir: Annotated[float | None, Range(0, 100_000.0), "Mean imbalance ratio of the labels."] = (
        None
    )
    scumble: Annotated[float | None, Range(0, 1.0), "SCUMBLE of the data set."] = None
    random_state: Annotated[float | None, Range(0, MAX_SEED), "Seed of the random numbers."] = None

    _unknown_field_message: ClassVar[str] = (
        "There is no option {name}. Known are: n_instances, n_labels, n_features, cardinality, "
        "mean_ir, scumble, random_state."
    )

    def options(self) -> dict[str, Any]:
        """Return the options that have a value, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class TreatmentBody:
    """The resamplers to apply, in this order."""

    steps: Chain


@dataclass(frozen=True)
class ExportBody:
    """What to write, and in which format."""

    format: Annotated[
        str,
        ErrorMessage(WRONG_EXPORT_FORMAT),
        "A format of the catalogue; of a report html, pdf or json.",
    ]
    kind: Annotated[
        Literal["data", "report"], ErrorMessage(WRONG_EXPORT_FORMAT), "The data or its report."
    ] = "data"
    compression: Annotated[str, "A compression of the catalogue, such as .gz; empty: none."] = ""


@dataclass(frozen=True)
class AdviceBody:
    """Time limit and seed of an advice."""

    budget: Annotated[
        float | None,
        Range(0, MAX_BUDGET, excludes_minimum=True),
        ErrorMessage(f"'budget' must be seconds up to {MAX_BUDGET:,}, or null."),
        "About how many seconds it may take; null evaluates all methods.",
    ] = 120
    random_state: Seed = 0


@dataclass(frozen=True)
class ResamplersBody:
    """The resamplers to compare."""

    methods: Annotated[
        list[Annotated[Step, _WRONG_METHOD]] | None,
        Length(1, MAX_LIST),
        ErrorMessage(f"{{name}} must list 1 to {MAX_LIST} methods with their parameters."),
        "By default all methods of the catalogue.",
    ] = None


@dataclass(frozen=True)
class ComparisonBody:
    """The classifiers and treatments to compare, and the folds."""

    classifiers: Annotated[
        list[ClassifierItem],
        Length(1, MAX_LIST),
        ErrorMessage(f"'classifiers' must list 1 to {MAX_LIST} of them."),
        "The first one without a treatment is the baseline.",
    ]
    treatments: Annotated[
        list[Treatment],
        Length(0, MAX_LIST),
        ErrorMessage(f"'treatments' must list at most {MAX_LIST} lists of steps."),
        "Every classifier is evaluated without a treatment as well.",
    ] = field(default_factory=list)
    repeats: Annotated[int, Range(1, MAX_REPEATS), _WRONG_FOLDS] = 2
    folds: Annotated[int, Range(2, MAX_FOLDS), _WRONG_FOLDS] = 5
    random_state: Seed = 0


@dataclass(frozen=True)
class ModelBody:
    """The model to train: a candidate of the advice, or a classifier and its treatment."""

    candidate: Annotated[str | None, "A method of the advice, instead of a classifier."] = None
    classifier: ClassifierItem | None = None
    treatment: Treatment | None = None
    random_state: Seed = 0


@dataclass(frozen=True, kw_only=True)
class PredictionBody(ReadOptions):
    """The files to predict labels for, how to read them, and how to write the predictions.

    Options that are not set are those with which the training data was read, or are inferred.
    """

    _unknown_field_message: ClassVar[str] = _UNKNOWN_READ_OPTION

    uploads: UploadIds
    format: Annotated[
        Literal[".csv", ".parquet"], _WRONG_PREDICTION_OPTIONS, "Format of the predictions."
    ] = ".csv"
    file_format: Annotated[
        str | None, _WRONG_TYPE, "Format of the uploaded file; by default, it is recognized."
    ] = None
    confidences: Annotated[
        bool, _WRONG_PREDICTION_OPTIONS, "Whether to write scores instead of 0 and 1."
    ] = False

    def read_options(self) -> dict[str, Any]:
        """Return the options of the reader that have a value, by name."""
        options = {**super().read_options(), "format": self.file_format}
        return {name: value for name, value in options.items() if value is not None}


@dataclass(frozen=True)
class DownloadTokenBody:
    """An address of this API."""

    address: Annotated[
        str,
        ErrorMessage("'address' must be an address of this API, such as /api/v1/files/NUMBER."),
        "An address of this API, such as /api/v1/files/NUMBER.",
    ]

    def __post_init__(self) -> None:
        if not self.address.startswith("/api/v1/"):
            raise RequestError(
                "'address' must be an address of this API, such as /api/v1/files/NUMBER."
            )
