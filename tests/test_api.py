"""The public surface, and what importing it costs."""

import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import scumble
from scumble._core import registry
from scumble.cli.main import COMMAND_MODULES

ROOT = Path(__file__).resolve().parents[1]
SUBPACKAGES = [
    "measures",
    "data",
    "resample",
    "learn",
    "evaluate",
    "out_of_core",
    "experiment",
    "paper",
    "plots",
    "report",
    "testing",
]


def run_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_public_names_are_sorted_and_exist():
    assert scumble.__all__ == sorted(scumble.__all__)
    assert dir(scumble) == scumble.__all__
    for name in scumble.__all__:
        assert getattr(scumble, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonesuch'"):
        scumble.nonesuch  # noqa: B018  (the access is the point)


@pytest.mark.parametrize("subpackage", SUBPACKAGES)
def test_every_subpackage_exports_what_it_names(subpackage):
    module = import_module(f"scumble.{subpackage}")
    assert module.__all__
    with pytest.raises(AttributeError, match="no attribute 'nonesuch'"):
        module.nonesuch  # noqa: B018  (the access is the point)
    for name in module.__all__:
        assert hasattr(module, name), f"scumble/{subpackage}/__init__.py does not import {name}"
        assert getattr(module, name).__doc__, name


def missing_exports(package):
    """Yield the line that the package lacks for each object that its modules register."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        import_module(module.name)
    for kind in registry.KINDS:
        for obj in registry.registered_objects(kind).values():
            definition = getattr(obj, "function", obj)
            module = getattr(definition, "__module__", "")
            name = getattr(definition, "__name__", "")
            if kind == "format" or not module.startswith(f"{package.__name__}."):
                continue
            if not hasattr(package, name):
                yield f"from {module} import {name}"
            if name not in package.__all__:
                yield f'    "{name}",  # in __all__'


@pytest.mark.parametrize("subpackage", ["measures", "resample", "learn", "evaluate", "plots"])
def test_every_registered_object_is_imported_and_exported(subpackage):
    package = import_module(f"scumble.{subpackage}")
    lines = list(missing_exports(package))
    assert lines == [], f"Add these lines to scumble/{subpackage}/__init__.py."


def test_a_missing_import_line_is_named(tmp_path, monkeypatch):
    folder = tmp_path / "greeting"
    folder.mkdir()
    (folder / "__init__.py").write_text("__all__ = []\n")
    (folder / "doubled.py").write_text(
        "from scumble import catalogue\n"
        "from scumble.resample import MLROS\n"
        "class Doubled(MLROS): ...\n"
        "catalogue.register('resampler', 'doubled_api', Doubled)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    try:
        assert list(missing_exports(import_module("greeting"))) == [
            "from greeting.doubled import Doubled",
            '    "Doubled",  # in __all__',
        ]
    finally:
        registry.unregister("resampler", "doubled_api")
        for name in ("greeting", "greeting.doubled"):
            sys.modules.pop(name, None)


def test_importing_scumble_loads_nothing_heavy():
    heavy = "{'numpy', 'scipy', 'sklearn', 'pandas', 'polars', 'rich', 'typer'}"
    assert run_python(f"import sys, scumble; print(*({heavy} & set(sys.modules)))") == []


def test_help_imports_no_subpackage():
    code = (
        "import sys\nfrom scumble.cli.main import app\n"
        "print(*({'numpy', 'scumble.data', 'scumble.measures', 'rich'} & set(sys.modules)))"
    )
    assert run_python(code) == []


@pytest.mark.parametrize("command", COMMAND_MODULES)
def test_the_help_of_every_command_imports_no_subpackage(command):
    code = (
        "import contextlib, io, sys\nfrom scumble.cli.main import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as out:\n"
        f"    main([{command!r}, '--help'])\n"
        "assert out.getvalue().startswith('Usage: scumble')\n"
        "print(*({'numpy', 'scumble.catalogue', 'scumble.measures', 'rich'} & set(sys.modules)))"
    )
    assert run_python(code) == []


def test_a_summary_needs_neither_scikit_learn_nor_pandas():
    code = (
        "import sys, scumble\nscumble.characterize(scumble.load('debtags'))\n"
        "print(*({'sklearn', 'pandas', 'polars', 'matplotlib'} & set(sys.modules)))"
    )
    assert run_python(code) == []


def test_the_summary_of_a_file_on_the_command_line_needs_little(tmp_path):
    path = tmp_path / "films.csv"
    path.write_text("minutes,war,love\n150,1,0\n90,1,1\n")
    arguments = ["summary", str(path), "--labels", "war,love"]
    needless = {"sklearn", "pyarrow", "narwhals", "skops", "joblib", "jinja2", "rich", "matplotlib"}
    needless |= {"scumble.plots", "scumble.data.public.repository", "scumble.cli.evaluate"}
    code = (
        "import contextlib, io, sys\nfrom scumble.cli.main import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as out:\n"
        f"    main({arguments})\n"
        "assert 'SCUMBLE' in out.getvalue()\n"
        f"print(*({needless} & set(sys.modules)))"
    )
    assert run_python(code) == []


ABOVE_A_SUMMARY = ("sklearn", "matplotlib", "jinja2")
ABOVE_A_SUMMARY += tuple(f"scumble.{name}" for name in ("resample", "learn", "plots", "gui"))


@pytest.mark.parametrize("way", ["scan", "command"])
def test_a_summary_on_duckdb_needs_neither_scikit_learn_nor_resamplers(tmp_path, way):
    pytest.importorskip("duckdb", reason="DuckDB is missing: pip install 'scumble[scale]'")
    path = tmp_path / "films.csv"
    path.write_text("instance,label\n1,war\n2,war\n2,love\n")
    if way == "scan":
        code = (
            f"with scumble.scan({str(path)!r}) as films:\n"
            "    found = str(scumble.characterize(films).mean_ir)\n"
        )
    else:
        code = (
            "from scumble.cli.main import main\n"
            "out = io.StringIO()\n"
            "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(out):\n"
            f"    main(['summary', {str(path)!r}, '--engine', 'duckdb'])\n"
            "found = out.getvalue()\n"
        )
    assert (
        run_python(
            f"import contextlib, io, sys, scumble\n{code}assert '1.5' in found, found\n"
            f"print(*({set(ABOVE_A_SUMMARY)} & set(sys.modules)))"
        )
        == []
    )


def test_reports_need_nothing_heavy_until_a_treatment_or_a_figure_is_rendered():
    code = (
        "import sys, scumble\n"
        "from scumble.report import render_comparison, render_report, render_treatment\n"
        "from scumble.report.concurrence import label_rows\n"
        "from scumble.report.terminal import render_labels, render_summary\n"
        "summary = scumble.characterize([[1, 0], [1, 1]])\n"
        "assert render_summary(summary.to_dict()) and render_labels(label_rows(summary))\n"
        f"print(*({set(ABOVE_A_SUMMARY)} & set(sys.modules)))"
    )
    assert run_python(code) == []


def test_every_module_imports_with_the_core_alone():
    # Optional packages are hidden; whatever needs one must import it where it is used.
    code = (
        "import sys, pkgutil, importlib\n"
        "for name in ('pandas', 'polars', 'matplotlib', 'imblearn', 'hypothesis', 'arff'):\n"
        "    sys.modules[name] = None\n"
        "import scumble\n"
        "for module in pkgutil.walk_packages(scumble.__path__, 'scumble.'):\n"
        "    if module.name not in ('scumble.__main__', 'scumble.testing.strategies'):\n"
        "        importlib.import_module(module.name)\n"
    )
    run_python(code)


def test_the_version_is_written_once():
    assert scumble.__version__ == import_module("scumble._core.version").__version__


def test_the_readme_opens_with_the_problem_a_picture_the_two_commands_and_a_measured_result():
    text = (ROOT / "README.md").read_text()
    title, sentences, picture, caption, commands, _, result = text.split("\n\n")[:7]
    assert title == "# scumble"
    assert "\n" not in sentences
    assert (ROOT / re.search(r'<img src="([^"]+)"', picture)[1]).is_file()
    assert (ROOT / re.search(r"`python ([^`]+)`", caption)[1]).is_file()
    assert "make demo" in commands
    assert "make test" in commands
    assert result.startswith("```console\n$ scumble ")
    assert text.index("## Install") < text.index("```python")
    assert sum(line.startswith(">>>") for line in text.splitlines()) <= 10
