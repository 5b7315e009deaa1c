"""Declared nominal values, laid out for the compiled loops."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from scumble.data.formats.arff.header import Attribute, Type

Array = np.ndarray[Any, Any]

_ABSENT = re.compile(r"0(\.0*)?|false", re.IGNORECASE)
_PRESENT = re.compile(r"1(\.0*)?|true", re.IGNORECASE)


def presence(text: str) -> int:
    """Tell what a nominal value means for a label.

    Examples
    --------
    >>> from scumble.data.formats.arff.lookup import presence
    >>> [presence(text) for text in ("1", "0", "TRUE", "false", "NEG")]
    [1, 0, 1, 0, -1]
    """
    if _ABSENT.fullmatch(text):
        return 0
    return 1 if _PRESENT.fullmatch(text) else -1


class Lookup:
    """The nominal values of all attributes; attributes with the same values share a domain.

    Attributes
    ----------
    domains : list of int
        The domain of each attribute, -1 for those that are not nominal.
    entries, blob : ndarray
        See `scumble.data.formats.kernels.arff.Attributes`.
    """

    def __init__(self, attributes: Sequence[Attribute], encoding: str) -> None:
        known: dict[Type, int] = {}
        self.domains = [
            known.setdefault(attribute.type, len(known)) if attribute.type.kind == "nominal" else -1
            for attribute in attributes
        ]
        entries: list[tuple[int, int, int, int, int, int]] = []
        blob: list[bytes] = []
        size = 0
        for kind, domain in known.items():
            for code, (value, raw) in enumerate(_spellings(kind)):
                for text, escaped in ((value, 0), (raw, 1)):
                    spelled = None if text is None else _encode(text, encoding)
                    if spelled is None:
                        continue
                    entries.append((domain, code, size, len(spelled), escaped, presence(value)))
                    blob.append(spelled)
                    size += len(spelled)
        self.entries = np.array(entries, np.int64).reshape(-1, 6)
        self.blob = np.frombuffer(b"".join(blob), np.uint8)


def _spellings(kind: Type) -> zip[tuple[str, str | None]]:
    return zip(kind.categories, kind.raw or (None,) * len(kind.categories), strict=True)


def _encode(text: str, encoding: str) -> bytes | None:
    """Spell a value as the file would; None if its encoding has no such characters."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:  # came from an escape, and only an escape can spell it
        return None
