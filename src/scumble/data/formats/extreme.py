"""The text form of extreme classification: ``N D L``, then ``l1,l2 f:v f:v`` in every row."""

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
    """Tell how much a file looks like the extreme-classification form."""
    lines = head.removeprefix(BOM_UTF8).split(b"\n")
    if not _HEADER.fullmatch(lines[0]):
        return 0.05 if source.suffix == ".xc" else 0.0
    rows = lines[1:-1][:20]  # the last may be cut off
    if not rows:
        return 0.6 if lines[1:] in ([], [b""]) or _ROW.fullmatch(lines[1]) else 0.3
    return 0.95 if all(_ROW.fullmatch(row) for row in rows) else 0.3


def read_extreme(
    source: InputFile, *, labels: LabelChoice = None, max_columns: int | None = None
) -> MultilabelDataset:
    """Read a file of the extreme-classification text form."""
    sparse_lines.refuse_label_choice(labels, "extreme")
    blocks = source.blocks()
    line, _, rest = next(blocks, b"").removeprefix(BOM_UTF8).partition(b"\n")
    n_rows, n_features, n_labels = _header(source, line)
    rules = (False, n_labels, min(n_features, MAX_COLUMNS))
    rows = ParsedRows(source, chain([rest], blocks), rules, max_columns, n_lines=1)
    rows.check_n_columns(n_features, "features")
    rows.check_n_columns(n_labels, "labels")
    _drop_last_blank_lines(rows, n_rows)
    _check_count(source, rows, n_rows)
    X = rows.features(0, n_features)
    Y = indicator_matrix(rows.label_indptr(), rows.labels, n_labels, source.where)
    return MultilabelDataset(X, Y, features=rows.make_features(X), name=source.stem)


def write_extreme(dataset: MultilabelDataset, target: OutputFile) -> None:
    """Write a file of the extreme-classification text form."""
    first = f"{dataset.n_instances} {dataset.n_features} {dataset.n_labels}\n"
    sparse_lines.write_lines(dataset, target, first, base=0)


def _header(source: InputFile, line: bytes) -> tuple[int, int, int]:
    found = _HEADER.fullmatch(line)
    if not found:
        shown = line[:60].decode(errors="replace")
        raise source.error(
            "expected three whole numbers (instances, features, labels) and nothing else, "
            f"found {shown!r}.",
            line=1,
        )
    n_rows, n_features, n_labels = map(int, found.groups())
    return n_rows, n_features, n_labels


def _drop_last_blank_lines(rows: ParsedRows, n_rows: int) -> None:
    """Forget rows without any content beyond the number promised: they end the file."""
    full = np.flatnonzero(rows.counts.any(axis=1))
    end = max(n_rows, int(full[-1]) + 1 if len(full) else 0)
    rows.counts, rows.lines = rows.counts[:end], rows.lines[:end]


def _check_count(source: InputFile, rows: ParsedRows, n_rows: int) -> None:
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
