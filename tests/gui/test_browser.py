"""The page itself, in Chromium, against a server process of its own."""

import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import pytest

import scumble
from scumble.report import concurrence_report, render_html
from scumble.report.concurrence import origin_text
from scumble.resample import REMEDIAL
from tests.gui.conftest import running, with_token, workers_asleep
from tests.gui.files import ARFF, BROKEN, HOSTILE, MEKA, XML

playwright = pytest.importorskip("playwright.sync_api", reason="pip install 'scumble[dev]'")
PAGES = ("overview", "labels", "labelsets", "attributes", "concurrence", "treat", "report")
#: Ask the API as the page does.
ASK = """async (path) => (await fetch(path, {headers: {
    authorization: `Bearer ${localStorage.getItem('scumble-token')}`}})).text()"""
#: The colour of each label of a chord.
INKS = """it => Object.fromEntries([...it.querySelectorAll('.chord-arc')].map((arc) => [
    arc.dataset.label, getComputedStyle(arc.querySelector('path')).fill]))"""
PATIENCE = 300_000  # milliseconds; compiling on a busy machine may take long


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    """Start ``scumble gui debtags``; at the end nothing may be left."""
    folder = tmp_path_factory.mktemp("temporary")
    command = [sys.executable, "-m", "scumble", "gui", "debtags", "--no-browser", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--max-upload", "1", "--max-unpacked", "4"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder), "PYTHONUNBUFFERED": "1"},
    )
    yield process
    process.send_signal(signal.SIGTERM)
    process.stdout.close()
    process.wait(timeout=PATIENCE / 1000)
    assert list(folder.glob("scumble-gui-*")) == []  # uploads and downloads are gone


@pytest.fixture(scope="module")
def address(process):
    return re.search(r"http://\S+", process.stdout.readline())[0]


@pytest.fixture(scope="module")
def base(address):
    return address.partition("/?")[0]


@pytest.fixture(scope="module")
def refusals():
    return ("Failed to load resource: the server responded with a status of 4",)


@pytest.fixture(scope="module")
def data():
    return scumble.load("debtags")


@pytest.fixture(scope="module")
def summary(data):
    return scumble.characterize(data)


def visit(page, base, path):
    page.goto(base + path)
    page.wait_for_selector("main h1")


def send(page, base, *files):
    """Choose files with the picker and wait until they are open, or refused."""
    visit(page, base, "/")
    page.set_input_files(
        "#picker",
        [{"name": n, "mimeType": "text/plain", "buffer": content} for n, content in files],
    )


def opened_id(page):
    page.wait_for_url("**/d/*/overview")
    page.wait_for_selector("[data-measure=scumble]")
    return page.url.split("/")[4]


def saved(page, act):
    with page.expect_download() as waiting:
        act()
    return waiting.value.suggested_filename, Path(waiting.value.path())


def column(page, at):
    return page.locator(f"tbody tr > :nth-child({at})").all_inner_texts()


def test_the_token_leaves_the_address_and_the_numbers_are_the_librarys(page, base, summary):
    assert page.url == f"{base}/d/debtags/overview"
    shown = {
        cell.get_attribute("data-measure"): cell.inner_text()
        for cell in page.locator("[data-measure]").all()
    }
    assert shown["scumble"] == f"{summary.scumble:.4f}"
    assert shown["mean_ir"] == f"{summary.mean_ir:,.2f}"
    assert shown["n_instances"] == f"{summary.n_instances:,}"
    assert shown["n_single_labelsets"] == f"{summary.n_single_labelsets:,}"
    assert shown["cardinality"] == f"{summary.cardinality:.3f}"
    assert page.title() == "Overview: debtags – scumble"


def test_mulan_from_two_files_and_a_label_that_looks_like_markup(page, base, tmp_path):
    send(page, base, ("films.arff", ARFF.encode()), ("films.xml", XML.encode()))
    name = opened_id(page)
    for view in PAGES:
        visit(page, base, f"/d/{name}/{view}")
        playwright.expect(page.locator("main img, main script")).to_have_count(0, timeout=PATIENCE)
        assert "owned" not in page.title()
    visit(page, base, f"/d/{name}/labels?sort=label")
    assert HOSTILE in column(page, 1)
    visit(page, base, f"/d/{name}/attributes")
    assert column(page, 2) == ["minutes", "<script>alert(1)</script>"]
    assert column(page, 8) == ["100.0 %", ""]  # a nominal value is not 0 or more
    assert "2 attributes" in page.locator(".tools").inner_text()
    visit(page, base, f"/d/{name}/concurrence")
    filename, path = saved(page, lambda: page.get_by_role("button", name="Save SVG").click())
    assert filename == "films-chord.svg"
    assert "<img" not in path.read_text()
    assert "&lt;img src=x" in path.read_text()


