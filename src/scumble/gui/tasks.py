"""Tasks of worker processes: read, treat and write data. Each is a function of plain values."""

from __future__ import annotations

import json
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ScumbleError, ScumbleWarning
from scumble._core.files import COMPRESSIONS
from scumble._core.progress import progress_bar, show_progress
from scumble._core.registry import load_plugins
from scumble.gui.worker import (
    INTERNAL_ERROR_MESSAGE,
    PackedDataset,
    Payload,
    disk_full_message,
    send_uninterrupted,
)
from scumble.measures.summary import characterize

# Tasks import what they alone need, so that the first one, which opens a file, ends soon.
if TYPE_CHECKING:
    from scumble.data import MultilabelDataset

#: Minimum seconds between two progress messages; a page cannot show more.
PROGRESS_INTERVAL = 0.05


def run_task(request: tuple[str, Payload], send: Callable[[Any], None]) -> tuple[str, Any]:
    """Run a task and return its last message.

    Parameters
    ----------
    request : tuple of str and dict
        Name of a function in `scumble.gui`, such as ``"tasks.treat"``, and its arguments by name.
    send : callable
        Sends a message to the server.

    Returns
    -------
    tuple of str and object
        ``"done"`` with the result and the warnings, ``"failed"`` with the reason, or ``"stopped"``
        with None.
    """
    name, arguments = request
    load_plugins()  # with the first task only: no request imports anything later
    progress = _ProgressMessages(send_uninterrupted(send))
    try:
        with show_progress(progress), warnings.catch_warnings(record=True) as caught_warnings:
            warnings.simplefilter("always", ScumbleWarning)
            result = resolve_name(f"scumble.gui.{name}")(**arguments)
    except ScumbleError as error:
        return "failed", str(error)
    except KeyboardInterrupt:  # there is no partial result yet
        return "stopped", None
    except MemoryError:
        return "failed", "There is not enough memory for this."
    except Exception as error:
        message = disk_full_message(error)
        if message is None:
            traceback.print_exc()
            message = INTERNAL_ERROR_MESSAGE
        return "failed", message
    notes = [
        str(warning.message)
        for warning in caught_warnings
        if issubclass(warning.category, ScumbleWarning)
    ]
    return "done", (result, notes)


class _ProgressMessages:
    """Sends the progress of a task to the server, at most once per `PROGRESS_INTERVAL`."""

    def __init__(self, send: Callable[[Any], None]) -> None:
        self._send = send
        self._last_time = 0.0

    def start(self, title: str, total: int | None) -> Callable[[int], None]:
        """Report the start of a step; return the function that reports its progress."""
        n_done = 0
        self._send(("progress", title, 0, total))

        def advance(steps: int) -> None:
            nonlocal n_done
            n_done += steps
            now = time.monotonic()
            if now - self._last_time >= PROGRESS_INTERVAL:
                self._last_time = now
                self._send(("progress", title, n_done, total))

        return advance

    def finish(self) -> None:
        """Do nothing: the next message replaces this one."""


def describe_catalogue() -> Payload:
    """Return the formats, resamplers, classifiers and report formats.

    This is a task because importing them all takes seconds.
    """
    from scumble.advice import CANDIDATES
    from scumble.catalogue import entries
    from scumble.gui.methods import classifiers, methods

    formats = entries("format").values()
    suffixes = {".xml"}
    for file_format in formats:
        suffixes.update(file_format.suffixes)
    report_formats = ["html"]
    if find_spec("typst") is not None:  # it makes the PDF files
        report_formats.append("pdf")
    report_formats.append("json")
    return {
        "formats": [
            {
                "name": file_format.name,
                "title": file_format.title,
                "suffixes": list(file_format.suffixes),
            }
            for file_format in formats
        ],
        "compressions": ["", *COMPRESSIONS],
        "suffixes": sorted(suffixes),
        "methods": methods(),
        "classifiers": classifiers(),
        "candidates": [candidate.name for candidate in CANDIDATES],
        "reports": report_formats,
    }


def pack_with_measures(data: MultilabelDataset) -> PackedDataset:
    """Measure a data set and pack it together with its measures."""
    from scumble.data.feature_table import feature_table
    from scumble.gui.pages import overview

    with progress_bar("Measuring"):
        summary = characterize(data)
        content = (data, summary, feature_table(data))
        return PackedDataset.pack(overview(data, summary), content)


def open_path(name: str, options: Payload) -> PackedDataset | None:
    """Read a file, or load a public data set, that was named on the command line.

    Returns
    -------
    PackedDataset or None
        None for a plain table whose labels are not known; the page then asks for them.
    """
    from scumble.data import load, read

    looks_like_path = Path(name).exists() or Path(name).name != name or "." in name
    has_label_option = "labels" in options or "label_column" in options
    if Path(name).is_file() and not has_label_option:
        from scumble.data.preview import PREVIEW_OPTIONS, preview

        preview_options = {key: value for key, value in options.items() if key in PREVIEW_OPTIONS}
        if preview(name, **preview_options).needs_column_roles:
            return None
    read_data = read if looks_like_path else load
    return pack_with_measures(read_data(name, **options))


