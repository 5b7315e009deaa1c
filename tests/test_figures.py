"""What `tools/figures.py` counts, where the answer must be none."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOL = ROOT / "tools" / "figures.py"


def count(folder):
    told = subprocess.run(
        [sys.executable, TOOL, folder], capture_output=True, text=True, check=True
    ).stdout
    return {line[:44].rstrip(): line[44:].strip() for line in told.splitlines()}


@pytest.mark.skipif(not TOOL.exists(), reason="the tools are not part of an installed package")
def test_no_cycle_no_upward_import_no_long_body_and_an_example_for_every_name():
    found = count(ROOT / "src" / "scumble")
    for name in (
        "modules in import cycles",
        "upward imports",
        "bodies above 80 lines",
        "exported names without an example",
    ):
        assert found[name] == "0", f"{name}: see python tools/figures.py --show"


@pytest.mark.skipif(not TOOL.exists(), reason="the tools are not part of an installed package")
def test_a_cycle_through_a_lazy_import_is_counted(tmp_path):
    package = tmp_path / "scumble"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("from scumble.two import b\na = 1\n")
    (package / "two.py").write_text("def b():\n    from scumble.one import a\n    return a\n")
    assert count(package)["modules in import cycles"] == "2"
