"""`read` and `write`: data sets from and to files, in the format of the content or the suffix."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble._core.errors import (
    ParameterError,
    ParameterTypeError,
    ScumbleWarning,
    WriteError,
    did_you_mean,
)
from scumble._core.files import InputFile, OutputFile, atomic_write, atomic_write_all
from scumble._core.registry import load_plugins, registered_objects
from scumble._core.text import STDIO_PATH, display_path
from scumble.data.dataset import MultilabelDataset

if TYPE_CHECKING:  # only read and write need the formats
    from scumble.data.formats.base import Format, LabelChoice


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    labels: LabelChoice = None,
    member: str | None = None,
    **options: Any,
) -> MultilabelDataset:
    r"""Read a data set from a file.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed (``.gz``, ``.bz2``, ``.xz``, ``.zst``, ``.zip``); ``"-"``
        reads standard input.
    format : str, optional
        One of the names in ``scumble.catalogue.names("format")``; by default the format is
        recognised by the content of the file.
    labels : sequence, int or str, optional
        The columns that are labels: names, column numbers from 0, a count (negative: from the end),
        or the path of a MULAN XML file. By default as the file, or its XML file, declares.
    member : str, optional
        The name of the file inside a ``.zip`` archive that holds several data files. A MULAN pair
        of ARFF and XML counts as one.
    **options : object
        Further options of the reader of the format. In any format ``ignore`` names columns to leave
        out and ``text`` columns of free text, which a classifier gets as one number per word (see
        `scumble.learn.TextColumns`). ``keep`` has no effect in formats that declare their columns:
        nothing is inferred there.

    Returns
    -------
    MultilabelDataset
        The data.

    Raises
    ------
    ScumbleError
        If the file cannot be read; the message names file, line and column.

    Examples
    --------
    >>> import scumble, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "films.arff").write_text(
    ...     "@relation 'films: -C 2'\n@attribute war {0,1}\n@attribute love {0,1}\n"
    ...     "@attribute minutes numeric\n@data\n1,0,150\n1,1,90\n"
    ... )
    >>> scumble.read(folder / "films.arff")
    <MultilabelDataset 'films': 2 instances, 1 feature, 2 labels>
    """
    with open_dataset_file(_checked_path(path, "read"), member) as source:
        file_format = find_format(source, format)
        common_options = _remove_common_options(file_format.read, options)
        _check_options(file_format.read, options, f"reading {file_format.name} files")
        data = file_format.read(source, labels=labels, **options)
        if not common_options:
            return data
        from scumble.data.formats.label_choice import choose_features

        # ``keep`` has no effect: such a reader leaves out no column by itself.
        return choose_features(
            source, data, ignore=common_options.get("ignore"), text=common_options.get("text")
        )


def write(
    dataset: MultilabelDataset,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    **options: Any,
) -> None:
    """Write a data set to a file: completely or not at all, and always with the same bytes.

    Parameters
    ----------
    dataset : MultilabelDataset
        The data.
    path : str or Path
        The file. Its suffix determines the format (``.arff`` means MULAN, with an additional
        ``.xml`` file) and the compression. ``"-"`` writes to standard output, if the format
        consists of one file.
    format : str, optional
        One of the names in ``scumble.catalogue.names("format")``.
    **options : object
        Further options of the writer of the format.

    Warns
    -----
    ScumbleWarning
        If the format cannot store everything that the data set holds.

    Examples
    --------
    >>> import scumble, tempfile, pathlib
    >>> films = scumble.MultilabelDataset([[150.0], [90.0]], [["war"], ["love"]], name="films")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "films.arff.gz"
    >>> scumble.write(films, path)
    >>> scumble.read(path) == films
    True
    """
    if not isinstance(dataset, MultilabelDataset):
        raise ParameterTypeError(
            f"write: expected a MultilabelDataset. Got {type(dataset).__name__} instead: make one "
            "with MultilabelDataset(X, Y) or MultilabelDataset.from_frame."
        )
    with atomic_write(_checked_path(path, "write")) as target:
        _write_to(dataset, target, display_path(path, "standard output"), format, options)


def _write_to(
    dataset: MultilabelDataset,
    target: OutputFile,
    path_text: str,
    format: str | None,
    options: dict[str, Any],
) -> None:
    """Write a data set to ``target``, in the named format or the one of the suffix.

    Warn of parts of the data set that the format cannot store. Messages call the file
    ``path_text``; ``options`` are those of the writer.
    """
    from scumble.data.formats.base import present_parts

    file_format = _format_for_writing(format, target.suffix, path_text)
    _check_options(file_format.write, options, f"writing {file_format.name} files")
    if len(dataset) == 0 and not file_format.can_hold_zero_rows:
        raise WriteError(
            f"{path_text}: the {file_format.name} format cannot hold a data set without instances. "
            "Choose another format."
        )
    lost_parts = sorted(present_parts(dataset, target.stem) - file_format.preserved_parts)
    if lost_parts:
        warnings.warn(
            f"{path_text}: the {file_format.name} format cannot carry: {', '.join(lost_parts)}.",
            ScumbleWarning,
            stacklevel=3,
        )
    file_format.write(dataset, target, **options)


def write_parts(
    parts: Sequence[MultilabelDataset],
    paths: Sequence[str | os.PathLike[str]],
    *,
    format: str | None = None,
) -> None:
    """Write one data set to each path, renamed after its file: all of them or, on error, none."""
    with atomic_write_all(paths) as targets:
        for part, target in zip(parts, targets, strict=True):
            renamed = replace(part, name=target.stem)
            _write_to(renamed, target, str(target.path), format, {})


def train_test_paths(path: str | os.PathLike[str]) -> list[Path]:
    """Return the paths of the training and the test part of a data set, named as by MULAN.

    For ``films.arff.gz`` these are ``films-train.arff.gz`` and ``films-test.arff.gz``.
    """
    target = OutputFile(path)
    suffixes = target.path.name[len(target.stem) :]
    return [target.path.with_name(f"{target.stem}-{part}{suffixes}") for part in ("train", "test")]


@contextmanager
def open_dataset_file(path: str | os.PathLike[str], member: str | None) -> Iterator[InputFile]:
    """Yield the file to read: the file itself, or the member of a ``.zip`` archive with the data.

    ``member`` is the name of that member; None if the archive holds only one data file. Raise
    ParameterError if a member is named but the file is not an archive.
    """
    from scumble.data.input_files import find_data_member, is_archive, open_input_file

    with open_input_file(path) as source:
        if is_archive(source):
            builtin_formats = next(_formats())
            source = find_data_member(source, _all_suffixes(builtin_formats), member)
        elif member is not None:
            raise ParameterError(
                f"{os.fspath(path)} is no .zip archive: there is no 'member' {member!r} in it. "
                "Leave it out."
            )
        yield source


def input_paths(
    path: str | os.PathLike[str], *, format: str | None = None, labels: Any = None
) -> list[Path]:
    """List the files that `read` would open: the file itself and, for MULAN, its XML file.

    The list is empty for standard input. ``labels`` is the option of `read`.
    """
    from scumble.data.input_files import is_archive

    if os.fspath(path) == STDIO_PATH:
        return []
    source = InputFile(path)
    if is_archive(source):
        return [source.path]
    companion = find_format(source, format).companion_file(source)
    if companion is None:
        return [source.path]
    # If the user specifies the labels, an XML file of another name is not read.
    if labels is not None and not source.stem.startswith(companion.stem):
        return [source.path]
    return [source.path, companion]


def output_paths(path: str | os.PathLike[str], *, format: str | None = None) -> list[Path]:
    """List the files that `write` would create: the file itself and, for MULAN, its XML file."""
    target = OutputFile(path)
    file_format = _format_for_writing(format, target.suffix, os.fspath(path))
    companion = file_format.companion_file(target)
    if companion is None:
        return [target.path]
    return [target.path, companion]


def _checked_path(path: Any, caller: str) -> str | os.PathLike[str]:
    """Return ``path``; raise ParameterTypeError if it is not a str or a Path."""
    if not isinstance(path, str | os.PathLike):
        text = repr(path)
        if len(text) > 80 or "\n" in text:  # a data frame, for example
            text = f"a {type(path).__name__}"
        raise ParameterTypeError(
            f"{caller}: the path of a file must be a str or a Path. Got {text} instead."
        )
    return path


def _check_options(read_or_write: Any, options: dict[str, Any], purpose: str) -> None:
    """Raise ParameterError for an option that is not a keyword of a reader or writer.

    ``purpose`` ends the first sentence of the message: "There is no option 'x' for ...".
    """
    parameters = inspect.signature(read_or_write).parameters.values()
    allowed = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "labels"]
    unknown = [name for name in options if name not in allowed]
    if unknown:
        expected = f"Expected one of {', '.join(allowed)}." if allowed else "Expected none."
        raise ParameterError(f"There is no option {unknown[0]!r} for {purpose}. {expected}")


def _remove_common_options(reader: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Remove ``ignore``, ``text`` and ``keep`` from ``options`` and return them in a dict.

    Those that are parameters of the reader itself remain in ``options``.
    """
    common_names = {"ignore", "text", "keep"} - inspect.signature(reader).parameters.keys()
    return {name: options.pop(name) for name in common_names & options.keys()}


