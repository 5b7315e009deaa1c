"""Many targets on one table: subsets, bootstraps, extra columns, threads."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse

from scumble._core.errors import DataError
from scumble.learn.trees.c45 import Target, TreeSettings, grow_trees, predict_trees, prepare_table
from scumble.learn.trees.c45.growing import TargetBatch, grow_tree_batch

FIELDS = ("feature", "cut", "first", "width", "branch", "empty", "counts")


def assert_same(one, other):
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field), err_msg=field)


def draw(seed, n=60, kind="mixed", gaps=False):
    rng = np.random.default_rng(seed)
    numbers = np.round(rng.normal(size=(n, 3)), 1) * (rng.random((n, 3)) < 0.6)
    codes = rng.integers(0, 3, (n, 3)) * (rng.random((n, 3)) < 0.5)
    bits = (rng.random((n, 4)) < 0.3).astype(float)
    X = {"numeric": numbers, "nominal": bits, "mixed": np.hstack([numbers, codes, bits])}[kind]
    n_values = {"numeric": [0] * 3, "nominal": [2] * 4, "mixed": [0] * 3 + [3] * 3 + [2] * 4}[kind]
    if gaps:
        X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    score = np.nansum(X[:, [0, -1]], axis=1) + rng.normal(size=n) * 0.4
    return rng, X.astype(float), np.array(n_values), score


@pytest.mark.parametrize("kind", ["numeric", "nominal", "mixed"])
@settings(max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_a_subset_of_rows_is_a_table_of_its_own(kind, seed):
    rng, X, n_values, score = draw(seed, kind=kind)
    y = (score > np.median(score)).astype(np.uint8)
    rows = np.sort(rng.choice(len(X), 35, replace=False))
    part = grow_trees(prepare_table(X, n_values), [Target(y[rows], rows=rows)])[0]
    alone = grow_trees(prepare_table(X[rows], n_values), [Target(y[rows])])[0]
    assert_same(part, alone)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_repeats_are_rows_that_occur_several_times(gaps, n_classes, seed):
    rng, X, n_values, score = draw(seed, gaps=gaps)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    rows, repeats = np.unique(rng.integers(0, len(X), len(X)), return_counts=True)
    bag = Target(y[rows], n_classes, rows=rows, repeats=repeats)
    drawn = np.repeat(rows, repeats)
    one = grow_trees(prepare_table(X, n_values), [bag])[0]
    other = grow_trees(prepare_table(X[drawn], n_values), [Target(y[drawn], n_classes)])[0]
    assert one.feature.tolist() == other.feature.tolist()
    np.testing.assert_array_equal(one.cut, other.cut)
    np.testing.assert_allclose(one.counts, other.counts, atol=1e-9)


@pytest.mark.parametrize("kind", ["numeric", "nominal", "mixed"])
@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_extra_columns_are_nominal_columns_at_the_end(kind, seed):
    rng, X, n_values, score = draw(seed, kind=kind)
    Y = rng.random((len(X), 4)) < 0.4
    y = ((score > 0) ^ Y[:, 2]).astype(np.uint8)
    chosen = np.array([2, 0])
    table = prepare_table(X, n_values, extra=sparse.csr_array(Y))
    beside = grow_trees(table, [Target(y, extra=chosen), Target(y)])
    wide = prepare_table(np.hstack([X, Y[:, [0, 2]]]), np.append(n_values, [2, 2]))
    joined = grow_trees(wide, [Target(y)])[0]
    column = np.append(np.arange(X.shape[1]), X.shape[1] + np.array([0, 2]))
    expected = np.where(joined.feature < 0, -1, column[joined.feature])
    assert beside[0].feature.tolist() == expected.tolist()
    np.testing.assert_array_equal(beside[0].counts, joined.counts)
    assert_same(beside[1], grow_trees(prepare_table(X, n_values), [Target(y)])[0])

    asked = predict_trees(beside, X, extra=sparse.csr_array(Y), positive_only=True)
    np.testing.assert_array_equal(
        asked[:, :1], predict_trees([joined], np.hstack([X, Y[:, [0, 2]]]), positive_only=True)
    )


@pytest.mark.parametrize("gaps", [False, True])
def test_threads_and_storage_change_nothing(gaps):
    _, X, n_values, score = draw(3, n=400, gaps=gaps)
    targets = [Target((score > cut).astype(np.uint8)) for cut in np.linspace(-1, 1, 9)]
    forms = [
        grow_trees(prepare_table(form, n_values, n_jobs=jobs), targets, n_jobs=jobs)
        for form in (X, sparse.csr_array(X))
        for jobs in (1, 2, 5)
    ]
    answers = [predict_trees(trees, X, n_jobs=jobs + 1) for jobs, trees in enumerate(forms)]
    for trees, answer in zip(forms, answers, strict=True):
        for one, other in zip(trees, forms[0], strict=True):
            assert_same(one, other)
        np.testing.assert_array_equal(answer, answers[0])


@pytest.mark.parametrize("n_classes", [2, 3, 9])
@pytest.mark.parametrize("subset", [False, True])
@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), prune=st.booleans(), mdl=st.booleans())
def test_counting_and_the_general_way_grow_the_same_tree(n_classes, subset, seed, prune, mdl):
    rng, X, n_values, score = draw(seed, n=90)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    rows = np.sort(rng.choice(len(X), 70, replace=False)) if subset else np.arange(len(X))
    rules = TreeSettings(prune=prune, mdl=mdl)
    table = prepare_table(X, n_values)
    listed = rows if subset else None
    counted = grow_trees(table, [Target(y[rows], n_classes, rows=listed)], rules)[0]
    weighed = Target(y[rows], n_classes, rows=listed, weights=np.full(len(rows), 1.0))
    weighed = grow_trees(table, [weighed], rules)[0]
    for field in ("feature", "cut", "first", "width", "empty", "counts"):
        np.testing.assert_array_equal(getattr(counted, field), getattr(weighed, field))


def test_listed_targets_grow_as_single_ones():
    rng, X, n_values, score = draw(8, n=120)
    targets = []
    for size in (1, 5, 40, 120, 70):
        rows = np.sort(rng.choice(len(X), size, replace=False))
        targets.append(Target((score[rows] > 0.2).astype(int), rows=rows))
    table = prepare_table(X, n_values)
    starts = np.cumsum([0, *(len(target.y) for target in targets)])
    rows, y = (np.concatenate([getattr(t, name) for t in targets]) for name in ("rows", "y"))
    nodes = grow_tree_batch(table, TargetBatch(starts, rows, y), TreeSettings())
    trees = grow_trees(table, targets)
    assert nodes.sizes.tolist() == [tree.n_nodes for tree in trees]
    assert nodes.sizes.max() > 1
    for field in FIELDS:
        joined = np.concatenate([getattr(tree, field) for tree in trees])
        np.testing.assert_array_equal(getattr(nodes, field), joined)


def draw_numbers(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 1] = np.round(X[:, 1], 2)
    X[:, 2] *= 1e-5  # many values too close to be cut apart
    X[:, 3] *= rng.random(n) < 0.5
    score = X[:, 0] + X[:, 1] + 1e5 * X[:, 2] + X[:, 3] + rng.normal(size=n)
    return rng, X, (score > 0).astype(np.uint8)


@pytest.mark.parametrize("n", [40, 200, 900, 3_000, 20_000])
@pytest.mark.parametrize("mdl", [False, True])
def test_blocks_of_entries_hide_no_cut(n, mdl):
    _, X, y = draw_numbers(n, n)
    table = prepare_table(X, np.zeros(5, int))
    for target in (Target(y), Target((y + (X[:, 4] > 2)) % 2)):
        weighed = Target(target.y, weights=np.full(n, 1.0))  # every cut is looked at
        counted, general = grow_trees(table, [target, weighed], TreeSettings(mdl=mdl))
        assert counted.n_leaves > n**0.3
        assert_same(counted, general)


@pytest.mark.parametrize("most", [2, 15, 16])
@pytest.mark.parametrize("n", [40, 200, 900])
def test_rows_that_count_several_times_hide_no_cut(n, most):
    rng, X, y = draw_numbers(n, n)
    repeats = rng.integers(0, most + 1, n)
    drawn = np.repeat(np.arange(n), repeats)
    bag = grow_trees(prepare_table(X, np.zeros(5, int)), [Target(y, repeats=repeats)])[0]
    rows = grow_trees(prepare_table(X[drawn], np.zeros(5, int)), [Target(y[drawn])])[0]
    assert bag.n_leaves > n**0.3
    assert_same(bag, rows)


def hard_to_sort(rng, n):
    yield rng.normal(size=n)
    yield np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n))
    yield 1.6e9 + rng.integers(0, 1000, n)
    yield 1e15 + rng.integers(0, 9, n) / 8  # differ in their last bits alone
    yield np.where(rng.random(n) < 0.5, 1e300, 1 + 1e-12 * rng.integers(0, 1000, n))
    yield np.where(rng.random(n) < 0.5, -1e-310, rng.integers(0, 3, n) * 1e-310)
    yield np.where(rng.random(n) < 0.1, -np.finfo(float).max, rng.integers(-2, 3, n))
    yield np.full(n, np.nan)
    yield np.full(n, 3.5)


@pytest.mark.parametrize("n", [48, 49, 3_000])
def test_columns_are_sorted_and_equal_values_keep_their_order(n):
    for x in hard_to_sort(np.random.default_rng(n), n):
        columns = prepare_table(x[:, np.newaxis].astype(float), np.zeros(1, int)).columns
        rows = columns.entries[columns.starts[0] : columns.stops[0]] & np.uint64(0xFFFFFFFF)
        stored = np.flatnonzero(x != 0)
        assert rows.tolist() == stored[np.argsort(x[stored], kind="stable")].tolist()


def test_inputs_are_not_changed():
    _, X, n_values, score = draw(5)
    Y = sparse.csr_array(np.eye(len(X), 4, dtype=bool))
    X.flags.writeable = False
    before = X.copy()
    table = prepare_table(X, n_values, extra=Y)
    entries = table.columns.entries.copy()
    grow_trees(table, [Target((score > 0).astype(np.uint8), extra=np.arange(4))])
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(table.columns.entries, entries)


def test_a_target_without_rows_is_refused():
    table = prepare_table(np.ones((3, 1)), np.array([0]))
    with pytest.raises(DataError, match="at least one training row"):
        grow_trees(table, [Target(np.zeros(0, int), rows=np.zeros(0, int))])


def test_a_nominal_column_of_more_values_than_16_bits_hold():
    # Codes 65,536 apart would send their rows into one branch if they were cut to 16 bits; what
    # each branch does with the second column would then be learnt from the rows of both.
    codes = np.repeat([1.0, 65_537.0], 40)
    number = np.tile(np.arange(40.0), 2)
    y = np.where(codes == 1, number > 30, number > 5).astype(int)
    X = np.column_stack([codes, number])
    table = prepare_table(X, np.array([65_538, 0]))
    tree = grow_trees(table, [Target(y)], TreeSettings(min_objects=1, prune=False))[0]
    assert tree.feature[tree.feature >= 0].tolist() == [0, 1, 1]
    assert (predict_trees([tree], X, positive_only=True)[:, 0] == y).all()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (Target(np.array([0, 1, 2, 1])), "codes in 0..1"),
        (Target(np.array([0, -1, 0, 1])), "codes in 0..1"),
        (Target(np.array([0, 1]), rows=np.array([0, 4])), "in 0..3"),
        (Target(np.array([0, 1]), rows=np.array([-1, 2])), "in 0..3"),
        (Target(np.array([0, 1, 1])), "4 rows, 3 classes"),
    ],
)
def test_targets_that_name_what_is_not_there_are_refused(target, message):
    table = prepare_table(np.arange(4.0).reshape(-1, 1), np.array([0]))
    with pytest.raises(DataError, match=message):
        grow_trees(table, [target])
    with pytest.raises(DataError, match="min_objects=0"):
        grow_trees(table, [Target(np.array([0, 1, 1, 0]))], TreeSettings(min_objects=0))


@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_weights_beyond_the_table_of_logarithms_give_the_same_tree(scale, monkeypatch):
    rng, X, n_values, score = draw(5, n=200)
    weights = rng.integers(1, 9, 200) * scale
    table = prepare_table(X, n_values)
    target = Target((score > 0.4).astype(int), weights=weights)
    expected = grow_trees(table, [target])[0]
    monkeypatch.setattr("scumble.learn.trees.c45.growing._MAX_TABULATED", 1)
    found = grow_trees(prepare_table(X, n_values), [target])[0]
    assert expected.n_nodes > 5
    assert_same(found, expected)
