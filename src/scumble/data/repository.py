"""The shelf of public data: sets known by name, found on this machine or fetched and verified.

``SCUMBLE_DATA`` names folders that are searched first; what is fetched goes to a cache folder
(``SCUMBLE_CACHE``, or where this system keeps caches).
"""

from __future__ import annotations

import os
import sys
import tomllib
import warnings
from collections.abc import Iterator, Mapping
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

if TYPE_CHECKING:  # `scumble gui NAME` looks for the name before all else: no numpy for that
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

EMBEDDED = "debtags"
PARTS = ("train", "test")
#: Suffixes of data files in the order in which they are preferred.
SUFFIXES = (".arff", ".parquet", ".csv", ".svm", ".libsvm", ".txt", ".dat")


@dataclass(frozen=True)
class RemoteFile:
    """A file that can be fetched.

    Parameters
    ----------
    name : str
        Its name in the cache.
    size : int
        Its size in bytes.
    sha256 : str
        Its checksum, which decides whether it is believed.
    addresses : tuple of str
        Where it is published, tried in turn.

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
    """What is known of a public data set.

    Parameters
    ----------
    name : str
        How it is asked for.
    title : str
        One line about it.
    domain : str
        What its instances are: text, images, music, ...
    format : str
        The form of its files.
    aliases : tuple of str
        Other names for it.
    files : tuple of File
        What can be fetched; the first holds the data. Empty if no address is known.
    measures : mapping of str to float
        What to expect: instances, features, labels, labelsets, cardinality, mean_ir, max_ir,
        scumble.
    fallback : str or None
        The set that is given, with a warning, where this one is absent.
    note : str
        How to get it if it cannot be fetched.

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
        """Whether an address and a checksum are known."""
        return bool(self.files)

    @property
    def parts(self) -> tuple[str, ...]:
        """Which published parts, train and test, can be fetched."""
        return tuple(part for part in PARTS if _main_file(self, part) is not None)


def entries() -> tuple[RepositoryEntry, ...]:
    """Return all data sets on the shelf.

    Examples
    --------
    >>> from scumble.data import repository
    >>> [entry.name for entry in repository.entries() if entry.domain == "music"]
    ['cal500', 'emotions']
    """
    return tuple(_entries_by_name().values())


def find(name: str) -> RepositoryEntry:
    """Find a data set by its name or an alias; upper and lower case do not matter.

    Examples
    --------
    >>> from scumble.data import repository
    >>> repository.find("corel16k").name
    'corel16k010'
    """
    entry = _known(name)
    if entry is None:
        raise _unknown(name)
    return entry


def load(
    name: str, *, part: str | None = None, download: bool = True, **options: Any
) -> MultilabelDataset:
    """Load a public data set by name.

    It is looked for in the folders of ``SCUMBLE_DATA``, then in the cache, and fetched if it is
    in neither. ``"debtags"`` travels with the package. Folders of ``SCUMBLE_DATA`` may also hold
    sets that are not on the shelf.

    Parameters
    ----------
    name : str
        A name on the shelf, see `entries`.
    part : {"train", "test"}, optional
        One of the published parts, where there are any, instead of the whole.
    download : bool
        Whether it may be fetched.
    **options : object
        Further options of `scumble.read`.

    Returns
    -------
    MultilabelDataset
        Named as on the shelf.

    Raises
    ------
    ScumbleError
        If the set is unknown, absent, cannot be fetched or cannot be read.

    Warns
    -----
    ScumbleWarning
        If another set takes its place, or a local file is not the set the shelf describes.

    Examples
    --------
    >>> import scumble
    >>> scumble.load("debtags")
    <MultilabelDataset 'debtags': 5,000 instances, 949 features, 431 labels>
    """
    from scumble._core.validation import check_choice
    from scumble.data.io import read

    if part is not None:
        check_choice(part, PARTS, name="part", caller="load")
    entry = _known(name)
    if entry is not None and entry.name == EMBEDDED:
        if part is not None or options:
            raise ParameterError(
                f"{EMBEDDED!r} travels with the package: it has no parts, no options."
            )
        from scumble.data.embedded import load_debtags

        return load_debtags()
    path = _present(name, entry, part)
    if entry is None:
        if path is None:
            raise _unknown(name)
        return read(path, **options)
    if path is None and entry.fallback is not None:
        other = find(entry.fallback)
        here = _present(other.name, other, part) is not None
        if not here and not (download and _main_file(other, part)):
            raise _absent(entry, part)
        dataset = load(other.name, part=part, download=download, **options)
        _warn_fallback(entry, other)
        return dataset
    if path is None:
        if not download:
            raise _absent(entry, part)
        path = fetch(entry.name, part=part)
    dataset = read(path, **options)
    if part is None:
        _warn_if_other(dataset, entry, path)
    return replace(dataset, name=entry.name)


