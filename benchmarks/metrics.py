"""All metrics at once, against scikit-learn's functions for those it has."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import sparse
from sklearn import metrics as sk

from benchmarks._tools import alternate, record
from scumble import limit_threads
from scumble.evaluate import IterativeStratification, evaluate

N_ROWS, N_LABELS = 20_000, 200
AVERAGES = (("", "samples"), ("macro_", "macro"), ("micro_", "micro"))


@cache
def case():
    """Make Zipf-distributed labels, 3 a row, scores that know something of them, predictions."""
    rng = np.random.default_rng(0)
    shares = np.minimum(3 / np.arange(1, N_LABELS + 1) / np.log(N_LABELS), 0.6)
    Y = rng.random((N_ROWS, N_LABELS)) < shares
    Y[np.arange(N_LABELS), np.arange(N_LABELS)] = True  # no label without rows
    Y[~Y.any(axis=1), 0] = True  # nor rows without labels, which scikit-learn counts otherwise
    S = np.clip(0.6 * rng.random(Y.shape) + 0.4 * Y * rng.random(Y.shape), 0, 1)
    return Y.astype(int), (S >= 0.5).astype(int), S


def sklearn_bipartition(Y, Z):
    result = {
        "hamming_loss": sk.hamming_loss(Y, Z),
        "subset_accuracy": sk.accuracy_score(Y, Z),
        "accuracy": sk.jaccard_score(Y, Z, average="samples", zero_division=0),
    }
    for prefix, average in AVERAGES:
        for name in ("precision", "recall", "f1"):
            score = getattr(sk, f"{name}_score")
            result[f"{prefix}{name}"] = score(Y, Z, average=average, zero_division=0)
    return result


def sklearn_ranking(Y, S):
    return {
        "coverage": sk.coverage_error(Y, S) - 1,
        "ranking_loss": sk.label_ranking_loss(Y, S),
        "macro_auc": sk.roc_auc_score(Y, S, average="macro"),
        "micro_auc": sk.roc_auc_score(Y, S, average="micro"),
        "macro_auc_pr": sk.average_precision_score(Y, S, average="macro"),
    }


def check(scumble_values, peer_values):
    for name, value in peer_values.items():
        np.testing.assert_allclose(scumble_values[name], value, rtol=1e-9, err_msg=name)


def bipartition_metrics():
    Y, Z, _ = case()
    sparse_Y, sparse_Z = sparse.csr_array(Y), sparse.csr_array(Z)
    check(evaluate(Y, Z, undefined=0), sklearn_bipartition(Y, Z))
    note = f"{N_ROWS:,} x {N_LABELS}; ours computes 17, scikit-learn 12; 1 thread"
    with limit_threads(1):
        dense = alternate(lambda: evaluate(Y, Z), lambda: sklearn_bipartition(Y, Z), repeats=3)
        csr = alternate(
            lambda: evaluate(sparse_Y, sparse_Z),
            lambda: sklearn_bipartition(sparse_Y, sparse_Z),
            repeats=3,
        )
    return [
        record("metrics of predictions, dense", *dense, at_least=5, note=note),
        record("metrics of predictions, sparse", *csr, at_least=5, note=note),
    ]


def ranking_metrics():
    Y, _, S = case()
    check(evaluate(Y, scores=S, undefined=0, ties="worst"), sklearn_ranking(Y, S))
    note = f"{N_ROWS:,} x {N_LABELS}; ours computes 16, scikit-learn 5; 1 thread"
    with limit_threads(1):
        times = alternate(lambda: evaluate(Y, scores=S), lambda: sklearn_ranking(Y, S), repeats=3)
    return record("metrics of scores", *times, at_least=2, note=note)


def stratification():
    from skmultilearn.model_selection import IterativeStratification as Peer

    Y = case()[0][:3000, :50]
    splitter = IterativeStratification(5, random_state=0)
    peer = Peer(n_splits=5, order=1)
    X = np.zeros((len(Y), 1))
    times = alternate(lambda: list(splitter.split(X, Y)), lambda: list(peer.split(X, Y)), repeats=3)
    note = "3,000 x 50, 5 folds; peer scikit-multilearn-ng"
    return record("iterative stratification", *times, at_least=20, note=note)


ALL = [bipartition_metrics, ranking_metrics, stratification]
