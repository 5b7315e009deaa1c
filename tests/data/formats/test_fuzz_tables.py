"""Damaged text files end in a data set or a ScumbleError: never in anything else."""

import resource
import warnings
import zlib

import numpy as np
import pytest

import scumble
from scumble._core.errors import ScumbleError, ScumbleWarning
from scumble.data import MultilabelDataset

PER_CHUNK = 210
CHUNKS = 10  # times three formats: 6300 files

#: Good files, and how they are read.
SEEDS = {
    "csv": [
        (b'n,land,war,love\n150,no,1,1\n90,"fr, s",0,0\n1e3,NA,0,1\n', {"labels": ["war", "love"]}),
        (b'x,tags\n1,"[\'war\', \'love\']"\n2,[]\n3,"[""a"", ""b\\u00e9""]"\n', {}),
        (b"0;['a', 'b']\r\n1;('c',)\r\n2;set()\r\n", {}),
        (b"x,label:a,weight:,label:b\n5,1,0.5,0\n6,true,2,FALSE\n7e-3,0,1,1\n", {}),
        ('été\tlabels:\n1\t"[""ü""]"\n"a\nb"\t[]\n'.encode(), {}),
        (b"1,2,3,1\n4,5,6,0\n7,8,9,1\n", {"labels": -1}),
        (b"w,x,t\n1,a,u|v\n2,b,\n3,c,w\n", {"label_column": "t", "label_separator": "|"}),
        ("é;a\n1;1\n".encode("latin-1"), {"labels": -1, "encoding": "latin-1"}),
        ("é;a\n1;1\n".encode("utf-16"), {"labels": -1}),
        (b"x;y;a\n1,5;-2,25e3;1\n0,1234567890123456789;;0\n", {"labels": -1}),
    ],
    "libsvm": [
        (b"1,3 1:0.5 4:2e3 # first\n 2:-1\n3\n\n2,1 qid:9 3:nan 1:+.25\n", {}),
        (b"# multilabel LibSVM, features from 1: 4 features, 3 labels\n0,2 1:0.5\n \n1 4:7\n", {}),
        ("war,c#,été 0:1 5:1e-300\n12 0:12345678901234567890\n".encode(), {"zero_based": True}),
        (b"1 1:1 2:2\n2 3:4\n", {"n_features": 5, "n_labels": 4}),
    ],
    "extreme": [
        (b"4 3 5\n0,4 0:0.5 2:1\n 1:-2.5e0\n2\n\n", {}),
        (b"2 10 3\n0,1,2 0:1 9:1\n1 5:0.3333333333333333\n", {}),
    ],
}
#: Pieces that parsers stumble over.
PIECES = [
    *(bytes([byte]) for byte in b"\n\r\t ,;:|\"'[](){}#\\.-+eE0159aN?\0\xff\xc3"),
    b'""',
    b"NA",
    b"nan",
    b"inf",
    b"1e999",
    b"99999999999999999999",
    b"1000000000",
    b"label:",
    b"labels:",
    b"weight:",
    b"qid:",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\r\n",
    b"['",
    b"\\u12",
    b"-1",
    b"\x1f\x8b\x08",
    b"PAR1",
    b"@relation",
    b"None",
    b"u'",
    b"0x1p3",
    b"1_0",
    b"2147483648",
]
#: Other ways to read them.
OPTIONS = {
    "csv": [
        {"labels": -1},
        {"labels": [0]},
        {"label_column": 1},
        {"label_column": -1, "label_separator": "a"},
        {"header": False, "labels": -1},
        {"header": True},
        {"delimiter": ";"},
        {"encoding": "utf-16"},
        {"decimal": ",", "labels": -1},
        {"weight_column": 0, "labels": -1},
        {"ignore": [0]},
    ],
    "libsvm": [{"zero_based": False}, {"n_features": 3}, {"n_labels": 2}],
    "extreme": [{}],
}


def mutated(rng: np.random.Generator, content: bytes, other: bytes) -> bytes:
    """Damage a good file in one to four places."""
    damaged = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        at = int(rng.integers(len(damaged) + 1))
        to = at + int(rng.integers(1, 9))
        act = rng.integers(8)
        if act == 0:
            del damaged[at:to]
        elif act <= 2:
            damaged[at:at] = PIECES[rng.integers(len(PIECES))]
        elif act == 3:
            damaged[at : at + 1] = PIECES[rng.integers(len(PIECES))]
        elif act == 4:
            damaged[at:at] = damaged[at:to] * int(rng.integers(1, 4))
        elif act == 5:
            damaged[at:to] = bytes(damaged[at:to][::-1])
        elif act == 6:
            damaged[at : at + 1] = bytes([rng.integers(256)])
        else:
            damaged[at:] = other[int(rng.integers(len(other))) :]
    return bytes(damaged)


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("name", SEEDS)
def test_damaged_files(tmp_path, name, chunk):
    rng = np.random.default_rng([chunk, zlib.crc32(name.encode())])
    path = tmp_path / "data"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    read = refused = 0
    for _ in range(PER_CHUNK):
        good, options = SEEDS[name][rng.integers(len(SEEDS[name]))]
        other, _ = SEEDS[name][rng.integers(len(SEEDS[name]))]
        content = mutated(rng, good, other)
        path.write_bytes(content)
        if rng.random() < 0.2:
            options = OPTIONS[name][rng.integers(len(OPTIONS[name]))]
        form = name if rng.random() < 0.9 else None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ScumbleWarning)
                data = scumble.read(path, format=form, **(options if form else {}))
        except ScumbleError:
            refused += 1
        except Exception as error:
            raise AssertionError(f"{content!r} with {options} ended in {error!r}") from error
        else:
            assert isinstance(data, MultilabelDataset)
            assert len(data) <= content.count(b"\n") + content.count(b"\r") + 1
            read += 1
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 400_000, f"{grown} kB more memory than before"
    assert min(read, refused) > 0  # else the damage is too small or too great to teach anything


@pytest.mark.parametrize("name", SEEDS)
def test_the_seeds_are_good(tmp_path, name):
    for content, options in SEEDS[name]:
        (tmp_path / "data").write_bytes(content)
        assert len(scumble.read(tmp_path / "data", format=name, **options)) >= 1
