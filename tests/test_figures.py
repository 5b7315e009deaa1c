"""Figures of `tools/figures.py` that must be zero, and how some of them are counted."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOL = ROOT / "tools" / "figures.py"


def count(folder):
    output = subprocess.run(
        [sys.executable, TOOL, folder], capture_output=True, text=True, check=True
    ).stdout
    return {line[:44].rstrip(): line[44:].strip() for line in output.splitlines()}


@pytest.mark.skipif(not TOOL.exists(), reason="the tools are not part of an installed package")
def test_no_cycle_no_upward_import_no_long_body_and_an_example_for_every_name():
    figures = count(ROOT / "src" / "scumble")
    assert int(figures["exported names"].replace(",", "")) > 100
    for name in (
        "modules in import cycles",
        "upward imports",
        "bodies above 80 lines",
        "exported names without an example",
    ):
        assert figures[name] == "0", f"{name}: see python tools/figures.py --show"


@pytest.mark.skipif(not TOOL.exists(), reason="the tools are not part of an installed package")
def test_exported_names_are_those_in_the_list_of_a_package(tmp_path):
    package = tmp_path / "scumble"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from scumble.one import a, b\n__all__ = ['a', 'b', '__version__']\n"
    )
    (package / "one.py").write_text(
        'def a():\n    """Return 1.\n\n    >>> a()\n    1\n    """\n    return 1\n'
        'def b():\n    """Return 2."""\n    return 2\n'
        "def c():\n    return 3\n"
    )
    figures = count(package)
    assert figures["exported names"] == "2"
    assert figures["exported names without an example"] == "1"


@pytest.mark.skipif(not TOOL.exists(), reason="the tools are not part of an installed package")
def test_a_cycle_through_a_lazy_import_is_counted(tmp_path):
    package = tmp_path / "scumble"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("from scumble.two import b\na = 1\n")
    (package / "two.py").write_text("def b():\n    from scumble.one import a\n    return a\n")
    assert count(package)["modules in import cycles"] == "2"
