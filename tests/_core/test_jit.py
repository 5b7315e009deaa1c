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
