import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

import scumble
from scumble._core.errors import ParameterError, ParameterTypeError
from scumble.plots import ChordLayout, chord_layout
from scumble.plots.base import spread_positions
from scumble.plots.chord_layout import MAX_NAME_SHIFT, NAME_STEP
from scumble.testing.strategies import label_matrices

# Ten instances: a 8 times, b 5 times, c twice. b and a meet 4 times, c and a twice, c and b once;
# b is alone once, a three times.
ROWS = [["a"]] * 3 + [["a", "b"]] * 3 + [["a", "b", "c"]] + [["a", "c"]] + [["b"]] + [[]]


def test_an_example_worked_by_hand():
    layout = chord_layout(ROWS)
    assert [arc.name for arc in layout.arcs] == ["c", "a", "b"]  # the rare one first
    assert [arc.count for arc in layout.arcs] == [2, 8, 5]
    assert [arc.n_company for arc in layout.arcs] == [2, 5, 4]
    assert [arc.is_minority for arc in layout.arcs] == [True, False, False]
    # Three gaps of 2 degrees, two of them three times as wide: 14 degrees in all.
    per_row = math.radians(360 - 14) / 15
    for arc in layout.arcs:
        assert arc.end - arc.start == pytest.approx(arc.count * per_row)
        assert arc.company_end - arc.start == pytest.approx(arc.n_company * per_row)
    c, a, b = layout.arcs
    assert c.start == pytest.approx(-c.end)  # at twelve o'clock
    assert a.start - c.end == pytest.approx(math.radians(6))
    assert b.start - a.end == pytest.approx(math.radians(2))
    ribbons = {(r.source, r.target): r for r in layout.ribbons}
    assert {pair: r.joint_count for pair, r in ribbons.items()} == {(2, 1): 4, (0, 1): 2, (0, 2): 1}
    # c has company twice; its joint counts are 2 and 1. Left of c lies b, so b comes first.
    assert ribbons[0, 2].source_start == pytest.approx(c.start)
    assert ribbons[0, 2].source_end - c.start == pytest.approx(2 * per_row * 1 / 3)
    assert ribbons[0, 1].source_end == pytest.approx(c.company_end)
    # a has company five times, shared as 2 (c, to its left) and 4.
    assert ribbons[0, 1].target_end - a.start == pytest.approx(5 * per_row * 2 / 6)
    assert ribbons[2, 1].target_end == pytest.approx(a.company_end)
    assert [r.is_mixed for r in layout.ribbons] == [False, True, True]
    assert layout.note == "All 3 labels that occur."


def test_company_that_is_not_drawn_keeps_its_place_on_the_arc():
    layout = chord_layout(ROWS, ["c", "b"])
    c, b = layout.arcs
    assert (c.n_company, c.n_drawn_company) == (2, 1)
    assert (b.n_company, b.n_drawn_company) == (4, 1)
    assert b.ribbons_end < b.company_end < b.end
    assert layout.n_labels_left_out == 1
    assert layout.note == "2 of 3 labels, as chosen."


def test_a_given_order_is_kept_where_asked_for():
    assert [arc.name for arc in chord_layout(ROWS, ["b", "c", "a"]).arcs] == ["c", "a", "b"]
    layout = chord_layout(ROWS, ["b", "c", "a"], keep_order=True)
    assert [arc.name for arc in layout.arcs] == ["b", "c", "a"]
    edges = [edge for arc in layout.arcs for edge in (arc.start, arc.end)]
    assert edges == sorted(edges)
    assert edges[-1] - edges[0] < 2 * math.pi


