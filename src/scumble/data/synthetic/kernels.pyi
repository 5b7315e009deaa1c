from scumble._core.arrays import Array

def round_counts(values: Array, most: int) -> Array: ...

class Dealer:
    def __init__(self, ends: Array, ratios: Array, logs: Array, n_blocks: int) -> None: ...
    def take_labels(self, block: int) -> Array: ...
    def fill(
        self,
        block: int,
        seed: int,
        n_rows: int,
        target: float,
        effort: int,
        row_ends: Array,
        indices: Array,
    ) -> float: ...
