"""Reading and writing ARFF files, in time against liac-arff and in memory against the result."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks._tools import alternate, bound, dataset_path, record, unpacked
from scumble import read, write

ABSENT = "the reference data is absent"


def against_liac(name: str, at_least: float) -> dict:
    import arff

    title = f"reading {name}.arff, liac-arff over ours"
    with tempfile.TemporaryDirectory() as folder:
        path = unpacked(name, folder)
        if path is None:
            return {"name": title, "skipped": ABSENT}
        form = arff.LOD if read(path).is_sparse else arff.DENSE

        def peer():
            with open(path, encoding="utf-8") as stream:
                arff.load(stream, return_type=form)

        ours, theirs = alternate(lambda: read(path, format="mulan"), peer, repeats=7)
    return record(title, ours, theirs, at_least=at_least, note="from text to data set")


def sparse_rows():
    return against_liac("bibtex", 10)


def dense_rows():
    return against_liac("yeast", 5)


def memory_over_result(name: str) -> dict:
    """Compare the peak of all allocations while reading with the arrays that come out."""
    import tracemalloc

    title = f"memory while reading {name}.arff over the arrays of the result"
    with tempfile.TemporaryDirectory() as folder:
        path = unpacked(name, folder)
        if path is None:
            return {"name": title, "skipped": ABSENT}
        read(path)  # compile and import first
        tracemalloc.start()
        data = read(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    arrays = [data.Y.data, data.Y.indices, data.Y.indptr]
    arrays += [data.X.data, data.X.indices, data.X.indptr] if data.is_sparse else [data.X]
    size = sum(array.nbytes for array in arrays)
    note = f"peak {peak / 2**20:.1f} MiB, result {size / 2**20:.1f} MiB"
    return bound(title, peak / size, at_most=4, note=note)


def memory():
    return [memory_over_result(name) for name in ("bibtex", "yeast", "imdb")]


def writing():
    title = "seconds to write imdb (120,919 x 1,001, sparse) as MULAN and as MEKA"
    path = dataset_path("imdb")
    if path is None:
        return {"name": title, "skipped": ABSENT}
    data = read(path)
    with tempfile.TemporaryDirectory() as folder:
        times = []
        for form in ("mulan", "meka", "mulan", "meka"):
            start = time.perf_counter()
            write(data, Path(folder, "imdb.arff"), format=form)
            times.append(time.perf_counter() - start)
    return bound(title, max(times[2:]), at_most=5, ours_s=max(times[2:]))


ALL = [sparse_rows, dense_rows, memory, writing]
