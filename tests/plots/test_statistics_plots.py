"""The diagrams of experiments."""

import numpy as np
import pytest

from scumble import ScumbleError
from scumble.evaluate.statistics import nemenyi
from scumble.paper import published
from scumble.paper.audit import imbalance_pairs, scumble_and_change
from scumble.plots import plot_bytes
from scumble.plots.statistics import (
    log_trend,
    plot_change,
    plot_critical_difference,
    plot_intervals,
)

pytest.importorskip("matplotlib", reason="pip install 'scumble[plots]'")
SCORES = np.tile([4.0, 3.0, 2.0, 1.0], (8, 1))


def test_bars_cover_what_cannot_be_told_apart():
    ax = plot_critical_difference(nemenyi(SCORES), ["a", "b", "c", "$d$"])
    bars = [line for line in ax.lines if line.get_linewidth() == 4]
    ends = [[round(float(x), 2) for x in line.get_xdata()] for line in bars]
    assert ends == [[0.97, 2.03], [1.97, 3.03], [2.97, 4.03]]
    texts = [text.get_text() for text in ax.texts]
    assert "a  1.00" in texts
    assert "$d$  4.00" in texts
    assert plot_bytes(ax, "svg").startswith(b"<?xml")


def test_the_papers_figure_from_its_own_table():
    columns = {}
    for measure in ("max_ir", "mean_ir"):
        scumble, columns[measure] = scumble_and_change(imbalance_pairs("LP-ROS", measure))
    ax = plot_change(published.PHASE_1_DATASETS, scumble, columns)
    heights = [patch.get_height() for patch in ax.patches]
    assert heights == pytest.approx([*columns["max_ir"], *columns["mean_ir"]])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == list(published.PHASE_1_DATASETS)
    assert plot_bytes(ax, "png").startswith(b"\x89PNG")


def test_trends_are_logarithmic():
    values = 1 + 2 * np.log(np.arange(1, 7))
    assert log_trend(values, [1, 6]) == pytest.approx([1, 1 + 2 * np.log(6)])
    assert log_trend([5.0], [1, 2]).tolist() == [5.0, 5.0]


def test_intervals_stand_beside_their_names_and_what_is_unknown_is_left_out():
    nan = (np.nan, np.nan, np.nan)
    ax = plot_intervals(
        ["BR", "LP"], {"keep": [(-0.1, -0.2, 0.0), nan], "clone": [(0.3, 0.1, 0.4)] * 2}
    )
    marks = [part for part in ax.collections if not hasattr(part, "get_segments")]
    bars = [part for part in ax.collections if hasattr(part, "get_segments")]
    drawn = {mark.get_label(): np.asarray(mark.get_offsets())[:, 0].tolist() for mark in marks}
    assert {name: drawn[name] for name in ("keep", "clone")} == {
        "keep": [-0.1],
        "clone": [0.3, 0.3],
    }
    ends = [[tuple(point[0] for point in line) for line in bar.get_segments()] for bar in bars]
    assert ends == [[(-0.2, 0.0)], [(0.1, 0.4), (0.1, 0.4)]]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["BR", "LP"]


def test_wrong_lengths_are_refused():
    with pytest.raises(ScumbleError, match="'keep' for each of 2 names"):
        plot_intervals(["BR", "LP"], {"keep": [(0.0, 0.0, 0.0)]})
    with pytest.raises(ScumbleError, match="a name for each of 4 methods"):
        plot_critical_difference(nemenyi(SCORES), ["a"])
    with pytest.raises(ScumbleError, match="'MeanIR' for each of 2"):
        plot_change(["a", "b"], [0.1, 0.2], {"MeanIR": [1.0]})
