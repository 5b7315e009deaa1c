"""Advise, Before and after, and Compare in Chromium, against a server process of its own."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

import scumble
from scumble.advice import advise
from scumble.evaluate import compare
from scumble.learn import predict_dataset, read_model
from scumble.report.treatment import resampler_comparison
from scumble.resample import REMEDIAL, compare_methods
from tests.gui.conftest import running, workers_asleep

playwright = pytest.importorskip("playwright.sync_api", reason="pip install 'scumble[dev]'")
PATIENCE = 300_000
STUDIES = ("advise", "before_and_after", "compare")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A small data set whose labels can be learnt, and as a file."""
    path = tmp_path_factory.mktemp("data") / "photos.arff"
    made = scumble.make_multilabel(160, 6, n_features=8, mean_ir=5, scumble=0.1, random_state=3)
    scumble.write(replace(made, name="photos"), path, format="meka")
    return scumble.read(path)


@pytest.fixture(scope="module")
def served(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("temporary")
    path = folder / "photos.arff"
    scumble.write(data, path, format="meka")
    with running(path, folder) as (base, headers, process):
        yield base, headers["authorization"].removeprefix("Bearer "), process


@pytest.fixture(scope="module")
def address(served):
    base, token, _ = served
    return f"{base}/?token={token}"


def visit(page, view):
    page.goto(page.url.partition("/d/")[0] + f"/d/photos/{view}")
    page.wait_for_selector("main h1")


def saved(page, act):
    with page.expect_download() as waiting:
        act()
    return waiting.value.suggested_filename, Path(waiting.value.path())


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


@pytest.fixture(scope="module")
def advice(data):
    return advise(data, budget=None, random_state=1).to_dict()


def test_advice_live_kept_and_taken(page, data, advice):
    visit(page, "advise")
    page.get_by_label("Time limit").select_option("no limit")
    page.get_by_label("Seed", exact=True).fill("1")
    press(page, "Get advice")
    page.wait_for_selector("[data-testid=methods]")
    told = page.locator("main").inner_text()
    for sentences in advice["sentences"].values():
        assert all(sentence in told for sentence in sentences)
    advised = page.locator("[data-testid=methods] tr.advised th")
    assert advised.inner_text().startswith(f"{advice['chosen']} (advised)")
    rows = page.locator("[data-testid=methods] tbody tr")
    playwright.expect(rows).to_have_count(len(advice["methods"]), timeout=PATIENCE)
    risks = page.locator("[data-testid=risks] tbody tr > :first-child").all_inner_texts()
    assert risks == advice["at_risk"]
    waiting = [one["name"] for one in advice["labels"] if not one["learnable"]]
    assert page.locator("[data-testid=not-yet] a").all_inner_texts() == waiting
    page.reload()  # it is still there
    page.wait_for_selector("[data-testid=methods]")
    filename, path = saved(page, lambda: press(page, "Save as HTML"))
    assert filename == "photos-advice.html"
    assert advice["sentences"]["What helps here"][0] in path.read_text()
    visit(page, "overview")
    assert advice["sentences"]["What helps here"][0] in page.locator("main").inner_text()
    assert "scumble advise FILE" not in page.locator("main").inner_text()


def test_what_is_advised_is_trained_saved_and_asked(page, data, advice, tmp_path):
    visit(page, "advise")
    page.wait_for_selector("[data-testid=methods]")
    press(page, f"Train {advice['chosen']}")
    page.wait_for_selector(".models li")
    filename, path = saved(page, lambda: press(page, f"Download {advice['chosen']}"))
    assert filename.startswith("photos-")
    assert filename.endswith(".model")
    expected = predict_dataset(read_model(path), data).labels.toarray().astype(int).tolist()
    table = tmp_path / "new.csv"
    names = [feature.name for feature in data.features]
    lines = [names, *data.X.tolist()]
    table.write_text("\n".join(",".join(map(str, line)) for line in lines))
    page.get_by_label("File", exact=True).set_input_files(table)
    filename, path = saved(page, lambda: press(page, "Predict"))
    assert filename == "new-predicted.csv"
    head, *rows = csv.reader(path.read_text().splitlines())
    assert head == list(data.labels)
    assert [[int(cell) for cell in row] for row in rows] == expected
    assert f"on {len(data)} rows" in page.locator(".predict").inner_text()


def test_methods_side_by_side_in_words_and_the_advised_one_chosen(page, data):
    visit(page, "before_and_after")
    press(page, "None")
    assert page.get_by_role("button", name="Run", exact=True).is_disabled()
    page.get_by_text("Select methods").click()
    for family, method in (
        ("Decouple", "remedial"),
        ("Add rows", "mlros"),
        ("Add rows", "mlsmote"),
    ):
        details = page.locator("details", has=page.locator(f"summary:text-is('{family}')")).last
        if details.get_attribute("open") is None:
            details.locator("> summary").click()
        details.locator(".tick", has=page.locator(f"b:text-is('{method}')")).click()
    press(page, "Run")
    page.wait_for_selector("[data-testid=side-by-side]")
    steps = {"mlsmote": scumble.resample.MLSMOTE, "mlros": scumble.resample.MLROS}
    chains = {"remedial": [REMEDIAL()]}
    chains |= {name: [make(random_state=0)] for name, make in steps.items()}
    expected = resampler_comparison(compare_methods(data, chains))
    assert expected["verdict"] in page.locator("main").inner_text()
    for one in expected["methods"]:
        row = page.locator("[data-testid=side-by-side] tbody tr", has_text=one["method"]).first
        change = one["changes"]["scumble"]
        sign = "−" if change["part"] < 0 else "+"
        words = f"{sign}{abs(100 * change['part']):,.1f} % {change['verdict']}"
        assert words in row.inner_text()
        mark = {"better": "good", "worse": "bad"}[change["verdict"]]
        playwright.expect(row.locator("td").first.locator(f".{mark}")).to_have_count(
            1, timeout=PATIENCE
        )
    chosen = page.locator("input[name=pick]:checked")
    playwright.expect(chosen).to_have_count(1, timeout=PATIENCE)
    advised = chosen.get_attribute("aria-label").removeprefix("Select ")
    assert (
        f"Recommended: {advised}." in page.locator(".notice", has_text="Recommended").inner_text()
    )
    page.get_by_label("Select remedial").check()
    page.get_by_role("link", name="Compare remedial").click()
    page.wait_for_selector("h1 >> text=Compare")
    ticked = page.locator(".choice > .tick > input:checked")
    playwright.expect(ticked).to_have_count(
        3, timeout=PATIENCE
    )  # two classifiers, and what was picked


@pytest.fixture(scope="module")
def expected(data):
    return compare(
        data,
        ["br", "mlknn"],
        {"none": None, "remedial(one_sided=keep)": REMEDIAL(one_sided="keep")},
        folds="1x3",
        random_state=4,
    )


def test_a_comparison_by_keyboard_alone(page, expected):
    visit(page, "compare?classifiers=br,mlknn&treatments=remedial(one_sided=keep)")
    assert page.get_by_test_id("count").inner_text() == "4 methods on 10 folds: 40 models to fit."
    for label, value in (("Folds", "3"), ("Repetitions", "1"), ("Seed", "4")):
        page.get_by_label(label, exact=True).focus()
        page.keyboard.press("Control+a")
        page.keyboard.type(value)
    assert page.get_by_test_id("count").inner_text() == "4 methods on 3 folds: 12 models to fit."
    page.get_by_role("button", name="Compare", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-testid=comparison]")
    page.wait_for_selector("h2:focus")  # readers hear that it is done
    plain = expected.to_dict()
    told = page.get_by_test_id("verdicts").locator("li").all_inner_texts()
    assert [text.lstrip("✓✗≈= ") for text in told] == plain["verdicts"]
    rows = page.get_by_test_id("comparison").locator("tbody tr")
    for row, method in zip(rows.all(), plain["methods"], strict=True):
        text = row.inner_text()
        assert text.startswith(method["name"])
        assert all(f"{mean:.3f}" in text for mean in method["means"].values())
    words = {"better": "better", "worse": "worse"}
    for one in plain["differences"]:
        row = rows.nth([m["name"] for m in plain["methods"]].index(one["method"]))
        sign = "−" if one["difference"] < 0 else "+"
        word = words.get(one["verdict"], "may be chance")
        assert f"{sign}{abs(one['difference']):.3f} {word}" in row.inner_text()


def test_a_comparison_in_pictures_and_its_winner_as_a_model(page, data, expected):
    visit(page, "compare")
    page.wait_for_selector("[data-testid=comparison]")
    first = expected.table[0]
    drawn = page.get_by_role("img", name="Change of macro F1 against br")
    assert f"{first.method}: {first.difference:+.3f}".replace("-", "−") in drawn.get_attribute(
        "aria-label"
    )
    page.get_by_label("Metric", exact=True).select_option("micro F1")
    playwright.expect(page.get_by_role("img", name="Change of micro F1 against br")).to_have_count(
        1, timeout=PATIENCE
    )
    method = "mlknn"
    page.get_by_label("Method", exact=True).select_option(method)
    gains = expected.gains(method)
    up, down = (sum(row["gain"] * sign > 0 for row in gains) for sign in (1, -1))
    words = f"{up} of {len(gains)} labels {'gains' if up == 1 else 'gain'} by {method}, {down} "
    assert words in page.locator("main").inner_text()
    playwright.expect(page.locator("svg.chart .good path, svg.chart .bad path")).to_have_count(
        up + down, timeout=PATIENCE
    )
    page.get_by_text("Show as table").click()
    table = page.get_by_role("region", name="Change of each label").locator("tbody tr")
    shown = {row.locator("th").inner_text(): row.inner_text() for row in table.all()}
    assert {row["name"] for row in gains} == set(shown)
    assert all(f"{row['after']:.3f}" in shown[row["name"]] for row in gains)
    press(page, f"Train {expected.best}")
    page.wait_for_selector(f".models li:has-text('{expected.best}')")
    _, path = saved(page, lambda: press(page, f"Download {expected.best}"))
    assert predict_dataset(read_model(path), data).labels.shape == data.Y.shape
    # The form stands as it did.
    assert page.get_by_test_id("count").inner_text() == "4 methods on 3 folds: 12 models to fit."
    assert page.get_by_label("one-sided instances").first.input_value() == "keep"


def test_running_work_is_found_again_and_cancelled(page, served):
    visit(page, "compare")
    page.wait_for_selector("[data-testid=comparison]")
    with workers_asleep(served[2]) as workers:
        page.get_by_label("Seed", exact=True).fill("77")
        press(page, "Compare")
        page.get_by_role("progressbar", name="Comparison of classifiers on photos").wait_for()
        assert page.locator("button:focus").inner_text() == "Cancel"
        visit(page, "labels")
        visit(page, "compare")
        live = page.get_by_role("group", name="Comparison of classifiers on photos")
        live.wait_for()
        assert "so far" in live.inner_text()
        live.get_by_role("button", name="Cancel").click()
        page.locator(".notice", has_text="Cancelled.").wait_for()
        psutil = pytest.importorskip("psutil", reason="pip install 'scumble[cluster]'")
        gone, _ = psutil.wait_procs(workers, timeout=0.1)
        assert len(gone) >= 1 or len(workers) > 1
    assert page.get_by_role("button", name="Compare", exact=True).is_enabled()
    visit(page, "compare")
    page.wait_for_selector("[data-testid=comparison]")  # the last one is still there


@pytest.mark.parametrize("is_anew", [False, True])
def test_work_that_is_come_back_to_shows_once(page, served, is_anew):
    """The page takes over from the corner, and nobody is told to look at what is in view."""
    tabs, corner = page.locator("#tabs"), page.locator("#jobs > :visible")
    visit(page, "compare?classifiers=br,mlknn")
    with workers_asleep(served[2]):
        page.get_by_label("Seed", exact=True).fill("78" if is_anew else "79")
        press(page, "Compare")
        page.get_by_role("progressbar", name="Comparison of classifiers on photos").wait_for()
        if is_anew:
            visit(page, "labels")
        else:
            tabs.get_by_role("link", name="Labels", exact=True).click()
        corner.first.wait_for()
        playwright.expect(corner).to_have_count(1, timeout=PATIENCE)
        tabs.get_by_role("link", name="Compare", exact=True).click()
        page.get_by_test_id("progress").wait_for()
        playwright.expect(corner).to_have_count(0, timeout=PATIENCE)
    page.get_by_test_id("comparison").wait_for()
    page.get_by_test_id("progress").wait_for(state="detached")
    page.wait_for_timeout(1500)  # those who watched before ask once a second
    assert corner.all_inner_texts() == []
    assert "The interval holds in 95 of 100 such comparisons." in page.locator("main").inner_text()


def test_what_was_compared_is_treated_with_the_same_parameters(page):
    visit(page, "before_and_after")
    press(page, "None")
    page.get_by_text("Select methods").click()
    row = page.locator(".choice", has=page.locator("b:text-is('mlros')"))
    family = page.locator(".choices > details", has=row)
    if family.get_attribute("open") is None:
        family.locator("> summary").click()
    row.locator("input[type=checkbox]").first.check()
    row.get_by_text("Parameters", exact=True).click()
    row.get_by_label("percent of the rows", exact=True).fill("40")
    press(page, "Run")
    page.get_by_label("Select mlros(percent=40)").check()
    page.get_by_role("link", name="Treat with mlros(percent=40)").click()
    percent = page.locator(".step").get_by_label("percent of the rows", exact=True)
    percent.wait_for()
    assert percent.input_value() == "40"
    page.reload()  # the address has it
    percent.wait_for()
    assert percent.input_value() == "40"
    press(page, "Run")
    page.locator("h2", has_text="Before and after MLROS(percent=40").wait_for()


def test_of_a_file_that_cannot_be_predicted_nothing_stays(page, advice, served, tmp_path):
    visit(page, "advise")
    page.get_by_role("button", name=f"Train {advice['chosen']}").click()
    page.wait_for_selector(".models li")
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("nothing,known\n1,2\n")
    page.get_by_label("File", exact=True).set_input_files(wrong)
    with page.expect_response(lambda answer: answer.request.method == "DELETE") as deleted:
        press(page, "Predict")
        page.locator(".predict [role=alert]").wait_for()
    assert "/uploads/" in deleted.value.url
    assert deleted.value.status == 204


def test_what_cannot_be_compared_says_so(page):
    visit(page, "compare?classifiers=br")
    assert page.get_by_role("button", name="Compare", exact=True).is_disabled()
    assert "Select a second classifier" in page.get_by_test_id("count").inner_text()
    visit(page, "compare?classifiers=br,mlknn(n_neighbors=0)")
    page.evaluate("document.querySelector('form').noValidate = true")
    press(page, "Compare")
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "'n_neighbors' parameter of MLkNN must be an int in [1, inf)" in alert.inner_text()


def test_resampled_data_leads_back_to_the_data_as_it_was(page):
    visit(page, "treat?chain=remedial%2Bmlros")
    press(page, "Run")
    page.wait_for_selector("[data-testid=measures]")
    page.get_by_role("link", name="Compare by cross-validation").click()
    page.wait_for_selector("h1 >> text=Compare")
    assert page.get_by_test_id("count").inner_text() == "4 methods on 10 folds: 40 models to fit."
    chain = "remedial(passes=1,one_sided=clone"
    playwright.expect(page.locator(".tick", has_text=f"{chain}")).to_have_count(1, timeout=PATIENCE)
    with page.expect_request("**/comparison") as asked:
        press(page, "Compare")
    [steps] = asked.value.post_data_json["treatments"]
    assert [step["method"] for step in steps] == ["remedial", "mlros"]
    assert steps[1]["parameters"]["percent"] == 25
    page.get_by_role("button", name="Cancel").click()
    page.go_back()
    page.wait_for_selector("[data-testid=measures]")
    page.get_by_role("link", name="Explore").click()
    page.wait_for_selector("[data-measure=scumble]")
    page.get_by_role("link", name="Compare", exact=True).click()
    page.wait_for_selector("h1 >> text=Compare")
    assert "Copies of one row" in page.locator("main").inner_text()
    page.get_by_role("link", name="Compare with the original data").click()
    page.wait_for_url("**/d/photos/compare")


NAMELESS = """() => [...document.querySelectorAll('button, a[href], input, select')]
    .filter((each) => !(each.textContent.trim() || each.ariaLabel || each.labels?.length
                        || each.title)).map((each) => each.outerHTML)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_three_widths_and_both_themes(open_page, scheme):
    page = open_page(color_scheme=scheme, reduced_motion="reduce")
    for width in (360, 800, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        for view in STUDIES:
            visit(page, view)
            page.wait_for_selector("main h2")
            page.evaluate(
                "document.querySelectorAll('details').forEach((it) => { it.open = true; })"
            )
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (view, width)
            playwright.expect(page.locator("h1")).to_have_count(1, timeout=PATIENCE)
            assert page.locator("nav [aria-current=page]").inner_text().lower() == view.replace(
                "_", " "
            )
            assert page.evaluate(NAMELESS) == []
            ids = page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
            assert len(ids) == len(set(ids))
