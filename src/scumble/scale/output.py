"""Where a result goes: whole, or not at all."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scumble._core.errors import ParameterError, WriteError
from scumble.scale.sources import is_remote


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


def as_output(out: str | os.PathLike[str] | Output | None, *, caller: str) -> Output:
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
def appearing_whole(output: Output) -> Iterator[str]:
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
