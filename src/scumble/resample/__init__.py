"""Resamplers: ``(X, Y) -> (X', Y')`` in scikit-learn's manner."""

from scumble.resample.base import BaseResampler, Resampled
from scumble.resample.lp_random import LPROS, LPRUS
from scumble.resample.ml_random import MLROS, MLRUS
from scumble.resample.mlenn import MLeNN
from scumble.resample.mlsmote import MLSMOTE
from scumble.resample.remedial import REMEDIAL

__all__ = [
    "LPROS",
    "LPRUS",
    "MLROS",
    "MLRUS",
    "MLSMOTE",
    "REMEDIAL",
    "BaseResampler",
    "MLeNN",
    "Resampled",
]
