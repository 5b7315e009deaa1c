"""``score``: files of predictions against files of labels."""

import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from scipy import sparse

import scumble
from scumble.evaluate import evaluate, train_test_split
from scumble.evaluate.metrics.label_groups import GROUPS
from scumble.learn import fit_dataset, make_classifier
from tests.cli.test_cli import run
from tests.cli.test_files import checksums


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("score")
    data = scumble.make_multilabel(120, 5, cardinality=1.8, mean_ir=4, scumble=0.1, random_state=0)
    train, test = train_test_split(data, random_state=0)
    scumble.write(train, folder / "train.arff")
    scumble.write(test, folder / "test.arff")
    model = fit_dataset(make_classifier("mlknn"), train)
    return folder, train, test, model.predict(test.X), model.predict_proba(test.X)


@pytest.fixture
def folder(made, monkeypatch):
    monkeypatch.chdir(made[0])
    return made[0]


def told(capsys, *words):
    return json.loads(run(capsys, "score", *words, "--json")[0])


def same(found, expected):
    assert found.keys() == dict(expected).keys()
    values = [np.nan if value is None else value for value in found.values()]
    np.testing.assert_array_equal(values, list(expected.values()))


def test_labels_that_are_predicted_but_that_no_row_of_a_table_of_tags_has(capsys, tmp_path):
    (tmp_path / "tags.csv").write_text("size,tags\n1,a;b\n2,b\n3,\n")
    (tmp_path / "said.csv").write_text("n,a,b,c\n7,1,1,1\n8,0,1,1\n9,0,0,0\n")
    Y = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0]])
    said = np.array([[1, 1, 1], [0, 1, 1], [0, 0, 0]])
    words = [str(tmp_path / name) for name in ("said.csv", "tags.csv")]
    words += ["--label-column", "tags", "--label-separator", ";"]
    found = told(capsys, *words)
    assert [row["name"] for row in found["labels"]] == ["a", "b", "c"]
    assert found["labels"][2]["false_positives"] == 2
    same(found["metrics"], evaluate(Y, said))
    _, err = run(capsys, "score", *words)
    notes = " ".join(err.split())
    assert "tags.csv has 'c', for which" in notes
    assert "none of the labels of" in notes
    assert "tags.csv: 'n'. They are left out" in notes


@pytest.mark.parametrize("said", ["0,1\n1,0\n0,0\n", "0.1,0.8\n0.9,0.2\n0.3,0.1\n"])
def test_tags_that_rows_have_but_that_are_never_predicted(capsys, tmp_path, said):
    (tmp_path / "tags.csv").write_text("size,tags\n1,a;new\n2,b\n3,\n")
    (tmp_path / "train.csv").write_text("size,tags\n1,a\n2,b\n3,b\n")
    (tmp_path / "said.csv").write_text(f"b,a\n{said}")
    words = [str(tmp_path / name) for name in ("said.csv", "tags.csv")]
    words += ["--label-column", "tags", "--label-separator", ";"]
    words += ["--training", str(tmp_path / "train.csv")]
    found = told(capsys, *words)
    assert [row["name"] for row in found["labels"]] == ["a", "b", "new"]
    assert [row["true_positives"] for row in found["labels"]] == [1, 1, 0]
    assert found["labels"][2]["false_negatives"] == 1
    assert found["labels"][2]["training_positives"] == 0
    assert found["metrics"]["macro_f1"] == pytest.approx(2 / 3)
    _, err = run(capsys, "score", *words)
    assert "said.csv has no column for 'new', which rows of" in " ".join(err.split())
    assert "train.csv has no column" not in err


