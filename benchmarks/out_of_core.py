"""Files larger than memory: DuckDB against a hand-written script, memory, Spark.

The data are 100 million assignments, 44 million instances and 4,000 labels of Zipf's
frequencies, made once in ``SCUMBLE_BENCH_DIR`` (by default among the temporary files; 240 MB).
``SCUMBLE_BENCH_ROWS`` makes them fewer for a first look.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks._tools import bound, record, run

N_ROWS = int(os.environ.get("SCUMBLE_BENCH_ROWS", 44_300_000))
N_LABELS, PER_ROW, CHUNK = 4_000, 2.3, 1_000_000
FOLDER = Path(os.environ.get("SCUMBLE_BENCH_DIR", Path(tempfile.gettempdir()) / "scumble-bench"))
GIB = 2**30
SMALL_LIMIT = "150MB"

SCUMBLE_SCRIPT = """
import json, shutil, sys, time
from scumble.measures import characterize
from scumble.resample import REMEDIAL
from scumble.out_of_core import scan
source, out, memory, spill = sys.argv[1:]
start = time.perf_counter()
with scan(source, label_column="tags", memory=memory, spill_directory=spill, threads=2) as data:
    summary = characterize(data)
    characterized = time.perf_counter() - start
    REMEDIAL().resample(data, out)
print(json.dumps({"seconds": time.perf_counter() - start, "characterize": characterized,
                  **summary.to_dict()}))
"""

ON_SPARK = """
import json, sys, time
from pyspark.sql import SparkSession
from scumble.measures import characterize
from scumble.resample import REMEDIAL
from scumble.out_of_core import scan
source, out, local = sys.argv[1:]
session = (
    SparkSession.builder.master("local-cluster[2,1,4096]")
    .config("spark.executor.memory", "4g").config("spark.driver.memory", "2g")
    .config("spark.local.dir", local)
    .config("spark.driver.host", "127.0.0.1").config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.shuffle.partitions", "16").getOrCreate()
)
session.sparkContext.setLogLevel("ERROR")
start = time.perf_counter()
with scan(source, label_column="tags", engine="spark", spark=session) as data:
    summary = characterize(data)
    characterized = time.perf_counter() - start
    REMEDIAL().resample(data, out)
print(json.dumps({"seconds": time.perf_counter() - start, "characterize": characterized,
                  **summary.to_dict()}))
