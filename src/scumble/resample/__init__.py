"""Resamplers: ``(X, Y) -> (X', Y')`` in scikit-learn's manner."""

from scumble.resample.base import BaseResampler, Resampled
from scumble.resample.lp_random import LPROS, LPRUS
from scumble.resample.ml_random import MLROS, MLRUS
from scumble.resample.remedial import REMEDIAL

__all__ = ["LPROS", "LPRUS", "MLROS", "MLRUS", "REMEDIAL", "BaseResampler", "Resampled"]
