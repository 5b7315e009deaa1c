"""The numbers the paper prints, as typed rows.

The tables lie beside the code as small CSV files, one per table of the paper: values as printed,
which of a pair is set in bold, which p-values carry a star, and the counts of better and worse
results that stand in the comments of its source.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

#: Whether larger values of a metric are better.
HIGHER_IS_BETTER = {"HL": False, "Precision": True, "MacroFM": True, "OE": False, "RL": False}
METRICS = tuple(HIGHER_IS_BETTER)
CLASSIFIERS = ("BR", "CLR", "ECC", "EPS", "HOMER", "IBLR")
#: Data sets of the first phase, by falling SCUMBLE.
PHASE_1 = ("corel5k", "cal500", "enron", "yeast", "medical", "genbase")


@dataclass(frozen=True)
class Pair:
    """Two printed values, before and after something was done to the data."""

    table: int
    dataset: str
    method: str  # a resampler, or a classifier
    measure: str  # a measure, or a metric
    before: float
    after: float
    decimals: int
    bold: str = ""  # "before", "after", "none"; empty where the table has no bold type

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


@dataclass(frozen=True)
class Correlation:
    """SCUMBLE against the change of a measure by a resampler, as printed."""

    resampler: str
    measure: str
    coefficient: float
    p_value: float


@dataclass(frozen=True)
class Change:
    """An F-measure before and after a resampler, as printed."""

    dataset: str
    resampler: str
    before: float
    after: float
    percent: float


@dataclass(frozen=True)
class Significance:
    """A p-value of Wilcoxon's test, and whether the paper calls it significant."""

    classifier: str
    metric: str
    p_value: float
    starred: bool


@dataclass(frozen=True)
class Count:
    """Results that are better and worse after REMEDIAL, as the paper counts them."""

    by: str  # "classifier", "dataset" or "metric"
    name: str
    better: int
    worse: int


@cache
def characteristics() -> dict[str, dict[str, float]]:
    """Return Table 1: measures of the eleven data sets."""
    return {
        row.pop("dataset"): {key: float(value) for key, value in row.items()}
        for row in _rows("datasets")
    }


@cache
def imbalance() -> tuple[Pair, ...]:
    """Return Table 2: MaxIR and MeanIR before and after LP-ROS and LP-RUS."""
    return tuple(
        Pair(2, row["dataset"], row["resampler"], row["measure"], *_values(row), decimals=3)
        for row in _rows("imbalance")
    )


@cache
def correlations() -> tuple[Correlation, ...]:
    """Return Table 3: SCUMBLE against the relative change of the imbalance."""
    return tuple(
        Correlation(
            row["resampler"], row["measure"], float(row["coefficient"]), float(row["p_value"])
        )
        for row in _rows("correlation")
    )


@cache
def f_measures() -> tuple[Change, ...]:
    """Return Table 4: HOMER's F-measure before and after resampling."""
    return tuple(
        Change(row["dataset"], row["resampler"], *_values(row), float(row["change_percent"]))
        for row in _rows("f_measure")
    )


@cache
def results() -> tuple[Pair, ...]:
    """Return Tables 5 to 9: five metrics before and after REMEDIAL."""
    return tuple(
        Pair(
            5 + METRICS.index(row["metric"]),
            row["dataset"],
            row["classifier"],
            row["metric"],
            *_values(row),
            decimals=4,
            bold=row["bold"],
        )
        for row in _rows("results")
    )


@cache
def significances() -> tuple[Significance, ...]:
    """Return Table 10: p-values of Wilcoxon's test."""
    return tuple(
        Significance(
            row["classifier"], row["metric"], float(row["p_value"]), row["starred"] == "yes"
        )
        for row in _rows("wilcoxon")
    )


@cache
def counts() -> tuple[Count, ...]:
    """Return how often the paper counts results as better and worse."""
    return tuple(
        Count(row["by"], row["name"], int(row["better"]), int(row["worse"]))
        for row in _rows("counts")
    )


def n_published() -> int:
    """Count the numbers in the paper's ten tables."""
    shared_before = len(f_measures()) // 2  # both resamplers start from the same value
    return (
        sum(map(len, characteristics().values()))
        + 2 * len(imbalance())
        + 2 * len(correlations())
        + 3 * len(f_measures())
        - shared_before
        + 2 * len(results())
        + len(significances())
    )


def _values(row: dict[str, str]) -> tuple[float, float]:
    return float(row["before"]), float(row["after"])


def _rows(name: str) -> list[dict[str, str]]:
    path = resources.files(__package__) / "printed" / f"{name}.csv"
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
