"""A real standalone cluster on loopback: one master, two workers, one of which is killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scumble.measures import characterize
from tests.scale.conftest import skip_without_spark
from tests.scale.tables import expected_remedial, matrix, written_lists
from tests.scale.test_failures import many_lists

pytestmark = pytest.mark.xdist_group("spark")

SOON = 240  # seconds; a loaded machine needs some
JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

DRIVER = """
import json, sys
from pyspark.sql import SparkSession
from scumble.measures import characterize
from scumble.resample import REMEDIAL
from scumble.scale import scan

address, source, out, local = sys.argv[1:]
settings = {
    "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "600m", "spark.executor.cores": "1",
    "spark.sql.shuffle.partitions": "8", "spark.default.parallelism": "8",
    "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
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


@pytest.fixture
def cluster(tmp_path):
    """The master's address and the two worker processes."""
    skip_without_spark()
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": JVM,
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
    workers = []
    for number in range(2):
        work = tmp_path / f"work{number}"
        options = ("--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", work)
        process, log = start("worker", *options, address)
        wait_for(log, r"(Successfully registered with master)")
        workers.append(process)
    yield address, workers, environment
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


def test_a_worker_dies_and_the_result_is_right(tmp_path, cluster):
    address, workers, environment = cluster
    source, out = tmp_path / "t.parquet", tmp_path / "out"
    many_lists(source, 60_000, n_labels=300)
    local = tmp_path / "local"
    local.mkdir()
    command = [sys.executable, "-c", DRIVER, address, str(source), str(out), str(local)]
    driver = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        start_new_session=True,
    )
    try:
        summary = json.loads(driver.stdout.readline())
        started = time.monotonic()
        while not list(tmp_path.glob(".out.*.partial/_temporary/*/*")):
            assert driver.poll() is None, driver.stderr.read()
            assert time.monotonic() - started < SOON
            time.sleep(0.005)
        end(workers[0])  # with all it has computed so far, while the result is being written
        assert not out.exists()
        rest, errors = driver.communicate(timeout=2 * SOON)
    finally:
        end(driver)
    assert driver.returncode == 0, errors[-3000:]
    import pyarrow.parquet as pq

    rows = pq.read_table(source)["tags"].to_pylist()
    expected, method = expected_remedial(rows, passes=2)
    assert written_lists(out) == expected
    assert json.loads(rest) == method.n_added_
    theirs = characterize(matrix(rows)[0]).to_dict()
    for name in ("scumble", "scumble_cv", "mean_ir", "cvir", "n_labelsets", "n_instances"):
        assert summary[name] == pytest.approx(theirs[name], abs=1e-9)
