"""Input files, their format and the memory they need; and the folder for results."""

import glob
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from scumble._core.errors import ParameterError, ReadError, WriteError
from scumble._core.files import CompressiblePath
from scumble._core.parameters import check_choice

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
#: The formats of files, with their suffixes.
FORMATS = {
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "csv": (".csv", ".tsv"),
}
#: Bytes of memory for reading per byte of the columns: they are stored as read, as label and
#: feature matrices, and once more while these are built.
MEMORY_PER_BYTE = 3
#: Bytes of text per byte of its compressed file, approximately.
TEXT_PER_COMPRESSED_BYTE = 6


@dataclass(frozen=True, slots=True)
class Files:
    """The data files of one data set, all of one format."""

    paths: tuple[str, ...]  # local files in order, or object-store paths as specified
    format: str
    roots: tuple[str, ...]  # the folders, files and object-store paths as the user specified them

    @property
    def name(self) -> str:
        """The name of the data set: that of the file or folder without suffix.

        It is the folder of the first file if there are several files, and "" for a glob.
        """
        if len(self.roots) > 1:
            return os.path.basename(os.path.dirname(self.roots[0]))
        stem = os.path.basename(self.roots[0].rstrip("/"))
        return "" if "*" in stem else stem.partition(".")[0]

    @property
    def is_remote(self) -> bool:
        """Whether the files are in an object store."""
        return is_remote(self.paths[0])


def find_unreadable_file(files: Files) -> str | None:
    """Return the first local Parquet file that cannot be read to its end.

    None if all can, and for files in an object store or of another format, which are not read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if files.is_remote or files.format != "parquet":
        return None
    for path in files.paths:
        try:
            with pq.ParquetFile(path) as file:
                for _ in file.iter_batches():
                    pass
        except (pa.ArrowException, OSError, ValueError):
            return path
    return None


@contextmanager
def add_path_to_read_error(*sources: Files) -> Iterator[None]:
    """Add the path of the unreadable file to a ReadError of the ``with`` block.

    ``sources`` are the files that the block reads. Other errors, and those with a path, are raised
    unchanged.
    """
    try:
        yield
    except ReadError as error:
        if error.path is not None:
            raise
        for files in sources:
            path = find_unreadable_file(files)
            if path is not None:
                raise ReadError(error.reason, path=path) from error
        raise


def is_remote(path: str) -> bool:
    """Return whether a path is in an object store, such as ``s3://...``."""
    return "://" in path and not path.startswith("file://")


def find_files(paths: Paths, format: str | None = None) -> Files:
    """Return all files of paths, folders and globs, and their format.

    ``format`` is None if suffixes decide. Raise an error if there are no files or several formats.
    """
    all_paths = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not all_paths:
        raise ParameterError("The 'paths' parameter of scan is empty. Expected files.")
    if format is not None:
        check_choice(format, tuple(FORMATS), name="format", caller="scan")
    all_files: list[str] = []
    roots: list[str] = []
    for path in all_paths:
        path_text = os.fspath(path).removeprefix("file://")
        files = [path_text] if is_remote(path_text) else _expand_path(path_text, format)
        all_files += files
        roots += [path_text] if os.path.isdir(path_text) else files
    return Files(
        paths=tuple(all_files), format=format or _common_format(all_files), roots=tuple(roots)
    )


def _expand_path(path: str, format: str | None) -> list[str]:
    """List the local files that a file, folder or glob stands for; raise ReadError for none.

    Only the files in a folder are selected, see `_files_in_folder`; a file that is named, or that a
    glob matches, is listed whatever its suffix.
    """
    if os.path.isdir(path):
        files = _files_in_folder(path, format)
        problem = "no Parquet, Arrow or CSV file in this folder"
    elif os.path.isfile(path):
        return [path]
    else:
        files = []
        for match in sorted(glob.glob(path, recursive=True)):
            # A broken link matches too, but is neither; expanding it would not terminate.
            if os.path.isfile(match) or os.path.isdir(match):
                files += _expand_path(match, format)
        problem = "no file matches" if glob.has_magic(path) else "no such file"
    if not files:
        raise ReadError(f"{problem}. Check the path.", path=path)
    return files


def _files_in_folder(folder: str, format: str | None) -> list[str]:
    """List the files in a folder and its subfolders, except hidden ones.

    If ``format`` is None, files without a suffix in `FORMATS` are left out; otherwise every suffix
    is accepted. Files and folders are hidden if their names begin with "." or "_".
    """
    files = []
    for subfolder, _, names in os.walk(folder):
        for name in names:
            file = Path(subfolder) / name
            is_hidden = any(part[0] in "._" for part in file.relative_to(folder).parts)
            if not is_hidden and (format is not None or _format_from_suffix(file)):
                files.append(str(file))
    return sorted(files)


def _format_from_suffix(path: str | Path) -> str | None:
    """Return the format of a file by its suffix; None for other suffixes."""
    suffix = CompressiblePath(path).suffix
    return next((format for format, suffixes in FORMATS.items() if suffix in suffixes), None)


def _common_format(paths: list[str]) -> str:
    """Return the format of all files by their suffixes, "parquet" for object stores without one.

    Raise an error if it is unknown or differs.
    """
    formats = set(filter(None, map(_format_from_suffix, paths)))
    if len(formats) > 1:
        raise ParameterError(
            f"scan: the files have several formats ({', '.join(sorted(formats))}). Expected one."
        )
    if not formats and not any(is_remote(path) for path in paths):
        raise ReadError(
            "the format is not known from the suffix. Expected .parquet, .arrow, .feather, .csv or "
            "format=...",
            path=paths[0],
        )
    return formats.pop() if formats else "parquet"


