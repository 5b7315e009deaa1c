from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

INTEGER: int
DECIMAL: int
LONG: int
NO_NUMBER: int

def parse_float(text: bytes | memoryview) -> tuple[int, float]: ...
def gather(text: Array, starts: Array, offsets: Array, data: Array) -> None: ...
def pieces(text: Array, starts: Array, ends: Array, kind: Any = None) -> Any: ...
def exact_floats(text: Array, starts: Array, ends: Array) -> Array: ...
