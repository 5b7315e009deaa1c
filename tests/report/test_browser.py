"""The page in a real browser: it draws, sorts, answers the keyboard, and asks for nothing."""

import numpy as np
import pytest

import scumble
from scumble.report import concurrence_report, render_html

playwright = pytest.importorskip("playwright.sync_api", reason="pip install 'scumble[dev]'")
PATIENCE = 300_000  # milliseconds


@pytest.fixture(scope="module")
def data():
    Y = np.zeros((40, 4), int)
    Y[:, 0] = 1
    Y[:20, 1] = 1
    Y[:10, 2] = 1
    Y[:2, 3] = 1
    names = ["sky", "<img src=x onerror=document.title='hit'>", "b10", "b9"]
    return scumble.MultilabelDataset(np.zeros((40, 1)), Y, labels=names, name="photos")


@pytest.fixture
def page(browser, data, tmp_path):
    (tmp_path / "r.html").write_text(render_html(concurrence_report(data, treatments=["remedial"])))
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.complaints, page.requests = [], []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.requests.append(request.url))
    page.goto(f"file://{tmp_path}/r.html")
    yield page
    assert page.complaints == []
    assert len(page.requests) == 1  # the page itself
    page.close()


def names(page):
    return (
        page.locator("#labels ~ .wide table")
        .first.locator("tbody td:first-child")
        .all_inner_texts()
    )


def test_columns_sort(page, data):
    table = page.locator("table.sortable").first
    table.get_by_role("button", name="count").click()
    assert [text[:4] for text in names(page)] == ["sky", "<img", "b10", "b9"]
    table.get_by_role("button", name="count").click()
    assert [text[:4] for text in names(page)] == ["b9", "b10", "<img", "sky"]
    assert table.locator("th[aria-sort=ascending]").inner_text().startswith("count")
    table.get_by_role("button", name="label").press("Enter")
    assert [text for text in names(page) if text.startswith("b")] == ["b9", "b10"]


def test_the_chord_draws_the_layout_and_answers(page, data):
    layout = concurrence_report(data)["chord"]
    svg = page.locator("figure svg").first
    assert svg.locator(".chord-ribbon").count() == len(layout["ribbons"])
    arcs = svg.locator(".chord-arc")
    assert arcs.count() == 4
    info = svg.locator(".chord-info")
    arcs.first.focus()
    assert "b9: 2 instances; with sky 2" in info.text_content()
    faint = svg.locator(".chord-ribbon[opacity='0.06']").count()
    touching = sum(0 in (ribbon["source"], ribbon["target"]) for ribbon in layout["ribbons"])
    assert faint == len(layout["ribbons"]) - touching
    arcs.first.press("Enter")  # keeps it
    arcs.first.blur()
    assert "b9" in info.text_content()
    arcs.first.focus()
    arcs.first.press("Enter")
    arcs.first.blur()
    assert info.text_content() == ""


def test_names_are_text(page):
    assert page.title() == "Concurrence report: photos"
    assert page.locator("img").count() == 0
    titles = page.locator("svg title").all_text_contents()
    assert any(text.startswith("<img src=x") for text in titles)


def test_dark_narrow_and_printed(browser, data, tmp_path):
    (tmp_path / "r.html").write_text(render_html(concurrence_report(data)))
    page = browser.new_page(viewport={"width": 375, "height": 700}, color_scheme="dark")
    page.set_default_timeout(PATIENCE)
    page.goto(f"file://{tmp_path}/r.html")
    ink = "getComputedStyle(document.querySelector('.chord-ink')).fill"
    assert page.evaluate(ink) == "rgb(230, 233, 236)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 375  # nothing sticks out
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(ink) == "rgb(28, 32, 36)"  # dark ink on paper
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.close()