def test_meka_by_dropping_it_on_the_page(page, base):
    transfer = page.evaluate_handle(
        "text => { const box = new DataTransfer();"
        " box.items.add(new File([text], 'photos.arff')); return box; }",
        MEKA,
    )
    page.dispatch_event("main", "drop", {"dataTransfer": transfer})
    page.wait_for_url("**/d/photos/overview")
    opened_id(page)
    assert page.locator("[data-measure=n_labels]").inner_text() == "3"


def test_what_cannot_be_opened_says_why(page, base, tmp_path_factory):
    bomb = gzip.compress(b"@relation bomb\n" + b"%" * (20 << 20))
    for name, content, told in (
        ("big.csv", b"x" * (1024 * 1024 + 1), "this server takes at most 1 MB"),
        ("bomb.arff.gz", bomb, "bomb.arff.gz: the file has more than 4 MB when decompressed"),
        ("broken.arff", BROKEN.encode(), "broken.arff"),
        ("empty.csv", b"", "The file is empty"),
    ):
        send(page, base, (name, content))
        alert = page.locator("#opening [role=alert]")
        alert.wait_for()
        assert told in alert.inner_text()
        page.get_by_role("button", name="Dismiss").click()
        playwright.expect(page.locator("#opening > *")).to_have_count(0, timeout=PATIENCE)
    page.wait_for_load_state("networkidle")
    left = list(tmp_path_factory.getbasetemp().glob("temporary*/scumble-gui-*/uploads/*"))
    assert left == []  # what was dismissed is not kept


def test_tables_sort_search_and_page_and_the_back_button_undoes_it(page, base, summary):
    visit(page, base, "/d/debtags/labels")
    first = column(page, 1)
    assert len(first) == 50
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("SCUMBLE")
    page.get_by_role("button", name="Count").click()
    page.wait_for_url("**sort=count**")
    page.wait_for_selector("th[aria-sort=descending] >> text=Count")
    counts = sorted(summary.labels.count.tolist(), reverse=True)
    assert column(page, 2) == [f"{count:,}" for count in counts[:50]]
    page.get_by_role("button", name="Next").click()
    page.wait_for_url("**offset=50**")
    page.wait_for_selector("text=51–100 of 431")
    assert column(page, 2) == [f"{count:,}" for count in counts[50:100]]
    page.go_back()
    page.wait_for_selector("text=1–50 of 431")
    page.go_back()
    page.wait_for_selector("th[aria-sort=descending] >> text=SCUMBLE")
    assert column(page, 1) == first
    page.get_by_label("Search labels").fill("ROLE::PRO")
    page.wait_for_selector("text=1 of 431 labels")
    assert column(page, 1) == ["role::program"]
    page.reload()  # the search is part of the address
    page.wait_for_selector("text=1 of 431 labels")
    filename, path = saved(page, lambda: page.get_by_role("button", name="CSV").click())
    assert filename == "debtags-labels.csv"
    assert len(path.read_text().splitlines()) == 2


