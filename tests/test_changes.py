"""The notes in ``changes/`` become a page: by category, the newest first."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def changes():
    pytest.importorskip("sphinx", reason="Sphinx is missing: pip install 'scumble[docs]'")
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    try:
        from scumble_docs import changes
    finally:
        sys.path.pop(0)
    return changes


def test_sections_are_sorted_by_category_and_day(changes):
    older = "# Fixed, 2026-11-15\n\n- The older.\n\n# Moved, 2026-11-16\n\n- `a` is `b`.\n"
    newer = "# Fixed, 2026-11-16\n\nThe newer,\nin two lines.\n"
    undated = "- Without a heading.\n"
    lines = changes.page([older, newer, undated]).splitlines()
    assert [line for line in lines if line and not line.startswith("---")] == [
        "Names that moved",
        "- ``a`` is ``b``.",
        "Added",
        "- Without a heading.",
        "Fixed",
        "- The newer, in two lines.",
        "- The older.",
    ]


def test_a_heading_nobody_knows_counts_as_added(changes):
    assert changes.sections_of("# Mended\n\n- One.\n")[1] == ("Added", changes.UNDATED, ["One."])


def test_code_links_and_bold_words_become_rest(changes):
    note = "**Names.** `fit` of [the guide](https://example.org) is 2**3 times *as* clear."
    assert changes.from_markdown(note) == (
        "**Names.** ``fit`` of `the guide <https://example.org>`__ is 2\\*\\*3 times \\*as\\* "
        "clear."
    )


def test_the_headings_of_our_notes_are_known(changes):
    for path in sorted((ROOT / "changes").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        marked = [line for line in text.splitlines() if line.startswith("#")]
        known = [found[1] in changes.CATEGORIES for found in changes.HEADING.finditer(text)]
        assert len(marked) == len(known), f"{path.name}: a heading is '# Fixed, 2026-11-17'"
        assert all(known), f"{path.name}: expected one of {', '.join(changes.CATEGORIES)}"
