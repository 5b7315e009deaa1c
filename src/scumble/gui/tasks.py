"""What worker processes do: read, treat, write. Each is a plain function of plain values."""

from __future__ import annotations

import json
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from scumble._core.errors import ReadError, ScumbleError, ScumbleWarning
from scumble._core.files import BLOCK, COMPRESSIONS, Source
from scumble._core.progress import show_progress, track
from scumble._core.registry import load_plugins
from scumble.data import MultilabelDataset
from scumble.gui.full_disk import is_full, no_room
from scumble.gui.packed_dataset import PackedDataset
from scumble.gui.uploads import Upload
from scumble.gui.worker import WRONG_INSIDE
from scumble.measures.summary import characterize

#: Bytes of a value in memory.
VALUE = 8
#: Seconds between two messages about progress.
BEAT = 0.05


def answer(request: tuple[str, dict[str, Any]], tell: Callable[[Any], None]) -> tuple[str, Any]:
    """Do one of the tasks below: how it ended, and its result with the warnings it gave."""
    name, arguments = request
    load_plugins()  # by the first task, and never again: no request imports anything
    try:
        with show_progress(_Progress(tell)), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", ScumbleWarning)
            result = _task(name)(**arguments)
    except ScumbleError as error:
        return "failed", str(error)
    except MemoryError:
        return "failed", "There is not enough memory for this."
    except Exception as error:
        if isinstance(error, OSError) and is_full(error):
            return "failed", no_room()
        traceback.print_exc()
        return "failed", WRONG_INSIDE
    notes = [str(each.message) for each in heard if issubclass(each.category, ScumbleWarning)]
    return "done", (result, notes)


def _task(name: str) -> Any:
    """Find a task, here or among the long ones."""
    if name in globals():
        return globals()[name]
    from scumble.gui import studies

    return getattr(studies, name)


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


def describe_catalogue() -> dict[str, Any]:
    """List formats, resamplers and reports; importing them all takes seconds, hence here."""
    from importlib.util import find_spec

    from scumble import report
    from scumble.advise import CANDIDATES
    from scumble.catalogue import entries
    from scumble.gui.methods import classifiers, methods

    formats = entries("format").values()
    has_pdf = hasattr(report, "render_pdf") and find_spec("typst") is not None
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


def measured(data: MultilabelDataset) -> PackedDataset:
    """Measure a data set."""
    from scumble.data.feature_table import feature_table
    from scumble.gui.overview import overview

    with track("Measuring"):
        summary = characterize(data)
        return PackedDataset.pack(overview(data, summary), (data, summary, feature_table(data)))


def open_upload(
    file: Upload, xml: Upload | None, options: dict[str, Any], max_unpacked: int
) -> PackedDataset:
    """Open a file that a client sent."""
    from scumble.data import read

    return measured(read_upload(read, file, xml, options, max_unpacked))


def read_upload(
    read: Callable[..., MultilabelDataset],
    file: Upload,
    xml: Upload | None,
    options: dict[str, Any],
    max_unpacked: int,
) -> MultilabelDataset:
    """Read a file that a client sent, by a function that takes its path and the options."""
    from scumble.data.formats.arff.label_xml import MissingXmlError

    shown = {str(each.path): each.shown for each in (file, xml) if each is not None}
    if xml is not None:
        options = {**options, "labels": str(xml.path)}
    with _speaking_of(shown):
        path = _unpacked(file.path, max_unpacked)
        shown[str(path)] = file.shown
        if _size_of_columns(path, max_unpacked) > max_unpacked:
            raise _too_much(path, max_unpacked)
        try:
            data = read(path, **options)
        except MissingXmlError as error:  # it names the file we would have looked for
            raise ReadError(_no_xml(file.shown), path=error.path) from None
    if data.name in ("", path.stem):
        data = replace(data, name=_stem(file.shown))
    return data


def open_path(name: str, options: dict[str, Any]) -> PackedDataset:
    """Read what was named on the command line: a file, or a data set of the shelf."""
    from scumble.data import read, shelf

    given = {key: value for key, value in options.items() if value is not None}
    is_file = Path(name).exists() or Path(name).name != name or "." in name
    return measured(read(name, **given) if is_file else shelf.load(name, **given))


def open_example(name: str, options: dict[str, Any]) -> PackedDataset:
    """Make one of the built-in examples."""
    if name == "debtags":
        from scumble.data.embedded import load_debtags

        return measured(load_debtags())
    from scumble.data.synthetic import make_multilabel

    with track("Making data"):
        data = make_multilabel(**options)
    return measured(data)


def treat(
    packed: PackedDataset, steps: list[dict[str, Any]]
) -> tuple[PackedDataset, dict[str, Any]]:
    """Run resamplers one after another."""
    from scumble.gui.methods import make_step
    from scumble.resample import apply_chain

    chain = [make_step(step["method"], step["parameters"]) for step in steps]
    with track(" + ".join(type(step).__name__ for step in chain)):
        after, report = apply_chain(packed.data, chain)
    return measured(after), report


