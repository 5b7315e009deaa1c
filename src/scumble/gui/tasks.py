"""What worker processes do: read, treat, write. Each is a plain function of plain values."""

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
    whole,
)
from scumble.measures.summary import characterize

if TYPE_CHECKING:  # what a task alone needs is imported by it: the first one shall be done soon
    from scumble.data import MultilabelDataset

#: Seconds between two messages about progress.
BEAT = 0.05


def answer(request: tuple[str, Payload], tell: Callable[[Any], None]) -> tuple[str, Any]:
    """Do a task of this room: how it ended, and its result with the warnings it gave."""
    name, arguments = request
    load_plugins()  # by the first task, and never again: no request imports anything
    try:
        with show_progress(_Progress(whole(tell))), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", ScumbleWarning)
            result = resolve_name(f"scumble.gui.{name}")(**arguments)
    except ScumbleError as error:
        return "failed", str(error)
    except KeyboardInterrupt:  # before anything was found
        return "stopped", None
    except MemoryError:
        return "failed", "There is not enough memory for this."
    except Exception as error:
        if told := disk_full_message(error):
            return "failed", told
        traceback.print_exc()
        return "failed", INTERNAL_ERROR_MESSAGE
    notes = [str(each.message) for each in heard if issubclass(each.category, ScumbleWarning)]
    return "done", (result, notes)


class _Progress:
    """Tells the server how far a task is, not more often than anyone could look."""

    def __init__(self, tell: Callable[[Any], None]) -> None:
        self._tell = tell
        self._last = 0.0

    def start(self, title: str, total: int | None) -> Callable[[int], None]:
        done = 0
        self._tell(("progress", title, 0, total))

        def advance(steps: int) -> None:
            nonlocal done
            done += steps
            now = time.monotonic()
            if now - self._last >= BEAT:
                self._last = now
                self._tell(("progress", title, done, total))

        return advance

    def finish(self) -> None:
        """Nothing to clear: the next message replaces this one."""


def describe_catalogue() -> Payload:
    """List formats, resamplers and reports; importing them all takes seconds, hence here."""
    from scumble.advice import CANDIDATES
    from scumble.catalogue import entries
    from scumble.gui.methods import classifiers, methods

    formats = entries("format").values()
    has_pdf = find_spec("typst") is not None
    return {
        "formats": [
            {"name": form.name, "title": form.title, "suffixes": list(form.suffixes)}
            for form in formats
        ],
        "compressions": ["", *COMPRESSIONS],
        "suffixes": sorted({".xml", *(suffix for form in formats for suffix in form.suffixes)}),
        "methods": methods(),
        "classifiers": classifiers(),
        "candidates": [candidate.name for candidate in CANDIDATES],
        "reports": ["html", *(["pdf"] if has_pdf else []), "json"],
    }


def pack_with_measures(data: MultilabelDataset) -> PackedDataset:
    """Measure a data set."""
    from scumble.data.feature_table import feature_table
    from scumble.gui.pages import overview

    with progress_bar("Measuring"):
        summary = characterize(data)
        return PackedDataset.pack(overview(data, summary), (data, summary, feature_table(data)))


def open_path(name: str, options: Payload) -> PackedDataset | None:
    """Read what was named on the command line: a file, or a data set of the shelf.

    None where it is a plain table, and nothing tells its labels: the page will ask.
    """
    from scumble.data import load, read

    is_file = Path(name).exists() or Path(name).name != name or "." in name
    if Path(name).is_file() and not {"labels", "label_column"} & options.keys():
        from scumble.data.preview import PREVIEW_OPTIONS, preview

        settings = {key: value for key, value in options.items() if key in PREVIEW_OPTIONS}
        if preview(name, **settings).needs_column_roles:
            return None
    return pack_with_measures((read if is_file else load)(name, **options))


