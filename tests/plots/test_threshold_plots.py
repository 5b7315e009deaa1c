"""The curves behind thresholds, drawn."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from scumble import ScumbleError
from scumble.learn import threshold_curves
from scumble.plots import plot_bytes, plot_thresholds, save_plot

pytest.importorskip("matplotlib", reason="pip install 'scumble[plots]'")


@pytest.fixture(scope="module")
def curves():
    """Fourteen labels from rare to frequent; the last has no positive."""
    rng = np.random.default_rng(0)
    Y = rng.random((400, 14)) < np.append(np.geomspace(0.01, 0.4, 13), 0)
    return threshold_curves(0.6 * rng.random(Y.shape) + 0.3 * Y, Y)


def test_lines_are_the_curves_and_the_mark_is_what_was_taken(curves):
    [ax] = plot_thresholds(curves, labels=[5])
    curve = curves[5]
    rates = curve.n_predicted / curve.n_positives
    observed, expected, _foot, mark = ax.lines
    assert observed.get_xydata().tolist() == np.column_stack([rates, curve.observed]).tolist()
    assert expected.get_xydata().tolist() == np.column_stack([rates, curve.expected]).tolist()
    place = [rates[curve.selected], curve.expected[curve.selected]]
    assert mark.get_xydata().tolist() == [place]
    assert place[1] == curve.expected.max()
    assert ax.texts[0].get_text() == f"≥ {curve.thresholds[curve.selected]:.3g}"
    assert ax.get_title() == f"label 5, P = {curve.n_positives}"


def test_labels_go_from_the_rarest_to_the_most_frequent(curves):
    axes = plot_thresholds(curves)
    shown = [int(ax.get_title().rpartition(" ")[2]) for ax in axes]
    positives = sorted(curve.n_positives for curve in curves[:13])
    assert len(shown) == 9
    assert shown == sorted(shown)
    assert (shown[0], shown[-1]) == (positives[0], positives[-1])
    assert len(plot_thresholds(curves, n_labels=50)) == 13  # the one without positives has none


def test_a_fitted_classifier_brings_names_and_metric(curves):
    names = [f"tag ${at}$" for at in range(14)]
    fitted = SimpleNamespace(curves_=curves, label_names_=names, metric="f2")
    axes = plot_thresholds(fitted, ["tag $3$", 13])
    assert [ax.get_title().partition(",")[0] for ax in axes] == ["tag $3$", "tag $13$"]
    assert axes[1].texts[0].get_text() == "no threshold to choose"
    assert axes[0].figure.get_supylabel() == "F2"
    for suffix, begins in (("svg", b"<?xml"), ("png", b"\x89PNG")):
        assert plot_bytes(axes[0], suffix).startswith(begins)


def test_all_rows_a_fixed_threshold_and_dark_pages():
    [ax] = plot_thresholds(threshold_curves([[0.5], [0.5]], [[1], [1]]), dark=True)
    assert ax.texts[0].get_text() == "all rows"
    fixed = threshold_curves([[0.9], [0.5]], [[1], [0]], rule="fixed")
    [ax] = plot_thresholds(fixed, dark=False)
    assert len(ax.lines) == 2
    assert not ax.texts


def test_a_figure_may_be_given(curves):
    from matplotlib.figure import Figure

    whole = Figure(facecolor="black")
    axes = plot_thresholds(curves, [0, 1], figure=whole)
    assert all(ax.figure is whole for ax in axes)
    assert axes[0].title.get_color() == "#e6e9ec"  # the light ink of a dark page


def test_a_label_without_scores_that_all_rows_have():
    scores = sparse.csr_array([[0.9, 0.0], [0.0, 0.0]])
    axes = plot_thresholds(threshold_curves(scores, [[1, 1], [0, 1]]), labels=[0, 1])
    assert axes[1].texts[0].get_text() == "no threshold to choose"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"labels": ["nonesuch"]}, "no label 'nonesuch'"),
        ({"labels": [14]}, "no label 14"),
        ({"labels": []}, "is empty"),
        ({"names": ["a"]}, "a name for each of 14 labels"),
        ({"n_labels": 0}, "n_labels"),
    ],
)
def test_bad_parameters(curves, how, said):
    with pytest.raises(ScumbleError, match=said):
        plot_thresholds(curves, **how)


@pytest.mark.parametrize("given", [[], [1, 2], np.zeros((3, 3)), SimpleNamespace(thresholds_=[1])])
def test_what_has_no_curves_is_refused(given):
    with pytest.raises(ScumbleError, match="expected a fitted ThresholdedClassifier"):
        plot_thresholds(given)


def test_nothing_to_draw():
    with pytest.raises(ScumbleError, match="no label has a threshold"):
        plot_thresholds(threshold_curves([[0.9], [0.5]], [[0], [0]]))


def test_all_panels_are_saved_together(tmp_path):
    scores, Y = np.arange(12.0).reshape(6, 2), np.array([[0, 1], [0, 0], [1, 0]] * 2)
    save_plot(plot_thresholds(threshold_curves(scores, Y)), tmp_path / "both.svg")
    assert (tmp_path / "both.svg").read_text().count("axes_") >= 2
