"""The same answers when the data does not fit: DuckDB on one machine, Spark on many."""

import typing

from scumble._core import exports

if typing.TYPE_CHECKING:
    from scumble.scale.engines import (
        DuckDBEngine as DuckDBEngine,
        Engine as Engine,
        SparkEngine as SparkEngine,
    )
    from scumble.scale.files import Output as Output
    from scumble.scale.scanning import Scan as Scan, scan as scan
    from scumble.scale.summary import (
        InstanceScores as InstanceScores,
        LabelsetRelation as LabelsetRelation,
    )
    from scumble.scale.thresholds import label_thresholds as label_thresholds

# Names load on first use: whether a file fits into memory is asked without the engines.
exports.publish(
    globals(),
    {
        "scumble.scale.engines": ("DuckDBEngine", "Engine", "SparkEngine"),
        "scumble.scale.files": ("Output",),
        "scumble.scale.scanning": ("Scan", "scan"),
        "scumble.scale.summary": ("InstanceScores", "LabelsetRelation"),
        "scumble.scale.thresholds": ("label_thresholds",),
    },
)
