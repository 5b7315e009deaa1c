"""MLSMOTE: new rows between neighbours that share a rare label."""

import itertools
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.features import Features
from scumble._core.neighbours import nearest_neighbours
from scumble._core.parallel import run_in_threads
from scumble._core.parameters import Bool, Choice, Int, default
from scumble.measures.imbalance import is_minority
from scumble.resample.base import ResampleResult, _DistanceResampler
from scumble.resample.kernels import synthesis as kernels
from scumble.resample.ml_random import rows_by_label
from scumble.resample.synthesis import (
    SeedInstances,
    append_synthetic_rows,
    combine_labels,
    synthesize,
)

#: Bags below this many rows are searched by one thread each.
SMALL_BAG = 512


@dataclass(kw_only=True, eq=False, repr=False)
class MLSMOTE(_DistanceResampler, display_group="Add rows"):
    r"""Add a synthetic row for every row of every rare label.

    The new row lies between the row and one of its nearest neighbours that have the same rare
    label, and gets the labels that this neighbourhood agrees on.

    Parameters
    ----------
    n_neighbors : int
        How many neighbours are looked at. A label with fewer other rows uses all of them; a
        label with a single row adds nothing.
    strategy : {"ranking", "union", "intersection"}
        Which labels the new row gets: those that more than half of the seed and its neighbours
        have, those that any of them has, or those that all of them have.
    ranking_ties : bool
        With ``"ranking"``: whether exactly half is enough, as in MULAN's implementation.
    scale : bool
        Whether numeric columns are scaled to [0, 1] before distances are taken.
    categorical_features : None, indices, names, mask or mapping
        The columns of ``X`` that hold codes 0, 1, ...; a mapping gives their numbers of values.
        Categorical, text and boolean columns of frames are recognised, and `resample` knows
        those of a data set.
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
    LabelsetSMOTE : Keeps the seed's labels.
    MLSOL : Looks at the labels of the neighbourhood to choose seeds.

    Notes
    -----
    For each label with IRLbl > MeanIR, in label order, for each row of its bag (the rows that
    have it): find its `n_neighbors` nearest rows within the bag, draw one of them as partner.
    A numeric feature becomes :math:`a + r (b - a)` with a fresh :math:`r \in [0, 1)` for each
    feature (rounded in integer columns), a nominal feature takes the neighbours' most frequent
    value (of equally frequent ones the first). Ratios, bags and neighbours are those of the
    input; synthetic rows are never seeds.

    The distance is :math:`\sqrt{\sum (a - b)^2 + \sum \mathrm{VDM}(a, b)}` over the numeric and
    the nominal columns, with :math:`\mathrm{VDM}(a, b) = \sum_c |P(c|a) - P(c|b)|` for the label
    in hand. Where values are missing (NaN), the sum runs over the columns :math:`K` known in both
    rows and is scaled up to all :math:`p` columns,

    .. math:: d^2(a, b) = \frac{p}{|K|} \sum_{j \in K} d_j^2(a_j, b_j),

    a partial distance as in Gower's coefficient and Dixon's study [2]_; rows that share no known
    column are taken last, and a column missing everywhere counts for nothing. A synthetic value
    is interpolated where both parents are known; where one is missing it is the known one, and
    where both are it is missing too: nothing was observed there, and inventing a value would
    tell a learner otherwise. Nominal columns go by the neighbours' known values, or by the seed's
    where no neighbour has one.

    The paper [1]_ recomputes IRLbl as it goes and does not say whether its MeanIR moves
    with it; the input's is used throughout here. It does not scale; ``scale=False`` is the
    paper. (The R package mldr.resampling never uses the nearest neighbour, draws arbitrary rows
    as partners and drops the first synthetic row.)

    References
    ----------
    .. [1] Charte, F., Rivera, A. J., del Jesus, M. J., & Herrera, F. (2015). MLSMOTE:
       approaching imbalanced multilabel learning through synthetic instance generation.
       *Knowledge-Based Systems*, 89.
    .. [2] Dixon, J. K. (1979). Pattern recognition with partly missing data. *IEEE Transactions
       on Systems, Man, and Cybernetics*, 9(10).

    Examples
    --------
    Label 1 is rare (ratio 5/2 against a mean of 1.75). Its two rows are each other's only
    neighbour, so both new rows lie between them; both labels are held by both.

    >>> import numpy as np
    >>> from scumble.resample import MLSMOTE
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [14.0]])
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [1, 1], [1, 1]])
    >>> X_new, Y_new = MLSMOTE(random_state=0).fit_resample(X, Y)
    >>> X_new[5:].round(2).tolist(), Y_new[5:].tolist()
    ([[10.16], [13.93]], [[1, 1], [1, 1]])

    Of a second column one of them has a value: both new rows take it.

    >>> gaps = np.column_stack([X, [3, 3, 3, 7, np.nan]])
    >>> MLSMOTE(random_state=0).fit_resample(gaps, Y)[0][5:].round(2).tolist()
    [[10.16, 7.0], [13.93, 7.0]]
    """

    n_neighbors: int = default(5, Int(1))
    strategy: Literal["ranking", "union", "intersection"] = default(
        "ranking", Choice("ranking", "union", "intersection")
    )
    ranking_ties: bool = default(False, Bool())
    scale: bool = True
    categorical_features: Any = None
    random_state: Any = None
    n_jobs: int | None = None

    def _fit_resample(self, features: Features, Y: sparse.csr_array) -> ResampleResult:
        seeds = self._find_seeds(features, Y)
        if not len(seeds.rows):
            return ResampleResult(np.arange(Y.shape[0]), Y.copy())
        rng = self._generator()
        partners = seeds.draw_partners(rng)
        synthetic = synthesize(features, seeds, partners, rng, nominal="vote", n_jobs=self.n_jobs)
        ties_in = self.strategy == "ranking" and self.ranking_ties
        strategy = "ranking, ties in" if ties_in else self.strategy
        labels = combine_labels(Y, seeds, strategy, n_jobs=self.n_jobs)
        return append_synthetic_rows(features, Y, synthetic, labels, seeds.rows)

    def _find_seeds(self, features: Features, Y: sparse.csr_array) -> SeedInstances:
        """Find the neighbours of every row of every rare label within the label's bag."""
        space = features.space(scale=self.scale)
        vdm = None if space.is_numeric else ValueDifferenceMetric(features)
        starts, rows = rows_by_label(Y, np.flatnonzero(is_minority(Y)))
        bags = [rows[a:b] for a, b in itertools.pairwise(starts) if b - a > 1]
        # Many small bags go to threads whole; large ones are searched by several threads.
        small = max((len(bag) for bag in bags), default=0) < SMALL_BAG

        def search(bag: Array) -> tuple[Array, Array]:
            table = None if vdm is None else vdm.table(bag)
            n_jobs = 1 if small else self.n_jobs
            near = nearest_neighbours(
                space, self.n_neighbors, rows=bag, candidate_rows=bag, table=table, n_jobs=n_jobs
            )
            return bag, near.rows

        parts = run_in_threads(search, bags, n_jobs=self.n_jobs if small else 1)
        return SeedInstances.join(parts)


# Two values of a nominal column differ by the sum of |P(c | a) - P(c | b)|, where c runs over
# having and not having the label in hand, so that it is 2 |P(l | a) - P(l | b)|. The shares are
# those among all rows whose value is known.
class ValueDifferenceMetric:
    """Tables of the value difference metric, one per label."""

    def __init__(self, features: Features) -> None:
        self.features = features
        self.starts = np.cumsum(features.n_values) - features.n_values
        self.totals = self._count(np.arange(features.values.shape[0]))

    def table(self, rows: Array) -> Array:
        """Make the table of one label."""
        shares = np.zeros(len(self.totals))
        np.divide(self._count(rows), self.totals, out=shares, where=self.totals > 0)
        return 2 * shares

    def _count(self, rows: Array) -> Array:
        values, n_values = self.features.values, self.features.n_values
        counts = np.zeros(int(n_values.sum()), np.int64)
        if not len(counts):
            return counts
        if sparse.issparse(values):
            stored = (values.indptr, values.indices, values.data)
            kernels.count_values_sparse(*stored, n_values, self.starts, rows, counts)
        else:
            kernels.count_values_dense(values, n_values, self.starts, rows, counts)
        return counts
