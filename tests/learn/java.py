"""How Java draws and orders, so that MULAN's ties can be followed."""

import operator
from collections import Counter

import numpy as np

from scumble._core import java


class JavaRandom(java.JavaRandom):
    """The 48-bit generator every Java has."""

    def shuffle(self, items):
        """Shuffle a list in place, from its last item down, as WEKA shuffles rows."""
        for last in range(len(items) - 1, 0, -1):
            other = self.next_int(last + 1)
            items[last], items[other] = items[other], items[last]

    def next_double(self):
        return ((self._next(26) << 27) + self._next(27)) * 2.0**-53


def hash_order(sets):
    """List labelsets (tuples of 0/1) as a hash set walks through them, filled in their order."""
    distinct = list(dict.fromkeys(sets))
    size = java.hash_table_size(len(distinct))

    def bucket(labelset):
        text = "".join("01"[int(bit)] for bit in labelset)
        return java.spread_hash(java.java_hash(text)) & (size - 1)

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


def draw_chains(n_rows, n_labels):
    """Draw the order and the bag of each of ten chains."""
    random, rows, draws = JavaRandom(1), list(range(n_rows)), []
    for _ in range(10):
        random.shuffle(rows)
        places = JavaRandom(1)  # a new one each time: the same places of another order
        bag = [rows[int(n_rows * places.next_double())] for _ in rows]
        chain = list(range(n_labels))
        for at in range(n_labels):
            other = random.next_int(n_labels)
            chain[at], chain[other] = chain[other], chain[at]
        draws.append({"chain": chain, "bag": bag})
    return draws


def draw_samples(n_rows):
    """Draw the rows of each of ten pruned sets."""
    random, rows, draws = JavaRandom(1), list(range(n_rows)), []
    for _ in range(10):
        random.shuffle(rows)
        draws.append(rows[: int(0.66 * n_rows + 0.5)])
    return draws


def draw_winners(probabilities, order):
    """Choose the most probable class of each row; equals are drawn, by ``Random(1)``."""
    random = JavaRandom(1)
    winners, n_tied = [], 0
    for row in probabilities[:, order]:
        best = np.flatnonzero(row == row.max())
        at = best[0] if len(best) == 1 else best[random.next_int(len(best))]
        n_tied += len(best) > 1
        winners.append(order[at])
    return np.array(winners), n_tied
