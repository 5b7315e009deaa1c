"""The paper's experiments as plans, and the ledger made from their results."""

import csv
import json
import math
from dataclasses import replace

import pytest

from scumble.cli.main import main
from scumble.experiment import Store, run
from scumble.paper import PHASES, claims, ledger, phase, published
from scumble.paper.audit import restore_displaced_value
from scumble.paper.ledger import count_verdicts_by_table, to_csv
from scumble.paper.verdicts import METRIC_NAMES, FoldMeans, best_average, best_undefined_value_rule
from tests.paper.test_audit import n_published


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    monkeypatch.delenv("SCUMBLE_DATA", raising=False)
    monkeypatch.setenv("SCUMBLE_CACHE", str(tmp_path))


def done(dataset, resampler, classifier, scores):
    labels = {"dataset": dataset, "resampler": resampler, "classifier": classifier}
    return {**labels, "state": "done", "scores": scores}


def as_printed(pair):
    return pair


def faithful(place=restore_displaced_value):
    """Results in which every number of Tables 2 and 4 to 9 is the published one, in its place."""
    cells = []
    for pair in map(place, published.imbalance()):
        name = "max_ir" if pair.measure == "max_ir" else "mean_ir_zero"
        scores = {f"before.{name}": pair.before, f"after.{name}": pair.after}
        cells.append(done(pair.dataset, f"{pair.method} 25 %", "none", scores))
    for row in published.f_measures():
        cells.append(done(row.dataset, "none", "HOMER", {"f1": row.before, "micro_f1": 0.0}))
        cells.append(done(row.dataset, f"{row.resampler} 25 %", "HOMER", {"f1": row.after}))
    for pair in map(place, published.results()):
        name = METRIC_NAMES[pair.measure]
        cells.append(done(pair.dataset, "none", pair.method, {name: pair.before}))
        cells.append(done(pair.dataset, "REMEDIAL", pair.method, {name: pair.after}))
    return cells


@pytest.mark.parametrize("name", PHASES)
def test_the_plans_can_be_run(name):
    plan = phase(name)
    plan.check()
    assert plan.n_cells == {"imbalance": 360, "homer": 180, "remedial": 1200, "seeds": 1600}[name]


def test_without_results_nothing_is_computable(nowhere):
    entries = ledger([])
    assert len(entries) == n_published() == 855
    assert {entry.verdict for entry in entries} == {"not computable here"}


def test_the_papers_own_numbers_are_reproduced(nowhere):
    counted = count_verdicts_by_table(ledger(faithful()))
    for table in (2, 4, 5, 6, 7, 8, 9):
        assert counted[table]["reproduced"] == sum(counted[table].values()), table
    assert sum(sum(row.values()) for row in counted.values()) == 855
    # Correlations and p-values are recomputed, and the paper's do not all follow.
    assert (counted[3]["reproduced"], counted[3]["same direction"]) == (6, 2)
    assert counted[10] == {
        "reproduced": 0, "same direction": 26, "not reproduced": 4, "not computable here": 0,
    }  # fmt: skip


def test_values_in_displaced_rows_are_compared_with_those_that_belong_there(nowhere):
    entries = {entry.item: entry for entry in ledger(faithful())}
    moved = entries["HL yeast ECC after"]
    assert (moved.published, moved.compared, moved.scumble_value) == (0.0094, 0.2316, 0.2316)
    assert (moved.verdict, moved.cause) == ("reproduced", "repaired row")
    assert entries["HL yeast BR after"].compared is None
    repaired = {item for item, entry in entries.items() if entry.cause == "repaired row"}
    # Five metrics of eight rows of ECC, six of LP-RUS, and two tests that come out otherwise.
    assert len(repaired) == 40 + 6 + 2

    plain = {entry.item: entry for entry in ledger(faithful(as_printed))}
    assert plain["HL yeast ECC after"].verdict == "same direction"
    assert plain["yeast LP-RUS max_ir after"].verdict == "not reproduced"


def test_directions_are_told_from_numbers(nowhere):
    pair = next(p for p in published.results() if (p.method, p.dataset) == ("BR", "yeast"))
    better = [
        done("yeast", "none", "BR", {"hamming_loss": 0.5}),
        done("yeast", "REMEDIAL", "BR", {"hamming_loss": 0.4}),
    ]
    worse = [better[0], done("yeast", "REMEDIAL", "BR", {"hamming_loss": 0.6})]
    assert pair.measure == "HL"
    assert pair.after < pair.before
    for cells, verdict in ((better, "same direction"), (worse, "not reproduced")):
        found = {entry.item: entry for entry in ledger(cells)}
        assert found["HL yeast BR after"].verdict == verdict
        assert found["HL yeast BR before"].verdict == "not reproduced"


def test_the_average_that_fits_is_found():
    cells = [done("yeast", "none", "HOMER", {"f1": 0.2, "micro_f1": 0.6, "macro_f1": math.nan})]
    assert best_average(FoldMeans(cells)) == "micro_f1"
    assert best_average(FoldMeans([])) == ""


def test_the_rule_for_undefined_values_that_fits_is_found():
    scores = {"macro_f1": 0.148, "ignore.macro_f1": 0.13, "hits.macro_f1": 0.29}
    found = FoldMeans([done("cal500", "none", "BR", scores)])
    assert best_undefined_value_rule(found, "MacroFM") == "hits.macro_f1"
    assert best_undefined_value_rule(FoldMeans([]), "MacroFM") == "macro_f1"


