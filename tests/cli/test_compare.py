"""``scumble compare`` in the shell."""

import json

import pytest

import scumble
from scumble.evaluate import compare
from tests.cli.test_cli import run


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    data = scumble.make_multilabel(160, 5, mean_ir=6, scumble=None, random_state=5)
    scumble.write(data, folder / "mine.arff")
    scumble.write(data[:100], folder / "train.arff")
    scumble.write(data[100:], folder / "test.arff")
    return folder / "mine.arff"


def test_the_table_the_verdicts_and_the_labels(capsys, file):
    out, _ = run(
        capsys, "compare", file, "-c", "br,rare(quality=fast)", "--folds", "1x3", "--seed", "3"
    )
    found = compare(
        scumble.read(file),
        {"br": "br", "rare(quality=fast)": "rare"},
        folds="1x3",
        random_state=3,
    )
    for sentence in found.verdicts():
        assert sentence in " ".join(out.split())
    assert "2 methods on 3 folds, each against br" in out


def test_json_is_what_python_gives(capsys, file):
    out, _ = run(
        capsys,
        "compare",
        file,
        "-c",
        "br,rare",
        "-r",
        "none,remedial",
        "--folds",
        "1x3",
        "--seed",
        "3",
        "--json",
    )
    found = compare(
        scumble.read(file), ["br", "rare"], ["none", "remedial"], folds="1x3", random_state=3
    )
    told = json.loads(out)
    assert told["differences"] == json.loads(json.dumps(found.to_dict()))["differences"]
    assert [one["name"] for one in told["methods"]] == [
        "br",
        "rare",
        "br after remedial",
        "rare after remedial",
    ]


def test_a_test_file_and_a_picture(capsys, file, tmp_path):
    picture = tmp_path / "gains.svg"
    folder = file.parent
    out, _ = run(
        capsys,
        "compare",
        folder / "train.arff",
        "--test",
        folder / "test.arff",
        "--seed",
        "0",
        "--plot",
        picture,
    )
    assert "2 methods on a test part, each against br" in out
    assert picture.read_text().lstrip().startswith("<?xml")


def test_the_best_of_many_on_a_test_file_is_warned_of(capsys, file):
    parts = (file.parent / "train.arff", "--test", file.parent / "test.arff")
    out, _ = run(capsys, "compare", *parts, "-c", "mlknn,br,rare", "--seed", "0")
    told = " ".join(out.split())
    assert "the best of 3 on these rows, which flatters it; they cannot show by how much." in told
    assert "beyond what chance in these rows explains" in told


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["-c", "br,bra"], "no classifier 'bra'"),
        (["-c", "br("], "parameters in brackets"),
        (["-c", "br,,rare"], "names separated by commas"),
        (["-r", "none,remidial"], "remidial"),
        (["--metric", "macro_f9"], "no metric 'macro_f9'"),
        (["--folds", "five"], "Folds must be"),
        (["-c", "br,br"], "named twice"),
    ],
)
def test_bad_calls_end_with_one_clear_line(capsys, file, words, text):
    out, err = run(capsys, "compare", file, *words, code=2)
    assert text in err
    assert not out


def test_the_picture_may_not_replace_the_data(capsys, file):
    before = file.read_bytes()
    run(capsys, "compare", file, "--plot", file, code=2)
    assert file.read_bytes() == before
