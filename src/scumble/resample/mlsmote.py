"""MLSMOTE: synthetic rows between neighbours that share a rare label."""

from typing import Any, Literal

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.neighbours import nearest_neighbours
from scumble._core.parallel import run_in_threads
from scumble._core.parameters import Bool, Choice, Int
from scumble._validation.features import Features
from scumble.measures.imbalance import is_minority
from scumble.resample.base import BaseDistanceResampler, ResampleResult
from scumble.resample.kernels import synthesis as kernels
from scumble.resample.ml_random import rows_by_label
from scumble.resample.synthesis import (
    SeedInstances,
    SeedSearch,
    append_synthetic_rows,
    combine_labels,
    synthesize,
)

#: Rows of a label. If all labels have fewer, one thread searches the rows of a label; else the
#: labels come one after the other, and each search uses several threads.
FEW_ROWS_OF_LABEL = 512


class MLSMOTE(BaseDistanceResampler, display_group="Add rows"):
    r"""Add a synthetic row for every row of every rare label.

    The new row lies between its seed and one of the nearest neighbours that have the same rare
    label. It gets the labels that are common in this neighbourhood.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbours of each seed. If a label has fewer other rows, all of them are used;
        a label with a single row adds no row.
    strategy : {"ranking", "union", "intersection"}
        The labels that the new row gets: those that more than half of the seed and its neighbours
        have, those that any of them has, or those that all of them have.
    ranking_ties : bool
        Whether exactly half is enough for ``"ranking"``, as in MULAN's implementation.
    scale : bool
        Whether numeric columns are scaled to [0, 1] before distances are computed.
    categorical_features : None, indices, names, mask or mapping
        The columns of ``X`` that hold codes 0, 1, ... of nominal values; a mapping gives the
        number of values of each. Categorical, text and boolean columns of frames are recognised,
        and `resample` uses those of a data set.
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
    LabelsetSMOTE : Keeps the labels of the seed.
    MLSOL : Uses the labels of the neighbourhood to choose seeds.

    Notes
    -----
    For each label with IRLbl > MeanIR, in label order, and for each row of its bag (the rows that
    have it), the `n_neighbors` nearest rows within the bag are found, and one of them is drawn as
    partner. A numeric feature becomes :math:`a + r (b - a)` with a fresh :math:`r \in [0, 1)` for
    each feature (rounded in integer columns), a nominal feature becomes the most frequent value
    of the neighbours (the first of equally frequent ones). Ratios, bags and neighbours are those
    of the input; synthetic rows are never seeds.

    The distance is :math:`\sqrt{\sum (a - b)^2 + \sum \mathrm{VDM}(a, b)}` over the numeric and
    the nominal columns, with the value difference metric
    :math:`\mathrm{VDM}(a, b) = \sum_c |P(c|a) - P(c|b)|` for the current label. If values are
    missing (NaN), the sum runs over the columns :math:`K` that are known in both rows and is
    scaled up to all :math:`p` columns,

    .. math:: d^2(a, b) = \frac{p}{|K|} \sum_{j \in K} d_j^2(a_j, b_j),

    a partial distance as in Gower's coefficient and Dixon's study [2]_. Rows that share no known
    column come last, and a column that is missing everywhere has no effect. A synthetic value is
    interpolated if both parents have one; if only one has, its value is copied; if neither has,
    the synthetic value is missing, because nothing was observed and an imputed value would look
    like an observation. In nominal columns the known values of the neighbours count, or that of
    the seed if no neighbour has one.

    The paper [1]_ recomputes IRLbl after each label and does not state whether MeanIR is
    recomputed; here the values of the input are used throughout. It does not scale the features,
    which is ``scale=False``. (The R package mldr.resampling never uses the nearest neighbour,
    draws arbitrary rows as partners and drops the first synthetic row.)

    References
    ----------
    .. [1] Charte, F., Rivera, A. J., del Jesus, M. J., & Herrera, F. (2015). MLSMOTE:
       approaching imbalanced multilabel learning through synthetic instance generation.
       *Knowledge-Based Systems*, 89.
    .. [2] Dixon, J. K. (1979). Pattern recognition with partly missing data. *IEEE Transactions
       on Systems, Man, and Cybernetics*, 9(10).

    Examples
    --------
    Label 1 is rare (ratio 5/2 against a mean of 1.75). Each of its two rows is the only neighbour
    of the other, so both new rows lie between them; both rows have both labels.

    >>> import numpy as np
    >>> from scumble.resample import MLSMOTE
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [14.0]])
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [1, 1], [1, 1]])
    >>> X_new, Y_new = MLSMOTE(random_state=0).fit_resample(X, Y)
    >>> X_new[5:].round(2).tolist(), Y_new[5:].tolist()
    ([[10.16], [13.93]], [[1, 1], [1, 1]])

    If only one of them has a value in a second column, both new rows get it.

    >>> X_missing = np.column_stack([X, [3, 3, 3, 7, np.nan]])
    >>> MLSMOTE(random_state=0).fit_resample(X_missing, Y)[0][5:].round(2).tolist()
    [[10.16, 7.0], [13.93, 7.0]]
    """

    _parameter_constraints = {
        **BaseDistanceResampler._parameter_constraints,
        "n_neighbors": Int(minimum=1),
        "strategy": Choice("ranking", "union", "intersection"),
        "ranking_ties": Bool(),
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        strategy: Literal["ranking", "union", "intersection"] = "ranking",
        ranking_ties: bool = False,
        scale: bool = True,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.strategy = strategy
        self.ranking_ties = ranking_ties
        self.scale = scale
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_resample(self, features: Features, Y: sparse.csr_array) -> ResampleResult:
        """Return all rows, then a synthetic row between each seed and one of its neighbours.

        Seed and neighbours vote on its labels and nominal values. Without seeds nothing is added.
        """
        seeds = self._find_seeds(features, Y)
        if not len(seeds.rows):
            return ResampleResult(np.arange(Y.shape[0]), Y.copy())
        rng = self._generator()
        partners = seeds.draw_partners(rng)
        synthetic = synthesize(features, seeds, partners, rng, nominal="vote", n_jobs=self.n_jobs)
        labels = combine_labels(Y, seeds, self._votes_needed(seeds), n_jobs=self.n_jobs)
        return append_synthetic_rows(
            features, Y, synthetic=synthetic, labels=labels, seed_rows=seeds.rows
        )

    def _votes_needed(self, seeds: SeedInstances) -> Array:
        """Return, for each seed, how many of it and its neighbours must have a label.

        The synthetic row gets the labels that at least as many have; ``strategy`` decides.
        """
        n_members = seeds.neighbour_counts + 1
        if self.strategy == "union":
            return np.ones_like(n_members)
        if self.strategy == "intersection":
            return n_members
        if self.ranking_ties:
            return (n_members + 1) // 2
        return n_members // 2 + 1

    def _find_seeds(self, features: Features, Y: sparse.csr_array) -> SeedInstances:
        """Return each row of each rare label as a seed, with its nearest rows of the same label."""
        space = features.space(scale=self.scale)
        metric = None if space.is_numeric else ValueDifferenceMetric(features)
        minority = np.flatnonzero(is_minority(Y))
        groups = [rows for rows in rows_by_label(Y, minority).split() if len(rows) > 1]
        one_thread_per_label = all(len(rows) < FEW_ROWS_OF_LABEL for rows in groups)

        def search_neighbours(label_rows: Array) -> SeedSearch:
            """Return the neighbours of the rows of a label among these rows."""
            nearest = nearest_neighbours(
                space,
                self.n_neighbors,
                rows=label_rows,
                candidate_rows=label_rows,
                table=None if metric is None else metric.table(label_rows),
                n_jobs=1 if one_thread_per_label else self.n_jobs,
            )
            return SeedSearch(label_rows, nearest.rows)

        n_jobs = self.n_jobs if one_thread_per_label else 1
        searches = run_in_threads(search_neighbours, groups, n_jobs=n_jobs)
        return SeedInstances.join(searches)


class ValueDifferenceMetric:
    """Tables from which the value difference metric of nominal columns is computed, per label.

    The distance of two values is the sum of |P(c | a) - P(c | b)|, where c runs over having and not
    having the label: 2 |P(l | a) - P(l | b)|. The probabilities are shares of the rows whose value
    is known.
    """

    def __init__(self, features: Features) -> None:
        """Count how many rows have each value of each nominal column."""
        self.features = features
        self.starts = np.cumsum(features.n_values) - features.n_values
        self.totals = self._count_values(np.arange(features.values.shape[0]))

    def table(self, rows: Array) -> Array:
        """Return 2 P(l | a) for each value a of each nominal column, one column after another.

        ``rows`` are the indices of the rows that have the label l. The absolute difference of the
        numbers of two values is their distance. A value that no row has gets 0.
        """
        shares = np.zeros(len(self.totals))
        counts = self._count_values(rows)
        np.divide(counts, self.totals, out=shares, where=self.totals > 0)
        return 2 * shares

    def _count_values(self, rows: Array) -> Array:
        """Return how many of ``rows`` have each value of each nominal column, column by column."""
        values = self.features.values
        n_values = self.features.n_values
        counts = np.zeros(int(n_values.sum()), np.int64)
        if not len(counts):
            return counts
        if sparse.issparse(values):
            kernels.count_values_sparse(
                values.indptr, values.indices, values.data, n_values, self.starts, rows, counts
            )
        else:
            kernels.count_values_dense(values, n_values, self.starts, rows, counts)
        return counts
