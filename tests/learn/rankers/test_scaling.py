"""Features on one scale: by hand, and whatever the unit."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from scipy.stats import norm

from scumble.learn import RidgeRanker
from scumble.learn.rankers import scaling
from scumble.learn.rankers.scaling import Scaling


def scaled(X, weights=None):
    return Scaling.fit_transform(X, np.zeros(X.shape[1], np.int64), weights)


def test_measurements_become_normal_scores_by_hand():
    # A quarter of the rows, half and a quarter: the middles of their ranks are 1/8, 1/2 and 7/8.
    X = np.array([[1.0], [2.0], [2.0], [10.0]])
    scores = norm.ppf([1 / 8, 1 / 2, 1 / 2, 7 / 8])
    fitted, rows = scaled(X)

    np.testing.assert_allclose(rows[:, 0], scores / scores.std())
    # Between two known values it goes straight, beyond the last no further.
    new = fitted.transform(np.array([[-99.0], [6.0], [99.0]]))
    np.testing.assert_allclose(new[:, 0], [rows[0, 0], rows[3, 0] / 2, rows[3, 0]])


def test_counts_are_brought_to_length_one():
    X = np.array([[3.0, 4.0, 0, 0], [0, 0, 0, 0], [0, 0, 2.0, 0], [0, 0, 0, 1.0]])
    for table in (X, sparse.csr_array(X)):
        fitted, rows = scaled(table)
        dense = rows.toarray() if sparse.issparse(rows) else rows
        assert fitted.divisors is None
        np.testing.assert_allclose(dense[0], [0.6, 0.8, 0, 0])
        assert dense[1].sum() == 0


def test_cells_decide_and_not_the_container():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(40, 5))
    thin = X * (generator.random(X.shape) < 0.3)
    _, rows = scaled(sparse.csr_array(thin))
    _, full = scaled(sparse.csr_array(X))

    assert sparse.issparse(rows)
    assert not rows.toarray()[thin == 0].any()
    np.testing.assert_allclose(rows.toarray(), scaled(thin)[1], atol=1e-12)
    np.testing.assert_array_equal(full, scaled(X)[1])
    np.testing.assert_array_equal(scaled(np.asfortranarray(X))[1], scaled(X)[1])


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
def test_a_ranker_gives_one_answer_for_sparse_and_dense_measurements(kernel):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 20)) * (generator.random((60, 20)) < 0.3)
    Y = X[:, :2] > 0.2
    dense = RidgeRanker(kernel).fit(X, Y)
    thin = RidgeRanker(kernel).fit(sparse.csr_array(X), Y)

    expected = dense.predict_proba(X)
    np.testing.assert_allclose(thin.predict_proba(X), expected, atol=1e-9)
    np.testing.assert_allclose(thin.predict_proba(sparse.csr_array(X)), expected, atol=1e-9)


def test_very_many_columns_keep_their_own_distances(monkeypatch):
    monkeypatch.setattr(scaling, "MAX_RANKED_COLUMNS", 4)
    generator = np.random.default_rng(0)
    X = generator.normal(size=(40, 5))
    thin = X * (generator.random(X.shape) < 0.3)

    np.testing.assert_allclose(scaled(X)[1], (X - X.mean(axis=0)) / X.std(axis=0))
    for table in (thin, sparse.csr_array(thin)):
        fitted, rows = scaled(table)
        rows = rows.toarray() if sparse.issparse(rows) else rows
        np.testing.assert_allclose(rows, thin / thin.std(axis=0))
        assert fitted.knots is None


def test_steps_that_are_nearly_equal_do_not_overflow():
    X = np.repeat([[0.0], [1e-310]], 30, axis=0)
    fitted, rows = scaled(X)
    between = fitted.transform(np.array([[5e-311]]))
    assert rows[0, 0] <= between[0, 0] <= rows[-1, 0]


def test_a_constant_column_tells_nothing():
    rows = scaled(np.array([[7.0, 1], [7, 2], [7, 3]]))[1]
    assert rows[:, 0].tolist() == [0, 0, 0]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n_rows=st.integers(2, 255))
def test_units_do_not_matter_and_weights_are_repetitions(seed, n_rows):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 3)).round(1)
    crooked = np.column_stack([np.exp(X[:, 0]), 5 * X[:, 1] - 3, X[:, 2] ** 3])
    weights = generator.integers(1, 4, n_rows)
    rows = scaled(X)[1]
    weighted, _ = scaled(X, weights.astype(float))
    repeated, _ = scaled(np.repeat(X, weights, axis=0))

    np.testing.assert_allclose(scaled(crooked)[1], rows, atol=1e-9)
    np.testing.assert_allclose(scaled(X)[0].transform(X), rows)
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), atol=1e-9)
    order = np.argsort(X[:, 0], kind="stable")
    assert (np.diff(rows[order, 0]) >= 0).all()


@pytest.mark.parametrize("n_rows", [3, 51, 255, 1000])
def test_up_and_down_are_alike(n_rows):
    X = np.random.default_rng(n_rows).normal(size=(n_rows, 2))
    np.testing.assert_allclose(scaled(-X)[1], -scaled(X)[1], atol=1e-9)


def test_one_column_in_any_order():
    X = np.random.default_rng(0).normal(size=(200, 1))
    Y = np.column_stack([X[:, 0] > 0.5, X[:, 0] < -1])
    model = RidgeRanker("laplacian").fit(X, Y)
    assert (model.predict(X) == Y).mean() > 0.98


def test_an_outlier_does_not_rule_the_ranking():
    generator = np.random.default_rng(1)
    X = generator.normal(size=(200, 4))
    Y = X[:, :1] > 1
    shaken = X.copy()
    shaken[0, 0] = 1e9
    found = [RidgeRanker("laplacian").fit(table, Y).predict_proba(X[1:]) for table in (X, shaken)]
    np.testing.assert_allclose(*found, atol=0.05)
