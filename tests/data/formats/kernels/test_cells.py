"""The compiled CSV splitter against Python's own csv module."""

import csv
import io

import numpy as np
from hypothesis import example, given, strategies as st

from scumble.data.formats.kernels.csv import RAGGED, split_rows


def split(text: str, *, at_end: bool = True) -> tuple[int, list[list[str]], int]:
    data = np.frombuffer(text.encode(), np.uint8)
    result = split_rows(data, ord(","), n_columns=0, at_end=at_end)
    cells = [
        text.encode()[start:end].decode().replace('""', '"' if quoting == 2 else '""')
        for (start, end), quoting in zip(result.bounds.tolist(), result.quoting, strict=True)
    ]
    width = result.n_columns
    rows = [cells[start : start + width] for start in range(0, len(cells), max(width, 1))]
    return result.fault, rows, result.n_bytes


@given(st.text(st.sampled_from('ab",\n\ré'), max_size=30))
@example('"a\r\nb",""\r\n"x"')
@example('"a""b"\n""\n')
@example("a\r\rb\n\n\n,\n")
def test_the_same_cells_as_python(text):
    try:
        expected = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error:
        assert split(text)[0] != 0
        return
    fault, rows, _ = split(text)
    if len({len(row) for row in expected}) > 1:
        assert fault == RAGGED
    else:
        assert fault == 0
        assert rows == expected


@given(
    st.text(st.sampled_from('ab",\n'), max_size=30), st.text(st.sampled_from('a",\n'), max_size=9)
)
def test_what_a_block_leaves_is_read_with_the_next(first, second):
    """Cutting a text after any line changes nothing."""
    first += "\n"
    fault, rows, size = split(first, at_end=False)
    if fault:
        return
    whole_fault, whole, _ = split(first + second)
    if whole_fault:
        return
    rest_fault, rest, _ = split(first[size:] + second)
    assert rest_fault in (0, RAGGED)
    if not rest_fault:
        assert rows + rest == whole
