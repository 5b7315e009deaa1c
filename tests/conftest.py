"""Where the reference data lies, and how tests behave when it does not."""

from __future__ import annotations

import os
from pathlib import Path

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
