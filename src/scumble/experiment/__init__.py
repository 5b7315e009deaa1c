"""Data sets x resamplers x classifiers x metrics: plans, results on disk, and running them."""

import typing

from scumble._core import exports
from scumble.experiment.cell import (
    Cell as Cell,
    Part as Part,
    PlanError as PlanError,
    Result as Result,
)
from scumble.experiment.executors import Outcome as Outcome
from scumble.experiment.plan import Plan as Plan, read_plan as read_plan
from scumble.experiment.runner import (
    Estimate as Estimate,
    Report as Report,
    cells_of as cells_of,
    estimate as estimate,
    run as run,
    run_cells as run_cells,
)
from scumble.experiment.store import Store as Store, StoreError as StoreError

if typing.TYPE_CHECKING:
    from scumble.experiment.same_folds import compare as compare

# Comparing needs classifiers and resamplers, which planning and tables do not.
exports.publish(globals(), {"scumble.experiment.same_folds": ("compare",)})
