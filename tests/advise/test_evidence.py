"""What was measured on many data sets, and the sentences that follow."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from scumble.advice import CANDIDATES
from scumble.advice.advice_text import fill_shell
from scumble.advice.evidence import (
    INTERVAL_COVERAGE,
    REMEDIAL_METHOD,
    UNTREATED,
    dataset_evidence,
    method_evidence,
    remedial_harm_sentence,
    treatment_sentences,
)

TABLE = Path(__file__).parents[2] / "experiments" / "advice.csv"


@pytest.fixture(scope="module")
def rows():
    """The whole experiment; it stands in the repository and not in the package."""
    if not TABLE.exists():
        pytest.skip("the experiments are not here")
    with TABLE.open() as stream:
        return [row for row in csv.DictReader(stream) if row["data"] != "genbase"]


def test_what_the_package_tells_is_what_was_measured(rows):
    found = defaultdict(list)
    for row in rows:
        if row["metric"] == "macro_f1":
            found[row["data"], row["method"]].append(float(row["outer"]))
    told = {
        (data, method): f1
        for data, (_, by) in dataset_evidence().items()
        for method, f1 in by.items()
    }
    assert told == pytest.approx({key: np.mean(v) for key, v in found.items()}, abs=1e-4)
    assert {method for _, method in told} == {candidate.name for candidate in CANDIDATES}


def test_the_share_of_intervals_that_hold_is_the_measured_one(rows):
    held = [
        float(row["low"]) - 1e-5 <= float(row["outer"]) <= float(row["high"]) + 1e-5
        for row in rows
        if row["advised"] == "1" and row["outer"] != "nan" and row["inner"] != "nan"
    ]
    assert pytest.approx(np.mean(held), abs=0.005) == INTERVAL_COVERAGE
    assert INTERVAL_COVERAGE >= 0.85


@pytest.mark.parametrize("concurrent", [None, True, False])
def test_a_record_by_hand(concurrent):
    changes = [
        f1[REMEDIAL_METHOD] - f1[UNTREATED]
        for scumble, f1 in dataset_evidence().values()
        if concurrent is None or (scumble > 0.1) is concurrent
    ]
    found = method_evidence(REMEDIAL_METHOD, concurrent=concurrent)
    assert (found.n_datasets, found.n_better, found.n_worse) == (
        len(changes),
        sum(change > 0 for change in changes),
        sum(change < 0 for change in changes),
    )
    assert found.change == pytest.approx(np.mean(changes))


@pytest.mark.parametrize("scumble", [0.0, 0.05, 0.12, 0.4])
def test_the_sentences_say_what_was_measured_and_how_to_know(scumble):
    first, *paper, last = treatment_sentences(scumble)
    assert f"{method_evidence('rare').change:.2f} on average" in first
    assert "Its macro F1 was higher than that of trees on all 18 public data sets" in first
    assert "'scumble advise FILE'" in last
    assert len(paper) == (scumble > 0)
    assert ("recommends" in " ".join(paper)) == (scumble > 0.15)
    assert "(-0.123)" in remedial_harm_sentence(-0.123)


def test_report_and_advice_name_the_same_reason_for_the_harm():
    said = treatment_sentences(0.4)[1], treatment_sentences(0.15)[1], remedial_harm_sentence(-0.1)
    for sentence in said:
        assert sentence.endswith(
            "an identical copy without the rare label, and it splits most rows with rare labels."
        )
    assert "identical copy" not in treatment_sentences(0.01)[1]  # there is hardly a row to split


def test_a_suggested_command_names_the_files_and_options_of_the_user():
    told = fill_shell("scumble train DATA MODEL -c rare", "my data.csv", "mine", ["--labels", "6"])
    assert told == "scumble train 'my data.csv' mine -c rare --labels 6"
