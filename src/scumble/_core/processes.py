"""Child processes that answer requests; state, start time and memory of any process.

A child process is a new interpreter. Values are sent as pickles over pipes whose both ends are in
this module, so nothing from elsewhere is unpickled. A child process can be killed at any time. It
ends when its parent ends, for whatever reason: Linux kills it, even while it holds the GIL, and on
other systems a thread sees that the other end of its pipe is closed.

`multiprocessing` is not used, because it imports the main module of the caller again: that takes
time, needs a guard in scripts, and fails inside the workers of a cluster.
"""

import os
import pickle
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, Self, cast

#: The first message of a child process, after its modules have been imported.
_READY = "ready"
#: PR_SET_PDEATHSIG of Linux: the option of prctl for the signal at the death of the parent.
_PR_SET_PDEATHSIG = 1
#: Bytes at the end of the output of a child process that `ChildProcess.describe_exit` shows.
_MAX_OUTPUT_SHOWN = 2000
#: Seconds between two measurements of the memory: short beside a fit, long beside a measurement.
_MEMORY_INTERVAL = 0.01
#: Seconds that an idle child process has to end normally after its parent has ended.
_GRACE_PERIOD = 1.0


class ChildExitedError(Exception):
    """The child process ended before it answered."""


class _EndOfRequests(NamedTuple):
    """The last item of the queue of requests in a child process."""

    exit_code: int  # with which the process ends


class ChildProcess:
    """A process that answers requests, as its parent sees it.

    Parameters
    ----------
    handler : str
        Dotted name of the function that handles a request. It is called with ``arguments``, the
        request, and a function that sends messages to the parent; what it returns is sent as the
        last message.
    *arguments : object
        First arguments of the function; may be functions that cannot be imported by name.
    environment : mapping of str to str, optional
        Additional environment variables.
    keeps_stderr : bool, default=False
        Whether the output of the process is kept for `describe_exit`; else it goes to the standard
        error of the parent.
    """

    def __init__(
        self,
        handler: str,
        *arguments: Any,
        environment: Mapping[str, str] | None = None,
        keeps_stderr: bool = False,
    ) -> None:
        # Pickled first: if this fails, no process has been started.
        first_message = handler, [pickle_value(argument) for argument in arguments]
        self._output = tempfile.TemporaryFile() if keeps_stderr else None
        # For Linux, the parent is the thread that starts a process. A child process that another
        # thread than the main one starts must outlive this thread.
        parent = os.getpid() if threading.current_thread() is threading.main_thread() else 0
        code = f"from scumble._core.processes import run_child_loop; run_child_loop({parent})"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._output,
            start_new_session=True,  # so that its own child processes can be killed with it
            env={**os.environ, "PYTHONPATH": _python_path(), **(environment or {})},
        )
        self.pid = self._process.pid
        self._in = cast(IO[bytes], self._process.stdin)
        self._out = cast(IO[bytes], self._process.stdout)
        self._reading = threading.Lock()
        self._is_gone = False
        #: `time.perf_counter` when `receive` saw that its modules are imported; None before.
        self.ready_at: float | None = None
        self.send(first_message)

    def __enter__(self) -> Self:
        """Return the process itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the process and close the pipes."""
        self.close()

    @property
    def is_alive(self) -> bool:
        """Whether the process can receive another request."""
        # A process that ended a moment ago may still look alive.
        return not self._is_gone and self._process.poll() is None

    def send(self, request: Any) -> None:
        """Send a request to the process, without waiting for the answer.

        If the process has ended, nothing happens, and `receive` raises an error.
        """
        try:
            _write(self._in, request)
        except OSError:
            pass
        except BaseException:  # it cannot be pickled, and a part of it may have been sent
            self.kill()
            raise

    def receive(self) -> Any:
        """Wait for the next message and return it; raise `ChildExitedError` if none will come."""
        try:
            with self._reading:
                message = pickle.load(self._out)
        except EOFError as error:
            self._is_gone = True
            raise ChildExitedError from error
        except Exception as error:  # the message cannot be unpickled, nor any after it
            self.kill()
            raise ChildExitedError from error
        if self.ready_at is None:
            self.ready_at = time.perf_counter()
            return self.receive()
        return message

    def interrupt(self) -> None:
        """Send SIGINT, as Ctrl-C does; the process ignores it unless its work handles it."""
        with suppress(OSError, ValueError):  # it has ended, or the system lacks this signal
            self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """Kill the process and its own child processes; `receive` raises `ChildExitedError`."""
        self._is_gone = True
        if self._in.closed:  # another process may have its number by now
            return
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def close(self) -> None:
        """Kill the process, wait for its end, and close the pipes."""
        if self._in.closed:
            return
        self.kill()
        self._process.wait()
        with self._reading:
            for stream in (self._in, self._out, self._output):
                with suppress(OSError):  # data in the buffer that the process did not read
                    if stream is not None:
                        stream.close()

    def describe_exit(self) -> str:
        """Wait up to 10 seconds for the end of the process; return a text that says how it ended.

        The text includes the end of its standard error, if that is kept.
        """
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            return "the worker process closed its output"
        reason = f"signal {-code}" if code < 0 else f"exit code {code}"
        message = f"the worker process died ({reason})"
        output = "" if self._output is None else _read_end(self._output)
        return f"{message}\n{output}" if output else message


