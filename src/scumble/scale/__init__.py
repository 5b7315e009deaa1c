"""The same answers when the data does not fit: DuckDB on one machine, Spark on many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scumble._core.lazy import lazy_names

if TYPE_CHECKING:
    from scumble.scale.engines import DuckDBEngine, Engine, SparkEngine
    from scumble.scale.files import Output
    from scumble.scale.scanning import Scan, scan
    from scumble.scale.summary import InstanceScores, LabelsetRelation
    from scumble.scale.thresholds import label_thresholds

__all__ = [
    "DuckDBEngine",
    "Engine",
    "InstanceScores",
    "LabelsetRelation",
    "Output",
    "Scan",
    "SparkEngine",
    "label_thresholds",
    "scan",
]

# Names load on first use: whether a file fits into memory is asked without the engines.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "scumble.scale.engines": ("DuckDBEngine", "Engine", "SparkEngine"),
        "scumble.scale.files": ("Output",),
        "scumble.scale.scanning": ("Scan", "scan"),
        "scumble.scale.summary": ("InstanceScores", "LabelsetRelation"),
        "scumble.scale.thresholds": ("label_thresholds",),
    },
)
