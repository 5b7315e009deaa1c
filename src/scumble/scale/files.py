"""Files to read: which are meant, their form, the memory they would take; and where results go."""

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
from scumble._core.validation import check_choice

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
#: The forms of files, with their suffixes.
FORMATS = {
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "csv": (".csv", ".tsv"),
}
#: Reading takes about this many times the bytes of the columns: they are held as they are read,
#: as label and feature matrices, and once more while these are put together.
GROWTH = 3
#: Compressed text grows by about this much.
EXPANSION = 6


@dataclass(frozen=True, slots=True)
class Files:
    """Files of one form."""

    paths: tuple[str, ...]  # local files in order, or object-store paths as they were given
    format: str  # the form of the files
    roots: tuple[str, ...]  # the same as the user gave them, where these are folders or files

    @property
    def name(self) -> str:
        """A short name: that of the file or folder."""
        if len(self.roots) > 1:
            return os.path.basename(os.path.dirname(self.roots[0]))
        stem = os.path.basename(self.roots[0].rstrip("/"))
        return "" if "*" in stem else stem.partition(".")[0]

    @property
    def is_remote(self) -> bool:
        """Whether the engine fetches them from elsewhere."""
        return is_remote(self.paths[0])


def find_unreadable_file(files: Files) -> str | None:
    """Look for a local Parquet file that cannot be read to its end."""
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
    """Find out which of many files an engine stumbled over."""
    try:
        yield
    except ReadError as error:
        found = (find_unreadable_file(files) for files in sources) if error.path is None else ()
        path = next((path for path in found if path is not None), None)
        if path is None:
            raise
        raise ReadError(error.reason, path=path) from error


def is_remote(path: str) -> bool:
    """Tell an object-store path from a local one."""
    return "://" in path and not path.startswith("file://")


def find_files(paths: Paths, format: str | None = None) -> Files:
    """Find the files a user means."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise ParameterError("The 'paths' parameter of scan is empty. Expected files.")
    if format is not None:
        check_choice(format, tuple(FORMATS), name="format", caller="scan")
    found: list[str] = []
    roots: list[str] = []
    for path in given:
        text = os.fspath(path).removeprefix("file://")
        files = [text] if is_remote(text) else _expand(text, format)
        found += files
        roots += [text] if os.path.isdir(text) else files
    return Files(tuple(found), format or _format_of(found), tuple(roots))


def _expand(path: str, format: str | None) -> list[str]:
    if os.path.isdir(path):
        inside = (Path(folder) / name for folder, _, names in os.walk(path) for name in names)
        files = sorted(
            str(file)
            for file in inside
            if not any(part[0] in "._" for part in file.relative_to(path).parts)
            and (format is not None or _form_of(file))
        )
    elif os.path.isfile(path):
        files = [path]
    else:
        found = sorted(glob.glob(path, recursive=True))
        # A link to nowhere is found, too, and would be expanded to itself for ever.
        matches = (match for match in found if os.path.isfile(match) or os.path.isdir(match))
        files = [file for match in matches for file in _expand(match, format)]
    if not files:
        what = "no such file" if not glob.has_magic(path) else "no file matches"
        what = "no Parquet, Arrow or CSV file in this folder" if os.path.isdir(path) else what
        raise ReadError(f"{what}. Check the path.", path=path)
    return files


def _form_of(path: str | Path) -> str | None:
    """Tell the form of a file by its suffix."""
    suffix = CompressiblePath(path).suffix
    return next((form for form, suffixes in FORMATS.items() if suffix in suffixes), None)


def _format_of(paths: list[str]) -> str:
    forms = set(filter(None, map(_form_of, paths)))
    if len(forms) > 1:
        raise ParameterError(
            f"scan: the files have several forms ({', '.join(sorted(forms))}). Expected one."
        )
    if not forms and not any(is_remote(path) for path in paths):
        raise ReadError(
            "the form is not known from the suffix. Expected .parquet, .arrow, .feather, .csv or "
            "format=...",
            path=paths[0],
        )
    return forms.pop() if forms else "parquet"


def bytes_needed(files: Files) -> int:
    """Estimate the memory that reading files takes."""
    if files.is_remote:
        return 0
    return GROWTH * sum(_plain_bytes(path, files.format) for path in files.paths)


def bytes_available() -> int:
    """Tell how much memory this machine can still give."""
    with suppress(OSError):
        if found := re.search(r"MemAvailable:\s+(\d+)", Path("/proc/meminfo").read_text()):
            return int(found[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _plain_bytes(path: str, format: str) -> int:
    size = os.path.getsize(path)
    if format != "parquet":
        is_plain = path.lower().endswith(FORMATS["csv"] + FORMATS["arrow"])
        return size if is_plain else size * EXPANSION
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
    except (pa.ArrowException, OSError):
        return size
    return sum(metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups))


# Where a result goes: whole, or not at all --------------------------------------------------------


@dataclass(frozen=True)
class Output:
    """A folder of Parquet files to write.

    Attributes
    ----------
    path : str or Path
        The folder. It appears when all files in it are complete.
    partition_by : tuple of str
        Columns that become folders inside it.
    clone_column : str or None
        The column that tells copies of an instance apart: 0 for the original. With
        (instance, label) rows it is always written, by default as ``clone``; with lists only
        where it is named.
    overwrite : bool
        Whether a folder that exists is replaced, once the new one is complete.

    Examples
    --------
    >>> from scumble.scale import Output
    >>> Output("decoupled", partition_by=("year",))
    Output(path='decoupled', partition_by=('year',), clone_column=None, overwrite=False)
    """

    path: str | os.PathLike[str]
    partition_by: tuple[str, ...] = ()
    clone_column: str | None = None
    overwrite: bool = False

    @property
    def is_remote(self) -> bool:
        """Whether it lies in an object store."""
        return is_remote(os.fspath(self.path))


def validate_output(out: str | os.PathLike[str] | Output | None, *, caller: str) -> Output:
    """Understand the ``out`` of a resampler."""
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
    """Write into a hidden folder that gets its name when all went well."""
    if output.is_remote:
        yield os.fspath(output.path)
        return
    final = Path(output.path)
    _refuse_occupied(final, overwrite=output.overwrite)
    hidden = final.with_name(f".{final.name}.{uuid.uuid4().hex[:12]}.partial")
    try:
        _make(hidden, final)
        yield str(hidden)
        _flush(hidden)
        _put_in_place(hidden, final, overwrite=output.overwrite)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _refuse_occupied(final: Path, *, overwrite: bool) -> None:
    if not final.exists() and not final.is_symlink():
        return
    if not overwrite:
        raise WriteError(
            f"{final}: there is something already. Name another folder, or say "
            "Output(..., overwrite=True)."
        )
    if not final.is_dir():
        raise WriteError(f"{final}: this is a file. Expected a folder, or nothing.")


def _make(hidden: Path, final: Path) -> None:
    try:
        hidden.mkdir()
    except FileNotFoundError as error:
        raise WriteError(
            f"{final}: the folder {final.parent} does not exist. Create it first."
        ) from error
    except OSError as error:
        raise WriteError(f"{final}: cannot be written: {error.strerror}.") from error


def _flush(folder: Path) -> None:
    """Bring the files to disk before the folder gets its name."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb") as stream:
                os.fsync(stream.fileno())


def _put_in_place(hidden: Path, final: Path, *, overwrite: bool) -> None:
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
