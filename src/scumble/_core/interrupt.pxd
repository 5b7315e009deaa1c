"""How a kernel without the GIL learns that it shall stop."""

cdef int check_stop() except -1 nogil
