"""How numbers are written for people."""

from __future__ import annotations

from typing import Any


def format_number(value: Any, spec: str = ",d") -> str:
    """Print a number, or a dash where there is none."""
    return "–" if value is None else format(value, spec)


def counted(n: int, noun: str) -> str:
    """Print a number of things: "1 label", "1,200 labels"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def significant(value: float | None, digits: int = 4) -> str:
    """Print with so many significant digits, never in powers of ten."""
    if value is None:
        return "–"
    text = f"{value:,.{digits}g}"
    if "e" not in text:
        return text
    return f"{value:,.0f}" if abs(value) >= 1 else f"{value:.{digits + 4}f}"
