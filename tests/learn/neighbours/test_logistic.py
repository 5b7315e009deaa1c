"""The logistic regression of IBLR: the optimum where there is one, and finite where not."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import optimize, sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from scumble.learn.neighbours import logistic, logistic_kernels as kernels
from scumble.learn.neighbours.logistic import fit_logistic
from scumble.learn.trees.c45.table import as_row_arrays


def random_problem(seed, n=120, p=5, q=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 11, (n, p)) / 10
    Y = X @ rng.normal(size=(p, q)) + rng.logistic(size=(n, q)) > 0.5
    return X, Y


def slow_loss(beta, X, y, ridge):
    """WEKA's objective, written down plainly: standardised columns, free intercept."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    p = expit(Z @ beta[1:] + beta[0])
    likelihood = np.where(y, p, 1 - p)
    return -np.log(likelihood).sum() + ridge * (beta[1:] ** 2).sum()


@pytest.mark.parametrize("ridge", [1e-8, 1.0])
def test_the_optimum_is_that_of_wekas_objective(ridge):
    X, Y = random_problem(0)
    models = fit_logistic(X, sparse.csr_array(Y), ridge=ridge)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    for label, y in enumerate(Y.T):
        best = optimize.minimize(slow_loss, np.zeros(6), (X, y, ridge), method="BFGS", tol=1e-8)
        expected = expit(Z @ best.x[1:] + best.x[0])
        assert np.allclose(models.predict_proba(X)[:, label], expected, atol=1e-5)


def test_a_larger_tolerance_ends_earlier():
    X, Y = random_problem(0)
    best = fit_logistic(X, sparse.csr_array(Y)).predict_proba(X)
    distances = []
    for tolerance in (1e-8, 1.0, 1e9):
        models = fit_logistic(X, sparse.csr_array(Y), tolerance=tolerance)
        distances.append(np.abs(models.predict_proba(X) - best).max())
    assert distances[0] == 0
    assert 0 < distances[1] < distances[2]


def test_without_ridge_it_is_scikit_learns():
    X, Y = random_problem(1)
    models = fit_logistic(X, sparse.csr_array(Y))
    for label, y in enumerate(Y.T):
        peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X, y)
        assert np.allclose(models.predict_proba(X)[:, label], peer.predict_proba(X)[:, 1], 0, 1e-5)


def test_the_derivative_vanishes_at_the_optimum():
    X, Y = random_problem(2, n=400)
    models = fit_logistic(X, sparse.csr_array(Y))
    excess = models.predict_proba(X) - Y
    assert np.abs(excess.sum(axis=0)).max() < 1e-5
    assert np.abs(X.T @ excess).max() < 1e-5


@pytest.mark.parametrize("n_columns", range(1, 14))
@pytest.mark.parametrize("is_sparse", [False, True])
def test_one_step_is_newtons(n_columns, is_sparse):
    X, Y = random_problem(n_columns, p=n_columns, q=1)
    y = Y[:, 0].astype(np.uint8)
    beta = np.zeros(n_columns + 1)
    rows = as_row_arrays(sparse.csr_array(X) if is_sparse else X)
    kernels.minimize_loss(rows, y, np.ones(len(y)), 0.1, 0.0, 1, beta)

    with_ones = np.column_stack([X, np.ones(len(y))])
    ridges = np.diag([0.2] * n_columns + [0.0])
    step = np.linalg.solve(with_ones.T @ with_ones / 4 + ridges, with_ones.T @ (0.5 - y))
    assert np.allclose(beta, -step, rtol=1e-10, atol=1e-12)


def test_rows_that_do_not_lie_in_order_are_refused_not_read():
    X, Y = random_problem(3, p=2, q=1)
    rows = as_row_arrays(X)._replace(dense=np.asfortranarray(X))
    with pytest.raises(ValueError, match="not C-contiguous"):
        kernels.minimize_loss(
            rows, Y[:, 0].astype(np.uint8), np.ones(len(Y)), 0.1, 0.0, 1, np.zeros(3)
        )


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 8))
def test_any_labels_give_finite_coefficients(seed, n, p):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, p)) / 2.0
    Y = rng.random((n, 3)) < [0.0, 0.5, 1.0]
    models = fit_logistic(X, sparse.csr_array(Y))

    assert np.isfinite(models.coefficients).all()
    assert np.isfinite(models.intercepts).all()
    found = models.predict_proba(X)
    assert (found[:, 0] < 1e-6).all()
    assert (found[:, 2] > 1 - 1e-6).all()


