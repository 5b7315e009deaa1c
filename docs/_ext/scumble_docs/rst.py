"""Pieces of reStructuredText."""

import re

MARK = "✓"


def title(text, line="="):
    """Underline a title."""
    return f"{text}\n{line * len(text)}\n"


def table(head, rows, *, widths="auto", style="compact"):
    """Make a list-table; cells are reStructuredText."""
    lines = [
        ".. list-table::",
        "   :header-rows: 1",
        f"   :widths: {widths}",
        f"   :class: {style}",
        "",
    ]
    for row in [head, *rows]:
        for at, cell in enumerate(row):
            first, *more = str(cell).split("\n") or [""]
            lines.append(f"   {'* -' if at == 0 else '  -'} {first}".rstrip())
            lines += [f"       {line}".rstrip() for line in more]
    return "\n".join(lines) + "\n"


def literal(text):
    """Show text as code."""
    return f"``{text}``" if text else ""


def escape(text):
    """Make plain text safe."""
    return re.sub(r"([\\*|_`])", r"\\\1", text)


def summary_of(thing):
    """Return the first paragraph of a docstring as one line."""
    paragraph = (thing.__doc__ or "").strip().split("\n\n")[0]
    return " ".join(line.strip() for line in paragraph.splitlines())
