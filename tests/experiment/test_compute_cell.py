"""Real cells: resampling inside the training part, every metric, the same numbers everywhere."""

import csv
import io
import json
from collections import Counter
from functools import cached_property

import numpy as np
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from scipy import sparse

import scumble
from scumble._core.errors import ParameterError
from scumble.cli.experiment import _print_report, _RunMonitor
from scumble.cli.main import main
from scumble.evaluate import LabelCounts, cross_validate, evaluate, pooled_metrics
from scumble.evaluate.statistics.score_table import score_table_from_cells
from scumble.experiment import (
    Cell,
    Component,
    Outcome,
    Plan,
    RunReport,
    RuntimeEstimate,
    Store,
    components,
    plan_cells,
    read_plan,
    run,
    runner,
)
from scumble.experiment.components import make_classifier, make_resamplers, make_splitter
from scumble.experiment.compute_cell import compute_cell
from scumble.experiment.extra_scores import EXTRA_SCORES, mean_f1_with_hits, mean_ir_with_zeros
from scumble.experiment.result_tables import long_table
from scumble.learn import BinaryRelevance, fit_dataset
from scumble.resample import REMEDIAL
from tests.learn.test_texts import ticket_frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small data set with a nominal feature, and a plan for it."""
    place = tmp_path_factory.mktemp("plan")
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(80, 3)).round(3), rng.integers(0, 3, size=80)])
    Y = X[:, :3] @ rng.normal(size=(3, 5)) + rng.normal(size=(80, 5)) > [-0.5, 0, 0.5, 1, 2]
    colour = scumble.data.Feature("colour", "nominal", ("red", "green", "blue"))
    data = scumble.MultilabelDataset(X, Y, features=["a", "b", "c", colour], name="made")
    scumble.write(data, place / "made.arff")
    (place / "plan.toml").write_text(
        'datasets = ["made.arff"]\nresamplers = ["none", "remedial"]\n'
        'classifiers = ["br", "none"]\nmetrics = ["f1"]\n'
        'splitter = {name = "kfold", n_splits = 2, n_repeats = 1}\n'
    )
    return place


def the_plan(folder, **changes):
    parts = {
        "datasets": ["made.arff"],
        "resamplers": ["none", "remedial"],
        "classifiers": ["br", "none"],
        "splitter": Component("kfold", {"n_splits": 2, "n_repeats": 1}),
    }
    return Plan(**{**parts, **changes}, folder=str(folder))


def by_place(cells):
    return {(c.classifier.name, c.resampler.name, c.fold): c for c in cells}


def test_a_cell_is_what_one_would_do_by_hand(folder):
    cell = by_place(plan_cells(the_plan(folder)))["br", "remedial", 1]
    data = scumble.read(folder / "made.arff")
    splitter = make_splitter(cell.splitter, seed=cell.seed_for("folds"))
    train, test = list(splitter.split(data))[1]
    treated = REMEDIAL().resample(data[train])
    classifier = BinaryRelevance(categorical_features={3: 3}).fit(treated.X, treated.Y)
    expected = evaluate(data[test], *classifier.predict_both(data[test].X))
    found = compute_cell(cell).scores
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, nan_ok=True), name
    summary = scumble.characterize(data[train])
    assert found["before.mean_ir"] == summary.mean_ir
    assert found["after.n_instances"] == len(treated)
    assert found["after.scumble"] < found["before.scumble"]


def test_texts_of_a_plain_table_become_words_of_the_training_part(tmp_path):
    ticket_frame(60).to_csv(tmp_path / "tickets.csv", index=False)
    how = {"label_column": "tags", "label_separator": ";", "text": ["subject"]}
    plan = the_plan(
        tmp_path, datasets=[Component("./tickets.csv", how)], resamplers=["mlsmote", "mlros"]
    )
    cell = by_place(plan_cells(plan))["br", "mlsmote", 1]
    data = scumble.read(tmp_path / "tickets.csv", **how)
    splitter = make_splitter(cell.splitter, seed=cell.seed_for("folds"))
    train, test = list(splitter.split(data))[1]
    chain = make_resamplers(cell.resampler, seed=cell.seed_for("resampler"))
    model = fit_dataset(BinaryRelevance(), data[train], chain)
    expected = evaluate(data[test], model.predict(data[test]))
    found = compute_cell(cell).scores
    assert found["macro_f1"] == pytest.approx(expected["macro_f1"])
    assert expected["micro_f1"] > 0.5
    only = by_place(plan_cells(plan))["none", "mlsmote", 1]
    assert compute_cell(only).scores["after.n_instances"] > 30


def test_without_a_classifier_only_the_training_part_is_measured(folder):
    plan = the_plan(folder, extra_scores=["mean_ir_zero"])
    cell = by_place(plan_cells(plan))["none", "remedial", 0]
    scores = compute_cell(cell).scores
    assert set(scores) == {
        f"{when}.{name}"
        for when in ("before", "after")
        for name in ("n_instances", "n_labelsets", "cardinality", "mean_ir", "max_ir", "cvir",
                     "scumble", "mean_ir_zero")
    }  # fmt: skip
    assert scores["before.n_instances"] == 40


def test_mldrs_mean_counts_labels_that_do_not_occur():
    summary = scumble.characterize(np.array([[1, 0, 0], [1, 1, 0]]))
    assert summary.mean_ir == 1.5
    assert mean_ir_with_zeros(summary) == 1.0


def test_means_over_rows_and_labels_with_a_hit():
    Y = sparse.csr_array(np.array([[1, 1, 0], [0, 1, 0], [1, 0, 0]], dtype=bool))
    said = np.array([[1, 0, 1], [1, 0, 0], [1, 0, 0]])
    # rows: 2/4, no hit, 2/2; labels: 2*2/(2+3), no hit, no hit
    assert mean_f1_with_hits(Y, said) == pytest.approx((0.75, 0.8))
    assert np.isnan(mean_f1_with_hits(Y, np.zeros((3, 3)))).all()


def test_foreign_classifiers_and_kept_predictions(folder):
    plan = the_plan(
        folder,
        classifiers=[Component("sklearn.tree.DecisionTreeClassifier", {"max_depth": 3})],
        keep_predictions=True,
    )
    result = compute_cell(plan_cells(plan)[0])
    assert 0 <= result.scores["f1"] <= 1
    assert 0 <= result.scores["ranking_loss"] <= 1
    archive = np.load(io.BytesIO(result.predictions))
    assert archive["confidences"].shape == tuple(archive["shape"]) == (40, 5)
    assert plan_cells(plan)[0].versions["sklearn"]


@pytest.mark.parametrize(
    "classifier",
    [
        Component("br"),
        Component("ecc", {"n_estimators": 2}),
        Component("sklearn.linear_model.RidgeClassifier"),
        Component("sklearn.ensemble.RandomForestClassifier", {"n_estimators": 5}),
        Component(
            "sklearn.multiclass.OneVsRestClassifier",
            {"estimator": {"name": "sklearn.svm.LinearSVC", "C": 0.1}},
        ),
    ],
    ids=lambda part: part.name,
)
@pytest.mark.parametrize("resampler", ["none", "mlsmote"])
def test_a_cell_is_what_cross_validation_says(folder, classifier, resampler):
    plan = the_plan(folder, classifiers=[classifier], resamplers=[resampler])
    cells = plan_cells(plan)
    data = scumble.read(folder / "made.arff")
    results = [compute_cell(cell) for cell in cells]
    for cell, result in zip(cells, results, strict=True):
        splitter = make_splitter(cell.splitter, seed=cell.seed_for("folds"))
        found = cross_validate(
            data,
            make_classifier(cell.classifier, seed=cell.seed_for("classifier")),
            make_resamplers(cell.resampler, seed=cell.seed_for("resampler")),
            splitter=[list(splitter.split(data))[cell.fold]],
        )
        for name, spread in found.items():
            assert result.scores[name] == pytest.approx(spread.mean, nan_ok=True), name
        assert {"one_error", "ranking_loss", "macro_auc", "few.macro_auc"} <= set(result.scores)
        counts = LabelCounts.from_dict(result.details["labels"])
        np.testing.assert_equal(pooled_metrics([counts]), found.pooled)


def test_weights_reach_classifiers_that_take_them(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    Y = X + rng.normal(size=(60, 2)) > 0.5
    scumble.write(scumble.MultilabelDataset(X, Y), tmp_path / "plain.arff")
    weighted = scumble.MultilabelDataset(X, Y, weights=rng.integers(1, 50, 60))
    scumble.write(weighted, tmp_path / "weighted.arff")
    forest = Component("sklearn.tree.DecisionTreeClassifier", {"max_depth": 2})
    plan = the_plan(
        tmp_path, datasets=["plain.arff", "weighted.arff"], classifiers=[forest, "mlknn"],
        resamplers=["none"],
    )  # fmt: skip
    cells = {(c.dataset.name, c.classifier.name, c.fold): c for c in plan_cells(plan)}
    cell = cells["weighted.arff", forest.name, 1]
    splitter = make_splitter(cell.splitter, seed=cell.seed_for("folds"))
    train, test = list(splitter.split(weighted))[1]
    model = make_classifier(forest, seed=cell.seed_for("classifier"))
    part = weighted[train]
    model.fit(part.X, part.Y.toarray(), sample_weight=part.weights)
    expected = evaluate(weighted[test], model.predict(X[test]))
    found = compute_cell(cell)
    assert found.scores["macro_f1"] == expected["macro_f1"]
    # Only cells whose numbers the weights change have keys that earlier stores do not know.
    assert cell.versions["fold"] == "2"
    assert not any("fold" in c.versions for c in cells.values() if c.dataset.name == "plain.arff")


def test_classifiers_that_refuse_sparse_features_get_dense_ones(tmp_path):
    rng = np.random.default_rng(0)
    X = sparse.csr_array(np.where(rng.random((60, 6)) < 0.3, 1.0, 0.0))
    Y = (X @ rng.normal(size=(6, 3))) > 0
    scumble.write(scumble.MultilabelDataset(X, Y), tmp_path / "thin.arff")
    assert scumble.read(tmp_path / "thin.arff").is_sparse
    trees = Component(
        "sklearn.multiclass.OneVsRestClassifier",
        {"estimator": {"name": "sklearn.ensemble.HistGradientBoostingClassifier", "max_iter": 3}},
    )
    plan = the_plan(tmp_path, datasets=["thin.arff"], classifiers=[trees], resamplers=["none"])
    assert 0 < compute_cell(plan_cells(plan)[0]).scores["micro_f1"] <= 1


def test_only_cells_that_differ_from_those_of_earlier_stores_have_new_keys(folder):
    ridge = Component("sklearn.linear_model.RidgeClassifier")
    inside = Component("sklearn.multioutput.MultiOutputClassifier", {"estimator": {"name": "c45"}})
    tree = Component("sklearn.tree.DecisionTreeClassifier")
    plan = the_plan(folder, classifiers=["br", "none", tree, ridge, inside])
    told = {cell.classifier.name: cell.versions.get("fold") for cell in plan_cells(plan)}
    assert told == {"br": None, "none": None, tree.name: None, ridge.name: "2", inside.name: "2"}


def test_groups_and_pooled_metrics_in_tables(folder, tmp_path, capsys):
    path = tmp_path / "a.db"
    plan = the_plan(
        folder, resamplers=["none"], metrics=["few.macro_f1", "pooled.macro_f1", "never_predicted"]
    )
    run(plan, path, n_jobs=0)
    with Store(path) as store:
        cells = store.cells()
    learnt = [cell for cell in cells if cell["classifier"] == "br"]
    pooled = pooled_metrics(LabelCounts.from_dict(cell["details"]["labels"]) for cell in learnt)
    place = ("made.arff", "br")
    for name in ("macro_f1", "few.macro_f1", "never_predicted"):
        table = score_table_from_cells(cells, f"pooled.{name}")
        assert table.means[place] == pytest.approx(pooled[name], nan_ok=True)
        assert table.n_cells[place] == 2
        assert np.isnan(table.means["made.arff", "none"])
    assert score_table_from_cells(cells, "never_predicted").best("made.arff") == {"br"}
    call("experiment", "table", path, "--json")
    shown = json.loads(capsys.readouterr().out)
    assert [table["metric"] for table in shown] == [*plan.metrics]
    call("experiment", "export", path, tmp_path / "out.md")
    assert "### pooled.macro_f1" in (tmp_path / "out.md").read_text()


def test_cells_of_earlier_stores_are_completed_when_a_plan_asks(folder, tmp_path):
    plan = the_plan(folder, resamplers=["none"])
    with Store(tmp_path / "a.db") as store:
        run(plan, store, n_jobs=0)
        before = {cell["key"]: cell["scores"] for cell in store.cells()}
        with store._transaction() as cursor:  # as a version before groups left it
            cursor.execute("DELETE FROM scores WHERE name = 'never_predicted' OR name LIKE 'all.%'")
            cursor.execute("UPDATE cells SET details = '{}'")
        assert run(plan, store, n_jobs=0).n_done == 0
        for name in ("all.macro_f1", "pooled.macro_f1"):
            with pytest.raises(ParameterError, match="an earlier version computed lack it"):
                score_table_from_cells(store.cells(), name)
        asking = the_plan(folder, resamplers=["none"], metrics=["pooled.macro_f1"])
        assert run(asking, store, n_jobs=0).n_done == 2
        assert run(asking, store, n_jobs=0).n_done == 0
        np.testing.assert_equal({c["key"]: c["scores"] for c in store.cells()}, before)


def test_extra_scores_are_computed_when_a_plan_asks_for_them(folder, tmp_path):
    names = {name for group in EXTRA_SCORES.values() for name in group}
    plan = the_plan(folder, resamplers=["none"])
    asking = the_plan(folder, resamplers=["none"], extra_scores=["ignore", "hits"])
    with Store(tmp_path / "a.db") as store:
        run(plan, store, n_jobs=0)
        before = {cell["key"]: cell["scores"] for cell in store.cells()}
        assert not any(names & scores.keys() for scores in before.values())
        assert run(asking, store, n_jobs=0).n_done == 2  # those without a classifier have no more
        assert run(asking, store, n_jobs=0).n_done == 0
        assert run(plan, store, n_jobs=0).n_done == 0
        added = set()
        for cell in store.cells():
            scores_before = before[cell["key"]]
            scores = {name: cell["scores"][name] for name in scores_before}
            np.testing.assert_equal(scores, scores_before)
            added |= cell["scores"].keys() - scores_before.keys()
    assert added == {*EXTRA_SCORES["ignore"], *EXTRA_SCORES["hits"]}


def test_data_that_changed_since_planning_is_refused(folder, tmp_path):
    from dataclasses import replace

    cell = replace(plan_cells(the_plan(folder))[0], dataset_checksum="0" * 32)
    with pytest.raises(scumble.ScumbleError, match="changed since the plan was made"):
        compute_cell(cell)


def test_numbers_are_the_same_in_this_process_and_in_workers(folder, tmp_path):
    plan = the_plan(folder)
    for name, jobs in (("here.db", 0), ("two.db", 2)):
        assert run(plan, tmp_path / name, n_jobs=jobs).n_done == 8
    rows = []
    for name in ("here.db", "two.db"):
        with Store(tmp_path / name) as store:
            rows.append({cell["key"]: cell["scores"] for cell in store.cells()})
    np.testing.assert_equal(rows[0], rows[1])


def test_tables_and_files(folder, tmp_path, capsys):
    path = tmp_path / "a.db"
    run(the_plan(folder), path, n_jobs=0)
    with Store(path) as store:
        cells = store.cells()
    rows = long_table(cells)
    assert len(rows) == 8
    table = score_table_from_cells(cells, "f1")
    assert table.columns[:2] == ("br", "br after remedial")
    values = [row["f1"] for row in rows if (row["classifier"], row["resampler"]) == ("br", "none")]
    assert table.means["made.arff", "br"] == pytest.approx(np.mean(values))
    assert table.deviations["made.arff", "br"] == pytest.approx(np.std(values, ddof=1))

    for suffix in ("csv", "parquet", "tex", "md", "html"):
        call("experiment", "export", path, tmp_path / f"out.{suffix}", "-m", "f1")
    with open(tmp_path / "out.csv", newline="") as stream:
        read = list(csv.DictReader(stream))
    assert [float(row["before.mean_ir"]) for row in read] == [r["before.mean_ir"] for r in rows]
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 8
    mean = f"{table.means['made.arff', 'br']:.4f}"
    assert all(mean in (tmp_path / f"out.{s}").read_text() for s in ("tex", "md", "html"))
    assert "br after remedial" in (tmp_path / "out.md").read_text()
    call("experiment", "export", path, tmp_path / "out.doc", code=2)
    call("experiment", "table", path, "-m", "nonesuch", code=2)
    capsys.readouterr()


def call(*arguments, code=0):
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    assert (stopped.value.code or 0) == code


def test_the_commands(folder, tmp_path, capsys):
    plan, path = folder / "plan.toml", tmp_path / "a.db"
    call("experiment", "run", plan, "--store", path, "--dry-run")
    assert "plan: 8 cells, 0 done" in capsys.readouterr().out
    assert not path.exists()
    call("experiment", "run", plan, "--store", path, "--jobs", 1)
    assert "8 cells computed, 0 failed, 0 were done before" in capsys.readouterr().out
    call("experiment", "run", plan, "--store", path)
    assert "0 cells computed, 0 failed, 8 were done before" in capsys.readouterr().out
    call("experiment", "status", path, "--json")
    status = json.loads(capsys.readouterr().out)
    assert (status["done"], status["failures"]) == (8, [])
    costs = {row["classifier"]: row for row in status["costs"]}
    assert [costs[name]["done"] for name in ("br", "none")] == [4, 4]
    assert costs["br"]["cpu_seconds"] > 0
    call("experiment", "run", plan, "--store", path, "--dry-run")
    assert "8 done; about 0 s to go.\n" in capsys.readouterr().out  # that is no guess
    call("experiment", "status", path)
    assert "8 done" in capsys.readouterr().out
    call("experiment", "table", path, "-m", "macro_f1")
    assert "made.arff" in capsys.readouterr().out
    call("experiment", "table", path, "-m", "macro_f1", "--json")
    (table,) = json.loads(capsys.readouterr().out)
    assert table["metric"] == "macro_f1"
    first, last = table["values"][0], table["values"][-1]
    assert (first["method"], first["n"]) == ("br", 2)
    assert first["deviation"] > 0
    assert (last["mean"], last["deviation"]) == (None, None)  # nothing was learned
    call("experiment", "table", path, "-m", "after.scumble", "--classifier", "none", "--json")
    (table,) = json.loads(capsys.readouterr().out)
    assert [value["method"] for value in table["values"]] == ["none", "remedial"]
    call("experiment", "table", path, "--classifier", "ecc", code=2)
    assert "no classifier 'ecc'. There are: br, none" in capsys.readouterr().err
    call("experiment", "table", path, "-m", "macrof1", code=2)
    assert "value 'macrof1'. Did you mean 'macro_f1'" in capsys.readouterr().err
    call("experiment", "compare", path, "--against", "rb", code=2)
    assert "no method 'rb'. Did you mean 'br'" in capsys.readouterr().err
    call("experiment", "table", path, "--json")  # by default the metrics of the plan
    assert [table["metric"] for table in json.loads(capsys.readouterr().out)] == ["f1"]
    call("experiment", "status", tmp_path / "absent.db", code=2)


def test_the_live_table_shows_what_runs(folder, capsys):
    cells = plan_cells(the_plan(folder, resamplers=["none"]))
    with _RunMonitor("the plan") as watch:
        watch.on_event("plan", RuntimeEstimate(n_cells=4, n_done=0, seconds=30.0, n_measured=0))
        assert watch._live is None  # no terminal here
        watch.on_event("begin", cells[0])
        watch.on_event("begin", cells[1])
        watch.on_event("end", Outcome(cells[0], None, "error", "no", 1.0))
        console = Console(file=io.StringIO(), width=100)
        console.print(watch._live_table())
    assert "the plan: 4 cells, 0 done; about 30 s" in capsys.readouterr().out
    shown = console.file.getvalue()
    assert "1 of 4 cells, 1 failed" in shown
    assert shown.count("made.arff") == 1


def test_cells_that_fail_end_in_exit_code_1(folder, tmp_path, capsys):
    path = tmp_path / "plan.toml"
    path.write_text(
        f'datasets = ["{folder}/made.arff"]\nclassifiers = ["br"]\nlimits = {{seconds = 0.0001}}\n'
        'splitter = {name = "kfold", n_splits = 2, n_repeats = 1}\n'
    )
    call("experiment", "run", path, "--store", tmp_path / "a.db", code=1)
    out = capsys.readouterr().out
    assert "0 cells computed, 2 failed" in out
    assert "time: stopped after" in out
    call("experiment", "run", path, "--store", tmp_path / "a.db", code=1)
    assert "2 cells had failed before and were not tried again" in capsys.readouterr().out
    call("experiment", "status", tmp_path / "a.db")
    assert "2 failed" in capsys.readouterr().out


def test_cells_of_other_runners_are_told_of(capsys):
    _print_report(
        RunReport(n_cells=9, n_done=4, n_failed=0, n_done_before=3, failures=(), seconds=1.0)
    )
    assert "2 cells were left to other runners" in capsys.readouterr().out


@pytest.mark.parametrize("jobs", [0, 1])
def test_a_plan_is_checked_enumerated_and_read_once(folder, tmp_path, monkeypatch, jobs):
    counted = Counter()

    def count(owner, name):
        original = getattr(owner, name)

        def counting(*arguments):
            counted[name] += 1
            return original(*arguments)

        monkeypatch.setattr(owner, name, counting)

    def count_cached(owner, name):
        def counting(self):
            counted[f"{owner.__name__}.{name}"] += 1
            return original(self)

        original = vars(owner)[name].func
        counter = cached_property(counting)
        counter.__set_name__(owner, name)
        monkeypatch.setattr(owner, name, counter)

    components.clear_dataset_cache()
    count(Plan, "check")
    count(runner, "dataset_metadata")
    count(components, "load_dataset")
    count_cached(Cell, "spec")
    count_cached(Cell, "key")
    if jobs:
        call("experiment", "run", folder / "plan.toml", "--store", tmp_path / "a.db", "-j", jobs)
    else:  # in this process, which the shell does not offer
        run(read_plan(folder / "plan.toml"), tmp_path / "a.db", n_jobs=0)
    # A worker process reads the data once more, but not what they were found to be.
    assert counted == {
        "check": 1, "dataset_metadata": 1, "load_dataset": 1, "Cell.spec": 8, "Cell.key": 8,
    }  # fmt: skip


def test_cells_without_a_checksum_get_their_own_data(folder):
    other = scumble.read(folder / "made.arff")[:30]
    scumble.write(other, folder / "other.arff")
    parts = (
        Component("none"),
        Component("none"),
        Component("kfold", {"n_splits": 2, "n_repeats": 1}),
    )
    sizes = [
        compute_cell(Cell(Component(name), *parts, seed=0, fold=0, folder=str(folder))).scores
        for name in ("made.arff", "other.arff")
    ]
    assert [scores["before.n_instances"] for scores in sizes] == [40, 15]


def test_predictions_asked_for_later_are_computed_then(folder, tmp_path):
    plan = the_plan(folder, resamplers=["none"], classifiers=["br", "none"])
    asked = the_plan(folder, resamplers=["none"], keep_predictions=True)
    with Store(tmp_path / "a.db") as store:
        assert run(plan, store, n_jobs=0).n_done == 4
        before = {cell["key"]: cell["scores"] for cell in store.cells()}
        assert run(asked, store, n_jobs=0).n_done == 2  # without a classifier there are none
        assert run(asked, store, n_jobs=0).n_done == 0
        np.testing.assert_equal({c["key"]: c["scores"] for c in store.cells()}, before)
        kept = [store.predictions(cell["key"]) for cell in store.cells()]
    assert sum(archive is not None for archive in kept) == 2
