"""Experiments: data sets x resamplers x classifiers x metrics -> a store of results on disk."""

from scumble.experiment.plan import Plan, read_plan
from scumble.experiment.plan_error import PlanError
from scumble.experiment.runner import RuntimeEstimate, estimate_runtime, plan_cells, run
from scumble.results.cell import Cell, Component, Result
from scumble.results.executors import Outcome
from scumble.results.run_cells import RunReport, run_cells
from scumble.results.store import Store, StoreError

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
    "estimate_runtime",
    "plan_cells",
    "read_plan",
    "run",
    "run_cells",
]
