"""The repository of public data sets, which are found on this machine or downloaded and verified.

The folders of the environment variable ``SCUMBLE_DATA`` are searched first. Downloads are stored in
a cache folder: that of ``SCUMBLE_CACHE``, or the system's folder for caches.
"""

from __future__ import annotations

import os
import sys
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from scumble._core.errors import (
    DataError,
    DownloadError,
    ParameterError,
    ScumbleWarning,
    did_you_mean,
)
from scumble._core.files import CompressiblePath

if TYPE_CHECKING:  # `scumble gui NAME` looks up the name first and should not import NumPy for that
    from scumble.data.dataset import MultilabelDataset

__all__ = [
    "RemoteFile",
    "RepositoryEntry",
    "cache_folder",
    "entries",
    "fetch",
    "find",
    "load",
    "locate",
]

#: Name of the data set that is included in the package.
EMBEDDED = "debtags"
#: Parts in which some data sets are published, besides the complete data.
PARTS = ("train", "test")
#: Suffixes of data files in order of preference.
SUFFIXES = (".arff", ".parquet", ".csv", ".svm", ".libsvm", ".txt", ".dat")


@dataclass(frozen=True)
class RemoteFile:
    """A file that can be downloaded.

    Parameters
    ----------
    name : str
        Its name in the cache.
    size : int
        Its size in bytes.
    sha256 : str
        Its checksum; a file with another one is rejected.
    urls : tuple of str
        The addresses of the file, in the order in which they are tried.

    Examples
    --------
    >>> from scumble.data import repository
    >>> [file.name for file in repository.find("yeast").files]
    ['yeast.arff', 'yeast.xml']
    """

    name: str
    size: int
    sha256: str
    urls: tuple[str, ...]


