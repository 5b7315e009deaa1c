"""Data sets x resamplers x classifiers x metrics: plans, results on disk, and running them."""

from scumble.experiment.cell import Cell, Part, Result
from scumble.experiment.errors import PlanError, StoreError
from scumble.experiment.runner import Report, run_cells
from scumble.experiment.store import Store

__all__ = ["Cell", "Part", "PlanError", "Report", "Result", "Store", "StoreError", "run_cells"]
