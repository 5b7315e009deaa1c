"""Random numbers: one seed, one answer, and nobody else's generator is disturbed."""

from __future__ import annotations

from typing import Any

import numpy as np

from scumble._core.parameters import Seed


def as_generator(random_state: Any, *, caller: str) -> np.random.Generator:
    """Make the generator a `random_state` stands for."""
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    Seed().check(random_state, name="random_state", caller=caller)
    return np.random.default_rng(int(random_state))
