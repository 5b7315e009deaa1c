"""What may have been meant by a name that there is not: misspelt, or as other packages call it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

#: Parameters of imbalanced-learn, scikit-learn, scikit-multilearn, mldr, MULAN and MEKA, and what
#: stands for them here: the first that there is.
FOREIGN_PARAMETERS = {
    "k": ("n_neighbors",),
    "k_neighbors": ("n_neighbors",),
    "n_neighbours": ("n_neighbors",),
    "num_neighbors": ("n_neighbors",),
    "numofneighbors": ("n_neighbors",),
    "m_neighbors": ("n_neighbors",),
    "s": ("smoothing",),
    "smooth": ("smoothing",),
    "classifier": ("estimator",),
    "base_classifier": ("estimator",),
    "base_estimator": ("estimator",),
    "base_learner": ("estimator",),
    "base": ("estimator",),
    "learner": ("estimator",),
    "model": ("estimator",),
    "order": ("random_state",),
    "sampling_strategy": ("percent",),
    "ratio": ("percent",),
    "p": ("percent",),
    "percentage": ("percent",),
    "seed": ("random_state",),
    "random_seed": ("random_state",),
    "jobs": ("n_jobs",),
    "threads": ("n_jobs",),
    "num_threads": ("n_jobs",),
    "n_models": ("n_estimators",),
    "num_models": ("n_estimators",),
    "m": ("n_estimators",),
    "th": ("threshold",),
    "folds": ("n_splits", "splitter"),
    "k_folds": ("n_splits", "splitter"),
    "cv": ("n_splits", "splitter"),
    "resampler": ("resamplers",),
    "dataset": ("datasets",),
}
#: What has to be known about a parameter of ours by those who know another.
BESIDE = {
    "percent": ", in percent of the rows: 25, not 0.25",
    "estimator": ", the learner of each label",
    "random_state": ", which also decides the order of labels",
}
#: Methods of other packages, in small letters without marks.
FOREIGN_NAMES = {
    "smote": "mlsmote",
    "randomoversampler": "mlros",
    "randomundersampler": "mlrus",
    "editednearestneighbours": "mlenn",
    "tomeklinks": "mltl",
    "tomek": "mltl",
    "binary": "br",
    "multioutputclassifier": "br",
    "onevsrestclassifier": "br",
    "rakeld": "rakel",
    "rakelo": "rakel",
    "knn": "mlknn",
    "kneighborsclassifier": "mlknn",
    "exactmatch": "subset_accuracy",
    "exactmatchratio": "subset_accuracy",
    "accuracyscore": "subset_accuracy",
    "zerooneloss": "subset_accuracy",
    "jaccard": "accuracy",
    "rocauc": "macro_auc",
    "iterativestratification": "iterative",
    "pie": "labels",
    "co-occurrence": "cooccurrence",
}


def suggest(name: str, known: Iterable[str]) -> str:
    """Propose known names that may have been meant, after a blank; nothing where none is close."""
    if len(name) > 60:
        return ""
    # The comparison is slow: it must not be what a wrong file costs most.
    candidates = [other for other in islice(known, 20_000) if len(other) <= 60]
    cutoff = 0.6 if len(name) > 4 else 0.5  # of two letters one may be wrong
    near = _same(name, candidates) or get_close_matches(name, candidates, n=3, cutoff=cutoff)
    near = near or get_close_matches(name.lower(), candidates, n=3, cutoff=cutoff)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def suggest_parameter(name: str, known: Iterable[str]) -> str:
    """Propose a parameter, also for those that other packages have, after a blank."""
    names = list(known)
    for ours in FOREIGN_PARAMETERS.get(name.lower(), ()):
        if ours in names:
            return f" Here it is {ours!r}{BESIDE.get(ours, '')}."
    return suggest(name, names)


def _same(name: str, candidates: list[str]) -> list[str]:
    """Find names that differ in marks or in the order of words only, or what others call so."""
    foreign = FOREIGN_NAMES.get(_bare(name))
    if foreign in candidates:
        return [foreign]
    words = sorted(re.split(r"[-_ .]", name.lower()))
    return [
        other
        for other in candidates
        if _bare(other) == _bare(name) or sorted(re.split(r"[-_ .]", other.lower())) == words
    ]


def _bare(name: str) -> str:
    return re.sub(r"[-_ .]", "", name.lower())
