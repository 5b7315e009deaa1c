"""The list of changes, from the notes in ``changes/``.

A line such as ``# Fixed, 2026-11-17`` begins a section of a note: its category, and the day that it
is sorted by. Text before the first such line belongs to "Added" and is the newest.
"""

import re
from pathlib import Path

from scumble_docs.rst import escape, title

ROOT = Path(__file__).resolve().parents[3]
CODE_OR_LINK_OR_BOLD = re.compile(
    r"`(?P<code>[^`]+)`|\[(?P<label>[^\]]+)\]\((?P<address>[^)\s]+)\)|\*\*(?P<bold>[^*]+)\*\*"
)
HEADING = re.compile(r"^# *(\w+)(?:, *(\d{4}-\d\d-\d\d))? *$", re.MULTILINE)
#: In the order of the page, with the titles there.
CATEGORIES = {
    "Moved": "Names that moved",
    "Changed": "Changed",
    "Added": "Added",
    "Fixed": "Fixed",
    "Faster": "Faster",
}
UNDATED = "9999-12-31"


def write():
    """Return the items of all notes by category, the newest first."""
    notes = (path.read_text(encoding="utf-8") for path in sorted((ROOT / "changes").glob("*.md")))
    return page(notes)


def page(notes):
    """Return the page of the notes; items of one day keep the order of the notes."""
    sections = [section for note in notes for section in sections_of(note)]
    sections.sort(key=lambda section: section[1], reverse=True)
    lines = []
    for category, heading in CATEGORIES.items():
        items = [item for name, _, found in sections if name == category for item in found]
        if items:
            lines += [title(heading, "-"), *(f"- {from_markdown(item)}" for item in items), ""]
    return "\n".join(lines)


def sections_of(note):
    """Split a note at its headings: category, day and items of each part."""
    before, *rest = HEADING.split(note)
    parts = [("Added", None, before), *zip(rest[::3], rest[1::3], rest[2::3], strict=True)]
    return [
        (category if category in CATEGORIES else "Added", day or UNDATED, items_of(text))
        for category, day, text in parts
    ]


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
    """Translate code, links and bold words from Markdown to reStructuredText."""
    parts, end = [], 0
    for match in CODE_OR_LINK_OR_BOLD.finditer(text):
        parts.append(escape(text[end : match.start()]))
        if match["code"]:
            parts.append(f"``{match['code']}``")
        elif match["bold"]:
            parts.append(f"**{escape(match['bold'])}**")
        else:
            parts.append(f"`{escape(match['label'])} <{match['address']}>`__")
        end = match.end()
    return "".join([*parts, escape(text[end:])])
