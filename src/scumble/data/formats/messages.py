"""Pieces of files in messages about what is wrong with them."""

from __future__ import annotations


def excerpt(text: str, limit: int = 60) -> str:
    """Quote a piece of a file, cut to a readable length."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")
