"""The cure for rare labels against what scikit-learn offers, on two cores each.

``"fast"`` against balanced logistic regression of every label, ``"best"`` against a random forest:
training times in turns, in one process. Then a large table, in a process of its own.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import sparse

from benchmarks._tools import alternate, bound, dataset_path, run
from scumble.data import read
from scumble.learn import RareLabelClassifier

SETS = ("enron", "medical", "yeast", "bibtex", "corel5k")
THREADS = 2

_LARGE = """
import numpy as np
from scipy import sparse
from scumble.learn import RareLabelClassifier
from scumble.learn.thresholds import ThresholdCurve

n_rows, n_columns, n_labels, per_row = 200_000, 5_000, 500, 50
generator = np.random.default_rng(0)
columns = (n_columns * generator.random((n_rows, per_row)) ** 2).astype(np.int32)
starts = np.arange(0, n_rows * per_row + 1, per_row, dtype=np.int32)
data = generator.random(n_rows * per_row)
X = sparse.csr_array((data, columns.ravel(), starts), shape=(n_rows, n_columns))
X.sum_duplicates()
labels = (n_labels * generator.random((n_rows, 3)) ** 4).astype(np.int32)
labels[:, 0] = columns[:, 0] // (n_columns // n_labels)  # one of them can be learnt
Y = sparse.csr_array(
    (np.ones(labels.size, bool), labels.ravel(), np.arange(0, labels.size + 1, 3)),
    shape=(n_rows, n_labels),
)
Y.sum_duplicates()
model = RareLabelClassifier(n_jobs=2).fit(X, Y)
print(np.isfinite(model.thresholds_).sum())
"""


def parts(name):
    """Read a data set in a form that scikit-learn understands as well."""
    path = dataset_path(name)
    if path is None:
        return None
    data = read(path)
    X = sparse.csr_matrix(data.X) if sparse.issparse(data.X) else np.asarray(data.X)
    return data, X.astype(np.float64), data.Y.toarray().astype(np.int64)


def fast():
    """Train ``"fast"`` and balanced logistic regression in turns."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    base = LogisticRegression(C=1, class_weight="balanced", solver="liblinear")
    return _compare("fast", OneVsRestClassifier(base, n_jobs=THREADS), 1.0, "logistic regression")


def best():
    """Train ``"best"`` and a random forest in turns."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(100, n_jobs=THREADS, random_state=0)
    return _compare("best", forest, 3.0, "a RandomForest of 100 trees")


def _compare(quality, peer, at_most, what):
    records = []
    for name in SETS:
        found = parts(name)
        title = f"rare, {quality}, on {name} in times of {what}"
        if found is None:
            records.append({"name": title, "skipped": "the data set is absent"})
            continue
        data, X, Y = found
        model = RareLabelClassifier(
            quality,
            categorical_features=data.categorical_features or None,
            random_state=0,
            n_jobs=THREADS,
        )
        repeats = 1 if name in ("bibtex", "corel5k") else 5
        ours, theirs = alternate(
            lambda model=model, data=data: model.fit(data.X, data.Y),
            lambda X=X, Y=Y: peer.fit(X, Y),
            repeats=repeats,
        )
        records.append(bound(title, ours / theirs, at_most=at_most, ours_s=ours, peer_s=theirs))
    return records


def large():
    """Train ``"fast"`` on 200,000 rows, 5,000 sparse columns and 500 labels."""
    done = run([sys.executable, "-c", _LARGE])
    note = "200,000 rows x 5,000 columns, 50 nonzeros a row, 500 labels, 2 threads"
    return [
        bound("rare, fast, on a large table, seconds", done.wall, at_most=600, note=note),
        bound("rare, fast, on a large table, GiB", done.peak / 2**30, at_most=4),
    ]


ALL = [fast, best, large]