def test_separable_labels_are_separated():
    X = np.linspace(0, 1, 40).reshape(-1, 1)
    models = fit_logistic(X, sparse.csr_array(X > 0.5))
    found = models.predict_proba(X).ravel()

    assert found[X.ravel() <= 0.5].max() < 1e-3
    assert found[X.ravel() > 0.5].min() > 1 - 1e-3
    assert np.abs(models.coefficients).max() < 1e5


def test_dense_and_sparse_columns_agree():
    X, Y = random_problem(3)
    X[np.random.default_rng(0).random(X.shape) < 0.85] = 0
    dense = fit_logistic(X, sparse.csr_array(Y))
    thin = fit_logistic(sparse.csr_array(X), sparse.csr_array(Y))

    assert sparse.csr_array(X).nnz < logistic.MIN_DENSE_SHARE * X.size
    assert np.allclose(dense.coefficients, thin.coefficients, atol=1e-6)
    assert np.allclose(dense.intercepts, thin.intercepts, atol=1e-6)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_more_columns_than_rows_change_nothing(monkeypatch, convert):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (30, 45)) * (rng.random((30, 45)) < 0.3) * 1.0
    Y = sparse.csr_array(rng.random((30, 3)) < 0.4)
    turned = fit_logistic(convert(X), Y, ridge=0.1)
    monkeypatch.setattr(logistic, "_rotate", lambda columns: (columns, None))
    plain = fit_logistic(convert(X), Y, ridge=0.1)

    assert np.allclose(turned.coefficients, plain.coefficients, atol=1e-6)
    assert np.allclose(turned.predict_proba(X), plain.predict_proba(X), atol=1e-6)


def test_very_many_columns_and_rows_go_without_second_derivatives(monkeypatch):
    X, Y = random_problem(5)
    expected = fit_logistic(X, sparse.csr_array(Y), ridge=0.1).predict_proba(X)
    monkeypatch.setattr(logistic, "MAX_NEWTON_COLUMNS", 1)
    found = fit_logistic(X, sparse.csr_array(Y), ridge=0.1).predict_proba(X)
    assert np.allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize("steps", ["MAX_NEWTON_STEPS", "MAX_QUASI_NEWTON_STEPS"])
def test_a_label_whose_steps_run_out_is_named(monkeypatch, steps):
    X, Y = random_problem(5)
    Y = sparse.csr_array(Y)
    if steps == "MAX_QUASI_NEWTON_STEPS":
        monkeypatch.setattr(logistic, "MAX_NEWTON_COLUMNS", 1)
    monkeypatch.setattr(logistic, steps, 2)
    with pytest.warns(ConvergenceWarning, match="of label 0, .* did not converge"):
        fit_logistic(X, Y)
    names = [f"label {at}" for at in range(Y.shape[1])]
    with pytest.warns(ConvergenceWarning, match="of label 'label 0'"):
        fit_logistic(X, Y, label_names=names, n_jobs=2)


def test_constant_columns_weigh_nothing():
    X, Y = random_problem(6)
    X[:, 2] = 0.1  # a mean of these is not exactly 0.1
    for form in (X, sparse.csr_array(X)):
        models = fit_logistic(form, sparse.csr_array(Y))
        assert (models.coefficients[2] == 0).all()


def test_equal_columns_share_the_weight():
    X, Y = random_problem(7)
    alone = fit_logistic(X, sparse.csr_array(Y))
    twice = fit_logistic(np.hstack([X, X]), sparse.csr_array(Y))
    assert np.allclose(alone.predict_proba(X), twice.predict_proba(np.hstack([X, X])), atol=1e-6)


def test_threads_change_nothing():
    X, Y = random_problem(8, q=6)
    one, three = (fit_logistic(X, sparse.csr_array(Y), n_jobs=n) for n in (1, 3))
    assert (one.coefficients == three.coefficients).all()
    assert (one.intercepts == three.intercepts).all()