@given(label_matrices(max_instances=12, max_labels=7), st.integers(0, 6))
def test_true_of_all_layouts(Y, max_ribbons):
    layout = chord_layout(Y, max_ribbons=max_ribbons)
    dense = Y.toarray().astype(int)
    counts = dense.sum(axis=0)
    joint = dense.T @ dense
    arcs, ribbons = layout.arcs, layout.ribbons
    assert sorted(arc.label for arc in arcs) == np.flatnonzero(counts).tolist()

    edges = [edge for arc in arcs for edge in (arc.start, arc.end)]
    assert edges == sorted(edges)  # no two arcs overlap
    if arcs:
        assert edges[-1] - edges[0] <= 2 * math.pi + 1e-9
    lengths = np.array([arc.end - arc.start for arc in arcs])
    shares = np.array([arc.count for arc in arcs]) / max(counts.sum(), 1)
    np.testing.assert_allclose(lengths, shares * lengths.sum(), atol=1e-12)
    for arc in arcs:
        assert arc.count == counts[arc.label]
        assert arc.n_company == (dense[dense[:, arc.label] == 1].sum(axis=1) > 1).sum()
        assert abs(arc.name_angle - (arc.start + arc.end) / 2) <= MAX_NAME_SHIFT
        assert arc.start <= arc.ribbons_end <= arc.company_end <= arc.end

    n_pairs = int((np.triu(joint, 1) > 0).sum())
    assert len(ribbons) == min(n_pairs, max_ribbons)
    assert layout.n_ribbons_left_out == n_pairs - len(ribbons)
    ends = {at: [] for at in range(len(arcs))}
    for ribbon in ribbons:
        source, target = arcs[ribbon.source], arcs[ribbon.target]
        assert ribbon.joint_count == joint[source.label, target.label] > 0
        assert source.count <= target.count
        assert ribbon.is_mixed == (source.is_minority != target.is_minority)
        ends[ribbon.source].append((ribbon.source_start, ribbon.source_end, ribbon.joint_count))
        ends[ribbon.target].append((ribbon.target_start, ribbon.target_end, ribbon.joint_count))
    for at, spans in ends.items():
        arc, spans = arcs[at], sorted(spans)
        total = joint[arc.label].sum() - counts[arc.label]
        for low, high, times in spans:
            assert arc.start - 1e-9 <= low <= high <= arc.ribbons_end + 1e-9
            assert high - low == pytest.approx((arc.ribbons_end - arc.start) * times / total)
        for (_, high, _), (low, _, _) in pairwise(spans):
            assert high <= low + 1e-9  # no two ribbons overlap
        if len(ribbons) == n_pairs and spans:  # they fill the part with company
            assert spans[-1][1] == pytest.approx(arc.ribbons_end)