def _formats() -> Iterator[dict[str, Format]]:
    """Yield the formats of this package, by name; next, those of this package and of plugins.

    Callers stop at the first mapping that suffices, because loading plugins takes longer.
    """
    import scumble.data.formats  # noqa: F401  (importing it registers all formats)

    yield dict(registered_objects("format"))
    load_plugins()
    yield dict(registered_objects("format"))


def _all_suffixes(formats: Mapping[str, Format]) -> list[str]:
    """List the suffixes of all formats, in the order of the mapping; some occur several times."""
    return list(chain.from_iterable(form.suffixes for form in formats.values()))


def find_format(source: InputFile, name: str | None) -> Format:
    """Return the format called ``name``; None: the format that recognises the file's content."""
    if name is not None:
        return _format_by_name(name)
    return _format_from_content(source)


def _format_for_writing(name: str | None, suffix: str, path_text: str) -> Format:
    """Return the format called ``name``; None: the format of the suffix of the file to write."""
    if name is not None:
        return _format_by_name(name)
    return _format_by_suffix(suffix, path_text)


def _format_by_name(name: str) -> Format:
    """Return the format called ``name``; raise ParameterError for an unknown name."""
    for formats in _formats():
        if name in formats:
            return formats[name]
    raise ParameterError(
        f"Unknown format {name!r}.{did_you_mean(name, formats)} "
        f"Expected one of {', '.join(sorted(formats))}."
    )


