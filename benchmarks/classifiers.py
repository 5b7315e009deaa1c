"""The multilabel classifiers against MULAN, live J48, and scikit-learn's and scikit-multilearn's.

Ours are trained and asked with two threads; the fastest of several runs. MULAN's CPU
seconds were taken once, on other hours of a like machine: context. J48 is timed live on the same
binary problems (CPU seconds), on an even sample of them where all would take minutes.
"""

from __future__ import annotations

import time
from functools import cache, partial

import numpy as np
from scipy import sparse
from sklearn.multioutput import ClassifierChain as SklearnChain, MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks._j48_oracle import oracle_python
from benchmarks._tools import SHARED, bound, dataset_path, peak_bytes, record
from benchmarks.trees import Problem
from scumble import catalogue
from scumble.data import read

THREADS = 2
ABSENT = "the data set is absent; set SCUMBLE_SHARED"

#: CPU seconds of MULAN, training and prediction on the standard split, and the wanted ratio.
MULAN = {
    "medical": {"br": 2.02, "clr": 3.47, "ecc": 21.18, "homer": 3.08, "eps": 2.35},
    "yeast": {"br": 2.93, "clr": 8.69, "ecc": 21.26, "homer": 2.63, "eps": 5.19},
    "enron": {"br": 69.06, "clr": 129.64, "ecc": 680.0, "homer": 59.52, "eps": 34.72},
}
MINIMUM_RATIO = {"medical": 40, "yeast": 40, "enron": 500}


@cache
def split(name):
    """Read the standard training and test parts; the first 1,500 rows of yeast train."""
    path = dataset_path(name)
    if path is None:
        return None
    parts = [
        next(iter(sorted((SHARED / "datasets" / name).glob(f"{name}-{part}.arff*"))), None)
        for part in ("train", "test")
    ]
    if None in parts:
        data = read(path)
        return data[:1500], data[1500:]
    return tuple(read(part) for part in parts)


def make(short, train):
    """Make a classifier with MULAN's defaults."""
    cls = catalogue.get("classifier", short)
    seed = {"random_state": 1} if "random_state" in cls().get_params() else {}
    return cls(categorical_features=train.categorical_features, n_jobs=THREADS, **seed)


def seconds(fit_and_ask, repeats=7):
    """Take the fastest of several runs after a warm one."""
    fit_and_ask()
    spent = []
    for _ in range(repeats):
        start = time.perf_counter()
        fit_and_ask()
        spent.append(time.perf_counter() - start)
    return min(spent)


def time_scumble(short, train, test, repeats=7):
    """Time training and prediction."""
    return seconds(lambda: make(short, train).fit(train.X, train.Y).predict_both(test.X), repeats)


def train_and_ask(classifier, X, Y, X_new):
    """Do with any classifier what is timed."""
    return classifier.fit(X, Y).predict(X_new)


def against_mulan():
    for name, figures in MULAN.items():
        parts = split(name)
        for short, peer_time in figures.items():
            title = f"{short} on {name} over MULAN"
            if parts is None:
                yield {"name": title, "skipped": ABSENT}
                continue
            at_least = 20 if short == "eps" else MINIMUM_RATIO[name]
            note = f"train and predict, {THREADS} threads; MULAN's CPU seconds were taken earlier"
            if (name, short) == ("enron", "ecc"):
                note = f"MULAN's are computed, not run: ten times its BR; {THREADS} threads"
            yield record(
                title, time_scumble(short, *parts), peer_time, at_least=at_least, note=note
            )


def against_j48():
    python = oracle_python()
    for name, sampled in (("medical", 45), ("yeast", 14), ("enron", 8)):
        title = f"br on {name} over J48 on the same labels"
        if split(name) is None or python is None:
            why = ABSENT if python else "needs Java and python-weka-wrapper3"
            yield {"name": title, "skipped": why}
            continue
        train = split(name)[0]
        n_values = np.zeros(train.n_features, np.int64)
        for column, count in train.categorical_features.items():
            n_values[column] = count
        labels = list(np.ascontiguousarray(train.Y.toarray().T.astype(np.int32)))
        peer_time = Problem(name, train.X, n_values, labels).j48_seconds(sampled, 2)
        fit = seconds(lambda train=train: make("br", train).fit(train.X, train.Y))
        note = "training; J48 in CPU seconds"
        yield record(title, fit, peer_time, at_least=MINIMUM_RATIO[name], note=note)


