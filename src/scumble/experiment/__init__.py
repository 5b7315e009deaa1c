"""Experiments: data sets x resamplers x classifiers x metrics -> a store of results on disk."""

import typing

from scumble._core import lazy_imports
from scumble.experiment.plan import Plan, PlanError, read_plan
from scumble.experiment.runner import RuntimeEstimate, estimate_runtime, plan_cells, run
from scumble.results.cell import Cell, Component, Result
from scumble.results.executors import Outcome
from scumble.results.run_cells import RunReport, run_cells
from scumble.results.store import Store, StoreError

if typing.TYPE_CHECKING:
    from scumble.experiment.stored_comparison import compare

# `compare` imports classifiers and resamplers, which plans and tables do not need: it is imported
# on first use.
__all__ = [
    "Cell",
    "Component",
    "Outcome",
    "Plan",
    "PlanError",
    "Result",
    "RunReport",
    "RuntimeEstimate",
    "Store",
    "StoreError",
    "compare",
    "estimate_runtime",
    "plan_cells",
    "read_plan",
    "run",
    "run_cells",
]

if not typing.TYPE_CHECKING:
    __getattr__, __dir__ = lazy_imports.attach(
        __name__, __all__, {"scumble.experiment.stored_comparison": ("compare",)}
    )
