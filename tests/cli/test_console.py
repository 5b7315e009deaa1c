"""What the command line does on a real terminal."""

import io
import os
import pty
import subprocess
import sys

import pytest

from scumble._core.progress import progress_bar, show_progress
from scumble.cli import console


def on_a_terminal(*arguments, **environment):
    """Run scumble with a pseudo-terminal as its output and return what it printed."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "scumble", *arguments],
        stdout=follower,
        stderr=subprocess.STDOUT,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "70", **environment},
    )
    os.close(follower)
    parts = []
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # Linux ends a pseudo-terminal with an error
            break
        if not part:
            break
        parts.append(part)
    os.close(leader)
    assert process.wait() == 0
    return b"".join(parts).decode()


def test_colour_on_a_terminal_only():
    coloured = on_a_terminal("report", "debtags", "--difficult", "1")
    assert "\x1b[1;33m" in coloured  # rare labels stand out
    plain = on_a_terminal("report", "debtags", "--difficult", "1", NO_COLOR="1")
    assert "\x1b" not in plain
    assert max(len(line) for line in plain.splitlines()) <= 70


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("after", "shown"), [(0.0, True), (1000.0, False)])
def test_a_bar_appears_only_when_it_takes_long(monkeypatch, after, shown):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(console, "PROGRESS_AFTER", after)
    with show_progress(console.ProgressBar()), progress_bar("Reading films.arff", 10) as advance:
        for _ in range(10):
            advance(1)
    assert ("Reading films.arff" in screen.getvalue()) == shown


def test_no_bar_where_nobody_looks(monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    monkeypatch.setattr(console, "PROGRESS_AFTER", 0.0)
    with show_progress(console.ProgressBar()), progress_bar("Reading films.arff", 10) as advance:
        advance(10)
    assert file.getvalue() == ""