def test_table_1_is_reproduced_on_the_data(datasets, monkeypatch):
    from scumble.paper.ledger import compare_characteristics

    monkeypatch.setenv("SCUMBLE_DATA", str(datasets))
    kept = {name: published.characteristics()[name] for name in ("yeast", "genbase", "mediamill")}
    monkeypatch.setattr(published, "characteristics", lambda: kept)
    found = list(compare_characteristics())
    assert [entry.verdict for entry in found] == ["reproduced"] * 18 + ["not computable here"] * 9


def test_phase_1_on_a_small_data_set(datasets, tmp_path, monkeypatch):
    monkeypatch.setenv("SCUMBLE_DATA", str(datasets))
    plan = phase("imbalance").select(
        datasets=["genbase"], resamplers=["LP-ROS 25 %", "LP-RUS 25 %"]
    )
    with Store(tmp_path / "a.db") as store:
        assert run(plan, store, n_jobs=0).n_done == 20
        found = {entry.item: entry for entry in ledger(store.cells())}
    assert found["genbase LP-ROS max_ir before"].scumble_value == 136.8
    assert found["genbase LP-ROS max_ir before"].verdict == "reproduced"
    assert found["genbase LP-ROS mean_ir after"].verdict == "same direction"
    assert "exchanged" in found["genbase LP-RUS max_ir after"].reason


def test_a_fold_that_stands_in_two_stores_counts_once():
    place = {"dataset": "d", "resampler": "r", "classifier": "c", "state": "done"}
    folds = [{**place, "key": key, "scores": {"f1": f1}} for key, f1 in (("a", 0.0), ("b", 1.0))]
    assert FoldMeans([*folds, folds[1]]).mean("d", "r", "c", "f1") == 0.5


def test_half_of_the_folds_do_not_pass_for_all():
    place = {"dataset": "d", "resampler": "r", "classifier": "c"}
    first = {**place, "key": "a", "state": "done", "scores": {"f1": 0.25}}
    second = {**place, "key": "b", "state": "pending", "scores": {}}
    finished = {**second, "state": "done", "scores": {"f1": 0.75}}
    assert FoldMeans([first, second]).mean("d", "r", "c", "f1") is None
    assert FoldMeans([first, {**second, "state": "failed"}]).mean("d", "r", "c", "f1") is None
    for cells in ([first, second, finished], [finished, second, first]):
        assert FoldMeans(cells).mean("d", "r", "c", "f1") == 0.5


def test_claims_about_results_come_from_the_store(nowhere):
    checked = {one.item: one for one in claims([], iter(faithful(as_printed)))}
    assert checked["Precision is not improved"].scumble_value == "9 of 64"
    assert checked["HOMER is improved, HL and Precision"].scumble_value == "19 of 22"
    assert checked["HOMER is improved, MacroFM and RL"].verdict == "holds"
    assert checked["MaxIR grows by 6 % where SCUMBLE > 0.3"].scumble_value == "+6.1 %"
    assert checked["MeanIR falls by 52 % where SCUMBLE < 0.11"].verdict == "same direction"
    worse = [
        {**cell, "scores": dict.fromkeys(cell["scores"], 0.0)}
        if cell["resampler"] == "REMEDIAL" else cell
        for cell in faithful(as_printed)
    ]  # fmt: skip
    checked = {one.item: one for one in claims([], worse)}
    assert checked["Precision is not improved"].scumble_value == "64 of 64"
    assert checked["Precision is not improved"].verdict == "does not hold"


def test_claims_take_the_rule_that_fits_and_name_the_count_of_the_other(nowhere):
    cells = faithful(as_printed)
    for cell in cells:
        if "precision" in cell["scores"]:
            cell["scores"] = {"ignore.precision": cell["scores"]["precision"], "precision": 0.0}
    checked = {one.item: one for one in claims([], cells)}
    assert checked["Precision is not improved"].scumble_value == "9 of 64"
    assert checked["Precision is not improved"].note.startswith("64 by MULAN's rule")


def test_the_commands(nowhere, tmp_path, capsys):
    with Store(tmp_path / "a.db"):
        pass
    for arguments in (
        ["ledger", "--store", str(tmp_path / "a.db"), "--output", str(tmp_path / "ledger.csv")],
        ["ledger", "--json"],
        ["plan", "homer"],
    ):
        with pytest.raises(SystemExit) as stopped:
            main(["paper", *arguments])
        assert not stopped.value.code
        out = capsys.readouterr().out
        if "--json" in arguments:
            assert len(json.loads(out)) == 855
    assert "HOMER" in out
    rows = list(csv.DictReader((tmp_path / "ledger.csv").read_text().splitlines()))
    assert len(rows) == 855
    assert rows[0]["verdict"] == "not computable here"
    with pytest.raises(SystemExit) as stopped:
        main(["paper", "plan", "nonesuch"])
    assert stopped.value.code == 2


def test_differences_are_written(nowhere):
    entry = replace(ledger([])[0], scumble_value=5001.0)
    assert entry.difference == 1.0
    assert "5001,1," in to_csv([entry])
