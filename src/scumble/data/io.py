"""`read` and `write`: find the form of a file by its content, or write one by its name."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ParameterError, ParameterTypeError, ScumbleWarning, did_you_mean
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
        One of the names in ``scumble.catalogue.names("format")``; by default the form is found
        by looking into the file.
    labels : sequence, int or str, optional
        Which columns are labels: names, column numbers from 0, a count (negative: from the end),
        or the path of a MULAN XML file. By default what the file, or its XML, says.
    member : str, optional
        The name of the file inside of a ``.zip`` archive, where several hold data. A MULAN pair,
        ARFF and XML, counts as one.
    **options : object
        Further options of the format's own reader. ``ignore`` names columns to leave out and
        ``text`` columns whose words are learnt (see `scumble.learn.TextColumns`) in any format.

    Returns
    -------
    MultilabelDataset
        The data.

    Raises
    ------
    ScumbleError
        If the file cannot be read, with the place.

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
        chosen = find_format(source, format)
        rest = _options_for_features(chosen.read, options)
        _refuse_unknown_options(chosen.read, options, f"reading {chosen.name} files")
        data = chosen.read(source, labels=labels, **options)
        if not rest:
            return data
        from scumble.data.formats.label_choice import choose_features

        # Nothing is left out unasked here, so there is nothing to keep.
        return choose_features(source, data, ignore=rest.get("ignore"), text=rest.get("text"))


def write(
    dataset: MultilabelDataset,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    **options: Any,
) -> None:
    """Write a data set to a file: whole or not at all, and always the same bytes.

    Parameters
    ----------
    dataset : MultilabelDataset
        The data.
    path : str or Path
        The file. Its suffix decides the form (``.arff`` means MULAN, with an ``.xml`` beside
        it) and the compression. ``"-"`` writes to standard output, with a format that makes one
        file.
    format : str, optional
        One of the names in ``scumble.catalogue.names("format")``.
    **options : object
        Further options of the format's own writer.

    Warns
    -----
    ScumbleWarning
        If the format cannot carry something this data set holds.

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
    shown: str,
    format: str | None,
    options: dict[str, Any],
) -> None:
    """Write what becomes visible when the target is committed; messages call it ``shown``."""
    from scumble.data.formats.base import present_parts

    chosen = _by_name(format) if format is not None else _by_suffix(target.suffix, shown)
    _refuse_unknown_options(chosen.write, options, f"writing {chosen.name} files")
    lost = sorted(present_parts(dataset, target.stem) - chosen.preserved_parts)
    if lost:
        warnings.warn(
            f"{shown}: the {chosen.name} format cannot carry: {', '.join(lost)}.",
            ScumbleWarning,
            stacklevel=3,
        )
    chosen.write(dataset, target, **options)


def write_parts(
    parts: Sequence[MultilabelDataset],
    paths: Sequence[str | os.PathLike[str]],
    *,
    format: str | None = None,
) -> None:
    """Write data sets that belong together, named after their files: all of them, or none."""
    with atomic_write_all(paths) as targets:
        for part, target in zip(parts, targets, strict=True):
            named = replace(part, name=target.stem)
            _write_to(named, target, str(target.path), format, {})


def train_test_paths(path: str | os.PathLike[str]) -> list[Path]:
    """Name the training and the test part of a data set as MULAN does."""
    target = OutputFile(path)
    rest = target.path.name[len(target.stem) :]
    return [target.path.with_name(f"{target.stem}-{part}{rest}") for part in ("train", "test")]


@contextmanager
def open_dataset_file(path: str | os.PathLike[str], member: str | None) -> Iterator[InputFile]:
    """Find what to read: the file itself, or the one in an archive that holds the data."""
    from scumble.data.input_files import find_data_member, is_archive, open_input_file

    with open_input_file(path) as source:
        if is_archive(source):
            suffixes = [suffix for form in next(_formats()).values() for suffix in form.suffixes]
            source = find_data_member(source, suffixes, member)
        elif member is not None:
            raise ParameterError(
                f"{os.fspath(path)} is no .zip archive: there is no 'member' {member!r} in it. "
                "Leave it out."
            )
        yield source


