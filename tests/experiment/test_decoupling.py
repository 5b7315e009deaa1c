"""The study of decoupling: its treatments, its files of cells, and cells computed anew."""

import csv
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from scumble.data import MultilabelDataset
from scumble.experiment import Store, plan_cells, read_plan
from scumble.experiment.compute_cell import compute_cell
from scumble.learn import BinaryRelevance, CalibratedLabelRanking
from scumble.paper import phase
from scumble.resample import REMEDIAL
from scumble.testing.strategies import label_matrices

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
if not EXPERIMENTS.is_dir():
    pytest.skip("the experiments are not here", allow_module_level=True)
sys.path.insert(0, str(EXPERIMENTS))  # where plans look for their dotted names

import cells  # noqa: E402  (the path above comes first)
import decoupling  # noqa: E402  (the path above comes first)
import decoupling_arms as arms  # noqa: E402  (the path above comes first)

#: Label 0 is everywhere, 1 and 2 are frequent, 3 and 4 rare; rows 5 to 8 mix both kinds.
Y = np.array([
    [1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 0, 1, 0, 0], [1, 1, 0, 0, 0],
    [1, 1, 0, 1, 0], [1, 0, 0, 0, 1], [1, 1, 1, 1, 0], [1, 0, 0, 1, 1], [1, 0, 0, 0, 0],
    [1, 0, 1, 0, 0], [1, 1, 0, 0, 0],
])  # fmt: skip
X = np.arange(len(Y), dtype=float).reshape(-1, 1)


def treated(sampler):
    """Return sources, and labels as lists."""
    _, labels = sampler.fit_resample(X, Y)
    return sampler.sample_indices_, labels


def test_rows_above_the_mean_are_those_of_remedial():
    found = arms.sides_of(MultilabelDataset(X, Y).Y)
    _, kept = treated(REMEDIAL(one_sided="keep"))
    sources, _ = treated(REMEDIAL())
    assert found.is_minority.tolist() == [False, False, False, True, True]
    assert len(kept) - len(Y) == len(found.mixed)
    assert sorted(sources[len(Y) :]) == sorted([*found.mixed, *found.one_sided])


def test_whole_copies_are_the_mixed_rows_twice():
    sources, labels = treated(arms.WholeCopies())
    mixed, _ = treated(REMEDIAL(one_sided="keep"))
    assert sources.tolist() == mixed.tolist()
    assert labels.tolist() == Y[sources].tolist()


def test_dealt_labels_keep_counts_and_sizes_and_change_the_company():
    sources, dealt = treated(arms.DealtLabels(random_state=3))
    same, kept = treated(REMEDIAL(one_sided="keep"))
    assert sources.tolist() == same.tolist()
    assert dealt.sum(axis=1).tolist() == kept.sum(axis=1).tolist()
    assert dealt.sum(axis=0).tolist() == Y.sum(axis=0).tolist()
    assert dealt.tolist() != kept.tolist()
    for at, source in enumerate(sources[len(Y) :], start=len(Y)):
        assert (dealt[source] + dealt[at]).tolist() == Y[source].tolist()


@settings(max_examples=30)
@given(label_matrices(min_instances=1), st.integers(0, 99))
def test_empty_copies_treat_as_many_rows_and_decouple_none(labels, seed):
    dense = np.asarray(labels.toarray() if hasattr(labels, "toarray") else labels, int)
    features = np.zeros((len(dense), 1))
    found = arms.sides_of(MultilabelDataset(features, dense).Y)
    sampler = arms.EmptyCopies(random_state=seed)
    _, after = sampler.fit_resample(features, dense)
    n_added = min(len(found.mixed), len(found.one_sided))
    assert len(after) == len(dense) + n_added
    assert set(sampler.sample_indices_[len(dense) :]) <= set(found.one_sided.tolist())
    for at, source in enumerate(sampler.sample_indices_[len(dense) :], start=len(dense)):
        halves = sorted([after[source].tolist(), after[at].tolist()])
        assert halves == sorted([[0] * dense.shape[1], dense[source].tolist()])


