"""Every page in Chromium: three widths, both themes, axe without a finding, by keyboard alone."""

import re
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

import scumble
from scumble.learn import predict_dataset, read_model
from scumble.resample import REMEDIAL
from tests.gui.conftest import PATIENCE, Client, running, with_token, workers_asleep
from tests.gui.files import ARFF, CSV, MEKA
from tests.gui.test_api import zipped
from tests.gui.test_opening import TICKETS

playwright = pytest.importorskip("playwright.sync_api", reason="pip install 'scumble[dev]'")
psutil = pytest.importorskip("psutil", reason="pip install 'scumble[cluster]'")
WIDTHS = (1280, 800, 360)
LABELS = (
    "sky",
    "heron",
    "a::name::without::a::space::that::no::line::on::a::telephone::can::hold",
    "two words",
    "<b>bold</b>",
    "שלום",
)
#: Data on which advice takes longer than it takes to cancel it.
MUCH = {"n_instances": 4000, "n_labels": 20, "n_features": 40, "mean_ir": 10, "scumble": 0.1}
#: What is there once a page is; a page that is not listed has its heading.
READY = {
    "overview": "svg.chart",
    "labels": "tbody tr",
    "labelsets": "tbody tr",
    "attributes": "tbody tr",
    "concurrence": ".chord-arc",
    "advise": "[data-testid=methods]",
    "treat": ".step",
    "before_and_after": "[data-testid=side-by-side]",
    "compare": "[data-testid=comparison]",
    "report": ".saves",
}
#: States that no tab leads to: their addresses, and what is there then.
MORE = {
    "/": ".datasets li",
    "/nonesuch": "[role=alert]",
    "/d/nonesuch/labels": "[role=alert]",
    "/d/photos/nonesuch": "[role=alert]",
    "/d/photos/labels?q=nonesuch": "text=0 of 6 labels",
    "/d/photos/concurrence?label=2": "h2 >> text=Labels co-occurring with",
    "/d/photos/treat?result=photos-remedial": ".pair .chord",
    "/d/photos/treat?chain=remedial%2Bmlsmote": ".step + .step",
    "/d/photos-remedial/overview": "svg.chart",
    "/d/photos-remedial/compare": ".notice",
    "/d/films/advise": "text=Get advice",
    "/d/films/before_and_after": "text=Select methods",
    "/d/films/compare": "form",
}


@pytest.fixture(scope="module")
def data():
    """A small data set whose labels can be learnt, with names that are hard to show."""
    made = scumble.make_multilabel(160, 6, n_features=8, mean_ir=5, scumble=0.1, random_state=3)
    return replace(made, name="photos", labels=LABELS)


@pytest.fixture(scope="module")
def served(data, tmp_path_factory):
    """A server that knows all about one data set, and nothing of another: address and process."""
    folder = tmp_path_factory.mktemp("temporary")
    scumble.write(data, folder / "photos.arff", format="meka")
    started = running(folder / "photos.arff", folder, "--max-upload", "1")
    with started as (base, headers, process):
        with Client(base_url=f"{base}/api/v1", headers=headers, timeout=600) as client:
            client.get("/catalogue")
            find_out(client, "/datasets/photos")
            scumble.write(replace(data[:40], name="films"), folder / "films.arff", format="meka")
            client.open(("films.arff", (folder / "films.arff").read_bytes()))
            client.result(client.post("/examples/synthetic", json=MUCH))
        yield with_token(base, headers), process


@pytest.fixture(scope="module")
def address(served):
    return served[0]


@pytest.fixture(scope="module")
def process(served):
    return served[1]


def find_out(client, photos):
    methods = [{"method": name} for name in ("remedial", "mlros", "mlsmote", "mlrus")]
    classifiers = [{"classifier": name} for name in ("br", "mlknn")]
    wishes = {
        "advice": {"budget": None, "random_state": 1},
        "methods": {"methods": methods},
        "comparison": {
            "classifiers": classifiers,
            "treatments": [methods[:1]],
            "repeats": 1,
            "folds": 3,
        },
        "models": {"classifier": classifiers[0]},
        "treatments": {"steps": methods[:1]},
    }
    for job in [client.post(f"{photos}/{kind}", json=wish) for kind, wish in wishes.items()]:
        client.result(job)


