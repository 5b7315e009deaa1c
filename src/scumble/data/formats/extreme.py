"""The extreme classification format: a line ``N D L``, then a line ``l1,l2 f:v f:v`` per row.

N, D and L are the numbers of rows, features and labels; l1 and l2 are numbers of labels, f:v is the
number of a feature with its value. Features and labels are counted from 0.
"""

import re
from codecs import BOM_UTF8
from itertools import chain
from typing import NamedTuple

import numpy as np

from scumble._core.files import InputFile, OutputFile
from scumble.data.dataset import MultilabelDataset
from scumble.data.formats import sparse_lines
from scumble.data.formats.base import Format, LabelChoice
from scumble.data.formats.sparse_lines import MAX_COLUMNS, ParsedRows
from scumble.data.label_lists import label_indicator_matrix

_HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*")
_ROW = re.compile(rb"(?:\d+(?:,\d+)*)?(?:[ \t]*(?:^|[ \t])\d+:\S+)*[ \t\r]*")


def sniff(source: InputFile, head: bytes) -> float:
    """Return how likely a file has this format, from 0 to 1; ``head`` are its first bytes."""
    lines = head.removeprefix(BOM_UTF8).split(b"\n")
    if not _HEADER.fullmatch(lines[0]):
        return 0.05 if source.suffix == ".xc" else 0.0
    complete_rows = lines[1:-1][:20]  # the last line may be cut off
    if complete_rows:
        return 0.95 if all(_ROW.fullmatch(row) for row in complete_rows) else 0.3
    has_no_rows = lines[1:] in ([], [b""])
    return 0.6 if has_no_rows or _ROW.fullmatch(lines[1]) else 0.3


def read_extreme(
    source: InputFile, *, labels: LabelChoice = None, max_columns: int | None = None
) -> MultilabelDataset:
    """Read a file of the extreme classification format.

    ``max_columns`` allows more features or labels than the size of the file explains, see
    `ParsedRows.check_n_columns`. ``labels`` must be None: each line begins with its labels.
    """
    sparse_lines.check_no_label_option(labels, "extreme")
    blocks = source.blocks()
    line, _, first_block = next(blocks, b"").removeprefix(BOM_UTF8).partition(b"\n")
    size = _parse_header(source, line)
    rows = ParsedRows(
        source,
        chain([first_block], blocks),
        lenient=False,
        label_limit=size.n_labels,
        index_limit=min(size.n_features, MAX_COLUMNS),
        max_columns=max_columns,
        n_lines=1,
    )
    rows.check_n_columns(size.n_features, "features")
    rows.check_n_columns(size.n_labels, "labels")
    _drop_blank_lines_at_end(rows, size.n_rows)
    _check_n_rows(source, rows, size.n_rows)
    X = rows.feature_matrix(size.n_features, index_base=0)
    Y = label_indicator_matrix(
        rows.label_indptr(), rows.labels, size.n_labels, input_name=source.display_name
    )
    return MultilabelDataset(X, Y, features=rows.make_features(X), name=source.stem)


def write_extreme(dataset: MultilabelDataset, target: OutputFile) -> None:
    """Write a file of the extreme classification format."""
    first_line = f"{dataset.n_instances} {dataset.n_features} {dataset.n_labels}\n"
    sparse_lines.write_lines(dataset, target, first_line, index_base=0)


class _Size(NamedTuple):
    """The numbers in the first line of a file."""

    n_rows: int
    n_features: int
    n_labels: int


def _parse_header(source: InputFile, line: bytes) -> _Size:
    """Return the numbers in the first line; raise ReadError if it holds anything else."""
    match = _HEADER.fullmatch(line)
    if not match:
        text = line[:60].decode(errors="replace")
        raise source.error(
            "expected three whole numbers (instances, features, labels) and nothing else, "
            f"found {text!r}.",
            line=1,
        )
    return _Size(*map(int, match.groups()))


def _drop_blank_lines_at_end(rows: ParsedRows, n_rows: int) -> None:
    """Remove empty rows at the end of ``rows``, in place, while it has more than ``n_rows``."""
    nonempty_rows = np.flatnonzero(rows.label_counts + rows.pair_counts)
    end = n_rows
    if len(nonempty_rows):
        end = max(n_rows, int(nonempty_rows[-1]) + 1)
    rows.label_counts = rows.label_counts[:end]
    rows.pair_counts = rows.pair_counts[:end]
    rows.lines = rows.lines[:end]


def _check_n_rows(source: InputFile, rows: ParsedRows, n_rows: int) -> None:
    """Raise ReadError if the file does not have ``n_rows`` rows, as its first line says."""
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
