from scumble._core.arrays import Array

class Texts:
    def __init__(self, blob: Array, at: Array) -> None: ...

def count_decimals(values: Array, decimals: Array) -> None: ...
def write_rows(
    values: Array,
    decimals: Array,
    columns: Array | None,
    names: tuple[Array, Array, Array],
    row_end: Array,
    declared: Texts,
    prepared: Texts,
) -> Array: ...
