"""Names in scripts that the chosen font lacks."""

import warnings

import pytest

pytest.importorskip("matplotlib", reason="pip install 'scumble[plots]'")

from matplotlib import rc_context
from matplotlib.text import Text

from scumble.plots import fonts, plot_bytes, plot_labels

GEORGIAN = "ფილმი"
OWN = ("DejaVu Sans", "STIXGeneral")  # both come with matplotlib


@pytest.fixture(autouse=True)
def only_own_fonts(monkeypatch):
    known = [(name, path) for name, path in fonts._installed() if name in OWN]
    monkeypatch.setattr(fonts, "_installed", lambda: known)
    fonts._fonts_with.cache_clear()
    yield
    fonts._fonts_with.cache_clear()


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


def test_letters_that_no_font_has_are_no_reason_to_stop():
    ax = plot_labels([["電影"], ["電影", "war"]])
    before = families(ax, "")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plot_bytes(ax, "png").startswith(b"\x89PNG")
    assert families(ax, "") == before


def test_fonts_of_one_look_come_first_and_boxes_never():
    names = ["Zed", "Noto Sans CJK JP", "DejaVu Sans", "Abel"]
    ranked = sorted(names, key=fonts._rank)
    assert ranked == ["Noto Sans CJK JP", "DejaVu Sans", "Abel", "Zed"]
    assert not any(name.startswith("Last Resort") for name, _ in fonts._installed())
