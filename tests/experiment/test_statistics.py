"""Stores and their exports go into the statistics as they are, in Python and in the shell."""

import json
import re

import numpy as np
import pytest

from scumble import ScumbleError
from scumble.evaluate.statistics import (
    bayesian_signed_rank,
    friedman,
    holm,
    nemenyi,
    score_table,
    wilcoxon,
)
from scumble.experiment import Cell, Component, Result, Store
from scumble.experiment.result_tables import compare_methods, export, read_cells
from scumble.experiment.score_names import score_name_error, score_names
from scumble.plots.statistics import plot_critical_difference
from tests.cli.test_cli import run

METHODS = ("br", "br after remedial", "rare")
N_DATASETS, N_FOLDS = 6, 2


def values():
    """Macro F1 and Hamming loss of every data set, method and fold."""
    rng = np.random.default_rng(3)
    f1 = rng.random((N_DATASETS, 3, N_FOLDS)) / 4 + np.array([0.2, 0.25, 0.5])[:, None]
    return {"macro_f1": f1, "hamming_loss": 1 - f1**2}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    place = tmp_path_factory.mktemp("statistics") / "results.db"
    scores = values()
    with Store(place) as store:
        store.set_metadata("metrics", ["macro_f1"])
        store.register()
        for at, method, fold in np.ndindex(N_DATASETS, 3, N_FOLDS):
            classifier, _, resampler = METHODS[method].partition(" after ")
            parts = (
                Component(f"d{at}"),
                Component(resampler or "none"),
                Component(classifier),
                Component("folds"),
            )
            cell = Cell(*parts, seed=1, fold=int(fold), dataset_checksum=f"rows of d{at}")
            store.add([cell])
            store.claim([cell.key])
            found = {name: float(table[at, method, fold]) for name, table in scores.items()}
            store.finish(cell.key, Result(found), seconds=1.0, megabytes=None)
        for suffix in ("csv", "parquet"):
            export(store.cells(), place.with_suffix(f".{suffix}"), metrics=["macro_f1"])
    return place


@pytest.mark.parametrize("metric", ["macro_f1", "hamming_loss"])
def test_a_store_and_its_exports_give_the_same_tests(path, metric):
    expected = values()[metric].mean(axis=2)
    is_gain = metric == "macro_f1"
    with Store(path) as store:
        for results in (store, path.with_suffix(".csv"), path.with_suffix(".parquet")):
            np.testing.assert_allclose(score_table(results, metric).values, expected, rtol=1e-12)
            found = friedman(results, metric=metric)
            assert found.methods == METHODS
            assert found.mean_ranks == friedman(expected, higher_is_better=is_gain).mean_ranks
            assert (
                wilcoxon("br", "rare", results=results, metric=metric).p_value
                == wilcoxon(expected[:, 0], expected[:, 2]).p_value
            )


def test_a_store_knows_the_metric_of_its_plan(path):
    with Store(path) as store:
        assert score_table(store).metric == "macro_f1"
        store.set_metadata("metrics", ["macro_f1", "hamming_loss"])
        try:
            with pytest.raises(ScumbleError, match=r"say which metric.* macro_f1, hamming_loss"):
                friedman(store)
        finally:
            store.set_metadata("metrics", ["macro_f1"])
        with pytest.raises(ScumbleError, match="No finished cell has a value 'macro_f2'"):
            friedman(store, metric="macro_f2")


def test_a_diagram_of_a_store(path):
    pytest.importorskip("matplotlib", reason="pip install 'scumble[plots]'")
    with Store(path) as store:
        ax = plot_critical_difference(store, metric="macro_f1")
    ranks = nemenyi(values()["macro_f1"].mean(axis=2)).mean_ranks
    texts = [text.get_text() for text in ax.texts]
    for name, rank in zip(METHODS, ranks, strict=True):
        assert f"{name}  {rank:.2f}" in texts


def test_methods_against_one_with_both_tests(path):
    table = score_table(path.with_suffix(".csv"), "macro_f1")
    rows = compare_methods(table, "br", rope=0.02)
    means = values()["macro_f1"].mean(axis=2)
    raw = [wilcoxon(means[:, 0], means[:, at]).p_value for at in (1, 2)]
    assert [row.p_value for row in rows[1:]] == pytest.approx(raw)
    assert [row.adjusted_p_value for row in rows[1:]] == pytest.approx(holm(raw))
    chances = bayesian_signed_rank(means[:, 0], means[:, 2], rope=0.02)
    assert (rows[2].p_worse, rows[2].p_equal, rows[2].p_better) == pytest.approx(
        (chances.lower, chances.equal, chances.higher), abs=1e-12
    )
    losses = compare_methods(score_table(path.with_suffix(".csv"), "hamming_loss"), "br")
    assert losses[2].p_better > 0.9


