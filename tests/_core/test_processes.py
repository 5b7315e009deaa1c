"""Child processes: answers, ends of all kinds, and no orphans."""

import itertools
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from scumble._core.processes import ChildExitedError, ChildProcess, is_alive

ROOT = Path(__file__).resolve().parents[2]
#: Seconds after which an orphan counts as one, on however busy a machine; most are gone at once.
PATIENCE = 60
HERE = "tests._core.test_processes"


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Let children import this file."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)


def work(request, tell):
    """Do what is asked, after telling who does it."""
    tell(os.getpid())
    if request == "sleep":
        time.sleep(PATIENCE * 20)
    if request == "hold the interpreter":  # no other thread runs until this is over
        sum(itertools.repeat(0, 10**13))
    if request == "exit":
        print("last words")
        sys.exit(3)
    if request == "raise":
        raise ValueError("no such luck")
    return request


def call(function, request, _tell):
    return function(request)


def is_gone(pid):
    deadline = time.monotonic() + PATIENCE
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


def test_messages_and_answers_come_in_order():
    with ChildProcess(f"{HERE}.work") as child:
        for request in ("first", {"second": 2}):
            child.send(request)
            assert (child.receive(), child.receive()) == (child.pid, request)
        assert child.is_alive
        assert child.ready_at <= time.perf_counter()
    assert not child.is_alive
    child.close()  # twice does no harm


def test_functions_without_a_name_travel():
    with ChildProcess(f"{HERE}.call", lambda number: number + 1) as child:
        child.send(2)
        assert child.receive() == 3


def test_what_cannot_travel_leaves_no_process_behind(monkeypatch):
    started = []
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: started.append(1) or popen(*a, **k))
    with pytest.raises(TypeError):
        ChildProcess(f"{HERE}.call", threading.Lock())
    assert not started


def test_a_request_that_cannot_travel_ends_the_child():
    # Its first part is on its way already: no other request would be understood.
    with ChildProcess(f"{HERE}.work") as child:
        with pytest.raises(TypeError):
            child.send([bytes(1 << 20), threading.Lock()])
        assert not child.is_alive


def test_nobody_else_is_killed_who_has_got_the_number_of_a_closed_child(monkeypatch):
    with ChildProcess(f"{HERE}.work") as child:
        pass
    killed = []
    monkeypatch.setattr(os, "killpg", lambda *given: killed.append(given))
    child.kill()
    with pytest.raises(ChildExitedError):  # a thread that comes to read too late
        child.receive()
    assert not killed


def test_variables_reach_the_child():
    with ChildProcess(f"{HERE}.call", os.getenv, environment={"SCUMBLE_TOLD": "this"}) as child:
        child.send("SCUMBLE_TOLD")
        assert child.receive() == "this"


@pytest.mark.parametrize(
    ("request_", "words"),
    [("exit", ("exit code 3", "last words")), ("raise", ("exit code 1", "no such luck"))],
)
def test_a_child_that_ends_says_how(request_, words):
    with ChildProcess(f"{HERE}.work", keeps_stderr=True) as child:
        child.send(request_)
        child.receive()
        with pytest.raises(ChildExitedError):
            child.receive()
        assert not child.is_alive
        assert all(word in child.describe_exit() for word in words)


def test_a_child_is_killed_while_somebody_waits_for_it():
    with ChildProcess(f"{HERE}.work") as child:
        child.send("hold the interpreter")
        child.receive()
        threading.Timer(0.1, child.kill).start()
        with pytest.raises(ChildExitedError):
            child.receive()
        assert "signal 9" in child.describe_exit()


def test_a_child_outlives_the_thread_that_started_it():
    born = []
    thread = threading.Thread(target=lambda: born.append(ChildProcess(f"{HERE}.work")))
    thread.start()
    thread.join()
    with born[0] as child:
        child.send("after all")
        assert (child.receive(), child.receive()) == (child.pid, "after all")


PARENT = """
import sys, threading, time
from scumble._core.processes import ChildProcess
def start():
    child = ChildProcess("tests._core.test_processes.work")
    child.send(sys.argv[1])
    print(child.receive(), flush=True)
    time.sleep(10000)
{begin}
"""


@pytest.mark.parametrize(
    ("request_", "begin"),
    [
        ("sleep", "start()"),
        ("sleep", "threading.Thread(target=start).start()"),
        pytest.param(
            "hold the interpreter",
            "start()",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills orphans"),
        ),
        ("nothing more", "start()"),
    ],
)
def test_a_child_ends_with_a_parent_that_is_killed(request_, begin):
    command = [sys.executable, "-c", PARENT.format(begin=begin), request_]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        assert is_alive(child)
        parent.kill()
    assert is_gone(child)
