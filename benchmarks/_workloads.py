"""Work for the kernels, run by any scumble: ``python _workloads.py`` answers questions on stdin.

A program of its own, so that two versions can be asked in turns: see `benchmarks.earlier`. A line
``{"do": "time", "name": "BR, yeast"}`` is answered by a line of JSON; `Worker` has the verbs. Only
the public names of scumble are used, and only those that every version has.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import json
import math
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse

import scumble
from scumble import resample
from scumble.evaluate import IterativeStratification, LabelsetStratification, evaluate
from scumble.learn import (
    HOMER,
    IBLR,
    BinaryRelevance,
    C45Classifier,
    CalibratedLabelRanking,
    EnsembleOfClassifierChains,
    EnsembleOfPrunedSets,
    LabelPowerset,
    MLkNN,
    fit_dataset,
)
from scumble.measures import characterize, cooccurrence, difficult_labels, labelsets

AT_LEAST = 0.05  # seconds of one timing: quicker work is repeated
DATA = Path(os.environ.get("SCUMBLE_SHARED", "")) / "datasets"
TEMPORARY_FOLDER = tempfile.TemporaryDirectory(prefix="scumble-bench-")  # until the process ends
SCRATCH = Path(TEMPORARY_FOLDER.name)

WORK: dict[str, Callable[[], Callable[[], object]]] = {}


def work(name: str):
    """Enter a function that prepares some work and returns it as another function."""

    def enter(prepare):
        WORK[name] = prepare
        return prepare

    return enter


@cache
def load(name: str):
    return scumble.read(next(iter(sorted((DATA / name).glob(f"{name}.arff*")))))


@cache
def many_labels():
    """Make half a million rows with Zipf's labels: 1.2 million assignments."""
    rng = np.random.default_rng(7)
    n_rows, n_labels = 500_000, 2_000
    shares = np.cumsum(1 / np.arange(1, n_labels + 1))
    sizes = 1 + rng.poisson(1.4, n_rows)
    labels = np.searchsorted(shares, rng.random(sizes.sum()) * shares[-1])
    keys = np.unique(np.repeat(np.arange(n_rows), sizes) * n_labels + labels)
    cells = (np.ones(len(keys), bool), (keys // n_labels, keys % n_labels))
    return sparse.csr_array(cells, shape=(n_rows, n_labels))


@cache
def many_rows():
    """Put the same labels into a data set with one column."""
    Y = many_labels()
    return scumble.MultilabelDataset(np.zeros((Y.shape[0], 1)), Y)


@cache
def with_gaps(name: str):
    """Punch holes into a twentieth of the cells."""
    data = load(name)
    X = data.X.copy()
    X[np.random.default_rng(1).random(X.shape) < 0.05] = np.nan
    return X, data.Y


@cache
def fitted(cls: type, name: str):
    return fit_dataset(cls(), load(name))


# Measures


@work("characterize, 1.2 million assignments")
def _():
    Y = many_labels()
    return lambda: characterize(Y).to_dict()


@work("characterize, yeast")
def _():
    data = load("yeast")
    return lambda: characterize(data).to_dict()


@work("labelsets, 1.2 million assignments")
def _():
    Y = many_labels()
    return lambda: labelsets(Y).counts


@work("difficult labels and co-occurrence, corel5k")
def _():
    data = load("corel5k")
    return lambda: (difficult_labels(data)[0].name, cooccurrence(data.Y))


# Files


def _reading(name: str, form: str, suffix: str, **options):
    def prepare():
        path = SCRATCH / f"{name}-{form}{suffix}"
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some formats cannot carry all that a data set holds
            scumble.write(load(name), path, format=form, **options)
        return lambda: scumble.read(path, format=form)

    return prepare


WORK["read MULAN, dense, yeast"] = _reading("yeast", "mulan", ".arff")
WORK["read MULAN, sparse, bibtex"] = _reading("bibtex", "mulan", ".arff")
WORK["read MEKA, sparse, enron"] = _reading("enron", "meka", ".arff")
WORK["read KEEL, scene"] = _reading("scene", "keel", ".dat")
WORK["read CSV, yeast"] = _reading("yeast", "csv", ".csv")
WORK["read LibSVM, bibtex"] = _reading("bibtex", "libsvm", ".svm")
WORK["read extreme, bibtex"] = _reading("bibtex", "extreme", ".txt")


@work("read CSV with label lists, corel5k")
def _():
    path = SCRATCH / "lists.csv"
    data = load("corel5k")
    few = scumble.MultilabelDataset(data.X[:, :1].toarray(), data.Y, labels=data.labels)
    scumble.write(few, path, layout="lists")
    return lambda: scumble.read(path)


@work("make 20,000 rows of synthetic data")
def _():
    return lambda: scumble.make_multilabel(20_000, 50, random_state=1, n_jobs=1)


# Resamplers


def _resampling(method: str, name: str | None, **parameters):
    def prepare():
        cls = getattr(resample, method)
        class_parameters = cls().get_params() if method != "RemedialHwR" else {}
        shared = {"random_state": 1, "n_jobs": 1}
        sampler = cls(
            **parameters, **{key: v for key, v in shared.items() if key in class_parameters}
        )
        data = many_rows() if name is None else load(name)
        return lambda: sampler.resample(data)

    return prepare


for _method in ("LPROS", "LPRUS", "MLROS", "MLRUS"):
    WORK[f"{_method}, 1.2 million assignments"] = _resampling(_method, None)
for _method in ("MLeNN", "MLSMOTE", "LabelsetSMOTE", "MLSOL", "MLUL", "MLTL"):
    WORK[f"{_method}, yeast"] = _resampling(_method, "yeast")
for _method in ("MLeNN", "MLSMOTE"):
    WORK[f"{_method}, medical"] = _resampling(_method, "medical")  # nominal, sparse
WORK["MLSOL, enron"] = _resampling("MLSOL", "enron")


@work("REMEDIAL, 1.2 million assignments")
def _():
    data = many_rows()
    return lambda: resample.REMEDIAL().resample(data)


@work("REMEDIAL then MLSMOTE, yeast")
def _():
    chain = resample.RemedialHwR(resample.MLSMOTE(random_state=1))
    return lambda: chain.resample(load("yeast"))


# Trees and neighbours


def _fitting(cls: type, name: str, **parameters):
    """Train, and ask for the same rows; their confidences tell whether two trees differ."""

    def prepare():
        data = load(name)
        return lambda: fit_dataset(cls(**parameters), data).predict_both(data.X)

    return prepare


def _asking(cls: type, name: str):
    def prepare():
        model, X = fitted(cls, name), load(name).X
        return lambda: model.predict_both(X)

    return prepare


for _name in ("flags", "yeast", "enron", "bibtex", "medical"):
    WORK[f"BR, {_name}"] = _fitting(BinaryRelevance, _name)
for _name in ("yeast", "enron"):
    WORK[f"BR, asking alone, {_name}"] = _asking(BinaryRelevance, _name)
WORK["LP, emotions"] = _fitting(LabelPowerset, "emotions")
WORK["LP, enron"] = _fitting(LabelPowerset, "enron")
WORK["ECC, emotions"] = _fitting(EnsembleOfClassifierChains, "emotions", random_state=1)
WORK["ECC, medical"] = _fitting(EnsembleOfClassifierChains, "medical", random_state=1)
WORK["EPS, yeast"] = _fitting(EnsembleOfPrunedSets, "yeast", random_state=1)
WORK["CLR, emotions"] = _fitting(CalibratedLabelRanking, "emotions")
WORK["CLR, medical"] = _fitting(CalibratedLabelRanking, "medical")
WORK["HOMER, enron"] = _fitting(HOMER, "enron", random_state=1)
WORK["MLkNN, yeast"] = _fitting(MLkNN, "yeast")
WORK["MLkNN, enron"] = _fitting(MLkNN, "enron")
WORK["IBLR, emotions"] = _fitting(IBLR, "emotions")
WORK["IBLR, medical"] = _fitting(IBLR, "medical")


@work("BR, missing values, emotions")
def _():
    X, Y = with_gaps("emotions")
    return lambda: BinaryRelevance().fit(X, Y).predict_both(X)


@work("C4.5, weights, scene")
def _():
    data = load("scene")
    y = data.Y.toarray()[:, 0].astype(int)
    weights = np.random.default_rng(2).integers(0, 4, len(y)).astype(float)
    fit = C45Classifier().fit
    return lambda: fit(data.X, y, sample_weight=weights).predict_proba(data.X)


# Judging


@work("all metrics, 5,000 x 200")
def _():
    rng = np.random.default_rng(3)
    Y = rng.random((5_000, 200)) < 0.03
    scores = np.round(0.6 * Y + rng.random(Y.shape), 2)
    return lambda: dict(evaluate(Y, scores > 0.8, scores))


def _splitting(cls: type, name: str):
    def prepare():
        data = load(name)
        splitter = cls(n_splits=5, n_repeats=1, random_state=1)
        return lambda: [test for _, test in splitter.split(data.X, data.Y)]

    return prepare


WORK["iterative stratification, delicious"] = _splitting(IterativeStratification, "delicious")
WORK["labelset stratification, corel5k"] = _splitting(LabelsetStratification, "corel5k")


# Questions and answers


def digest(value: object) -> str:
    """Condense an answer, so that two versions can be compared to the last bit."""
    result = hashlib.sha256()
    for part in _parts(value):
        result.update(part)
    return result.hexdigest()[:16]


def _parts(value: object):
    if isinstance(value, scumble.MultilabelDataset):
        yield from _parts((value.X, value.Y, value.labels, value.feature_names))
    elif sparse.issparse(value):
        yield from _parts((value.shape, value.indptr, value.indices, value.data))
    elif isinstance(value, np.ndarray):
        kind = value.astype(float) if value.dtype.kind in "iufb" else value.astype(str)
        yield np.ascontiguousarray(kind).tobytes()
    elif isinstance(value, dict):
        yield from _parts(list(value.items()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _parts(item)
    else:
        yield repr(float(value) if isinstance(value, np.generic | int) else value).encode()


class Worker:
    """Prepared work, and how often a timing repeats it."""

    def __init__(self) -> None:
        self.prepared: dict[str, tuple[Callable[[], object], int]] = {}

    def names(self, _: str) -> dict:
        """List the work there is."""
        return {"names": list(WORK)}

    def warm(self, name: str) -> dict:
        """Prepare the work, do it twice, and say what came out."""
        do = WORK[name]()
        answer = digest(do())
        seconds = _cpu(do)
        self.prepared[name] = do, math.ceil(AT_LEAST / max(seconds, 1e-6))
        return {"answer": answer}

    def time(self, name: str) -> dict:
        """Give the CPU seconds of the work."""
        do, times = self.prepared[name]
        gc.collect()
        start = time.process_time()
        for _ in range(times):
            do()
        return {"value": (time.process_time() - start) / times}

    def peak(self, name: str) -> dict:
        """Give the bytes of the process at the height of the work, and those on top of before."""
        do, _ = self.prepared[name]
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        before = _status("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")
        do()
        height = _status("VmHWM")
        return {"value": height, "more": height - before}


def _cpu(do: Callable[[], object]) -> float:
    start = time.process_time()
    do()
    return time.process_time() - start


def _status(key: str) -> int:
    return int(re.search(rf"{key}:\s+(\d+)", Path("/proc/self/status").read_text())[1]) * 1024


def main() -> None:
    """Answer questions until there are no more."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints is no answer
    worker = Worker()
    with scumble.limit_threads(1):
        for line in sys.stdin:
            question = json.loads(line)
            try:
                result = getattr(worker, question["do"])(question["name"])
            except Exception as error:
                result = {"error": f"{type(error).__name__}: {error}"}
            print(json.dumps(result), file=answers, flush=True)


if __name__ == "__main__":
    main()
