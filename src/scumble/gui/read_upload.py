"""What workers do with files that a client sent.

They are unpacked within bounds, read, and spoken of by the client's names.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

from scumble._core.errors import ReadError
from scumble._core.files import BLOCK_BYTES, COMPRESSIONS, CompressiblePath, InputFile
from scumble.data import MultilabelDataset, read
from scumble.data.formats.arff.label_xml import MissingXmlError, find_label_xml
from scumble.data.input_files import find_data_member, is_archive, list_data_members
from scumble.gui.folders import Upload, UploadedDataset
from scumble.gui.tasks import pack_with_measures, replace_paths_in_messages
from scumble.gui.worker import PackedDataset, Payload

#: Bytes of a value in memory.
VALUE = 8
#: Files of an archive among which a client chooses.
MAX_MEMBERS = 500


def open_upload(sent: UploadedDataset) -> PackedDataset:
    """Open a file that a client sent."""
    return pack_with_measures(read_upload(read, sent))


def preview_upload(file: Upload, options: Payload, max_unpacked: int) -> Payload:
    """Look at the beginning of a file that a client sent."""
    from scumble.data.preview import preview

    with replace_paths_in_messages({str(file.path): file.shown}):
        refuse_large(file.path, max_unpacked, arrow=False)
        return preview(file.path, **options).to_dict()


def read_upload(read: Callable[..., MultilabelDataset], sent: UploadedDataset) -> MultilabelDataset:
    """Read a file that a client sent, by a function that takes its path and the options."""
    file, options = sent.file, {**sent.options}
    shown = {str(file.path): file.shown}
    member = options.pop("member", None)
    if sent.xml is not None:
        shown[str(sent.xml.path)] = sent.xml.shown
        options["labels"] = str(sent.xml.path)
    with replace_paths_in_messages(shown):
        path = _unpacked(file.path, sent.max_unpacked, member)
        shown[str(path)] = file.shown if member is None else f"{file.shown}/{member}"
        refuse_large(path, sent.max_unpacked)
        try:
            data = read(path, **options)
        except MissingXmlError as error:  # it names the file we would have looked for
            raise ReadError(_no_xml(file.shown), path=error.path) from None
    if data.name in ("", path.stem):
        data = replace(data, name=_stem(member or file.shown))
    return data


def list_members(file: Upload) -> Payload:
    """List the files of an archive that may hold the data, and the one that is taken unasked."""
    with replace_paths_in_messages({str(file.path): file.shown}):
        found = list_data_members(InputFile(file.path), _suffixes())
        try:
            taken = find_data_member(InputFile(file.path), _suffixes(), None).member
        except ReadError:
            taken = None
    return {"members": found[:MAX_MEMBERS], "taken": taken}


def _suffixes() -> list[str]:
    from scumble.catalogue import entries

    return [suffix for form in entries("format").values() for suffix in form.suffixes]


def _unpacked(path: Path, limit: int, member: str | None) -> Path:
    """Decompress a file with a bound, so that everything after sees plain bytes."""
    source = InputFile(path)
    companion: Any = None
    mark = ""
    if is_archive(source):
        source = find_data_member(source, _suffixes(), member)
        companion = find_label_xml(source).file

        mark = f"-{crc32(source.member.encode()):08x}"  # another member may be read beside it
    elif member is not None:
        raise ReadError("the file is no .zip archive: there is no 'member' in it.", path=path)
    else:
        with open(path, "rb") as raw:
            start = raw.read(8)
        if not any(start.startswith(magic) for magic in COMPRESSIONS.values()):
            return path
    target = path.parent / f"plain{mark}{source.suffix}"
    if not target.exists():  # else this is a second try with other options
        if companion is not None:
            _copy(companion, target.with_suffix(".xml"), limit)
        _copy(source, target, limit)
    return target


def _copy(source: InputFile, target: Path, limit: int) -> None:
    partial = target.parent / "partial"
    n_bytes = 0
    with source.open() as stream, open(partial, "wb") as out:
        while block := stream.read(BLOCK_BYTES):
            n_bytes += len(block)
            if n_bytes > limit:
                raise _too_much(source.path, limit)
            out.write(block)
    partial.rename(target)


def refuse_large(path: Path, limit: int, *, arrow: bool = True) -> None:
    """Refuse files that compress their columns themselves, and are too large in memory.

    Runs of equal values make pages of Parquet that are small even when they are decompressed, so
    values are counted, not bytes; the footer tells how many.
    """
    with open(path, "rb") as raw:
        start = raw.read(6)
    size = 0
    with suppress(ValueError, OSError):  # damaged: its reader will say so
        if start.startswith(b"PAR1"):
            size = _values_of_parquet(path) * VALUE
        elif arrow and start == b"ARROW1":
            size = _size_of_arrow(path, limit)
    if size > limit:
        raise _too_much(path, limit)


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
    return CompressiblePath(shown.replace("\\", "/")).stem or "data"
