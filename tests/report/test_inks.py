"""The same report on a page, on paper, on the terminal and as JSON."""

import base64
import hashlib
import io
import json
import re
from datetime import date
from html.parser import HTMLParser

import numpy as np
import pytest

import scumble
from scumble._core.text import format_number, format_significant
from scumble.plots import chord_layout
from scumble.plots.base import LIGHT
from scumble.report import concurrence_report, render_html, render_pdf, render_report
from scumble.report.concurrence import more_labelsets_text, origin_text
from scumble.report.pages import (
    escape_letters,
    insert_word_breaks,
    letters_without_pdf_font,
    read_asset,
)
from scumble.resample import apply_chain, apply_remedial, make_chain

NASTY = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    '"><b>',
    "#set page(fill: red) *x* $y$ #eval",
    "\x1b[31mred\x1b[0m",
    "a&b",
    "\u202egnp",
]


@pytest.fixture(scope="module")
def nasty():
    Y = np.zeros((20, len(NASTY)), int)
    Y[:, 0] = 1
    Y[:2, 1:] = 1
    return scumble.MultilabelDataset(
        np.zeros((20, 1)), Y, labels=NASTY, name="<script>alert(2)</script>\x1b[2J"
    )


@pytest.fixture(scope="module")
def debtags():
    data = scumble.load("debtags")
    return data, concurrence_report(data, treatments=["remedial"])


