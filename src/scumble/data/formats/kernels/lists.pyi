from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

FINE: int
NO_LIST: int
UNCLOSED: int
NO_COMMA: int
NO_LABEL: int
AFTER_LIST: int

def parse_lists(
    text: Array, offsets: Array, tokens: Array, escaped: Array, counts: Array
) -> tuple[int, int, int]: ...
