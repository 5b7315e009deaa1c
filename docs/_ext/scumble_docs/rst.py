"""Pieces of reStructuredText."""

import re

MARK = "✓"


def title(text, line="="):
    """Return an underlined title."""
    return f"{text}\n{line * len(text)}\n"


def table(head, rows, *, widths="auto", style="compact"):
    """Return a list-table; cells are reStructuredText."""
    lines = [
        ".. list-table::",
        "   :header-rows: 1",
        f"   :widths: {widths}",
        f"   :class: {style}",
        "",
    ]
    for row in [head, *rows]:
        for index, cell in enumerate(row):
            first, *other_lines = str(cell).split("\n") or [""]
            lines.append(f"   {'* -' if index == 0 else '  -'} {first}".rstrip())
            lines += [f"       {line}".rstrip() for line in other_lines]
    return "\n".join(lines) + "\n"


def literal(text):
    """Return text marked as code."""
    return f"``{text}``" if text else ""


def escape(text):
    """Escape the markup in plain text."""
    return re.sub(r"([\\*|_`])", r"\\\1", text)


def summary_of(obj):
    """Return the first paragraph of a docstring as one line."""
    paragraph = (obj.__doc__ or "").strip().split("\n\n")[0]
    return " ".join(line.strip() for line in paragraph.splitlines())
