"""Two parts: the rule for rare labels by hand, against all possible splits, and on odd input."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

import scumble
from scumble.data import Feature
from scumble.evaluate import cross_validate, run_fold, train_test_split
from scumble.evaluate.model_selection.train_test import (
    TrainTestAssignment,
    append_test_set,
    assign_train_test,
    target_label_counts,
)
from scumble.learn import MLkNN
from scumble.learn.texts import column_texts
from scumble.measures.stratification import assign_folds
from scumble.resample import MLROS
from tests.learn.test_texts import ticket_frame, tickets


def rows_of(*rows, n_labels):
    """Make labels of their numbers, row by row."""
    Y = np.zeros((len(rows), n_labels), bool)
    for row, labels in enumerate(rows):
        Y[row, list(labels)] = True
    return Y


def parted(Y, sides):
    """Tell which labels are on both sides, row by row and label by label."""
    on = [set(), set()]
    for row, side in enumerate(sides):
        on[side] |= {label for label in range(Y.shape[1]) if Y[row, label]}
    return on[0] & on[1]


def most_parted(Y):
    """Try all ways to deal the rows: how many labels can be on both sides at most?"""
    ways = itertools.product([0, 1], repeat=len(Y))
    return max(len(parted(Y, sides)) for sides in ways)


# By hand.


def test_what_the_sides_want_of_labels_by_hand():
    # Of eight rows two are for testing, a quarter. Label 0 has eight rows: 6 and 2. Label 1 has
    # two, of which half a row would be tested: one each. Label 2 has three: 0.75 is raised to 1.
    # The only row of label 3 is for training.
    Y = rows_of([0, 1], [0, 1], [0, 2], [0, 2], [0, 2], [0, 3], [0], [0], n_labels=4)
    assert target_label_counts(sparse.csr_array(Y), 2).tolist() == [[6, 2], [1, 1], [2, 1], [1, 0]]
    # Six of eight rows for testing: label 2 keeps one of its three for training, 0.75 before.
    assert target_label_counts(sparse.csr_array(Y), 6).tolist() == [[2, 6], [1, 1], [1, 2], [1, 0]]


@pytest.mark.parametrize("seed", range(20))
def test_a_label_with_two_rows_has_one_on_each_side(seed):
    Y = rows_of([0, 1], [0, 1], [0, 2], [0, 2], [0, 2], [0, 3], [0], [0], n_labels=4)
    train, test = train_test_split(
        scumble.MultilabelDataset(np.arange(8.0).reshape(-1, 1), Y), test_size=2, random_state=seed
    )
    assert train.Y.sum(axis=0).tolist() == [6, 1, 2, 1]
    assert test.Y.sum(axis=0).tolist() == [2, 1, 1, 0]


def test_a_chain_of_labels_is_turned_round_by_hand():
    # Labels 0, 1 and 2 tie rows 0-1, 1-2 and 2-3. Dealt from both ends, 1 and 2 are on one side;
    # moving either alone would take label 0 or label 2 from a side: 2 and 3 have to move.
    Y = sparse.csr_array(rows_of([0], [0, 1], [1, 2], [2], n_labels=3))
    sides = TrainTestAssignment(Y, np.array([0, 1, 1, 0]))
    sides.ensure_labels_on_both_sides()
    assert sides.sides.tolist() in ([0, 1, 0, 1], [1, 0, 1, 0])
    assert sides.counts.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_three_labels_of_three_rows_cannot_all_be_parted():
    Y = sparse.csr_array(rows_of([0, 1], [1, 2], [2, 0], n_labels=3))
    for start in itertools.product([0, 1], repeat=3):
        sides = TrainTestAssignment(Y, np.array(start))
        before = len(parted(Y.toarray(), start))
        sides.ensure_labels_on_both_sides()
        assert len(parted(Y.toarray(), sides.sides)) == max(before, 2)


# Against slow twins.


def slow_wanted_deal(Y, first_choice, order, wanted, wanted_rows):
    """Deal rows to two sides that want different numbers, one at a time."""
    wanted, rows, sides = wanted.copy(), list(wanted_rows), [-1] * len(Y)
    while any(sides[row] < 0 and Y[row].any() for row in order):
        left = [sum(Y[row, at] for row in order if sides[row] < 0) for at in range(Y.shape[1])]
        label = min((at for at in range(Y.shape[1]) if left[at]), key=lambda at: left[at])
        for place, row in enumerate(order):
            if Y[row, label] and sides[row] < 0:
                both = (first_choice[place], 1 - first_choice[place])
                best = max(both, key=lambda side: (wanted[label, side], rows[side]))
                sides[row] = best
                rows[best] -= 1
                for other in np.flatnonzero(Y[row]):
                    wanted[other, best] -= 1
    for place, row in enumerate(order):
        if sides[row] < 0:
            both = (first_choice[place], 1 - first_choice[place])
            sides[row] = max(both, key=lambda side: (rows[side], rows[side]))
            rows[sides[row]] -= 1
    return sides


tables = st.tuples(st.integers(2, 9), st.integers(1, 5)).flatmap(
    lambda shape: arrays(bool, shape, elements=st.sampled_from([True, False, False]))
)


@given(Y=tables, data=st.data())
def test_dealing_to_sides_that_want_different_numbers_equals_the_slow_version(Y, data):
    n_test = data.draw(st.integers(1, len(Y) - 1))
    seed = data.draw(st.integers(0, 99))
    wanted = target_label_counts(sparse.csr_array(Y), n_test)
    rows = np.array([len(Y) - n_test, n_test], float)
    found = assign_folds(sparse.csr_array(Y), 2, np.random.default_rng(seed), wanted, rows)
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(Y))
    first_choice = generator.integers(2, size=len(Y))
    assert found.tolist() == slow_wanted_deal(Y, first_choice, order, wanted, rows)


@settings(max_examples=60)
@given(Y=tables, seed=st.integers(0, 99), data=st.data())
def test_no_other_way_to_deal_brings_every_label_to_both_sides(Y, seed, data):
    n_test = data.draw(st.integers(1, len(Y) - 1))
    sides = assign_train_test(sparse.csr_array(Y), n_test, np.random.default_rng(seed))
    several = int((Y.sum(axis=0) >= 2).sum())
    found, best = len(parted(Y, sides)), most_parted(Y)
    assert found <= best
    if best == several:  # a split exists that parts all labels that can be: ours does
        assert found == several
    # The sizes are those that were asked for, unless labels need the rows where they are.
    if int(sides.sum()) != n_test:
        side = int(sides.sum() > n_test)
        for row in np.flatnonzero(sides == side):
            moved = sides.copy()
            moved[row] = 1 - side
            assert len(parted(Y, moved)) < found
    again = assign_train_test(sparse.csr_array(Y), n_test, np.random.default_rng(seed))
    assert again.tolist() == sides.tolist()


@settings(max_examples=40)
@given(
    pairs=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=10),
    seed=st.integers(0, 99),
)
def test_labels_of_two_rows_are_parted_exactly_where_they_can_be(pairs, seed):
    # Labels are edges and rows their ends: without a circle of odd length all can be parted.
    pairs = [pair for pair in pairs if pair[0] != pair[1]]
    Y = np.zeros((9, max(len(pairs), 1)), bool)
    for label, pair in enumerate(pairs):
        Y[list(pair), label] = True
    sides = TrainTestAssignment(
        sparse.csr_array(Y), np.random.default_rng(seed).integers(2, size=9)
    )
    before = len(parted(Y, sides.sides))
    sides.ensure_labels_on_both_sides()
    found = len(parted(Y, sides.sides))
    assert found >= before
    if most_parted(Y) == len(pairs):
        assert found == len(pairs)


# On data.


@pytest.mark.parametrize("test_size", [0.1, 0.25, 0.5, 0.8, 7])
def test_shares_sizes_and_rare_labels(test_size):
    data = scumble.make_multilabel(300, 12, mean_ir=30, scumble=0.2, random_state=3)
    train, test = train_test_split(data, test_size=test_size, random_state=1)
    n_test = test_size if test_size > 1 else int(np.ceil(300 * test_size))
    assert (len(train), len(test)) == (300 - n_test, n_test)
    counts, tested = data.Y.sum(axis=0), test.Y.sum(axis=0)
    assert counts.min() < 4
    assert (tested[counts >= 2] >= 1).all()
    assert (tested <= counts - 1).all()
    assert train.Y.sum(axis=0).tolist() == (counts - tested).tolist()
    expected = np.clip(counts * n_test / 300, 1, counts - 1)
    assert np.abs(tested - expected).max() <= max(2, 0.05 * counts.max())
    rows = np.concatenate([train.X, test.X])
    assert sorted(map(tuple, rows.tolist())) == sorted(map(tuple, data.X.tolist()))


def test_chance_loses_what_the_rule_keeps():
    data = scumble.make_multilabel(300, 12, mean_ir=30, scumble=0.2, random_state=3)
    lost = [
        int((data.Y[np.random.default_rng(seed).permutation(300)[:60]].sum(axis=0) == 0).sum())
        for seed in range(20)
    ]
    ours = [
        int((train_test_split(data, test_size=0.2, random_state=seed)[1].Y.sum(axis=0) == 0).sum())
        for seed in range(20)
    ]
    assert ours == [0] * 20
    assert np.mean(lost) > 1


@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        sparse.csr_matrix,
        sparse.coo_array,
        pd.DataFrame,
        pl.DataFrame,
        np.ndarray.tolist,
    ],
)
def test_features_and_labels_come_back_as_they_were(form):
    X, Y = np.arange(40.0).reshape(20, 2), (np.arange(60).reshape(20, 3) % 3 == 0).astype(int)
    Y[[3, 7], 1] = 1
    parts = train_test_split(form(X), form(Y), test_size=5, random_state=0)
    assert [type(part) for part in parts] == [type(form(X))] * 2 + [type(form(Y))] * 2
    X_train, X_test, Y_train, Y_test = (
        part.toarray() if sparse.issparse(part) else np.asarray(part) for part in parts
    )
    assert (len(X_train), len(X_test)) == (15, 5)
    for part, labels in ((X_train, Y_train), (X_test, Y_test)):
        np.testing.assert_array_equal(Y[(part[:, 0] / 2).astype(int)], labels)
    assert Y_train[:, 1].sum() == Y_test[:, 1].sum() == 1
    train, _ = train_test_split(
        scumble.MultilabelDataset(X, Y, weights=X[:, 0]), test_size=5, random_state=0
    )
    np.testing.assert_array_equal(train.X, X_train)
    np.testing.assert_array_equal(train.weights, X_train[:, 0])


def test_texts_and_lists_of_labels():
    texts = [f"text {row}" for row in range(12)]
    tags = [["common", "rare"] if row in (2, 9) else ["common"] for row in range(12)]
    a, b, c, d = train_test_split(texts, tags, test_size=3, random_state=0)
    assert (len(a), len(b)) == (9, 3)
    assert [tags[texts.index(text)] for text in a + b] == c + d
    assert sum("rare" in one for one in d) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"test_size": 0}, "'test_size' parameter of train_test_split must be a number in"),
        ({"test_size": 1.0}, "Got 1.0 instead"),
        ({"test_size": "half"}, "Got 'half'"),
        ({"test_size": 40}, "40 of 40 rows for testing leave 0 for training"),
        ({"random_state": -1}, "random_state"),
        ({"Y": np.ones((3, 2))}, "equally many rows"),
    ],
)
def test_bad_calls(given, message):
    X, Y = np.zeros((40, 1)), np.ones((40, 2), int)
    with pytest.raises(scumble.ScumbleError, match=message):
        train_test_split(X, **{"Y": Y} | given)
    with pytest.raises(scumble.ScumbleError, match="there are no labels to split by"):
        train_test_split(X)


def test_resampled_data_is_warned_of():
    data = scumble.make_multilabel(100, 6, mean_ir=5, scumble=0.1, random_state=0)
    with pytest.warns(scumble.ScumbleWarning, match="has been resampled"):
        train_test_split(MLROS(percent=20, random_state=0).resample(data), random_state=0)


# A test part instead of folds.


def test_one_fold_on_a_test_part_is_that_fold():
    data = scumble.make_multilabel(120, 6, mean_ir=5, scumble=0.1, random_state=0)
    train, test = train_test_split(data, random_state=0)
    found = cross_validate(train, "mlknn", "mlros", test=test, random_state=3)
    rows = np.arange(len(data))
    expected = cross_validate(
        train + test, "mlknn", "mlros", splitter=[(rows[: len(train)], rows[len(train) :])],
        random_state=3,
    )  # fmt: skip
    assert dict(found.folds[0].evaluation) == pytest.approx(
        dict(expected.folds[0].evaluation), nan_ok=True
    )
    direct = run_fold(train, test, MLkNN())
    plain = cross_validate(train, MLkNN(), test=test, random_state=3)
    assert plain["macro_f1"].mean == direct.evaluation["macro_f1"]
    assert np.isnan(plain["macro_f1"].sd)
    assert repr(plain).startswith("<CrossValidation of 'synthetic': a test part, ")


def test_tables_read_by_themselves_meet_by_names():
    train = scumble.MultilabelDataset.from_frame(
        pd.DataFrame({"n": [1.0, 2.0, 3.0, 4.0], "c": list("abab"), "y": [0, 1, 0, 1],
                      "z": [1, 0, 0, 1]}),
        label_columns=["y", "z"], name="train",
    )  # fmt: skip
    test = scumble.MultilabelDataset.from_frame(
        pd.DataFrame(
            {"z": [1, 0], "c": ["c", "b"], "y": [0, 1], "n": [9.0, 8.0], "id": [1.0, 2.0]}
        ),
        label_columns=["z", "y"],
    )
    with pytest.warns(scumble.ScumbleWarning, match="'c' in 1 of 2 rows, such as 'c' in row 0"):
        both, (_, tested) = append_test_set(train, test, caller="example")
    assert both.features == train.features
    np.testing.assert_equal(both.X[tested], [[9, np.nan], [8, 1]])
    assert both.Y[tested].toarray().astype(int).tolist() == [[0, 1], [1, 0]]
    assert (both.name, both.labels) == ("train", ("y", "z"))
    with pytest.warns(scumble.ScumbleWarning, match="training has not seen count as missing"):
        assert cross_validate(train, "br", test=test, random_state=0).folds[0].n_test == 2


def test_texts_of_a_test_part_that_was_read_by_itself_are_judged_as_rows_of_one_table():
    whole = tickets(120)
    parts = [ticket_frame(120)[:80], ticket_frame(120)[80:]]
    how = {"label_columns": "tags", "label_separator": ";", "text": "subject"}
    train, test = (scumble.MultilabelDataset.from_frame(part, **how) for part in parts)
    found = cross_validate(train, "br", test=test, random_state=0).folds[0]
    folds = [(np.arange(80), np.arange(80, 120))]
    twin = cross_validate(whole, "br", splitter=folds, random_state=0).folds[0]
    assert dict(found.evaluation) == pytest.approx(dict(twin.evaluation), nan_ok=True)
    back = append_test_set(train, test, caller="example")[0]
    assert column_texts(back, "subject") == list(ticket_frame(120)["subject"])
    wide = replace(test, X=sparse.csr_array(test.X))
    assert column_texts(append_test_set(train, wide, caller="example")[0], "subject")[80:] == list(
        parts[1]["subject"]
    )


def test_labels_that_no_row_of_a_test_part_has():
    train = scumble.MultilabelDataset([[0.0], [1], [2]], [["a", "b"], ["b", "c"], ["a"]])
    test = scumble.MultilabelDataset([[0.0], [1]], [["c"], ["b", "c"]])
    with pytest.warns(scumble.ScumbleWarning, match="1 of the 3 labels of the training part: 'a'"):
        both, (_, rows) = append_test_set(train, test, caller="example")
    assert both.labels == ("a", "b", "c")
    assert both.Y[rows].toarray().astype(int).tolist() == [[0, 0, 1], [0, 1, 1]]
    column = replace(test, features=(Feature("a"),))  # a label of training is a feature here
    with pytest.raises(scumble.ScumbleError, match="a label 'a' that the test part has as a"):
        append_test_set(replace(train, features=(Feature("a"),)), column, caller="example")


def test_labels_that_only_rows_of_a_test_part_have_are_missed():
    X = np.arange(12.0).reshape(-1, 1)
    train = scumble.MultilabelDataset(X, [["low"]] * 6 + [["high"]] * 6)
    test = scumble.MultilabelDataset(X[[0, 11]], [["low", "new"], ["high"]])
    told = "no row of the training part has 1 of the 3 labels of the test part: 'new'"
    with pytest.warns(scumble.ScumbleWarning, match=told):
        both, (rows, tested) = append_test_set(train, test, caller="example")
    assert both.labels == ("high", "low", "new")
    assert both.Y[tested].toarray().astype(int).tolist() == [[0, 1, 1], [1, 0, 0]]
    assert both.Y[rows].sum(axis=0).tolist() == [6, 6, 0]
    with pytest.warns(scumble.ScumbleWarning, match=told):
        found = cross_validate(train, "br", test=test, random_state=0)
    assert found["macro_f1"].mean == pytest.approx(2 / 3)
    assert found["micro_recall"].mean == pytest.approx(2 / 3)
    assert found["never_predicted"].mean == pytest.approx(1 / 3)
    empty = scumble.MultilabelDataset(X[:2], [[1, 0, 0], [0, 1, 0]], labels=["low", "high", "new"])
    assert append_test_set(train, empty, caller="example")[0].labels == train.labels
    feature = replace(train, features=(Feature("new"),))
    with pytest.raises(
        scumble.ScumbleError, match="a label 'new' that the training part has as a feature"
    ):
        append_test_set(feature, replace(test, features=(Feature("new"),)), caller="example")


def test_labels_of_a_test_part_alone_are_at_the_top_of_a_hierarchy():
    train = scumble.MultilabelDataset(
        [[0.0], [1]], [[1, 1], [1, 0]], labels=["a", "b"], label_parents=[-1, 0]
    )
    test = scumble.MultilabelDataset([[0.0]], [["a", "c"]])
    with pytest.warns(scumble.ScumbleWarning):
        assert append_test_set(train, test, caller="x")[0].label_parents == (-1, 0, -1)


def test_test_parts_that_do_not_fit():
    data = scumble.make_multilabel(60, 4, cardinality=1.5, mean_ir=2, scumble=None, random_state=0)
    other = replace(data[:5], labels=("a", "b", "c", "d"))
    message = "the training part has 'y0', 'y1', 'y2', ... as labels, the test part 'a', 'b', 'c', "
    with pytest.raises(scumble.ScumbleError, match=f"cross_validate: {message}"):
        cross_validate(data, "br", test=other)
    with pytest.raises(scumble.ScumbleError, match=f"compare: {message}"):
        scumble.evaluate.compare(data, test=other)
    fewer = scumble.MultilabelDataset(data.X[:, :2], data.Y)
    with pytest.raises(scumble.ScumbleError, match="lacks 18 of the 20 columns"):
        cross_validate(data, "br", test=fewer)
    with pytest.raises(scumble.ScumbleError, match=r"a 'test' part or a 'splitter'\. Got both"):
        cross_validate(data, "br", test=data[:5], splitter=3)
    with pytest.raises(TypeError, match="'test' parameter of cross_validate must be"):
        cross_validate(data, "br", test=data.X)
