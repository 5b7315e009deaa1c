"""Processes: children that answer requests; whether a process lives, since when, and its memory.

A child is a fresh interpreter. Values travel as pickles over its own pipes; both ends are this
module, and nothing that comes from elsewhere is unpickled. A child can be killed at any time, and
ends with its parent however that ends: Linux kills it, even while it holds the interpreter's lock,
and elsewhere a thread sees that nobody is left at the other end of its pipe.

Not `multiprocessing`: that imports the caller's main module once more, which takes time, asks
scripts for a guard, and fails inside the workers of a cluster.
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
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self, cast

_READY = "ready"
_DIE_WITH_PARENT = 1  # Linux' PR_SET_PDEATHSIG
#: How much of what a child printed is kept for its last words, in bytes.
_LAST_WORDS = 2000
_PAUSE = 0.01  # seconds between two looks at the memory


class ChildExitedError(Exception):
    """The process ended before it answered."""


# ``answer`` is the dotted name of the function that answers: it takes what is in ``given`` (of any
# kind, also functions that cannot be imported by name), a request, and a function that sends
# messages to the parent, and returns the last message. With ``keeps_stderr`` what it prints is kept
# for `last_words`; else it goes where ours goes.
class ChildProcess:
    """A process that answers requests, seen from its parent."""

    def __init__(
        self,
        answer: str,
        *given: Any,
        environment: Mapping[str, str] | None = None,
        keeps_stderr: bool = False,
    ) -> None:
        first = answer, [pickle_value(one) for one in given]  # before there is a process to lose
        self._printed = tempfile.TemporaryFile() if keeps_stderr else None
        # To Linux the parent is the thread that starts a process, so the child of another thread
        # than the main one must not end with it.
        parent = os.getpid() if threading.current_thread() is threading.main_thread() else 0
        code = f"from scumble._core.processes import run_child_loop; run_child_loop({parent})"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._printed,
            start_new_session=True,  # so that what it starts can be killed with it
            env={**os.environ, "PYTHONPATH": _python_path(), **(environment or {})},
        )
        self.pid = self._process.pid
        self._in = cast(IO[bytes], self._process.stdin)
        self._out = cast(IO[bytes], self._process.stdout)
        self._reading = threading.Lock()
        self._is_gone = False
        #: When its modules were loaded; None before that was seen.
        self.ready_at: float | None = None
        self.send(first)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_alive(self) -> bool:
        """Whether it can take another request."""
        # A process that ended a moment ago may still look alive.
        return not self._is_gone and self._process.poll() is None

    def send(self, request: Any) -> None:
        """Give it a request; whether it has died is told by `receive`."""
        try:
            _write(self._in, request)
        except OSError:
            pass
        except BaseException:  # it cannot be pickled, and half of it may be on its way
            self.kill()
            raise

    def receive(self) -> Any:
        """Wait for its next message; `ChildExitedError` if none will come."""
        try:
            with self._reading:
                message = pickle.load(self._out)
        except EOFError as error:
            self._is_gone = True
            raise ChildExitedError from error
        except Exception as error:  # it cannot be understood: then it has to go
            self.kill()
            raise ChildExitedError from error
        if self.ready_at is None:
            self.ready_at = time.perf_counter()
            return self.receive()
        return message

    def interrupt(self) -> None:
        """Ask it to stop, as Ctrl-C does; it ignores this unless its work is made to heed it."""
        with suppress(OSError, ValueError):  # it has gone, or its system knows no such signal
            self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """End it at once, with whatever it has started; a thread in `receive` is told."""
        self._is_gone = True
        if self._in.closed:  # its number may be another's by now
            return
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def close(self) -> None:
        """End it, wait until it has gone, and close its pipes."""
        if self._in.closed:
            return
        self.kill()
        self._process.wait()
        with self._reading:
            for stream in (self._in, self._out, self._printed):
                with suppress(OSError):  # something was still to be written
                    if stream is not None:
                        stream.close()

    def describe_exit(self) -> str:
        """Tell how a process that has gone ended, with the end of what it printed."""
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            return "the worker process closed its output"
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        printed = "" if self._printed is None else _end_of(self._printed)
        return f"the worker process died ({how})" + (f"\n{printed}" if printed else "")


def pickle_value(value: Any) -> bytes:
    """Pickle a value; a function that cannot be imported by name travels as it is."""
    try:
        if getattr(value, "__module__", "") == "__main__":
            raise pickle.PicklingError
        return pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError):
        from joblib import wrap_non_picklable_objects

        return pickle.dumps(wrap_non_picklable_objects(value))


# The child's end --------------------------------------------------------------------------------


def run_child_loop(parent: int) -> None:
    """Answer requests until the parent has gone; ``parent`` is its number if Linux may tell."""
    from pkgutil import resolve_name

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    _end_with(parent)
    _go_first_when_memory_ends()
    requests, answers = _take_streams()
    name, packed = pickle.load(requests)
    answer, given = resolve_name(name), list(map(pickle.loads, packed))
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, waiting.put), daemon=True).start()

    def tell(message: Any) -> None:
        try:
            _write(answers, message)
        except OSError:
            os._exit(1)  # nobody listens

    tell(_READY)
    while True:
        tell(answer(*given, waiting.get(), tell))


def _end_with(parent: int) -> None:
    """Ask Linux to kill this process when its parent has ended, whatever it is doing."""
    if parent and sys.platform == "linux":
        import ctypes  # here: the parent has no use for it

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:  # it ended while we began
            os._exit(1)


def _go_first_when_memory_ends() -> None:
    """Ask Linux to end this process rather than its parent, or anything else of the user's."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _take_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Keep the pipes for ourselves; whatever prints must not get among the answers."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return requests, answers


