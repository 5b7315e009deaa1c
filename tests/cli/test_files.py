"""Nothing that a command reads is lost: all commands that write, with all they might write over."""

import hashlib
import io
import os
import subprocess
import sys
import time
from functools import partial

import pytest
from typer.main import get_command

from scumble.cli.files import (
    FileRole,
    _resolve_data_files,
    find_file_parameters,
)
from scumble.cli.main import app, main
from scumble.experiment import Store
from scumble.learn import MLkNN, save

ARFF = (
    "@relation films\n@attribute minutes numeric\n@attribute war {0,1}\n@attribute love {0,1}\n"
    "@data\n10,1,0\n95,1,1\n120,1,0\n90,0,1\n"
)
XML = "<labels><label name='war'/><label name='love'/></labels>"
PLAN = """
name = "small"
datasets = ["films.arff"]
classifiers = ["br"]
"""
DATA = ("films.arff", "films.xml")
OUTPUTS = (FileRole.WRITES, FileRole.WRITES_DATA, FileRole.WRITES_PARTS)

#: For each command that writes: a call for each parameter that names what is written, and what
#: must not be named there. A command that is not listed is called by `usual_calls`.
WRITING = {
    "demo": [("--output", "demo --output {out}", ())],
    "report": [
        ("--html", "report films.arff --html {out}", DATA),
        ("--pdf", "report films.arff --pdf {out}", DATA),
    ],
    "plot": [("--output", "plot films.arff -o {out}", DATA)],
    "remedial": [("OUT", "remedial films.arff {out} --to csv", DATA)],
    "resample": [("OUT", "resample films.arff {out} --to csv --resample mlros", DATA)],
    "convert": [("OUT", "convert films.arff {out} --to csv", DATA)],
    "split": [("--output", "split films.arff -o {out}", ())],
    "train": [("MODEL", "train films.arff {out} -c br", DATA)],
    "predict": [
        ("OUT", "predict model.skops films.arff {out}", ("model.skops", *DATA)),
        ("OUT", "predict model.skops films.arff {out} --whole", ("model.skops", *DATA)),
    ],
    "thresholds": [
        ("--output", "thresholds scores.csv films.arff --output {out}", ("scores.csv", *DATA)),
        (
            "--predictions",
            "thresholds scores.csv films.arff --predictions {out}",
            ("scores.csv", *DATA),
        ),
    ],
    "compare": [
        (
            "--plot",
            "compare films.arff --test more.csv --folds folds.txt --plot {out}",
            (*DATA, "more.csv", "folds.txt"),
        ),
        ("--store", "compare films.arff --test more.csv --store {out}", (*DATA, "more.csv")),
    ],
    "advise": [
        ("--train", "advise films.arff --train {out}", DATA),
        ("--html", "advise films.arff --html {out}", DATA),
    ],
    "experiment run": [
        ("--store", "experiment run plan.toml --store {out}", ("plan.toml", *DATA)),
    ],
    "experiment export": [("OUT", "experiment export results.db {out}", ("results.db",))],
    "experiment ranks": [
        ("--output", "experiment ranks results.db --output {out}", ("results.db",))
    ],
    "paper run": [("--store", "paper run imbalance --store {out}", ())],
    "paper ledger": [
        ("--output", "paper ledger --store results.db --output {out}", ("results.db",))
    ],
}
#: Commands that write no file of the user's choice.
PRINTING = {
    "summary", "labels", "labelsets", "evaluate", "score", "gui", "data list", "data get",
    "data path", "experiment status", "experiment table", "experiment compare", "paper audit",
    "paper claims", "paper plan", "methods",
}  # fmt: skip


def leaves(command, name=""):
    if hasattr(command, "commands"):
        for part in command.commands:
            yield from leaves(command.commands[part], f"{name} {part}".strip())
    else:
        yield name, command


COMMANDS = dict(leaves(get_command(app)))


def marks_of(name):
    return find_file_parameters(COMMANDS[name].callback)


def usual_calls(name):
    """Return the calls of a command with a data set as its first argument, as in `WRITING`."""
    calls = []
    for role, title in marks_of(name).values():
        if role in OUTPUTS:
            option = f"{title} " if title.startswith("--") else ""
            calls.append((title, f"{name} films.arff {option}{{out}}", DATA))
    return calls


