"""A pool of child processes: values, failures, limits, reports, and no process left behind."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from scumble._core.process_pool import ProcessPool
from scumble._core.processes import is_alive

ROOT = Path(__file__).resolve().parents[2]
#: Seconds that no task needs, on however busy a machine.
FOR_EVER = 1200.0


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Let children import this file."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)


def work(request):
    if request == "raise":
        raise ValueError("no such luck")
    if request == "die":
        print("last words", file=sys.stderr)
        os.kill(os.getpid(), signal.SIGKILL)
    if request == "sleep":
        time.sleep(FOR_EVER)
    if request == "grow":
        held = bytearray(400 << 20)
        time.sleep(FOR_EVER)
        del held
    if request == "unpicklable":
        return lambda: None
    return os.getpid()


def report_and_sleep(request, report):
    report(f"{request} begins")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        report(os.getpid())
        time.sleep(FOR_EVER)
    except KeyboardInterrupt:
        return "a part"


def outcomes_of(pool, n_tasks):
    outcomes = []
    while len(outcomes) < n_tasks:
        outcomes += pool.wait(1.0)
    return outcomes


def test_a_process_is_used_again_and_ends_with_the_pool():
    with ProcessPool(work, n_processes=1) as pool:
        pids = []
        for number in range(3):
            task = pool.submit(number)
            assert not pool.can_submit()
            (outcome,) = outcomes_of(pool, 1)
            assert outcome.task is task
            assert (outcome.reason, outcome.error) == ("", "")
            assert outcome.megabytes > 1
            pids.append(outcome.value)
        assert len(set(pids)) == 1
        assert pool.can_submit()
    assert not is_alive(pids[0])


def test_functions_without_a_name_travel():
    with ProcessPool(lambda number: number + 1, n_processes=2) as pool:
        pool.submit(2)
        assert outcomes_of(pool, 1)[0].value == 3


@pytest.mark.parametrize(
    ("request_", "limits", "reason", "error"),
    [
        ("raise", {}, "error", "ValueError: no such luck"),
        ("unpicklable", {}, "error", "pickle"),
        ("die", {}, "crash", "signal 9"),
        ("sleep", {"seconds": 0.2}, "time", "the limit is 0.2 s"),
        ("grow", {"megabytes": 300.0}, "memory", "the limit is 300 MB"),
    ],
)
def test_a_failed_task_has_a_reason_and_the_next_one_runs(request_, limits, reason, error):
    with ProcessPool(work, n_processes=1) as pool:
        pool.submit(request_, **limits)
        (outcome,) = outcomes_of(pool, 1)
        assert (outcome.value, outcome.reason) == (None, reason)
        assert error in outcome.error
        pool.submit("quick")
        assert outcomes_of(pool, 1)[0].reason == ""


def test_reports_interrupts_and_cancels():
    with ProcessPool(report_and_sleep, n_processes=2, sends_reports=True) as pool:
        reports = {"first": [], "second": []}
        first, second = (
            pool.submit(name, on_report=values.append) for name, values in reports.items()
        )
        while min(map(len, reports.values())) < 2:
            assert pool.wait(0.1) == []
        assert [values[0] for values in reports.values()] == ["first begins", "second begins"]
        pool.cancel(first)
        assert not is_alive(reports["first"][1])
        pool.interrupt(second)
        (outcome,) = outcomes_of(pool, 1)
        assert (outcome.task, outcome.value) == (second, "a part")
        assert pool.wait(0.1) == []
