"""Ridge regression as a ranker: one solution for all labels, and leave-one-out for nothing."""

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, to_dense
from scumble._core.errors import ParameterError
from scumble._core.parallel import row_slices, run_in_threads, single_threaded_blas
from scumble._core.parameters import Choice, Int, Optional, Real, default
from scumble.learn import ridge_solvers as solvers
from scumble.learn.base import BaseRanker, parameters
from scumble.learn.inner_classifier import out_of_fold_scores
from scumble.learn.radial_kernel import KERNEL_POWERS, RadialKernel
from scumble.learn.ridge_solvers import RidgeProblem
from scumble.learn.scaling import Scaling
from scumble.measures.stratification import assign_folds

#: Up to so many columns, or rows, the equations are solved exactly.
EXACT_BELOW = 6000
#: Below, scores of left-out rows drown in rounding.
SMALLEST_PENALTY = 1e-6
#: Landmarks of a kernel where there are more rows.
N_LANDMARKS = 2000
#: Added to the likeness of each landmark to itself, so that equal ones can be told apart.
LANDMARK_PENALTY = 1e-8
#: The penalties an iterative solution chooses from, and its inner folds.
FEW_PENALTIES = (1.0, 3.0, 10.0)
N_FOLDS = 5
#: Rows that are scored at a time.
AT_ONCE = 1024
#: Rows that are compared with landmarks at a time.
FEW_AT_ONCE = 256


