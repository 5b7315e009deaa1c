"""Names in scripts that the chosen font lacks."""

import warnings
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib", reason="pip install 'scumble[plots]'")

from matplotlib import rc_context
from matplotlib.text import Text

from scumble import ScumbleWarning
from scumble.plots import plot_bytes, plot_labels, saving

GEORGIAN = "ფილმი"
OWN = ("DejaVu Sans", "STIXGeneral")  # both come with matplotlib


@pytest.fixture(autouse=True)
def only_own_fonts(monkeypatch):
    known = [(name, path) for name, path in saving._installed_fonts() if name in OWN]
    monkeypatch.setattr(saving, "_installed_fonts", lambda: known)
    saving._find_fallback_fonts.cache_clear()
    yield
    saving._find_fallback_fonts.cache_clear()


def families(ax, word):
    return [
        text.get_fontfamily()
        for text in ax.get_figure(root=True).findobj(Text)
        if word in text.get_text()
    ]


def test_a_font_that_has_the_letters_is_added_behind_the_chosen_one():
    with rc_context({"font.family": ["STIXGeneral"]}):
        ax = plot_labels([[GEORGIAN], [GEORGIAN, "war"]])
        plot_bytes(ax, "svg")
    assert {*map(tuple, families(ax, GEORGIAN))} == {("STIXGeneral", "DejaVu Sans")}
    assert {*map(tuple, families(ax, "war"))} == {("STIXGeneral",)}


def test_names_the_chosen_font_can_write_are_left_alone():
    ax = plot_labels([["naïve"], ["naïve", GEORGIAN]])
    before = families(ax, "")
    plot_bytes(ax, "svg")
    assert families(ax, "") == before


@pytest.mark.parametrize(("suffix", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_letters_that_no_font_has_are_told_of_and_no_reason_to_stop(suffix, magic):
    ax = plot_labels([["電影"], ["電影", "war"]])
    before = families(ax, "")
    with pytest.warns(ScumbleWarning) as told:
        assert plot_bytes(ax, suffix).startswith(magic)
    [only] = told  # not letter by letter
    assert str(only.message) == (
        "the names hold 2 letters that no font of this machine has, such as '影': the picture "
        "shows boxes. Install a font that has them (Noto has all scripts), or save an SVG, which "
        "keeps the names as text."
    )
    assert families(ax, "") == before


def test_a_drawing_keeps_letters_that_no_font_has_as_text():
    ax = plot_labels([["電影 <b>"], ["電影 <b>", "war"]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawing = ElementTree.fromstring(plot_bytes(ax, "svg"))
    texts = {"".join(node.itertext()) for node in drawing.iter("{http://www.w3.org/2000/svg}text")}
    assert {"電影 <b>", "war"} <= texts


def test_characters_without_font_are_found_in_any_text():
    assert saving.characters_without_font(f"war naïve {GEORGIAN}\t電影") == {"電", "影"}


def test_fonts_of_one_look_come_first_and_boxes_never():
    names = ["Zed", "Noto Sans CJK JP", "DejaVu Sans", "Abel"]
    ranked = sorted(names, key=saving._font_rank)
    assert ranked == ["Noto Sans CJK JP", "DejaVu Sans", "Abel", "Zed"]
    assert not any(name.startswith("Last Resort") for name, _ in saving._installed_fonts())
