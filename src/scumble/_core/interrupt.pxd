"""A check whether a kernel without the GIL has to stop."""

cdef int check_stop() except -1 nogil
