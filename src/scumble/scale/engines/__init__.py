"""Engines that run the statements: DuckDB on one machine, Apache Spark on many."""

from scumble.scale.engines.base import Column, Engine
from scumble.scale.engines.duckdb import DuckDBEngine
from scumble.scale.engines.spark import SparkEngine

__all__ = [
    "Column",
    "DuckDBEngine",
    "Engine",
    "SparkEngine",
]
