"""LabelsetSMOTE: synthetic rows between two seeds, with the labels of the first."""

from typing import Any, Literal

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.neighbours import nearest_neighbours
from scumble._core.parameters import Choice, Int, Real
from scumble._validation.features import Features
from scumble.measures.imbalance import is_minority, label_counts
from scumble.resample.base import BaseDistanceResampler, ResampleResult, n_rows_from_percent
from scumble.resample.ml_random import rows_by_label
from scumble.resample.synthesis import (
    SeedInstances,
    SeedSearch,
    append_synthetic_rows,
    synthesize,
)


class LabelsetSMOTE(BaseDistanceResampler, display_group="Add rows"):
    r"""Add synthetic rows between seeds; each has the labels of its seed.

    This is SMOTE for several labels as proposed by Giraldo-Forero and others: a criterion chooses
    which rows may be seeds, and labelsets are never mixed.

    Parameters
    ----------
    percent : float
        Number of rows to add, as a percentage of the rows of the input.
    n_neighbors : int
        Number of nearest seeds among which the partner of a seed is drawn. If there are fewer
        seeds, all of them are used; a single seed adds no row.
    seeds : {"minority", "uniform", "pure"}
        The rows that may be seeds: ``"minority"``, those with any minority label; ``"uniform"``,
        for every label those that have it, with equally many new rows per label; ``"pure"``,
        those that have exactly one label.
    scale : bool
        Whether numeric columns are scaled to [0, 1] before distances are computed.
    categorical_features : None, indices, names, mask or mapping
        The columns of ``X`` that hold codes of nominal values; see `MLSMOTE`.
    random_state : int, Generator, RandomState or None
        Source of the random numbers; the same int gives the same rows.
    n_jobs : int or None
        Number of threads; they change the time, never the result.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        For every row of the result, the input row that it comes from: all rows in order, then
        the seed of each synthetic row.
    n_added_, n_removed_ : int
        Number of synthetic rows; 0.

    See Also
    --------
    MLSMOTE : Combines the labels of a neighbourhood.

    Notes
    -----
    :math:`T = \lfloor n P / 100 \rfloor` rows are added. Every seed is used equally often, and
    the remainder is drawn without replacement. With ``"uniform"``, T is divided equally among the
    labels that at least two rows have, where the first labels get the remainder, and the partners
    of a seed are the nearest rows with the same label; otherwise they are the nearest of all
    seeds. A numeric feature becomes :math:`a + r (b - a)` with a fresh :math:`r` for each feature
    (rounded in integer columns), a nominal one becomes the most frequent value of the nearest
    seeds, as in `MLSMOTE`. The distance of two nominal values is 0 or 1. Missing values are
    treated as in `MLSMOTE`.

    The paper [1]_ compares criteria for choosing seeds on data with numeric features and does not
    state how many rows each adds; the parameter `percent` is an addition.

    References
    ----------
    .. [1] Giraldo-Forero, A. F., Jaramillo-Garzón, J. A., Ruiz-Muñoz, J. F., &
       Castellanos-Domínguez, C. G. (2013). Managing imbalanced data sets in multi-label
       problems: a case study with the SMOTE algorithm. *CIARP 2013*, LNCS 8258.

    Examples
    --------
    Label 1 is rare; its two rows are the seeds. T = floor(5 * 0.4) = 2: each is used once, and
    both new rows lie between them.

    >>> import numpy as np
    >>> from scumble.resample import LabelsetSMOTE
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [14.0]])
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [1, 1], [0, 1]])
    >>> X_new, Y_new = LabelsetSMOTE(percent=40, random_state=0).fit_resample(X, Y)
    >>> ((X_new[5:] >= 10) & (X_new[5:] <= 14)).all(), Y_new[5:].tolist()
    (np.True_, [[1, 1], [0, 1]])
    """

    _parameter_constraints = {
        **BaseDistanceResampler._parameter_constraints,
        "percent": Real(minimum=0),
        "n_neighbors": Int(minimum=1),
        "seeds": Choice("minority", "uniform", "pure"),
    }

    def __init__(
        self,
        *,
        percent: float = 25,
        n_neighbors: int = 5,
        seeds: Literal["minority", "uniform", "pure"] = "minority",
        scale: bool = True,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.percent = percent
        self.n_neighbors = n_neighbors
        self.seeds = seeds
        self.scale = scale
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_resample(self, features: Features, Y: sparse.csr_array) -> ResampleResult:
        """Return all rows, then a synthetic row between each seed and its partner.

        The *partner* of a seed is drawn from its nearest rows in the same pool.
        """
        space = features.space(scale=self.scale)
        rng = self._generator()
        pools = [pool for pool in self._seed_pools(Y) if len(pool) > 1]
        total = n_rows_from_percent(self.percent, Y.shape[0])
        searches = []
        for index, pool in enumerate(pools):
            n_new = total // len(pools)
            if index < total % len(pools):
                n_new += 1
            pool_indices = repeat_seeds_evenly(len(pool), n_new, rng)
            # The neighbours of a seed that is used several times are searched once.
            distinct, positions = np.unique(pool_indices, return_inverse=True)
            nearest = nearest_neighbours(
                space,
                self.n_neighbors,
                rows=pool[distinct],
                candidate_rows=pool,
                n_jobs=self.n_jobs,
            ).rows
            searches.append(SeedSearch(pool[pool_indices], nearest[positions]))
        seeds = SeedInstances.join(searches)
        if not len(seeds.rows):
            return ResampleResult(np.arange(Y.shape[0]), Y.copy())
        partners = seeds.draw_partners(rng)
        synthetic = synthesize(features, seeds, partners, rng, nominal="vote", n_jobs=self.n_jobs)
        return append_synthetic_rows(
            features, Y, synthetic=synthetic, labels=Y[seeds.rows], seed_rows=seeds.rows
        )

    def _seed_pools(self, Y: sparse.csr_array) -> list[Array]:
        """Return the pools of row indices from which seeds are drawn, by the ``seeds`` parameter.

        A seed and its partner are drawn from the same pool.
        """
        if self.seeds == "minority":
            return [np.flatnonzero(Y @ is_minority(Y))]
        if self.seeds == "pure":
            return [np.flatnonzero(np.diff(Y.indptr) == 1)]
        occurring_labels = np.flatnonzero(label_counts(Y))
        return rows_by_label(Y, occurring_labels).split()


def repeat_seeds_evenly(n_seeds: int, n_synthetic: int, rng: np.random.Generator) -> Array:
    """Return the index of a seed for each of ``n_synthetic`` rows, in ascending order.

    Each seed occurs equally often; seeds for the remainder are drawn without replacement.
    """
    counts = np.full(n_seeds, n_synthetic // n_seeds)
    counts[rng.permutation(n_seeds)[: n_synthetic % n_seeds]] += 1
    return np.repeat(np.arange(n_seeds), counts)
