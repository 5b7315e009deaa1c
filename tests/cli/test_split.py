"""``split``: two files, whole or not at all, with rare labels in both."""

import json
import os

import numpy as np
import pytest

import scumble
from scumble.evaluate import train_test_split
from tests.cli.test_cli import run
from tests.cli.test_files import ARFF, XML, checksums, refused


@pytest.fixture
def folder(tmp_path, monkeypatch):
    data = scumble.make_multilabel(80, 6, mean_ir=8, scumble=0.1, random_state=0)
    scumble.write(data, tmp_path / "films.arff")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "name", ["parts.arff", "parts.csv.gz", "parts.parquet", "sub/parts.libsvm"]
)
def test_parts_are_those_of_the_library_in_any_format(capsys, folder, name):
    (folder / "sub").mkdir()
    out, _ = run(
        capsys, "split", "films.arff", "-o", name, "--test-size", 0.2, "--seed", 3, "--json"
    )
    told = json.loads(out)
    train, test = train_test_split(scumble.read("films.arff"), test_size=0.2, random_state=3)
    for key, part in (("train", train), ("test", test)):
        path = name.replace("parts", f"parts-{key}")
        assert told[key] == {"output": path, "n_instances": len(part)}
        again = scumble.read(path)
        assert again.name == f"parts-{key}"
        assert (again.Y != part.Y).nnz == 0
        np.testing.assert_allclose(
            again.X.toarray() if again.is_sparse else again.X, part.X, rtol=1e-6
        )
    assert told["random_state"] == 3
    counts = [
        {"name": a, "train": int(b), "test": int(c)}
        for a, b, c in zip(train.labels, train.Y.sum(axis=0), test.Y.sum(axis=0), strict=True)
    ]
    assert told["labels"] == counts
    assert (told["n_on_both_sides"], told["n_too_few"], told["one_sided"]) == (6, 0, [])


def test_what_is_said(capsys, folder):
    out, _ = run(capsys, "split", "films.arff", "-o", "films.arff", "--test-size", 20, "--seed", 1)
    assert out.splitlines() == [
        "films-train.arff: 60 instances, 20 features, 6 labels",
        "films-test.arff: 20 instances, 20 features, 6 labels",
        "6 of 6 labels are in both; seed 1",
    ]
    rare = "@relation r\n@attribute x numeric\n@attribute a {0,1}\n@attribute b {0,1}\n" + (
        "@attribute c {0,1}\n@attribute d {0,1}\n@data\n"
        "1,1,0,1,0\n2,1,1,0,0\n3,0,1,1,0\n4,0,0,0,1\n5,0,0,0,0\n6,0,0,0,0\n"
    )
    (folder / "r.arff").write_text(rare)
    out, _ = run(capsys, "split", "r.arff", "--labels", "-4", "-o", "r.csv", "--seed", 0)
    assert (
        "2 of 4 labels are in both; 1 have one instance or none; others share all their instances"
        in out
    )


def test_the_parts_go_on_to_evaluate(capsys, folder):
    run(capsys, "split", "films.arff", "-o", "films.arff", "--seed", 1)
    out, _ = run(
        capsys, "evaluate", "films-train.arff", "--test", "films-test.arff", "-c", "br", "--json"
    )
    assert json.loads(out)["folds"][0]["n_test"] == 20


def test_both_files_or_none(capsys, folder):
    (folder / "other-test.csv").write_text("mine")
    os.chmod(folder / "other-test.csv", 0o444)
    before = checksums(folder)
    err = refused(capsys, "split films.arff -o other.csv")
    assert "other-test.csv: cannot be written: the file is there and write-protected" in err
    assert checksums(folder) == before


@pytest.mark.parametrize("out", ["films.arff", "./films.arff", "../{folder}/films.arff"])
def test_no_part_may_be_the_input_or_belong_to_it(capsys, folder, out):
    for end in ("arff", "xml"):
        os.rename(f"films.{end}", f"films-test.{end}")
    before = checksums(folder)
    err = refused(capsys, f"split films-test.arff -o {out.format(folder=folder.name)}")
    assert "films-test.arff" in err
    assert "would be lost. Name another file for --output" in err
    assert checksums(folder) == before


def test_an_xml_file_that_belongs_to_the_input_is_kept(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-train.xml").write_text(XML)
    (tmp_path / "data.arff").write_text(ARFF)
    before = checksums(tmp_path)
    err = refused(capsys, "split data.arff --labels a-train.xml -o a.arff")
    assert "a-train.xml" in err
    assert "would be lost" in err
    assert checksums(tmp_path) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("-o -", "two parts to write"),
        ("-o parts.what", "the suffix '.what' belongs to no format"),
        ("-o parts.csv --test-size 0", "--test-size must be a number"),
        ("-o parts.csv --test-size 80", "80 of 80 rows for testing leave 0"),
        ("-o parts.csv --test-size 1.5", "Got 1.5"),
        ("-o nowhere/parts.csv", "the folder nowhere does not exist"),
    ],
)
def test_bad_calls(capsys, folder, words, message):
    before = checksums(folder)
    assert message in refused(capsys, f"split films.arff {words}")
    assert checksums(folder) == before
