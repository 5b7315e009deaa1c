"""An input file opens as a binary file of Python, which other libraries can read from."""

import bz2
import csv
import gzip
import io
import json
import lzma
import zipfile

import pytest

from scumble._core.errors import ReadError
from scumble._core.files import BUFFER_BYTES, InputFile
from scumble.data.input_files import ArchiveMember

CONTENT = b"minutes,war\n90,1\n120,0\n"
COMPRESS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.fixture(params=[*COMPRESS, ".zst", ".zip"])
def source(request, tmp_path):
    path = tmp_path / f"films.csv{request.param}"
    if request.param == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("films.csv", CONTENT)
        return ArchiveMember(InputFile(path), "films.csv")
    if request.param == ".zst":
        pa = pytest.importorskip("pyarrow")
        path.write_bytes(pa.compress(CONTENT, codec="zstd", asbytes=True))
    else:
        path.write_bytes(COMPRESS[request.param](CONTENT))
    return InputFile(path)


def test_it_is_a_binary_file(source):
    with source.open() as stream:
        assert stream.readable()
        assert not stream.writable()
        assert not stream.seekable()
        assert not stream.closed
        assert stream.read(3) == b"min"
        assert stream.readline() == b"utes,war\n"
        assert stream.read(0) == b""
        assert list(stream) == [b"90,1\n", b"120,0\n"]
        assert stream.read() == b""
    assert stream.closed
    with pytest.raises(ValueError, match="closed"):
        stream.read()


def test_all_of_it_is_read_at_once_or_in_parts(source):
    with source.open() as stream:
        assert stream.read() == CONTENT
    with source.open() as stream:
        buffer = bytearray(7)
        assert stream.readinto(buffer) == 7
        assert bytes(buffer) + stream.read(len(CONTENT)) == CONTENT


def test_csv_and_pyarrow_read_from_it(source):
    pyarrow_csv = pytest.importorskip("pyarrow.csv")
    with source.open() as stream:
        rows = list(csv.reader(io.TextIOWrapper(stream, "utf-8", newline="")))
    assert rows == [["minutes", "war"], ["90", "1"], ["120", "0"]]
    with source.open() as stream:
        table = pyarrow_csv.read_csv(stream)
    assert table.to_pydict() == {"minutes": [90, 120], "war": [1, 0]}


def test_json_reads_from_it(tmp_path):
    path = tmp_path / "films.json.gz"
    path.write_bytes(gzip.compress(b'{"war": [1, 0]}'))
    with InputFile(path).open() as stream:
        assert json.load(stream) == {"war": [1, 0]}


@pytest.mark.parametrize("size", [BUFFER_BYTES - 1, BUFFER_BYTES, 3 * BUFFER_BYTES + 5])
def test_lines_longer_than_the_buffer_are_read_completely(tmp_path, size):
    path = tmp_path / "long.csv"
    path.write_bytes(b"a" * size + b"\n" + b"b" * size)
    with InputFile(path).open() as stream:
        assert list(stream) == [b"a" * size + b"\n", b"b" * size]


def test_a_damaged_file_is_reported_by_every_way_of_reading(tmp_path):
    path = tmp_path / "films.csv.gz"
    path.write_bytes(gzip.compress(CONTENT * 1000)[:-20])
    source = InputFile(path)
    for read in (lambda stream: stream.read(), list, lambda stream: csv.reader(stream)):
        with source.open() as stream, pytest.raises(ReadError, match="damaged or cut short"):
            for _ in read(io.TextIOWrapper(stream, "utf-8")):
                pass
