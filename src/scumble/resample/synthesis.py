"""Synthetic rows: features between a seed and its partner, labels from a seed and neighbours."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.features import Features
from scumble._core.parallel import run_in_threads
from scumble.resample.base import ResampleResult
from scumble.resample.containers import rows_like
from scumble.resample.kernels import synthesis as kernels
from scumble.resample.kernels.bags import copy_rows

#: Synthetic rows a thread makes at a time.
BLOCK_ROWS = 256


class SeedInstances(NamedTuple):
    """The rows synthetic rows are made from."""

    rows: Array  # the seed of each synthetic row
    #: shape (n_synthetic, k): its nearest rows; places past ``n_found`` mean nothing
    neighbours: Array
    neighbour_counts: Array  # how many nearest rows there are, at least one

    @classmethod
    def join(cls, parts: list[tuple[Array, Array]]) -> SeedInstances:
        """Put seeds from several searches, each with its own number of neighbours, together."""
        widest = max((found.shape[1] for _, found in parts), default=0)
        neighbours = np.zeros((sum(len(rows) for rows, _ in parts), widest), np.int64)
        n_found = np.zeros(len(neighbours), np.int64)
        at = 0
        for rows, found in parts:
            neighbours[at : at + len(rows), : found.shape[1]] = found
            n_found[at : at + len(rows)] = found.shape[1]
            at += len(rows)
        rows = np.concatenate([np.asarray(rows, np.int64) for rows, _ in parts] or [n_found])
        return cls(rows, neighbours, n_found)

    def draw_partners(self, rng: np.random.Generator) -> Array:
        """Draw one of its neighbours for every seed."""
        chosen = (rng.random(len(self.rows)) * self.neighbour_counts).astype(np.int64)
        return self.neighbours[np.arange(len(chosen)), chosen]


class InterpolationPlan(NamedTuple):
    """What the features of synthetic rows are made of, as kernels read it."""

    members: Array  # of each row: its seed, its partner, and the neighbours that vote
    n_members: Array  # how many there are of each row
    n_values: Array  # of each column, 0 where it is numeric
    is_integer: Array  # by column
    is_drawn: Array  # by column: whether a value is drawn between seed and partner, not voted on
    draw_starts: Array  # where the factors of each row begin, as soon as they are counted
    drawn: Array  # the factors


class SparseRowBuffers(NamedTuple):
    """Where kernels write sparse rows, each with more room than it may need."""

    starts: Array  # where the room of each row begins
    lengths: Array  # how much of it was used
    indices: Array
    data: Array | None  # None for labels
    n_columns: int

    @classmethod
    def of(cls, matrix: sparse.csr_array, members: Array, n_members: Array) -> SparseRowBuffers:
        """Make room for rows made from members: at most one element for each of theirs."""
        is_member = np.arange(members.shape[1]) < n_members[:, None]
        in_rows = np.where(is_member, np.diff(matrix.indptr)[members], 0)
        room = np.minimum(in_rows.sum(axis=1, dtype=np.int64), matrix.shape[1])
        starts, lengths = np.cumsum(room) - room, np.empty(len(room), np.int64)
        indices = np.empty(int(room.sum()), matrix.indices.dtype)
        data = None if matrix.dtype == bool else np.empty(len(indices))
        return cls(starts, lengths, indices, data, matrix.shape[1])

    def pack(self) -> sparse.csr_array:
        """Make a matrix of the rows, close together; they are in canonical form."""
        indptr = np.concatenate([[0], np.cumsum(self.lengths)])
        where = (self.starts, np.arange(len(self.lengths)), indptr)
        indices = copy_rows(*where, self.indices)
        data = np.ones(len(indices), bool) if self.data is None else copy_rows(*where, self.data)
        # As wide as scipy's own: scikit-learn's trees and others refuse wider ones than are needed.
        kind = sparse.get_index_dtype(maxval=max(len(indices), self.n_columns))
        parts = (data, indices.astype(kind, copy=False), indptr.astype(kind, copy=False))
        return sparse.csr_array(parts, shape=(len(self.lengths), self.n_columns))


def synthesize(
    features: Features,
    seeds: SeedInstances,
    partners: Array,
    rng: np.random.Generator,
    *,
    nominal: Literal["vote", "coin"],
    n_jobs: int | None,
) -> Any:
    """Make the features of synthetic rows."""
    # Where seed and partner are known, a value lies between theirs; where one is missing, the known
    # one is all there is to go by; where both are, the value is missing: nobody observed anything
    # there, and a learner that can do without a value should not be told one. Nominal columns go by
    # the neighbours' known values, then by the seed's.
    values, n_values = features.values, features.n_values
    if not values.size:  # no column, or nothing but zeros
        return values[seeds.rows]
    is_drawn = (n_values == 0) | (nominal == "coin")
    members = np.column_stack([seeds.rows, partners, seeds.neighbours])
    n_members = np.where(is_drawn.all(), 2, 2 + seeds.neighbour_counts)
    n_draws, none = np.empty(len(partners), np.int64), np.empty(0)
    plan = InterpolationPlan(
        members, n_members, n_values, features.is_integer, is_drawn, n_draws, none
    )
    count, fill, parts, out = _choose_kernels(values, plan)
    blocks = _blocks(len(partners))
    run_in_threads(lambda block: count(*parts, plan, *block, n_draws), blocks, n_jobs=n_jobs)
    drawn = rng.random(int(n_draws.sum()))
    plan = plan._replace(draw_starts=np.cumsum(n_draws) - n_draws, drawn=drawn)
    run_in_threads(lambda block: fill(*parts, plan, *block, out), blocks, n_jobs=n_jobs)
    return out.pack() if isinstance(out, SparseRowBuffers) else out


def _choose_kernels(values: Any, plan: InterpolationPlan) -> tuple[Any, Any, Any, Any]:
    """Choose the kernels that count draws and fill rows, what they read and where they write."""
    if not sparse.issparse(values):
        out = np.empty((len(plan.members), values.shape[1]))
        return kernels.count_draws_dense, kernels.fill_dense, (values,), out
    parts = (values.indptr, values.indices, values.data)
    places = SparseRowBuffers.of(values, plan.members, plan.n_members)
    return kernels.count_draws_sparse, kernels.fill_sparse, parts, places


def append_synthetic_rows(
    features: Features, Y: sparse.csr_array, synthetic: Any, labels: Any, seeds: Array
) -> ResampleResult:
    """Append synthetic rows, made from some seeds, to all rows there are."""
    rows = np.concatenate([np.arange(Y.shape[0]), seeds])
    Y_new = sparse.vstack([Y, labels], format="csr")
    return ResampleResult(rows, Y_new, rows_like(features, synthetic, seeds))


def combine_labels(
    Y: sparse.csr_array, seeds: SeedInstances, strategy: str, *, n_jobs: int | None
) -> sparse.csr_array:
    """Choose the labels of synthetic rows from those of their seeds and neighbours."""
    members, n_members = np.column_stack([seeds.rows, seeds.neighbours]), seeds.neighbour_counts + 1
    n_needed = {
        "ranking": n_members // 2 + 1,
        "ranking, ties in": (n_members + 1) // 2,
        "union": np.ones_like(n_members),
        "intersection": n_members,
    }
    out = SparseRowBuffers.of(Y, members, n_members)
    parts = (Y.indptr, Y.indices, (members, n_members, n_needed[strategy]))
    blocks = _blocks(len(members))
    run_in_threads(lambda block: kernels.combine_labels(*parts, *block, out), blocks, n_jobs=n_jobs)
    return out.pack()


def _blocks(n_rows: int) -> list[tuple[int, int]]:
    return [(at, min(at + BLOCK_ROWS, n_rows)) for at in range(0, n_rows, BLOCK_ROWS)]