def test_the_chord_follows_the_labels_that_are_picked(page, base, data):
    visit(page, base, "/d/debtags/concurrence")
    arcs = page.locator(".chord-arc")
    arcs.first.wait_for(state="attached")
    playwright.expect(arcs).to_have_count(24, timeout=PATIENCE)
    page.get_by_role("button", name="None").click()
    page.wait_for_selector("text=Select labels in the table.")
    page.get_by_label("Search labels").fill("telnet")
    page.wait_for_selector("text=1 of 431 labels")  # the search draws all boxes anew
    page.get_by_role("checkbox", name="Draw protocol::telnet").check()
    playwright.expect(arcs).to_have_count(1, timeout=PATIENCE)
    page.get_by_label("Search labels").fill("role::program")
    page.get_by_role("checkbox", name="Draw role::program").check()
    playwright.expect(arcs).to_have_count(2, timeout=PATIENCE)
    a, b = data.labels.index("protocol::telnet"), data.labels.index("role::program")
    joint = int((data.Y[:, [a]].multiply(data.Y[:, [b]])).sum())
    page.locator(".chord-ribbon").dispatch_event("pointerover")
    assert f"{joint} instances together" in page.locator(".readout").inner_text()
    page.locator(f".chord-arc[data-label='{b}']").focus()
    assert "role::program: 1,965 instances" in page.locator(".readout").inner_text()
    assert page.url.endswith(f"?labels={a},{b}")
    page.reload()
    playwright.expect(arcs).to_have_count(2, timeout=PATIENCE)
    filename, path = saved(page, lambda: page.get_by_role("button", name="Save PNG").click())
    assert filename == "debtags-chord.png"
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 20_000  # something is on it
    filename, path = saved(page, lambda: page.get_by_role("button", name="Save SVG").click())
    assert "protocol::telnet" in path.read_text()


def test_a_click_on_a_label_brings_its_partners(page, base, data):
    visit(page, base, "/d/debtags/labels?q=telnet")
    page.get_by_role("link", name="protocol::telnet").click()
    page.wait_for_selector("h2 >> text=Labels co-occurring with protocol::telnet")
    label = data.labels.index("protocol::telnet")
    assert page.url == f"{base}/d/debtags/concurrence?label={label}"
    playwright.expect(page.locator(".chord-arc")).to_have_count(
        16, timeout=PATIENCE
    )  # and no ring of one
    partners = page.get_by_role("region", name="Co-occurring labels")
    rows = partners.locator("tbody tr")
    assert rows.first.inner_text().split() == ["role::program", "4", "80.0", "%", "1,965", "1.285"]
    rows.first.get_by_role("link").click()  # and so on, from label to label
    page.wait_for_selector("h2 >> text=Labels co-occurring with role::program")
    page.locator(f".chord-arc[data-label='{data.labels.index('devel::library')}']").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("h2 >> text=Labels co-occurring with devel::library")
    page.reload()
    page.wait_for_selector("h2 >> text=Labels co-occurring with devel::library")
    visit(page, base, "/d/debtags/overview")
    page.locator(".difficult a").first.click()
    page.wait_for_selector("h2 >> text=Labels co-occurring with protocol::telnet")


def test_every_chart_can_be_saved(open_page, base):
    page = open_page(color_scheme="dark")
    charts = 5
    playwright.expect(page.locator("svg.chart")).to_have_count(charts, timeout=PATIENCE)
    playwright.expect(page.get_by_role("button", name="Save SVG")).to_have_count(
        charts, timeout=PATIENCE
    )
    button = page.get_by_role("button", name="Save SVG: Imbalance and concurrence")
    filename, path = saved(page, button.click)
    assert filename == "debtags-imbalance-and-concurrence.svg"
    text = path.read_text()
    assert "protocol::telnet" in text
    assert 'fill="rgb(169, 76, 22)"' in text  # the colours of a light page, and no style sheet
    assert page.evaluate("document.documentElement.dataset.theme") is None
    filename, path = saved(page, page.get_by_role("button", name="Save PNG").last.click)
    assert filename == "debtags-instances-per-labelset.png"
    assert path.read_bytes().startswith(b"\x89PNG")


def test_labels_and_attributes_as_pictures(page, base, data, summary):
    visit(page, base, "/d/debtags/labels?sort=count")
    page.get_by_text("Show as chart").click()
    chart = page.get_by_role("img", name="Labels by count")
    most = int(summary.labels.count.argmax())
    first = f"{data.labels[most]}: {summary.labels.count[most]:,}"
    assert chart.get_attribute("aria-label").startswith(f"Labels by count. {first}; ")
    page.get_by_label("Search labels").fill("telnet")  # the picture follows the table
    told = "Labels by count. protocol::telnet: 5"
    playwright.expect(chart).to_have_attribute("aria-label", told, timeout=PATIENCE)
    visit(page, base, "/d/debtags/labelsets")
    page.get_by_text("Show as chart").click()
    sets = page.get_by_role("img", name="Labelsets by count").get_attribute("aria-label")
    assert f": {summary.max_labelset_count:,};" in sets
    visit(page, base, "/d/debtags/attributes")
    page.get_by_role("button", name=data.feature_names[3], exact=True).click()
    page.get_by_role("img", name=f"Values of {data.feature_names[3]}").wait_for()
    visit(page, base, "/d/debtags/concurrence")
    page.get_by_text("Show as heat map").click()
    shares = page.locator(".heat .share")
    playwright.expect(shares).to_have_count(24 * 23, timeout=PATIENCE)
    assert page.get_by_role("button", name="Save SVG: Heat map").is_visible()


