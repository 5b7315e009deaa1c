"""The numbers the paper prints, as typed rows.

The tables lie beside the code as small CSV files, one per table of the paper: values as printed,
which of a pair is set in bold, which p-values carry a star, and the counts of better and worse
results that stand in the comments of its source.
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
#: Data sets of the first phase, by falling SCUMBLE.
PHASE_1_DATASETS = ("corel5k", "cal500", "enron", "yeast", "medical", "genbase")
#: How the text says that imbalance changes: what, where, measure, data sets and percent.
CLAIMED_CHANGES = (
    ("MeanIR falls by", "SCUMBLE > 0.3", "mean_ir", PHASE_1_DATASETS[:3], -6),
    ("MaxIR grows by", "SCUMBLE > 0.3", "max_ir", PHASE_1_DATASETS[:3], 6),
    ("MeanIR falls by", "SCUMBLE < 0.11", "mean_ir", PHASE_1_DATASETS[3:], -52),
    ("MaxIR falls by", "SCUMBLE < 0.11", "max_ir", PHASE_1_DATASETS[3:], -54),
)
#: How many results the text says improve, or do not: who, what, how many, classifier and metrics.
CLAIMED_COUNTS = (
    ("Precision", "not improved", "9 of 64", None, ("Precision",), False),
    ("HOMER", "improved, HL and Precision", "19 of 22", "HOMER", ("HL", "Precision"), True),
    ("HOMER", "improved, MacroFM and RL", "5 of 22", "HOMER", ("MacroFM", "RL"), True),
)

Record = TypeVar("Record")
#: How the cells of a field are read, where its type does not read them.
_READERS: dict[type, Callable[[str], Any]] = {bool: "yes".__eq__}


class BeforeAfterPair(NamedTuple):
    """Two printed values, before and after something was done to the data."""

    dataset: str
    method: str  # a resampler, or a classifier
    measure: str  # a measure, or a metric
    before: float
    after: float
    bold: str = ""  # "before", "after", "none"; empty where the table has no bold type

    @property
    def table(self) -> int:
        """Number of the table: imbalance stands in the second, a table of each metric follows."""
        return 5 + METRICS.index(self.measure) if self.measure in METRICS else 2

    @property
    def decimals(self) -> int:
        """How many decimals the table prints."""
        return 3 if self.table == 2 else 4

    @property
    def change(self) -> float:
        """Relative change, 0.1 for ten percent more."""
        return (self.after - self.before) / self.before

    @property
    def better(self) -> str:
        """Which value is better: ``"before"``, ``"after"``, or ``"none"`` where they are equal."""
        if self.after == self.before:
            return "none"
        improved = (self.after > self.before) == HIGHER_IS_BETTER[self.measure]
        return "after" if improved else "before"


class Correlation(NamedTuple):
    """SCUMBLE against the change of a measure by a resampler, as printed."""

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
    """Results that are better and worse after REMEDIAL, as the paper counts them."""

    by: str  # "classifier", "dataset" or "metric"
    name: str
    better: int
    worse: int


@cache
def characteristics() -> dict[str, dict[str, float]]:
    """Return Table 1: measures of the eleven data sets."""
    return {row.pop("dataset"): {k: float(v) for k, v in row.items()} for row in _rows("datasets")}


def _records(name: str, kind: type[Record]) -> tuple[Record, ...]:
    """Read a file whose columns are the fields of a record, in their order; some have fewer."""
    readers = [_READERS.get(field, field) for field in get_type_hints(kind).values()]
    rows = (zip(readers, row.values(), strict=False) for row in _rows(name))
    return tuple(kind(*(read(cell) for read, cell in row)) for row in rows)


def _rows(name: str) -> list[dict[str, str]]:
    path = resources.files(__package__) / "printed" / f"{name}.csv"
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


#: Table 2: MaxIR and MeanIR before and after LP-ROS and LP-RUS.
imbalance = cache(partial(_records, "imbalance", BeforeAfterPair))
#: Table 3: SCUMBLE against the relative change of the imbalance.
correlations = cache(partial(_records, "correlation", Correlation))
#: Table 4: HOMER's F-measure before and after resampling.
f_measures = cache(partial(_records, "f_measure", Change))
#: Tables 5 to 9: five metrics before and after REMEDIAL.
results = cache(partial(_records, "results", BeforeAfterPair))
#: Table 10: p-values of Wilcoxon's test.
significances = cache(partial(_records, "wilcoxon", Significance))
#: How often the paper counts results as better and worse.
counts = cache(partial(_records, "counts", Count))
