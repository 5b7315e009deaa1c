"""Which behaviour of MULAN, whose classifiers the paper runs, its printed numbers fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from scumble.evaluate.statistics import win_tie_loss
from scumble.paper import sources
from scumble.paper.audit import result_pairs
from scumble.paper.ledger import ALPHA, NOT_RUN, VARIANTS, rules_for
from scumble.paper.means import METRIC_NAMES, POLICIES, Means, standard_error
from scumble.paper.published import Pair
from scumble.paper.repair import put_back
from scumble.paper.verdicts import Finding, is_near

PART = "Versions"
STRICT = (
    "from 31 December 2010 to 17 July 2012 MULAN, asked not to be strict, left out labels and rows "
    "without a hit and rows without a prediction; since then they count as 0"
)
LOST_VOTES = "MULAN loses votes since 10 July 2013 (1.5.0)"


def versions(means: Means) -> Iterator[Finding]:
    """Say which version of a rule or a classifier reproduces most of the printed numbers."""
    # A number is reached within two standard errors. Values of displaced rows are put back; data
    # sets for which others stand in are left out.
    rules = rules_for(means, "fits")
    for metric, names in POLICIES.items():
        pairs = _pairs(None, metric)
        candidates = {name: [(pair.method, name) for pair in pairs] for name in names}
        yield _finding(f"{metric}: undefined values", fit(means, pairs, candidates), STRICT)
    for classifier, others in VARIANTS.items():
        pairs = _pairs(classifier, *METRIC_NAMES)
        candidates = {
            name: [(name, rules[pair.measure]) for pair in pairs] for name in (classifier, *others)
        }
        note = LOST_VOTES if classifier == "CLR" else ""
        found = fit(means, pairs, candidates, differing=True)
        yield _finding(f"{classifier}, where versions differ", found, note)


def fit(
    means: Means,
    pairs: Sequence[Pair],
    candidates: Mapping[str, Sequence[tuple[str, str]]],
    *,
    differing: bool = False,
) -> dict[str, list[bool]]:
    """Find the printed numbers that each candidate reaches; of all, or where candidates differ."""
    reached: dict[str, list[bool]] = {name: [] for name in candidates}
    for at, pair in enumerate(pairs):
        for arm, printed in (("none", pair.before), ("REMEDIAL", pair.after)):
            folds = {
                name: means.folds(pair.dataset, arm, *scores[at])
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
    return reached


def _pairs(classifier: str | None, *metrics: str) -> list[Pair]:
    """Select results, displaced rows put back, of data sets that are the paper's own."""
    chosen = result_pairs(classifier, *metrics)
    return [put_back(pair) for pair in chosen if pair.dataset not in sources.SUBSTITUTES]


def _finding(item: str, reached: Mapping[str, Sequence[bool]], note: str) -> Finding:
    """Name the candidates that reach most numbers, and those that cannot be told from them."""
    most = max(reached.values(), key=sum)
    if not most:
        return Finding(PART, item, "-", "-", "not computable here", NOT_RUN)
    fitting = [name for name, near in reached.items() if win_tie_loss(near, most).p_value >= ALPHA]
    told = ", ".join(f"{name} {sum(near)}" for name, near in reached.items())
    return Finding(PART, item, f"{len(most)} numbers", told, f"fits {' or '.join(fitting)}", note)
