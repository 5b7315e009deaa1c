"""``scumble thresholds``: the numbers of the library, for every form of file."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import scumble
from scumble import MultilabelDataset
from scumble.learn import threshold_table
from scumble.learn.thresholds.selection import predict_labels
from tests.cli.test_cli import run

NAMES = ["sky", "sea", "ship", "owl"]


@pytest.fixture
def problem():
    """Eighty rows; the last label has no positive."""
    rng = np.random.default_rng(0)
    Y = rng.random((80, 4)) < [0.5, 0.2, 0.05, 0.0]
    scores = np.round(np.maximum(0.6 * rng.random((80, 4)) + 0.4 * Y - 0.2, 0), 3)
    return scores, Y


@pytest.fixture
def folder(tmp_path, problem):
    scores, Y = problem
    frame = pd.DataFrame(scores, columns=NAMES)
    frame.to_csv(tmp_path / "s.csv", index=False)
    frame[NAMES[::-1]].to_parquet(tmp_path / "s.parquet")
    np.save(tmp_path / "s.npy", scores)
    np.savez(tmp_path / "s.npz", scores=scores, names=np.array(NAMES))
    sparse.save_npz(tmp_path / "sparse.npz", sparse.csc_matrix(scores))
    scumble.write(MultilabelDataset(scores, Y, labels=NAMES), tmp_path / "y.arff")
    truth = pd.DataFrame(Y.astype(int), columns=NAMES)
    truth.to_csv(tmp_path / "y.csv", index=False)
    truth.astype(bool).to_parquet(tmp_path / "y.parquet")
    np.save(tmp_path / "y.npy", Y)
    sparse.save_npz(tmp_path / "y.npz", sparse.csr_array(Y))
    return tmp_path


@pytest.mark.parametrize("scores", ["s.csv", "s.parquet", "s.npy", "s.npz", "sparse.npz"])
@pytest.mark.parametrize("truth", ["y.arff", "y.csv", "y.parquet", "y.npy", "y.npz"])
def test_every_form_gives_the_numbers_of_the_library(capsys, folder, problem, scores, truth):
    out, _ = run(capsys, "thresholds", folder / scores, folder / truth, "--json")
    cells, Y = problem
    if scores == "sparse.npz":
        cells = sparse.csr_array(cells)
    if scores == "s.parquet" and truth in ("y.npy", "y.npz"):  # columns match by place
        cells = cells[:, ::-1]
    named = scores in ("s.csv", "s.parquet", "s.npz") or truth in ("y.arff", "y.csv", "y.parquet")
    names = NAMES if named else list(range(4))
    if scores == "s.parquet" and truth in ("y.npy", "y.npz"):
        names = NAMES[::-1]
    assert json.loads(out) == threshold_table(cells, Y, labels=names).to_dict()


def test_options_table_and_files(capsys, folder, problem):
    scores, Y = problem
    out, _ = run(
        capsys, "thresholds", folder / "s.csv", folder / "y.csv", "--rule", "capped", "--metric",
        "f2", "--output", folder / "t.csv", "--predictions", folder / "p.csv",
    )  # fmt: skip
    expected = threshold_table(scores, Y, labels=NAMES, rule="capped", metric="f2")
    lines = out.splitlines()
    assert lines[0].split() == ["label", "positives", "threshold", "predicted", "expected", "F2"]
    rare = lines[3].split()
    assert rare[:2] == ["ship", str(Y[:, 2].sum())]
    assert float(rare[2]) == pytest.approx(expected.thresholds[2], rel=1e-3)
    assert rare[3:] == [str(expected.predicted[2]), f"{expected.expected[2]:.4f}"]
    assert lines[4].split() == ["owl", "0", "never", "0", "–"]
    assert f"Mean F2 to expect {expected.mean_expected:.4f}; 1 of 4 labels are" in out
    assert pd.read_csv(folder / "t.csv")["threshold"].tolist() == expected.thresholds.tolist()
    predicted = predict_labels(scores, expected.thresholds).toarray()
    written = pd.read_csv(folder / "p.csv")
    assert list(written.columns) == NAMES
    assert (written.to_numpy() == predicted).all()


def test_predictions_may_stay_sparse(capsys, folder, problem):
    how = ("--rule", "fixed", "--threshold", "0.3", "--predictions", folder / "p.npz")
    run(capsys, "thresholds", folder / "sparse.npz", folder / "y.npz", *how)
    found = sparse.load_npz(folder / "p.npz")
    scores, Y = problem
    has_positives = np.asarray(sparse.csr_array(Y).sum(axis=0)).ravel() > 0
    assert (found.toarray() == ((scores >= 0.3) & has_positives)).all()


def test_a_data_set_of_the_shelf_has_labels(capsys, tmp_path):
    data = scumble.load("debtags")
    sparse.save_npz(tmp_path / "s.npz", data.Y.astype(float))
    out, _ = run(capsys, "thresholds", tmp_path / "s.npz", "debtags", "--json")
    found = json.loads(out)["labels"]
    assert [row["label"] for row in found] == list(data.labels)
    assert [row["predicted"] for row in found] == [row["positives"] for row in found]


def test_tables_larger_than_memory(capsys, folder, problem):
    pytest.importorskip("duckdb", reason="DuckDB is missing: pip install 'scumble[scale]'")
    scores, Y = problem
    rows, labels = np.nonzero(scores)
    table = {"row": rows, "label": labels, "sure": scores[rows, labels]}
    pq.write_table(pa.table(table), folder / "long.parquet")
    rows, labels = np.nonzero(Y)
    pq.write_table(pa.table({"row": rows, "label": labels}), folder / "pairs.parquet")
    options = ("--engine", "duckdb", "--instance-column", "row", "--score-column", "sure")
    out, _ = run(
        capsys, "thresholds", folder / "long.parquet", folder / "pairs.parquet", *options,
        "--n-instances", 80, "--output", folder / "t.json", "--json",
    )  # fmt: skip
    expected = threshold_table(sparse.csr_array(scores), Y).to_dict()
    assert json.loads(out)["labels"][:3] == expected["labels"][:3]
    assert json.loads((folder / "t.json").read_text()) == json.loads(out)


@pytest.fixture
def wrong(folder, problem):
    scores, _ = problem
    pd.DataFrame(scores, columns=["sky", "sea", "ship", "oul"]).to_csv(
        folder / "names.csv", index=False
    )
    pd.DataFrame(scores[:70], columns=NAMES).to_csv(folder / "short.csv", index=False)
    (folder / "text.csv").write_text("sky,sea\n0.5,high\n0.2,low\n")
    (folder / "gap.csv").write_text("sky,sea\n0.5,0.1\n0.2,\n")
    (folder / "two.csv").write_text("sky,sea\n1,0\n0,2\n")
    (folder / "long.csv").write_text("instance,label,score\n1,sky,0.5\n")
    (folder / "fake.npy").write_bytes(b"no array at all")
    (folder / "cut.npy").write_bytes(b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8', (")
    (folder / "fake.npz").write_bytes(b"PK\x03\x04 no archive")
    np.save(folder / "flat.npy", scores[:, 0])
    np.save(folder / "objects.npy", np.array([[None]]), allow_pickle=True)
    np.save(folder / "words.npy", np.array([["a"]]))
    np.savez(folder / "both.npz", a=scores, b=scores)
    good = sparse.csr_array(scores)
    np.savez(
        folder / "outside.npz", format=np.array(b"csr"), shape=np.array(good.shape),
        data=good.data, indices=good.indices + 1000, indptr=good.indptr,
    )  # fmt: skip
    return folder


@pytest.mark.parametrize(
    ("scores", "truth", "said"),
    [
        ("names.csv", "y.csv", "no scores for 1 of the labels"),
        ("short.csv", "y.csv", "70 rows and 4 labels, and"),
        ("text.csv", "y.csv", "column 'sea' holds texts such as 'high'"),
        ("gap.csv", "gap.csv", "'sky' holds '0.5'"),
        ("gap.csv", "one.csv", "row 1 for label 1 is NaN"),
        ("s.csv", "two.csv", "'sea' holds '2'"),
        ("long.csv", "y.csv", "--engine duckdb"),
        ("fake.npy", "y.csv", "the array cannot be read"),
        ("cut.npy", "y.csv", "the array cannot be read"),
        ("fake.npz", "y.csv", "the array cannot be read"),
        ("objects.npy", "y.csv", "the array cannot be read"),
        ("outside.npz", "y.csv", "the array cannot be read"),
        ("flat.npy", "y.csv", "shape (80,)"),
        ("words.npy", "y.csv", "type <U1"),
        ("both.npz", "y.csv", "holds 2 tables"),
        ("s.csv", "s.npy", "Labels must be 0/1"),
        ("s.csv", "none.csv", "no such file"),
        ("none.npy", "y.csv", "no such file"),
        ("s.csv", "nonesuch", "There is no file 'nonesuch'"),
    ],
)
def test_bad_files_end_with_2(capsys, wrong, monkeypatch, scores, truth, said):
    (wrong / "one.csv").write_text("sky,sea\n1,0\n0,1\n")
    monkeypatch.chdir(wrong)
    _, err = run(capsys, "thresholds", scores, truth, code=2)
    assert said in " ".join(err.split())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rule", "best"], "--rule must be"),
        (["--metric", "recall"], "--metric must be"),
        (["--strength", "-1"], "--strength must be"),
        (["--output", "t.xlsx"], "written as .csv or .json"),
        (["--output", "s.csv"], "this is the file to read"),
        (["--predictions", "y.csv"], "this is the file to read"),
        (["--predictions", "p.txt"], "written as .csv"),
        (["--output", "t.csv", "--predictions", "t.csv"], "name the same file"),
        (["--engine", "duckdb", "--predictions", "p.csv"], "fit into memory"),
        (["--engine", "abacus"], "--engine must be"),
    ],
)
def test_bad_options_end_with_2_and_write_nothing(capsys, folder, monkeypatch, options, said):
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    _, err = run(capsys, "thresholds", "s.csv", "y.csv", *options, code=2)
    assert said in " ".join(err.split())
    assert sorted(folder.iterdir()) == before
