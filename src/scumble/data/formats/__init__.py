"""File formats, one module each. Importing this package registers them all."""

from scumble.data.formats import columnar, csv, extreme, keel, libsvm, meka, mulan  # noqa: F401
