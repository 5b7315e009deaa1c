"""Resamplers: ``(X, Y) -> (X', Y')`` in scikit-learn's manner."""

from scumble._core import exports
from scumble.resample.base import BaseResampler as BaseResampler, Resampled as Resampled
from scumble.resample.chain import (
    apply_chain as apply_chain,
    apply_remedial as apply_remedial,
    compare_methods as compare_methods,
    make_chain as make_chain,
    run_chain as run_chain,
)
from scumble.resample.hwr import RemedialHwR as RemedialHwR
from scumble.resample.labelset_smote import LabelsetSMOTE as LabelsetSMOTE
from scumble.resample.local import MLSOL as MLSOL, MLUL as MLUL
from scumble.resample.lp_random import LPROS as LPROS, LPRUS as LPRUS
from scumble.resample.ml_random import MLROS as MLROS, MLRUS as MLRUS
from scumble.resample.mlenn import MLeNN as MLeNN
from scumble.resample.mlsmote import MLSMOTE as MLSMOTE
from scumble.resample.mltl import MLTL as MLTL
from scumble.resample.remedial import REMEDIAL as REMEDIAL

exports.publish(globals())
