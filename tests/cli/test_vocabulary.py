"""One vocabulary: an option means the same thing in every command that has it."""

import json
import re

import pytest

from tests.cli.test_cli import run
from tests.cli.test_files import ARFF, COMMANDS, WRITING, XML

#: Options whose type differs, and why.
OTHER_TYPE = {
    ("paper claims", "--store"): "several stores are read, where others write one",
    ("paper ledger", "--store"): "several stores are read, where others write one",
}
#: Commands without --json, and why.
NO_JSON = {
    "demo": "a show for people; each step of it is a command with --json",
    "gui": "it serves a page until it is stopped",
    "data get": "prints one path and nothing else",
    "data path": "prints one path and nothing else",
    "paper plan": "prints a plan in the form in which it is run",
}
#: Options that go together with what a command does.
RANDOM = {"report", "plot", "resample", "split", "train", "evaluate", "compare", "advise"}
PARALLEL = {
    "resample", "train", "thresholds", "evaluate", "compare", "advise", "experiment run",
    "paper run",
}  # fmt: skip
RESAMPLING = {"report", "plot", "resample", "train", "evaluate", "compare"}
LEARNING = {"train", "evaluate", "compare"}
FILTERS = {
    "experiment run", "experiment table", "experiment compare", "experiment ranks",
    "experiment export",
}  # fmt: skip
JUDGING = {"thresholds", "evaluate", "score", "compare", *FILTERS - {"experiment run"}}
#: What the words before the colon of a help text must be, for the options named everywhere.
SPELLINGS = {
    "--output": ("-o", "Output"),
    "--resample": ("-r", "Resampling"),
    "--classifier": ("-c", "Classifier"),
    "--metric": ("-m", "Metric"),
    "--store": ("-s", "Store"),
    "--jobs": ("-j", None),
    "--quiet": ("-q", None),
    "--labels": ("-l", None),
    "--format": ("-f", None),
}


def options():
    for name, command in COMMANDS.items():
        for option in command.params:
            if option.param_type_name == "option":
                yield name, option


def meaning(option):
    return re.split(r":|\(", option.help)[0]  # showing the help puts names in brackets


def with_option(long):
    return {name for name, option in options() if long in option.opts}


def kind(option):
    return type(option.type_descriptor).__name__, option.multiple, option.is_flag


def test_an_option_has_one_meaning_one_spelling_and_one_type():
    first = {}
    for name, option in options():
        for spelling in (*option.opts, *option.secondary_opts):
            other, known = first.setdefault(spelling, (name, option))
            where = f"{spelling} of {name} and of {other}"
            assert meaning(option) == meaning(known), where
            assert option.opts == known.opts, where
            if not {(name, spelling), (name, option.opts[0])} & set(OTHER_TYPE):
                assert kind(option) == kind(known), where


def test_the_exceptions_are_needed():
    for name, spelling in OTHER_TYPE:
        assert name in with_option(spelling)


@pytest.mark.parametrize("long", SPELLINGS)
def test_short_and_long_spellings(long):
    short, words = SPELLINGS[long]
    found = [option for _, option in options() if long in option.opts or short in option.opts]
    assert found
    for option in found:
        assert option.opts == [long, short]
        assert words is None or meaning(option) == words


def test_who_has_which_option():
    everything = set(COMMANDS)
    assert with_option("--quiet") == everything
    assert with_option("--json") == everything - set(NO_JSON)
    assert with_option("--seed") == RANDOM
    assert with_option("--jobs") == PARALLEL
    assert with_option("--resample") == RESAMPLING
    assert with_option("--classifier") == LEARNING | FILTERS | {"paper run"}
    assert with_option("--metric") == JUDGING
    assert with_option("--param") == {"resample", "train", "evaluate"}
    assert with_option("--base") == LEARNING
    main_result = {
        name
        for name, calls in WRITING.items()
        if any(t in ("OUT", "MODEL", "--output") for t, *_ in calls)
    }
    assert with_option("--output") == main_result


@pytest.fixture
def films(tmp_path, monkeypatch):
    (tmp_path / "films.arff").write_text(ARFF)
    (tmp_path / "films.xml").write_text(XML)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "call",
    [
        "convert films.arff {}",
        "remedial films.arff {}",
        "resample films.arff {} -r mlros --seed 1",
        "predict films.model films.arff {} --whole",
    ],
)
def test_out_and_its_option_are_the_same(capsys, films, call):
    run(capsys, *"train films.arff -o films.model -c mlknn(n_neighbors=1) -q".split())
    run(capsys, *call.format("a.arff").split())
    out, _ = run(capsys, *call.format("-o b.arff").split(), "--json")
    assert "b.arff" in out or call.startswith("re")
    assert (films / "a.arff").read_text() == (films / "b.arff").read_text()
    _, err = run(capsys, *call.format("a.arff -o c.arff").split(), code=2)
    assert err == "error: The output is named twice: a.arff, and --output c.arff.\n"
    _, err = run(capsys, *call.format("").split(), code=2)
    assert "--output" in err