def against_scikit_learn():
    tree = DecisionTreeClassifier(criterion="entropy", random_state=0)
    for name in ("medical", "yeast", "enron"):
        if split(name) is None:
            yield {"name": f"{name} over scikit-learn", "skipped": ABSENT}
            continue
        train, test = split(name)
        X, X_new = (sparse.csr_matrix(part.X) if sparse.issparse(part.X) else part.X
                    for part in (train, test))  # fmt: skip
        Y = train.Y.toarray().astype(int)
        peers = {"br": MultiOutputClassifier(tree, n_jobs=THREADS), "cc": SklearnChain(tree)}
        for short, peer in peers.items():
            if short == "cc" and sparse.issparse(X):
                continue  # it takes minutes: the matrix is built anew for every label
            peer_time = seconds(partial(train_and_ask, peer, X, Y, X_new), 1)
            title = f"{short} on {name} over scikit-learn"
            scumble_time = time_scumble(short, train, test, 3)
            yield record(
                title, scumble_time, peer_time, at_least=1, note="with scikit-learn's own tree"
            )


def against_scikit_multilearn():
    try:
        from skmultilearn import adapt, problem_transform
    except ImportError:
        yield {"name": "scikit-multilearn-ng", "skipped": "it is not installed"}
        return
    if split("medical") is None:
        yield {"name": "scikit-multilearn-ng", "skipped": ABSENT}
        return
    train, test = split("medical")
    tree = DecisionTreeClassifier(criterion="entropy", random_state=0)
    peers = {
        "br": problem_transform.BinaryRelevance(tree),
        "cc": problem_transform.ClassifierChain(tree),
        "lp": problem_transform.LabelPowerset(tree),
        "mlknn": adapt.MLkNN(k=10),
    }
    X, X_new = sparse.lil_matrix(train.X), sparse.lil_matrix(test.X)
    Y = sparse.lil_matrix(train.Y.astype(int))
    for short, peer in peers.items():
        peer_time = seconds(partial(train_and_ask, peer, X, Y, X_new), 1)
        title = f"{short} on medical over scikit-multilearn-ng"
        note = "" if short == "mlknn" else "with scikit-learn's own tree"
        yield record(title, time_scumble(short, train, test, 3), peer_time, at_least=1, note=note)


CODE = """
import time
from scumble.data import read
from scumble.learn import {cls}
data = read({path!r})
model = {cls}(categorical_features=data.categorical_features, n_jobs={threads}, **{more})
model.fit(data.X[:200], data.Y[:200]).predict(data.X[:10])
start = time.perf_counter()
model.fit(data.X[:{cut}], data.Y[:{cut}]).predict(data.X[{cut}:])
print(f"ms={{int(1000 * (time.perf_counter() - start))}}")
print(f"peak={{peak()}}")
"""


def large():
    """CLR with 69,751 and 12,561 pairs, and EPS where MULAN runs out of memory."""
    cases = [
        ("corel5k", "CalibratedLabelRanking", 4500, {}),
        ("bibtex", "CalibratedLabelRanking", 4880, {}),
        ("cal500", "EnsembleOfPrunedSets", 400, {"random_state": 1}),
    ]
    for name, cls, cut, more in cases:
        path = dataset_path(name)
        if path is None:
            yield {"name": f"{cls} on {name}", "skipped": ABSENT}
            continue
        code = CODE.format(cls=cls, path=str(path), threads=THREADS, cut=cut, more=more)
        result = peak_bytes(code)
        note = f"{THREADS} threads, {result['peak'] / 2**30:.2f} GiB at the most"
        yield bound(f"{cls} on {name}, seconds", result["ms"] / 1000, at_most=60, note=note)
        yield bound(f"{cls} on {name}, GiB", result["peak"] / 2**30, at_most=4)


ALL = [against_mulan, against_j48, against_scikit_learn, against_scikit_multilearn, large]
