"""Resamplers: ``(X, Y) -> (X', Y')`` in scikit-learn's manner."""

from scumble.resample.base import BaseResampler, Resampled
from scumble.resample.remedial import REMEDIAL

__all__ = ["REMEDIAL", "BaseResampler", "Resampled"]
