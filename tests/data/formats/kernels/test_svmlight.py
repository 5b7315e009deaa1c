"""The compiled LibSVM parser against an obvious one."""

import re

import numpy as np
from hypothesis import example, given, strategies as st

from scumble.data.formats.kernels.svmlight import parse_lines

NUMBER = re.compile(r"[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf|infinity|nan)", re.I)


def slow(text: str) -> list[tuple[list[str], list[tuple[int, float]]]] | None:
    """Read lines the obvious way; None if something is wrong."""
    rows = []
    lines = text.split("\n")
    for line in lines[:-1] if lines[-1] == "" else lines:
        if line in ("", "\r"):
            continue
        tokens = line.split()
        if tokens and tokens[0].startswith("#"):
            continue
        labels: list[str] = []
        if tokens and ":" not in tokens[0]:
            labels = tokens.pop(0).split(",")
            if not all(labels):
                return None
        pairs = []
        for token in tokens:
            if token.startswith("#"):
                break
            index, colon, value = token.partition(":")
            if index == "qid" and colon:
                continue
            if not colon or not re.fullmatch(r"\d{1,9}", index) or not NUMBER.fullmatch(value):
                return None
            pairs.append((int(index), float(value)))
        rows.append((labels, pairs))
    return rows


def fast(text: str) -> list[tuple[list[str], list[tuple[int, float]]]] | None:
    data = np.frombuffer(text.encode(), np.uint8)
    result = parse_lines(data, lenient=True, label_limit=-1, index_limit=10**9)
    if result.fault:
        return None
    labels, indices, values = result.labels, result.indices, result.values
    for index, start, end in result.long_numbers.tolist():
        values[index] = float(text.encode()[start:end])
    found = []
    first_label = first_value = 0
    for last_label, last_value, _ in result.rows.tolist():
        names = [text.encode()[a:b].decode() for _, a, b in labels[first_label:last_label].tolist()]
        pairs = list(
            zip(
                indices[first_value:last_value].tolist(),
                values[first_value:last_value].tolist(),
                strict=True,
            )
        )
        found.append((names, pairs))
        first_label, first_value = last_label, last_value
    return found


tokens = st.sampled_from(
    [
        "1",
        "0",
        "12",
        "a",
        ",",
        ":",
        " ",
        "\t",
        "\n",
        "\r\n",
        "#",
        "qid:1",
        "1:2",
        "3:.5",
        "2:1e400",
        "-",
        "4:x",
    ]
)


@given(st.lists(tokens, max_size=25).map("".join))
@example("1,2 1:1 # c\n \n\n# d\n:1\n")
@example("\r\n\t\r\n1")
@example("1:\n")
def test_the_same_rows(text):
    assert fast(text) == slow(text)
