"""File formats, one module each. Importing this package registers them all."""

# Nothing here uses them: each registers itself when it is imported.
from scumble.data.formats import columnar, csv, extreme, keel, libsvm, meka, mulan  # noqa: F401