ALL_CALLS = {name: WRITING.get(name) or usual_calls(name) for name in COMMANDS}
CALLS = [
    (call, kept) for calls in ALL_CALLS.values() for _, call, inputs in calls for kept in inputs
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    fill(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fill(folder):
    texts = {"films.arff": ARFF, "films.xml": XML, "plan.toml": PLAN, "folds.txt": "0 1\n2 3\n"}
    texts |= {"more.csv": "minutes,war,love\n10,1,0\n", "scores.csv": "war,love\n1,0\n"}
    texts |= {"model.skops": "a model"}
    for name, text in texts.items():
        (folder / name).write_text(text)
    with Store(folder / "results.db"):
        pass


def checksums(folder):
    return {
        path: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def refused(capsys, call):
    with pytest.raises(SystemExit) as stopped:
        main(call.split())
    out, err = capsys.readouterr()
    assert stopped.value.code == 2, out + err
    assert "Traceback" not in err
    return " ".join(err.split())


def test_every_command_says_what_it_writes():
    assert set(COMMANDS) >= set(WRITING) | PRINTING
    assert not any(ALL_CALLS[name] for name in PRINTING)
    for name in COMMANDS:
        written = {title for mark, title in marks_of(name).values() if mark in OUTPUTS}
        assert written == {title for title, _, _ in ALL_CALLS[name]}, name


def test_a_parameter_that_speaks_of_writing_is_marked():
    for name, command in COMMANDS.items():
        for parameter in command.params:
            speaks = "write" in (getattr(parameter, "help", None) or "").lower()
            same_as_out = parameter.name == "output" and "out" in marks_of(name)
            if speaks and not same_as_out and not getattr(parameter, "is_flag", False):
                assert marks_of(name)[parameter.name][0] in OUTPUTS, (name, parameter.name)


def test_every_data_set_that_is_read_is_marked():
    for name, command in COMMANDS.items():
        for parameter in command.params:
            if parameter.name == "data" and name != "gui":
                assert marks_of(name)["data"][0] is FileRole.READS_DATA, name
            elif parameter.name == "labels":
                assert name == "gui" or marks_of(name)["labels"][0] is FileRole.READS, name


@pytest.mark.parametrize("spelling", ["plain", "detour", "absolute", "link", "hard link"])
@pytest.mark.parametrize(("call", "kept"), CALLS)
def test_no_output_may_be_an_input_or_belong_to_one(capsys, folder, call, kept, spelling):
    out = {
        "plain": kept,
        "detour": os.path.join("..", folder.name, ".", kept),
        "absolute": str(folder / kept),
    }.get(spelling, "link" + os.path.splitext(kept)[1])
    if spelling == "link":
        os.symlink(kept, out)
    elif spelling == "hard link":
        os.link(kept, out)
    before = checksums(folder)
    err = refused(capsys, call.format(out=out))
    assert checksums(folder) == before
    if not (call.startswith("experiment run") and kept in DATA):  # refused as it is not a store
        assert "would be lost" in err


def test_files_beside_a_store_belong_to_it(capsys, folder):
    (folder / "results.db-wal").write_text("what is not in the store yet")
    before = checksums(folder)
    err = refused(capsys, "experiment export results.db results.db-wal")
    assert "it belongs to results.db, and would be lost" in err
    assert checksums(folder) == before


def test_an_xml_file_named_by_an_option_is_kept_from_what_is_written_beside_a_file(capsys, folder):
    os.rename("films.xml", "names.xml")
    before = checksums(folder)
    for call in (
        "convert films.arff names.arff --labels names.xml",
        "predict model.skops films.arff names.arff --labels names.xml --whole",
    ):
        said = "names.xml, written with names.arff: this is the file to read, and would be lost"
        assert said in refused(capsys, call)
    said = "names.xml, written with names.arff: it belongs to films.arff, and would be lost"
    assert said in refused(capsys, "remedial films.arff names.arff")
    assert checksums(folder) == before


def test_parts_share_an_xml_file(capsys, folder):
    os.rename("films.arff", "films-train.arff")
    before = checksums(folder)
    said = "films.xml, written with films.arff.gz: it belongs to films-train.arff"
    assert said in refused(capsys, "remedial films-train.arff films.arff.gz")
    assert checksums(folder) == before


def test_public_data_sets_are_kept_too(capsys, folder, monkeypatch):
    monkeypatch.setenv("SCUMBLE_DATA", str(folder))
    before = checksums(folder)
    for name in DATA:
        assert "it belongs to films, and would be lost" in refused(
            capsys, f"report films --html {name}"
        )
    assert checksums(folder) == before


@pytest.mark.parametrize("data", ["parts", "parts/*.csv"])
def test_files_of_a_folder_or_a_pattern_are_kept(capsys, folder, data):
    (folder / "parts").mkdir()
    (folder / "parts" / "0.csv").write_text("instance,label\n1,war\n")
    before = checksums(folder)
    for out in ("parts/0.csv", "parts/../parts/0.csv"):
        call = f"thresholds {data} films.arff --engine duckdb --output {out}"
        assert "would be lost" in refused(capsys, call)
    assert checksums(folder) == before


@pytest.mark.parametrize(
    "call",
    [
        "report films.arff --html a.html --pdf ./a.html",
        "advise films.arff --html a.html --train a.html",
        "thresholds scores.csv films.arff --output a.csv --predictions a.csv",
    ],
)
def test_two_outputs_are_two_files(capsys, folder, call):
    before = checksums(folder)
    assert "name the same file" in refused(capsys, call)
    assert checksums(folder) == before


@pytest.mark.parametrize(
    "call",
    [
        "convert more.csv more.arff --labels war,love",
        "convert meka.arff other.arff",
        "convert films.arff other.arff --labels war,love",
        "convert films.arff films.csv",
    ],
)
def test_what_a_command_has_written_it_may_write_again(capsys, folder, call):
    (folder / "meka.arff").write_text(ARFF.replace("films", "'films: -C -2'", 1))
    if "films" not in call or "--labels" in call:
        os.remove("films.xml")
    for _ in range(2):
        with pytest.raises(SystemExit) as stopped:
            main(call.split())
        assert not stopped.value.code, capsys.readouterr().err


@pytest.mark.parametrize("command", ["convert", "resample -r mlros --percent 0", "remedial --json"])
def test_data_through_a_pipe_is_data_alone(capfdbinary, folder, monkeypatch, command):
    (folder / "piped.csv").write_text("minutes,war,love\n10,1,0\n95,1,1\n")
    with (folder / "piped.csv").open() as pipe:
        monkeypatch.setattr("sys.stdin", pipe)
        with pytest.raises(SystemExit) as stopped:
            main([*command.split(), "-", "-", "--to", "csv", "--labels", "war,love"])
    out, told = capfdbinary.readouterr()
    assert not stopped.value.code, told
    assert out.startswith(b"minutes,label:war,label:love\n10,1,0\n")
    assert {line.count(b",") for line in out.splitlines()} == {2}
    assert b"instances" in told


def test_predicted_data_through_a_pipe(capfdbinary, folder):
    model = MLkNN(n_neighbors=1).fit([[0.0], [90.0]], [["war"], ["love"]])
    save(model, "films.model")
    with pytest.raises(SystemExit):
        main("predict films.model films.arff - --whole --to csv".split())
    out, told = capfdbinary.readouterr()
    assert {line.count(b",") for line in out.splitlines()} == {2}, told
    assert b"labels of 4 instances" in told


TAGS = "minutes,tags\n10,war\n95,love\n20,war\n90,love\n"
READ = ("--label-column", "tags", "--label-separator", ";")


def piped(monkeypatch, capfdbinary, content, *words):
    """Run a command with something on its standard input; give both its outputs."""
    with open("piped", "wb") as file:
        file.write(content)
    with open("piped") as pipe:
        monkeypatch.setattr("sys.stdin", pipe)
        with pytest.raises(SystemExit) as stopped:
            main(list(words))
    out, told = capfdbinary.readouterr()
    assert not stopped.value.code, told
    return out, told.decode()


def test_a_model_and_its_answers_go_through_pipes(capfdbinary, folder, monkeypatch):
    run = partial(piped, monkeypatch, capfdbinary)
    train = ("train", "-c", "mlknn", "--param", "n_neighbors=1", *READ)
    (folder / "tags.csv").write_text(TAGS)
    run(b"", *train, "tags.csv", "m")
    model, told = run(TAGS.encode(), *train, "-", "-")
    assert model == (folder / "m").read_bytes()
    assert told.startswith("standard output: MLkNN of 2 labels on 1 features")
    answers = b'"love","war"\n1,0\n0,1\n'
    rows = b"minutes,year\n94,1990\n11,1980\n"
    (folder / "rows.csv").write_bytes(rows)
    assert run(rows, "predict", "m", "-", "-")[0] == answers
    assert run(model, "predict", "-", "rows.csv", "-o", "-")[0] == answers
    sure, told = run(rows, "predict", "m", "-", "-", "-p", "--json")
    assert sure == b'"love","war"\n0.75,0.25\n0.25,0.75\n'
    assert '"n_predicted": 2' in told
    assert not (folder / "-").exists()


def test_files_that_are_judged_come_through_pipes(capfdbinary, folder, monkeypatch):
    run = partial(piped, monkeypatch, capfdbinary)
    (folder / "tags.csv").write_text(TAGS)
    answers = b"love,war\n0,1\n1,0\n0,1\n1,0\n"
    (folder / "said.csv").write_bytes(answers)
    out, _ = run(TAGS.encode(), "score", "said.csv", "-", *READ, "-m", "macro_f1")
    assert out.startswith(b"said.csv against standard input: 4 instances, 2 labels")
    out, _ = run(answers, "score", "-", "tags.csv", *READ, "-m", "macro_f1")
    assert out.startswith(b"standard input against tags.csv: 4 instances, 2 labels")
    tested = ("evaluate", "tags.csv", "-c", "br", *READ, "--test", "-")
    assert run(TAGS.encode(), *tested)[0].startswith(b"tags: br, tested on standard input")
    table, _ = run(b"", "thresholds", "said.csv", "tags.csv", *READ, "-o", "-")
    assert table.startswith(b"label,")
    page, told = run(b"", "report", "films.arff", "--html", "-")
    assert page.startswith(b"<!doctype html>")
    assert page.endswith(b"</html>")
    assert told.startswith("Concurrence report")


def test_standard_input_is_one_file(capsys, folder):
    with pytest.raises(SystemExit) as stopped:
        main(["score", "-", "-"])
    assert stopped.value.code == 2
    assert "standard input, is named for several files" in capsys.readouterr().err


def test_a_dash_among_labels_is_a_word(capsys, folder, monkeypatch):
    for words in (["--labels", "-"], ["--labels", "war,-"]):
        pipe = io.TextIOWrapper(io.BytesIO(b"minutes,war\n10,1\n95,0\n"))
        monkeypatch.setattr("sys.stdin", pipe)
        with pytest.raises(SystemExit) as stopped:
            main(["summary", "-", *words])
        assert stopped.value.code == 2
        err = capsys.readouterr().err
        assert "standard input: --labels ... names the label '-', but the file has no such" in err


def test_a_command_that_is_killed_keeps_nothing_of_standard_input(tmp_path):
    (tmp_path / "kept").mkdir()
    with subprocess.Popen(
        [sys.executable, "-m", "scumble", "convert", "-", str(tmp_path / "out.csv")],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path / "kept")},
    ) as command:  # fmt: skip
        command.stdin.write(b"x,label:a\n1,1\n")
        command.stdin.flush()
        while not list((tmp_path / "kept").glob("scumble-*/stdin")):
            assert command.poll() is None
            time.sleep(0.05)
        command.terminate()
        _, err = command.communicate()
    assert (command.returncode, err) == (143, b"")
    assert list((tmp_path / "kept").iterdir()) == []
    assert not (tmp_path / "out.csv").exists()


def test_a_folder_may_have_brackets_in_its_name(tmp_path):
    (tmp_path / "part[1]").mkdir()
    (tmp_path / "part[1]" / "0.parquet").touch()
    assert str(tmp_path / "part[1]" / "0.parquet") in _resolve_data_files(str(tmp_path / "part[1]"))
