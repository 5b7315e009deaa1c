"""The JSON responses of the API, as types.

Handlers return dictionaries, most of them made by other subpackages. These types describe them: the
OpenAPI document is generated from them, and the tests compare all responses with it.
"""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from scumble.gui.api.bodies import Classifier, Step


class Page(TypedDict):
    """A page of a table, without its rows."""

    total: Annotated[int, "Number of rows of the table."]
    n_matches: Annotated[int, "Number of rows that match the search."]
    offset: int
    limit: int
    sort: str
    order: str


class Error(TypedDict):
    """Why a request was refused."""

    error: Annotated[str, "The reason, and what to do."]


class Histogram(TypedDict):
    """Counts between each two edges."""

    edges: list[float]
    counts: list[int]


class DatasetDescription(TypedDict):
    """An open data set."""

    id: str
    name: str
    source: str
    parent: str | None
    treatment: str | None
    n_instances: int
    n_features: int
    n_labels: int
    notes: list[str]
    copy: Annotated[
        int, "Its number among the data sets with the same name and treatment, from 1 on."
    ]


class Summary(TypedDict):
    """All measures of a data set."""

    name: str
    n_instances: int
    n_features: int | None
    n_labels: int
    n_labelsets: int
    n_single_labelsets: int
    max_labelset_count: int
    cardinality: float | None
    density: float | None
    diversity: float | None
    p_min: float | None
    mean_ir: float | None
    max_ir: float | None
    cvir: float | None
    scumble: float | None
    scumble_cv: float | None
    tcs: float | None
    n_unseen: int
    n_unlabelled: int
    n_minority: int


#: Responses that may have further keys, with the type of their values: the measures that another
#: package has registered for the summary.
FURTHER_VALUES = {Summary: float | None}


class Progress(TypedDict):
    """The current step of a job."""

    title: NotRequired[str]
    done: NotRequired[int]
    total: NotRequired[int | None]
    left: NotRequired[Annotated[float | None, "Estimate of the remaining seconds."]]


class JobDescription(TypedDict):
    """A piece of heavy work; its result is null unless its state is done."""

    id: str
    title: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    progress: Progress
    result: dict[str, Any] | None
    error: str | None
    notes: list[str]
    seconds: float


class MethodParameter(TypedDict):
    """A parameter of a method, as a form shows it."""

    name: str
    title: str
    kind: Literal[
        "integer", "number", "number_or_word", "choice", "method", "switch", "seed", "text"
    ]
    default: Any
    choices: list[str | float | None]
    minimum: float | None
    maximum: float | None
    required: bool
    allowed: str
    help: str


class Method(TypedDict):
    """A resampler or classifier of the catalogue."""

    name: str
    title: str
    family: str
    summary: str
    details: str
    parameters: list[MethodParameter]


class Estimate(TypedDict):
    """A value with its interval; null if it is unknown."""

    value: float | None
    low: float | None
    high: float | None


class ExpectedScores(TypedDict):
    """The scores to expect on new rows."""

    macro_f1: Estimate
    minority_f1: Estimate
    micro_f1: Estimate


#: A method that was evaluated.
AdviceMethod = TypedDict(  # noqa: UP013  # some keys are not names that the code may use
    "AdviceMethod",
    {
        "name": str,
        "what": str,
        "family": str,
        "chosen": bool,
        "expected": ExpectedScores,
        "gain": Estimate,
        "seconds": float,
        "shell": str | None,
        "python": str,
    },
)


class AdviceOmission(TypedDict):
    """A method that was not evaluated, and the reason."""

    name: str
    why: str


#: A label with its scores.
AdviceLabel = TypedDict(  # noqa: UP013  # some keys are not names that the code may use
    "AdviceLabel",
    {
        "name": str,
        "rows": int,
        "irlbl": float | None,
        "scumble": float | None,
        "is_rare": bool,
        "company": str | None,
        "company_share": float | None,
        "f1": float,
        "f1_untreated": float | None,
        "learnable": bool,
    },
)


#: What is wrong with a data set, what helps and what does not.
Advice = TypedDict(  # noqa: UP013  # some keys are not names that the code may use
    "Advice",
    {
        "data": str,
        "n_instances": int,
        "n_labels": int,
        "random_state": int,
        "chosen": Annotated[str, "Name of the recommended method."],
        "nothing_to_learn": bool,
        "interrupted": bool,
        "rows_needed": int | None,
        "methods": list[AdviceMethod],
        "left_out": list[AdviceOmission],
        "labels": list[AdviceLabel],
        "at_risk": list[str],
        "same_labels": list[list[Any]],
        "identifiers": list[str],
        "leaks": list[list[Any]],
        "sentences": dict[str, list[str]],
        "python": list[str],
        "shell": str,
    },
)


class ComparedMeasure(TypedDict):
    """A measure of data sets before and after resampling."""

    key: str
    title: str
    less_is_better: bool | None


