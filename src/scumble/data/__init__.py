"""Files, addresses, arrays in; one immutable `MultilabelDataset` out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scumble._core.lazy import lazy_names

if TYPE_CHECKING:
    from scumble.data import shelf
    from scumble.data.dataset import Feature, MultilabelDataset
    from scumble.data.io import read, write
    from scumble.data.shelf import load
    from scumble.data.synthetic import make_multilabel

__all__ = ["Feature", "MultilabelDataset", "load", "make_multilabel", "read", "shelf", "write"]

# Names load on first use: who reads a file needs neither the shelf nor the generator.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "scumble.data.dataset": ("Feature", "MultilabelDataset"),
        "scumble.data.io": ("read", "write"),
        "scumble.data.shelf": ("load",),
        "scumble.data.synthetic": ("make_multilabel",),
    },
)
