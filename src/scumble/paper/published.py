"""The numbers that the paper prints, as typed rows.

The tables are stored as small CSV files, one per table of the paper: values as printed, the bold
value of a pair, the stars of p-values, and the counts of better and worse results that are comments
in the paper's source.
"""

import csv
from collections.abc import Callable
from functools import cache, partial
from importlib import resources
from typing import Any, NamedTuple, TypeVar, get_type_hints

#: Whether larger values of a metric are better.
HIGHER_IS_BETTER = {"HL": False, "Precision": True, "MacroFM": True, "OE": False, "RL": False}
METRICS = tuple(HIGHER_IS_BETTER)
CLASSIFIERS = ("BR", "CLR", "ECC", "EPS", "HOMER", "IBLR")
#: Data sets of the first phase, by decreasing SCUMBLE.
PHASE_1_DATASETS = ("corel5k", "cal500", "enron", "yeast", "medical", "genbase")

Record = TypeVar("Record")
#: Readers of the cells of a field whose type does not read them.
_READERS: dict[type, Callable[[str], Any]] = {bool: "yes".__eq__}


class ClaimedChange(NamedTuple):
    """A mean relative change of the imbalance, as the text claims it."""

    statement: str
    condition: str  # on the data sets
    measure: str
    datasets: tuple[str, ...]
    percent: int


class ClaimedCount(NamedTuple):
    """A number of results that improve, or do not, as the text claims it."""

    subject: str
    statement: str
    claimed: str  # "9 of 64"
    classifier: str | None  # None for all
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
    """Two printed values, before and after resampling."""

    dataset: str
    method: str  # a resampler, or a classifier
    measure: str  # a measure, or a metric
    before: float
    after: float
    bold: str = ""  # "before", "after", "none"; empty where the table has no bold type

    @property
    def table(self) -> int:
        """Number of the table: 2 for imbalance, 5 to 9 for the metrics."""
        if self.measure in METRICS:
            return 5 + METRICS.index(self.measure)
        return 2

    @property
    def decimals(self) -> int:
        """Number of decimals that the table prints."""
        return 3 if self.table == 2 else 4

    @property
    def change(self) -> float:
        """Relative change: 0.1 for ten percent more."""
        return (self.after - self.before) / self.before

    @property
    def better(self) -> str:
        """The better value: ``"before"``, ``"after"``, or ``"none"`` if they are equal."""
        if self.after == self.before:
            return "none"
        improved = (self.after > self.before) == HIGHER_IS_BETTER[self.measure]
        return "after" if improved else "before"


class Correlation(NamedTuple):
    """The correlation of SCUMBLE with the change of a measure by a resampler, as printed."""

    resampler: str
    measure: str
    coefficient: float
    p_value: float


class Change(NamedTuple):
    """An F-measure before and after a resampler, as printed."""

    dataset: str
    resampler: str
    before: float
    after: float
    percent: float


class Significance(NamedTuple):
    """A p-value of Wilcoxon's test, and whether the paper calls it significant."""

    classifier: str
    metric: str
    p_value: float
    starred: bool


class Count(NamedTuple):
    """Numbers of results that are better and worse after REMEDIAL, as the paper counts them."""

    grouped_by: str  # "classifier", "dataset" or "metric"
    name: str
    better: int
    worse: int


@cache
def characteristics() -> dict[str, dict[str, float]]:
    """Return Table 1: measures of the eleven data sets."""
    table = {}
    for row in _read_rows("datasets"):
        dataset = row.pop("dataset")
        table[dataset] = {measure: float(text) for measure, text in row.items()}
    return table


def _read_records(name: str, record_type: type[Record]) -> tuple[Record, ...]:
    """Return the rows of a file as records; its columns are the first fields, in their order."""
    readers = [_READERS.get(field, field) for field in get_type_hints(record_type).values()]
    records = []
    for row in _read_rows(name):
        cells = zip(readers, row.values(), strict=False)
        records.append(record_type(*(reader(cell) for reader, cell in cells)))
    return tuple(records)


def _read_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file of printed numbers."""
    path = resources.files(__package__) / "printed" / f"{name}.csv"
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


#: Table 2: MaxIR and MeanIR before and after LP-ROS and LP-RUS.
imbalance = cache(partial(_read_records, "imbalance", BeforeAfterPair))
#: Table 3: correlations of SCUMBLE with the relative change of the imbalance.
correlations = cache(partial(_read_records, "correlation", Correlation))
#: Table 4: HOMER's F-measure before and after resampling.
f_measures = cache(partial(_read_records, "f_measure", Change))
#: Tables 5 to 9: five metrics before and after REMEDIAL.
results = cache(partial(_read_records, "results", BeforeAfterPair))
#: Table 10: p-values of Wilcoxon's test.
significances = cache(partial(_read_records, "wilcoxon", Significance))
#: Numbers of better and worse results, as the paper counts them.
counts = cache(partial(_read_records, "counts", Count))