class MeasureChange(TypedDict):
    """The value of a measure after resampling, and its change."""

    value: float | None
    part: float | None
    verdict: Literal["better", "worse", "same", "changed"]


class ResamplerChanges(TypedDict):
    """What a resampler changes."""

    method: str
    error: str | None
    n_added: int | None
    n_removed: int | None
    seconds: float | None
    changes: dict[str, MeasureChange]


class AdvisedResampler(TypedDict):
    """The advised resampler and the reason."""

    method: str
    reason: str
    measured_here: bool


class ResamplerComparison(TypedDict):
    """What several resamplers change."""

    measures: list[ComparedMeasure]
    before: dict[str, float | None]
    methods: list[ResamplerChanges]
    verdict: str
    advised: AdvisedResampler
    chains: dict[str, list[Step]]


class ModelDescription(TypedDict):
    """A trained model."""

    model: str
    trained_on: str
    name: str
    title: str
    n_labels: int
    size: int


class Download(TypedDict):
    """A file for download."""

    file: str
    name: str
    size: int


#: A column and its inferred role.
PreviewColumn = TypedDict(  # noqa: UP013  # some keys are not names that the code may use
    "PreviewColumn",
    {
        "at": Annotated[int, "Index of the column."],
        "key": Annotated[str | int, "The name or number that options of readers use."],
        "name": str,
        "role": Literal["label", "list", "number", "category", "text", "ignore"],
        "roles": Annotated[list[str], "All roles that the column may have."],
        "why": str,
    },
)


class Preview(TypedDict):
    """The first rows of a file and the inferred roles of its columns."""

    format: str
    asks: Annotated[
        bool,
        "Whether the file is a plain table; if not, all values but the format are empty.",
    ]
    delimiter: str | None
    encoding: str | None
    decimal: str | None
    header: bool | None
    n_columns: int
    columns: Annotated[
        list[PreviewColumn],
        "The first and last columns, lists of labels, and the labels if they are few.",
    ]
    rows: list[list[str]]
    labels: Annotated[list[int], "Indices of the columns that are probably labels."]
    is_whole: Annotated[
        bool, "Whether all rows were read, so that opening the file infers the same."
    ]
    separator: Annotated[str, "Separates the labels of a list; empty if they are in brackets."]


class Members(TypedDict):
    """The files of an archive that may contain the data."""

    members: Annotated[list[str], "Names of the files, at most 500."]
    taken: Annotated[str | None, "The file that is read by default; null if one must be selected."]


class ComparedMethod(TypedDict):
    """The scores of a method."""

    name: str
    seconds: float
    means: dict[str, float | None]
    folds: dict[str, list[float | None]]


class ScoreDifference(TypedDict):
    """The difference between a method and the baseline."""

    method: str
    metric: str
    mean: float | None
    baseline: float | None
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    verdict: str


class LabelGains(TypedDict):
    """F1 of labels before and after each method, as columns."""

    label: list[str]
    training_positives: list[float]
    before: list[float]
    after: dict[str, list[float]]
    n_left_out: int


class Recipe(TypedDict):
    """How a method of a comparison is made."""

    classifier: Classifier
    treatment: list[Step]


class Comparison(TypedDict):
    """Classifiers with and without treatments, evaluated on the same folds."""

    data: str
    random_state: int
    baseline: str
    metrics: list[str]
    titles: dict[str, str]
    n_folds: int
    confidence: float
    methods: list[ComparedMethod]
    differences: list[ScoreDifference]
    verdicts: list[str]
    best: str
    optimism: float | None
    conclusion: list[str]
    gains: LabelGains
    recipes: list[Recipe]
    shell: str
    repeats: int


class Example(TypedDict):
    """A built-in example."""

    name: str
    title: str
    summary: str


class WaitingFile(TypedDict):
    """The file named on the command line, if it waits to be opened by the page."""

    id: Annotated[str, "Id of the upload."]
    name: str
    error: str | None
    options: Annotated[dict[str, Any], "Options of its reader, as in POST /datasets."]


class About(TypedDict):
    """Version, limits, examples and unfinished jobs."""

    version: str
    max_upload: int
    max_unpacked: int
    max_open: int
    examples: list[Example]
    jobs: list[JobDescription]
    first_job: Annotated[
        JobDescription | None, "The job that opens what was named on the command line."
    ]
    waiting: Annotated[
        WaitingFile | None, "The file named on the command line if it waits to be opened."
    ]


class FileFormat(TypedDict):
    """A format that data sets can be written in."""

    name: str
    title: str
    suffixes: list[str]


class Catalogue(TypedDict):
    """Formats, methods and classifiers with their parameters, formats of reports."""

    formats: list[FileFormat]
    compressions: list[str]
    suffixes: list[str]
    methods: list[Method]
    classifiers: list[Method]
    candidates: Annotated[
        list[str], "Methods that an advice evaluates; each can be trained by its name."
    ]
    reports: list[str]


