"""Files, addresses, arrays in; one immutable `MultilabelDataset` out."""

from scumble.data import shelf
from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.io import read, write
from scumble.data.shelf import load
from scumble.data.synthetic import make_multilabel

__all__ = ["Feature", "MultilabelDataset", "load", "make_multilabel", "read", "shelf", "write"]