def test_ranks_in_the_shell(capsys, path, tmp_path):
    pytest.importorskip("matplotlib", reason="pip install 'scumble[plots]'")
    expected = values()["macro_f1"].mean(axis=2)
    for results in (path, path.with_suffix(".csv")):
        out, _ = run(capsys, "experiment", "ranks", results, "-m", "macro_f1", "--json")
        (told,) = json.loads(out)
        assert told["p_value"] == pytest.approx(friedman(expected).p_value)
        assert list(told["mean_ranks"].values()) == list(friedman(expected).mean_ranks)
        groups = [[METHODS[at] for at in group] for group in nemenyi(expected).groups]
        assert told["groups"] == groups
        pair = told["p_values"]["br"]["rare"]
        assert pair == pytest.approx(nemenyi(expected).p_values[0, 2])
    picture = tmp_path / "cd.svg"
    out, _ = run(capsys, "experiment", "ranks", path, "-o", picture, "--method", "rare",
                 "--method", "br")  # fmt: skip
    assert "Friedman: 2 methods on 6 data sets" in out
    assert re.search(r"^rare +1$", out, re.MULTILINE)
    assert picture.read_bytes().startswith(b"<?xml")
    _, err = run(capsys, "experiment", "ranks", path, "-m", "macro_f1", "-m", "hamming_loss",
                 "-o", tmp_path / "both.svg", code=2)  # fmt: skip
    assert "one metric: choose one with --metric" in err
    assert not (tmp_path / "both.svg").exists()
    _, err = run(capsys, "experiment", "ranks", path, "--method", "rar", code=2)
    assert "no method 'rar'. Did you mean 'rare'? Known are: br, " in err
    _, err = run(capsys, "experiment", "ranks", path, "--alpha", "5", code=2)
    assert "--alpha must be a number between 0 and 1. Got 5.0 instead." in err
    _, err = run(capsys, "experiment", "ranks", path, "--method", "br", code=2)
    assert "friedman needs at least two cases and two methods. Got 6 and 1." in err


def test_comparisons_in_the_shell_take_exports(capsys, path):
    arguments = ("--against", "br", "-m", "macro_f1", "--json")
    of_store, _ = run(capsys, "experiment", "compare", path, *arguments)
    of_csv, _ = run(capsys, "experiment", "compare", path.with_suffix(".csv"), *arguments)
    assert json.loads(of_store) == json.loads(of_csv)
    assert json.loads(of_csv)[2]["better"] > 0.9
    out, _ = run(capsys, "experiment", "compare", path, *arguments[:-1], "--rope", "1")
    last = out.splitlines()[-1].split()
    assert last[0] == "rare"
    assert last[-3:] == ["0.00", "1.00", "0.00"]


def test_latex_with_deviations_ranks_and_columns_in_the_order_asked(capsys, path, tmp_path):
    out = tmp_path / "table.tex"
    run(capsys, "experiment", "export", path, out, "--deviations", "--ranks",
        "--method", "rare", "--method", "br", "--dataset", "d3", "--dataset", "d1")  # fmt: skip
    lines = out.read_text().splitlines()
    table = values()["macro_f1"]
    mean, deviation = table[3, 2].mean(), table[3, 2].std(ddof=1)
    other, spread = table[3, 0].mean(), table[3, 0].std(ddof=1)
    assert r"Data set & rare & br \\" in lines
    first = rf"d3 & \textbf{{{mean:.4f}}} $\pm$ {deviation:.4f} & {other:.4f} $\pm$ {spread:.4f} \\"
    assert lines.index(first) < next(at for at, line in enumerate(lines) if line[:2] == "d1")
    assert r"mean rank & 1.00 & 2.00 \\" in lines
    assert lines[lines.index(r"mean rank & 1.00 & 2.00 \\") - 1] == r"\hline"
    run(capsys, "experiment", "export", path, tmp_path / "table.md", "--deviations")
    assert f"**{mean:.4f}** ± {deviation:.4f}" in (tmp_path / "table.md").read_text()
    out, _ = run(capsys, "experiment", "table", path, "--ranks", "--method", "br")
    assert out.splitlines()[-1].split() == ["mean", "rank", "1.00"]


def test_tables_of_others_are_results(tmp_path, capsys):
    wide = tmp_path / "wide.csv"
    wide.write_text("set,br,rare,lr\na,.3,.5,.4\nb,.4,.6,.5\nc,.2,.1,.3\n")
    long = tmp_path / "long.csv"
    long.write_text(
        "dataset,method,f1\n"
        + "".join(
            f"{name},{method},{value}\n"
            for name, *values in (("a", 0.3, 0.5, 0.4), ("b", 0.4, 0.6, 0.5), ("c", 0.2, 0.1, 0.3))
            for method, value in zip(("br", "rare", "lr"), values, strict=True)
        )
    )
    for path, title in ((wide, "value"), (long, "f1")):
        out, _ = run(capsys, "experiment", "ranks", path)
        lines = out.splitlines()
        assert lines[0] == title
        ranks = {line.split()[0]: line.split()[-1] for line in lines[4:7]}
        assert ranks == {"lr": "1.667", "rare": "1.667", "br": "2.667"}


def test_tables_that_are_no_results(tmp_path, capsys):
    wrong = tmp_path / "films.csv"
    wrong.write_text("dataset,macro_f1\na,0.5\n")
    _, err = run(capsys, "experiment", "table", wrong, code=2)
    assert "films.csv has no column 'classifier'" in err
    wrong.write_text("dataset,classifier\n")
    with pytest.raises(ScumbleError, match=r"films.csv is empty"):
        read_cells(wrong)
    with pytest.raises(ScumbleError, match="no such store"):
        read_cells(tmp_path / "absent.csv")


def test_scores_of_groups_and_measures_have_names():
    known = {"macro_f1", "pooled.minority.macro_f1", "ignore.f1", "after.scumble"}
    assert known <= {*score_names()}
    said = score_name_error("minorty.macro_f1")
    assert said.startswith(
        "There is no metric 'minorty.macro_f1'. Did you mean 'minority.macro_f1'"
    )
