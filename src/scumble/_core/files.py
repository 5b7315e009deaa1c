"""Files in and out: any compression, bounded on the way in, all or nothing on the way out."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any, cast

from scumble._core.errors import ParameterError, ReadError, WriteError, write_failure_message
from scumble._core.progress import progress_bar
from scumble._core.text import STDIO_PATH

#: Compressed forms: suffix and the bytes such a file begins with.
COMPRESSIONS = {
    ".gz": b"\x1f\x8b",
    ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ\x00",
    ".zst": b"\x28\xb5\x2f\xfd",
}
#: A file may grow this many times when it is decompressed (text rarely shrinks below 1/200) ...
MAX_EXPANSION = 1000
#: ... but nobody counts before it has this many bytes.
UNCHECKED_EXPANSION_BYTES = 64 << 20
#: No line of a text format is longer than this.
MAX_LINE = 1 << 30
BLOCK_BYTES = 4 << 20


def _zstd(raw: Any, mode: str) -> Any:
    import pyarrow as pa

    if mode == "wb":
        return pa.CompressedOutputStream(pa.PythonFile(raw, "w"), "zstd")
    # Buffered, so that pyarrow fills our memory: its own read() never gives back what it had asked
    # for when the file turns out to be damaged.
    return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd"), BLOCK_BYTES)


#: What reads and writes a compressed form; the same content always gives the same bytes.
_STREAMS: dict[str, Callable[[Any, Any], Any]] = {
    ".gz": lambda raw, mode: gzip.GzipFile("", mode, fileobj=raw, mtime=0),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
    ".zst": _zstd,
}


class CompressiblePath:
    """A path that may end in the suffix of a compression, without which it is named."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        suffix = self.path.suffix.lower()
        self.compression = suffix if suffix in COMPRESSIONS else ""
        self.name = self.path.stem if self.compression else self.path.name

    @property
    def stem(self) -> str:
        """The name without its format's suffix."""
        return Path(self.name).stem

    @property
    def suffix(self) -> str:
        """The format's suffix in lower case: ``.arff``."""
        return Path(self.name).suffix.lower()


class InputFile(CompressiblePath):
    """A file to read: plain or compressed, opened as often as needed."""

    supports_companion_files = True  #: Whether other files can stand beside it.
    #: What its streams raise where it is damaged.
    read_error_types: tuple[type[Exception], ...] = (
        EOFError,
        OSError,
        lzma.LZMAError,
        zlib.error,
        ValueError,
    )

    def __init__(self, path: str | os.PathLike[str], where: str = "") -> None:
        super().__init__(path)
        self.where = where or str(self.path)  #: What messages call it.
        self.max_expansion = MAX_EXPANSION
        self._check()

    def error(
        self, message: str, *, line: int | None = None, column: int | None = None
    ) -> ReadError:
        """Make an error that names this file."""
        return ReadError(message, path=self.where, line=line, column=column)

    def head(self, size: int = 65536) -> bytes:
        """Return the first bytes of the content."""
        with self.open(progress=False) as stream:
            return stream.read(size)

    @contextmanager
    def open(self, *, progress: bool = True) -> Iterator[BoundedReader]:
        """Open the content as a binary stream; faults of file or compression are `ReadError`."""
        with ExitStack() as stack:
            try:
                raw = stack.enter_context(open(self.path, "rb"))
                size = os.fstat(raw.fileno()).st_size
                told = (
                    progress_bar(f"Reading {self.path.name}", size) if progress else nullcontext()
                )
                advance = stack.enter_context(told)
                stream = stack.enter_context(_decompress(raw))
            except OSError as error:
                raise self._os_error(error) from error
            yield BoundedReader(self, stream, raw, size, advance)

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[bytes]:
        """Iterate over the content in blocks of whole lines."""
        with self.open() as stream:
            rest: list[bytes] = []
            held = 0
            while block := stream.read(size):
                cut = block.rfind(b"\n") + 1
                if cut:
                    yield b"".join([*rest, block[:cut]])
                    rest, held = [], 0
                rest.append(block[cut:])
                held += len(block) - cut
                if held > MAX_LINE:
                    raise self.error(
                        f"a line is longer than {MAX_LINE} bytes. Is this a text file?"
                    )
            if held:
                yield b"".join(rest)

    def _check(self) -> None:
        try:
            status = self.path.stat()
        except (OSError, ValueError) as error:
            raise self._os_error(error) from error
        if stat.S_ISDIR(status.st_mode):
            raise self.error("this is a directory. Expected a file: name one inside it.")
        if not stat.S_ISREG(status.st_mode):
            # A pipe can be read once only, and would block for ever when nobody writes to it.
            raise self.error(
                "this is a pipe or a device. Expected a file, which is looked at more than once: "
                "save the content to one first."
            )
        if status.st_size == 0:
            raise self.error("the file is empty. Expected a data set.")

    def _os_error(self, error: Exception) -> ReadError:
        if isinstance(error, FileNotFoundError):
            return self.error("no such file. Check the path.")
        if isinstance(error, PermissionError):
            return self.error("no permission to read the file. Check its access rights.")
        reason = getattr(error, "strerror", None) or str(error)
        return self.error(f"the file cannot be read: {reason.rstrip('.')}.")


