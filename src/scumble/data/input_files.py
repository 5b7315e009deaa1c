"""Input from `.zip` archives and from standard input."""

from __future__ import annotations

import io
import os
import re
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import PurePath, PurePosixPath
from tempfile import TemporaryDirectory

from scumble._core.errors import ParameterError
from scumble._core.files import BLOCK_BYTES, InputFile, open_bounded, translate_temp_file_errors
from scumble._core.progress import progress_bar
from scumble._core.text import STDIO_PATH, join_names

#: The first bytes of a ``.zip`` archive.
ZIP_MAGIC = b"PK\x03\x04"
#: The end of the name of a training or test part, which may be published beside the complete data.
TRAIN_TEST_SUFFIX = re.compile(r"[-_](train|test)$", re.IGNORECASE)
#: Exceptions of zipfile for archives that are damaged, encrypted or compressed by an unknown
#: method; ValueError stands for names that cannot be decoded.
_ARCHIVE_ERRORS = (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError)


#: The folder with the buffered standard input, while `stdin_buffer_folder` is active.
_buffer_folders: list[str] = []


@contextmanager
def stdin_buffer_folder() -> Iterator[str]:
    """Yield a temporary folder in which `StandardInput` buffers standard input.

    Standard input can be read only once, but several readers may need it. Nested calls yield the
    same folder; the outermost one deletes it.
    """
    if _buffer_folders:
        yield _buffer_folders[-1]
        return
    with ExitStack() as stack:
        with translate_temp_file_errors():
            folder = stack.enter_context(TemporaryDirectory(prefix="scumble-"))
        _buffer_folders.append(folder)
        try:
            yield folder
        finally:
            _buffer_folders.pop()


@contextmanager
def open_input_file(path: str | os.PathLike[str]) -> Iterator[InputFile]:
    """Yield the `InputFile` of a path; ``-`` is standard input."""
    if os.fspath(path) != STDIO_PATH:
        yield InputFile(path)
        return
    with stdin_buffer_folder() as folder:
        yield StandardInput(folder)


class StandardInput(InputFile):
    """Standard input, copied to a file in ``folder``, because readers read it more than once.

    Raise ParameterError if nothing is piped into standard input.
    """

    supports_companion_files = False

    def __init__(self, folder: str) -> None:
        """Copy standard input to ``folder``, unless an earlier call has done so."""
        if sys.stdin is None or sys.stdin.isatty():  # None: closed by whoever started us
            raise ParameterError(
                "The path '-' means standard input, but nothing is piped into it. For a file of "
                "that name say './-'."
            )
        path = os.path.join(folder, "stdin")
        if not os.path.exists(path):
            with translate_temp_file_errors(), open(path, "wb") as file:
                while block := _read_stdin_block():
                    file.write(block)
        super().__init__(path, "standard input")


def _read_stdin_block() -> bytes:
    """Return the next bytes of standard input, at most `BLOCK_BYTES`; b"" at its end."""
    try:
        return sys.stdin.buffer.read(BLOCK_BYTES)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ParameterError(
            f"Standard input cannot be read: {reason}. Pipe data into it, or name a file."
        ) from error


class ArchiveMember(InputFile):
    """A file inside a `.zip` archive; ``member`` is its path there and ``name`` its last part."""

    read_error_types = (*InputFile.read_error_types, *_ARCHIVE_ERRORS)

    def __init__(self, archive: InputFile, member: str) -> None:
        """Refer to a member of an archive; nothing is read."""
        super().__init__(archive.path, str(PurePath(archive.display_name) / member))
        self.archive = archive
        self.member = member
        self.name = PurePosixPath(member).name

    @contextmanager
    def open(self, *, progress: bool = True) -> Iterator[io.BufferedReader]:
        """Yield the content as a binary stream, see `InputFile.open`."""
        with ExitStack() as stack:
            try:
                raw = stack.enter_context(open(self.path, "rb"))
                archive = stack.enter_context(zipfile.ZipFile(raw))
                stream = stack.enter_context(archive.open(self.member))
                advance = None
                if progress:
                    size = archive.getinfo(self.member).compress_size
                    advance = stack.enter_context(progress_bar(f"Reading {self.name}", size))
            except _ARCHIVE_ERRORS as error:
                raise self.error(f"the archive cannot be read: {error}.") from error
            size = os.fstat(raw.fileno()).st_size
            yield stack.enter_context(open_bounded(self, stream, raw, size, advance))

    def other_members(self) -> list[ArchiveMember]:
        """List the files of the archive except this one."""
        names = _member_names(self)
        return [ArchiveMember(self.archive, name) for name in names if name != self.member]


def is_archive(source: InputFile) -> bool:
    """Return whether a file is a `.zip` archive; False if it cannot be read."""
    try:
        with open(source.path, "rb") as stream:
            return stream.read(len(ZIP_MAGIC)) == ZIP_MAGIC
    except OSError:  # the reader reports it
        return False


def find_data_member(
    source: InputFile, suffixes: Sequence[str], member: str | None
) -> ArchiveMember:
    """Return the file of an archive that holds the data.

    This is the file called ``member``. If that is None, it is the file with one of the
    ``suffixes``. Among several, files other than ``.txt`` are preferred, because a text may be a
    description; then complete data sets to training and test parts; then a file with the name of
    the archive. Raise ReadError if none or several remain.
    """
    names = _member_names(source)
    if "[Content_Types].xml" in names:
        raise source.error(
            "this is a document of an office program. Expected data: save the sheet as CSV."
        )
    if member is not None:
        if member not in names:
            raise source.error(
                f"the archive holds no {member!r}. It holds {join_names(names, 10) or 'no file'}."
            )
        return ArchiveMember(source, member)
    candidates = _select_by_suffix(names, suffixes)
    stems = {name: PurePosixPath(name).stem for name in candidates}
    preferences = (
        lambda name: not name.lower().endswith(".txt"),
        lambda name: not TRAIN_TEST_SUFFIX.search(stems[name]),
        lambda name: stems[name].lower() == source.path.stem.lower(),
    )
    for is_preferred in preferences:
        candidates = [name for name in candidates if is_preferred(name)] or candidates
    if len(candidates) != 1:
        hint = ": name it with member=..." if names else "."
        raise source.error(
            f"the archive holds {join_names(names, 10) or 'no file'}. Expected one file with data"
            f"{hint}"
        )
    return ArchiveMember(source, candidates[0])


def list_data_members(source: InputFile, suffixes: Sequence[str]) -> list[str]:
    """List the names of the files in an archive that have one of the suffixes."""
    return _select_by_suffix(_member_names(source), suffixes)


def _select_by_suffix(names: Sequence[str], suffixes: Sequence[str]) -> list[str]:
    """Return the names whose last suffix, in lower case, is one of ``suffixes``."""
    return [name for name in names if PurePosixPath(name).suffix.lower() in suffixes]


def _member_names(source: InputFile) -> list[str]:
    """List the names of the files in an archive, without those that systems and editors add."""
    try:
        with zipfile.ZipFile(source.path) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
    except _ARCHIVE_ERRORS as error:
        raise source.error(f"the archive is damaged ({error}). Fetch it again.") from error
    return [
        name
        for name in names
        if not name.startswith("__MACOSX/") and not PurePosixPath(name).name.startswith(".")
    ]