@pytest.mark.parametrize("form", ["brackets", "marked", "parquet"])
def test_lists_that_are_found_are_tags_as_those_that_are_named(capsys, tmp_path, form):
    name = {"brackets": "a.csv", "marked": "m.csv", "parquet": "a.parquet"}[form]
    if form == "parquet":
        table = {"size": [1, 2, 3], "tags": [["a", "new"], ["b"], []]}
        pyarrow.parquet.write_table(pyarrow.table(table), tmp_path / name)
    else:
        head = "labels:" if form == "marked" else "tags"
        (tmp_path / name).write_text(f"size,{head}\n1,\"['a', 'new']\"\n2,['b']\n3,[]\n")
    (tmp_path / "said.csv").write_text("b,a\n0,1\n1,0\n0,0\n")
    words = [str(tmp_path / "said.csv"), str(tmp_path / name)]
    found = told(capsys, *words)
    assert [row["name"] for row in found["labels"]] == ["a", "b", "new"]
    assert [row["true_positives"] for row in found["labels"]] == [1, 1, 0]
    assert found["labels"][2]["false_negatives"] == 1
    if form != "marked":
        assert found["metrics"] == told(capsys, *words, "--label-column", "tags")["metrics"]


@pytest.mark.parametrize("cut", ["0", "-1", "0.05"])
def test_a_tag_without_a_column_is_predicted_by_no_cut(capsys, tmp_path, cut):
    (tmp_path / "tags.csv").write_text("size,tags\n1,a;new\n2,b\n3,\n")
    (tmp_path / "said.csv").write_text("b,a\n0.1,0.8\n0.9,0.2\n0.3,0.1\n")
    words = [str(tmp_path / name) for name in ("said.csv", "tags.csv")]
    words += ["--label-column", "tags", "--label-separator", ";", "--cut", cut]
    rows = {row["name"]: row for row in told(capsys, *words)["labels"]}
    assert [rows[name]["false_positives"] for name in ("a", "b", "new")] == [2, 2, 0]
    assert [rows[name]["true_positives"] for name in ("a", "b", "new")] == [1, 1, 0]
    assert rows["new"]["false_negatives"] == 1


def test_what_predict_writes(capsys, folder, made):
    _, train, test, labels, scores = made
    run(capsys, "train", "train.arff", "m", "-c", "mlknn")
    for suffix in ("csv.gz", "parquet"):
        run(capsys, "predict", "m", "test.arff", f"said.{suffix}")
        run(capsys, "predict", "m", "test.arff", f"sure.{suffix}", "--probabilities")
        found = told(capsys, f"said.{suffix}", "test.arff")
        same(found["metrics"], evaluate(test, labels))
        assert (found["n_instances"], found["n_labels"], found["cut"]) == (30, 5, None)
        both = told(capsys, f"said.{suffix}", "test.arff", "--scores", f"sure.{suffix}")
        same(both["metrics"], evaluate(test, labels, scores))
        alone = told(capsys, f"sure.{suffix}", "test.arff")
        assert alone["cut"] == 0.5
        same(alone["metrics"], evaluate(test, scores >= 0.5, scores))
        low = told(capsys, f"sure.{suffix}", "test.arff", "--cut", 0.2)
        same(low["metrics"], evaluate(test, scores >= 0.2, scores))
        rare = told(capsys, f"said.{suffix}", "test.arff", "--training", "train.arff")
        same(rare["metrics"], evaluate(test, labels, groups=GROUPS, training=train))
    run(capsys, "predict", "m", "test.arff", "whole.arff", "--whole")
    same(told(capsys, "whole.arff", "test.arff")["metrics"], evaluate(test, labels))


def test_a_plain_table_by_hand(capsys, folder):
    # Of war one of two is found; of love the one, and another that is none. Names in any order.
    (folder / "truth.csv").write_text("war,love\n1,0\n1,1\n0,0\n")
    (folder / "said.csv").write_text("id,love,war\n7,0,1\n8,1,0\n9,1,0\n")
    found = told(capsys, "said.csv", "truth.csv")
    rows = [
        {"name": "war", "positives": 2, "true_positives": 1, "false_positives": 0,
         "false_negatives": 1, "precision": 1, "recall": 0.5, "f1": pytest.approx(2 / 3)},
        {"name": "love", "positives": 1, "true_positives": 1, "false_positives": 1,
         "false_negatives": 0, "precision": 0.5, "recall": 1, "f1": pytest.approx(2 / 3)},
    ]  # fmt: skip
    assert found["labels"] == rows
    assert found["metrics"]["hamming_loss"] == pytest.approx(2 / 6)
    lines = run(capsys, "score", "said.csv", "truth.csv", "-m", "hamming_loss,micro_f1")[0]
    assert [line.split() for line in lines.splitlines()] == [
        "said.csv against truth.csv: 3 instances, 2 labels".split(),
        ["metric", "value"],
        ["hamming_loss", "0.3333"],
        ["micro_f1", "0.6667"],
        "label positives true positives false positives precision recall f1".split(),
        ["love", "1", "1", "1", "0.5000", "1.0000", "0.6667"],
        ["war", "2", "1", "0", "1.0000", "0.5000", "0.6667"],
    ]
    short = run(capsys, "score", "said.csv", "truth.csv", "--top", 1)[0]
    assert short.splitlines()[-1] == "the 1 rarest of 2 labels; --top 0 shows all"
    assert short.splitlines()[-2].startswith("love")


