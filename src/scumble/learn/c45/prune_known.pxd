"""Prune a subtree whose training rows have no missing values."""

from scumble.learn.c45.pruner cimport Pruner

cdef double estimate(const Pruner* p, const double* counts, const double* more) noexcept nogil
cdef double errors_of(const Pruner* p, Py_ssize_t node) noexcept nogil
cdef int prune_known(Pruner* p, Py_ssize_t top, Py_ssize_t depth) except -1 nogil
