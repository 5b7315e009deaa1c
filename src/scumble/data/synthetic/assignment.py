"""Which row has which labels, so that SCUMBLE comes out as asked for."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.parallel import run
from scumble._core.progress import track
from scumble.data.synthetic.kernels import Dealer

#: Rows are filled in blocks of about this many: a block's data fit the processor's cache, and
#: blocks are independent of each other.
BLOCK_ROWS = 8192
#: SCUMBLE may be off by this much.
TOLERANCE = 0.01
#: How many rounds of exchanges, each of two per assignment, a block may take.
EFFORT = 50


def most_rows(n_rows: int, n_unlabelled: int) -> int:
    """Tell how many rows a label can have at the most."""
    # With several blocks a label's share of a block is rounded up in some, which must not exceed
    # the block's labelled rows.
    n_blocks = _count_blocks(n_rows)
    return max((n_rows - n_unlabelled) // n_blocks * n_blocks, 1)


def assign_labels(
    candidates: Iterable[Array],
    n_rows: int,
    n_unlabelled: int,
    scumble: float | None,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    *,
    nearest: bool = False,
) -> sparse.csr_array:
    """Deal labels to rows at random, then exchange them between rows to reach a SCUMBLE."""
    # `nearest` takes the one that comes closest.
    seeds = rng.integers(0, 2**64, size=_count_blocks(n_rows), dtype=np.uint64)
    tried = []
    for counts in candidates:
        deal = Deal(counts, n_rows, n_unlabelled, seeds)
        if scumble is None or abs(deal.try_out(scumble) - scumble) <= 0.9 * TOLERANCE:
            Y, reached = deal.all(scumble, n_jobs)
            if scumble is None or abs(reached - scumble) <= TOLERANCE:
                return Y
        tried.append(deal)
    if nearest and scumble is not None:
        closest = min(tried, key=lambda deal: abs(deal.try_out(scumble) - scumble))
        return closest.all(scumble, n_jobs)[0]
    raise _unreachable(tried, scumble)


class Deal:
    """Labels to be dealt, cut into blocks by the shape of the data alone."""

    def __init__(self, counts: Array, n_rows: int, n_unlabelled: int, seeds: Array) -> None:
        self.n_rows, self.n_labelled = n_rows, n_rows - n_unlabelled
        self.n_labels = len(counts)
        self.n_assignments = int(counts.sum())
        self.seeds = seeds
        ratios = counts[0] / counts
        self.dealer = Dealer(np.cumsum(counts), ratios, np.log(ratios), len(seeds))
        wide = max(self.n_assignments, n_rows) >= 2**31
        self.index_type = np.int64 if wide else np.int32

    def try_out(self, scumble: float) -> float:
        """Fill the first block and tell the SCUMBLE it reached."""
        n_rows = self._before(self.n_rows, 1)
        indptr = np.zeros(n_rows + 1, self.index_type)
        indices = np.empty(self._before(self.n_assignments, 1), np.int32)
        return self._fill(0, scumble, indptr, indices) / n_rows

    def all(self, scumble: float | None, n_jobs: int | None) -> tuple[sparse.csr_array, float]:
        """Fill all blocks."""
        indptr = np.zeros(self.n_rows + 1, self.index_type)
        indices = np.empty(self.n_assignments, np.int32)
        target = np.nan if scumble is None else scumble
        with track("Dealing labels", len(self.seeds)) as advance:

            def fill(block: int) -> float:
                total = self._fill(block, target, indptr, indices)
                advance(1)
                return total

            total = sum(run(fill, range(len(self.seeds)), n_jobs=n_jobs))
        present = np.ones(self.n_assignments, bool)
        Y = sparse.csr_array((present, indices, indptr), shape=(self.n_rows, self.n_labels))
        return Y, total / self.n_rows

    def _before(self, n: int, block: int) -> int:
        """Share n among the blocks, the first ones getting one more; count up to ``block``."""
        share, rest = divmod(n, len(self.seeds))
        return block * share + min(block, rest)

    def _fill(self, block: int, target: float, indptr: Array, indices: Array) -> float:
        first, last = self._before(self.n_rows, block), self._before(self.n_rows, block + 1)
        n_labelled = self._before(self.n_labelled, block + 1) - self._before(self.n_labelled, block)
        start, stop = (self._before(self.n_assignments, block + i) for i in (0, 1))
        row_ends = np.empty(last - first, np.int64)
        total = self.dealer.fill(
            block, self.seeds[block], n_labelled, target, EFFORT, row_ends, indices[start:stop]
        )
        indptr[first + 1 : last + 1] = row_ends + start
        return total


def _count_blocks(n_rows: int) -> int:
    return max(1, n_rows // BLOCK_ROWS)


def _unreachable(tried: list[Deal], scumble: float | None) -> ParameterError:
    low = min(deal.try_out(-1.0) for deal in tried)
    high = max(deal.try_out(2.0) for deal in tried)
    return ParameterError(
        f"make_multilabel: a SCUMBLE of {scumble} cannot be reached with this number of labels, "
        f"cardinality and MeanIR. Expected 'scumble' in about [{low:.3f}, {high:.3f}], or None. "
        "A higher cardinality or 'mean_ir' widens the range."
    )