@pytest.fixture(scope="module")
def refusals():
    return tuple(
        f"Failed to load resource: {why}"
        for why in ("the server responded with a status of 4", "net::ERR_INTERNET_DISCONNECTED")
    )


@pytest.fixture(scope="module")
def axe():
    return pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="pip install 'scumble[dev]'"
    ).Axe()


def views(page):
    """All addresses, with what is there then: the tabs of the page itself, and the other states."""
    tabs = page.locator("#tabs a").evaluate_all("all => all.map((it) => it.getAttribute('href'))")
    assert {tab.rpartition("/")[2] for tab in tabs} >= set(READY)
    return MORE | {tab: READY.get(tab.rpartition("/")[2], "main h1") for tab in tabs}


def visit(page, path, ready):
    """Go to an address as the back button does, without loading everything anew."""
    page.evaluate(
        """(path) => {
            document.querySelector('main').firstElementChild.dataset.old = '';
            history.pushState(null, '', path);
            dispatchEvent(new PopStateEvent('popstate'));
        }""",
        path,
    )
    page.wait_for_selector("main > :not([data-old]) h1")
    page.locator(ready).first.wait_for()


#: Texts that do not fit: beyond the window, or beyond a box that hides what is too much. A box
#: that can be scrolled shows all; what only readers hear needs no room.
CUT = """() => {
    const cut = [];
    const isHeard = (at) => at.closest('.visually-hidden, .skip, select, noscript');
    const holder = (at) => {
        for (let up = at; up !== document.body; up = up.parentElement) {
            const { overflowX } = getComputedStyle(up);
            if (up instanceof SVGElement || overflowX === 'visible') continue;
            return overflowX === 'auto' ? null : up.getBoundingClientRect();
        }
        return { left: 0, right: document.documentElement.clientWidth };
    };
    const fits = (box) => (line) => line.left >= box.left - 1 && line.right <= box.right + 1;
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const { data, parentElement: at } = walk.currentNode;
        if (!data.trim() || isHeard(at) || !at.checkVisibility()) continue;
        const range = document.createRange();
        range.selectNodeContents(walk.currentNode);
        const box = holder(at);
        if (box && ![...range.getClientRects()].every(fits(box))) cut.push(data);
    }
    const pen = document.createElement('canvas').getContext('2d');
    const fields = 'main select, input:is([type=search], [placeholder])';
    for (const at of document.querySelectorAll(fields)) {
        if (!at.checkVisibility()) continue;
        const style = getComputedStyle(at);
        pen.font = style.font;
        const typed = at.type === 'search' ? at.value : '';  // others are scrolled
        const text = at.selectedOptions?.[0]?.text ?? (typed || at.placeholder || '');
        const taken = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
        const arrow = at.selectedOptions ? 16 : 0;
        if (pen.measureText(text).width > at.clientWidth - taken - arrow + 1) cut.push(text);
    }
    return cut;
}"""


def flaws(page, width):
    """What is wrong with how a page is laid out, with all that can be unfolded unfolded."""
    page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
    found = [f"cut: {text}" for text in page.evaluate(CUT)]
    if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
        found.append(f"{wide} wide")
    if (headings := page.locator("h1").count()) != 1:
        found.append(f"{headings} headings")
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
    return found + [f"twice: {each}" for each in {*ids} if ids.count(each) > 1]


def violations(axe, page):
    """What axe finds, with the first element of each kind."""
    return [
        f"axe: {one['id']}: {one['nodes'][0]['html'][:120]} ({len(one['nodes'])})"
        for one in axe.run(page).response["violations"]
    ]


# States that no address leads to: each makes one on a page, and undoes it afterwards.


def begin_treatment(page):
    """Begin work on one page and leave it for another."""
    visit(page, "/d/photos/treat", READY["treat"])
    page.get_by_role("spinbutton", name="passes").fill("3")
    page.get_by_role("button", name="Run").click()
    page.locator(".job:visible, .panel[role=group]").first.wait_for()
    visit(page, "/d/photos/labels", READY["labels"])


def begin_advice(page):
    visit(page, "/d/films/advise", "text=Get advice")
    page.get_by_role("button", name="Get advice").click()


