"""The first look at a plain table, and that its reader then sees the same."""

import gzip
import io
import random
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import scumble
from scumble._core.errors import ScumbleError
from scumble.data import preview as module
from scumble.data.preview import preview

PHOTOS = "light,sky,sea,heron\n0.5,1,0,0\n0.7,1,1,0\n0.1,1,1,1\n"


@pytest.fixture
def look(tmp_path):
    def look(content, name="table.csv", **how):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return preview(path, **how)

    return look


def roles(found):
    return {column["name"]: column["role"] for column in found.columns}


def test_columns_of_0_and_1_at_the_end_are_labels(look):
    found = look(PHOTOS)
    assert roles(found) == {"light": "number", "sky": "label", "sea": "label", "heron": "label"}
    assert found.rows == [["0.5", "1", "0", "0"], ["0.7", "1", "1", "0"], ["0.1", "1", "1", "1"]]
    assert (found.delimiter, found.encoding, found.decimal, found.header) == (
        ",",
        "utf-8",
        ".",
        True,
    )
    assert found.columns[1] == {
        "at": 1,
        "key": "sky",
        "name": "sky",
        "role": "label",
        "roles": ["label", "list", "number", "category", "ignore"],
        "why": "0 and 1",
    }


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("war,love,minutes\n1,0,90\n0,1,150\n", ["label", "label", "number"]),
        ("new,minutes,label_war\n1,90,0\n0,150,1\n", ["number", "number", "label"]),
        ("new,old\n1,0\n0,1\n", ["number", "number"]),  # nothing tells them apart
        ("minutes,done\n90,true\n150,False\n", ["number", "label"]),
        ("minutes,done\n90,1\n150,\n", ["number", "number"]),  # a label cannot be missing
        ("minutes,tags,x\n90,\"['a', 'b']\",1\n150,[],0\n", ["number", "list", "number"]),
        ("a,tags\n[1],[2]\n[],[3]\n", ["ignore", "list"]),
        ("id,tags,x\n1,a;b,1\n2,b;c,0\n3,a,1\n", ["ignore", "list", "number"]),
        ("words,x\na|b|c,2\nb|c,3\na|c,4\n", ["list", "number"]),
        ("names,x\nDoe; Jane,2\nRoe; Ann,3\nPoe; Bob,4\n", ["category", "number"]),
        ("a\n1\n2\n", ["number"]),
        ("a,b\n", ["number", "number"]),
    ],
)
def test_what_a_column_is_for(look, content, expected):
    assert list(roles(look(content)).values()) == expected


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("id,tags,x\n1,a|b,1\n2,b|c,0\n3,a,1\n", "label_column='tags', label_separator='|'"),
        ("words,x\na;b;c,2\nb;c,3\na;c,4\n", "label_column='words', label_separator=';'"),
        ("a,tags\n[1],[2]\n[],[3]\n", "label_column='tags'"),
        (PHOTOS, "labels=-3"),
        ("war,love,minutes\n1,0,90\n0,1,150\n", "labels=['war', 'love']"),
        ("5;a|b\n6;b|c\n7;a|c\n", "label_column=1, label_separator='|'"),
        ('war,"so, so",minutes\n1,0,90\n0,1,150\n', "labels=[0, 1]"),
    ],
)
def test_who_reads_without_saying_hears_the_same_guess(look, tmp_path, content, said):
    found = look(content)
    with pytest.raises(ScumbleError, match="which columns are labels") as fault:
        scumble.read(tmp_path / "table.csv")
    assert f" It looks like {said}. " in str(fault.value)
    lists = [column["key"] for column in found.columns if column["role"] == "list"]
    guessed = {"label_column": lists[0]} if lists else {"labels": found.labels}
    if found.separator:
        guessed["label_separator"] = found.separator
    taken = eval(f"dict({said})")
    assert scumble.read(tmp_path / "table.csv", **taken) == scumble.read(
        tmp_path / "table.csv", **guessed
    )


def test_nothing_is_guessed_where_nothing_tells(look, tmp_path):
    look("names,x\nDoe; Jane,2\nRoe; Ann,3\nPoe; Bob,4\n")
    with pytest.raises(ScumbleError, match=r"in brackets\. Say labels"):
        scumble.read(tmp_path / "table.csv")