class BoundedReader:
    """A stream that turns faults into `ReadError` and stops a decompression bomb."""

    def __init__(
        self, source: InputFile, stream: Any, raw: IO[bytes], size: int, advance: Any
    ) -> None:
        self._source, self._stream, self._raw, self._size = source, stream, raw, size
        self._advance, self._told, self._given = advance, 0, 0

    def read(self, size: int = -1) -> bytes:
        """Read up to ``size`` bytes; fewer only at the end."""
        parts: list[bytes] = []
        wanted = size
        while wanted and (
            part := self._read_some(min(wanted, BLOCK_BYTES) if wanted > 0 else BLOCK_BYTES)
        ):
            parts.append(part)
            wanted -= len(part) if size > 0 else 0
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read_some(self, size: int) -> bytes:
        try:
            part = cast(bytes, self._stream.read(size))
        except self._source.read_error_types as error:
            if isinstance(error, PermissionError) or self._stream is self._raw:
                raise self._source._os_error(error) from error
            raise self._source.error(
                f"the compressed file is damaged or cut short ({error}). Fetch it again."
            ) from error
        self._given += len(part)
        self._refuse_bomb()
        if self._advance is not None:
            position = self._raw.tell()
            self._advance(position - self._told)
            self._told = position
        return part

    def _refuse_bomb(self) -> None:
        allowed = max(UNCHECKED_EXPANSION_BYTES, self._source.max_expansion * self._size)
        if self._size and self._given > allowed:
            raise self._source.error(
                f"{self._size} bytes grew to more than {allowed} when decompressed, over "
                f"{self._source.max_expansion} times. Expected data, this looks like a "
                "decompression bomb. If it is not, decompress the file yourself."
            )


def _decompress(raw: IO[bytes]) -> AbstractContextManager[Any]:
    """Wrap a raw file by the compression its first bytes show."""
    start = raw.read(8)
    raw.seek(0)
    suffix = next((s for s, magic in COMPRESSIONS.items() if start.startswith(magic)), "")
    return _STREAMS[suffix](raw, "rb") if suffix else nullcontext(raw)