class UploadDescription(TypedDict):
    """A file that has been received."""

    id: str
    name: str
    size: int


#: A public data set, and where it is.
PublicDataset = TypedDict(  # noqa: UP013  # some keys are not names that the code may use
    "PublicDataset",
    {
        "name": str,
        "title": str,
        "place": Literal["embedded", "here", "to fetch", "SCUMBLE_DATA only"],
        "size": Annotated[int | None, "Bytes to download."],
        "instances": int,
        "features": int,
        "labels": int,
    },
)


class PublicDatasets(TypedDict):
    """All public data sets."""

    datasets: list[PublicDataset]


class Partner(TypedDict):
    """A label that co-occurs with a difficult one."""

    label: int
    name: str
    joint_count: int
    irlbl: float | None
    scumble: float | None


class DifficultLabel(TypedDict):
    """A label that is rare and mostly occurs together with frequent ones."""

    label: int
    name: str
    count: int
    irlbl: float | None
    scumble: float | None
    n_partners: int
    partners: list[Partner]


class Overview(TypedDict):
    """The content of the page Overview."""

    dataset: DatasetDescription
    summary: Summary
    verdict: list[str]
    difficult: list[DifficultLabel]
    points: Annotated[dict[str, Any], "Labels that occur, as columns of a scatter plot."]
    histograms: dict[str, Histogram]
    kinds: dict[str, int]
    treatment: dict[str, Any] | None
    advice: Annotated[list[str] | None, "What the last advice recommends; null if there is none."]


class LabelRow(TypedDict):
    """A row of the table of labels."""

    label: int
    name: str
    count: int
    frequency: float | None
    irlbl: float | None
    scumble: float | None
    scumble_cv: float | None
    is_minority: bool


class LabelsPage(Page):
    """A page of the table of labels."""

    rows: list[LabelRow]


class PartnerRow(TypedDict):
    """A row of the table of co-occurring labels."""

    label: int
    name: str
    joint_count: Annotated[int, "Instances that have both."]
    share: Annotated[float, "Share of the instances of the label that have both."]
    count: int
    irlbl: float | None
    scumble: float | None
    is_minority: bool


class PartnersPage(Page):
    """A page of the table of co-occurring labels."""

    rows: list[PartnerRow]


class LabelsetRow(TypedDict):
    """A row of the table of labelsets."""

    rank: int
    size: int
    count: int
    imbalance: float
    scumble: float
    labels: Annotated[list[str], "Names, at most 40."]


class LabelsetsPage(Page):
    """A page of the table of labelsets."""

    rows: list[LabelsetRow]


class FeatureRow(TypedDict):
    """A row of the table of features."""

    feature: int
    name: str
    kind: str
    n_missing: int
    n_nonzero: Annotated[int | None, "Null for nominal columns."]
    minimum: float | None
    mean: float | None
    maximum: float | None
    quartiles: list[float] | None
    values: Annotated[list[Any], "Pairs of value and count."]
    n_values: int


class FeaturesPage(Page):
    """A page of the table of features."""

    rows: list[FeatureRow]


class Distribution(TypedDict):
    """How often a feature has which values."""

    edges: list[float]
    counts: list[int]
    values: Annotated[list[Any], "Pairs of a value and its count."]


class Chord(TypedDict):
    """The layout of a chord diagram."""

    name: str
    scumble: float | None
    arcs: list[dict[str, Any]]
    ribbons: list[dict[str, Any]]
    n_labels: int
    n_labels_left_out: int
    n_ribbons_left_out: int
    is_choice: bool
    note: str


class StepReport(TypedDict):
    """What a step of a treatment did."""

    method: str
    n_added: int
    n_removed: int
    n_one_sided: int | None
    title: Annotated[str, "With the parameters that are not defaults."]


class MeasureByStep(TypedDict):
    """A measure before the treatment and after each of its steps."""

    key: str
    title: str
    before: float | None
    steps: list[float | None]


class BeforeAndAfter(TypedDict):
    """A resampled data set compared with its original."""

    dataset: DatasetDescription
    steps: list[StepReport]
    chain: list[Step]
    measures: list[MeasureByStep]
    labels: list[dict[str, Any]]
    histograms: dict[str, Histogram]
    notes: Annotated[list[str], "What each step did, as sentences."]


class LatestJob(TypedDict):
    """The unfinished job of a kind, or the last one that was done."""

    job: JobDescription | None


class Models(TypedDict):
    """The models that were trained on a data set, the newest first."""

    models: list[ModelDescription]


class JobList(TypedDict):
    """The jobs of users that have not finished."""

    jobs: list[JobDescription]


class DownloadAddress(TypedDict):
    """An address that can be fetched once without the token."""

    address: str


class DatasetList(TypedDict):
    """The open data sets."""

    datasets: list[DatasetDescription]


class OpenedDataset(TypedDict):
    """The result of a job that opens or makes a data set."""

    dataset: DatasetDescription