class Page(HTMLParser):
    """What a browser would see: elements, and the text of table cells by table."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.tables, self.scripts, self.words = [], [], [], []
        self._cell = self._script = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self._cell = []
        elif tag == "script":
            self._script = dict(attrs)

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.tables[-1][-1].append("".join(self._cell).strip())
            self._cell = None
        elif tag == "script":
            self._script = None

    def handle_data(self, data):
        if self._script is not None:
            self.scripts.append((self._script, data))
            return
        self.words.append(data)
        if self._cell is not None:
            self._cell.append(data)


def test_the_page_holds_the_librarys_numbers(debtags):
    data, report = debtags
    summary = scumble.characterize(data)
    page = Page(render_html(report))
    treatment, *partners, measures, labels, labelsets = page.tables
    table = {row["name"]: row for row in summary.labels}
    assert len(labels) == 1 + summary.n_labels
    for name, count, frequency, irlbl, score, cv, _ in labels[1:]:
        row = table[name]
        assert count == f"{row['count']:,}"
        assert frequency == f"{row['frequency']:.4f}"
        assert irlbl == f"{row['irlbl']:,.2f}"
        assert score == format_significant(row["scumble"])
        assert cv == format_significant(None if np.isnan(row["scumble_cv"]) else row["scumble_cv"])
    assert dict(measures)["SCUMBLE"] == f"{summary.scumble:.6f}"
    assert dict(measures)["Labelsets: that occur once"] == f"{summary.n_single_labelsets:,}"
    assert len(partners) == len(report["difficult"])
    for rows, label in zip(partners, report["difficult"], strict=True):
        assert [row[0] for row in rows[1:]] == [partner["name"] for partner in label["partners"]]
    after = scumble.characterize(make_chain("remedial")[0].resample(data))
    assert ["SCUMBLE", f"{summary.scumble:.6f}", f"{after.scumble:.6f}"] in treatment
    assert labelsets[1][1] == f"{summary.max_labelset_count:,}"
    assert len(labelsets) == 26


def test_the_page_draws_the_one_layout_before_and_after(debtags):
    data, report = debtags
    page = Page(render_html(report))
    layouts = [json.loads(text) for attrs, text in page.scripts if "json" in attrs["type"]]
    assert layouts[0] == json.loads(json.dumps(chord_layout(data).to_json()))
    places = [[(a["label"], a["count"], a["start"]) for a in each["arcs"]] for each in layouts]
    assert places[0] == places[1]  # REMEDIAL changes no label's count, and the order is kept
    figures = [attrs["data-chord"] for tag, attrs in page.tags if "data-chord" in attrs]
    assert figures == ["chord-0", "chord-0", "chord-1"]


def test_a_page_needs_nothing_but_itself_and_runs_only_its_own_script(debtags):
    text = render_html(debtags[1])
    page = Page(text)
    policy = next(a["content"] for t, a in page.tags if "http-equiv" in a)
    assert "default-src 'none'" in policy
    [script] = [text for attrs, text in page.scripts if attrs["type"] == "module"]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert not [a for t, a in page.tags if t in ("link", "img", "iframe") or "src" in a]
    assert not [v for _, a in page.tags for k, v in a.items() if k.startswith("on")]
    links = [a["href"] for _, a in page.tags if "href" in a]
    identifiers = {f"#{a['id']}" for _, a in page.tags if "id" in a}
    assert set(links) <= identifiers
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


def test_names_are_text_on_the_page(nasty):
    plain, page = (
        Page(render_html(concurrence_report(small()))),
        render_html(concurrence_report(nasty, treatments=["remedial"])),
    )
    assert "\x1b" not in page
    assert "\u202e" not in page
    found = Page(page)
    assert {tag for tag, _ in found.tags} <= {tag for tag, _ in plain.tags} | {"b"}
    assert not [tag for tag, _ in found.tags if tag == "img"]
    assert sum(tag == "script" for tag, _ in found.tags) == 3  # two layouts and the page's own
    labels = [row[0] for row in found.tables[-2][1:]]
    assert set(labels) >= {NASTY[0], NASTY[1], NASTY[2], NASTY[5], "\\x1b[31mred\\x1b[0m"}
    layout = json.loads(found.scripts[0][1])
    assert {arc["name"] for arc in layout["arcs"]} == set(NASTY)


def small():
    return scumble.MultilabelDataset(
        np.zeros((4, 1)), [["a"], ["a", "b"], ["a", "c"], ["a", "b"]], name="small"
    )


def text_of(pdf):
    pypdf = pytest.importorskip("pypdf", reason="pip install 'scumble[dev]'")
    reader = pypdf.PdfReader(io.BytesIO(pdf))
    pages = [page.extract_text() for page in reader.pages]
    assert not any("\u200b" in page for page in pages)  # a name must be found by who searches it
    return pages, reader


def test_a_report_says_where_its_data_comes_from_and_when_it_was_made():
    pytest.importorskip("typst", reason="pip install 'scumble[pdf]'")
    origin = origin_text("films <b>.arff")
    assert origin == f"From films <b>.arff; made on {date.today().isoformat()}."
    report = concurrence_report(small(), origin=origin)
    assert origin.replace("<b>", "&lt;b&gt;") in render_html(report)
    pages, _ = text_of(render_pdf(report))
    assert origin in pages[0]


def test_names_on_paper_can_be_searched():
    pytest.importorskip("typst", reason="pip install 'scumble[pdf]'")
    names = ["protocol::telnet", "with a hyphen-and more_of it", "x" * 40]
    data = scumble.MultilabelDataset(np.zeros((3, 1)), [names, names[:1], names[1:]], name="a::b")
    pages, _ = text_of(render_pdf(concurrence_report(data)))
    whole = " ".join(pages)
    assert names[0] in whole
    assert names[1] in whole
    assert "a::b" in whole


def test_labelsets_that_occur_once_are_counted_and_not_listed():
    report = concurrence_report(small())
    assert [row["labels"] for row in report["labelsets"]] == [["a", "b"]]
    assert more_labelsets_text(report) == "and 2 labelsets that occur once each"
    assert "and 2 labelsets that occur once each" in render_html(report)
    each_once = scumble.MultilabelDataset(np.zeros((3, 1)), [["a"], ["b"], ["a", "b"]])
    report = concurrence_report(each_once)
    assert report["labelsets"] == []
    assert more_labelsets_text(report) == "3 labelsets that occur once each"
    assert "1 feature, 2 labels" in render_html(report)


def squeezed(text):
    return re.sub(r"\s+", "", text)


def test_paper_holds_the_librarys_numbers(debtags):
    pytest.importorskip("typst", reason="pip install 'scumble[pdf]'")
    data, report = debtags
    summary = scumble.characterize(data)
    pdf = render_pdf(report)
    assert pdf == render_pdf(report)  # the same report, the same bytes
    pages, reader = text_of(pdf)
    n_pages = len(pages)
    assert n_pages > 5  # hundreds of labels break across pages
    for number, page in enumerate(pages, start=1):
        assert f"{number} of {n_pages}" in page
    whole = squeezed(" ".join(pages))
    for sentence in report["verdict"]:
        assert squeezed(sentence) in whole
    for row in summary.labels:
        cells = [row["name"], f"{row['count']:,}", f"{row['frequency']:.4f}"]
        cells += [f"{row['irlbl']:,.2f}", format_significant(row["scumble"])]
        assert squeezed("".join(cells)) in whole, row["name"]
    for label in report["difficult"]:
        for partner in label["partners"]:
            expected = f"{partner['name']}{partner['joint_count']:,}"
            assert squeezed(expected) in whole
    for title, key in (("SCUMBLE", "scumble"), ("MeanIR", "mean_ir"), ("TCS", "tcs")):
        spec = ".6f" if key == "scumble" else ",.4f"
        assert f"{title}{format_number(getattr(summary, key), spec)}" in whole
    assert not [image for page in reader.pages for image in page.images]  # vectors, no pixels


def test_names_are_text_on_paper(nasty):
    pytest.importorskip("typst", reason="pip install 'scumble[pdf]'")
    pages, _ = text_of(render_pdf(concurrence_report(nasty)))
    whole = squeezed(" ".join(pages))
    for name in NASTY[:4]:
        assert squeezed(name) in whole
    assert squeezed("\\x1b[31mred\\x1b[0m") in whole


def fewest_for_another_page(n_pages_of, least, most):
    """Find the least number that takes more pages than ``least``."""
    before = n_pages_of(least)
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if n_pages_of(middle) == before else (least, middle)
    return most


def test_the_last_page_never_holds_a_lone_line():
    pytest.importorskip("typst", reason="pip install 'scumble[pdf]'")
    Y = np.tile(np.eye(60, dtype=int), (2, 1))  # 60 labelsets, of which 25 are shown
    report = concurrence_report(scumble.MultilabelDataset(np.zeros((120, 1)), Y))
    report["chord"]["arcs"] = []

    def pages_of(n_labels):
        return text_of(render_pdf({**report, "labels": report["labels"][:n_labels]}))[0]

    n_labels = fewest_for_another_page(lambda n: len(pages_of(n)), 2, 60)
    lines = pages_of(n_labels)[-1].split("\n")
    names = ["".join(row["labels"]) for row in report["labelsets"]]
    assert lines[0] == "labelset count imbalance SCUMBLE"
    assert [line.split()[0] for line in lines[1:3]] == names[-2:]
    assert lines[3] == "and 35 more"
    assert lines[4].startswith("Made by scumble")  # below the page, not on one of its own
    assert not any("Made by" in page for page in pages_of(n_labels)[:-1])


def test_rows_are_not_torn_unless_they_are_huge():
    pytest.importorskip("typst", reason="pip install 'scumble[pdf]'")
    small_report = concurrence_report(small())
    small_report["chord"]["arcs"] = []
    row = small_report["labelsets"][0]
    words = [f"word{at:03}" for at in range(100)]
    long = {**small_report, "labelsets": [{**row, "labels": words}] * 12}
    for page in text_of(render_pdf(long))[0]:
        assert page.count("word000") == page.count("word099")
    huge = {**small_report, "labelsets": [{**row, "labels": [f"w{at}" for at in range(1500)]}]}
    pages = text_of(render_pdf(huge))[0]
    found = re.findall(r"\bw\d+", " ".join(pages))
    assert found == [f"w{at}" for at in range(1500)]  # nothing fell off the page


def test_long_names_break_where_nothing_is_torn():
    assert insert_word_breaks("a::b, c") == "a:\u200b:\u200bb,\u200b c"
    assert insert_word_breaks("x" * 50) == "\u200b".join(["x" * 24, "x" * 24, "xx"])
    assert insert_word_breaks("x" * 24) == "x" * 24  # nothing follows
    accents = "e\u0301" * 24  # e and its accent stay together
    assert insert_word_breaks(accents) == "\u200b".join([accents[:24], accents[24:]])
    tied = "\u0915\u094d" * 20 + "\u0937"  # letters tied by viramas are one
    assert insert_word_breaks(tied) == tied


def test_letters_without_a_font_are_those_that_look_like_nobodys():
    typst = pytest.importorskip("typst", reason="pip install 'scumble[pdf]'")
    assert letters_without_pdf_font("war, naïve, фильм, \U0010fff0 \U0010fff1", typst) == {
        "\U0010fff0",
        "\U0010fff1",
    }
    assert letters_without_pdf_font("war", typst) == frozenset()


def test_names_that_no_font_can_print_are_spelled_and_the_reader_is_told(monkeypatch):
    pytest.importorskip("typst", reason="pip install 'scumble[pdf]'")
    lost = frozenset("電影")
    monkeypatch.setattr(
        "scumble.report.pages.letters_without_pdf_font", lambda text, _: lost & set(text)
    )
    data = scumble.MultilabelDataset(
        np.zeros((4, 1)), [["電影"], ["電影", "b"], ["電影", "c"], ["電影", "b"]], name="電"
    )
    report = concurrence_report(data)
    pages, reader = text_of(render_pdf(report))
    whole = squeezed(" ".join(pages))
    assert (
        squeezed("2 letters are in no font of the machine that made this, and written as") in whole
    )
    assert squeezed("codes such as \\u5f71.") in whole
    assert squeezed("\\u96fb\\u5f71 4 1.0000 1.00") in whole  # its row among all labels
    assert reader.metadata.title == "Concurrence report: 電"
    assert "電影" in render_html(report)
    assert report["labels"][0]["name"] in ("電影", "b", "c")  # the report itself is as it was
    assert "no font" not in squeezed(" ".join(text_of(render_pdf(concurrence_report(small())))[0]))


def test_names_are_text_on_the_terminal(nasty):
    lines = render_report(concurrence_report(nasty, treatments=["remedial"]))
    text = "\n".join("".join(segment.text for segment in line) for line in lines)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b[31mred" in text
    assert "Before and after remedial" in text


def test_json_is_plain(nasty):
    report = concurrence_report(nasty, treatments=["remedial+lpros"], random_state=1)
    again = json.loads(json.dumps(report, allow_nan=False))
    assert again == report
    assert again["summary"] == scumble.characterize(nasty).to_dict()
    assert again["treatments"][0]["method"] == "remedial+lpros"
    assert [step["method"] for step in again["treatments"][0]["methods"]] == ["REMEDIAL", "LPROS"]
    assert again["features"] == {"numeric": 1}


@pytest.mark.parametrize("Y", [np.zeros((3, 2), int), np.eye(2, dtype=int), np.ones((2, 1), int)])
def test_every_ink_draws_awkward_data(Y):
    data = scumble.MultilabelDataset(np.zeros((len(Y), 1)), Y)
    report = concurrence_report(data)
    _, twice = apply_remedial(data, passes=2)
    _, chain = apply_chain(data, make_chain("remedial"))
    for treatment in (None, twice, chain):
        assert "</html>" in render_html(report, treatment)
    pytest.importorskip("typst", reason="pip install 'scumble[pdf]'")
    assert render_pdf(report, twice).startswith(b"%PDF")


def test_browser_and_paper_use_the_same_colours():
    script = read_asset("chord.js")
    assert re.search(r"RARE_COLORS = \[(.*)\]", script)[1] == ", ".join(
        f'"{c}"' for c in LIGHT.rare_colors
    )
    assert re.search(r"FREQUENT_COLORS = \[(.*)\]", script)[1] == ", ".join(
        f'"{c}"' for c in LIGHT.frequent_colors
    )
    style = read_asset("chord.css")
    from scumble.plots.base import DARK

    for at, colour in enumerate(DARK.rare_colors):
        assert f".chord-rare-{at} {{ fill: {colour}; stroke: {colour}; }}" in style
    for at, colour in enumerate(DARK.frequent_colors):
        assert f".chord-common-{at} {{ fill: {colour}; stroke: {colour}; }}" in style


def test_letters_are_spelled_in_all_texts():
    assert escape_letters(["\u96fb, war"], {"\u96fb"}) == [r"\u96fb, war"]
