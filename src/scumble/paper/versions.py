"""Which behaviour of MULAN, whose classifiers the paper runs, its printed numbers fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from scumble.evaluate.statistics import win_tie_loss
from scumble.paper import published, sources
from scumble.paper.findings import Finding
from scumble.paper.ledger import ALPHA, NOT_RUN, VARIANTS
from scumble.paper.means import METRIC_NAMES, POLICIES, Means, best_policy, standard_error
from scumble.paper.published import Pair
from scumble.paper.repair import put_back
from scumble.paper.verdicts import is_near

PART = "Versions"
STRICT = (
    "from 31 December 2010 to 17 July 2012 MULAN, asked not to be strict, left out labels and rows "
    "without a hit and rows without a prediction; since then they count as 0"
)
LOST_VOTES = "MULAN loses votes since 10 July 2013 (1.5.0)"


class Score(NamedTuple):
    """A score of a classifier, as a store knows them."""

    classifier: str
    name: str


@dataclass(frozen=True)
class Fit:
    """Which printed numbers each candidate reaches, of those that all of them have."""

    is_near: Mapping[str, Sequence[bool]]

    @property
    def n_numbers(self) -> int:
        """How many numbers there are."""
        return len(next(iter(self.is_near.values())))

    @property
    def best(self) -> str:
        """The candidate that reaches most, and those that a sign test cannot tell from it."""
        most = max(self.is_near.values(), key=sum)
        return " or ".join(
            name for name, near in self.is_near.items() if win_tie_loss(near, most).p_value >= ALPHA
        )

    def told(self) -> str:
        """Say how many each reaches."""
        return ", ".join(f"{name} {sum(near)}" for name, near in self.is_near.items())


def versions(means: Means) -> Iterator[Finding]:
    """Say which version of a rule or a classifier reproduces most of the printed numbers."""
    # A number is reached within two standard errors. Values of displaced rows are put back; data
    # sets for which others stand in are left out.
    rules = {metric: best_policy(means, metric) for metric in published.METRICS}
    for metric, names in POLICIES.items():
        pairs = _pairs(metrics=(metric,))
        candidates = {name: [Score(pair.method, name) for pair in pairs] for name in names}
        yield _finding(f"{metric}: undefined values", fit(means, pairs, candidates), STRICT)
    for classifier, others in VARIANTS.items():
        pairs = _pairs(classifier=classifier)
        candidates = {
            name: [Score(name, rules[pair.measure]) for pair in pairs]
            for name in (classifier, *others)
        }
        note = LOST_VOTES if classifier == "CLR" else ""
        found = fit(means, pairs, candidates, differing=True)
        yield _finding(f"{classifier}, where versions differ", found, note)


def fit(
    means: Means,
    pairs: Sequence[Pair],
    candidates: Mapping[str, Sequence[Score]],
    *,
    differing: bool = False,
) -> Fit:
    """Find the printed numbers that each candidate reaches; of all, or where candidates differ."""
    reached: dict[str, list[bool]] = {name: [] for name in candidates}
    for at, pair in enumerate(pairs):
        for arm, printed in (("none", pair.before), ("REMEDIAL", pair.after)):
            folds = {
                name: means.folds(pair.dataset, arm, scores[at].classifier, scores[at].name)
                for name, scores in candidates.items()
            }
            # On the same folds, or other folds would pass for another version.
            shared = set.intersection(*map(set, folds.values()))
            values = {name: [found[fold] for fold in shared] for name, found in folds.items()}
            if not shared or (differing and len(set(map(tuple, values.values()))) == 1):
                continue
            for name, some in values.items():
                near = is_near(printed, fmean(some), standard_error(some), pair.decimals)
                reached[name].append(near)
    return Fit(reached)


def _pairs(
    classifier: str | None = None, metrics: Sequence[str] = tuple(METRIC_NAMES)
) -> list[Pair]:
    """List the pairs of Tables 5 to 9 that can be compared."""
    return [
        put_back(pair)
        for pair in published.results()
        if pair.measure in metrics
        and classifier in (None, pair.method)
        and pair.dataset not in sources.SUBSTITUTES
    ]


def _finding(item: str, found: Fit, note: str) -> Finding:
    if not found.n_numbers:
        return Finding(PART, item, "-", "-", "not computable here", NOT_RUN)
    return Finding(
        PART, item, f"{found.n_numbers} numbers", found.told(), f"fits {found.best}", note
    )
