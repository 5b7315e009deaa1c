"""The arithmetic of C4.5: comparisons with a tolerance, x ln x, pessimistic errors."""

from __future__ import annotations

import math

import numpy as np

from scumble._core.jit import inner_kernel, kernel

U = np.uint64  # an unsigned index spares numba the handling of negative ones
TINY = 1e-6  # what the reference implementation takes for zero
LN2 = math.log(2.0)


@inner_kernel
def x_ln_x(x):
    """Return x ln x, and 0 for what counts as 0."""
    return 0.0 if x < TINY else x * math.log(x)


@kernel
def fill_x_ln_x(table):
    """Tabulate x ln x for whole numbers."""
    table[0] = 0.0
    for x in range(1, len(table)):
        table[x] = x * math.log(x)


@inner_kernel
def added_errors(n, e, confidence, z):
    """Tell how many errors beyond ``e`` of ``n`` the upper confidence limit expects."""
    low = e
    if e < 1.0:
        base = n * (1.0 - confidence ** (1.0 / n))
        if e == 0.0:
            return base
        low = 1.0
    if low + 0.5 >= n:
        more = max(n - low, 0.0)
    else:
        f = (low + 0.5) / n
        root = math.sqrt(f / n - f * f / n + z * z / (4.0 * n * n))
        more = (f + z * z / (2.0 * n) + z * root) / (1.0 + z * z / n) * n - low
    return base + e * (more - base) if e < 1.0 else more


@inner_kernel
def training_errors(counts, node):
    """Return the weight of a node outside of its majority class.

    The majority is the first class that outweighs those before it by more than the tolerance.
    """
    total = 0.0
    most = 0.0
    for c in range(counts.shape[1]):
        weight = counts[node, c]
        total += weight
        if weight - most > TINY:
            most = weight
    return total - most if most > 0.0 else total - counts[node, 0]


@inner_kernel
def estimated_errors(counts, node, confidence, z):
    """Return the pessimistic estimate of the errors of a node taken as a leaf."""
    total = 0.0
    for c in range(counts.shape[1]):
        total += counts[node, c]
    if abs(total) < TINY:
        return 0.0
    errors = training_errors(counts, node)
    return errors + added_errors(total, errors, confidence, z)


@inner_kernel
def lowered_cut(values, seen, start, stop, below, above):
    """Turn the gap between two values into the cut stored in the tree.

    It is the middle, lowered to the largest value at or below it in the whole training set
    (``values[start:stop]`` where ``seen``, or all of them where ``seen`` is empty).
    """
    middle = (below + above) / 2.0
    if math.isinf(middle):
        middle = below / 2.0 + above / 2.0
    if middle >= above:
        middle = below
    low = start
    high = stop
    while high - low > 1:
        half = (low + high) // 2
        if values[half] <= middle:
            low = half
        else:
            high = half
    if len(seen):
        while seen[low] == 0:
            low -= 1
    return values[low]
