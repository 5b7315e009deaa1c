"""Data inside of .zip archives, from standard input, and to standard output."""

import errno
import gzip
import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import scumble
from scumble._core import files
from scumble._core.errors import ParameterError, ReadError, ScumbleError, ScumbleWarning, WriteError
from scumble.data.io import input_paths

ARFF = "@relation films\n@attribute minutes numeric\n@attribute war {0,1}\n@data\n150,1\n90,0\n"
XML = "<labels><label name='war'/></labels>"
CSV = "minutes,label:war\n150,1\n90,0\n"


def pack(path, members: dict[str, str | bytes], **options):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_a_single_file(tmp_path):
    data = scumble.read(pack(tmp_path / "a.zip", {"films.csv": CSV}))
    assert (data.name, data.labels, data.X.ravel().tolist()) == ("films", ("war",), [150, 90])
    other = scumble.read(pack(tmp_path / "no suffix", {"films.csv": CSV}))
    assert other == data


@pytest.mark.parametrize("form", ["mulan", "meka", "keel", "csv", "libsvm", "extreme", "parquet"])
def test_every_format(tmp_path, form):
    data = scumble.MultilabelDataset([[1.5], [0.0]], [[1, 0], [1, 1]], name="a")
    suffix = {"csv": ".csv", "keel": ".dat", "libsvm": ".svm", "extreme": ".txt"}.get(form, ".arff")
    suffix = ".parquet" if form == "parquet" else suffix
    scumble.write(data, tmp_path / f"a{suffix}", format=form)
    plain = scumble.read(tmp_path / f"a{suffix}")
    members = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert scumble.read(pack(tmp_path / "packed.zip", members)) == plain


@pytest.mark.parametrize(
    "members",
    [
        {"films.arff": ARFF, "films.xml": XML},
        {"films/films.xml": XML, "films/films.arff": ARFF, "films/readme.txt": "1 2 3\nread me"},
        {"films.arff": ARFF, "films-train.arff": "x", "films-test.arff": "x", "films.xml": XML},
        {"films.arff": ARFF, "other.xml": XML, "__MACOSX/._films.arff": b"\0", ".DS_Store": b"\0"},
        {"films-train.arff": ARFF, "films.xml": XML, "other.xml": "<labels/>"},
    ],
)
def test_a_mulan_pair(tmp_path, members):
    data = scumble.read(pack(tmp_path / "archive.zip", members))
    assert (data.name, data.labels, data.feature_names) == ("films", ("war",), ("minutes",))


def test_the_files_that_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films.arff").write_text(ARFF)
    (tmp_path / "films.xml").write_text(XML)
    pack(tmp_path / "films.zip", {"films.arff": ARFF, "films.xml": XML})
    assert [path.name for path in input_paths("films.arff")] == ["films.arff", "films.xml"]
    assert [path.name for path in input_paths("films.zip")] == ["films.zip"]
    assert input_paths("-") == []


def test_several_are_a_question(tmp_path):
    path = pack(tmp_path / "all.zip", {"a.csv": CSV, "b.csv": CSV, "b.xml": XML})
    with pytest.raises(ReadError, match=r"holds 'a.csv', 'b.csv', 'b.xml'\. .* with member=\.\.\."):
        scumble.read(path)
    assert scumble.read(path, member="b.csv").name == "b"
    with pytest.raises(ReadError, match=r"the archive holds no 'c.csv'. It holds 'a.csv', "):
        scumble.read(path, member="c.csv")
    assert scumble.read(pack(tmp_path / "b.zip", {"a.csv": CSV, "B.csv": CSV})).name == "B"


def test_a_member_of_what_is_no_archive(tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    with pytest.raises(ParameterError, match=r"a\.csv is no \.zip archive"):
        scumble.read(tmp_path / "a.csv", member="a.csv")


def test_faults_name_archive_and_file(tmp_path):
    path = pack(tmp_path / "a.zip", {"in/films.csv": CSV + "80\n"})
    with pytest.raises(ReadError, match=r"a\.zip/in/films\.csv, line 4: expected 2 values"):
        scumble.read(path)
    pair = pack(tmp_path / "b.zip", {"films.arff": ARFF, "films.xml": "<labels>"})
    with pytest.raises(ReadError, match=r"b\.zip/films\.xml, line 1: the XML is damaged"):
        scumble.read(pair)
    alone = pack(tmp_path / "c.zip", {"films.arff": ARFF})
    with pytest.raises(ReadError, match=r"Expected films\.xml"):
        scumble.read(alone)


def test_a_workbook_is_no_data(tmp_path):
    path = pack(tmp_path / "a.xlsx", {"[Content_Types].xml": "", "xl/workbook.xml": ""})
    with pytest.raises(ReadError, match="save the sheet as CSV"):
        scumble.read(path)


@pytest.mark.parametrize("members", [{}, {"readme.md": "hello"}, {"a/": ""}])
def test_without_data(tmp_path, members):
    path = pack(tmp_path / "a.zip", members)
    with pytest.raises(ReadError, match=r"Expected|no known format"):
        scumble.read(path)


def test_a_bomb_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "UNCHECKED_EXPANSION_BYTES", 1 << 20)
    path = pack(tmp_path / "a.zip", {"a.csv": CSV + "1,1\n" * 10_000_000}, compresslevel=9)
    monkeypatch.setattr(files, "MAX_EXPANSION", 100)
    with pytest.raises(ReadError, match="decompression bomb"):
        scumble.read(path)


