"""File formats, one module each. Importing this package registers them all."""

from scumble.data.formats import arrow, csv, extreme, keel, libsvm, meka, mulan, parquet

__all__ = ["arrow", "csv", "extreme", "keel", "libsvm", "meka", "mulan", "parquet"]
