"""Adding a part takes its file, its test and one import line: the rest reads the registry.

A copy of the package gets the parts of `tests.added_parts`; all common tests run on them.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from scumble import catalogue
from scumble._core.registry import KINDS
from tests.added_parts import PARTS

ROOT = Path(__file__).resolve().parents[1]
#: The tests that read the whole package, not the parts of one kind.
TESTS_OF_ALL_PARTS = (
    "tests/test_api.py",
    "tests/test_catalogue.py",
    "tests/test_docs.py",
    "tests/test_figures.py",
    "tests/test_imports.py",
    "tests/test_parameters.py",
    "tests/test_style.py",
    "tests/test_vocabulary.py",
)


def write_part(folder, part):
    """Write the file and the test of a part, and add its import line."""
    (folder / "src/scumble" / part.file).write_text(dedent(part.source).lstrip())
    (folder / "tests" / part.test_file).write_text(dedent(part.test).lstrip())
    path = folder / "src/scumble" / part.import_file
    text = path.read_text()
    if part.import_line.startswith("from "):
        before, start, after = text.partition("\nfrom scumble")
        text = f"{before}\n{part.import_line}{start}{after}"
    else:
        text = text.replace("COMMAND_MODULES = {\n", f"COMMAND_MODULES = {{\n{part.import_line}\n")
    if part.exported_name:
        text = text.replace("__all__ = [\n", f'__all__ = [\n    "{part.exported_name}",\n')
    path.write_text(text)


#: A plugin of pytest that leaves out the tests that have a part as parameter which is not new:
#: they are the same as in the package, whose own tests run them.
PLUGIN = """
OTHER_NAMES = {names!r}


def names_of(value):
    '''Return the names under which a parameter of a test may be registered.'''
    if isinstance(value, str):
        return {{value}}
    if isinstance(value, type):
        return {{value.__name__}}
    return {{type(value).__name__, getattr(value, "name", "")}}


def pytest_collection_modifyitems(config, items):
    '''Leave out the tests of one other part.'''
    selected, deselected = [], []
    for item in items:
        parameters = getattr(item, "callspec", None)
        values = () if parameters is None else parameters.params.values()
        is_other = any(names_of(value) & OTHER_NAMES for value in values)
        if is_other:
            deselected.append(item)
        else:
            selected.append(item)
    config.hook.pytest_deselected(items=deselected)
    items[:] = selected
"""


def names_of_parts():
    """Return the names of all parts that are not new, and of their classes."""
    names = set()
    for kind in KINDS:
        for name, part in catalogue.entries(kind).items():
            names |= {name, getattr(part, "__name__", name)}
    return names


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """A copy of package, tests and documentation with one more part of each kind."""
    folder = tmp_path_factory.mktemp("scratch")
    for name in ("src", "tests", "docs", "examples", "tools", "changes"):
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "_build")
        )
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "SECURITY.md"):
        shutil.copy(ROOT / name, folder)
    for part in PARTS:
        write_part(folder, part)
    (folder / "only_new_parts.py").write_text(PLUGIN.format(names=names_of_parts()))
    return folder


def run_python(scratch, *arguments):
    """Run Python on the copy."""
    paths = os.pathsep.join([str(scratch / "src"), str(scratch)])
    environment = {**os.environ, "PYTHONPATH": paths}
    environment.pop("PYTEST_XDIST_WORKER", None)
    environment.pop("SCUMBLE_SHARED", None)  # comparisons with other programs are not repeated
    return subprocess.run(
        [sys.executable, *arguments], cwd=scratch, env=environment, capture_output=True, text=True
    )


def check_tests_pass(scratch, *arguments):
    """Run tests on the copy, and check that all pass and that there are some."""
    done = run_python(
        scratch,
        *("-m", "pytest", "-q", "-x", "-n", "0"),
        *("-p", "no:cacheprovider", "-p", "only_new_parts", *arguments),
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    assert " passed" in done.stdout


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_the_file_and_the_test_of_a_part_pass(scratch, part):
    check_tests_pass(scratch, f"tests/{part.test_file}", f"src/scumble/{part.file}")


@pytest.mark.parametrize("path", sorted({path for part in PARTS for path in part.common_tests}))
def test_the_common_tests_of_a_kind_pass(scratch, path):
    check_tests_pass(scratch, path)


@pytest.mark.parametrize("path", TESTS_OF_ALL_PARTS)
def test_the_tests_of_all_parts_pass(scratch, path):
    check_tests_pass(scratch, path)


#: Arguments of the command line, and a text of the output.
OUTPUTS = {
    "methods resampler": "rarestclones",
    "methods classifier": "modest",
    "methods format": "dense_json",
    "methods metric": "recall_at_k",
    "methods measure": "unlabelled_share",
    "methods plot": "frequencies",
    "methods resampler rarestclones": "times: an int in [0, inf) (default: 1)",
    "methods classifier centroid": "power: a number",
    "summary debtags": "unlabelled_share",
    "--help": "unlabelled",
    "unlabelled debtags": "without labels",
}
PRINT_OUTPUTS = f"""
import contextlib, scumble
from scumble.cli.main import main
from scumble.gui.methods import methods
print(scumble.__file__, *(method["name"] for method in methods()))
for arguments in {list(OUTPUTS)}:
    print("next")
    with contextlib.suppress(SystemExit):
        main(arguments.split())
"""


def test_parts_are_offered_everywhere(scratch):
    done = run_python(scratch, "-c", PRINT_OUTPUTS)
    form, *outputs = done.stdout.split("next\n")
    assert form.startswith(str(scratch)), done.stderr
    assert "rarestclones" in form
    for (arguments, expected), output in zip(OUTPUTS.items(), outputs, strict=True):
        assert expected in output, arguments
