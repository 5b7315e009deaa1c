"""Engines that run the statements: DuckDB on one machine, Apache Spark on many."""

from scumble.out_of_core.engines.base import Column, Engine
from scumble.out_of_core.engines.duckdb import DuckDBEngine
from scumble.out_of_core.engines.spark import SparkEngine

__all__ = [
    "Column",
    "DuckDBEngine",
    "Engine",
    "SparkEngine",
]
