"""Numbers that describe labels: functions of ``Y``, and `characterize` for all of them."""

from scumble._core import exports
from scumble.measures.base import Measure as Measure
from scumble.measures.concurrence import (
    Concurrence as Concurrence,
    concurrence as concurrence,
    scumble as scumble,
    scumble_by_instance as scumble_by_instance,
    scumble_by_label as scumble_by_label,
    scumble_cv as scumble_cv,
    scumble_cv_by_label as scumble_cv_by_label,
)
from scumble.measures.difficult import (
    DifficultLabel as DifficultLabel,
    Partner as Partner,
    difficult_labels as difficult_labels,
)
from scumble.measures.imbalance import (
    cvir as cvir,
    irlbl as irlbl,
    is_minority as is_minority,
    label_counts as label_counts,
    label_frequencies as label_frequencies,
    max_ir as max_ir,
    mean_ir as mean_ir,
)
from scumble.measures.labelsets import (
    Labelsets as Labelsets,
    diversity as diversity,
    labelset_of_rows as labelset_of_rows,
    labelsets as labelsets,
    tcs as tcs,
)
from scumble.measures.shape import (
    cardinality as cardinality,
    cooccurrence as cooccurrence,
    density as density,
    p_min as p_min,
)
from scumble.measures.summary import (
    LabelTable as LabelTable,
    Summary as Summary,
    characterize as characterize,
)

exports.publish(globals())
