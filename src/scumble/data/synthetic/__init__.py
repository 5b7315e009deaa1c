"""Data made to measure: how many instances and labels, how imbalanced, how entangled."""

from scumble._core import exports
from scumble.data.synthetic.generator import make_multilabel as make_multilabel

exports.publish(globals())
