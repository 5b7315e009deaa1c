"""Every module is imported by another one: a part that nobody imports would be reported by nobody.

Modules that are named in a table of commands, in an entry point or by the interpreter count as
imported.
"""

import ast
import tomllib
from pathlib import Path

import pytest

from scumble.cli.main import COMMAND_MODULES

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
#: Modules for the tests of other packages; importing them here would need Hypothesis.
IMPORTED_BY_USERS = {"scumble.testing.strategies"}


def module_name(path, source):
    """Return the dotted name of the module in a file."""
    parts = path.relative_to(source).with_suffix("").parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts)


def imported_names(tree):
    """Yield the dotted names that a module imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            for alias in node.names:
                yield f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value  # the tables of lazy imports, and modules of other processes


def with_parents(names):
    """Return dotted names with those of their packages, which are imported first."""
    everything = set(names)
    for name in names:
        while name:
            name = name.rpartition(".")[0]
            everything.add(name)
    return everything


def modules_without_importer(source, registered=()):
    """Return the modules below a folder that no other module imports."""
    imports = {}
    for path in source.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports[module_name(path, source)] = with_parents(set(imported_names(tree)))
    absent = []
    for module in sorted(imports):
        importers = [name for name, names in imports.items() if name != module and module in names]
        is_run = module.rpartition(".")[2] == "__main__"
        if not importers and not is_run and module not in registered:
            absent.append(module)
    return absent


@pytest.fixture
def registered():
    """Names of the modules that are imported by a name in a table or an entry point."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project.get("scripts", {}), *project.get("entry-points", {}).values()]
    names = {f"scumble.cli.{module}" for module in COMMAND_MODULES.values()}
    names |= IMPORTED_BY_USERS
    for group in groups:
        names |= {target.partition(":")[0] for target in group.values()}
    return names


def test_every_module_is_imported_by_another_one(registered):
    absent = modules_without_importer(SOURCE, registered)
    assert absent == [], "Import them in the __init__.py of their folder, or register them."


def test_a_module_that_nobody_imports_is_reported(tmp_path):
    package = tmp_path / "films"
    package.mkdir()
    (package / "__init__.py").write_text("from films.war import battle\n")
    (package / "war.py").write_text("def battle(): ...\n")
    (package / "love.py").write_text("import films.love\n")
    (package / "__main__.py").write_text("import films\n")
    assert modules_without_importer(tmp_path) == ["films.love"]
