from typing import Any

from scumble._core.arrays import Array

INTEGER: int
DECIMAL: int
LONG: int
NO_NUMBER: int

def parse_float(text: bytes | memoryview) -> tuple[int, float]: ...
def slices_to_arrow(text: Array, starts: Array, ends: Array, arrow_type: Any = None) -> Any: ...
def exact_floats(text: Array, starts: Array, ends: Array) -> Array: ...