session.stop()
"""


@cache
def data(n_rows: int = N_ROWS) -> Path:
    """Make rows with 1 + Poisson labels of Zipf's frequencies, without duplicates."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{n_rows}.parquet"
    if path.exists():
        return path
    schema = pa.schema([("instance", pa.int64()), ("tags", pa.list_(pa.int32()))])
    shares = np.cumsum(1 / np.arange(1, N_LABELS + 1))
    with pq.ParquetWriter(f"{path}.part", schema, compression="zstd") as writer:
        for number, start in enumerate(range(0, n_rows, CHUNK)):
            rng = np.random.default_rng([7, number])
            n = min(CHUNK, n_rows - start)
            sizes = 1 + rng.poisson(PER_ROW - 1, n)
            labels = np.searchsorted(shares, rng.random(sizes.sum()) * shares[-1])
            keys = np.unique(np.repeat(np.arange(n), sizes) * N_LABELS + labels)
            counts = np.bincount(keys // N_LABELS, minlength=n)
            offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
            lists = pa.ListArray.from_arrays(
                pa.array(offsets), pa.array((keys % N_LABELS).astype(np.int32))
            )
            table = pa.table({"instance": np.arange(start, start + n), "tags": lists})
            writer.write_table(table, row_group_size=250_000)
    os.replace(f"{path}.part", path)
    return path


def in_folder(code: list[str], *arguments: str, n_rows: int = N_ROWS) -> dict:
    """Run a job on the data with a fresh output and spill folder."""
    with tempfile.TemporaryDirectory(dir=data().parent) as folder:
        out, spill = Path(folder) / "out", Path(folder) / "spill"
        spill.mkdir()
        done = run([sys.executable, *code, data(n_rows), out, *arguments, spill])
    return {**json.loads(done.printed.splitlines()[-1]), "wall": done.wall, "peak": done.peak}


@cache
def run_scumble(memory: str = "2GB", n_rows: int = N_ROWS) -> dict:
    return in_folder(["-c", SCUMBLE_SCRIPT], memory, n_rows=n_rows)


@cache
def on_spark(n_rows: int = N_ROWS) -> dict:
    return in_folder(["-c", ON_SPARK], n_rows=n_rows)


def duckdb_against_a_script():
    result = run_scumble()
    peer = in_folder(["-m", "benchmarks.out_of_core_peer"], "2GB")
    for name, other in (("scumble", "scumble"), ("n_labelsets", "n_labelsets")):
        np.testing.assert_allclose(result[name], peer[other], rtol=1e-9)
    size = (
        f"{result['n_instances']:,} instances, {result['cardinality'] * result['n_instances']:,.0f}"
    )
    yield bound(
        "characterise and REMEDIAL on DuckDB over a hand-written script",
        result["wall"] / peer["wall"],
        at_most=1.3,
        ours_s=result["wall"],
        peer_s=peer["wall"],
        note=f"{size} assignments, limit 2GB, 2 threads",
    )
    yield bound(
        "peak memory in GiB with the limit at 2GB",
        result["peak"] / GIB,
        at_most=3,
        note=f"the script {peer['peak'] / GIB:.2f} GiB",
    )


def memory_against_duckdb():
    import pyarrow.parquet as pq
    from scipy import sparse

    from scumble import limit_threads
    from scumble.measures import characterize
    from scumble.resample.remedial import decouple_labels

    lists = pq.read_table(data(), columns=["tags"])["tags"].combine_chunks()
    indices, indptr = lists.values.to_numpy(), lists.offsets.to_numpy()
    shape = (len(indptr) - 1, N_LABELS)
    Y = sparse.csr_array((np.ones(len(indices), bool), indices, indptr), shape=shape)
    del lists
    decouple_labels(Y[:1000], one_sided="clone")
    characterize(Y[:1000])
    times = []
    with limit_threads(2):
        for _ in range(3):
            start = time.perf_counter()
            characterize(Y)
            decouple_labels(Y, one_sided="clone")
            times.append(time.perf_counter() - start)
    note = "arrays loaded, nothing written, 2 threads"
    return record(
        "in memory against DuckDB",
        sorted(times)[1],
        run_scumble()["seconds"],
        at_least=10,
        note=note,
    )


def growth():
    small = run_scumble(n_rows=N_ROWS // 10)
    yield bound(
        "DuckDB: ten times the rows over one",
        run_scumble()["seconds"] / small["seconds"],
        at_most=12,
        ours_s=run_scumble()["seconds"],
        peer_s=small["seconds"],
    )


def a_limit_of_a_tenth():
    name = "peak memory in GiB on data ten times the limit"
    try:
        result = run_scumble(memory=SMALL_LIMIT)
    except RuntimeError as error:  # it says that it needs more, and writes nothing
        return bound(name, float("inf"), at_most=0.75, note=f"limit {SMALL_LIMIT}: {error}")
    # DuckDB holds an instance as 8 bytes, its list as 16 and a label as 4.
    size = result["n_instances"] * (24 + 4 * result["cardinality"])
    note = f"limit {SMALL_LIMIT}, data {size / 1e6:,.0f} MB, {result['seconds']:.0f} s"
    return bound(name, result["peak"] / GIB, at_most=0.75, note=note)


def spark_against_duckdb():
    if shutil.which("java") is None:
        yield {"name": "Spark against DuckDB", "skipped": "Java 17 is missing"}
        return
    try:
        import pyspark  # noqa: F401  (is it there?)
    except ImportError:
        yield {"name": "Spark against DuckDB", "skipped": "pip install 'scumble[spark]'"}
        return
    result, small = on_spark(), on_spark(n_rows=N_ROWS // 10)
    np.testing.assert_allclose(result["scumble"], run_scumble()["scumble"], rtol=1e-9)
    yield bound(
        "Spark with 2 cores over DuckDB",
        result["seconds"] / run_scumble()["seconds"],
        at_most=10,
        ours_s=result["seconds"],
        peer_s=run_scumble()["seconds"],
    )
    yield bound(
        "Spark: ten times the rows over one",
        result["seconds"] / small["seconds"],
        at_most=12,
        ours_s=result["seconds"],
        peer_s=small["seconds"],
    )


ALL = [
    duckdb_against_a_script,
    memory_against_duckdb,
    growth,
    a_limit_of_a_tenth,
    spark_against_duckdb,
]
