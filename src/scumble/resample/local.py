"""MLSOL and MLUL: resampling by what the neighbourhood of a row says of its labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.features import Features
from scumble._core.neighbours import Space, distances, nearest_neighbours
from scumble._core.parallel import row_blocks, run_in_threads
from scumble._core.parameters import Int, Real, default, parameter_constraints
from scumble.measures.imbalance import label_counts
from scumble.resample.base import ResampleResult, _DistanceResampler, n_rows_from_percent
from scumble.resample.kernels import local as kernels
from scumble.resample.synthesis import SeedInstances, append_synthetic_rows, synthesize

#: From these shares of neighbours with the other value on, a cell is borderline, rare, an outlier.
TYPE_BORDERS = (0.3, 0.7, 1.0)
#: Up to which share of the distance a safe, borderline, rare or outlying cell reaches a new row.
REACH = np.array([0.5, 0.75, np.inf, -1.0])


@dataclass(kw_only=True, eq=False, repr=False)
class _LocalResampler(_DistanceResampler):
    """Base of the two that look at the labels around each row."""

    percent: float = default(25, Real(0))
    n_neighbors: int = default(5, Int(1))
    scale: bool = True
    categorical_features: Any = None
    random_state: Any = None
    n_jobs: int | None = None


class MLSOL(_LocalResampler, display_group="Add rows"):
    r"""Add synthetic rows where rare label values meet resistance in their neighbourhood.

    Rows whose rare label values are surrounded by other values (but not entirely) are likely
    seeds. A new row lies between a seed and one of its neighbours; where the two disagree on a
    label, the kind of neighbourhood decides how far the rare value reaches.

    Parameters
    ----------
    percent : float
        How many rows to add, in percent of the rows there are.
    n_neighbors : int
        How many neighbours make a neighbourhood.
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
    weights_ : ndarray of float64, shape (n_samples,)
        The weights by which seeds are drawn.

    See Also
    --------
    MLUL : Removes rows by the same weights.
    MLSMOTE : Chooses seeds by rare labels alone.

    Notes
    -----
    The rarer value of a label is its minority value (1 where both are equally frequent). Where
    row :math:`i` holds it, :math:`C_{ij}` is the share of its :math:`k` nearest rows with the
    other value; :math:`S_{ij} = C_{ij} / \sum C` over the label's minority cells with
    :math:`C < 1`, and :math:`w_i = \sum_j S_{ij}` (cells with :math:`C = 1`, outliers, add
    nothing). Minority cells are *safe* (:math:`C < 0.3`), *borderline* (:math:`< 0.7`), *rare*
    (:math:`< 1`) or *outliers*; a rare cell with a safe or borderline minority neighbour becomes
    borderline, until none is left.

    :math:`T = \lfloor n P / 100 \rfloor` times a seed is drawn by :math:`w` and a partner among
    its neighbours. Numeric features are interpolated with a fresh factor each (rounded in
    integer columns), nominal ones are the seed's or the partner's by the toss of a coin. Labels
    the two share are copied. Else let :math:`d` be the new row's distance from the one that
    holds the minority value, over the sum of its distances from both (0 where both are 0): that
    value is taken if :math:`d \le 0.5` in a safe cell, if :math:`d \le 0.75` in a borderline
    one, always in a rare one, never in an outlier. Where all weights are 0 the data comes back
    unchanged. Nominal columns differ by 0 or 1. Missing values count as in `MLSMOTE`, coins
    included; a parent of which nothing is known is the farther one.

    The rules are those of the paper [1]_. (The R package mldr.resampling drops the first
    synthetic row and squares the sum of differences instead of summing squares.)

    References
    ----------
    .. [1] Liu, B., & Tsoumakas, G. (2019). Synthetic oversampling of multi-label data based on
       local label distribution. *ECML PKDD 2019*, LNCS 11907.

    Examples
    --------
    Of the rows with the label, only the one at 4 has a neighbour without it (row 3): it alone can
    be a seed. One of its two neighbours is opposed, so it is borderline, and its label reaches
    three quarters of the way to row 3: to 3.28, but not to 3.08.

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
        space = features.space(scale=self.scale)
        near = nearest_neighbours(space, self.n_neighbors, n_jobs=self.n_jobs).rows
        local = local_imbalance(Y, near, n_jobs=self.n_jobs)
        self.weights_ = local.weights
        wanted = n_rows_from_percent(self.percent, Y.shape[0])
        if not local.weights.any() or wanted == 0:
            return ResampleResult(np.arange(Y.shape[0]), Y.copy())
        rng = self._generator()
        drawn = draw_by_weight(local.weights, wanted, rng)
        seeds = SeedInstances(drawn, near[drawn], np.full(wanted, near.shape[1]))
        partners = seeds.draw_partners(rng)
        synthetic = synthesize(features, seeds, partners, rng, nominal="coin", n_jobs=self.n_jobs)
        labels = _assign_labels(local, space, space.place(synthetic), drawn, partners)
        return append_synthetic_rows(features, Y, synthetic, labels, drawn)