def pickle_value(value: Any) -> bytes:
    """Return the pickle of a value.

    Functions and classes that cannot be imported, such as those of a script, are pickled with their
    code.
    """
    try:
        if getattr(value, "__module__", "") == "__main__":
            raise pickle.PicklingError
        return pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError):
        from joblib import wrap_non_picklable_objects

        return pickle.dumps(wrap_non_picklable_objects(value))


# In the child process ---------------------------------------------------------------------------


def run_child_loop(parent: int) -> None:
    """Receive requests and send responses until the parent ends; then end this process.

    The first message names the function that responds, and its first arguments.

    ``parent`` is the process id of the parent if Linux shall kill this process with it, else 0.
    """
    from pkgutil import resolve_name

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    _set_parent_death_signal(parent)
    _prefer_as_oom_victim()
    requests, responses = _redirect_standard_streams()
    name, pickled_arguments = pickle.load(requests)
    handle_request = resolve_name(name)
    arguments = [pickle.loads(pickled) for pickled in pickled_arguments]
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive_requests, args=(requests, waiting), daemon=True).start()

    def send(message: Any) -> None:
        """Send a message to the parent; end this process if the parent has ended."""
        try:
            _write(responses, message)
        except OSError:  # the parent has ended
            sys.exit(1)

    send(_READY)
    while True:
        request = waiting.get()
        if isinstance(request, _EndOfRequests):
            sys.exit(request.exit_code)
        send(handle_request(*arguments, request, send))


def _set_parent_death_signal(parent: int) -> None:
    """Let Linux kill this process when the process ``parent`` ends; 0 changes nothing."""
    if parent and sys.platform == "linux":
        import ctypes  # imported here, because the parent does not need it

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent ended before the call
            sys.exit(1)


def _prefer_as_oom_victim() -> None:
    """Let Linux kill this process before all others when the memory is exhausted."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _redirect_standard_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return the pipes of requests and of responses, which are standard input and output.

    From then on, standard input is empty, and printed text goes to standard error.
    """
    requests = os.fdopen(os.dup(0), "rb")
    responses = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return requests, responses


def _receive_requests(requests: IO[bytes], waiting: queue.SimpleQueue[Any]) -> None:
    """Put requests from a pipe into the queue ``waiting``, in a thread of its own.

    When the parent closes the pipe, end this process within `_GRACE_PERIOD` seconds.
    """
    exit_code = 0
    try:
        while True:
            waiting.put(pickle.load(requests))
    except EOFError:  # the parent has ended
        pass
    except BaseException:
        traceback.print_exc()
        exit_code = 1
    waiting.put(_EndOfRequests(exit_code))
    time.sleep(_GRACE_PERIOD)  # an idle main thread takes it from the queue and ends the process
    # The main thread is computing a response that nobody will receive. sys.exit would end only this
    # thread, and no thread can raise an exception in another one that runs compiled code. os._exit
    # ends the process at once.
    os._exit(exit_code)


