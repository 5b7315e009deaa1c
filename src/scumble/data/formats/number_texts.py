"""Numbers as the shortest text that reads back as the same double."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scumble.data.columns import are_whole

if TYPE_CHECKING:
    import pyarrow as pa


def number_texts(values: np.ndarray[Any, Any], *, whole: bool) -> pa.Array:
    """Write doubles as text; missing ones become null.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.data.formats.number_texts import number_texts
    >>> number_texts(np.array([5, 0.1, 1e300]), whole=False).to_pylist()
    ['5.0', '0.1', '1e+300']
    >>> number_texts(np.array([5, np.nan]), whole=True).to_pylist()
    ['5', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = np.isnan(values)
    if whole and are_whole(values[~missing]):
        with np.errstate(invalid="ignore"):
            return pa.array(values.astype(np.int64), mask=missing).cast(pa.string())
    texts = pa.array(values, mask=missing).cast(pa.string())
    bare = pc.match_substring_regex(texts, r"^-?\d+$")
    return pc.if_else(bare, pc.binary_join_element_wise(texts, ".0", ""), texts)
