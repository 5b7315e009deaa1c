"""Pictures are compared by their data; that they please the eye was seen to by eye."""

import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET
from inspect import signature

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

import scumble
from scumble import plots
from scumble._core.errors import ParameterError, ScumbleError
from scumble._core.registry import registered_objects
from scumble.plots import chord_layout, save_plot
from scumble.plots.base import DARK, LIGHT, add_title
from scumble.plots.chord import _arc_colors
from scumble.resample import REMEDIAL

ROWS = [["a"]] * 3 + [["a", "b"]] * 3 + [["a", "b", "c"]] + [["a", "c"]] + [["b"]] + [[]]
SMALL = scumble.MultilabelDataset(np.zeros((10, 2)), ROWS, name="small")
NASTY = ["<img src=x onerror=alert(1)>", "$\\frac{1}", "--><script>", "\x1b[31mred", "漢字", ""]
KINDS = sorted(registered_objects("plot"))


@pytest.fixture(scope="module")
def debtags():
    return scumble.load("debtags")


@pytest.fixture(scope="module")
def nasty():
    Y = np.zeros((12, 6), int)
    Y[:, 0] = 1
    Y[:3, 1:] = 1
    return scumble.MultilabelDataset(np.zeros((12, 1)), Y, labels=NASTY, name="$x^{ </title>")


def read(datasets, name):
    return scumble.read(next((datasets / name).glob(f"{name}.arff*")))