class OutputFile(CompressiblePath):
    """One or several files to write: they appear together and whole, or not at all."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path)
        self._pending: list[tuple[Path, Path]] = []

    @contextmanager
    def open(self, path: Path | None = None) -> Iterator[IO[bytes]]:
        """Open the main file, or another beside it that is never compressed, until `commit`."""
        compression = self.compression if path is None else ""
        with _write_errors(self.path if path is None else path):
            final = _final_place(self.path if path is None else path)
            handle, temporary = tempfile.mkstemp(prefix=f".{final.name}.", dir=final.parent)
            self._pending.append((Path(temporary), final))
            with os.fdopen(handle, "wb") as raw, _compress(raw, compression) as stream:
                yield stream

    def commit(self) -> None:
        """Put all files written so far in their places."""
        for temporary, final in self._pending:
            with _write_errors(final):
                os.chmod(temporary, _mode_of(final))
        while self._pending:
            temporary, final = self._pending[0]
            with _write_errors(final):
                os.replace(temporary, final)
            self._pending.pop(0)

    def discard(self) -> None:
        """Remove what was written and not committed."""
        while self._pending:
            with suppress(OSError):
                self._pending.pop()[0].unlink()


class StandardOutput(OutputFile):
    """What goes to whoever reads from this process: one file, whole or not at all."""

    def __init__(self) -> None:
        super().__init__("stdout")
        self._kept: IO[bytes] | None = None

    @contextmanager
    def open(self, path: Path | None = None) -> Iterator[IO[bytes]]:
        """Open what will be written, see `OutputFile.open`; it is one file only."""
        if path is not None or self._kept is not None:
            raise ParameterError(
                "There are several files to write, which standard output cannot hold. Name a path "
                "instead of '-', or a format that makes one file."
            )
        with translate_temp_file_errors():
            self._kept = cast(IO[bytes], tempfile.TemporaryFile())
            yield self._kept
            self._kept.flush()

    def commit(self) -> None:
        """Write it."""
        stream = getattr(sys.stdout, "buffer", None)
        if stream is None:
            raise WriteError("Standard output takes no files here. Name a path instead of '-'.")
        if self._kept is not None:
            self._kept.seek(0)
            with _telling_faults("standard output"):
                sys.stdout.flush()
                shutil.copyfileobj(self._kept, stream)
                stream.flush()

    def discard(self) -> None:
        """Forget it."""
        if self._kept is not None:
            with suppress(OSError):  # of what did not find room, which has been told
                self._kept.close()


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[OutputFile]:
    """Write to ``path`` atomically: commit on success, leave nothing behind on failure."""
    with atomic_write_all([path]) as (target,):
        yield target


@contextmanager
def atomic_write_all(paths: Iterable[str | os.PathLike[str]]) -> Iterator[list[OutputFile]]:
    """Write several files that belong together: all of them, or none."""
    targets = [
        StandardOutput() if os.fspath(path) == STDIO_PATH else OutputFile(path) for path in paths
    ]
    try:
        yield targets
        for target in targets:
            target.commit()
    finally:
        for target in targets:
            target.discard()


def _compress(raw: IO[bytes], compression: str) -> Any:
    """Wrap a raw file by the compression its name asks for."""
    return _STREAMS[compression](raw, "wb") if compression else io.BufferedWriter(raw, BLOCK_BYTES)


@contextmanager
def _telling_faults(what: str, more: str = "", folder: Path | None = None) -> Iterator[None]:
    """Turn faults of writing into `WriteError`: what cannot be written, why, and what more."""
    try:
        yield
    except BrokenPipeError:  # the reader has had enough, which is no fault
        raise
    except OSError as error:
        raise WriteError(f"{what} {write_failure_message(error, folder)}.{more}") from error


def _write_errors(path: Path) -> AbstractContextManager[None]:
    return _telling_faults(f"{path}:", " No file was changed.", path.parent)


def translate_temp_file_errors() -> AbstractContextManager[None]:
    """Turn faults of temporary files, in which things are kept meanwhile, into `WriteError`."""
    where = "Such files stand in the folder that the variable TMPDIR names."
    return _telling_faults("A temporary file", f" {where} No file was changed.")


def _final_place(path: Path) -> Path:
    """Follow links to the file itself, and refuse what a rename would destroy."""
    try:
        final = Path(os.path.realpath(path))
        status = final.stat()
    except FileNotFoundError:
        return final
    except ValueError as error:  # a null byte
        raise WriteError(f"{path}: cannot be written: {error}. No file was changed.") from error
    if stat.S_ISDIR(status.st_mode):
        raise WriteError(f"{path}: this is a directory. Expected a file name.")
    if not stat.S_ISREG(status.st_mode):
        raise WriteError(f"{path}: this is a pipe or a device. Expected the name of a file.")
    if not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        # A rename asks the folder only, and would replace what someone meant to keep.
        raise WriteError(
            f"{path}: cannot be written: the file is there and write-protected. Name another, or "
            "allow writing to it. No file was changed."
        )
    return final


def _mode_of(final: Path) -> int:
    """Keep the access rights of a file that is replaced: it may have been made private."""
    try:
        return stat.S_IMODE(final.stat().st_mode)
    except FileNotFoundError:
        return 0o666 & ~_umask()


def _umask() -> int:
    """Read the process's umask, which can only be done by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
