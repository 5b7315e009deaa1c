"""Prune a subtree whose training rows have no missing values."""

from scumble.learn.c45.pruner cimport Pruner

cdef double prune_known(Pruner* p, Py_ssize_t top) except? -1 nogil
