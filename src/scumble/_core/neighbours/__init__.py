"""Exact nearest neighbours among numeric, nominal and mixed columns, dense or sparse.

One place for all rooms: `Space` holds rows ready for distances, `nearest` searches them in the
way that fits. Every way gives the same neighbours, bit for bit.
"""

from scumble._core import exports
from scumble._core.neighbours.search import (
    Neighbours as Neighbours,
    distances as distances,
    nearest as nearest,
)
from scumble._core.neighbours.space import Space as Space

exports.publish(globals())
