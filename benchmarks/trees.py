"""C4.5 against WEKA's J48 (CPU seconds) and scikit-learn's trees (the same two threads).

Ours include the preparation of X and pruning; best of several, because runs last milliseconds.
J48 is timed on an even sample of the labels where all would take minutes, and its mean per label
is multiplied by their number.
"""

from __future__ import annotations

import time

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from benchmarks._j48_oracle import ask_j48, oracle_python
from benchmarks._tools import bound, dataset_path, record
from scumble.data import read
from scumble.learn.trees.c45 import Target, grow_trees, predict_trees, prepare_table

THREADS = 2


def best(function, repeats: int = 12, *, warm: bool = True) -> float:
    """Time a function: the fastest of several runs, by default after one that warms up."""
    if warm:
        function()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


class Problem:
    """A table with targets, for us and for the peers."""

    def __init__(self, name, X, n_values, targets, n_classes=2):
        self.name = name
        self.X = X
        self.n_values = n_values
        self.targets = targets
        self.n_classes = n_classes

    @classmethod
    def of(cls, name):
        """Read all labels of a data set, or return None where it is absent."""
        path = dataset_path(name)
        if path is None:
            return None
        data = read(path)
        n_values = np.zeros(data.n_features, np.int64)
        for column, count in data.categorical_features.items():
            n_values[column] = count
        labels = np.ascontiguousarray(data.Y.toarray().T.astype(np.int32))
        return cls(name, data.X, n_values, list(labels))

    def fit_scumble(self):
        """Prepare the table and grow a tree for each target."""
        table = prepare_table(self.X, self.n_values, n_jobs=THREADS)
        targets = [Target(y, self.n_classes) for y in self.targets]
        return grow_trees(table, targets, n_jobs=THREADS)

    def sklearn_seconds(self, repeats):
        """Time scikit-learn's tree on every target."""
        X = self.X
        X = sparse.csc_matrix(X) if sparse.issparse(X) else X
        X = X.astype(np.float32)
        X = X if sparse.issparse(X) else np.asfortranarray(X)

        def fit(y):
            DecisionTreeClassifier(criterion="entropy", random_state=0).fit(X, y)

        def run():
            Parallel(n_jobs=THREADS, prefer="threads")(delayed(fit)(y) for y in self.targets)

        return best(run, repeats)

    def j48_seconds(self, n_sampled, repeats):
        """Estimate J48's CPU seconds for all targets from a sample of them."""
        python = oracle_python()
        if python is None:
            return None
        step = max(1, len(self.targets) // n_sampled)
        jobs = [{"train": self.arff(y), "repeat": repeats} for y in self.targets[::step]]
        answers = ask_j48(jobs, python)
        return float(np.mean([a["cpu_s"] for a in answers])) * len(self.targets)

    def arff(self, y):
        """Write the table with one target for WEKA."""
        lines = ["@relation r"]
        for column, v in enumerate(self.n_values):
            kind = "{" + ",".join(map(str, range(v))) + "}" if v else "numeric"
            lines.append(f"@attribute x{column} {kind}")
        classes = ",".join(map(str, range(self.n_classes)))
        lines += [f"@attribute class {{{classes}}}", "@data"]
        cells = self._sparse_rows(y) if sparse.issparse(self.X) else self._dense_rows(y)
        return "\n".join([*lines, *cells]) + "\n"

    def _dense_rows(self, y):
        nominal = self.n_values > 0
        for row, label in zip(self.X, y, strict=True):
            cells = [
                "?" if np.isnan(x) else str(int(x)) if is_code else repr(float(x))
                for x, is_code in zip(row, nominal, strict=True)
            ]
            yield ",".join([*cells, str(label)])

    def _sparse_rows(self, y):
        nominal = self.n_values > 0
        X = self.X
        for row, label in enumerate(y):
            entries = slice(X.indptr[row], X.indptr[row + 1])
            cells = [
                f"{column} {int(x) if nominal[column] else repr(float(x))}"
                for column, x in zip(X.indices[entries], X.data[entries], strict=True)
            ]
            yield "{" + ", ".join([*cells, f"{X.shape[1]} {label}"]) + "}"


def against(problem, *, j48=None, sklearn=None, sampled=10, j48_repeats=3, sklearn_repeats=2):
    """Compare with the peers; ``j48`` and ``sklearn`` are the wanted ratios."""
    name, problem = problem
    if problem is None:
        return [{"name": name, "skipped": "the data set is absent; set SCUMBLE_SHARED"}]
    scumble_time = best(problem.fit_scumble)
    records = []
    if j48 is not None:
        peer_time = problem.j48_seconds(sampled, j48_repeats)
        title = f"{name}: C4.5 against J48"
        if peer_time is None:
            why = "needs Java and python-weka-wrapper3; set SCUMBLE_ORACLE_PYTHON"
            records.append({"name": title, "skipped": why})
        else:
            note = f"{len(problem.targets)} trees; J48 in CPU seconds"
            records.append(record(title, scumble_time, peer_time, at_least=j48, note=note))
    if sklearn is not None:
        peer_time = problem.sklearn_seconds(sklearn_repeats)
        title = f"{name}: C4.5 against scikit-learn"
        note = f"{len(problem.targets)} trees, {THREADS} threads each"
        records.append(record(title, scumble_time, peer_time, at_least=sklearn, note=note))
    return records


def yeast():
    return against(("yeast", Problem.of("yeast")), j48=40, sklearn=20, sampled=14)


def enron():
    return against(("enron", Problem.of("enron")), j48=1000, sklearn=20, j48_repeats=2)


def bibtex():
    problem = ("bibtex", Problem.of("bibtex"))
    return against(problem, j48=3000, sklearn=60, sampled=5, j48_repeats=1, sklearn_repeats=1)


def stackex_cs():
    return against(("stackex_cs", Problem.of("stackex_cs")), j48=50, sampled=4, j48_repeats=1)


def rcv1sub1():
    problem = Problem.of("rcv1sub1")
    if problem is not None:  # the rarest label alone: J48 takes minutes for it, hours for others
        problem.targets = [min(problem.targets, key=np.sum)]
    return against(("rcv1sub1, rarest label", problem), j48=50, sampled=1, j48_repeats=1)


def nominal():
    problem = Problem.of("flags")
    if problem is not None:  # eight times the rows, so that both have something to do
        rng = np.random.default_rng(0)
        rows = rng.integers(0, len(problem.X), 8 * len(problem.X))
        flips = rng.random((len(problem.targets), len(rows))) < 0.1
        problem.X = problem.X[rows]
        problem.targets = [y[rows] ^ f for y, f in zip(problem.targets, flips, strict=True)]
    return against(("flags, drawn 8 times", problem), j48=10, j48_repeats=20)


def multiclass():
    problem = Problem.of("yeast")
    if problem is not None:
        sets, codes = np.unique(np.column_stack(problem.targets), axis=0, return_inverse=True)
        problem.targets = [codes.astype(np.int32)]
        problem.n_classes = len(sets)
    return against(("yeast, labelsets as classes", problem), j48=10)


def missing():
    problem = Problem.of("emotions")
    if problem is not None:
        gaps = np.random.default_rng(0).random(problem.X.shape) < 0.1
        problem.X = np.where(gaps, np.nan, problem.X)
    return against(("emotions, 10 % missing", problem), j48=5, j48_repeats=20)


def scaling():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 20))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(X)) > 0).astype(np.int32)
    n_values = np.zeros(20, np.int64)
    problems = [Problem("rows", X[:n].copy(), n_values, [y[:n]]) for n in (100_000, 200_000)]
    # In turns, so that both see the same moods of the machine; the first turn warms up.
    turns = [[best(problem.fit_scumble, 1, warm=False) for problem in problems] for _ in range(10)]
    half, full = np.min(turns, axis=0)
    note = f"{half:.2f} s, then {full:.2f} s; 20 numeric columns"
    return bound("C4.5, 200,000 rows against 100,000", full / half, at_most=2.5, note=note)


def prediction():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 50))
    n = 2000
    labels = [(X[:n] @ rng.normal(size=50) > 0).astype(np.int32) for _ in range(100)]
    trees = grow_trees(
        prepare_table(X[:n], np.zeros(50, np.int64)), [Target(y) for y in labels], n_jobs=THREADS
    )
    narrow = X.astype(np.float32)
    peers = [
        DecisionTreeClassifier(criterion="entropy", random_state=0).fit(narrow[:n], y)
        for y in labels
    ]
    scumble_time = best(lambda: predict_trees(trees, X, positive_only=True, n_jobs=THREADS), 3)

    def ask_peers():
        Parallel(n_jobs=THREADS, prefer="threads")(delayed(p.predict_proba)(narrow) for p in peers)

    peer_time = best(ask_peers, 3)
    note = f"{scumble_time:.2f} s against {peer_time:.2f} s of scikit-learn, {THREADS} threads each"
    title = "100,000 rows asked of 100 trees, in times scikit-learn's"
    return bound(title, scumble_time / peer_time, at_most=3, note=note)


ALL = [
    yeast,
    enron,
    bibtex,
    stackex_cs,
    rcv1sub1,
    nominal,
    multiclass,
    missing,
    scaling,
    prediction,
]