def test_help_is_opened_by_keyboard_and_by_touch(open_page, base):
    page = open_page(has_touch=True, viewport={"width": 360, "height": 740})
    mark = page.locator("dt.key summary").first
    words = page.get_by_text("How far rare and frequent labels share instances")
    assert not words.is_visible()
    mark.tap()
    words.wait_for()
    mark.focus()
    page.keyboard.press("Enter")
    words.wait_for(state="hidden")
    visit(page, base, "/d/debtags/treat")
    page.locator(".field summary").first.focus()
    page.keyboard.press("Space")
    page.wait_for_selector("text=Number of passes")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    visit(page, base, "/d/debtags/labels")
    page.locator(".tools summary").tap()
    page.wait_for_selector("text=mostly occurs together with frequent labels")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    hidden = "[...document.querySelectorAll('[title]')].filter((it) => !it.closest('svg')).length"
    assert page.evaluate(hidden) == 0  # nothing that only a mouse can read


def test_treating_comparing_and_downloading(page, base, data, summary, tmp_path):
    visit(page, base, "/d/debtags/treat")
    page.get_by_role("button", name="Run").click()
    page.wait_for_url("**result=debtags-remedial")
    page.wait_for_selector("[data-testid=measures]")
    expected = REMEDIAL().resample(data)
    after = scumble.characterize(expected)

    def cells(trait):
        return page.locator(f"[data-measure={trait}] td").all_inner_texts()

    assert cells("scumble")[:2] == [f"{summary.scumble:.6f}", f"{after.scumble:.6f}"]
    assert cells("n_instances")[:2] == [f"{len(data):,}", f"{len(expected):,}"]
    assert cells("mean_ir")[2] == "same"
    playwright.expect(page.locator(".pair .chord")).to_have_count(2, timeout=PATIENCE)
    playwright.expect(page.locator(".pair .chord").first.locator(".chord-arc")).to_have_count(
        24, timeout=PATIENCE
    )
    chords = page.locator(".pair .chord").all()
    assert chords[0].evaluate(INKS) == chords[1].evaluate(INKS)  # one colour for a label
    for chord in chords:
        assert "protocol::telnet" in chord.text_content()
        assert "chord-nameless" not in chord.get_attribute("class")
    notes = page.locator(".notes").inner_text()
    assert "one has no label at all" in notes
    playwright.expect(page.get_by_role("heading", name="Before and after REMEDIAL")).to_have_count(
        1, timeout=PATIENCE
    )

    filename, path = saved(page, lambda: page.get_by_role("button", name="Download").click())
    assert filename == "debtags-remedial.zip"
    with zipfile.ZipFile(path) as box:
        box.extractall(tmp_path)
    assert scumble.read(tmp_path / "debtags-remedial.arff") == expected
    page.get_by_label("Format", exact=True).select_option("parquet")
    filename, path = saved(page, lambda: page.get_by_role("button", name="Download").click())
    shutil.copy(path, tmp_path / filename)
    again = scumble.read(tmp_path / filename)
    assert (again.Y != expected.Y).nnz == 0
    assert again.labels == expected.labels

    page.go_back()
    page.wait_for_selector("text=the result appears here")
    page.go_forward()
    page.wait_for_selector("[data-testid=measures]")
    page.get_by_role("link", name="Explore").click()
    page.wait_for_url("**/d/debtags-remedial/overview")
    page.wait_for_selector("text=REMEDIAL of")
    assert page.locator("[data-measure=scumble]").inner_text() == f"{after.scumble:.4f}"


