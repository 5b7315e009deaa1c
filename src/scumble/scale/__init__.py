"""The same results for data that does not fit into memory: DuckDB on one machine, Spark on many."""

import typing

from scumble._core import lazy_imports

if typing.TYPE_CHECKING:
    from scumble.scale.engines import (
        DuckDBEngine,
        Engine,
        SparkEngine,
    )
    from scumble.scale.files import Output
    from scumble.scale.scanning import OutOfCoreDataset, scan
    from scumble.scale.summary import (
        InstanceScores,
        LabelsetRelation,
    )
    from scumble.scale.thresholds import label_thresholds

# Names load on first use: the check whether a file fits into memory needs no engine.
__all__ = [
    "DuckDBEngine",
    "Engine",
    "InstanceScores",
    "LabelsetRelation",
    "OutOfCoreDataset",
    "Output",
    "SparkEngine",
    "label_thresholds",
    "scan",
]

if not typing.TYPE_CHECKING:
    __getattr__, __dir__ = lazy_imports.attach(
        __name__,
        __all__,
        {
            "scumble.scale.engines": ("DuckDBEngine", "Engine", "SparkEngine"),
            "scumble.scale.files": ("Output",),
            "scumble.scale.scanning": ("OutOfCoreDataset", "scan"),
            "scumble.scale.summary": ("InstanceScores", "LabelsetRelation"),
            "scumble.scale.thresholds": ("label_thresholds",),
        },
    )
