"""The text form of extreme classification."""

import numpy as np
import pytest
from scipy import sparse

import scumble
from scumble._core.errors import ParameterError, ReadError, ScumbleWarning
from scumble._core.files import InputFile
from scumble.data import MultilabelDataset
from scumble.data.formats.extreme import sniff


def read(tmp_path, text: str, **options) -> MultilabelDataset:
    path = tmp_path / "data.txt"
    path.write_bytes(text.encode())
    return scumble.read(path, format="extreme", **options)


def test_a_file_made_by_hand(tmp_path):
    data = read(tmp_path, "4 3 5\n0,4 0:0.5 2:1\n 1:-2.5e0\n2\n\n")
    assert data.X.toarray().tolist() == [[0.5, 0, 1], [0, -2.5, 0], [0, 0, 0], [0, 0, 0]]
    assert data.Y.toarray().astype(int).tolist() == [
        [1, 0, 0, 0, 1],
        [0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0],
    ]
    assert data.labels == ("y0", "y1", "y2", "y3", "y4")
    assert data.is_sparse


def test_blank_lines_end_the_file(tmp_path):
    assert read(tmp_path, "1 1 1\n0 0:1\n\n \n\n").n_instances == 1
    assert read(tmp_path, "2 1 1\n0 0:1\n\n \n\n").n_instances == 2
    assert read(tmp_path, "0 1 1\n\n\n").n_instances == 0


def test_no_rows(tmp_path):
    data = read(tmp_path, "0 2 3\n")
    assert (data.n_instances, data.n_features, data.n_labels) == (0, 2, 3)


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ("1 2\n0 0:1\n", 1, None, "expected three whole numbers"),
        ("1 2 3 4\n", 1, None, "expected three whole numbers"),
        ("a b c\n", 1, None, "expected three whole numbers"),
        ("-1 2 3\n", 1, None, "expected three whole numbers"),
        ("3 2 2\n0 0:1\n1 1:1\n", 3, None, "promises 3 instances, but the file ends after 2"),
        ("1 2 2\n0 0:1\n\n1 1:1\n", 3, None, "promises 1 instances, but here is one more"),
        ("1 2 2\n0,2 0:1\n", 2, 1, "label 2 is beyond the 2 labels"),
        ("1 2 2\n0 2:1\n", 2, 2, "feature 2 is too large. Expected at most 1"),
        ("1 2 2\nwar 1:1\n", 2, 1, "label numbers from 0 to 1, found 'war'"),
        ("1 2 2\n0 1:1 # c\n", 2, 3, "expected index:value, found '#'"),
        ("1 2 2\n0 1:1 1:1\n", 2, None, "feature 1 is given twice"),
        ("1000000000000 5 5\n0 0:1\n", 2, None, "promises 1000000000000 instances"),
        ("1 1000000000000 5\n0 0:1\n", None, None, "1000000000000 features in a file of"),
        ("1 5 1000000000000\n0 0:1\n", None, None, "1000000000000 labels in a file of"),
    ],
)
def test_faults_name_their_place(tmp_path, text, line, column, reason):
    with pytest.raises(ReadError, match=reason) as fault:
        read(tmp_path, text)
    assert (fault.value.line, fault.value.column) == (line, column)


def test_a_label_named_twice_counts_once_and_is_reported(tmp_path):
    with pytest.warns(ScumbleWarning, match="1 labels repeat"):
        data = read(tmp_path, "1 1 3\n2,0,2 0:1\n")
    assert data.Y.indices.tolist() == [0, 2]


def test_labels_cannot_be_chosen(tmp_path):
    with pytest.raises(ParameterError, match="has no meaning for the extreme format"):
        read(tmp_path, "0 1 1\n", labels=["a"])


def test_the_bytes_written(tmp_path):
    data = MultilabelDataset(
        sparse.csr_array([[0.5, 0, 1], [0, 0, 0], [0, np.nan, 3]]),
        [[1, 0, 1], [0, 0, 0], [0, 1, 0]],
    )
    scumble.write(data, tmp_path / "a.xc")
    assert (tmp_path / "a.xc").read_text() == "3 3 3\n0,2 0:0.5 2:1.0\n \n1 1:nan 2:3.0\n"


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("3 4 2\n0,1 0:150 3:0.5\n 2:1\n1 0:90\n", 0.9, 1),
        ("1 1 1\n0", 0.5, 1),
        ("0 1 1\n", 0.5, 1),
        ("1 2 3\n4 5 6\n7 8 9\n", 0, 0.4),
        ("1,3 5:0.2\n", 0, 0),
    ],
)
def test_sniff(tmp_path, text, low, high):
    path = tmp_path / "data"
    path.write_text(text)
    assert low <= sniff(InputFile(path), text.encode()) <= high
