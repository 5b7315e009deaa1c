"""File formats, one module each. Importing this package registers them all."""

from scumble.data.formats import extreme, libsvm

__all__ = ["extreme", "libsvm"]
