"""Results as tables: one row per cell, means over folds side by side, methods against one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ParameterError, suggest
from scumble._core.shown import Records
from scumble.experiment.cell import LABELS, PlanError, complaint

if TYPE_CHECKING:
    from scumble.evaluate.statistics import ScoreTable

ROW_KEYS = ("dataset", "resampler", "classifier", "splitter", "seed", "fold")
COST_KEYS = ("seconds", "cpu_seconds", "megabytes")


def only(cells: list[dict[str, Any]], **wanted: Sequence[str] | None) -> list[dict[str, Any]]:
    """Keep the cells of some data sets or classifiers, in the order of their names."""
    for kind, names in wanted.items():
        _refuse_unknown(kind, names or (), sorted({cell[kind] for cell in cells}))
        if names:
            cells = [cell for name in dict.fromkeys(names) for cell in cells if cell[kind] == name]
    return cells


def _refuse_unknown(kind: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise ParameterError(
                f"The store has no {kind} {name!r}.{suggest(name, known)} "
                f"There are: {', '.join(known) or 'none'}."
            )


def costs(cells: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sum up cells by data set and classifier, the costliest first."""
    counted: dict[tuple[str, str], dict[str, Any]] = {}
    for cell in cells:
        place = {"dataset": cell["dataset"], "classifier": cell["classifier"]}
        start = {"done": 0, "failed": 0, "open": 0, "seconds": 0.0, "cpu_seconds": 0.0}
        row = counted.setdefault((*place.values(),), {**place, **start})
        row[cell["state"] if cell["state"] in ("done", "failed") else "open"] += 1
        row["seconds"] += cell["seconds"] or 0.0
        row["cpu_seconds"] += cell["details"].get("cpu_seconds", 0.0)
    return sorted(counted.values(), key=lambda row: -row["seconds"])


def long_table(cells: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row per finished cell with everything that was measured."""
    done = [cell for cell in cells if cell["state"] == "done"]
    names = sorted({name for cell in done for name in cell["scores"]})
    return [
        {
            **{key: cell[key] for key in ROW_KEYS},
            **{key: cell[key] if key in cell else cell["details"].get(key) for key in COST_KEYS},
            **{name: cell["scores"].get(name, math.nan) for name in names},
        }
        for cell in done
    ]


def grid(cells: Iterable[dict[str, Any]], metric: str) -> ScoreTable:
    """Average a metric over folds and seeds, or pool it."""
    from scumble.evaluate.statistics.score_table import collect

    done = [cell for cell in cells if cell["state"] == "done"]
    names = {name for cell in done for name in cell["scores"]}
    if metric.startswith("pooled."):
        names = set(_pooled([cell for cell in done if LABELS in cell["details"]][:1]))
    _refuse_absent(metric, sorted(names))
    places: dict[tuple[str, str, str, str], list[dict[str, Any]]] = {}
    for cell in done:
        place = (cell["dataset"], cell["splitter"], cell["classifier"], cell["resampler"])
        places.setdefault(place, []).append(cell)
    values = {place: _values(found, metric) for place, found in places.items()}
    return collect(metric, values, {place: len(found) for place, found in places.items()})


def _values(cells: list[dict[str, Any]], metric: str) -> list[float]:
    """Return the value of every cell, or the one of all of them where it is pooled."""
    pooled = metric.startswith("pooled.")
    scores = [_pooled(cells)] if pooled else [cell["scores"] for cell in cells]
    return [one.get(metric, math.nan) for one in scores]


def _refuse_absent(metric: str, names: Sequence[str]) -> None:
    if metric in names:
        return
    hint = ""
    if complaint(metric) is None:
        hint = " Cells that an earlier version computed lack it: run a plan that names it."
    raise PlanError(
        f"No finished cell has a value {metric!r}.{suggest(metric, names)} "
        f"There are: {', '.join(names) or 'none'}.{hint}"
    )


def _pooled(cells: list[dict[str, Any]]) -> dict[str, float]:
    """Add up what the folds and seeds of one place counted; cells of earlier versions have none."""
    from scumble.evaluate.folds import LabelCounts, pool

    counts = [cell["details"][LABELS] for cell in cells if LABELS in cell["details"]]
    if not counts:
        return {}
    found = pool(LabelCounts.from_plain(plain) for plain in counts)
    return {f"pooled.{name}": value for name, value in found.items()}


# Methods against one of them ---------------------------------------------------------------------


@dataclass(frozen=True)
class Against:
    """One method beside another, by one metric."""

    metric: str
    method: str
    n_datasets: int  # data sets on which both have a value; all that follows is over these
    mean: float
    ratio: float
    wins: int
    ties: int
    losses: int
    # Wilcoxon's signed ranks, exact and two-sided, one pair per data set; and the same adjusted for
    # the number of methods.
    p_value: float
    holm: float = math.nan
    # How probable it is that the method is in truth worse, practically equal and better: the
    # Bayesian signed-rank test.
    worse: float = math.nan
    equal: float = math.nan
    better: float = math.nan


def compare_methods(
    one: ScoreTable, against: str, *, without: Sequence[str] = (), rope: float = 0.01
) -> Records[Against]:
    """Compare all methods with one; up to a difference of ``rope`` two are practically equal."""
    _refuse_unknown("method", [against], one.columns)
    _refuse_unknown("data set", without, one.rows)
    rows = [row for row in one.rows if row not in without]
    others = [column for column in one.columns if column != against]
    found = [_against(one, column, against, rows, rope) for column in (against, *others)]
    return Records(_with_holm(found), f"methods beside {against}, by {one.metric}")


def _with_holm(found: list[Against]) -> list[Against]:
    """Adjust the p-values of all methods but the first, which is compared with itself."""
    from scumble.evaluate.statistics import holm

    tested = [at for at, row in enumerate(found) if at and not math.isnan(row.p_value)]
    adjusted = holm([found[at].p_value for at in tested])
    by_place = dict(zip(tested, adjusted.tolist(), strict=True))
    return [replace(row, holm=by_place.get(at, math.nan)) for at, row in enumerate(found)]


def _against(one: ScoreTable, method: str, other: str, rows: Sequence[str], rope: float) -> Against:
    from scumble.evaluate.statistics import bayesian_signed_rank, wilcoxon, win_tie_loss

    pairs = [[one.means.get((row, m), math.nan) for m in (other, method)] for row in rows]
    known = [pair for pair in pairs if not any(map(math.isnan, pair))]
    if not known:
        return Against(one.metric, method, 0, math.nan, math.nan, 0, 0, 0, math.nan)
    theirs, ours = zip(*known, strict=True)
    tally = win_tie_loss(theirs, ours, higher_is_better=one.higher_is_better)
    mean, base = sum(ours) / len(ours), sum(theirs) / len(theirs)
    chances = bayesian_signed_rank(theirs, ours, rope=rope)
    sides = (chances.lower, chances.higher)
    worse, better = sides if one.higher_is_better is not False else sides[::-1]
    means = (mean, mean / base if base else math.nan)
    counted = (tally.wins, tally.ties, tally.losses)
    p_value, judged = wilcoxon(theirs, ours).p_value, (math.nan, worse, chances.equal, better)
    return Against(one.metric, method, len(known), *means, *counted, p_value, *judged)
