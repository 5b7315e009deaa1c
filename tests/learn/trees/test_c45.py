"""C45Classifier: an example worked by hand, the slow version's answers, edges and refusals."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from scumble._core.errors import (
    DataError,
    LabelError,
    ParameterError,
    ParameterTypeError,
    ScumbleError,
)
from scumble.learn import BinaryRelevance, C45Classifier, export_text
from scumble.plots import plot_tree
from tests.learn.trees.slow_c45 import SlowC45


@pytest.mark.parametrize("prune", [True, False])
def test_a_tree_worked_by_hand(prune):
    # Ten rows, one column, five of each class: (0 x 4, 1 x 1 | 1 x 4, 0 x 1).
    # With two classes minSplit is max(2, 0.1 * 10 / 2) = 2. Cut after the fourth row: left pure.
    X = np.arange(1.0, 11.0).reshape(-1, 1)
    y = [0, 0, 0, 0, 1, 1, 1, 1, 0, 1]
    tree = C45Classifier(prune=prune).fit(X, y)

    # Gain of 4 | 6: 1 - 0.6 * H(1/6) = 0.61; after the fifth row 0.278; later ones are less.
    assert tree.tree_.cut[0] == 4.0
    assert tree.tree_.counts[0].tolist() == [5, 5]
    # Right side 1 1 1 1 0 1: the cuts 2|4 .. 4|2 gain at most 0.109 < log2(3)/6 bits: a leaf.
    assert (tree.n_leaves_, tree.n_nodes_) == (2, 3)
    assert tree.predict_proba([[4.0], [4.1]]).tolist() == [[1.0, 0.0], [1 / 6, 5 / 6]]
    assert tree.predict([[0], [100]]).tolist() == [0, 1]
    assert tree.feature_importances_.tolist() == [1.0]
    assert tree.decision_path([[1.0], [9.0]]).toarray().tolist() == [
        [True, True, False],
        [True, False, True],
    ]


def test_a_nominal_column_branches_once_per_declared_value():
    X = [[0], [0], [0], [2], [2], [2]]
    tree = C45Classifier(categorical_features={0: 4}).fit(X, list("aaabbb"))

    assert (tree.n_leaves_, tree.n_nodes_) == (4, 5)
    # A value no row had answers like its parent: half and half, the first class.
    assert tree.predict_proba([[1]]).tolist() == [[0.5, 0.5]]
    assert tree.predict([[1], [2]]).tolist() == ["a", "b"]
    assert "x0 = 1: a (0.0)" in export_text(tree)


def test_a_missing_value_goes_down_every_branch_in_proportion():
    X = [[1.0], [1.0], [1.0], [2.0], [2.0], [np.nan]]
    tree = C45Classifier(prune=False).fit(X, [0, 0, 0, 1, 1, 1])

    # Known weights 3 and 2: the lost row counts 0.6 on the left and 0.4 on the right.
    assert tree.tree_.counts[1:].tolist() == [[3.0, 0.6], [0.0, 2.4]]
    np.testing.assert_allclose(tree.predict_proba([[np.nan]]), [[0.5, 0.5]])
    assert tree.decision_path([[np.nan]]).toarray().tolist() == [[True, True, True]]


@st.composite
def problems(draw):
    n = draw(st.integers(1, 40))
    m = draw(st.integers(1, 4))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n_values = np.array([draw(st.sampled_from([0, 0, 2, 3, 5])) for _ in range(m)])
    columns = [
        rng.integers(0, v, n) if v else np.round(rng.normal(size=n), draw(st.integers(0, 6)))
        for v in n_values
    ]
    X = np.column_stack(columns).astype(float)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.0, 0.1, 0.5]))] = np.nan
    n_classes = draw(st.integers(2, 4))
    y = rng.integers(0, n_classes, n)
    weights = draw(st.sampled_from(["none", "whole", "fraction"]))
    w = {"none": None, "whole": rng.integers(1, 4, n), "fraction": rng.random(n) + 0.1}[weights]
    options = {
        "prune": draw(st.booleans()),
        "subtree_raising": draw(st.booleans()),
        "mdl": draw(st.booleans()),
        "laplace": draw(st.booleans()),
        "min_objects": draw(st.integers(1, 4)),
        "confidence": draw(st.sampled_from([0.05, 0.25, 0.5])),
    }
    return X, y, w, n_values, options


@settings(max_examples=300)
@given(problems())
def test_the_fast_tree_is_the_slow_one_dense_or_sparse(problem):
    X, y, w, n_values, options = problem
    classes, codes = np.unique(y, return_inverse=True)
    slow = SlowC45(n_values.tolist(), len(classes), **options)
    slow.fit(X.tolist(), codes.tolist(), None if w is None else w.astype(float).tolist())
    categorical = {int(c): int(n_values[c]) for c in np.flatnonzero(n_values)}
    fast = C45Classifier(**options, categorical_features=categorical).fit(X, y, w)

    assert (fast.n_leaves_, fast.n_nodes_) == (slow.n_leaves, slow.n_nodes)
    np.testing.assert_allclose(fast.predict_proba(X), slow.predict_proba(X.tolist()), atol=1e-9)
    again = clone(fast).fit(sparse.csr_matrix(X), y, w)
    assert export_text(again) == export_text(fast)
    np.testing.assert_array_equal(again.predict_proba(X), fast.predict_proba(sparse.csr_array(X)))


def test_frames_bring_names_and_categories():
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical(list("rrrggg"), categories=["r", "g", "b"]),
            "size": [1.0, 2.0, 3.0, 4.0, np.nan, 6.0],
            "kind": ["old", "new", "old", "new", None, "new"],
        }
    )
    y = [0, 0, 0, 1, 1, 1]
    tree = C45Classifier().fit(frame, y)
    assert "colour = b: 0 (0.0)" in export_text(tree)
    assert tree.n_values_.tolist() == [3, 0, 2]
    assert tree.predict(frame).tolist() == y

    other = pl.DataFrame({"colour": list("rrrggg"), "size": [1.0, 2, 3, 4, None, 6]})
    assert C45Classifier().fit(other, y).predict(other).tolist() == y


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_fewer_rows_than_two_branches_need_make_a_leaf(n_rows):
    X = np.arange(float(n_rows)).reshape(-1, 1)
    tree = C45Classifier().fit(X, np.arange(n_rows))
    assert (tree.n_leaves_, tree.n_nodes_) == (1, 1)
    np.testing.assert_allclose(tree.predict_proba(X), 1 / n_rows)


def test_one_class_constant_columns_and_columns_without_values_make_a_leaf():
    assert C45Classifier().fit([[1], [2], [3], [4]], [7] * 4).predict([[9]]).tolist() == [7]
    X = np.column_stack([np.full(6, 3.0), np.full(6, np.nan), np.zeros(6)])
    for form in (X, sparse.csr_array(X)):
        tree = C45Classifier(categorical_features=[2]).fit(form, [0, 1] * 3)
        assert tree.n_nodes_ == 1
        assert export_text(tree).splitlines()[2] == ": 0 (6.0/3.0)"


@pytest.mark.parametrize(
    "values",
    [
        [-1.7e308, -1.6e308, 1.6e308, 1.7e308],
        [5e-324, 1e-323, 1.0, 2.0],
        [-0.0, 0.0, 1e-4, 2e-4],
        [1e16, 1e16 + 2, 2e16, 2e16 + 4],
    ],
)
def test_huge_and_tiny_values_are_cut_where_the_classes_change(values):
    X = np.array(values).reshape(-1, 1)
    tree = C45Classifier(prune=False).fit(X, [0, 0, 1, 1])
    assert tree.tree_.cut[0] == values[1]
    assert tree.predict(X).tolist() == [0, 0, 1, 1]


def test_values_closer_than_the_gap_are_not_cut_apart():
    X = np.array([0.0, 1e-6, 2e-6, 3e-6]).reshape(-1, 1)
    assert C45Classifier().fit(X, [0, 0, 1, 1]).n_nodes_ == 1


def test_rows_of_weight_zero_are_left_out():
    X, y = [[1.0], [2.0], [3.0], [4.0], [9.0]], [0, 0, 1, 1, 0]
    tree = C45Classifier().fit(X, y, [1, 1, 1, 1, 0])
    assert export_text(tree) == export_text(C45Classifier().fit(X[:4], y[:4]))


def test_a_row_of_weight_k_is_not_k_rows():
    # Rows are counted, as in J48: four are wanted for a cut with two on either side, ...
    numbers = [[1.0], [2.0], [3.0]], [0, 0, 1], [2, 2, 4]
    # ... and columns with at least 0.3 times as many values as rows are no part of the mean gain:
    # the three values of column 1 are too many for eight rows, and few for sixteen.
    codes = [[0, 0], [1, 2], [1, 1], [1, 0], [0, 2], [0, 0], [0, 1], [0, 2]]
    nominal = codes, [0, 1, 0, 0, 0, 1, 1, 1], [2] * 8
    found = []
    for (X, y, weights), kinds in ((numbers, None), (nominal, {0: 2, 1: 3})):
        tree = C45Classifier(prune=False, categorical_features=kinds)
        weighted = tree.fit(X, y, sample_weight=weights).tree_.feature[0]
        copied = tree.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).tree_.feature[0]
        found.append((int(weighted), int(copied)))

    assert found == [(-1, 0), (0, 1)]


def test_pickling_and_cloning():
    X = np.random.default_rng(0).normal(size=(60, 3))
    tree = C45Classifier(min_objects=3).fit(X, X[:, 1] > 0.2)
    back = pickle.loads(pickle.dumps(tree))
    assert export_text(back) == export_text(tree)
    np.testing.assert_array_equal(back.predict_proba(X), tree.predict_proba(X))
    assert clone(tree).get_params() == tree.get_params()


REFUSALS = [
    ({"confidence": 0.6}, [[1.0], [2.0]], [0, 1], None, ParameterError, "confidence"),
    ({"min_objects": 0}, [[1.0], [2.0]], [0, 1], None, ParameterError, "min_objects"),
    ({"prune": "no"}, [[1.0], [2.0]], [0, 1], None, ParameterError, "'prune'"),
    ({}, [["a"], [2.0]], [0, 1], None, DataError, "Expected values of one type"),
    ({}, [[1.0], [2.0]], [0, 1], [1, -1], DataError, "weight of row 1 is -1"),
    ({}, [[1.0], [2.0]], [0, 1], [0, 0], DataError, "weights are zero"),
    ({}, [[1.0], [2.0]], [0.5, 1.7], None, LabelError, "continuous"),
    ({}, [[1.0], [2.0]], [0, 1, 1], None, LabelError, "inconsistent numbers"),
    ({}, [[1.0], [2.0]], [0.0, np.inf], None, LabelError, "infinity"),
    ({}, [[1.0], [2.0]], [0.0, np.nan], None, LabelError, "NaN"),
    ({}, [[1.0], [2.0]], [[0, 1], [1, 0]], None, LabelError, "one class per row"),
    ({}, [[1.0], [2.0]], ["a", None], None, LabelError, "class"),
    ({}, [[1.0], [2.0]], [0, 1], ["a", "b"], DataError, "must hold numbers"),
    ({}, [[np.inf], [2.0]], [0, 1], None, DataError, "infinity"),
    ({}, [[1j], [2.0]], [0, 1], None, ParameterTypeError, "complex"),
    ({}, [1.0, 2.0], [0, 1], None, DataError, "2D array"),
    ({"categorical_features": {0: 2}}, [[1.0], [2.0]], [0, 1], None, DataError, "holds 2 in row 1"),
    ({"categorical_features": [0]}, [[1.0], [0.5]], [0, 1], None, DataError, "holds 0.5 in row 1"),
    ({"categorical_features": [0]}, [[1.0], [-1]], [0, 1], None, DataError, "holds -1 in row 1"),
    ({"categorical_features": [3]}, [[1.0], [1]], [0, 1], None, ParameterError, "column 3"),
]


@pytest.mark.parametrize(("options", "X", "y", "weights", "error", "message"), REFUSALS)
def test_refusals_say_what_is_wrong(options, X, y, weights, error, message):
    with pytest.raises(error, match=message) as caught:
        C45Classifier(**options).fit(X, y, weights)
    assert isinstance(caught.value, ScumbleError)


def test_infinity_and_unknown_codes_are_refused_when_predicting():
    tree = C45Classifier(categorical_features=[0]).fit([[0], [0], [1], [1]], [0, 0, 1, 1])
    with pytest.raises(DataError, match="holds 2 in row 0"):
        tree.predict([[2]])
    with pytest.raises(DataError, match="infinity"):
        tree.predict([[np.inf]])


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_path"])
def test_other_columns_than_those_of_fitting_are_refused(method):
    tree = C45Classifier().fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])
    with pytest.raises(DataError, match="X has 3 features, but C45Classifier is expecting 2"):
        getattr(tree, method)([[1.0, 2.0, 3.0]])
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 1.0]})
    tree = C45Classifier().fit(frame, [0, 1])
    with pytest.raises(DataError, match=r"(?s)feature names should match.*in their order"):
        getattr(tree, method)(frame.rename(columns={"b": "c"}))


@parametrize_with_checks(
    [
        C45Classifier(),
        C45Classifier(prune=False, laplace=True),
        C45Classifier(class_weight="balanced"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("weight", [1e-8, 1e308])
def test_weights_that_vanish_or_overflow_in_sum_are_refused(weight):
    X, y = np.arange(10.0).reshape(-1, 1), np.arange(10) > 4
    with np.errstate(over="ignore"), pytest.raises(DataError, match="sample weights sum to"):
        C45Classifier().fit(X, y, sample_weight=np.full(10, weight))


def test_memory_does_not_grow_with_the_weights():
    X, y = np.arange(100.0).reshape(-1, 1), np.arange(100) > 49
    tree = C45Classifier().fit(X, y, sample_weight=np.full(100, 1e15))
    assert tree.tree_.cut[0] == 49.0
    assert tree.tree_.counts.tolist() == [[5e16, 5e16], [5e16, 0], [0, 5e16]]


@pytest.mark.parametrize("show", [export_text, plot_tree])
def test_only_trees_are_shown_as_trees(show):
    several = BinaryRelevance().fit([[1.0], [2.0]], [[0, 1], [1, 0]])
    with pytest.raises(ScumbleError, match=r"must be a fitted C45Classifier\. Got BinaryRel"):
        show(several)