def test_the_catalogue_knows_mldrs_plots_by_name():
    aliases = {entry.alias for entry in registered_objects("plot").values()} - {""}
    assert aliases == {"LC", "LB", "LH", "CH", "AT", "LSB", "LSH"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dark", [False, True])
def test_common_to_all(kind, dark, tmp_path, nasty):
    function = registered_objects("plot")[kind].function
    assert {"ax", "dark"} <= set(signature(function).parameters)
    ax = Figure().add_subplot()
    assert function(nasty, ax=ax, dark=dark) is ax
    for at in ("one.svg", "two.svg"):
        save_plot(function(nasty, dark=dark), tmp_path / at)
    text = (tmp_path / "one.svg").read_text()
    assert text == (tmp_path / "two.svg").read_text()  # one picture, the same bytes
    assert "\x1b" not in text
    tree = ET.fromstring(text)
    assert not [node for node in tree.iter() if node.tag.endswith(("script", "img"))]
    assert (DARK if dark else LIGHT).background_color in text


@pytest.mark.parametrize("kind", KINDS)
def test_awkward_data_can_be_drawn(kind):
    function = registered_objects("plot")[kind].function
    for Y in (np.zeros((3, 2), int), np.zeros((0, 2), int), np.ones((2, 1), int), np.eye(3)):
        data = scumble.MultilabelDataset(np.zeros((len(Y), 1)), Y)
        function(data).figure.draw_without_rendering()


def test_drawing_opens_no_window_and_layouts_need_no_matplotlib():
    code = (
        "import sys, scumble\nfrom scumble import plots\n"
        "plots.chord_layout([['a'], ['a', 'b']])\n"
        "print('matplotlib' in sys.modules)\n"
        "plots.plot_chord([['a'], ['a', 'b']])\nprint('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_dark_figure_asks_for_light_ink():
    dark = Figure(facecolor="black").add_subplot()
    plots.plot_labels(ROWS, ax=dark)
    assert to_hex(dark.title.get_color()) == DARK.text_color
    light = Figure(facecolor="white").add_subplot()
    plots.plot_labels(ROWS, ax=light)
    assert to_hex(light.title.get_color()) == LIGHT.text_color


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_can_be_told_apart(theme):
    def luminance(colour):
        channels = [
            c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)
        ]
        return float(np.dot(channels, [0.2126, 0.7152, 0.0722]))

    def contrast(one, other):
        low, high = sorted([luminance(one), luminance(other)])
        return (high + 0.05) / (low + 0.05)

    assert contrast(theme.text_color, theme.background_color) > 7
    assert contrast(theme.muted_color, theme.background_color) > 4.5
    assert contrast(theme.rare_colors[0], theme.background_color) > 3
    assert contrast(theme.frequent_colors[0], theme.background_color) > 3
    # What red-green blind eyes see of a colour (Vienot, Brettel and Mollon, linear light).
    blind = np.array([[0.29, 0.71, 0.0], [0.29, 0.71, 0.0], [-0.02, 0.02, 1.0]])
    rare, common = (
        blind @ to_rgb(colours[0]) for colours in (theme.rare_colors, theme.frequent_colors)
    )
    assert np.abs(rare - common).max() > 0.3


def test_the_chord_draws_the_layout(debtags):
    layout = chord_layout(debtags)
    ax = plots.plot_chord(layout)
    ribbons, arcs, hidden = ax.collections
    assert len(ribbons.get_paths()) == len(layout.ribbons)
    assert len(arcs.get_paths()) == len(layout.arcs)
    assert len(hidden.get_paths()) == sum(a.company_end > a.ribbons_end for a in layout.arcs)
    for arc, path in zip(layout.arcs, arcs.get_paths(), strict=True):
        x, y = path.vertices[0]
        assert np.arctan2(x, y) % (2 * np.pi) == pytest.approx(arc.start % (2 * np.pi))
        on_rim = np.isclose(np.hypot(*path.vertices.T), 1.0)
        x, y = path.vertices[on_rim][-2]  # the last vertex closes the path at the start
        assert np.hypot(x, y) == pytest.approx(1.0)
    for ribbon, path in zip(layout.ribbons, ribbons.get_paths(), strict=True):
        x, y = path.vertices[0]
        assert np.arctan2(x, y) % (2 * np.pi) == pytest.approx(ribbon.source_start % (2 * np.pi))
    warm = [to_hex(c) in LIGHT.rare_colors for c in arcs.get_facecolor()]
    assert warm == [arc.is_minority for arc in layout.arcs]
    strong = ribbons.get_facecolor()[:, 3] > 0.5
    assert strong.tolist() == [ribbon.is_mixed for ribbon in layout.ribbons]
    assert ax.texts[-1].get_text() == layout.note


def names_overlap(ax):
    """Whether any two names of a drawing share a pixel, by their turned boxes."""
    from matplotlib.path import Path
    from matplotlib.transforms import Affine2D

    renderer = ax.figure.canvas.get_renderer()
    corners = []
    for text in ax.texts[:-1]:
        width, height, _ = renderer.get_text_width_height_descent(
            text.get_text(), text._fontproperties, False
        )
        box = np.array([[0, -0.4], [1, -0.4], [1, 0.4], [0, 0.4]]) * [width, height]
        box[:, 0] -= width if text.get_ha() == "right" else 0
        turn = Affine2D().rotate_deg(text.get_rotation())
        corners.append(turn.transform(box) + ax.transData.transform(text.get_position()))
    return any(
        Path(one).intersects_path(Path(other), filled=True)
        for at, one in enumerate(corners)
        for other in corners[at + 1 :]
    )


@pytest.mark.parametrize("n_labels", [None, 40, 300])
def test_names_on_the_chord_do_not_overlap(debtags, n_labels):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    labels = None if n_labels is None else list(range(n_labels))
    ax = plots.plot_chord(debtags, labels)
    FigureCanvasAgg(ax.figure).draw()
    assert not names_overlap(ax)
    low, high = ax.get_xlim()
    for text in ax.texts[:-1]:  # and none is cut off
        box = ax.transData.inverted().transform_bbox(text.get_window_extent())
        assert low - 0.1 <= box.x0 < box.x1 <= high + 0.1


def test_the_heat_map_shows_conditional_shares():
    data = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1], [1, 0, 1, 0]])
    ax = plots.plot_cooccurrence(data)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == [text.get_text() for text in ax.get_xticklabels()]
    order = [int(name[1:]) for name in names]
    joint = data.T @ data
    expected = (joint / joint.diagonal()[:, None])[np.ix_(order, order)]
    np.testing.assert_allclose(ax.images[0].get_array(), expected)
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset({0, 1}), frozenset({2, 3})}


def test_bars_are_counts(debtags):
    ax = plots.plot_labels(debtags)
    counts = np.sort(np.asarray(debtags.Y.sum(axis=0)))[::-1]
    heights = [bar.get_width() for bar in ax.patches]
    assert heights == [*counts[:20], *counts[-20:]]
    assert f"{len(counts) - 40:,} labels in between" in ax.get_xlabel()
    chosen = plots.plot_labels(SMALL, ["c", "b"])
    assert [bar.get_width() for bar in chosen.patches] == [5, 2]


def test_labelsets_are_not_counted_twice(datasets):
    # mldr 0.4.2 counts two of the labelsets of yeast in its bar "others" again.
    data = read(datasets, "yeast")
    ax = plots.plot_labelsets(data, n_labelsets=50)
    heights = [bar.get_width() for bar in ax.patches]
    assert len(heights) == 50
    assert heights == sorted(heights, reverse=True)
    rest = data.n_instances - sum(heights)
    assert f"148 more labelsets in {int(rest):,} instances" in ax.get_xlabel()
    assert ax.get_yticklabels()[0].get_text() == "Class3, Class4, Class12, Class13"
    empty = plots.plot_labelsets([["a"], [], []])
    assert [text.get_text() for text in empty.get_yticklabels()] == ["(no label)", "a"]


