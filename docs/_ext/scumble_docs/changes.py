"""The list of changes, from the notes in ``changes/``."""

import re
from pathlib import Path

from scumble_docs.rst import escape

ROOT = Path(__file__).resolve().parents[3]
CODE_OR_LINK = re.compile(r"`([^`]+)`|\[([^\]]+)\]\(([^)\s]+)\)")


def write():
    """Make one item of every note, in the order of the files' names."""
    notes = (path.read_text(encoding="utf-8") for path in sorted((ROOT / "changes").glob("*.md")))
    items = [item for note in notes for item in items_of(note)]
    return "\n".join(f"- {from_markdown(item)}" for item in items) + "\n"


def items_of(note):
    """Split a note into its list items or paragraphs, each on one line."""
    items = []
    for line in note.splitlines():
        text = line.strip()
        if text.startswith(("- ", "* ")):
            items.append(text[2:])
        elif not text:
            items.append("")
        elif items:
            items[-1] = f"{items[-1]} {text}".strip()
        else:
            items.append(text)
    return [item for item in items if item]


def from_markdown(text):
    """Translate code and links, the two things notes use."""
    parts, end = [], 0
    for found in CODE_OR_LINK.finditer(text):
        parts.append(escape(text[end : found.start()]))
        code, label, address = found.groups()
        parts.append(f"``{code}``" if code else f"`{escape(label)} <{address}>`__")
        end = found.end()
    return "".join([*parts, escape(text[end:])])
