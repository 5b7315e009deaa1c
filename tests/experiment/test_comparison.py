"""Methods against one of them: means, wins and a paired test, by hand."""

import math

import pytest

from scumble._core.errors import ParameterError
from scumble.evaluate.metrics.label_groups import metric_sign
from scumble.evaluate.statistics import ScoreTable, wilcoxon
from scumble.experiment.result_tables import compare_methods


def grid_of(metric, table):
    columns = ("old", "new")
    means = {
        (row, c): v for row, values in table.items() for c, v in zip(columns, values, strict=True)
    }
    counts, higher = dict.fromkeys(means, 1), metric_sign(metric) > 0
    return ScoreTable(metric, tuple(table), columns, means, {}, counts, higher)


TABLE = {"a": (0.2, 0.4), "b": (0.5, 0.5), "c": (0.3, 0.2), "d": (0.1, math.nan), "e": (0.0, 0.9)}


def test_means_wins_and_p_by_hand():
    itself, new = compare_methods(grid_of("macro_f1", TABLE), "old", excluded_datasets=["e"])

    assert (itself.method, itself.n_datasets, itself.ratio, itself.ties) == ("old", 4, 1.0, 4)
    assert (new.n_datasets, new.wins, new.ties, new.losses) == (3, 1, 1, 1)
    assert new.mean == pytest.approx(1.1 / 3)
    assert new.ratio == pytest.approx(1.1)
    assert new.p_value == wilcoxon([0.2, 0.5, 0.3], [0.4, 0.5, 0.2]).p_value


def test_of_a_loss_the_smaller_wins():
    assert compare_methods(grid_of("ranking_loss", TABLE), "old")[1].wins == 1


def test_nothing_to_compare_and_unknown_names():
    empty = compare_methods(grid_of("macro_f1", {"a": (math.nan, 0.3)}), "old")[1]
    assert empty.n_datasets == 0
    assert math.isnan(empty.ratio)
    with pytest.raises(ParameterError, match="no method 'other'"):
        compare_methods(grid_of("macro_f1", TABLE), "other")
    with pytest.raises(ParameterError, match="no data set 'z'"):
        compare_methods(grid_of("macro_f1", TABLE), "old", excluded_datasets=["z"])