def bytes_needed(files: Files) -> int:
    """Return an estimate of the memory in bytes for reading files; 0 for an object store."""
    if files.is_remote:
        return 0
    return MEMORY_PER_BYTE * sum(_uncompressed_bytes(path, files.format) for path in files.paths)


def bytes_available() -> int:
    """Return the available memory of this machine in bytes; a guess except on Linux."""
    with suppress(OSError):
        match = re.search(r"MemAvailable:\s+(\d+)", Path("/proc/meminfo").read_text())
        if match:
            return int(match[1]) * 1024
    # On other systems than Linux half of the memory is a guess.
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _uncompressed_bytes(path: str, format: str) -> int:
    """Return the uncompressed size of a file in bytes, an estimate for compressed text."""
    size = os.path.getsize(path)
    if format != "parquet":
        is_uncompressed = path.lower().endswith(FORMATS["csv"] + FORMATS["arrow"])
        return size if is_uncompressed else size * TEXT_PER_COMPRESSED_BYTE
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
    except (pa.ArrowException, OSError):
        return size
    return sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))


# Output folders, which are written completely or not at all ---------------------------------------


@dataclass(frozen=True)
class Output:
    """A folder of Parquet files to write.

    Attributes
    ----------
    path : str or Path
        The folder. It appears when all files in it are complete.
    partition_by : tuple of str
        Columns by whose values the rows are distributed to subfolders.
    clone_column : str or None
        Name of the column with the number of a copy of an instance; 0 is the original. With
        (instance, label) rows it is always written, by default as ``clone``; with lists only if it
        is named.
    overwrite : bool
        Whether an existing folder is replaced, after the new one is complete.

    Examples
    --------
    >>> from scumble.out_of_core import Output
    >>> Output("decoupled", partition_by=("year",))
    Output(path='decoupled', partition_by=('year',), clone_column=None, overwrite=False)
    """

    path: str | os.PathLike[str]
    partition_by: tuple[str, ...] = ()
    clone_column: str | None = None
    overwrite: bool = False

    @property
    def is_remote(self) -> bool:
        """Whether the folder is in an object store."""
        return is_remote(os.fspath(self.path))


def validate_output(out: str | os.PathLike[str] | Output | None, *, caller: str) -> Output:
    """Return the ``out`` parameter of a resampler as an `Output`.

    Raise ParameterError for None, and for anything that is no path. ``caller`` is the resampler.
    """
    if isinstance(out, Output):
        return out
    if isinstance(out, str | os.PathLike):
        return Output(out)
    raise ParameterError(
        f"{caller}.resample of a scan needs a place for its result. Expected "
        f"resample(scan, 'folder') or resample(scan, Output('folder', ...)). Got {out!r} instead."
    )


@contextmanager
def atomic_folder(output: Output) -> Iterator[str]:
    """Yield the path of a new hidden folder, to be filled by the ``with`` block.

    If the block succeeds, the folder is renamed to that of ``output``; otherwise it is deleted. In
    an object store nothing can be renamed, so the path of ``output`` itself is used.
    """
    if output.is_remote:
        yield os.fspath(output.path)
        return
    final = Path(output.path)
    _check_may_replace(final, overwrite=output.overwrite)
    hidden = final.with_name(f".{final.name}.{uuid.uuid4().hex[:12]}.partial")
    try:
        _create_folder(hidden, final)
        yield str(hidden)
        _flush_files(hidden)
        _rename_folder(hidden, final, overwrite=output.overwrite)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _check_may_replace(final: Path, *, overwrite: bool) -> None:
    """Raise WriteError if the path exists and must not be replaced."""
    if not final.exists() and not final.is_symlink():
        return
    if not overwrite:
        raise WriteError(
            f"{final}: there is something already. Name another folder, or say "
            "Output(..., overwrite=True)."
        )
    if not final.is_dir():
        raise WriteError(f"{final}: this is a file. Expected a folder, or nothing.")


def _create_folder(hidden: Path, final: Path) -> None:
    """Create the hidden folder; errors name the final one."""
    try:
        hidden.mkdir()
    except FileNotFoundError as error:
        raise WriteError(
            f"{final}: the folder {final.parent} does not exist. Create it first."
        ) from error
    except OSError as error:
        raise WriteError(f"{final}: cannot be written: {error.strerror}.") from error


def _flush_files(folder: Path) -> None:
    """Flush all files of a folder to disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb") as stream:
                os.fsync(stream.fileno())


def _rename_folder(hidden: Path, final: Path, *, overwrite: bool) -> None:
    """Rename the hidden folder to the final one, which is replaced if ``overwrite``.

    If that fails, the old folder is restored and a WriteError raised.
    """
    old = final.with_name(f".{final.name}.{uuid.uuid4().hex[:12]}.old")
    try:
        if overwrite and final.exists():
            os.rename(final, old)
        os.rename(hidden, final)
    except OSError as error:
        if old.exists() and not final.exists():
            os.rename(old, final)
        raise WriteError(f"{final}: cannot be put in place: {error.strerror}.") from error
    shutil.rmtree(old, ignore_errors=True)
