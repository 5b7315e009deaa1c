"""Measures: numbers that describe labels, and `characterize`, which computes all of them."""

from scumble.measures.base import Measure
from scumble.measures.concurrence import (
    Concurrence,
    concurrence,
    scumble,
    scumble_by_instance,
    scumble_by_label,
    scumble_cv,
    scumble_cv_by_label,
)
from scumble.measures.difficult import (
    CooccurringLabel,
    DifficultLabel,
    difficult_labels,
)
from scumble.measures.imbalance import (
    cvir,
    irlbl,
    is_minority,
    label_counts,
    label_frequencies,
    max_ir,
    mean_ir,
)
from scumble.measures.labelsets import (
    Labelsets,
    diversity,
    labelset_of_rows,
    labelsets,
    tcs,
)
from scumble.measures.shape import (
    cardinality,
    cooccurrence,
    density,
    p_min,
)
from scumble.measures.summary import (
    LabelTable,
    Summary,
    characterize,
)

__all__ = [
    "Concurrence",
    "CooccurringLabel",
    "DifficultLabel",
    "LabelTable",
    "Labelsets",
    "Measure",
    "Summary",
    "cardinality",
    "characterize",
    "concurrence",
    "cooccurrence",
    "cvir",
    "density",
    "difficult_labels",
    "diversity",
    "irlbl",
    "is_minority",
    "label_counts",
    "label_frequencies",
    "labelset_of_rows",
    "labelsets",
    "max_ir",
    "mean_ir",
    "p_min",
    "scumble",
    "scumble_by_instance",
    "scumble_by_label",
    "scumble_cv",
    "scumble_cv_by_label",
    "tcs",
]
