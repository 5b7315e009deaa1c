"""The picture of what labels gain."""

import numpy as np
import pytest

import scumble
from scumble._core.errors import ParameterError, ParameterTypeError
from scumble.evaluate import compare
from scumble.plots import plot_gains


@pytest.fixture(scope="module")
def found():
    data = scumble.make_multilabel(200, 8, mean_ir=8, scumble=None, random_state=1)
    return compare(data, ["br", "rare", "mlknn"], folds="1x3", random_state=0)


def drawn(ax):
    return {
        text.get_text().rpartition(" (")[0]: place
        for place, text in enumerate(ax.get_yticklabels())
    }


def test_circles_stand_at_the_baseline_and_triangles_at_the_method(found):
    ax = plot_gains(found, "rare")
    rows = {row["name"]: row for row in found.gains("rare")}
    places = drawn(ax)
    assert set(places) == set(rows)
    circles = ax.collections[1].get_offsets()
    for name, place in places.items():
        assert circles[place].tolist() == pytest.approx([rows[name]["before"], place])
    triangles = [tuple(p) for part in ax.collections[2:] for p in part.get_offsets().tolist()]
    wanted = [(rows[n]["after"], p) for n, p in places.items() if rows[n]["gain"] != 0]
    assert np.array(sorted(triangles)) == pytest.approx(np.array(sorted(wanted)))


def test_labels_that_change_most_are_drawn_and_the_best_gain_is_on_top(found):
    ax = plot_gains(found, "rare", n_labels=3)
    gains = {row["name"]: row["gain"] for row in found.gains("rare")}
    most = sorted(gains, key=lambda name: -abs(gains[name]))[:3]
    assert set(drawn(ax)) == set(most)
    assert max(drawn(ax), key=drawn(ax).get) == max(most, key=gains.get)


def test_without_a_name_the_best_is_drawn(found):
    texts = [text.get_text() for text in plot_gains(found).get_legend().get_texts()]
    wanted = found.best if found.best != "br" else "rare"
    assert texts[0] == "br"
    assert all(text.startswith(f"{wanted}: ") for text in texts[1:])


def test_bad_input_is_named(found):
    with pytest.raises(ParameterTypeError, match="plot_gains draws what"):
        plot_gains([1, 2])
    with pytest.raises(ParameterError, match="There is no method 'ecc'"):
        plot_gains(found, "ecc")
    alone = compare(
        scumble.make_multilabel(60, 5, mean_ir=3, scumble=None, random_state=0),
        ["br"],
        folds="1x2",
        random_state=0,
    )
    with pytest.raises(ParameterError, match="a second method"):
        plot_gains(alone)
