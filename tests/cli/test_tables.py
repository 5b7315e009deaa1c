"""A table of tickets, as a person has it, through every command that reads."""

import json
from inspect import signature

import pandas as pd
import pytest

import scumble
from scumble.cli.main import COMMAND_MODULES, load_command
from scumble.cli.options import TABLE_OPTIONS
from tests.cli.test_cli import run
from tests.learn.test_texts import new_rows, ticket_frame

OPTIONS = (
    "--label-column",
    "tags",
    "--label-separator",
    ";",
    "--ignore",
    "id",
    "--text",
    "subject",
)
#: Calls of commands that read a data set; of the others, the data set is the only argument.
READING = {
    "summary": "summary tickets.csv",
    "labels": "labels tickets.csv",
    "labelsets": "labelsets tickets.csv",
    "report": "report tickets.csv --html report.html",
    "plot": "plot tickets.csv --output plot.svg",
    "remedial": "remedial tickets.csv remedial.parquet",
    "resample": "resample tickets.csv resampled.parquet --resample mlros",
    "train": "train tickets.csv tickets.model --classifier br --resample mlsmote --seed 0",
    "predict": "predict ready.model tickets.csv predicted.csv",
    "thresholds": "thresholds scores.csv tickets.csv",
    "evaluate": "evaluate tickets.csv --classifier br --resample mlsmote --folds 1x2 --seed 0",
    "compare": "compare tickets.csv --classifier br,rare --folds 1x2 --seed 0",
    "advise": "advise tickets.csv --budget 1s",
    "convert": "convert tickets.csv converted.parquet",
    "split": "split tickets.csv --output parts.parquet --seed 0",
    "score": "score scores.csv tickets.csv",
}


def commands_that_read():
    """Return the names of the commands that have the options of plain tables."""
    names = []
    for name in COMMAND_MODULES:
        command = load_command(name)
        subcommands = getattr(command, "commands", {"": command}).values()
        options = {parameter.name for subcommand in subcommands for parameter in subcommand.params}
        if "option" in options and name != "gui":
            names.append(name)
    return names


@pytest.fixture
def folder(tmp_path, monkeypatch):
    frame = ticket_frame(60)
    frame.insert(0, "id", [f"T-{at}" for at in range(60)])
    frame.to_csv(tmp_path / "tickets.csv", index=False)
    new_rows().drop(columns="tags").to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def the_tickets():
    return scumble.read(
        "tickets.csv", label_column="tags", label_separator=";", ignore="id", text="subject"
    )


def test_every_command_that_reads_has_the_options():
    reading = set()
    for name in COMMAND_MODULES:
        command = load_command(name)
        for one in getattr(command, "commands", {"": command}).values():
            known = {parameter.name for parameter in one.params}
            assert ("option" in known) == ("ignore" in known), name
            if "option" in known:
                assert set(TABLE_OPTIONS) <= known, name
                reading.add(name)
    assert reading >= {*READING, "gui"}


@pytest.mark.parametrize("name", commands_that_read())
def test_every_command_reads_the_table(capsys, folder, name):
    data = the_tickets()
    if name == "predict":
        from scumble.learn import BinaryRelevance, fit_dataset, save

        save(fit_dataset(BinaryRelevance(), data), "ready.model", data=data)
    if name in ("thresholds", "score"):
        cells = data.Y.toarray() * 0.5 + 0.25
        pd.DataFrame(cells, columns=data.labels).to_csv("scores.csv", index=False)
    out, err = run(capsys, *READING.get(name, f"{name} tickets.csv").split(), *OPTIONS)
    assert "error" not in err
    assert out
    written = {"remedial": "remedial.parquet", "resample": "resampled.parquet"}
    if name in written:
        again = scumble.read(written[name])
        assert again.features == data.features
        assert len(again) > len(data)
    if name == "convert":
        assert scumble.read("converted.parquet").Y.nnz == data.Y.nnz
        assert scumble.read("converted.parquet").features == data.features


def test_the_summary_is_that_of_the_library(capsys, folder):
    out, err = run(capsys, "summary", "tickets.csv", *OPTIONS, "--json")
    assert json.loads(out) == scumble.characterize(the_tickets()).to_dict()
    assert err == ""


