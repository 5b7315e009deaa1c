"""MLSOL and MLUL: resampling by the label distribution in the neighbourhood of each row.

The rarer value of a label, 0 or 1, is its *minority value*. A *minority cell* is a cell of ``Y``
that holds the minority value of its label.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.neighbours import Space, distances, nearest_neighbours
from scumble._core.parallel import row_blocks, run_in_threads
from scumble._core.parameters import Int, Real
from scumble._validation.features import Features
from scumble.measures.imbalance import label_counts
from scumble.resample.base import BaseDistanceResampler, ResampleResult, n_rows_from_percent
from scumble.resample.kernels import local as kernels
from scumble.resample.synthesis import SeedInstances, append_synthetic_rows, synthesize

#: A minority cell is borderline, rare or an outlier from these shares of opposite neighbours on.
TYPE_BORDERS = (0.3, 0.7, 1.0)
#: By cell type (safe, borderline, rare, outlier): the largest relative distance of a synthetic row
#: from the parent with the minority value at which it gets this value.
MAX_RELATIVE_DISTANCE = np.array([0.5, 0.75, np.inf, -1.0])
#: Minority cells per block of work; a block of fewer takes less time than starting a thread.
CELLS_PER_BLOCK = 20_000


class _LocalResampler(BaseDistanceResampler):
    """Base class of `MLSOL` and `MLUL`, which weight rows by the labels of their neighbours."""

    _parameter_constraints = {
        **BaseDistanceResampler._parameter_constraints,
        "percent": Real(minimum=0),
        "n_neighbors": Int(minimum=1),
    }

    def __init__(
        self,
        *,
        percent: float = 25,
        n_neighbors: int = 5,
        scale: bool = True,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.percent = percent
        self.n_neighbors = n_neighbors
        self.scale = scale
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs


class MLSOL(_LocalResampler, display_group="Add rows"):
    r"""Add synthetic rows where minority values are surrounded by the opposite class.

    Rows are likely seeds if many, but not all, of their neighbours have the opposite value of the
    labels for which they have the minority value. A new row lies between a seed and one of its
    neighbours. If the two differ in a label, the type of neighbourhood decides up to which
    distance the new row gets the minority value.

    Parameters
    ----------
    percent : float
        Number of rows to add, as a percentage of the rows of the input.
    n_neighbors : int
        Number of rows in a neighbourhood.
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
    weights_ : ndarray of float64, shape (n_samples,)
        The weights in proportion to which seeds are drawn.

    See Also
    --------
    MLUL : Removes rows by the same weights.
    MLSMOTE : Chooses seeds by rare labels alone.

    Notes
    -----
    The rarer value of a label is its minority value (1 if both are equally frequent). If row
    :math:`i` has it, the cell :math:`(i, j)` is a minority cell, and :math:`C_{ij}` is the share
    of the :math:`k` nearest rows with the opposite value. :math:`S_{ij} = C_{ij} / \sum C`, summed
    over the minority cells of the label with :math:`C < 1`, and :math:`w_i = \sum_j S_{ij}` (cells
    with :math:`C = 1`, outliers, contribute 0). Minority cells are *safe* (:math:`C < 0.3`),
    *borderline* (:math:`< 0.7`), *rare* (:math:`< 1`) or *outliers*; a rare cell with a safe or
    borderline minority neighbour becomes borderline, which is repeated until no cell changes.

    :math:`T = \lfloor n P / 100 \rfloor` times a seed is drawn in proportion to :math:`w`, and a
    partner among its neighbours. Numeric features are interpolated with a fresh factor each
    (rounded in integer columns), nominal ones are copied from the seed or the partner with equal
    probability. Labels that the two share are copied. Otherwise let :math:`d` be the distance of
    the new row from the parent with the minority value, over the sum of its distances from both
    (0 if both are 0): the new row gets the minority value if :math:`d \le 0.5` for a safe cell,
    if :math:`d \le 0.75` for a borderline one, always for a rare one, never for an outlier. If
    all weights are 0, the data is returned unchanged. The distance of two nominal values is 0 or
    1. Missing values are treated as in `MLSMOTE`, also in nominal features; a parent with missing
    values only counts as the farther one.

    The rules are those of the paper [1]_. (The R package mldr.resampling drops the first
    synthetic row and squares the sum of differences instead of summing squares.)

    References
    ----------
    .. [1] Liu, B., & Tsoumakas, G. (2019). Synthetic oversampling of multi-label data based on
       local label distribution. *ECML PKDD 2019*, LNCS 11907.

    Examples
    --------
    Of the rows with the label, only the one at 4 has a neighbour without it (row 3): it alone can
    be a seed. One of its two neighbours has the opposite value, so it is borderline, and new rows
    up to three quarters of the way to row 3 get the label: the one at 3.28, but not at 3.08.

    >>> import numpy as np
    >>> from scumble.resample import MLSOL
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [4.9], [5.9]])
    >>> Y = np.array([[0], [0], [0], [0], [1], [1], [1]])
    >>> sampler = MLSOL(percent=30, n_neighbors=2, random_state=9)
    >>> X_new, Y_new = sampler.fit_resample(X, Y)
    >>> sampler.weights_
    array([0., 0., 0., 0., 1., 0., 0.])
    >>> X_new[7:].round(2).tolist(), Y_new[7:].tolist()
    ([[3.28], [3.08]], [[1], [0]])
    """

    def _fit_resample(self, features: Features, Y: sparse.csr_array) -> ResampleResult:
        """Return all rows, then a synthetic row between each seed and one of its neighbours.

        Seeds are drawn in proportion to their weights, which are set as ``weights_``.
        """
        space = features.space(scale=self.scale)
        nearest = nearest_neighbours(space, self.n_neighbors, n_jobs=self.n_jobs).rows
        local = local_imbalance(Y, nearest, n_jobs=self.n_jobs)
        self.weights_ = local.weights
        n_new = n_rows_from_percent(self.percent, Y.shape[0])
        if not local.weights.any() or n_new == 0:
            return ResampleResult(np.arange(Y.shape[0]), Y.copy())
        rng = self._generator()
        rows = draw_by_weight(local.weights, n_new, rng)
        seeds = SeedInstances(
            rows=rows, neighbours=nearest[rows], neighbour_counts=np.full(n_new, nearest.shape[1])
        )
        partners = seeds.draw_partners(rng)
        synthetic = synthesize(features, seeds, partners, rng, nominal="coin", n_jobs=self.n_jobs)
        labels = _assign_labels(
            local, space, space.transform(synthetic), seed_rows=rows, partner_rows=partners
        )
        return append_synthetic_rows(
            features, Y, synthetic=synthetic, labels=labels, seed_rows=rows
        )


class MLUL(_LocalResampler, display_group="Remove rows"):
    r"""Remove random rows, mostly easy ones that do not help to learn the minority values nearby.

    The counterpart of `MLSOL`: the rows that remain are drawn at random. A row is more likely to
    remain, the more of its neighbours oppose its minority values, and the more it supports the
    minority values of the rows around it.

    Parameters
    ----------
    percent : float
        Number of rows to remove, as a percentage of the rows of the input.
    n_neighbors : int
        Number of rows in a neighbourhood.
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
        The input rows that remain, in order.
    n_added_, n_removed_ : int
        0; number of rows removed.
    weights_ : ndarray of float64, shape (n_samples,)
        The weights in proportion to which the rows that remain are drawn.

    See Also
    --------
    MLSOL : Adds rows by the same weights.

    Notes
    -----
    :math:`C`, :math:`S` and :math:`w` are those of `MLSOL`. The support of row :math:`i` is
    :math:`u_i`, the mean of :math:`\sum_j \pm S_{rj}` over the rows :math:`r` that have :math:`i`
    among their :math:`k` nearest rows: plus if :math:`i` has the same minority value and is not an
    outlier in it, else minus (0 if no row has :math:`i` as a neighbour). With :math:`v = w + u`,
    shifted so that the smallest is 0, :math:`n - \lfloor n P / 100 \rfloor` rows are drawn in
    proportion to :math:`v`, without replacement [1]_. Rows of weight 0 are drawn, with equal
    probability, only after all others. Missing values are treated as in `MLSMOTE`.

    References
    ----------
    .. [1] Liu, B., Blekas, K., & Tsoumakas, G. (2022). Multi-label sampling based on local label
       imbalance. *Pattern Recognition*, 122.

    Examples
    --------
    Of the rows with the label, only the one at 4 has a neighbour without it: w is 1 there and 0
    elsewhere. Its neighbours are row 5, which supports it (+1), and row 3, which does not (-1).
    Row 5 is also a neighbour of row 6, and row 3 of row 2, whose shares are 0: u is 1/2 and -1/2
    there. Shifted by 1/2, the smallest weight is 0.

    >>> import numpy as np
    >>> from scumble.resample import MLUL
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [4.9], [5.9]])
    >>> Y = np.array([[0], [0], [0], [0], [1], [1], [1]])
    >>> sampler = MLUL(percent=15, n_neighbors=2, random_state=0)
    >>> X_new, Y_new = sampler.fit_resample(X, Y)
    >>> sampler.weights_.round(2)
    array([0.5, 0.5, 0.5, 0. , 1.5, 1. , 0.5])
    >>> sampler.n_removed_
    1
    """

    _parameter_constraints = {
        **_LocalResampler._parameter_constraints,
        "percent": Real(minimum=0, maximum=100),
    }

    def _fit_resample(self, features: Features, Y: sparse.csr_array) -> ResampleResult:
        """Return the rows that remain, drawn in proportion to their weights; set ``weights_``."""
        n_rows = Y.shape[0]
        nearest = self._find_neighbours(features, self.n_neighbors)
        self.weights_ = _weights_to_remain(local_imbalance(Y, nearest, n_jobs=self.n_jobs))
        n_remaining = n_rows - n_rows_from_percent(self.percent, n_rows)
        drawn = draw_without_replacement(self.weights_, n_remaining, self._generator())
        rows = np.sort(drawn)
        return ResampleResult(rows, Y[rows])


@dataclass(frozen=True, eq=False)
class LocalImbalance:
    """The minority cells of a label matrix, and how far their neighbourhoods oppose them."""

    minority_cells: sparse.csr_array  # bool: True where a row has the minority value of a label
    flipped_labels: Array  # the labels whose minority value is 0, in order
    neighbours: Array  # shape (n_samples, k): the nearest rows of each row
    types: Array  # by minority cell: 0 safe, 1 borderline, 2 rare, 3 outlier
    shares: Array  # by minority cell: S of the notes of `MLSOL`
    weights: Array  # by row: w of the notes of `MLSOL`, the sum of its S


def local_imbalance(
    Y: sparse.csr_array, neighbours: Array, *, n_jobs: int | None
) -> LocalImbalance:
    """Return the minority cells of ``Y`` with their types, shares S and row weights w.

    The notes of `MLSOL` define them. ``neighbours``, of shape (n_samples, k), holds the indices of
    the nearest rows of each row.
    """
    n_rows, n_labels = Y.shape
    k = neighbours.shape[1]
    flipped_labels = np.flatnonzero(2 * label_counts(Y) > n_rows)
    cells = flip_labels(Y, flipped_labels)
    n_opposite = np.zeros(cells.nnz, np.int64)

    def count_block(block: tuple[int, int]) -> None:
        """Write the number of neighbours with the opposite value, for cells of some rows."""
        start, stop = block
        kernels.count_opposite_neighbours(
            cells.indptr, cells.indices, neighbours, n_labels, start, stop, n_opposite
        )

    blocks = row_blocks(cells.indptr, max(1, cells.nnz // CELLS_PER_BLOCK))
    run_in_threads(count_block, blocks, n_jobs=n_jobs)
    # Without neighbours (k = 0) all cells count as outliers.
    opposite_shares = n_opposite / k if k else np.ones(cells.nnz)
    contributions = np.where(opposite_shares < 1, opposite_shares, 0.0)  # outliers contribute 0
    totals = np.bincount(cells.indices, contributions, n_labels)[cells.indices]
    shares = np.divide(contributions, totals, out=np.zeros(cells.nnz), where=totals > 0)
    cell_rows = np.repeat(np.arange(n_rows), np.diff(cells.indptr))
    weights = np.bincount(cell_rows, shares, n_rows)
    types = np.digitize(opposite_shares, TYPE_BORDERS).astype(np.int8)
    kernels.relabel_rare_as_borderline(cells.indptr, cells.indices, neighbours, types)
    return LocalImbalance(
        minority_cells=cells,
        flipped_labels=flipped_labels,
        neighbours=neighbours,
        types=types,
        shares=shares,
        weights=weights,
    )


def flip_labels(Y: sparse.csr_array, labels: Array) -> sparse.csr_array:
    """Return ``Y`` with 0 and 1 exchanged in the columns ``labels``; not copied if it has none."""
    if not len(labels):
        return Y
    n_rows = Y.shape[0]
    indptr = np.arange(n_rows + 1) * len(labels)
    parts = (np.ones(indptr[-1], bool), np.tile(labels, n_rows), indptr)
    return Y != sparse.csr_array(parts, shape=Y.shape)


def draw_by_weight(weights: Array, n_draws: int, rng: np.random.Generator) -> Array:
    """Return the indices of rows drawn with replacement, in proportion to their weights."""
    cumulative = np.cumsum(weights)
    rows = np.searchsorted(cumulative, rng.random(n_draws) * cumulative[-1], side="right")
    # Rounding may give an index past the end; the last row with a weight is drawn instead.
    return np.minimum(rows, np.flatnonzero(weights)[-1])


def draw_without_replacement(weights: Array, n_draws: int, rng: np.random.Generator) -> Array:
    """Return the indices of rows drawn without replacement, in proportion to their weights.

    Rows of weight 0 are drawn last, with equal probability.
    """
    # Sorting by exponential random numbers over weights is the same as drawing one by one.
    exponentials = rng.standard_exponential(len(weights))
    keys = np.full(len(weights), np.inf)
    np.divide(exponentials, weights, out=keys, where=weights > 0)
    ties = rng.random(len(weights))  # orders the rows of weight 0
    return np.lexsort((ties, keys))[:n_draws]


def _weights_to_remain(local: LocalImbalance) -> Array:
    """Return the weight v of each row, by which `MLUL` draws the rows that remain; at least 0."""
    cells = local.minority_cells
    support = kernels.sum_support(
        cells.indptr, cells.indices, local.neighbours, local.shares, local.types
    )
    n_supported = np.bincount(local.neighbours.ravel(), minlength=len(support))
    weights = local.weights + support / np.maximum(n_supported, 1)
    return weights - weights.min() if len(weights) else weights


def _assign_labels(
    local: LocalImbalance, space: Space, synthetic: Space, *, seed_rows: Array, partner_rows: Array
) -> sparse.csr_array:
    """Return the labels of synthetic rows, chosen by their distances from seed and partner.

    ``space`` holds the input rows, ``synthetic`` the new ones; its *parents*, the seed
    and the partner of each synthetic row, are the input rows ``seed_rows`` and ``partner_rows``.
    """
    seed_distances = distances(space, synthetic, seed_rows)
    partner_distances = distances(space, synthetic, partner_rows)
    # An infinite distance means that no column is known in both rows. Such a parent counts as
    # infinitely farther than the other one; if neither has a distance, both count as 0.
    no_seed = np.isinf(seed_distances)
    no_partner = np.isinf(partner_distances)
    is_unknown = no_seed | no_partner
    seed_distances = np.where(is_unknown, no_seed & ~no_partner, seed_distances)
    partner_distances = np.where(is_unknown, no_partner & ~no_seed, partner_distances)

    sums = seed_distances + partner_distances
    cells = local.minority_cells
    max_distances = sparse.csr_array(
        (MAX_RELATIVE_DISTANCE[local.types], cells.indices, cells.indptr), shape=cells.shape
    )
    labels = cells[seed_rows].multiply(cells[partner_rows])  # what both have needs no distance
    parents = ((seed_rows, seed_distances), (partner_rows, partner_distances))
    for parent_rows, parent_distances in parents:
        relative = np.divide(parent_distances, sums, out=np.zeros(len(sums)), where=sums > 0)
        inherited = max_distances[parent_rows]
        inherited.data = np.repeat(relative, np.diff(inherited.indptr)) <= inherited.data
        labels = labels + inherited
    return flip_labels(labels, local.flipped_labels)