@parameters()
class RidgeRanker(BaseRanker, name="ridge", display_group="Rankers"):
    r"""Linear, or smooth, scores of all labels by ridge regression.

    Each label is taken as a number, 0 or 1, and fitted by least squares with a penalty on large
    coefficients. That is an old and plain method, and it ranks the rows of rare labels better
    than trees and logistic regression on most data. All labels share one decomposition, and what
    the fit would say of a row it has not seen follows from it in closed form.

    Parameters
    ----------
    kernel : {"linear", "rbf", "laplacian", "auto"}, default="linear"
        ``"rbf"`` and ``"laplacian"`` also fit curved surfaces: often better, and slower, since the
        cost grows with the third power of the number of rows or landmarks. ``"rbf"`` adds up
        squares of differences, ``"laplacian"`` the differences themselves, so that a large one
        counts for less. ``"auto"`` takes ``"laplacian"`` for tables of measurements, where
        it helps most, and ``"linear"`` for tables of counts.
    penalty : float, default=None
        In times of the mean squared length of a row, at least 1e-6. By default the one of least
        leave-one-out error, or of least error on a fifth of the rows where the solution is
        iterative.
    bandwidth : float, default=1.0
        For curved surfaces: the distance at which rows are alike, in times of the median one, from
        0.001 to 1000.
    landmarks : int, default=None
        For curved surfaces: so many rows, drawn by chance, stand for all where there are more than
        twice as many; the rarer the rarest label of a row, the likelier it is drawn. By default
        all rows up to 6,000, and 2,000 beyond.
    random_state : None, int, Generator or RandomState, default=None
        Draws landmarks, and inner folds where the solution is iterative; else not used.

    Attributes
    ----------
    penalty_ : float
        The penalty that was taken.
    coefficients_ : ndarray of shape (n_columns, n_labels)
        One column per label; of the training rows or landmarks for curved surfaces.
    intercepts_ : ndarray of shape (n_labels,)
        Added to each score.
    kernel_ : {"linear", "rbf", "laplacian"}
        The kernel that was taken.
    solver_ : {"primal", "dual", "iterative"}
        How the equations were solved, by the shape of the data.

    See Also
    --------
    ThresholdedClassifier : Decides from which score on each label is predicted.

    Notes
    -----
    With centred rows X, centred labels Y and penalty :math:`\lambda`, the coefficients are
    :math:`(X'X + \lambda I)^{-1} X'Y`. The residual of a row left out is its residual divided by
    one less its leverage, :math:`1 - x'(X'X + \lambda I)^{-1}x - 1/n`; in out-of-sample scores
    the mean of each label stays that of all rows, so that a row is not ranked by its own label.
    A landmark that is left out is no landmark for itself either, as a new row is none.
    Weights are numbers of equal rows. Nominal and missing values
    become numbers and rows or columns are scaled first, see `scumble.learn.scaling`.
    Up to 6,000 columns, or rows, the equations are solved exactly; beyond, by conjugate gradients,
    with a cost near linear in the nonzeros, and out-of-sample scores come from inner folds.

    Scores are least-squares estimates of probabilities; those beyond 0.05 and 0.95 are bent so
    that they stay in [0, 1].

    Examples
    --------
    >>> from scumble.learn import RidgeRanker
    >>> X = [[0], [1], [2], [7], [8], [9]]
    >>> Y = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]]
    >>> RidgeRanker().fit(X, Y).predict([[1.5], [8.5]])
    array([[1, 0],
           [0, 1]])
    """

    kernel: str = default("linear", Choice("linear", *KERNEL_POWERS, "auto"))
    _: KW_ONLY
    penalty: float | None = default(None, Optional(Real(0, closed="right")))
    bandwidth: float = default(1.0, Real(1e-3, 1e3))
    landmarks: int | None = default(None, Optional(Int(1)))
    random_state: Any = None

    def _check_parameter_combinations(self) -> None:
        if self.penalty is not None and self.penalty < SMALLEST_PENALTY:
            raise ParameterError(
                "The 'penalty' parameter of RidgeRanker must be at least "
                f"{SMALLEST_PENALTY:g}, below which rounding decides. Got {self.penalty!r}."
            )

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        self._solve(X, Y, weights)

    def _fit_out_of_sample(self, X: Any, Y: sparse.csr_array, weights: Array | None) -> Array:
        solved = self._solve(X, Y, weights)
        if solved is None:
            return self._out_of_fold(X, Y, weights)
        return solvers.leave_one_out_scores(*solved, self.n_jobs)

    def _solve(
        self, X: Any, Y: Any, weights: Array | None
    ) -> tuple[solvers.Solver, solvers.RidgeFit] | None:
        """Fit, and return what leaving out single rows needs; None where that is not known."""
        generator = self._generator()
        self._scaling, rows = Scaling.of(X, self._codes.n_values, weights, n_jobs=self.n_jobs)
        self.kernel_ = self.kernel
        if self.kernel == "auto":
            self.kernel_ = "linear" if self._scaling.divisors is None else "laplacian"
        problem = RidgeProblem(rows, Y, np.ones(len(Y.indptr) - 1) if weights is None else weights)
        if self.kernel_ == "linear" and min(rows.shape) > EXACT_BELOW:
            self.solver_ = "iterative"
            self._solve_iteratively(problem, generator)
            return None
        with single_threaded_blas():
            solver, to_columns = self._exact_solver(problem, generator)
        fit = solvers.fit_with_best_penalty(solver, self.penalty, self.n_jobs)
        self.penalty_ = float(fit.penalty / solver.scale)
        self.intercepts_ = fit.intercepts
        with single_threaded_blas():
            moved = fit.coefficients if to_columns is None else to_columns @ fit.coefficients
        self.coefficients_ = np.asarray(moved)
        return solver, fit

    def _exact_solver(self, problem: RidgeProblem, generator: Any) -> tuple[solvers.Solver, Any]:
        """Choose a solver by the shape of the data, and what brings its solution to columns."""
        rows = problem.rows
        self.solver_ = "dual"
        if self.kernel_ == "linear":
            if rows.shape[1] > rows.shape[0]:
                return solvers.DualSolver(problem, to_dense(rows @ rows.T)), rows.T
            self.solver_ = "primal"
            return solvers.PrimalSolver(problem), None
        if rows.shape[0] <= (EXACT_BELOW if self.landmarks is None else 2 * self.landmarks):
            return solvers.DualSolver(problem, self._make_kernel(rows)), None
        self.solver_ = "primal"
        n_landmarks = N_LANDMARKS if self.landmarks is None else int(self.landmarks)
        drawn = draw_landmarks(problem.labels, n_landmarks, generator)
        # Products of likeness times this are those of the kernel, seen through the landmarks.
        whitening = solvers.inverse_cholesky_factor(
            self._make_kernel(rows[drawn]), LANDMARK_PENALTY
        )[0].T
        features = np.empty((rows.shape[0], whitening.shape[1]))

        def work(block: slice) -> None:
            features[block] = self._kernel.ask(rows[block]) @ whitening

        run_in_threads(work, row_slices(rows.shape[0], 1, FEW_AT_ONCE), n_jobs=self.n_jobs)
        through = RidgeProblem(features, problem.labels, problem.weights)
        return solvers.LandmarkSolver(through, drawn, whitening), whitening

    def _make_kernel(self, points: Any) -> Array:
        """Choose the width of the kernel, and tell how alike its points are."""
        bandwidth, power = float(self.bandwidth), KERNEL_POWERS[self.kernel_]
        self._kernel, likeness = RadialKernel.of(points, bandwidth, power, n_jobs=self.n_jobs)
        return likeness

    def _solve_iteratively(self, problem: RidgeProblem, generator: np.random.Generator) -> None:
        """Take the penalty that does better on a fifth of the rows, then all rows."""
        penalty = self.penalty
        if penalty is None:
            folds = assign_folds(problem.labels, N_FOLDS, generator)
            errors = [_held_out_error(problem, folds == 0, p, self.n_jobs) for p in FEW_PENALTIES]
            penalty = FEW_PENALTIES[int(np.argmin(errors))]
        self.penalty_ = float(penalty)
        self.coefficients_, self.intercepts_ = problem.solve_iteratively(penalty, self.n_jobs)

    def _out_of_fold(self, X: Any, Y: sparse.csr_array, weights: Array | None) -> Array:
        generator = self._generator()
        rows = self._scaling.transform(X, n_jobs=self.n_jobs)
        weights = np.ones(X.shape[0]) if weights is None else weights

        def ask(train: Array, test: Array) -> Array:
            part = RidgeProblem(rows[train], Y[train], weights[train])
            coefficients, intercepts = part.solve_iteratively(self.penalty_, self.n_jobs)
            with single_threaded_blas():
                return solvers.squash_to_unit_interval(
                    np.asarray(rows[test] @ coefficients) + intercepts
                )

        return out_of_fold_scores(ask, Y, N_FOLDS, generator, caller="RidgeRanker")

    def _predict_scores(self, X: Any) -> Array:
        rows = self._scaling.transform(X, n_jobs=self.n_jobs)
        out = np.empty((X.shape[0], self.n_labels_))

        def work(block: slice) -> None:
            part = rows[block]
            if self.kernel_ != "linear":
                part = self._kernel.ask(part)
            out[block] = part @ self.coefficients_
            out[block] += self.intercepts_
            solvers.squash_to_unit_interval(out[block])

        with single_threaded_blas():
            run_in_threads(work, row_slices(X.shape[0], 1, AT_ONCE), n_jobs=self.n_jobs)
        return out