@given(label_matrices(min_instances=1, max_labels=6), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(Y, random):
    rows = list(range(Y.shape[0]))
    random.shuffle(rows)
    one, other = chord_layout(Y), chord_layout(Y[rows])
    assert [arc.label for arc in one.arcs] == [arc.label for arc in other.arcs]
    np.testing.assert_allclose(
        [r.source_start for r in one.ribbons], [r.source_start for r in other.ribbons]
    )


def test_of_many_labels_the_difficult_ones_and_their_partners_are_drawn():
    data = scumble.load("debtags")
    layout = chord_layout(data)
    hardest = scumble.measures.difficult_labels(data, n_labels=12)
    assert [a.label for a in layout.arcs if a.is_minority] == [d.label for d in hardest]
    partners = {a.label for a in layout.arcs if not a.is_minority}
    assert len(partners) <= 12
    assert partners <= {p.label for label in hardest for p in label.partners}
    assert layout.n_labels_left_out == layout.n_labels - len(layout.arcs)
    assert f"{len(layout.arcs)} of {layout.n_labels} labels: the 12 most difficult" in layout.note
    few = chord_layout(data, n_labels=2, n_partners=3, max_ribbons=4)
    assert sum(a.is_minority for a in few.arcs) == 2
    assert len(few.ribbons) <= 4


def test_equally_frequent_labels_are_drawn_too():
    layout = chord_layout(np.eye(40, dtype=int))
    assert len(layout.arcs) == 12
    assert not layout.ribbons
    assert layout.note == "12 of 40 labels."


def test_names_keep_apart_and_stay_near():
    # One label in a hundred instances, thirty in one: their names need more room than their arcs.
    Y = np.zeros((100, 30), int)
    Y[:, 0] = 1
    Y[np.arange(29), np.arange(1, 30)] = 1
    layout = chord_layout(Y)
    angles = [arc.name_angle for arc in layout.arcs]
    assert np.diff(angles).min() >= NAME_STEP - 1e-9
    assert angles[-1] - angles[0] <= 2 * math.pi - NAME_STEP + 1e-9
    middle = [(arc.start + arc.end) / 2 for arc in chord_layout(ROWS).arcs]
    assert [arc.name_angle for arc in chord_layout(ROWS).arcs] == pytest.approx(middle)


@pytest.mark.parametrize("n_labels", [100, 128, 129, 400])
def test_names_that_have_no_room_are_counted(n_labels):
    layout = chord_layout(np.eye(n_labels, dtype=int), list(range(n_labels)))
    angles = [arc.name_angle for arc in layout.arcs if arc.name_angle is not None]
    assert len(angles) == n_labels - layout.n_names_left_out
    assert np.diff(angles).min() >= NAME_STEP - 1e-9
    assert angles[-1] - angles[0] <= 2 * math.pi - NAME_STEP + 1e-9
    assert ("names there is no room" in layout.note) == (n_labels > 128)
    assert len(angles) == n_labels if n_labels <= 128 else 20 < len(angles) <= 128


def test_a_crowd_of_tiny_arcs_does_not_send_names_round_the_circle():
    Y = np.zeros((500, 100), int)
    Y[:, 0] = 1
    Y[np.arange(99), np.arange(1, 100)] = 1
    layout = chord_layout(Y, list(range(100)))
    named = [arc for arc in layout.arcs if arc.name_angle is not None]
    assert len(named) == 100 - layout.n_names_left_out
    assert 10 < len(named) < 60
    assert max(abs(arc.name_angle - (arc.start + arc.end) / 2) for arc in named) <= MAX_NAME_SHIFT
    assert layout.arcs[-1].name_angle is not None  # the longest arc


def test_awkward_data():
    nothing = chord_layout(np.zeros((3, 2), int))
    assert (nothing.arcs, nothing.ribbons) == ((), ())
    alone = chord_layout([[1], [1]])
    assert alone.arcs[0].end - alone.arcs[0].start == pytest.approx(2 * math.pi)
    assert chord_layout(ROWS, []).arcs == ()


def test_json_holds_the_same(datasets):
    data = scumble.read(datasets / "emotions" / "emotions.arff")
    layout = chord_layout(data, summary=scumble.characterize(data))
    plain = json.loads(json.dumps(layout.to_json(), allow_nan=False))
    assert ChordLayout.from_json(plain) == layout
    assert plain["note"] == "All 6 labels that occur."
    assert [arc["name"] for arc in plain["arcs"]] == [arc.name for arc in layout.arcs]
    assert plain["ribbons"][0]["joint_count"] == layout.ribbons[0].joint_count
    assert plain["scumble"] == pytest.approx(0.010952, abs=1e-6)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ParameterError, match="no label 'd'"):
        chord_layout(ROWS, ["d"])
    with pytest.raises(ParameterError, match=r"no label 7.*number from 0 to 2"):
        chord_layout(ROWS, [7])
    with pytest.raises(ParameterTypeError, match=r"names, their numbers, or a mask.*Got 1\.5"):
        chord_layout(ROWS, [1.5])
    with pytest.raises(ParameterError, match="'max_ribbons' parameter of chord_layout"):
        chord_layout(ROWS, max_ribbons=-1)
    with pytest.raises(ParameterError, match="does not contain which labels co-occur"):
        chord_layout(scumble.characterize(ROWS))


def test_places_move_apart_by_as_little_as_possible():
    assert spread_positions(np.array([1.0, 5.0, 5.0]), 2.0, 0.0, 10.0).tolist() == [1.0, 4.0, 6.0]