def _listen(requests: IO[bytes], take: Callable[[Any], None]) -> None:
    """Take requests; end this process when the pipe has no other end, even in the midst of work."""
    try:
        while True:
            take(pickle.load(requests))
    except EOFError:
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


# Both ends --------------------------------------------------------------------------------------


def _write(pipe: IO[bytes], value: Any) -> None:
    pickle.dump(value, pipe, protocol=5)
    pipe.flush()


def _python_path() -> str:
    """Let the child find this package where its parent did."""
    own = str(Path(__file__).parents[2])
    return os.pathsep.join(filter(None, (own, os.environ.get("PYTHONPATH"))))


def _end_of(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _LAST_WORDS))
    return file.read().decode(errors="replace").strip()


# Any process -----------------------------------------------------------------------------------


def machine_id() -> str:
    """Name this machine, so that numbers of processes mean the same where the names are equal."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{socket.gethostname()} {namespace}".strip()


def is_alive(pid: int, started: float | None = None) -> bool:
    """Tell whether a process of this machine lives."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OSError):
        pass  # it belongs to somebody else, or the system cannot say: assume that it lives
    status = _stat(pid)
    if status is None:
        return not sys.platform.startswith("linux")
    state, ticks = status
    return state not in "ZX" and (started is None or started == ticks)


def process_start_time(pid: int) -> float | None:
    """Tell when a process was started."""
    status = _stat(pid)
    return None if status is None else status[1]


def _stat(pid: int) -> tuple[str, float] | None:
    """Read state and start of a process from Linux' table of processes."""
    with suppress(OSError):
        text = Path(f"/proc/{pid}/stat").read_text()
        fields = text.rpartition(")")[2].split()  # the name before may hold anything
        return fields[0], float(fields[19])
    return None


# The peak is exact where it was the most ever, else as seen every hundredth of a second. Other
# threads' work counts too.
class PeakMemory:
    """Watches the memory of this process while a ``with`` block runs."""

    def __enter__(self) -> Self:
        self._most_before = _most_ever()
        self.peak = resident()
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()
        most = _most_ever()
        self.peak = most if most > self._most_before else max(self.peak, resident())

    def _watch(self) -> None:
        while not self._done.wait(_PAUSE):
            self.peak = max(self.peak, resident())


def resident() -> int:
    """Return the bytes this process holds in memory now, or its most ever where unknown."""
    return resident_memory("self") or _most_ever()


def resident_memory(pid: int | str) -> int:
    """Return the bytes a process holds in memory now, or 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def reset_peak() -> None:
    """Begin to measure the largest size of this process anew, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """Return the most bytes this process held since `reset_peak`; 0 where it is not told."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def _most_ever() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
