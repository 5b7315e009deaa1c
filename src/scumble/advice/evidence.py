"""What was measured on many data sets, and what follows from it: the rules that reports repeat.

The figures are those of ``experiments/advice.py``: macro F1 of every candidate on test folds it had
not seen, means over folds, undefined values counted as 0.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

#: The paper advises against resampling, and for REMEDIAL, where SCUMBLE lies clearly above this.
HIGH_CONCURRENCE = 0.1
#: Up to here "well above" is not yet said: yeast, at 0.104, still gained from resampling.
BORDERLINE_CONCURRENCE = 0.15
#: So many of the intervals held in which `advise` says values will lie.
INTERVAL_COVERAGE = 0.92

UNTREATED, CURE = "br", "rare"
RESAMPLED_PREFIX = "br after "
REMEDIAL_METHOD = RESAMPLED_PREFIX + "remedial"


@dataclass(frozen=True)
class MethodEvidence:
    """What a method changed against untreated binary relevance, over data sets."""

    n_datasets: int  # data sets; then those on which macro F1 was higher, and lower
    n_better: int
    n_worse: int
    change: float  # the mean change of macro F1


@cache
def measured() -> dict[str, tuple[float, dict[str, float]]]:
    """Return SCUMBLE, and macro F1 by method, of every data set that was measured."""
    found: dict[str, tuple[float, dict[str, float]]] = {}
    text = (files(__package__) / "evidence.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        known = found.setdefault(row["data"], (float(row["scumble"]), {}))
        known[1][row["method"]] = float(row["macro_f1"])
    return found


def method_evidence(method: str, *, concurrent: bool | None = None) -> MethodEvidence:
    """Sum up what a method changed, on all data sets or on those with high or low concurrence."""
    sets = measured().values()
    alike = [f1 for scumble, f1 in sets if concurrent in (None, scumble > HIGH_CONCURRENCE)]
    changes = [f1[method] - f1[UNTREATED] for f1 in alike if method in f1]
    better, worse = (sum(change * sign > 0 for change in changes) for sign in (1, -1))
    return MethodEvidence(len(changes), better, worse, sum(changes) / max(1, len(changes)))


def best_resampler_in_evidence(scumble: float) -> tuple[str, str]:
    """Name the resampler that served trees best on data of this concurrence, and say why."""
    concurrent = scumble > HIGH_CONCURRENCE
    tried = {one for _, f1 in measured().values() for one in f1 if one.startswith(RESAMPLED_PREFIX)}
    found = {
        one.removeprefix(RESAMPLED_PREFIX): method_evidence(one, concurrent=concurrent)
        for one in tried
    }
    best = max(sorted(found), key=lambda name: found[name].change)
    one, cure = found[best], method_evidence(CURE, concurrent=concurrent)
    return best, (
        f"Of {len(found)} resamplers tried on {one.n_datasets} public data sets with a SCUMBLE "
        f"{'above' if concurrent else 'up to'} {HIGH_CONCURRENCE}, {best} served trees best: macro "
        f"F1 was higher on {_share(one.n_better, one.n_datasets)}, by {one.change:+.3f} on average. A "
        f"classifier made for rare labels changed it by {cure.change:+.3f}."
    )


def treatment_sentences(scumble: float) -> list[str]:
    """Say what to do about data of this concurrence, by what was measured on other data."""
    paper = [_on_remedial(scumble)] if scumble > 0 else []
    return [_on_the_cure(), *paper, WHERE_TO_KNOW]


#: How to find out for the data at hand.
WHERE_TO_KNOW = (
    "Your data may differ from those: 'scumble advise FILE' tries all this on it and says how sure "
    "that is."
)


#: Why decoupling harms, as the study of the guide's page on decoupling found.
TWIN = (
    "Every row it splits leaves an equal twin without the label, and most rows of rare labels are "
    "split."
)


def _on_the_cure() -> str:
    cure, smote = method_evidence(CURE), method_evidence("br after mlsmote")
    resampled = "hardly changed" if abs(smote.change) < 0.005 else "changed"
    return (
        "To predict rare labels, take a classifier made for them (scumble train -c rare). Its "
        "macro F1 was higher than that of trees on "
        f"{_share(cure.n_better, cure.n_datasets)} public data sets, by {cure.change:.2f} on average; "
        f"resampling by MLSMOTE {resampled} that of trees ({smote.change:+.3f})."
    )


def _on_remedial(scumble: float) -> str:
    """Say what REMEDIAL did to such data, beside what the paper says of it."""
    concurrent = scumble > HIGH_CONCURRENCE
    found = method_evidence(REMEDIAL_METHOD, concurrent=concurrent)
    measured = (
        f"it lowered the macro F1 of trees on {_share(found.n_worse, found.n_datasets)} data sets with "
        f"a SCUMBLE {'above' if concurrent else 'up to'} {HIGH_CONCURRENCE}, by "
        f"{-found.change:.2f} on average."
    )
    if not concurrent:
        return f"REMEDIAL is not meant for so little concurrence, as the paper says: {measured}"
    paper = "is undecided about" if scumble <= BORDERLINE_CONCURRENCE else "recommends"
    return (
        f"The paper {paper} REMEDIAL before binary relevance on such data; where labels that "
        f"are never hit count as 0, {measured} {TWIN}"
    )


def remedial_harm_sentence(change: float) -> str:
    """Say in which way a measured harm of REMEDIAL differs from what the paper says."""
    found = method_evidence(REMEDIAL_METHOD)
    return (
        "The paper recommends REMEDIAL where rare and frequent labels meet. Measured here it harms "
        f"({change:+.3f}), as on {_share(found.n_worse, found.n_datasets)} public data sets that were "
        f"measured. {TWIN}"
    )


def _share(n: int, of: int) -> str:
    return f"all {of}" if n == of else f"{n} of {of}"
