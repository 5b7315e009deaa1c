"""Results from stores, frames and files: the same table, and tests that take them as they are."""

import math
import random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scumble import ScumbleError, ScumbleWarning
from scumble.evaluate.statistics import (
    bayesian_signed_rank,
    effect_sizes,
    friedman,
    nemenyi,
    score_table,
    wilcoxon,
    win_tie_loss,
)

METHODS = ("br", "br after remedial", "rare")


def cells(seed=0, n_datasets=5, n_folds=3):
    """A table as ``scumble experiment export`` writes it."""
    rng = random.Random(seed)
    rows = [
        {
            "dataset": f"d{at}",
            "resampler": resampler,
            "classifier": classifier,
            "splitter": "kfold",
            "seed": 1,
            "fold": fold,
            "seconds": rng.random(),
            "macro_f1": rng.random() + (classifier == "rare"),
            "hamming_loss": rng.random(),
        }
        for at in range(n_datasets)
        for classifier, resampler in (("rare", "none"), ("br", "remedial"), ("br", "none"))
        for fold in range(n_folds)
    ]
    return pd.DataFrame(rows)


def slow_means(frame, metric):
    names = frame["classifier"] + frame["resampler"].map(
        lambda name: "" if name == "none" else f" after {name}"
    )
    return frame.groupby(["dataset", names])[metric].mean().unstack()[list(METHODS)].to_numpy()


def forms(frame, tmp_path):
    frame.to_csv(tmp_path / "cells.csv", index=False)
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "cells.parquet")
    return [
        frame,
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
        tmp_path / "cells.csv",
        str(tmp_path / "cells.parquet"),
    ]


def test_every_form_of_a_table_of_cells_is_averaged_alike(tmp_path):
    frame = cells()
    for form in forms(frame, tmp_path):
        table = score_table(form, "macro_f1")
        assert table.columns == METHODS
        assert table.rows == ("d0", "d1", "d2", "d3", "d4")
        np.testing.assert_allclose(table.values, slow_means(frame, "macro_f1"), rtol=1e-12)
    of_one = frame[(frame.dataset == "d1") & (frame.classifier == "rare")].macro_f1
    assert table.deviations["d1", "rare"] == pytest.approx(of_one.std())
    assert table.n_cells["d1", "rare"] == 3


def test_the_tests_take_results_as_they_are(tmp_path):
    frame = cells()
    values = slow_means(frame, "macro_f1")
    for form in forms(frame, tmp_path):
        found = friedman(form, metric="macro_f1")
        assert found.methods == METHODS
        assert found.mean_ranks == friedman(values).mean_ranks
        assert found.p_value == friedman(values).p_value
        assert nemenyi(form, metric="macro_f1").groups == nemenyi(values).groups
        pair = {"results": form, "metric": "macro_f1"}
        x, y = values[:, 0], values[:, 2]
        assert wilcoxon("br", "rare", **pair) == wilcoxon(x, y)
        assert bayesian_signed_rank("br", "rare", **pair) == bayesian_signed_rank(x, y)
        assert effect_sizes("br", "rare", **pair) == effect_sizes(x, y)
        assert win_tie_loss("br", "rare", **pair) == win_tie_loss(x, y)


def test_the_metric_tells_which_values_are_better():
    frame = cells()
    losses = slow_means(frame, "hamming_loss")
    found = friedman(frame, metric="hamming_loss")
    assert found.mean_ranks == friedman(losses, higher_is_better=False).mean_ranks
    other = friedman(frame, metric="hamming_loss", higher_is_better=True)
    assert other.mean_ranks == friedman(losses).mean_ranks
    assert score_table(frame, "seconds").higher_is_better is False
    wins = win_tie_loss("br", "rare", results=frame, metric="hamming_loss")
    assert wins == win_tie_loss(losses[:, 0], losses[:, 2], higher_is_better=False)


@pytest.mark.parametrize(
    "wide",
    [
        pd.DataFrame({"br": [0.1, 0.5], "rare": [0.3, 0.4]}, index=["films", "tunes"]),
        pd.DataFrame({"data": ["films", "tunes"], "br": [0.1, 0.5], "rare": [0.3, 0.4]}),
        pl.DataFrame({"br": [0.1, 0.5], "data": ["films", "tunes"], "rare": [0.3, 0.4]}),
    ],
)
def test_a_column_per_method(wide):
    table = score_table(wide)
    assert table.rows == ("films", "tunes")
    assert table.columns == ("br", "rare")
    assert table.values.tolist() == [[0.1, 0.3], [0.5, 0.4]]
    assert table["rare"].tolist() == [0.3, 0.4]
    assert table.best("films") == {"rare"}
    assert table.mean_ranks() == {"br": 1.5, "rare": 1.5}


