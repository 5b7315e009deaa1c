"""File formats, one module each. Importing this package registers them all."""

# Importing a module registers its format in the catalogue.
from scumble.data.formats import columnar, csv, extreme, keel, libsvm, meka, mulan  # noqa: F401
