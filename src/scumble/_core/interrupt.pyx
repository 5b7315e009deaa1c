"""How a kernel without the GIL learns that it shall stop.

A kernel that can run for longer than a second calls ``check_stop`` after every so many steps. In
the main thread this lets Ctrl-C through; in a thread of `scumble._core.parallel.run` it raises when
another block has failed or the main thread was interrupted.
"""

from scumble._core import parallel


cdef int check_stop() except -1 nogil:
    with gil:
        parallel.raise_if_stopped()
    return 0