def test_damaged_archives(tmp_path):
    """They end in a data set or a ScumbleError."""
    good = pack(tmp_path / "good.zip", {"films.arff": ARFF * 3, "films.xml": XML}).read_bytes()
    rng = np.random.default_rng(0)
    path = tmp_path / "bad.zip"
    refused = 0
    for _ in range(600):
        content = bytearray(good)
        for at in rng.integers(4, len(content), size=rng.integers(1, 4)):
            content[at] = rng.integers(256)
        path.write_bytes(
            content[: rng.integers(4, len(content) + 1)] if rng.random() < 0.2 else content
        )
        try:
            scumble.read(path)
        except ScumbleError:
            refused += 1
    assert refused > 100


def test_locked_and_exotic_archives(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.csv", CSV)
    content = bytearray(buffer.getvalue())
    local, central = 0, content.index(b"PK\x01\x02")
    for flag in (local + 6, central + 8):
        content[flag] |= 1
    (tmp_path / "locked.zip").write_bytes(content)
    with pytest.raises(ReadError, match="encrypted, password required"):
        scumble.read(tmp_path / "locked.zip")
    for flag, method in ((local + 6, local + 8), (central + 8, central + 10)):
        content[flag] &= 254
        content[method] = 97
    (tmp_path / "odd.zip").write_bytes(content)
    with pytest.raises(ReadError, match="compression method"):
        scumble.read(tmp_path / "odd.zip")
    content[local + 7] |= 8  # the name is UTF-8, which this is not
    content[local + 30] = 0xE3
    (tmp_path / "name.zip").write_bytes(content)
    with pytest.raises(ReadError, match="cannot be read: 'utf-8' codec can't decode byte 0xe3"):
        scumble.read(tmp_path / "name.zip")


class Pipe(io.TextIOWrapper):
    """Standard input or output that is a pipe of bytes."""

    def __init__(self, content: bytes = b"", *, terminal: bool = False) -> None:
        super().__init__(io.BytesIO(content))
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize("compressed", [False, True])
def test_standard_input(monkeypatch, compressed):
    content = gzip.compress(CSV.encode()) if compressed else CSV.encode()
    monkeypatch.setattr("sys.stdin", Pipe(content))
    data = scumble.read("-")
    assert (data.name, data.labels, data.X.ravel().tolist()) == ("stdin", ("war",), [150, 90])


def test_faults_of_standard_input(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "unrelated.xml").write_text(XML)
    for form, content, message in (
        ("csv", CSV + "80\n", "standard input, line 4: expected 2 values"),
        (None, CSV + "80\n", "standard input: no known format"),
        (None, ARFF, r"standard input: no XML file .* labels\. Name the labels with labels="),
        (None, "", "standard input: the file is empty"),
    ):
        monkeypatch.setattr("sys.stdin", Pipe(content.encode()))
        with pytest.raises(ReadError, match=message):
            scumble.read("-", format=form)
    monkeypatch.setattr("sys.stdin", Pipe(terminal=True))
    with pytest.raises(ParameterError, match="nothing is piped into it"):
        scumble.read("-")
    monkeypatch.setattr("sys.stdin", None)  # closed by whoever started the process
    with pytest.raises(ParameterError, match="nothing is piped into it"):
        scumble.read("-")
    assert [path.name for path in tmp_path.iterdir()] == ["unrelated.xml"]


def test_a_message_of_an_archive_in_standard_input_names_it_by_what_was_given(
    monkeypatch, tmp_path
):
    packed = pack(tmp_path / "a.zip", {"films.csv": CSV + "80\n", "more.md": "a"}).read_bytes()
    monkeypatch.setattr("sys.stdin", Pipe(packed))
    with pytest.raises(ReadError, match=r"^standard input/films\.csv, line 4: expected 2 values"):
        scumble.read("-")


def test_standard_output(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    data = scumble.MultilabelDataset([[150.0], [90.0]], [["war"], []], features=["minutes"])
    out = Pipe()
    monkeypatch.setattr("sys.stdout", out)
    out.write("before\n")
    with pytest.warns(ScumbleWarning, match="^standard output: the csv .* cannot carry: data set"):
        scumble.write(replace(data, name="films"), "-", format="csv")
    assert out.buffer.getvalue() == b"before\nminutes,label:war\n150.0,1\n90.0,0\n"
    with pytest.raises(ParameterError, match="several files"):
        scumble.write(data, "-", format="mulan")
    with pytest.raises(ParameterError, match="name the format with format="):
        scumble.write(data, "-")
    assert list(tmp_path.iterdir()) == []


def test_no_room_for_what_is_kept_meanwhile(monkeypatch, tmp_path):
    def refuse(*_arguments, **_options):
        raise OSError(errno.ENOSPC, "No space left on device")

    told = r"A temporary file cannot be written: the disk is full.*TMPDIR"
    monkeypatch.setattr("sys.stdin", Pipe(CSV.encode()))
    with monkeypatch.context() as patch:
        patch.setattr("scumble.data.input_files.TemporaryDirectory", refuse)
        with pytest.raises(WriteError, match=told):
            scumble.read("-")
    data = scumble.MultilabelDataset([[1.5]], [[1]])
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.TemporaryFile", refuse)
        with pytest.raises(WriteError, match=told):
            scumble.write(data, "-", format="csv")


def test_standard_input_that_cannot_be_read(monkeypatch):
    pipe = Pipe(CSV.encode())
    monkeypatch.setattr("sys.stdin", pipe)

    def fail(_size):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(pipe.buffer, "read", fail)
    with pytest.raises(ParameterError, match=r"Standard input cannot be read: Input/output error"):
        scumble.read("-")
