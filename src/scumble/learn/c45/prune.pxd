"""Prune trees by pessimistic errors."""

from libc.stdint cimport uint32_t

from scumble.learn.c45.grower cimport Sample, Settings
from scumble.learn.c45.layout cimport Columns
from scumble.learn.c45.nodes cimport Nodes
from scumble.learn.rows cimport RowsView


cdef int prune(
    Nodes* nodes, const RowsView* rows, const Columns* columns, const Sample* sample,
    uint32_t* members, const Settings* settings, bint missing,
) except -1 nogil