def _format_from_content(source: InputFile) -> Format:
    """Return the format whose ``sniff`` gives the first bytes of a file the highest score.

    Raise ReadError if the file is empty or no format recognises it.
    """
    head = source.head()
    if not head.strip():
        raise source.error("the file is empty. Expected a data set.")
    for formats in _formats():
        scores = {name: file_format.sniff(source, head) for name, file_format in formats.items()}
        best = max(scores, key=lambda name: scores[name])
        if scores[best] > 0:
            return formats[best]
    raise source.error(
        f"no known format recognises this file. Expected one of {', '.join(sorted(scores))}: "
        "name it with format=... if it is one of them."
    )


def _format_by_suffix(suffix: str, path_text: str) -> Format:
    """Return the format of a suffix, preferably one that lists it as its first suffix.

    Raise ParameterError if no format has the suffix; the message calls the file ``path_text``.
    """
    for formats in _formats():
        matches = [form for form in formats.values() if suffix in form.suffixes]
        for file_format in matches:
            if file_format.suffixes[0] == suffix:
                return file_format
        if matches:
            return matches[0]
    all_suffixes = sorted(set(_all_suffixes(formats)))
    raise ParameterError(
        f"{path_text}: the suffix {suffix or '(none)'!r} belongs to no format. Expected one "
        f"of {' '.join(all_suffixes)}, or name the format with format=..."
    )