def test_an_output_given_as_an_option_is_no_input(capsys, films):
    _, err = run(capsys, "remedial", "films.arff", "-o", "films.arff", code=2)
    assert "this is the file to read, and would be lost" in err
    assert (films / "films.arff").read_text() == ARFF


@pytest.mark.parametrize(
    "call",
    [
        "convert films.arff -o a.csv",
        "remedial films.arff -o a.arff",
        "resample films.arff -o a.arff -r mlros",
        "train films.arff -o a.model -c br",
        "plot films.arff -o a.svg -k labels",
    ],
)
def test_quiet_commands_write_files_and_nothing_else(capsys, films, call):
    assert run(capsys, *call.split(), "--quiet") == ("", "")
    assert (films / call.split()[3]).stat().st_size
    out, _ = run(capsys, *call.split())
    assert out


def test_quiet_results_come_without_notes(capsys, films):
    loud, note = run(capsys, "convert", "films.arff", "a.svm", "--json")
    assert note.startswith("note: ")
    assert run(capsys, "convert", "films.arff", "a.svm", "--json", "--quiet") == (loud, "")
    told = run(capsys, "summary", "films.arff")
    assert run(capsys, "summary", "films.arff", "-q") == told
    assert json.loads(loud)["output"] == "a.svm"


def test_none_is_no_resampling_wherever_there_is_resampling(capsys, films):
    run(capsys, *"train films.arff -o a.model -c br".split())
    run(capsys, *"train films.arff -o b.model -c br -r none".split())
    run(capsys, *"resample films.arff -o same.arff -r none".split())
    assert (films / "same.arff").read_text().split("@data")[1].split() == ARFF.split("@data")[
        1
    ].split()
    plain, _ = run(capsys, *"evaluate films.arff -c br --folds 2 --seed 1 --json".split())
    none, _ = run(capsys, *"evaluate films.arff -c br -r none --folds 2 --seed 1 --json".split())
    drop = ("seconds", "resample")
    assert json.loads(none)["resample"] == "none"
    plain, none = (
        {k: v for k, v in json.loads(text).items() if not k.startswith(drop)}
        for text in (plain, none)
    )
    assert plain["metrics"] == none["metrics"]
    out, _ = run(capsys, *"report films.arff -r none --json".split())
    assert json.loads(out)["treatments"] == []
    run(capsys, *"plot films.arff -k labels -r none -o a.svg".split())


def test_parameters_in_brackets_are_parameters(capsys, films):
    brackets = "resample films.arff -o a.arff -r mlros(percent=50) --seed 1"
    run(capsys, *brackets.split())
    run(capsys, *"resample films.arff -o b.arff -r mlros --percent 50 --seed 1".split())
    run(capsys, *"resample films.arff -o c.arff -r mlros --param percent=50 --seed 1".split())
    texts = [(films / name).read_text() for name in ("a.arff", "b.arff", "c.arff")]
    assert texts[0] == texts[1] == texts[2]
    out, _ = run(capsys, *"train films.arff -o m -c mlknn(n_neighbors=2) --json".split())
    assert json.loads(out)["classifier"] == "MLkNN"


def test_one_is_one(capsys, films):
    _, err = run(capsys, *"train films.arff -o m -c br,cc".split(), code=2)
    assert err == "error: --classifier takes one name here. Got 2 instead: br, cc.\n"
    _, err = run(capsys, *"evaluate films.arff -c br -r mlros -r remedial".split(), code=2)
    assert err == "error: --resample takes one name here. Got 2 instead: mlros, remedial.\n"


def test_top_0_shows_all(capsys, films):
    for command in ("labels", "labelsets"):
        every, _ = run(capsys, command, "films.arff", "--json")
        assert run(capsys, command, "films.arff", "--top", 0, "--json") == (every, "")
        cut, _ = run(capsys, command, "films.arff", "--top", 1, "--json")
        assert json.loads(cut) == json.loads(every)[:1]
    run(capsys, *"plot films.arff -k labels --top 0 -o all.svg".split())
    run(capsys, *"plot films.arff -k labels --top 1 -o one.svg".split())
    names = [name.encode() for name in ("war", "love")]
    assert all(name in (films / "all.svg").read_bytes() for name in names)
    assert not all(name in (films / "one.svg").read_bytes() for name in names)
