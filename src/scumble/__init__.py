"""scumble: measure, resample, learn and evaluate imbalanced multilabel data.

>>> import scumble
>>> data = scumble.load("debtags")
>>> summary = scumble.characterize(data)
>>> summary.scumble > 0.1
True
"""

import typing

from scumble._core import lazy_imports

if typing.TYPE_CHECKING:
    from scumble import (
        catalogue,
        data,
        evaluate,
        experiment,
        learn,
        measures,
        out_of_core,
        plots,
        report,
        resample,
        testing,
    )
    from scumble._core.errors import ScumbleError, ScumbleWarning
    from scumble._core.parallel import limit_threads
    from scumble._core.version import __version__
    from scumble.advice.advice import advise
    from scumble.data import (
        MultilabelDataset,
        load,
        make_multilabel,
        read,
        write,
    )
    from scumble.measures import characterize
    from scumble.out_of_core import scan

# Public names are imported on first use, so that `import scumble` takes almost no time.
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
    "out_of_core",
    "plots",
    "read",
    "report",
    "resample",
    "scan",
    "testing",
    "write",
]

if not typing.TYPE_CHECKING:
    __getattr__, __dir__ = lazy_imports.attach(
        __name__,
        __all__,
        {
            "scumble": (
                "catalogue",
                "data",
                "evaluate",
                "experiment",
                "learn",
                "measures",
                "out_of_core",
                "plots",
                "report",
                "resample",
                "testing",
            ),
            "scumble._core.errors": ("ScumbleError", "ScumbleWarning"),
            "scumble._core.parallel": ("limit_threads",),
            "scumble._core.version": ("__version__",),
            "scumble.advice.advice": ("advise",),
            "scumble.data": ("MultilabelDataset", "load", "make_multilabel", "read", "write"),
            "scumble.measures": ("characterize",),
            "scumble.out_of_core": ("scan",),
        },
    )