def test_histograms_count_everything_once(debtags):
    summary = scumble.characterize(debtags)
    for draw, total in (
        (plots.plot_label_histogram, summary.n_labels),
        (plots.plot_labelset_histogram, summary.n_labelsets),
    ):
        assert sum(bar.get_height() for bar in draw(summary).patches) == total
    ax = plots.plot_label_histogram(summary)
    edges = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
    expected, _ = np.histogram(summary.labels.count, edges)
    drawn = [bar.get_height() for bar in ax.patches]
    assert drawn == np.trim_zeros(expected).tolist()
    ax = plots.plot_cardinality(SMALL)
    assert [bar.get_height() for bar in ax.patches] == [1, 4, 4, 1]


def test_features_by_kind():
    from scumble.data import Feature

    features = [Feature("a"), Feature("b", "nominal", ("x",)), Feature("c", integer=True)]
    data = scumble.MultilabelDataset(np.zeros((10, 3)), ROWS, features=features)
    ax = plots.plot_attributes(data)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert dict(zip(names, [bar.get_width() for bar in ax.patches], strict=True)) == {
        "numeric": 1,
        "nominal": 1,
        "integer": 1,
        "labels": 3,
    }
    with pytest.raises(ScumbleError, match="needs a data set with features"):
        plots.plot_attributes(ROWS)


@pytest.mark.parametrize("name", ["emotions", "yeast"])
def test_instances_above_the_mean_are_those_that_remedial_splits(name, datasets):
    data = read(datasets, name)
    summary = scumble.characterize(data)
    ax = plots.plot_instances(summary)
    warm = sum(
        b.get_height() for b in ax.patches if to_hex(b.get_facecolor()) == LIGHT.rare_colors[0]
    )
    cool = sum(
        b.get_height() for b in ax.patches if to_hex(b.get_facecolor()) == LIGHT.frequent_colors[0]
    )
    sampler = REMEDIAL()
    sampler.resample(data)
    assert warm == sampler.passes_[0].n_above_mean
    assert warm + cool == (summary.scumble_by_instance > 0).sum()


def test_equal_scores_are_not_above_their_mean():
    ax = plots.plot_instances([["a", "b"], ["a", "b"], ["a", "b"], ["a", "b"], ["a"]])
    assert "of 5 instances above the mean" in ax.get_title()
    same = plots.plot_instances([["a"], ["b"]])
    assert "0 of 2 instances above the mean, 2 at 0" in same.get_title()


def test_rarity_against_concurrence(debtags):
    summary = scumble.characterize(debtags)
    ax = plots.plot_difficult(summary, n_names=5)
    majority, minority = (points.get_offsets().data for points in ax.collections)
    rare = summary.labels.is_minority
    seen = summary.labels.count > 0
    expected = np.column_stack([summary.labels.irlbl, summary.labels.scumble])
    np.testing.assert_allclose(minority, expected[rare])
    np.testing.assert_allclose(majority, expected[seen & ~rare])
    hardest = scumble.measures.difficult_labels(debtags, n_labels=5)
    written = {text.get_text() for text in ax.texts} - {f"MeanIR {summary.mean_ir:,.1f}"}
    assert written == {label.name for label in hardest}


def test_before_and_after():
    after = REMEDIAL().resample(SMALL)
    left, right = plots.plot_pair(SMALL, after, "cardinality")
    assert left.figure is right.figure
    assert left.get_xlim() == right.get_xlim()
    assert sum(bar.get_height() for bar in right.patches) == len(after)
    chords = plots.plot_pair(SMALL, after, "chord", n_labels=1, n_partners=1)
    assert [len(ax.collections[1].get_paths()) for ax in chords] == [2, 2]
    ax = plots.plot_before_after(SMALL, after, measure="irlbl")
    assert ax.collections[1].get_offsets().data[:, 0].tolist() == [4.0, 1.6, 1.0]
    with pytest.raises(ParameterError, match="the same labels"):
        plots.plot_before_after(SMALL, [["a"]])
    with pytest.raises(ParameterError, match="'kind' parameter of plot_pair"):
        plots.plot_pair(SMALL, after, "nonesuch")


