"""One Spark session for all tests of a process, and a reason where there is none."""

import os
import shutil

import pytest

INSTALL = "pip install 'scumble[spark]' and a Java 17 runtime (apt-get install openjdk-17-jre)"


def skip_without_spark():
    pytest.importorskip("pyspark", reason=f"Spark is missing: {INSTALL}")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip(f"Java is missing: {INSTALL}")


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A small session on this machine."""
    skip_without_spark()
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[2]")
        .appName("scumble tests")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        # Compiling queries and planning them anew takes far longer than running these small ones.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        # A machine that was held up for minutes has lost nothing.
        .config("spark.network.timeout", "1800s")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.local.dir", str(folder / "local"))
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(params=["duckdb", "spark"])
def engine(request):
    """Parameters of a scan for each engine."""
    if request.param == "spark":
        return {"engine": "spark", "spark": request.getfixturevalue("spark")}
    return {"engine": "duckdb", "threads": 2}