def test_steps_can_be_chained_and_a_wrong_parameter_says_so(page, base):
    visit(page, base, "/d/debtags/treat")
    page.get_by_role("button", name="Add a step").click()
    page.get_by_label("Step 2", exact=True).select_option("mlrus")
    page.get_by_role("spinbutton", name="percent of the rows").fill("250")
    page.get_by_role("button", name="Run").click()
    page.wait_for_selector("[role=alert] >> text=must be a number in [0, 100]")
    page.get_by_role("spinbutton", name="percent of the rows").fill("10")
    page.get_by_role("button", name="Run").click()
    page.wait_for_url("**result=debtags-remedial-mlrus-percent-10-random-state-0")
    page.wait_for_selector("text=after MLRUS(percent=10, random_state=0)")
    page.reload()  # what is looked at is in the form
    page.wait_for_selector("[data-testid=measures]")
    assert page.get_by_label("Step 2", exact=True).input_value() == "mlrus"
    assert page.get_by_role("spinbutton", name="percent of the rows").input_value() == "10"
    page.get_by_role("button", name="Discard").click()
    page.wait_for_url(f"{base}/d/debtags/treat")
    page.wait_for_selector("main h1")
    assert "mlrus" not in page.locator("#datasets").inner_text().lower()


def test_the_report_is_the_librarys(page, base, data):
    visit(page, base, "/d/debtags/report")
    filename, path = saved(page, lambda: page.get_by_role("button", name="Save HTML").click())
    assert filename == "debtags-report.html"
    report = concurrence_report(data, origin=origin_text("debtags"))
    assert path.read_text() == render_html(report)


def test_long_work_can_be_cancelled(page, base, process):
    visit(page, base, "/")
    page.get_by_text("Options", exact=True).click()
    page.get_by_label("Instances").fill("1000000")
    page.get_by_role("textbox", name="Labels").or_(page.get_by_label("Labels")).first.fill("300")
    page.evaluate(ASK, "/api/v1/catalogue")  # a job as well
    with workers_asleep(process):  # however long it takes to click, it is not done before
        page.get_by_role("button", name="Create and open").click()
        page.get_by_role("button", name="Cancel").click()
        page.wait_for_selector(".job", state="detached")
    assert page.url == f"{base}/"


def test_work_is_seen_from_every_page_and_told_of_when_it_is_done(page, base, process):
    visit(page, base, "/d/debtags/treat")
    page.get_by_role("spinbutton", name="passes").fill("2")
    with workers_asleep(process):
        page.get_by_role("button", name="Run").click()
        card = page.get_by_role("group", name="REMEDIAL(passes=2) on debtags")
        for view in ("Labels", "Concurrence", "Treat"):
            page.get_by_role("link", name=view, exact=True).click()
            page.wait_for_selector(f"h1 >> text={view}")
            playwright.expect(card).to_have_count(1)
            assert card.get_by_role("button", name="Cancel").is_visible()
        visit(page, base, "/")  # as if the page had been loaded anew, or in another tab
        card.wait_for()
        assert re.search(r"\d+ s", card.inner_text())
    page.get_by_role("link", name="Show result").click()
    page.wait_for_selector("[data-testid=measures]")
    playwright.expect(page.locator("#jobs > *")).to_have_count(0, timeout=PATIENCE)
    assert page.get_by_role("spinbutton", name="passes").input_value() == "2"
    page.get_by_role("button", name="Discard").click()
    page.wait_for_url(f"{base}/d/debtags/treat")


def test_a_server_that_dies_says_so_and_takes_its_workers_along(browser, tmp_path):
    psutil = pytest.importorskip("psutil", reason="pip install 'scumble[cluster]'")
    path = tmp_path / "photos.arff"
    path.write_text(MEKA)
    with running(path, tmp_path) as (base, headers, process):
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(with_token(base, headers))
        page.wait_for_url("**/overview")
        page.get_by_role("link", name="Treat", exact=True).click()
        page.wait_for_selector("h1 >> text=Treat")
        workers = psutil.Process(process.pid).children()
        for worker in workers:
            worker.suspend()
        page.get_by_role("button", name="Run").click()
        page.wait_for_selector(".job:visible")
        page.get_by_role("link", name="Labels", exact=True).click()
        page.wait_for_selector("h1 >> text=Labels")
        process.kill()
        alert = page.get_by_role("alert")
        alert.wait_for()
        assert "all work has ended. Start 'scumble gui' again" in alert.inner_text()
        playwright.expect(page.locator(".job")).to_have_count(1, timeout=PATIENCE)
        until = time.monotonic() + PATIENCE / 1000
        while any(is_alive(worker) for worker in workers):
            assert time.monotonic() < until
            time.sleep(0.05)
        page.close()


