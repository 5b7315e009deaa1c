"""The same results for data that does not fit into memory: DuckDB on one machine, Spark on many."""

import typing

from scumble._core import lazy_imports

if typing.TYPE_CHECKING:
    from scumble.out_of_core.engines import (
        DuckDBEngine,
        Engine,
        SparkEngine,
    )
    from scumble.out_of_core.files import Output
    from scumble.out_of_core.scanning import OutOfCoreDataset, scan
    from scumble.out_of_core.summary import (
        InstanceScores,
        LabelsetRelation,
    )
    from scumble.out_of_core.thresholds import label_thresholds

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
            "scumble.out_of_core.engines": ("DuckDBEngine", "Engine", "SparkEngine"),
            "scumble.out_of_core.files": ("Output",),
            "scumble.out_of_core.scanning": ("OutOfCoreDataset", "scan"),
            "scumble.out_of_core.summary": ("InstanceScores", "LabelsetRelation"),
            "scumble.out_of_core.thresholds": ("label_thresholds",),
        },
    )
