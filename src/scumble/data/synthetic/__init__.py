"""Synthetic data with specified size, imbalance and concurrence."""

from scumble.data.synthetic.generator import make_multilabel

__all__ = [
    "make_multilabel",
]