class MLUL(_LocalResampler, display_group="Remove rows"):
    r"""Remove rows, most likely those that neither need nor give support in their neighbourhood.

    The counterpart of `MLSOL`: rows stay by chance, the more likely the harder their own rare
    label values are to learn and the more they support those of the rows around them.

    Parameters
    ----------
    percent : float
        How many rows to remove, in percent of the rows there are.
    n_neighbors : int
        How many neighbours make a neighbourhood.
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
        The input rows that stay, in order.
    n_added_, n_removed_ : int
        0; rows removed.
    weights_ : ndarray of float64, shape (n_samples,)
        The weights by which the rows that stay are drawn.

    See Also
    --------
    MLSOL : Adds rows by the same weights.

    Notes
    -----
    :math:`C`, :math:`S` and :math:`w` are those of `MLSOL`. The support of row :math:`i` is
    :math:`u_i`, the mean over the rows :math:`r` that have :math:`i` among their :math:`k`
    nearest of :math:`\sum_j \pm S_{rj}`: plus where :math:`i` holds the same minority value and
    is no outlier in it, else minus (0 where no row has :math:`i` as a neighbour). With
    :math:`v = w + u`, shifted so that the smallest is 0, :math:`n - \lfloor n P / 100 \rfloor`
    rows are drawn by :math:`v` without replacement [1]_. Rows of weight 0 are drawn, each as
    likely as the others, only when no other row is left. Missing values count as in `MLSMOTE`.

    References
    ----------
    .. [1] Liu, B., Blekas, K., & Tsoumakas, G. (2022). Multi-label sampling based on local label
       imbalance. *Pattern Recognition*, 122.

    Examples
    --------
    Of the rows with the label, only the one at 4 has a neighbour without it: w is 1 there and 0
    elsewhere. Its neighbours are row 5, which supports it (+1), and row 3, which does not (-1).
    Row 5 is also a neighbour of row 6, and row 3 of row 2, which need nothing: u is 1/2 and -1/2
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

    _parameter_constraints = parameter_constraints(percent=Real(0, 100))

    def _fit_resample(self, features: Features, Y: sparse.csr_array) -> ResampleResult:
        n_rows = Y.shape[0]
        space = features.space(scale=self.scale)
        near = nearest_neighbours(space, self.n_neighbors, n_jobs=self.n_jobs).rows
        weights = _keeping_weights(local_imbalance(Y, near, n_jobs=self.n_jobs))
        self.weights_ = weights
        n_kept = n_rows - n_rows_from_percent(self.percent, n_rows)
        rows = np.sort(draw_without_replacement(weights, n_kept, self._generator()))
        return ResampleResult(rows, Y[rows])


@dataclass(frozen=True, eq=False)
class LocalImbalance:
    """What the neighbourhoods say of the minority cells."""

    minority_cells: sparse.csr_array  # bool: True where a row holds the minority value of a label
    flipped_labels: Array  # the labels whose minority value is 0, in order
    neighbours: Array  # shape (n_samples, k): the nearest rows of each row
    types: Array  # safe, borderline, rare or outlier, for each stored cell
    shares: Array  # S for each stored cell
    weights: Array  # w, the sums of S, by row


def local_imbalance(
    Y: sparse.csr_array, neighbours: Array, *, n_jobs: int | None
) -> LocalImbalance:
    """Compute C, S, w and the types of all minority cells."""
    n_rows, n_labels = Y.shape
    flipped = np.flatnonzero(2 * label_counts(Y) > n_rows)
    cells = flip_labels(Y, flipped)
    n_opposed = np.zeros(cells.nnz, np.int64)
    parts = (cells.indptr, cells.indices, neighbours, n_labels)
    blocks = row_blocks(cells.indptr, max(1, cells.nnz // 20_000))
    run_in_threads(
        lambda block: kernels.count_opposite_neighbours(*parts, *block, n_opposed),
        blocks,
        n_jobs=n_jobs,
    )
    # Without neighbours nothing can be said: all cells count as outliers.
    k = neighbours.shape[1]
    opposed = n_opposed / k if k else np.ones(cells.nnz)
    # An outlier has no share, and adds nothing to its label's sum of opposition.
    counted = np.where(opposed < 1, opposed, 0.0)
    whole = np.bincount(cells.indices, counted, n_labels)[cells.indices]
    shares = np.divide(counted, whole, out=np.zeros(cells.nnz), where=whole > 0)
    weights = np.bincount(np.repeat(np.arange(n_rows), np.diff(cells.indptr)), shares, n_rows)
    types = np.digitize(opposed, TYPE_BORDERS).astype(np.int8)
    kernels.relabel_rare_as_borderline(cells.indptr, cells.indices, neighbours, types)
    return LocalImbalance(cells, flipped, neighbours, types, shares, weights)


def flip_labels(Y: sparse.csr_array, labels: Array) -> sparse.csr_array:
    """Exchange 0 and 1 in some labels; doing it twice gives the labels back."""
    if not len(labels):
        return Y
    n_rows = Y.shape[0]
    starts = np.arange(n_rows + 1) * len(labels)
    everywhere = (np.ones(starts[-1], bool), np.tile(labels, n_rows), starts)
    return Y != sparse.csr_array(everywhere, shape=Y.shape)


def draw_by_weight(weights: Array, amount: int, rng: np.random.Generator) -> Array:
    """Draw rows with replacement, each as likely as its weight says."""
    upto = np.cumsum(weights)
    drawn = np.searchsorted(upto, rng.random(amount) * upto[-1], side="right")
    # Rounding may reach past the end: the last row that has a weight takes it.
    return np.minimum(drawn, np.flatnonzero(weights)[-1])


def draw_without_replacement(weights: Array, amount: int, rng: np.random.Generator) -> Array:
    """Draw rows without replacement, each time in proportion to the weights of those left."""
    waiting = rng.standard_exponential(len(weights))
    # The row with the least waiting time over weight comes first: the same as drawing one by one.
    times = np.full(len(weights), np.inf)
    np.divide(waiting, weights, out=times, where=weights > 0)
    return np.lexsort((rng.random(len(weights)), times))[:amount]


def _keeping_weights(local: LocalImbalance) -> Array:
    parts = (local.minority_cells.indptr, local.minority_cells.indices, local.neighbours)
    support = kernels.sum_support(*parts, local.shares, local.types)
    n_askers = np.bincount(local.neighbours.ravel(), minlength=len(support))
    weights = local.weights + support / np.maximum(n_askers, 1)
    return weights - weights.min() if len(weights) else weights


def _assign_labels(
    local: LocalImbalance, space: Space, synthetic: Space, seeds: Array, partners: Array
) -> sparse.csr_array:
    """Choose the labels of synthetic rows."""
    cells = local.minority_cells
    to_seed, to_partner = (distances(space, synthetic, rows) for rows in (seeds, partners))
    # A parent of which nothing is known is as far as can be; if none is known, neither is far.
    unlike_seed, unlike_partner = np.isinf(to_seed), np.isinf(to_partner)
    is_unlike = unlike_seed | unlike_partner
    to_seed = np.where(is_unlike, unlike_seed & ~unlike_partner, to_seed)
    to_partner = np.where(is_unlike, unlike_partner & ~unlike_seed, to_partner)
    whole = to_seed + to_partner
    reach = sparse.csr_array((REACH[local.types], cells.indices, cells.indptr), shape=cells.shape)
    taken = cells[seeds].multiply(cells[partners])  # what both have; else the nearer decides
    for rows, far in ((seeds, to_seed), (partners, to_partner)):
        share = np.divide(far, whole, out=np.zeros(len(far)), where=whole > 0)
        own = reach[rows]
        own.data = np.repeat(share, np.diff(own.indptr)) <= own.data
        taken = taken + own
    return flip_labels(taken, local.flipped_labels)
