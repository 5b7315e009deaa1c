"""Counts of labels, and their assignment to rows, with specified MeanIR and SCUMBLE.

An *assignment* is a pair of a row and one of its labels, an entry of Y that is True. The *count* of
a label is the number of its assignments.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.parallel import run_in_threads
from scumble._core.progress import progress_bar
from scumble.data.synthetic.kernels import assign_labels_to_block, round_counts

#: Largest relative error of MeanIR that is accepted, as `make_multilabel` documents.
TOLERANCE = 0.02
#: Relative error of MeanIR at which the search for counts stops.
TARGET_ERROR = TOLERANCE / 20
#: Number of attempts to reach a MeanIR.
N_ATTEMPTS = 8
#: The same for few labels; more, because rounding to integers then leaves little choice.
N_ATTEMPTS_FEW_LABELS = 40
#: Up to this number, labels are few.
FEW_LABELS = 64
#: Up to this many labels the power law is evaluated for every label, beyond it for groups of ranks,
#: so that time does not grow with the number of labels.
MAX_EXACT_LABELS = 8192
#: The most frequent label has at most this share of the rows, if the other targets allow it.
PREFERRED_MAX_SHARE = 0.75
#: Number of rows that are assigned at a time: the data of a block fit into the processor's cache,
#: and blocks are independent, so that threads can process them.
BLOCK_ROWS = 8192
#: Largest absolute error of SCUMBLE that is accepted, as `make_multilabel` documents.
SCUMBLE_TOLERANCE = 0.01
#: Number of single moves that `_correct_mean_ir` makes at most, so that its time is bounded.
MAX_MOVES = 200
#: Number of bisection steps for the steepness of the law; 2^-60 of the interval is below rounding.
BISECTION_STEPS = 60


def label_counts(
    n_assignments: int,
    n_labels: int,
    mean_ir: float,
    max_count: int,
    *,
    curvature: float = 1.0,
    allow_nearest: bool = False,
) -> Array:
    """Return a count for each label, most frequent first, with a specified sum and MeanIR.

    The counts follow a power law of the rank, IRLbl = k^a for the k-th label, if one exists with
    this sum and MeanIR and no count above ``max_count``. Otherwise the law is curved,
    ln IRLbl ~ (ln k)^p: with p > 1 more labels are about as frequent as the first, whose count can
    be smaller. No count is below 1.

    Parameters
    ----------
    n_assignments, n_labels : int
        Sum and number of the counts.
    mean_ir : float
        Mean of (largest count / count).
    max_count : int
        Upper limit of the counts.
    curvature : float
        A factor of p. A larger one gives more labels of medium frequency, and rarer rare labels.
    allow_nearest : bool
        Whether to return the nearest MeanIR that is possible instead of raising ParameterError.

    Returns
    -------
    ndarray of shape (n_labels,)
        Counts in descending order.
    """
    if not n_labels <= n_assignments <= n_labels * max_count:
        raise ParameterError(
            f"make_multilabel: {n_assignments} assignments do not fit {n_labels} labels with 1 to "
            f"{max_count} rows each. Expected 'cardinality' to be further from its limits."
        )
    low, high = reachable_mean_ir(n_assignments, n_labels, max_count)
    counts = _search_counts(
        n_assignments,
        n_labels,
        mean_ir=float(np.clip(mean_ir, low, high)),
        max_count=max_count,
        curvature=curvature,
    )
    if allow_nearest or _relative_error(counts, mean_ir) <= TOLERANCE:
        return counts
    raise ParameterError(
        f"make_multilabel: no {n_labels} label counts with sum {n_assignments} and none above "
        f"{max_count} have a MeanIR of {mean_ir:g}. Expected 'mean_ir' in [{low:.4g}, {high:.4g}] "
        "for this number of instances, labels and cardinality; the nearest value found is "
        f"{_mean_ir(counts):.4g}."
    )


def reachable_mean_ir(n_assignments: int, n_labels: int, max_count: int) -> tuple[float, float]:
    """Return the smallest and the largest MeanIR that label counts can have.

    The counts are ``n_labels`` whole numbers from 1 to ``max_count`` with the sum
    ``n_assignments``.
    """
    quotient, remainder = divmod(n_assignments, n_labels)
    even_counts = np.full(n_labels, quotient)
    even_counts[:remainder] += 1
    # The largest MeanIR has as many counts at the limit as possible, and 1 for the others.
    n_spare = n_assignments - n_labels
    n_at_limit = n_spare // max(max_count - 1, 1)
    extreme_counts = np.ones(n_labels, np.int64)
    extreme_counts[:n_at_limit] = max_count
    if n_at_limit < n_labels:
        extreme_counts[n_at_limit] += n_spare - n_at_limit * (max_count - 1)
    return _mean_ir(even_counts), _mean_ir(extreme_counts)


def _mean_ir(counts: Array) -> float:
    """Return the MeanIR of label counts: the mean of (largest count / count)."""
    return float(np.mean(counts.max() / counts))


def _search_counts(
    n_assignments: int, n_labels: int, *, mean_ir: float, max_count: int, curvature: float
) -> Array:
    """Return the label counts, in descending order, whose MeanIR is nearest to ``mean_ir``.

    The curved power law is solved and rounded to integers repeatedly; each time its sum and MeanIR
    are changed to make up for the rounding. The counts always have the sum ``n_assignments``.
    """
    if n_labels == 1:
        return np.array([n_assignments])
    law_sum = float(n_assignments)
    law_ir = mean_ir
    law_curvature = curvature * CurvedPowerLaw(n_labels, law_sum, law_ir).least_curvature(max_count)
    best = np.array([])
    for attempt in range(N_ATTEMPTS_FEW_LABELS if n_labels <= FEW_LABELS else N_ATTEMPTS):
        law = CurvedPowerLaw(n_labels, law_sum, law_ir)
        rounded = round_counts(law.values(law_curvature), max_count)
        counts = _correct_sum(rounded, n_assignments, max_count)
        counts = _correct_mean_ir(counts, mean_ir, max_count)
        if attempt == 0 or _relative_error(counts, mean_ir) < _relative_error(best, mean_ir):
            best = counts
        max_error = TARGET_ERROR if attempt < N_ATTEMPTS else TOLERANCE
        if _relative_error(best, mean_ir) < max_error:
            break
        law_sum = max(law_sum + n_assignments - float(rounded.sum()), n_labels)
        law_ir = max(law_ir * mean_ir / _mean_ir(counts), 1.0)
        if attempt >= N_ATTEMPTS:  # few labels whose integers do not fit: vary the law
            law_ir = max(mean_ir * (1 + 0.02 * (attempt % 8 - 4)), 1.0)
            law_curvature = 2.0 ** (attempt // 8)
    return best


def _relative_error(counts: Array, mean_ir: float) -> float:
    """Return the relative difference, >= 0, between the MeanIR of counts and ``mean_ir``."""
    return abs(_mean_ir(counts) / mean_ir - 1)


def _correct_sum(counts: Array, total: int, max_count: int) -> Array:
    """Return the counts, changed until their sum is ``total``, in descending order.

    Counts change about in proportion to their size, and stay between 1 and the largest one. The
    largest one changes, up to ``max_count``, only if no other can.
    """
    counts = np.sort(counts)[::-1].copy()
    while True:
        n_missing = total - int(counts.sum())
        if n_missing == 0:
            return np.sort(counts)[::-1]
        other_counts = counts[1:]  # a view, so that changes arrive in ``counts``
        max_changes = counts[0] - other_counts if n_missing > 0 else other_counts - 1
        if max_changes.sum() == 0:
            counts[0] = min(max(counts[0] + n_missing, 1), max_count)
            continue
        weights = max_changes * other_counts
        changes = np.minimum(max_changes, weights * (abs(n_missing) / float(weights.sum())))
        changes = changes.astype(np.int64)
        if changes.sum() == 0:
            changes[np.flatnonzero(max_changes)[: abs(n_missing)]] = 1
        other_counts += changes if n_missing > 0 else -changes


def _correct_mean_ir(counts: Array, mean_ir: float, max_count: int) -> Array:
    """Return counts whose MeanIR is closer to ``mean_ir``, with the same sum.

    Single assignments move between labels as long as MeanIR gets closer. Counts of more than
    `MAX_EXACT_LABELS` labels are returned unchanged.
    """
    # Rounding matters for labels with one or two rows, and if there are few labels.
    if len(counts) < 2 or len(counts) > MAX_EXACT_LABELS:
        return counts
    for _ in range(MAX_MOVES):
        error = _relative_error(counts, mean_ir)
        if error < TARGET_ERROR:
            break
        changed_counts = _best_move(counts, mean_ir, max_count)
        if _relative_error(changed_counts, mean_ir) >= error:
            break
        counts = changed_counts
    return counts


def _best_move(counts: Array, mean_ir: float, max_count: int) -> Array:
    """Return the counts after moving one assignment so that MeanIR gets as close as possible.

    The counts are in descending order. They are returned unchanged if no move is possible.
    """
    # Labels with equal counts are equivalent, and only rare ones and the first affect MeanIR much.
    _, first = np.unique(counts, return_index=True)
    _, last = np.unique(counts[::-1], return_index=True)
    candidates = np.unique([*first[:40], *(len(counts) - 1 - last[:40]), 0, 1])
    candidate_counts = counts[candidates].astype(np.float64)
    donor = candidate_counts[:, None]
    receiver = candidate_counts[None, :]

    max_of_others = np.where(candidates == 0, counts[1], counts[0])[:, None]
    new_max = np.maximum(np.maximum(max_of_others, donor - 1), receiver + 1)
    with np.errstate(divide="ignore"):
        change_of_inverses = 1 / (donor - 1) - 1 / donor + 1 / (receiver + 1) - 1 / receiver
    new_mean_ir = new_max * (np.sum(1 / counts) + change_of_inverses) / len(counts)
    errors = np.abs(new_mean_ir - mean_ir)
    is_impossible = (donor <= 1) | (receiver + 1 > max_count)
    errors[is_impossible | np.eye(len(candidates), dtype=bool)] = np.inf
    if not np.isfinite(errors).any():
        return counts

    best_donor, best_receiver = np.unravel_index(int(errors.argmin()), errors.shape)
    changed_counts = counts.copy()
    changed_counts[candidates[best_donor]] -= 1
    changed_counts[candidates[best_receiver]] += 1
    return np.sort(changed_counts)[::-1]


class CurvedPowerLaw:
    """A law that gives the count of a label from its rank, with a specified sum and MeanIR.

    The count of the k-th of n labels is max(1, M / IRLbl) with ln IRLbl = s (ln k / ln n)^p. For
    the curvature p = 1 this is a power law; with a larger one more labels are about as frequent as
    the first. For each curvature exactly one steepness s and one scale M give the sum and MeanIR.
    """

    def __init__(self, n_labels: int, total: float, mean_ir: float) -> None:
        """Store the targets and prepare the groups of ranks; ``total`` is the sum of the counts."""
        self.n_labels = n_labels
        self.total = total
        self.mean_ir = mean_ir
        ranks, self._group_sizes = _rank_groups(n_labels)
        self._log_relative_rank = _log_relative_rank(ranks[1:], n_labels)
        self._n_labels_up_to = np.cumsum(self._group_sizes)

    def values(self, curvature: float) -> Array:
        """Return the counts of all labels, in descending order, as floats >= 1."""
        log_steepness = self._solve_log_steepness(curvature)
        scale, _ = self._scale_and_mean_ir(curvature, log_steepness)
        log_relative_rank = _log_relative_rank(np.arange(2.0, self.n_labels + 1), self.n_labels)
        inverse_ratios = _inverse_ratios(curvature, log_steepness, log_relative_rank)
        return np.maximum(scale * inverse_ratios, 1.0)

    def least_curvature(self, max_count: int) -> float:
        """Return the smallest curvature >= 1 with which the largest count is small enough.

        The largest count should be `PREFERRED_MAX_SHARE` of ``max_count``. If that requires a
        curvature above 4, 90 % suffice, and above 8 the largest count may reach ``max_count``.
        """
        power_law_max = self._largest_count(1.0)
        limit = float(max_count)
        high = 1.0
        for share, max_curvature in ((PREFERRED_MAX_SHARE, 4.0), (0.9, 8.0), (1.0, 256.0)):
            limit = share * max_count
            high = max_curvature
            if power_law_max <= limit:
                return 1.0
            if self._largest_count(max_curvature) <= limit:
                break
        low = 1.0
        for _ in range(16):
            middle = math.sqrt(low * high)
            if self._largest_count(middle) > limit:
                low = middle
            else:
                high = middle
        return high

    def _largest_count(self, curvature: float) -> float:
        """Return the count of the first label, the most frequent one."""
        return self._scale_and_mean_ir(curvature, self._solve_log_steepness(curvature))[0]

    def _solve_log_steepness(self, curvature: float) -> float:
        """Return ln s for the specified MeanIR, by bisection, because MeanIR grows with s."""
        low = -40.0
        high = 40.0 - curvature * float(self._log_relative_rank[0])
        for _ in range(BISECTION_STEPS):
            middle = (low + high) / 2
            if self._scale_and_mean_ir(curvature, middle)[1] < self.mean_ir:
                low = middle
            else:
                high = middle
        return (low + high) / 2

    def _scale_and_mean_ir(self, curvature: float, log_steepness: float) -> tuple[float, float]:
        """Return the scale M with which the counts have the specified sum, and their MeanIR."""
        inverse_ratios = _inverse_ratios(curvature, log_steepness, self._log_relative_rank)
        # If only the first j counts are above 1, M is scales[j]; the last consistent j is right.
        n_with_count_1 = self._n_labels_up_to[-1] - self._n_labels_up_to
        scales = (self.total - n_with_count_1) / np.cumsum(self._group_sizes * inverse_ratios)
        is_consistent = np.flatnonzero(scales * inverse_ratios >= 1.0)
        scale = float(scales[is_consistent[-1]]) if len(is_consistent) else 1.0
        ratios = scale / np.maximum(scale * inverse_ratios, 1.0)
        return scale, float(np.dot(self._group_sizes, ratios) / self._n_labels_up_to[-1])


def _inverse_ratios(curvature: float, log_steepness: float, log_relative_rank: Array) -> Array:
    """Return 1 / IRLbl = exp(-s (ln k / ln n)^p) for the ranks k, see `CurvedPowerLaw`.

    The first value is that of rank 1, which is 1. There is one for each item of
    ``log_relative_rank``, ln(ln k / ln n), after it. ``curvature`` is p, ``log_steepness`` is ln s.
    """
    log_ratios = np.exp(np.minimum(log_steepness + curvature * log_relative_rank, 700.0))
    return np.concatenate([[1.0], np.exp(-log_ratios)])


def _log_relative_rank(ranks: Array, n_labels: int) -> Array:
    """Return ln(ln k / ln n) for the ranks k >= 2 of n labels, counted from 1."""
    return np.log(np.log(ranks) / math.log(n_labels))


def _rank_groups(n_labels: int) -> tuple[Array, Array]:
    """Return the mean rank and the size of each group of consecutive ranks.

    Up to `MAX_EXACT_LABELS` labels, every rank is a group. Beyond, large groups are at the end,
    where the law changes slowly.
    """
    if n_labels <= MAX_EXACT_LABELS:
        return np.arange(1.0, n_labels + 1), np.ones(n_labels)
    n_exact = MAX_EXACT_LABELS // 2
    edges = np.unique(np.geomspace(n_exact + 1, n_labels + 1, n_exact).astype(np.int64))
    edges[-1] = n_labels + 1
    middles = np.sqrt(edges[:-1] * (edges[1:] - 1.0))
    ranks = np.concatenate([np.arange(1.0, n_exact + 1), middles])
    return ranks, np.concatenate([np.ones(n_exact), np.diff(edges)])


def max_rows_per_label(n_rows: int, n_unlabelled: int) -> int:
    """Return the largest count that a label can have if ``n_unlabelled`` rows have no label."""
    # The share of a label is rounded up in some of the blocks; even there it must not exceed the
    # number of labelled rows.
    n_blocks = _count_blocks(n_rows)
    return max((n_rows - n_unlabelled) // n_blocks * n_blocks, 1)


def assign_labels(
    candidate_counts: Iterable[Array],
    n_rows: int,
    n_unlabelled: int,
    scumble: float | None,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    *,
    allow_nearest: bool = False,
) -> sparse.csr_array:
    """Assign labels to rows at random, then exchange them between rows to reach a SCUMBLE.

    Parameters
    ----------
    candidate_counts : iterable of ndarray of shape (n_labels,)
        Label counts; the first array with which SCUMBLE can be reached is used.
    n_rows, n_unlabelled : int
        Number of rows, and of those without labels.
    scumble : float or None
        The target; None leaves the labels independent.
    rng : numpy.random.Generator
        Source of randomness.
    n_jobs : int, optional
        Number of threads.
    allow_nearest : bool
        Whether to return the nearest SCUMBLE that is possible instead of raising ParameterError.

    Returns
    -------
    csr_array of shape (n_rows, n_labels)
        The label matrix.
    """
    seeds = rng.integers(0, 2**64, size=_count_blocks(n_rows), dtype=np.uint64)
    assigners = []
    for counts in candidate_counts:
        assigner = LabelAssigner(counts, n_rows, n_unlabelled, seeds)
        if scumble is None:
            return assigner.assign_all(None, n_jobs).Y
        # One block is cheap; the small margin allows for its difference from all blocks.
        error = abs(assigner.first_block_scumble(scumble) - scumble)
        if error <= 0.9 * SCUMBLE_TOLERANCE:
            assigned = assigner.assign_all(scumble, n_jobs)
            if abs(assigned.scumble - scumble) <= SCUMBLE_TOLERANCE:
                return assigned.Y
        assigners.append(assigner)
    if allow_nearest and scumble is not None:
        nearest = min(assigners, key=lambda a: abs(a.first_block_scumble(scumble) - scumble))
        return nearest.assign_all(scumble, n_jobs).Y
    # Targets that are out of reach give the smallest and the largest possible SCUMBLE.
    low = min(assigner.first_block_scumble(-1.0) for assigner in assigners)
    high = max(assigner.first_block_scumble(2.0) for assigner in assigners)
    raise ParameterError(
        f"make_multilabel: a SCUMBLE of {scumble} cannot be reached with this number of labels, "
        f"cardinality and MeanIR. Expected 'scumble' in about [{low:.3f}, {high:.3f}], or None. "
        "A higher cardinality or 'mean_ir' widens the range."
    )


class AssignedLabels(NamedTuple):
    """A label matrix and its SCUMBLE, the mean over all rows."""

    Y: sparse.csr_array
    scumble: float


class LabelAssigner:
    """Assigns labels to rows, one block of rows after the other.

    The blocks depend on the number of rows only, not on the number of threads, so that one seed
    always gives the same labels.

    Parameters
    ----------
    counts : array of int, shape (n_labels,)
        The count of each label, in descending order.
    n_rows, n_unlabelled : int
        Number of rows, and of those that get no label.
    seeds : array of uint64, shape (n_blocks,)
        The seed of the random numbers of each block.
    """

    def __init__(self, counts: Array, n_rows: int, n_unlabelled: int, seeds: Array) -> None:
        """Store the parameters and compute IRLbl of every label from its count."""
        self.n_rows = n_rows
        self.n_labelled = n_rows - n_unlabelled
        self.seeds = seeds  # one per block
        self.cumulative_counts = np.cumsum(counts)
        self.ratios = counts[0] / counts
        self.log_ratios = np.log(self.ratios)

    def first_block_scumble(self, scumble: float) -> float:
        """Assign the labels of the first block, with a target for SCUMBLE; return its SCUMBLE."""
        indptr, indices = self._empty_csr()
        total = self._assign_block(0, scumble, indptr=indptr, indices=indices)
        return total / self._n_before_block(self.n_rows, 1)

    def assign_all(self, scumble: float | None, n_jobs: int | None) -> AssignedLabels:
        """Assign the labels of all blocks, with a target for SCUMBLE; None leaves them random."""
        indptr, indices = self._empty_csr()
        target = np.nan if scumble is None else scumble
        with progress_bar("Assigning labels", len(self.seeds)) as advance:

            def assign(block: int) -> float:
                """Assign a block, advance the progress bar, and return the block's SCUMBLE sum."""
                total = self._assign_block(block, target, indptr=indptr, indices=indices)
                advance(1)
                return total

            total = sum(run_in_threads(assign, range(len(self.seeds)), n_jobs=n_jobs))
        present = np.ones(len(indices), bool)
        shape = (self.n_rows, len(self.cumulative_counts))
        Y = sparse.csr_array((present, indices, indptr), shape=shape)
        return AssignedLabels(Y, total / self.n_rows)

    def _empty_csr(self) -> tuple[Array, Array]:
        """Return ``indptr``, all zeros, and ``indices``, uninitialized, for the label matrix."""
        n_assignments = int(self.cumulative_counts[-1])
        needs_int64 = max(n_assignments, self.n_rows) >= 2**31
        indptr = np.zeros(self.n_rows + 1, np.int64 if needs_int64 else np.int32)
        # Untouched pages of an empty array take no memory, so a single block is cheap.
        return indptr, np.empty(n_assignments, np.int32)

    def _n_before_block(self, n: int, block: int) -> int:
        """Return how many of n items come before a block when the blocks share them evenly."""
        quotient, remainder = divmod(n, len(self.seeds))
        return block * quotient + min(block, remainder)

    def block_labels(self, block: int) -> Array:
        """Return the label of each assignment of a block, in ascending order.

        If all assignments are sorted by label, each of n blocks gets every n-th of them.
        """
        n_blocks = len(self.seeds)
        n_before = (self.cumulative_counts - block + n_blocks - 1) // n_blocks
        block_counts = np.diff(n_before, prepend=0)
        return np.repeat(np.arange(len(block_counts), dtype=np.int32), block_counts)

    def _assign_block(self, block: int, target: float, *, indptr: Array, indices: Array) -> float:
        """Write the labels of a block into ``indptr`` and ``indices``, the arrays of the matrix.

        ``target`` is the SCUMBLE to reach, NaN for none. Return the sum of SCUMBLE over the rows.
        """
        first_row = self._n_before_block(self.n_rows, block)
        last_row = self._n_before_block(self.n_rows, block + 1)
        n_labelled = self._n_before_block(self.n_labelled, block + 1)
        n_labelled -= self._n_before_block(self.n_labelled, block)
        start = self._n_before_block(len(indices), block)
        stop = self._n_before_block(len(indices), block + 1)
        row_ends = np.empty(last_row - first_row, np.int64)
        total = assign_labels_to_block(
            slot_labels=self.block_labels(block),
            ratios=self.ratios,
            log_ratios=self.log_ratios,
            seed=self.seeds[block],
            n_rows=n_labelled,
            target=target,
            row_ends=row_ends,
            labels=indices[start:stop],
        )
        indptr[first_row + 1 : last_row + 1] = row_ends + start
        return total


def _count_blocks(n_rows: int) -> int:
    """Return the number of blocks into which `LabelAssigner` divides rows, at least 1."""
    return max(1, n_rows // BLOCK_ROWS)
