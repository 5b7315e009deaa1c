"""The advice on the terminal and as a page."""

from dataclasses import replace

from scumble.report import render_advice, render_advice_page
from tests.advise.test_advice import known_advice


def text_of(lines):
    return "\n".join("".join(part.text for part in line).rstrip() for line in lines)


def test_the_terminal_shows_labels_at_risk_and_methods_as_tables():
    told = known_advice().to_dict()
    text = text_of(render_advice(told, width=100))
    assert "label at risk  rows  times rarer  SCUMBLE  mostly with  F1 untreated  advised" in text
    assert "yodel             2         20.0     0.31   song, 100%         0.000    0.000" in text
    assert "rare *                 0.600           0.300     0.800  +0.200      1.5" in text
    assert max(map(len, text.splitlines())) <= 100
    for sentence in [s for told in told["sentences"].values() for s in told]:
        assert sentence in " ".join(text.split())


def test_names_cannot_break_the_page():
    advice = known_advice()
    names = ("<script>alert(1)</script>", "tab\there", "b & c")
    told = replace(advice, data=replace(advice.data, labels=names)).to_dict()
    page = render_advice_page(told)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "https://" not in page
    assert "src=" not in page
    assert "\t" not in text_of(render_advice(told))


def test_nothing_to_learn_is_said_without_tables_of_methods():
    advice = known_advice()
    told = replace(advice, learnable=advice.learnable & False).to_dict()
    page, text = render_advice_page(told), text_of(render_advice(told))
    for shown in (page, text):
        assert "Nothing can be learnt from this data" in shown
        assert "What to do" not in shown
    assert 'id="methods"' not in page
    assert "method (* advised)" not in text