def is_alive(process):
    try:
        return process.status() != "zombie"  # which waits for somebody to count it
    except Exception:  # there is no such process
        return False


def test_pages_have_addresses_and_the_back_button_works(page, base):
    page.get_by_role("link", name="Labelsets", exact=True).click()
    page.wait_for_selector("h1 >> text=Labelsets")
    assert page.url == f"{base}/d/debtags/labelsets"
    assert page.evaluate("document.activeElement.tagName") == "H1"  # readers hear where they are
    page.get_by_role("link", name="Treat", exact=True).click()
    page.wait_for_selector("h1 >> text=Treat")
    page.go_back()
    page.wait_for_selector("h1 >> text=Labelsets")
    page.go_back()
    page.wait_for_selector("[data-measure=scumble]")
    page.go_forward()
    page.wait_for_selector("h1 >> text=Labelsets")
    visit(page, base, "/d/nonesuch/labels")
    assert "not open" in page.locator("main").inner_text()
    visit(page, base, "/d/debtags/nonesuch")
    assert "no such page" in page.locator("main").inner_text()


def test_several_data_sets_are_open_at_once(page, base):
    send(page, base, ("one.arff", MEKA.replace("photos", "one").encode()))
    opened_id(page)
    page.locator("#datasets").select_option("debtags")
    page.wait_for_url("**/d/debtags/overview")
    page.get_by_role("link", name="Open data").click()
    page.get_by_role("button", name="Close one").click()
    page.wait_for_selector("button[aria-label='Close one']", state="detached")
    assert "debtags" in page.locator(".datasets").inner_text()


