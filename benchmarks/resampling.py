"""Resamplers: the random ones against the gather, those with neighbours against a search."""

from __future__ import annotations

import statistics
import time
from functools import cache

import numpy as np
from sklearn.neighbors import NearestNeighbors

from benchmarks._tools import alternate, bound, dataset_path, peak_bytes
from scumble import read
from scumble.measures import is_minority
from scumble.resample import LPROS, LPRUS, MLROS, MLRUS, MLSMOTE, MLSOL, MLeNN

ABSENT = "the reference data is absent"
SEARCHED = ("yeast", "corel5k", "bibtex")
GATHERED = ("yeast", "corel5k", "bibtex", "tmc2007-500")


@cache
def load(name):
    path = dataset_path(name)
    return None if path is None else read(path)


def alternate_cpu(candidate, peer, *, repeats):
    """Time two functions of one thread in turns; return the medians of their CPU seconds.

    They take a millisecond or two, which other processes would blur on the wall clock.
    """
    times = ([], [])
    for _ in range(repeats + 1):
        for function, spent in zip((candidate, peer), times, strict=True):
            start = time.thread_time()
            function()
            spent.append(time.thread_time() - start)
    return statistics.median(times[0][1:]), statistics.median(times[1][1:])


def random_methods():
    """Compare ``fit_resample`` with ``X[i], Y[i]`` for the rows it returns: at most twice."""
    for name in GATHERED:
        data = load(name)
        for method in (LPROS, LPRUS, MLROS, MLRUS):
            title = f"{method.__name__} on {name} over the gather X[i], Y[i]"
            if data is None:
                yield {"name": title, "skipped": ABSENT}
                continue
            sampler = method(random_state=0)
            sampler.fit_resample(data.X, data.Y)
            rows = sampler.sample_indices_
            scumble_time, gather = alternate_cpu(
                lambda sampler=sampler, data=data: sampler.fit_resample(data.X, data.Y),
                lambda data=data, rows=rows: (data.X[rows], data.Y[rows]),
                repeats=51,
            )
            note = f"{len(rows)} of {len(data)} rows"
            yield bound(
                title,
                scumble_time / gather,
                at_most=2,
                ours_s=scumble_time,
                peer_s=gather,
                note=note,
            )


def bags_of(data):
    """List the searches of MLSMOTE: each minority label's rows among themselves."""
    by_label = data.Y.tocsc()
    bags = (
        by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]
        for label in np.flatnonzero(is_minority(data.Y))
    )
    return [np.sort(bag) for bag in bags if len(bag) > 1]


def brute_force(data, bags, k):
    """Run scikit-learn's search for the same queries, on the features as they are stored."""
    for bag in bags:
        model = NearestNeighbors(n_neighbors=min(k, len(bag) - 1), algorithm="brute")
        model.fit(data.X[bag]).kneighbors()


def neighbour_methods():
    """Compare the whole method with scikit-learn's brute-force search alone: at most 3 times."""
    for name in SEARCHED:
        data = load(name)
        for sampler in (MLSMOTE(random_state=0), MLeNN(), MLSOL(random_state=0)):
            title = f"{type(sampler).__name__} on {name} over scikit-learn's brute-force search"
            if data is None:
                yield {"name": title, "skipped": ABSENT}
                continue
            everything = [np.arange(len(data))]
            bags = bags_of(data) if isinstance(sampler, MLSMOTE) else everything
            slow = name == "bibtex" and bags is everything
            scumble_time, peer = alternate(
                lambda sampler=sampler, data=data: sampler.resample(data),
                lambda data=data, bags=bags, k=sampler.n_neighbors: brute_force(data, bags, k),
                repeats=1 if slow else 7,
            )
            note = f"{sum(map(len, bags))} queries in {len(bags)} searches, k={sampler.n_neighbors}"
            yield bound(
                title, scumble_time / peer, at_most=3, ours_s=scumble_time, peer_s=peer, note=note
            )


def memory():
    """Measure what MLeNN takes on top of its data, as a share of a matrix rows x rows."""
    n_rows = 20_000
    result = peak_bytes(
        "import numpy as np\n"
        "from scumble.resample import MLeNN\n"
        f"rng = np.random.default_rng(0); n = {n_rows}\n"
        "X, Y = rng.random((n, 30)), rng.random((n, 4)) < [0.5, 0.3, 0.2, 0.01]\n"
        "MLeNN().fit_resample(X[:500], Y[:500])\n"
        "before = rss(); reset_peak()\n"
        "MLeNN().fit_resample(X, Y)\n"
        "print(f'more={peak() - before}')\n"
    )
    share = result["more"] / (8 * n_rows**2)
    note = f"{result['more'] / 1e6:.0f} MB more at {n_rows} rows; rows x rows would be 3200 MB"
    return bound("MLeNN's memory over a matrix rows x rows", share, at_most=0.1, note=note)


ALL = [random_methods, neighbour_methods, memory]
