"""Synthetic rows: features between a seed and its partner, labels from a seed and neighbours.

The *seed* is the input row that a synthetic row is made from; its *partner* is one of its
neighbours, drawn at random. The *members* of a synthetic row are its seed, its partner and the
neighbours.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parallel import run_in_threads
from scumble._validation.features import Features
from scumble.resample.base import ResampleResult
from scumble.resample.containers import rows_like
from scumble.resample.kernels import synthesis as kernels
from scumble.resample.kernels.bags import copy_rows

#: Synthetic rows per block of work. It bounds the memory of a block; a thread takes one at a time.
BLOCK_ROWS = 256


class SeedSearch(NamedTuple):
    """Some seeds and the neighbours that one search found for them."""

    rows: Array  # indices of the seeds, shape (n_seeds,)
    neighbours: Array  # indices of their nearest rows, shape (n_seeds, k)


class SeedInstances(NamedTuple):
    """The rows that synthetic rows are made from; an entry for each synthetic row."""

    rows: Array  # index of the seed, shape (n_synthetic,)
    # Indices of the nearest rows, shape (n_synthetic, k); only the first ``neighbour_counts[i]`` of
    # row i are valid.
    neighbours: Array
    neighbour_counts: Array  # number of valid neighbours, at least one

    @classmethod
    def join(cls, searches: list[SeedSearch]) -> SeedInstances:
        """Return the seeds of several searches, one after another.

        Each search has its own number of neighbours.
        """
        n_seeds = sum(len(search.rows) for search in searches)
        max_neighbours = max((search.neighbours.shape[1] for search in searches), default=0)
        rows = np.zeros(n_seeds, np.int64)
        neighbours = np.zeros((n_seeds, max_neighbours), np.int64)
        neighbour_counts = np.zeros(n_seeds, np.int64)
        start = 0
        for search in searches:
            n_neighbours = search.neighbours.shape[1]
            stop = start + len(search.rows)
            rows[start:stop] = search.rows
            neighbours[start:stop, :n_neighbours] = search.neighbours
            neighbour_counts[start:stop] = n_neighbours
            start = stop
        return cls(rows, neighbours, neighbour_counts)

    def draw_partners(self, rng: np.random.Generator) -> Array:
        """Return the index of a random neighbour of each seed, its partner."""
        columns = (rng.random(len(self.rows)) * self.neighbour_counts).astype(np.int64)
        return self.neighbours[np.arange(len(columns)), columns]


class InterpolationPlan(NamedTuple):
    """What kernels need to make the features of synthetic rows.

    A *factor* is the random weight of the partner when a numeric value is interpolated.
    """

    # The seed, the partner, and the neighbours that vote on nominal values: shape
    # (n_synthetic, 2 + k); only the first ``n_members[i]`` of row i are valid.
    members: Array
    n_members: Array
    n_values: Array  # by column: number of values, 0 for a numeric column
    is_integer: Array  # by column
    is_drawn: Array  # by column: whether a random number decides, instead of a vote
    draw_starts: Array  # by row: index of its first factor; before that, space to count factors
    factors: Array  # random numbers in [0, 1)


class SparseRowBuffers(NamedTuple):
    """Memory that kernels write sparse rows to; each row has enough space, often more."""

    starts: Array  # by row: where its space begins
    lengths: Array  # by row: number of elements written
    indices: Array
    data: Array | None  # None for labels
    n_columns: int

    @classmethod
    def allocate(
        cls, matrix: sparse.csr_array, members: Array, n_members: Array
    ) -> SparseRowBuffers:
        """Return buffers with space for rows that are combined from rows of ``matrix``.

        ``members`` and ``n_members`` are those of `InterpolationPlan`; a new row has at most as
        many elements as its members together.
        """
        is_member = np.arange(members.shape[1]) < n_members[:, None]
        n_elements = np.where(is_member, np.diff(matrix.indptr)[members], 0)
        space = np.minimum(n_elements.sum(axis=1, dtype=np.int64), matrix.shape[1])
        indices = np.empty(int(space.sum()), matrix.indices.dtype)
        return cls(
            starts=np.cumsum(space) - space,
            lengths=np.empty(len(space), np.int64),
            indices=indices,
            data=None if matrix.dtype == bool else np.empty(len(indices)),
            n_columns=matrix.shape[1],
        )

    def pack(self) -> sparse.csr_array:
        """Return the written rows as a CSR matrix without unused space."""
        n_rows = len(self.lengths)
        indptr = np.concatenate([[0], np.cumsum(self.lengths)])
        rows = np.arange(n_rows)
        indices = copy_rows(self.starts, rows, indptr, self.indices)
        if self.data is None:
            data = np.ones(len(indices), bool)
        else:
            data = copy_rows(self.starts, rows, indptr, self.data)
        # The dtype that scipy would choose: scikit-learn's trees refuse a wider one than needed.
        dtype = sparse.get_index_dtype(maxval=max(len(indices), self.n_columns))
        parts = (data, indices.astype(dtype, copy=False), indptr.astype(dtype, copy=False))
        return sparse.csr_array(parts, shape=(n_rows, self.n_columns))


def synthesize(
    features: Features,
    seeds: SeedInstances,
    partners: Array,
    rng: np.random.Generator,
    *,
    nominal: Literal["vote", "coin"],
    n_jobs: int | None,
) -> Any:
    """Return the features of synthetic rows, as numbers and codes like ``features.values``.

    ``partners`` holds the index of the partner of each seed. A numeric value lies between those of
    seed and partner; if one of these is missing, the other is copied, and if both are, the value is
    missing. ``nominal`` is the rule for nominal values: "vote" takes the most frequent value among
    seed, partner and neighbours, "coin" that of the seed or of the partner, with equal probability.
    """
    values, n_values = features.values, features.n_values
    if not values.size:  # no columns, or a sparse matrix of zeros
        return values[seeds.rows]
    is_drawn = (n_values == 0) | (nominal == "coin")
    # Without a vote only seed and partner are read.
    n_members = np.where(is_drawn.all(), 2, 2 + seeds.neighbour_counts)
    n_draws = np.empty(len(partners), np.int64)
    plan = InterpolationPlan(
        members=np.column_stack([seeds.rows, partners, seeds.neighbours]),
        n_members=n_members,
        n_values=n_values,
        is_integer=features.is_integer,
        is_drawn=is_drawn,
        draw_starts=n_draws,
        factors=np.empty(0),
    )
    blocks = _blocks(len(partners))

    def count_block(block: tuple[int, int]) -> None:
        """Write the number of factors that each row of a block needs to ``n_draws``."""
        start, stop = block
        if sparse.issparse(values):
            kernels.count_draws_sparse(
                values.indptr, values.indices, values.data, plan, start, stop, n_draws
            )
        else:
            kernels.count_draws_dense(values, plan, start, stop, n_draws)

    run_in_threads(count_block, blocks, n_jobs=n_jobs)
    # The factors are drawn by one generator for all rows, so that blocks do not change them.
    filled_plan = plan._replace(
        draw_starts=np.cumsum(n_draws) - n_draws, factors=rng.random(int(n_draws.sum()))
    )
    if sparse.issparse(values):
        return _fill_sparse(values, filled_plan, blocks, n_jobs=n_jobs)
    return _fill_dense(values, filled_plan, blocks, n_jobs=n_jobs)


def _fill_dense(
    values: Array, plan: InterpolationPlan, blocks: list[tuple[int, int]], *, n_jobs: int | None
) -> Array:
    """Return the features of all synthetic rows as an array; ``values`` are the input rows."""
    synthetic = np.empty((len(plan.members), values.shape[1]))

    def fill_block(block: tuple[int, int]) -> None:
        """Write the features of a block of rows."""
        start, stop = block
        kernels.fill_dense(values, plan, start, stop, synthetic)

    run_in_threads(fill_block, blocks, n_jobs=n_jobs)
    return synthetic


def _fill_sparse(
    values: sparse.csr_array,
    plan: InterpolationPlan,
    blocks: list[tuple[int, int]],
    *,
    n_jobs: int | None,
) -> sparse.csr_array:
    """Return the features of all synthetic rows as CSR; ``values`` are the input rows."""
    buffers = SparseRowBuffers.allocate(values, plan.members, plan.n_members)

    def fill_block(block: tuple[int, int]) -> None:
        """Write the features of a block of rows."""
        start, stop = block
        kernels.fill_sparse(values.indptr, values.indices, values.data, plan, start, stop, buffers)

    run_in_threads(fill_block, blocks, n_jobs=n_jobs)
    return buffers.pack()


def append_synthetic_rows(
    features: Features, Y: sparse.csr_array, *, synthetic: Any, labels: Any, seed_rows: Array
) -> ResampleResult:
    """Return the result with all input rows, followed by synthetic rows.

    ``synthetic`` holds the features of the synthetic rows as numbers and codes, ``labels`` their
    labels, ``seed_rows`` the indices of their seeds.
    """
    return ResampleResult(
        sample_indices=np.concatenate([np.arange(Y.shape[0]), seed_rows]),
        Y=sparse.vstack([Y, labels], format="csr"),
        synthetic=rows_like(features, synthetic, seed_rows),
    )


def combine_labels(
    Y: sparse.csr_array, seeds: SeedInstances, n_needed: Array, *, n_jobs: int | None
) -> sparse.csr_array:
    """Return a label matrix with a row for each seed: its labels for the synthetic row.

    A label is present if at least ``n_needed[i]`` of seed i and its neighbours have it.
    """
    members = np.column_stack([seeds.rows, seeds.neighbours])
    n_members = seeds.neighbour_counts + 1
    buffers = SparseRowBuffers.allocate(Y, members, n_members)

    def combine_block(block: tuple[int, int]) -> None:
        """Write the labels of a block of rows."""
        start, stop = block
        kernels.combine_labels(
            Y.indptr, Y.indices, members, n_members, n_needed, start, stop, buffers
        )

    run_in_threads(combine_block, _blocks(len(members)), n_jobs=n_jobs)
    return buffers.pack()


def _blocks(n_rows: int) -> list[tuple[int, int]]:
    """Return blocks of up to `BLOCK_ROWS` consecutive rows, as pairs of start and stop."""
    return [(start, min(start + BLOCK_ROWS, n_rows)) for start in range(0, n_rows, BLOCK_ROWS)]
