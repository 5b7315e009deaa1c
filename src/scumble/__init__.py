"""scumble: the workbench for imbalanced multilabel data.

>>> import scumble
>>> data = scumble.load("debtags")
>>> summary = scumble.characterize(data)
>>> summary.scumble > 0.1
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scumble._core.lazy import lazy_names
from scumble._core.version import __version__

if TYPE_CHECKING:
    from scumble import (
        catalogue,
        data,
        evaluate,
        experiment,
        learn,
        measures,
        plots,
        report,
        resample,
        scale,
        testing,
    )
    from scumble._core.errors import ScumbleError, ScumbleWarning
    from scumble._core.parallel import limit_threads
    from scumble.advise.advice import advise
    from scumble.data import MultilabelDataset, load, make_multilabel, read, write
    from scumble.measures import characterize
    from scumble.scale import scan

__all__ = [
    "MultilabelDataset",
    "ScumbleError",
    "ScumbleWarning",
    "__version__",
    "advise",
    "catalogue",
    "characterize",
    "data",
    "evaluate",
    "experiment",
    "learn",
    "limit_threads",
    "load",
    "make_multilabel",
    "measures",
    "plots",
    "read",
    "report",
    "resample",
    "scale",
    "scan",
    "testing",
    "write",
]

# Public names load on first use, so that `import scumble` costs nothing.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "scumble._core.errors": ("ScumbleError", "ScumbleWarning"),
        "scumble._core.parallel": ("limit_threads",),
        "scumble.data": ("MultilabelDataset", "load", "make_multilabel", "read", "write"),
        "scumble.measures": ("characterize",),
        "scumble.scale": ("scan",),
    },
)