def draw_landmarks(labels: sparse.csr_array, n_landmarks: int, generator: Any) -> Array:
    """Draw rows in proportion to one over the number of rows that have a row's rarest label."""
    counts = np.bincount(labels.indices, minlength=labels.shape[1])
    rarest = np.full(labels.shape[0], labels.shape[0])  # without a label: as if all had it
    filled = np.flatnonzero(np.diff(labels.indptr))
    if len(filled):
        rarest[filled] = np.minimum.reduceat(counts[labels.indices], labels.indptr[filled])
    chances = 1 / rarest
    size = min(n_landmarks, len(chances))
    return np.sort(generator.choice(len(chances), size, replace=False, p=chances / chances.sum()))


def _held_out_error(
    problem: RidgeProblem, held_out: Array, penalty: float, n_jobs: int | None
) -> float:
    train, test = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    part = RidgeProblem(problem.rows[train], problem.labels[train], problem.weights[train])
    coefficients, intercepts = part.solve_iteratively(penalty, n_jobs)
    error = 0.0
    for rows in np.array_split(test, max(1, test.size // AT_ONCE)):
        with single_threaded_blas():
            scores = np.asarray(problem.rows[rows] @ coefficients) + intercepts
        left = ((problem.labels[rows].toarray() - scores) ** 2).sum(axis=1)
        error += float(problem.weights[rows] @ left)
    return error