def test_arrays_and_scores_of_any_size(capsys, folder, made):
    _, _, test, labels, scores = made
    sparse.save_npz(folder / "said.npz", sparse.csr_matrix(labels.astype(int)))
    same(told(capsys, "said.npz", "test.arff")["metrics"], evaluate(test, labels))
    np.save(folder / "far.npy", scores * 10 - 5)
    order = told(capsys, "far.npy", "test.arff")
    assert order["cut"] is None
    same(order["metrics"], evaluate(test, None, scores * 10 - 5))
    cut = told(capsys, "far.npy", "test.arff", "--cut", 0)
    same(cut["metrics"], evaluate(test, scores * 10 - 5 >= 0, scores * 10 - 5))


def test_minority_labels_are_shown_where_the_training_part_is_known(capsys, folder, made):
    np.save(folder / "sure.npy", made[4])
    out, _ = run(capsys, "score", "sure.npy", "test.arff", "--training", "train.arff")
    expected = evaluate(made[2], made[4] >= 0.5, made[4], groups=GROUPS, training=made[1])
    lines = [line.split() for line in out.splitlines()]
    assert ["minority.macro_f1", f"{expected['minority.macro_f1']:.4f}"] in lines
    assert "few.macro_f1" not in out
    assert "training positives" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("short.csv test.arff", "short.csv has 2 rows and 5 labels, and test.arff 30 rows"),
        ("other.csv test.arff", "other.csv has 30 rows and 1 labels"),
        ("ones.csv test.arff --cut 0.5", "A cut, 0.5, is for scores. ones.csv holds 0 and 1"),
        ("sure.csv test.arff --scores sure.csv", "sure.csv holds scores, as sure.csv does"),
        ("words.csv test.arff", "column 'y0' holds texts"),
        ("ones.csv test.arff -m minority.macro_f1", "it needs --training"),
        ("ones.csv test.arff -m one_error", "it needs predictions or scores that it evaluates"),
        ("ones.csv test.arff -m macro_f9", "no metric 'macro_f9'"),
        ("ones.csv test.arff --training other.csv", "training part must have the labels of Y, 5"),
        ("war.csv named.csv --training love.csv", "love.csv lacks the label 'war' of named.csv"),
        ("ones.csv test.arff --ties never", "--ties must be one of"),
        ("nowhere.csv test.arff", "nowhere.csv"),
    ],
)
def test_bad_calls(capsys, folder, words, message):
    names = ",".join(f"y{at}" for at in range(5))
    files = {
        "short.csv": f"{names}\n" + "0,0,0,0,1\n" * 2,
        "other.csv": "y0\n" + "1\n" * 30,
        "ones.csv": f"{names}\n" + "0,1,0,0,1\n" * 30,
        "sure.csv": f"{names}\n" + "0,1,0.5,0,1\n" * 30,
        "war.csv": "war\n1\n",
        "named.csv": "war\n1\n",
        "love.csv": "love\n1\n",
        "words.csv": f"{names}\n" + "no,1,0,0,1\n" * 30,
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    before = checksums(folder)
    _, err = run(capsys, "score", *words.split(), code=2)
    assert message in " ".join(err.split())
    assert "Traceback" not in err
    assert checksums(folder) == before
