"""Texts of many values at once, for the writers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scumble._core.arrays import Array
from scumble.data.feature import are_whole

if TYPE_CHECKING:
    import pyarrow as pa


def number_texts(values: Array, *, whole: bool) -> pa.Array:
    """Write doubles as the shortest text that reads back the same; missing ones become null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = np.isnan(values)
    if whole and are_whole(values[~missing]):
        with np.errstate(invalid="ignore"):
            return pa.array(values.astype(np.int64), mask=missing).cast(pa.string())
    texts = pa.array(values, mask=missing).cast(pa.string())
    bare = pc.match_substring_regex(texts, r"^-?\d+$")
    return pc.if_else(bare, pc.binary_join_element_wise(texts, ".0", ""), texts)


def join_runs(texts: pa.Array, ends: Array, separator: str) -> pa.Array:
    """Join texts that follow each other, each run between two of ``ends``."""
    import pyarrow as pa
    import pyarrow.compute as pc

    offsets = pa.array((ends - ends[0]).astype(np.int32))
    return pc.binary_join(pa.ListArray.from_arrays(offsets, texts), separator)


def as_lines(texts: pa.Array) -> bytes:
    """Put texts below each other."""
    lines = join_runs(texts, np.array([0, len(texts)]), "\n")
    content: bytes = lines[0].as_buffer().to_pybytes() + b"\n"
    return content
