"""Resamplers, which add, remove or split the rows of multilabel data to balance its labels."""

from scumble.resample.base import BaseDistanceResampler, BaseResampler, ResampleResult
from scumble.resample.chain import (
    apply_chain,
    apply_remedial,
    compare_methods,
    make_chain,
    run_chain,
)
from scumble.resample.hwr import RemedialHwR
from scumble.resample.labelset_smote import LabelsetSMOTE
from scumble.resample.local import MLSOL, MLUL
from scumble.resample.lp_random import LPROS, LPRUS
from scumble.resample.ml_random import MLROS, MLRUS
from scumble.resample.mlenn import MLeNN
from scumble.resample.mlsmote import MLSMOTE
from scumble.resample.mltl import MLTL
from scumble.resample.remedial import REMEDIAL

__all__ = [
    "LPROS",
    "LPRUS",
    "MLROS",
    "MLRUS",
    "MLSMOTE",
    "MLSOL",
    "MLTL",
    "MLUL",
    "REMEDIAL",
    "BaseDistanceResampler",
    "BaseResampler",
    "LabelsetSMOTE",
    "MLeNN",
    "RemedialHwR",
    "ResampleResult",
    "apply_chain",
    "apply_remedial",
    "compare_methods",
    "make_chain",
    "run_chain",
]
