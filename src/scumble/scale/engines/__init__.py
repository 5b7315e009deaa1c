"""The two engines: DuckDB on one machine, Apache Spark on many."""

from scumble._core import exports
from scumble.scale.engines.base import Column as Column, Engine as Engine
from scumble.scale.engines.duckdb import DuckDBEngine as DuckDBEngine
from scumble.scale.engines.spark import SparkEngine as SparkEngine

exports.publish(globals())
