"""Starting and ending the server."""

import os
import re
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from scumble import ScumbleError
from scumble.cli.gui import _check_exists
from scumble.cli.main import main
from scumble.gui.guard import Settings
from scumble.gui.server import _listen, serve
from tests.gui.conftest import PATIENCE


def test_every_network_needs_a_name():
    with pytest.raises(ScumbleError, match="--allow-host NAME"):
        serve(host="0.0.0.0", open_browser=False)


def test_a_port_that_is_taken_is_named():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ScumbleError, match=rf"port {port}: .* Choose another with --port"):
            _listen("127.0.0.1", port)


def test_without_a_port_there_is_always_one():
    with _listen("127.0.0.1", None) as first, _listen("127.0.0.1", None) as second:
        assert first.getsockname() != second.getsockname()


def test_tokens_are_long_and_never_the_same():
    first, second = Settings(port=1), Settings(port=1)
    assert first.token != second.token
    assert len(first.token) >= 32
    assert first.token not in repr(first)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_command_opens_a_file_and_leaves_nothing_behind(tmp_path, end):
    path = tmp_path / "films.csv"
    path.write_text("minutes,label:war,label:love\n90,1,0\n150,1,1\n")
    (tmp_path / "temporary").mkdir()
    command = [sys.executable, "-m", "scumble", "gui", str(path), "--no-browser", "--port", "0"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary"), "PYTHONUNBUFFERED": "1"},
    ) as process:
        address = re.search(r"http://\S+", process.stdout.readline())[0]
        base, _, token = address.partition("/?token=")
        key = {"authorization": f"Bearer {token}"}
        about = httpx.get(f"{base}/api/v1/about", headers=key, timeout=PATIENCE)
        assert [job["title"] for job in about.json()["jobs"]] in ([f"Opening {path}"], [])
        assert list((tmp_path / "temporary").glob("scumble-gui-*"))
        process.send_signal(end)
        process.wait(timeout=PATIENCE)
        assert process.stderr.read() == ""
    assert list((tmp_path / "temporary").glob("scumble-gui-*")) == []
    assert process.returncode in (0, -signal.SIGTERM)


def test_a_file_that_cannot_be_opened_is_named_in_the_terminal_too(tmp_path):
    (tmp_path / "odd.arff").write_text("no ARFF at all")
    command = [sys.executable, "-m", "scumble", "gui", "odd.arff", "--no-browser", "--port", "0"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stderr.readline().startswith("error: odd.arff: no known format")
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("nope.arff", "error: nope.arff: no such file. Check the path.\n"),
        ("yaest", "error: There is no data set called 'yaest'. Did you mean 'yeast'?"),
    ],
)
def test_a_file_that_is_not_there_ends_it_at_once(capsys, monkeypatch, tmp_path, data, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(["gui", data, "--no-browser", "--port", "0"])
    assert stopped.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(said)


@pytest.mark.parametrize("name", ["debtags", "yeast", "Yeast", "corel16k"])
def test_names_aliases_and_spellings_of_public_data_are_let_through(monkeypatch, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    _check_exists(name)
    with pytest.raises(ScumbleError, match="There is no data set called"):
        _check_exists(f"{name}s")
