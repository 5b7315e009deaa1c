"""Ridge regression as a ranker: one solution for all labels, with leave-one-out scores."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, to_dense
from scumble._core.errors import ParameterError
from scumble._core.parallel import row_slices, run_in_threads, single_threaded_blas
from scumble._core.parameters import Choice, Int, Optional, Real
from scumble.learn.base import BaseRanker
from scumble.learn.inner_classifier import out_of_fold_scores
from scumble.learn.rankers import ridge_solvers as solvers
from scumble.learn.rankers.radial_kernel import KERNEL_POWERS, RadialKernel
from scumble.learn.rankers.ridge_solvers import RidgeProblem
from scumble.learn.rankers.scaling import Scaling
from scumble.measures.stratification import assign_folds

#: The largest number of columns, or of rows, for which the equations are solved exactly: a square
#: matrix of this size takes 288 MB.
EXACT_BELOW = 6000
#: The smallest penalty. Below it, leave-one-out scores are lost in rounding errors.
SMALLEST_PENALTY = 1e-6
#: The default number of landmarks of a kernel, if there are more than `EXACT_BELOW` rows.
N_LANDMARKS = 2000
#: Added to the similarity of each landmark to itself, so that the matrix of equal landmarks can be
#: inverted.
LANDMARK_PENALTY = 1e-8
#: The penalties that an iterative solution chooses from, on one of this number of folds.
FEW_PENALTIES = (1.0, 3.0, 10.0)
N_FOLDS = 5
#: Rows that are scored at a time.
AT_ONCE = 1024
#: Rows that are compared with landmarks at a time.
FEW_AT_ONCE = 256


class RidgeRanker(BaseRanker, name="ridge", display_group="Rankers"):
    r"""Ridge regression on all labels, linear or with a kernel.

    Each label is taken as a number, 0 or 1, and fitted by least squares with a penalty on large
    coefficients. On most data sets this simple method ranks the rows of rare labels better than
    trees and logistic regression. All labels share one matrix decomposition, from which
    leave-one-out scores follow in closed form.

    Parameters
    ----------
    kernel : {"linear", "rbf", "laplacian", "auto"}, default="linear"
        The kernels ``"rbf"`` (Gaussian) and ``"laplacian"`` also fit nonlinear functions. They are
        often better and always slower, since the cost grows with the third power of the number of
        rows or landmarks. ``"rbf"`` is based on squared differences, ``"laplacian"`` on absolute
        ones, so that large differences count less. ``"auto"`` uses ``"laplacian"`` for tables of
        measurements, where it helps most, and ``"linear"`` for tables of counts.
    penalty : float, default=None
        The penalty relative to the mean squared length of a row, at least 1e-6. By default the one
        of least leave-one-out error, or of least error on a fifth of the rows if the solution is
        iterative.
    bandwidth : float, default=1.0
        Width of a nonlinear kernel relative to the median distance, from 0.001 to 1000.
    landmarks : int, default=None
        Number of rows that a nonlinear kernel is approximated by, if there are more than twice as
        many rows. They are drawn at random; rows with rare labels are more likely to be drawn. By
        default all rows up to 6,000, and 2,000 beyond.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    random_state : None, int, Generator or RandomState, default=None
        Seed of the landmarks, and of inner folds if the solution is iterative; not used otherwise.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    penalty_ : float
        The penalty used.
    coefficients_ : ndarray of shape (n_columns, n_labels)
        One column per label. With a nonlinear kernel, one row per training row or landmark.
    intercepts_ : ndarray of shape (n_labels,)
        Added to each score.
    kernel_ : {"linear", "rbf", "laplacian"}
        The kernel used.
    solver_ : {"primal", "dual", "iterative"}
        The solver used, chosen by the shape of the data.
    classes_ : list of ndarray, or ndarray
        The two values of each label; the classes if ``y`` held one class per row.
    n_labels_ : int
        Number of labels, or of classes.
    label_names_ : tuple of str or None
        Names of the labels; None if they have none.
    n_features_in_ : int
        Number of columns of X in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X; only if they have names.

    See Also
    --------
    ThresholdedClassifier : Chooses a decision threshold per label.

    Notes
    -----
    With centred rows X, centred labels Y and penalty :math:`\lambda`, the coefficients are
    :math:`(X'X + \lambda I)^{-1} X'Y`. The leave-one-out residual of a row x is its residual
    divided by one minus its leverage, :math:`1 - x'(X'X + \lambda I)^{-1}x - 1/n`. In out-of-sample
    scores the mean of each label stays that of all rows, so that a row is not ranked by its own
    label. A landmark that is left out is not a landmark for itself either, like a new row. Weights
    are numbers of equal rows. Nominal and missing values become numbers, and rows or columns are
    scaled first, see `scumble.learn.rankers.scaling`. Up to 6,000 columns, or rows, the equations
    are solved exactly; beyond that by conjugate gradients, with a cost almost linear in the
    nonzeros, and out-of-sample scores come from inner folds.

    Scores are least-squares estimates of probabilities; those below 0.05 and above 0.95 are
    squashed so that they stay in [0, 1].

    Examples
    --------
    >>> from scumble.learn import RidgeRanker
    >>> X = [[0], [1], [2], [7], [8], [9]]
    >>> Y = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]]
    >>> RidgeRanker().fit(X, Y).predict([[1.5], [8.5]])
    array([[1, 0],
           [0, 1]])
    """

    _parameter_constraints = {
        **BaseRanker._parameter_constraints,
        "kernel": Choice("linear", *KERNEL_POWERS, "auto"),
        "penalty": Optional(Real(0, closed="right")),
        "bandwidth": Real(1e-3, 1e3),
        "landmarks": Optional(Int(minimum=1)),
    }

    def __init__(
        self,
        kernel: str = "linear",
        *,
        penalty: float | None = None,
        bandwidth: float = 1.0,
        landmarks: int | None = None,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.penalty = penalty
        self.bandwidth = bandwidth
        self.landmarks = landmarks
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameter_combinations(self) -> None:
        """Raise an error for a penalty at which rounding errors dominate."""
        if self.penalty is not None and self.penalty < SMALLEST_PENALTY:
            raise ParameterError(
                "The 'penalty' parameter of RidgeRanker must be at least "
                f"{SMALLEST_PENALTY:g}, below which rounding decides. Got {self.penalty!r}."
            )

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Solve the equations."""
        self._solve(X, Y, sample_weight)

    def _fit_out_of_sample(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None) -> Array:
        """Solve the equations, and return leave-one-out scores, or out-of-fold scores."""
        solution = self._solve(X, Y, sample_weight)
        if solution is None:
            return self._out_of_fold_scores(X, Y, sample_weight)
        return solvers.leave_one_out_scores(solution.solver, solution.fit, self.n_jobs)

    def _solve(
        self, X: Any, Y: sparse.csr_array, sample_weight: Array | None
    ) -> "_ExactSolution | None":
        """Set the fitted attributes; return an exact solution, None for an iterative one."""
        generator = self._generator()
        self._scaling, rows = Scaling.fit_transform(
            X, self._codes.n_values, sample_weight, n_jobs=self.n_jobs
        )
        self.kernel_ = self.kernel
        if self.kernel == "auto":
            self.kernel_ = "linear" if self._scaling.divisors is None else "laplacian"
        weights = np.ones(Y.shape[0]) if sample_weight is None else sample_weight
        problem = RidgeProblem(rows, Y, weights)
        if self.kernel_ == "linear" and min(rows.shape) > EXACT_BELOW:
            self.solver_ = "iterative"
            self._solve_iteratively(problem, generator)
            return None
        with single_threaded_blas():
            solver, to_columns = self._exact_solver(problem, generator)
        fit = solvers.fit_with_best_penalty(solver, self.penalty, self.n_jobs)
        self.penalty_ = float(fit.penalty / solver.scale)
        self.intercepts_ = fit.intercepts
        coefficients = fit.coefficients
        if to_columns is not None:
            with single_threaded_blas():
                coefficients = to_columns @ coefficients
        self.coefficients_ = np.asarray(coefficients)
        return _ExactSolution(solver, fit)

    def _exact_solver(self, problem: RidgeProblem, generator: Any) -> tuple[solvers.Solver, Any]:
        """Return a solver for the shape of the data, and a matrix to multiply its solution with.

        The matrix turns the coefficients of the solver into those of the columns, rows or
        landmarks; it is None if they are the same.
        """
        rows = problem.rows
        n_rows, n_columns = rows.shape
        if self.kernel_ == "linear":
            if n_columns > n_rows:
                self.solver_ = "dual"
                return solvers.DualSolver(problem, to_dense(rows @ rows.T)), rows.T
            self.solver_ = "primal"
            return solvers.PrimalSolver(problem), None
        if n_rows <= (EXACT_BELOW if self.landmarks is None else 2 * self.landmarks):
            self.solver_ = "dual"
            return solvers.DualSolver(problem, self._fit_kernel(rows)), None
        self.solver_ = "primal"
        n_landmarks = N_LANDMARKS if self.landmarks is None else int(self.landmarks)
        landmarks = draw_landmarks(problem.labels, n_landmarks, generator)
        # Nystroem approximation: inner products of similarities to the landmarks, multiplied by
        # this matrix, approximate the kernel.
        root, _ = solvers.inverse_cholesky_factor(
            self._fit_kernel(rows[landmarks]), LANDMARK_PENALTY
        )
        whitening = root.T
        features = np.empty((n_rows, whitening.shape[1]))

        def process(block: slice) -> None:
            features[block] = self._kernel.similarities(rows[block]) @ whitening

        run_in_threads(process, row_slices(n_rows, 1, FEW_AT_ONCE), n_jobs=self.n_jobs)
        landmark_problem = RidgeProblem(features, problem.labels, problem.weights)
        return solvers.LandmarkSolver(landmark_problem, landmarks, whitening), whitening

    def _fit_kernel(self, points: Any) -> Array:
        """Fit the width of the kernel to points, and return their similarities to each other."""
        self._kernel, similarities = RadialKernel.fit(
            points,
            bandwidth=float(self.bandwidth),
            power=KERNEL_POWERS[self.kernel_],
            n_jobs=self.n_jobs,
        )
        return similarities

    def _solve_iteratively(self, problem: RidgeProblem, generator: np.random.Generator) -> None:
        """Choose the penalty on a fifth of the rows, and solve by conjugate gradients."""
        penalty = self.penalty
        if penalty is None:
            folds = assign_folds(problem.labels, N_FOLDS, generator)
            errors = [
                _holdout_error(problem, folds == 0, candidate, self.n_jobs)
                for candidate in FEW_PENALTIES
            ]
            penalty = FEW_PENALTIES[int(np.argmin(errors))]
        self.penalty_ = float(penalty)
        self.coefficients_, self.intercepts_ = problem.solve_iteratively(penalty, self.n_jobs)

    def _out_of_fold_scores(
        self, X: Any, Y: sparse.csr_array, sample_weight: Array | None
    ) -> Array:
        """Return the scores of the training rows by iterative solutions on the other folds."""
        generator = self._generator()
        rows = self._scaling.transform(X, n_jobs=self.n_jobs)
        weights = np.ones(X.shape[0]) if sample_weight is None else sample_weight

        def score_fold(train: Array, test: Array) -> Array:
            problem = RidgeProblem(rows[train], Y[train], weights[train])
            coefficients, intercepts = problem.solve_iteratively(self.penalty_, self.n_jobs)
            with single_threaded_blas():
                scores = np.asarray(rows[test] @ coefficients) + intercepts
            return solvers.squash_to_unit_interval(scores)

        return out_of_fold_scores(score_fold, Y, N_FOLDS, generator, caller="RidgeRanker")

    def _predict_scores(self, X: Any) -> Array:
        """Return the linear or kernel predictions, squashed to [0, 1]."""
        rows = self._scaling.transform(X, n_jobs=self.n_jobs)
        scores = np.empty((X.shape[0], self.n_labels_))

        def process(block: slice) -> None:
            features = rows[block]
            if self.kernel_ != "linear":
                features = self._kernel.similarities(features)
            scores[block] = features @ self.coefficients_
            scores[block] += self.intercepts_
            solvers.squash_to_unit_interval(scores[block])

        with single_threaded_blas():
            run_in_threads(process, row_slices(X.shape[0], 1, AT_ONCE), n_jobs=self.n_jobs)
        return scores