def open_named(name: str, options: Payload | None = None) -> PackedDataset:
    """Load a public data set, which may have to be fetched; or make one where it is told how."""
    if options is None:
        from scumble.data import load

        return pack_with_measures(load(name))
    from scumble.data import make_multilabel

    with progress_bar("Making data"):
        data = make_multilabel(**options)
    return pack_with_measures(data)


def treat(packed: PackedDataset, steps: list[Payload]) -> tuple[PackedDataset, Payload]:
    """Run resamplers one after another."""
    from scumble.gui.methods import make_resampler
    from scumble.resample import apply_chain

    chain = [make_resampler(**step) for step in steps]
    with progress_bar(" + ".join(type(step).__name__ for step in chain)):
        after, report = apply_chain(packed.data, chain)
    return pack_with_measures(after), report


def export_data(
    packed: PackedDataset, folder: Path, stem: str, form: str, compression: str
) -> tuple[str, Payload]:
    """Write a data set to a folder of ours."""
    from scumble.catalogue import get

    def write_to(target: Path) -> list[Path]:
        from scumble.data import write

        with (
            progress_bar(f"Writing {target.name}"),
            replace_paths_in_messages({str(target): target.name}),
        ):
            write(packed.data, target, format=form)
        return sorted(folder.iterdir())

    plain = folder / f"{stem}{get('format', form).suffixes[0]}"
    target = plain.with_name(plain.name + compression)
    written = write_to(target)
    if len(written) == 1:
        return target.name, {}
    if compression:  # an archive compresses by itself, and is opened by what lies plain in it
        target.unlink()
        written = write_to(plain)
    archive = folder / f"{stem}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as box:
        for path in written:
            # No time stamps: the same data gives the same bytes.
            box.writestr(zipfile.ZipInfo(path.name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return archive.name, {}


def export_report(
    packed: PackedDataset,
    treatment: Payload | None,
    source: str,
    folder: Path,
    stem: str,
    form: str,
) -> tuple[str, Payload]:
    """Write the concurrence report to a folder of ours."""
    from scumble.report import concurrence_report, render_html, render_pdf
    from scumble.report.concurrence import origin_text

    path = folder / f"{stem}-report.{form}"
    with progress_bar(f"Writing {path.name}"):
        report = concurrence_report(packed.data, origin=origin_text(source))
        if form == "json":
            whole = report if treatment is None else {**report, "treatment": treatment}
            path.write_text(json.dumps(whole, indent=2, allow_nan=False, ensure_ascii=False))
        elif form == "html":
            path.write_bytes(render_html(report, treatment).encode())
        else:
            path.write_bytes(render_pdf(report, treatment))
    return path.name, {}


@contextmanager
def replace_paths_in_messages(shown: dict[str, str]) -> Iterator[None]:
    """Let errors and warnings say what the client calls a file, never where it lies here."""
    with warnings.catch_warnings(record=True, action="always", category=ScumbleWarning) as heard:
        try:
            yield
        except ScumbleError as error:
            raise ScumbleError(_as_shown(str(error), shown)) from None
        except (FileNotFoundError, PermissionError) as error:
            raise _out_of_reach(error, shown) from None
    for each in heard:
        text = _as_shown(str(each.message), shown)
        warnings.warn(text, ScumbleWarning, stacklevel=3)


def _out_of_reach(error: OSError, shown: dict[str, str]) -> Exception:
    """Say that a file was moved, discarded or closed to us; other errors stay as they are."""
    for path, name in shown.items():
        if Path(path).parent == Path(str(error.filename)).parent:
            if isinstance(error, PermissionError):
                return ScumbleError(f"{name}: no permission to read the file.")
            return ScumbleError(f"{name}: the file is gone. Put it back, or send it again.")
    return error


def _as_shown(text: str, shown: dict[str, str]) -> str:
    for path in sorted(shown, key=len, reverse=True):
        text = text.replace(path, shown[path])
    for folder in {str(Path(path).parent) for path in shown}:
        text = text.replace(f"{folder}/", "").replace(folder, "the upload")
    return text
