"""Opening plain tables and public data sets, in Chromium."""

import gzip
import json
import subprocess

import pytest

from tests.gui.conftest import running, with_token
from tests.gui.files import ARFF, CSV, HOSTILE, XML
from tests.gui.test_api import zipped
from tests.gui.test_opening import TICKETS

playwright = pytest.importorskip("playwright.sync_api", reason="pip install 'scumble[dev]'")
PATIENCE = 300_000  # milliseconds
WIDE = ",".join(f"c{at}" for at in range(5000)) + "\n"
WIDE += (",".join(["0.5"] * 4980 + ["1", "0"] * 10) + "\n") * 9


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server with nothing of interest open, a folder with one public data set, no network."""
    folder = tmp_path_factory.mktemp("opening")
    own = folder / "own"
    own.mkdir()
    head = ",".join(["x", *(f"label:l{at}" for at in range(14))])
    (own / "yeast.csv").write_text(f"{head}\n" + ("1" + ",1,0" * 7 + "\n") * 4)
    path = folder / "first.csv"
    path.write_text("minutes,label:war\n90,1\n150,0\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCUMBLE_DATA", str(own))
        patch.setenv("SCUMBLE_CACHE", str(folder / "cache"))
        patch.setenv("https_proxy", "http://127.0.0.1:9")
        with running(path, folder) as (base, headers, _):
            yield with_token(base, headers)
    assert list(folder.glob("scumble-gui-*")) == []


@pytest.fixture(scope="module")
def refusals():
    return ("Failed to load resource: the server responded with a status of 4",)


@pytest.fixture
def page(open_page):
    return start_page(open_page())


def start_page(page):
    """Go to where data is opened."""
    page.get_by_role("link", name="Open data").click()
    page.wait_for_selector("h1 >> text=Open a data set")
    return page


def send(page, name, content):
    content = content.encode() if isinstance(content, str) else content
    page.set_input_files("#picker", [{"name": name, "mimeType": "text/plain", "buffer": content}])


def look(page, name, content):
    """Send a table, and wait for its preview; gives its card."""
    send(page, name, content)
    card = page.get_by_role("region", name=name, exact=True)
    card.get_by_role("region", name="The first rows").wait_for()
    return card


def roles(card):
    return [select.input_value() for select in card.locator("thead select").all()]


def role(card, column):
    return card.get_by_role("combobox", name=f"Role of {column}", exact=True)


def settled(card):
    """Wait until the preview is that of the settings."""
    playwright.expect(card.locator("[aria-busy]")).to_have_count(0, timeout=PATIENCE)


def measures(page, *names):
    page.wait_for_selector("[data-measure=scumble]")
    return [page.locator(f"[data-measure={name}]").inner_text() for name in names]


def close_all(page):
    """Leave no card behind."""
    for _ in range(page.locator("#opening > *").count()):
        page.get_by_role("button", name="Dismiss").first.click()
    playwright.expect(page.locator("#opening > *")).to_have_count(0, timeout=PATIENCE)


def test_a_table_whose_guess_is_right_is_one_click_away(page):
    card = look(page, "photos.csv", CSV)
    assert roles(card) == ["number", "label", "label", "label"]
    assert card.get_by_role("status").inner_text() == "3 labels, 1 attribute."
    assert card.locator("tbody tr").all_inner_texts()[2] == "0.1\t1\t1\t1"
    assert card.locator("thead small").all_inner_texts() == [
        "numbers",
        "0 and 1",
        "0 and 1",
        "0 and 1",
    ]
    card.get_by_role("button", name="Open").click()
    page.wait_for_url("**/d/photos*/overview")
    assert measures(page, "n_labels", "n_features", "n_instances") == ["3", "1", "4"]


def test_roles_are_changed_by_click_and_the_labels_in_words_follow(page):
    card = look(page, "photos.csv", CSV)
    labels = card.get_by_role("textbox", name="Label columns")
    assert labels.input_value() == "sky, sea, heron"
    role(card, "sea").select_option("ignore")
    assert labels.input_value() == "sky, heron"
    assert card.get_by_role("status").inner_text() == "2 labels, 1 attribute, 1 column left out."
    labels.fill("-1")
    labels.blur()
    assert roles(card) == ["number", "number", "ignore", "label"]
    labels.fill("sky, sea")
    labels.blur()
    assert roles(card) == ["number", "label", "label", "number"]
    role(card, "heron").select_option("category")
    role(card, "sea").select_option("ignore")
    card.get_by_role("button", name="Open").click()
    page.wait_for_url("**/d/photos*/overview")
    assert measures(page, "n_labels", "n_features") == ["1", "2"]
    page.get_by_role("link", name="Attributes").click()
    page.wait_for_selector("tbody tr")
    assert page.locator("tbody tr > :nth-child(3)").all_inner_texts() == ["numeric", "nominal"]


def test_a_column_of_tags_with_semicolons_decimal_commas_and_texts(page):
    card = look(page, "tickets.csv", TICKETS)
    assert roles(card) == ["ignore", "number", "number", "text", "list"]
    assert card.get_by_role("textbox", name="Between labels").input_value() == "|"
    assert card.get_by_role("combobox", name="Separator").input_value() == ";"
    assert card.get_by_role("combobox", name="Decimal sign").input_value() == ","
    assert card.get_by_role("status").inner_text() == (
        "The labels are in tags; 3 attributes, 1 column left out."
    )
    card.get_by_role("button", name="Open").click()
    page.wait_for_url("**/d/tickets*/overview")
    assert measures(page, "n_labels", "n_features", "n_instances") == ["3", "3", "24"]


def test_labels_and_a_list_exclude_each_other(page):
    card = look(page, "both.csv", "x,words,war,love\n1.5,a;b,1,0\n2.5,b;c,0,1\n3.5,a,1,1\n")
    assert roles(card) == ["number", "category", "label", "label"]
    role(card, "words").select_option("list")
    assert roles(card) == ["number", "list", "number", "number"]
    assert card.get_by_role("textbox", name="Label columns").input_value() == ""
    role(card, "love").select_option("label")
    assert roles(card) == ["number", "category", "number", "label"]
    close_all(page)


def test_the_preview_follows_the_separator_and_the_focus_stays(page):
    card = look(page, "semi.csv", "a;b;war\n1,5;2;1\n2,5;3;0\n")
    assert roles(card) == ["number", "number", "label"]
    separator = card.get_by_role("combobox", name="Separator")
    separator.focus()
    separator.select_option("|")
    playwright.expect(card.locator("thead select")).to_have_count(1, timeout=PATIENCE)
    assert page.evaluate("document.activeElement.name") == "delimiter"
    separator.select_option("")
    playwright.expect(card.locator("thead select")).to_have_count(3, timeout=PATIENCE)
    card.get_by_role("combobox", name="Decimal sign").select_option(".")
    playwright.expect(role(card, "a")).to_have_value("category", timeout=PATIENCE)
    card.get_by_role("combobox", name="First row").select_option("false")
    playwright.expect(card.locator("tbody tr")).to_have_count(3, timeout=PATIENCE)
    close_all(page)


def test_names_that_a_program_would_take_for_numbers_stay_names(page):
    rows = "".join(f"{at}.5,{'red' if at % 2 else 'blue'},{at % 2},1\n" for at in range(9))
    card = look(page, "hex.csv", f"size,colour,0x1,0x2\n{rows}")
    labels = card.get_by_role("textbox", name="Label columns")
    assert labels.input_value() == "0x1, 0x2"
    labels.fill("0x2,0x1")
    labels.blur()
    assert roles(card) == ["number", "category", "label", "label"]
    with page.expect_request("**/api/v1/datasets") as sent:
        card.get_by_role("button", name="Open").click()
    assert sent.value.post_data_json["labels"] == ["0x2", "0x1"]
    page.wait_for_url("**/d/hex*/overview")
    assert measures(page, "n_labels", "n_features") == ["2", "2"]


def test_a_table_is_not_opened_while_its_columns_are_looked_at_anew(page):
    card = look(page, "semi.csv", "a;b;war\n1,5;2;1\n2,5;3;0\n")
    held = []
    page.route("**/preview", lambda route: held.append(route))
    labels = card.get_by_role("textbox", name="Label columns")
    card.get_by_role("combobox", name="Decimal sign").select_option(".")
    button = card.get_by_role("button", name="Open")
    playwright.expect(button).to_be_disabled(timeout=PATIENCE)
    labels.press("Enter")
    assert card.get_by_role("progressbar").count() == 0  # nothing is being read
    while not held:
        page.wait_for_timeout(10)
    held[0].continue_()
    playwright.expect(button).to_be_enabled(timeout=PATIENCE)
    assert roles(card) == ["category", "number", "label"]
    page.unroute("**/preview")
    close_all(page)


def test_cancel_ends_the_look_at_a_file_before_it_is_discarded(page):
    held, ended = [], []
    page.route("**/jobs/*?wait=*", lambda route: held.append(route))  # so it goes on for the page
    page.on("request", lambda sent: sent.method == "DELETE" and ended.append(sent.url))
    with page.expect_response(lambda answer: answer.url.endswith("/preview")) as looked:
        send(page, "photos.csv", CSV)
    while not held:
        page.wait_for_timeout(10)
    page.get_by_role("button", name="Cancel").click()
    playwright.expect(page.locator("#opening > *")).to_have_count(0, timeout=PATIENCE)
    job, upload = looked.value.json()["id"], looked.value.url.split("/")[-2]
    assert [url.partition("/api/v1")[2] for url in ended] == [f"/jobs/{job}", f"/uploads/{upload}"]
    page.unroute("**/jobs/*?wait=*")


def test_what_was_chosen_outlives_other_settings(page):
    card = look(page, "semi.csv", "a;b;war\n1,5;2;1\n2,5;3;0\n")
    role(card, "b").select_option("ignore")
    card.get_by_role("combobox", name="Decimal sign").select_option(".")
    settled(card)
    assert roles(card) == ["category", "ignore", "label"]
    card.get_by_role("combobox", name="Encoding").select_option("utf-16")
    card.get_by_role("alert").wait_for()
    card.get_by_role("combobox", name="Encoding").select_option("")
    settled(card)
    assert roles(card) == ["category", "ignore", "label"]
    close_all(page)


def test_an_encoding_is_found_or_chosen(page):
    card = look(page, "western.csv", "größe,war\n1,1\n2,0\n".encode("cp1252"))
    encoding = card.get_by_role("combobox", name="Encoding")
    assert encoding.input_value() == "cp1252"
    assert card.locator("thead .name").first.inner_text() == "größe"
    encoding.select_option("cp1251")
    playwright.expect(card.locator("thead .name").first).to_have_text("grцЯe", timeout=PATIENCE)
    encoding.select_option("utf-8")
    alert = card.get_by_role("alert")
    alert.wait_for()
    assert "is not UTF-8" in alert.inner_text()
    playwright.expect(card.locator("thead")).to_have_count(0, timeout=PATIENCE)
    encoding.select_option("cp1252")
    card.get_by_role("region", name="The first rows").wait_for()
    assert not alert.is_visible()
    card.get_by_role("button", name="Try again").click()
    page.wait_for_url("**/d/western*/overview")
    assert measures(page, "n_labels", "n_features") == ["1", "1"]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("twice.csv", "a,a\n1,0\n", "two columns are called 'a'"),
        ("noise.csv", bytes(range(256)), "this is not text"),
        ("ragged.csv", "a,b\n1\n", "expected 2 values as in the first row, found 1"),
        ("empty.csv", "", "The file is empty"),
    ],
)
def test_what_is_no_table_says_why_in_its_card(page, name, content, told):
    send(page, name, content)
    card = page.get_by_role("region", name=name, exact=True)
    card.get_by_role("alert").wait_for()
    assert told in card.get_by_role("alert").inner_text()
    assert card.locator("thead").count() == 0
    close_all(page)


def test_without_a_label_the_form_says_what_is_missing(page):
    card = look(page, "numbers.csv", "a,b\n1.5,2.5\n3.5,4.5\n")
    assert card.get_by_role("status").inner_text().startswith("No column is a label yet.")
    card.get_by_role("button", name="Open").click()
    alert = card.get_by_role("alert")
    assert alert.inner_text().startswith("No column is a label yet. Choose 'label' above")
    assert page.evaluate("document.activeElement.ariaLabel") == "Role of a"
    card = look(page, "head.csv", "a,b\n")
    assert card.locator("tbody tr").count() == 0
    assert card.get_by_role("status").inner_text().startswith("No column is a label yet.")
    close_all(page)


def test_what_was_missing_is_told_once_and_no_longer_than_it_is(page):
    card = look(page, "photos.csv", "light,sky\n0.5,1\n0.7,0\n")
    role(card, "sky").select_option("number")
    card.get_by_role("button", name="Open").click()
    alert, status = card.get_by_role("alert"), card.get_by_role("status")
    assert alert.inner_text().startswith("No column is a label yet.")
    assert status.inner_text() == ""
    role(card, "sky").select_option("label")
    playwright.expect(alert).to_have_count(0, timeout=PATIENCE)
    assert status.inner_text() == "1 label, 1 attribute."
    close_all(page)


def test_a_second_try_keeps_what_was_chosen(page):
    rows = "".join(f"{at},1\n" for at in range(9)) + "9,maybe\n"
    card = look(page, "late.csv", "minutes,war\n" + rows * 130)  # the fault lies below the preview
    role(card, "war").select_option("list")
    card.get_by_role("textbox", name="Between labels").fill("")
    card.get_by_role("button", name="Open").click()
    alert = card.get_by_role("alert")
    alert.wait_for()
    assert "late.csv" in alert.inner_text()
    assert roles(card) == ["number", "list"]
    assert page.evaluate("document.activeElement.textContent") == "Try again"
    card.get_by_role("textbox", name="Between labels").fill(";")
    card.get_by_role("button", name="Try again").click()
    page.wait_for_url("**/d/late*/overview")
    assert measures(page, "n_labels", "n_instances") == ["2", "1,300"]


def test_names_that_are_unknown_are_told_and_stay(page):
    card = look(page, "photos.csv", CSV)
    labels = card.get_by_role("textbox", name="Label columns")
    labels.fill("sky, nonesuch")
    card.get_by_role("combobox", name="Format").select_option("csv")
    settled(card)
    assert labels.input_value() == "sky, nonesuch"
    assert roles(card) == ["number", "label", "number", "number"]
    labels.press("Enter")
    card.get_by_role("alert").wait_for()
    assert "nonesuch" in card.get_by_role("alert").inner_text()
    assert labels.input_value() == "sky, nonesuch"
    assert card.get_by_role("combobox", name="Format").input_value() == "csv"
    labels.fill("sky")
    card.get_by_role("button", name="Try again").click()
    page.wait_for_url("**/d/photos*/overview")


def test_five_thousand_columns(page):
    card = look(page, "wide.csv", WIDE)
    assert card.locator("thead select").count() == 60
    assert "4,940 more columns" in card.locator("thead").inner_text()
    labels = card.get_by_role("textbox", name="Label columns")
    assert labels.input_value() == "-20"
    assert card.get_by_role("status").inner_text() == "20 labels, 4,980 attributes."
    role(card, "c4999").select_option("ignore")
    assert card.get_by_role("status").inner_text().startswith("19 labels, 4,980 attributes")
    labels.fill("-30")
    labels.blur()
    assert card.get_by_role("status").inner_text().startswith("30 labels")
    labels.fill("-20")
    labels.blur()
    card.get_by_role("button", name="Open").click()
    page.wait_for_url("**/d/wide*/overview")
    assert measures(page, "n_labels", "n_features") == ["20", "4,980"]


def test_a_list_of_labels_amid_many_columns_is_found(page):
    names = [f"c{at}" if at != 50 else "tags" for at in range(100)]
    rows = [["0.5"] * 50 + [("u|v", "v|w", "u")[at % 3]] + ["1.5"] * 49 for at in range(30)]
    card = look(page, "wide.csv", "\n".join(",".join(row) for row in [names, *rows]))
    assert role(card, "tags").input_value() == "list"
    assert card.locator("thead th.dim").all_inner_texts() == [
        "… 10 more columns …",
        "… 29 more columns …",
    ]
    assert card.locator("tbody tr").first.locator("td").nth(41).inner_text() == "u|v"
    assert card.get_by_role("textbox", name="Between labels").input_value() == "|"
    card.get_by_role("button", name="Open").click()
    page.wait_for_url("**/d/wide*/overview")
    assert measures(page, "n_labels", "n_features") == ["3", "99"]


def test_what_is_shown_as_a_category_is_opened_as_one(page):
    texts = (f"a word or two on {at}" for at in range(4000))
    cells = [*["none"] * 800, *texts]  # few of the texts are in the rows that are looked at
    rows = "".join(f"{at % 7}.5,{cell},{at % 2}\n" for at, cell in enumerate(cells))
    card = look(page, "notes.csv", f"light,note,sky\n{rows}")
    assert roles(card) == ["number", "category", "label"]
    card.get_by_role("button", name="Open").click()
    page.wait_for_url("**/d/notes*/overview")
    assert measures(page, "n_labels", "n_features") == ["1", "2"]


def test_names_and_cells_are_text(page):
    card = look(page, "evil.csv", f'"{HOSTILE}",<b>war</b>\n<script>alert(1)</script>,1\nx,0\n')
    assert card.locator("img, b, script").count() == 0
    assert HOSTILE in card.locator("thead").inner_text()
    assert "<script>alert(1)</script>" in card.locator("tbody").inner_text()
    assert "owned" not in page.title()
    close_all(page)


def test_a_forgotten_xml_joins_the_arff_that_waits(page):
    send(page, "films.arff", ARFF)
    page.wait_for_selector("[role=alert] >> text=Expected films.xml beside it")
    send(page, "films.xml", XML)
    page.wait_for_url("**/d/films*/overview")
    assert measures(page, "n_labels") == ["3"]
    page.get_by_role("link", name="Open data").click()
    page.wait_for_selector("h1 >> text=Open a data set")
    playwright.expect(page.locator("#opening > *")).to_have_count(0, timeout=PATIENCE)


def test_a_second_try_with_other_formats_keeps_what_was_typed(page):
    send(page, "films.arff", ARFF)
    card = page.get_by_role("region", name="films.arff", exact=True)
    labels = card.get_by_role("textbox", name="Label columns")
    labels.fill("nonesuch")
    card.get_by_role("combobox", name="Format").select_option("mulan")
    settled(card)
    assert labels.input_value() == "nonesuch"
    card.get_by_role("button", name="Try again").click()
    page.wait_for_selector("[role=alert] >> text=nonesuch")
    assert labels.input_value() == "nonesuch"
    assert card.get_by_role("combobox", name="Format").input_value() == "mulan"
    labels.fill("-3")
    card.get_by_role("button", name="Try again").click()
    page.wait_for_url("**/d/films*/overview")
    assert measures(page, "n_labels", "n_features") == ["3", "2"]


def test_compressed_tables_have_a_preview_too(page):
    card = look(page, "photos.csv.gz", gzip.compress(CSV.encode()))
    assert roles(card) == ["number", "label", "label", "label"]
    close_all(page)


def test_one_of_several_tables_in_an_archive_is_chosen(page):
    other = "minutes,war\n90,1\n150,0\n"
    send(page, "several.zip", zipped(a_csv=CSV, b_csv=other, readme_md="hello"))
    card = page.get_by_role("region", name="several.zip", exact=True)
    member = card.get_by_role("combobox", name="File in the archive")
    member.wait_for()
    alert = card.get_by_role("alert")
    assert alert.inner_text() == "Several files of this archive hold data. Choose one of them."
    assert member.locator("option").all_inner_texts() == ["choose one", "a.csv", "b.csv"]
    card.get_by_role("button", name="Try again").click()
    assert page.evaluate("document.activeElement.name") == "member"
    member.select_option("a.csv")
    card.get_by_role("region", name="The first rows").wait_for()
    settled(card)
    assert roles(card) == ["number", "label", "label", "label"]
    assert alert.count() == 0
    member.select_option("b.csv")
    playwright.expect(card.locator("thead select")).to_have_count(2, timeout=PATIENCE)
    assert roles(card) == ["number", "label"]
    card.get_by_role("button", name="Try again").click()
    page.wait_for_url("**/d/b/overview")
    assert measures(page, "n_labels", "n_features", "n_instances") == ["1", "1", "2"]


def test_the_keyboard_alone_opens_a_table(page):
    card = look(page, "photos.csv", CSV)
    page.locator("#picker").focus()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.ariaLabel") == "Role of heron":
            break
    page.keyboard.press("ArrowDown")  # from label past the others
    assert roles(card) == ["number", "number", "number", "list"]
    page.keyboard.press("End")
    assert roles(card) == ["number", "number", "number", "ignore"]
    page.keyboard.press("Tab")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("sky,sea")
    page.keyboard.press("Enter")
    page.wait_for_url("**/d/photos*/overview")
    assert measures(page, "n_labels", "n_features") == ["2", "1"]


@pytest.mark.parametrize("width", [360, 800, 1280])
def test_no_width_scrolls_sideways(open_page, width):
    page = start_page(open_page(viewport={"width": width, "height": 740}))
    look(page, "tickets.csv", TICKETS)
    page.locator("summary", has_text="Show list").click()
    page.wait_for_selector("li >> text=yeast")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    close_all(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_form(open_page, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="pip install 'scumble[dev]'"
    ).Axe()
    page = start_page(open_page(color_scheme=scheme))
    look(page, "tickets.csv", TICKETS)
    card = look(page, "numbers.csv", "a,b\n1.5,2.5\n3.5,4.5\n")
    card.get_by_role("button", name="Open").click()
    card.get_by_role("alert").wait_for()
    page.locator("summary", has_text="Show list").click()
    page.wait_for_selector("li >> text=yeast")
    found = axe.run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
    close_all(page)


# Public data sets


def test_public_data_sets_open_and_a_failed_fetch_says_so(page):
    page.locator("summary", has_text="Show list").click()
    page.get_by_role("button", name="Download emotions").click()
    alert = page.locator(".panel", has_text="Public data sets").get_by_role("alert")
    alert.wait_for()
    assert "emotions" in alert.inner_text()
    assert "cannot be reached" in alert.inner_text()
    page.get_by_role("button", name="Open yeast").click()
    page.wait_for_url("**/d/yeast*/overview")
    assert measures(page, "n_labels", "n_instances") == ["14", "4"]


# Files of the command line


def test_a_table_of_the_command_line_has_the_same_form(open_page, tmp_path):
    path = tmp_path / "photos.csv"
    path.write_text(CSV)
    with running(path, tmp_path) as (base, headers, _):
        page = open_page(with_token(base, headers))
        card = page.get_by_role("region", name=str(path), exact=True)
        card.get_by_role("region", name="The first rows").wait_for()
        assert roles(card) == ["number", "label", "label", "label"]
        page.reload()  # it still waits
        card.get_by_role("region", name="The first rows").wait_for()
        role(card, "heron").select_option("number")
        card.get_by_role("button", name="Open").click()
        page.wait_for_url("**/d/photos/overview")
        assert measures(page, "n_labels", "n_features") == ["2", "2"]
        page.goto(f"{base}/")
        page.wait_for_selector("h1 >> text=Open a data set")
        playwright.expect(page.locator("#opening > *")).to_have_count(0, timeout=PATIENCE)
        page.close()
    assert path.read_text() == CSV


def test_what_was_said_on_the_command_line_is_in_the_form(open_page, tmp_path):
    path = tmp_path / "photos.csv"
    path.write_text(CSV)
    words = ("--labels", "sky,nonesuch", "--ignore", "light")
    with running(path, tmp_path, *words, stderr=subprocess.DEVNULL) as (base, headers, _):
        page = open_page(with_token(base, headers))
        card = page.get_by_role("region", name=str(path), exact=True)
        card.get_by_role("alert").wait_for()
        assert "nonesuch" in card.get_by_role("alert").inner_text()
        labels = card.get_by_role("textbox", name="Label columns")
        assert labels.input_value() == "sky, nonesuch"
        assert roles(card) == ["ignore", "label", "number", "number"]
        labels.fill("sky, sea")
        card.get_by_role("button", name="Try again").click()
        page.wait_for_url("**/d/photos/overview")
        assert measures(page, "n_labels", "n_features") == ["2", "1"]
        page.close()


@pytest.mark.parametrize(
    ("words", "shown", "n_features"),
    [
        (
            ("--ignore", "hours, subject", "--category", "code", "--keep", "id"),
            ["category", "ignore", "category", "ignore", "list"],
            "2",
        ),
        (("--keep", "true"), ["category", "number", "number", "text", "list"], "4"),
    ],
)
def test_columns_named_on_the_command_line_have_their_roles(
    open_page, tmp_path, words, shown, n_features
):
    path = tmp_path / "tickets.csv"
    path.write_text(TICKETS)
    with running(path, tmp_path, *words) as (base, headers, _):
        page = open_page(with_token(base, headers))
        card = page.get_by_role("region", name=str(path), exact=True)
        card.get_by_role("region", name="The first rows").wait_for()
        assert roles(card) == shown
        card.get_by_role("button", name="Open").click()
        page.wait_for_url("**/d/tickets/overview")
        assert measures(page, "n_labels", "n_features") == ["3", n_features]
        page.close()


def test_a_member_named_on_the_command_line_is_chosen_in_the_form(open_page, tmp_path):
    path = tmp_path / "several.zip"
    path.write_bytes(zipped(a_csv=CSV, b_csv=TICKETS))
    with running(path, tmp_path, "--option", "member=b.csv") as (base, headers, _):
        page = open_page(with_token(base, headers))
        card = page.get_by_role("region", name=str(path), exact=True)
        card.get_by_role("region", name="The first rows").wait_for()
        member = card.get_by_role("combobox", name="File in the archive")
        assert member.input_value() == "b.csv"
        assert roles(card) == ["ignore", "number", "number", "text", "list"]
        card.get_by_role("button", name="Open").click()
        page.wait_for_url("**/d/b/overview")
        assert measures(page, "n_labels", "n_features") == ["3", "3"]
        page.close()


def test_an_archive_of_the_command_line_lets_one_of_its_tables_be_chosen(open_page, tmp_path):
    path = tmp_path / "several.zip"
    path.write_bytes(zipped(a_csv=CSV, b_csv=TICKETS))
    with running(path, tmp_path, stderr=subprocess.DEVNULL) as (base, headers, _):
        page = open_page(with_token(base, headers))
        card = page.get_by_role("region", name=str(path), exact=True)
        card.get_by_role("alert").get_by_text("Several files of this archive").wait_for()
        card.get_by_role("combobox", name="File in the archive").select_option("a.csv")
        card.get_by_role("region", name="The first rows").wait_for()
        card.get_by_role("button", name="Try again").click()
        page.wait_for_url("**/d/a/overview")
        assert measures(page, "n_labels", "n_features") == ["3", "1"]
        page.close()


def test_what_was_said_of_columns_that_are_not_shown_is_passed_on(open_page, tmp_path):
    path = tmp_path / "wide.csv"
    names = [*(f"c{at}" for at in range(98)), "sky", "sea"]
    rows = [[*(f"{at * place % 7}.5" for place in range(98)), at % 2, 1] for at in range(30)]
    path.write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]))
    words = ("--ignore", "c50, c3", "--category", "c51", "--keep", "1.5", "--text", "-50")
    with running(path, tmp_path, *words) as (base, headers, _):
        page = open_page(with_token(base, headers))
        posted = []
        page.on("request", lambda sent: "/datasets" in sent.url and posted.append(sent.post_data))
        card = page.get_by_role("region", name=str(path), exact=True)
        card.get_by_role("region", name="The first rows").wait_for()
        assert role(card, "c3").input_value() == "ignore"
        others = card.get_by_role("checkbox")
        assert others.locator("..").inner_text() == (
            "Use these options of the command line for columns that are not shown: "
            "keep 1.5; category c51; text -50; ignore c50"
        )
        assert card.get_by_role("status").inner_text() == (
            "2 labels, 96 attributes, 2 columns left out."
        )
        card.get_by_role("button", name="Open").click()
        card.get_by_role("alert").wait_for()
        assert "'1.5', but the file has no such column" in card.get_by_role("alert").inner_text()
        assert json.loads(posted[0]) | {"uploads": None} == {
            "uploads": None,
            "labels": ["sky", "sea"],
            "ignore": ["c3", "c50"],
            "text": [-50],
            "category": ["c51"],
            "keep": ["1.5"],
        }
        others.uncheck()
        assert card.get_by_role("status").inner_text().endswith("97 attributes, 1 column left out.")
        card.get_by_role("button", name="Try again").click()
        page.wait_for_url("**/d/wide/overview")
        assert measures(page, "n_labels", "n_features") == ["2", "97"]
        page.close()


def test_an_xml_joins_the_arff_of_the_command_line(open_page, tmp_path):
    path = tmp_path / "films.arff"
    path.write_text(ARFF)
    with running(path, tmp_path, stderr=subprocess.DEVNULL) as (base, headers, _):
        page = open_page(with_token(base, headers))
        page.wait_for_selector("#opening [role=alert] >> text=films.xml")
        send(page, "films.xml", XML)
        page.wait_for_url("**/d/films/overview")
        assert measures(page, "n_labels") == ["3"]
        page.close()
