"""Results of the candidates on public data sets, and the sentences that reports derive from them.

The figures are those of ``experiments/advice.py``: macro F1 of every candidate on test folds, as
means over folds; undefined values count as 0. Data has *high concurrence* if its SCUMBLE is above
`HIGH_CONCURRENCE`. Methods have the names of the candidates of `advise`, such as "br after
remedial": trees per label (binary relevance), fitted after resampling.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

#: If SCUMBLE is clearly above this, the paper advises against resampling and for REMEDIAL.
HIGH_CONCURRENCE = 0.1
#: Up to this SCUMBLE is not "clearly above": yeast, at 0.104, still gained from resampling.
BORDERLINE_CONCURRENCE = 0.15
#: Share of the intervals of `advise` that contained the actual value.
INTERVAL_COVERAGE = 0.92
#: Mean changes of macro F1 below this are reported as "hardly changed".
SMALL_CHANGE = 0.005

# Names of methods: trees per label without resampling, the rare-label classifier, and trees after
# resampling.
UNTREATED = "br"
RARE_LABEL_METHOD = "rare"
RESAMPLED_PREFIX = "br after "
REMEDIAL_METHOD = RESAMPLED_PREFIX + "remedial"
MLSMOTE_METHOD = RESAMPLED_PREFIX + "mlsmote"

#: Last sentence of the recommendations.
HOW_TO_MEASURE_SENTENCE = (
    "Your data may differ from these data sets. 'scumble advise FILE' evaluates all these methods "
    "on it and reports how certain the result is."
)
#: Why decoupling harms, according to the study on the guide's page about decoupling.
REMEDIAL_HARM_REASON = (
    "Every row that it splits leaves an identical copy without the rare label, and it splits most "
    "rows with rare labels."
)


class DatasetEvidence(NamedTuple):
    """The results on one public data set."""

    scumble: float  # of the data set
    macro_f1: dict[str, float]  # mean over test folds, by method


@dataclass(frozen=True)
class MethodEvidence:
    """Differences in macro F1 between a method and untreated trees, over several data sets."""

    n_datasets: int
    n_better: int  # data sets on which macro F1 was higher
    n_worse: int  # data sets on which macro F1 was lower
    change: float  # mean difference


@cache
def dataset_evidence() -> dict[str, DatasetEvidence]:
    """Return the results on every public data set, by its name; they are read from a CSV file."""
    results: dict[str, DatasetEvidence] = {}
    text = (files(__package__) / "evidence.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        name = row["data"]
        if name not in results:
            results[name] = DatasetEvidence(scumble=float(row["scumble"]), macro_f1={})
        results[name].macro_f1[row["method"]] = float(row["macro_f1"])
    return results


def method_evidence(method: str, *, concurrent: bool | None = None) -> MethodEvidence:
    """Return the differences in macro F1 between a method and untreated trees.

    They are those on all data sets, or with ``concurrent`` only on those with high (True) or low
    (False) concurrence.
    """
    changes = []
    for dataset in dataset_evidence().values():
        is_concurrent = dataset.scumble > HIGH_CONCURRENCE
        is_included = concurrent is None or is_concurrent == concurrent
        if is_included and method in dataset.macro_f1:
            changes.append(dataset.macro_f1[method] - dataset.macro_f1[UNTREATED])
    return MethodEvidence(
        n_datasets=len(changes),
        n_better=sum(change > 0 for change in changes),
        n_worse=sum(change < 0 for change in changes),
        change=sum(changes) / max(1, len(changes)),
    )


def best_resampler_in_evidence(scumble: float) -> tuple[str, str]:
    """Return the name of the best resampler for trees on similar data, and a sentence with reasons.

    Similar data are the public data sets whose concurrence is high or low as that of a data set
    with this SCUMBLE.
    """
    concurrent = scumble > HIGH_CONCURRENCE
    methods = set()
    for dataset in dataset_evidence().values():
        methods |= {name for name in dataset.macro_f1 if name.startswith(RESAMPLED_PREFIX)}
    evidence = {
        method.removeprefix(RESAMPLED_PREFIX): method_evidence(method, concurrent=concurrent)
        for method in methods
    }
    best = max(sorted(evidence), key=lambda name: evidence[name].change)
    best_evidence = evidence[best]
    rare_evidence = method_evidence(RARE_LABEL_METHOD, concurrent=concurrent)
    reason = (
        f"Of {len(evidence)} resamplers evaluated on {best_evidence.n_datasets} public data sets "
        f"with a SCUMBLE {_concurrence_text(concurrent)}, {best} was the best for trees: macro F1 "
        f"was higher on {_fraction_text(best_evidence.n_better, best_evidence.n_datasets)}, by "
        f"{best_evidence.change:+.3f} on average. A rare-label classifier changed it by "
        f"{rare_evidence.change:+.3f}."
    )
    return best, reason


def treatment_sentences(scumble: float) -> list[str]:
    """Return the sentences that recommend methods for data with this SCUMBLE.

    They are based on results on the public data sets.
    """
    sentences = [_rare_label_classifier_sentence()]
    if scumble > 0:
        sentences.append(_remedial_sentence(scumble))
    sentences.append(HOW_TO_MEASURE_SENTENCE)
    return sentences


def _rare_label_classifier_sentence() -> str:
    """Return a sentence that recommends a rare-label classifier and compares it with MLSMOTE."""
    rare = method_evidence(RARE_LABEL_METHOD)
    mlsmote = method_evidence(MLSMOTE_METHOD)
    verb = "hardly changed" if abs(mlsmote.change) < SMALL_CHANGE else "changed"
    return (
        "To predict rare labels, use a rare-label classifier (scumble train -c rare). Its macro F1 "
        f"was higher than that of trees on {_fraction_text(rare.n_better, rare.n_datasets)} public "
        f"data sets, by {rare.change:.2f} on average; resampling by MLSMOTE {verb} that of trees "
        f"({mlsmote.change:+.3f})."
    )


def _remedial_sentence(scumble: float) -> str:
    """Return sentences about the effect of REMEDIAL on data with similar SCUMBLE.

    They say what the paper recommends for such data, and what our experiments showed.
    """
    concurrent = scumble > HIGH_CONCURRENCE
    evidence = method_evidence(REMEDIAL_METHOD, concurrent=concurrent)
    effect = (
        "it lowered the macro F1 of trees on "
        f"{_fraction_text(evidence.n_worse, evidence.n_datasets)} data sets with a SCUMBLE "
        f"{_concurrence_text(concurrent)}, by {-evidence.change:.2f} on average."
    )
    if not concurrent:
        return (
            "According to the paper, REMEDIAL is not meant for such low concurrence; in our "
            f"experiments {effect}"
        )
    verb = "is undecided about" if scumble <= BORDERLINE_CONCURRENCE else "recommends"
    return (
        f"The paper {verb} REMEDIAL before binary relevance on such data. In our experiments, "
        f"where a label without correct predictions counts as 0, {effect} {REMEDIAL_HARM_REASON}"
    )


def remedial_harm_sentence(change: float) -> str:
    """Return sentences that compare a harm by REMEDIAL with the paper and with other data sets.

    ``change`` is the (negative) change of macro F1 on the user's data.
    """
    evidence = method_evidence(REMEDIAL_METHOD)
    return (
        "The paper recommends REMEDIAL if rare and frequent labels share instances. On this data "
        f"it harms ({change:+.3f}), as on {_fraction_text(evidence.n_worse, evidence.n_datasets)} "
        f"public data sets of our experiments. {REMEDIAL_HARM_REASON}"
    )


def _concurrence_text(concurrent: bool) -> str:
    """Return the range of SCUMBLE for high or low concurrence: "above 0.1" or "up to 0.1"."""
    preposition = "above" if concurrent else "up to"
    return f"{preposition} {HIGH_CONCURRENCE}"


def _fraction_text(n: int, total: int) -> str:
    """Return a count of a total as text, such as "3 of 18" or "all 18"."""
    return f"all {total}" if n == total else f"{n} of {total}"
