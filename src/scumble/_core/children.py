"""Child processes: fresh interpreters that answer one request after another.

Values travel as pickles over the child's own pipes; both ends are this module, and nothing that
comes from elsewhere is unpickled. A child can be killed at any time, and ends with its parent
however that ends: Linux kills it, even while it holds the interpreter's lock, and elsewhere a
thread sees that nobody is left at the other end of its pipe.

Not `multiprocessing`: that imports the caller's main module once more, which takes time, asks
scripts for a guard, and fails inside the workers of a cluster.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
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


class ChildGoneError(Exception):
    """The process ended before it answered."""


# ``answer`` is the dotted name of the function that answers: it takes what is in ``given`` (of any
# kind, also functions that cannot be imported by name), a request, and a function that sends
# messages to the parent, and returns the last message. With ``keeps_stderr`` what it prints is kept
# for `last_words`; else it goes where ours goes.
class Child:
    """A process that answers requests, seen from its parent."""

    def __init__(
        self,
        answer: str,
        *given: Any,
        environment: Mapping[str, str] | None = None,
        keeps_stderr: bool = False,
    ) -> None:
        first = answer, [pack(one) for one in given]  # before there is a process to lose
        self._printed = tempfile.TemporaryFile() if keeps_stderr else None
        # To Linux the parent is the thread that starts a process, so the child of another thread
        # than the main one must not end with it.
        parent = os.getpid() if threading.current_thread() is threading.main_thread() else 0
        code = f"from scumble._core.children import serve; serve({parent})"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._printed,
            start_new_session=True,  # so that what it starts can be killed with it
            env={**os.environ, "PYTHONPATH": _python_path(), **(environment or {})},
        )
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
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

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
        """Wait for its next message; `ChildGoneError` if none will come."""
        try:
            with self._reading:
                message = pickle.load(self._out)
        except EOFError as error:
            self._is_gone = True
            raise ChildGoneError from error
        except Exception as error:  # it cannot be understood: then it has to go
            self.kill()
            raise ChildGoneError from error
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
                os.killpg(self._process.pid, signal.SIGKILL)
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

    def last_words(self) -> str:
        """Tell how a process that has gone ended, with the end of what it printed."""
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            return "the worker process closed its output"
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        printed = "" if self._printed is None else _end_of(self._printed)
        return f"the worker process died ({how})" + (f"\n{printed}" if printed else "")


def pack(value: Any) -> bytes:
    """Pickle a value; a function that cannot be imported by name travels as it is."""
    try:
        if getattr(value, "__module__", "") == "__main__":
            raise pickle.PicklingError
        return pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError):
        from joblib import wrap_non_picklable_objects

        return pickle.dumps(wrap_non_picklable_objects(value))


# The child's end --------------------------------------------------------------------------------


def serve(parent: int) -> None:
    """Answer requests until the parent has gone; ``parent`` is its number if Linux may tell."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    _end_with(parent)
    _go_first_when_memory_ends()
    requests, answers = _take_streams()
    answer, *given = _load(*pickle.load(requests))
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


def _load(name: str, packed: list[bytes]) -> list[Any]:
    from pkgutil import resolve_name

    return [resolve_name(name), *map(pickle.loads, packed)]


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
