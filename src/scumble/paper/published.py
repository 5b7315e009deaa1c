"""The numbers that the paper prints, as records.

*The paper* is Charte, Rivera, del Jesus and Herrera, "Dealing with difficult minority labels in
imbalanced multilabel data sets". Its tables are stored as small CSV files in the folder
``printed``, one per table: values as printed, the bold value of a pair, the stars of p-values, and
the counts of better and worse results that are comments in the paper's source.
"""

import csv
from functools import cache
from importlib import resources
from typing import Any, NamedTuple, TypeVar, get_type_hints

#: Whether larger values of a metric are better; metrics have the paper's names.
HIGHER_IS_BETTER = {"HL": False, "Precision": True, "MacroFM": True, "OE": False, "RL": False}
METRICS = tuple(HIGHER_IS_BETTER)
CLASSIFIERS = ("BR", "CLR", "ECC", "EPS", "HOMER", "IBLR")
#: Data sets of the paper's first experiment (Tables 2 to 4), by decreasing SCUMBLE.
PHASE_1_DATASETS = ("corel5k", "cal500", "enron", "yeast", "medical", "genbase")

Record = TypeVar("Record")


class ClaimedChange(NamedTuple):
    """A mean relative change of MeanIR or MaxIR by resampling, as the paper's text claims it."""

    statement: str
    condition: str  # which data sets the mean is over, in words
    measure: str  # "mean_ir" or "max_ir"
    datasets: tuple[str, ...]
    percent: int


class ClaimedCount(NamedTuple):
    """A number of results that REMEDIAL improves, or does not, as the paper's text claims it."""

    subject: str
    statement: str
    claimed: str  # such as "9 of 64"
    classifier: str | None  # whose results are counted; None for all
    metrics: tuple[str, ...]
    improved: bool  # whether the improved results are counted, or the others


CLAIMED_CHANGES = (
    ClaimedChange("MeanIR falls by", "SCUMBLE > 0.3", "mean_ir", PHASE_1_DATASETS[:3], -6),
    ClaimedChange("MaxIR grows by", "SCUMBLE > 0.3", "max_ir", PHASE_1_DATASETS[:3], 6),
    ClaimedChange("MeanIR falls by", "SCUMBLE < 0.11", "mean_ir", PHASE_1_DATASETS[3:], -52),
    ClaimedChange("MaxIR falls by", "SCUMBLE < 0.11", "max_ir", PHASE_1_DATASETS[3:], -54),
)
CLAIMED_COUNTS = (
    ClaimedCount("Precision", "not improved", "9 of 64", None, ("Precision",), False),
    ClaimedCount(
        "HOMER", "improved, HL and Precision", "19 of 22", "HOMER", ("HL", "Precision"), True
    ),
    ClaimedCount("HOMER", "improved, MacroFM and RL", "5 of 22", "HOMER", ("MacroFM", "RL"), True),
)


class BeforeAfterPair(NamedTuple):
    """Two printed values, before and after resampling (in Tables 5 to 9 by REMEDIAL)."""

    dataset: str
    method: str  # a resampler in Table 2, a classifier in Tables 5 to 9
    measure: str  # a measure in Table 2, a metric in Tables 5 to 9
    before: float
    after: float
    bold: str = ""  # "before", "after", "none"; empty where the table has no bold type

    @property
    def table(self) -> int:
        """Number of the table in the paper: 2 for imbalance, 5 to 9 for the metrics."""
        if self.measure in METRICS:
            return 5 + METRICS.index(self.measure)
        return 2

    @property
    def decimals(self) -> int:
        """Number of decimals with which the table prints its values."""
        return 3 if self.table == 2 else 4

    @property
    def change(self) -> float:
        """Relative change of the value: 0.1 for ten percent more."""
        return (self.after - self.before) / self.before

    @property
    def better(self) -> str:
        """The better one of the two values: ``"before"``, ``"after"``, or ``"none"`` for a tie."""
        if self.after == self.before:
            return "none"
        improved = (self.after > self.before) == HIGHER_IS_BETTER[self.measure]
        return "after" if improved else "before"


class Correlation(NamedTuple):
    """A row of Table 3: Pearson's correlation of SCUMBLE with the change of a measure."""

    resampler: str
    measure: str
    coefficient: float
    p_value: float


class FMeasureChange(NamedTuple):
    """A row of Table 4: HOMER's F-measure before and after a resampler, and its change."""

    dataset: str
    resampler: str
    before: float
    after: float
    percent: float


class Significance(NamedTuple):
    """A p-value of Table 10 (Wilcoxon's test), and whether the paper calls it significant."""

    classifier: str
    metric: str
    p_value: float
    starred: bool  # the paper marks significant p-values by a star


class WinCount(NamedTuple):
    """Numbers of results that are better and worse after REMEDIAL, as the paper counts them."""

    grouped_by: str  # "classifier", "dataset" or "metric"
    name: str  # of the classifier, data set or metric
    better: int
    worse: int


@cache
def characteristics() -> dict[str, dict[str, float]]:
    """Return Table 1: for each of the eleven data sets its measures by name."""
    table = {}
    for row in _read_rows("datasets"):
        dataset = row.pop("dataset")
        table[dataset] = {measure: float(text) for measure, text in row.items()}
    return table


@cache
def imbalance() -> tuple[BeforeAfterPair, ...]:
    """Return Table 2: MaxIR and MeanIR before and after LP-ROS and LP-RUS."""
    return _read_records("imbalance", BeforeAfterPair)


@cache
def correlations() -> tuple[Correlation, ...]:
    """Return Table 3: correlations of SCUMBLE with the relative changes of Table 2."""
    return _read_records("correlation", Correlation)


@cache
def f_measures() -> tuple[FMeasureChange, ...]:
    """Return Table 4: HOMER's F-measure before and after LP-ROS and LP-RUS."""
    return _read_records("f_measure", FMeasureChange)


@cache
def results() -> tuple[BeforeAfterPair, ...]:
    """Return Tables 5 to 9: five metrics of six classifiers before and after REMEDIAL."""
    return _read_records("results", BeforeAfterPair)


@cache
def significances() -> tuple[Significance, ...]:
    """Return Table 10: p-values of Wilcoxon's test on Tables 5 to 9."""
    return _read_records("wilcoxon", Significance)


@cache
def win_counts() -> tuple[WinCount, ...]:
    """Return the numbers of better and worse results that the paper counts in Tables 5 to 9."""
    return _read_records("counts", WinCount)


def _read_records(name: str, record_type: type[Record]) -> tuple[Record, ...]:
    """Return the rows of the CSV file ``name`` as records.

    The columns of the file are the first fields of the record, in their order; the types of the
    fields convert the texts. Fields without a column keep their default.
    """
    field_types = list(get_type_hints(record_type).values())
    records = []
    for row in _read_rows(name):
        values = [
            _parse_value(text, field_type)
            for text, field_type in zip(row.values(), field_types, strict=False)
        ]
        records.append(record_type(*values))
    return tuple(records)


def _parse_value(text: str, field_type: Any) -> Any:
    """Return the text of a cell as a value of a type: str, int, float, or bool for yes and no."""
    if field_type is bool:
        return text == "yes"
    return field_type(text)


def _read_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of the CSV file ``name`` of printed numbers, by column name."""
    path = resources.files(__package__) / "printed" / f"{name}.csv"
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