def test_texts_dates_and_what_names_rows(look):
    rows = [f"r{i},please help me {i},2024-05-{i + 1:02d},{i % 2},0{i}/03/2024" for i in range(9)]
    rows += [
        f"s{i},please help me {i},2024-05-{i + 1:02d},{i % 2},0{i}/03/2024" for i in range(1, 9)
    ]
    rows += [f"t{i},thank you {i},2024-05-{i + 1:02d},{i % 2},03/03/2024" for i in range(9)]
    found = look("code,subject,opened,urgent,due\n" + "\n".join(rows).replace("00/", "01/") + "\n")
    assert [(column["role"], column["why"]) for column in found.columns] == [
        ("ignore", "identifies the rows"),
        ("text", "several words each"),
        ("number", "dates"),
        ("number", "whole numbers"),
        ("ignore", "dates, day or month first?"),
    ]
    assert found.columns[2]["roles"] == ["list", "number", "category", "text", "ignore"]


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("cp1252", "cp1252"),
    ],
)
def test_encodings_are_found_and_can_be_read_with(look, tmp_path, encoding, found):
    told = look("größe,war\n2,1\n3,0\n".encode(encoding))
    assert (told.encoding, told.columns[0]["name"]) == (found, "größe")
    data = scumble.read(tmp_path / "table.csv", labels=["war"], encoding=told.encoding)
    assert data.feature_names == ("größe",)


def test_semicolons_and_decimal_commas(look):
    found = look("a;b;c\n1,5;2;1\n2,5;3;0\n")
    assert (found.delimiter, found.decimal, found.labels) == (";", ",", [2])
    assert found.columns[0]["role"] == "number"
    told = look("a;b;c\n1,5;2;1\n2,5;3;0\n", decimal=".")
    assert (told.decimal, told.columns[0]["role"]) == (".", "category")
    assert look("a;b\n1;2\n", delimiter=",").n_columns == 1
    assert look("a,b\n1,2\n", header=False).rows == [["a", "b"], ["1", "2"]]


def zipped(**members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return packed.getvalue()


def test_compressed_tables(look):
    assert look(gzip.compress(PHOTOS.encode()), "table.csv.gz").labels == [1, 2, 3]
    assert look(zipped(in_csv=PHOTOS, readme_md="hello"), "table.zip").labels == [1, 2, 3]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,a\n1,0\n", "line 1, value 2: two columns are called 'a'"),
        ("a,b\n1\n", "line 2: expected 2 values as in the first row, found 1"),
        (" \n", "the file is empty"),
        (bytes(range(256)) * 9, "this is not text: there is a byte 0x00 in it"),
        ('a,b\n"1,0\n', "a quote opened in this row is never closed"),
    ],
)
def test_what_is_no_table_says_so(look, content, message):
    with pytest.raises(ScumbleError, match=message):
        look(content)


def test_wrong_settings_are_refused(look):
    for how, message in (
        ({"delimiter": "::"}, "'delimiter'"),
        ({"decimal": ";"}, "'decimal'"),
        ({"encoding": "nonesuch"}, "'encoding'"),
        ({"format": "nonesuch"}, "Unknown format"),
        ({"encoding": "utf-16"}, "not utf-16"),
    ):
        with pytest.raises(ScumbleError, match=message):
            look("a,b\n1,ü\n", **how)


def test_only_the_beginning_is_read(look, monkeypatch, tmp_path):
    read = []

    class Counting:
        def __init__(self, stream):
            self._stream = stream

        def read(self, size=-1):
            part = self._stream.read(size)
            read.append(len(part))
            return part

        def __getattr__(self, name):
            return getattr(self._stream, name)

    from scumble._core import files

    original = files._decompress
    monkeypatch.setattr(module, "HEAD", 1000)

    @files.contextmanager
    def counted(raw):
        with original(raw) as stream:
            yield Counting(stream)

    monkeypatch.setattr(files, "_decompress", counted)
    found = look(PHOTOS + "0.3,0,0,1\n" * 500_000)
    assert found.labels == [1, 2, 3]
    assert sum(read) <= 2 * 65536 + 1001  # sniffed at, then looked at
    with pytest.raises(ScumbleError, match="the first line is longer than 1,000 bytes"):
        look("a," * 5000)


