from scumble._core.arrays import Array

class Texts:
    def __init__(self, texts: list[bytes]) -> None: ...

def count_decimals(values: Array) -> Array: ...
def write_rows(
    values: Array,
    decimals: Array,
    columns: Array | None,
    names: tuple[Array, Array, Array],
    row_end: Array,
    declared: Texts,
    prepared: Texts,
) -> Array: ...
