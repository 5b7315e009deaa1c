"""A check whether a kernel without the GIL has to stop.

A kernel that can run for longer than a second calls ``check_stop`` at regular intervals. In the
main thread, KeyboardInterrupt is raised after Ctrl-C. In a thread of
`scumble._core.parallel.run_in_threads`, an error is raised if another block has failed or the main
thread has been interrupted.
"""

from scumble._core import parallel


cdef int check_stop() except -1 nogil:
    """Raise an error if the kernel has to stop, else return 0."""
    with gil:
        parallel.raise_if_stopped()
    return 0
