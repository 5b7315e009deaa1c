"""Damaged files of the ARFF family end in a data set or in an error of ours, never otherwise."""

import random
import tracemalloc
import warnings

import pytest

import scumble
from scumble._core.errors import ScumbleError, ScumbleWarning
from scumble._core.files import InputFile
from scumble.data import MultilabelDataset
from scumble.data.formats import keel, meka, mulan

DENSE = b"""% a comment
@relation 'films, all'
@attribute minutes numeric
@attribute budget integer [0, 9]
@attribute genre {drama, 'light comedy', "don\\'t"}
@attribute text string
@attribute day date "yyyy-MM-dd"
@attribute war {0,1}
@attribute love {false,true}
@data

150,3,drama,'it\\'s, well',1999-12-31,1,false
90.25 , ? , 'light comedy', "x", "2000-01-01", 0, true, {2.5}
1e-300,0.12345678901234567,'don\\'t',?,?,1,true % end
"""
SPARSE = b"""@RELATION films
@ATTRIBUTE a REAL
@ATTRIBUTE b {x,y}
@ATTRIBUTE s string
@ATTRIBUTE war {1,0}
@ATTRIBUTE love numeric
@DATA
{0 1.5,1 y,2 hello,4 1}
{}
{ 0 -2e3 , 3 0 }, {3}
{1 ?,2 '\\u0041',3 1,4 0}
"""
XML = b"""<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="war"><label name="love"/></label>
</labels>
"""
NOTED = (
    b'% scumble: {"features":{"t":{"categories":["b","a"]},"d":{"kind":"date","date_format":null}},'
    b'"name":"x","parents":[-1,0],"labels":{"y0":"real name"},"weights":[1,2]}\r\n'
    b"@relation 'data: -C 2'\r\n@attribute y0 {0,1}\r\n@attribute y1 {0,1}\r\n"
    b"@attribute t string\r\n@attribute d numeric\r\n@data\r\n1,0,a,5\r\n0,1,b,6\r\n"
)
MEKA = b"""@relation 'Music: -split 6 -C -2'
@attribute x numeric
@attribute y {0,1}
@attribute z {0,1}
@data
0.5,1,0
-3,0,1
"""
KEEL = b"""@relation films
@attribute minutes integer[60, 240]
@attribute genre {drama, comedy}
@attribute war {0, 1}
@attribute love {0,1}
@inputs minutes, genre
@outputs war, love
@data
90, drama, 1, 0
<null>, ?, 0, 1
"""
#: Format, content, and whether the XML file is the one to be damaged.
SEEDS = [
    ("mulan", DENSE, False),
    ("mulan", SPARSE, False),
    ("mulan", SPARSE, True),
    ("meka", NOTED, False),
    ("meka", MEKA, False),
    ("keel", KEEL, False),
]
PIECES = [
    b"{", b"}", b"'", b'"', b"\\", b"%", b",", b" ", b"\t", b"\r", b"\n", b"?", b"@", b"\0",
    b"\xff", b"\xc3\xa9", b"1e999", b"-1", b"99999999999999999999", b"1000000000000000000 1",
    b"nan", b"inf", b"@data\n", b"@attribute q real\n", b"@attribute q relational\n", b"{0 1}\n",
    b"\\u0000", b"\\ud800", b"<label name='q'>", b"</label>", b"&lt;", b"&x;", b"<!DOCTYPE a>",
    b"0" * 50, b"[" * 50, b"date 'yyyyyyyyyyyyyyyyyyyy'", b"-C 9", b"% scumble: {}\n",
    b"@outputs\n",
]  # fmt: skip
N_CHUNKS, CHUNK = 36, 500


def damage(content: bytes, chance: random.Random) -> bytes:
    """Change a file in one to four places, every second one in its rows only."""
    data = bytearray(content)
    first = chance.choice((0, max(0, content.lower().find(b"@data") + 6)))
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        at = chance.randrange(min(first, len(data)), len(data) + 1)
        end = min(len(data), at + chance.choice((1, 2, 5, 20, 80)))
        how = chance.randrange(7)
        if how == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif how == 1 and at < len(data):
            data[at] = chance.randrange(256)
        elif how == 2:
            del data[at:end]
        elif how == 3:
            del data[at:]
        elif how == 4:
            data[at:at] = chance.choice(PIECES)
        elif how == 5:
            data[at:at] = data[at:end] * chance.choice((1, 3))
        else:
            other = chance.randrange(len(data) + 1)
            data[at:at] = data[other : other + chance.choice((1, 10, 50))]
    return bytes(data)


def try_to_read(folder, format: str, content: bytes, of_xml: bool) -> bool:
    """Read a damaged file; tell whether it can still be read."""
    path = folder / "films.arff"
    path.write_bytes(SPARSE if of_xml else content)
    if format == "mulan":
        (folder / "films.xml").write_bytes(content if of_xml else XML)
    try:
        source = InputFile(path)
        assert all(0 <= module.sniff(source, content) <= 1 for module in (mulan, meka, keel))
        data = scumble.read(path, format=format)
    except ScumbleError:
        return False
    assert isinstance(data, MultilabelDataset)
    assert data.n_instances <= len(content)
    assert data.n_features + data.n_labels <= len(content)
    return True


def run(folder, seed: int, n_files: int = CHUNK) -> int:
    chance = random.Random(seed)
    n_read = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScumbleWarning)  # not UTF-8, read as Latin-1
        for _ in range(n_files):
            format, content, of_xml = chance.choice(SEEDS)
            damaged = damage(XML if of_xml else content, chance)
            n_read += try_to_read(folder, format, damaged, of_xml)
    return n_read


@pytest.mark.parametrize(("format", "content", "of_xml"), SEEDS)
def test_the_files_are_fine_before_they_are_damaged(tmp_path, format, content, of_xml):
    assert try_to_read(tmp_path, format, XML if of_xml else content, of_xml)


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_damaged_files_give_a_data_set_or_an_error_of_ours(tmp_path, chunk):
    n_read = run(tmp_path, chunk)
    assert 0 < n_read < CHUNK  # some damage is harmless, some is not


def test_damaged_files_take_no_more_memory_than_their_size_allows(tmp_path):
    run(tmp_path, 0, 50)  # compile first
    tracemalloc.start()
    try:
        run(tmp_path, 1000, 150)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 32 << 20
