"""MLkNN and IBLR against scikit-multilearn-ng in the same run, and against MULAN's CPU seconds."""

from __future__ import annotations

import statistics
import time
import warnings
from functools import cache

from scipy import sparse

from benchmarks._tools import SHARED, alternate, record
from scumble import read
from scumble.learn import IBLR, MLkNN, fit_dataset

ABSENT = "the reference data is absent"
#: CPU seconds of MULAN's IBLR, training and prediction on the standard split. Measured once, on
#: another day and with a fresh Java machine: context for scumble_time, which are CPU seconds too.
MULAN_IBLR = {"emotions": 0.31, "yeast": 2.75, "medical": 1.36, "genbase": 1.97, "enron": 6.25}
YEAST_TRAIN = 1500  # its standard split is that of the first rows


@cache
def split(name):
    folder = SHARED / "datasets" / name
    parts = [next(iter(sorted(folder.glob(f"{name}-{p}.arff*"))), None) for p in ("train", "test")]
    if None not in parts:
        return [read(part) for part in parts]
    path = next(iter(sorted(folder.glob(f"{name}.arff*"))), None)
    if path is None or name != "yeast":
        return None
    data = read(path)
    return [data[:YEAST_TRAIN], data[YEAST_TRAIN:]]


def train_and_predict(model, train, test):
    return fit_dataset(model, train).predict_both(test.X)


def iblr_and_mulan():
    """IBLR, training and prediction: at least ten times less CPU than MULAN took."""
    for name, peer_time in MULAN_IBLR.items():
        parts = split(name)
        if parts is None:
            yield {"name": f"IBLR on {name} over MULAN", "skipped": ABSENT}
            continue
        train_and_predict(IBLR(), *parts)
        spent = []
        for _ in range(5):
            start = time.process_time()
            train_and_predict(IBLR(), *parts)
            spent.append(time.process_time() - start)
        scumble_time = statistics.median(spent)
        note = "CPU seconds, train and predict; MULAN's were taken earlier"
        yield record(f"IBLR on {name} over MULAN", scumble_time, peer_time, at_least=10, note=note)


def mlknn_and_scikit_multilearn():
    """MLkNN, training and prediction, against scikit-multilearn-ng."""
    try:
        from skmultilearn.adapt import MLkNN as Peer
    except ImportError:
        yield {"name": "MLkNN over scikit-multilearn-ng", "skipped": "it is not installed"}
        return
    for name in ("emotions", "yeast", "medical"):
        parts = split(name)
        title = f"MLkNN on {name} over scikit-multilearn-ng"
        if parts is None:
            yield {"name": title, "skipped": ABSENT}
            continue
        # The peer takes SciPy's older matrices only.
        X, Q = (sparse.csr_matrix(part.X) if part.is_sparse else part.X for part in parts)
        Y = sparse.csr_matrix(parts[0].Y.astype(int))

        def peer(X=X, Y=Y, Q=Q):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = Peer(k=10).fit(X, Y)
                model.predict(Q)
                model.predict_proba(Q)

        scumble_time, peer_time = alternate(
            lambda parts=parts: train_and_predict(MLkNN(), *parts), peer, repeats=3
        )
        note = "train, predict and probabilities; the peer knows no nominal columns"
        yield record(title, scumble_time, peer_time, at_least=10, note=note)


ALL = [iblr_and_mulan, mlknn_and_scikit_multilearn]