# In both processes ------------------------------------------------------------------------------


def _write(pipe: IO[bytes], value: Any) -> None:
    """Write the pickle of a value to a pipe, and flush it."""
    pickle.dump(value, pipe, protocol=5)
    pipe.flush()


def _python_path() -> str:
    """Return a PYTHONPATH with which the child process imports this copy of the package."""
    package_folder = str(Path(__file__).parents[2])
    return os.pathsep.join(filter(None, (package_folder, os.environ.get("PYTHONPATH"))))


def _read_end(file: IO[bytes]) -> str:
    """Return the last `_MAX_OUTPUT_SHOWN` bytes of a file as text."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _MAX_OUTPUT_SHOWN))
    return file.read().decode(errors="replace").strip()


# Any process -----------------------------------------------------------------------------------


def machine_id() -> str:
    """Return a name of this machine or container; process ids are unique within it."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{socket.gethostname()} {namespace}".strip()


def is_alive(pid: int, started: float | None = None) -> bool:
    """Return whether a process of this machine is alive.

    ``started`` is its start time by `process_start_time`: a later process with the same id does not
    count. If it is None, any process with this id counts.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OSError):
        pass  # it belongs to another user, or the system cannot tell: assume that it is alive
    status = _read_state_and_start(pid)
    if status is None:
        return not sys.platform.startswith("linux")
    state, start_time = status
    is_running = state not in "ZX"  # neither a zombie nor dead
    return is_running and (started is None or started == start_time)


def process_start_time(pid: int) -> float | None:
    """Return when a process was started, in clock ticks since boot; None if unknown."""
    status = _read_state_and_start(pid)
    return None if status is None else status[1]


def _read_state_and_start(pid: int) -> tuple[str, float] | None:
    """Return the state letter of a process and its start time in clock ticks since boot.

    Return None if there is no such process, or the system is not Linux.
    """
    with suppress(OSError):
        text = Path(f"/proc/{pid}/stat").read_text()
        fields = text.rpartition(")")[2].split()  # the name in brackets may hold anything
        return fields[0], float(fields[19])
    return None


class PeakMemory:
    """Context manager that measures the peak memory of this process, in bytes, as ``peak``.

    The peak is exact if it is the highest since the process started, else the highest of the values
    measured every `_MEMORY_INTERVAL` seconds. Memory of other threads counts as well.
    """

    def __enter__(self) -> Self:
        """Start a thread that measures the memory."""
        self._peak_before = _peak_since_start()
        self.peak = resident()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._measure_until_stopped, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the thread, and set ``peak``."""
        self._stop.set()
        self._thread.join()
        peak = _peak_since_start()
        self.peak = peak if peak > self._peak_before else max(self.peak, resident())

    def _measure_until_stopped(self) -> None:
        """Update ``peak`` every `_MEMORY_INTERVAL` seconds until the ``with`` block ends."""
        while not self._stop.wait(_MEMORY_INTERVAL):
            self.peak = max(self.peak, resident())


def resident() -> int:
    """Return the resident memory of this process in bytes; its peak if that is unknown."""
    return resident_memory("self") or _peak_since_start()


def resident_memory(pid: int | str) -> int:
    """Return the resident memory of a process in bytes; 0 if the system does not report it.

    ``pid`` is a process id, or "self" for this process.
    """
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def reset_peak() -> None:
    """Reset the value of `peak_memory` to the current memory, on Linux; else do nothing."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """Return the peak memory of this process since `reset_peak` in bytes; 0 except on Linux."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def _peak_since_start() -> int:
    """Return the peak memory of this process since it started in bytes; 0 on Windows."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # bytes on macOS, else KiB
