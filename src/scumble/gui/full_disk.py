"""A disk on which nothing more fits: said in words, to whoever can do something about it."""

from __future__ import annotations

import errno
import tempfile

#: What the system answers where not a byte more may be written.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def is_full(error: OSError) -> bool:
    """Tell whether an error means that there is no room for a file."""
    return error.errno in FULL


def no_room() -> str:
    """Say that there is no room, and what to do."""
    return (
        f"There is no room left for this on the disk of {tempfile.gettempdir()}. Nothing was kept "
        "of it. Free some space, or start the server with TMPDIR naming a folder on a larger disk."
    )
