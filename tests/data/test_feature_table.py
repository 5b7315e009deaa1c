"""Ranges and values of features, dense and sparse alike."""

import numpy as np
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from scumble.data import Feature, MultilabelDataset
from scumble.data.feature_table import describe_features, feature_distribution, feature_table

VALUES = st.sampled_from([0.0, 0.0, 1.0, -2.5, 7.0, np.nan])


def table_of(X, features=None):
    return feature_table(MultilabelDataset(X, np.ones((X.shape[0], 1), bool), features=features))


def test_by_hand_with_gaps_and_codes():
    X = np.array([[1.0, 0.0, np.nan], [np.nan, 1.0, np.nan], [4.0, 1.0, np.nan]])
    features = [Feature("a"), Feature("b", "nominal", ("no", "yes")), Feature("c")]
    data = MultilabelDataset(X, [["l"]] * 3, features=features)
    table = feature_table(data)
    assert table.n_missing.tolist() == [1, 0, 3]
    assert table.n_nonzero.tolist() == [2, 2, 0]
    np.testing.assert_array_equal(table.minimum, [1.0, np.nan, np.nan])
    np.testing.assert_array_equal(table.mean, [2.5, np.nan, np.nan])
    np.testing.assert_array_equal(table.maximum, [4.0, np.nan, np.nan])
    assert describe_features(data, [1, 0, 2]) == [
        {"quartiles": None, "values": [("yes", 2), ("no", 1)], "n_values": 2},
        {"quartiles": [1.75, 2.5, 3.25], "values": [], "n_values": 2},
        {"quartiles": None, "values": [], "n_values": 0},
    ]


def test_no_rows_and_no_columns():
    assert len(table_of(np.empty((2, 0)))) == 0
    empty = table_of(np.empty((0, 2)))
    assert empty.n_missing.tolist() == [0, 0]
    assert np.isnan(empty.mean).all()


@given(arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=VALUES))
def test_sparse_and_dense_agree_with_plain_loops(X):
    dense, thin = table_of(X), table_of(sparse.csr_array(X))
    for at in range(X.shape[1]):
        present = [value for value in X[:, at] if not np.isnan(value)]
        for table in (dense, thin):
            assert table.n_missing[at] == len(X) - len(present)
            assert table.n_nonzero[at] == sum(value != 0 for value in present)
            if present:
                assert table.minimum[at] == min(present)
                assert table.maximum[at] == max(present)
                np.testing.assert_allclose(table.mean[at], sum(present) / len(present))
            else:
                assert np.isnan(table.minimum[at])


@given(arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=VALUES))
def test_a_closer_look_is_the_same_for_sparse_and_dense(X):
    Y = np.ones((X.shape[0], 1), bool)
    columns = list(range(X.shape[1]))[::-1]
    dense = describe_features(MultilabelDataset(X, Y), columns)
    assert describe_features(MultilabelDataset(sparse.csr_array(X), Y), columns) == dense


def test_whole_numbers_are_counted_in_classes_around_them():
    data = MultilabelDataset([[1.0], [2.0], [2.0]], [["a"], ["b"], ["b"]])
    found = feature_distribution(data, 0)
    assert found == {"edges": [0.5, 1.5, 2.5], "counts": [1, 2], "values": []}
