"""Where the reference data lies, how tests behave when it does not, and a browser for all."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("SCUMBLE_SHARED", ROOT.parent / "shared"))

# Deadlines would make the result depend on the machine's mood, and new examples in every run on
# luck: what passes here passes there. SCUMBLE_EXPLORE=1 looks for examples nobody has tried.
settings.register_profile(
    "scumble",
    deadline=None,
    derandomize=not os.environ.get("SCUMBLE_EXPLORE"),
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("scumble")


def _shared(part: str) -> Path:
    folder = SHARED / part
    if not folder.is_dir():
        pytest.skip(f"the reference folder {part!r} is absent; set SCUMBLE_SHARED to its parent")
    return folder


@pytest.fixture(scope="session")
def datasets() -> Path:
    """Folder with the real data sets."""
    return _shared("datasets")


@pytest.fixture(scope="session")
def golden() -> Path:
    """Folder with what the reference systems computed."""
    return _shared("golden")


@pytest.fixture(scope="session")
def paper() -> Path:
    """Folder with the paper's published numbers."""
    return _shared("paper")


@pytest.fixture(scope="module")  # a loop runs as long as it does, and other files have their own
def browser() -> Iterator[Any]:
    """Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install 'scumble[dev]'")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if chromium is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with playwright.sync_playwright() as engine:
        found = engine.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"], timeout=600_000
        )
        yield found
        found.close()
