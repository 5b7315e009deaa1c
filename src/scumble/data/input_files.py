"""Where data comes from besides plain files: .zip archives and standard input."""

from __future__ import annotations

import os
import re
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import PurePath, PurePosixPath
from tempfile import TemporaryDirectory

from scumble._core.errors import ParameterError
from scumble._core.files import BLOCK_BYTES, BoundedReader, InputFile, translate_temp_file_errors
from scumble._core.progress import progress_bar
from scumble._core.text import STDIO_PATH, join_names

MAGIC = b"PK\x03\x04"
#: A part of a data set that is published as a whole as well.
TRAIN_TEST_SUFFIX = re.compile(r"[-_](train|test)$", re.IGNORECASE)
#: What zipfile raises for archives that are damaged, encrypted or packed in an unknown way; names
#: that cannot be decoded are a ValueError.
_FAULTS = (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError)


#: Where standard input is kept at the moment, if it is.
_kept_in: list[str] = []


@contextmanager
def stdin_buffer_folder() -> Iterator[str]:
    """Let all that is read from standard input meanwhile be the same, and tell its folder."""
    if _kept_in:
        yield _kept_in[-1]
        return
    with ExitStack() as stack:
        with translate_temp_file_errors():
            folder = stack.enter_context(TemporaryDirectory(prefix="scumble-"))
        _kept_in.append(folder)
        try:
            yield folder
        finally:
            _kept_in.pop()


@contextmanager
def open_input_file(path: str | os.PathLike[str]) -> Iterator[InputFile]:
    """Find a file to read, or standard input where the path is ``-``."""
    if os.fspath(path) != STDIO_PATH:
        yield InputFile(path)
        return
    with stdin_buffer_folder() as folder:
        yield StandardInput(folder)


class StandardInput(InputFile):
    """What is piped into the process, kept in a folder because readers look at it twice."""

    supports_companion_files = False

    def __init__(self, folder: str) -> None:
        if sys.stdin is None or sys.stdin.isatty():  # None: closed by whoever started us
            raise ParameterError(
                "The path '-' means standard input, but nothing is piped into it. For a file of "
                "that name say './-'."
            )
        path = os.path.join(folder, "stdin")
        if not os.path.exists(path):
            with translate_temp_file_errors(), open(path, "wb") as file:
                while block := _piped():
                    file.write(block)
        super().__init__(path, "standard input")


def _piped() -> bytes:
    """Read a part of standard input; empty at its end."""
    try:
        return sys.stdin.buffer.read(BLOCK_BYTES)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ParameterError(
            f"Standard input cannot be read: {reason}. Pipe data into it, or name a file."
        ) from error


class ArchiveMember(InputFile):
    """A file inside of an archive, read like any other."""

    read_error_types = (*InputFile.read_error_types, *_FAULTS)

    def __init__(self, archive: InputFile, member: str) -> None:
        super().__init__(archive.path, str(PurePath(archive.where) / member))
        self.archive, self.member = archive, member
        self.name = PurePosixPath(member).name

    @contextmanager
    def open(self, *, progress: bool = True) -> Iterator[BoundedReader]:
        """Open the content as a binary stream, see `InputFile.open`."""
        with ExitStack() as stack:
            try:
                raw = stack.enter_context(open(self.path, "rb"))
                archive = stack.enter_context(zipfile.ZipFile(raw))
                stream = stack.enter_context(archive.open(self.member))
                advance = None
                if progress:
                    size = archive.getinfo(self.member).compress_size
                    advance = stack.enter_context(progress_bar(f"Reading {self.name}", size))
            except _FAULTS as error:
                raise self.error(f"the archive cannot be read: {error}.") from error
            size = os.fstat(raw.fileno()).st_size
            yield BoundedReader(self, stream, raw, size, advance)

    def other_members(self) -> list[ArchiveMember]:
        """List the other files of the archive."""
        names = _members(self)
        return [ArchiveMember(self.archive, name) for name in names if name != self.member]


def is_archive(source: InputFile) -> bool:
    """Tell whether a file is an archive itself; whoever reads it meets its faults."""
    try:
        with open(source.path, "rb") as stream:
            return stream.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def find_data_member(
    source: InputFile, suffixes: Sequence[str], wanted: str | None
) -> ArchiveMember:
    """Choose the file of an archive that holds the data: the wanted one, or the only one."""
    # A train and a test part stand back behind the whole, and text behind other forms: it may be a
    # word about the data.
    names = _members(source)
    if "[Content_Types].xml" in names:
        raise source.error(
            "this is a document of an office program. Expected data: save the sheet as CSV."
        )
    if wanted is not None:
        if wanted not in names:
            raise source.error(
                f"the archive holds no {wanted!r}. It holds {join_names(names, 10) or 'no file'}."
            )
        return ArchiveMember(source, wanted)
    found = _with_data(names, suffixes)
    stems = {name: PurePosixPath(name).stem for name in found}
    for preferred in (
        lambda name: not name.lower().endswith(".txt"),
        lambda name: not TRAIN_TEST_SUFFIX.search(stems[name]),
        lambda name: stems[name].lower() == source.path.stem.lower(),
    ):
        found = [name for name in found if preferred(name)] or found
    if len(found) != 1:
        raise source.error(
            f"the archive holds {join_names(names, 10) or 'no file'}. Expected one file with data"
            + (": name it with member=..." if names else ".")
        )
    return ArchiveMember(source, found[0])


def list_data_members(source: InputFile, suffixes: Sequence[str]) -> list[str]:
    """List the files of an archive that may hold the data, by their names."""
    return _with_data(_members(source), suffixes)


def _with_data(names: Sequence[str], suffixes: Sequence[str]) -> list[str]:
    return [name for name in names if PurePosixPath(name).suffix.lower() in suffixes]


def _members(source: InputFile) -> list[str]:
    """List the files of an archive, without what systems and editors leave there."""
    try:
        with zipfile.ZipFile(source.path) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
    except _FAULTS as error:
        raise source.error(f"the archive is damaged ({error}). Fetch it again.") from error
    return [
        name
        for name in names
        if not name.startswith("__MACOSX/") and not PurePosixPath(name).name.startswith(".")
    ]
