"""Reading and writing ARFF files, in time against liac-arff and in memory against the result."""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks._tools import alternate, bound, dataset_path, record, unpacked
from scumble import MultilabelDataset, read, write
from scumble.data import Feature

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

        scumble_time, peer_time = alternate(lambda: read(path, format="mulan"), peer, repeats=7)
    return record(title, scumble_time, peer_time, at_least=at_least, note="from text to data set")


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


def many_texts(n: int) -> MultilabelDataset:
    """Make rows with a text of their own and a number that is long, wide enough for many blocks."""
    X = np.column_stack([np.arange(n), np.arange(n) / 3, np.zeros((n, 298))])
    texts = tuple(f"{index} said {'much ' * 400}" for index in range(n))
    features = [Feature("said", "string", texts), *(Feature(f"x{index}") for index in range(299))]
    return MultilabelDataset(X, np.arange(n)[:, None] % [2, 3] == 0, features=features)


def otherwise_quoted(n: int) -> str:
    """Write rows whose nominal values are quoted in another way than they were declared in."""
    declared = ",".join(f'"it isn\'t {index}"' for index in range(n))
    rows = "".join(f"1,'it isn\\'t {index}'\n" for index in range(n))
    return f"@relation 'x: -C 1'\n@attribute y {{0,1}}\n@attribute x {{{declared}}}\n@data\n{rows}"


def texts():
    """Four times as many texts must not take sixteen times as long."""
    sizes = 40_000, 10_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "texts.arff")
        data = [many_texts(n) for n in sizes]
        turns = [partial(write, dataset, path, format="meka") for dataset in data]
        yield over_a_quarter("writing 40,000 texts", *alternate(*turns, repeats=3))
        paths = [Path(folder, f"{n}.arff") for n in sizes]
        for n, quoted in zip(sizes, paths, strict=True):
            quoted.write_text(otherwise_quoted(n))
        turns = [partial(read, quoted) for quoted in paths]
        yield over_a_quarter("reading 40,000 values quoted otherwise", *alternate(*turns))


def over_a_quarter(content: str, large: float, small: float) -> dict:
    name = f"{content} in ARFF over a quarter of them"
    return bound(name, large / small, at_most=7, ours_s=large, peer_s=small)


ALL = [sparse_rows, dense_rows, memory, writing, texts]
