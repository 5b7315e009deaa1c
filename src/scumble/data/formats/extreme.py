"""The extreme classification format: ``N D L``, then ``l1,l2 f:v f:v`` in every row."""

import re
from codecs import BOM_UTF8
from itertools import chain

import numpy as np

from scumble._core.files import InputFile, OutputFile
from scumble.data.dataset import MultilabelDataset
from scumble.data.formats import sparse_lines
from scumble.data.formats.base import Format, LabelChoice
from scumble.data.formats.sparse_lines import MAX_COLUMNS, ParsedRows
from scumble.data.label_lists import indicator_matrix

_HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*")
_ROW = re.compile(rb"(?:\d+(?:,\d+)*)?(?:[ \t]*(?:^|[ \t])\d+:\S+)*[ \t\r]*")


def sniff(source: InputFile, head: bytes) -> float:
    """Return how likely a file has the extreme classification format, between 0 and 1."""
    lines = head.removeprefix(BOM_UTF8).split(b"\n")
    if not _HEADER.fullmatch(lines[0]):
        return 0.05 if source.suffix == ".xc" else 0.0
    rows = lines[1:-1][:20]  # the last may be cut off
    if rows:
        return 0.95 if all(_ROW.fullmatch(row) for row in rows) else 0.3
    has_no_rows = lines[1:] in ([], [b""])
    return 0.6 if has_no_rows or _ROW.fullmatch(lines[1]) else 0.3


def read_extreme(
    source: InputFile, *, labels: LabelChoice = None, max_columns: int | None = None
) -> MultilabelDataset:
    """Read a file of the extreme classification format.

    A file with more columns than its size explains needs ``max_columns``.
    """
    sparse_lines.check_no_label_option(labels, "extreme")
    blocks = source.blocks()
    line, _, first_block = next(blocks, b"").removeprefix(BOM_UTF8).partition(b"\n")
    n_rows, n_features, n_labels = _parse_header(source, line)
    rows = ParsedRows(
        source,
        chain([first_block], blocks),
        lenient=False,
        label_limit=n_labels,
        index_limit=min(n_features, MAX_COLUMNS),
        max_columns=max_columns,
        n_lines=1,
    )
    rows.check_n_columns(n_features, "features")
    rows.check_n_columns(n_labels, "labels")
    _drop_blank_lines_at_end(rows, n_rows)
    _check_n_rows(source, rows, n_rows)
    X = rows.features(0, n_features)
    Y = indicator_matrix(rows.label_indptr(), rows.labels, n_labels, source.where)
    return MultilabelDataset(X, Y, features=rows.make_features(X), name=source.stem)


def write_extreme(dataset: MultilabelDataset, target: OutputFile) -> None:
    """Write a file of the extreme classification format."""
    first_line = f"{dataset.n_instances} {dataset.n_features} {dataset.n_labels}\n"
    sparse_lines.write_lines(dataset, target, first_line, base=0)


def _parse_header(source: InputFile, line: bytes) -> tuple[int, int, int]:
    """Return the numbers of rows, features and labels in the first line."""
    match = _HEADER.fullmatch(line)
    if not match:
        text = line[:60].decode(errors="replace")
        raise source.error(
            "expected three whole numbers (instances, features, labels) and nothing else, "
            f"found {text!r}.",
            line=1,
        )
    n_rows, n_features, n_labels = map(int, match.groups())
    return n_rows, n_features, n_labels


def _drop_blank_lines_at_end(rows: ParsedRows, n_rows: int) -> None:
    """Remove empty rows at the end that exceed the number in the first line."""
    with_content = np.flatnonzero(rows.counts.any(axis=1))
    end = n_rows
    if len(with_content):
        end = max(n_rows, int(with_content[-1]) + 1)
    rows.counts = rows.counts[:end]
    rows.lines = rows.lines[:end]


def _check_n_rows(source: InputFile, rows: ParsedRows, n_rows: int) -> None:
    """Raise an error if the file has more or fewer rows than its first line says."""
    if len(rows) < n_rows:
        raise source.error(
            f"the first line promises {n_rows} instances, but the file ends after "
            f"{len(rows)}. Is it cut short?",
            line=max(rows.n_lines, 1),
        )
    if len(rows) > n_rows:
        raise source.error(
            f"the first line promises {n_rows} instances, but here is one more. "
            "Correct the first line.",
            line=int(rows.lines[n_rows]),
        )


FORMAT = Format(
    name="extreme",
    title="Extreme classification: N D L, then labels and index:value",
    display_group="Sparse lines",
    suffixes=(".txt", ".xc"),
    sniff=sniff,
    read=read_extreme,
    write=write_extreme,
    preserved_parts=sparse_lines.PRESERVED_PARTS,
)