class _ExactSolution(NamedTuple):
    """A solver and its fit, from which leave-one-out scores are computed."""

    solver: solvers.Solver
    fit: solvers.RidgeFit


def draw_landmarks(labels: sparse.csr_array, n_landmarks: int, generator: Any) -> Array:
    """Return row indices, drawn with probability inverse to the count of a row's rarest label."""
    n_rows, n_labels = labels.shape
    counts = np.bincount(labels.indices, minlength=n_labels)
    rarest_count = np.full(n_rows, n_rows)  # unlabelled rows: as if they had a label of all rows
    labelled = np.flatnonzero(np.diff(labels.indptr))
    if len(labelled):
        starts = labels.indptr[labelled]
        rarest_count[labelled] = np.minimum.reduceat(counts[labels.indices], starts)
    probabilities = 1 / rarest_count
    probabilities /= probabilities.sum()
    size = min(n_landmarks, n_rows)
    return np.sort(generator.choice(n_rows, size, replace=False, p=probabilities))


def _holdout_error(
    problem: RidgeProblem, is_test: Array, penalty: float, n_jobs: int | None
) -> float:
    """Return the squared error on some rows of an iterative solution on the others."""
    train = np.flatnonzero(~is_test)
    test = np.flatnonzero(is_test)
    training = RidgeProblem(problem.rows[train], problem.labels[train], problem.weights[train])
    coefficients, intercepts = training.solve_iteratively(penalty, n_jobs)
    error = 0.0
    for rows in np.array_split(test, max(1, test.size // AT_ONCE)):
        with single_threaded_blas():
            scores = np.asarray(problem.rows[rows] @ coefficients) + intercepts
        squared = ((problem.labels[rows].toarray() - scores) ** 2).sum(axis=1)
        error += float(problem.weights[rows] @ squared)
    return error