@contextmanager
def work_goes_on_elsewhere(page, process):
    with workers_asleep(process):
        begin_treatment(page)
        card = page.get_by_role("group", name="REMEDIAL(passes=3) on photos")
        playwright.expect(card).to_contain_text(re.compile(r"\d s"), timeout=1000 * PATIENCE)
        yield
        card.get_by_role("button", name="Cancel").click()
        card.wait_for(state="detached")


@contextmanager
def work_goes_on_here(page, process):
    with workers_asleep(process):
        begin_advice(page)
        told = page.get_by_test_id("progress")
        playwright.expect(told).to_have_text(re.compile(r"\d s so far"), timeout=1000 * PATIENCE)
        yield
        page.get_by_role("button", name="Cancel").click()
        page.get_by_text("Cancelled.").wait_for()


@contextmanager
def advice_was_stopped(page, process):
    visit(page, "/d/synthetic/advise", "text=Get advice")
    page.get_by_label("Time limit").select_option("")
    page.get_by_role("button", name="Get advice").click()
    told = page.get_by_test_id("progress")
    playwright.expect(told).to_have_text(re.compile(r"[1-9]\d? % done"), timeout=1000 * PATIENCE)
    page.get_by_role("button", name="Cancel").click()
    told.wait_for(state="detached")
    page.get_by_text(re.compile(r"Stopped after \d+ methods?\.")).wait_for()
    page.get_by_test_id("methods").wait_for()
    yield


@contextmanager
def a_file_is_being_read(page, process):
    visit(page, "/", MORE["/"])
    with workers_asleep(process):
        send(page, "a-name-of-a-file-that-no-line-on-a-telephone-can-hold.csv", CSV)
        page.get_by_role("progressbar", name="Reading the first rows of").wait_for()
        yield
        page.get_by_role("button", name="Cancel").click()
        page.get_by_role("progressbar").wait_for(state="detached")


def end_from_outside(page, stopped):
    """Kill all workers, also those that begin only now, until the page tells of it."""
    alert = page.get_by_role("alert").get_by_text("worker process was killed")
    while not alert.count():
        for worker in stopped:
            with suppress(psutil.NoSuchProcess):
                worker.kill()
        page.wait_for_timeout(20)


@contextmanager
def work_failed_here(page, process):
    with workers_asleep(process) as stopped:
        begin_advice(page)
        page.get_by_test_id("progress").wait_for()
        end_from_outside(page, stopped)
        yield


@contextmanager
def work_failed_elsewhere(page, process):
    with workers_asleep(process) as stopped:
        begin_treatment(page)
        end_from_outside(page, stopped)
        yield
        page.get_by_role("button", name="Close", exact=True).click()


@contextmanager
def a_parameter_is_refused(page, process):
    visit(page, "/d/photos/treat?chain=mlrus", READY["treat"])
    page.get_by_role("spinbutton", name="percent of the rows").fill("250")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("alert").get_by_text("must be a number in [0, 100]").wait_for()
    yield


@contextmanager
def the_server_is_lost(page, process):
    page.context.set_offline(True)
    page.locator("#tabs").get_by_role("link", name="Compare").click()
    page.get_by_role("alert").get_by_text("Start 'scumble gui' again").wait_for()
    page.locator("main").get_by_role("alert").get_by_text("The server does not answer").wait_for()
    yield
    page.context.set_offline(False)


@contextmanager
def uploads_are_refused(page, process):
    visit(page, "/", MORE["/"])
    for name, content, told in (
        ("large.csv", b"x" * ((1 << 20) + 1), "this server takes at most 1 MB"),
        ("empty.csv", b"", "The file is empty"),
        ("noise.csv", bytes(range(256)), "this is not text"),
        ("broken.arff", "@relation broken\n@data\n", "broken.arff"),
    ):
        send(page, name, content)
        card = page.get_by_role("region", name=name, exact=True)
        card.get_by_role("alert").get_by_text(told).wait_for()
    yield
    dismiss_all(page)


