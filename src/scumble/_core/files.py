"""Files: reading with limits on decompression, and atomic writing, with any compression."""

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

#: Suffixes of compressed files, and the bytes that such a file begins with.
COMPRESSIONS = {
    ".gz": b"\x1f\x8b",
    ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ\x00",
    ".zst": b"\x28\xb5\x2f\xfd",
}
#: Size of the decompressed over that of the compressed file, above which it is refused as a
#: decompression bomb. Text is rarely compressed to less than 1/200.
MAX_EXPANSION = 1000
#: Bytes of decompressed content that are always allowed, so that tiny files pass.
UNCHECKED_EXPANSION_BYTES = 64 << 20
#: Bytes of a line above which a file is taken for a binary one.
MAX_LINE = 1 << 30
#: Bytes that are read at once: large enough that the overhead of a call does not matter.
BLOCK_BYTES = 4 << 20
#: Size in bytes of the buffer from which lines and other small parts of a file are read.
BUFFER_BYTES = 1 << 16


def _open_zstd(raw: Any, mode: str) -> Any:
    """Return a Zstandard stream that compresses to ``raw`` if mode is "wb", else decompresses."""
    import pyarrow as pa

    if mode == "wb":
        return pa.CompressedOutputStream(pa.PythonFile(raw, "w"), "zstd")
    # The buffer makes pyarrow write into our memory: its own read() does not free its memory when
    # the file turns out to be damaged.
    return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd"), BLOCK_BYTES)


#: Functions that open a compressed stream; the same content always gives the same bytes.
_STREAMS: dict[str, Callable[[Any, Any], Any]] = {
    ".gz": lambda raw, mode: gzip.GzipFile("", mode, fileobj=raw, mtime=0),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
    ".zst": _open_zstd,
}


class CompressiblePath:
    """A path that may end in the suffix of a compression; ``name`` is without that suffix."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Store the path, the suffix of its compression (empty if none), and the name."""
        self.path = Path(path)
        suffix = self.path.suffix.lower()
        self.compression = suffix if suffix in COMPRESSIONS else ""
        self.name = self.path.stem if self.compression else self.path.name

    @property
    def stem(self) -> str:
        """The file name without the suffixes of compression and format."""
        return Path(self.name).stem

    @property
    def suffix(self) -> str:
        """The suffix of the format in lower case, such as ``.arff``."""
        return Path(self.name).suffix.lower()


class InputFile(CompressiblePath):
    """A file to read, plain or compressed, which can be opened several times."""

    #: Whether companion files, such as the XML file of MULAN, can be found beside it.
    supports_companion_files = True
    #: The exceptions of its streams if the file is damaged.
    read_error_types: tuple[type[Exception], ...] = (
        EOFError,
        OSError,
        lzma.LZMAError,
        zlib.error,
        ValueError,
    )

    def __init__(self, path: str | os.PathLike[str], display_name: str = "") -> None:
        """Check that the file can be read; raise ReadError if not.

        ``display_name`` is the name of the file in messages, by default its path.
        """
        super().__init__(path)
        self.display_name = display_name or str(self.path)
        self.max_expansion = MAX_EXPANSION
        self._check_is_readable()

    def error(
        self, message: str, *, line: int | None = None, column: int | None = None
    ) -> ReadError:
        """Return an error that names this file.

        ``line`` is a line number and ``column`` the number of a value in the line, both from 1.
        """
        return ReadError(message, path=self.display_name, line=line, column=column)

    def head(self, size: int = 65536) -> bytes:
        """Return the first ``size`` bytes of the decompressed content, fewer if it is shorter."""
        with self.open(progress=False) as stream:
            return stream.read(size)

    @contextmanager
    def open(self, *, progress: bool = True) -> Iterator[io.BufferedReader]:
        """Open the file and yield its decompressed content as a binary file that cannot seek.

        Errors of the file or the compression become `ReadError`; ``progress`` shows a progress bar.
        """
        with ExitStack() as stack:
            try:
                raw = stack.enter_context(open(self.path, "rb"))
                size = os.fstat(raw.fileno()).st_size
                advance = None
                if progress:
                    title = f"Reading {self.path.name}"
                    advance = stack.enter_context(progress_bar(title, size))
                stream = stack.enter_context(_decompress(raw))
            except OSError as error:
                raise self._read_error_from(error) from error
            yield stack.enter_context(open_bounded(self, stream, raw, size, advance))

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[bytes]:
        """Yield the decompressed content in blocks of complete lines, of about ``size`` bytes.

        The last line may lack its line break. A longer line than `MAX_LINE` raises `ReadError`.
        """
        with self.open() as stream:
            incomplete_line: list[bytes] = []  # its parts, which are joined once
            n_bytes = 0  # of the incomplete line
            while block := stream.read(size):
                end = block.rfind(b"\n") + 1
                if end:
                    yield b"".join([*incomplete_line, block[:end]])
                    incomplete_line = []
                    n_bytes = 0
                incomplete_line.append(block[end:])
                n_bytes += len(block) - end
                if n_bytes > MAX_LINE:
                    raise self.error(
                        f"a line is longer than {MAX_LINE} bytes. Is this a text file?"
                    )
            if n_bytes:
                yield b"".join(incomplete_line)

    def _check_is_readable(self) -> None:
        """Raise an error unless the path is that of a regular file with content."""
        try:
            status = self.path.stat()
        except (OSError, ValueError) as error:
            raise self._read_error_from(error) from error
        if stat.S_ISDIR(status.st_mode):
            raise self.error("this is a directory. Expected a file: name one inside it.")
        if not stat.S_ISREG(status.st_mode):
            # A pipe can be read only once, and blocks for ever if no process writes to it.
            raise self.error(
                "this is a pipe or a device. Expected a file, which is looked at more than once: "
                "save the content to one first."
            )
        if status.st_size == 0:
            raise self.error("the file is empty. Expected a data set.")

    def _read_error_from(self, error: Exception) -> ReadError:
        """Return the `ReadError` for an error of the operating system."""
        if isinstance(error, FileNotFoundError):
            return self.error("no such file. Check the path.")
        if isinstance(error, PermissionError):
            return self.error("no permission to read the file. Check its access rights.")
        reason = getattr(error, "strerror", None) or str(error)
        return self.error(f"the file cannot be read: {reason.rstrip('.')}.")


