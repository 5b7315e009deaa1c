"""The cure for rare labels against peer_name scikit-learn offers, on two cores each.

``"fast"`` against balanced logistic regression of every label, ``"best"`` against a random forest:
training times in turns, in one process. Then a large table, in a process of its own. And how well
``"best"`` ranks the labels within a row, against each of its parts alone.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import sparse

from benchmarks._tools import alternate, bound, dataset_path, run
from scumble.data import read
from scumble.evaluate import cross_validate
from scumble.learn import BlendedRanker, RareLabelClassifier

SETS = ("enron", "medical", "yeast", "bibtex", "corel5k")
THREADS = 2
#: Where labels are ranked within a row: sets on which all parts are quick.
RANKED = ("flags", "emotions", "birds", "yeast", "scene", "medical", "enron", "slashdot")

_LARGE = """
import numpy as np
from scipy import sparse
from scumble.learn import RareLabelClassifier
from scumble.learn.thresholds.selection import ThresholdCurve

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


def _compare(quality, peer, at_most, peer_name):
    records = []
    for name in SETS:
        result = parts(name)
        title = f"rare, {quality}, on {name} in times of {peer_name}"
        if result is None:
            records.append({"name": title, "skipped": "the data set is absent"})
            continue
        data, X, Y = result
        model = RareLabelClassifier(
            quality,
            categorical_features=data.categorical_features or None,
            random_state=0,
            n_jobs=THREADS,
        )
        repeats = 1 if name in ("bibtex", "corel5k") else 5
        scumble_time, peer_time = alternate(
            lambda model=model, data=data: model.fit(data.X, data.Y),
            lambda X=X, Y=Y: peer.fit(X, Y),
            repeats=repeats,
        )
        records.append(
            bound(
                title,
                scumble_time / peer_time,
                at_most=at_most,
                ours_s=scumble_time,
                peer_s=peer_time,
            )
        )
    return records


def large():
    """Train ``"fast"`` on 200,000 rows, 5,000 sparse columns and 500 labels."""
    done = run([sys.executable, "-c", _LARGE])
    note = "200,000 rows x 5,000 columns, 50 nonzeros a row, 500 labels, 2 threads"
    return [
        bound("rare, fast, on a large table, seconds", done.wall, at_most=600, note=note),
        bound("rare, fast, on a large table, GiB", done.peak / 2**30, at_most=4),
    ]


def ranking():
    """Rank the labels of a row by ``"best"`` and by each of its parts, three folds of eight sets.

    The best part differs by set and metric: the blend is compared with the part that is best there.
    """
    result = [(name, data) for name in RANKED if (data := parts(name)) is not None]
    if not result:
        return [{"name": "rare, best, ranks within rows", "skipped": "no data set is here"}]
    models = [RareLabelClassifier("best"), *BlendedRanker()._rankers()]
    names = ("ranking_loss", "one_error")
    scores = np.array([[_ranks(data[0], model, names) for model in models] for _, data in result])
    records = []
    for index, metric in enumerate(names):
        blend_losses, parts_best = scores[:, 0, index], scores[:, 1:, index].min(axis=1)
        one_part = scores[:, 1:, index].mean(axis=0).min()
        worse = [result[set_][0] for set_ in np.flatnonzero(blend_losses > parts_best)]
        note = f"{blend_losses.mean():.4f}; the best part of each set {parts_best.mean():.4f}, "
        note += f"one part for all {one_part:.4f}; behind the best part on: "
        note += ", ".join(worse) or "none"
        title = f"rare, best, {metric} in times of the best part of each set"
        records.append(bound(title, blend_losses.mean() / parts_best.mean(), at_most=1, note=note))
    return records


def _ranks(data, model, names):
    model = model.set_params(n_jobs=THREADS)
    scores = cross_validate(data, model, splitter="1x3", groups=None, random_state=0)
    return [scores[name].mean for name in names]


ALL = [fast, best, large, ranking]
