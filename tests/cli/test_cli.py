import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import scumble
from scumble import catalogue
from scumble.cli.main import main
from scumble.measures import difficult_labels
from scumble.resample import REMEDIAL

SMALL = """@relation films
@attribute minutes numeric
@attribute kind {short,long}
@attribute war {0,1}
@attribute love {0,1}
@attribute noir {0,1}
@data
10,short,1,0,0
95,long,1,1,0
120,long,1,0,1
90,short,1,1,0
"""
XML = "<labels><label name='war'/><label name='love'/><label name='noir'/></labels>"


@pytest.fixture
def small(tmp_path):
    (tmp_path / "films.arff").write_text(SMALL)
    (tmp_path / "films.xml").write_text(XML)
    return tmp_path / "films.arff"


def run(capsys, *arguments, code=0):
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert (stopped.value.code or 0) == code, err
    return out, err


def test_summary_as_json_has_the_librarys_numbers(capsys, small):
    out, _ = run(capsys, "summary", small, "--json")
    assert json.loads(out) == scumble.characterize(scumble.read(small)).to_dict()


def test_summary_prints_every_measure(capsys, small):
    out, _ = run(capsys, "summary", small)
    lines = dict(line.rsplit(maxsplit=1) for line in out.splitlines()[1:])
    assert lines["Instances"] == "4"
    assert lines["MeanIR"] == "2.3333"
    assert lines["SCUMBLE"] == "0.078595"
    assert lines["  rarer than average"] == "1"


def test_labels_as_json_is_a_list_of_objects_without_nan(capsys, small):
    out, _ = run(capsys, "labels", small, "--json")
    rows = json.loads(out)
    assert [row["name"] for row in rows] == ["war", "love", "noir"]
    assert list(rows[0]) == ["name", "count", "frequency", "irlbl", "scumble", "scumble_cv"]
    assert rows[2]["scumble_cv"] is None
    assert rows[2]["scumble"] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("name", ["love", "noir", "war"]),
        ("count", ["war", "love", "noir"]),
        ("irlbl", ["noir", "love", "war"]),
        ("scumble", ["noir", "war", "love"]),
    ],
)
def test_labels_can_be_sorted_and_cut(capsys, small, sort, order):
    out, _ = run(capsys, "labels", small, "--sort", sort, "--json", "--top", 2)
    assert [row["name"] for row in json.loads(out)] == order[:2]
    out, _ = run(capsys, "labels", small, "--sort", sort)
    assert [line.split()[0] for line in out.splitlines()[1:]] == order


def test_labelsets_are_listed_by_frequency(capsys, small):
    out, _ = run(capsys, "labelsets", small, "--json")
    rows = json.loads(out)
    assert rows[0]["labels"] == ["war", "love"]
    assert [row["count"] for row in rows] == [2, 1, 1]
    out, _ = run(capsys, "labelsets", small, "--top", 1)
    assert "and 2 more" in out


def test_report_names_the_difficult_label_and_its_mask(capsys, small):
    out, _ = run(capsys, "report", small, "--json")
    report = json.loads(out)
    [hardest] = difficult_labels(scumble.read(small))
    assert report["difficult"][0]["name"] == hardest.name == "noir"
    assert report["difficult"][0]["partners"][0]["joint_count"] == 1
    out, _ = run(capsys, "report", small)
    assert "Difficult label noir" in out
    assert "\x1b" not in out  # colour only on a terminal