@dataclass(frozen=True)
class RepositoryEntry:
    """The description of a public data set.

    Parameters
    ----------
    name : str
        Its name.
    title : str
        A description in one line.
    domain : str
        What its instances are: text, images, music, ...
    format : str
        The format of its files.
    aliases : tuple of str
        Further names of the data set.
    files : tuple of RemoteFile
        The files that can be downloaded; the first holds the data. Empty if no address is known.
    measures : mapping of str to float
        The expected instances, features, labels, labelsets, cardinality, mean_ir, max_ir and
        scumble.
    fallback : str or None
        The data set that is loaded instead, with a warning, if this one is not available.
    note : str
        How to get the data set if it cannot be downloaded.

    Examples
    --------
    >>> from scumble.data import repository
    >>> yeast = repository.find("yeast")
    >>> yeast.measures["instances"], yeast.measures["labels"], yeast.can_be_fetched
    (2417, 14, True)
    """

    name: str
    title: str
    domain: str
    format: str
    aliases: tuple[str, ...]
    files: tuple[RemoteFile, ...]
    measures: Mapping[str, float]
    fallback: str | None = None
    note: str = ""

    @property
    def can_be_fetched(self) -> bool:
        """Whether the data set can be downloaded from a known address."""
        return bool(self.files)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts, train and test, that can be downloaded."""
        return tuple(part for part in PARTS if _main_file(self, part) is not None)


def entries() -> tuple[RepositoryEntry, ...]:
    """Return the descriptions of all data sets in the repository.

    Examples
    --------
    >>> from scumble.data import repository
    >>> [entry.name for entry in repository.entries() if entry.domain == "music"]
    ['cal500', 'emotions']
    """
    return tuple(_entries_by_name().values())


def find(name: str) -> RepositoryEntry:
    """Return the description of a data set, by its name or an alias; case does not matter.

    Examples
    --------
    >>> from scumble.data import repository
    >>> repository.find("corel16k").name
    'corel16k010'
    """
    entry = _find_or_none(name)
    if entry is None:
        raise _unknown_name_error(name)
    return entry


def load(
    name: str, *, part: str | None = None, download: bool = True, **options: Any
) -> MultilabelDataset:
    """Load a public data set by name.

    The data set is searched in the folders of ``SCUMBLE_DATA``, then in the cache, and downloaded
    if it is in neither. ``"debtags"`` is included in the package. The folders of ``SCUMBLE_DATA``
    may also hold data sets that are not in the repository.

    Parameters
    ----------
    name : str
        A name in the repository, see `entries`, or of a file in a folder of ``SCUMBLE_DATA``.
    part : {"train", "test"}, optional
        A published part instead of the complete data; not all data sets have parts.
    download : bool
        Whether the data set may be downloaded.
    **options : object
        Further options of `scumble.read`.

    Returns
    -------
    MultilabelDataset
        The data; its name is that in the repository.

    Raises
    ------
    ScumbleError
        If the data set is unknown or not available, or cannot be downloaded or read.

    Warns
    -----
    ScumbleWarning
        If another data set is loaded instead, or if a local file does not have the size that the
        repository describes.

    Examples
    --------
    >>> import scumble
    >>> scumble.load("debtags")
    <MultilabelDataset 'debtags': 5,000 instances, 949 features, 431 labels>
    """
    from scumble._core.parameters import check_choice
    from scumble.data.io import read

    if part is not None:
        check_choice(part, PARTS, name="part", caller="load")
    entry = _find_or_none(name)
    if entry is not None and entry.name == EMBEDDED:
        if part is not None or options:
            raise ParameterError(
                f"{EMBEDDED!r} is included in the package: it has no parts and no options."
            )
        from scumble.data.public.embedded import load_debtags

        return load_debtags()
    path = _local_file(name, entry, part)
    if entry is None:
        if path is None:
            raise _unknown_name_error(name)
        return read(path, **options)
    if path is None and entry.fallback is not None:
        fallback = find(entry.fallback)
        is_local = _local_file(fallback.name, fallback, part) is not None
        if not is_local and not (download and _main_file(fallback, part)):
            raise _not_available_error(entry, part)
        dataset = load(fallback.name, part=part, download=download, **options)
        _warn_of_fallback(entry, fallback)
        return dataset
    if path is None:
        if not download:
            raise _not_available_error(entry, part)
        path = fetch(entry.name, part=part)
    dataset = read(path, **options)
    if part is None:
        _warn_if_sizes_differ(dataset, entry, path)
    return replace(dataset, name=entry.name)


def locate(name: str, *, part: str | None = None) -> Path:
    r"""Return the path of a data set on this machine.

    Parameters
    ----------
    name : str
        A name in the repository, or of a file in a folder of ``SCUMBLE_DATA``.
    part : {"train", "test"}, optional
        A published part instead of the complete data.

    Returns
    -------
    Path
        The file with the data.

    Raises
    ------
    ScumbleError
        If the data set is unknown or not on this machine.

    Examples
    --------
    >>> import os, pathlib, tempfile
    >>> from unittest.mock import patch
    >>> from scumble.data import repository
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "films.csv").write_text("minutes,label:war\n90,1\n")
    >>> with patch.dict(os.environ, SCUMBLE_DATA=str(folder)):
    ...     repository.locate("films").name
    'films.csv'
    """
    entry = _find_or_none(name)
    path = _local_file(name, entry, part)
    if path is not None:
        return path
    if entry is None:
        raise _unknown_name_error(name)
    if entry.fallback is not None:
        fallback = find(entry.fallback)
        path = _local_file(fallback.name, fallback, part)
        if path is not None:
            _warn_of_fallback(entry, fallback)
            return path
    raise _not_available_error(entry, part)


def fetch(name: str, *, part: str | None = None, force: bool = False) -> Path:
    """Download a data set to the cache, unless it is already there.

    Parameters
    ----------
    name : str
        A name in the repository.
    part : {"train", "test"}, optional
        A published part instead of the complete data.
    force : bool
        Whether to download it even if it is in the cache.

    Returns
    -------
    Path
        The file with the data, verified by its checksum.

    Raises
    ------
    DownloadError
        If no address is known, no server answers, or the file has another size or checksum.

    Examples
    --------
    >>> from scumble.data import repository
    >>> repository.fetch("debtags")
    Traceback (most recent call last):
    ...
    scumble._core.errors.DownloadError: 'debtags' is included in the package: there is nothing to
    fetch.
    """
    from scumble.data.public.download import checksum  # urllib and http are slow to import

    entry = find(name)
    main = _main_file(entry, part)
    if main is None:
        raise _no_address_error(entry, part)
    folder = cache_folder() / entry.name
    companions = [file for file in entry.files if CompressiblePath(file.name).suffix == ".xml"]
    for file in [*companions, main]:  # the data come last, so that their presence implies the rest
        path = folder / file.name
        if force or not (path.is_file() and checksum(path) == file.sha256):
            _fetch_file(file, path)
    return folder / main.name


def cache_folder() -> Path:
    """Return the folder of downloaded data sets.

    Returns
    -------
    Path
        The folder of the environment variable ``SCUMBLE_CACHE``, or one in the system's folder for
        caches.

    Examples
    --------
    >>> import os
    >>> from unittest.mock import patch
    >>> from scumble.data import repository
    >>> with patch.dict(os.environ, SCUMBLE_CACHE="my data"):
    ...     repository.cache_folder().name
    'my data'
    """
    folder = os.environ.get("SCUMBLE_CACHE")
    if folder:
        return Path(folder).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "scumble"


@cache
def _entries_by_name() -> dict[str, RepositoryEntry]:
    """Read the descriptions of all data sets from ``repository.toml``."""
    content = tomllib.loads((files(__package__) / "repository.toml").read_text(encoding="utf-8"))
    sources = content["sources"]
    return {
        name: _entry_from_toml(name, fields, sources)
        for name, fields in sorted(content["sets"].items())
    }


def _entry_from_toml(name: str, fields: dict[str, Any], sources: dict[str, Any]) -> RepositoryEntry:
    """Build the description of a data set from a table of ``repository.toml``."""
    base_urls = sources[fields["source"]]["addresses"] if "source" in fields else []
    remote_files = tuple(
        RemoteFile(
            name=file["name"],
            size=file["size"],
            sha256=file["sha256"],
            urls=tuple(base + file["path"] for base in base_urls),
        )
        for file in fields.get("files", ())
    )
    return RepositoryEntry(
        name=name,
        title=fields["title"],
        domain=fields["domain"],
        format=fields["format"],
        aliases=tuple(fields.get("aliases", ())),
        files=remote_files,
        measures=MappingProxyType(fields["measures"]),
        fallback=fields.get("fallback"),
        note=fields.get("note", ""),
    )


def _find_or_none(name: str) -> RepositoryEntry | None:
    """Return the description of a data set, by its name or an alias; None if there is none."""
    if not isinstance(name, str):
        raise ParameterError(f"The name of a data set must be a string. Got {name!r} instead.")
    folded_name = name.casefold()
    for entry in entries():
        if folded_name in map(str.casefold, (entry.name, *entry.aliases)):
            return entry
    return None


def _main_file(entry: RepositoryEntry, part: str | None) -> RemoteFile | None:
    """Return the remote file with the data, or with a part of them; None if there is none."""
    if part is None:
        return entry.files[0] if entry.files else None
    stem = f"{entry.name}-{part}"
    return next((file for file in entry.files if CompressiblePath(file.name).stem == stem), None)


def _local_file(name: str, entry: RepositoryEntry | None, part: str | None) -> Path | None:
    """Return the file of a data set in a folder of ``SCUMBLE_DATA``, or else in the cache."""
    names = [name] if entry is None else [entry.name, *entry.aliases]
    stems = names if part is None else [f"{name}-{part}" for name in names]
    # In a folder of its own, the file may also have the name under which it is published.
    stems_in_own_folder = list(stems)
    if entry is not None and part is None and entry.files:
        stems_in_own_folder.append(CompressiblePath(entry.files[0].name).stem)
    for data_folder in _data_folders():
        for folder in _folders_of_dataset(data_folder, names):
            path = _find_data_file(folder, stems_in_own_folder)
            if path is not None:
                return path
        path = _find_data_file(data_folder, stems)
        if path is not None:
            return path
    return None if entry is None else _cached_file(entry, part)


def _cached_file(entry: RepositoryEntry, part: str | None) -> Path | None:
    """Return the file of a data set in the cache, if it has the expected size."""
    main = _main_file(entry, part)
    if main is None:
        return None
    path = cache_folder() / entry.name / main.name
    if path.is_file() and path.stat().st_size == main.size:
        return path
    return None


def _data_folders() -> list[Path]:
    """List the folders of ``SCUMBLE_DATA``; raise ParameterError if one does not exist."""
    paths = os.environ.get("SCUMBLE_DATA", "").split(os.pathsep)
    folders = [Path(path) for path in paths if path]
    for folder in folders:
        if not folder.is_dir():
            raise ParameterError(
                f"The environment variable SCUMBLE_DATA names {folder}, which is not a folder. "
                "Expected the folder that holds the data sets."
            )
    return folders


def _folders_of_dataset(folder: Path, names: list[str]) -> list[Path]:
    """List the subfolders that are named like a data set, whose names are ``names``."""
    folded_names = {name.casefold() for name in names}
    return sorted(
        path for path in folder.iterdir() if path.name.casefold() in folded_names and path.is_dir()
    )


def _find_data_file(folder: Path, stems: list[str]) -> Path | None:
    """Return the file with the first of ``stems``, and among these the first of `SUFFIXES`."""
    folded_stems = [stem.casefold() for stem in stems]
    candidates = []
    for path in folder.iterdir():
        stem = CompressiblePath(path).stem.casefold()
        suffix = CompressiblePath(path).suffix
        if stem in folded_stems and suffix in SUFFIXES and path.is_file():
            rank = (folded_stems.index(stem), SUFFIXES.index(suffix), len(path.name))
            candidates.append((*rank, path))
    return min(candidates)[-1] if candidates else None


def _warn_of_fallback(entry: RepositoryEntry, fallback: RepositoryEntry) -> None:
    """Warn that another data set is used instead of one that is not available."""
    warnings.warn(
        f"{entry.name!r} is not in SCUMBLE_DATA ({entry.note}). {fallback.name!r} takes its place: "
        f"{fallback.title}.",
        ScumbleWarning,
        stacklevel=3,
    )


def _warn_if_sizes_differ(dataset: MultilabelDataset, entry: RepositoryEntry, path: Path) -> None:
    """Warn if a local file has another number of instances, features or labels than expected."""
    differences = []
    for noun in ("instances", "features", "labels"):
        count = getattr(dataset, f"n_{noun}")
        if count != entry.measures[noun]:
            differences.append(f"{count} {noun} (expected {entry.measures[noun]})")
    if differences:
        warnings.warn(
            f"{path} is not the {entry.name!r} of the repository: it has {', '.join(differences)}.",
            ScumbleWarning,
            stacklevel=3,
        )


def _fetch_file(file: RemoteFile, path: Path) -> None:
    """Download a file from the first of its addresses that delivers it with the right checksum."""
    from scumble.data.public.download import download

    failures = []
    for url in file.urls:
        try:
            download(url, path, size=file.size, sha256=file.sha256)
            return
        except DownloadError as error:
            failures.append(str(error))
    raise DownloadError(
        f"{file.name} could not be fetched. " + " ".join(failures) + " If you can get it "
        "elsewhere, put it into a folder and let SCUMBLE_DATA name that folder."
    )


def _unknown_name_error(name: str) -> ParameterError:
    """Build the error for a name that is not in the repository."""
    names: list[str] = []
    for entry in entries():
        names += [entry.name, *entry.aliases]
    hint = did_you_mean(name, names)
    if os.path.sep in name or Path(name).suffix.lower() in SUFFIXES:
        hint = " To read a file, use scumble.read."
    return ParameterError(
        f"There is no data set called {name!r}.{hint} Expected one of: {', '.join(sorted(names))}; "
        "or the name of a file in a folder that SCUMBLE_DATA names."
    )


def _not_available_error(entry: RepositoryEntry, part: str | None) -> DataError:
    """Build the error for a data set that is not on this machine; it says how to get it."""
    name = entry.name if part is None else f"{entry.name}-{part}"
    if entry.name == EMBEDDED:
        return DataError(
            f"{name!r} is included in scumble and is not a file. Load it by its name, or make a "
            f"file of it: scumble convert {entry.name} {entry.name}.arff"
        )
    if _main_file(entry, part) is not None:
        hint = (
            f"Fetch it with scumble.data.repository.fetch({entry.name!r}), or from the shell with "
            f"scumble data get {entry.name}."
        )
    else:
        hint = str(_no_address_error(entry, part))
    data_folders = os.environ.get("SCUMBLE_DATA") or "(not set)"
    return DataError(
        f"{name!r} is neither in SCUMBLE_DATA {data_folders} nor in the cache {cache_folder()}. "
        f"{hint}"
    )


def _no_address_error(entry: RepositoryEntry, part: str | None) -> DownloadError:
    """Build the error for a data set, or a part, without a known address."""
    if part is not None:
        return DownloadError(f"No address is known for the {part} part of {entry.name!r}.")
    if entry.name == EMBEDDED:
        return DownloadError(f"{EMBEDDED!r} is included in the package: there is nothing to fetch.")
    return DownloadError(
        f"No address is known for {entry.name!r} ({entry.note}). Put {entry.name}.arff and "
        f"{entry.name}.xml into a folder and let SCUMBLE_DATA name that folder."
    )


def availability(name: str) -> str:
    """Return "embedded", "here", "to fetch" or "SCUMBLE_DATA only": where a data set is.

    Examples
    --------
    >>> from scumble.data import repository
    >>> repository.availability("debtags")
    'embedded'
    """
    entry = find(name)
    if entry.name == EMBEDDED:
        return "embedded"
    if _local_file(entry.name, entry, None) is not None:
        return "here"
    return "to fetch" if entry.can_be_fetched else "SCUMBLE_DATA only"
