"""A data set on its way between two processes.

The server shows what a worker computed without unpacking it: so it need not import what the worker
imports, and the page is there in half the time.
"""

from __future__ import annotations

import pickle
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset
    from scumble.data.feature_table import FeatureTable
    from scumble.measures.summary import Summary

    Content = tuple[MultilabelDataset, Summary, FeatureTable]


class PackedDataset:
    """A data set with its measures, packed until somebody looks inside."""

    def __init__(self, facts: dict[str, Any], overview: dict[str, Any], packed: bytes) -> None:
        self.facts, self.overview = facts, overview
        self._packed: bytes | None = packed
        self._content: Content | None = None
        self._lock = Lock()

    @classmethod
    def pack(cls, overview: dict[str, Any], content: Content) -> PackedDataset:
        """Pack a data set."""
        sizes = ("n_instances", "n_features", "n_labels")
        facts = {"name": content[0].name, **{size: getattr(content[0], size) for size in sizes}}
        return cls(facts, overview, pickle.dumps(content, protocol=5))

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel packed."""
        with self._lock:
            packed = self._packed
        if packed is None:
            packed = pickle.dumps(self._content, protocol=5)
        return PackedDataset, (self.facts, self.overview, packed)

    @property
    def data(self) -> MultilabelDataset:
        """The data set."""
        return self._unpacked()[0]

    @property
    def summary(self) -> Summary:
        """Its measures."""
        return self._unpacked()[1]

    @property
    def feature_table(self) -> FeatureTable:
        """The range of its features."""
        return self._unpacked()[2]

    def _unpacked(self) -> Content:
        with self._lock:  # fifty clients may ask at once
            if self._content is None:
                assert self._packed is not None
                self._content = pickle.loads(self._packed)  # made by a process of ours
                self._packed = None
            return self._content