def test_report_as_a_page(capsys, small, tmp_path):
    run(capsys, "report", small, "--html", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "noir" in page
    names = ("http-equiv", "http://www.w3.org/2000/svg")  # a namespace is a name
    for name in names:
        page = page.replace(name, "")
    assert "http" not in page  # nothing is fetched


def test_remedial_writes_the_data_and_prints_before_and_after(capsys, small, tmp_path):
    target = tmp_path / "out.arff.gz"
    out, _ = run(capsys, "remedial", small, target)
    rows = dict(line.rsplit(maxsplit=2)[::2] for line in out.splitlines()[1:10])
    assert rows["instances"] == "5"
    assert scumble.read(target) == REMEDIAL().resample(scumble.read(small))


def test_remedial_in_several_passes(capsys, small, tmp_path):
    out, _ = run(
        capsys,
        "remedial",
        small,
        tmp_path / "o.csv",
        "--passes",
        3,
        "--one-sided",
        "keep",
        "--json",
    )
    report = json.loads(out)
    assert len(report["steps"]) == 3
    expected = REMEDIAL(passes=3, one_sided="keep").resample(scumble.read(small))
    assert report["after"] == scumble.characterize(expected).to_dict()


@pytest.mark.parametrize("name", ["o.parquet", "o.csv", "o.svm", "o.txt.bz2", "o.dat", "o.arff.xz"])
def test_convert_to_every_form(capsys, small, tmp_path, name):
    out, _ = run(capsys, "convert", small, tmp_path / name)
    assert "4 instances, 2 features, 3 labels" in out
    assert (tmp_path / name).stat().st_size > 0


def test_convert_and_back_keeps_everything(capsys, small, tmp_path):
    run(capsys, "convert", small, tmp_path / "meka.arff", "--to", "meka")
    run(capsys, "convert", tmp_path / "meka.arff", tmp_path / "o.parquet")
    run(capsys, "convert", tmp_path / "o.parquet", tmp_path / "back.arff")
    assert scumble.read(tmp_path / "back.arff") == scumble.read(small)


def test_labels_can_be_chosen(capsys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("size,war,love\n1.5,1,0\n2.5,1,1\n")
    for choice in ("war,love", "-2", "1,2"):
        out, _ = run(capsys, "summary", path, "--labels", choice, "--json")
        assert json.loads(out)["n_labels"] == 2


def test_one_column_can_be_chosen_by_its_number(capsys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("war,size,love\n1,1.5,0\n1,2.5,1\n")
    for choice, name in (("0,", "war"), ("2,", "love"), ("1", "war"), ("-1", "love")):
        out, _ = run(capsys, "labels", path, "--labels", choice, "--json")
        assert [row["name"] for row in json.loads(out)] == [name]


@pytest.mark.parametrize("choice", ["", " ", ",", "0"])
def test_a_choice_of_no_labels_is_a_mistake(capsys, tmp_path, choice):
    (tmp_path / "t.csv").write_text("size,war\n1.5,1\n")
    _, err = run(capsys, "summary", tmp_path / "t.csv", "--labels", choice, code=2)
    assert "selects no label" in err


def test_labels_of_a_set_on_the_shelf_can_be_chosen_too(capsys, monkeypatch, datasets):
    monkeypatch.setenv("SCUMBLE_DATA", str(datasets))
    monkeypatch.setattr("warnings.showwarning", None)
    out, _ = run(capsys, "labels", "flags", "--labels", "red,blue", "--json")
    assert [row["name"] for row in json.loads(out)] == ["red", "blue"]
    _, err = run(capsys, "summary", "debtags", "--labels", "-3", code=2)
    assert "no options" in err


def test_any_encoding_of_the_output_is_served(tmp_path):
    (tmp_path / "t.csv").write_text("x,wår\n1,1\n", encoding="utf-8")
    command = [sys.executable, "-m", "scumble", "labels", tmp_path / "t.csv", "--labels", "-1"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert b"w\\xe5r" in done.stdout
    done = subprocess.run([*command, "--json"], env=environment, capture_output=True, check=True)
    assert json.loads(done.stdout)[0]["name"] == "wår"


def test_ctrl_c_says_so(capsys, monkeypatch, small):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("scumble.data.read", interrupted)
    _, err = run(capsys, "summary", small, code=130)
    assert err == "stopped: interrupted; no partly written file is left behind.\n"


def test_options_of_the_reader_can_be_given(capsys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("size;tags\n1.5;war|love\n2.5;war\n")
    for command in ("summary", "report"):
        chosen = ["--option", "label_column=tags", "--option", "label_separator=|"]
        out, _ = run(capsys, command, path, *chosen, "--json")
        found = json.loads(out)
        assert found.get("summary", found)["n_labels"] == 2
    _, err = run(capsys, "summary", path, "--option", "colour=red", code=2)
    assert "colour" in err


def test_data_lists_the_shelf(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("SCUMBLE_DATA", str(tmp_path))
    monkeypatch.setenv("SCUMBLE_CACHE", str(tmp_path))
    out, _ = run(capsys, "data", "list", "--json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert rows["debtags"]["place"] == "embedded"
    assert rows["yeast"]["instances"] == 2417
    out, _ = run(capsys, "data", "list")
    assert any(line.startswith("yeast ") for line in out.splitlines())


def test_data_path_finds_what_scumble_data_holds(capsys, monkeypatch, datasets):
    monkeypatch.setenv("SCUMBLE_DATA", str(datasets))
    out, _ = run(capsys, "data", "path", "yeast")
    assert out.strip() == str(datasets / "yeast" / "yeast.arff.xz")
    out, _ = run(capsys, "summary", "flags", "--json")
    assert json.loads(out)["n_instances"] == 194


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["summary", "nosuch.arff"], "no such file"),
        (["summary", "yeats"], "There is no file 'yeats'"),
        (["summary", "."], "directory"),
        (["labels", "debtags", "--sort", "colour"], "must be one of"),
        (["remedial", "debtags", "out.xyz"], "belongs to no format"),
        (
            ["remedial", "debtags", "o.csv", "--passes", "0"],
            "--passes must be a whole",
        ),
        (
            ["remedial", "debtags", "o.csv", "--one-sided", "drop"],
            "--one-sided must be",
        ),
        (["convert", "debtags", "nodir/o.arff"], "does not exist"),
        (["convert", "debtags", "o.arff", "--to", "weka"], "Unknown format 'weka'"),
    ],
)
def test_bad_input_ends_with_a_message_code_2_and_no_file(
    capsys, monkeypatch, tmp_path, arguments, message
):
    monkeypatch.chdir(tmp_path)
    _, err = run(capsys, *arguments, code=2)
    assert err.startswith("error: ")
    assert message in err
    assert "Traceback" not in err
    assert os.listdir(tmp_path) == []


def test_a_broken_file_is_named_with_its_line(capsys, small, tmp_path):
    small.write_text(SMALL.replace("95,long,1,1,0", "95,long,1,7,0"))
    _, err = run(capsys, "remedial", small, tmp_path / "o.arff", code=2)
    assert "films.arff, line 9" in err
    assert sorted(os.listdir(tmp_path)) == ["films.arff", "films.xml"]


def test_names_cannot_command_the_terminal(capsys, tmp_path):
    data = scumble.MultilabelDataset(np.zeros((2, 1)), [["a\x1b[31mb"], ["c\nd"]])
    scumble.write(data, tmp_path / "evil.parquet")
    for command in ("labels", "report", "labelsets"):
        out, _ = run(capsys, command, tmp_path / "evil.parquet")
        assert "\x1b" not in out
        assert "a\\x1b[31mb" in out


def test_a_lossy_conversion_is_noted(capsys, small, tmp_path):
    _, err = run(capsys, "convert", small, tmp_path / "o.svm")
    assert "note: " in err
    assert "cannot carry" in err


def test_demo_writes_a_page_and_data(capsys, tmp_path):
    out, _ = run(capsys, "demo", "--output", tmp_path / "d")
    assert "SCUMBLE" in out
    assert re.search(r"Untreated trees would give .* macro F1 changes by\s\+0\.\d", out, re.DOTALL)
    assert "scumble train debtags tags.scumble -c rare" in out
    assert sorted(os.listdir(tmp_path / "d")) == [
        "before-after.svg",
        "chord.svg",
        "debtags-remedial.arff",
        "debtags-remedial.xml",
        "report.html",
    ]
    decoupled = scumble.read(tmp_path / "d" / "debtags-remedial.arff")
    assert decoupled == REMEDIAL().resample(scumble.load("debtags"))


def test_version_and_help(capsys):
    out, _ = run(capsys, "--version")
    assert out == f"scumble {scumble.__version__}\n"
    out, _ = run(capsys, "--help")
    for command in (
        "demo",
        "summary",
        "labels",
        "labelsets",
        "report",
        "remedial",
        "convert",
        "data",
    ):
        assert f"\n  {command} " in out


def test_tab_completion_offers_the_commands():
    environment = {
        **os.environ,
        "_SCUMBLE_COMPLETE": "complete_bash",
        "COMP_WORDS": "scumble la",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "scumble"], env=environment, capture_output=True, text=True
    )
    assert done.stdout.split() == ["labels", "labelsets"]


def test_a_reader_that_goes_away_is_no_error(small):
    # As of a program that SIGPIPE ends; 1 would mean a failure.
    told = f"echo $? > {small.parent / 'code'}"
    command = f"({sys.executable} -m scumble labels debtags --json; {told}) | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (done.stdout, (small.parent / "code").read_text()) == ("[\n", "141\n")
    assert done.stderr == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("remedial", "{data}", "{data}"),
        ("resample", "{data}", "{data}", "--resample", "remedial"),
        ("convert", "{data}", "{data}", "--to", "meka"),
        ("train", "{data}", "{data}", "--classifier", "br"),
        ("predict", "model", "{data}", "{data}", "--whole"),
        ("predict", "{data}", "other.csv", "{data}"),
    ],
)
def test_what_is_read_is_never_written_over(capsys, small, arguments):
    _, err = run(capsys, *(part.format(data=small) for part in arguments), code=2)
    assert "this is the file to read, and would be lost" in err
    assert small.read_text() == SMALL


def test_the_file_to_read_is_known_under_its_other_names(capsys, small):
    link = small.with_name("link.arff")
    link.symlink_to(small)
    _, err = run(capsys, "remedial", small, link, code=2)
    assert "would be lost" in err
    assert small.read_text() == SMALL


def test_a_write_protected_file_stays(capsys, small):
    kept = small.with_name("kept.arff")
    kept.write_text("precious")
    kept.chmod(0o444)
    _, err = run(capsys, "remedial", small, kept, code=2)
    assert "kept.arff: cannot be written: the file is there and write-protected" in err
    assert kept.read_text() == "precious"
    names = {file.name for file in small.parent.iterdir()}
    assert names == {"films.arff", "films.xml", "kept.arff"}


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("train", "classifier"),
        ("evaluate", "classifier"),
        ("evaluate", "splitter"),
        ("resample", "resampler"),
        ("convert", "format"),
        ("plot", "plot"),
    ],
)
def test_help_tells_where_all_there_is_to_choose_is_listed(capsys, command, kind):
    out, _ = run(capsys, command, "--help")
    assert f"'scumble methods {kind}'" in " ".join(out.split())
    out, _ = run(capsys, "methods", kind)
    assert set(out.split()) >= set(catalogue.names(kind))
