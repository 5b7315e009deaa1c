"""``scumble advise`` in the shell."""

import json
import re
import shlex
import subprocess
import sys
import textwrap
from dataclasses import replace

import pytest

import scumble
from scumble.learn import load as load_model
from tests.cli.test_cli import run


@pytest.fixture(scope="module")
def data():
    return scumble.make_multilabel(240, 8, mean_ir=8, scumble=None, random_state=2)


@pytest.fixture(scope="module")
def file(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("advise") / "my data.csv"
    scumble.write(replace(data, name="my data"), path)
    return path


def test_from_a_file_to_a_model(capsys, file, tmp_path):
    model, page = tmp_path / "mine.scumble", tmp_path / "page.html"
    words = ["advise", file, "--labels", "-8", "--train", model, "--html", page]
    out, _ = run(capsys, *words)
    parts = ["What is wrong", "What helps here", "What does not", "How sure this is", "What to do"]
    assert [line for line in out.splitlines() if line in parts] == parts
    assert out.rstrip().endswith("trained on 240 rows")
    rows = scumble.read(file, labels=-8).X
    assert load_model(model).predict(rows).shape == (240, 8)
    assert "</html>" in page.read_text()


def test_a_page_that_cannot_be_written_does_not_cost_the_answer(capsys, file, tmp_path):
    words = ["advise", file, "--labels", "-8", "--html", tmp_path / "nowhere" / "page.html"]
    out, err = run(capsys, *words, code=2)
    assert "cannot be written" in err
    assert "What helps here" in out


def test_the_suggested_command_trains_from_the_same_file(capsys, file, tmp_path):
    model = tmp_path / "mine.scumble"
    out, _ = run(capsys, "advise", file, "--labels", "-8", "--budget", "none", "--json")
    told = json.loads(out)
    program, *words = shlex.split(told["shell"])
    assert program == "scumble"
    run(capsys, *[str(model) if word == "MODEL" else word for word in words])
    names: dict = {}
    exec("\n".join(told["python"]), names)
    assert names["data"].n_labels == load_model(model).n_labels_ == 8
    assert type(names["model"]) is type(load_model(model))
    assert [one["name"] for one in told["methods"] if one["chosen"]] == [told["chosen"]]


def test_ctrl_c_gives_what_is_known_so_far(file):
    script = f"""
        import signal, sys
        from scumble.advice import candidates
        from scumble.cli.main import main
        run_fold, done = candidates.run_fold, []
        def interrupt_at_the_seventh(*given, **more):
            done.append(1)
            if len(done) == 7:
                signal.default_int_handler(signal.SIGINT, None)  # as Ctrl-C does, in this thread
            return run_fold(*given, **more)
        candidates.run_fold = interrupt_at_the_seventh
        sys.argv = ["scumble", "advise", {str(file)!r}, "--labels", "-8"]
        main()
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "The evaluation was stopped before all methods were evaluated." in done.stdout
    table = done.stdout.partition("method (* advised)")[2].partition("What does not")[0]
    judged = {re.split(r"  +| \*", line)[0] for line in table.splitlines()[1:] if line.strip()}
    assert judged == {"rare", "br", "br with thresholds", "rare(quality=best)"}
    assert re.search(r"scumble train '.*my data.csv' MODEL -c rare", done.stdout)


@pytest.mark.parametrize("text", ["soon", "0", "-5s", "2 weeks"])
def test_a_budget_is_a_time(capsys, file, text):
    out, err = run(capsys, "advise", file, f"--budget={text}", code=2)
    assert "must be a time such as 90s, 2m or 1h" in err
    assert not out


def test_nothing_may_replace_the_data(capsys, file):
    before = file.read_bytes()
    for option in ("--train", "--html"):
        run(capsys, "advise", file, option, file, code=2)
    assert file.read_bytes() == before
