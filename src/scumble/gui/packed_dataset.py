"""Data sets on their way between the server and its worker processes, pickled once.

A worker that opens or makes a data set pickles it for the server and keeps it. Later tasks name the
data set by its key. Another worker, or the successor of a killed one, does not know this key; the
server then sends it the bytes that it has received.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the server starts faster without the modules that compute
    from scumble.data import MultilabelDataset
    from scumble.data.feature_table import FeatureTable
    from scumble.measures.summary import Summary

    Content = tuple[MultilabelDataset, Summary, FeatureTable]

#: Maximum bytes of the data sets that a worker process keeps; of more, it keeps those used last. A
#: larger data set is sent with every task: keeping it would cost as much memory again.
MAX_HELD_BYTES = 1 << 30


@dataclass(frozen=True)
class DatasetReference:
    """The key of a data set, which is sent instead of the data set."""

    key: str


class PackedDataset:
    """A data set with its measures, pickled once and unpickled when its content is used.

    The server shows what a worker computed without unpickling the content. It then need not import
    the modules that the worker imports, and the first page appears in half the time.

    The arrays are not part of the pickle but beside it, as buffers (pickle protocol 5). Unpickled
    arrays use the memory of these buffers, so that the data is not in memory twice, and the buffers
    can be sent to a worker at any time.

    Parameters
    ----------
    key : str
        Identifies the content in the server and in all workers.
    metadata : dict
        Name and size of the data set.
    overview : dict
        The content of the page *Overview*.
    pickled : bytes
        The pickle of the data set, its measures and the ranges of its features, without arrays.
    buffers : sequence of bytes-like
        The memory of the arrays.
    """

    def __init__(
        self,
        key: str,
        metadata: dict[str, Any],
        overview: dict[str, Any],
        pickled: bytes,
        buffers: Sequence[Any],
    ) -> None:
        self.key = key
        self.metadata = metadata
        self.overview = overview
        self._pickled = pickled
        self._buffers = buffers
        self._content: Content | None = None
        self._lock = threading.Lock()

    @classmethod
    def pack(cls, overview: dict[str, Any], content: Content) -> PackedDataset:
        """Pickle a data set with its measures and the ranges of its features."""
        data = content[0]
        metadata = {
            "name": data.name,
            "n_instances": data.n_instances,
            "n_features": data.n_features,
            "n_labels": data.n_labels,
        }
        buffers: list[pickle.PickleBuffer] = []
        pickled = pickle.dumps(content, protocol=5, buffer_callback=buffers.append)
        packed = cls(token_hex(16), metadata, overview, pickled, buffers)
        packed._content = content  # whoever made it need not unpickle it
        return packed

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the pickle and the buffers to another process; the content is not pickled again."""
        values = (self.key, self.metadata, self.overview, self._pickled, self._buffers)
        return PackedDataset, values

    @property
    def n_bytes(self) -> int:
        """Bytes of the data set in memory."""
        return len(self._pickled) + sum(memoryview(buffer).nbytes for buffer in self._buffers)

    @property
    def is_unpickled(self) -> bool:
        """Whether the content has been used."""
        return self._content is not None

    @property
    def data(self) -> MultilabelDataset:
        """The data set."""
        return self._unpickle()[0]

    @property
    def summary(self) -> Summary:
        """The measures of the data set."""
        return self._unpickle()[1]

    @property
    def feature_table(self) -> FeatureTable:
        """The ranges of the features."""
        return self._unpickle()[2]

    def _unpickle(self) -> Content:
        """Return the content; it is unpickled once."""
        with self._lock:  # several requests may need it at the same time
            if self._content is None:
                # The bytes were made by this process or by one of its workers.
                self._content = pickle.loads(self._pickled, buffers=self._buffers)
            return self._content


class HeldDatasets:
    """The data sets that a worker process keeps in memory, by their keys.

    Parameters
    ----------
    max_bytes : int
        Maximum bytes of all data sets together.

    Examples
    --------
    >>> from scumble.gui.packed_dataset import HeldDatasets, PackedDataset
    >>> held = HeldDatasets(max_bytes=10)
    >>> for key in ("a", "b"):
    ...     held.add(PackedDataset(key, {}, {}, b"12345678", []))
    >>> "a" in held, "b" in held
    (False, True)
    >>> held.retain(keys=[])
    >>> "b" in held
    False
    """

    def __init__(self, max_bytes: int = MAX_HELD_BYTES) -> None:
        self._max_bytes = max_bytes
        self._datasets: dict[str, PackedDataset] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._datasets

    def add(self, packed: PackedDataset) -> None:
        """Add a data set as the one used last; drop those used least recently if necessary.

        A data set that is larger than the limit is not kept.
        """
        self._datasets.pop(packed.key, None)
        if packed.n_bytes > self._max_bytes:
            return
        self._datasets[packed.key] = packed
        n_bytes = sum(held.n_bytes for held in self._datasets.values())
        for key in list(self._datasets):
            if n_bytes <= self._max_bytes:
                return
            n_bytes -= self._datasets.pop(key).n_bytes

    def use(self, key: str) -> PackedDataset:
        """Return a data set, which becomes the one used last."""
        packed = self._datasets.pop(key)
        self._datasets[key] = packed
        return packed

    def retain(self, keys: Collection[str]) -> None:
        """Drop all data sets but those with these keys."""
        for key in set(self._datasets) - set(keys):
            del self._datasets[key]
