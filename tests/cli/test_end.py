"""How the command ends: at once, with everything said and everything tidied up."""

import json
import os
import subprocess
import sys

import pytest

import scumble
from scumble.learn import MLkNN, fit_dataset, save

SCRIPT = "from scumble.cli.main import run\nrun()\n"


def end(*arguments, before=""):
    code = before + SCRIPT
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)


def test_all_is_printed():
    done = end("labels", "debtags", "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    assert len(json.loads(done.stdout)) == 431


def test_an_error_keeps_its_message_and_its_code():
    done = end("summary", "nonesuch.arff")
    assert done.returncode == 2
    assert done.stderr == "error: nonesuch.arff: no such file. Check the path.\n"


def test_what_others_left_to_the_end_is_done():
    done = end("--version", before="import atexit\natexit.register(print, 'tidy')\n")
    assert done.stdout.split()[-1] == "tidy"


def test_a_thread_at_work_is_waited_for():
    at_work = (
        "import threading\n"
        "def work():\n    threading.main_thread().join()\n    print('done')\n"
        "threading.Thread(target=work).start()\n"
    )
    assert end("--version", before=at_work).stdout.split()[-1] == "done"


def test_a_reader_that_goes_away_is_no_error():
    command = f'{sys.executable} -c "{SCRIPT}" labels debtags --json | head -n 1'
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stdout == "[\n"
    assert done.stderr == ""


@pytest.mark.parametrize("way", ["-c 'from scumble.cli.main import run; run()'", "-m scumble"])
def test_a_full_disk_is_told_and_leaves_no_half_of_a_file(tmp_path, way):
    data = tmp_path / "a.csv"
    data.write_text(
        "x,label:a,label:b\n" + "".join(f"{n},{n % 2},{n % 3 == 0:d}\n" for n in range(9))
    )
    model = MLkNN(n_neighbors=1)
    save(fit_dataset(model, scumble.read(data)), tmp_path / "m", data=scumble.read(data))
    for call in (
        "--version", "summary a.csv", "labels a.csv --json", "train a.csv - -c br",
        "predict m a.csv -", "predict m a.csv p.csv",
    ):  # fmt: skip
        done = subprocess.run(
            f"{sys.executable} {way} {call} >/dev/full",
            shell=True, cwd=tmp_path, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 2, (call, done.stderr)
        assert done.stderr.count("\n") == 1, (call, done.stderr)
        assert done.stderr.startswith("error: standard output"), call
        assert "cannot be written: the disk is full. Free some space" in done.stderr, call
    assert (tmp_path / "p.csv").read_text().count("\n") == 10  # it was whole before that was told
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.csv", "m", "p.csv"]


def test_a_full_folder_for_temporary_files_is_told(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "a.csv").write_text("x,label:a\n" + "1,1\n" * 30_000)
    command = f"ulimit -f 50; {sys.executable} -m scumble convert - b.csv <a.csv"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "TMPDIR": str(tmp_path / "kept")},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("error: A temporary file cannot be written: File too large.")
    assert "TMPDIR" in done.stderr
    assert list((tmp_path / "kept").iterdir()) == []
    assert not (tmp_path / "b.csv").exists()


@pytest.mark.parametrize("redirection", [">&-", "2>&-"])
@pytest.mark.parametrize("words", ["--version", "summary debtags", "methods metric --json"])
def test_closed_streams_change_no_code(redirection, words):
    command = f'{sys.executable} -c "{SCRIPT}" {words} {redirection}'
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