def test_an_unknown_label_leaves_the_copy_out_of_its_training():
    found = arms.decoupled(MultilabelDataset(X, Y).Y)
    targets = arms.KnownTargets(found)
    for label in range(5):
        target = targets[label]
        # Every row that had the label has it once; a twin that lost it is not asked.
        rows = found.sources[target.rows]
        assert sorted(rows[target.y == 1]) == np.flatnonzero(Y[:, label]).tolist()
        assert not Y[rows[target.y == 0], label].any()


def test_with_unknown_labels_single_labels_learn_as_from_heavier_negatives():
    # What is left of decoupling then: a second copy of a mixed row where it lacks the label.
    mixed = arms.sides_of(MultilabelDataset(X, Y).Y).mixed
    model = arms.KnownBR().fit(X, Y)
    for label in range(5):
        again = [row for row in mixed if not Y[row, label]]
        rows = np.concatenate([np.arange(len(Y)), again]).astype(int)
        alone = BinaryRelevance().fit(X[rows], Y[rows][:, [label]])
        ours = model.predict_proba(X)[:, label]
        assert ours.tolist() == alone.predict_proba(X)[:, 0].tolist()


def test_with_unknown_labels_pairs_vote_as_if_nothing_had_been_split():
    known, plain = arms.KnownCLR().fit(X, Y), CalibratedLabelRanking().fit(X, Y)
    n_pairs = len(plain.pairs_)
    assert known.pairs_.tolist() == plain.pairs_.tolist()
    answers = [
        model.models_.predict_proba(X)[:, : 2 * n_pairs].tolist() for model in (known, plain)
    ]
    assert answers[0] == answers[1]


def test_cells_go_to_a_file_and_back(tmp_path, capsys):
    plan = read_plan(_toy_plan(tmp_path))
    from scumble.experiment import run

    run(plan, tmp_path / "first.db", n_jobs=0)
    cells.save(str(tmp_path / "decoupling_toy.toml"), tmp_path / "first.db", tmp_path / "a.csv")
    cells.restore(str(tmp_path / "decoupling_toy.toml"), tmp_path / "a.csv", tmp_path / "b.db")
    assert "4 of 4 cells entered" in capsys.readouterr().out
    report = run(plan, tmp_path / "b.db", n_jobs=0)
    assert (report.n_done_before, report.n_done) == (4, 0)
    with Store(tmp_path / "first.db") as one, Store(tmp_path / "b.db") as two:
        first, second = one.cells(), two.cells()
    assert [cell["key"] for cell in first] == [cell["key"] for cell in second]
    for before, after in zip(first, second, strict=True):
        for name, value in after["scores"].items():
            assert value == pytest.approx(before["scores"][name], rel=1e-4, nan_ok=True)
    cells.save(str(tmp_path / "decoupling_toy.toml"), tmp_path / "b.db", tmp_path / "c.csv")
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "c.csv").read_text()


def _toy_plan(folder):
    path = folder / "decoupling_toy.toml"
    path.write_text(
        'name = "decoupling_toy"\ndatasets = [{ name = "debtags", rows = 120 }]\n'
        'classifiers = ["mlknn"]\nresamplers = ["none", "decoupling_arms.DealtLabels"]\n'
        'splitter = { name = "kfold", n_splits = 2, n_repeats = 1 }\n'
        'metrics = ["minority.macro_f1"]\n'
    )
    return path


