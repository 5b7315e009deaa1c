"""How much memory a file would take, and how much there is."""

from __future__ import annotations

import os
import re
from pathlib import Path

from scumble.scale.sources import Files

#: Reading takes about this many times the bytes of the columns: they are held as they are read,
#: as label and feature matrices, and once more while these are put together.
GROWTH = 3
#: Compressed text grows by about this much.
EXPANSION = 6


def bytes_needed(files: Files) -> int:
    """Estimate the memory that reading files takes."""
    if files.is_remote:
        return 0
    return GROWTH * sum(_plain_bytes(path, files.format) for path in files.paths)


def bytes_available() -> int:
    """Tell how much memory this machine can still give."""
    try:
        found = re.search(r"MemAvailable:\s+(\d+)", Path("/proc/meminfo").read_text())
    except OSError:
        found = None
    if found is not None:
        return int(found[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _plain_bytes(path: str, format: str) -> int:
    size = os.path.getsize(path)
    if format != "parquet":
        is_plain = path.lower().endswith((".csv", ".tsv", ".arrow", ".feather", ".ipc"))
        return size if is_plain else size * EXPANSION
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
    except (pa.ArrowException, OSError):
        return size
    return sum(metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups))
