from pathlib import Path

import pytest

HERE = Path(__file__).parent / "golden"


@pytest.fixture
def golden():
    """Compare a text with a file that was read by a person."""

    def check(name, text):
        assert text.rstrip("\n") == (HERE / name).read_text(encoding="utf-8").rstrip("\n")

    return check
