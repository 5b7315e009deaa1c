"""Ridge regression: by hand, against fits that really leave rows out, and solver by solver."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from sklearn.metrics import roc_auc_score

from scumble._core.errors import ParameterError
from scumble.learn import RidgeRanker
from scumble.learn.rankers import ridge
from scumble.learn.rankers.radial_kernel import RadialKernel
from scumble.learn.rankers.ridge import draw_landmarks
from scumble.learn.rankers.ridge_solvers import (
    DualSolver,
    LandmarkSolver,
    PrimalSolver,
    RidgeProblem,
    fit_with_best_penalty,
    inverse_cholesky_factor,
    leave_one_out_scores,
    squash_to_unit_interval,
)
from scumble.learn.rankers.row_sums import add_manhattan_distances


def problem_of(seed, n_rows=20, n_columns=6, n_labels=3, weighted=False):
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(n_rows, n_columns)) + generator.normal(size=n_columns)
    Y = generator.random((n_rows, n_labels)) < 0.4
    weights = generator.integers(1, 4, n_rows).astype(float) if weighted else np.ones(n_rows)
    return RidgeProblem(rows, sparse.csr_array(Y), weights)


def slow_fit(rows, Y, weights, penalty):
    """Solve the normal equations with an intercept that is not penalised."""
    with_one = np.column_stack([rows, np.ones(len(rows))])
    penalties = np.diag([penalty] * rows.shape[1] + [0.0])
    gram = with_one.T @ (weights[:, None] * with_one) + penalties
    return np.linalg.solve(gram, with_one.T @ (weights[:, None] * Y))


def slow_left_out(rows, Y, weights, penalty):
    found = np.empty(Y.shape)
    for row in range(len(rows)):
        others = np.arange(len(rows)) != row
        solution = slow_fit(rows[others], Y[others], weights[others], penalty)
        found[row] = np.append(rows[row], 1) @ solution
    return found


def mean_shifts(Y, weights):
    """Tell how far the weighted mean of each label moves when a row is left out."""
    means = weights @ Y / weights.sum()
    without = (weights @ Y - weights[:, None] * Y) / (weights.sum() - weights[:, None])
    return means - without


def solver_of(name, problem):
    if name == "dual":
        return DualSolver(problem, problem.X @ problem.X.T)
    if name == "sparse":
        return PrimalSolver(RidgeProblem(sparse.csr_array(problem.X), problem.Y, problem.weights))
    return PrimalSolver(problem)


@pytest.mark.parametrize("name", ["primal", "sparse", "dual"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_columns", [6, 30])
def test_scores_of_left_out_rows_are_those_of_fits_without_them(name, weighted, n_columns):
    problem = problem_of(1, n_columns=n_columns, weighted=weighted)
    solver = solver_of(name, problem)
    fit = solver.fit(0.7)
    Y = problem.Y.toarray().astype(float)
    slow = slow_left_out(problem.X, Y, problem.weights, 0.7)

    kept = squash_to_unit_interval(
        slow + mean_shifts(Y, problem.weights)
    )  # with the mean of all rows
    np.testing.assert_allclose(leave_one_out_scores(solver, fit, 1), kept, atol=1e-9)
    mean = (problem.weights[:, None] * (Y - slow) ** 2).sum() / problem.weights.sum()
    assert fit.error == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("penalty", [0.05, 2.0])
def test_a_landmark_that_is_left_out_is_no_landmark_either(weighted, penalty):
    problem = problem_of(3, n_rows=30, n_columns=4, weighted=weighted)
    drawn = np.array([2, 3, 5, 8, 13, 21, 29])
    kernel, _ = RadialKernel.fit(problem.X[drawn], 1.0, 1)
    Y = problem.Y.toarray().astype(float)

    def features(landmarks):
        """See the rows through landmarks, and tell how."""
        seen = RadialKernel(problem.X[landmarks], kernel.gamma, 1)
        root = inverse_cholesky_factor(seen.similarities(problem.X[landmarks]), 1e-12)[0].T
        return seen.similarities(problem.X) @ root, root

    table, whitening = features(drawn)
    through = RidgeProblem(table, problem.Y, problem.weights)
    solver = LandmarkSolver(through, drawn, whitening)
    found = leave_one_out_scores(solver, solver.fit(penalty), 1)
    slow = slow_left_out(table, Y, problem.weights, penalty)
    for row in drawn:
        others = features(drawn[drawn != row])[0]
        slow[row] = slow_left_out(others, Y, problem.weights, penalty)[row]

    expected = squash_to_unit_interval(slow + mean_shifts(Y, problem.weights))
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_landmarks_do_not_make_left_out_rows_unlike_new_ones():
    """Nearly all landmarks have a rare label: its rows must not be scored by being landmarks."""
    areas = []
    for seed in range(4):
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(4000, 20))
        Y = X[:, :3] + X[:, 3:6] + generator.normal(size=(4000, 3)) > 3.5
        model = RidgeRanker("laplacian", landmarks=100, random_state=0)
        left_out = model.fit_out_of_sample(X[:2000], Y[:2000])
        new = model.predict_proba(X[2000:])
        areas.append([roc_auc_score(Y[:2000], left_out), roc_auc_score(Y[2000:], new)])

    left_out, new = np.mean(areas, axis=0)
    assert left_out == pytest.approx(new, abs=0.015)  # 0.034 apart were they their own landmarks


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([2, 7, 25]), st.sampled_from([1e-3, 1.0, 50.0]))
def test_all_solvers_agree(seed, n_columns, penalty):
    problem = problem_of(seed, n_columns=n_columns, weighted=True)
    expected = slow_fit(problem.X, problem.Y.toarray().astype(float), problem.weights, penalty)
    primal, dual = PrimalSolver(problem).fit(penalty), solver_of("dual", problem).fit(penalty)

    np.testing.assert_allclose(primal.coefficients, expected[:-1], atol=1e-7)
    np.testing.assert_allclose(primal.intercepts, expected[-1], atol=1e-7)
    np.testing.assert_allclose(problem.X.T @ dual.coefficients, expected[:-1], atol=1e-5)
    np.testing.assert_allclose(dual.intercepts, expected[-1], atol=1e-5)
    scale = PrimalSolver(problem).scale
    longer = RidgeProblem(**vars(problem) | {"max_iter": 500})
    found, intercepts = longer.solve_iteratively(penalty / scale, 1)
    np.testing.assert_allclose(found, expected[:-1], atol=1e-4)
    np.testing.assert_allclose(intercepts, expected[-1], atol=1e-4)


def test_the_penalty_has_the_least_error_of_a_long_list():
    problem = problem_of(5, n_rows=60, n_columns=30)
    solver = PrimalSolver(problem)
    fit = fit_with_best_penalty(solver, None, 1)
    errors = [solver.fit(solver.scale * 10.0**power).error for power in np.arange(-4, 4.5, 0.5)]

    assert fit.error == pytest.approx(min(errors), rel=1e-12)


def test_an_example_by_hand():
    # One centred column (-1, 0, 1), labels (0, 0, 1): slope 1 / (2 + penalty), mean 1/3.
    fit = PrimalSolver(
        RidgeProblem(
            np.array([[-1.0], [0.0], [1.0]]), sparse.csr_array([[0], [0], [1]]), np.ones(3)
        )
    ).fit(2.0)

    assert fit.coefficients[0, 0] == pytest.approx(1 / 4)
    assert fit.intercepts[0] == pytest.approx(1 / 3)
    # Leverages 1/4 + 1/3, 1/3, 1/4 + 1/3.
    np.testing.assert_allclose(fit.one_minus_leverage, [5 / 12, 2 / 3, 5 / 12])


def words(seed, n_rows=60, n_columns=40):
    generator = np.random.default_rng(seed)
    Y = generator.random((n_rows, 4)) < 0.2
    X = (generator.random((n_rows, n_columns)) < 0.1).astype(float)
    X[:, :4] += Y
    return X, Y


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
def test_sparse_rows_and_threads_give_the_same(kernel):
    X, Y = words(0)
    model = RidgeRanker(kernel, n_jobs=1).fit(X, Y)
    two = RidgeRanker(kernel, n_jobs=2).fit(X, Y)
    thin = RidgeRanker(kernel).fit(sparse.csr_array(X), Y)

    np.testing.assert_array_equal(model.predict_proba(X), two.predict_proba(X))
    np.testing.assert_allclose(
        model.predict_proba(X), thin.predict_proba(sparse.csr_array(X)), atol=1e-9
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
@pytest.mark.parametrize("shape", [(30, 50), (50, 8)])
def test_out_of_sample_scores_are_those_of_models_without_the_row(kernel, shape):
    generator = np.random.default_rng(2)
    X = generator.normal(size=shape)
    Y = generator.random((shape[0], 2)) < 0.4
    # Scaling and the kernel's width see all rows, so rows are given on their scale.
    ranker = RidgeRanker(kernel, penalty=0.5)
    found = ranker.fit_out_of_sample(X, Y)
    rows = ranker._scaling.transform(X)
    if kernel != "linear":
        values, vectors = np.linalg.eigh(ranker._kernel.similarities(rows))
        rows = vectors * np.sqrt(np.maximum(values, 0))
    centred = rows - rows.mean(axis=0)
    penalty = 0.5 * (centred**2).sum() / len(rows)
    slow = slow_left_out(rows, Y.astype(float), np.ones(len(rows)), penalty)

    slow += mean_shifts(Y.astype(float), np.ones(len(rows)))
    np.testing.assert_allclose(found, squash_to_unit_interval(slow), atol=1e-7)
    np.testing.assert_array_equal(
        ranker.predict_proba(X), RidgeRanker(kernel, penalty=0.5).fit(X, Y).predict_proba(X)
    )


def test_weights_are_repetitions_and_zero_leaves_out():
    X, Y = words(3)
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    weighted = RidgeRanker(penalty=2.0)
    scores = weighted.fit_out_of_sample(X, Y, weights)
    fitted = RidgeRanker(penalty=2.0).fit(np.repeat(X, weights, 0), np.repeat(Y, weights, 0))

    np.testing.assert_allclose(weighted.predict_proba(X), fitted.predict_proba(X), atol=1e-9)
    left_out = weights == 0
    np.testing.assert_allclose(scores[left_out], fitted.predict_proba(X[left_out]), atol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_large_tables_are_solved_iteratively_and_kernels_by_landmarks(monkeypatch, kernel):
    X, Y = words(4, 200, 60)
    exact = RidgeRanker(penalty=3.0).fit(X, Y).predict_proba(X)
    all_rows = RidgeRanker(kernel, penalty=1.0).fit(X, Y)
    monkeypatch.setattr(ridge, "MAX_EXACT_SIZE", 50)
    monkeypatch.setattr(ridge, "N_LANDMARKS", 200)

    by_steps = RidgeRanker(penalty=3.0, random_state=0)
    scores = by_steps.fit_out_of_sample(sparse.csr_array(X), Y)
    landmarks = RidgeRanker(kernel, penalty=1.0, random_state=0).fit(X, Y)

    assert by_steps.solver_ == "iterative"
    np.testing.assert_allclose(by_steps.predict_proba(X), exact, atol=1e-4)
    assert np.corrcoef(scores.ravel(), exact.ravel())[0, 1] > 0.8
    np.testing.assert_allclose(landmarks.predict_proba(X), all_rows.predict_proba(X), atol=1e-3)
    chosen = RidgeRanker(random_state=0).fit(sparse.csr_array(X), Y)
    assert chosen.penalty_ in ridge.ITERATIVE_PENALTIES


def test_nominal_and_missing_values():
    X = np.array([[0, 1.0], [1, 2.0], [2, np.nan], [0, 1.0], [1, 2.0], [2, 3.0]])
    Y = X[:, :1] == 2
    model = RidgeRanker(categorical_features={0: 3}, penalty=0.01).fit(X, Y)

    assert model.predict(X).ravel().tolist() == Y.ravel().tolist()


def test_rows_that_are_all_equal_give_the_shares():
    model = RidgeRanker().fit(np.ones((4, 2)), [[1, 0], [1, 0], [0, 0], [1, 1]])
    np.testing.assert_allclose(model.predict_proba(np.ones((1, 2))), [[0.75, 0.25]])


def test_likeness():
    # Distances 1, 2 and 3: the median is 2, its square 4; at twice the bandwidth likeness is 1/e.
    points = np.array([[0.0], [1.0], [3.0]])
    squared, _ = RadialKernel.fit(points, 2.0)
    plain, likeness = RadialKernel.fit(points, 2.0, 1)

    assert squared.gamma == pytest.approx(1 / (4 * 2.0**2))
    assert plain.gamma == pytest.approx(1 / (2 * 2.0))
    np.testing.assert_allclose(likeness[0], np.exp([0, -1 / 4, -3 / 4]))
    np.testing.assert_allclose(
        plain.similarities(np.array([[-1.0]])), np.exp([[-1 / 4, -2 / 4, -4 / 4]])
    )


def test_rounding_is_no_distance():
    generator = np.random.default_rng(0)
    points = generator.normal(size=(200, 3000))
    points[:160] = points[0]
    for power in (1, 2):
        kernel, _ = RadialKernel.fit(points, 1.0, power)
        apart = (abs(points[0] - points[-1]) ** power).sum()
        assert 0.8 < kernel.gamma * apart < 1.25


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), power=st.sampled_from([1, 2]))
def test_sparse_and_dense_rows_are_as_far_apart(seed, power):
    generator = np.random.default_rng(seed)
    rows, points = (
        generator.normal(size=(n, 7)) * (generator.random((n, 7)) < 0.4) for n in (5, 9)
    )
    slow = (abs(rows[:, None] - points) ** power).sum(axis=2)
    kernel = RadialKernel(points, 0.5, power)
    thin = RadialKernel(sparse.csr_array(points), 0.5, power)

    np.testing.assert_allclose(kernel.similarities(rows), np.exp(-0.5 * slow), atol=1e-12)
    np.testing.assert_allclose(
        thin.similarities(sparse.csr_array(rows)), np.exp(-0.5 * slow), atol=1e-12
    )


def test_landmarks_are_drawn_by_the_rarest_label_of_a_row():
    # A label of 4 rows, one of 200 and rows without any: chances as 1/4, 1/200 and 1/1000.
    Y = np.zeros((1000, 2), bool)
    Y[:200, 0] = Y[:4, 1] = True
    draws = [draw_landmarks(sparse.csr_array(Y), 50, np.random.default_rng(s)) for s in range(200)]
    often = np.bincount(np.concatenate(draws), minlength=1000) / 200

    assert all((np.diff(drawn) > 0).all() and len(drawn) == 50 for drawn in draws)
    assert (often[:4] > 0.99).all()
    # The other 46 are drawn from 196 rows and from 800, whose chances are as five to one.
    assert often[4:200].sum() == pytest.approx(46 * 5 * 196 / (5 * 196 + 800), rel=0.1)
    whole = draw_landmarks(sparse.csr_array(Y[4:20] * 0), 50, np.random.default_rng(0))
    assert whole.tolist() == list(range(16))


@pytest.mark.parametrize("n_columns", [0, 1, 3, 4, 5, 8, 11])
@pytest.mark.parametrize("n_points", [0, 1, 511, 512, 513, 1030])
def test_sums_of_differences_of_many_points(n_points, n_columns):
    """Points are compared in blocks of 512, columns four at a time: none is left out or twice."""
    generator = np.random.default_rng(n_points + n_columns)
    rows, points = (generator.integers(-9, 9, (n, n_columns)) * 0.25 for n in (3, n_points))
    found = np.full((3, n_points), 0.5)
    add_manhattan_distances(rows, np.ascontiguousarray(points.T), found)

    np.testing.assert_array_equal(found, 0.5 + abs(rows[:, None] - points).sum(axis=2))


def test_bending_keeps_the_order():
    scores = np.linspace(-2, 3, 1001)
    bent = squash_to_unit_interval(scores.copy())
    assert (np.diff(bent) > 0).all()
    assert ((bent >= 0) & (bent <= 1)).all()
    np.testing.assert_array_equal(
        bent[(scores > 0.06) & (scores < 0.94)], scores[(scores > 0.06) & (scores < 0.94)]
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kernel": "poly"}, "kernel"),
        ({"penalty": 0}, "penalty"),
        ({"penalty": 1e-9}, "at least 1e-06"),
        ({"bandwidth": -1}, "bandwidth"),
        ({"bandwidth": 1e200}, "bandwidth"),
    ],
)
def test_bad_parameters(options, said):
    with pytest.raises(ParameterError, match=said):
        RidgeRanker(**options).fit([[1], [2]], [[1], [0]])
