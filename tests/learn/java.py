"""How Java draws and orders, so that MULAN's ties can be followed."""

import operator
from collections import Counter

import numpy as np


class JavaRandom:
    """The 48-bit generator every Java has."""

    def __init__(self, seed):
        self._state = (seed ^ 0x5DEECE66D) & ((1 << 48) - 1)

    def _bits(self, n):
        self._state = (self._state * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
        return self._state >> (48 - n)

    def below(self, bound):
        if bound & (bound - 1) == 0:
            return (bound * self._bits(31)) >> 31
        while True:
            bits = self._bits(31)
            value = bits % bound
            if bits - value + bound - 1 < 2**31:
                return value


def _hash(text):
    code = 0
    for character in text:
        code = (31 * code + ord(character)) & 0xFFFFFFFF
    return code ^ (code >> 16)


def hash_order(sets):
    """List labelsets (tuples of 0/1) as a hash set walks through them, filled in their order."""
    distinct = list(dict.fromkeys(sets))
    size = 16
    while len(distinct) > 0.75 * size:
        size *= 2

    def bucket(labelset):
        return _hash("".join("01"[int(bit)] for bit in labelset)) & (size - 1)

    return sorted(distinct, key=bucket)


def pruned_order(rows, kept, b):
    """List the kept labelsets as MULAN's pruned sets meet them, then as its classes are walked.

    All labelsets of the rows are walked; in place of one that is not kept come the first ``b``
    kept subsets of it.
    """
    rows, kept = [[tuple(row) for row in table.tolist()] for table in (rows, kept)]
    counts = Counter(rows)
    preferred = sorted(kept, key=lambda k: (-sum(k), -counts[k], k))
    met = []
    for labelset in hash_order(rows):
        subsets = [k for k in preferred if any(k) and all(map(operator.le, k, labelset))]
        met += [labelset] if labelset in kept else subsets[:b]
    return [kept.index(labelset) for labelset in hash_order(met)]


def draw_winners(probabilities, order):
    """Choose the most probable class of each row; equals are drawn, by ``Random(1)``."""
    random = JavaRandom(1)
    winners, n_tied = [], 0
    for row in probabilities[:, order]:
        best = np.flatnonzero(row == row.max())
        at = best[0] if len(best) == 1 else best[random.below(len(best))]
        n_tied += len(best) > 1
        winners.append(order[at])
    return np.array(winners), n_tied
