"""The page in the browser: how soon it is there, and how quickly it answers."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager

from benchmarks._tools import ROOT, bound, dataset_path

CALLS = ("", "/labels?sort=count", "/labelsets?offset=50", "/features", "/chord")


@contextmanager
def server(data: str):
    """Run ``scumble gui``; gives its address, and when it was started."""
    command = [sys.executable, "-m", "scumble", "gui", data, "--no-browser", "--port", "0"]
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield re.search(r"http://\S+", process.stdout.readline())[0], started
    finally:
        process.terminate()
        process.stdout.close()
        process.wait()


@contextmanager
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as engine:
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = engine.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def has_chromium() -> bool:
    return bool(shutil.which("chromium") or shutil.which("chromium-browser"))


def first_paint():
    """Time the way from the command to the page on the screen, and to the numbers of the demo."""
    names = ("gui.first_paint seconds", "gui.numbers_of_the_demo seconds")
    if not has_chromium():
        for name in names:
            yield {"name": name, "skipped": "no Chromium: apt-get install chromium"}
        return
    painted, filled = [], []
    with chromium() as browser:
        for _ in range(4):  # the first run fills the caches of compiled kernels
            page = browser.new_page()
            with server("debtags") as (address, started):
                page.goto(address, wait_until="commit")
                page.wait_for_selector("[data-measure=scumble]")
                page.evaluate("() => new Promise(requestAnimationFrame)")
                filled.append(time.perf_counter() - started)
                now, paint = page.evaluate(
                    "[performance.now(), performance.getEntriesByName('first-contentful-paint')"
                    "[0].startTime]"
                )
                painted.append(time.perf_counter() - started - (now - paint) / 1000)
            page.close()
    for name, times in zip(names, (painted, filled), strict=True):
        yield bound(name, statistics.median(times[1:]), at_most=2.0)


def chord_redraw():
    """Draw 60 labels with up to 1,000 ribbons, styles and layout included."""
    if not has_chromium():
        return {"name": "gui.chord_redraw", "skipped": "no Chromium: apt-get install chromium"}
    draw = """async ([path]) => {
        const { drawChord } = await import('/static/chord.js');
        const layout = await (await import('/static/js/api.js')).get(path);
        const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
        document.querySelector('main').replaceChildren(svg);
        const frame = () => new Promise(requestAnimationFrame);
        const rest = () => new Promise((resolve) => {  // a message comes after the painting
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = resolve;
            port2.postMessage(null);
        });
        const times = [];
        const painted = [];
        for (let at = 0; at < 15; at += 1) {
            await frame();
            const began = performance.now();
            drawChord(svg, layout, {});
            svg.getBBox();  // asks for the layout at once
            times.push(performance.now() - began);
            await frame();
            await rest();
            painted.push(performance.now() - began);
        }
        const median = (values) => values.sort((a, b) => a - b)[7];
        return [layout.arcs.length, layout.ribbons.length, median(times), median(painted)];
    }"""
    with server("debtags") as (address, _), chromium() as browser:
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("[data-measure=scumble]")
        frequent = page.evaluate(
            "async () => (await (await import('/static/js/api.js')).get('/datasets/debtags/labels"
            "?sort=count&limit=60')).rows.map((row) => row.label)"
        )
        path = f"/datasets/debtags/chord?labels={','.join(map(str, frequent))}"
        n_arcs, n_ribbons, median, painted = page.evaluate(draw, [path])
    note = f"{n_arcs} labels, {n_ribbons} ribbons; {painted:.0f} until painted without a GPU"
    return bound("gui.chord_redraw milliseconds", median, at_most=100.0, note=note)


def api_answers():
    """Time the slowest kind of answer for loaded data, as the median of twenty."""
    import httpx

    for name in ("debtags", "delicious", "imdb"):
        path = name if name == "debtags" else dataset_path(name)
        if path is None:
            yield {"name": f"gui.api {name}", "skipped": "the reference data are absent"}
            continue
        with server(str(path)) as (address, _):
            base, _, token = address.partition("/?token=")
            headers = {"authorization": f"Bearer {token}"}
            with httpx.Client(base_url=f"{base}/api/v1", headers=headers, timeout=60) as client:
                yield _answers(client, name)


def _answers(client, name: str) -> dict:
    while not client.get("/datasets").json()["datasets"]:
        time.sleep(0.1)
    number = client.get("/datasets").json()["datasets"][0]["id"]
    slowest, where, first = 0.0, "", 0.0
    time.sleep(3)  # a person looks at the overview meanwhile
    for call in CALLS:
        times = []
        for _ in range(20):
            started = time.perf_counter()
            client.get(f"/datasets/{number}{call}").raise_for_status()
            times.append(time.perf_counter() - started)
        first = max(first, times[0])
        if statistics.median(times) > slowest:
            slowest, where = statistics.median(times), call or "overview"
    note = f"{where}; the slowest first answer {1000 * first:.0f}"
    return bound(f"gui.api {name} milliseconds", 1000 * slowest, at_most=50.0, note=note)


ALL = (first_paint, chord_redraw, api_answers)
