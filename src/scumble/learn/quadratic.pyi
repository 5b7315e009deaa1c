from scumble._core.arrays import Array

def quadratic_forms(
    indptr: Array, indices: Array, data: Array, matrix: Array, start: int, stop: int, out: Array
) -> None: ...