def test_what_is_left_out_is_named_with_the_options_that_ask_for_it(capsys, folder):
    chosen = OPTIONS[:4]
    out, err = run(capsys, "summary", "tickets.csv", *chosen, "--json")
    assert json.loads(out)["n_features"] == 2
    assert "'id' holds a different value in most rows: left out" in err
    assert "--keep id takes it as it is" in err
    assert "'subject' holds text: left out. --text subject learns from the words" in err
    more = ("--keep", "id", "--keep", "subject")
    out, err = run(capsys, "summary", "tickets.csv", *chosen, *more, "--json")
    assert (json.loads(out)["n_features"], err) == (4, "")
    out, err = run(capsys, "summary", "tickets.csv", *chosen, "--ignore", "id, subject", "--json")
    assert (json.loads(out)["n_features"], err) == (2, "")
    _, err = run(capsys, "summary", "tickets.csv", *OPTIONS[:2], code=2)
    assert "--label-separator ';'" in err


def test_a_trained_model_predicts_a_raw_table(capsys, folder):
    call = "train tickets.csv t.model --classifier rare --resample mlsmote --seed 0"
    run(capsys, *call.split(), *OPTIONS)
    run(capsys, "predict", "t.model", "new.csv", "plain.csv")
    run(capsys, "predict", "t.model", "new.csv", "same.csv", *OPTIONS[:4], "--text", "subject")
    found = pd.read_csv("plain.csv")
    assert found.equals(pd.read_csv("same.csv"))
    truth = new_rows()["tags"].replace("", None).str.get_dummies(";")
    hits = (found["printer"] == truth["printer"]).mean()
    assert list(found.columns) == list(truth.columns)
    assert hits > 0.75


def test_columns_of_a_test_file_are_what_they_are_in_training(capsys, folder):
    training = ticket_frame(60).assign(
        year=[2000 + at % 7 for at in range(60)], opened="2024-05-31"
    )
    test = ticket_frame(24, seed=5).assign(year=range(1990, 2014), opened="2024-06-01")
    training.to_csv("train.csv", index=False)
    test[test["tags"] != "legal"].to_csv("test.csv", index=False)
    read = ("--label-column", "tags", "--label-separator", ";", "--text", "subject", "--seed", "0")
    for command in ("evaluate", "compare"):
        out, err = run(capsys, command, "train.csv", "--test", "test.csv", *read, "-c", "br")
        assert "tested on test.csv" in out or "on a test part" in out
        assert "train.csv: 'opened' holds dates" in err
        assert "test.csv: 'year'" not in err


def test_what_a_resampler_would_do_is_shown_of_texts_too(capsys, folder):
    out, _ = run(capsys, "report", "tickets.csv", *OPTIONS, "--resample", "mlsmote", "--json")
    treated = json.loads(out)["treatments"][0]
    assert treated["after"]["n_instances"] > treated["before"]["n_instances"] == 60
    run(capsys, "plot", "tickets.csv", *OPTIONS, "--kind", "before-after", "-o", "two.svg",
        "--resample", "mlsmote")  # fmt: skip
    _, err = run(
        capsys, "resample", "tickets.csv", "r.csv", *OPTIONS, "--resample", "mlsmote", code=2
    )
    assert "the texts of column 'subject' have none" in err
    assert "--ignore subject" in err


def test_advice_gives_lines_that_read_the_table_again(capsys, folder):
    out, _ = run(capsys, "advise", "tickets.csv", *OPTIONS, "--budget", "1s")
    assert "--label-column tags --label-separator ';' --ignore id --text subject" in out
    assert "text=['subject']" in out


def test_the_command_itself_keeps_its_signature():
    from scumble.cli.describe import labels

    assert "ignore" not in signature(labels).parameters


def test_codes_and_tabs_can_be_named(capsys, folder):
    (folder / "codes.csv").write_text("code\tsky\n100\t1\n101\t0\n100\t0\n")
    how = ("--labels", "sky", "--option", "delimiter=\t", "--category", "code")
    run(capsys, "convert", "codes.csv", "codes.arff", *how)
    assert "@attribute code {100,101}" in (folder / "codes.arff").read_text()