@contextmanager
def forms_ask_about_files(page, process):
    visit(page, "/", MORE["/"])
    names = ",".join(f'"{name}"' for name in LABELS)
    for name, content, shown in (
        ("tickets.csv", TICKETS, "First row"),
        ("photos.csv", f"minutes,{names}\n1.5,1,0,0,1,0,1\n2.5,0,1,1,0,1,0\n", "First row"),
        ("numbers.csv", "a,b\n1.5,2.5\n3.5,4.5\n", "First row"),
        ("films.arff", ARFF, "Column of label lists"),
        ("several.zip", zipped(a_csv=CSV, b_csv=TICKETS), "File in the archive"),
    ):
        send(page, name, content)
        card = page.get_by_role("region", name=name, exact=True)
        card.get_by_label(shown).first.wait_for()
    numbers = page.get_by_role("region", name="numbers.csv", exact=True)
    numbers.get_by_role("button", name="Open").click()
    numbers.get_by_role("alert").get_by_text("No column is a label yet").wait_for()
    yield
    dismiss_all(page)


STATES = (
    work_goes_on_elsewhere,
    work_goes_on_here,
    advice_was_stopped,
    a_file_is_being_read,
    work_failed_here,
    work_failed_elsewhere,
    a_parameter_is_refused,
    the_server_is_lost,
    uploads_are_refused,
    forms_ask_about_files,
)


def send(page, name, content):
    content = content.encode() if isinstance(content, str) else content
    page.set_input_files("#picker", [{"name": name, "mimeType": "text/plain", "buffer": content}])


def dismiss_all(page):
    for _ in range(page.locator("#opening > *").count()):
        page.get_by_role("button", name="Dismiss").first.click()
    playwright.expect(page.locator("#opening > *")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_every_state_at_three_widths_and_without_a_finding_of_axe(
    open_page, axe, process, state, scheme
):
    page = open_page(color_scheme=scheme, reduced_motion="reduce")
    found = []
    with state(page, process):
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            wrong = flaws(page, width) + violations(axe, page)
            found += [f"at {width}: {each}" for each in wrong]
    assert found == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_at_three_widths_and_without_a_finding_of_axe(open_page, axe, scheme):
    page = open_page(color_scheme=scheme, reduced_motion="reduce")
    all_views = views(page)
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        for path, ready in all_views.items():
            visit(page, path, ready)
            wrong = flaws(page, width)
            if width == min(WIDTHS):  # where tables have to be scrolled
                wrong += violations(axe, page)
            found += [f"{path} at {width}: {each}" for each in wrong]
    assert found == []


def test_what_is_looked_for_is_found(page, axe):
    """The checks above see a picture without words, faint letters and a text that is cut."""
    assert flaws(page, 1280) == violations(axe, page) == []
    page.evaluate(
        """() => {
            const put = (tag, text, style) => {
                const made = document.createElement(tag);
                Object.assign(made.style, style);
                made.append(text);
                document.querySelector('main').append(made);
                return made;
            };
            put('img', '', {}).src = '/static/icon.svg';
            put('p', 'faint', { color: '#ccc', background: '#fff' });
            put('p', 'much too long', { width: '3rem', overflow: 'hidden', whiteSpace: 'nowrap' });
            put('p', 'wide', { width: '2560px' });
        }"""
    )
    cut, wide = flaws(page, 1280)
    assert cut == "cut: much too long"
    assert int(wide.removesuffix(" wide")) > 2560
    found = [each.split(":")[1].strip() for each in violations(axe, page)]
    assert found == ["color-contrast", "image-alt"]


def test_the_first_page_is_light(page):
    """Bytes until the numbers are there, packed as they are sent and unpacked."""
    sent, unpacked = page.evaluate(
        """() => ['encodedBodySize', 'decodedBodySize'].map((size) => [
            ...performance.getEntriesByType('navigation'),
            ...performance.getEntriesByType('resource'),
        ].filter((it) => !it.name.includes('/api/')).reduce((sum, it) => sum + it[size], 0))"""
    )
    assert sent <= 25_000
    assert unpacked <= 68_000


class Keyboard:
    """Somebody without a mouse, who sees where the focus is."""

    #: Whether the focus is where it should be, and what is wrong with how it shows.
    LOOK = """(target) => {
        const at = document.activeElement;
        const ringed = (it) => getComputedStyle(it).outlineStyle !== 'none';
        const lined = (it) => it && getComputedStyle(it).textDecorationLine === 'underline';
        const isSeen = at === document.body || ringed(at) || [...at.labels ?? []].some(ringed)
            || (at.matches('.chord-arc') && lined(at.querySelector('text')));
        const box = at.getBoundingClientRect(), tabs = document.querySelector('#tabs');
        const above = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        const isInView = box.bottom > 0 && box.top < innerHeight && box.right > 0
            && box.left < innerWidth
            && (tabs.contains(at) || !tabs.contains(above));
        return [at === target, isSeen && isInView ? '' : at.outerHTML.slice(0, 120)];
    }"""

    def __init__(self, page):
        self.page = page
        # From here on the browser asks us for files. Told when a key is already on its way, it may
        # open a dialog of its own, which nobody sees.
        page.on("filechooser", lambda _: None)
        page.evaluate(
            "addEventListener('pointerdown', () => { document.title = 'a mouse'; }, true)"
        )

    def to(self, target, *, key="Tab"):
        """Press Tab until the focus is there; wherever it is on the way, it has to be seen."""
        for _ in range(200):
            self.page.keyboard.press(key)
            is_there, hidden = target.first.evaluate(self.LOOK)
            assert not hidden, hidden
            if is_there:
                return self
        raise AssertionError(f"{target} cannot be reached")

    def back_to(self, target):
        return self.to(target, key="Shift+Tab")

    def press(self, key="Enter"):
        self.page.keyboard.press(key)

    def type(self, text):
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)

    def tab(self, name):
        """Go to another page of the data set."""
        self.back_to(self.page.locator("#tabs").get_by_role("link", name=name, exact=True)).press()
        self.page.wait_for_selector(f"h1:focus >> text={name}")

    def choose_file(self, target, path):
        self.to(target)
        with self.page.expect_file_chooser() as chooser:
            self.press("Space")
        chooser.value.set_files(path)

    def save(self):
        """Press what makes a file; gives its name and where it is."""
        with self.page.expect_download() as waiting:
            self.press()
        return waiting.value.suggested_filename, Path(waiting.value.path())


