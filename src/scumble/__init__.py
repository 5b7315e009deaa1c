"""scumble: the workbench for imbalanced multilabel data.

>>> import scumble
>>> data = scumble.load("debtags")
>>> summary = scumble.characterize(data)
>>> summary.scumble > 0.1
True
"""

import typing

from scumble._core import exports

if typing.TYPE_CHECKING:
    from scumble import (
        catalogue as catalogue,
        data as data,
        evaluate as evaluate,
        experiment as experiment,
        learn as learn,
        measures as measures,
        plots as plots,
        report as report,
        resample as resample,
        scale as scale,
        testing as testing,
    )
    from scumble._core.errors import ScumbleError as ScumbleError, ScumbleWarning as ScumbleWarning
    from scumble._core.parallel import limit_threads as limit_threads
    from scumble._core.version import __version__ as __version__
    from scumble.advise.advice import advise as advise
    from scumble.data import (
        MultilabelDataset as MultilabelDataset,
        load as load,
        make_multilabel as make_multilabel,
        read as read,
        write as write,
    )
    from scumble.measures import characterize as characterize
    from scumble.scale import scan as scan

# Public names load on first use, so that `import scumble` costs nothing.
exports.publish(
    globals(),
    {
        "scumble": (
            *("advise", "catalogue", "data", "evaluate", "experiment", "learn", "measures"),
            *("plots", "report", "resample", "scale", "testing"),
        ),
        "scumble._core.errors": ("ScumbleError", "ScumbleWarning"),
        "scumble._core.parallel": ("limit_threads",),
        "scumble._core.version": ("__version__",),
        "scumble.data": ("MultilabelDataset", "load", "make_multilabel", "read", "write"),
        "scumble.measures": ("characterize",),
        "scumble.scale": ("scan",),
    },
)
