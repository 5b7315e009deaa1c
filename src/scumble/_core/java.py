"""Random numbers and hash orders of Java, to reproduce results of MULAN and WEKA."""

from collections.abc import Sequence

#: The 48 bits of the state of the generator.
_STATE_MASK = (1 << 48) - 1


class JavaRandom:
    """The random number generator of Java: a linear congruential one with 48 bits of state."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) & _STATE_MASK

    def _next(self, n_bits: int) -> int:
        """Advance the generator and return the ``n_bits`` upper bits of its state."""
        self._state = (self._state * 0x5DEECE66D + 0xB) & _STATE_MASK
        return self._state >> (48 - n_bits)

    def next_int(self, bound: int) -> int:
        """Return a random integer from 0 to ``bound - 1``."""
        if bound & (bound - 1) == 0:
            return (bound * self._next(31)) >> 31
        while True:
            random_bits = self._next(31)
            value = random_bits % bound
            # Rejects the incomplete last range of values, which would be too frequent.
            if random_bits - value + bound - 1 < 1 << 31:
                return value


def java_hash(text: str) -> int:
    """Return the hash code of a string in Java, as an unsigned 32-bit integer."""
    code = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & 0xFFFFFFFF
    return code


def spread_hash(code: int) -> int:
    """Return a 32-bit hash code with its upper 16 bits mixed into the lower ones by XOR.

    Java's ``HashMap`` does the same before it chooses a bucket.
    """
    return (code ^ (code >> 16)) & 0xFFFFFFFF


def hash_table_size(n_items: int) -> int:
    """Return the number of buckets of a Java ``HashMap`` that holds ``n_items`` items."""
    size = 16
    while n_items > 0.75 * size:  # the load factor of Java
        size *= 2
    return size


def mulan_label_order(names: Sequence[str]) -> list[str]:
    """Return label names sorted as MULAN iterates over labels that have no hierarchy.

    The order follows from the hash codes of the names.
    """
    # MULAN takes the labels from a HashSet of nodes, whose hash code is 31 plus that of the name,
    # and puts them into a HashMap of names.
    size = hash_table_size(len(names))
    nodes = sorted(names, key=lambda name: spread_hash(31 + java_hash(name)) & (size - 1))
    return sorted(nodes, key=lambda name: spread_hash(java_hash(name)) & (size - 1))