def open_named(name: str, options: Payload | None = None) -> PackedDataset:
    """Load a public data set, downloading it if necessary; with options, make synthetic data."""
    if options is None:
        from scumble.data import load

        return pack_with_measures(load(name))
    from scumble.data import make_multilabel

    with progress_bar("Making data"):
        data = make_multilabel(**options)
    return pack_with_measures(data)


def treat(packed: PackedDataset, steps: list[Payload]) -> tuple[PackedDataset, Payload]:
    """Apply resamplers in order; return the resulting data set and the report of the steps."""
    from scumble.gui.methods import make_resampler
    from scumble.resample import apply_chain

    chain = [make_resampler(**step) for step in steps]
    with progress_bar(" + ".join(type(resampler).__name__ for resampler in chain)):
        resampled, report = apply_chain(packed.data, chain)
    return pack_with_measures(resampled), report


def export_data(
    packed: PackedDataset, folder: Path, stem: str, format_name: str, compression: str
) -> tuple[str, Payload]:
    """Write a data set to a folder; several files become an archive.

    Returns
    -------
    tuple of str and dict
        Name of the file in the folder, and further values for the client, of which there are none.
    """
    from scumble.catalogue import get

    plain_path = folder / f"{stem}{get('format', format_name).suffixes[0]}"
    path = plain_path.with_name(plain_path.name + compression)
    written_paths = _write_data(packed.data, path, format_name)
    if len(written_paths) == 1:
        return path.name, {}
    if compression:  # archives are compressed anyway, and readers expect plain files in them
        path.unlink()
        written_paths = _write_data(packed.data, plain_path, format_name)
    archive_path = folder / f"{stem}.zip"
    with zipfile.ZipFile(archive_path, "w", zipfile.ZIP_DEFLATED) as archive:
        for written_path in written_paths:
            # Without a time stamp the same data gives the same bytes.
            member = zipfile.ZipInfo(written_path.name)
            archive.writestr(member, written_path.read_bytes(), zipfile.ZIP_DEFLATED)
    return archive_path.name, {}


def _write_data(data: MultilabelDataset, path: Path, format_name: str) -> list[Path]:
    """Write a data set; return all files in the folder of the path."""
    from scumble.data import write

    with progress_bar(f"Writing {path.name}"), replace_paths_in_messages({str(path): path.name}):
        write(data, path, format=format_name)
    return sorted(path.parent.iterdir())


def export_report(
    packed: PackedDataset,
    treatment: Payload | None,
    source: str,
    folder: Path,
    stem: str,
    format_name: str,
) -> tuple[str, Payload]:
    """Write the concurrence report to a folder; return as `export_data` does."""
    from scumble.report import concurrence_report, render_html, render_pdf
    from scumble.report.concurrence import origin_text

    path = folder / f"{stem}-report.{format_name}"
    with progress_bar(f"Writing {path.name}"):
        report = concurrence_report(packed.data, origin=origin_text(source))
        if format_name == "json":
            if treatment is not None:
                report = {**report, "treatment": treatment}
            path.write_text(json.dumps(report, indent=2, allow_nan=False, ensure_ascii=False))
        elif format_name == "html":
            path.write_bytes(render_html(report, treatment).encode())
        else:
            path.write_bytes(render_pdf(report, treatment))
    return path.name, {}


@contextmanager
def replace_paths_in_messages(display_names: dict[str, str]) -> Iterator[None]:
    """Replace paths of the private folder in errors and warnings by names that the client knows.

    Parameters
    ----------
    display_names : dict of str to str
        The name of each path. Paths that are added inside the block count as well.
    """
    with warnings.catch_warnings(
        record=True, action="always", category=ScumbleWarning
    ) as caught_warnings:
        try:
            yield
        except ScumbleError as error:
            raise ScumbleError(_with_display_names(str(error), display_names)) from None
        except (FileNotFoundError, PermissionError) as error:
            raise _unreadable_file_error(error, display_names) from None
    for warning in caught_warnings:
        text = _with_display_names(str(warning.message), display_names)
        warnings.warn(text, ScumbleWarning, stacklevel=3)


def _unreadable_file_error(error: OSError, display_names: dict[str, str]) -> Exception:
    """Return an error that names a missing or unreadable file; other errors are returned as is."""
    for path, name in display_names.items():
        if Path(path).parent == Path(str(error.filename)).parent:
            if isinstance(error, PermissionError):
                return ScumbleError(f"{name}: no permission to read the file.")
            return ScumbleError(f"{name}: the file is gone. Put it back, or send it again.")
    return error


def _with_display_names(text: str, display_names: dict[str, str]) -> str:
    """Return a message with display names instead of paths, and without their folders."""
    for path in sorted(display_names, key=len, reverse=True):  # a path may begin with another one
        text = text.replace(path, display_names[path])
    folders = {str(Path(path).parent) for path in display_names}
    for folder in folders:
        text = text.replace(f"{folder}/", "").replace(folder, "the upload")
    return text
