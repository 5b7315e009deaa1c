import xml.etree.ElementTree as ET

import pytest

from tests.cli.test_cli import run


def test_plot_writes_a_picture(capsys, tmp_path):
    out, _ = run(capsys, "plot", "debtags", "-o", tmp_path / "c.svg", "--dark", "--top", 3)
    assert "c.svg is written" in out
    ET.fromstring((tmp_path / "c.svg").read_text())


@pytest.mark.parametrize("kind", ["labels", "lb"])
def test_plots_go_by_their_own_names_and_by_mldrs(capsys, tmp_path, kind):
    films = tmp_path / "films.csv"
    films.write_text("x,labels\n1,a\n2,a;b\n3,a;c\n")
    run(
        capsys,
        *("plot", films, "--option", "label_column=labels", "--option", "label_separator=;"),
        *("-k", kind, "-o", tmp_path / "c.png", "--draw", "a,b", "--dpi", 40),
    )
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_before_and_after(capsys, tmp_path):
    run(capsys, "plot", "debtags", "-k", "before-after", "-o", tmp_path / "a.svg", "--top", 5)
    run(capsys, "plot", "debtags", "-k", "instances", "-r", "remedial", "-o", tmp_path / "b.svg")
    wide = ET.fromstring((tmp_path / "b.svg").read_text())
    assert float(wide.get("width").removesuffix("pt")) == pytest.approx(14 * 72)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-k", "pie", "-o", "a.svg"], "no plot 'pie'"),
        (["-o", "a.gif"], "must end in .svg, .pdf, .png"),
        (["-k", "CH", "--draw", "a", "-o", "a.svg"], "--draw selects labels"),
        (["-k", "CH", "--top", "3", "-o", "a.svg"], "does not support --top"),
        (["--draw", "nonesuch", "-o", "a.svg"], "no label 'nonesuch'"),
        (["-r", "nonesuch", "-o", "a.svg"], "nonesuch"),
    ],
)
def test_what_cannot_be_drawn_is_refused(capsys, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    _, err = run(capsys, "plot", "debtags", *words, code=2)
    assert message in err
    assert not list(tmp_path.iterdir())
