from typing import Any

class TableView:
    n_rows: int
    n_values_in_all: int
    missing: bool
    def __init__(self, columns: Any, items: Any, n_rows: int, missing: bool) -> None: ...
