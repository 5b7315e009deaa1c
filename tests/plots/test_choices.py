"""Which method does best in which situation."""

import numpy as np
import pytest

from scumble._core.errors import ParameterError
from scumble.plots import plot_bytes
from scumble.plots.statistics import plot_choices

VALUES = [[0.1, 0.3, 0.295], [0.5, np.nan, 0.2]]


@pytest.mark.parametrize("dark", [False, True])
def test_the_best_is_framed_and_what_is_near_by_dots(dark):
    ax = plot_choices(VALUES, ["rare", "frequent"], ["a", "b", "c"], dark=dark)
    frames = {(round(p.get_x() + 0.46), round(p.get_y() + 0.44)): p for p in ax.patches}
    assert {place: frame.get_linestyle() for place, frame in frames.items()} == {
        (1, 0): "-",
        (2, 0): ":",
        (0, 1): "-",
    }
    assert [text.get_text() for text in ax.texts] == [".10", ".30", ".29", ".50", ".20"]
    assert plot_bytes(ax, "svg").lstrip().startswith(b"<?xml")


def test_a_situation_that_nobody_was_judged_in_stays_empty():
    ax = plot_choices([[np.nan, np.nan], [0.2, 0.1]], ["x", "y"], ["a", "b"])
    assert len(ax.texts) == 2
    assert len(ax.patches) == 1


def test_a_table_of_another_shape_is_refused():
    with pytest.raises(ParameterError, match="1 situations and 2 methods"):
        plot_choices([[1.0]], ["x"], ["a", "b"])
