"""The same answers when the data does not fit: DuckDB on one machine, Spark on many."""

from __future__ import annotations

from scumble.scale.engines import DuckDBEngine, Engine, SparkEngine
from scumble.scale.output import Output
from scumble.scale.relations import InstanceScores, LabelsetRelation
from scumble.scale.scanning import Scan, scan

__all__ = [
    "DuckDBEngine",
    "Engine",
    "InstanceScores",
    "LabelsetRelation",
    "Output",
    "Scan",
    "SparkEngine",
    "scan",
]
