"""What the paper says in prose, on the real data sets."""

import json

import pytest

from scumble.cli.main import main
from scumble.paper import claims


@pytest.fixture(scope="module")
def checked(datasets):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCUMBLE_DATA", str(datasets))
        return {
            one.item: one for one in claims(["cal500", "enron", "yeast", "genbase", "emotions"])
        }


def test_labels_that_always_travel_together(checked):
    assert checked["genbase: every sample with P750 has P271"].scumble_value == "3 of 3"
    assert checked["yeast: Class9 always meets a majority label"].scumble_value == "178 of 178"
    assert checked["yeast: Class14 always meets a majority label"].scumble_value == "34 of 34"
    assert checked["genbase: P750 is a minority label"].verdict == "holds"


def test_two_statements_about_genbase_do_not_hold(checked):
    assert checked["genbase: P271 is a minority label"].scumble_value == "IRLbl 2.8, MeanIR 37.3"
    assert checked["genbase: P271 is a minority label"].verdict == "does not hold"
    assert checked["genbase: every sample with P154 has P271"].scumble_value == "0 of 79"


def test_remedial_lowers_scumble_but_not_always_the_number_of_labelsets(checked):
    fewer = checked["there are fewer labelsets"]
    assert fewer.verdict == "holds in 2 of 4"
    assert "cal500 502 -> 683" in fewer.note
    assert "genbase 32 -> 32" in fewer.note
    assert checked["SCUMBLE is lower"].verdict == "holds"
    assert checked["label counts and MeanIR do not change"].verdict == "holds"
    assert checked["SCUMBLELbl is lower or equal for every label"].verdict == "holds"
    two_sided = checked["samples above the mean hold minority and majority labels"]
    assert "enron 69 of 845" in two_sided.note


def test_two_passes_on_emotions(checked):
    finding = checked["emotions: SCUMBLE falls with every pass of REMEDIAL"]
    assert finding.scumble_value == "0.0110, 0.0006, 0.0003"


def test_data_sets_that_are_not_here_are_named(capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("SCUMBLE_DATA", raising=False)
    monkeypatch.setenv("SCUMBLE_CACHE", str(tmp_path))
    with pytest.raises(SystemExit):
        main(["paper", "claims", "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert {row["verdict"] for row in rows} == {"not computable here"}
    assert rows[0]["note"] == "genbase is not on this machine"
