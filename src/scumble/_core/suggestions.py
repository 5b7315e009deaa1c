"""What may have been meant by a name that there is not: misspelt, or as other packages call it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

#: Our parameters, and what imbalanced-learn, scikit-learn, scikit-multilearn, mldr, MULAN and MEKA
#: call them; of two that stand for the same, the first that there is.
FOREIGN_PARAMETERS = {
    "n_neighbors": (
        "k",
        "k_neighbors",
        "n_neighbours",
        "num_neighbors",
        "numofneighbors",
        "m_neighbors",
    ),
    "smoothing": ("s", "smooth"),
    "estimator": (
        "classifier",
        "base_classifier",
        "base_estimator",
        "base_learner",
        "base",
        "learner",
        "model",
    ),
    "random_state": ("order", "seed", "random_seed"),
    "percent": ("sampling_strategy", "ratio", "p", "percentage"),
    "n_jobs": ("jobs", "threads", "num_threads"),
    "n_estimators": ("n_models", "num_models", "m"),
    "threshold": ("th",),
    "n_splits": ("folds", "k_folds", "cv"),
    "splitter": ("folds", "k_folds", "cv"),
    "resamplers": ("resampler",),
    "datasets": ("dataset",),
}
#: What has to be known about a parameter of ours by those who know another.
BESIDE = {
    "percent": ", in percent of the rows: 25, not 0.25",
    "estimator": ", the learner of each label",
    "random_state": ", which also decides the order of labels",
}
#: Our methods, and what they are in other packages, in small letters without marks.
FOREIGN_NAMES = {
    "mlsmote": ("smote",),
    "mlros": ("randomoversampler",),
    "mlrus": ("randomundersampler",),
    "mlenn": ("editednearestneighbours",),
    "mltl": ("tomeklinks", "tomek"),
    "br": ("binary", "multioutputclassifier", "onevsrestclassifier"),
    "rakel": ("rakeld", "rakelo"),
    "mlknn": ("knn", "kneighborsclassifier"),
    "subset_accuracy": ("exactmatch", "exactmatchratio", "accuracyscore", "zerooneloss"),
    "accuracy": ("jaccard",),
    "macro_auc": ("rocauc",),
    "iterative": ("iterativestratification",),
    "labels": ("pie",),
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
    for ours, theirs in FOREIGN_PARAMETERS.items():
        if name.lower() in theirs and ours in names:
            return f" Here it is {ours!r}{BESIDE.get(ours, '')}."
    return suggest(name, names)


def _same(name: str, candidates: list[str]) -> list[str]:
    """Find names that differ in marks or in the order of words only, or what others call so."""
    for ours, theirs in FOREIGN_NAMES.items():
        if _bare(name) in theirs and ours in candidates:
            return [ours]
    words = sorted(re.split(r"[-_ .]", name.lower()))
    return [
        other
        for other in candidates
        if _bare(other) == _bare(name) or sorted(re.split(r"[-_ .]", other.lower())) == words
    ]


def _bare(name: str) -> str:
    return re.sub(r"[-_ .]", "", name.lower())