def export_data(packed: PackedDataset, folder: Path, stem: str, form: str, compression: str) -> str:
    """Write a data set to a folder of ours."""
    from scumble.catalogue import get
    from scumble.data import write

    def write_to(target: Path) -> list[Path]:
        with track(f"Writing {target.name}"), _speaking_of({str(target): target.name}):
            write(packed.data, target, format=form)
        return sorted(folder.iterdir())

    plain = folder / f"{stem}{get('format', form).suffixes[0]}"
    target = plain.with_name(plain.name + compression)
    written = write_to(target)
    if len(written) == 1:
        return target.name
    if compression:  # an archive compresses by itself, and is opened by what lies plain in it
        target.unlink()
        written = write_to(plain)
    archive = folder / f"{stem}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as box:
        for path in written:
            # No time stamps: the same data gives the same bytes.
            box.writestr(zipfile.ZipInfo(path.name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return archive.name


def export_report(
    packed: PackedDataset,
    treatment: dict[str, Any] | None,
    source: str,
    folder: Path,
    stem: str,
    form: str,
) -> str:
    """Write the concurrence report to a folder of ours."""
    from scumble.report import concurrence_report
    from scumble.report.concurrence import origin_in_words

    path = folder / f"{stem}-report.{form}"
    with track(f"Writing {path.name}"):
        report = concurrence_report(packed.data, origin=origin_in_words(source))
        if form == "json":
            whole = report if treatment is None else {**report, "treatment": treatment}
            path.write_text(json.dumps(whole, indent=2, allow_nan=False, ensure_ascii=False))
        else:
            path.write_bytes(_render(report, treatment, form))
    return path.name


def _render(report: dict[str, Any], treatment: dict[str, Any] | None, form: str) -> bytes:
    from scumble import report as room

    if form == "html":
        return room.render_html(report, treatment).encode()
    rendered: bytes = room.render_pdf(report, treatment)
    return rendered


def _unpacked(path: Path, limit: int) -> Path:
    """Decompress a file with a bound, so that everything after sees plain bytes."""
    from scumble.catalogue import entries
    from scumble.data.formats.arff.label_xml import find_label_xml
    from scumble.data.sources import data_member, is_archive

    source = Source(path)
    companion: Any = None
    if is_archive(source):
        suffixes = [suffix for form in entries("format").values() for suffix in form.suffixes]
        source = data_member(source, suffixes, None)
        companion, _ = find_label_xml(source)
    else:
        with open(path, "rb") as raw:
            start = raw.read(8)
        if not any(start.startswith(magic) for magic in COMPRESSIONS.values()):
            return path
    target = path.parent / f"plain{source.suffix}"
    if not target.exists():  # else this is a second try with other options
        if companion is not None:
            _copy(companion, target.with_suffix(".xml"), limit)
        _copy(source, target, limit)
    return target


def _copy(source: Source, target: Path, limit: int) -> None:
    partial = target.parent / "partial"
    n_bytes = 0
    with source.open() as stream, open(partial, "wb") as out:
        while block := stream.read(BLOCK):
            n_bytes += len(block)
            if n_bytes > limit:
                raise _too_much(source.path, limit)
            out.write(block)
    partial.rename(target)


def _size_of_columns(path: Path, limit: int) -> int:
    """Tell what files that compress their columns themselves become in memory; about 0 of others.

    Runs of equal values make pages of Parquet that are small even when they are decompressed, so
    values are counted, not bytes.
    """
    with open(path, "rb") as raw:
        start = raw.read(6)
    try:
        if start.startswith(b"PAR1"):
            return _values_of_parquet(path) * VALUE
        return _size_of_arrow(path, limit) if start == b"ARROW1" else 0
    except (ValueError, OSError):  # damaged: its reader will say so
        return 0


def _values_of_parquet(path: Path) -> int:
    import pyarrow.parquet as pq

    groups = pq.read_metadata(path)
    return sum(
        groups.row_group(at).column(column).num_values
        for at in range(groups.num_row_groups)
        for column in range(groups.num_columns)
    )


def _size_of_arrow(path: Path, limit: int) -> int:
    """Add up the batches, one at a time, as far as the limit."""
    import pyarrow as pa

    size = 0
    with pa.OSFile(str(path)) as raw, pa.ipc.open_file(raw) as reader:
        for at in range(reader.num_record_batches):
            size += reader.get_batch(at).nbytes
            if size > limit:
                break
    return size


def _too_much(path: Path, limit: int) -> ReadError:
    return ReadError(
        f"the file has more than {limit >> 20:,} MB when decompressed, which is more than this "
        "server takes. Start it with a larger --max-unpacked.",
        path=path,
    )


def _no_xml(shown: str) -> str:
    return (
        "an ARFF file of MULAN's does not say which attributes are labels. Expected "
        f"{_stem(shown)}.xml beside it: send both files together, or say which columns are labels."
    )


def _stem(shown: str) -> str:
    path = Path(shown.replace("\\", "/"))
    return (Path(path.stem).stem if path.suffix.lower() in COMPRESSIONS else path.stem) or "data"


@contextmanager
def _speaking_of(shown: dict[str, str]) -> Iterator[None]:
    """Let errors and warnings say what the client calls a file, never where it lies here."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", ScumbleWarning)
        try:
            yield
        except ScumbleError as error:
            raise ScumbleError(_as_shown(str(error), shown)) from None
    for each in heard:
        text = _as_shown(str(each.message), shown)
        warnings.warn(text, ScumbleWarning, stacklevel=3)


def _as_shown(text: str, shown: dict[str, str]) -> str:
    for path in sorted(shown, key=len, reverse=True):
        text = text.replace(path, shown[path])
    for folder in {str(Path(path).parent) for path in shown}:
        text = text.replace(f"{folder}/", "").replace(folder, "the upload")
    return text
