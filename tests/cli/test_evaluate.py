import json
from dataclasses import replace

import pytest

import scumble
from scumble.evaluate import cross_validate
from scumble.resample import make_chain
from tests.cli.test_cli import run


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.parquet"
    data = scumble.make_multilabel(80, 5, cardinality=1.8, mean_ir=4, scumble=0.1, random_state=0)
    scumble.write(data, path)
    return path


def test_json_is_what_the_library_computes(capsys, file):
    out, _ = run(
        capsys, "evaluate", file, "-c", "br", "-r", "mlros", "--resample-param", "percent=40",
        "--folds", "2x3", "--seed", 3, "--json",
    )  # fmt: skip
    told = json.loads(out)
    expected = cross_validate(
        scumble.read(file), "br", make_chain("mlros", percent=40), splitter="2x3", random_state=3
    )
    assert told["metrics"].keys() == expected.keys()
    for name, spread in told["metrics"].items():
        assert spread["folds"] == expected.to_dict()["metrics"][name]["folds"]
    assert len(told["folds"]) == 6
    assert told["folds"][0]["after"] == expected.to_dict()["folds"][0]["after"]


def test_the_table_shows_chosen_metrics_treatment_and_cost(capsys, file):
    out, _ = run(
        capsys, "evaluate", file, "-c", "mlknn", "-r", "remedial", "--param", "n_neighbors=5",
        "--folds", "2", "--splitter", "iterative", "--metric", "macro_f1", "--metric",
        "hamming_loss", "--undefined", "0", "--seed", 1,
    )  # fmt: skip
    lines = out.splitlines()
    assert lines[0].endswith("mlknn after remedial, 2 folds")
    assert [line.split()[0] for line in lines[2:4]] == ["macro_f1", "hamming_loss"]
    assert lines[4].startswith("training parts: 40 to ")
    assert "s to resample" in lines[5]
    assert lines[5].endswith("seed 1")


def test_minority_labels_have_a_table_of_their_own(capsys, file):
    arguments = ("evaluate", file, "-c", "mlknn", "--folds", "3", "--seed", 1)
    expected = cross_validate(scumble.read(file), "mlknn", splitter=3, random_state=1)
    lines = run(capsys, *arguments)[0].splitlines()
    assert not any(line.startswith("few") for line in lines)
    at = next(at for at, line in enumerate(lines) if line.startswith("minority labels"))
    values = (
        expected["minority.macro_f1"].mean,
        expected["minority.macro_f1"].sd,
        expected.pooled["minority.macro_f1"],
    )
    assert lines[at + 3].split() == ["macro_f1", *(f"{value:.4f}" for value in values)]
    out, _ = run(capsys, *arguments, "--groups", "few,all")
    assert "few labels" in out
    assert "all labels" in out
    assert "minority labels" not in out
    names = ["minority.macro_f1", "pooled.macro_f1", "pooled.few.micro_f1", "never_predicted"]
    chosen = [part for name in names for part in ("--metric", name)]
    told = json.loads(run(capsys, *arguments, *chosen, "--json")[0])["metrics"]
    assert [told[name]["mean"] for name in names] == [expected[name].mean for name in names]
    lines = run(capsys, *arguments, *chosen)[0].splitlines()
    assert [line.split()[0] for line in lines[2:6]] == names


def test_a_file_of_folds(capsys, file, tmp_path):
    path = tmp_path / "folds.csv"
    path.write_text("instance,fold\n" + "".join(f"{row},{row % 4}\n" for row in range(80)))
    out, _ = run(capsys, "evaluate", file, "-c", "br", "--folds", path, "--json")
    assert [fold["n_test"] for fold in json.loads(out)["folds"]] == [20] * 4


def test_a_test_file_instead_of_folds(capsys, file, tmp_path):
    data = scumble.read(file)
    train, test = data[:60], replace(data[60:], name="test")
    scumble.write(train, tmp_path / "train.arff")
    scumble.write(test, tmp_path / "test.csv")
    train, test = scumble.read(tmp_path / "train.arff"), scumble.read(tmp_path / "test.csv")
    call = ("evaluate", tmp_path / "train.arff", "--test", tmp_path / "test.csv", "-c", "mlknn")
    told = json.loads(run(capsys, *call, "-r", "mlros", "--seed", 2, "--json")[0])
    expected = cross_validate(train, "mlknn", "mlros", test=test, random_state=2)
    assert told["test"] == str(tmp_path / "test.csv")
    assert told["splits"] is None
    assert [fold["n_test"] for fold in told["folds"]] == [20]
    assert told["metrics"]["macro_f1"]["mean"] == expected["macro_f1"].mean
    assert told["metrics"]["macro_f1"]["sd"] is None
    lines = run(capsys, *call, "--seed", 2)[0].splitlines()
    assert lines[0].endswith(f"mlknn, tested on {tmp_path / 'test.csv'}")
    assert lines[1].split() == ["metric", "value"]
    assert {len(line.split()) for line in lines[2:25]} == {2}
    assert lines[-1].startswith("it took")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-c", "nonesuch"], "no classifier 'nonesuch'"),
        (["-c", "br", "--param", "k=3"], "has no parameter 'k'"),
        (["-c", "br", "-r", "smote"], "no resampler 'smote'"),
        (["-c", "br", "--folds", "five"], "Folds must be such as '2x5'"),
        (["-c", "br", "--splitter", "random"], "no splitter 'random'"),
        (["-c", "br", "--metric", "macro_f2"], "no metric 'macro_f2'"),
        (["-c", "br", "--metric", "rare.macro_f1"], "no metric 'rare.macro_f1'"),
        (["-c", "br", "--metric", "few.macro_f1", "--groups", "all"], "no metric 'few.macro_f1'"),
        (
            ["-c", "br", "--groups", "minorty"],
            "'minorty'. Did you mean 'minority'",
        ),
        (["-c", "br", "--undefined", "zero"], "--undefined must be"),
    ],
)
def test_mistakes_are_explained(capsys, file, arguments, message):
    _, err = run(capsys, "evaluate", file, *arguments, code=2)
    assert message in err
