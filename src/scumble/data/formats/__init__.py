"""File formats, one module each. Importing this package registers them all."""
