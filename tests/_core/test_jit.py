import os
import subprocess
import sys
from types import SimpleNamespace

import numba
import pytest

from scumble._core.jit import kernel


def test_kernels_are_kept_for_the_next_process_where_there_is_room(monkeypatch):
    """In a container without a home numba finds no folder for its cache."""
    real = numba.njit
    asked = []

    def njit(**options):
        asked.append(options.pop("cache", False))
        if asked[-1]:
            raise RuntimeError("cannot cache function: no locator available")
        return real(**options)

    monkeypatch.setattr("scumble._core.jit.numba", SimpleNamespace(njit=njit))
    assert kernel(lambda x: x + 1)(1) == 2
    assert asked == [True, False]


def test_a_kernel_that_cannot_be_compiled_says_so():
    with pytest.raises(numba.core.errors.NumbaError):
        kernel(lambda x: x.nonesuch)(1)


CALLER = """
from scumble._core.jit import kernel
from kernels.called import value

@kernel
def call():
    return value()
"""
CALLED = """
from scumble._core.jit import kernel

@kernel
def value():
    return {}
"""


def test_kept_code_expires_with_the_kernels_it_calls(tmp_path):
    """By itself numba looks at the file of the caller only."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "caller.py").write_text(CALLER)
    code = "from kernels.caller import call; print(call(), sum(call.stats.cache_hits.values()))"

    def run(number):
        (folder / "called.py").write_text(CALLED.format(number))
        command = [sys.executable, "-c", code]
        environment = {**os.environ, "PYTHONPATH": f"{tmp_path}", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert run(1) == ["1", "0"]
    assert run(1) == ["1", "1"]  # from the cache
    assert run(2) == ["2", "0"]


def test_kernels_run_without_the_compiler():
    code = (
        "import numpy as np; from scumble.resample.kernels.remedial import count_sides; "
        "print(type(count_sides).__name__)"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "function"
