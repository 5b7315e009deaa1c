"""What the documentation promises beyond its doctests: shell lines, examples, a picture."""

import pkgutil
import re
import shlex
import subprocess
import sys
from importlib import import_module
from inspect import isclass, isfunction
from pathlib import Path

import pytest

import scumble
from scumble import catalogue
from scumble._core.registry import KINDS
from scumble.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
COMING_FROM = sorted((DOCS / "guide").glob("from_*.rst"))
GALLERY = sorted((ROOT / "examples").glob("*.py"))


def shell_lines(page):
    """Our commands on a page, in their order."""
    return re.findall(r"^ +\$ scumble (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.fixture
def folder_with_the_files_of_the_pages(tmp_path, monkeypatch):
    data = scumble.make_multilabel(60, 5, mean_ir=3, scumble=0.05, random_state=0)
    for name in ("photos", "music"):
        scumble.write(data, tmp_path / f"{name}.arff")
    scumble.write(data, tmp_path / "music-meka.arff", format="meka")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folder_with_the_files_of_the_pages")
@pytest.mark.parametrize("page", COMING_FROM, ids=lambda page: page.stem)
def test_the_shell_lines_of_the_pages_for_newcomers_run(page, capsys):
    lines = shell_lines(page)
    assert lines
    for line in lines:
        words = shlex.split(line)
        if words[0] == "gui":
            assert "http://127.0.0.1:" in first_line_of_the_server(words)
            continue
        with pytest.raises(SystemExit) as end:
            main(words)
        assert end.value.code == 0, (line, capsys.readouterr().err)


def first_line_of_the_server(words):
    command = [sys.executable, "-m", "scumble", *words, "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            return server.stdout.readline()
        finally:
            server.terminate()


@pytest.mark.parametrize("page", COMING_FROM, ids=lambda page: page.stem)
def test_a_page_for_newcomers_has_their_call_beside_ours_and_says_where_answers_differ(page):
    text = page.read_text(encoding="utf-8")
    assert "Differences\n----" in text
    pairs = re.findall(r"^\.\. container:: beside\n((?:   .*\n|\n)+)", text, re.MULTILINE)
    assert len(pairs) > 5
    for pair in pairs:
        theirs, ours = pair.strip("\n").split(
            "\n\n   >>>" if ">>>" in pair else "\n\n   .. code", 1
        )
        assert theirs.startswith("   .. code-block:: "), pair
        assert ">>>" in pair or ours.startswith("-block:: console"), pair


@pytest.mark.parametrize("example", GALLERY, ids=lambda example: example.stem)
def test_an_example_uses_the_public_names_alone(example):
    text = example.read_text(encoding="utf-8")
    assert text.startswith('"""\n'), "a title, a line below it and a paragraph"
    assert not re.search(r"scumble\.\w*\._|import _|scumble\._", text)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_picture_of_the_readme_is_there_and_small(name):
    picture = DOCS / "_static" / f"before-after-{name}.svg"
    assert picture.stat().st_size < 120_000
    assert picture.name in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_measured_result_of_the_readme_is_what_its_command_prints(capsys):
    shown = (ROOT / "README.md").read_text(encoding="utf-8").split("```console\n$ scumble ")[1]
    command, *lines = shown.split("\n```")[0].splitlines()
    with pytest.raises(SystemExit):
        main(shlex.split(command))
    printed = capsys.readouterr().out
    for line in lines:
        without_seconds = re.sub(r"\s+\d+\.\d\d$", "", line)
        assert line == "..." or without_seconds in printed


#: Packages that serve their room, which itself offers what is public of them.
INNER = {"scumble.learn.trees.c45", "scumble.learn.storage", "scumble.out_of_core.engines"}


@pytest.fixture(scope="module")
def api_pages():
    pytest.importorskip("sphinx", reason="Sphinx is missing: pip install 'scumble[docs]'")
    sys.path.insert(0, str(DOCS / "_ext"))
    try:
        from scumble_docs import api
    finally:
        sys.path.pop(0)
    return api.pages()


def public_modules():
    """Every room and every package inside one that says what it offers."""
    for info in pkgutil.walk_packages(scumble.__path__, "scumble."):
        parts = info.name.split(".")
        is_private = any(part.startswith("_") for part in parts)
        if not is_private and info.name not in INNER and (info.ispkg or len(parts) == 2):
            module = import_module(info.name)
            if hasattr(module, "__all__"):
                yield module


def test_everything_exported_is_on_the_api_pages(api_pages):
    texts, objects = api_pages
    described = {id(find(name)) for name in objects}
    absent = [
        f"{module.__name__}.{name}"
        for module in public_modules()
        for name in module.__all__
        if (thing := getattr(module, name)) is not None
        and (isclass(thing) or isfunction(thing))
        and id(thing) not in described
    ]
    assert absent == []
    for name in objects:
        room, _, last = name.rpartition(".")
        assert f"\n   {last}\n" in texts[f"{room}.rst"], name
    index = texts["index.rst"]
    for room in texts:
        assert room == "index.rst" or f":doc:`{room.removesuffix('.rst')} <" in index


def test_the_statistics_are_on_the_api_pages(api_pages):
    _, objects = api_pages
    for name in ("friedman", "nemenyi", "bayesian_signed_rank", "score_table", "ScoreTable"):
        assert f"scumble.evaluate.statistics.{name}" in objects
    assert "scumble.plots.statistics.plot_critical_difference" in objects


def find(full_name):
    room, _, name = full_name.rpartition(".")
    return getattr(import_module(room), name)


def names_in_pages():
    """Return all words of the guide, the README and the examples."""
    pages = [
        ROOT / "README.md",
        *(DOCS / "guide").glob("*.rst"),
        *(DOCS / "guide").glob("*.inc"),
        *DOCS.glob("*.rst"),
        *GALLERY,
    ]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    return set(re.findall(r"\w+", "\n".join(texts)))


def names_in_tables():
    """Return the names of the registered parts, which the generated tables of the guide list."""
    names = set()
    for kind in KINDS:
        for part in catalogue.entries(kind).values():
            definition = getattr(part, "function", part)
            names.add(getattr(definition, "__name__", ""))
    return names


def test_everything_exported_is_named_in_the_guide_or_an_example():
    named = names_in_pages() | names_in_tables()
    absent = [
        f"{module.__name__}.{name}"
        for module in public_modules()
        for name in module.__all__
        if name not in named
    ]
    assert absent == []
