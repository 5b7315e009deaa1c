"""scumble: the workbench for imbalanced multilabel data.

>>> import scumble
>>> data = scumble.load("debtags")
>>> summary = scumble.characterize(data)
>>> summary.scumble > 0.1
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    from scumble.data import MultilabelDataset, load, make_multilabel, read, write
    from scumble.measures import characterize
    from scumble.scale import scan

# Public names load on first use (PEP 562), so that `import scumble` costs nothing.
_HOMES = {
    "MultilabelDataset": "scumble.data",
    "ScumbleError": "scumble._core.errors",
    "ScumbleWarning": "scumble._core.errors",
    "characterize": "scumble.measures",
    "limit_threads": "scumble._core.parallel",
    "load": "scumble.data",
    "make_multilabel": "scumble.data",
    "read": "scumble.data",
    "scan": "scumble.scale",
    "write": "scumble.data",
}
_ROOMS = (
    "catalogue",
    "data",
    "evaluate",
    "experiment",
    "learn",
    "measures",
    "plots",
    "report",
    "resample",
    "scale",
    "testing",
)

__all__ = [
    "MultilabelDataset",
    "ScumbleError",
    "ScumbleWarning",
    "__version__",
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


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _ROOMS:
        value = import_module(f"scumble.{name}")
    else:
        raise AttributeError(f"module 'scumble' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
