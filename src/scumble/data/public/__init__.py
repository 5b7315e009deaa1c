"""Public data sets: their registry, downloads with checksums, and the embedded data set."""

from scumble.data.public import repository

__all__ = ["repository"]
