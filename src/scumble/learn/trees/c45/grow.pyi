from typing import Any

from scumble._core.arrays import Array

def tabulate_x_ln_x(size: int) -> Array: ...
def grow_trees(
    table: Any, targets: Any, settings: Any, x_ln_x_table: Array
) -> dict[str, Array]: ...
