from hypothesis import given, strategies as st

from scumble._core.text import display_width, escape_controls, shorten, wrap


@given(st.text())
def test_nothing_unprintable_survives(text):
    assert escape_controls(text).isprintable()
    assert escape_controls(text) == text or not text.isprintable()


def test_escape_codes_are_shown_not_obeyed():
    assert escape_controls("a\x1b[2Jb\r\n\u202e") == "a\\x1b[2Jb\\r\\n\\u202e"


def test_cells():
    assert display_width("漢字") == 4
    assert display_width("e\u0301") == 1
    assert shorten("漢字漢字", 5) == "漢字…"
    assert shorten("abc", 3) == "abc"
    assert wrap("devel-lib is here", 10) == ["devel-lib", "is here"]


@given(st.text(st.sampled_from("aé漢\u0301"), max_size=12), st.integers(1, 12))
def test_a_shortened_text_is_the_longest_beginning_that_fits(text, width):
    fitting = [text[:at] for at in range(len(text) + 1) if display_width(text[:at]) < width]
    expected = text if display_width(text) <= width else fitting[-1] + "…"
    assert shorten(text, width) == expected


def test_a_very_long_name_is_shortened_at_once():
    assert shorten("é" * 2_000_000, 5) == "éééé…"
