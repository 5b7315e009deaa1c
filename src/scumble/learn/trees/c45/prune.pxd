"""Prune trees by pessimistic errors."""

from scumble.learn.trees.c45.grower cimport Grower
from scumble.learn.trees.c45.prune_without_missing cimport Pruner

cdef int prune(Pruner* p, Grower* g) except -1 nogil