def open_bounded(
    source: InputFile, stream: Any, raw: IO[bytes], size: int, advance: Any
) -> io.BufferedReader:
    """Return a buffered binary file of a `BoundedReader`, whose arguments are the same."""
    reader = BoundedReader(source, stream, raw, size, advance)
    return io.BufferedReader(reader, BUFFER_BYTES)


class BoundedReader(io.RawIOBase):
    """A binary file that turns errors into `ReadError` and refuses decompression bombs.

    ``stream`` yields the decompressed content of the open file ``raw``, which has ``size`` bytes;
    ``advance`` reports progress in bytes of ``raw``. Closing it closes neither of them.
    """

    def __init__(
        self, source: InputFile, stream: Any, raw: IO[bytes], size: int, advance: Any
    ) -> None:
        """Store the streams; ``source`` is the file that error messages name."""
        self._source = source
        self._stream = stream
        self._raw = raw
        self._size = size
        self._advance = advance
        self._reported_position = 0  # in the raw file
        self._n_bytes_read = 0  # of the decompressed content

    def readable(self) -> bool:
        """Return True, as every file that can be read does."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read bytes into a buffer, and return their number; 0 at the end of the file."""
        part = self._read_part(len(buffer))
        buffer[: len(part)] = part
        return len(part)

    def readall(self) -> bytes:
        """Return all bytes that are left."""
        parts = []
        while part := self._read_part(BLOCK_BYTES):
            parts.append(part)
        return b"".join(parts)

    def _read_part(self, size: int) -> bytes:
        """Return up to ``size`` bytes and report the progress; no bytes at the end of the file."""
        try:
            part = cast(bytes, self._stream.read(min(size, BLOCK_BYTES)))
        except self._source.read_error_types as error:
            if isinstance(error, PermissionError) or self._stream is self._raw:
                raise self._source._read_error_from(error) from error
            raise self._source.error(
                f"the compressed file is damaged or cut short ({error}). Fetch it again."
            ) from error
        self._n_bytes_read += len(part)
        self._check_expansion()
        if self._advance is not None:
            position = self._raw.tell()
            self._advance(position - self._reported_position)
            self._reported_position = position
        return part

    def _check_expansion(self) -> None:
        """Raise an error if far more bytes were decompressed than a normal file contains."""
        allowed = max(UNCHECKED_EXPANSION_BYTES, self._source.max_expansion * self._size)
        if self._size and self._n_bytes_read > allowed:
            raise self._source.error(
                f"{self._size} bytes grew to more than {allowed} when decompressed, over "
                f"{self._source.max_expansion} times. Expected data, this looks like a "
                "decompression bomb. If it is not, decompress the file yourself."
            )


def _decompress(raw: IO[bytes]) -> AbstractContextManager[Any]:
    """Return a stream of the decompressed content of an open file.

    The first bytes decide about the compression; a plain file is returned itself.
    """
    start = raw.read(8)
    raw.seek(0)
    for suffix, magic_bytes in COMPRESSIONS.items():
        if start.startswith(magic_bytes):
            return cast(AbstractContextManager[Any], _STREAMS[suffix](raw, "rb"))
    return nullcontext(raw)


