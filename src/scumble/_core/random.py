"""Random numbers: one seed, one answer, and nobody else's generator is disturbed."""

from __future__ import annotations

from typing import Any

import numpy as np

from scumble._core.errors import ParameterError


def as_generator(random_state: Any, *, caller: str) -> np.random.Generator:
    """Make the generator a `random_state` stands for.

    Examples
    --------
    >>> from scumble._core.random import as_generator
    >>> as_generator(1, caller="here").integers(100) == as_generator(1, caller="here").integers(100)
    np.True_
    """
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    is_integer = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if not is_integer or random_state < 0:
        raise ParameterError(
            f"The 'random_state' parameter of {caller} must be None, an int of at least 0, or a "
            f"numpy Generator or RandomState. Got {random_state!r} instead."
        )
    return np.random.default_rng(int(random_state))
