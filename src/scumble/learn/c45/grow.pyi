from typing import Any

from scumble._core.arrays import Array

def fill_x_ln_x(table: Array) -> None: ...
def grow_trees(
    table: Any, targets: Any, settings: Any, x_ln_x_table: Array
) -> tuple[Array, ...]: ...
