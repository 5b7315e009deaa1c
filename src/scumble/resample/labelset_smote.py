"""LabelsetSMOTE: new rows between seeds, with the seed's labels."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.features import Features
from scumble._core.neighbours import nearest_neighbours
from scumble._core.parameters import Choice, Int, Real, default
from scumble.measures.imbalance import is_minority, label_counts
from scumble.resample.base import ResampleResult, _DistanceResampler, n_rows_from_percent
from scumble.resample.ml_random import rows_by_label
from scumble.resample.synthesis import SeedInstances, append_synthetic_rows, synthesize


@dataclass(kw_only=True, eq=False, repr=False)
class LabelsetSMOTE(_DistanceResampler, display_group="Add rows"):
    r"""Add synthetic rows between seeds; each keeps the labels of its seed.

    SMOTE as Giraldo-Forero and others took it to several labels: what matters is which rows may
    be seeds, and labelsets are never mixed.

    Parameters
    ----------
    percent : float
        How many rows to add, in percent of the rows there are.
    n_neighbors : int
        How many of the nearest seeds may be a seed's partner. Where there are fewer, all may; a
        single seed adds nothing.
    seeds : {"minority", "uniform", "pure"}
        Which rows are seeds: those with any minority label; for every label those that have it,
        all labels getting equally many new rows; or those that have exactly one label.
    scale : bool
        Whether numeric columns are scaled to [0, 1] before distances are taken.
    categorical_features : None, indices, names, mask or mapping
        The columns of ``X`` that hold codes; see `MLSMOTE`.
    random_state : int, Generator, RandomState or None
        Where the draws come from; the same number gives the same rows.
    n_jobs : int or None
        Threads; they change the time and never the result.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        The input row each output row comes from: all rows in order, then the seed of each
        synthetic row.
    n_added_, n_removed_ : int
        Synthetic rows; 0.

    See Also
    --------
    MLSMOTE : Combines the labels of a neighbourhood.

    Notes
    -----
    :math:`T = \lfloor n P / 100 \rfloor` rows are added. Every seed is used equally often, and
    the remainder is drawn without replacement. With ``"uniform"`` T is shared equally among the
    labels that at least two rows have, single rows going to the first labels, and a seed's
    partners are its nearest rows with the same label; else they are the nearest of all seeds. A
    numeric feature becomes :math:`a + r (b - a)` with a fresh :math:`r` for each feature
    (rounded in integer columns), a nominal one takes the most frequent value of the nearest
    seeds, as in `MLSMOTE`; nominal columns differ by 0 or 1. Missing values count as in `MLSMOTE`.

    The paper [1]_ compares criteria for choosing seeds on data of numeric features and does not
    say how many rows each adds; `percent` is ours.

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

    percent: float = default(25, Real(0))
    n_neighbors: int = default(5, Int(1))
    seeds: Literal["minority", "uniform", "pure"] = default(
        "minority", Choice("minority", "uniform", "pure")
    )
    scale: bool = True
    categorical_features: Any = None
    random_state: Any = None
    n_jobs: int | None = None

    def _fit_resample(self, features: Features, Y: sparse.csr_array) -> ResampleResult:
        space = features.space(scale=self.scale)
        rng = self._generator()
        pools = [pool for pool in self._pools(Y) if len(pool) > 1]
        total = n_rows_from_percent(self.percent, Y.shape[0])
        shares = [total // len(pools) + (at < total % len(pools)) for at in range(len(pools))]
        parts = []
        for pool, share in zip(pools, shares, strict=True):
            used = repeat_seeds_evenly(len(pool), share, rng)
            asked, places = np.unique(used, return_inverse=True)
            near = nearest_neighbours(
                space, self.n_neighbors, rows=pool[asked], candidate_rows=pool, n_jobs=self.n_jobs
            )
            parts.append((pool[used], near.rows[places]))
        seeds = SeedInstances.join(parts)
        if not len(seeds.rows):
            return ResampleResult(np.arange(Y.shape[0]), Y.copy())
        partners = seeds.draw_partners(rng)
        synthetic = synthesize(features, seeds, partners, rng, nominal="vote", n_jobs=self.n_jobs)
        return append_synthetic_rows(features, Y, synthetic, Y[seeds.rows], seeds.rows)

    def _pools(self, Y: sparse.csr_array) -> list[Array]:
        """List the rows that may be seeds together."""
        if self.seeds == "minority":
            return [np.flatnonzero(Y @ is_minority(Y))]
        if self.seeds == "pure":
            return [np.flatnonzero(np.diff(Y.indptr) == 1)]
        starts, rows = rows_by_label(Y, np.flatnonzero(label_counts(Y)))
        return [rows[starts[at] : starts[at + 1]] for at in range(len(starts) - 1)]


def repeat_seeds_evenly(n_seeds: int, amount: int, rng: np.random.Generator) -> Array:
    """Use every seed equally often, the remainder drawn without replacement."""
    times = np.full(n_seeds, amount // n_seeds)
    times[rng.permutation(n_seeds)[: amount % n_seeds]] += 1
    return np.repeat(np.arange(n_seeds), times)
