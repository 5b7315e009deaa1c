"""How Java draws and orders, so that the choices of MULAN and WEKA can be followed."""

from collections.abc import Sequence

_MASK = (1 << 48) - 1


class JavaRandom:
    """Java's generator of random numbers: a linear congruence of 48 bits."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) & _MASK

    def _next(self, bits: int) -> int:
        self._state = (self._state * 0x5DEECE66D + 0xB) & _MASK
        return self._state >> (48 - bits)

    def next_int(self, bound: int) -> int:
        """Draw a whole number below a bound."""
        if bound & (bound - 1) == 0:
            return (bound * self._next(31)) >> 31
        while True:
            drawn = self._next(31)
            value = drawn % bound
            if drawn - value + bound - 1 < 1 << 31:  # else the last values would be too frequent
                return value


def java_hash(text: str) -> int:
    """Compute the hash code of a text, as a number of 32 bits without sign."""
    code = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & 0xFFFFFFFF
    return code


def spread_hash(code: int) -> int:
    """Mix the upper half of a hash code into the lower, as hash tables do."""
    return (code ^ (code >> 16)) & 0xFFFFFFFF


def hash_table_size(n_things: int) -> int:
    """Tell the number of buckets of a hash table of so many things."""
    size = 16
    while n_things > 0.75 * size:
        size *= 2
    return size


def mulan_label_order(names: Sequence[str]) -> list[str]:
    """List names of labels without a hierarchy of their own as MULAN walks through them."""
    # They come from a set of nodes, whose hash is 31 and that of the name, into a map of names.
    size = hash_table_size(len(names))
    nodes = sorted(names, key=lambda name: spread_hash(31 + java_hash(name)) & (size - 1))
    return sorted(nodes, key=lambda name: spread_hash(java_hash(name)) & (size - 1))
