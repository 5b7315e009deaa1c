"""A real standalone cluster on loopback: one master, two workers, one of which is killed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from scumble.measures import characterize
from tests.out_of_core.conftest import skip_without_spark
from tests.out_of_core.tables import expected_remedial, matrix, written_lists
from tests.out_of_core.test_failures import many_lists

SOON = 600  # seconds; a loaded machine needs some
JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

DRIVER = """
import json, sys
from pyspark.sql import SparkSession
from scumble.measures import characterize
from scumble.resample import REMEDIAL
from scumble.out_of_core import scan

address, source, out, local = sys.argv[1:]
settings = {
    "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "600m", "spark.executor.cores": "1",
    "spark.sql.shuffle.partitions": "8", "spark.default.parallelism": "8",
    "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
    "spark.network.timeout": "1800s",  # whoever is killed hangs up; silence is a slow machine's
    "spark.local.dir": local, "spark.driver.extraJavaOptions": "JVM",
    "spark.executor.extraJavaOptions": "JVM", "spark.files.maxPartitionBytes": "500000",
    "spark.sql.files.maxPartitionBytes": "300000", "spark.sql.files.openCostInBytes": "0",
}
builder = SparkSession.builder.master(address)
for key, value in settings.items():
    builder = builder.config(key, value)
session = builder.getOrCreate()
session.sparkContext.setLogLevel("ERROR")
with scan(source, instance_column="instance", engine="spark", spark=session) as table:
    print(json.dumps(characterize(table).to_dict()), flush=True)
    method = REMEDIAL(passes=2)
    method.resample(table, out)
    print(json.dumps(method.n_added_), flush=True)
session.stop()
""".replace("JVM", JVM)


@dataclass
class Cluster:
    """A master's address, what starts another worker, and the workers there are."""

    address: str
    environment: dict[str, str]
    start_worker: Callable[[], subprocess.Popen[bytes]]
    workers: list[subprocess.Popen[bytes]]


@pytest.fixture
def cluster(tmp_path):
    """A master and two workers."""
    skip_without_spark()
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": f"{JVM} -Dspark.worker.timeout=1800",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYSPARK_PYTHON": sys.executable,
    }
    started = []

    def start(role, *arguments):
        log = tmp_path / f"{role}{len(started)}.log"
        name = f"org.apache.spark.deploy.{role}.{role.title()}"
        command = [home / "bin" / "spark-class", name, "--host", "127.0.0.1", *arguments]
        with open(log, "wb") as stream:
            process = subprocess.Popen(
                [str(word) for word in command],
                stdout=stream,
                stderr=stream,
                env=environment,
                start_new_session=True,
            )
        started.append(process)
        return process, log

    _, log = start("master", "--port", "0", "--webui-port", "0")
    address = wait_for(log, r"Starting Spark master at (spark://\S+)")

    def start_worker():
        work = tmp_path / f"work{len(started)}"
        options = ("--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", work)
        process, log = start("worker", *options, address)
        wait_for(log, r"(Successfully registered with master)")
        return process

    yield Cluster(address, environment, start_worker, [start_worker(), start_worker()])
    for process in started:
        end(process)


def wait_for(log, pattern):
    started = time.monotonic()
    while time.monotonic() - started < SOON:
        found = re.search(pattern, log.read_text(errors="replace"))
        if found:
            return found[1]
        time.sleep(0.1)
    raise AssertionError(f"{log.name}: {log.read_text(errors='replace')[-2000:]}")


def end(process):
    """Kill a process and what it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run_and_kill_a_worker(cluster, source, folder):
    """Run the driver; gives what it printed, and whether the result was not written before."""
    out, local = folder / "out", folder / "local"
    local.mkdir(parents=True)
    command = [sys.executable, "-c", DRIVER, cluster.address, str(source), str(out), str(local)]
    driver = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=cluster.environment,
        text=True,
        start_new_session=True,
    )
    try:
        summary = driver.stdout.readline()
        started = time.monotonic()
        while not list(folder.glob(".out.*.partial/_temporary/*/*")) and driver.poll() is None:
            assert time.monotonic() - started < SOON
            time.sleep(0.005)
        # With all it has computed so far, while the result is being written.
        end(cluster.workers.pop(0))
        is_in_time = not out.exists()
        rest, errors = driver.communicate(timeout=2 * SOON)
    finally:
        end(driver)
    assert driver.returncode == 0, errors[-3000:]
    return json.loads(summary), json.loads(rest), is_in_time


def test_a_worker_dies_and_the_result_is_right(tmp_path, cluster):
    source = tmp_path / "t.parquet"
    for n_rows in (60_000, 120_000, 240_000):
        many_lists(source, n_rows, n_labels=300)
        folder = tmp_path / str(n_rows)
        summary, n_added, is_in_time = run_and_kill_a_worker(cluster, source, folder)
        if is_in_time:
            break
        # A machine may be so busy that the kill comes too late; then there is more to write.
        cluster.workers.append(cluster.start_worker())
    else:
        pytest.fail("all was written before the kill")
    import pyarrow.parquet as pq

    rows = pq.read_table(source)["tags"].to_pylist()
    expected, method = expected_remedial(rows, passes=2)
    assert written_lists(folder / "out") == expected
    assert n_added == method.n_added_
    theirs = characterize(matrix(rows)[0]).to_dict()
    for name in ("scumble", "scumble_cv", "mean_ir", "cvir", "n_labelsets", "n_instances"):
        assert summary[name] == pytest.approx(theirs[name], abs=1e-9)
