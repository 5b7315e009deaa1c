"""Classifiers that may have been used for the paper's numbers, besides those of its plan."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from scumble.learn.neighbours.iblr import IBLR
from scumble.learn.neighbours.logistic import fit_logistic


class EarlyIBLR(IBLR):
    """IBLR whose regressions stop when a step improves the likelihood by less than ``tolerance``.

    The likelihood of a separable label has no maximum, so its probabilities depend on where the
    optimizer stops. WEKA's optimizer stops at another point than that of scumble.
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        tolerance: float = 1e-2,
        features: bool = False,
        ties: str = "weka",
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_neighbors, features=features, ties=ties,
            categorical_features=categorical_features, n_jobs=n_jobs,
        )  # fmt: skip
        self.tolerance = tolerance

    def _fit(self, X: Any, Y: sparse.csr_array) -> None:
        """Fit the regressions with the given tolerance."""
        self._store_training_rows(X, Y)
        self._columns = None
        features = self._regression_columns(self._count_labels(), X)
        self.models_ = fit_logistic(features, Y, tolerance=self.tolerance, n_jobs=self.n_jobs)
