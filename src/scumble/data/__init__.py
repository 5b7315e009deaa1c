"""Files, addresses, arrays in; one immutable `MultilabelDataset` out."""

from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.io import read, write

__all__ = ["Feature", "MultilabelDataset", "read", "write"]
