"""Data sets x resamplers x classifiers x metrics: plans, results on disk, and running them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scumble._core.lazy import lazy_names
from scumble.experiment.cell import Cell, Part, PlanError, Result
from scumble.experiment.executors import Outcome
from scumble.experiment.plan import Plan, read_plan
from scumble.experiment.runner import Estimate, Report, cells_of, estimate, run, run_cells
from scumble.experiment.store import Store, StoreError

if TYPE_CHECKING:
    from scumble.experiment.same_folds import compare

__all__ = [
    "Cell",
    "Estimate",
    "Outcome",
    "Part",
    "Plan",
    "PlanError",
    "Report",
    "Result",
    "Store",
    "StoreError",
    "cells_of",
    "compare",
    "estimate",
    "read_plan",
    "run",
    "run_cells",
]

# Comparing needs classifiers and resamplers, which planning and tables do not.
__getattr__, __dir__ = lazy_names(__name__, {"scumble.experiment.same_folds": ("compare",)})
