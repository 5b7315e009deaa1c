"""Splitters: which rows train and which test, in scikit-learn's manner."""

from scumble.evaluate.splitters.base import BaseSplitter
from scumble.evaluate.splitters.kfold import (
    FixedFolds,
    IterativeStratification,
    LabelsetStratification,
    MulanKFold,
    RepeatedKFold,
    write_folds,
)

__all__ = [
    "BaseSplitter",
    "FixedFolds",
    "IterativeStratification",
    "LabelsetStratification",
    "MulanKFold",
    "RepeatedKFold",
    "write_folds",
]