def test_data_sets_that_a_method_lacks_are_left_out_and_named():
    frame = cells()
    frame.loc[(frame.dataset == "d2") & (frame.classifier == "rare"), "macro_f1"] = math.nan
    frame = frame[~((frame.dataset == "d4") & (frame.resampler == "remedial"))]
    with pytest.warns(ScumbleWarning, match="2 of 5 data sets .* of macro_f1 there: d2, d4"):
        found = friedman(frame, metric="macro_f1")
    assert found.n_cases == 3
    with pytest.warns(ScumbleWarning, match="1 of 5 data sets"):
        assert wilcoxon("br", "rare", results=frame, metric="macro_f1").n_pairs == 4


def test_one_fold_without_a_value_is_left_out_of_the_mean():
    frame = cells(n_datasets=1)
    frame.loc[0, "macro_f1"] = math.nan
    mean = frame.macro_f1[1:3].mean()
    assert score_table(frame, "macro_f1").means["d0", "rare"] == pytest.approx(mean)


def test_methods_and_data_sets_come_in_the_order_asked():
    table = score_table(cells(), "macro_f1").select(methods=["rare", "br"], datasets=["d3", "d0"])
    assert table.columns == ("rare", "br")
    assert table.rows == ("d3", "d0")
    assert table.values[0, 0] == score_table(cells(), "macro_f1").means["d3", "rare"]
    assert [row["dataset"] for row in table.to_dict()["values"]] == ["d3", "d3", "d0", "d0"]


def test_several_splitters_are_kept_apart():
    frame = cells(n_datasets=2)
    frame.loc[frame.dataset == "d1", "splitter"] = "mulan"
    assert score_table(frame, "macro_f1").rows == ("d0, kfold", "d1, mulan")


@pytest.mark.parametrize(
    ("results", "metric", "message"),
    [
        (cells(), None, "Say which metric. The table has seconds, macro_f1, hamming_loss"),
        (cells(), "macro_f", "no metric 'macro_f'. Did you mean 'macro_f1'"),
        (3, None, "Results must be a store of experiments, a DataFrame"),
        ({"a": [1, 2], "b": [1]}, None, r"columns of \[1, 2\] values"),
        ({}, None, "Got no columns"),
        (pd.DataFrame({"a": ["x"], "b": ["y"], "c": [1.0]}), None, "'a', 'b' hold text"),
        (pd.DataFrame({"a": ["x", "x"], "c": [1.0, 2.0]}), None, "'x' is in two rows"),
        (cells().assign(f1="?"), "f1", "column 'f1' must hold numbers only"),
        ("absent.csv", None, "absent.csv cannot be read"),
    ],
)
def test_what_is_no_table_of_results(results, metric, message):
    with pytest.raises(ScumbleError, match=message):
        score_table(results, metric)


def test_unknown_methods_and_directions(tmp_path):
    frame = cells()
    with pytest.raises(ScumbleError, match=r"no method 'rar'\. Did you mean 'rare'\? Known are: "):
        wilcoxon("br", "rar", results=frame, metric="macro_f1")
    with pytest.raises(ScumbleError, match=r"name methods. Say where their results are"):
        wilcoxon("br", "rare")
    with pytest.raises(ScumbleError, match="'rare' is given twice"):
        score_table(frame, "macro_f1").select(methods=["rare", "rare"])
    treated = frame.rename(columns={"macro_f1": "after.mean_ir"})
    with pytest.raises(ScumbleError, match=r"neither more nor less of 'after.mean_ir' is better"):
        friedman(treated, metric="after.mean_ir")
    (tmp_path / "broken.parquet").write_bytes(b"no table")
    with pytest.raises(ScumbleError, match="is not a table of results"):
        score_table(tmp_path / "broken.parquet")
    (tmp_path / "store.db").write_bytes(b"SQLite format 3\x00" + b"\x00" * 90)
    with pytest.raises(ScumbleError, match=r"is a store of experiments. Give .*Store\("):
        score_table(tmp_path / "store.db")
