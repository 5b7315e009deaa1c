import json
import os

import pytest

import scumble
from scumble._core.registry import registered_objects
from scumble.resample import MLROS, REMEDIAL, make_chain, run_chain
from tests.cli.test_cli import run


def test_one_method_writes_what_the_library_gives(capsys, tmp_path):
    target = tmp_path / "o.parquet"
    out, _ = run(
        capsys, "resample", "debtags", target, "-r", "mlros", "--percent", 10, "--seed", 1, "--json"
    )
    expected = MLROS(percent=10, random_state=1).resample(scumble.load("debtags"))
    assert scumble.read(target) == expected
    assert json.loads(out)["after"] == scumble.characterize(expected).to_dict()


def test_a_chain_runs_in_order_and_shows_every_step(capsys, tmp_path):
    target = tmp_path / "o.arff"
    out, _ = run(capsys, "resample", "debtags", target, "-r", "remedial+lpros", "--seed", 3)
    expected = run_chain(scumble.load("debtags"), make_chain("remedial+lpros", random_state=3))
    assert scumble.read(target) == expected
    assert "after REMEDIAL" in out
    assert "after LPROS" in out
    shape = (expected.n_instances, expected.n_features, expected.n_labels)
    assert out.splitlines()[-1] == (
        f"{target}: {shape[0]:,} instances, {shape[1]:,} features, {shape[2]:,} labels"
    )


def test_other_parameters_by_name(capsys, tmp_path):
    target = tmp_path / "o.parquet"
    run(capsys, "resample", "debtags", target, "-r", "remedial", "--param", "one_sided=keep")
    assert scumble.read(target) == REMEDIAL(one_sided="keep").resample(scumble.load("debtags"))


def test_all_methods_are_compared(capsys, datasets, monkeypatch):
    monkeypatch.setenv("SCUMBLE_DATA", str(datasets))
    out, _ = run(capsys, "resample", "flags", "--compare", "--seed", 1, "--json")
    rows = {row["method"]: row for row in json.loads(out)}
    assert set(rows) == {"none", *registered_objects("resampler")}
    assert rows["none"]["n_instances"] == 194
    assert rows["remedial"]["n_instances"] == 262
    assert rows["remedial"]["scumble"] == pytest.approx(0.0176926, abs=1e-7)
    out, _ = run(capsys, "resample", "flags", "--compare", "-r", "remedial,lprus", "--seed", 1)
    assert [line.split()[0] for line in out.splitlines()] == ["method", "none", "remedial", "lprus"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["o.arff"], "No resampler is named"),
        (["o.arff", "--compare"], "either a file to write, with --output, or --compare"),
        (["o.arff", "-r", "smote"], "no resampler 'smote'"),
        (["o.arff", "-r", "mlros", "--percent", "-3"], "--percent must be a number of at least 0"),
        (["o.arff", "-r", "remedial", "--k", "3"], "has a parameter 'n_neighbors'"),
        (["o.arff", "-r", "remedial", "--param", "keep"], "A parameter must be name=value"),
    ],
)
def test_mistakes_are_explained(capsys, monkeypatch, tmp_path, arguments, message):
    monkeypatch.chdir(tmp_path)
    _, err = run(capsys, "resample", "debtags", *arguments, code=2)
    assert message in err
    assert os.listdir(tmp_path) == []
