"""Data made to measure: how many instances and labels, how imbalanced, how entangled."""

from scumble.data.synthetic.generator import make_multilabel

__all__ = [
    "make_multilabel",
]
