"""What files have in common, whatever their format: compression, recognition, faults."""

import builtins
import bz2
import contextlib
import errno
import gc
import gzip
import io
import lzma
import os
import stat
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import scumble
import scumble.data.formats  # registers them
from scumble._core import files
from scumble._core.errors import ParameterError, ReadError, ScumbleError, ScumbleWarning, WriteError
from scumble._core.files import COMPRESSIONS, InputFile, atomic_write
from scumble._core.registry import registered_objects
from scumble.data import MultilabelDataset
from scumble.data.io import _format_from_content, train_test_paths

FORMATS = dict(registered_objects("format"))
DATA = MultilabelDataset(
    [[0.5, 0, 3], [0, 0.25, 0], [1.5, 0, 0]], [[1, 0, 1], [0, 1, 0], [1, 1, 1]]
)


def write(path, name: str, data: MultilabelDataset = DATA) -> None:
    scumble.write(data, path, format=name)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_compressed(tmp_path, name, compression):
    path = tmp_path / f"data{FORMATS[name].suffixes[0]}{compression}"
    scumble.write(DATA, path)
    content = path.read_bytes()
    assert content.startswith(COMPRESSIONS[compression])
    again = scumble.read(path)
    assert replace(again, name="") == DATA
    assert again.name in ("", "data")
    scumble.write(DATA, path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("compression", ["", ".gz"])
@pytest.mark.parametrize("suffix", ["", ".csv", ".arff", ".txt", ".parquet", ".bin"])
@pytest.mark.parametrize("name", FORMATS)
def test_the_content_counts_not_the_suffix(tmp_path, name, suffix, compression):
    path = tmp_path / f"data{suffix}{compression}"
    write(path, name)
    assert _format_from_content(InputFile(path)).name == name
    assert replace(scumble.read(path), name="") == DATA


@pytest.mark.parametrize("name", FORMATS)
def test_suffixes_of_a_format(tmp_path, name):
    for suffix in FORMATS[name].suffixes:
        (tmp_path / suffix).mkdir()
        path = tmp_path / suffix / f"data{suffix}"
        scumble.write(DATA, path)
        assert replace(scumble.read(path), name="") == DATA


class TestReading:
    def test_a_missing_file(self, tmp_path):
        with pytest.raises(ReadError, match=r"a\.csv: no such file\. Check the path"):
            scumble.read(tmp_path / "a.csv")

    def test_a_directory(self, tmp_path):
        with pytest.raises(ReadError, match="this is a directory"):
            scumble.read(tmp_path)

    def test_a_pipe_is_refused_before_it_blocks(self, tmp_path):
        os.mkfifo(tmp_path / "pipe.csv")
        for path in (tmp_path / "pipe.csv", os.devnull):
            with pytest.raises(ReadError, match=r"a pipe or a device.*save the content"):
                scumble.read(path)

    def test_a_fault_of_the_disk_is_not_blamed_on_compression(self, tmp_path, monkeypatch):
        write(tmp_path / "a.csv", "csv")

        class Broken(io.FileIO):
            def read(self, size=-1):
                if size == 8:  # a look at the first bytes
                    return super().read(size)
                raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(builtins, "open", lambda path, mode: Broken(path))
        with pytest.raises(ReadError, match=r"the file cannot be read: Input/output error\.$"):
            scumble.read(tmp_path / "a.csv")

    @pytest.mark.parametrize("name", FORMATS)
    def test_an_option_the_format_does_not_have(self, tmp_path, name):
        write(tmp_path / "a", name)
        with pytest.raises(ParameterError, match=f"no option 'colour' for reading {name} files"):
            scumble.read(tmp_path / "a", format=name, colour="red")
        with pytest.raises(ParameterError, match=f"no option 'colour' for writing {name} files"):
            scumble.write(DATA, tmp_path / "b", format=name, colour="red")
        assert not (tmp_path / "b").exists()

    @pytest.mark.parametrize("path", [None, 5, b"a.csv"])
    def test_what_is_no_path(self, path):
        with pytest.raises(ScumbleError, match="must be a str or a Path"):
            scumble.read(path)
        with pytest.raises(ScumbleError, match="must be a str or a Path"):
            scumble.write(DATA, path)

    def test_a_whole_table_is_named_by_its_type(self):
        with pytest.raises(ScumbleError, match=r"Got a ndarray instead\.$"):
            scumble.read(np.zeros((40, 4)))

    @pytest.mark.parametrize("content", [b"", b"\n\n", b" \r\n", b"\x1f\x8b"])
    def test_an_empty_file(self, tmp_path, content):
        (tmp_path / "a.csv").write_bytes(content)
        with pytest.raises(ReadError, match=r"the file is empty|damaged"):
            scumble.read(tmp_path / "a.csv")

    @pytest.mark.parametrize("name", FORMATS)
    def test_an_empty_file_of_each_format(self, tmp_path, name):
        (tmp_path / "a").write_bytes(gzip.compress(b""))
        with pytest.raises(ReadError):
            scumble.read(tmp_path / "a", format=name)
        (tmp_path / "a").write_bytes(gzip.compress(b"\n\n"))
        with contextlib.suppress(ScumbleError):
            assert len(scumble.read(tmp_path / "a", format=name)) == 0

    @pytest.mark.parametrize("name", FORMATS)
    def test_no_permission(self, tmp_path, monkeypatch, name):
        path = tmp_path / f"data{FORMATS[name].suffixes[0]}"
        write(path, name)
        _refuse_to_open(monkeypatch, path)
        with pytest.raises(ReadError, match="no permission to read the file"):
            scumble.read(path, format=name)

    @pytest.mark.parametrize("compression", COMPRESSIONS)
    @pytest.mark.parametrize("name", FORMATS)
    def test_a_compressed_file_cut_short(self, tmp_path, name, compression):
        path = tmp_path / f"data{FORMATS[name].suffixes[0]}{compression}"
        write(path, name)
        content = path.read_bytes()
        for cut in (len(content) // 2, len(content) - 5):
            path.write_bytes(content[:cut])
            with pytest.raises(ReadError, match=r"cut short|damaged"):
                scumble.read(path, format=name)

    @pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
    @pytest.mark.parametrize("name", FORMATS)
    def test_a_decompression_bomb(self, tmp_path, monkeypatch, name, compress):
        monkeypatch.setattr(files, "UNCHECKED_EXPANSION_BYTES", 100_000)
        monkeypatch.setattr(files, "MAX_EXPANSION", 20)
        path = tmp_path / "bomb"
        path.write_bytes(compress(b"0" * 5_000_000))
        assert path.stat().st_size < 10_000
        with pytest.raises(ReadError, match="decompression bomb"):
            scumble.read(path, format=name)

    def test_an_unknown_format(self, tmp_path):
        write(tmp_path / "a.csv", "csv")
        told = r"Unknown format 'excel'\. Did you mean 'keel'\? Expected one of .*csv"
        with pytest.raises(ParameterError, match=told):
            scumble.read(tmp_path / "a.csv", format="excel")

    def test_nothing_that_is_known(self, tmp_path):
        (tmp_path / "a").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
        with pytest.raises(ReadError, match="no known format recognises this file"):
            scumble.read(tmp_path / "a")

    @pytest.mark.parametrize("name", FORMATS)
    def test_garbage(self, tmp_path, name):
        rng = np.random.default_rng(0)
        path = tmp_path / f"data{FORMATS[name].suffixes[0]}"
        for size in (1, 10, 1000, 10_000):
            path.write_bytes(rng.integers(0, 256, size, dtype=np.uint8).tobytes())
            with contextlib.suppress(ScumbleError):  # a byte may be a label of LibSVM
                assert len(scumble.read(path, format=name)) <= size


class TestWriting:
    @pytest.mark.parametrize("name", FORMATS)
    @pytest.mark.parametrize("after", [0, 10])
    @pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
    def test_a_full_disk_changes_nothing(self, tmp_path, monkeypatch, name, after, compression):
        path = tmp_path / f"data{FORMATS[name].suffixes[0]}{compression}"
        write(path, name)
        before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
        _fill_disk(monkeypatch, after)
        with pytest.raises(WriteError, match=r"the disk is full.*No file was changed"):
            write(path, name, replace(DATA, Y=~DATA.Y.toarray()))
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before

    @pytest.mark.parametrize("name", FORMATS)
    def test_a_full_disk_leaves_nothing(self, tmp_path, monkeypatch, name):
        _fill_disk(monkeypatch, 10)
        with pytest.raises(WriteError, match="the disk is full"):
            write(tmp_path / f"data{FORMATS[name].suffixes[0]}", name)
        assert list(tmp_path.iterdir()) == []

    def test_a_fault_in_the_middle_leaves_nothing(self, tmp_path):
        def spoil() -> None:
            with atomic_write(tmp_path / "a.csv") as target, target.open() as stream:
                stream.write(b"half")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            spoil()
        assert list(tmp_path.iterdir()) == []

    def test_an_unknown_suffix(self, tmp_path):
        with pytest.raises(
            ParameterError, match=r"the suffix '\.xyz' belongs to no format"
        ) as fault:
            scumble.write(DATA, tmp_path / "a.xyz")
        for suffix in (".arff", ".csv", ".parquet", ".svm"):
            assert suffix in str(fault.value)
        with pytest.raises(ParameterError, match=r"the suffix '\(none\)'"):
            scumble.write(DATA, tmp_path / "a")
        with pytest.raises(ParameterError, match="Unknown format"):
            scumble.write(DATA, tmp_path / "a.csv", format="excel")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("name", FORMATS)
    def test_a_folder_that_does_not_exist(self, tmp_path, name):
        with pytest.raises(WriteError, match="does not exist"):
            write(tmp_path / "no" / f"data{FORMATS[name].suffixes[0]}", name)

    def test_a_directory(self, tmp_path):
        (tmp_path / "a.csv").mkdir()
        with pytest.raises(WriteError, match="this is a directory"):
            scumble.write(DATA, tmp_path / "a.csv")

    def test_no_permission(self, tmp_path, monkeypatch):
        def refuse(*args, **kwargs):
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr("tempfile.mkstemp", refuse)
        with pytest.raises(WriteError, match="no permission to write there"):
            scumble.write(DATA, tmp_path / "a.csv")

    def test_a_loss_is_announced_before_anything_is_written(self, tmp_path):
        lossy = replace(DATA, name="films", weights=np.ones(3))
        with pytest.warns(ScumbleWarning, match="cannot carry: data set name, instance weights"):
            scumble.write(lossy, tmp_path / "a.svm")

    def test_a_link_stays_and_its_file_is_replaced(self, tmp_path):
        (tmp_path / "there").mkdir()
        (tmp_path / "link.csv").symlink_to(tmp_path / "there" / "a.csv")
        for _ in range(2):  # the file is new, then it exists
            write(tmp_path / "link.csv", "csv")
            assert (tmp_path / "link.csv").is_symlink()
            assert replace(scumble.read(tmp_path / "there" / "a.csv"), name="") == DATA

    def test_devices_and_pipes_are_not_replaced_by_files(self, tmp_path):
        os.mkfifo(tmp_path / "pipe.csv")
        (tmp_path / "null.csv").symlink_to(os.devnull)
        for name in ("pipe.csv", "null.csv"):
            with pytest.raises(WriteError, match="a pipe or a device"):
                scumble.write(DATA, tmp_path / name)
        assert stat.S_ISFIFO((tmp_path / "pipe.csv").stat().st_mode)
        assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
        assert len(os.listdir(tmp_path)) == 2

    def test_a_private_file_stays_private(self, tmp_path):
        (tmp_path / "a.csv").touch(mode=0o600)
        write(tmp_path / "a.csv", "csv")
        assert stat.S_IMODE((tmp_path / "a.csv").stat().st_mode) == 0o600
        old = os.umask(0o027)
        try:
            write(tmp_path / "b.csv", "csv")
        finally:
            os.umask(old)
        assert stat.S_IMODE((tmp_path / "b.csv").stat().st_mode) == 0o640

    def test_an_impossible_name(self, tmp_path):
        with pytest.raises(WriteError, match="null"):
            scumble.write(DATA, f"{tmp_path}/a\0b.csv")

    def test_what_is_no_data_set(self, tmp_path):
        with pytest.raises(ScumbleError, match=r"expected a MultilabelDataset\. Got list instead"):
            scumble.write([[1]], tmp_path / "a.csv")

    def test_a_file_is_replaced_as_a_whole(self, tmp_path):
        write(tmp_path / "a.csv", "csv")
        first = (tmp_path / "a.csv").stat()
        write(tmp_path / "a.csv", "csv", DATA[[0]])
        assert (tmp_path / "a.csv").stat().st_ino != first.st_ino
        assert len(scumble.read(tmp_path / "a.csv")) == 1
        assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]


def _refuse_to_open(monkeypatch, path) -> None:
    """Tests may run as root, whom no access right stops."""
    real = builtins.open

    def refuse(file, *args, **kwargs):
        if str(file) == str(path):
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return real(file, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", refuse)


def _fill_disk(monkeypatch, after: int) -> None:
    """Let every raw file take some bytes, and no more."""
    real = files.os.fdopen

    class Full:
        def __init__(self, raw) -> None:
            self._raw, self._left = raw, after

        def write(self, data) -> int:
            self._left -= len(data)
            if self._left < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return self._raw.write(data)

        def __getattr__(self, name):
            return getattr(self._raw, name)

        def __enter__(self):
            return self

        def __exit__(self, *fault) -> None:
            self._raw.close()

    monkeypatch.setattr(files.os, "fdopen", lambda *args, **kwargs: Full(real(*args, **kwargs)))


def test_what_a_damaged_zstandard_file_took_is_given_back(tmp_path):
    """pyarrow's own read() keeps the block it asked for."""
    path = tmp_path / "films.csv.zst"
    scumble.write(MultilabelDataset([[1.0]] * 50, [["a"]] * 50), path)
    path.write_bytes(path.read_bytes()[:-3])

    def held_after(times):
        for _ in range(times):
            with pytest.raises(ReadError, match="damaged or cut short"):
                scumble.read(path)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = held_after(5)
        assert held_after(20) - before < 200_000
    finally:
        tracemalloc.stop()


def test_parts_are_named_as_mulan_does():
    names = [part.name for part in train_test_paths("films.arff.gz")]
    assert names == ["films-train.arff.gz", "films-test.arff.gz"]