class OutputFile(CompressiblePath):
    """A file to write, with companion files; they appear together, or not at all.

    `open` writes to temporary files, which `commit` moves to their final paths, and `discard`
    deletes. A companion file, such as the XML file of MULAN, belongs to the main file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path)
        self._pending: list[tuple[Path, Path]] = []  # temporary and final path of each file

    @contextmanager
    def open(self, path: Path | None = None) -> Iterator[IO[bytes]]:
        """Yield a stream to a temporary file, which `commit` moves to its final path.

        ``path`` is the final path of a companion file, which is never compressed; None stands for
        the main file, which is compressed if its suffix says so.
        """
        compression = self.compression if path is None else ""
        path = self.path if path is None else path
        with _translate_errors_of_path(path):
            final = _resolve_output_path(path)
            handle, temporary = tempfile.mkstemp(prefix=f".{final.name}.", dir=final.parent)
            self._pending.append((Path(temporary), final))
            with os.fdopen(handle, "wb") as raw, _compress(raw, compression) as stream:
                yield stream

    def commit(self) -> None:
        """Move all temporary files to their final paths, with the access rights of files there."""
        for temporary, final in self._pending:
            with _translate_errors_of_path(final):
                os.chmod(temporary, _access_mode(final))
        while self._pending:
            temporary, final = self._pending[0]
            with _translate_errors_of_path(final):
                os.replace(temporary, final)
            self._pending.pop(0)

    def discard(self) -> None:
        """Delete the temporary files that `commit` has not moved."""
        while self._pending:
            with suppress(OSError):
                self._pending.pop()[0].unlink()


class StandardOutput(OutputFile):
    """Standard output as the target of one file, which is written completely or not at all."""

    def __init__(self) -> None:
        super().__init__("stdout")
        self._buffer: IO[bytes] | None = None

    @contextmanager
    def open(self, path: Path | None = None) -> Iterator[IO[bytes]]:
        """Yield a stream to a temporary file; raise an error for a companion or a second file."""
        if path is not None or self._buffer is not None:
            raise ParameterError(
                "There are several files to write, which standard output cannot hold. Name a path "
                "instead of '-', or a format that makes one file."
            )
        with translate_temp_file_errors():
            self._buffer = cast(IO[bytes], tempfile.TemporaryFile())
            yield self._buffer
            self._buffer.flush()

    def commit(self) -> None:
        """Copy the content of the temporary file to standard output."""
        stream = getattr(sys.stdout, "buffer", None)
        if stream is None:
            raise WriteError("Standard output takes no files here. Name a path instead of '-'.")
        if self._buffer is not None:
            self._buffer.seek(0)
            with _translate_write_errors("standard output"):
                sys.stdout.flush()
                shutil.copyfileobj(self._buffer, stream)
                stream.flush()

    def discard(self) -> None:
        """Delete the temporary file."""
        if self._buffer is not None:
            with suppress(OSError):  # a full disk, which has been reported already
                self._buffer.close()


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[OutputFile]:
    """Yield the `OutputFile` of a path, and write it completely or not at all.

    The file appears when the ``with`` block succeeds; if it fails, nothing is changed. The path "-"
    is standard output.
    """
    with atomic_write_all([path]) as (target,):
        yield target


@contextmanager
def atomic_write_all(paths: Iterable[str | os.PathLike[str]]) -> Iterator[list[OutputFile]]:
    """Yield an `OutputFile` for each path, and write all of them like `atomic_write`, or none."""
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
    """Return a stream that compresses what is written to an open file.

    ``compression`` is a suffix such as ".gz"; if it is empty, the stream only buffers.
    """
    if compression:
        return _STREAMS[compression](raw, "wb")
    return io.BufferedWriter(raw, BLOCK_BYTES)


@contextmanager
def _translate_write_errors(
    subject: str, hint: str = "", folder: Path | None = None
) -> Iterator[None]:
    """Raise `WriteError` for an `OSError` in the ``with`` block.

    Its message is ``subject``, the reason, and ``hint``; ``folder`` is the folder of the file.
    """
    try:
        yield
    except BrokenPipeError:  # the reader has stopped reading, which is not an error
        raise
    except OSError as error:
        raise WriteError(f"{subject} {write_failure_message(error, folder)}.{hint}") from error


def _translate_errors_of_path(path: Path) -> AbstractContextManager[None]:
    """Raise `WriteError` for an `OSError` in the ``with`` block that writes to a path."""
    return _translate_write_errors(f"{path}:", hint=" No file was changed.", folder=path.parent)


def translate_temp_file_errors() -> AbstractContextManager[None]:
    """Raise `WriteError` for an `OSError` in the ``with`` block that writes a temporary file."""
    hint = " The variable TMPDIR names the folder of such files. No file was changed."
    return _translate_write_errors("A temporary file", hint=hint)


def _resolve_output_path(path: Path) -> Path:
    """Return the path with links resolved.

    Raise `WriteError` if a folder, a device or a write-protected file is there.
    """
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
        # Renaming needs only permissions of the folder, so it would replace a protected file.
        raise WriteError(
            f"{path}: cannot be written: the file is there and write-protected. Name another, or "
            "allow writing to it. No file was changed."
        )
    return final


def _access_mode(final: Path) -> int:
    """Return the access rights of the existing file, or those of a new file if there is none."""
    try:
        return stat.S_IMODE(final.stat().st_mode)
    except FileNotFoundError:
        return 0o666 & ~_umask()


def _umask() -> int:
    """Return the umask of the process, which can be read only by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
