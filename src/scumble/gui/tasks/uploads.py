"""Tasks that read uploaded files.

Files are decompressed up to a limit, and messages use the names that the client gave them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from scumble._core.errors import ReadError
from scumble._core.files import BLOCK_BYTES, COMPRESSIONS, CompressiblePath, InputFile
from scumble.data import MultilabelDataset, read
from scumble.data.formats.arff.label_xml import MissingXmlError, find_label_xml
from scumble.data.input_files import find_data_member, is_archive, list_data_members
from scumble.gui.packed_dataset import PackedDataset
from scumble.gui.tasks.display_names import replace_paths_in_messages
from scumble.gui.tasks.packing import pack_with_measures
from scumble.gui.worker import Payload

if TYPE_CHECKING:  # the first data set is opened sooner without asyncio
    from scumble.gui.folders import Upload, UploadedDataset

#: Bytes of a value in memory: readers make float64 or int64 of most columns.
BYTES_PER_VALUE = 8
#: Maximum number of files of an archive that a client can choose from.
MAX_MEMBERS = 500


def open_upload(uploaded: UploadedDataset) -> PackedDataset:
    """Read an uploaded data set and pack it with its measures."""
    return pack_with_measures(read_upload(read, uploaded))


def preview_upload(file: Upload, options: Payload, max_unpacked: int) -> Payload:
    """Return the preview of an uploaded file: its first rows and the inferred column roles."""
    from scumble.data.preview import preview

    with replace_paths_in_messages({str(file.path): file.display_name}):
        check_unpacked_size(file.path, max_unpacked, arrow=False)
        return preview(file.path, **options).to_dict()


def read_upload(
    reader: Callable[..., MultilabelDataset], uploaded: UploadedDataset
) -> MultilabelDataset:
    """Return an uploaded data set, read by a function of a path and the options."""
    file = uploaded.file
    xml = uploaded.xml
    options = dict(uploaded.options)
    member = options.pop("member", None)
    display_names = {str(file.path): file.display_name}
    if xml is not None:
        display_names[str(xml.path)] = xml.display_name
        options["labels"] = str(xml.path)
    with replace_paths_in_messages(display_names):
        path = _unpack(file.path, uploaded.max_unpacked, member)
        if member is None:
            display_names[str(path)] = file.display_name
        else:
            display_names[str(path)] = f"{file.display_name}/{member}"
        check_unpacked_size(path, uploaded.max_unpacked)
        try:
            data = reader(path, **options)
        except MissingXmlError as error:  # it names an XML file in the private folder
            message = _missing_xml_message(file.display_name)
            raise ReadError(message, path=error.path) from None
    if data.name in ("", path.stem):
        data = replace(data, name=_stem(member or file.display_name))
    return data


def list_members(file: Upload) -> Payload:
    """Return the files of an archive that may contain the data, and the one that is the default."""
    with replace_paths_in_messages({str(file.path): file.display_name}):
        members = list_data_members(InputFile(file.path), _format_suffixes())
        try:
            default = find_data_member(InputFile(file.path), _format_suffixes(), None).member
        except ReadError:  # there is no single best choice
            default = None
    return {"members": members[:MAX_MEMBERS], "taken": default}


def _format_suffixes() -> list[str]:
    """Return the file name extensions of all formats."""
    from scumble.catalogue import entries

    suffixes: list[str] = []
    for file_format in entries("format").values():
        suffixes.extend(file_format.suffixes)
    return suffixes


def _unpack(path: Path, limit: int, member: str | None) -> Path:
    """Return the path of the decompressed file, so that readers get plain bytes of limited size."""
    source = InputFile(path)
    companion: Any = None
    name_suffix = ""
    if is_archive(source):
        source = find_data_member(source, _format_suffixes(), member)
        companion = find_label_xml(source).file
        # Several members of one archive may be unpacked into this folder.
        name_suffix = f"-{crc32(source.member.encode()):08x}"
    elif member is not None:
        raise ReadError("the file is not a .zip archive, so it has no 'member'.", path=path)
    elif not _is_compressed(path):
        return path
    target = path.parent / f"plain{name_suffix}{source.suffix}"
    if not target.exists():  # it exists if this is another attempt with other options
        if companion is not None:
            _copy_with_limit(companion, target.with_suffix(".xml"), limit)
        _copy_with_limit(source, target, limit)
    return target


def _is_compressed(path: Path) -> bool:
    """Return whether a file begins like a compressed one."""
    with open(path, "rb") as stream:
        start = stream.read(8)
    return any(start.startswith(signature) for signature in COMPRESSIONS.values())


def _copy_with_limit(source: InputFile, target: Path, limit: int) -> None:
    """Write the decompressed content of a file; raise a `ReadError` if it exceeds the limit."""
    partial = target.parent / "partial"
    n_bytes = 0
    with source.open() as stream, open(partial, "wb") as out:
        while block := stream.read(BLOCK_BYTES):
            n_bytes += len(block)
            if n_bytes > limit:
                raise _too_large_error(source.path, limit)
            out.write(block)
    partial.rename(target)


def check_unpacked_size(path: Path, limit: int, *, arrow: bool = True) -> None:
    """Raise a `ReadError` if a file with compressed columns would be too large in memory.

    Runs of equal values take little space in a Parquet file even when its pages are decompressed.
    Therefore its values are counted, not its bytes; the footer contains their number.

    Parameters
    ----------
    path : Path
        The file; formats other than Parquet and Arrow pass.
    limit : int
        Maximum bytes in memory.
    arrow : bool
        Whether to check Arrow files, which requires reading them.
    """
    with open(path, "rb") as stream:
        start = stream.read(6)
    n_bytes = 0
    with suppress(ValueError, OSError):  # the file is damaged, which its reader reports
        if start.startswith(b"PAR1"):
            n_bytes = _count_parquet_values(path) * BYTES_PER_VALUE
        elif arrow and start == b"ARROW1":
            n_bytes = _arrow_size(path, limit)
    if n_bytes > limit:
        raise _too_large_error(path, limit)


def _count_parquet_values(path: Path) -> int:
    """Return the number of values of a Parquet file, as stated in its footer."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    n_values = 0
    for group_index in range(metadata.num_row_groups):
        row_group = metadata.row_group(group_index)
        for column in range(metadata.num_columns):
            n_values += row_group.column(column).num_values
    return n_values


def _arrow_size(path: Path, limit: int) -> int:
    """Return the bytes of an Arrow file in memory; the count ends when it exceeds the limit."""
    import pyarrow as pa

    n_bytes = 0
    with pa.OSFile(str(path)) as stream, pa.ipc.open_file(stream) as reader:
        for index in range(reader.num_record_batches):
            n_bytes += reader.get_batch(index).nbytes
            if n_bytes > limit:
                break
    return n_bytes


def _too_large_error(path: Path, limit: int) -> ReadError:
    """Return the error for a file that is too large when decompressed."""
    return ReadError(
        f"the file has more than {limit >> 20:,} MB when decompressed, the limit of this server. "
        "Start it with a larger --max-unpacked.",
        path=path,
    )


def _missing_xml_message(display_name: str) -> str:
    """Return the message for a MULAN file without its XML file."""
    return (
        "an ARFF file of MULAN does not say which attributes are labels. Expected "
        f"{_stem(display_name)}.xml beside it: send both files together, or say which columns are "
        "labels."
    )


def _stem(display_name: str) -> str:
    """Return a file name without its folders and extensions."""
    return CompressiblePath(display_name.replace("\\", "/")).stem or "data"