def _study(folder, values):
    """A study of one classifier and metric: data set and arm -> a value for each fold."""
    with (folder / "decoupling.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow((*cells.KEY_COLUMNS, "all.macro_f1"))
        for (dataset, arm), folds in values.items():
            writer.writerows((dataset, arm, "BR", 1, at, value) for at, value in enumerate(folds))
    return decoupling.Study(folder)


def test_changes_are_taken_fold_by_fold_where_both_arms_are_whole(tmp_path):
    study = _study(
        tmp_path,
        {
            ("genbase", "none"): [0.5, 0.6, 0.7, 0.8, 0.9],
            ("genbase", "keep"): [0.4, 0.5, 0.6, 0.7, 0.8],
            ("medical", "none"): [0.1, 0.2, 0.1, 0.2, 0.1],
            ("medical", "keep"): [0.1, 0.1, 0.2, 0.0, 0.2],
            ("yeast", "none"): [0.5] * 5,
            ("yeast", "keep"): [0.9] * 4,  # a fold is missing: not compared
        },
    )
    found = study.effect("BR", "keep", "all.macro_f1")
    assert found.by_dataset == pytest.approx({"genbase": -0.1, "medical": -0.02})
    # Differences of medical: 0, -.1, .1, -.2, .1; variance .017; error sqrt(.017 (1/5 + 1/4)).
    assert found.p_by_dataset["medical"] == pytest.approx(0.8303, abs=1e-4)
    # Over data sets: mean -.06, sample deviation .0566, t of one degree of freedom 12.706.
    assert found.mean == pytest.approx(-0.06)
    assert found.interval == pytest.approx((-0.06 - 12.706 * 0.04, -0.06 + 12.706 * 0.04), abs=1e-3)
    assert found.rank_biserial == -1.0
    assert study.effect("LP", "keep", "all.macro_f1") is None
    assert next(iter(decoupling.progress(study))) == "The tables rest on 29 of 2,320 cells."


def test_arms_are_compared_on_the_same_data_sets(tmp_path):
    study = _study(
        tmp_path,
        {
            ("genbase", "none"): [0.5] * 5,
            ("genbase", "keep"): [0.4] * 5,
            ("genbase", "clone"): [0.3] * 5,
            ("medical", "none"): [0.5] * 5,
            ("medical", "keep"): [0.5] * 5,
            ("medical", "clone"): [0.5] * 2,
        },
    )
    assert study.complete_datasets("BR") == ["genbase"]
    assert study.complete_datasets("LP") == []
    for arm, change in (("keep", -0.1), ("clone", -0.2)):
        assert study.effect("BR", arm, "all.macro_f1").by_dataset == pytest.approx(
            {"genbase": change}
        )


def test_the_list_of_result_files_counts_their_cells():
    text = (EXPERIMENTS / "README.md").read_text()
    counts = r"(?:all )?([\d,]+)(?: of [\d,]+)? cells"
    found = re.findall(rf"^\| `([\w/]+\.csv)` .*\| {counts}", text, re.M)
    assert len(found) == 9
    for name, told in found:
        if name == "twins.csv":  # made of cells, and holds none
            continue
        with (EXPERIMENTS / name).open() as stream:
            assert sum(1 for _ in csv.DictReader(stream)) == int(told.replace(",", "")), name


#: Cheap cells of the committed files: plan, data set, treatment, classifier, fold.
ANEW = [
    ("decoupling", "genbase", "keep", "BR", 0),
    ("decoupling", "genbase", "dealt labels", "MLkNN", 3),
    ("decoupling", "medical", "empty copies", "HOMER", 1),
    ("decoupling_unknown", "medical", "none", "CLR unknown", 2),
    ("decoupling_costly", "genbase", "clone", "IBLR", 4),
]


@pytest.mark.parametrize(("name", "dataset", "arm", "classifier", "fold"), ANEW)
def test_committed_cells_are_computed_again(
    name, dataset, arm, classifier, fold, datasets, monkeypatch
):
    monkeypatch.setenv("SCUMBLE_DATA", str(datasets))
    with (EXPERIMENTS / f"{name}.csv").open() as stream:
        place = [dataset, arm, classifier, "1", str(fold)]
        row = next(r for r in csv.DictReader(stream) if [r[k] for k in cells.KEY_COLUMNS] == place)
    plan = read_plan(EXPERIMENTS / f"{name}.toml").select(
        datasets=[dataset], resamplers=[arm], classifiers=[classifier]
    )
    cell = next(one for one in plan_cells(plan) if one.fold == fold)
    scores = compute_cell(cell).scores
    for score in cells.scores_of(plan):
        assert float(row[score] or "nan") == pytest.approx(scores[score], rel=1e-4, nan_ok=True)


def test_what_is_kept_of_the_paper_is_what_the_ledger_reads():
    kept = {*cells.scores_of(phase("remedial"))}
    from scumble.paper.verdicts import F_MEASURE_AVERAGES, METRIC_NAMES, UNDEFINED_VALUE_RULES

    read = {
        *METRIC_NAMES.values(),
        *F_MEASURE_AVERAGES,
        *(n for names in UNDEFINED_VALUE_RULES.values() for n in names),
    }
    assert read <= kept