def locate(name: str, *, part: str | None = None) -> Path:
    r"""Find the file of a data set on this machine.

    Parameters
    ----------
    name : str
        A name on the shelf, or of a file in a folder that ``SCUMBLE_DATA`` names.
    part : {"train", "test"}, optional
        One of the published parts instead of the whole.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ScumbleError
        If the set is unknown or absent.

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
    entry = _known(name)
    path = _present(name, entry, part)
    if path is not None:
        return path
    if entry is None:
        raise _unknown(name)
    if entry.fallback is not None:
        other = find(entry.fallback)
        path = _present(other.name, other, part)
        if path is not None:
            _warn_fallback(entry, other)
            return path
    raise _absent(entry, part)


def fetch(name: str, *, part: str | None = None, force: bool = False) -> Path:
    """Fetch a data set into the cache, unless it is there already.

    Parameters
    ----------
    name : str
        A name on the shelf.
    part : {"train", "test"}, optional
        One of the published parts instead of the whole.
    force : bool
        Whether to fetch it even if it is there.

    Returns
    -------
    Path
        The file with the data, verified by its checksum.

    Raises
    ------
    DownloadError
        If no address is known, none answers, or the file is not the one that was promised.

    Examples
    --------
    >>> from scumble.data import repository
    >>> repository.fetch("debtags")
    Traceback (most recent call last):
    ...
    scumble._core.errors.DownloadError: 'debtags' travels with the package: there is nothing to
    fetch.
    """
    from scumble.data.download import checksum  # the web's modules are slow to import

    entry = find(name)
    main = _main_file(entry, part)
    if main is None:
        raise _no_address(entry, part)
    folder = cache_folder() / entry.name
    companions = [file for file in entry.files if CompressiblePath(file.name).suffix == ".xml"]
    for file in [*companions, main]:  # the data last: where they are, all is there
        path = folder / file.name
        if force or not (path.is_file() and checksum(path) == file.sha256):
            _fetch_file(file, path)
    return folder / main.name


def cache_folder() -> Path:
    """Tell where fetched data sets are kept.

    Returns
    -------
    Path
        The folder that ``SCUMBLE_CACHE`` names, or one where this system keeps caches.

    Examples
    --------
    >>> import os
    >>> from unittest.mock import patch
    >>> from scumble.data import repository
    >>> with patch.dict(os.environ, SCUMBLE_CACHE="my data"):
    ...     repository.cache_folder().name
    'my data'
    """
    if chosen := os.environ.get("SCUMBLE_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "scumble"


@cache
def _entries_by_name() -> dict[str, RepositoryEntry]:
    content = tomllib.loads((files(__package__) / "repository.toml").read_text(encoding="utf-8"))
    sources = content["sources"]
    return {name: _entry(name, row, sources) for name, row in sorted(content["sets"].items())}


def _entry(name: str, row: dict[str, Any], sources: dict[str, Any]) -> RepositoryEntry:
    bases = sources[row.pop("source")]["addresses"] if "source" in row else []
    files = tuple(
        RemoteFile(f["name"], f["size"], f["sha256"], tuple(base + f["path"] for base in bases))
        for f in row.pop("files", ())
    )
    aliases, measures = tuple(row.pop("aliases", ())), MappingProxyType(row.pop("measures"))
    return RepositoryEntry(name, **row, aliases=aliases, files=files, measures=measures)


def _known(name: str) -> RepositoryEntry | None:
    if not isinstance(name, str):
        raise ParameterError(f"A data set is asked for by its name. Got {name!r} instead.")
    wanted = name.casefold()
    found = (e for e in entries() if wanted in map(str.casefold, (e.name, *e.aliases)))
    return next(found, None)


def _main_file(entry: RepositoryEntry, part: str | None) -> RemoteFile | None:
    if part is None:
        return entry.files[0] if entry.files else None
    stem = f"{entry.name}-{part}"
    return next((file for file in entry.files if CompressiblePath(file.name).stem == stem), None)


def _present(name: str, entry: RepositoryEntry | None, part: str | None) -> Path | None:
    """Look through the folders of ``SCUMBLE_DATA``, then the cache."""
    names = [name] if entry is None else [entry.name, *entry.aliases]
    stems = [each if part is None else f"{each}-{part}" for each in names]
    if entry is not None and part is None and entry.files:
        stems.append(CompressiblePath(entry.files[0].name).stem)
    for folder in _data_folders():
        for place in _places(folder, names):
            found = _data_file(place, stems if place != folder else stems[: len(names)])
            if found is not None:
                return found
    return None if entry is None else _cached(entry, part)


def _cached(entry: RepositoryEntry, part: str | None) -> Path | None:
    main = _main_file(entry, part)
    if main is None:
        return None
    path = cache_folder() / entry.name / main.name
    return path if path.is_file() and path.stat().st_size == main.size else None


def _data_folders() -> list[Path]:
    folders = [Path(part) for part in os.environ.get("SCUMBLE_DATA", "").split(os.pathsep) if part]
    for folder in folders:
        if not folder.is_dir():
            raise ParameterError(
                f"The environment variable SCUMBLE_DATA names {folder}, which is not a folder. "
                "Expected the folder that holds the data sets."
            )
    return folders


def _places(folder: Path, names: list[str]) -> Iterator[Path]:
    wanted = {name.casefold() for name in names}
    below = sorted(path for path in folder.iterdir() if path.name.casefold() in wanted)
    yield from (path for path in below if path.is_dir())
    yield folder


def _data_file(folder: Path, stems: list[str]) -> Path | None:
    """Choose the file with the first of ``stems`` and the best of `SUFFIXES`."""
    wanted = [stem.casefold() for stem in stems]
    ranked = []
    for path in folder.iterdir():
        stem, suffix = CompressiblePath(path).stem.casefold(), CompressiblePath(path).suffix
        if stem in wanted and suffix in SUFFIXES and path.is_file():
            ranked.append((wanted.index(stem), SUFFIXES.index(suffix), len(path.name), path))
    return min(ranked)[-1] if ranked else None


def _warn_fallback(entry: RepositoryEntry, other: RepositoryEntry) -> None:
    warnings.warn(
        f"{entry.name!r} is not in SCUMBLE_DATA ({entry.note}). {other.name!r} takes its place: "
        f"{other.title}.",
        ScumbleWarning,
        stacklevel=3,
    )


def _warn_if_other(dataset: MultilabelDataset, entry: RepositoryEntry, path: Path) -> None:
    other = [
        f"{count} {what} (expected {entry.measures[what]})"
        for what in ("instances", "features", "labels")
        if (count := getattr(dataset, f"n_{what}")) != entry.measures[what]
    ]
    if other:
        warnings.warn(
            f"{path} is not the {entry.name!r} the shelf describes: it has {', '.join(other)}.",
            ScumbleWarning,
            stacklevel=3,
        )


def _fetch_file(file: RemoteFile, path: Path) -> None:
    """Try the addresses in turn; the checksum decides which one is believed."""
    from scumble.data.download import download

    failures = []
    for address in file.urls:
        try:
            download(address, path, size=file.size, sha256=file.sha256)
            return
        except DownloadError as error:
            failures.append(str(error))
    raise DownloadError(
        f"{file.name} could not be fetched. " + " ".join(failures) + " If you can get it "
        "elsewhere, put it into a folder and let SCUMBLE_DATA name that folder."
    )


def _unknown(name: str) -> ParameterError:
    names = [each for entry in entries() for each in (entry.name, *entry.aliases)]
    hint = did_you_mean(name, names)
    if os.path.sep in name or Path(name).suffix.lower() in SUFFIXES:
        hint = " To read a file, use scumble.read."
    return ParameterError(
        f"There is no data set called {name!r}.{hint} Expected one of: {', '.join(sorted(names))}; "
        "or the name of a file in a folder that SCUMBLE_DATA names."
    )


def _absent(entry: RepositoryEntry, part: str | None) -> DataError:
    what = entry.name if part is None else f"{entry.name}-{part}"
    if entry.name == EMBEDDED:
        return DataError(
            f"{what!r} travels inside scumble and is no file. Load it by its name, or make a file "
            f"of it: scumble convert {entry.name} {entry.name}.arff"
        )
    if _main_file(entry, part) is not None:
        hint = (
            f"Fetch it with scumble.data.repository.fetch({entry.name!r}), or from the shell with "
            f"scumble data get {entry.name}."
        )
    else:
        hint = str(_no_address(entry, part))
    searched = os.environ.get("SCUMBLE_DATA") or "(not set)"
    return DataError(
        f"{what!r} is neither in SCUMBLE_DATA {searched} nor in the cache {cache_folder()}. {hint}"
    )


def _no_address(entry: RepositoryEntry, part: str | None) -> DownloadError:
    if part is not None:
        return DownloadError(f"No address is known for the {part} part of {entry.name!r}.")
    if entry.name == EMBEDDED:
        return DownloadError(f"{EMBEDDED!r} travels with the package: there is nothing to fetch.")
    return DownloadError(
        f"No address is known for {entry.name!r} ({entry.note}). Put {entry.name}.arff and "
        f"{entry.name}.xml into a folder and let SCUMBLE_DATA name that folder."
    )


def availability(name: str) -> str:
    """Tell where a data set is, in a word.

    Examples
    --------
    >>> from scumble.data import repository
    >>> repository.place("debtags")
    'embedded'
    """
    entry = find(name)
    if entry.name == EMBEDDED:
        return "embedded"
    if _present(entry.name, entry, None) is not None:
        return "here"
    return "to fetch" if entry.can_be_fetched else "SCUMBLE_DATA only"