#: Every width and both themes for every flow; all six pairs would take twice as long.
SCREENS = {"phone": (360, "dark"), "tablet": (800, "light"), "desk": (1280, "dark")}


@pytest.fixture(params=SCREENS)
def keyboard(request, open_page):
    width, scheme = SCREENS[request.param]
    page = open_page(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    yield Keyboard(page)
    assert page.title() != "a mouse"


def test_opening_and_looking_by_keyboard_alone(keyboard, tmp_path):
    page = keyboard.page
    path = tmp_path / "birds.arff"
    path.write_text(MEKA.replace("photos", "birds"))
    keyboard.to(page.get_by_role("link", name="Open data")).press()
    page.wait_for_selector("h1:focus >> text=Open a data set")
    keyboard.choose_file(page.locator("#picker"), path)
    page.wait_for_url("**/d/birds/overview")
    page.wait_for_selector("[data-measure=scumble]")
    page.wait_for_selector("h1:focus")
    words = page.get_by_text("How far rare and frequent labels share instances")
    assert not words.is_visible()
    keyboard.to(page.locator("dt.key summary", has_text="Help: SCUMBLE")).press()
    assert words.is_visible()
    keyboard.tab("Labels")
    keyboard.to(page.get_by_role("link", name="heron")).press()
    page.wait_for_selector("h2 >> text=Labels co-occurring with heron")
    rows = page.get_by_role("region", name="Co-occurring labels").locator("tbody th")
    assert sorted(rows.all_inner_texts()) == ["sea", "sky"]
    keyboard.to(page.locator(".chord-arc[data-label='1']")).press()
    page.wait_for_selector("h2 >> text=Labels co-occurring with sea")
    keyboard.back_to(page.get_by_role("link", name="Open data")).press()
    page.wait_for_selector("h1:focus >> text=Open a data set")
    keyboard.to(page.get_by_role("button", name="Close birds")).press()
    page.wait_for_selector("button[aria-label='Close birds']", state="detached")


def test_treating_and_downloading_by_keyboard_alone(keyboard, data, tmp_path):
    page = keyboard.page
    keyboard.tab("Treat")
    keyboard.to(page.get_by_role("spinbutton", name="passes")).type("2")
    keyboard.to(page.get_by_role("button", name="Run")).press()
    page.wait_for_url("**result=photos-remedial-passes-2")
    page.wait_for_selector("[data-testid=measures]")
    after = REMEDIAL(passes=2).resample(data)
    shown = page.locator("[data-measure=scumble] td").all_inner_texts()[1]
    assert shown == f"{scumble.characterize(after).scumble:.6f}"
    keyboard.to(page.get_by_label("Format", exact=True))
    page.keyboard.type("MEKA")
    name, path = keyboard.to(page.get_by_role("button", name="Download")).save()
    (tmp_path / name).write_bytes(path.read_bytes())
    assert (scumble.read(tmp_path / name).Y != after.Y).nnz == 0
    keyboard.back_to(page.get_by_role("button", name="Discard")).press()
    page.wait_for_selector("text=the result appears here")


def test_resamplers_and_comparison_by_keyboard_alone(keyboard):
    page = keyboard.page
    keyboard.tab("Before and after")
    keyboard.to(page.get_by_role("button", name="None")).press()
    keyboard.to(page.get_by_text("Select methods")).press()
    for family, method in (("Decouple", "remedial"), ("Add rows", "mlros")):
        details = page.locator(".choices > details", has=page.locator(f"b:text-is('{method}')"))
        if details.get_attribute("open") is None:
            keyboard.to(details.locator(f"> summary:text-is('{family}')")).press()
        box = details.locator(".tick", has=page.locator(f"b:text-is('{method}')"))
        keyboard.to(box.locator("input")).press("Space")
    keyboard.back_to(page.get_by_role("button", name="Run", exact=True)).press()
    page.wait_for_selector("[data-testid=side-by-side] tbody tr:nth-child(2)")
    page.wait_for_selector("h2:focus")
    taken = page.locator("input[name=pick]:checked")  # what is advised, if it was compared
    keyboard.to(taken if taken.count() else page.locator("input[name=pick]"))
    for _ in range(2):
        keyboard.press("ArrowDown")
        if taken.get_attribute("aria-label") == "Select remedial":
            break
    keyboard.back_to(page.get_by_role("link", name="Compare remedial")).press()
    page.wait_for_selector("h1:focus >> text=Compare")
    for label, value in (("Folds", "2"), ("Repetitions", "1"), ("Seed", "4")):
        keyboard.to(page.get_by_label(label, exact=True)).type(value)
    keyboard.back_to(page.get_by_role("button", name="Compare", exact=True)).press()
    page.wait_for_selector("text=Means over 2 folds")
    page.wait_for_selector("h2:focus")
    assert page.get_by_test_id("verdicts").locator("li").count() > 0


def test_advice_training_and_predicting_by_keyboard_alone(keyboard, data, tmp_path):
    page = keyboard.page
    keyboard.tab("Advise")
    keyboard.to(page.get_by_label("Time limit"))
    page.keyboard.type("30")
    assert page.get_by_label("Time limit").input_value() == "30"
    keyboard.to(page.get_by_role("button", name="Get advice")).press()
    page.get_by_test_id("progress").wait_for()
    page.get_by_test_id("progress").wait_for(state="detached")
    page.wait_for_selector("h2:focus")
    advised = page.locator("tr.advised bdi").inner_text()
    models = page.locator(".models li", has=page.get_by_text(advised, exact=True))
    n_before = models.count()  # on other screens
    keyboard.to(page.get_by_role("button", name=f"Train {advised}", exact=True)).press()
    playwright.expect(models).to_have_count(n_before + 1, timeout=1000 * PATIENCE)
    name, path = keyboard.to(page.get_by_role("button", name=f"Download {advised}")).save()
    model = read_model(path)
    rows = tmp_path / "new.csv"
    lines = [[feature.name for feature in data.features], *data.X.tolist()]
    rows.write_text("\n".join(",".join(map(str, line)) for line in lines))
    keyboard.choose_file(page.get_by_label("File", exact=True), rows)
    name, path = keyboard.to(page.get_by_role("button", name="Predict")).save()
    assert name == "new-predicted.csv"
    told = [list(map(int, line.split(","))) for line in path.read_text().splitlines()[1:]]
    assert told == predict_dataset(model, data).labels.toarray().astype(int).tolist()