def test_keyboard_and_screen_readers(page, base):
    page.reload()
    page.wait_for_selector("h1")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.wait_for_selector("main:focus")
    page.get_by_role("link", name="Labels", exact=True).click()
    page.wait_for_selector("h1 >> text=Labels")
    page.go_back()
    page.wait_for_selector("[data-measure=scumble]")
    nameless = """() => [...document.querySelectorAll('button, a[href], input, select')]
        .filter((each) => !(each.textContent.trim() || each.ariaLabel || each.labels?.length
                            || each.title))
        .map((each) => each.outerHTML)"""
    for view in PAGES:
        visit(page, base, f"/d/debtags/{view}")
        assert page.locator("main, header, nav").count() >= 3
        playwright.expect(page.locator("h1")).to_have_count(1, timeout=PATIENCE)
        assert page.locator("nav [aria-current=page]").inner_text().lower() == view
        assert page.evaluate(nameless) == []
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
        assert len(ids) == len(set(ids))
    visit(page, base, "/d/debtags/labels")
    button = page.get_by_role("button", name="IRLbl")
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("th[aria-sort=descending] >> text=IRLbl")
    page.keyboard.press("Enter")
    page.wait_for_selector("th[aria-sort=ascending] >> text=IRLbl")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_every_page_without_scrolling_sideways(open_page, base, scheme):
    page = open_page(
        viewport={"width": 360, "height": 740}, color_scheme=scheme, reduced_motion="reduce"
    )
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (dark == "rgb(19, 22, 25)") == (scheme == "dark")
    for path in ("/", *(f"/d/debtags/{view}" for view in PAGES)):
        visit(page, base, path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
    page.get_by_role("button", name="Change between light and dark").click()
    now = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (now == "rgb(19, 22, 25)") == (scheme == "light")


def test_what_belongs_together_stands_in_a_line_on_a_phone(open_page, base):
    page = open_page(viewport={"width": 390, "height": 844})

    def beside(left, right):
        one, other = left.bounding_box(), right.bounding_box()
        middle = other["y"] + other["height"] / 2
        return (
            one["x"] + one["width"] <= other["x"] and one["y"] < middle < one["y"] + one["height"]
        )

    visit(page, base, "/d/debtags/report")
    for form, told in (
        ("HTML", "A single file"),
        ("PDF", "For printing and"),
        ("JSON", "The same"),
    ):
        if form == "PDF" and not page.get_by_text(told).count():
            continue  # without typst
        button = page.get_by_role("button", name=f"Save {form}")
        assert beside(button, page.locator(".saves span", has_text=told)), form
    send(page, base, ("emotions.arff", ARFF.encode()))
    assert "Expected emotions.xml beside it" in page.locator("[role=alert]").inner_text()
    dismiss = page.get_by_role("button", name="Dismiss")
    assert beside(page.get_by_role("button", name="Try again"), dismiss)
    dismiss.click()
    playwright.expect(page.locator("#opening > *")).to_have_count(0, timeout=PATIENCE)


def test_before_and_after_fit_a_phone_and_letters_stay_letters_when_it_is_turned(open_page, base):
    page = open_page(viewport={"width": 390, "height": 844})
    visit(page, base, "/d/debtags/treat")
    page.get_by_role("button", name="Run").click()
    page.wait_for_selector("[data-testid=measures]")
    wrap = page.get_by_role("region", name="Measures before and after")
    assert wrap.evaluate("it => it.scrollWidth - it.clientWidth") == 0
    dots = page.get_by_role("img", name="SCUMBLE of difficult labels before and after")
    assert 300 < dots.bounding_box()["width"] < 390
    page.set_viewport_size({"width": 1280, "height": 800})
    assert dots.bounding_box()["width"] == pytest.approx(1.4 * 380)
    page.get_by_role("button", name="Discard").click()
    page.wait_for_url(f"{base}/d/debtags/treat")


def test_a_file_that_cannot_be_read_is_told_of_on_the_page(open_page, tmp_path):
    path = tmp_path / "broken.csv"
    path.write_text("a,b\n1\n")
    with running(path, tmp_path) as (base, headers, _):
        page = open_page(with_token(base, headers))
        page.wait_for_selector("h1 >> text=Open a data set")
        page.locator("#opening [role=alert]").wait_for()
        assert "broken.csv, line 2" in page.locator("#opening [role=alert]").inner_text()
        page.close()


def test_names_too_small_to_read_give_way_to_the_chord(open_page, base):
    page = open_page()
    visit(page, base, "/d/debtags/concurrence")
    page.wait_for_selector(".chord:not(.chord-nameless) .chord-arc text")
    wide = page.locator(".chord").get_attribute("viewBox")
    page.set_viewport_size({"width": 360, "height": 740})  # as when a phone is turned
    page.wait_for_selector(".chord.chord-nameless")
    assert page.locator(".chord").get_attribute("viewBox") != wide
    assert not page.locator(".chord-arc text").first.is_visible()
    page.locator(".chord-arc").first.focus()
    assert "protocol::telnet: 5 instances" in page.locator(".readout").inner_text()
    _, path = saved(page, lambda: page.get_by_role("button", name="Save SVG").click())
    assert "chord-nameless" not in path.read_text()  # in a file there is room


@pytest.fixture
def neighbour(tmp_path):
    """Another server on this machine: the same site to a browser, so that cookies go along."""
    (tmp_path / "index.html").write_text("<p>hi</p>")
    Quiet.cookies.clear()
    handler = partial(Quiet, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    cookies: ClassVar[list[str | None]] = []

    def do_GET(self):
        self.cookies.append(self.headers["cookie"])
        super().do_GET()

    def log_message(self, *_):
        pass


def test_a_neighbours_page_gets_nothing_and_does_nothing(browser, address, base, neighbour):
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    try:
        own = context.new_page()
        own.goto(address)
        own.wait_for_url("**/overview")
        evil = context.new_page()
        evil.goto(neighbour)
        steal = """async ([url, options]) => {
            try { return await (await fetch(url, {credentials: 'include', ...options})).text(); }
            catch { return 'refused'; }
        }"""
        assert set(Quiet.cookies) == {None}
        assert context.cookies() == []
        own.evaluate(ASK, "/api/v1/catalogue")  # made by a job, the first time
        before = own.evaluate(ASK, "/api/v1/datasets")
        assert "debtags" in before
        for path, options in (
            ("/api/v1/datasets", {}),
            ("/api/v1/about", {"mode": "no-cors"}),
            ("/static/js/main.js", {"mode": "no-cors"}),
            ("/api/v1/examples/debtags", {"method": "POST", "mode": "no-cors"}),
        ):
            assert evil.evaluate(steal, [base + path, options]) in ("refused", "")
        running = own.evaluate(ASK, "/api/v1/jobs")
        assert running == '{"jobs":[]}'
        assert own.evaluate(ASK, "/api/v1/datasets") == before
    finally:
        context.close()
