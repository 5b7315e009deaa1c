"""File formats, one module each. Importing this package registers them all."""

from scumble.data.formats import arrow, extreme, libsvm, parquet

__all__ = ["arrow", "extreme", "libsvm", "parquet"]