def input_paths(
    path: str | os.PathLike[str], *, format: str | None = None, labels: Any = None
) -> list[Path]:
    """List the files that `read` would open: the file itself, and the XML of a MULAN one."""
    from scumble.data.input_files import is_archive

    if os.fspath(path) == STDIO_PATH:
        return []
    source = InputFile(path)
    if is_archive(source):
        return [source.path]
    beside = find_format(source, format).companion_file(source)
    # Where the user says which labels there are, an XML file of another name is not read.
    is_read = beside is not None and (labels is None or source.stem.startswith(beside.stem))
    return [source.path, beside] if beside is not None and is_read else [source.path]


def output_paths(path: str | os.PathLike[str], *, format: str | None = None) -> list[Path]:
    """List the files that `write` would make: the file itself, and the XML of a MULAN one."""
    target = OutputFile(path)
    chosen = _by_name(format) if format is not None else _by_suffix(target.suffix, os.fspath(path))
    beside = chosen.companion_file(target)
    return [target.path] if beside is None else [target.path, beside]


def _checked_path(path: Any, caller: str) -> str | os.PathLike[str]:
    if not isinstance(path, str | os.PathLike):
        text = repr(path)  # a page, if it is a data frame, say
        shown = text if len(text) <= 80 and "\n" not in text else f"a {type(path).__name__}"
        raise ParameterTypeError(
            f"{caller}: the path of a file must be a str or a Path. Got {shown} instead."
        )
    return path


def _refuse_unknown_options(function: Any, options: dict[str, Any], what: str) -> None:
    parameters = inspect.signature(function).parameters.values()
    known = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "labels"]
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ParameterError(
            f"There is no option {unknown[0]!r} for {what}. "
            + (f"Expected one of {', '.join(known)}." if known else "Expected none.")
        )


def _options_for_features(reader: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Take out what every format understands, though its own reader does not ask for it."""
    general = {"ignore", "text", "keep"} - inspect.signature(reader).parameters.keys()
    return {name: options.pop(name) for name in general & options.keys()}


def _formats() -> Iterator[dict[str, Format]]:
    """Give our formats, and then those of other packages as well, which takes longer."""
    import scumble.data.formats  # noqa: F401  (importing it registers all formats)

    yield dict(registered_objects("format"))
    load_plugins()
    yield dict(registered_objects("format"))


def find_format(source: InputFile, name: str | None) -> Format:
    """Find the form of a file: by its name where one is given, or else by looking into it."""
    return _by_name(name) if name is not None else _format_from_content(source)


def _by_name(name: str) -> Format:
    for formats in _formats():
        if name in formats:
            return formats[name]
    raise ParameterError(
        f"Unknown format {name!r}.{did_you_mean(name, formats)} "
        f"Expected one of {', '.join(sorted(formats))}."
    )


def _format_from_content(source: InputFile) -> Format:
    head = source.head()
    if not head.strip():
        raise source.error("the file is empty. Expected a data set.")
    for formats in _formats():
        scores = {name: form.sniff(source, head) for name, form in formats.items()}
        best = max(scores, key=lambda name: scores[name])
        if scores[best] > 0:
            return formats[best]
    raise source.error(
        f"no known format recognises this file. Expected one of {', '.join(sorted(scores))}: "
        "name it with format=... if it is one of them."
    )


def _by_suffix(suffix: str, shown: str) -> Format:
    for formats in _formats():
        suited = [form for form in formats.values() if suffix in form.suffixes]
        if suited:
            return next((form for form in suited if suffix == form.suffixes[0]), suited[0])
    known = sorted({s for form in formats.values() for s in form.suffixes})
    raise ParameterError(
        f"{shown}: the suffix {suffix or '(none)'!r} belongs to no format. Expected one "
        f"of {' '.join(known)}, or name the format with format=..."
    )