def test_of_a_wide_table_both_ends_are_shown(look):
    rng = random.Random(0)
    head = ",".join(f"c{at}" for at in range(5000))
    body = [
        ",".join(f"{rng.random():.3f}" if at < 4900 else rng.choice("01") for at in range(5000))
        for _ in range(9)
    ]
    found = look("\n".join([head, *body]) + "\n")
    assert found.n_columns == 5000
    assert [column["at"] for column in found.columns] == [*range(40), *range(4980, 5000)]
    assert found.labels == list(range(4900, 5000))
    assert [len(row) for row in found.rows] == [60] * 8


@pytest.mark.parametrize(
    ("at", "name", "cell", "role"),
    [(50, "tags", ("u|v", "v|w", "u"), "list"), (70, "label", "010", "label")],
)
def test_of_a_wide_table_the_labels_are_shown_wherever_they_are(look, at, name, cell, role):
    names = [name if place == at else f"c{place}" for place in range(100)]
    rows = [[cell[row % 3] if k == at else "0.5" for k in range(100)] for row in range(30)]
    found = look("\n".join(",".join(row) for row in [names, *rows]) + "\n")
    assert [column["at"] for column in found.columns] == [*range(40), at, *range(80, 100)]
    assert found.columns[40]["role"] == role
    assert [row[40] for row in found.rows[:3]] == list(cell)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
@pytest.mark.parametrize(("n_rows", "is_whole"), [(1000, True), (1001, False)])
def test_whether_all_rows_were_looked_at(tmp_path, suffix, n_rows, is_whole):
    path = tmp_path / f"a{suffix}"
    table = pa.table({"x": ["none"] * n_rows, "sky": [0, 1] * (n_rows // 2) + [1] * (n_rows % 2)})
    if suffix == ".csv":
        pacsv.write_csv(table, path)
    elif suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as out:
            out.write_table(table)
    assert preview(path).is_whole is is_whole


def test_what_is_shown_is_cut(look):
    found = look(f"{'n' * 300},b\n{'x' * 300},1\n")
    column = found.columns[0]
    assert (len(column["name"]), column["key"], len(found.rows[0][0])) == (100, 0, 60)
    assert [column["key"] for column in look('"a,b",7,c,\n1,2,3,4\n', header=True).columns] == [
        0,
        1,
        "c",
        3,
    ]


@pytest.mark.parametrize(
    ("content", "name", "form"),
    [
        ("x,label:a\n1,0\n", "a.csv", "csv"),
        (
            "@relation 'a: -C 1'\n@attribute a {0,1}\n@attribute x numeric\n@data\n1,0\n",
            "a.arff",
            "meka",
        ),
        ("1 1:0.5\n", "a.svm", "libsvm"),
    ],
)
def test_files_that_say_all_themselves_ask_nothing(look, content, name, form):
    found = look(content, name)
    assert (found.format, found.asks, found.columns) == (form, False, [])


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_tables_of_columns(tmp_path, suffix):
    table = pa.table(
        {
            "minutes": [90.5, 150.0],
            "tags": [["war", "love"], []],
            "box": [{"x": 1}, {"x": 2}],
            "seen": [True, False],
            "opened": pa.array([0, 1], pa.timestamp("ms")),
            "colour": pa.array(["red", "blue"]).dictionary_encode(),
        }
    )
    path = tmp_path / f"films{suffix}"
    if suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    found = preview(path)
    assert found.delimiter is found.encoding is found.decimal is found.header is None
    assert [column["role"] for column in found.columns] == [
        "number",
        "list",
        "ignore",
        "category",
        "number",
        "category",
    ]
    assert found.rows[0] == ["90.5", "war, love", "{'x': 1}", "True", "1970-01-01 00:00:00", "red"]
    assert found.columns[2]["roles"] == ["ignore"]
    assert found.columns[0]["roles"] == ["number", "category", "ignore"]
    data = scumble.MultilabelDataset(np.array([[1.0]]), [["a"]])
    scumble.write(data, path)
    assert not preview(path).asks
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ScumbleError, match="damaged"):
        preview(path)
