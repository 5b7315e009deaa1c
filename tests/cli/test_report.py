import json
import subprocess
import sys

import pytest

import scumble
from scumble.report import concurrence_report, render_html
from scumble.report.concurrence import origin_text
from tests.cli.test_cli import run


@pytest.fixture
def films(tmp_path):
    path = tmp_path / "films.arff"
    Y = [["war"], ["war", "love"], ["war", "spy"], ["war", "love"]]
    scumble.write(scumble.MultilabelDataset([[1.0], [2.0], [3.0], [4.0]], Y, name="films"), path)
    return path


def test_one_report_four_inks(capsys, films, tmp_path):
    pytest.importorskip("typst", reason="pip install 'scumble[pdf]'")
    page, paper = tmp_path / "r.html", tmp_path / "r.pdf"
    words = ("report", films, "--html", page, "--pdf", paper, "--resample", "remedial", "--json")
    out, _ = run(capsys, *words)
    expected = concurrence_report(
        scumble.read(films), treatments=["remedial"], origin=origin_text("films.arff")
    )
    assert json.loads(out) == expected
    assert page.read_text() == render_html(expected)
    assert paper.read_bytes().startswith(b"%PDF")
    out, _ = run(
        capsys, "report", films, "--resample", "remedial", "--resample", "lpros", "--seed", 1
    )
    assert "Before and after remedial" in out
    assert "Before and after lpros" in out


def test_a_page_is_written_while_the_document_goes_to_standard_output(films, tmp_path):
    pytest.importorskip("typst", reason="pip install 'scumble[pdf]'")
    words = ("report", films, "--html", "r.html", "--pdf", "-")
    done = subprocess.run(
        [sys.executable, "-m", "scumble", *words], cwd=tmp_path, capture_output=True, check=True
    )
    assert done.stdout.startswith(b"%PDF")
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")
    assert not (tmp_path / "-").exists()


def test_a_missing_extra_answers_before_the_data_is_read(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "typst", None)
    _, err = run(capsys, "report", tmp_path / "absent.arff", "--pdf", tmp_path / "r.pdf", code=2)
    assert "pip install 'scumble[pdf]'" in err


def test_one_file_cannot_be_a_page_and_a_document(capsys, films, tmp_path):
    same = tmp_path / "sub" / ".." / "r"
    _, err = run(capsys, "report", films, "--html", tmp_path / "r", "--pdf", same, code=2)
    assert "name the same file" in err
    assert not (tmp_path / "r").exists()


def test_of_two_files_both_are_written_or_none(capsys, films, tmp_path):
    pytest.importorskip("typst", reason="pip install 'scumble[pdf]'")
    page = tmp_path / "r.html"
    _, err = run(
        capsys, "report", films, "--html", page, "--pdf", tmp_path / "no" / "r.pdf", code=2
    )
    assert "No file was changed" in err
    assert not page.exists()


def test_nothing_half_written_is_left_behind(capsys, films, tmp_path):
    _, err = run(capsys, "report", films, "--html", tmp_path / "no" / "r.html", code=2)
    assert "the folder" in err
    _, err = run(
        capsys, "report", films, "--resample", "nonesuch", "--html", tmp_path / "r", code=2
    )
    assert "nonesuch" in err
    assert not (tmp_path / "r").exists()