def test_saving(tmp_path):
    ax = plots.plot_labels(SMALL)
    for suffix, magic in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
        save_plot(ax, tmp_path / f"picture.{suffix}")
        assert (tmp_path / f"picture.{suffix}").read_bytes().startswith(magic)
    with pytest.raises(ParameterError, match=r"must end in \.svg, \.pdf, \.png"):
        save_plot(ax, tmp_path / "picture.gif")
    assert not (tmp_path / "picture.gif").exists()


def test_names_the_font_lacks_are_told_of_in_our_own_words(nasty, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "the names hold", scumble.ScumbleWarning)
        save_plot(plots.plot_chord(nasty), tmp_path / "a.png")


@pytest.mark.parametrize("kind", sorted(registered_objects("plot")))
def test_nothing_sticks_out_of_a_picture(kind):
    data = scumble.make_multilabel(n_instances=400, n_labels=70, mean_ir=20, random_state=0)
    names = [f"a-rather-long-name::of-a-label-{at}" for at in range(70)]
    named = scumble.MultilabelDataset(data.X, data.Y, labels=names, name="a data set of long names")
    figure = registered_objects("plot")[kind].function(named).get_figure(root=True)
    figure.draw_without_rendering()
    width, height = figure.get_size_inches()
    box = figure.get_tightbbox()
    assert box.x0 >= -0.01
    assert box.y0 >= -0.01
    assert box.x1 <= width + 0.01
    assert box.y1 <= height + 0.01


def test_axes_that_share_their_names_are_drawn_on():
    before = [[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]]
    after = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]]
    left, right, last = Figure().subplots(1, 3, sharey=True)
    for ax, other in ((left, before), (right, after)):
        plots.plot_before_after(before, other, ax=ax)
    assert [text.get_text() for text in left.get_yticklabels()] == ["y2", "y0", "y1"]
    expected = scumble.characterize(after).labels["scumble"][[2, 0, 1]]
    np.testing.assert_allclose(right.collections[2].get_offsets().data[:, 0], expected)
    with pytest.raises(ScumbleError, match="Make them without sharey"):
        plots.plot_before_after(before, after, measure="count", ax=last)
    one, two = Figure().subplots(1, 2, sharey=True)
    for ax in (one, two):
        plots.plot_labels(before, ax=ax)
    one, two = Figure().subplots(1, 2, sharex=True, sharey=True)
    for ax in (one, two):
        plots.plot_cooccurrence(before, ax=ax)


def test_axes_end_at_numbers_and_cut_nothing():
    once = [[name] for name in "abcdef"]
    ax = plots.plot_labelset_histogram(once)
    assert [int(tick) for tick in ax.get_xticks()] == ax.get_xticks().tolist() == [1]
    low, high = ax.get_xlim()
    assert [(bar.get_x() - low) > 0.5 and high - bar.get_x() > 0.5 for bar in ax.patches] == [True]
    labels = [["a"], ["a", "b"], ["a", "c"], ["a", "b"]]
    ax = plots.plot_instances(labels)
    end = ax.get_xlim()[1]
    assert min(abs(tick - end) for tick in ax.get_xticks()) < 1e-9
    assert all(bar.get_x() + bar.get_width() <= end for bar in ax.patches)
    ax = plots.plot_difficult(labels)
    points = np.concatenate([each.get_offsets().data for each in ax.collections])
    assert np.all(points[:, 0] > ax.get_xlim()[0] + 0.05)
    assert np.all(points[:, 0] < ax.get_xlim()[1] - 0.05)


def test_a_long_title_has_two_lines():
    ax = plots.plot_cardinality([["a"], ["a", "b"]])
    what = "2,406 of 5,000 instances above the mean, 32 at 0"
    add_title(ax, "corel5k", what)
    assert ax.get_title() == f"corel5k: {what}"
    add_title(ax, "a name of thirty letters or so", what)
    assert ax.get_title() == f"a name of thirty letters or so\n{what}"


def test_a_label_has_one_colour_before_and_after():
    before = [["a"]] * 8 + [["a", "b"], ["a", "c"]]
    after = before + [["b"]] * 8
    layout = chord_layout(before)
    other = chord_layout(after, [arc.label for arc in layout.arcs], keep_order=True)
    assert [arc.is_minority for arc in layout.arcs] != [arc.is_minority for arc in other.arcs]
    assert (
        _arc_colors(other, LIGHT, layout) == _arc_colors(layout, LIGHT) != _arc_colors(other, LIGHT)
    )
    for options in (
        {},
        {"labels": ["c", "a", "b"], "keep_order": True},
        {"n_labels": 1, "max_ribbons": 1},
    ):
        left, right = plots.plot_pair(before, after, "chord", **options)
        inks = [ax.collections[1].get_facecolors().tolist() for ax in (left, right)]
        assert inks[0] == inks[1]
